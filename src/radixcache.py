"""The model: a trie of blocks, the cache on it, LRU under three eviction rules, and the exact optimum.

A string puts one block on every node of its path from the root; the root holds none.  A request brings the
whole path in (absent blocks are misses) and refreshes all of it.  When more than K blocks are then held, blocks are
evicted so that the cached set stays ancestor-closed.  Three cache managers differ in what they may evict:

* leaf-only:     the least recently used cached leaf (what a radix cache does);
* unconstrained: the least recently used block, whatever sits on it; its cached descendants go with it.  Blocks of
                 equal age are told apart by depth: `SHALLOW` takes the shallower one, `DEEP` the deeper one.

A set of blocks is an integer: bit b is set when block b is in it.  A cache's state is a tuple that holds, for each
block, the time of its last access, or 0 when the block is not cached.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

String = Sequence[Hashable]
Path = tuple[int, ...]
LastAccess = tuple[int, ...]
ROOT = -1


class Trie:
    """The blocks of some strings, numbered so that a parent comes before its children.

    `strings` are the requestable strings in the order given, each once.  For a block b, `parent[b]` is its parent
    (`ROOT` on the first level), `depth[b]` the number of blocks on its path (1 on the first level), `prefix[b]` the
    string that ends there and `descendants[b]` the set of the blocks below it.

    Raises ValueError for no strings at all and for the empty string, which has no block.
    Cost: O(blocks) to build, and O(blocks) big-integer operations for `descendants`.
    """

    def __init__(self, strings: Iterable[String]) -> None:
        self.strings: tuple[String, ...] = tuple(dict.fromkeys(strings))
        self.parent: list[int] = []
        self.depth: list[int] = []
        self.prefix: list[String] = []
        self._child: dict[tuple[int, Hashable], int] = {}
        if not self.strings:
            raise ValueError("the universe is empty: give at least one string")
        self._paths: dict[String, Path] = {string: self._grow(string) for string in self.strings}
        self.descendants = [0] * len(self.parent)
        for block in range(len(self.parent) - 1, -1, -1):
            if self.parent[block] != ROOT:
                self.descendants[self.parent[block]] |= self.descendants[block] | 1 << block

    def _grow(self, string: String) -> Path:
        """Return the string's path, adding the blocks that are new."""
        if len(string) == 0:
            raise ValueError("the empty string has no block: give strings of at least one symbol")
        path = [ROOT]
        for end, symbol in enumerate(string, start=1):
            edge = (path[-1], symbol)
            if edge not in self._child:
                self._child[edge] = len(self.parent)
                self.parent.append(path[-1])
                self.depth.append(end)
                self.prefix.append(string[:end])
            path.append(self._child[edge])
        return tuple(path[1:])

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self.parent)

    def path(self, string: String) -> Path:
        """Return the blocks of a requestable string, first block first.  Raises ValueError for any other string."""
        try:
            return self._paths[string]
        except KeyError:
            raise ValueError(f"{string!r} is not one of the trie's strings") from None

    def label(self, block: int) -> str:
        """Return the prefix that ends at a block, as text."""
        return names([self.prefix[block]])[0]

    def labels(self, blocks: int) -> list[str]:
        """Return the labels of a set of blocks, in the order of their numbers."""
        return [self.label(block) for block in members(blocks)]

    def is_ancestor_closed(self, blocks: int) -> bool:
        """Return whether the parent of every block of the set is in the set (or is the root)."""
        return all(self.parent[block] == ROOT or blocks >> self.parent[block] & 1 for block in members(blocks))

    def leaves(self, blocks: int) -> int:
        """Return the cached leaves of an ancestor-closed set: its blocks with no child in the set."""
        inner = 0
        for block in members(blocks):
            if self.parent[block] != ROOT:
                inner |= 1 << self.parent[block]
        return blocks & ~inner

    def ancestor_closed_sets(self, capacity: int) -> list[int]:
        """Return every ancestor-closed set of at most `capacity` blocks, smaller sets first.

        Cost: O(sets · log sets).  Parents come before children, so a set is extended by one block at a time.
        """
        sets = [0]
        for block, parent in enumerate(self.parent):
            sets += [
                held | 1 << block
                for held in sets
                if size(held) < capacity and (parent == ROOT or held >> parent & 1)
            ]
        return sorted(sets, key=lambda held: (size(held), held))


def names(strings: Iterable[String]) -> list[str]:
    """Return strings as text: `"01"` for strings, `"a.b"` for other sequences."""
    return [string if isinstance(string, str) else ".".join(map(str, string)) for string in strings]


def size(blocks: int) -> int:
    """Return how many blocks a set holds."""
    return bin(blocks).count("1")


def members(blocks: int) -> Iterator[int]:
    """Yield the blocks of a set in the order of their numbers."""
    while blocks:
        lowest = blocks & -blocks
        yield lowest.bit_length() - 1
        blocks ^= lowest


def as_set(path: Iterable[int]) -> int:
    """Return the set of some blocks."""
    blocks = 0
    for block in path:
        blocks |= 1 << block
    return blocks


