"""The sections of the report that compute what they say."""

from __future__ import annotations

import re
import unittest

from src.claims.report import section
from src.radixcache import Optimum
from tests.helpers import committed


class Sections(unittest.TestCase):
    def test_where_both_models_agree(self) -> None:
        text = section(committed(), "derisk")
        alike = [f"K = 2, {length}, bypass" for length in (5, 6, 7)] + ["K = 3, 5, locked"]
        self.assertIn(f"Ratios other than 1 agree at {'; '.join(alike)} (K, requests, optimum).", text)
        (above,) = re.findall("The tree is above at (.*)[.]", text)
        self.assertEqual([one for one in above.split("; ") if "K = 4" in one],
                         [f"K = 4, {length}, {optimum.value}" for optimum in Optimum for length in (4, 5, 6)])

    def test_a_section_shows_what_it_is_given(self) -> None:
        results = committed()
        results["lemma"]["measured"]["unreachable"] = 17
        self.assertIn("| `lemma.unreachable` | 17 |", section(results, "lemma"))


if __name__ == "__main__":
    unittest.main()
