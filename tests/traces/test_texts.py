"""The texts are tested through the command; here what only a made-up comparison shows."""

from __future__ import annotations

import unittest

from src.policies.scores import lru
from src.radixcache import Optimum
from src.traces.about import about
from src.traces.comparison import compare, curves_of
from src.traces.reading import Trace
from src.traces.texts import as_csv, as_text
from src.traces.workload import workload_of
from src.width import Point, WidthCurve
from tests.traces.test_verdict import comparison


class Texts(unittest.TestCase):
    def test_rates_of_tokens(self) -> None:
        found = comparison(best=40, optimum=80, infinite=90)
        lines = as_csv(found).splitlines()
        self.assertEqual(lines[0], "capacity,policy,hits,blocks,hit_rate,token_hit_rate")
        self.assertEqual(lines[1], "10,lru,40,100,0.400000,0.320000")
        self.assertEqual(lines[-1], f"10,optimum {list(Optimum)[-1].value},80,100,0.800000,0.640000")

    def test_the_width_of_the_trace(self) -> None:
        """One root, three children, one of them with two: two leaves on three blocks, three on four."""
        paths = [(0, 1), (0, 2), (0, 3, 4), (0, 3, 5)]
        trace = Trace([-1, 0, 0, 0, 3, 3], [1, 2, 2, 2, 3, 3], paths, [0] * 4)

        def told(*capacities: int, in_flight: int = 0, apart: bool = False) -> list[str]:
            workload = workload_of(trace, in_flight)
            curves = curves_of(workload)
            if apart:
                points = [Point(0, 1), Point(2, 4)]
                curves = curves._replace(width=WidthCurve(points, points))
            found = compare(workload, curves, {"lru": lru}, capacities)
            lines = as_text(found, about(trace)).splitlines()
            at = [number for number, line in enumerate(lines) if line.startswith("LRU misses at most w times")]
            return [lines[number + 1] for number in at]

        self.assertEqual(told(2, 3, 6), ["2 at 2; 3 at 3."])
        self.assertEqual((told(6), told(2, in_flight=1)), ([], []))
        self.assertEqual(told(2, 3, apart=True), ["1 to 2 at 2; 2 at 3."])


if __name__ == "__main__":
    unittest.main()
