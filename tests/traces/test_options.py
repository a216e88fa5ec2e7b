"""Sizes, shares and cells as options give them."""

from __future__ import annotations

import argparse
import unittest
from fractions import Fraction

from src.page.commandline import Fault
from src.traces.options import capacity, cell, in_flight, share
from src.traces.workload import LOGGED


class Sizes(unittest.TestCase):
    def test_tokens_and_memory(self) -> None:
        for text, blocks in (
            ("1.5Mtok", 2929), ("512tok", 1), ("1ktok", 1), ("1023tok", 1), ("40GB", 596), ("40GiB", 640),
            ("67108864kb", 1000), ("0.5tb", 7450), ("1TiB", 16384), ("65536KiB", 1),
        ):
            self.assertEqual(capacity(text).blocks(512, 131072), blocks, text)
        for text in ("1tok", "1kB", "511tok", "65535KiB"):
            with self.assertRaisesRegex(Fault, f"^--capacity {text} holds no block of 512 tokens: give a larger one$"):
                capacity(text).blocks(512, 131072)
        for text in ("40B", "40G", "1.5Gtok", "tok", "GB", "1 GB", "1GBtok", "0GB", "0.5tok", "-1GB", "1_0GB"):
            with self.subTest(text), self.assertRaisesRegex(argparse.ArgumentTypeError, "as memory 40GB or 40GiB$"):
                capacity(text)

    def test_what_is_not_known(self) -> None:
        self.assertEqual(capacity("7").blocks(0, None), 7)
        with self.assertRaisesRegex(Fault, "^--capacity 1Mtok: the tokens in a block are not known: give the cap"):
            capacity("1Mtok").blocks(0, 5)
        with self.assertRaisesRegex(Fault, "^--capacity 1GB: the bytes of a token are not known: give --bytes-"):
            capacity("1GB").blocks(512, None)

    def test_shares_cells_and_requests_in_flight(self) -> None:
        self.assertEqual([share("30%"), share("0.5%"), share("100%")], [Fraction(3, 10), Fraction(1, 200), 1])
        for text in ("30", "0%", "100.1%", "-1%", "%", "1e1%", "0.3"):
            with self.assertRaisesRegex(argparse.ArgumentTypeError, "is not a share above 0%: give one such as 30%"):
                share(text)
        self.assertEqual(cell("a@b.py:f@5k"), ("a@b.py:f", capacity("5k")))
        for text in ("lru", "@5", "lru5"):
            with self.assertRaisesRegex(argparse.ArgumentTypeError, "is no policy at a capacity: give one such as l"):
                cell(text)
        self.assertEqual((in_flight("logged"), in_flight("3")), (LOGGED, 3))


if __name__ == "__main__":
    unittest.main()
