"""The exact optimum as a machine, whose state is its work function."""

from __future__ import annotations

from src.radixcache import Optimum, String, Trie, as_set, check_fits, members, size
from src.walks.exhaustive import Machine, Tally


class WorkFunction:
    """The optimum's work function: for each ancestor-closed set T, the least misses with which it can have served
    the requests so far and hold T now.

    A state lists these numbers, less their minimum, for the sets of at most K blocks (smaller sets first).  The
    least misses for the requests so far are the sum of the `growth` of the steps, the growth of that minimum.

    Here the optimum may also fetch, at one miss a block, blocks that nobody requested, which never helps; it may drop
    blocks at any time, except that a locked optimum holds the path at the moment at which it is served.  Thanks to
    fetching T costs at most |T| more than the cheapest set, so there are finitely many states.
    Proof: results/PROOFS.md, "Fetching ahead".

    Cost of a step: O(sets · blocks).  Raises ValueError as `check_fits` does.
    """

    def __init__(self, trie: Trie, capacity: int, optimum: Optimum) -> None:
        check_fits(trie, capacity, optimum)
        self.trie, self.capacity, self.optimum = trie, capacity, optimum
        self.sets = trie.ancestor_closed_sets(capacity)
        self._index = {held: at for at, held in enumerate(self.sets)}
        self._wide = trie.ancestor_closed_sets(optimum.room(trie, capacity))
        self._wide_index = {held: at for at, held in enumerate(self._wide)}
        self._smaller = [
            [self._wide_index[held & ~(1 << leaf)] for leaf in members(trie.leaves(held))] for held in self._wide
        ]
        self._reach: dict[String, list[tuple[int, int]]] = {}

    @property
    def start(self) -> tuple[int, ...]:
        """The state before the first request: nothing is cached, and T costs its |T| blocks."""
        return tuple(size(held) for held in self.sets)

    def step(self, state: tuple[int, ...], string: String) -> tuple[tuple[int, ...], int]:
        """Serve one request and return the state after it with the growth of the minimum.

        From S the request costs |path - S| and leaves S with the path on top; from there any set is reached by
        dropping leaves, free, and then fetching blocks, one miss each.
        """
        if string not in self._reach:
            self._reach[string] = self._serve(as_set(self.trie.path(string)))
        infinite = max(state) + len(self.trie) + 1
        work = [infinite] * len(self._wide)
        for cost, (misses, target) in zip(state, self._reach[string]):
            if target >= 0 and cost + misses < work[target]:
                work[target] = cost + misses
        for at in range(len(self._wide) - 1, -1, -1):  # larger sets first: drop a leaf
            for smaller in self._smaller[at]:
                if work[at] < work[smaller]:
                    work[smaller] = work[at]
        for at, smaller_sets in enumerate(self._smaller):  # smaller sets first: fetch a block
            for smaller in smaller_sets:
                if work[smaller] + 1 < work[at]:
                    work[at] = work[smaller] + 1
        kept = [work[self._wide_index[held]] for held in self.sets]
        growth = min(kept)
        return tuple(cost - growth for cost in kept), growth

    def _serve(self, path: int) -> list[tuple[int, int]]:
        """For each set: the misses of serving the path from it, and the set it becomes (-1: does not fit)."""
        return [(size(path & ~held), self._wide_index.get(held | path, -1)) for held in self.sets]


def optimum_machine(trie: Trie, capacity: int, optimum: Optimum) -> Machine:
    """Return the exact optimum as a machine over the trie's strings; its tallies add up to (least misses,)."""
    work = WorkFunction(trie, capacity, optimum)

    def step(state: tuple[int, ...], string: String) -> tuple[tuple[int, ...], Tally]:
        """Serve a request; the tally is by how much the least cost grows, in blocks."""
        state, growth = work.step(state, string)
        return state, (growth,)

    return Machine(work.start, trie.strings, 1, step)
