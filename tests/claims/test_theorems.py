"""The theorems by plain enumeration, and their sweeps."""

from __future__ import annotations

import itertools
import unittest
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any
from unittest import mock

from src.claims import theorems as module
from src.claims.theorems import Priced, bound, cases, fifo_sweep, lru_sweep, offline_sweep, theorems
from src.policies.cache import Cache, CacheState
from src.policies.scores import make_policy
from src.radixcache import Optimum, Trie, UnrestrictedBelady
from src.walks.belady import AnySetBelady
from src.walks.beside_optimum import lru_beside_optimum, policy_beside_optimum
from src.walks.every_length import every_length, explore, supremum
from src.walks.forests import forest_trie, forests, star
from src.walks.policy_machine import PolicyMachines, with_policy
from tests.helpers import ROUNDS, claimed, round_costs

BYPASS, LOCKED = Optimum.BYPASS, Optimum.LOCKED


def small_cases(nodes: int) -> Iterator[tuple[Trie, int, Optimum]]:
    """Yield all forests with up to so many nodes, all capacities below the size, and the optima that fit."""
    for count in range(2, nodes + 1):
        for forest in forests(count):
            trie = forest_trie(forest)
            for capacity, optimum in itertools.product(range(1, count), Optimum):
                if optimum is BYPASS or max(map(len, trie.strings)) <= capacity:
                    yield trie, capacity, optimum


