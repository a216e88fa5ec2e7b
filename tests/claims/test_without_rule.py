"""The audit of the policies: rows and witnesses, against plain enumeration."""

from __future__ import annotations

import functools
import itertools
import unittest
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from src.claims.online import CAPACITIES
from src.claims.without_rule import (
    Unbound,
    WithoutRule,
    policies,
    replayed,
    shortest_cost,
    smallest,
    unbound_machine,
    without_rule,
)
from src.policies.cache import Cache, CacheState
from src.policies.facts import Facts, Score
from src.policies.scores import make_policy, sglang_policies
from src.radixcache import Trie
from src.walks.forests import forest_trie, forests
from src.walks.policy_machine import with_policy
from tests.helpers import BINARY, STUDY, claimed

ORDERED = ("lru", "lfu", "slru", "priority", "filo")
UNORDERED = ("fifo", "mru")


class Pair(NamedTuple):
    """The leaf-only and the unconstrained cache after a sequence, and what the second did beyond the first."""

    sequence: tuple[Any, ...]
    caches: tuple[CacheState, ...]
    extra: int
    interior: int
    strict: int


@functools.lru_cache(maxsize=1)
def both(trie: Trie, capacity: int, score: Score) -> tuple[Cache, Cache]:
    """Return the two plain caches."""
    return Cache(trie, capacity, score), Cache(trie, capacity, score, leaf_only=False)


def served(trie: Trie, capacity: int, score: Score, pair: Pair, request: Any) -> Pair:
    """Serve one more request, a string or a pair with a priority, by the two plain caches."""
    results, after = [], []
    for cache, state in zip(both(trie, capacity, score), pair.caches):
        cache.restore(state)
        results.append(cache.access(*(request if isinstance(request, tuple) else (request,))))
        after.append(cache.state())
    plain, free = results
    return Pair(
        (*pair.sequence, request),
        tuple(after),
        pair.extra + free.misses - plain.misses,
        pair.interior + free.interior,
        pair.strict + free.strict_interior,
    )


def sequences(
    trie: Trie,
    capacity: int,
    score: Score,
    requests: Sequence[Any],
    length: int,
    alike: Callable[[Pair], Any] | None = None,
) -> Iterator[Pair]:
    """Yield every sequence of 1 to `length` requests, shorter ones first; one of each class where `alike` is given."""
    level = [Pair((), (CacheState(), CacheState()), 0, 0, 0)]
    for _ in range(length):
        level = [served(trie, capacity, score, pair, request) for pair in level for request in requests]
        if alike is not None:
            level = list({alike(pair): pair for pair in level}.values())
        yield from level


def plain_row(score: Score, length: int, priorities: Sequence[int] = (0,), trie: Trie = STUDY) -> WithoutRule:
    """Return the row by serving every sequence."""
    requests: Sequence[Any] = trie.strings
    if len(priorities) > 1:
        requests = list(itertools.product(trie.strings, priorities))
    instances = [
        pair
        for capacity in CAPACITIES
        for pair in sequences(trie, capacity, score, requests, length)
        if len(pair.sequence) == length
    ]
    return WithoutRule(
        len(instances),
        sum(pair.interior for pair in instances),
        sum(pair.strict for pair in instances),
        sum(pair.extra > 0 for pair in instances),
        sum(pair.extra < 0 for pair in instances),
    )


def in_order(pair: Pair) -> Any:
    """Return what the future of two caches depends on if a score depends on the order of times: blocks and orders."""
    orders = []
    for state in pair.caches:
        facts = dict(state.blocks)
        times = sorted({time for one in facts.values() for time in (one.last_access, one.created)})
        orders.append(
            tuple(
                (block, times.index(one.last_access), times.index(one.created)) for block, one in sorted(facts.items())
            )
        )
    return (*orders, pair.extra)


