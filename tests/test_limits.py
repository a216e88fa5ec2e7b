"""What the study left open: every published witness replayed from scratch, and the theorems by plain enumeration."""

from __future__ import annotations

import itertools
import json
import unittest
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any
from unittest import mock

from src import limits
from src.everylength import every_length, explore
from src.exhaustive import Outgrown
from src.forests import forest_trie, forests, star
from src.limits import (
    all_lengths,
    bound,
    cases,
    counts,
    every_length_claim,
    fifo_sweep,
    lru_sweep,
    offline_sweep,
    request_names,
    settle,
    settle_policy,
    theorems,
)
from src.policies import REGISTRY, Cache, make_policy
from src.policymachine import PolicyMachines, with_policy
from src.priced import priced_lru, priced_policy
from src.radixcache import AnySetBelady, LeafOnlyBelady, Optimum, Rule, Trie, UnrestrictedBelady, belady, lru
from tests.test_audit import RESULTS
from tests.test_radixcache import BINARY

BYPASS, LOCKED = Optimum.BYPASS, Optimum.LOCKED
STUDY = Trie(BINARY)
ROUNDS = 4
searching = cache(LeafOnlyBelady)


def claimed(name: str) -> dict[str, Any]:
    """Return a published claim."""
    found: dict[str, Any] = json.loads(RESULTS.read_text())[name]
    return found


def parsed(request: str) -> tuple[str, int]:
    """Return the string and the priority of a request as text."""
    string, _, priority = request.partition(":")
    return string, int(priority or 0)


def policy_misses(name: str, trie: Trie, capacity: int, requests: Sequence[tuple[Any, int]]) -> list[int]:
    """Return each request's misses by the plain cache; of LRU by the model, held equal to that."""
    plain = Cache(trie, capacity, make_policy(name))
    misses = [plain.access(string, priority).misses for string, priority in requests]
    if name == "lru":
        run = lru(trie, capacity, [string for string, _ in requests], Rule.LEAF_ONLY)
        assert misses == [step.misses for step in run.steps]
    return misses


def least_misses(trie: Trie, capacity: int, optimum: Optimum, strings: Sequence[Any]) -> int:
    """Return the least misses by the furthest-next-use rule, held equal to the plain search where that is short."""
    least = belady(trie, capacity, strings, optimum).misses
    assert len(strings) > 13 or least == searching(trie, capacity, optimum).misses(tuple(strings))
    return least


class EveryWitness(unittest.TestCase):
    def round_costs(
        self, name: str, trie: Trie, capacity: int, optimum: Optimum, prefix: Sequence[Any], cycle: Sequence[Any]
    ) -> list[tuple[int, int]]:
        """Return what each round of the cycle after the prefix costs the policy and the optimum."""
        requests = [*prefix, *cycle * ROUNDS]
        misses = policy_misses(name, trie, capacity, requests)
        strings = [string for string, _ in requests]
        ends = [len(prefix) + len(cycle) * times for times in range(ROUNDS + 1)]
        totals = [(sum(misses[:end]), least_misses(trie, capacity, optimum, strings[:end])) for end in ends]
        return [(one - before, best - least) for (before, least), (one, best) in zip(totals, totals[1:])]

    def test_of_every_length(self) -> None:
        """For each policy, optimum and capacity: prefix, then rounds of the cycle, by the plain cache and search."""
        claim = claimed("every_length")
        replayed = 0
        for name, optimum, capacity in itertools.product(REGISTRY, Optimum, (2, 3, 4, 5)):
            with self.subTest(policy=name, optimum=optimum, capacity=capacity):
                shown = claim["witnesses"][name][optimum.value][str(capacity)]
                found = claim["measured"][name][optimum.value][str(capacity)]
                cycle = list(map(parsed, shown["cycle"]))
                costs = self.round_costs(name, STUDY, capacity, optimum, list(map(parsed, shown["prefix"])), cycle)
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
        return lru(trie, 2, sequence, Rule.LEAF_ONLY).misses, searching(trie, 2, BYPASS).misses(tuple(sequence))


