"""The claim about policies with a memory: its witnesses anew by plain means, and what it says of them."""

from __future__ import annotations

import unittest
from collections.abc import Callable
from fractions import Fraction

from src.claims.memory import CLOSED, EVERY_LENGTH, KEEP_THE_ORDER, LONGEST, STUBBORN, favourite, memory
from src.policies.cache import Cache
from src.policies.facts import Facts
from src.policies.research import hyperbolic
from src.policies.scores import make_policy, research_policies
from src.radixcache import Optimum, Trie
from src.traces.optimum import TraceOptimum
from src.traces.reading import trace_of
from src.traces.replay import serve
from tests.helpers import claimed, round_costs

Place = Callable[[list[int]], tuple[int, ...]]

PLACES: dict[str, Place] = {
    "lru": lambda times: (times[-1],),
    "2q": lambda times: (min(len(times), 2), times[-1]),
    "lru-2": lambda times: (times[-2] if times[1:] else 0, times[-1]),
    "aged-lfu": lambda times: (times[-1] + 1000 * len(bin(len(times))[2:]), times[-1]),
}
"""Policies of pages, as the place of a page in the order of eviction by all times at which it was requested."""


def plain_favourite(place: Place, repeats: int) -> tuple[int, int]:
    """Return the requests and the misses of two pages' cache, written anew."""
    log: dict[str, list[int]] = {page: [] for page in "abc"}
    cached: set[str] = set()
    now = misses = 0
    while now <= repeats or "a" in cached:
        now += 1
        page = "a" if now <= repeats else "bc"[(now - repeats - 1) % 2]
        log[page].append(now)
        misses += page not in cached
        cached.add(page)
        if len(cached) > 2:
            cached.remove(min(cached - {page}, key=lambda one: place(log[one])))
    return now, misses


class RememberedWithoutABound(unittest.TestCase):
    """The theorem of "Policies that remember how often" at K = 3: two favourites in n rounds, then c and d in turn."""

    def turns(self, name: str, config: dict[str, int], rounds: int) -> int:
        """Return how many turns miss before the favourites give way, up to 150."""
        cache = Cache(Trie("abcd"), 3, make_policy(name, config))
        for _ in range(rounds):
            cache.access("a")
            cache.access("b")
        return next((turn for turn in range(150) if not cache.access("cd"[turn % 2]).misses), 150)

    def test_the_more_rounds_the_more_turns(self) -> None:
        for name, config in (
            ("aged-lfu", {"half_life": 3}), ("gdsf", {"weight": 2}), ("hits-per-block", {}),
            ("hyperbolic", {"patience": 3}), ("ttl", {"requests": 400}),
        ):
            turns = [self.turns(name, config, rounds) for rounds in (1, 8, 60, 300)]
            self.assertEqual(turns, sorted(set(turns)), name)
            self.assertGreater(turns[-1], 12, name)
        for name, expected in (("lru", 2), ("lru-2", 4)):
            self.assertEqual({self.turns(name, {}, rounds) for rounds in (2, 8, 60, 300)}, {expected})

    def test_a_time_to_live_is_a_bound(self) -> None:
        self.assertEqual([self.turns("ttl", {"requests": 20}, rounds) for rounds in (60, 300)], [20, 20])

    def test_where_the_rounding_of_hyperbolic_ends_it_is_lru(self) -> None:
        facts = Facts(last_access=97, created=1, hits=0, priority=0, depth=1)
        scores = [hyperbolic(facts._replace(seen=3 << digits), 100, patience=3) for digits in (15, 16, 17, 40)]
        self.assertEqual(scores, [-2, -1, 0, 0])


