"""A policy beside the optimum: the merging of symmetric states changes no result, and walks are real requests."""

from __future__ import annotations

import itertools
import random
import unittest
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Callable

from src.policies.cache import Cache
from src.policies.scores import make_policy
from src.radixcache import Optimum, Trie, UnrestrictedBelady
from src.walks.belady import belady
from src.walks.beside_optimum import BesideOptimum, lru_beside_optimum, policy_beside_optimum
from src.walks.every_length import explore, supremum
from src.walks.exhaustive import distribution, worst_ratio
from src.walks.forests import forest_trie, forests, star
from src.walks.lru_machine import lru_machine
from src.walks.policy_machine import PolicyMachines, with_policy
from tests.helpers import BINARY, STUDY

POLICIES = {"lru": (0,), "fifo": (0,), "mru": (0,), "slru": (0,), "priority": (0, 1), "2q": (0,), "lru-2": (0,)}
"""Policies with the priorities of their requests."""

Use = Callable[[BesideOptimum, BesideOptimum, str], None]


def small_tries() -> Iterator[tuple[Trie, int, Optimum]]:
    """Yield all forests with up to 4 nodes, each with all capacities below its size and the optima that it allows."""
    for nodes in range(2, 5):
        for forest in forests(nodes):
            trie = forest_trie(forest)
            for capacity, optimum in itertools.product(range(1, nodes), Optimum):
                if optimum is Optimum.BYPASS or max(trie.depth) <= capacity:
                    yield trie, capacity, optimum


def both_ways(name: str, trie: Trie, capacity: int, optimum: Optimum, use: Use) -> None:
    """Call `use` with the machine that merges states, the one that does not, and a description of both."""
    case = f"{name}, {trie.strings}, K = {capacity}, {optimum}"

    def compare(policy: PolicyMachines) -> None:
        use(*(policy_beside_optimum(policy, optimum, merge) for merge in (True, False)), case)

    if name == "lru":
        use(*(lru_beside_optimum(trie, capacity, optimum, merge) for merge in (True, False)), case)
        return
    with_policy(trie, capacity, make_policy(name), compare, POLICIES[name])


def plain_misses(name: str, trie: Trie, capacity: int, requests: Sequence[Any]) -> list[int]:
    """Return the misses of each request by the plain cache."""
    plain = Cache(trie, capacity, make_policy(name))
    return [plain.access(*(request if len(POLICIES[name]) > 1 else (request,))).misses for request in requests]


searching = cache(UnrestrictedBelady)


def least_misses(name: str, trie: Trie, capacity: int, optimum: Optimum, requests: Sequence[Any]) -> int:
    """Return the least misses by the furthest-next-use rule, held equal to the plain search where that is short."""
    strings = [request[0] for request in requests] if len(POLICIES[name]) > 1 else list(requests)
    least = belady(trie, capacity, strings, optimum).misses
    assert len(strings) > 12 or least == searching(trie, capacity, optimum).misses(strings), strings
    return least


