"""Requests in flight for their own time: each holds its path from its arrival to its finishing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from src.policies.cache import Served
from src.policies.checked import incomparable
from src.policies.facts import Score, asks_for
from src.radixcache import Path, check_capacity
from src.traces.reading import Trace
from src.traces.replay import _AskingQueue, _LeafQueue, check_times

REQUEST = -1  # in place of an arrival: the event is a request, not a finishing


def serve_overlapping(events: Trace, arrivals: Sequence[int], capacity: int, score: Score) -> Iterator[Served]:
    """Serve requests and finishings from a cold start, event by event.

    `arrivals` has `REQUEST` for a request, and for a finishing the event of its request.  What is cached of a request's
    path is locked until its finishing has been served; that refreshes its path, which may have grown, brings in what
    is missing, and counts no hits: it is `Cache.access(chunked=True)`.  The clock counts events.  Raises and costs as
    `replay.serve`, with two events a request.
    """
    check_capacity(capacity)
    check_times(score, events)
    cache = (_AskingOverlapping if asks_for(score) else _Overlapping)(events, capacity, score)
    return map(cache.serve, range(len(arrivals)), events.requests, events.priorities, arrivals)


class _Overlapping(_LeafQueue):
    """A leaf queue whose locks go one by one, each at its finishing."""

    def __init__(self, events: Trace, capacity: int, score: Score) -> None:
        super().__init__(events, capacity, score, in_flight=len(events.requests))  # so many that no lock goes by itself
        self.tails: dict[int, int] = {}  # by the event of its request: the last held block of each path in flight

    def serve(self, event: int, path: Path, priority: int, arrival: int) -> Served:
        """Serve an event.  Raises ValueError as `access` does."""
        served = self.access(path, priority, arrival == REQUEST)
        tail = self.flying.pop()
        if arrival == REQUEST:
            self.tails[event] = tail
            return served
        landed = {tail, self.tails[arrival]}  # often one: a block is queued once for each last access
        self.locks[tail] -= 1
        self.locks[self.tails.pop(arrival)] -= 1
        try:
            for block in sorted(landed):
                if self._may_go(block):
                    self._enter(block)
        except TypeError as error:  # from a comparison: nothing else in there can raise it
            incomparable(self.score, *self.score.latest, error)
        return served


class _AskingOverlapping(_Overlapping, _AskingQueue):
    """The same under a score that asks for more than facts."""
