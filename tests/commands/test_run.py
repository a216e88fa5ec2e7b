"""`run.py` itself, with small claims in place of its own, and `run.py replay` from files to files."""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from src.claims.claim import claim
from src.commands import run
from src.page.guard import Outcome
from src.policies.scores import make_policy
from src.traces.reading import trace_of
from src.traces.replay import replay
from tests.helpers import in_process, random_paths

TRACE = b'{"hash_ids": [1, 2], "priority": 1}\n{"hash_ids": [3]}\n{"hash_ids": [1, 4]}\n' * 3


class Folder(unittest.TestCase):
    """A working directory with a trace and a policy in it."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(holder.name)
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


class Study(Folder):
    """What `run.py` does with its claims, which are small here."""

    def run_with(self, measured: int, *arguments: str) -> tuple[int, str, str]:
        lemma = claim({"strings": ["0"]}, {"unreachable": measured}, {"unreachable": 0})
        small = {"preregistration": {"P1": {"verdict": "P1 is decided."}}, "lemma": lemma}
        texts = {name: mock.DEFAULT for name in ("report", "ratio_by_length", "rule_picture")}
        with mock.patch.object(run, "all_claims", return_value=small), mock.patch.multiple(run, **texts) as made:
            for name, one in made.items():
                one.return_value = name
            return in_process("run", *arguments)

    def test_the_standard_results_by_another_name(self) -> None:
        """The report and the figures are written and checked with them."""
        os.mkdir("results")
        results = Path("results/main.json").resolve()
        others = [results.with_name(name) for name in ("README.md", "figure.svg", "rule.svg")]
        everything = {"main.json", *(path.name for path in others)}
        with mock.patch.multiple(run, RESULTS=results, OTHERS=others):
            for output in ([], ["--output", "results/main.json"], ["--output", "./results/../results/main.json"]):
                self.assertEqual(self.run_with(0, *output)[0], 0)
                self.assertEqual({path.name for path in Path("results").iterdir()}, everything)
                self.assertEqual(self.run_with(0, "--check", *output), self.run_with(0, "--check"))
                Path("results/figure.svg").write_text("another")
                status, _, err = self.run_with(0, "--check", *output)
                self.assertEqual((status, err.count("figure.svg is not what was computed")), (1, 1))
                Path("results/figure.svg").unlink()
                self.assertEqual(self.run_with(0, "--check", *output)[0], 2)

    def test_files_first_then_the_page(self) -> None:
        written: list[Any] = []
        with mock.patch.object(run, "write_all", written.append), mock.patch("src.page.guard._write") as page:
            page.side_effect = lambda *_: written.append("page")
            self.assertEqual(self.run_with(3, "--output", "o.json")[0], 1)
        self.assertEqual((len(written), written[1:]), (3, ["page", "page"]))
        self.assertTrue(any("unreachable" in text for text in written[0].values()))

    def test_replay_ends_as_the_study_does(self) -> None:
        self.assertIsInstance(run.main(["replay", "in.jsonl"]), Outcome)


if __name__ == "__main__":
    unittest.main()
