"""Numbers and names as the texts show them; the texts are tested through the command."""

from __future__ import annotations

import unittest
from fractions import Fraction
from unittest import mock

from src.page.guard import printable
from src.policies.scores import lru
from src.traces.comparison import compare
from src.traces.reading import Trace
from src.traces.texts import counted, decimal, percent, worst_case
from src.width import Point, WidthCurve


class Words(unittest.TestCase):
    def test_numbers_and_names(self) -> None:
        for share, text in (
            (Fraction(0), "0.00%"), (Fraction(1), "100.00%"), (Fraction(1, 3), "33.33%"), (Fraction(2, 3), "66.67%"),
            (Fraction(1, 20_000), "0.00%"), (Fraction(3, 20_000), "0.02%"), (Fraction(1, 1000), "0.10%"),
        ):
            self.assertEqual(percent(share), text)
        self.assertEqual(decimal(Fraction(61046, 288500), 6), "0.211598")
        self.assertEqual([counted(n, "block") for n in (0, 1, 2000)], ["0 blocks", "1 block", "2,000 blocks"])
        self.assertEqual(printable("ä b\n\udcff\x1b[1m"), "ä b\\n\\udcff\\x1b[1m")

    def test_the_width_of_the_trace(self) -> None:
        """One root, three children, one of them with two: two leaves on three blocks, three on four."""
        paths = [(0, 1), (0, 2), (0, 3, 4), (0, 3, 5)]
        trace = Trace([-1, 0, 0, 0, 3, 3], [1, 2, 2, 2, 3, 3], paths, [0] * 4)

        def told(*capacities: int, in_flight: int = 0) -> list[str]:
            return list(worst_case(compare(trace, {"lru": lru}, capacities, in_flight)))[1:]

        self.assertEqual(told(2, 3, 6), ["2 at 2; 3 at 3."])
        self.assertEqual((told(6), told(2, in_flight=1)), ([], []))
        curve = WidthCurve([Point(0, 1), Point(2, 4)], [Point(0, 1), Point(2, 4)])
        with mock.patch("src.traces.texts.width_curve", lambda _: curve):
            self.assertEqual(told(2, 3), ["1 to 2 at 2; 2 at 3."])


if __name__ == "__main__":
    unittest.main()
