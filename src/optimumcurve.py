"""The hits of the exact optimum on a trace at any capacity, and the capacity that a number of hits needs."""

from __future__ import annotations

import bisect
import itertools

from src.radixcache import Optimum
from src.replay import Belady


class OptimumCurve:
    """The hits of one optimum as a function of the capacity, which never falls; what was once computed is kept."""

    def __init__(self, belady: Belady, optimum: Optimum) -> None:
        self.belady, self.optimum = belady, optimum
        self.capacities = [0, max(belady.distinct, 1)]  # at which the hits are known, in increasing order
        self.totals = [0, belady.blocks - belady.distinct]  # nothing is ever evicted where all distinct blocks fit

    def hits(self, capacity: int) -> int:
        """Return the most blocks hit at a capacity of at least 1.  Cost: one call of `Belady.hits`, if any."""
        after = bisect.bisect_left(self.capacities, capacity)
        if after == len(self.capacities):
            return self.totals[-1]
        if self.capacities[after] != capacity and self.totals[after - 1] != self.totals[after]:
            self.totals.insert(after, self.belady.hits(capacity, self.optimum))
            self.capacities.insert(after, capacity)
        return self.totals[after]

    def smallest_capacity(self, hits: int) -> int:
        """Return the smallest capacity, from 1 on, that hits so many blocks, at most those of the infinite cache.

        Each second guess is the middle, so the cost is O(log distinct blocks) calls of `Belady.hits`; those between
        are interpolated and in practice halve it.
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
