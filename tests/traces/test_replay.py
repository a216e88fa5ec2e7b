"""The replay engine against the plain cache, victim by victim; the optimum against every search of the model."""

from __future__ import annotations

import functools
import itertools
import random
import unittest
from collections import deque
from collections.abc import Hashable, Sequence
from typing import Any

from src.policies import scores
from src.policies.cache import Cache, Served
from src.policies.facts import Facts, Score
from src.policies.scores import make_policy
from src.radixcache import LeafOnlyBelady, Optimum, Path, Trie, UnrestrictedBelady
from src.traces import replay as engine
from src.traces.optimum import TraceOptimum
from src.traces.reading import trace_of
from src.traces.replay import Counts, replay, serve
from src.walks.belady import belady
from tests.helpers import infinite


def nasty(block: Facts) -> int:
    """Score without any order: up and down with the depth and with each access."""
    return (7 * block.hits + 5 * block.depth - 3 * block.last_access * block.created + block.priority) % 11


def rising(block: Facts) -> tuple[int, bool]:
    """Score higher the deeper a block is, and lower the more often it is hit."""
    return (block.depth - 2 * block.hits, block.priority > 0)


def constant(block: Facts) -> str:
    """Score all blocks alike."""
    return "same"


def outliving(block: Facts) -> int:
    """Score without any order from what outlives evictions."""
    return (5 * block.seen + 3 * block.previous_access + 2 * block.reach * block.below) % 7


def aging(block: Facts, now: int) -> int:
    """Score that changes from request to request, without any order."""
    return (now - block.last_access) * (block.seen + 2 * block.depth) % 5


def remaining(block: Facts, now: int, lease: int = 3) -> int:
    """Score that changes once, when a block's lease ends."""
    return max(block.last_access + lease * block.seen - now, 0)


def expiring(block: Facts, now_ms: int, now: int) -> tuple[bool, int]:
    """Score that changes with the time and with the request."""
    return (now_ms - block.last_access_ms < 9, (now - block.depth) % 3)


RESEARCH = {
    "lru-2": {}, "2q": {"requests": 3}, "aged-lfu": {"half_life": 7}, "hyperbolic": {"patience": 2},
    "return-density": {},
    "hits-per-block": {}, "gdsf": {"weight": 9}, "ttl": {"requests": 6}, "t-lru": {"spare": 2},
}  # fmt: skip
"""The policies of the literature with parameters that tell something on short traces."""

SCORES: dict[str, Score] = {
    **{name: make_policy(name) for name in scores.sglang_policies()},
    "general lru": functools.partial(scores.lru),
    "slru 1": make_policy("slru", {"protected_threshold": 1}),
    "slru 3": make_policy("slru", {"protected_threshold": 3}),
    "nasty": nasty,
    "rising": rising,
    "constant": constant,
    "last but one": lambda block: block.previous_access,
    "outliving": outliving,
    "aging": aging,
    "leased": functools.partial(remaining, lease=5),
    "expiring": expiring,
    "by the time": lambda block: block.last_access_ms % 7,
}


class Workload:
    """A random trace: strings of few symbols, some of them repeated, each with a priority and a time."""

    def __init__(self, chance: random.Random, requests: int, length: int, symbols: str = "ab") -> None:
        self.strings: list[str] = []
        while len(self.strings) < requests:
            if self.strings and chance.random() < 0.3:
                self.strings.append(chance.choice(self.strings))
            else:
                self.strings.append("".join(chance.choices(symbols, k=chance.randint(1, length))))
        self.priorities = [chance.randrange(3) for _ in self.strings]
        self.times = sorted(chance.randrange(5 * requests) for _ in self.strings)
        self.make()

    def make(self) -> None:
        """Make trace and trie of the strings."""
        self.trace = trace_of(self.strings, self.priorities)._replace(milliseconds=self.times)
        self.trie = Trie(self.strings)


def plain_serve(load: Workload, capacity: int, score: Score, in_flight: int) -> list[Served]:
    """Serve a workload with the plain cache, which looks at every block for each eviction."""
    cache = Cache(load.trie, capacity, score)
    flying: deque[str] = deque()
    record = []
    for string, priority, time in zip(load.strings, load.priorities, load.times):
        record.append(cache.access(string, priority, now_ms=time))
        cache.lock(string)
        flying.append(string)
        if len(flying) > in_flight:
            cache.unlock(flying.popleft())
    return record


