"""The claim on the best online policy: its witnesses replayed with the plain model, its counters seen counting."""

from __future__ import annotations

import unittest
from fractions import Fraction
from typing import Any
from unittest import mock

from src.claims import online_optimum as module
from src.claims.online_optimum import against_lru, demanded, forest_sweep, online_optimum
from src.radixcache import Optimum, Trie
from src.walks.online_game import best_online
from tests.claims.test_theorems import small_cases
from tests.helpers import ROUNDS, STUDY, claimed, round_costs

BYPASS, LOCKED = Optimum.BYPASS, Optimum.LOCKED


class Witnesses(unittest.TestCase):
    def test_the_adversarys_play(self) -> None:
        """Each round costs LRU and the optimum what is claimed, and LRU misses every request."""
        claim = claimed("online_optimum")
        for optimum in Optimum:
            for capacity, one in claim["witnesses"][optimum.value].items():
                requests: list[list[Any]] = [[(string, 0) for string in one[part]] for part in ("prefix", "cycle")]
                costs = round_costs("lru", STUDY, int(capacity), optimum, *requests)
                self.assertEqual(costs, [(one["misses"], one["optimum_misses"])] * ROUNDS)
                self.assertGreaterEqual(one["misses"], len(one["cycle"]))
                ratio = claim["measured"]["study"][optimum.value][capacity]["ratio"]
                self.assertEqual(Fraction(*costs[0]), ratio)

    def test_without_an_adversary(self) -> None:
        found = best_online(STUDY, 2, BYPASS)._replace(credits=None)
        with self.assertRaisesRegex(ValueError, "no adversary"):
            against_lru(found)


class Widths(unittest.TestCase):
    def test_what_is_demanded(self) -> None:
        self.assertEqual([demanded(STUDY, k, BYPASS) for k in (2, 3, 4, 5)], [2, 3, 3, 4])
        self.assertEqual([demanded(STUDY, k, LOCKED) for k in (2, 3, 4, 5)], [1, 2, 2, 3])
        self.assertEqual(demanded(Trie(("abc",)), 1, LOCKED), 1)


class Sweeps(unittest.TestCase):
    def test_each_counter_counts(self) -> None:
        found = forest_sweep(3)
        self.assertEqual(found["cases"], 15)
        self.assertEqual(sum(found[key] for key in found if key.startswith("cases_")), 0)
        positions = [len(best_online(*case).game.positions) for case in small_cases(3)]
        self.assertEqual((len(positions), found["positions"]), (15, sum(positions)))
        with mock.patch.object(module, "demanded", lambda *_: 9):
            self.assertEqual(forest_sweep(3)["cases_with_another_ratio_than_the_width"], 15)
        real = module.best_online
        with mock.patch.object(module, "best_online", lambda *case: real(*case)._replace(start=1, credits=None)):
            found = forest_sweep(3)
        self.assertEqual((found["cases_with_an_additive_constant"], found["cases_without_an_adversary"]), (15, 15))

    def test_the_claim_with_smaller_bounds(self) -> None:
        with mock.patch.multiple(module, GAME_NODES=3, GAME_CAPACITIES=(2, 3)):
            found = online_optimum(STUDY, lambda _: None)
        claim = claimed("online_optimum")
        self.assertTrue(found["holds"] and claim["holds"])
        for optimum in Optimum:
            for capacity in ("2", "3"):
                for part in ("measured", "witnesses"):
                    one = found[part].get("study", found[part])[optimum.value][capacity]
                    self.assertEqual(one, claim[part].get("study", claim[part])[optimum.value][capacity])
        self.assertEqual(found["measured"]["forests"], forest_sweep(3))


if __name__ == "__main__":
    unittest.main()
