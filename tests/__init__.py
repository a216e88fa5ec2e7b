"""The tests, in the rooms of what they test.  `python3 -m unittest` runs the modules in as many processes as it may.

Each process takes the next module until none is left.  With -v or -f, or where a system cannot fork, all run in one.
"""

from __future__ import annotations

import os
import pickle
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Union

from src.page.processors import processors

Part = Union[unittest.TestCase, unittest.TestSuite]
KINDS = ("failures", "errors", "skipped", "expectedFailures")


class Told:
    """A test that ran in another process, by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name

    id = __str__

    def shortDescription(self) -> None:  # noqa: N802 - unittest's name
        """Return none: the name has it."""


class Shared(unittest.TestSuite):
    """A suite whose parts run in several processes."""

    def __init__(self, parts: Sequence[Part], processes: int) -> None:
        super().__init__(parts)
        self.processes = processes

    def run(self, result: unittest.TestResult, debug: bool = False) -> unittest.TestResult:
        """Run all parts and put what became of them into the result."""
        if self.processes < 2 or debug or result.failfast or getattr(result, "showAll", False):
            return super().run(result, debug)
        parts = list(self)
        following, put = os.pipe()
        os.write(put, b"".join(at.to_bytes(2, "big") for at in range(len(parts))))
        os.close(put)
        others = [self._start(parts, following) for _ in range(self.processes - 1)]
        _run_next(parts, following, result)
        for process, its in others:
            with open(its, "rb") as pipe:
                found = pipe.read()
            os.waitpid(process, 0)
            _add(result, found)
        os.close(following)
        return result

    def _start(self, parts: Sequence[Part], following: int) -> tuple[int, int]:
        """Return a process that takes parts too, and where it will tell what it found."""
        its, mine = os.pipe()
        process = os.fork()
        if process:
            os.close(mine)
            return process, its
        try:
            result = unittest.TestResult()
            _run_next(parts, following, result)
            told = {kind: [(str(test), text) for test, text in getattr(result, kind)] for kind in KINDS}
            with open(mine, "wb") as pipe:
                pickle.dump((result.testsRun, told, [str(test) for test in result.unexpectedSuccesses]), pipe)
        finally:
            os._exit(0)


def _run_next(parts: Sequence[Part], following: int, result: unittest.TestResult) -> None:
    while number := os.read(following, 2):
        parts[int.from_bytes(number, "big")].run(result)


def _add(result: unittest.TestResult, found: bytes) -> None:
    """Add what another process found."""
    if not found:
        result.errors.append((Told("a process of the tests"), "ended early: use -v, which runs all in one\n"))  # type: ignore[arg-type]
        return
    ran, told, unexpected = pickle.loads(found)
    result.testsRun += ran
    for kind in KINDS:
        getattr(result, kind).extend((Told(name), text) for name, text in told[kind])
    result.unexpectedSuccesses.extend(map(Told, unexpected))  # type: ignore[arg-type]


def load_tests(loader: unittest.TestLoader, _: unittest.TestSuite, pattern: str | None) -> unittest.TestSuite:
    """Return the tests of all modules of this package."""
    here = Path(__file__).parent
    files = sorted(here.rglob("test_*.py"))
    modules = [".".join(file.relative_to(here.parent).with_suffix("").parts) for file in files]
    return Shared(list(map(loader.loadTestsFromName, modules)), processors() if hasattr(os, "fork") else 1)
