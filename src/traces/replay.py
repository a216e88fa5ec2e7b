"""A trace replayed: what any policy hits at a capacity, what the exact optimum hits there, and what no capacity limits.

The cache is that of `src.policies.cache.Cache` under the leaf-only rule, decision by decision.  There each eviction
looks at every block; here it costs O(log n), for these reasons:

* A locked path is cached as a whole.  So a cached leaf is locked exactly when it is the last held block of a request
  in flight, and locks need to be counted there alone.
* A block's facts change only when a request reaches it, and that request locks it.  So whenever a block becomes a
  candidate (a cached leaf that is not locked), its place in the order of eviction is final until it is evicted or
  reached again.  It enters the queue at that moment, once for each last access.
* Two cached leaves never have the same last access: both would lie on that request's path, one above the other.  So
  score and last access decide; the rest of the order, deeper first and then by number, is not needed among leaves.
* A candidate stops being one only by eviction or by being reached (a child or a lock comes with a request that reaches
  it), and both change its last access.  So a queued entry is good exactly when its last access is still the block's.

Nothing is assumed of the score: a block may become more urgent when it is reached, as under `mru`, and may score higher
than its parent.  Only that equal facts have equal scores, and a victim is
scored once more to see that.

A score that asks for more than facts, the clock or what was learned, has no final place.  It is computed once for each
candidate at each request that must evict, and once more for a block that becomes one by an eviction; within a request
clock and learning stand still, so the queue made of these scores is good until the request is served.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from typing import Any, Callable, NamedTuple

from src.policies.cache import Served
from src.policies.checked import Checked, incomparable, place
from src.policies.facts import Facts, PolicyError, Score, answers, asks_for
from src.policies.returns import Returns, kind
from src.policies.scores import lru
from src.policies.user_file import afresh
from src.radixcache import ROOT, Path, check_capacity
from src.traces.reading import Trace

Queued = tuple[Any, int, int]
"""A leaf's place in the order of eviction, and the leaf: score, last access, block."""


class Counts(NamedTuple):
    """What a replay counts: requests, and their blocks, of which some were hit.

    `evictions` are the blocks that had to go; `uncached` are those that never were cached, the tails of paths for which
    nothing was left to evict.
    """

    requests: int
    blocks: int
    hits: int
    evictions: int = 0
    uncached: int = 0

    @property
    def misses(self) -> int:
        """The blocks that were not cached when they were requested."""
        return self.blocks - self.hits


