"""Walks with shared states against plain enumeration, for every machine of the study and for some made up here."""

from __future__ import annotations

import itertools
import random
import unittest
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from src.claims.online import comparison_machine, study_managers
from src.radixcache import Optimum, Recency, Rule, Trie, UnrestrictedBelady, serve_lru
from src.walks.belady import belady
from src.walks.exhaustive import (
    Machine,
    Outgrown,
    Tally,
    Worst,
    add,
    distribution,
    layers,
    one_by_one,
    ratios_by_length,
    shortest_sequence,
    side_by_side,
    summed,
    worst_ratio,
)
from src.walks.lru_machine import lru_machine
from src.walks.work_function import optimum_machine
from tests.helpers import BINARY, random_universe, shared_lru


def constant(**tallies: Tally) -> Machine:
    """Return a machine with one state, in which each request has the tally of its name."""
    width = len(next(iter(tallies.values())))
    return Machine(None, list(tallies), width, lambda state, request: (state, tallies[request]))


def lru_beside(trie: Trie, capacity: int, optimum: Optimum) -> Machine:
    """Return leaf-only LRU beside the optimum, as the competitive search runs them."""
    return side_by_side(lru_machine(trie, capacity), optimum_machine(trie, capacity, optimum))


class Machines(unittest.TestCase):
    def test_a_step_is_computed_once(self) -> None:
        asked = []

        def step(state: int, request: str) -> tuple[int, Tally]:
            asked.append((state, request))
            return (state + len(request)) % 2, (state, 7)

        machine = Machine(1, ["a", "bb"], 2, step)
        self.assertEqual(machine.requests, ("a", "bb"))
        self.assertEqual(machine.run(["a", "bb", "a", "bb", "a"]), [(1, 7), (0, 7), (0, 7), (1, 7), (1, 7)])
        self.assertEqual(asked, [(1, "a"), (0, "bb"), (0, "a"), (1, "bb")])
        self.assertEqual(machine.run([]), [])

    def test_side_by_side(self) -> None:
        count = Machine(0, "ab", 1, lambda state, request: (state + 1, (state,)))
        last = Machine("", "ab", 2, lambda state, request: (request, (state == request, 5)))
        both = side_by_side(count, last, count)
        self.assertEqual((both.start, both.requests, both.width), ((0, "", 0), ("a", "b"), 4))
        self.assertEqual(both.step((3, "b", 9), "b"), ((4, "b", 10), (3, True, 5, 9)))
        self.assertEqual(both.run("aab"), [(0, 0, 5, 0), (1, 1, 5, 1), (2, 0, 5, 2)])

    def test_sums_of_tallies(self) -> None:
        self.assertEqual(add((1, -2, 3), (10, 20, 30)), (11, 18, 33))
        self.assertEqual(add((), ()), ())
        self.assertEqual(summed(iter([(1, 2), (10, 20), (-5, 0)]), 2), (6, 22))
        self.assertEqual(summed([], 3), (0, 0, 0))


