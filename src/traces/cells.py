"""Replays in several processes: a cell is one policy at one capacity, and cells do not depend on each other.

The processes are forked, so they share the workload and need not be told the policies' functions.  Where a system
cannot fork, or for one job, the cells run one after the other in this process.  Results are in the order of the cells,
and of several that fail the first one in that order is told, whichever came first.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from src.page.commandline import Progress
from src.policies.facts import Score
from src.traces.workload import Workload, count

if TYPE_CHECKING:  # else where processes are started: to load it takes as long as to read 500 requests
    from multiprocessing.connection import Connection

REPORTS = 200  # of a cell's progress, at most
SMALL = 500_000  # blocks to serve in all cells, below which processes take longer to start than they save


class Cell(NamedTuple):
    """A policy by name and by function, at a capacity in blocks."""

    name: str
    score: Score
    capacity: int


def run_cells(workload: Workload, cells: Sequence[Cell], jobs: int = 1) -> list[int]:
    """Return the hits of each cell, in the order given.

    Raises the ValueError of the first cell that fails.  Whatever ends the wait, Ctrl-C too, ends all processes.
    Cost: that of a replay for each cell, divided among `jobs` processes.
    """
    progress = _Progress(cells, len(workload.countable))
    small = workload.blocks * len(cells) < SMALL
    if small or min(jobs, len(cells)) <= 1 or not hasattr(os, "fork"):
        return [_hits(workload, cell, progress.of(at)) for at, cell in enumerate(cells)]
    return _Pool(workload, cells, progress).run(jobs)


def _hits(workload: Workload, cell: Cell, report: Callable[[int, int], None]) -> int:
    return count(workload, cell.capacity, cell.score, report).hits


class _Progress:
    """The events served in all cells together."""

    def __init__(self, cells: Sequence[Cell], events: int) -> None:
        self.cells, self.events = cells, events
        self.done = [0] * len(cells)
        self.shown = Progress()

    def of(self, at: int) -> Callable[[int, int], None]:
        """Return what a cell calls with the events that it has served."""

        def report(done: int, _: int) -> None:
            """Take down the events of this cell."""
            self.put(at, done)

        return report

    def put(self, at: int, done: int) -> None:
        """Take down how many events a cell has served, and show the sum."""
        self.done[at] = done
        cell = self.cells[at]
        total = len(self.cells) * self.events
        self.shown.count(sum(self.done), total, f"{cell.name} at {cell.capacity:,}, requests")


class _Pool:
    """Processes that take the next cell whenever they have done one."""

    def __init__(self, workload: Workload, cells: Sequence[Cell], progress: _Progress) -> None:
        self.workload, self.cells, self.progress = workload, cells, progress
        self.results: dict[int, int] = {}
        self.failed: dict[int, Exception] = {}
        self.waiting = list(range(len(cells) - 1, -1, -1))

    def run(self, jobs: int) -> list[int]:
        """Return the result of each cell.  Raises as `run_cells` does."""
        processes: list[Any] = []
        connections: list[Connection] = []
        try:
            for _ in range(min(jobs, len(self.cells))):
                process, connection = self._start(connections)
                processes.append(process)
                connections.append(connection)
                connection.send(self.waiting.pop())
            self._wait(connections)
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.join()
        if self.failed:
            raise self.failed[min(self.failed)]
        return [self.results[at] for at in range(len(self.cells))]

    def _start(self, others: Sequence[Connection]) -> tuple[Any, Connection]:
        """Return a new process and the connection to it.  Ctrl-C waits meanwhile, so that no process is lost."""
        import multiprocessing

        context = multiprocessing.get_context("fork")
        mine, its = context.Pipe()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            arguments = (self.workload, self.cells, its, [*others, mine])
            process = context.Process(target=_work, args=arguments, daemon=True)
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        its.close()
        return process, mine

    def _wait(self, connections: Sequence[Connection]) -> None:
        """Hand out cells until all are done, or one has failed and all that came before it are done."""
        from multiprocessing.connection import Connection, wait

        busy = list(connections)
        while busy:
            for ready in (one for one in wait(busy) if isinstance(one, Connection)):
                try:
                    at, done, result = ready.recv()
                except EOFError:
                    raise ValueError("a process of the replay ended early: use --jobs 1, or more memory") from None
                self.progress.put(at, done)
                if result is None:
                    continue
                if isinstance(result, Exception):
                    self.failed[at] = result
                    self.waiting.clear()
                else:
                    self.results[at] = result
                if self.waiting:
                    ready.send(self.waiting.pop())
                else:
                    busy.remove(ready)


def _work(workload: Workload, cells: Sequence[Cell], connection: Connection, others: Sequence[Connection]) -> None:
    """Serve cells as they are asked for, until the asking process is gone: a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks hears Ctrl-C, and ends this one
    for other in others:  # the ends of the asking process: while any is open here, its end would not be heard
        other.close()
    every = max(len(workload.countable) // REPORTS, 1)
    try:
        while True:
            at = connection.recv()

            def report(done: int, _: int, at: int = at) -> None:
                """Tell the asking process now and then how many events were served."""
                if not done % every:
                    connection.send((at, done, None))

            try:
                result: Any = _hits(workload, cells[at], report)
            except ValueError as error:
                result = ValueError(str(error))
            connection.send((at, len(workload.countable), result))
    except (EOFError, OSError):
        pass
    finally:
        os._exit(0)  # what the asking process had not yet written is not ours to write