class EngineTest(unittest.TestCase):
    """`serve` makes the decisions of the plain cache."""

    def check_equal(self, load: Workload, capacity: int, name: str, in_flight: int) -> None:
        """Fail with the first request that the two serve differently."""
        expected = plain_serve(load, capacity, SCORES[name], in_flight)
        served = list(serve(load.trace, capacity, SCORES[name], in_flight))
        if served != expected:
            at = next(at for at in range(len(expected)) if served[: at + 1] != expected[: at + 1])
            self.fail(
                f"{name}, K={capacity}, in flight {in_flight}: {load.strings[: at + 1]} with priorities"
                f" {load.priorities[: at + 1]} ends with {served[at : at + 1]}, plainly {expected[at]}"
            )

    def test_numbers_are_those_of_the_trie(self) -> None:
        load = Workload(random.Random(1), 30, 5)
        self.assertEqual(list(load.trace.parent), load.trie.parent)
        self.assertEqual(list(load.trace.depth), load.trie.depth)
        self.assertEqual(list(load.trace.requests), [load.trie.path(string) for string in load.strings])

    def test_equals_the_plain_cache_on_1000_small_traces(self) -> None:
        chance = random.Random(20260101)
        names = itertools.cycle(SCORES)
        in_flights = itertools.cycle((0, 0, 1, 2, 3))  # 19 scores and 5 of these meet in all ways
        for _ in range(1000):
            load = Workload(chance, chance.randint(4, 16), chance.randint(1, 5), chance.choice(("ab", "abc")))
            capacity = chance.randint(1, max(len(load.trie) - 1, 1))
            self.check_equal(load, capacity, next(names), next(in_flights))

    def test_equals_the_plain_cache_at_every_capacity(self) -> None:
        chance = random.Random(2)
        for name in SCORES:
            load = Workload(chance, 20, 4)
            for capacity in range(1, len(load.trie) + 2):
                self.check_equal(load, capacity, name, capacity % 4)

    def test_equals_the_plain_cache_over_long_traces_in_small_caches(self) -> None:
        chance = random.Random(3)
        for name in SCORES:
            load = Workload(chance, 300, 3, "abc")
            self.check_equal(load, chance.randint(2, 6), name, chance.randrange(3))

    def test_equals_the_plain_cache_under_the_policies_of_the_literature(self) -> None:
        chance = random.Random(12)
        self.assertEqual(list(RESEARCH), scores.research_policies())
        for name, config in RESEARCH.items():
            for in_flight in (0, 0, 2):
                load = Workload(chance, 60, 4, "abc")
                capacity, score = chance.randint(3, 20), make_policy(name, config)
                served = list(serve(load.trace, capacity, score, in_flight))
                self.assertEqual(served, plain_serve(load, capacity, score, in_flight), (name, capacity, load.strings))

    def test_equals_the_plain_cache_after_the_queue_was_cleaned(self) -> None:
        chance = random.Random(11)
        for name in SCORES:
            load = Workload(chance, 300, 2, "abcdef")
            capacity = len(load.trie)  # so far all fit, and their last accesses fill the queue
            more = Workload(chance, 60, 2, "123456")
            load.strings += more.strings
            load.priorities += more.priorities
            load.times += [load.times[-1] + time for time in more.times]
            load.make()
            self.check_equal(load, capacity, name, 0)

    def test_the_order_of_lru_is_the_general_engine(self) -> None:
        chance = random.Random(4)
        for in_flight in (0, 1, 5):
            trace = Workload(chance, 800, 7, "abc").trace
            for capacity in (1, 3, 40, 400):
                fast = list(serve(trace, capacity, scores.lru, in_flight))
                general = list(serve(trace, capacity, SCORES["general lru"], in_flight))
                self.assertEqual(fast, general, f"K={capacity}, in flight {in_flight}")

    def test_requests_of_no_block(self) -> None:
        trace = trace_of(["ab", "", "cd", "ab"])
        for name in ("lru", "general lru"):
            for in_flight, hits in ((0, 0), (1, 0), (2, 2)):  # a request of no block is in flight as others are
                served = list(serve(trace, 2, SCORES[name], in_flight))
                self.assertEqual(served[1], Served(0, 0, ()))
                self.assertEqual(served[3].hits, hits, (name, in_flight))

    def test_what_follows_the_first_missing_block_is_missed(self) -> None:
        chance = random.Random(5)
        for name in SCORES:
            trace = Workload(chance, 200, 6).trace
            cached: set[int] = set()
            capacity, in_flight = chance.randint(2, 30), chance.randrange(4)
            for path, served in zip(trace.requests, serve(trace, capacity, SCORES[name], in_flight)):
                present = [block in cached for block in path]
                self.assertEqual(present, [True] * served.hits + [False] * served.misses, name)
                cached.update(path)
                for victim in served.victims:
                    cached.remove(victim)
                    self.assertFalse(any(trace.parent[block] == victim for block in cached), name)
                cached.difference_update(path[len(path) - served.uncached :])
                self.assertLessEqual(len(cached), capacity)

    def test_the_queue_stays_small(self) -> None:
        for name in ("filo", "general lru", "priority"):
            trace = trace_of(["abc", "abd"] * 500)
            cache = engine._LeafQueue(trace, 5, SCORES[name], 0)
            sizes = [len(cache.queue) for path in trace.requests if cache.access(path, 0)]
            self.assertEqual(len(sizes), 1000)
            self.assertLessEqual(max(sizes), 2 * 5 + 64, name)

    def test_how_often_a_score_is_asked(self) -> None:
        calls = 0

        def counting(block: Facts) -> int:
            nonlocal calls
            calls += 1
            return block.hits

        trace = Workload(random.Random(6), 500, 8).trace
        counts = replay(trace, 20, counting)
        self.assertLessEqual(calls, counts.requests + 2 * counts.evictions)

    def test_a_score_with_the_clock_is_asked_once_for_each_candidate_and_request_that_must_evict(self) -> None:
        asked: list[tuple[int, Facts]] = []

        def counting(block: Facts, now: int) -> int:
            asked.append((now, block))
            return -block.hits

        trace = Workload(random.Random(6), 500, 8).trace
        for in_flight in (0, 2):
            asked.clear()
            served = list(serve(trace, 20, counting, in_flight))
            victims = sum(len(one.victims) for one in served)  # each is scored once more, to see that it is the same
            self.assertEqual(len(asked), len(set(asked)) + victims)
            evicting = {now for now, one in enumerate(served, start=1) if one.victims}
            self.assertEqual({now for now, _ in asked}, evicting)
            self.assertGreater(len(asked), 3 * len(evicting))

    def test_the_waiting_candidates_stay_few(self) -> None:
        trace = trace_of(["abc", "abd"] * 500)
        cache = engine._AskingQueue(trace, 5, aging, 0)
        sizes = [len(cache.waiting) for path in trace.requests if cache.access(path, 0)]
        self.assertLessEqual(max(sizes), 2 * 5 + 64)


