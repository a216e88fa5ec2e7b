"""What the commands share: options, texts, tables, progress."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import sys
import unittest
from typing import Any
from unittest import mock

from src.page.commandline import (
    Once,
    Parser,
    Progress,
    configuration,
    json_text,
    quoted,
    shorten,
    table,
    whole_number,
)
from src.page.guard import Fault, Help
from tests.helpers import Terminal


def options() -> Parser:
    """Return a parser with an option of each kind that the commands have."""
    parser = Parser("it.py")
    parser.add_argument("--capacity", type=whole_number(1), default=2, action=Once)
    parser.add_argument("--optimum", choices=["bypass", "locked"], action=Once)
    parser.add_argument("--check", action="store_true")
    return parser


class Options(unittest.TestCase):
    def test_what_is_given_is_read(self) -> None:
        parsed = options().parse_args(["--capacity", "3", "--optimum=locked"])
        self.assertEqual((parsed.capacity, parsed.optimum, parsed.check), (3, "locked", False))
        self.assertEqual(options().parse_args([]).capacity, 2)

    def test_complaints_are_faults_of_one_line(self) -> None:
        for arguments, complaint in (
            (["--capacity", "0"], "argument --capacity: '0' is not a whole number of at least 1"),
            (["--capacity", "x\ny"], r"'x\ny' is not a whole number"),
            (["--capacity"], "expected one argument"),
            (["--optimum", "any"], "argument --optimum: invalid choice: 'any'"),
            (["--unknown"], "unrecognized arguments: --unknown"),
            (["more"], "unrecognized arguments: more"),
            (["--cap", "3"], "unrecognized arguments: --cap 3"),
            (["--che"], "unrecognized arguments: --che"),
        ):
            with self.subTest(arguments=arguments), self.assertRaises(Fault) as caught:
                options().parse_args(arguments)
            self.assertIn(complaint, str(caught.exception))
            self.assertTrue(str(caught.exception).endswith(": see 'it.py --help'"))
            self.assertNotIn("\n", str(caught.exception))

    def test_an_option_is_given_once(self) -> None:
        for arguments in (["--capacity", "3", "--capacity", "3"], ["--capacity=3", "--optimum=bypass", "--capacity=2"]):
            with self.assertRaisesRegex(Fault, "^argument --capacity: given twice: give it once: see"):
                options().parse_args(arguments)
        parser = options()
        for _ in range(2):  # what was given is remembered for one command line alone
            self.assertEqual(parser.parse_args(["--capacity", "3", "--optimum", "bypass"]).capacity, 3)

    def test_whole_numbers(self) -> None:
        for least, text, number in ((1, "1", 1), (0, "0", 0), (1, "007", 7), (2, "9" * 18, 10**18 - 1)):
            self.assertEqual(whole_number(least)(text), number)
        for least, text in (
            (1, "0"), (2, "1"), (0, "-1"), (0, ""), (0, "x"), (0, "1.0"), (0, "1e3"), (0, "+1"), (0, " 1"), (0, "1_0"),
            (0, "²"), (0, "٣"), (0, "9" * 19),
        ):
            with self.subTest(text=text), self.assertRaisesRegex(
                argparse.ArgumentTypeError, f"is not a whole number of at least {least}$"
            ):
                whole_number(least)(text)

    def test_help_is_left_to_the_guard(self) -> None:
        with self.assertRaisesRegex(Help, "(?s)usage: it.py .*--capacity"):
            options().parse_args(["--help"])

    def test_texts_are_quoted_as_typed(self) -> None:
        for text, shown in (("  1", "'  1'"), ("a\x1b[31m", r"'a\x1b[31m'"), ("it's", '"it\'s"'), ("é", "'é'")):
            self.assertEqual(quoted(text), shown)
        self.assertEqual(quoted("a" * 59), f"'{'a' * 57}…'")
        with self.assertRaisesRegex(argparse.ArgumentTypeError, "^'  1' is not a whole number"):
            whole_number(1)("  1")

    def test_long_texts_are_shortened_to_a_line(self) -> None:
        self.assertEqual(shorten("a" * 60), "a" * 60)
        self.assertEqual(shorten(" a\n\tb\r\n  c\u2028d "), "a b c d")
        self.assertEqual(shorten("a" * 61), "a" * 59 + "…")
        self.assertEqual(shorten(""), "")


class Texts(unittest.TestCase):
    def test_json(self) -> None:
        value = {"b": 1, "a": ["é", "7/4", True, None], "c": [{"d": []}, [2, 3]], "e": {}}
        self.assertEqual(json_text(value), json.dumps(value, ensure_ascii=False) + "\n")
        self.assertEqual(
            json_text(value, 20),
            '{\n  "b": 1,\n  "a": ["é", "7/4", true, null],\n'
            '  "c": [\n    {"d": []},\n    [2, 3]\n  ],\n  "e": {}\n}\n',
        )
        flat = {"a long name": [1, 2, 3], "another": "long text"}
        self.assertEqual(json_text([flat, flat], 20), f"[\n  {json.dumps(flat)},\n  {json.dumps(flat)}\n]\n")
        with self.assertRaises(ValueError):
            json_text(float("nan"))

    def test_json_is_read_as_what_was_written(self) -> None:
        rng = random.Random(5)

        def some(depth: int) -> Any:
            if depth and rng.random() < 0.7:
                parts = [some(depth - 1) for _ in range(rng.randrange(4))]
                return parts if rng.random() < 0.5 else {f"k{at}": part for at, part in enumerate(parts)}
            return rng.choice([1, "a", None, True, "x" * 30])

        for _ in range(200):
            value = some(4)
            for width in (0, 20, 60):
                text = json_text(value, width)
                self.assertEqual(json.loads(text), value, text)

    def test_numbers_are_aligned_to_the_right_and_the_rest_to_the_left(self) -> None:
        text = table(["claim", "K", "ratio", "ok"], [["a", "12", "7/4", "yes"], ["longer", "-", "12.5", "NO"]])
        self.assertEqual(
            text.split("\n"),
            [
                "claim    K  ratio  ok",
                "------  --  -----  ---",
                "a       12    7/4  yes",
                "longer   -   12.5  NO",
            ],
        )
        self.assertEqual(table(["n", "x"], [["10", "1"], ["9", "none"]]), " n  x\n--  ----\n10  1\n 9  none")
        self.assertEqual(table(["wide", "b"], [["x", ""], ["-3", "y"]]), "wide  b\n----  -\nx\n-3    y")

    def test_a_table_without_rows(self) -> None:
        self.assertEqual(table(["a", "bc"], []), "a  bc\n-  --")


class ProgressOnStderr(unittest.TestCase):
    def shown(self, stream: io.StringIO, *times: float) -> str:
        """Return what is shown when it is counted at some times, in seconds, after the start."""
        with contextlib.redirect_stderr(stream), mock.patch("src.page.commandline.time.monotonic") as clock:
            clock.return_value = 1000.0
            progress = Progress()
            progress.say("first")
            for time in times:
                clock.return_value = 1000.0 + time
                progress.count(2500, 10000, "sequences")
            progress.end()
        return stream.getvalue()

    def test_nothing_is_shown_where_there_is_no_terminal(self) -> None:
        self.assertEqual(self.shown(io.StringIO(), 0.5, 10.0), "")

    def test_a_terminal_sees_each_line_in_place_of_the_one_before(self) -> None:
        clear = "\r\033[K"
        line = f"{clear}sequences: 2,500 of 10,000, "
        self.assertEqual(self.shown(Terminal()), f"{clear}first{clear}")
        self.assertEqual(self.shown(Terminal(), 10.0), f"{clear}first{line}250/s, 30 s left{clear}")
        two = f"{clear}first{line}2,500/s, 3 s left{line}1,250/s, 6 s left{clear}"
        self.assertEqual(self.shown(Terminal(), 1.0, 1.01, 1.09, 2.0, 2.05), two)


    def test_a_name_is_shown_without_control_characters(self) -> None:
        with contextlib.redirect_stderr(Terminal()) as shown:
            Progress().say("a\x1b[31m\n")
        self.assertEqual(shown.getvalue(), "\r\x1b[Ka\\x1b[31m\\n")

    def test_a_stream_that_goes_away(self) -> None:
        stream = Terminal()
        with contextlib.redirect_stderr(stream):
            progress = Progress()
            progress.say("first")
            stream.close()
            progress.say("second")
        for closed in (None, stream):
            with mock.patch.object(sys, "stderr", closed):
                progress.say("third")
        with mock.patch.object(sys, "stderr", None):
            Progress().say("nothing")


class Configuration(unittest.TestCase):
    def test_the_configuration_text(self) -> None:
        self.assertEqual(configuration(' {"protected_threshold": 3} '), {"protected_threshold": 3})
        self.assertEqual(configuration("{}"), {})
        remedy = """: give an object such as '{"protected_threshold": 3}'"""
        for text in ("", "{", "{'a': 1}", '{"a": 1,}', "protected_threshold=3", "{} {}", "[" * 10**5, '{"a":' * 10**5):
            with self.assertRaises(argparse.ArgumentTypeError) as caught:
                configuration(text)
            self.assertTrue(str(caught.exception).startswith("the policy configuration is not JSON ("), text[:20])
            self.assertTrue(str(caught.exception).endswith(remedy), text[:20])
        for text, fault in (("[" * 10**5, "nested too deeply"), ("{", "Expecting .* line 1 column 2 .*")):
            with self.assertRaisesRegex(argparse.ArgumentTypeError, rf"not JSON \({fault}\): give"):
                configuration(text)
        for text in ("[]", '[["protected_threshold", 2]]', "null", "true", "3", "2.5", '"lru"', "NaN"):
            with self.assertRaises(argparse.ArgumentTypeError) as caught:
                configuration(text)
            self.assertEqual(str(caught.exception), f"the policy configuration is no JSON object{remedy}", text)

    def test_a_key_given_twice(self) -> None:
        for second in (2, 3):
            message = "^the policy configuration names a key twice: name it once$"
            with self.assertRaisesRegex(argparse.ArgumentTypeError, message):
                configuration(f'{{"protected_threshold": 2, "protected_threshold": {second}}}')


if __name__ == "__main__":
    unittest.main()
