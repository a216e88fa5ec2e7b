"""The guard: whatever a command does, or its import, ends in a status and whole lines."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from typing import Any, Callable
from unittest import mock

from src.page.guard import CLEAR, FAILED, INTERRUPTED, LONGEST, OK, USAGE, Fault, Help, Outcome, printable
from tests.helpers import REPOSITORY, in_process, on_ctrl_c

Main = Callable[[list[str]], Outcome]


def raising(error: BaseException) -> Main:
    """Return a command that prints and raises."""

    def main(arguments: list[str]) -> Outcome:
        raise error

    return main


class Guard(unittest.TestCase):
    """In this process, with a module made for the purpose."""

    def run_guarded(self, main: Main, **keywords: Any) -> tuple[int, str, str]:
        """Return the status, stdout and stderr of a command given the arguments a and b."""
        module = types.ModuleType("command_under_test")
        module.__dict__["main"] = main
        with mock.patch.dict(sys.modules, {module.__name__: module}):
            return in_process("it", "a", "b", module=module.__name__, **keywords)

    def test_page_status_and_complaints_are_the_commands(self) -> None:
        given: list[list[str]] = []

        def main(arguments: list[str]) -> Outcome:
            given.append(arguments)
            return Outcome("a page\n", 7, "one", "two")

        self.assertEqual(self.run_guarded(main), (7, "a page\n", "it.py: one\nit.py: two\n"))
        self.assertEqual(self.run_guarded(lambda _: Outcome("")), (OK, "", ""))
        self.assertEqual(given, [["a", "b"]])

    def test_what_is_raised(self) -> None:
        parts = "a part of it cannot be loaded (No module named 'x'): use a complete Python 3.9 or later"
        for error, status, line in (
            (Fault("no such thing: name another"), USAGE, "no such thing: name another"),
            (Fault("two\nlines  and more"), USAGE, "two\\nlines  and more"),
            (ValueError("a capacity of 0"), USAGE, "a capacity of 0"),
            (FileNotFoundError(2, "No such file", "x"), USAGE, "[Errno 2] No such file: 'x'"),
            (ImportError("No module named 'x'"), FAILED, parts),
            (SystemExit(0), USAGE, "ended before its work was done, by exit(0): leave that out"),
            (MemoryError(), FAILED, "out of memory: allow more, or give it less to do"),
        ):
            with self.subTest(error=error):
                self.assertEqual(self.run_guarded(raising(error)), (status, "", f"it.py: {line}\n"))
        self.assertEqual(self.run_guarded(raising(KeyboardInterrupt())), (INTERRUPTED, "", ""))
        self.assertEqual(self.run_guarded(raising(Help("the help\n"))), (OK, "the help\n", ""))

    def test_a_defect_is_not_hidden(self) -> None:
        for error in (TypeError("x"), KeyError("x"), AssertionError("x")):
            with self.assertRaises(type(error)):
                self.run_guarded(raising(error))

    def test_a_long_line_keeps_its_end(self) -> None:
        _, _, err = self.run_guarded(raising(Fault(f"cannot write {'d/' * 2000}x: File name too long: name another")))
        self.assertEqual(len(err), len("it.py: \n") + LONGEST)
        self.assertTrue(err.startswith("it.py: cannot write d/d/") and "…" in err)
        self.assertTrue(err.endswith("/x: File name too long: name another\n"))

    def test_nothing_unprintable_is_printed(self) -> None:
        for text in ("a\x1b[31mb", "\x9b1m", "\udcff", "\u202e", "\x07\r"):
            status, page, err = self.run_guarded(lambda _, text=text: Outcome(f"{text}é\nend\n", OK, text))
            self.assertEqual(page, f"{printable(text)}é\nend\n")
            self.assertEqual(err, f"it.py: {printable(text)}\n")
            self.assertTrue(printable(text).isprintable())
        self.assertEqual(printable("a\x1b\n"), r"a\x1b\n")

    def test_progress_is_cleared_before_any_word(self) -> None:
        for main in (raising(Fault("x")), raising(KeyboardInterrupt()), raising(MemoryError())):
            self.assertTrue(self.run_guarded(main, terminal=True)[2].startswith(CLEAR))

    def test_a_stdout_that_the_command_closes(self) -> None:
        for status, told in ((OK, USAGE), (FAILED, FAILED)):

            def main(arguments: list[str], status: int = status) -> Outcome:
                sys.stdout.close()
                return Outcome("page", status)

            with mock.patch("tests.helpers.io.StringIO", KeepsText):
                found = self.run_guarded(main)
            self.assertEqual(found[0], told)
            self.assertEqual(found[2], "it.py: cannot write to standard output: a policy closed it: give it a place\n")


class KeepsText(io.StringIO):
    """A stream whose text can be read after it was closed."""

    def getvalue(self) -> str:
        return "" if self.closed else str(super().getvalue())


COMMAND = """
import sys
from src.page.guard import Outcome
print("at work", file=sys.stderr, flush=True)
{imported}
def main(arguments):
    {body}
    return Outcome("0\\n" * {lines}, {status})