class CountsTest(unittest.TestCase):
    """What `replay` and `infinite` add up."""

    def test_by_hand(self) -> None:
        # ab misses 2; ac hits a, misses c and evicts b; abc hits a and must drop its own last block
        trace = trace_of(["ab", "ac", "abc"])
        for name in ("lru", "general lru"):
            counts = replay(trace, 2, SCORES[name])
            self.assertEqual(counts, Counts(requests=3, blocks=7, hits=2, evictions=2, uncached=1))
            self.assertEqual(counts.misses, 5)

    def test_a_longer_path_keeps_its_first_blocks(self) -> None:
        for name in SCORES:
            counts = replay(trace_of(["abcde", "abcde"])._replace(milliseconds=[0, 1]), 3, SCORES[name])
            self.assertEqual(counts, Counts(2, 10, hits=3, uncached=4), name)

    def test_in_flight_paths_stay(self) -> None:
        trace = trace_of(["ab", "c", "ab"])._replace(milliseconds=[0, 1, 2])
        for name in SCORES:
            self.assertEqual(replay(trace, 2, SCORES[name], in_flight=1).hits, 2, name)
            self.assertLessEqual(replay(trace, 2, SCORES[name]).hits, 1, name)

    def test_infinite_is_any_policy_with_room_for_all(self) -> None:
        for seed, name in enumerate(SCORES):
            trace = Workload(random.Random(seed), 50, 5).trace
            self.assertEqual(replay(trace, len(trace.parent), SCORES[name]), infinite(trace))
            distinct = {block for path in trace.requests for block in path}
            self.assertEqual(infinite(trace).misses, len(distinct))

    def test_nothing_to_count(self) -> None:
        trace = trace_of([])
        self.assertEqual(replay(trace, 1), Counts(0, 0, 0))
        self.assertEqual(infinite(trace), Counts(0, 0, 0))
        self.assertEqual(TraceOptimum(trace).hits(1, Optimum.LOCKED), 0)
        self.assertEqual(TraceOptimum(trace).smallest_capacity(0, Optimum.BYPASS), 1)

    def test_progress_counts_the_requests(self) -> None:
        seen: list[tuple[int, int]] = []
        for name in ("lru", "mru"):
            replay(trace_of(["a", "b"]), 1, SCORES[name], progress=lambda *done: seen.append(done))
        self.assertEqual(seen, [(1, 2), (2, 2)] * 2)


