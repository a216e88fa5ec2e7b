"""All lengths: every witness replayed from scratch, the counts one by one."""

from __future__ import annotations

import itertools
import unittest
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from src.claims.all_lengths import all_lengths, counts, every_length_claim
from src.policies.cache import Cache
from src.policies.scores import make_policy, sglang_policies
from src.radixcache import LeafOnlyBelady, Optimum, Recency, Rule, Trie, serve_lru
from src.walks.beside_optimum import lru_beside_optimum
from src.walks.every_length import every_length, explore, policy_every_length, request_names, supremum
from src.walks.exhaustive import Outgrown
from src.walks.forests import star
from tests.helpers import BINARY, ROUNDS, STUDY, claimed, round_costs, searching, shared_lru

BYPASS, LOCKED = Optimum.BYPASS, Optimum.LOCKED


def parsed(request: str) -> tuple[str, int]:
    """Return the string and the priority of a request as text."""
    string, _, priority = request.partition(":")
    return string, int(priority or 0)


class EveryWitness(unittest.TestCase):
    def test_of_every_length(self) -> None:
        """For each policy, optimum and capacity: prefix, then rounds of the cycle, by the plain cache and search."""
        claim = claimed("every_length")
        replayed = 0
        for name, optimum, capacity in itertools.product(sglang_policies(), Optimum, (2, 3, 4, 5)):
            with self.subTest(policy=name, optimum=optimum, capacity=capacity):
                shown = claim["witnesses"][name][optimum.value][str(capacity)]
                found = claim["measured"][name][optimum.value][str(capacity)]
                cycle = list(map(parsed, shown["cycle"]))
                costs = round_costs(name, STUDY, capacity, optimum, list(map(parsed, shown["prefix"])), cycle)
                expected = (shown["policy_misses"], shown["optimum_misses"])
                self.assertEqual(costs, [expected] * ROUNDS, shown)
                if found["ratio"] == "unbounded":
                    self.assertTrue(expected[0] > 0 == expected[1])
                else:
                    self.assertEqual(str(Fraction(*expected)), found["ratio"])
                    self.assertTrue(found["closed"])
                self.assertFalse(found["exceeds_every_cycle"])
                self.assertGreater(found["states"], 1)
                replayed += len(cycle) > 0
        self.assertEqual(replayed, 56)

    def test_of_the_theorems(self) -> None:
        """Three one-block strings, K = 2: the ratio is above 2, and of no shorter sequence it is.

        Shorter ones are tried up to a change of names (a first, then b before c) and without immediate repetitions,
        which cost neither cache anything.
        """
        claim = claimed("theorems")
        shown = claim["witnesses"]["above_capacity"]
        trie = Trie(tuple(shown["strings"]))
        self.assertEqual((len(trie.strings), max(trie.depth), shown["capacity"]), (3, 1, 2))
        misses, least = self.costs(trie, shown["sequence"])
        self.assertEqual((misses, least), (shown["lru_misses"], shown["optimum_misses"]))
        self.assertEqual({shown["ratio"], claim["measured"]["above_capacity"]}, {str(Fraction(misses, least))})
        self.assertGreater(Fraction(misses, least), 2)
        first, second, third = trie.strings
        level: list[tuple[str, ...]] = [(first,)]
        for _ in range(len(shown["sequence"]) - 1):
            for sequence in level:
                one, other = self.costs(trie, sequence)
                self.assertLessEqual(one, 2 * other, sequence)
            level = [
                (*sequence, string)
                for sequence in level
                for string in trie.strings
                if string != sequence[-1] and (string != third or second in sequence)
            ]
        self.assertIn(tuple(shown["sequence"]), level)

    def costs(self, trie: Trie, sequence: Sequence[str]) -> tuple[int, int]:
        return serve_lru(trie, 2, sequence, Rule.LEAF_ONLY).misses, searching(trie, 2, BYPASS).misses(tuple(sequence))

    def test_a_cycle_on_which_lfu_itself_repeats(self) -> None:
        """On three one-block strings at K = 2, first a a b, then c b over and over: even its counts repeat."""
        trie, prefix, cycle = Trie(("a", "b", "c")), ["a", "a", "b"], ["c", "b"]
        cache = Cache(trie, 2, make_policy("lfu"))
        for string in prefix:
            cache.access(string)
        states = []
        for _ in range(4):
            misses = sum(cache.access(string).misses for string in cycle)
            order = sorted(cache.facts, key=lambda block: cache.facts[block].last_access)
            states.append((misses, order, [cache.facts[block].hits for block in order]))
        self.assertEqual(states, [(2, states[0][1], [1, 0])] * 4)
        search = LeafOnlyBelady(trie, 2, Optimum.LOCKED)
        rounds = [search.misses(prefix + cycle * count) for count in range(4)]
        self.assertEqual(rounds, [2, 3, 3, 3])