class MemoryClaim(unittest.TestCase):
    def setUp(self) -> None:
        self.claim = claimed("memory")
        self.measured = self.claim["measured"]

    def test_is_what_is_committed(self) -> None:
        self.assertEqual(memory(), self.claim)

    def test_the_rule_binds_for_those_that_divide_by_the_blocks_below_or_learn_and_for_no_others(self) -> None:
        self.assertTrue(self.claim["holds"])
        rule = self.measured["rule"]
        self.assertEqual(list(rule), list(research_policies()))
        self.assertEqual({name for name in rule if not rule[name]["interior_evictions"]}, set(KEEP_THE_ORDER))
        for name, witness in self.claim["witnesses"]["rule"].items():
            trie = Trie(self.claim["parameters"]["tree"])
            free = Cache(trie, witness["capacity"], make_policy(name), leaf_only=False)
            self.assertTrue(any(free.access(string).interior for string in witness["sequence"]), name)

    def test_worst_ratios_over_all_lengths(self) -> None:
        """LRU-2 is worse in the worst case than LRU, and for two pages twice the capacity is what it comes to."""
        ratios = {name: list(self.measured["every_length"][name].values()) for name in CLOSED}
        for name in ("2q", "t-lru"):
            self.assertEqual(ratios[name], ratios["lru"])
        self.assertEqual(ratios["lru"][0], {"bypass": "3", "locked": "2"})
        self.assertEqual(ratios["lru-2"][0], {"bypass": "4", "locked": "4"})

    def test_each_round_of_a_witness_costs_what_it_says(self) -> None:
        for name in CLOSED:
            for (strings, capacity), (where, found) in zip(
                EVERY_LENGTH, self.claim["witnesses"]["every_length"][name].items()
            ):
                for optimum in Optimum:
                    one = found[optimum.value]
                    prefix, cycle = ([(string, 0) for string in one[part]] for part in ("prefix", "cycle"))
                    costs = round_costs(name, Trie(strings), capacity, optimum, prefix, cycle)
                    self.assertEqual(set(costs[1:]), {(one["policy_misses"], one["optimum_misses"])}, (name, where))
                    ratio = Fraction(one["policy_misses"], one["optimum_misses"])
                    self.assertEqual(str(ratio), self.measured["every_length"][name][where][optimum.value])

    def test_the_favourite_by_plain_pages(self) -> None:
        for name, place in PLACES.items():
            for repeats, found in self.measured["favourite"][name].items():
                plain = plain_favourite(place, int(repeats))
                self.assertEqual((found["requests"], found["policy_misses"]), plain, (name, repeats))
                self.assertEqual(found["optimum_misses"], 3)

    def test_the_favourite_costs_ever_more_or_does_not(self) -> None:
        for name in STUBBORN:
            ratios = [Fraction(found["ratio"]) for found in self.measured["favourite"][name].values()]
            grows = name not in ("lru", "2q", "lru-2", "return-density")
            self.assertEqual(all(one < other for one, other in zip(ratios, ratios[1:])), grows, name)
            self.assertEqual(len(set(ratios)) == 1, not grows, name)

    def test_the_lesson_by_the_replay(self) -> None:
        """The requests written anew, served by the engine for traces and bounded by the optimum there."""
        for name, by_octaves in self.measured["lesson"].items():
            turns = []
            for (octaves, found), rounds in zip(by_octaves.items(), ({2: 4}, {2: 32, 3: 8}, {2: 576, 3: 128, 4: 16})):
                self.assertEqual(int(octaves), max(rounds))
                text = "xxxxxxxxxyyyyyyyyy"
                for octave, times in rounds.items():
                    text += ("a" + ("bcd" * 5)[: 2**octave - 1]) * times
                taught = len(text) + 1
                text += "a" + ("xy" * 99)[: found["requests"] - taught]
                trace = trace_of(text)
                misses = [served.misses for served in serve(trace, 4, make_policy(name))]
                best = len(text) - TraceOptimum(trace).hits(4, Optimum.LOCKED)
                self.assertEqual((sum(misses), best), (found["policy_misses"], found["optimum_misses"]))
                turns.append(sum(misses[taught:]))
            self.assertEqual(turns, [2, 8, 15] if name == "return-density" else [2, 2, 2])

    def test_the_turns_end_by_themselves(self) -> None:
        for name in STUBBORN:
            for found in self.measured["favourite"][name].values():
                self.assertLess(found["requests"], LONGEST)

    def test_growth_beyond_the_repeats_of_the_claim(self) -> None:
        """With a short half-life the turns grow with the binary digits of the repeats alone, and still without end."""
        score = make_policy("aged-lfu", {"half_life": 20})
        misses = [favourite(score, 4**power)["policy_misses"] for power in range(1, 6)]
        self.assertEqual(misses, sorted(set(misses)))
        self.assertGreater(misses[-1] - misses[-2], 30)


if __name__ == "__main__":
    unittest.main()