class FaultTest(unittest.TestCase):
    """Bad arguments, and scores that cannot be used, are told in a line."""

    def check_fault(self, score: Score, *wanted: str) -> None:
        """Fail unless a replay under the score raises ValueError with all of the texts in it."""
        trace = trace_of(["a", "bc", "d", "ef", "a", "g"] * 20)
        for capacity in (2, 3):
            with self.assertRaises(ValueError) as caught:
                replay(trace, capacity, score)
            for text in wanted:
                self.assertIn(text, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))

    def test_capacity_and_in_flight(self) -> None:
        trace = trace_of(["a"])
        for score in (scores.lru, scores.lfu):
            for capacity in (0, -5):
                with self.assertRaisesRegex(ValueError, f"capacity of {capacity} blocks"):
                    serve(trace, capacity, score)
            with self.assertRaisesRegex(ValueError, "-1 requests"):
                serve(trace, 1, score, -1)
        with self.assertRaisesRegex(ValueError, "capacity of 0 blocks"):
            TraceOptimum(trace).hits(0, Optimum.BYPASS)

    def test_scores_that_do_not_compare(self) -> None:
        def mixed(block: Facts) -> Any:
            return "soon" if block.last_access % 2 else block.last_access

        def sometimes_none(block: Facts) -> Any:
            return block.created if block.created > 4 else None

        def objects(block: Facts) -> Any:
            return {"hits": block.hits}

        self.check_fault(mixed, ": mixed returns scores that do not compare", "'str'", "'int'", "one of them")
        self.check_fault(sometimes_none, ": sometimes_none returns None for Facts(", "'NoneType'")
        self.check_fault(functools.partial(complex_score, factor=2), ": complex_score", "'complex'", "j")
        with self.assertRaisesRegex(ValueError, ": objects returns {'hits': .*'dict'"):
            replay(trace_of(["a", "b", "b", "c", "d", "e"] * 9), 2, objects)

    def test_scores_that_fail(self) -> None:
        def broken(block: Facts) -> float:
            return 1 / (block.created - 2)

        self.check_fault(broken, ": broken fails on Facts(", "ZeroDivisionError", "mend")
        self.check_fault(lambda block: block.size, "AttributeError")  # type: ignore[attr-defined]
        self.check_fault(lambda block: float("nan"), "returns nan for Facts(")


def complex_score(block: Facts, factor: int = 1) -> complex:
    """Score that no two blocks can be compared by."""
    return complex(block.created, factor * block.last_access)


class LockedSearch:
    """The most hits under `LOCKED` by search over all sets, with paths of any length.

    A path of K blocks or more leaves its first K; any other leaves itself and whatever fits of what was held.
    """

    def __init__(self, requests: Sequence[Path], capacity: int) -> None:
        self.requests, self.capacity = requests, capacity
        self.best = functools.lru_cache(None)(self._best)

    def _best(self, at: int, held: frozenset[int]) -> int:
        if at == len(self.requests):
            return 0
        path = self.requests[at]
        kept = frozenset(path[: self.capacity])
        rest = sorted(held - set(path))
        room = min(self.capacity - len(kept), len(rest))
        after = max(self.best(at + 1, kept.union(some)) for some in itertools.combinations(rest, room))
        return len(held.intersection(path)) + after


def optimal(paths: Sequence[Sequence[Hashable]], capacity: int, optimum: Optimum) -> int:
    """Return the most hits on a trace given as strings."""
    return TraceOptimum(trace_of(paths)).hits(capacity, optimum)


