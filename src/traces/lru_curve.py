"""LRU at all capacities in one pass over a trace: stack distances (Mattson, Gecsei, Slutz, Traiger 1970).

The stack is the list of all blocks requested so far, the latest last access first, and of equal ones the shallower
first.  Leaf-only LRU of K blocks, cold at the start, holds after each request exactly the first K blocks of the stack,
or all of them if there are fewer.  So it holds a block at K if and only if it does at every larger capacity, and it
hits a requested block if and only if the block's place in the stack (from 1) is at most K.

Proof: results/PROOFS.md, "What LRU holds".

What requests in flight lock is not part of this: the curve is that of a path locked while it is served.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from typing import NamedTuple

from src.radixcache import check_capacity
from src.traces.reading import Trace


class Curve(NamedTuple):
    """The hits of LRU as a function of the capacity, in blocks.

    `capacities` are those at which the hits grow, in increasing order, and `totals` the hits from each of them on;
    below the first there are none.
    """

    capacities: Sequence[int]
    totals: Sequence[int]

    def hits(self, capacity: int) -> int:
        """Return the blocks hit at a capacity.  Raises ValueError for one below 1.  Cost: O(log capacities)."""
        check_capacity(capacity)
        step = bisect.bisect_right(self.capacities, capacity)
        return self.totals[step - 1] if step else 0

    def smallest_capacity(self, hits: int) -> int | None:
        """Return the smallest capacity, from 1 on, with at least so many hits; None if there is none.

        Cost: O(log capacities).
        """
        if hits <= 0:
            return 1
        step = bisect.bisect_left(self.totals, hits)
        return self.capacities[step] if step < len(self.capacities) else None


def lru_curve(trace: Trace, countable: Sequence[int] | None = None) -> Curve:
    """Return the hits of leaf-only LRU at every capacity, from a cold start.

    With `countable` only so many blocks of each request, from the first on, can be hits.

    The blocks whose last access is still request t are an end of t's path: later requests took its beginning, as two
    paths share a beginning.  Those that lie on the path of a later request are for the same reason the shallowest
    of them, so the request finds them as one group: blocks in a row on its path, and in a row in the stack, after all
    the blocks with a later last access.  How many these are is asked once for each group, of a Fenwick tree that counts
    for each request the blocks whose last access it still is.

    Cost: O(blocks + groups · log requests) time, O(distinct blocks + requests) memory.
    """
    last_access = [0] * len(trace.parent)  # request numbers, from 1 on; 0: not requested so far
    latest = _Fenwick(len(trace.requests))
    seen = 0
    growth = [0] * (len(trace.parent) + 2)  # at place p: by how much more blocks are found at p than at p - 1
    most = map(len, trace.requests) if countable is None else countable
    for now, (path, possible) in enumerate(zip(trace.requests, most), start=1):
        accesses = [last_access[block] for block in path]
        start, known = 0, len(path) - accesses.count(0)
        while start < known:
            access = accesses[start]
            end = start + 1
            while end < known and accesses[end] == access:
                end += 1
            later = seen - latest.up_to(access)  # a group taken off since the request began has a later access
            if start < possible:
                growth[later + 1] += 1
                growth[later + 1 + min(end, possible) - start] -= 1
            latest.add(access, start - end)
            start = end
        for block in path:
            last_access[block] = now
        latest.add(now, len(path))
        seen += len(path) - known
    found = list(itertools.accumulate(growth))  # at place p: how many requested blocks were found there
    capacities = [place for place, blocks in enumerate(found) if blocks]
    return Curve(capacities, list(itertools.accumulate(found[place] for place in capacities)))


class _Fenwick:
    """Sums over the first items, counted from 1, of a list that changes (Fenwick 1994).  Each call is O(log items)."""

    def __init__(self, items: int) -> None:
        self.sums = [0] * (items + 1)

    def add(self, item: int, amount: int) -> None:
        """Add an amount to an item."""
        sums, end = self.sums, len(self.sums)
        while item < end:
            sums[item] += amount
            item += item & -item

    def up_to(self, item: int) -> int:
        """Return the sum of the items up to this one."""
        sums, total = self.sums, 0
        while item:
            total += sums[item]
            item &= item - 1
        return total
