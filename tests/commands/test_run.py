"""What `run.py` starts, and `run.py replay` from files to files."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from src.commands import run
from src.page.guard import Outcome
from src.policies.scores import make_policy
from src.traces.reading import trace_of
from src.traces.replay import replay
from tests.helpers import REPOSITORY, WorkingDirectory, in_process, random_paths

TRACE = b'{"hash_ids": [1, 2], "priority": 1}\n{"hash_ids": [3]}\n{"hash_ids": [1, 4]}\n' * 3


class Folder(WorkingDirectory):
    """A working directory with a trace and a policy in it."""

    def setUp(self) -> None:
        super().setUp()
        Path("in.jsonl").write_bytes(TRACE)
        Path("f.py").write_text("def f(block):\n    return block.hits\n", encoding="utf-8")
        os.link("in.jsonl", "hard.jsonl")
        self.before = self.folder()

    def folder(self) -> dict[str, bytes]:
        return {entry.name: entry.read_bytes() for entry in Path().iterdir()}

    def refused(self, fault: str, *arguments: str, command: str = "run", **keywords: Any) -> None:
        """Hold that a command says so in a line, with status 2, and touches no file."""
        status, out, err = in_process(command, *arguments, **keywords)
        self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
        self.assertIn(fault, err)
        self.assertEqual(self.folder(), self.before)


class Inputs(Folder):
    def test_no_input_is_overwritten_by_either_command(self) -> None:
        own = ("--radix-eviction-policy", "f.py:f")
        Path("link").symlink_to("f.py")
        self.before = self.folder()
        for output in ("f.py", "./f.py", "link"):
            self.refused("it is read", *own, "--output", output, command="derisk")
            self.refused("it is read", "replay", "in.jsonl", *own, "--json", output)
        for output in ("in.jsonl", "hard.jsonl"):
            self.refused("it is read", "replay", "in.jsonl", "--svg", output)
            with open("in.jsonl", encoding="utf-8") as typed, mock.patch("tests.helpers.io.TextIOWrapper") as stdin:
                stdin.return_value = typed
                self.refused("it is read", "replay", "-", "--json", output)

    def test_names_that_are_no_files(self) -> None:
        for output in ("new/", "f.py/", "", "in.jsonl/x"):
            self.refused("cannot write", "--output", output)
            self.refused("cannot write", "--output", output, command="derisk")
            self.refused("cannot write", "replay", "in.jsonl", "--csv", output)

    def test_too_many_policies_for_a_chart(self) -> None:
        names = [f"f{number}" for number in range(40)]
        Path("many.py").write_text("".join(f"def {name}(b): return 1\n" for name in names), encoding="utf-8")
        self.before = self.folder()
        with mock.patch("src.traces.command.read_traces", side_effect=AssertionError("worked")):
            chosen = [f"--radix-eviction-policy=many.py:{name}" for name in names]
            self.refused("a chart has room for 39 policies", "replay", "in.jsonl", "--svg", "o.svg", *chosen)
        chosen = chosen[:38]
        self.assertEqual(in_process("run", "replay", "in.jsonl", "--svg", "o.svg", *chosen)[0], 0)


class UserPolicies(Folder):
    CLOCK = "clock = 0\ndef aged(block):\n    global clock\n    clock += 1\n    return (clock > 4, block.hits)\n"
    ONCE = "seen = {}\ndef kept(block):\n    return seen.setdefault(block, (len(seen) < 40) * block.last_access)\n"

    def test_no_replay_leaves_a_trace_in_another(self) -> None:
        """A score that remembers what it first said of some facts passes as a function; its file is loaded anew."""
        Path("own.py").write_text(self.ONCE, encoding="utf-8")
        trace = trace_of(random_paths(1))
        alone = replay(trace, 20, make_policy("own.py:kept"))
        score = make_policy("own.py:kept")
        shared: Any = score.__wrapped__  # type: ignore[attr-defined]
        self.assertNotEqual([replay(trace, blocks, shared) for blocks in (5, 20)][1], alone)
        self.assertEqual([replay(trace, blocks, score) for blocks in (5, 20)][1], alone)

    def test_a_score_that_changes_is_told(self) -> None:
        Path("own.py").write_text(self.CLOCK, encoding="utf-8")
        self.before = self.folder()
        own = "--radix-eviction-policy=own.py:aged"
        self.refused("run.py: own.py:2: aged returns ", "replay", "in.jsonl", own, "--capacity=2", "--json", "o.json")

    def test_a_score_that_ends_the_program_does_not(self) -> None:
        for body, told in (
            ("import sys\ndef f(block): sys.exit(0)", "own.py:2: f fails on Facts(last_access=1,"),
            ("def f(block): raise GeneratorExit", "own.py:1: f fails on Facts(last_access=1,"),
            ("def f(block): pass", "own.py:1: f returns None for Facts(last_access=1,"),
            ("def f(block): return 1 if block.depth > 1 else 'x'", "own.py:1: f returns scores that do not compare"),
            ("def f(block): return block.hits + 'x'", "own.py:1: f fails on Facts(last_access=1,"),
            ("async def f(block): return 1", "own.py:1: f is async"),
            ("def __getattr__(name): raise LookupError", "own.py: fails when it is loaded (LookupError"),
            ("def f(block, limit=1): return limit\nraise SystemExit(0)", "own.py: fails when it is loaded (SystemExit"),
        ):
            Path("own.py").write_text(body, encoding="utf-8")
            self.before = self.folder()
            own = "--radix-eviction-policy=own.py:f"
            with self.subTest(body=body):
                self.refused(f"run.py: {told}", "replay", "in.jsonl", own, "--capacity=3", "--json", "o.json")
                self.refused(f"derisk.py: {told}", own, "--capacity=3", "--output", "o.json", command="derisk")

    def test_a_name_that_is_no_plain_text(self) -> None:
        name = "e\x1b[31m.py"
        Path(name).write_text("def f(block): return block.hits\n", encoding="utf-8")
        for command, words in (("run", ("replay", "in.jsonl")), ("derisk", ())):
            status, out, err = in_process(command, *words, f"--radix-eviction-policy={name}:f", terminal=True)
            self.assertEqual(status, 0)
            self.assertNotIn("\x1b", out + err.replace("\r\x1b[K", ""))
            self.assertIn(r"e\x1b[31m.py:f", out)

    def test_they_need_no_stderr(self) -> None:
        with mock.patch("tests.helpers.contextlib.redirect_stderr", lambda _: mock.patch("sys.stderr", None)):
            self.assertEqual(in_process("run", "replay", "in.jsonl", "--csv", "o.csv")[0], 0)
            self.assertEqual(in_process("run", "replay", "none.jsonl", "--csv", "other.csv")[0], 2)
        self.assertEqual(self.folder().keys() - self.before.keys(), {"o.csv"})


class Dispatch(Folder):
    def test_the_first_word_names_what_is_done(self) -> None:
        for name in ("src.traces.command", "src.commands.show", "src.traces.tuning", "src.commands.study"):
            word = next((word for word, module in run.SUBCOMMANDS.items() if module == name), None)
            with mock.patch(f"{name}.main", side_effect=lambda arguments: Outcome(" ".join(arguments))):
                arguments = [word, "in.jsonl", "-x"] if word else ["-x"]
                self.assertEqual(run.main(arguments).page, " ".join(arguments[word is not None :]))
        with mock.patch("src.commands.study.main", return_value=Outcome("all")):
            self.assertEqual(run.main([]).page, "all")

    def test_a_replay_loads_no_claims(self) -> None:
        script = "import sys; from src.commands.run import main; main(['replay', 'in.jsonl']); print(*sys.modules)"
        paths = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=paths, check=True)
        self.assertIn("src.traces.command", loaded.stdout.split())
        self.assertEqual([name for name in loaded.stdout.split() if name.startswith("src.claims")], [])


if __name__ == "__main__":
    unittest.main()