class OptimumTest(unittest.TestCase):
    """The optimum is that of the model, and what its docstring says of it holds."""

    UNIVERSES = (("0", "1", "00", "01", "10", "11"), ("a", "ab", "abc", "abd", "b"), ("a", "b", "c", "d"))

    def test_equals_the_searches_on_every_sequence_of_a_bound(self) -> None:
        for universe in self.UNIVERSES:
            trie = Trie(universe)
            sequences = [s for length in range(1, 5) for s in itertools.product(universe, repeat=length)]
            optima = [TraceOptimum(trace_of(sequence)) for sequence in sequences]
            blocks = [sum(map(len, sequence)) for sequence in sequences]
            for optimum in Optimum:
                longest = max(trie.depth) if optimum is Optimum.LOCKED else 1
                for capacity in range(longest, min(len(trie), 4)):
                    leaf_only = LeafOnlyBelady(trie, capacity, optimum)
                    unrestricted = UnrestrictedBelady(trie, capacity, optimum)
                    for sequence, best, requested in zip(sequences, optima, blocks):
                        misses = requested - best.hits(capacity, optimum)
                        self.assertEqual(misses, leaf_only.misses(sequence), (sequence, capacity, optimum))
                        self.assertEqual(misses, unrestricted.misses(sequence), (sequence, capacity, optimum))

    def test_equals_the_model_on_random_traces(self) -> None:
        chance = random.Random(7)
        for _ in range(150):
            load = Workload(chance, chance.randint(5, 30), 4, chance.choice(("ab", "abcd")))
            best = TraceOptimum(load.trace)
            for optimum in Optimum:
                longest = max(load.trie.depth) if optimum is Optimum.LOCKED else 1
                capacity = chance.randint(longest, longest + 12)
                run = belady(load.trie, capacity, load.strings, optimum)
                misses = infinite(load.trace).blocks - best.hits(capacity, optimum)
                self.assertEqual(misses, run.misses, (load.strings, capacity, optimum))

    def test_equals_a_search_where_paths_are_longer_than_the_capacity(self) -> None:
        chance = random.Random(8)
        longer = 0
        for _ in range(200):
            load = Workload(chance, chance.randint(3, 9), chance.randint(2, 6), chance.choice(("ab", "abc")))
            capacity = chance.randint(1, 5)
            longer += max(load.trie.depth) > capacity
            search = LockedSearch(load.trace.requests, capacity)
            hits = optimal(load.strings, capacity, Optimum.LOCKED)
            self.assertEqual(hits, search.best(0, frozenset()), (load.strings, capacity))
        self.assertGreater(longer, 50)
        for _ in range(40):
            load = Workload(chance, chance.randint(3, 6), 4)
            capacity = chance.randint(1, 3)
            plain = UnrestrictedBelady(load.trie, capacity, Optimum.BYPASS)
            hits = optimal(load.strings, capacity, Optimum.BYPASS)
            self.assertEqual(sum(map(len, load.strings)) - hits, plain.misses(load.strings), (load.strings, capacity))

    def test_bounds_every_policy(self) -> None:
        chance = random.Random(9)
        for name in SCORES:
            for _ in range(5):
                trace = Workload(chance, 60, 5).trace
                best = TraceOptimum(trace)
                capacity = chance.randint(1, 20)
                locked, bypass = (best.hits(capacity, model) for model in (Optimum.LOCKED, Optimum.BYPASS))
                self.assertLessEqual(replay(trace, capacity, SCORES[name]).hits, locked)
                self.assertLessEqual(locked, bypass)
                self.assertLessEqual(bypass, infinite(trace).hits)
                in_flight = replay(trace, capacity, SCORES[name], chance.randint(1, 4))
                self.assertLessEqual(in_flight.hits, bypass)

    def test_requests_in_flight_can_beat_the_locked_optimum(self) -> None:
        strings = ["ab", "c", "ab"]
        self.assertEqual(replay(trace_of(strings), 2, in_flight=1).hits, 2)
        self.assertEqual(optimal(strings, 2, Optimum.LOCKED), 1)
        self.assertEqual(optimal(strings, 2, Optimum.BYPASS), 2)

    def test_never_falls_and_is_found_by_bisection(self) -> None:
        chance = random.Random(10)
        for _ in range(20):
            trace = Workload(chance, 15, 6, "abc").trace
            best = TraceOptimum(trace)
            for optimum in Optimum:
                curve = [best.hits(capacity, optimum) for capacity in range(1, len(trace.parent) + 1)]
                self.assertEqual(curve, sorted(curve))
                self.assertEqual(curve[-1], infinite(trace).hits)
                for hits in range(curve[-1] + 1):
                    smallest = 1 + next(at for at, reached in enumerate(curve) if reached >= hits)
                    self.assertEqual(best.smallest_capacity(hits, optimum), smallest)
                with self.assertRaisesRegex(ValueError, f"no capacity gives {curve[-1] + 1} hits"):
                    best.smallest_capacity(curve[-1] + 1, optimum)


if __name__ == "__main__":
    unittest.main()
