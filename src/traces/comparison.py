"""Policies and both optima compared on a workload, at some capacities."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from src.page.commandline import Progress
from src.policies.facts import Score
from src.policies.scores import lru
from src.radixcache import Optimum
from src.traces.cells import Cell, run_cells
from src.traces.lru_curve import Curve, lru_curve
from src.traces.optimum import OptimumCurve, TraceOptimum
from src.traces.workload import Workload
from src.width import WidthCurve, width_curve

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


class Totals(NamedTuple):
    """What is counted at all: requests, their blocks and tokens, and the hits of a cache without a capacity.

    `block_tokens` are the tokens of a block; it and `tokens` are 0 where not all are known.  `distinct` are the blocks
    of the whole trace, and `in_flight` the requests before each one whose paths are locked (see `workload_of`).
    """

    requests: int
    blocks: int
    tokens: int
    block_tokens: int
    distinct: int
    infinite: int
    in_flight: int

    @property
    def bound(self) -> Optimum:
        """The optimum that the policies are measured against: the smaller one that bounds them."""
        return Optimum.BYPASS if self.in_flight else Optimum.LOCKED

    @property
    def some_outside(self) -> bool:
        """Whether some tokens lie in no block, so that the rates of tokens and of blocks differ."""
        return self.tokens > self.blocks * self.block_tokens

    def rate(self, hits: int) -> Fraction:
        """Return some hits as a share of the blocks, 0 where there is no block."""
        return Fraction(hits, max(self.blocks, 1))

    def token_rate(self, hits: int) -> Fraction:
        """Return the tokens of some hits as a share of all tokens, 0 where these are not known."""
        return Fraction(hits * self.block_tokens, max(self.tokens, 1))


class AtCapacity(NamedTuple):
    """What was found at one capacity.

    `hits` are those of each policy; `lru` those of LRU, whether or not it was chosen, and `doubled` of LRU at twice the
    capacity; `optimum` those of both optima; `matching` is the smallest capacity at which the optimum that bounds the
    policies hits as many blocks as LRU here.  `width` is at least and at most that of the trie at one block more; it is
    None where all blocks fit, and where more than the path in service is locked: there it bounds no policy.
    """

    capacity: int
    hits: dict[str, int]
    lru: int
    doubled: int
    optimum: dict[Optimum, int]
    matching: int
    width: tuple[int, int] | None

    def best(self) -> tuple[list[str], int]:
        """Return the chosen policies with the most hits, and these hits."""
        most = max(self.hits.values())
        return [name for name, hits in self.hits.items() if hits == most], most


class Target(NamedTuple):
    """A share of the blocks to hit, and the smallest capacities that do: LRU's, by the curve, and the optima's.

    They are None where no capacity reaches it.
    """

    share: Fraction
    lru: int | None
    optimum: dict[Optimum, int | None]


class Comparison(NamedTuple):
    """The rows of some capacities in increasing order, and what they were computed from."""

    totals: Totals
    policies: Sequence[str]
    rows: Sequence[AtCapacity]
    targets: Sequence[Target]


class Curves(NamedTuple):
    """At every capacity the hits of LRU with nothing in flight and of both optima, and the width of the trie."""

    lru: Curve
    optima: dict[Optimum, OptimumCurve]
    width: WidthCurve


def curves_of(workload: Workload) -> Curves:
    """Return the curves of a workload.  Cost: that of `lru_curve` and of `TraceOptimum`."""
    belady = TraceOptimum(workload.events, workload.countable)
    return Curves(
        lru_curve(workload.events, workload.countable),
        {optimum: OptimumCurve(belady, optimum) for optimum in Optimum},
        width_curve(workload.events.parent),
    )


def totals_of(workload: Workload, curves: Curves) -> Totals:
    """Return what is counted at all."""
    events = workload.events
    return Totals(
        workload.requests,
        workload.blocks,
        workload.tokens,
        events.block_tokens if workload.tokens else 0,
        len(events.parent),
        curves.lru.totals[-1] if curves.lru.totals else 0,
        workload.in_flight,
    )


def compare(
    workload: Workload,
    curves: Curves,
    policies: dict[str, Score],
    capacities: Sequence[int],
    targets: Sequence[Fraction] = (),
    jobs: int = 1,
) -> Comparison:
    """Return what the policies and both optima hit at each capacity, and where they reach the targets.

    Raises ValueError as `count` does.  Cost: that of a replay for each policy but `lru` at each capacity, in `jobs`
    processes, of two optima for each capacity, and of a search for it: some ten optima more.
    """
    totals = totals_of(workload, curves)
    lru_hits = _lru_hits(workload, curves, capacities, jobs)
    replayed = {name: score for name, score in policies.items() if score is not lru}
    cells = [Cell(name, score, blocks) for blocks in capacities for name, score in replayed.items()]
    found = dict(zip(cells, run_cells(workload, cells, jobs)))
    rows: list[AtCapacity] = []
    progress = Progress()
    for blocks in capacities:
        hits = {
            name: lru_hits[blocks] if score is lru else found[Cell(name, score, blocks)]
            for name, score in policies.items()
        }
        both = {optimum: curves.optima[optimum].hits(blocks) for optimum in Optimum}
        matching = curves.optima[totals.bound].smallest_capacity(lru_hits[blocks])
        bounded = blocks < totals.distinct and not totals.in_flight
        width = curves.width.between(blocks + 1) if bounded else None
        rows.append(AtCapacity(blocks, hits, lru_hits[blocks], lru_hits[2 * blocks], both, matching, width))
        progress.count(len(rows), len(capacities), "optimum, capacities")
    reached = [_target(share, totals, curves) for share in targets]
    return Comparison(totals, list(policies), rows, reached)


def _lru_hits(workload: Workload, curves: Curves, capacities: Sequence[int], jobs: int) -> dict[int, int]:
    """Return LRU's hits at some capacities and twice each: from the curve, or with locks in flight from replays."""
    wanted = sorted({multiple * blocks for blocks in capacities for multiple in (1, 2)})
    if not workload.in_flight:
        return {blocks: curves.lru.hits(blocks) for blocks in wanted}
    return dict(zip(wanted, run_cells(workload, [Cell("lru", lru, blocks) for blocks in wanted], jobs)))


def _target(share: Fraction, totals: Totals, curves: Curves) -> Target:
    """Return where a share of the blocks is reached."""
    hits = -(-share.numerator * totals.blocks // share.denominator)
    if hits > totals.infinite:
        return Target(share, None, dict.fromkeys(Optimum))
    return Target(
        share,
        curves.lru.smallest_capacity(hits),
        {optimum: curve.smallest_capacity(hits) for optimum, curve in curves.optima.items()},
    )
