"""The claim on whole nodes: its witnesses replayed with nodes kept as lists, its sweeps by plain enumeration."""

from __future__ import annotations

import itertools
import unittest
from fractions import Fraction
from typing import Any
from unittest import mock

from src.claims import whole_nodes as module
from src.claims.whole_nodes import (
    above_capacity,
    attained,
    beyond_private_chains,
    dearest_round,
    fitting_cases,
    forest_sweep,
    optimum_bound,
    optimum_sweep,
    spines,
    whole_nodes,
)
from src.radixcache import Optimum, Trie
from src.walks.belady import belady
from src.walks.every_length import Supremum, Witness
from src.walks.exhaustive import Machine
from src.walks.forests import forest_trie, forests
from tests.claims.test_theorems import small_cases
from tests.helpers import ROUNDS, STUDY, claimed, least_misses
from tests.walks.test_whole_node_optimum import plain
from tests.walks.test_whole_nodes import PlainNodes

BYPASS, LOCKED = Optimum.BYPASS, Optimum.LOCKED


def node_misses(capacity: int, sequence: list[Any]) -> list[int]:
    """Return each request's misses under LRU on whole nodes, by nodes kept as lists."""
    cache = PlainNodes(capacity)
    return [cache.access(string)[0] for string in sequence]


class Witnesses(unittest.TestCase):
    def test_every_length(self) -> None:
        """Each round after the prefix costs what is claimed, and that is the claimed ratio."""
        claim = claimed("whole_nodes")
        for optimum in Optimum:
            for capacity, one in claim["witnesses"][optimum.value].items():
                sequence = one["prefix"] + one["cycle"] * ROUNDS
                misses = node_misses(int(capacity), sequence)
                ends = [len(one["prefix"]) + len(one["cycle"]) * times for times in range(ROUNDS + 1)]
                totals = [
                    (sum(misses[:end]), least_misses(STUDY, int(capacity), optimum, sequence[:end])) for end in ends
                ]
                for (before, least), (after, best) in zip(totals, totals[1:]):
                    self.assertEqual((after - before, best - least), (one["misses"], one["optimum_misses"]))
                ratio = claim["measured"]["study"][optimum.value][capacity]["whole_nodes"]
                self.assertEqual(Fraction(one["misses"], one["optimum_misses"]), Fraction(ratio))

    def test_within_the_studys_bound(self) -> None:
        """The first of the shortest sequences that exceed K; no shorter one does, by enumeration at K = 2."""
        found = claimed("whole_nodes")["witnesses"]["above_capacity"]
        self.assertEqual({k for k, one in found.items() if one is None}, {"3", "4"})
        one = found["2"]
        self.assertEqual(sum(node_misses(2, one["sequence"])), one["misses"])
        self.assertEqual(least_misses(STUDY, 2, BYPASS, one["sequence"]), one["optimum_misses"])
        self.assertGreater(one["misses"], 2 * one["optimum_misses"])
        self.assertEqual(found, above_capacity(STUDY))
        for length in range(1, 5):
            for sequence in itertools.product(STUDY.strings, repeat=length):
                misses = sum(node_misses(2, list(sequence)))
                self.assertLessEqual(misses, 2 * least_misses(STUDY, 2, BYPASS, sequence))

    def test_the_spines(self) -> None:
        for trees, spine, capacity, price in ((9, 11, 114, "38"), (10, 9, 107, "36")):
            trie, leaves = spines(trees, spine)
            self.assertEqual(len(trie), trees * (spine + 2))
            misses = node_misses(capacity, leaves * 3)
            self.assertEqual(sum(misses[-len(leaves) :]), len(trie))
            least = [step.misses for step in belady(trie, capacity, leaves * 3, BYPASS).steps]
            self.assertEqual([sum(least[at:][: len(leaves)]) for at in (len(leaves), 2 * len(leaves))], [3, 3])
            found = beyond_private_chains(trees, spine)
            self.assertEqual((found["capacity"], found["private_chains"]), (capacity, price))
            self.assertGreater(Fraction(found["ratio"]), Fraction(price))

    def test_where_the_optimum_is_dearest(self) -> None:
        """Two rounds more cost what the theorem says, by trying everything."""
        for capacity, optimum in itertools.product((2, 3), Optimum):
            around = dearest_round(capacity, optimum)
            trie = Trie(around)
            self.assertEqual(len(trie), capacity + 1)
            self.assertEqual(len(set(around)), 2)
            nodes = [plain(trie, capacity, optimum, tuple(around * times)) for times in (1, 2, 3)]
            blocks = [least_misses(trie, capacity, optimum, around * times) for times in (1, 2, 3)]
            for at in (1, 2):
                self.assertEqual(
                    Fraction(nodes[at] - nodes[at - 1], blocks[at] - blocks[at - 1]), optimum_bound(capacity, optimum)
                )
            self.assertEqual(attained(capacity, optimum), str(optimum_bound(capacity, optimum)))