class Walks(unittest.TestCase):
    def machines(self) -> Iterator[tuple[str, Machine]]:
        """Yield the study's machines, and machines of tries with paths longer than the capacity."""
        binary, long = Trie(BINARY), Trie(["a", "abc", "abd", "b"])
        for capacity in (1, 2, 3):
            for rule in Rule:
                yield f"{rule} {capacity}", lru_machine(binary, capacity, rule)
            yield f"long paths {capacity}", lru_beside(long, capacity, Optimum.BYPASS)
            for optimum in Optimum:
                if capacity > 1 or optimum is Optimum.BYPASS:
                    yield f"{optimum} {capacity}", optimum_machine(binary, capacity, optimum)
                    yield f"competitive {optimum} {capacity}", lru_beside(binary, capacity, optimum)
            for recency in Recency:
                yield f"comparison {recency} {capacity}", comparison_machine(binary, capacity, study_managers(recency))

    def test_the_distribution_is_that_of_one_by_one(self) -> None:
        for name, machine in self.machines():
            for length in range(5):
                with self.subTest(machine=name, length=length):
                    found = distribution(machine, length)
                    self.assertEqual(found, one_by_one(machine, length))
                    self.assertEqual(sum(found.values()), len(machine.requests) ** length)

    def test_every_sequence_is_in_every_layer_once(self) -> None:
        for name, machine in self.machines():
            counts = [sum(layer.values()) for layer in layers(machine, 4)]
            self.assertEqual(counts, [len(machine.requests) ** length for length in range(5)], name)

    def test_by_hand(self) -> None:
        """Heads count one; a state that remembers the last throw counts the changes."""
        coin = constant(head=(1,), tail=(0,))
        self.assertEqual(distribution(coin, 4), {(0,): 1, (1,): 4, (2,): 6, (3,): 4, (4,): 1})
        self.assertEqual(one_by_one(coin, 2), {(2,): 1, (1,): 2, (0,): 1})
        changes = Machine("h", "ht", 1, lambda state, request: (request, (int(state != request),)))
        self.assertEqual(list(layers(changes, 1)), [{("h", (0,)): 1}, {("h", (0,)): 1, ("t", (1,)): 1}])
        self.assertEqual(distribution(changes, 3), {(0,): 1, (1,): 3, (2,): 3, (3,): 1})
        self.assertEqual(distribution(changes, 0), {(0,): 1})