class Rows(unittest.TestCase):
    def test_against_plain_enumeration(self) -> None:
        for name in sglang_policies():
            score, length = make_policy(name), 4 if name in (*UNORDERED, "lfu") else 3
            self.assertEqual(without_rule(STUDY, score, length), plain_row(score, length), name)

    def test_priorities_of_requests(self) -> None:
        score = make_policy("priority")
        self.assertEqual(without_rule(STUDY, score, 2, (0, 1)), plain_row(score, 2, (0, 1)))

        def careless(block: Facts) -> int:
            return -block.priority

        found = without_rule(STUDY, careless, 3, (0, 1))
        self.assertEqual(found, plain_row(careless, 3, (0, 1)))
        self.assertGreater(found.interior_evictions, 0)

    def test_a_score_with_ties_and_one_that_computes(self) -> None:
        for score in (lambda block: -block.hits, lambda block: block.depth, lambda block: -2 * block.last_access):
            found = without_rule(STUDY, score, 3)
            self.assertEqual(found, plain_row(score, 3))
            self.assertGreater(found.interior_evictions, 0)

    def test_an_interior_eviction_need_not_be_strict(self) -> None:
        """Shallow blocks first: of 0, with 00 on it, and 1 the older one goes, on a tie."""
        trie = Trie(("0", "00", "1", "2"))
        found = without_rule(trie, lambda block: block.depth, 4)
        self.assertEqual(found, plain_row(lambda block: block.depth, 4, trie=trie))
        self.assertTrue(0 < found.strict_interior_evictions < found.interior_evictions, found)

    def test_the_published_rows(self) -> None:
        measured = claimed("policies")["measured"]
        self.assertEqual(list(measured), list(sglang_policies()))
        for name, row in measured.items():
            self.assertEqual(tuple(row), WithoutRule._fields)
            self.assertEqual(row["instances"], 93312)
            keeps = not any(row[field] for field in WithoutRule._fields[1:])
            self.assertEqual(keeps, name in ORDERED, name)
        for name in UNORDERED:
            self.assertEqual(without_rule(STUDY, make_policy(name), 6)._asdict(), measured[name], name)
        assigned = claimed("policies")["assigned_priorities"]
        self.assertEqual(assigned["parameters"], {"priorities": [0, 1], "length": 4})
        self.assertEqual(assigned["measured"], WithoutRule(2 * 12**4, 0, 0, 0, 0)._asdict())

    def test_the_machine(self) -> None:
        def use(policy: Any) -> list[Unbound]:
            machine = unbound_machine(policy)
            self.assertEqual((machine.width, machine.requests), (3, BINARY))
            return [Unbound(*tally) for tally in machine.run(("0", "00", "1", "0", "00", "1", "11"))]

        found = with_policy(STUDY, 2, make_policy("fifo"), use)
        pair = Pair((), (CacheState(), CacheState()), 0, 0, 0)
        for request, tally in zip(("0", "00", "1", "0", "00", "1", "11"), found):
            after = served(STUDY, 2, make_policy("fifo"), pair, request)
            self.assertEqual(tally, tuple(new - old for new, old in zip(after[2:], pair[2:])))
            pair = after
        self.assertEqual(found[2], Unbound(0, 1, 1))
        self.assertEqual(found[3], Unbound(1, 0, 0))


