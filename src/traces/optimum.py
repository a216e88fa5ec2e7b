"""The exact optimum on a trace."""

from __future__ import annotations

import bisect
import heapq
import itertools
from collections import Counter
from collections.abc import Iterator

from src.radixcache import Optimum, check_capacity
from src.traces.reading import Trace

Groups = tuple[tuple[int, int], ...]
"""The blocks of a path by their next use, the earliest first: (request, from 0 on; how many blocks)."""


class TraceOptimum:
    """The exact optimum on a trace, at any capacity: the blocks whose next use is furthest away go first (Belady 1966).

    It is enough to count how many blocks are held for each coming request; on a path the next uses never decrease with
    depth, and a path has few distinct ones.  A path longer than the capacity leaves what the optimum likes under
    `BYPASS`, and its first K blocks under `LOCKED`.  Proofs: results/PROOFS.md, "The optimum on a trace".

    Both are upper bounds, but not of the same policies: without requests in flight `LOCKED` bounds every policy, with
    them only `BYPASS` does.  With K = 2 and one request in flight LRU hits both blocks at the end of ab, c, ab, as c
    finds no room; `LOCKED` must hold c and hits one.
    """

    def __init__(self, trace: Trace) -> None:
        """Find the next use of each block of each request.  Cost: O(blocks) time, O(distinct + groups) memory."""
        self.never = len(trace.requests)
        self.blocks, self.distinct = sum(map(len, trace.requests)), len(trace.parent)
        self.groups: list[Groups] = []
        next_use = [self.never] * len(trace.parent)
        for now in range(self.never - 1, -1, -1):
            path = trace.requests[now]
            self.groups.append(tuple(Counter(map(next_use.__getitem__, path)).items()))
            for block in path:
                next_use[block] = now
        self.groups.reverse()

    def hits(self, capacity: int, optimum: Optimum) -> int:
        """Return the most blocks that a cache of K blocks can hit.  It never falls as K grows.

        Raises ValueError for a capacity below 1.  Cost: O(groups · log requests).
        """
        return sum(self.served(capacity, optimum))

    def served(self, capacity: int, optimum: Optimum) -> Iterator[int]:
        """Yield the hits of each request, which are the first blocks of its path.  Raises and costs as `hits` does."""
        check_capacity(capacity)
        held = _Held(self.never)
        for now, groups in enumerate(self.groups):
            yield held.take(now)
            if optimum is Optimum.LOCKED:
                held.shrink(max(capacity - sum(blocks for _, blocks in groups), 0))
            held.add(groups)
            held.shrink(capacity)  # under LOCKED the end of the path, if anything: it has the furthest next uses

    def smallest_capacity(self, hits: int, optimum: Optimum) -> int:
        """Return the smallest capacity, in blocks, at which the optimum hits at least so many blocks.

        Raises ValueError if no capacity does.  Cost: O(log distinct blocks) calls of `hits`.
        """
        reach = self.blocks - self.distinct
        if hits > reach:
            raise ValueError(f"no capacity gives {hits} hits on this trace: ask for at most {reach}")
        low, high = 1, max(self.distinct, 1)
        while low < high:
            middle = (low + high) // 2
            if self.hits(middle, optimum) < hits:
                low = middle + 1
            else:
                high = middle
        return low


class _Held:
    """How many blocks an optimal cache holds for each coming request; the last entry is for no request at all.

    A request number is on the heap once while blocks are held for it; one that has passed stays until it surfaces.
    """

    def __init__(self, never: int) -> None:
        self.blocks = [0] * (never + 1)
        self.furthest: list[int] = []  # minus the request numbers
        self.size = 0

    def take(self, now: int) -> int:
        """Return how many blocks are held for this request, and hold them for it no longer."""
        taken, self.blocks[now] = self.blocks[now], 0
        self.size -= taken
        return taken

    def add(self, groups: Groups) -> None:
        """Hold the blocks of a path, each for its next use."""
        for use, blocks in groups:
            if not self.blocks[use]:
                heapq.heappush(self.furthest, -use)
            self.blocks[use] += blocks
            self.size += blocks

    def shrink(self, size: int) -> None:
        """Drop the blocks whose next use is furthest away until at most `size` are left."""
        while self.size > size:
            use = -self.furthest[0]
            dropped = min(self.blocks[use], self.size - size)
            self.blocks[use] -= dropped
            self.size -= dropped
            if not self.blocks[use]:
                heapq.heappop(self.furthest)


class OptimumCurve:
    """The hits of one optimum as a function of the capacity, which never falls; what was once computed is kept."""

    def __init__(self, belady: TraceOptimum, optimum: Optimum) -> None:
        self.belady, self.optimum = belady, optimum
        self.capacities = [0, max(belady.distinct, 1)]  # at which the hits are known, in increasing order
        self.totals = [0, belady.blocks - belady.distinct]  # nothing is ever evicted where all distinct blocks fit

    def hits(self, capacity: int) -> int:
        """Return the most blocks hit at a capacity of at least 1.  Cost: one call of `TraceOptimum.hits`, if any."""
        after = bisect.bisect_left(self.capacities, capacity)
        if after == len(self.capacities):
            return self.totals[-1]
        if self.capacities[after] != capacity and self.totals[after - 1] != self.totals[after]:
            self.totals.insert(after, self.belady.hits(capacity, self.optimum))
            self.capacities.insert(after, capacity)
        return self.totals[after]

    def smallest_capacity(self, hits: int) -> int:
        """Return the smallest capacity, from 1 on, that hits so many blocks, at most those of the infinite cache.

        Each second guess is the middle, so the cost is O(log distinct blocks) calls of `TraceOptimum.hits`; those
        between are interpolated and in practice halve it.
        """
        if not hits:
            return 1
        for interpolated in itertools.cycle((True, False)):
            after = bisect.bisect_left(self.totals, hits)
            low, high = self.capacities[after - 1 : after + 1]
            if high - low == 1:
                break
            below, above = self.totals[after - 1 : after + 1]
            guess = low + (high - low) * (hits - below) // (above - below) if interpolated else (low + high) // 2
            self.hits(min(max(guess, low + 1), high - 1))
        return high