class WorstRatios(unittest.TestCase):
    def plain(self, trie: Trie, capacity: int, length: int, optimum: Optimum) -> Worst:
        """Return the worst ratio by serving every sequence, the shorter ones first, with plain LRU and a search."""
        search = UnrestrictedBelady(trie, capacity, optimum)
        best = Worst(Fraction(-1), (), ())
        for count in range(1, length + 1):
            for sequence in itertools.product(trie.strings, repeat=count):
                tally = shared_lru(trie, capacity, sequence, Rule.LEAF_ONLY).misses, search.misses(sequence)
                if Fraction(*tally) > best.ratio:
                    best = Worst(Fraction(*tally), tally, sequence)
        return best

    def hold_equal(self, trie: Trie, capacity: int, length: int, optimum: Optimum) -> None:
        found = worst_ratio(lru_beside(trie, capacity, optimum), length)
        case = (trie.strings, capacity, length, optimum)
        self.assertEqual(found, self.plain(trie, capacity, length, optimum), case)
        self.assertEqual(serve_lru(trie, capacity, found.sequence, Rule.LEAF_ONLY).misses, found.tally[0], case)
        self.assertEqual(belady(trie, capacity, found.sequence, optimum).misses, found.tally[1], case)

    def test_the_binary_universe_against_plain_enumeration(self) -> None:
        trie = Trie(BINARY)
        for capacity, optimum in ((1, Optimum.BYPASS), *itertools.product((2, 3), Optimum)):
            self.hold_equal(trie, capacity, 4, optimum)

    def test_random_tries_against_plain_enumeration(self) -> None:
        rng = random.Random(1)
        for _ in range(20):
            trie = Trie(random_universe(rng, 3, 3))
            for capacity in (1, 2, 3):
                for optimum in Optimum if capacity >= max(trie.depth) else (Optimum.BYPASS,):
                    self.hold_equal(trie, capacity, 5, optimum)

    def worst(self, length: int, **tallies: Tally) -> tuple[str, Tally, str]:
        found = worst_ratio(constant(**tallies), length)
        return str(found.ratio), found.tally, "".join(found.sequence)

    def test_the_witness_is_the_first_of_the_shortest(self) -> None:
        self.assertEqual(self.worst(3, a=(1, 1), b=(2, 2)), ("1", (1, 1), "a"))
        self.assertEqual(self.worst(3, a=(1, 1), b=(2, 1), c=(2, 1)), ("2", (2, 1), "b"))
        self.assertEqual(self.worst(3, a=(0, 1), b=(0, 5)), ("0", (0, 1), "a"))

    def test_the_worst_comes_late(self) -> None:
        """A request a pays the optimum 2; each b is free for it: abb.. is better with every request."""
        paid = Machine(False, "ab", 2, lambda state, request: (True, (1, 0 if state and request == "b" else 2)))
        for length, ratio, sequence in ((1, "1/2", "a"), (2, "1", "ab"), (3, "3/2", "abb"), (4, "2", "abbb")):
            found = worst_ratio(paid, length)
            self.assertEqual((str(found.ratio), "".join(found.sequence)), (ratio, sequence))

    def test_the_way_to_the_worst_is_not_greedy(self) -> None:
        """Only bac ends in the trap that pays; the first request of the witness is not the cheapest one."""
        def step(state: str, request: str) -> tuple[str, Tally]:
            after = (state + request)[-3:]
            return after, (9 if after == "bac" else 1, 1)

        found: Sequence[Any] = worst_ratio(Machine("", "abc", 2, step), 4)
        self.assertEqual(found, (Fraction(11, 3), (11, 3), tuple("bac")))

    def test_ratios_are_compared_exactly(self) -> None:
        big = 10**17
        expected = (f"{big + 1}/{big + 2}", (big + 1, big + 2), "b")
        self.assertEqual(self.worst(1, a=(big, big + 1), b=(big + 1, big + 2)), expected)

    def test_the_ratios_length_by_length_are_the_worst_up_to_each(self) -> None:
        trie = Trie(BINARY)
        for capacity, optimum in itertools.product((2, 3), Optimum):
            machine = lru_beside(trie, capacity, optimum)
            expected = [worst_ratio(machine, length).ratio for length in range(1, 6)]
            self.assertEqual(ratios_by_length(machine, 5), expected, (capacity, optimum))
        falling = Machine(0, "a", 2, lambda state, request: (1, (1 - state, 1)))
        self.assertEqual(ratios_by_length(falling, 3), [1, 1, 1])

    def test_the_shortest_sequence_that_satisfies_a_condition(self) -> None:
        coins = constant(two=(2,), five=(5,), one=(1,))
        for amount, sequence in ((0, ()), (5, ("five",)), (6, ("five", "one")), (9, ("two", "two", "five"))):
            found = shortest_sequence(coins, 3, lambda tally, amount=amount: tally == (amount,))
            self.assertEqual(sorted(found), sorted(sequence), amount)
        self.assertEqual(shortest_sequence(coins, 3, lambda tally: tally == (9,)), ("two", "two", "five"))
        self.assertIsNone(shortest_sequence(coins, 1, lambda tally: tally == (6,)))

    def test_a_walk_that_outgrows_its_room_tells_what_it_knows(self) -> None:
        """The steps are 1, 2 or 5: 1, 3, 6 and 10 sums after 0 to 3 of them."""
        steps = constant(a=(1, 1), b=(2, 1), c=(5, 1))
        self.assertEqual([len(layer) for layer in layers(steps, 3, most=10)], [1, 3, 6, 10])
        for most, walked in ((9, 3), (6, 3), (5, 2), (2, 1)):
            with self.assertRaises(Outgrown) as caught:
                list(layers(steps, 3, most))
            self.assertEqual((caught.exception.states, str(caught.exception)), (most, f"more than {most} states"))
            with self.assertRaises(Outgrown) as caught:
                worst_ratio(steps, 3, most)
            known = Worst(Fraction(5), (5, 1), ("c",)) if walked > 1 else Worst(Fraction(-1), (0, 0), ())
            self.assertEqual(caught.exception.known, (walked - 1, known))
        self.assertEqual(worst_ratio(steps, 3, 10).ratio, 5)


if __name__ == "__main__":
    unittest.main()
