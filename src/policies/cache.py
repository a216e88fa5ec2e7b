"""One plain cache over any policy."""

from __future__ import annotations

from operator import attrgetter, ge
from typing import Any, NamedTuple

from src.policies.checked import lowest
from src.policies.facts import NEVER, Facts, Score, answers, asks_for
from src.policies.returns import Returns, ReturnsState, kind
from src.policies.scores import lru
from src.radixcache import ROOT, Path, String, Trie, as_set, check_capacity, members

outliving = attrgetter("last_access", "seen", "previous_access", "reach", "below", "last_access_ms")
"""What a cache remembers of a block that it does not hold, where a parent has no less; the last access only for the
sake of the next."""


class Served(NamedTuple):
    """One request served: blocks hit and missed, the victims in order, and how much of its tail was not cached.

    Without the leaf-only rule a victim's cached descendants go with it; `dragged` counts those blocks.
    """

    hits: int
    misses: int
    victims: tuple[int, ...]
    interior: int = 0
    strict_interior: int = 0
    dragged: int = 0
    uncached: int = 0


class CacheState(NamedTuple):
    """All that a cache remembers: its clock, the cached blocks with their facts in the order of their numbers, for each
    locked string how many blocks each of its locks holds, `ghosts`, the blocks that went, with their last facts, the
    time of the latest request, and what was learned of returns, if the score asks for it."""

    clock: int = 0
    blocks: tuple[tuple[int, Facts], ...] = ()
    locks: tuple[tuple[String, tuple[int, ...]], ...] = ()
    ghosts: tuple[tuple[int, Facts], ...] = ()
    now_ms: int = 0
    returns: ReturnsState | None = None


