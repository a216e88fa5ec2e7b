"""Policies and both optima compared on a trace, at some capacities."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

from src.page.commandline import Progress
from src.policies.facts import Score
from src.policies.scores import lru
from src.radixcache import Optimum
from src.traces.lru_curve import Curve, lru_curve
from src.traces.optimum import OptimumCurve, TraceOptimum
from src.traces.reading import Trace
from src.traces.replay import Counts, infinite, replay

ROWS = 8  # of the table, where no capacity is given
COARSE = (10, 20, 50)
FINE = (10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82)  # E12: twelve even steps a decade on a log axis


def ladder(footprint: int) -> list[int]:
    """Return the capacities to look at: the last few of 1, 2, 5, 10, 20, 50, ... up to the distinct blocks."""
    return preferred(COARSE, 1, footprint)[-ROWS:]


def preferred(digits: Sequence[int], low: int, high: int) -> list[int]:
    """Return the numbers from `low` to `high` that start with one of some pairs of digits; below 10 with its first."""
    numbers = {pair * 10**power // 10 for power in range(len(str(high))) for pair in digits}
    return sorted(number for number in numbers if low <= number <= high)


class AtCapacity(NamedTuple):
    """What was found at one capacity.

    `hits` are those of each policy, and of `lru` whether or not it was chosen; `optimum` those of both optima;
    `matching` is the smallest capacity at which the optimum that bounds the policies hits as many blocks as `lru` here.
    """

    capacity: int
    hits: dict[str, int]
    optimum: dict[Optimum, int]
    matching: int


class Comparison(NamedTuple):
    """The rows of some capacities in increasing order, and what they were computed from."""

    trace: Trace
    policies: Sequence[str]
    in_flight: int
    rows: Sequence[AtCapacity]
    infinite: Counts
    curve: Curve
    optima: dict[Optimum, OptimumCurve]

    @property
    def blocks(self) -> int:
        """The blocks requested, which a hit rate is a share of."""
        return self.infinite.blocks

    @property
    def bound(self) -> Optimum:
        """The optimum that the policies are measured against: the smaller one that bounds them."""
        return Optimum.BYPASS if self.in_flight else Optimum.LOCKED

    def best(self, row: AtCapacity) -> tuple[list[str], int]:
        """Return the chosen policies with the most hits, and these hits."""
        most = max(row.hits[name] for name in self.policies)
        return [name for name in self.policies if row.hits[name] == most], most


def compare(trace: Trace, policies: dict[str, Score], capacities: Sequence[int], in_flight: int = 0) -> Comparison:
    """Return what the policies and both optima hit at each capacity.  Raises ValueError as `replay` does."""
    curve = lru_curve(trace)
    hits = policy_hits(trace, {**policies, "lru": lru}, capacities, in_flight, curve)
    belady = TraceOptimum(trace)
    optima = {optimum: OptimumCurve(belady, optimum) for optimum in Optimum}
    rows: list[AtCapacity] = []
    found = Comparison(trace, list(policies), in_flight, rows, infinite(trace), curve, optima)
    progress = Progress()
    for blocks, each in zip(capacities, hits):
        both = {optimum: optima[optimum].hits(blocks) for optimum in Optimum}
        rows.append(AtCapacity(blocks, each, both, optima[found.bound].smallest_capacity(each["lru"])))
        progress.count(len(rows), len(capacities), "optimum, capacities")
    return found


def policy_hits(
    trace: Trace, scores: dict[str, Score], capacities: Sequence[int], in_flight: int, curve: Curve
) -> list[dict[str, int]]:
    """Return the hits of each policy by name, for each capacity.  Without requests in flight LRU's are on the curve."""
    progress = Progress()
    requests = len(trace.requests)
    replayed = {name: score for name, score in scores.items() if in_flight or score is not lru}
    runs = [(blocks, name) for blocks in capacities for name in replayed]
    hits = {blocks: {"lru": curve.hits(blocks)} for blocks in capacities}

    def count(run: int, done: int, _: int) -> None:
        blocks, name = runs[run]
        progress.count(run * requests + done, len(runs) * requests, f"{name} at {blocks:,}, requests")

    for run, (blocks, name) in enumerate(runs):
        done = replay(trace, blocks, replayed[name], in_flight, functools.partial(count, run))
        hits[blocks][name] = done.hits
    return [hits[blocks] for blocks in capacities]
