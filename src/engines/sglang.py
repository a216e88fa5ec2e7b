"""SGLang's radix cache: a tree of *nodes*, each a chain of blocks that came together and was not split since.

A request is served in these steps:

* match: walk down from the root as far as the path is cached.  A node that the path leaves in its middle is split
  in two.  All nodes on the way get the time of the match, and so does the unmatched rest of a split.
* lock the matched nodes; then, if the rest of the path does not fit, evict.  The candidates are leaves without a lock,
  the lowest score goes first, within a tie the least recently used one.  A whole node goes each time, so more may go
  than was asked for.  If there is not as much to evict as is needed, the request is refused, with its match done.
* insert: walk down again, which counts a hit, raises the priority and sets the time of each node; the rest of
  the path becomes one new node.  Lock the inserted path in place of the matched one.

What is in a node is what a policy sees: a node's facts are those of its last block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

from src.engines.engine import Engine, EngineServed
from src.policies.scores import lru
from src.radixcache import Path


class Behaviour(NamedTuple):
    """What SGLang does differently from a cache of single blocks; each can be switched off, to see what it costs.

    `whole_nodes`: a victim is a whole node, not one block of it.
    `refresh_rest`: the rest of a node that a match splits off counts as used now.
    `count_creation`: the request that creates a node counts as its first hit; on SGLang's page only later ones count.
    `unified`: as in the unified cache, the upper part of a split keeps the creation time (in `RadixCache` it is created
    at the split), and a request stamps its nodes one after the other (in `RadixCache` all at once, save a new one).
    """

    whole_nodes: bool = True
    refresh_rest: bool = True
    count_creation: bool = True
    unified: bool = False


RADIX = Behaviour()
"""That of `RadixCache`."""


class Node:
    """A chain of blocks in the tree; its last block has the depth `depth`.

    `reach` is the depth of the deepest block that ever was below or in the node, evicted or not.  Times are the ticks
    of the cache's clock.
    """

    __slots__ = (
        "blocks", "depth", "parent", "children", "last_access", "created", "hits", "priority", "reach", "locks"
    )  # fmt: skip

    def __init__(self, blocks: Path, parent: Node | None) -> None:
        self.blocks, self.parent = blocks, parent
        self.depth: int = len(blocks) + (parent.depth if parent else 0)
        self.reach = self.depth
        self.children: dict[int, Node] = {}  # by their first block
        self.last_access = self.created = self.hits = self.priority = self.locks = 0

    @property
    def start(self) -> int:
        """How many blocks lie above the node."""
        return self.depth - len(self.blocks)


NodeScore = Callable[[Node], Any]
"""A score of nodes: the lowest goes first."""


class NodeFacts(NamedTuple):
    """What SGLang's policies know of a node, by the names of `src.policies.facts.Facts`; times are ticks.

    A policy of blocks that looks at anything else fails here, and is not SGLang's.
    """

    last_access: int
    created: int
    hits: int
    priority: int
    depth: int


def of_facts(score: Callable[[Any], Any]) -> NodeScore:
    """Return the score that a policy of blocks gives to a node, from the facts of its last block."""

    def of_node(node: Node) -> Any:
        """Return the score of a node: the lowest goes first."""
        return score(NodeFacts(node.last_access, node.created, node.hits, node.priority, node.depth))

    return of_node


LRU = of_facts(lru)


def tlru(threshold: int, next_prompt_estimate: int) -> NodeScore:
    """Return tail-optimized LRU: first the nodes that the next request can do without.

    The next request on a branch is taken to be `next_prompt_estimate` blocks longer than the longest one so far; it
    may miss `threshold` blocks.  Nodes that start behind what it must hit go first, then the others, each by recency.
    """

    def of_node(node: Node) -> int:
        """Return -1 for a node in the tail, which goes first, else 0."""
        return -1 if node.start >= node.reach + next_prompt_estimate - threshold else 0

    return of_node


class SGLang(Engine):
    """SGLang 0.5.23's radix cache in the plain form: each eviction looks at every node.

    Cost of a request: O(length), and O(nodes) for each eviction.
    """

    def __init__(self, capacity: int, score: NodeScore = LRU, behaviour: Behaviour = RADIX) -> None:
        super().__init__(capacity)
        self.score, self.behaviour = score, behaviour
        self.root = Node((), None)
        self.clock = 0
        self.size = 0  # blocks in the tree
        self.locked = 0  # blocks in nodes with a lock

    def serve(self, path: Path, priority: int = 0) -> EngineServed:
        """Serve a request: see the head of this module."""
        node = self._match(path)
        hits = node.depth
        self._lock(node)
        asked = max(self.size + len(path) - hits - self.capacity, 0)
        if asked > self.size - self.locked:
            self._unlock(node)
            return EngineServed(hits, admitted=False)
        evicted = self._evict(asked)
        tail = self._insert(path, priority)
        self._lock(tail)
        self._unlock(node)
        return EngineServed(hits, True, asked, evicted)

    def release(self, path: Path) -> None:
        """Take the request's locks from its nodes."""
        node = self.root
        while node.depth < len(path):
            node = node.children[path[node.depth]]
        self._unlock(node)

    def cached(self) -> set[int]:
        """Return the blocks of all nodes."""
        return {block for node in self.nodes() for block in node.blocks}

    def nodes(self) -> Iterator[Node]:
        """Yield the nodes, a parent before its children; not the root, which holds no block."""
        waiting = list(self.root.children.values())
        while waiting:
            node = waiting.pop()
            yield node
            waiting += node.children.values()

    def _tick(self) -> int:
        self.clock += 1
        return self.clock

    def _match(self, path: Path) -> Node:
        """Return the node in which the cached part of the path ends, split off if need be; the way there is touched."""
        now = self._tick()
        node = self.root
        while node.depth < len(path) and path[node.depth] in node.children:
            child = node.children[path[node.depth]]
            if self.behaviour.unified:
                now = self._tick()
            part = path[node.depth : child.depth]
            if part != child.blocks:
                return self._split(child, shared_blocks(part, child.blocks), now)
            child.last_access = now
            node = child
        return node

    def _split(self, node: Node, at: int, now: int) -> Node:
        """Give the first `at` blocks of a node to a new node above it, and return that."""
        upper = Node(node.blocks[:at], node.parent)
        upper.last_access = now
        upper.created = node.created if self.behaviour.unified else self._tick()
        upper.hits, upper.priority, upper.locks, upper.reach = node.hits, node.priority, node.locks, node.reach
        upper.children[node.blocks[at]] = node
        assert node.parent is not None
        node.parent.children[upper.blocks[0]] = upper
        node.blocks, node.parent = node.blocks[at:], upper
        if self.behaviour.refresh_rest:
            node.last_access = now
        return upper

    def _insert(self, path: Path, priority: int) -> Node:
        """Count the request on the nodes of its path, of which the last is made if need be; return that one."""
        now, length = self._tick(), len(path)
        node = self.root
        while node.depth < length:
            child = node.children.get(path[node.depth])
            if child is None:
                child = self._grow(node, path[node.depth :])
            else:
                child.hits += 1
                child.last_access = self._tick() if self.behaviour.unified else now
            if child.priority < priority:
                child.priority = priority
            if child.reach < length:
                child.reach = length
            node = child
        return node

    def _grow(self, parent: Node, blocks: Path) -> Node:
        """Return a new node below a parent."""
        node = Node(blocks, parent)
        node.last_access = self._tick()
        node.created = self._tick()
        node.hits = int(self.behaviour.count_creation)
        parent.children[blocks[0]] = node
        self.size += len(blocks)
        return node

    def _lock(self, node: Node) -> None:
        """Lock a node and those above it."""
        while node.parent is not None:
            if not node.locks:
                self.locked += len(node.blocks)
            node.locks += 1
            node = node.parent

    def _unlock(self, node: Node) -> None:
        """Take one lock from a node and from those above it."""
        while node.parent is not None:
            node.locks -= 1
            if not node.locks:
                self.locked -= len(node.blocks)
            node = node.parent

    def _evict(self, asked: int) -> tuple[Path, ...]:
        """Free at least `asked` blocks, which there are, and return what went."""
        evicted = []
        while asked > 0:
            node = self._victim()
            gone = node.blocks if self.behaviour.whole_nodes else node.blocks[-asked:]
            self._remove(node, len(gone))
            evicted.append(gone)
            asked -= len(gone)
        return tuple(evicted)

    def _victim(self) -> Node:
        """Return the leaf without a lock that goes first."""
        leaves = (node for node in self.nodes() if not node.children and not node.locks)
        return min(leaves, key=lambda node: (self.score(node), node.last_access))

    def _remove(self, leaf: Node, count: int) -> None:
        """Take the last `count` blocks from a leaf, and the leaf out of the tree if it has no more."""
        self.size -= count
        if count < len(leaf.blocks):
            leaf.blocks = leaf.blocks[:-count]
            leaf.depth -= count
        else:
            assert leaf.parent is not None
            del leaf.parent.children[leaf.blocks[0]]

    def check(self) -> None:
        """Raise AssertionError unless the invariants hold.

        The counts are those of the tree, which fits; each node has blocks and knows its place; a parent has the locks
        of all its children and reaches as deep as any of them.
        """
        nodes = list(self.nodes())
        assert self.size == sum(len(node.blocks) for node in nodes) <= self.capacity
        assert self.locked == sum(len(node.blocks) for node in nodes if node.locks)
        for node in nodes:
            assert node.blocks and node.parent is not None and node.start == node.parent.depth
            assert node.parent.children[node.blocks[0]] is node
            assert node.reach >= max([node.depth, *(child.reach for child in node.children.values())])
            assert node.locks >= sum(child.locks for child in node.children.values())


def shared_blocks(left: Path, right: Path) -> int:
    """Return how many blocks two chains share from their first on."""
    shared = 0
    for one, other in zip(left, right):
        if one != other:
            break
        shared += 1
    return shared
