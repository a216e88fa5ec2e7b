"""The sections of the theorems: their tables show what was measured."""

from __future__ import annotations

import unittest

from src.claims.report import section
from tests.helpers import committed


class Theory(unittest.TestCase):
    def test_the_tables(self) -> None:
        results = committed()
        nodes, coins = section(results, "whole_nodes"), section(results, "randomized")
        for model in ("bypass", "locked"):
            for capacity, one in results["whole_nodes"]["measured"]["study"][model].items():
                self.assertIn(f"| {model} | K = {capacity} | {one['whole_nodes']} | {one['blocks']} |", nodes)
            for capacity, one in results["randomized"]["measured"]["study"][model].items():
                cells = (one["width"], one["no_policy_below"], one["marking"], one["marking_not_above"])
                self.assertIn(f"| {model} | K = {capacity} | {' | '.join(map(str, cells))} |", coins)

    def test_a_section_shows_what_it_is_given(self) -> None:
        results = committed()
        results["width"]["witnesses"]["two_tries"]["bushy"]["width"] = 99
        results["augmentation"]["witnesses"]["examples"]["a_chain"]["limit"] = "98/3"
        self.assertIn("| bushy | `a ab ac ad ae af` | 99 |", section(results, "width"))
        self.assertIn("| 98/3 |", section(results, "augmentation"))


if __name__ == "__main__":
    unittest.main()