"""


class Process(unittest.TestCase):
    """A guarded command as a process of its own."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def words(self, body: str = "pass", imported: str = "", lines: int = 1, status: int = 0) -> list[str]:
        """Return a command line that runs such a command."""
        text = COMMAND.format(body=body, imported=imported, lines=lines, status=status)
        (self.folder / "it.py").write_text(text, encoding="utf-8")
        start = f"import sys; sys.path[:0] = [{str(REPOSITORY)!r}, {str(self.folder)!r}]; sys.argv[0] = 'it.py'"
        return [sys.executable, "-E", "-c", f"{start}\nfrom src.page.guard import guarded\nsys.exit(guarded('it'))"]

    def start(self, words: list[str], **keywords: Any) -> subprocess.Popen[bytes]:
        """Start it, and wait until its module is being imported."""
        pipe = subprocess.PIPE
        child = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, **keywords)
        assert child.stderr and child.stderr.readline() == b"at work\n"
        return child

    def test_ctrl_c_during_the_imports_and_during_the_work(self) -> None:
        for part in ("imported", "body"):
            words = self.words(**{part: "sys.stdin.read()"})
            with on_ctrl_c():
                child = self.start(words)
            with child:
                child.send_signal(signal.SIGINT)
                self.assertEqual((*child.communicate(timeout=60), child.returncode), (b"", b"", INTERRUPTED))

    @unittest.skipIf(sys.implementation.name == "pypy", "PyPy listens to Ctrl-C whoever starts it")
    def test_ctrl_c_that_was_ignored_from_the_first_stays_ignored(self) -> None:
        with on_ctrl_c(signal.SIG_IGN):
            child = self.start(self.words("sys.stdin.read()"))
        with child:
            child.send_signal(signal.SIGINT)
            self.assertEqual((*child.communicate(timeout=60), child.returncode), (b"0\n", b"", OK))

    def test_a_closed_pipe_hides_nothing(self) -> None:
        """Whether the output is buffered or not; and nothing is said of it."""
        for unbuffered, lines, status in (((), 1, FAILED), (("-u",), 1, FAILED), (("-u",), 10**6, OK)):
            words = self.words("sys.stdin.read()", lines=lines, status=status)
            words[1:1] = unbuffered
            with self.start(words) as child:
                assert child.stdout
                child.stdout.close()
                _, err = child.communicate(timeout=60)
            self.assertEqual((child.returncode, err), (status, b""))

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_full_and_closed_streams(self) -> None:
        for shell, status, out, err in (
            ("> /dev/full", USAGE, b"", b"at work\nit.py: cannot write to standard output: No space left on device: "),
            (">&-", OK, b"", b"at work\n"),
            ("2> /dev/full", OK, b"0\n", b""),
            ("2>&-", OK, b"0\n", b""),
            ("2>&- >&-", OK, b"", b""),
        ):
            words = self.words(imported="")
            if "2>" in shell:  # the module must not say anything itself
                (self.folder / "it.py").write_text(
                    "from src.page.guard import Outcome\ndef main(_): return Outcome('0\\n', 0, 'said')\n"
                )
            call = ["/bin/sh", "-c", f'exec "$@" {shell}', "sh", *words]
            done = subprocess.run(call, capture_output=True, timeout=60, check=False)
            with self.subTest(shell=shell):
                self.assertEqual((done.returncode, done.stdout), (status, out))
                self.assertTrue(done.stderr.startswith(err) and done.stderr.count(b"\n") <= 2, done.stderr)

    def test_names_that_the_encoding_lacks(self) -> None:
        for encoding, page in (("None", b"\\xe9\\u2026"), ("'utf-8'", "é…".encode())):
            words = self.words(f"return Outcome(chr(233) + chr(8230), encoding={encoding})")
            plain = {**os.environ, "PYTHONIOENCODING": "ascii"}
            done = subprocess.run([words[0], *words[2:]], capture_output=True, env=plain, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout), (OK, page))


if __name__ == "__main__":
    unittest.main()
