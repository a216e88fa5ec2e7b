"""SGLang's radix cache for traces: decision by decision that of `src.engines.sglang`, with a heap of its candidates.

A node's facts change only when a request reaches it, and that request locks it.  So when a node becomes a candidate (a
leaf without a lock) its place in the order of eviction is final until it is evicted or reached again, and it
enters the heap at that moment.  This is when its last lock goes, when its last child goes, and when it is cut in two.
"""

from __future__ import annotations

import heapq
from typing import Any

from src.engines.sglang import LRU, RADIX, Behaviour, Node, NodeScore, SGLang

Queued = tuple[Any, int, int, Node]
"""A candidate's place in the order of eviction, the number of its entry and the candidate: score and last access first.
No two entries have the same number, so nodes are never compared."""


class QueuedSGLang(SGLang):
    """The same cache.  Cost of a request: O(length + evictions · log K)."""

    def __init__(self, capacity: int, score: NodeScore = LRU, behaviour: Behaviour = RADIX) -> None:
        super().__init__(capacity, score, behaviour)
        self._queue: list[Queued] = []
        self._latest: dict[Node, int] = {}  # of each node in the tree that was queued: the number of its latest entry
        self._entries = 0

    def _enter(self, node: Node) -> None:
        """Queue a node if it is a candidate; an earlier entry of it is void."""
        if node.children or node.locks or node.parent is None:
            return
        self._entries += 1
        self._latest[node] = self._entries
        heapq.heappush(self._queue, (self.score(node), node.last_access, self._entries, node))
        if len(self._queue) > 2 * len(self._latest) + 64:  # at least half of them are void: this pays for itself
            self._queue = [entry for entry in self._queue if self._latest.get(entry[3]) == entry[2]]
            heapq.heapify(self._queue)

    def _victim(self) -> Node:
        while True:
            _, _, number, node = heapq.heappop(self._queue)
            if self._latest.get(node) == number and not node.children and not node.locks:
                return node

    def _unlock(self, node: Node) -> None:
        super()._unlock(node)
        self._enter(node)

    def _split(self, node: Node, at: int, now: int) -> Node:
        upper = super()._split(node, at, now)
        self._enter(node)
        return upper

    def _remove(self, leaf: Node, count: int) -> None:
        del self._latest[leaf]
        left = leaf if count < len(leaf.blocks) else leaf.parent
        super()._remove(leaf, count)
        assert left is not None
        self._enter(left)