class Theorems(unittest.TestCase):
    def test_the_bounds_by_plain_enumeration(self) -> None:
        """Every sequence of up to 4 requests on every forest with up to 4 nodes: LRU, and fifo, within the bound."""
        exceeded = dict.fromkeys(("lru", "fifo"), 0)
        for trie, capacity, optimum in small_cases(4):
            search = UnrestrictedBelady(trie, capacity, optimum)
            limit = capacity + 1 if optimum is BYPASS else capacity
            self.assertEqual(bound(capacity, optimum), limit)
            for name in ("lru", "fifo"):
                for sequence, misses in self.every_sequence(name, trie, capacity, 4):
                    least = search.misses(sequence)
                    if misses > limit * least:
                        self.fail((name, trie.strings, capacity, optimum, sequence))
                    exceeded[name] += misses > least
        self.assertGreater(min(exceeded.values()), 100)

    def every_sequence(self, name: str, trie: Trie, capacity: int, length: int) -> Iterator[tuple[Any, int]]:
        """Yield every sequence of 1 to `length` requests with the policy's misses, common beginnings served once."""
        plain = Cache(trie, capacity, make_policy(name))
        waiting: list[Any] = [((), 0, CacheState())]
        while waiting:
            sequence, misses, state = waiting.pop()
            for string in trie.strings:
                plain.restore(state)
                following = (*sequence, string)
                more = misses + plain.access(string).misses
                yield following, more
                if len(following) < length:
                    waiting.append((following, more, plain.state()))

    def test_the_star_attains_the_bounds(self) -> None:
        """K + 1 one-block strings: a cycle with ratio K (locked) or K + 1 (bypass), replayed from scratch."""
        for capacity, optimum in itertools.product((1, 2, 3, 4), Optimum):
            trie = star(capacity + 1)
            one = every_length(lru_beside_optimum(trie, capacity, optimum), 1000)
            expected = capacity + 1 if optimum is BYPASS else capacity
            self.assertEqual(one.ratio, str(expected))
            requests = [[(string, 0) for string in part] for part in (one.prefix, one.cycle)]
            costs = round_costs("lru", trie, capacity, optimum, *requests)
            self.assertEqual(costs, [(one.misses, one.optimum_misses)] * ROUNDS)
            self.assertEqual(Fraction(*costs[0]), expected)

    def test_five_policies_have_no_bound_from_two_blocks_on(self) -> None:
        """The sequence of the proof: two strings in turn miss every time, and the locked optimum holds both."""
        before = {"lfu": 2, "slru": 3, "priority": 1, "mru": 1, "filo": 1}
        for capacity, (name, times) in itertools.product((2, 3, 4), before.items()):
            trie = star(capacity + 1)
            *first, one, other = trie.strings
            prefix = [(string, int(name == "priority")) for string in first for _ in range(times)]
            prefix += [(one, 0), (other, 0)]
            costs = round_costs(name, trie, capacity, LOCKED, prefix, [(one, 0), (other, 0)])
            self.assertEqual(costs, [(2, 0)] * ROUNDS, (name, capacity))

    def test_the_cases(self) -> None:
        for nodes in range(1, 7):
            found = [
                (one.trie.strings, one.capacity, optimum) for one in cases(nodes) for optimum in one.optima
            ]
            self.assertEqual(found, [(trie.strings, *rest) for trie, *rest in small_cases(nodes)])
        claim = claimed("theorems")["measured"]
        self.assertEqual((claim["lru"]["forests"], claim["lru"]["cases"]), (84, len(list(small_cases(6)))))
        self.assertEqual((claim["fifo"]["forests"], claim["fifo"]["cases"]), (36, len(list(small_cases(5)))))

    def test_the_published_bounds(self) -> None:
        claim = claimed("theorems")["measured"]
        self.assertEqual(claim["lru"]["cases_above_the_bound"], 0)
        for capacity in range(1, 6):
            self.assertEqual(claim["lru"]["ratio_of_the_star"]["bypass"][str(capacity)], str(capacity + 1))
            self.assertEqual(claim["lru"]["ratio_of_the_star"]["locked"][str(capacity)], str(capacity))
        self.assertEqual((claim["fifo"]["unbounded_cases"], claim["fifo"]["cases_above_lrus_bound"]), (0, 0))
        self.assertEqual(claim["offline"]["mismatches"], 0)
        self.assertEqual(claim["offline"]["instances"], sum(len(trie) ** 4 for trie, _, _ in small_cases(4)))

    def test_the_sweep_of_lru(self) -> None:
        found = lru_sweep(4)
        self.assertEqual((found["forests"], found["cases"]), (16, len(list(small_cases(4)))))
        self.assertEqual(found["cases_above_the_bound"], 0)
        self.assertEqual(found["ratio_of_the_star"]["bypass"], {"1": "2", "2": "3", "3": "4"})
        self.assertEqual(found["ratio_of_the_star"]["locked"], {"1": "1", "2": "2", "3": "3"})

    def test_the_sweep_of_lru_counts_what_exceeds_a_bound(self) -> None:
        ratios = [supremum(explore(lru_beside_optimum(*case, merge=False))).ratio for case in small_cases(3)]
        for limit in (Fraction(1), Fraction(3, 2), Fraction(2)):
            above = lru_sweep(3, lambda *_, limit=limit: limit)["cases_above_the_bound"]
            self.assertEqual(above, sum(ratio is not None and ratio > limit for ratio in ratios))
        self.assertTrue(any(ratio is not None and ratio > 2 for ratio in ratios))
        made_up = [Priced(star(2), 1, LOCKED, ratio) for ratio in (None, Fraction(3), Fraction(1), None)]
        with mock.patch.object(module, "priced", lambda *_: made_up):
            self.assertEqual(lru_sweep(2)["cases_above_the_bound"], 3)

    def test_the_sweep_of_fifo(self) -> None:
        largest: dict[str, dict[str, Fraction]] = {"bypass": {}, "locked": {}}
        for trie, capacity, optimum in small_cases(3):

            def use(policy: PolicyMachines, optimum: Optimum = optimum) -> Fraction | None:
                return supremum(explore(policy_beside_optimum(policy, optimum, merge=False))).ratio

            ratio = with_policy(trie, capacity, make_policy("fifo"), use)
            assert ratio is not None
            rows = largest[optimum.value]
            rows[str(capacity)] = max(ratio, rows.get(str(capacity), ratio))
        found = fifo_sweep(3)
        self.assertEqual((found["forests"], found["cases"]), (7, len(list(small_cases(3)))))
        self.assertEqual((found["unbounded_cases"], found["cases_above_lrus_bound"]), (0, 0))
        for model, rows in largest.items():
            self.assertEqual(found["largest_ratio"][model], {k: str(ratio) for k, ratio in rows.items()})
        self.assertEqual(fifo_sweep(3, lambda *_: Fraction(1, 2))["cases_above_lrus_bound"], found["cases"])
        self.assertGreater(fifo_sweep(3, policy="mru")["unbounded_cases"], 0)

    def test_the_sweep_of_the_offline_optimum(self) -> None:
        instances = sum(len(trie) ** 3 for trie, _, _ in small_cases(3))
        self.assertEqual(offline_sweep(3, 3), {"instances": instances, "mismatches": 0})

        class Cheaper(AnySetBelady):
            def misses(self, sequence: Sequence[Any], cached: int = 0) -> int:
                return super().misses(sequence, cached) - (len(set(sequence)) == 1 and len(sequence) == 3)

        found = offline_sweep(3, 3, Cheaper)
        self.assertEqual(found["mismatches"], sum(len(trie) for trie, _, _ in small_cases(3)))

    def test_the_claim_with_smaller_bounds(self) -> None:
        smaller = {"FOREST_NODES": 3, "FIFO_NODES": 3, "OFFLINE_NODES": 2, "OFFLINE_LENGTH": 3}
        with mock.patch.multiple(module, **smaller):
            found = theorems(lambda _: None)
        self.assertEqual(found["measured"]["lru"], lru_sweep(3))
        self.assertEqual(found["measured"]["fifo"], fifo_sweep(3))
        self.assertEqual(found["measured"]["offline"], offline_sweep(2, 3))
        self.assertEqual(found["witnesses"], claimed("theorems")["witnesses"])
        self.assertEqual(sorted(found["parameters"].values()), [2, 3, 3, 3])


if __name__ == "__main__":
    unittest.main()
