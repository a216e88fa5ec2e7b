"""What is replayed of a trace, and what of it is counted.

A trace's requests become *events*.  Where outputs or times are known, each request has a *finishing*: its path once
more, longer by the blocks of the output, which the cache then holds.  A finishing is no request: it fills the cache,
stamps its path as its locks go (as SGLang and vLLM both do), and nothing of it is counted, not even as a hit that a
policy may know of.  The requests of a warm-up are not counted either.

A hit of the last block counts for nothing where an engine computes that block again.  SGLang and vLLM let a match end
one token before the end of the prompt, since its last token must be computed to give the first of the output.  So of a
prompt that fills its blocks the last block is never a hit.

All this is told by one number for each event: how many blocks of its path, from the first on, can be hits.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Callable, NamedTuple

from src.policies.cache import Served
from src.policies.facts import Score
from src.policies.scores import lru
from src.traces.in_flight import REQUEST, serve_overlapping
from src.traces.reading import Trace
from src.traces.replay import Counts, serve

LOGGED = -1  # in place of a number of requests in flight: each is in flight from its arrival to its finish


class Workload(NamedTuple):
    """The events of a trace, as a trace of their own, and what is counted of them.

    `countable` are the blocks of each event that can be hits.  `arrivals` tells of each finishing the event in which
    its request arrived, and of each request `REQUEST`; it is empty if there is no finishing.  `in_flight` is as it was
    given.  `requests`, `blocks` and `tokens` are those of the counted requests, the tokens 0 where they are not known
    or some blocks are not full.
    """

    events: Trace
    countable: Sequence[int]
    arrivals: Sequence[int]
    in_flight: int
    requests: int
    blocks: int
    tokens: int


def workload_of(
    trace: Trace, in_flight: int = 0, warm_up: int = 0, recompute_last: bool = False, outputs: bool = True
) -> Workload:
    """Return a trace's events and what is counted of them.

    The paths of `in_flight` requests before each one are locked too, or of those that were in flight by the log's times
    (`LOGGED`); then these are the order of the requests, whatever that of the files.  The first `warm_up` requests are
    not counted, outputs are followed where they are known, and with `recompute_last` a hit of the last block does not
    count where the prompt fills it; where the tokens of the prompts are not known, every prompt is taken to do so.
    Raises ValueError for a negative number in flight that is not `LOGGED`, for `LOGGED` without times, and for a
    warm-up that leaves no request.  Cost: O(requests · log requests).
    """
    every = len(trace.requests)
    if not 0 <= warm_up < every:
        raise ValueError(f"a warm-up of {warm_up} requests leaves none of {every} to count: give a smaller one")
    if in_flight < LOGGED:
        raise ValueError(f"{in_flight} requests cannot be in flight: give 0 or more")
    if in_flight == LOGGED and not trace.times:
        raise ValueError("the trace does not tell when each request arrived and finished: give --in-flight a number")
    countable = list(map(len, trace.requests))
    if recompute_last:
        countable = [max(blocks - last, 0) for blocks, last in zip(countable, _full(trace))]
    countable[:warm_up] = [0] * warm_up
    counted = trace.requests[warm_up:]
    totals = (in_flight, every - warm_up, sum(map(len, counted)), sum(_tokens(trace)[warm_up:]))
    served = trace.served if outputs else ()
    if not served and in_flight != LOGGED:
        return Workload(trace, countable, (), *totals)
    order = _by_time(trace.times) if in_flight == LOGGED else _by_number(every, in_flight)
    began = {request: event for event, (request, finishing) in enumerate(order) if not finishing}
    paths = [(served if finishing and served else trace.requests)[request] for request, finishing in order]
    priorities = [trace.priorities[request] for request, _ in order]
    events = trace._replace(requests=paths, priorities=priorities, milliseconds=_milliseconds(trace, order, in_flight))
    possible = [0 if finishing else countable[request] for request, finishing in order]
    arrivals = [began[request] if finishing else REQUEST for request, finishing in order]
    return Workload(events, possible, arrivals, *totals)


def _by_number(requests: int, in_flight: int) -> list[tuple[int, bool]]:
    """Return the events (request, finishing) in which each request finishes after so many more have come."""
    order = []
    for request in range(requests + in_flight):
        order += [(request, False)] * (request < requests) + [(request - in_flight, True)] * (request >= in_flight)
    return order


def _by_time(times: Sequence[tuple[int, int]]) -> list[tuple[int, bool]]:
    """Return the events (request, finishing) in the order of their times; at the same time requests come first."""
    moments = [(time, which == 1, request) for request, both in enumerate(times) for which, time in enumerate(both)]
    return [(request, finishing) for _, finishing, request in sorted(moments)]


def _milliseconds(trace: Trace, order: Sequence[tuple[int, bool]], in_flight: int) -> list[int]:
    """Return the time of each event, if those of requests are known: of a finishing that of the log, or without
    times of the log that of the event before it."""
    if in_flight == LOGGED:
        return [trace.times[request][finishing] // 1000 for request, finishing in order]
    if not trace.milliseconds:
        return []
    return list(itertools.accumulate((trace.milliseconds[request] for request, _ in order), max))


def _full(trace: Trace) -> list[bool]:
    """Return of each prompt whether its tokens reach into no further block than its last."""
    if trace.tokens is None:
        return [True] * len(trace.requests)
    return [len(path) * trace.block_tokens >= tokens for path, tokens in zip(trace.requests, trace.tokens)]


def _tokens(trace: Trace) -> Sequence[int]:
    """Return the tokens of each prompt; nothing if they are not known or some block is not full."""
    if trace.tokens is None or not trace.block_tokens:
        return ()
    whole = all(len(path) * trace.block_tokens <= tokens for path, tokens in zip(trace.requests, trace.tokens))
    return trace.tokens if whole else ()


# -- replay --------------------------------------------------------------------------------------------------------


def serve_events(workload: Workload, capacity: int, score: Score) -> Iterator[Served]:
    """Serve the events from a cold start under a policy.  Raises ValueError and costs as `replay.serve` does."""
    if workload.arrivals and (workload.in_flight or score is not lru):
        return serve_overlapping(workload.events, workload.arrivals, capacity, score)
    return serve(workload.events, capacity, score, workload.in_flight)


def count(
    workload: Workload, capacity: int, score: Score, progress: Callable[[int, int], None] | None = None
) -> Counts:
    """Return what is counted of the events served under a policy.  Raises ValueError and costs as `serve_events` does.

    `progress` is called after each event with the number of events served and of all events.
    """
    every = len(workload.countable)
    hits = evictions = uncached = 0
    for done, (served, most) in enumerate(zip(serve_events(workload, capacity, score), workload.countable), start=1):
        hits += min(served.hits, most)
        evictions += len(served.victims)
        uncached += served.uncached
        if progress:
            progress(done, every)
    return Counts(workload.requests, workload.blocks, hits, evictions, uncached)