class Supremum(unittest.TestCase):
    def test_the_claim_is_what_is_measured(self) -> None:
        """For the two smaller capacities, without the merging of symmetric states where that is quick."""
        measured = claimed("every_length")["measured"]
        for name, capacity in itertools.product(sglang_policies(), (2, 3)):
            priorities = (0, 1) if name == "priority" else (0,)
            for optimum, one in zip(
                Optimum, policy_every_length(STUDY, capacity, make_policy(name), tuple(Optimum), priorities)
            ):
                found = measured[name][optimum.value][str(capacity)]
                expected = (found["ratio"], found["exceeds_every_cycle"], found["states"], found["closed"])
                case = (name, capacity, optimum)
                self.assertEqual((one.ratio, one.result.exceeds, one.result.states, one.closed), expected, case)
        for optimum, capacity in itertools.product(Optimum, (2, 3)):
            plain = supremum(explore(lru_beside_optimum(STUDY, capacity, optimum, merge=False)))
            self.assertEqual(str(plain.ratio), measured["lru"][optimum.value][str(capacity)]["ratio"])

    def test_settled(self) -> None:
        one = every_length(lru_beside_optimum(star(3), 2, BYPASS), 1000)
        self.assertEqual((one.ratio, one.closed, one.result.exceeds), ("3", True, False))
        self.assertEqual(Fraction(one.misses, one.optimum_misses), 3)
        rounds = len(one.cycle) // len(one.result.witness.cycle)
        self.assertEqual((one.misses, one.optimum_misses), tuple(rounds * each for each in one.result.witness[2:]))
        (unbounded,) = policy_every_length(star(3), 2, make_policy("mru"), (BYPASS,))
        self.assertEqual((unbounded.ratio, unbounded.optimum_misses), ("unbounded", 0))
        (alone,) = policy_every_length(Trie("a"), 1, make_policy("lru"), (LOCKED,))
        self.assertEqual((alone.ratio, alone.prefix, alone.cycle, alone.misses), ("1", ["a"], [], 1))

    def test_limits_on_the_states(self) -> None:
        with self.assertRaises(Outgrown) as raised:
            policy_every_length(STUDY, 3, make_policy("fifo"), (BYPASS,), most=20)
        self.assertEqual((raised.exception.states, raised.exception.known.states), (20, 20))
        with self.assertRaises(Outgrown):
            policy_every_length(STUDY, 3, lambda block: block.hits // 2, (BYPASS,), most=300)
        with self.assertRaisesRegex(ValueError, "'00' has 2 blocks"):
            policy_every_length(STUDY, 1, make_policy("lru"), (BYPASS, LOCKED))

    def test_request_names(self) -> None:
        self.assertEqual(request_names(("0", "01"), (0,)), ["0", "01"])
        self.assertEqual(request_names(((0,), (0, 2)), (0,)), ["0", "0.2"])
        self.assertEqual(request_names((("01", 1), ("0", 0)), (0, 1)), ["01:1", "0:0"])

    def test_the_claim_on_a_small_trie(self) -> None:
        said: list[str] = []
        trie = Trie(("0", "00"))
        found = every_length_claim(trie, said.append)
        self.assertEqual([f"every length: {name}" for name in (*sglang_policies(), "counts")], said)
        for name, optimum, capacity in itertools.product(sglang_policies(), ("bypass", "locked"), "2345"):
            one = found["measured"][name][optimum][capacity]
            self.assertEqual((one["ratio"], one["exceeds_every_cycle"], one["closed"]), ("1", True, True))
            shown = found["witnesses"][name][optimum][capacity]
            self.assertEqual(([request[-2:] for request in shown["prefix"]], shown["cycle"]), self.first(name))
            self.assertEqual((shown["policy_misses"], shown["optimum_misses"]), (1, 1))
        self.assertEqual(found["measured"]["counts"]["30"]["instances"], 2 * 2**30)
        self.assertFalse(found["reproduced"])


    def first(self, name: str) -> tuple[list[str], list[str]]:
        """Return the end of the first request, as text, and no cycle: only `priority` has requests with priorities."""
        return ([":0"] if name == "priority" else ["0"]), []


class Counts(unittest.TestCase):
    def plain(self, length: int, recency: Recency = Recency.PATH) -> dict[str, int]:
        """Return the counts by serving every sequence, one by one."""
        instances = loses = strict = other = 0
        for capacity, sequence in itertools.product((2, 3), itertools.product(BINARY, repeat=length)):
            leaf, shallow, deep = (shared_lru(STUDY, capacity, sequence, rule, recency) for rule in Rule)
            instances += 1
            loses += shallow.misses > leaf.misses
            free = [*shallow.evictions, *deep.evictions]
            strict += sum(eviction.interior and eviction.strict for eviction in free)
            victims = [[eviction.victim for eviction in run.evictions] for run in (leaf, deep)]
            other += victims[0] != victims[1]
        return {
            "instances": instances,
            "shallow_loses": loses,
            "strict_interior_evictions": strict,
            "other_decisions": other,
        }

    def test_one_by_one(self) -> None:
        for length in (1, 2, 4):
            self.assertEqual(counts(STUDY, length), self.plain(length), length)
        self.assertGreater(self.plain(3)["shallow_loses"], 0)

    def test_each_count_with_the_recency_control(self) -> None:
        found = counts(STUDY, 4, Recency.REQUESTED)
        self.assertEqual(found, self.plain(4, Recency.REQUESTED))
        self.assertGreater(min(found.values()), 0)
        everywhere = all_lengths(STUDY, Recency.REQUESTED)
        self.assertGreater(everywhere["edges_with_a_strict_interior_eviction"], 0)
        self.assertGreater(everywhere["edges_with_another_decision"], 0)
        self.assertEqual(everywhere["edges"], 6 * everywhere["states"])

    def test_the_published_numbers(self) -> None:
        expected = {
            "instances": 93312,
            "shallow_loses": 33060,
            "strict_interior_evictions": 0,
            "other_decisions": 0,
        }
        measured = claimed("every_length")["measured"]
        self.assertEqual(counts(STUDY, 6), expected)
        self.assertEqual(measured["counts"]["6"], expected)
        self.assertEqual(measured["counts"]["30"], counts(STUDY, 30))
        self.assertEqual(measured["counts"]["30"]["instances"], 2 * 6**30)

    def test_all_lengths(self) -> None:
        """The graph of the comparison, walked anew: orders of last accesses under each of the three rules."""
        states = edges = 0
        for capacity in (2, 3):
            known: dict[Any, tuple[str, ...]] = {}
            waiting: list[tuple[str, ...]] = [()]
            while waiting:
                sequence = waiting.pop()
                orders = self.orders(capacity, sequence)
                if orders in known:
                    continue
                known[orders] = sequence
                waiting += [(*sequence, string) for string in BINARY]
            states += len(known)
            edges += 6 * len(known)
        found = all_lengths(STUDY)
        self.assertEqual(list(found.values()), [states, edges, 0, 0])
        self.assertEqual(claimed("every_length")["measured"]["all_lengths"], found)

    def orders(self, capacity: int, sequence: Sequence[str]) -> Any:
        """Return, for each rule, the cached blocks with the place of their last access among those of the others."""
        orders = []
        for rule in Rule:
            cached = shared_lru(STUDY, capacity, sequence, rule).steps[-1].cached if sequence else 0
            last = {block: at for at, string in enumerate(sequence) for block in STUDY.path(string)}
            times = sorted({last[block] for block in range(6) if cached >> block & 1})
            orders.append(tuple((block, times.index(last[block])) for block in range(6) if cached >> block & 1))
        return tuple(orders)


if __name__ == "__main__":
    unittest.main()