def check_capacity(capacity: int) -> None:
    """Raise ValueError unless the capacity, in blocks, is at least 1."""
    if capacity < 1:
        raise ValueError(f"a capacity of {capacity} blocks cannot hold a string: give at least 1")


class Eviction(NamedTuple):
    """One decision: the victim, all the blocks that went with it, and what kind of decision it was.

    `interior`: the victim had cached descendants.  `strict`: its score was lower than that of every other block that
    could go, so the choice owed nothing to a tie-break.
    """

    victim: int
    removed: int
    interior: bool
    strict: bool


class Step(NamedTuple):
    """One request served: its misses (blocks), the evictions in their order, and the set that is cached after it."""

    misses: int
    evictions: tuple[Eviction, ...]
    cached: int


class Run(NamedTuple):
    """A request sequence served from a cold start, a step for each request."""

    steps: tuple[Step, ...]

    @property
    def misses(self) -> int:
        """The missed blocks of all requests."""
        return sum(step.misses for step in self.steps)

    @property
    def evictions(self) -> list[Eviction]:
        """All decisions, in their order."""
        return [eviction for step in self.steps for eviction in step.evictions]


class Rule(enum.Enum):
    """What LRU may evict, and how it breaks ties: see the head of this module."""

    LEAF_ONLY = "leaf-only"
    SHALLOW = "unconstrained, ties to the shallower block"
    DEEP = "unconstrained, ties to the deeper block"


class Recency(enum.Enum):
    """Which blocks a request stamps with its time, and in which order.

    `PATH` is the model: the whole path in one step.  `ROOT_FIRST` and `LEAF_FIRST` stamp it block by block, so no two
    blocks are ever equally old.  `REQUESTED` is a control: only the requested block and those that the request creates,
    so that a parent may be older than its child by whole requests.
    """

    PATH = "the whole path at once"
    ROOT_FIRST = "the whole path, its first block first"
    LEAF_FIRST = "the whole path, its last block first"
    REQUESTED = "the requested block and the blocks created"

    def stamps(self, path: Path, created: int, now: int) -> dict[int, int]:
        """Return the time, from `now` on, that each refreshed block of a path gets; `created` were absent."""
        if self is Recency.REQUESTED:
            return {block: now for block in path if created >> block & 1 or block == path[-1]}
        order = path[::-1] if self is Recency.LEAF_FIRST else path
        return {block: now + at * (self is not Recency.PATH) for at, block in enumerate(order)}


def lru_access(
    trie: Trie, capacity: int, state: LastAccess, string: String, rule: Rule,
    recency: Recency = Recency.PATH, locked: bool = False,
) -> tuple[LastAccess, Step]:
    """Serve one request under LRU and return the state after it with what happened.

    Only the order of the times in `state` matters, so the request's own time is one more than the largest of them.
    With `locked` no block of the path in service is a victim while another one can go.  A path longer than the capacity
    leaves its first K blocks under `LEAF_ONLY` and `DEEP`; under `SHALLOW`, which drags out the whole path with its
    first block, it leaves nothing.  Cost: O(blocks) for each eviction.
    """
    path = trie.path(string)
    before = as_set(block for block, time in enumerate(state) if time)
    created = as_set(path) & ~before
    times = list(state)
    for block, time in recency.stamps(path, created, max(state) + 1).items():
        times[block] = time
    evictions = []
    cached = before | created
    while size(cached) > capacity:
        eviction = _lru_eviction(trie, cached, times, rule, as_set(path) if locked else 0)
        evictions.append(eviction)
        cached &= ~eviction.removed
        for block in members(eviction.removed):
            times[block] = 0
    return tuple(times), Step(size(created), tuple(evictions), cached)


def _lru_eviction(trie: Trie, cached: int, times: Sequence[int], rule: Rule, locked: int) -> Eviction:
    """Choose the least recently used block among those that the rule lets go."""
    allowed = trie.leaves(cached) if rule is Rule.LEAF_ONLY else cached
    candidates = list(members(allowed & ~locked or allowed))
    deeper_first = 1 if rule is Rule.SHALLOW else -1
    victim = min(candidates, key=lambda block: (times[block], deeper_first * trie.depth[block], block))
    below = trie.descendants[victim] & cached
    strict = sum(times[block] == times[victim] for block in candidates) == 1
    return Eviction(victim, 1 << victim | below, below != 0, strict)


def serve_lru(
    trie: Trie, capacity: int, sequence: Iterable[String], rule: Rule, recency: Recency = Recency.PATH
) -> Run:
    """Serve a request sequence from a cold start under LRU with the given eviction rule.

    Raises ValueError for a capacity below 1 and for a string that is not the trie's.
    """
    check_capacity(capacity)
    state: LastAccess = (0,) * len(trie)
    steps = []
    for string in sequence:
        state, step = lru_access(trie, capacity, state, string, rule, recency)
        steps.append(step)
    return Run(tuple(steps))