class EveryLength(unittest.TestCase):
    def test_the_claim_is_what_is_measured(self) -> None:
        """For the two smaller capacities, without the merging of symmetric states where that is quick."""
        measured = claimed("every_length")["measured"]
        for name, capacity in itertools.product(REGISTRY, (2, 3)):
            priorities = (0, 1) if name == "priority" else (0,)
            for optimum, one in zip(
                Optimum, settle_policy(STUDY, capacity, make_policy(name), tuple(Optimum), priorities)
            ):
                found = measured[name][optimum.value][str(capacity)]
                expected = (found["ratio"], found["exceeds_every_cycle"], found["states"], found["closed"])
                case = (name, capacity, optimum)
                self.assertEqual((one.ratio, one.result.exceeds, one.result.states, one.closed), expected, case)
        for optimum, capacity in itertools.product(Optimum, (2, 3)):
            plain = every_length(explore(priced_lru(STUDY, capacity, optimum, merge=False)))
            self.assertEqual(str(plain.ratio), measured["lru"][optimum.value][str(capacity)]["ratio"])

    def test_settled(self) -> None:
        one = settle(priced_lru(star(3), 2, BYPASS), 1000)
        self.assertEqual((one.ratio, one.closed, one.result.exceeds), ("3", True, False))
        self.assertEqual(Fraction(one.misses, one.optimum_misses), 3)
        rounds = len(one.cycle) // len(one.result.witness.cycle)
        self.assertEqual((one.misses, one.optimum_misses), tuple(rounds * each for each in one.result.witness[2:]))
        (unbounded,) = settle_policy(star(3), 2, make_policy("mru"), (BYPASS,))
        self.assertEqual((unbounded.ratio, unbounded.optimum_misses), ("unbounded", 0))
        (alone,) = settle_policy(Trie("a"), 1, make_policy("lru"), (LOCKED,))
        self.assertEqual((alone.ratio, alone.prefix, alone.cycle, alone.misses), ("1", ["a"], [], 1))

    def test_limits_on_the_states(self) -> None:
        with self.assertRaises(Outgrown) as raised:
            settle_policy(STUDY, 3, make_policy("fifo"), (BYPASS,), most=20)
        self.assertEqual((raised.exception.states, raised.exception.known.states), (20, 20))
        with self.assertRaises(Outgrown):
            settle_policy(STUDY, 3, lambda block: block.hits // 2, (BYPASS,), most=300)
        with self.assertRaisesRegex(ValueError, "'00' has 2 blocks"):
            settle_policy(STUDY, 1, make_policy("lru"), (BYPASS, LOCKED))

    def test_request_names(self) -> None:
        self.assertEqual(request_names(("0", "01"), (0,)), ["0", "01"])
        self.assertEqual(request_names(((0,), (0, 2)), (0,)), ["0", "0.2"])
        self.assertEqual(request_names((("01", 1), ("0", 0)), (0, 1)), ["01:1", "0:0"])

    def test_the_claim_on_a_small_trie(self) -> None:
        said: list[str] = []
        trie = Trie(("0", "00"))
        found = every_length_claim(trie, said.append)
        self.assertEqual([f"every length: {name}" for name in (*REGISTRY, "counts")], said)
        for name, optimum, capacity in itertools.product(REGISTRY, ("bypass", "locked"), "2345"):
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
    def plain(self, length: int) -> dict[str, int]:
        """Return the counts by serving every sequence, one by one."""
        instances = loses = strict = other = 0
        for capacity, sequence in itertools.product((2, 3), itertools.product(BINARY, repeat=length)):
            leaf, shallow, deep = (lru(STUDY, capacity, sequence, rule) for rule in Rule)
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
            cached = lru(STUDY, capacity, sequence, rule).steps[-1].cached if sequence else 0
            last = {block: at for at, string in enumerate(sequence) for block in STUDY.path(string)}
            times = sorted({last[block] for block in range(6) if cached >> block & 1})
            orders.append(tuple((block, times.index(last[block])) for block in range(6) if cached >> block & 1))
        return tuple(orders)


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
        waiting: list[Any] = [((), 0, 0, {})]
        while waiting:
            sequence, misses, clock, facts = waiting.pop()
            for string in trie.strings:
                plain.clock, plain.facts = clock, dict(facts)
                following = (*sequence, string)
                more = misses + plain.access(string).misses
                yield following, more
                if len(following) < length:
                    waiting.append((following, more, plain.clock, plain.facts))

    def test_the_star_attains_the_bounds(self) -> None:
        """K + 1 one-block strings: a cycle with ratio K (locked) or K + 1 (bypass), replayed from scratch."""
        for capacity, optimum in itertools.product((1, 2, 3, 4), Optimum):
            trie = star(capacity + 1)
            one = settle(priced_lru(trie, capacity, optimum), 1000)
            expected = capacity + 1 if optimum is BYPASS else capacity
            self.assertEqual(one.ratio, str(expected))
            replays = EveryWitness()
            requests = [[(string, 0) for string in part] for part in (one.prefix, one.cycle)]
            costs = replays.round_costs("lru", trie, capacity, optimum, *requests)
            self.assertEqual(costs, [(one.misses, one.optimum_misses)] * ROUNDS)
            self.assertEqual(Fraction(*costs[0]), expected)

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
        ratios = [every_length(explore(priced_lru(*case, merge=False))).ratio for case in small_cases(3)]
        for limit in (Fraction(1), Fraction(3, 2), Fraction(2)):
            with mock.patch.object(limits, "bound", lambda *_, limit=limit: limit):
                above = lru_sweep(3)["cases_above_the_bound"]
            self.assertEqual(above, sum(ratio is not None and ratio > limit for ratio in ratios))
        self.assertTrue(any(ratio is not None and ratio > 2 for ratio in ratios))

    def test_the_sweep_of_fifo(self) -> None:
        largest: dict[str, dict[str, Fraction]] = {"bypass": {}, "locked": {}}
        for trie, capacity, optimum in small_cases(3):

            def use(policy: PolicyMachines, optimum: Optimum = optimum) -> Fraction | None:
                return every_length(explore(priced_policy(policy, optimum, merge=False))).ratio

            ratio = with_policy(trie, capacity, make_policy("fifo"), use)
            assert ratio is not None
            rows = largest[optimum.value]
            rows[str(capacity)] = max(ratio, rows.get(str(capacity), ratio))
        found = fifo_sweep(3)
        self.assertEqual((found["forests"], found["cases"]), (7, len(list(small_cases(3)))))
        self.assertEqual((found["unbounded_cases"], found["cases_above_lrus_bound"]), (0, 0))
        for model, rows in largest.items():
            self.assertEqual(found["largest_ratio"][model], {k: str(ratio) for k, ratio in rows.items()})
        with mock.patch.object(limits, "bound", lambda *_: Fraction(1, 2)):
            self.assertEqual(fifo_sweep(3)["cases_above_lrus_bound"], found["cases"])
        with mock.patch.object(limits, "make_policy", lambda _: make_policy("mru")):
            self.assertGreater(fifo_sweep(3)["unbounded_cases"], 0)

    def test_the_sweep_of_the_offline_optimum(self) -> None:
        instances = sum(len(trie) ** 3 for trie, _, _ in small_cases(3))
        self.assertEqual(offline_sweep(3, 3), {"instances": instances, "mismatches": 0})

        class Cheaper(AnySetBelady):
            def misses(self, sequence: Sequence[Any], cached: int = 0) -> int:
                return super().misses(sequence, cached) - (len(set(sequence)) == 1 and len(sequence) == 3)

        with mock.patch.object(limits, "AnySetBelady", Cheaper):
            found = offline_sweep(3, 3)
        self.assertEqual(found["mismatches"], sum(len(trie) for trie, _, _ in small_cases(3)))

    def test_the_claim_with_smaller_bounds(self) -> None:
        smaller = {"FOREST_NODES": 3, "FIFO_NODES": 3, "OFFLINE_NODES": 2, "OFFLINE_LENGTH": 3}
        with mock.patch.multiple(limits, **smaller):
            found = theorems(lambda _: None)
        self.assertEqual(found["measured"]["lru"], lru_sweep(3))
        self.assertEqual(found["measured"]["fifo"], fifo_sweep(3))
        self.assertEqual(found["measured"]["offline"], offline_sweep(2, 3))
        self.assertEqual(found["witnesses"], claimed("theorems")["witnesses"])
        self.assertEqual(sorted(found["parameters"].values()), [2, 3, 3, 3])


if __name__ == "__main__":
    unittest.main()
