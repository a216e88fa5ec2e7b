"""What a cache learns of returns: how long blocks wait for their next request, and how many of them come back.

A block waits from its latest request on, cached or not, until its next one.  What is learned is kept apart by the kind
of the block and by the octave of its age: ages 1, 2 and 3, 4 to 7, and so on.  The age is counted in requests, and in
finishings where these are events of their own.

Nothing is known in advance, and nothing has to be set.  The tables depend on the requests alone, not on the capacity or
on what was evicted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from src.policies.facts import Facts

COUNTS, BEHINDS = 5, 8
"""How many classes there are of the number of requests (1, 2, 3, 4 to 7, more) and of blocks behind (0, 1, 2 and 3,
4 to 7, ..., 64 and more).  Chosen on the first half of a trace: see results/TRACES.md."""

KINDS = COUNTS * BEHINDS
BINARY_DIGITS = 32  # binary digits of a density: whole numbers compare much faster than fractions


def kind(seen: int, behind: int) -> int:
    """Return the kind of a block: how often it was requested, and how many blocks its latest path had behind it."""
    count = seen - 1 if seen < 4 else 3 if seen < 8 else 4
    return count * BEHINDS + min(behind.bit_length(), BEHINDS - 1)


def octave(age: int) -> int:
    """Return the octave of an age of at least 1: the largest power of two in it."""
    return age.bit_length() - 1


Table = list[list[int]]
"""A number for each kind and octave."""


class ReturnsState(NamedTuple):
    """All that was learned, to come back to."""

    idle: tuple[tuple[tuple[int, int], ...], ...]
    tables: tuple[tuple[tuple[int, ...], ...], ...]


class Returns:
    """What was learned up to a request.

    `waiting` counts the blocks that wait at such an age now, `waited` adds them up over all requests, and `back` counts
    those that came back.  `idle` holds for each request how many blocks there are of each kind whose latest request it
    still is.
    """

    def __init__(self) -> None:
        self.idle: list[Counter[int]] = [Counter()]  # by request number, from 1 on
        self.waiting: Table = [[] for _ in range(KINDS)]
        self.waited: Table = [[] for _ in range(KINDS)]
        self.back: Table = [[] for _ in range(KINDS)]
        self._densities: dict[tuple[int, int], int] = {}  # of this request

    def request(self, known: Iterable[tuple[int, int]], kinds: Iterable[int], counted: bool = True) -> None:
        """Learn from a request, before anything is evicted for it.

        `known` tells of each of its blocks that was requested before the kind that it had and its latest request, and
        `kinds` of each of its blocks the kind that it has from now on.  A further step of a request is not `counted`:
        its blocks did not come back.  Cost: O(blocks + kinds · log requests).
        """
        now = len(self.idle)
        self._wait(now)
        for was, latest in known:
            at = octave(now - latest)
            self.back[was][at] += counted
            self.waiting[was][at] -= 1
            self.idle[latest][was] -= 1
        mine = Counter(kinds)
        for one, blocks in mine.items():
            self.waiting[one][0] += blocks
        self.idle.append(mine)
        self._densities.clear()

    def _wait(self, now: int) -> None:
        """Let all blocks wait for one request more, some of them in the next octave."""
        if len(self.back[0]) < now.bit_length():
            for row in (*self.waiting, *self.waited, *self.back):
                row.append(0)
        for at in range(1, (now - 1).bit_length()):
            for one, blocks in self.idle[now - (1 << at)].items():
                self.waiting[one][at - 1] -= blocks
                self.waiting[one][at] += blocks
        for waiting, waited in zip(self.waiting, self.waited):
            for at, blocks in enumerate(waiting):
                if blocks:
                    waited[at] += blocks

    def density(self, block: Facts) -> int:
        """Return the most returns for a request of waiting, over any ages from the block's octave on, in 2^-32.

        As if one block had come back before, after as long as the block has waited at least: so where a kind is not
        known the older block has the lower density.  Cost: O(log requests), and O(1) for the next block of its kind and
        octave.
        """
        now = len(self.idle) - 1
        one, at = kind(block.seen, block.behind), octave(max(now - block.last_access, 1))
        found = self._densities.get((one, at))
        if found is None:
            back, waited, found = 1, 1 << at, 0
            for more_back, more_waited in zip(self.back[one][at:], self.waited[one][at:]):
                back += more_back
                waited += more_waited
                found = max(found, (back << BINARY_DIGITS) // waited)
            self._densities[one, at] = found
        return found

    def state(self) -> ReturnsState:
        """Return all that was learned.  Cost: O(requests)."""
        tables = (self.waiting, self.waited, self.back)
        idle = tuple(tuple(sorted(blocks.items())) for blocks in self.idle)
        return ReturnsState(idle, tuple(tuple(map(tuple, table)) for table in tables))

    def restore(self, state: ReturnsState) -> None:
        """Go back to what was learned then.  Cost: O(requests)."""
        self.idle = [Counter(dict(blocks)) for blocks in state.idle]
        self.waiting, self.waited, self.back = ([list(row) for row in table] for table in state.tables)
        self._densities.clear()
