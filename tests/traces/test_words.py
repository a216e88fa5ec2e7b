"""Numbers and names as the texts show them."""

from __future__ import annotations

import unittest
from fractions import Fraction

from src.page.commandline import printable
from src.traces.words import counted, decimal, percent


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


if __name__ == "__main__":
    unittest.main()
