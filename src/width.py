"""The width of a trie: how many leaves an ancestor-closed set of its blocks can have, given the size of the set.

A star of n blocks has width n, a chain has width 1.  The width at K + 1 blocks is the exact price of LRU on a trie.
Proof: results/PROOFS.md, "The price of a trie".

Tries are given as lists of parents (`ROOT` on the first level, parents before children), so that the trie of a trace,
which has no strings, can be measured too.  `plain_width` looks at every set, `width` is exact and takes time with the
leaves, `width_curve` is near-linear and gives bounds, which on the traces that we tried agree or differ by one.
"""

from __future__ import annotations

import bisect
import heapq
import itertools
import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from src.radixcache import ROOT, Optimum, Trie, size


class Point(NamedTuple):
    """An ancestor-closed set of inner blocks: how many they are, and how many leaves all their children make."""

    inner: int
    leaves: int

    @property
    def blocks(self) -> int:
        """The blocks of the set with all its children."""
        return self.inner + self.leaves


def price(leaves: int, optimum: Optimum) -> int:
    """Return LRU's exact ratio on a trie that has so many leaves at K + 1 blocks: w bypassing, max(1, w - 1) locked."""
    return leaves if optimum is Optimum.BYPASS else max(1, leaves - 1)


def plain_width(trie: Trie, blocks: int) -> int:
    """Return the most leaves of an ancestor-closed set of at most so many blocks, by looking at every set.

    Adding a block to an ancestor-closed set takes no leaf away, so "at most" and "exactly" are the same as long as the
    trie has so many blocks.
    """
    return max(size(trie.leaves(held)) for held in trie.ancestor_closed_sets(blocks))


def width(parent: Sequence[int], blocks: int) -> int:
    """Return the most leaves of an ancestor-closed set of at most so many blocks, by a dynamic program.

    For each block it knows the least size of a set with that block on top and so many leaves.
    Cost: O(blocks · leaves).
    """
    below: list[list[int]] = [[0] for _ in range(len(parent) + 1)]  # by number of leaves; the last is for ROOT
    for block in range(len(parent) - 1, -1, -1):
        alone_or_more = [0, 1, *(least + 1 for least in below[block][2:])]
        below[block] = []
        below[parent[block]] = _divided(below[parent[block]], alone_or_more)
    return max(leaves for leaves, least in enumerate(below[ROOT]) if least <= blocks)


def _divided(some: Sequence[int], others: Sequence[int]) -> list[int]:
    """Return the least size for each number of leaves when two groups of siblings share them."""
    found = [some[-1] + others[-1]] * (len(some) + len(others) - 1)  # that of all leaves, the largest
    for at, one in enumerate(some):
        for leaves, other in enumerate(others, start=at):
            found[leaves] = min(found[leaves], one + other)
    return found


class WidthCurve(NamedTuple):
    """Bounds on the width at every number of blocks.

    `sets` are ancestor-closed, each inside the next.  `best` are those of them that have the most leaves for their
    inner blocks; of anything between two of them a straight line is an upper bound.
    """

    sets: Sequence[Point]
    best: Sequence[Point]

    def between(self, blocks: int) -> tuple[int, int]:
        """Return the most leaves that one of the sets gives at so many blocks, and a bound on the true width.

        Cost: O(log sets).
        """
        if blocks <= self.sets[0].leaves:
            return blocks, blocks
        at = bisect.bisect_right([one.blocks for one in self.sets], blocks)
        lower = self.sets[at - 1].leaves
        if at < len(self.sets):  # the next set, without some of its leaves
            lower = max(lower, blocks - self.sets[at].inner)
        at = bisect.bisect_right([one.blocks for one in self.best], blocks)
        upper = below = self.best[at - 1].leaves
        if at < len(self.best):
            more, left = self.best[at].leaves - below, blocks - self.best[at - 1].blocks
            upper += left * more // (self.best[at].blocks - self.best[at - 1].blocks)
        return lower, upper


def width_curve(parent: Sequence[int]) -> WidthCurve:
    """Return bounds on the width at every number of blocks, taking the most leaves for the fewest inner blocks first.

    An inner block with c children gains c - 1 leaves, and costs itself and the blocks up to the next branching above.
    The block with the most gain for its cost is taken if the branching above it has been; if not, the two become one
    group, for whoever takes the upper then takes the lower at once (Horn 1972, for jobs whose order a tree restricts).
    Proof of both bounds: results/PROOFS.md, "How to compute the width".
    Cost: O(blocks · log blocks), and O(blocks) where most blocks follow their parents.
    """
    start = Point(0, parent.count(ROOT))
    sets, best = [start], [start]
    for group in _groups(parent):
        for cost, gain in group:
            sets.append(Point(sets[-1].inner + cost, sets[-1].leaves + gain))
        best.append(sets[-1])
    return WidthCurve(sets, best)


def _groups(parent: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """Yield groups of branchings as (cost, gain), upper ones first, the group with the most gain for its cost first."""
    known = sorted(parent)
    gain = Counter(itertools.compress(known, map(operator.eq, known, itertools.islice(known, 1, None))))
    del gain[ROOT], known
    above, cost = {}, {}  # the branching above, and the blocks from there on: these share none
    for block in gain:
        over, cost[block] = parent[block], 1
        while over != ROOT and over not in gain:
            over, cost[block] = parent[over], cost[block] + 1
        above[block] = over
    total = {block: (cost[block], gain[block]) for block in gain}  # of the group with this top
    group = {block: block for block in [ROOT, *gain]}  # the way to its top
    last = {block: block for block in gain}  # of the group with this top
    following: dict[int, int] = {}  # in the same group

    def top(block: int) -> int:
        """Return the top block of a block's group, and shorten the way there."""
        while group[block] != block:
            group[block] = block = group[group[block]]
        return block

    def entry(block: int) -> tuple[Fraction, int, int]:
        """Return the place of a group in the queue: most leaves for a block first, then the smaller one."""
        spent, gained = total[block]
        return Fraction(-gained, spent), spent, block

    queue = [entry(block) for block in gain]
    heapq.heapify(queue)
    while queue:
        first = heapq.heappop(queue)
        block = first[-1]
        if group[block] != block or entry(block) != first:
            continue  # it has been joined to what is above it, or something has been joined to it
        upper = top(above[block])
        if upper == ROOT:
            members = [block]
            while members[-1] in following:
                members.append(following[members[-1]])
            yield [(cost[one], gain[one]) for one in members]
        else:
            total[upper] = (total[upper][0] + total[block][0], total[upper][1] + total[block][1])
            following[last[upper]], last[upper] = block, last[block]
            heapq.heappush(queue, entry(upper))
        group[block] = upper
