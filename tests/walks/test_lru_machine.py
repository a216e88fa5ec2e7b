"""The caches and the optimum as machines, against the plain runs and a plain definition of the work function."""

from __future__ import annotations

import itertools
import random
import unittest

from src.radixcache import Optimum, Recency, Rule, Trie, lru_access, serve_lru
from src.walks.lru_machine import lru_machine, lru_step, ranks
from tests.helpers import BINARY, random_sequence, random_universe

BYPASS, LOCKED = Optimum.BYPASS, Optimum.LOCKED
LONG = ("a", "abc", "abd", "b")  # three blocks on a path: longer than the smaller capacities


class Ranks(unittest.TestCase):
    def test_by_hand(self) -> None:
        for times, expected in (
            ((), ()),
            ((0, 0), (0, 0)),
            ((7, 0, 3, 7, 12), (2, 0, 1, 2, 3)),
            ((5, 5), (1, 1)),
            ((3, 2, 1), (3, 2, 1)),
        ):
            self.assertEqual(ranks(times), expected)
            self.assertEqual(ranks(iter(times)), expected)

    def test_ranks_keep_the_order_and_need_no_second_ranking(self) -> None:
        rng = random.Random(1)
        for _ in range(200):
            times = tuple(rng.choice((0, rng.randint(1, 30))) for _ in range(rng.randint(1, 8)))
            found = ranks(times)
            for (one, rank), (other, below) in itertools.product(zip(times, found), repeat=2):
                self.assertEqual((one < other, one == 0), (rank < below, rank == 0), times)
            self.assertEqual(max(found), len({*times} - {0}), times)
            self.assertEqual(ranks(found), found, times)


class Lru(unittest.TestCase):
    def test_every_sequence_of_4_requests_is_served_as_by_lru(self) -> None:
        trie = Trie(BINARY)
        for capacity, rule in itertools.product((2, 3), Rule):
            machine = lru_machine(trie, capacity, rule)
            for sequence in itertools.product(BINARY, repeat=4):
                expected = [(step.misses,) for step in serve_lru(trie, capacity, sequence, rule).steps]
                self.assertEqual(machine.run(sequence), expected, (capacity, rule, sequence))

    def test_random_tries_step_by_step(self) -> None:
        rng = random.Random(2)
        for _ in range(100):
            trie = Trie(random_universe(rng, 6, 4))
            sequence = random_sequence(rng, trie, 12)
            capacity = rng.randint(1, 6)
            for rule, recency in itertools.product(Rule, Recency):
                state = plain = (0,) * len(trie)
                for string in sequence:
                    case = (trie.strings, capacity, rule, recency, sequence)
                    plain, expected = lru_access(trie, capacity, plain, string, rule, recency)
                    state, step = lru_step(trie, capacity, state, string, rule, recency)
                    self.assertEqual((step, state), (expected, ranks(plain)), case)

    def test_the_machine_is_leaf_only_over_the_tries_strings(self) -> None:
        trie = Trie(["abc", "x"])
        machine = lru_machine(trie, 2)
        self.assertEqual((machine.start, machine.requests, machine.width), ((0, 0, 0, 0), ("abc", "x"), 1))
        self.assertEqual(machine.run(["abc", "abc", "x", "abc"]), [(3,), (1,), (1,), (2,)])
        for capacity in (0, -3):
            with self.assertRaisesRegex(ValueError, f"capacity of {capacity} "):
                lru_machine(trie, capacity)




if __name__ == "__main__":
    unittest.main()
