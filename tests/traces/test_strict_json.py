"""Bounds of what is parsed; what is no JSON at all is tested through `reading`."""

from __future__ import annotations

import itertools
import random
import re
import unittest
from typing import Any, Callable
from unittest import mock

from src.traces import strict_json
from src.traces.strict_json import MOST_DIGITS, LineError, _decode_with_care, decode, quoted, shown


def told(how: Callable[[bytes], Any], line: str) -> str:
    """Return the value in a line, or what is wrong with it."""
    try:
        return repr(how(line.encode()))
    except LineError as error:
        return f"error: {error}"


class StrictJson(unittest.TestCase):
    def test_long_numbers_wherever_they_begin(self) -> None:
        for before in [*range(0, 700, 23), 319, 320, 321]:
            line = b'{"x": "' + b"y" * before + b'", "n": %s}'
            self.assertEqual(decode(line % (b"7" * MOST_DIGITS))["n"], int("7" * MOST_DIGITS))
            with self.assertRaisesRegex(LineError, f"has a number of {MOST_DIGITS + 1} digits"):
                decode(line % (b"7" * (MOST_DIGITS + 1)))

    def test_random_runs_of_digits_against_a_plain_search(self) -> None:
        draw = random.Random(2)
        seen = set()
        for _ in range(300):
            parts = [b"1" * draw.choice([5, 300, 639, 640, 641, 700]) for _ in range(draw.randrange(1, 6))]
            line = b"[" + b", ".join(parts) + b"]"
            long = re.search(rb"[0-9]{641}", line) is not None
            seen.add(long)
            try:
                decode(line)
                self.assertFalse(long, line)
            except LineError:
                self.assertTrue(long, line)
        self.assertEqual(seen, {False, True})

    def test_plain_lines_are_decoded_as_with_care(self) -> None:
        """All lines of some pieces, and a line of a trace with one or two characters put in, taken out or replaced."""
        pieces = ("{", "}", '"a"', '"a": 1', '"b": [2]', '"\\u0061": 3', ",", " ", "NaN", "\0", "\u00a0")
        lines = ["".join(some) for count in range(5) for some in itertools.product(pieces, repeat=count)]
        draw = random.Random(3)
        for _ in range(3000):
            line = list('{"timestamp": 0, "input_length": 21, "hash_ids": [0, 14], "text": "ab"}\n')
            for _ in range(draw.choice((1, 2))):
                at, out = draw.randrange(len(line)), draw.choice((0, 1))
                line[at : at + out] = draw.choice(["", "0", "7" * 700, '"', ":", "{", "[" * 99, "é", "\0"])
            lines.append("".join(line))
        plain = 0
        for line in lines:
            self.assertEqual(told(decode, line), told(_decode_with_care, line), line)
            plain += told(decode, line).startswith("{")
        self.assertGreater(plain, 500)

    def test_plain_lines_are_decoded_without_care(self) -> None:
        plain = b'{"timestamp": 0, "input_length": 21, "hash_ids": [0, 14], "text": "ab"}\n'
        with mock.patch.object(strict_json, "_decode_with_care", side_effect=AssertionError):
            self.assertEqual(decode(plain)["hash_ids"], [0, 14])
            for other in (plain.replace(b"ab", b"a:b"), b" " + plain, plain.replace(b"0,", b"{},", 1)):
                with self.assertRaises(AssertionError):
                    decode(other)

    def test_values_as_messages_show_them(self) -> None:
        texts = [shown(value) for value in ([1], {}, "a\nb", None, 1.5)]
        self.assertEqual(texts, ["a list", "an object", r"'a\nb'", "null", "1.5"])
        self.assertLessEqual(len(quoted("x" * 1000)), 60)


if __name__ == "__main__":
    unittest.main()
