"""vLLM's KV cache manager: no tree, one queue of free blocks.

A block that no request holds is *free*, and keeps its content until its room is needed.  Free blocks stand in a queue.
A lookup takes its hits out of the queue; missing blocks take the room at its head, where room that was never used
stands first; a release puts the blocks that nobody else holds at the end, the last block of the path first.  So recency
is the order of releases, and a child always stands before its parent (`results/PROOFS.md`).
"""

from __future__ import annotations

from collections import OrderedDict

from src.engines.engine import Engine, EngineServed
from src.radixcache import Path


class VLLM(Engine):
    """vLLM 0.33.0, one room a block.  Cost: O(length) for each request and release."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self.holders: dict[int, int] = {}  # of each cached block: how many requests hold it
        self.free: OrderedDict[int, None] = OrderedDict()  # the cached blocks that none holds, the next victim first

    def serve(self, path: Path, priority: int = 0) -> EngineServed:
        """Serve a request; one whose missing blocks do not fit beside what is held changes nothing."""
        hits = 0
        while hits < len(path) and path[hits] in self.holders:
            hits += 1
        held = len(self.holders) - len(self.free) + sum(block in self.free for block in path[:hits])
        if held + len(path) - hits > self.capacity:
            return EngineServed(hits, admitted=False)
        for block in path[:hits]:
            self.holders[block] += 1
            self.free.pop(block, None)
        asked = max(len(self.holders) + len(path) - hits - self.capacity, 0)
        victims = [self.free.popitem(last=False)[0] for _ in range(asked)]
        for block in victims:
            del self.holders[block]
        for block in path[hits:]:
            self.holders[block] = 1
        return EngineServed(hits, True, asked, tuple((block,) for block in victims))

    def release(self, path: Path) -> None:
        """Put those blocks of the path that nobody else holds at the end of the queue, the last block first."""
        for block in reversed(path):
            self.holders[block] -= 1
            if not self.holders[block]:
                self.free[block] = None

    def cached(self) -> set[int]:
        """Return the blocks that are held or free with their content."""
        return set(self.holders)
