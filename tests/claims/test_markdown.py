"""The parts of the report."""

from __future__ import annotations

import unittest

from src.claims.markdown import code, paragraphs, schedule, shown, table


class Parts(unittest.TestCase):
    def test_code(self) -> None:
        self.assertEqual(code(["0", 1] + ["0"] * 143), "`0 1 0 ×143`")

    def test_cells(self) -> None:
        self.assertEqual([shown(one) for one in (True, False, 7, "7/4", [], ["a", "b"])],
                         ["yes", "no", "7", "7/4", "none", "`a b`"])

    def test_table(self) -> None:
        self.assertEqual(table(["a", "b"], [(1, True)]), "| a | b |\n| --- | --- |\n| 1 | yes |")

    def test_schedule(self) -> None:
        step = {"request": "0", "lru": {"misses": 1, "evicted": [], "cached": ["0"]}}
        expected = "| request | LRU: misses | LRU: evicts | LRU: holds |\n| --- | --- | --- | --- |\n"
        self.assertEqual(schedule([step], {"lru": "LRU"}), expected + "| `0` | 1 | - | 0 |")

    def test_paragraphs(self) -> None:
        self.assertEqual(paragraphs("a\n", "", " b"), "a\n\nb")


if __name__ == "__main__":
    unittest.main()
