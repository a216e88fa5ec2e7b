"""The exact optimum of one sequence by furthest next use, and the optimum of a cache with no structure at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from src.radixcache import Eviction, Optimum, Run, Search, Step, String, Trie, as_set, check_fits, members, size


def belady(trie: Trie, capacity: int, sequence: Sequence[String], optimum: Optimum) -> Run:
    """Serve the sequence optimally: the block whose next use is furthest away goes first, ties to the deeper block.

    The source is Belady 1966; unused blocks have their next use at infinity.  Raises ValueError as `check_fits` does.
    Cost: O(length · blocks).

    The victims are leaves, and no cache does better, not even one that may hold any set of blocks.
    Proof: results/PROOFS.md, "The offline optimum".
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
