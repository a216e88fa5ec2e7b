"""What the tests of several rooms share: the study's trie, the committed results, random inputs, plain enumerators."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import signal
import sys
import tempfile
import unittest
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from src.page.guard import guarded
from src.policies.cache import Cache
from src.policies.scores import make_policy
from src.radixcache import LeafOnlyBelady, Optimum, Recency, Rule, Run, Step, String, Trie, lru_access, serve_lru
from src.traces.reading import Trace
from src.traces.replay import Counts
from src.walks.belady import belady
from src.walks.cycles import Edge, Graph

REPOSITORY = Path(__file__).resolve().parent.parent
BINARY = ("0", "1", "00", "01", "10", "11")  # the number of a block is the index of its string
STUDY = Trie(BINARY)
Walk = list[Edge]
ROUNDS = 4
searching = cache(LeafOnlyBelady)
accessed = cache(lru_access)


def committed() -> dict[str, Any]:
    """Return the committed results."""
    results: dict[str, Any] = json.loads((REPOSITORY / "results" / "main.json").read_text(encoding="utf-8"))
    return results


def claimed(name: str) -> dict[str, Any]:
    """Return a claim of the committed results."""
    found: dict[str, Any] = committed()[name]
    return found


class WorkingDirectory(unittest.TestCase):
    """Tests in an empty working directory of their own."""

    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(holder.name)


class Terminal(io.StringIO):
    """What is shown on a terminal."""

    def isatty(self) -> bool:
        return True


def in_process(
    name: str, *arguments: str, stdin: bytes = b"", terminal: bool = False, module: str | None = None
) -> tuple[int, str, str]:
    """Run `name`.py, or a module under that name, in this process; return status, stdout and stderr."""
    out, err = io.StringIO(), Terminal() if terminal else io.StringIO()
    argv = mock.patch.object(sys, "argv", [f"/some/where/{name}.py", *arguments])
    typed = mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), argv, typed:
        status = guarded(module or f"src.commands.{name}")
    return status, out.getvalue(), err.getvalue()


@contextlib.contextmanager
def on_ctrl_c(handler: Any = signal.default_int_handler) -> Iterator[None]:
    """For as long as the context lasts, start processes that hear Ctrl-C, although this one may have to ignore it."""
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def policy_file(text: str) -> Iterator[str]:
    """Write a file `policy.py` into a directory of its own, for as long as the context lasts, and return its name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "policy.py")
        path.write_text(text, encoding="utf-8")
        yield str(path)


def random_universe(rng: random.Random, most: int, longest: int, symbols: str = "ab") -> list[str]:
    """Return 1 to `most` random strings (some perhaps twice) of 1 to `longest` symbols."""
    return [
        "".join(rng.choice(symbols) for _ in range(rng.randint(1, longest))) for _ in range(rng.randint(1, most))
    ]


def random_sequence(rng: random.Random, trie: Trie, longest: int) -> tuple[str, ...]:
    """Return 1 to `longest` random requests."""
    return tuple(rng.choice(trie.strings) for _ in range(rng.randint(1, longest)))


def blocks(*numbers: int) -> int:
    """Return a set of blocks, without the help of the module under test."""
    return sum(2**number for number in set(numbers))


def random_paths(seed: int, requests: int = 120) -> list[list[int]]:
    """Return paths of a random trie, some of them requested again."""
    chance = random.Random(seed)
    paths: list[list[int]] = []
    for _ in range(requests):
        old = chance.choice(paths) if paths and chance.random() < 0.7 else []
        paths.append(old[: chance.randint(0, 6)] + [chance.randrange(40) for _ in range(chance.randint(0, 3))])
    return paths


def infinite(trace: Trace) -> Counts:
    """Return what a cache without a capacity counts: every block is missed once, when it is first requested."""
    blocks = sum(map(len, trace.requests))
    return Counts(len(trace.requests), blocks, blocks - len(trace.parent))


def graph(states: int, *edges: tuple[int, int, int, int]) -> Graph:
    """Return a graph with edges (source, target, misses, optimum_misses)."""
    numbered = (Edge(*edge, at) for at, edge in enumerate(edges))
    return Graph(states, tuple(numbered), tuple(range(len(edges))), True)


def outgoing(one: Graph) -> list[Walk]:
    """Return each state's edges."""
    return [[edge for edge in one.edges if edge.source == state] for state in range(one.states)]


def distances(one: Graph) -> list[int]:
    """Return how many edges lead from the start to each state."""
    reached = [0] + [one.states] * (one.states - 1)
    for _ in range(one.states):
        for edge in one.edges:
            reached[edge.target] = min(reached[edge.target], reached[edge.source] + 1)
    return reached


def simple_cycles(one: Graph) -> Iterator[Walk]:
    """Yield every cycle that visits no state twice, each once, from its smallest state on."""
    out = outgoing(one)

    def extend(path: Walk, visited: set[int], start: int) -> Iterator[Walk]:
        for edge in out[path[-1].target if path else start]:
            if edge.target == start:
                yield [*path, edge]
            elif edge.target > start and edge.target not in visited:
                yield from extend([*path, edge], visited | {edge.target}, start)

    for start in range(one.states):
        yield from extend([], {start}, start)


def shared_lru(
    trie: Trie, capacity: int, sequence: Sequence[String], rule: Rule,
    recency: Recency = Recency.PATH, locked: bool = False,
) -> Run:
    """Serve a sequence as `serve_lru` does; sequences with a common beginning share its service."""
    state = (0,) * len(trie)
    steps: list[Step] = []
    for string in sequence:
        state, step = accessed(trie, capacity, state, string, rule, recency, locked)
        steps.append(step)
    return Run(tuple(steps))


def policy_misses(name: str, trie: Trie, capacity: int, requests: Sequence[tuple[Any, int]]) -> list[int]:
    """Return each request's misses by the plain cache; of LRU by the model, held equal to that."""
    plain = Cache(trie, capacity, make_policy(name))
    misses = [plain.access(string, priority).misses for string, priority in requests]
    if name == "lru":
        run = serve_lru(trie, capacity, [string for string, _ in requests], Rule.LEAF_ONLY)
        assert misses == [step.misses for step in run.steps]
    return misses


def least_misses(trie: Trie, capacity: int, optimum: Optimum, strings: Sequence[Any]) -> int:
    """Return the least misses by the furthest-next-use rule, held equal to the plain search where that is short."""
    least = belady(trie, capacity, strings, optimum).misses
    assert len(strings) > 13 or least == searching(trie, capacity, optimum).misses(tuple(strings))
    return least


def round_costs(
    name: str, trie: Trie, capacity: int, optimum: Optimum, prefix: Sequence[Any], cycle: Sequence[Any]
) -> list[tuple[int, int]]:
    """Return what each round of the cycle after the prefix costs the policy and the optimum."""
    requests = [*prefix, *cycle * ROUNDS]
    misses = policy_misses(name, trie, capacity, requests)
    strings = [string for string, _ in requests]
    ends = [len(prefix) + len(cycle) * times for times in range(ROUNDS + 1)]
    totals = [(sum(misses[:end]), least_misses(trie, capacity, optimum, strings[:end])) for end in ends]
    return [(one - before, best - least) for (before, least), (one, best) in zip(totals, totals[1:])]
