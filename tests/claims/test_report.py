"""The report: every claim has its section, every value its meaning, and the committed file is what the data give."""

from __future__ import annotations

import re
import unittest
from typing import Any

from src.claims.markdown import shown
from src.claims.preregistration import value
from src.claims.report import SECTIONS, report
from tests.helpers import REPOSITORY, committed

REPORT = REPOSITORY / "results" / "README.md"


def leaves(tree: Any, key: str = "") -> list[tuple[str, Any]]:
    """Return the values of a nested dictionary with their dotted keys."""
    if not isinstance(tree, dict):
        return [(key[1:], tree)]
    return [leaf for name, one in tree.items() for leaf in leaves(one, f"{key}.{name}")]


class Report(unittest.TestCase):
    def test_the_committed_file(self) -> None:
        self.assertEqual(REPORT.read_text(encoding="utf-8"), report(committed()))

    def test_every_published_and_expected_value_is_told(self) -> None:
        results = committed()
        for name, one in results.items():
            for key, _ in leaves(one.get("published", {})):
                if name != "every_length":  # told as a sentence
                    self.assertTrue(f"`{name}.{key}`" in report(results) or key.endswith("smallest_ratio"), key)

    def test_every_value_in_a_table_is_the_measured_one(self) -> None:
        results = committed()
        claims = report(results).partition("## The study, sentence by sentence")[2]
        rows = re.findall(r"^\| `(\w+)\.([\w.]+)` \| (\S+) \|", claims, re.MULTILINE)
        self.assertGreater(len(rows), 60)
        for name, key, cell in (row for row in rows if row[0] in SECTIONS):
            measured = value(results[name]["measured"], key)
            self.assertEqual(cell, shown(measured), (name, key))

    def test_links_lead_somewhere(self) -> None:
        for target in re.findall(r"\]\(([^)#]+)\)", REPORT.read_text(encoding="utf-8")):
            self.assertTrue((REPORT.parent / target).exists(), target)

    def test_a_claim_without_a_section(self) -> None:
        with self.assertRaisesRegex(KeyError, "no section tells of the claims new"):
            report({**committed(), "new": {}})

    def test_the_order_is_that_of_the_results(self) -> None:
        self.assertEqual(["preregistration", *SECTIONS], list(committed()))


if __name__ == "__main__":
    unittest.main()
