"""The de-risk search on other universes, and the witnesses it shows."""

from __future__ import annotations

import itertools
import unittest
from fractions import Fraction

from src.claims.derisk import BINARY, Universe, derisk, pre_registered, ratios_of_both_models, witness, worst_lru_ratio
from src.radixcache import Optimum, Rule, Trie, UnrestrictedBelady, flat_belady, flat_lru, names
from src.walks.exhaustive import Outgrown
from tests.helpers import STUDY, claimed, shared_lru


class Derisk(unittest.TestCase):
    def test_published_only_for_the_pre_registered_search(self) -> None:
        self.assertIn("published", derisk(Universe()))
        self.assertNotIn("published", derisk(Universe(length=4)))
        self.assertNotIn("published", derisk(Universe(), Optimum.BYPASS))

    def test_the_pre_registered_ratios(self) -> None:
        one = derisk(Universe())
        self.assertTrue(one["reproduced"])
        self.assertEqual(
            one["measured"], {"tree_bypass": "5/3", "tree_locked": "1", "flat_bypass": "5/3", "flat_locked": "4/3"}
        )
        shown = one["witnesses"]["tree_bypass"]
        self.assertEqual((shown["lru_misses"], shown["optimum_misses"]), (10, 6))

    def test_both_models_at_every_length(self) -> None:
        """The table by the plain model: every sequence, tree and flat paging, against both optima."""
        for capacity, length in ((2, 5), (3, 4)):
            table = ratios_of_both_models(Universe(capacity=capacity, length=length))
            for optimum in Optimum:
                search = UnrestrictedBelady(STUDY, capacity, optimum)
                tree, flat = [Fraction(1)] * length, [Fraction(1)] * length
                for end in range(1, length + 1):
                    for sequence in itertools.product(BINARY, repeat=end):
                        lru = shared_lru(STUDY, capacity, sequence, Rule.LEAF_ONLY).misses
                        one = Fraction(lru, search.misses(sequence))
                        two = Fraction(flat_lru(capacity, sequence), flat_belady(capacity, sequence, optimum))
                        for ratios, ratio in ((tree, one), (flat, two)):
                            ratios[end - 1] = max(ratios[end - 1], ratio)
                for name, ratios in (("tree", tree), ("flat", flat)):
                    running = list(itertools.accumulate(ratios, max))
                    self.assertEqual(table[f"{name}_{optimum.value}"], list(map(str, running)), (name, optimum))

    def test_the_claim_holds_the_table(self) -> None:
        table = claimed("derisk")["measured"]["by_length"]
        self.assertEqual(pre_registered({2: 8, 3: 7, 4: 6})["measured"]["by_length"], table)
        self.assertEqual([len(table[k]["flat_locked"]) for k in "234"], [8, 7, 6])

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