class MergingChangesNothing(unittest.TestCase):
    def same(self, merged: BesideOptimum, plain: BesideOptimum, case: str, length: int = 3) -> None:
        """Hold equal the supremum, with whether and when a sequence attains it, and all tallies up to a length."""
        one, other = supremum(explore(merged)), supremum(explore(plain))
        self.assertEqual(one[:3], other[:3], case)
        self.assertLessEqual(one.states, other.states, case)
        self.assertEqual(len(one.witness.cycle) > 0, len(other.witness.cycle) > 0, case)
        for at in range(1, length + 1):
            self.assertEqual(distribution(merged, at), distribution(plain, at), case)
        self.assertEqual(worst_ratio(merged, length).tally, worst_ratio(plain, length).tally, case)

    def test_on_small_tries(self) -> None:
        for name, (trie, capacity, optimum) in itertools.product(("lru", "fifo", "mru"), small_tries()):
            if name != "fifo" or capacity < 3:
                both_ways(name, trie, capacity, optimum, self.same)

    def test_on_the_study(self) -> None:
        for name in ("lru", "fifo", "mru"):
            both_ways(name, STUDY, 2, Optimum.BYPASS, self.same)
            both_ways(name, STUDY, 3, Optimum.LOCKED, self.same)
        both_ways("lru", STUDY, 3, Optimum.BYPASS, lambda *both: self.same(*both, 5))
        both_ways("priority", STUDY, 2, Optimum.BYPASS, self.same)

    def test_what_outlives_evictions_moves_too(self) -> None:
        for name, optimum in itertools.product(("2q", "lru-2"), Optimum):
            both_ways(name, star(3), 2, optimum, self.same)
        both_ways("2q", Trie(("a", "ab", "ac", "b")), 2, Optimum.LOCKED, self.same)

    def test_where_not_all_blocks_end_strings(self) -> None:
        for strings in (("ab", "cd", "e"), ("ab", "ac", "de", "df"), ("ab", "ac", "d", "e")):
            for name, optimum in itertools.product(("lru", "fifo"), Optimum):
                both_ways(name, Trie(strings), 3, optimum, self.same)

    def test_it_merges(self) -> None:
        """The star's states are one orbit for each number of cached blocks and work function, up to exchange."""
        counts = [explore(lru_beside_optimum(STUDY, 3, Optimum.BYPASS, merge)).states for merge in (True, False)]
        self.assertLess(8 * counts[0], 2 * counts[1])
        one, other = (explore(lru_beside_optimum(star(4), 1, Optimum.LOCKED, merge)).states for merge in (True, False))
        self.assertEqual((one, other), (2, 5))


class Machine(unittest.TestCase):
    def test_tallies_are_those_of_the_plain_cache_and_the_plain_search(self) -> None:
        rng = random.Random(1)
        tries = [(STUDY, 3), (Trie(("ab", "ac", "de", "df")), 3), (star(4), 2)]
        for (trie, capacity), name, optimum in itertools.product(tries, POLICIES, Optimum):

            def check(
                merged: BesideOptimum, plain: BesideOptimum, case: str, given: Any = (name, trie, capacity)
            ) -> None:
                for _ in range(3):
                    requests = [rng.choice(plain.requests) for _ in range(8)]
                    misses, optimum_misses = zip(*plain.run(requests))
                    self.assertEqual(list(misses), plain_misses(*given, requests), (case, requests))
                    for at in range(len(requests)):
                        least = least_misses(*given, optimum, requests[: at + 1])  # noqa: B023
                        self.assertEqual(sum(optimum_misses[: at + 1]), least, (case, requests))

            both_ways(name, trie, capacity, optimum, check)

    def test_what_it_is(self) -> None:
        machine = lru_beside_optimum(STUDY, 2, Optimum.BYPASS, merge=False)
        self.assertEqual((machine.requests, machine.width), (BINARY, 2))
        self.assertEqual(machine.run(("00", "0", "1", "00")), [(2, 2), (0, 0), (1, 1), (1, 0)])
        with self.assertRaisesRegex(ValueError, "'00' has 2 blocks"):
            lru_beside_optimum(STUDY, 1, Optimum.LOCKED)

    def test_a_machine_of_lru_at_hand_is_used(self) -> None:
        given = lru_beside_optimum(star(3), 2, Optimum.BYPASS)
        policy = lru_machine(star(3), 2)
        again = lru_beside_optimum(star(3), 2, Optimum.BYPASS, policy=policy)
        self.assertEqual(supremum(explore(given)), supremum(explore(again)))
        self.assertEqual(policy.run(["0", "1", "0"]), [(1,), (1,), (0,)])