class Cache:
    """A radix cache of at most K blocks under any policy, in the plain form: each eviction looks at every block.

    With `leaf_only=False` any unlocked block may be the victim and its cached descendants go with it: the
    unconstrained cache that the rule is measured against.  With `write_back=True` no hits are counted.
    A score that asks for what changes from request to request is computed anew for each eviction.
    What a block's facts keep over evictions is remembered for every block ever requested: O(distinct blocks) memory,
    and O(requests) more if the score asks for what was learned of returns.
    Raises ValueError for a capacity below 1.
    """

    def __init__(
        self, trie: Trie, capacity: int, score: Score = lru, leaf_only: bool = True, write_back: bool = False
    ) -> None:
        check_capacity(capacity)
        self.trie, self.capacity, self.score = trie, capacity, score
        self.leaf_only, self.write_back = leaf_only, write_back
        self.clock = self.now_ms = 0
        self.facts: dict[int, Facts] = {}
        self.ghosts: dict[int, Facts] = {}  # the blocks that were requested and are not cached
        self._asked = asks_for(score)
        self.returns = Returns() if "returns" in self._asked else None
        self._locks: dict[int, int] = {}
        self._held: dict[String, list[int]] = {}  # for each locked string: how many blocks each of its locks holds

    def state(self) -> CacheState:
        """Return all that the cache remembers.  Cost: O(blocks ever requested · log)."""
        locks = tuple((string, tuple(lengths)) for string, lengths in self._held.items())
        facts, ghosts = (tuple(sorted(known.items())) for known in (self.facts, self.ghosts))
        learned = self.returns.state() if self.returns else None
        return CacheState(self.clock, facts, locks, ghosts, self.now_ms, learned)

    def restore(self, state: CacheState) -> None:
        """Go back to a state of a cache on the same trie.  Cost: O(blocks ever requested + locked blocks)."""
        self.clock, self.now_ms = state.clock, state.now_ms
        self.facts, self.ghosts = dict(state.blocks), dict(state.ghosts)
        if self.returns:
            self.returns.restore(state.returns or Returns().state())
        self._locks, self._held = {}, {string: list(lengths) for string, lengths in state.locks}
        for string, lengths in state.locks:
            for length in lengths:
                self._hold(self.trie.path(string)[:length])

    def cached(self) -> int:
        """Return the set of cached blocks."""
        return as_set(self.facts)

    def match(self, string: String) -> int:
        """Return how many blocks of the string's path are cached, from the first on.  Changes nothing."""
        held = 0
        for block in self.trie.path(string):
            if block not in self.facts:
                break
            held += 1
        return held

    def access(
        self, string: String, priority: int = 0, chunked: bool = False, now_ms: int | None = None
    ) -> Served:
        """Serve a request: match its path, bring in the rest, evict what is too much.

        The path is locked while it is served.  Matched blocks count a hit each, unless this is a further step
        of a chunked prefill (`chunked`): a request that is prefilled in chunks is counted by its first access
        alone.  Further steps find the blocks of those before them: their `Served.hits` are no hits of the request.  So
        it is in what outlives evictions, except that each block it reaches was seen at least once.
        When nothing else is left to evict, the tail of the path is not cached, so of a path longer than the
        capacity the first K blocks remain.  `now_ms` is the time of the request, which counts as that of the request
        before it where it would be earlier; without it time is the number of the request.
        Raises ValueError for a string that is not the trie's.
        Cost: O(blocks) for each eviction.
        """
        path = self.trie.path(string)
        self.clock += 1
        time = self.clock if now_ms is None else now_ms
        self.now_ms = time if self.clock == 1 else max(self.now_ms, time)
        hits = self.match(string)
        self._reach(path, hits, priority, chunked)
        self._hold(path)
        uncached = 0
        try:
            reclaimed = self._reclaim(len(self.facts) - self.capacity)
        finally:  # a score may fail; the cache stays sound
            self._release(path)
            while len(self.facts) > self.capacity:
                uncached += 1
                self._forget(path[-uncached])
        return Served(hits, len(path) - hits, *reclaimed, uncached)

    def _reach(self, path: Path, hits: int, priority: int, chunked: bool) -> None:
        """Bring the facts of a path up to date, of which the first `hits` blocks are cached."""
        before = [self.facts.get(block) or self.ghosts.get(block) for block in path]
        known = sum(facts is not None for facts in before)  # the first ones: see `check`
        for at, block in enumerate(path):
            cached = at < hits
            old = self.facts[block] if cached else self.ghosts.pop(block, NEVER)
            same = chunked and old.seen > 0  # the request that was counted already
            self.facts[block] = Facts(
                last_access=self.clock,
                created=old.created if cached else self.clock,
                hits=old.hits + (not chunked and not self.write_back) if cached else 0,
                priority=max(old.priority, priority) if cached else priority,
                depth=self.trie.depth[block],
                seen=old.seen + (not same),
                previous_access=old.previous_access if same else old.last_access,
                reach=max(old.reach, len(path)),
                below=old.below + len(path) - max(known, at + 1),
                last_access_ms=self.now_ms,
                behind=len(path) - at - 1,
            )
        if self.returns:
            gone = [(kind(facts.seen, facts.behind), facts.last_access) for facts in before if facts]
            after = [self.facts[block] for block in path]
            self.returns.request(gone, [kind(facts.seen, facts.behind) for facts in after], not chunked)

    def _forget(self, block: int) -> None:
        """Take a block out of the cache; what outlives evictions is kept."""
        self.ghosts[block] = self.facts.pop(block)._replace(created=0, hits=0, priority=0)

    def lock(self, string: String) -> int:
        """Lock the cached part of the string's path, once more if it is locked; return how many blocks that is."""
        held = self.match(string)
        self._hold(self.trie.path(string)[:held])
        self._held.setdefault(string, []).append(held)
        return held

    def unlock(self, string: String) -> None:
        """Release the oldest lock of the string.  Raises ValueError if it has none."""
        if not self._held.get(string):
            raise ValueError(f"{string!r} is not locked: unlock once for each lock")
        self._release(self.trie.path(string)[: self._held[string].pop(0)])
        if not self._held[string]:
            del self._held[string]

    def _hold(self, blocks: tuple[int, ...]) -> None:
        for block in blocks:
            self._locks[block] = self._locks.get(block, 0) + 1

    def _release(self, blocks: tuple[int, ...]) -> None:
        for block in blocks:
            self._locks[block] -= 1
            if not self._locks[block]:
                del self._locks[block]

    def evict(self, count: int) -> tuple[int, ...]:
        """Free `count` blocks, or as many as are not locked, and return the victims in order.

        Without the leaf-only rule more may be freed, as a victim takes its descendants along.  Raises ValueError for
        a negative count.
        """
        if count < 0:
            raise ValueError(f"cannot evict {count} blocks: give 0 or more")
        return self._reclaim(count)[0]

    def evictable(self) -> list[int]:
        """Return the blocks that may go: cached, not locked, and under the leaf-only rule without a cached child."""
        if not self.leaf_only:
            return [block for block in self.facts if block not in self._locks]
        inner = {self.trie.parent[block] for block in self.facts}
        return [block for block in self.facts if block not in self._locks and block not in inner]

    def order(self, block: int) -> tuple[Any, int, int, int]:
        """Return the block's place in the order of eviction: score, last access, deeper first, number."""
        facts = self.facts[block]
        return (self._scored(block), facts.last_access, -facts.depth, block)

    def _scored(self, block: int) -> Any:
        """Return the block's score, with what the score asks for."""
        return self.score(self.facts[block], **answers(self._asked, self.clock, self.now_ms, self.returns))

    def _reclaim(self, count: int) -> tuple[tuple[int, ...], int, int, int]:
        """Evict until `count` blocks are free; return the victims, and the middle three numbers of a Served."""
        victims: list[int] = []
        interior = strict_interior = dragged = 0
        goal = len(self.facts) - max(count, 0)
        while len(self.facts) > goal:
            candidates = self.evictable()
            if not candidates:
                break
            facts = [self.facts[block] for block in candidates]
            victim = candidates[lowest(self.score, facts, [self.order(block) for block in candidates])]
            below = [] if self.leaf_only else [b for b in members(self.trie.descendants[victim]) if b in self.facts]
            if below:
                least = self._scored(victim)
                interior += 1
                strict_interior += sum(self._scored(block) == least for block in candidates) == 1
                dragged += len(below)
            for block in [victim, *below]:
                self._forget(block)
            victims.append(victim)
        return tuple(victims), interior, strict_interior, dragged

    def check(self) -> None:
        """Raise AssertionError unless the invariants hold.

        The cached set is ancestor-closed and at most K blocks; locks are cached and closed too, and add up;
        the evictable blocks are those that no lock holds and, under the rule, no cached block sits on; a parent was
        created no later than its child, and its last access, hits and priority are no lower.  What was ever requested
        is ancestor-closed too, and what outlives evictions is no lower for a parent.
        """
        cached = self.cached()
        assert self.trie.is_ancestor_closed(cached), f"not ancestor-closed: {self.trie.labels(cached)}"
        assert len(self.facts) <= self.capacity, f"{len(self.facts)} blocks in a capacity of {self.capacity}"
        held: dict[int, int] = {}
        for string, lengths in self._held.items():
            for length in lengths:
                for block in self.trie.path(string)[:length]:
                    held[block] = held.get(block, 0) + 1
        assert held == self._locks, f"locks do not add up: {held} and {self._locks}"
        assert as_set(self._locks) & ~cached == 0, "a locked block is not cached"
        free = cached if not self.leaf_only else self.trie.leaves(cached)
        assert as_set(self.evictable()) == free & ~as_set(self._locks), "evictable blocks are wrong"
        for block, facts in self.facts.items():
            assert 1 <= facts.created <= facts.last_access <= self.clock and facts.hits >= 0, f"{block}: {facts}"
            if self.trie.parent[block] != ROOT:
                parent = self.facts[self.trie.parent[block]]
                assert parent.created <= facts.created and parent.last_access >= facts.last_access, f"{parent} {facts}"
                assert parent.hits >= facts.hits and parent.priority >= facts.priority, f"{parent} {facts}"
        assert not self.facts.keys() & self.ghosts.keys(), "a cached block is a ghost too"
        ever = {**self.facts, **self.ghosts}
        assert self.trie.is_ancestor_closed(as_set(ever)), "what was requested is not ancestor-closed"
        for block, facts in ever.items():
            assert facts.seen >= 1 and facts.previous_access < facts.last_access, f"{block}: {facts}"
            above = ever.get(self.trie.parent[block], facts)
            assert all(map(ge, outliving(above), outliving(facts))), f"{above} {facts}"