class Sweeps(unittest.TestCase):
    def test_the_cases(self) -> None:
        expected = []
        for count in range(1, 6):
            for forest in forests(count):
                trie = forest_trie(forest)
                expected += [(trie.strings, k) for k in range(1, count) if max(map(len, trie.strings)) <= k]
        self.assertEqual([(trie.strings, capacity) for trie, capacity in fitting_cases(5)], expected)
        self.assertEqual(claimed("whole_nodes")["measured"]["forests"]["cases"], len(list(small_cases(5))))

    def test_each_counter_counts(self) -> None:
        cases = len(list(small_cases(3)))
        found = forest_sweep(3)
        self.assertEqual((found["cases"], found["cases_above_the_stars_bound"]), (cases, 0))
        self.assertEqual(found["cases_with_another_ratio_than_the_private_chains"], 0)
        self.assertGreater(found["cases_dearer_than_blocks"], 0)
        with mock.patch.object(module, "bound", lambda *_: Fraction(1, 2)):
            self.assertEqual(forest_sweep(3)["cases_above_the_stars_bound"], cases)
        with mock.patch.object(module, "price_from_below", lambda *_: Fraction(7)):
            self.assertEqual(forest_sweep(3)["cases_with_another_ratio_than_the_private_chains"], cases)
        unbounded = Supremum(None, False, None, Witness((), ("0",), 1, 0), 1)
        with mock.patch.object(module, "supremum", lambda _: unbounded):
            self.assertEqual(forest_sweep(3)["cases_above_the_stars_bound"], cases)
        found = optimum_sweep(3, 4)
        self.assertEqual((found["cases"], found["cases_above_the_bound"]), (2 * len(fitting_cases(3)), 0))
        with mock.patch.object(module, "optimum_bound", lambda *_: Fraction(1)):
            found = optimum_sweep(3, 6)
        self.assertEqual(found["cases_above_the_bound"], found["cases_dearer_than_blocks"])
        self.assertGreater(found["cases_above_the_bound"], 0)

    def test_rounds_that_differ_are_said_to(self) -> None:
        with mock.patch.object(module, "dearest_round", lambda *_: ["c"]):
            self.assertRaises(ZeroDivisionError, attained, 2, BYPASS)
        growing = Machine(0, "rc", 2, lambda state, _: (state + 1, (state, 1)))
        with mock.patch.object(module, "beside_block_optimum", lambda *_: growing):
            self.assertEqual(attained(3, LOCKED), "not periodic")

    def test_the_claim_with_smaller_bounds(self) -> None:
        smaller = {"NODE_FOREST_NODES": 2, "NODE_OPTIMUM_NODES": 2, "NODE_OPTIMUM_LENGTH": 3, "NODE_CAPACITIES": (2,)}
        with mock.patch.multiple(module, **smaller):
            found = whole_nodes(STUDY, lambda _: None)
        self.assertTrue(found["holds"])
        claim = claimed("whole_nodes")
        self.assertEqual(found["measured"]["study"]["bypass"]["2"], claim["measured"]["study"]["bypass"]["2"])
        self.assertEqual(found["measured"]["beyond_private_chains"], claim["measured"]["beyond_private_chains"])
        self.assertEqual(found["measured"]["forests"], forest_sweep(2))


if __name__ == "__main__":
    unittest.main()
