"""The exact optimum on a trace."""

from __future__ import annotations

import bisect
import heapq
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

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

    With `countable` only so many blocks of each request, from the first on, can be hits.  A request for a block that it
    cannot hit brings the block back for nothing, so until then it is worth nothing to hold: its next use is never.
    What comes out is an upper bound still, and the optimum of a cache that may hold any blocks.  One that is
    ancestor-closed may have to hold such a block for the sake of its child, so the bound need not be reached.
    """

    def __init__(self, trace: Trace, countable: Sequence[int] | None = None) -> None:
        """Find the next use of each block of each request.  Cost: O(blocks) time, O(distinct + groups) memory."""
        self.never = len(trace.requests)
        self.distinct = len(trace.parent)
        self.most = 0  # the hits of a cache without a capacity
        self.lengths = list(map(len, trace.requests))
        self.groups: list[Groups] = []
        next_use = [self.never] * self.distinct
        for now in range(self.never - 1, -1, -1):
            path = trace.requests[now]
            uses = Counter(map(next_use.__getitem__, path))
            uses.pop(self.never, None)
            self.most += sum(uses.values())
            self.groups.append(tuple(uses.items()))
            possible = len(path) if countable is None else countable[now]
            for block in path[:possible]:
                next_use[block] = now
            for block in path[possible:]:
                next_use[block] = self.never
        self.groups.reverse()

    def hits(self, capacity: int, optimum: Optimum) -> int:
        """Return the most blocks that a cache of K blocks can hit.  It never falls as K grows.

        Raises ValueError for a capacity below 1.  Cost: O(groups · log requests).
        """
        return sum(self.served(capacity, optimum))

    def served(self, capacity: int, optimum: Optimum) -> Iterator[int]:
        """Yield the hits of each request, which are the first blocks of its path.  Raises and costs as `hits` does."""
        check_capacity(capacity)
        locked = optimum is Optimum.LOCKED
        held = [0] * self.never  # how many blocks are held for each coming request
        furthest: list[int] = []  # minus the requests for which blocks are held; one that has passed stays below these
        size = 0
        for now, (groups, length) in enumerate(zip(self.groups, self.lengths)):
            taken = held[now]
            yield taken
            held[now] = 0
            size -= taken
            if locked and size > capacity - length:  # room for the path, as far as the capacity goes
                size = _shrink(held, furthest, size, max(capacity - length, 0))
            for use, blocks in groups:
                if not held[use]:
                    heapq.heappush(furthest, -use)
                held[use] += blocks
                size += blocks
            if size > capacity:  # under LOCKED the end of the path, if anything: it has the furthest next uses
                size = _shrink(held, furthest, size, capacity)

    def smallest_capacity(self, hits: int, optimum: Optimum) -> int:
        """Return the smallest capacity, in blocks, at which the optimum hits at least so many blocks.

        Raises ValueError if no capacity does.  Cost: O(log distinct blocks) calls of `hits`.
        """
        if hits > self.most:
            raise ValueError(f"no capacity gives {hits} hits on this trace: ask for at most {self.most}")
        low, high = 1, max(self.distinct, 1)
        while low < high:
            middle = (low + high) // 2
            if self.hits(middle, optimum) < hits:
                low = middle + 1
            else:
                high = middle
        return low


def _shrink(held: list[int], furthest: list[int], size: int, goal: int) -> int:
    """Drop the blocks whose next use is furthest away until at most `goal` of `size` are left; return how many are."""
    while size > goal:
        use = -furthest[0]
        dropped = min(held[use], size - goal)
        held[use] -= dropped
        size -= dropped
        if not held[use]:
            heapq.heappop(furthest)
    return size


class OptimumCurve:
    """The hits of one optimum as a function of the capacity, which never falls; what was once computed is kept."""

    def __init__(self, belady: TraceOptimum, optimum: Optimum) -> None:
        self.belady, self.optimum = belady, optimum
        self.capacities = [0, max(belady.distinct, 1)]  # at which the hits are known, in increasing order
        self.totals = [0, belady.most]  # nothing is ever evicted where all distinct blocks fit

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

        The curve is mostly concave: it lies above a chord and below the line through two neighbours outside.  So these
        lines enclose the answer closely, and the next guess is in their middle; each third guess is the middle of what
        is certain, so the cost is O(log distinct blocks) calls of `TraceOptimum.hits` for any curve.  Some six in
        practice.
        """
        if not hits:
            return 1
        for certain in itertools.cycle((False, False, True)):
            after = bisect.bisect_left(self.totals, hits)
            low, high = self.capacities[after - 1 : after + 1]
            if high - low == 1:
                break
            enclosed = (low + 1, high - 1) if certain else self._enclosed(after, hits)
            self.hits(sum(enclosed) // 2)
        return high

    def _enclosed(self, after: int, hits: int) -> tuple[int, int]:
        """Return the least and the largest capacity at which a concave curve can reach some hits.

        The hits are above those at the point before `after`, and not above those at it.
        """
        places, totals = self.capacities, self.totals
        (low, high), (below, above) = places[after - 1 : after + 1], totals[after - 1 : after + 1]
        most = low - (low - high) * (hits - below) // (above - below) + 1
        least = low + 1
        if after >= 2 and below > totals[after - 2]:
            least = max(least, low + (low - places[after - 2]) * (hits - below) // (below - totals[after - 2]))
        if after + 1 < len(places) and totals[after + 1] > above:
            least = max(least, high - (places[after + 1] - high) * (above - hits) // (totals[after + 1] - above))
        most = max(min(most, high - 1), low + 1)
        return min(least, most), most
