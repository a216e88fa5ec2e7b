"""The optimum's work function, by hand, by its definition and against the searches."""

from __future__ import annotations

import itertools
import random
import unittest

from src.radixcache import Optimum, Trie, UnrestrictedBelady
from src.walks.work_function import WorkFunction, optimum_machine
from tests.helpers import BINARY, blocks, random_sequence, random_universe

BYPASS, LOCKED = Optimum.BYPASS, Optimum.LOCKED
LONG = ("a", "abc", "abd", "b")  # three blocks on a path: longer than the smaller capacities


Costs = dict  # from a set of prefixes to the least misses with which it can be held


def optima(trie: Trie, capacity: int) -> tuple[Optimum, ...]:
    """Return the optima that can serve the trie's strings."""
    return tuple(Optimum) if capacity >= max(trie.depth) else (BYPASS,)


def closed_sets(trie: Trie, capacity: int) -> list[frozenset[str]]:
    """Return the ancestor-closed sets of at most `capacity` prefixes, by looking at every choice of prefixes."""
    return [
        frozenset(held)
        for count in range(capacity + 1)
        for held in itertools.combinations(trie.prefix, count)
        if all(len(prefix) == 1 or prefix[:-1] in held for prefix in held)
    ]


def served(trie: Trie, capacity: int, optimum: Optimum, costs: Costs, string: str) -> Costs:
    """Return what each set costs after one more request, by the definition.

    The cache may move before the request and after it, from any set to any other, at one miss for each block that it
    did not hold; serving the request costs the blocks of the path that it does not hold, and a locked cache must hold
    the path with the rest in its capacity.
    """
    path = frozenset(string[:end] for end in range(1, len(string) + 1))
    after: Costs = {}
    for held, cost in costs.items():
        for ready in costs:
            if optimum is LOCKED and len(ready | path) > capacity:
                continue
            spent = cost + len(ready - held) + len(path - ready)
            for target in costs:
                price = spent + len(target - ready - path)
                after[target] = min(price, after.get(target, price))
    return after


class WorkFunctions(unittest.TestCase):
    def hold_equal(self, trie: Trie, capacity: int, optimum: Optimum, sequence: tuple[str, ...]) -> None:
        """Hold every number of every state equal to the definition."""
        work = WorkFunction(trie, capacity, optimum)
        names = [frozenset(trie.labels(held)) for held in work.sets]
        costs = {held: len(held) for held in closed_sets(trie, capacity)}
        self.assertEqual(dict(zip(names, work.start)), costs)
        state, least = work.start, 0
        for at, string in enumerate(sequence, start=1):
            costs = served(trie, capacity, optimum, costs, string)
            state, growth = work.step(state, string)
            least += growth
            found = {held: least + number for held, number in zip(names, state)}
            self.assertEqual(found, costs, (trie.strings, capacity, optimum, sequence[:at]))

    def test_each_number_is_what_the_definition_says(self) -> None:
        rng = random.Random(3)
        for _ in range(40):
            trie = Trie(random_universe(rng, 3, 3))
            sequence = random_sequence(rng, trie, 6)
            for capacity in (1, 2, 3):
                for optimum in optima(trie, capacity):
                    self.hold_equal(trie, capacity, optimum, sequence)
        for capacity, sequence in ((2, ("00", "11", "0", "01")), (3, ("00", "11", "01", "1"))):
            for optimum in Optimum:
                self.hold_equal(Trie(BINARY), capacity, optimum, sequence)

    def test_the_growth_adds_up_to_the_least_misses_of_every_prefix(self) -> None:
        for strings in (BINARY, LONG):
            trie = Trie(strings)
            for capacity in (1, 2, 3, 4):
                for optimum in optima(trie, capacity):
                    machine = optimum_machine(trie, capacity, optimum)
                    search = UnrestrictedBelady(trie, capacity, optimum)
                    for sequence in itertools.product(strings, repeat=4):
                        growth = [tally[0] for tally in machine.run(sequence)]
                        least = [search.misses(sequence[: at + 1]) for at in range(4)]
                        case = (capacity, optimum, sequence)
                        self.assertEqual(list(itertools.accumulate(growth)), least, case)

    def test_random_tries_and_longer_sequences(self) -> None:
        rng = random.Random(4)
        for _ in range(60):
            trie = Trie(random_universe(rng, 4, 4))
            sequence = random_sequence(rng, trie, 9)
            for capacity in (1, 2, 3, 4):
                for optimum in optima(trie, capacity):
                    growth = sum(tally[0] for tally in optimum_machine(trie, capacity, optimum).run(sequence))
                    least = UnrestrictedBelady(trie, capacity, optimum).misses(sequence)
                    self.assertEqual(growth, least, (trie.strings, capacity, optimum, sequence))

    def test_the_states_are_finitely_many_and_their_numbers_bounded(self) -> None:
        """In every state that can be reached, the least number is 0, T costs at most |T|, and a subset no more."""
        for strings in (BINARY, LONG):
            trie = Trie(strings)
            for capacity in (1, 2, 3):
                for optimum in optima(trie, capacity):
                    work = WorkFunction(trie, capacity, optimum)
                    seen = {work.start}
                    waiting = [work.start]
                    while waiting:
                        state = waiting.pop()
                        number = dict(zip(work.sets, state))
                        self.assertEqual(min(state), 0)
                        for held in work.sets:
                            self.assertLessEqual(number[held], bin(held).count("1"))
                            for leaf in range(len(trie)):
                                if trie.leaves(held) >> leaf & 1:
                                    self.assertIn(number[held] - number[held ^ 1 << leaf], (0, 1))
                        following = {work.step(state, string)[0] for string in strings} - seen
                        seen |= following
                        waiting += following
                    self.assertLess(len(seen), 1000)

    def test_by_hand(self) -> None:
        """K = 1 over two pages: after "a", holding a or nothing costs 1 miss, and b one more to be fetched."""
        trie = Trie("ab")
        for optimum, state, growth in ((BYPASS, (0, 0, 0), 1), (LOCKED, (0, 1, 0), 1)):
            work = WorkFunction(trie, 1, optimum)
            self.assertEqual((work.sets, work.start), ([0, blocks(0), blocks(1)], (0, 1, 1)))
            self.assertEqual(work.step(work.start, "a"), ((0, 0, 1), 1))
            self.assertEqual(work.step((0, 0, 1), "a"), ((0, 0, 1), 0))
            self.assertEqual(work.step((0, 0, 1), "b"), (state, growth), optimum)

    def test_the_machine(self) -> None:
        trie = Trie(LONG)
        machine = optimum_machine(trie, 2, BYPASS)
        self.assertEqual((machine.start[:3], machine.requests, machine.width), ((0, 1, 1), LONG, 1))
        with self.assertRaisesRegex(ValueError, "'abc' has 3 blocks"):
            optimum_machine(trie, 2, LOCKED)
        with self.assertRaisesRegex(ValueError, "capacity of 0"):
            WorkFunction(trie, 0, BYPASS)


if __name__ == "__main__":
    unittest.main()
