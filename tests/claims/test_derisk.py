"""The de-risk search on other universes, and the witnesses it shows."""

from __future__ import annotations

import unittest

from src.claims.derisk import BINARY, Universe, derisk, witness, worst_lru_ratio
from src.radixcache import Optimum, Trie, names
from src.walks.exhaustive import Outgrown


class Derisk(unittest.TestCase):
    def test_published_only_for_the_pre_registered_search(self) -> None:
        self.assertIn("published", derisk(Universe()))
        self.assertNotIn("published", derisk(Universe(length=4)))
        self.assertNotIn("published", derisk(Universe(), Optimum.BYPASS))

    def test_one_optimum(self) -> None:
        self.assertEqual(list(derisk(Universe(), Optimum.LOCKED)["measured"]), ["tree_locked", "flat_locked"])

    def test_one_block_strings_are_flat_paging(self) -> None:
        measured = derisk(Universe(("a", "b", "c"), 2, 7))["measured"]
        self.assertEqual(measured["tree_bypass"], measured["flat_bypass"])
        self.assertEqual(measured["tree_locked"], measured["flat_locked"])

    def test_a_locked_path_that_does_not_fit(self) -> None:
        one = derisk(Universe(("abc", "b"), 2, 3))
        self.assertIsNone(one["measured"]["tree_locked"])
        self.assertNotIn("tree_locked", one["witnesses"])
        with self.assertRaisesRegex(ValueError, "'abc' has 3 blocks"):
            derisk(Universe(("abc", "b"), 2, 3), Optimum.LOCKED)

    def test_bad_universes(self) -> None:
        for universe in (Universe(capacity=0), Universe(strings=()), Universe(strings=("a", ""))):
            with self.assertRaises(ValueError):
                derisk(universe)

    def test_limit(self) -> None:
        with self.assertRaises(Outgrown) as caught:
            worst_lru_ratio(Trie(BINARY), 2, 8, Optimum.BYPASS, most=50)
        searched, worst = caught.exception.known
        self.assertEqual(worst, worst_lru_ratio(Trie(BINARY), 2, searched, Optimum.BYPASS))
        self.assertLess(searched, 8)


class Witness(unittest.TestCase):
    def test_by_hand(self) -> None:
        shown = witness(Trie(("a", "b", "c")), 2, ("a", "b", "c", "a"), Optimum.BYPASS)
        self.assertEqual((shown["lru_misses"], shown["optimum_misses"]), (4, 3))
        self.assertEqual(shown["schedule"][2]["lru"], {"misses": 1, "evicted": ["a"], "cached": ["b", "c"]})
        self.assertEqual(shown["schedule"][2]["optimum"], {"misses": 1, "evicted": ["c"], "cached": ["a", "b"]})

    def test_names(self) -> None:
        self.assertEqual(names(["ab", ("x", 1)]), ["ab", "x.1"])


if __name__ == "__main__":
    unittest.main()
