"""What is counted: recounts by hand and by search, and what must not change when a trace is written otherwise."""

from __future__ import annotations

import itertools
import random
import unittest
from collections.abc import Iterator, Sequence
from typing import Any

from src.policies.scores import REGISTRY, lru, make_policy
from src.radixcache import Optimum
from src.traces.comparison import curves_of
from src.traces.in_flight import REQUEST
from src.traces.optimum import TraceOptimum
from src.traces.reading import Trace, trace_of
from src.traces.workload import LOGGED, Workload, count, serve_events, workload_of
from tests.helpers import random_paths


def with_outputs(paths: Sequence[Sequence[Any]], outputs: Sequence[Sequence[Any]]) -> Trace:
    """Return the trace of paths of which each grows by an output."""
    both = trace_of([path for one, more in zip(paths, outputs) for path in (one, [*one, *more])])
    return both._replace(requests=both.requests[::2], served=both.requests[1::2], priorities=[0] * len(paths))


class Events(unittest.TestCase):
    def test_a_plain_trace_is_its_own_events(self) -> None:
        trace = trace_of(["ab", "a", "", "abc"])
        work = workload_of(trace)
        self.assertEqual((work.events, work.countable, work.arrivals), (trace, [2, 1, 0, 3], ()))
        self.assertEqual((work.requests, work.blocks, work.tokens), (4, 6, 0))

    def test_warm_up(self) -> None:
        trace = trace_of(["ab", "ab", "ac", "ab"])._replace(block_tokens=2, tokens=[4, 5, 4, 4])
        work = workload_of(trace, warm_up=2)
        self.assertEqual((work.countable, work.requests, work.blocks, work.tokens), ([0, 0, 2, 2], 2, 4, 8))
        self.assertEqual(count(work, 9, lru).hits, 3)
        for wrong in (4, 5, -1):
            with self.assertRaisesRegex(ValueError, "leaves none of 4 to count: give a smaller one"):
                workload_of(trace, warm_up=wrong)

    def test_the_last_block_is_recomputed_where_the_prompt_fills_it(self) -> None:
        trace = trace_of(["ab", "ab", "a", ""])._replace(block_tokens=2, tokens=[4, 5, 2, 1])
        self.assertEqual(workload_of(trace, recompute_last=True).countable, [1, 2, 0, 0])
        unknown = trace._replace(tokens=None)
        self.assertEqual(workload_of(unknown, recompute_last=True).countable, [1, 1, 0, 0])
        found = [count(workload_of(trace, recompute_last=last), 9, lru).hits for last in (False, True)]
        self.assertEqual(found, [3, 2])

    def test_tokens_only_where_every_block_is_full(self) -> None:
        trace = trace_of(["ab", "a"])._replace(block_tokens=2, tokens=[5, 2])
        self.assertEqual(workload_of(trace).tokens, 7)
        self.assertEqual(workload_of(trace._replace(tokens=[5, 1])).tokens, 0)
        self.assertEqual(workload_of(trace._replace(block_tokens=0)).tokens, 0)

    def test_outputs_become_prefixes(self) -> None:
        trace = with_outputs(["a", "ab", "abcd"], ["b", "c", ""])
        self.assertEqual([count(workload_of(trace, outputs=follow), 9, lru).hits for follow in (True, False)], [5, 3])
        work = workload_of(trace)
        self.assertEqual([len(path) for path in work.events.requests], [1, 2, 2, 3, 4, 4])
        self.assertEqual((work.countable, work.arrivals), ([1, 0, 2, 0, 4, 0], [REQUEST, 0, REQUEST, 2, REQUEST, 4]))
        self.assertEqual(work.blocks, 7)

    def test_the_order_of_events(self) -> None:
        trace = with_outputs(["a", "b", "c"], ["x", "y", "z"])
        lagging = workload_of(trace, in_flight=1)
        self.assertEqual(lagging.arrivals, [REQUEST, REQUEST, 0, REQUEST, 1, 3])
        timed = trace._replace(times=[(0, 30), (10, 10), (20, 30)])
        self.assertEqual(workload_of(timed, LOGGED).arrivals, [REQUEST, REQUEST, 1, REQUEST, 0, 3])
        self.assertEqual([len(path) for path in workload_of(timed, LOGGED, outputs=False).events.requests], [1] * 6)
        self.assertEqual(workload_of(timed, LOGGED).events.milliseconds, [0, 0, 0, 0, 0, 0])
        later = trace._replace(times=[(5000, 40000), (17000, 18000), (29999, 90000)], milliseconds=[5, 17, 29])
        self.assertEqual(workload_of(later, LOGGED).events.milliseconds, [5, 17, 18, 29, 40, 90])
        self.assertEqual(workload_of(later, 1).events.milliseconds, [5, 17, 17, 29, 29, 29])
        self.assertEqual(workload_of(trace, 1).events.milliseconds, [])
        with self.assertRaisesRegex(ValueError, "does not tell when each request arrived and finished"):
            workload_of(trace, LOGGED)
        with self.assertRaisesRegex(ValueError, "-2 requests cannot be in flight"):
            workload_of(trace, -2)

    def test_one_after_the_other_in_time_is_nothing_in_flight(self) -> None:
        trace = with_outputs(random_paths(3, 70), random_paths(4, 70))
        timed = trace._replace(times=[(at, at) for at in range(0, 10 * len(trace.requests), 10)])
        for name in REGISTRY:
            for capacity in (3, 20, 60):
                both = (workload_of(trace), workload_of(timed, LOGGED))
                found = [count(one, capacity, make_policy(name)) for one in both]
                self.assertEqual(found[0], found[1], name)

    def test_a_finishing_is_no_hit_that_a_policy_knows_of(self) -> None:
        """`a` has one hit, so nothing is protected and the older one goes; with its finishings it would have three."""
        work = workload_of(with_outputs(["a", "a", "b", "c"], ["", "", "", ""]))
        victims = [one.victims for one in serve_events(work, 2, make_policy("slru"))]
        self.assertEqual([victim for each in victims for victim in each], [0])


