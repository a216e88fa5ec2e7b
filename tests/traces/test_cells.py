"""Cells in processes: the results of one, the first fault, and an end that leaves no process behind."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from src.policies.facts import Facts
from src.policies.scores import REGISTRY, lru, make_policy
from src.traces import cells
from src.traces.cells import Cell, run_cells
from src.traces.reading import trace_of
from src.traces.workload import count, workload_of
from tests.helpers import REPOSITORY, random_paths

WORK = workload_of(trace_of(random_paths(21, 70)))


def failing(block: Facts) -> int:
    raise ArithmeticError(f"depth {block.depth}")


class Cells(unittest.TestCase):
    def setUp(self) -> None:
        patch = mock.patch.object(cells, "SMALL", 0)
        patch.start()
        self.addCleanup(patch.stop)

    def test_the_same_results_in_the_same_order(self) -> None:
        wanted = [Cell(name, make_policy(name), capacity) for name in REGISTRY for capacity in (2, 30)]
        plain = [count(WORK, cell.capacity, cell.score).hits for cell in wanted]
        for jobs in (1, 3, 99):
            self.assertEqual(run_cells(WORK, wanted, jobs), plain)
        self.assertEqual(run_cells(WORK, [], 4), [])

    def test_processes_are_used_and_end(self) -> None:
        seen = []
        original = cells._Pool._start

        def start(pool: cells._Pool, others: list[object]) -> object:
            seen.append(original(pool, others))  # type: ignore[arg-type]
            return seen[-1]

        with mock.patch.object(cells._Pool, "_start", start):
            run_cells(WORK, [Cell("lru", lru, capacity) for capacity in range(1, 8)], 3)
        self.assertEqual([process.is_alive() for process, _ in seen], [False] * 3)  # type: ignore[misc]
        alone = mock.patch.object(cells._Pool, "run", side_effect=AssertionError)
        with mock.patch.object(cells, "SMALL", 10**9), alone:
            run_cells(WORK, [Cell("lru", lru, 1), Cell("lru", lru, 2)], 3)

    def test_the_first_fault_in_the_order_of_the_cells(self) -> None:
        wanted = [Cell("lru", lru, 3), Cell("late", failing, 50), Cell("early", failing, 1), Cell("lru", lru, 4)]
        messages = []
        for jobs in (1, 2, 4):
            with self.assertRaises(ValueError) as caught:
                run_cells(WORK, wanted, jobs)
            messages.append(str(caught.exception))
        self.assertEqual(len(set(messages)), 1)
        self.assertIn("failing fails on Facts", messages[0])

    def test_a_process_that_dies_is_told(self) -> None:
        def dying(block: Facts) -> int:
            os._exit(3)

        with self.assertRaisesRegex(ValueError, "a process of the replay ended early: use --jobs 1, or more memory"):
            run_cells(WORK, [Cell("dying", dying, 1), Cell("lru", lru, 2)], 2)

    def test_progress_is_that_of_all_cells(self) -> None:
        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        now = iter(range(10**9))
        clock = mock.patch("src.page.commandline.time.monotonic", lambda: next(now))
        with mock.patch.object(sys, "stderr", Terminal()) as shown, clock:
            run_cells(WORK, [Cell("mru", make_policy("mru"), capacity) for capacity in (1, 2, 3)], 2)
        events = len(WORK.countable)
        self.assertIn(f"requests: {3 * events:,} of {3 * events:,}, ", shown.getvalue())


@unittest.skipUnless(hasattr(os, "fork"), "needs processes that fork")
class CtrlC(unittest.TestCase):
    POLICY = (
        "import pathlib, os, time\n"
        "def slow(block):\n"
        "    pathlib.Path(f'in {os.getpid()}').touch()\n"
        "    time.sleep(60)\n"
    )

    def test_all_processes_end(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "own.py").write_text(self.POLICY)
            line = '{"hash_ids": [%s]}\n'
            content = "".join(line % ", ".join(map(str, range(at, at + 30_000))) for at in range(5))
            Path(folder, "t.jsonl").write_text(content)
            child = subprocess.Popen(
                [sys.executable, str(REPOSITORY / "run.py"), "replay", "t.jsonl",
                 "--radix-eviction-policy", "own.py:slow", "--jobs", "3", "--json", "o.json",
                 *(f"--capacity={blocks}" for blocks in (5, 6, 7, 8))],
                cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            )  # fmt: skip
            while len(list(Path(folder).glob("in *"))) < 3:
                self.assertIsNone(child.poll())
                time.sleep(0.02)
            child.send_signal(signal.SIGINT)  # to the first process alone
            out, err = child.communicate(timeout=30)
            self.assertEqual((child.returncode, out, err), (130, b"", b""))
            for marker in Path(folder).glob("in *"):
                with self.assertRaises(ProcessLookupError):
                    os.kill(int(marker.name.split()[1]), 0)
            self.assertFalse(Path(folder, "o.json").exists())


if __name__ == "__main__":
    unittest.main()