class Optimum(enum.Enum):
    """What the optimum must still hold when a request has been served.

    `BYPASS`: nothing; it may drop any part of the path as soon as the request is served.
    `LOCKED`: the whole path, as a serving engine does while the request is in flight.
    """

    BYPASS = "bypass"
    LOCKED = "locked"

    def kept(self, path: int) -> int:
        """Return the part of a path, as a set, that is still held when its request has been served."""
        return path if self is Optimum.LOCKED else 0

    def room(self, trie: Trie, capacity: int) -> int:
        """Return how many blocks may be held at the moment at which a request is served."""
        return capacity if self is Optimum.LOCKED else capacity + max(trie.depth)

    def fits(self, trie: Trie, capacity: int) -> bool:
        """Return whether every path of a trie can be served."""
        return max(trie.depth) <= self.room(trie, capacity)


def check_fits(trie: Trie, capacity: int, optimum: Optimum) -> None:
    """Raise ValueError if the capacity is below 1, or a path is longer than what a locked optimum can hold."""
    check_capacity(capacity)
    if not optimum.fits(trie, capacity):
        (longest,) = names([max(trie.strings, key=len)])
        raise ValueError(
            f"the path of {longest!r} has {max(trie.depth)} blocks and cannot be locked in a capacity of {capacity}:"
            " give a larger capacity or the bypassing optimum"
        )


class Search:
    """The least number of misses by memoized search over all that the cache may hold after each request.

    A subclass says which sets those are.  `misses(sequence)` answers for a sequence served from a cold start; answers
    for common suffixes are shared between calls.  Raises ValueError as `check_fits` does.
    Cost: O(suffixes · sets · successors), exponential in the number of blocks: this is the plain definition.
    """

    def __init__(self, trie: Trie, capacity: int, optimum: Optimum) -> None:
        check_fits(trie, capacity, optimum)
        self.trie, self.capacity, self.optimum = trie, capacity, optimum
        self._memo: dict[tuple[tuple[String, ...], int], int] = {}
        self._next: dict[tuple[int, int], list[int]] = {}

    def successors(self, held: int, kept: int) -> Iterable[int]:
        """Return the sets of at most K blocks to which `held` may be reduced without dropping a block of `kept`."""
        raise TypeError("Search is abstract: use one of its subclasses")

    def misses(self, sequence: Sequence[String], cached: int = 0) -> int:
        """Return the least number of missed blocks over the sequence, starting with `cached`."""
        sequence = tuple(sequence)
        if not sequence:
            return 0
        key = (sequence, cached)
        if key not in self._memo:
            path = as_set(self.trie.path(sequence[0]))
            kept = self.optimum.kept(path)
            reach = (cached | path, kept)
            if reach not in self._next:
                self._next[reach] = list(self.successors(*reach))
            least = min(self.misses(sequence[1:], after) for after in self._next[reach])
            self._memo[key] = size(path & ~cached) + least
        return self._memo[key]


class LeafOnlyBelady(Search):
    """The exact optimum under the leaf-only rule: on overflow, leaves are peeled off one at a time, in every order."""

    def successors(self, held: int, kept: int) -> Iterable[int]:
        """Return what is left after peeling single leaves until the set fits; nothing is peeled from one that fits."""
        layer = {held}
        for _ in range(size(held) - self.capacity):
            layer = {left & ~(1 << leaf) for left in layer for leaf in members(self.trie.leaves(left) & ~kept)}
        return sorted(layer)


class UnrestrictedBelady(Search):
    """The exact optimum of an ancestor-closed cache that may evict anything: every ancestor-closed subset that fits."""

    def successors(self, held: int, kept: int) -> Iterable[int]:
        """Return the ancestor-closed subsets of `held` with at most K blocks that contain `kept`."""
        closed = self.trie.ancestor_closed_sets(self.capacity)
        return [after for after in closed if not after & ~held and not kept & ~after]


# -- flat paging: a string is one page, whatever its length --------------------------------------------------------


def flat_lru(capacity: int, sequence: Iterable[Hashable]) -> int:
    """Return the page misses of least recently used paging with room for `capacity` pages, from a cold start.

    Raises ValueError for a capacity below 1.  Cost: O(length · capacity).
    """
    check_capacity(capacity)
    pages: list[Hashable] = []  # least recently used first
    misses = 0
    for page in sequence:
        if page in pages:
            pages.remove(page)
        else:
            misses += 1
            if len(pages) == capacity:
                pages.pop(0)
        pages.append(page)
    return misses


def flat_belady(capacity: int, sequence: Sequence[Hashable], optimum: Optimum) -> int:
    """Return the least page misses (Belady 1966): the page whose next use is furthest away goes first.

    Under `BYPASS` that may be the requested page itself.  Raises ValueError for a capacity below 1.
    Cost: O(length^2 · capacity), the plain definition.
    """
    check_capacity(capacity)
    pages: list[Hashable] = []
    misses = 0
    for position, page in enumerate(sequence):
        rest = list(sequence[position + 1 :])
        if page in pages:
            continue
        misses += 1
        pages.append(page)
        if len(pages) > capacity:
            candidates = pages[: len(pages) - optimum.kept(1)]
            pages.remove(max(candidates, key=lambda held: rest.index(held) if held in rest else len(rest)))
    return misses