class Witnesses(unittest.TestCase):
    def test_they_are_what_they_say(self) -> None:
        """Each is replayed from scratch: decisions step by step, and the first interior eviction, or fewer misses."""
        witnesses = claimed("policies")["witnesses"]
        self.assertEqual(list(witnesses), list(UNORDERED))
        for name, kinds in witnesses.items():
            self.assertEqual(list(kinds), ["binds", "costs"])
            for kind, shown in kinds.items():
                pairs = self.replay(name, shown)
                if kind == "binds":
                    self.assertEqual([pair.interior > 0 for pair in pairs], [False] * (len(pairs) - 1) + [True])
                else:
                    self.assertEqual([pair.extra < 0 for pair in pairs], [False] * (len(pairs) - 1) + [True])
                    self.assertGreater(pairs[-1].interior, 0)

    def replay(self, name: str, shown: dict[str, Any]) -> list[Pair]:
        """Hold the schedule of a witness equal to the plain caches' decisions; return the caches after each step."""
        score, capacity = make_policy(name), shown["capacity"]
        caches = {"leaf_only": Cache(STUDY, capacity, score), "unconstrained": Cache(STUDY, capacity, score, False)}
        misses = dict.fromkeys(caches, 0)
        self.assertEqual([step["request"] for step in shown["schedule"]], shown["sequence"])
        for step in shown["schedule"]:
            for kind, cache in caches.items():
                done = cache.access(step["request"])
                misses[kind] += done.misses
                expected = {
                    "misses": done.misses,
                    "evicted": [BINARY[victim] for victim in done.victims],
                    "cached": [string for block, string in enumerate(BINARY) if block in cache.facts],
                }
                self.assertEqual(step[kind], expected, (name, shown["sequence"], step["request"], kind))
        self.assertEqual(shown["misses"], misses)
        pairs = [Pair((), (CacheState(), CacheState()), 0, 0, 0)]
        for request in shown["sequence"]:
            pairs.append(served(STUDY, capacity, score, pairs[-1], request))
        return pairs[1:]

    def test_none_is_shorter(self) -> None:
        """Every sequence that is shorter, at the same capacity, up to 4 requests."""
        for name, kinds in claimed("policies")["witnesses"].items():
            score = make_policy(name)
            binds = kinds["binds"]
            for pair in sequences(STUDY, binds["capacity"], score, BINARY, len(binds["sequence"]) - 1):
                self.assertEqual(pair.interior, 0, (name, pair.sequence))
            below = min(4, len(kinds["costs"]["sequence"]) - 1)
            for pair in sequences(STUDY, kinds["costs"]["capacity"], score, BINARY, below):
                self.assertGreaterEqual(pair.extra, 0, (name, pair.sequence))

    def test_none_is_shorter_where_it_costs(self) -> None:
        """All lengths below, and for the smaller capacity all lengths: one sequence for each pair of orders of times.

        Both scores are times, so what a cache does next depends on the order of its blocks' times alone.
        """
        for name, kinds in claimed("policies")["witnesses"].items():
            shown = kinds["costs"]
            self.assertEqual((kinds["binds"]["capacity"], shown["capacity"]), (2, 3))
            longest = claimed("policies")["parameters"]["witness_length"]
            for capacity, length in ((2, longest), (3, len(shown["sequence"]) - 1)):
                for pair in sequences(STUDY, capacity, make_policy(name), BINARY, length, in_order):
                    self.assertGreaterEqual(pair.extra, 0, (name, capacity, pair.sequence))

    def test_the_search_finds_them(self) -> None:
        for name, kinds in claimed("policies")["witnesses"].items():
            for kind, shown in kinds.items():
                self.assertEqual(smallest(STUDY, make_policy(name), kind == "costs"), shown, (name, kind))

    def test_there_are_none_for_the_others(self) -> None:
        for costs in (False, True):
            self.assertIsNone(smallest(STUDY, make_policy("lru"), costs))
        self.assertIsNone(smallest(Trie("abcd"), make_policy("mru"), False))  # without depth there is no interior

    def test_the_shortest_anywhere(self) -> None:
        """Both have five requests, and on no forest with up to four blocks are there four that do: by plain caches."""
        for name in UNORDERED:
            shown = claimed("policies")["shortest_costs"][name]
            self.assertEqual((len(shown["sequence"]), len(shown["strings"])), (5, 4), name)
            again = replayed(Trie(shown["strings"]), shown["capacity"], make_policy(name), shown["sequence"])
            self.assertEqual({"strings": shown["strings"], **again}, shown)
            self.assertLess(again["misses"]["unconstrained"], again["misses"]["leaf_only"])
            for trie in map(forest_trie, (*forests(3), *forests(4))):
                requests = [(string, 0) for string in trie.strings]
                for capacity in range(2, len(trie)):
                    for pair in sequences(trie, capacity, make_policy(name), requests, 4, in_order):
                        self.assertGreaterEqual(pair.extra, 0, (name, trie.strings, capacity, pair.sequence))
        self.assertIsNone(shortest_cost(make_policy("lru"), 4))

    def test_replayed_by_hand(self) -> None:
        both = replayed(STUDY, 2, make_policy("fifo"), ("00", "11"))["schedule"][1]
        self.assertEqual(both["leaf_only"], {"misses": 2, "evicted": ["00", "0"], "cached": ["1", "11"]})
        shown = replayed(STUDY, 2, make_policy("mru"), ("00", "0", "1"))
        self.assertEqual((shown["capacity"], shown["sequence"]), (2, ["00", "0", "1"]))
        self.assertEqual(shown["misses"], {"leaf_only": 3, "unconstrained": 3})
        self.assertEqual(
            shown["schedule"][-1],
            {
                "request": "1",
                "leaf_only": {"misses": 1, "evicted": ["00"], "cached": ["0", "1"]},
                "unconstrained": {"misses": 1, "evicted": ["0"], "cached": ["1"]},
            },
        )


class TheClaim(unittest.TestCase):
    def test_on_a_small_trie(self) -> None:
        """A chain and a string beside it: all policies have a row, and those that break the order have witnesses."""
        trie = Trie(("0", "00", "1"))
        found = policies(trie, nodes=4)
        self.assertEqual(list(found["measured"]), list(sglang_policies()))
        for name, row in found["measured"].items():
            self.assertEqual(row, without_rule(trie, make_policy(name), 6)._asdict(), name)
            self.assertEqual(row["instances"], 2 * 3**6)
        self.assertEqual(list(found["witnesses"]), list(UNORDERED))
        for name, kinds in found["witnesses"].items():
            self.assertEqual(kinds["binds"], smallest(trie, make_policy(name), False))
            self.assertEqual(kinds["costs"], smallest(trie, make_policy(name), True))
            self.assertEqual(found["shortest_costs"][name], claimed("policies")["shortest_costs"][name])
        self.assertEqual(found["parameters"]["strings"], ["0", "00", "1"])
        self.assertEqual(found["parameters"]["capacities"], [2, 3])
        assigned = found["assigned_priorities"]["measured"]
        self.assertEqual(assigned, without_rule(trie, make_policy("priority"), 4, (0, 1))._asdict())
        self.assertEqual(assigned["instances"], 2 * 6**4)


if __name__ == "__main__":
    unittest.main()