class Replays(unittest.TestCase):
    def replayed(self, merged: BesideOptimum, name: str, trie: Trie, capacity: int, optimum: Optimum) -> int:
        """Hold the witness of the supremum equal to what the plain cache and search make of it; return its rounds."""
        found = supremum(explore(merged))
        prefix, cycle, rounds = merged.replay(found.witness.prefix, found.witness.cycle)
        case = (name, trie.strings, capacity, optimum, prefix, cycle)
        self.assertEqual(len(prefix), len(found.witness.prefix), case)
        self.assertEqual(len(cycle), rounds * len(found.witness.cycle), case)
        if not cycle:
            total = sum(plain_misses(name, trie, capacity, prefix))
            least = least_misses(name, trie, capacity, optimum, prefix)
            self.assertEqual((total, least), (found.witness.misses, found.witness.optimum_misses), case)
            return rounds
        expected = (found.witness.misses * rounds, found.witness.optimum_misses * rounds)
        misses = plain_misses(name, trie, capacity, [*prefix, *cycle * 2])
        costs = []
        for times in range(3):
            requests = [*prefix, *cycle * times]
            costs.append((sum(misses[: len(requests)]), least_misses(name, trie, capacity, optimum, requests)))
        for before, after in zip(costs, costs[1:]):
            self.assertEqual((after[0] - before[0], after[1] - before[1]), expected, case)
        return rounds

    def test_witnesses(self) -> None:
        turned = 0
        study = [(STUDY, 2, Optimum.BYPASS), (STUDY, 3, Optimum.LOCKED)]
        cases = [("lru", one) for one in small_tries() if len(one[0]) == 4]
        for name, case in [*cases, *itertools.product(("lru", "fifo", "priority"), study)]:
            rounds: list[int] = []

            def replay(merged: BesideOptimum, plain: BesideOptimum, _: str, given: Any = (name, *case)) -> None:
                rounds.append(self.replayed(merged, *given))  # noqa: B023
                self.assertEqual(self.replayed(plain, *given), 1)

            both_ways(name, *case, replay)
            turned += max(rounds) > 1
        self.assertGreater(turned, 10)

    def test_random_walks_of_the_merged_machine(self) -> None:
        """What a walk of the merged machine adds up to is what the real requests cost."""
        rng = random.Random(2)
        tries = [(STUDY, 3), (Trie(("ab", "ac", "de", "df")), 3), (star(5), 3)]
        for (trie, capacity), name in itertools.product(tries, POLICIES):

            def check(
                merged: BesideOptimum, plain: BesideOptimum, case: str, given: Any = (name, trie, capacity)
            ) -> None:
                for _ in range(2):
                    walk = [rng.choice(merged.requests) for _ in range(12)]
                    real, cycle, rounds = merged.replay(walk, ())
                    self.assertEqual((len(real), cycle, rounds), (12, [], 1), case)
                    misses, optimum_misses = zip(*merged.run(walk))
                    self.assertEqual(list(misses), plain_misses(*given, real), (case, walk))
                    least = least_misses(*given, Optimum.BYPASS, real)
                    self.assertEqual(sum(optimum_misses), least, (case, walk))

            both_ways(name, trie, capacity, Optimum.BYPASS, check)

    def test_by_hand(self) -> None:
        """One block of three is cached; a round of the merged machine is "a block that is not cached".

        It leads to an image of the state, and comes back to the state itself after two or three rounds.
        """
        machine = lru_beside_optimum(star(3), 1, Optimum.LOCKED)
        first = machine.requests[0]
        state, _ = machine.step(machine.start, first)
        other = next(request for request in machine.requests if machine.step(state, request)[1] == (1, 1))
        self.assertEqual(machine.step(state, other)[0], state)
        prefix, around, rounds = machine.replay([first], [other])
        self.assertEqual((prefix, len(around)), ([first], rounds))
        self.assertIn(rounds, (2, 3))
        self.assertEqual(plain_misses("lru", star(3), 1, [*prefix, *around]), [1] * (1 + rounds))
        self.assertEqual(around[-1], first)


if __name__ == "__main__":
    unittest.main()
