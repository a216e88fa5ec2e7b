"""The exact optimum of one sequence by furthest next use, and the optimum of a cache with no structure at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from src.radixcache import Eviction, Optimum, Run, Search, Step, String, Trie, as_set, check_fits, members, size


def belady(trie: Trie, capacity: int, sequence: Sequence[String], optimum: Optimum) -> Run:
    """Serve the sequence optimally: the block whose next use is furthest away goes first, ties to the deeper block.

    The source is Belady 1966; unused blocks have their next use at infinity.  Raises ValueError as `check_fits` does.
    Cost: O(length · blocks).

    The victims are leaves.  A request for a child's string uses the parent too, so a parent's next use is never
    later than its child's; where the two are equal the child is deeper.  So a child always goes before its parent
    (under `LOCKED` the candidates, all cached blocks off the path, contain a block's descendants when they contain it).

    It is optimal, even among caches that may hold any set of blocks.  Let B be this schedule and C any schedule that
    agrees with B before request t and holds the set C_t != B_t after it.  Holding more never hurts (the surplus can be
    dropped when room is needed), so let |C_t| = |B_t|; choose x in B_t - C_t and y in C_t - B_t.  B evicted y and kept
    x, both evictable, so x is used no later than y.  Let C' be C with x in place of y, until the first of these:
    (1) C drops y: C' drops x, and both hold the same set at the same cost.
    (2) x is requested: C misses x, C' does not.  If y is requested too, C' misses y and the costs are equal, and both
        have seen x and y, so C' can go on as C.  If not, C' is one miss ahead; it holds C's set without y until C
        drops y or y is requested, which costs C' that one miss.
    Before that neither x nor y is requested, so C' holds every locked path that C holds.  Hence C' costs no more than
    C and agrees with B on one more block of C_t; repeating this, then for later t, turns C into B at no cost.
    """
    check_fits(trie, capacity, optimum)
    never = len(sequence)
    next_use: list[list[int]] = [[never] * len(trie)]  # next_use[0][block]: the next request at or after this one
    for position in range(len(sequence) - 1, -1, -1):
        uses = list(next_use[-1])
        for block in trie.path(sequence[position]):
            uses[block] = position
        next_use.append(uses)
    next_use.reverse()
    cached = 0
    steps = []
    for position, string in enumerate(sequence):
        path = as_set(trie.path(string))
        misses = size(path & ~cached)
        cached |= path
        evictions = []
        while size(cached) > capacity:
            eviction = _furthest(trie, cached, optimum.kept(path), next_use[position + 1])
            evictions.append(eviction)
            cached &= ~eviction.removed
        steps.append(Step(misses, tuple(evictions), cached))
    return Run(tuple(steps))


def _furthest(trie: Trie, cached: int, kept: int, next_use: Sequence[int]) -> Eviction:
    """Choose the block outside `kept` that is used furthest away, the deeper of two, then the higher number."""
    candidates = list(members(cached & ~kept))
    victim = max(candidates, key=lambda block: (next_use[block], trie.depth[block], block))
    below = trie.descendants[victim] & cached
    strict = sum(next_use[block] == next_use[victim] for block in candidates) == 1
    return Eviction(victim, 1 << victim | below, below != 0, strict)


class AnySetBelady(Search):
    """The exact optimum of a cache with no structure at all: every subset that fits, ancestor-closed or not."""

    def successors(self, held: int, kept: int) -> Iterable[int]:
        """Return the subsets of `held` with at most K blocks that contain `kept`."""
        droppable = held & ~kept
        subset = droppable
        while True:
            if size(subset | kept) <= self.capacity:
                yield subset | kept
            if not subset:
                return
            subset = (subset - 1) & droppable