class Counted(unittest.TestCase):
    """Curve, replay and optimum count the same blocks."""

    def workloads(self, seed: int) -> Iterator[Workload]:
        paths = random_paths(seed, 70)
        trace = with_outputs(paths, random_paths(seed + 1, 70))
        trace = trace._replace(block_tokens=2, tokens=[2 * len(path) + at % 2 for at, path in enumerate(paths)])
        for warm_up, last, outputs in itertools.product((0, 40), (False, True), (False, True)):
            yield workload_of(trace, 0, warm_up, last, outputs)

    def test_the_curve_is_lru_at_every_capacity_and_the_optimum_bounds_every_policy(self) -> None:
        for work in self.workloads(5):
            curves = curves_of(work)
            for capacity in (1, 5, 40, 500):
                self.assertEqual(curves.lru.hits(capacity), count(work, capacity, lru).hits)
                most = max(count(work, capacity, make_policy(name)).hits for name in REGISTRY)
                bounds = [curves.optima[optimum].hits(capacity) for optimum in (Optimum.LOCKED, Optimum.BYPASS)]
                self.assertTrue(most <= bounds[0] <= bounds[1], (capacity, most, bounds))
            for share in (1, 17, 60):
                smallest = curves.lru.smallest_capacity(share)
                assert smallest is not None
                self.assertGreaterEqual(curves.lru.hits(smallest), share)
                self.assertTrue(smallest == 1 or curves.lru.hits(smallest - 1) < share)
            self.assertIsNone(curves.lru.smallest_capacity(work.blocks))

    def test_the_optimum_is_that_of_a_cache_which_may_hold_anything(self) -> None:
        chance = random.Random(9)
        differ = 0
        for _ in range(50):
            paths = ["".join(chance.choice("ab") for _ in range(chance.randint(1, 2))) for _ in range(6)]
            trace = trace_of(paths)
            countable = [chance.randint(0, len(path)) for path in paths]
            for capacity, optimum in itertools.product((1, 2, 3), Optimum):
                found = TraceOptimum(trace, countable).hits(capacity, optimum)
                self.assertEqual(found, searched(trace, countable, capacity, optimum), (paths, countable, capacity))
                differ += found != TraceOptimum(trace).hits(capacity, optimum)
        self.assertGreater(differ, 40)


def searched(trace: Trace, countable: Sequence[int], capacity: int, optimum: Optimum) -> int:
    """Return the most countable hits by trying every set that may be held after each request."""
    best = {frozenset[int](): 0}
    for path, most in zip(trace.requests, countable):
        after: dict[frozenset[int], int] = {}
        kept = frozenset(path[:capacity]) if optimum is Optimum.LOCKED else frozenset()
        for held, hits in best.items():
            hits += len(held & set(path[:most]))
            free = sorted((held | set(path)) - kept)
            for size in range(capacity - len(kept) + 1):
                for chosen in itertools.combinations(free, size):
                    now = kept | set(chosen)
                    after[now] = max(after.get(now, 0), hits)
        best = after
    return max(best.values())


class Metamorphic(unittest.TestCase):
    """The same requests written otherwise."""

    CAPACITIES = (1, 4, 25)

    def hits(self, paths: Sequence[Sequence[Any]], capacity: int) -> dict[str, int]:
        trace = trace_of(paths, [at % 3 for at in range(len(paths))])
        work = workload_of(trace)
        optima = curves_of(work).optima
        found = {name: count(work, capacity, make_policy(name)).hits for name in REGISTRY}
        return {**found, **{optimum.value: optima[optimum].hits(capacity) for optimum in Optimum}}

    def test_renamed_ids(self) -> None:
        paths = random_paths(11)
        for capacity in self.CAPACITIES:
            renamed = [[f"id {-block}" for block in path] for path in paths]
            self.assertEqual(self.hits(renamed, capacity), self.hits(paths, capacity))

    def test_a_block_in_front_of_every_request(self) -> None:
        paths = random_paths(12)
        for capacity in self.CAPACITIES:
            longer = self.hits([[-1, *path] for path in paths], capacity + 1)
            self.assertEqual({name: hits - len(paths) + 1 for name, hits in longer.items()}, self.hits(paths, capacity))

    def test_each_block_in_two_at_twice_the_capacity(self) -> None:
        paths = random_paths(13)
        for capacity in self.CAPACITIES:
            halves = [[half for block in path for half in (block, (block, 1))] for path in paths]
            numbered = [[half if isinstance(half, int) else -half[0] - 1 for half in path] for path in halves]
            found = self.hits(numbered, 2 * capacity)
            expected = {name: 2 * hits for name, hits in self.hits(paths, capacity).items()}
            for each in (found, expected):
                for counting in ("t-lru", "gdsf", "hits-per-block"):  # by a number of blocks, or by their depth
                    del each[counting]
            self.assertEqual(found, expected)


if __name__ == "__main__":
    unittest.main()
