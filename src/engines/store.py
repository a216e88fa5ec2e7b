"""A store of independent blocks under LRU: what KV stores below the engines are, and every general cache simulator.

The store knows no tree.  A request asks for its blocks one by one, the first block first: a block that is there becomes
the most recently used one, another is put in and the least recently used one goes.  So of the blocks of a
request the first is the oldest, and goes first: what lies behind an evicted block stays as *orphans*, takes room, and
is of use only once the blocks before it are back.
"""

from __future__ import annotations

from collections import OrderedDict

from src.engines.engine import Engine, EngineServed
from src.radixcache import Path


class Store(Engine):
    """An LRU store.  It takes every request and locks nothing.  Cost: O(length) for each request."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self.order: OrderedDict[int, None] = OrderedDict()  # the least recently used block first

    def serve(self, path: Path, priority: int = 0) -> EngineServed:
        """Ask for the blocks of a path, the first block first."""
        hits = 0
        while hits < len(path) and path[hits] in self.order:
            hits += 1
        victims = []
        for block in path:
            self.order[block] = None
            self.order.move_to_end(block)
            if len(self.order) > self.capacity:
                victims.append(self.order.popitem(last=False)[0])
        return EngineServed(hits, True, len(victims), tuple((block,) for block in victims))

    def release(self, path: Path) -> None:
        """Do nothing: the store holds no locks."""

    def cached(self) -> set[int]:
        """Return the blocks in the store, orphans included."""
        return set(self.order)
