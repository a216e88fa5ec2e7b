"""Schedules: what one cache manager does with one request sequence, request by request, so that it can be replayed.

Every manager is served by its plain form: LRU under its three rules, any eviction policy with and without the
leaf-only rule, and the exact optimum in both models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from src.policies.cache import Cache
from src.policies.facts import Score
from src.radixcache import LastAccess, Optimum, Path, Rule, Run, String, Trie, as_set, names, serve_lru
from src.walks.belady import belady


class Gone(NamedTuple):
    """One eviction: the victim, and the set of its cached descendants that went with it."""

    victim: int
    dragged: int


class ServedRequest(NamedTuple):
    """One request served: its string and path, blocks hit and missed, the evictions in their order, the state after it.

    The first `hits` blocks of the path were cached.  `last_access` holds for each block the number of the last request
    that used it, from 1 on, or 0 when it is not cached after this request.
    """

    string: String
    path: Path
    hits: int
    misses: int
    evictions: tuple[Gone, ...]
    last_access: LastAccess

    @property
    def cached(self) -> int:
        """The set that is cached after the request."""
        return as_set(block for block, time in enumerate(self.last_access) if time)


class Schedule(NamedTuple):
    """A request sequence served from a cold start by one manager, a frame for each request."""

    trie: Trie
    frames: tuple[ServedRequest, ...]

    @property
    def misses(self) -> int:
        """The missed blocks of all requests."""
        return sum(frame.misses for frame in self.frames)

    @property
    def requests(self) -> list[str]:
        """The requests as text."""
        return names(frame.string for frame in self.frames)

    def as_json(self) -> list[dict[str, Any]]:
        """Return the frames as `results/main.json` holds them."""
        return [
            {
                "misses": frame.misses,
                "evicted": [self.trie.label(gone.victim) for gone in frame.evictions],
                "cached": self.trie.labels(frame.cached),
            }
            for frame in self.frames
        ]


def steps_json(schedules: Mapping[str, Schedule]) -> list[dict[str, Any]]:
    """Return schedules of the same requests as results hold them: a step for each request, with a frame of each."""
    requests = next(iter(schedules.values())).requests
    frames = zip(*(schedule.as_json() for schedule in schedules.values()))
    return [{"request": name, **dict(zip(schedules, step))} for name, step in zip(requests, frames)]


def lru_schedule(trie: Trie, capacity: int, sequence: Sequence[String], rule: Rule) -> Schedule:
    """Return what LRU does under a rule.  Raises ValueError as `serve_lru` does.  Cost: that of `serve_lru`."""
    return _of_run(trie, sequence, serve_lru(trie, capacity, sequence, rule))


def optimum_schedule(trie: Trie, capacity: int, sequence: Sequence[String], optimum: Optimum) -> Schedule:
    """Return what the exact optimum does.  Raises ValueError as `belady` does.  Cost: O(length · blocks)."""
    return _of_run(trie, sequence, belady(trie, capacity, sequence, optimum))


def _of_run(trie: Trie, sequence: Sequence[String], run: Run) -> Schedule:
    """Return the schedule of a run of the model in which each request refreshed its whole path."""
    frames = []
    times = [0] * len(trie)
    for now, (string, step) in enumerate(zip(sequence, run.steps), start=1):
        path = trie.path(string)
        for block in path:
            times[block] = now
        times = [time if step.cached >> block & 1 else 0 for block, time in enumerate(times)]
        evictions = tuple(Gone(one.victim, one.removed & ~(1 << one.victim)) for one in step.evictions)
        frames.append(ServedRequest(string, path, len(path) - step.misses, step.misses, evictions, tuple(times)))
    return Schedule(trie, tuple(frames))


def policy_schedule(
    trie: Trie,
    capacity: int,
    sequence: Sequence[String],
    score: Score,
    leaf_only: bool = True,
    priorities: Sequence[int] | None = None,
) -> Schedule:
    """Return what the plain cache does under a policy; the requests have the given priorities, or all 0.

    Of a path longer than the capacity the tail is not cached, which is no eviction.  Raises ValueError as `Cache` does.
    Cost: O(blocks) for each request and each eviction.
    """
    cache = Cache(trie, capacity, score, leaf_only)
    frames = []
    for string, priority in zip(sequence, priorities or [0] * len(sequence)):
        path = trie.path(string)
        held = cache.cached()  # the path is locked: neither it nor what it lies on can go
        served = cache.access(string, priority)
        evictions = []
        for victim in served.victims:
            gone = Gone(victim, trie.descendants[victim] & held)
            evictions.append(gone)
            held &= ~(1 << victim | gone.dragged)
        times = tuple(cache.facts[block].last_access if block in cache.facts else 0 for block in range(len(trie)))
        frames.append(ServedRequest(string, path, served.hits, served.misses, tuple(evictions), times))
    return Schedule(trie, tuple(frames))
