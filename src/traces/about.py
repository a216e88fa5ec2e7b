"""What a trace holds and what is odd about it, told before any result."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from src.traces.comparison import Totals
from src.traces.reading import Trace
from src.traces.words import counted, percent
from src.traces.workload import LOGGED


class About(NamedTuple):
    """Facts of a whole trace: see `Trace` for most of them.

    `empty_requests` fill no block and `outside_tokens` lie in none; `tokens` are those of all prompts, 0 if not all are
    known.  `growing` is the number of requests whose path grows by their output, if outputs are followed, and `warm_up`
    of those that are not counted.  Servers found `reported_cached` of `reported_tokens` in their own caches.
    """

    requests: int
    blocks: int
    distinct_blocks: int
    shared_ids: int
    backward_timestamps: int
    bad_lines: int
    first_bad_line: str
    other_lines: int
    namespaces: int
    partial_blocks: int
    block_tokens: int
    tokens: int
    outside_tokens: int
    empty_requests: int
    growing: int
    warm_up: int
    reported_cached: int
    reported_tokens: int


def about(trace: Trace, warm_up: int = 0, outputs: bool = True) -> About:
    """Return the facts of a trace.  Cost: O(requests)."""
    blocks = sum(map(len, trace.requests))
    tokens = sum(trace.tokens) if trace.tokens is not None and trace.block_tokens else 0
    cached, told = trace.reported or (0, 0)
    growing = sum(len(after) > len(before) for before, after in zip(trace.requests, trace.served)) if outputs else 0
    return About(
        len(trace.requests),
        blocks,
        len(trace.parent),
        trace.shared_ids,
        trace.backward_timestamps,
        trace.bad_lines,
        trace.first_bad_line,
        trace.other_lines,
        trace.namespaces,
        trace.partial_blocks,
        trace.block_tokens,
        tokens,
        max(tokens - blocks * trace.block_tokens, 0),
        sum(not path for path in trace.requests),
        growing,
        warm_up,
        cached,
        told,
    )


def head(told: About, totals: Totals) -> Iterator[str]:
    """Yield what the trace holds, what is odd about it, and how much an infinite cache hits, a line each."""
    requests, blocks = counted(told.requests, "request"), counted(told.blocks, "block")
    yield f"{requests}, {blocks}, {told.distinct_blocks:,} of them distinct"
    yield from _blocks(told)
    if told.namespaces > 1:
        yield f"{counted(told.namespaces, 'namespace')}, which share no block"
    if told.shared_ids:
        yield f"{counted(told.shared_ids, 'id')} under two parents or more: one block for each parent"
    if told.backward_timestamps:
        yield f"{counted(told.backward_timestamps, 'request')} with an earlier timestamp than the one before"
    if told.other_lines:
        yield f"{counted(told.other_lines, 'line')} of logs passed by: they complete no request"
    if told.bad_lines:
        yield f"{counted(told.bad_lines, 'bad line')} skipped, the first: {told.first_bad_line}"
    if told.warm_up:
        yield f"warm-up: {counted(told.warm_up, 'request')} not counted, which leaves {counted(totals.blocks, 'block')}"
    if told.growing:
        yield f"outputs: {counted(told.growing, 'path')} longer when the request has finished"
    tokens = f", {percent(totals.token_rate(totals.infinite))} of the tokens" if totals.some_outside else ""
    yield f"infinite cache: {counted(totals.infinite, 'hit')}, {percent(totals.rate(totals.infinite))}{tokens}"
    if told.reported_tokens:
        own = percent(Fraction(told.reported_cached, told.reported_tokens))
        yield (
            f"the server's own cache: {told.reported_cached:,} of {told.reported_tokens:,} tokens, {own}: where a"
            " replay at its capacity differs, it misses something"
        )
    if totals.in_flight == LOGGED:
        yield "in flight: each request from its arrival to its finish, its path locked"
    elif totals.in_flight:
        yield f"in flight: {counted(totals.in_flight, 'request')} before each request, their paths locked"


def _blocks(told: About) -> Iterator[str]:
    """Yield what is known of the size of blocks, and what lies outside of them."""
    if told.partial_blocks:
        yield (
            f"{counted(told.block_tokens, 'token')} a block: {counted(told.partial_blocks, 'last id')} dropped, as no"
            " engine caches a block that is not full (--partial-blocks keep)"
        )
    of = f"{told.empty_requests:,} of {counted(told.requests, 'request')}"
    empty = f"{of} {'fills' if told.empty_requests == 1 else 'fill'} no block"
    outside = f"{told.outside_tokens:,} of {counted(told.tokens, 'token')} lie outside"
    if told.outside_tokens:
        yield f"{empty}; {outside}"
    elif told.empty_requests:
        yield empty
