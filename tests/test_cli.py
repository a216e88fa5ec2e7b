"""The two commands, run as a user runs them."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from src.claims.claim import claim
from src.commands import study
from src.page.guard import CLEAR
from tests.helpers import REPOSITORY, in_process, on_ctrl_c

ROOT = REPOSITORY


def command(*words: str, seed: str = "0", **keywords: Any) -> subprocess.CompletedProcess[str]:
    """Run a command of the repository from another directory, without a terminal."""
    script, *arguments = words
    return subprocess.run(
        [sys.executable, str(ROOT / script), *arguments],
        cwd=keywords.pop("cwd", tempfile.gettempdir()),
        env={**os.environ, "PYTHONHASHSEED": seed},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        **keywords,
    )


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def assert_one_line(self, text: str) -> None:
        self.assertEqual(text.count("\n"), 1, text)
        self.assertNotIn("Traceback", text)


class BadInput(Folder):
    CASES = [
        ("derisk.py", "--capacity", "0"),
        ("derisk.py", "--capacity", "-1"),
        ("derisk.py", "--capacity", "x"),
        ("derisk.py", "--capacity", "1.5"),
        ("derisk.py", "--capacity", "9" * 5000),
        ("derisk.py", "--capacity", "2", "--capacity", "2"),
        ("derisk.py", "--capacity"),
        ("derisk.py", "--length", "0"),
        ("derisk.py", "--strings", ""),
        ("derisk.py", "--strings", "a,,b"),
        ("derisk.py", "--strings", "a,b,a"),
        ("derisk.py", "--optimum", "sometimes"),
        ("derisk.py", "--optimum", "locked", "--capacity", "1"),
        ("derisk.py", "--optimum", "locked", "--strings", "abc,b", "--capacity", "2"),
        ("derisk.py", "--forests", "3"),
        ("derisk.py", "--cap", "3"),
        ("derisk.py", "surplus"),
        ("derisk.py", "--radix-eviction-policy-config", "{}"),
        ("derisk.py", "--radix-eviction-policy", "LRU"),
        ("derisk.py", "--radix-eviction-policy", "missing.py:score"),
        ("derisk.py", "--radix-eviction-policy", "lru", "--radix-eviction-policy-config", '{"a": 1}'),
        ("derisk.py", "--radix-eviction-policy", "slru", "--radix-eviction-policy-config", '{"protected_threshold":0}'),
        ("derisk.py", "--radix-eviction-policy", "slru", "--radix-eviction-policy-config", "{"),
        ("derisk.py", "--radix-eviction-policy", "slru", "--radix-eviction-policy-config", "[]"),
        ("derisk.py", "--radix-eviction-policy", "lru", "--forests", "3", "--strings", "a"),
        ("derisk.py", "--radix-eviction-policy", "lru", "--max-states", "0"),
        ("derisk.py", "--output", "missing/file.json"),
        ("derisk.py", "--output", "."),
        ("run.py", "--output", "missing/file.json"),
        ("run.py", "--output", "."),
        ("run.py", "--check", "--output", "missing.json"),
        ("run.py", "--check", "--output", "."),
        ("run.py", "--checks"),
        ("run.py", "surplus"),
    ]

    def test_one_line_and_status_two(self) -> None:
        before = {path: path.read_bytes() for path in (ROOT / "results").iterdir()}
        os.chdir(self.folder)
        self.addCleanup(os.chdir, ROOT)
        for script, *arguments in self.CASES:
            with self.subTest(script=script, arguments=arguments):
                main = script[:-3]
                status, _, err = in_process(main, *arguments)
                self.assertEqual(status, 2, err)
                self.assert_one_line(err)
                self.assertIn(": ", err)
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertEqual(before, {path: path.read_bytes() for path in (ROOT / "results").iterdir()})

    def test_the_real_commands(self) -> None:
        for words in (self.CASES[0], self.CASES[12], self.CASES[18], self.CASES[-6]):
            with self.subTest(words=words):
                done = command(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assert_one_line(done.stderr)
                self.assertTrue(done.stderr.startswith(f"{words[0]}: "))

    def test_an_unwritable_folder(self) -> None:
        if not hasattr(os, "geteuid") or os.geteuid() == 0:
            with mock.patch("os.access", return_value=False):
                status, _, err = in_process("derisk", "--output", str(self.folder / "x.json"))
        else:
            self.folder.chmod(0o500)
            status, _, err = in_process("derisk", "--output", str(self.folder / "x.json"))
        self.assertEqual(status, 2)
        self.assertIn("no permission", err)


class Run(Folder):
    """`run.py` with small claims in place of its own, and its real beginning and end."""

    def run_with(self, measured: int, *arguments: str) -> tuple[int, str, str]:
        lemma = claim({"strings": ["0"]}, {"unreachable": measured}, {"unreachable": 0})
        small = {"preregistration": {"P1": {"verdict": "P1 is decided."}}, "lemma": lemma}
        with mock.patch.object(study, "all_claims", return_value=small):
            return in_process("run", *arguments)

    def test_writes_prints_and_checks(self) -> None:
        output = self.folder / "main.json"
        status, out, err = self.run_with(0, "--output", str(output))
        self.assertEqual((status, err), (0, ""))
        self.assertIn(["lemma.unreachable", "0", "0", "yes"], [line.split() for line in out.splitlines()])
        self.assertEqual(out.splitlines()[-2:], ["P1 is decided.", f"wrote {output.resolve()}"])
        text = output.read_text(encoding="utf-8")
        self.assertTrue(text.endswith("}\n"))
        self.assertEqual(json.loads(text)["lemma"]["reproduced"], True)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["main.json"])
        self.assertEqual(self.run_with(0, "--check", "--output", str(output))[0], 0)

    def test_what_is_not_reproduced_is_named(self) -> None:
        output = self.folder / "main.json"
        status, out, err = self.run_with(3, "--output", str(output))
        self.assertEqual(status, 1)
        self.assertIn("NO", out)
        self.assertEqual(err, "run.py: not reproduced: lemma.unreachable\n")
        self.assertIs(json.loads(output.read_text(encoding="utf-8"))["lemma"]["reproduced"], False)

    def test_check_sees_any_difference_and_writes_nothing(self) -> None:
        output = self.folder / "main.json"
        self.run_with(0, "--output", str(output))
        text = output.read_text(encoding="utf-8")
        output.write_text(text.replace('"0"', '"1"'), encoding="utf-8")
        status, _, err = self.run_with(0, "--check", "--output", str(output))
        self.assertEqual(status, 1)
        self.assert_one_line(err)
        self.assertIn('"1"', output.read_text(encoding="utf-8"))
        output.write_bytes(b"\xff")
        self.assertEqual(self.run_with(0, "--check", "--output", str(output))[0], 2)

    @unittest.skipUnless(hasattr(os, "openpty"), "needs a terminal")
    def test_control_c_ends_at_once_clears_progress_and_leaves_the_results(self) -> None:
        output = self.folder / "main.json"
        output.write_text("old", encoding="utf-8")
        terminal, end = os.openpty()
        self.addCleanup(os.close, terminal)
        words = [sys.executable, str(ROOT / "run.py"), "--output", str(output)]
        with on_ctrl_c():
            child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=end)
        with child:
            os.close(end)
            self.assertTrue(os.read(terminal, 1000).startswith(CLEAR.encode()))  # at work
            child.send_signal(signal.SIGINT)
            out, _ = child.communicate(timeout=60)
        self.assertEqual((child.returncode, out), (130, b""))
        said = os.read(terminal, 10000)
        self.assertTrue(said.endswith(CLEAR.encode()), said)
        self.assertEqual(output.read_text(encoding="utf-8"), "old")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["main.json"])

    def test_help(self) -> None:
        """Isolated from the environment too, where the folder of the script is not on the path."""
        own_path = ["-P"] if sys.version_info >= (3, 11) else []
        for script, flags in (("run.py", ["-I"]), ("derisk.py", ["-I"]), ("run.py", own_path)):
            safe = {**os.environ, "PYTHONSAFEPATH": "1"}
            words = [sys.executable, *flags, str(ROOT / script), "--help"]
            done = subprocess.run(words, cwd=self.folder, env=safe, capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("--output", done.stdout)

    def test_an_old_python_is_told(self) -> None:
        """The scripts themselves keep to what it can read: no annotation, no format string, no future."""
        for script in ("run.py", "derisk.py"):
            tree = ast.parse((ROOT / script).read_bytes(), feature_version=(3, 4))
            imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
            self.assertEqual(imported, {"os", "sys"})
            self.assertFalse([node for node in ast.walk(tree) if isinstance(node, (ast.JoinedStr, ast.FunctionDef))])
            old, said = mock.patch.object(sys, "version_info", (3, 8, 18)), contextlib.redirect_stderr(io.StringIO())
            with old, said as err, self.assertRaises(SystemExit) as caught:
                runpy.run_path(str(ROOT / script), run_name="__main__")
            self.assertEqual(caught.exception.code, 2)
            self.assertEqual(err.getvalue(), f"{script}: this Python is too old: run it with 3.9 or later\n")

    @unittest.skipUnless(sys.platform == "linux", "needs a limit of memory")
    def test_out_of_memory(self) -> None:
        output = self.folder / "o.json"
        output.write_text("old", encoding="utf-8")
        file = self.folder / "big.py"
        file.write_text("def f(block): return len(bytearray(1 << 34))\n", encoding="utf-8")
        words = [str(ROOT / "derisk.py"), f"--radix-eviction-policy={file}:f", "--output", str(output)]
        shell = ["/bin/sh", "-c", 'ulimit -v 4000000; exec "$@"', "sh", sys.executable, *words]
        done = subprocess.run(shell, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "derisk.py: out of memory: allow more, or give it less to do\n")
        self.assertEqual(output.read_text(encoding="utf-8"), "old")
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"o.json", "big.py"})


class Derisk(Folder):
    def test_pre_registered(self) -> None:
        outputs = []
        for seed in ("1", "2"):
            output = self.folder / f"{seed}.json"
            done = command("derisk.py", "--output", str(output), seed=seed)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("10/6 = 5/3", done.stdout)
            self.assertIn("4/3 = 4/3", done.stdout)
            self.assertIn("nothing of the gap remains", done.stdout)
            outputs.append(output.read_bytes())
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual(outputs[0], (ROOT / "results" / "derisk.json").read_bytes())

    def test_another_universe_leaves_the_results_alone(self) -> None:
        before = (ROOT / "results" / "derisk.json").read_bytes()
        status, out, _ = in_process("derisk", "--strings", "a,b,ab", "--capacity", "1", "--length", "4")
        self.assertEqual(status, 0)
        self.assertIn("no path may be longer than K", out)
        self.assertEqual(before, (ROOT / "results" / "derisk.json").read_bytes())
        status, out, _ = in_process("derisk", "--optimum", "locked", "--capacity", "3")
        self.assertEqual(status, 0)
        self.assertNotIn("bypass", out)

    def test_policies(self) -> None:
        output = self.folder / "found.json"
        status, out, err = in_process(
            "derisk", "--radix-eviction-policy", "mru", "--capacity", "3", "--output", str(output)
        )
        self.assertEqual((status, err), (0, ""))
        self.assertIn("worst ratio unbounded", out)
        found = json.loads(output.read_text(encoding="utf-8"))
        self.assertEqual(found["every_length"]["optimum_misses"], 0)
        self.assertEqual(found["up_to_length"]["ratio"], "3/2")
        status, out, _ = in_process("derisk", "--radix-eviction-policy", "lru", "--forests", "3", "--length", "4")
        self.assertEqual(status, 0)
        self.assertIn("7 tries", out)
        self.assertNotIn("every length", out)

    def test_witnesses_step_by_step(self) -> None:
        words = ("--show", "--output", str(self.folder / "x.json"))
        status, out, _ = in_process("derisk", *words)
        self.assertEqual(status, 0)
        self.assertIn("leaf-only LRU of blocks: 10 misses\nrequest  00 ", out)
        self.assertIn("optimum, bypass: 6 misses\n", out)
        self.assertIn("LRU of pages: 4 misses\n", out)
        self.assertEqual((self.folder / "x.json").read_bytes(), (ROOT / "results" / "derisk.json").read_bytes())
        status, out, _ = in_process("derisk", "--show", "--length", "4", "--radix-eviction-policy", "priority")
        self.assertIn("leaf-only priority: ", out)
        self.assertRegex(out, r"request +\d+:[01] ")

    def test_states_that_outgrow_the_limit(self) -> None:
        words = ("--radix-eviction-policy", "slru", "--capacity", "4", "--max-states", "2000", "--optimum", "locked")
        status, out, err = in_process("derisk", *words, "--strings", "0,1,00,01,10,11,2,20")
        self.assertEqual(status, 1)
        self.assert_one_line(err)
        self.assertIn("--max-states", err)
        self.assertIn("worst ratio", out)
        status, _, err = in_process("derisk", "--max-states", "20")
        self.assertEqual(status, 1)
        self.assertIn("is known", err)

    def test_a_policy_of_the_users(self) -> None:
        file = self.folder / "mine.py"
        file.write_text(
            "def good(block):\n    return block.hits\n\n"
            "def timed(block, weight=3):\n    return block.last_access + weight * block.hits\n\n"
            "def broken(block):\n    return 1 / 0\n\n"
            "def mixed(block):\n    return 'text' if block.depth > 1 else 1\n",
            encoding="utf-8",
        )
        own = in_process("derisk", "--radix-eviction-policy", f"{file}:good", "--capacity", "3")
        lfu = in_process("derisk", "--radix-eviction-policy", "lfu", "--capacity", "3")
        self.assertEqual(own[1].splitlines()[1:], lfu[1].splitlines()[1:])
        status, out, _ = in_process(
            *("derisk", "--radix-eviction-policy", f"{file}:timed", "--capacity", "3"),
            *("--radix-eviction-policy-config", '{"weight": 1}'),
        )
        self.assertEqual(status, 0)
        self.assertIn("computes with times", out)
        file.write_text(
            "def lie(block):\n    try:\n        return -10 * block.hits\n    except Exception:\n        return 0\n\n"
            "def truth(block):\n    return -10 * block.hits\n" + file.read_text(encoding="utf-8"),
            encoding="utf-8",
        )
        fewer = ("--strings", "0,1,00,10", "--capacity", "3", "--max-states", "500")
        lie, truth = (
            in_process("derisk", *fewer, f"--radix-eviction-policy={file}:{name}") for name in ("lie", "truth")
        )
        self.assertEqual(lie[1].splitlines()[1:], truth[1].splitlines()[1:])
        self.assertIn("not settled", lie[1])
        for name in ("broken", "mixed"):
            status, _, err = in_process("derisk", "--radix-eviction-policy", f"{file}:{name}", "--capacity", "3")
            self.assertEqual(status, 2)
            self.assert_one_line(err)

    def test_a_closed_pipe_is_no_error_and_the_file_is_written(self) -> None:
        """Not even where the output is not buffered, as in a container."""
        output = self.folder / "x.json"
        line = f"{sys.executable} -u {ROOT / 'derisk.py'} --output {output} | true; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["/bin/bash", "-c", line], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr), ("0\n", ""))
        self.assertEqual(output.read_bytes(), (ROOT / "results" / "derisk.json").read_bytes())


if __name__ == "__main__":
    unittest.main()
