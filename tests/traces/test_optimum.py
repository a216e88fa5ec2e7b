"""The kept curve of the optimum against the optimum itself, and how little of it a search computes."""

from __future__ import annotations

import random
import unittest
from unittest import mock

from src.radixcache import Optimum
from src.traces.optimum import OptimumCurve, TraceOptimum
from src.traces.reading import trace_of
from tests.helpers import random_paths


class Curves(unittest.TestCase):
    def test_the_kept_optimum_is_the_optimum(self) -> None:
        for seed in range(30):
            belady = TraceOptimum(trace_of(random_paths(seed, requests=25)))
            for optimum in Optimum:
                reach = belady.most
                chance = random.Random(seed)
                asked = [chance.randint(1, belady.distinct + 3) for _ in range(8)]
                wanted = [chance.randint(0, reach) for _ in range(8)] + [0, reach]
                curve = OptimumCurve(belady, optimum)
                for blocks, hits in zip(asked, wanted):
                    context = f"seed {seed}, {optimum}: hits at {blocks}, capacity for {hits}"
                    self.assertEqual(curve.hits(blocks), belady.hits(blocks, optimum), context)
                    self.assertEqual(curve.smallest_capacity(hits), belady.smallest_capacity(hits, optimum), context)
                for hits in (0, reach):
                    fresh = OptimumCurve(belady, optimum).smallest_capacity(hits)
                    self.assertEqual(fresh, belady.smallest_capacity(hits, optimum), f"seed {seed}, {optimum}: {hits}")

    def test_a_hit_may_need_more_than_one_block(self) -> None:
        alternating = OptimumCurve(TraceOptimum(trace_of([[1], [2], [1], [2]])), Optimum.LOCKED)
        self.assertEqual([alternating.smallest_capacity(hits) for hits in (0, 1, 2)], [1, 2, 2])

    def test_the_search_is_short_and_nothing_is_computed_twice(self) -> None:
        belady = TraceOptimum(trace_of(random_paths(5, requests=1200)))
        self.assertGreater(belady.distinct, 800)
        with mock.patch.object(belady, "hits", wraps=belady.hits) as computed:
            curve = OptimumCurve(belady, Optimum.LOCKED)
            reach = belady.most
            found = [curve.smallest_capacity(reach * part // 10) for part in range(1, 11)]
            asked = [call.args[0] for call in computed.call_args_list]
            self.assertEqual(len(asked), len(set(asked)))
            self.assertLess(len(asked), 10 * 12)
            self.assertEqual(found, sorted(found))
            for blocks in range(found[-1], found[-1] + 50):  # as much as an infinite cache: no more to be found out
                self.assertEqual(curve.hits(blocks), reach)
            self.assertEqual(computed.call_count, len(asked))


if __name__ == "__main__":
    unittest.main()