def replay(
    trace: Trace,
    capacity: int,
    score: Score = lru,
    in_flight: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Counts:
    """Serve a trace from a cold start and return what was counted.  Raises ValueError and costs as `serve` does.

    `progress` is called after each request with the number of requests served and of all requests.
    """
    requests, blocks = len(trace.requests), sum(map(len, trace.requests))
    hits = evictions = uncached = 0
    for done, served in enumerate(serve(trace, capacity, score, in_flight), start=1):
        hits += served.hits
        evictions += len(served.victims)
        uncached += served.uncached
        if progress:
            progress(done, requests)
    return Counts(requests, blocks, hits, evictions, uncached)


def serve(trace: Trace, capacity: int, score: Score = lru, in_flight: int = 0) -> Iterator[Served]:
    """Serve a trace from a cold start, request by request, and yield what each one did, victims included.

    The path of a request is locked while it is served, and so is what is cached of the paths of the `in_flight`
    requests before it: `Cache.lock` follows each access, and the oldest lock goes when there are more than `in_flight`.
    When nothing is left to evict, the tail of the request's own path is not cached.

    Raises ValueError for a capacity below 1 and a negative `in_flight`, and PolicyError for what is no score, and for
    one that asks for times that the trace does not tell.  A policy file is loaded anew, so that two replays share
    nothing.  Cost: O(blocks + (requests + evictions) · log K), with a call of the score for each request and two for
    each eviction at most; for `lru` itself O(blocks); for a score that asks for more O(blocks + requests · leaves
    + evictions · log K), with a call for each candidate leaf and request that must evict.
    """
    check_capacity(capacity)
    if in_flight < 0:
        raise ValueError(f"{in_flight} requests cannot be in flight: give 0 or more")
    if score is lru:
        return _serve_lru(trace.requests, capacity, in_flight)
    check_times(score, trace)
    cache = (_AskingQueue if asks_for(score) else _LeafQueue)(trace, capacity, score, in_flight)
    return map(cache.access, trace.requests, trace.priorities)


def check_times(score: Score, trace: Trace) -> None:
    """Raise PolicyError if a score asks for a time that the trace does not tell."""
    if "now_ms" in asks_for(score) and not trace.milliseconds:
        remedy = "give a trace that has them, or ask for now"
        raise PolicyError(f"{place(score)} asks for now_ms, and not every request has a timestamp: {remedy}")


def _serve_lru(requests: Iterable[Path], capacity: int, in_flight: int) -> Iterator[Served]:
    """Serve requests under LRU with the cached blocks in the order of eviction: last access, then deeper first.

    A request takes its blocks to the end of the order, its last block first.  The first of the order is a leaf, as a
    child precedes its parent.  It is locked exactly when it was last reached by a request in flight; then everything
    after it was reached no earlier, is locked as well, and nothing can go.
    """
    order: OrderedDict[int, int] = OrderedDict()  # from a cached block to its last access
    to_the_end = order.move_to_end
    for now, path in enumerate(requests, start=1):
        held = len(order)
        for block in reversed(path):
            order[block] = now
            to_the_end(block)
        misses = len(order) - held
        victims = []
        while len(order) > capacity and next(iter(order.values())) < now - in_flight:
            victims.append(order.popitem(last=False)[0])
        uncached = max(len(order) - capacity, 0)
        for block in path[len(path) - uncached :]:
            del order[block]
        yield Served(len(path) - misses, misses, tuple(victims), uncached=uncached)


class _LeafQueue:
    """A leaf-only cache under any score, with a heap of its evictable leaves: see the head of this module.

    The lists are indexed by block and have one more place at their end, which is that of `ROOT`: it counts as a block
    that never becomes a leaf.
    """

    def __init__(self, trace: Trace, capacity: int, score: Score, in_flight: int) -> None:
        blocks = len(trace.parent)
        self.parent, self.depth = trace.parent, trace.depth
        self.capacity, self.score, self.in_flight = capacity, Checked(afresh(score)), in_flight
        self.clock = self.size = 0
        self.returns: Returns | None = None
        self.told: dict[str, Any] = {}  # to the score, beside the facts
        self.lengths = (0, *map(len, trace.requests))  # by request number, as the next
        self.milliseconds = (0, *(trace.milliseconds or range(1, len(trace.requests) + 1)))
        self.last_access = [0] * blocks  # 0: not cached
        self.created = [0] * blocks
        self.hits = [0] * blocks
        self.priority = [0] * blocks
        self.seen = [0] * blocks
        self.latest = [0] * blocks  # the last access, cached or not
        self.previous = [0] * blocks
        self.reach = [0] * blocks
        self.below = [0] * blocks
        self.children = [0] * blocks + [1]  # how many of them are cached
        self.locks = [0] * blocks + [0]  # how many requests in flight hold a path that ends here
        self.flying: deque[int] = deque()  # the last held block of each of them, the oldest first
        self.queue: list[Queued] = []

    def access(self, path: Path, priority: int, counted: bool = True) -> Served:
        """Serve a request, or a further step of one, which is not `counted` as a hit or as seen once more.

        Raises PolicyError for what is no score and for scores that do not compare.
        """
        self.clock += 1
        self._remember(path, counted)
        hits = self._bring_in(path, priority, counted)
        tail = path[-1] if path else ROOT
        self.locks[tail] += 1
        try:
            victims = self._reclaim()
            self.locks[tail] -= 1
            kept = len(path) - max(self.size - self.capacity, 0)
            for block in reversed(path[kept:]):
                self._remove(block)
            self._take_off(path[kept - 1] if kept else ROOT)
        except TypeError as error:  # from a comparison: nothing else in there can raise it
            incomparable(self.score, *self.score.latest, error)
        return Served(hits, len(path) - hits, victims, uncached=len(path) - kept)

    def _remember(self, path: Path, counted: bool) -> None:
        """Bring up to date what outlives evictions.  The blocks requested for the first time are the end of a path."""
        now, length, seen, latest, previous = self.clock, len(path), self.seen, self.latest, self.previous
        known = length
        while known and not seen[path[known - 1]]:
            known -= 1
        before = [(self._kind(block), latest[block]) for block in path[:known]] if self.returns else []
        for block in path[:known]:
            if counted:
                seen[block] += 1
                previous[block] = latest[block]
            latest[block] = now
        if known < length:  # else nothing is new below, and no path longer than those before
            reach, below = self.reach, self.below
            for block in path[:known]:
                below[block] += length - known
                if reach[block] < length:
                    reach[block] = length
            for at, block in enumerate(path[known:], start=known + 1):
                seen[block] = 1
                latest[block] = now
                reach[block] = length
                below[block] = length - at
        if self.returns:
            self.returns.request(before, map(self._kind, path), counted)

    def _kind(self, block: int) -> int:
        """Return the kind of a block that was requested before, as `Returns` divides them."""
        return kind(self.seen[block], self.lengths[self.latest[block]] - self.depth[block])

    def _bring_in(self, path: Path, priority: int, counted: bool) -> int:
        """Refresh the cached blocks of a path, add the others, and return how many were cached."""
        now, last_access = self.clock, self.last_access
        hits = 0
        for block in path:
            if not last_access[block]:  # the cached set is ancestor-closed: all that follows is absent too
                break
            last_access[block] = now
            self.hits[block] += counted
            if self.priority[block] < priority:
                self.priority[block] = priority
            hits += 1
        for block in path[hits:]:
            last_access[block] = self.created[block] = now
            self.hits[block] = 0
            self.priority[block] = priority
            self.children[self.parent[block]] += 1
        self.size += len(path) - hits
        return hits

    def _remove(self, block: int) -> None:
        self.last_access[block] = 0
        self.children[self.parent[block]] -= 1
        self.size -= 1

    def _reclaim(self) -> tuple[int, ...]:
        """Evict leaves until the cache fits or no candidate is left; return them in their order."""
        queue, parent, last_access, children = self.queue, self.parent, self.last_access, self.children
        victims: list[int] = []
        bared = ROOT  # a block that became a candidate and is not queued yet
        excess = self.size - self.capacity
        while len(victims) < excess:
            if bared != ROOT:
                score, queued_at, block = heapq.heappushpop(queue, self._place(bared))
            elif queue:
                score, queued_at, block = heapq.heappop(queue)
            else:
                break
            bared = ROOT
            if last_access[block] == queued_at:
                self.score.again(self._facts(block), score, **self.told)
                victims.append(block)
                last_access[block] = 0
                above = parent[block]
                children[above] -= 1
                if not children[above] and not self.locks[above]:
                    bared = above
        self.size -= len(victims)
        if bared != ROOT:
            self._enter(bared)
        return tuple(victims)

    def _enter(self, block: int) -> None:
        """Put a block that became a candidate into the queue."""
        heapq.heappush(self.queue, self._place(block))

    def _clean(self) -> None:
        """Take out of the queue what is no candidate any more."""
        self.queue = [entry for entry in self.queue if self.last_access[entry[2]] == entry[1]]
        heapq.heapify(self.queue)

    def _take_off(self, tail: int) -> None:
        """Lock the path that ends in `tail`, and unlock the oldest one when too many requests are in flight.

        Of a path that is unlocked only the last block can be a leaf: on every other one sits the next one.
        """
        self.locks[tail] += 1
        self.flying.append(tail)
        if len(self.flying) > self.in_flight:
            landed = self.flying.popleft()
            self.locks[landed] -= 1
            if self._may_go(landed):
                self._enter(landed)
        if len(self.queue) > 2 * self.capacity + 64:  # at most K entries are good: this pays for itself
            self._clean()

    def _may_go(self, block: int) -> bool:
        return not self.children[block] and not self.locks[block]

    def _facts(self, block: int) -> Facts:
        return Facts(
            last_access=self.last_access[block],
            created=self.created[block],
            hits=self.hits[block],
            priority=self.priority[block],
            depth=self.depth[block],
            seen=self.seen[block],
            previous_access=self.previous[block],
            reach=self.reach[block],
            below=self.below[block],
            last_access_ms=self.milliseconds[self.last_access[block]],
            behind=self.lengths[self.last_access[block]] - self.depth[block],
        )

    def _place(self, block: int) -> Queued:
        facts = self._facts(block)
        return (self._scored(facts), facts.last_access, block)

    def _scored(self, facts: Facts) -> Any:
        return self.score(facts, **self.told)


class _AskingQueue(_LeafQueue):
    """The same under a score that asks for more than facts: candidates wait, and are queued when a request must evict.

    Their facts are final while they wait, so that each request has only the scores to compute.
    """

    def __init__(self, trace: Trace, capacity: int, score: Score, in_flight: int) -> None:
        super().__init__(trace, capacity, score, in_flight)
        self.asked = asks_for(score)
        self.returns = Returns() if "returns" in self.asked else None
        self.waiting: dict[int, Facts] = {}  # a candidate is good as long as its last access here is the block's

    def _reclaim(self) -> tuple[int, ...]:
        if self.size > self.capacity:
            self._clean()
            self.told = answers(self.asked, self.clock, self.milliseconds[self.clock], self.returns)
            scored = self._scored
            self.queue = [(scored(facts), facts.last_access, block) for block, facts in self.waiting.items()]
            heapq.heapify(self.queue)
        return super()._reclaim()

    def _place(self, block: int) -> Queued:
        self._enter(block)  # an eviction made it a candidate, and it may stay one
        return super()._place(block)

    def _enter(self, block: int) -> None:
        self.waiting[block] = self._facts(block)
        if len(self.waiting) > 2 * self.capacity + 64:
            self._clean()

    def _clean(self) -> None:
        last_access = self.last_access
        self.waiting = {
            block: facts for block, facts in self.waiting.items() if last_access[block] == facts.last_access
        }
