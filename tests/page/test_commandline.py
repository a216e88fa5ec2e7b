"""What the commands share: faults of one line, quiet ends, files written whole, tables, options, progress."""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Callable
from unittest import mock

from src.page.commandline import (
    FAILED,
    INTERRUPTED,
    OK,
    USAGE,
    Fault,
    Once,
    Parser,
    Progress,
    check_writable,
    configuration,
    guarded,
    json_text,
    shorten,
    table,
    whole_number,
    write_whole,
)
from tests.helpers import REPOSITORY

HERE = REPOSITORY


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
            (["--capacity", "x\ny"], "'x y' is not a whole number"),
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

    def test_long_texts_are_shortened_to_a_line(self) -> None:
        self.assertEqual(shorten("abcdef", 6), "abcdef")
        self.assertEqual(shorten("abcdefg", 6), "abcde…")
        self.assertEqual(shorten(" a\n\tb\r\n  c\u2028d "), "a b c d")
        self.assertEqual(shorten("a" * 61), "a" * 59 + "…")
        self.assertEqual(shorten(""), "")


class Guard(unittest.TestCase):
    def run_guarded(self, command: Callable[[list[str]], int]) -> tuple[int, str, str]:
        """Return the status, stdout and stderr of a command given the arguments a and b."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), mock.patch.object(
            sys, "argv", ["/some/where/it.py", "a", "b"]
        ):
            status = guarded(command)
        return status, out.getvalue(), err.getvalue()

    def test_the_status_is_the_commands(self) -> None:
        given = []
        for status in (OK, FAILED, 7):
            found = self.run_guarded(lambda arguments, status=status: given.append(arguments) or status)
            self.assertEqual(found, (status, "", ""))
        self.assertEqual(given, [["a", "b"]] * 3)

    def raising(self, error: BaseException) -> Callable[[list[str]], int]:
        def command(arguments: list[str]) -> int:
            print("so far")
            raise error

        return command

    def test_faults_are_one_line_and_status_2(self) -> None:
        for error, line in (
            (Fault("no such thing: name another"), "no such thing: name another"),
            (Fault("two\nlines  and more"), "two lines and more"),
            (ValueError("a capacity of 0"), "a capacity of 0"),
            (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), "'utf-8' codec can't decode byte 0xff in position 0: x"),
            (FileNotFoundError(2, "No such file", "x"), "[Errno 2] No such file: 'x'"),
            (Fault("a" * 1000), "a" * 399 + "…"),
        ):
            with self.subTest(error=error):
                self.assertEqual(self.run_guarded(self.raising(error)), (USAGE, "so far\n", f"it.py: {line}\n"))

    def test_an_interrupt_is_silent(self) -> None:
        self.assertEqual(self.run_guarded(self.raising(KeyboardInterrupt())), (INTERRUPTED, "so far\n", ""))

    def test_a_defect_is_not_hidden(self) -> None:
        for error in (TypeError("x"), KeyError("x"), AssertionError("x")):
            with self.assertRaises(type(error)):
                self.run_guarded(self.raising(error))

    def script(self, body: str) -> list[str]:
        """Return a command line that runs `body` as a guarded command, its output buffered whatever the environment."""
        lines = ["import sys", "from src.page.commandline import guarded", "def command(arguments):", f"    {body}"]
        return [sys.executable, "-E", "-c", "\n".join([*lines, "    return 0", "sys.exit(guarded(command))"])]

    def test_a_closed_pipe_ends_the_output_quietly(self) -> None:
        for body in (
            "for number in range(200000): print(number)",
            "print(0, flush=True); sys.stdin.read(); print(1)",  # found only when the command has ended
            "print(0, flush=True); sys.stdin.read(); print(1); sys.exit(0)",  # as --help ends
        ):
            with self.subTest(body=body), subprocess.Popen(
                self.script(body), cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            ) as writer:
                head = subprocess.run(["head", "-1"], stdin=writer.stdout, stdout=subprocess.PIPE, check=True)
                writer.stdout.close()
                _, complaints = writer.communicate()
                self.assertEqual((head.stdout, writer.returncode, complaints), (b"0\n", OK, b""))

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_a_full_disk_under_stdout_is_a_fault(self) -> None:
        with open("/dev/full", "wb") as full:
            done = subprocess.run(self.script("print(0)"), cwd=HERE, stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, USAGE)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertIn(b"No space left", done.stderr)


class WholeFiles(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "main.json"
        self.path.write_bytes(b"old")

    def hold_untouched(self) -> None:
        """The old file is as it was, and nothing lies beside it."""
        self.assertEqual(self.path.read_bytes(), b"old")
        self.assertEqual([file.name for file in self.folder.iterdir()], ["main.json"])

    def test_a_file_is_replaced_whole(self) -> None:
        write_whole(self.path, "é…\nnew\n")
        self.assertEqual(self.path.read_bytes(), "é…\nnew\n".encode())
        self.assertEqual([file.name for file in self.folder.iterdir()], ["main.json"])
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o644)

    def test_a_new_file(self) -> None:
        write_whole(self.folder / "new.json", "x")
        self.assertEqual((self.folder / "new.json").read_bytes(), b"x")

    def test_a_reader_of_the_old_file_keeps_it(self) -> None:
        with open(self.path, "rb") as reader:
            write_whole(self.path, "new")
            self.assertEqual(reader.read(), b"old")

    def write_with(self, write: Callable[[Any, str], None]) -> None:
        """Write a new text to the path where each write of the file beside it is replaced by `write`."""
        make = tempfile.NamedTemporaryFile

        def broken(*arguments: Any, **keywords: Any) -> Any:
            file = make(*arguments, **keywords)
            plain = file.write
            file.write = lambda text: write(plain, text)
            return file

        with mock.patch("src.page.commandline.tempfile.NamedTemporaryFile", broken):
            write_whole(self.path, "new text")

    def test_what_stops_the_writing_leaves_the_old_file(self) -> None:
        def stop(error: BaseException) -> Callable[[Any, str], None]:
            def write(plain: Any, text: str) -> None:
                plain(text[:3])
                raise error

            return write

        full = OSError(errno.ENOSPC, "No space left on device")
        for error, raised in ((full, Fault), (KeyboardInterrupt(), KeyboardInterrupt), (MemoryError(), MemoryError)):
            with self.subTest(error=error), self.assertRaises(raised) as caught:
                self.write_with(stop(error))
            self.hold_untouched()
            if raised is Fault:
                message = f"cannot write {self.path}: No space left on device: name another file or free the space"
                self.assertEqual(str(caught.exception), message)
        with self.assertRaises(UnicodeEncodeError):
            write_whole(self.path, "a" * 100000 + "\ud800")
        self.hold_untouched()

    def test_the_new_text_is_written_beside_the_old(self) -> None:
        beside = []

        def write(plain: Any, text: str) -> None:
            plain(text)
            self.assertEqual(self.path.read_bytes(), b"old")
            beside.extend(file.name for file in self.folder.iterdir() if file != self.path)

        self.write_with(write)
        self.assertRegex(" ".join(beside), r"^\.main\.json\.\w+$")
        self.assertEqual(self.path.read_bytes(), b"new text")

    def test_the_text_is_utf_8_in_every_locale(self) -> None:
        code = "import sys, pathlib, src.page.commandline as c; c.write_whole(pathlib.Path(sys.argv[1]), chr(233))"
        plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        subprocess.run([sys.executable, "-c", code, str(self.path)], cwd=HERE, env=plain, check=True)
        self.assertEqual(self.path.read_bytes(), "é".encode())

    def test_what_stops_the_replacing_leaves_the_old_file(self) -> None:
        for what in ("replace", "chmod"):
            with self.subTest(what=what), mock.patch(
                f"src.page.commandline.os.{what}", side_effect=OSError(errno.EACCES, "Permission denied")
            ):
                with self.assertRaisesRegex(Fault, "main.json: Permission denied: name another file"):
                    write_whole(self.path, "new")
                self.hold_untouched()

    def test_links(self) -> None:
        """A link stays and what it leads to is replaced; a circle, a pipe and a long name are faults."""
        target, link = self.folder / "target", self.folder / "link"
        target.write_text("old", encoding="utf-8")
        link.symlink_to(target)
        write_whole(link, "new")
        self.assertTrue(link.is_symlink())
        self.assertEqual(target.read_text(encoding="utf-8"), "new")
        one, other, pipe = self.folder / "one", self.folder / "other", self.folder / "pipe"
        one.symlink_to(other)
        other.symlink_to(one)
        os.mkfifo(pipe)
        for path in (one, pipe, self.folder / ("x" * 300), Path("a\0b")):
            with self.subTest(path=path), self.assertRaisesRegex(Fault, "^cannot write .*: name another file"):
                write_whole(path, "new")
        self.assertTrue(pipe.is_fifo())

    def test_what_cannot_be_written_is_told_beforehand(self) -> None:
        for path, complaint in (
            (self.folder, "it is a directory: name a file"),
            (self.folder / "none" / "main.json", f"there is no directory {self.folder / 'none'}: make it or"),
            (self.path / "main.json", f"there is no directory {self.path}: make it or"),
        ):
            for call in (check_writable, lambda path: write_whole(path, "new")):
                with self.subTest(path=path), self.assertRaises(Fault) as caught:
                    call(path)
                self.assertIn(f"cannot write {path}: {complaint}", str(caught.exception))
        with mock.patch("src.page.commandline.os.access", return_value=False), self.assertRaisesRegex(
            Fault, f"cannot write {self.path}: no permission to write in {self.folder}: name another"
        ):
            write_whole(self.path, "new")
        self.hold_untouched()
        check_writable(self.path)
        check_writable(Path("new-name-in-this-folder.json"))
        self.hold_untouched()


class Texts(unittest.TestCase):
    def test_json(self) -> None:
        value = {"b": 1, "a": ["é", "7/4", True, None], "c": [{"d": []}, [2, 3]], "e": {}}
        self.assertEqual(json_text(value), json.dumps(value, ensure_ascii=False) + "\n")
        self.assertEqual(
            json_text(value, 20),
            '{\n  "b": 1,\n  "a": ["é", "7/4", true, null],\n'
            '  "c": [\n    {"d": []},\n    [2, 3]\n  ],\n  "e": {}\n}\n',
        )
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


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


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
