"""Which capacities are looked at; the comparison itself is tested through the command."""

from __future__ import annotations

import unittest

from src.traces.comparison import FINE, ladder, preferred


class Words(unittest.TestCase):
    def test_the_ladder(self) -> None:
        for footprint, expected in (
            (1, [1]), (2, [1, 2]), (4, [1, 2]), (5, [1, 2, 5]), (99, [1, 2, 5, 10, 20, 50]),
            (182_790, [500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000]),
        ):
            self.assertEqual(ladder(footprint), expected)
        for footprint in range(1, 3000, 7):
            found = ladder(footprint)
            self.assertTrue(1 <= len(found) <= 8 and found[-1] <= footprint < found[-1] * 5 // 2 + 1, footprint)

    def test_samples_for_the_chart(self) -> None:
        self.assertEqual(preferred(FINE, 1, 20), [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18])
        self.assertEqual(preferred(FINE, 182, 400), [220, 270, 330, 390])
        for high in (1000, 182_790, 10**7):
            self.assertTrue(30 <= len(preferred(FINE, high // 1000, high)) <= 40, high)


if __name__ == "__main__":
    unittest.main()
