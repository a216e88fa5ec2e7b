"""LRU that evicts whole radix nodes, on the trie of blocks: as a machine, and its price on a trie from below.

A *node* is a chain of blocks that came together and was not split since.  The blocks that a request misses are one new
node.  A request splits a node where it leaves it, at its own end or at a fork; the rest keeps its time.  What is
evicted is a whole leaf node, that with the oldest last access, and again until the blocks fit: so the last one may free
more than was needed.  The path in service is locked, and split off before anything is evicted; of a path longer than
the capacity the first K blocks stay, as under LRU on blocks.  Nodes never grow or merge.  That is the abstraction of
which the proofs speak (`results/PROOFS.md`, "Whole nodes"); real engines do more.

A state is (times, joined): the ranks of last accesses (0: not cached), and the set of the blocks that are in one node
with their parent.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from src.radixcache import (
    ROOT,
    LastAccess,
    Optimum,
    Path,
    String,
    Trie,
    as_set,
    check_capacity,
    members,
    size,
)
from src.walks.beside_optimum import BesideOptimum
from src.walks.exhaustive import Machine, Tally
from src.walks.lru_machine import cached_set, ranks
from src.walks.symmetry import Permutation, image
from src.walks.work_function import WorkFunction


class NodeState(NamedTuple):
    """Ranks of last accesses, and the blocks that share a node with their parent."""

    times: LastAccess
    joined: int


def cold(trie: Trie) -> NodeState:
    """Return the state of an empty cache."""
    return NodeState((0,) * len(trie), 0)


def joined_after(trie: Trie, path: Path, held: int, joined: int) -> int:
    """Return which blocks share a node with their parent once a path was split off and its absent blocks came.

    A cached block that is not on the path, but whose parent is, starts a node.  So does the first absent block; the
    absent blocks after it join it.  Cost: O(blocks).
    """
    on_path = as_set(path)
    for block in members(held & joined & ~on_path):
        if trie.parent[block] != ROOT and on_path >> trie.parent[block] & 1:
            joined &= ~(1 << block)
    absent = [block for block in path if not held >> block & 1]
    return joined | as_set(absent[1:])


def node_of(trie: Trie, leaf: int, joined: int) -> int:
    """Return the blocks of the node that ends at a cached leaf."""
    blocks = 1 << leaf
    while joined >> leaf & 1:
        leaf = trie.parent[leaf]
        blocks |= 1 << leaf
    return blocks


def serve_whole_nodes(
    trie: Trie, capacity: int, state: NodeState, string: String
) -> tuple[NodeState, int, tuple[int, ...]]:
    """Serve one request; return the state after it, the missed blocks and the evicted nodes (sets) in their order.

    Leaf nodes off the path never tie: blocks of one last access lie on one path, so at most one of them is a leaf.
    What does not fit of a path goes block by block, after all else.  Cost: O(blocks) for each eviction.
    """
    path = trie.path(string)
    held = cached_set(state.times)
    joined = joined_after(trie, path, held, state.joined)
    on_path = as_set(path)
    misses = size(on_path & ~held)
    now = max(state.times) + 1
    times = [now if on_path >> block & 1 else time for block, time in enumerate(state.times)]
    held |= on_path
    evicted = []
    while size(held) > capacity:
        oldest = min(members(trie.leaves(held) & ~on_path), key=lambda block: times[block], default=None)
        node = trie.leaves(held) if oldest is None else node_of(trie, oldest, joined)
        evicted.append(node)
        held &= ~node
        joined &= ~node
        for block in members(node):
            times[block] = 0
    return NodeState(ranks(times), joined), misses, tuple(evicted)


def whole_node_machine(trie: Trie, capacity: int) -> Machine:
    """Return LRU on whole nodes as a machine; its tally is (misses,).  Raises ValueError for a capacity below 1."""
    check_capacity(capacity)

    def step(state: NodeState, string: String) -> tuple[NodeState, Tally]:
        """Serve a request; the tally is (misses,), in blocks."""
        state, misses, _ = serve_whole_nodes(trie, capacity, state, string)
        return state, (misses,)

    return Machine(cold(trie), trie.strings, 1, step)


def whole_nodes_beside_optimum(
    trie: Trie, capacity: int, optimum: Optimum, merge: bool = True, policy: Machine | None = None
) -> BesideOptimum:
    """Return LRU on whole nodes beside the block optimum.  `policy` is its machine, if there is one already."""

    def move(state: NodeState, permutation: Permutation) -> NodeState:
        """Return the state with the blocks renamed."""
        times = [0] * len(state.times)
        for block, time in enumerate(state.times):
            times[permutation[block]] = time
        return NodeState(tuple(times), image(state.joined, permutation))

    work = WorkFunction(trie, capacity, optimum)
    return BesideOptimum(policy or whole_node_machine(trie, capacity), work, trie.strings, move, merge)


def private_chains(trie: Trie, held: int) -> list[int]:
    """Return, for each leaf of an ancestor-closed set, how many blocks have that leaf and no other below them.

    In ascending order.  Cost: O(blocks · leaves).
    """
    leaves = trie.leaves(held)
    lengths = []
    for leaf in members(leaves):
        length, block = 0, leaf
        while block != ROOT and size((trie.descendants[block] | 1 << block) & leaves) == 1:
            length += 1
            block = trie.parent[block]
        lengths.append(length)
    return sorted(lengths)


def price_from_below(trie: Trie, capacity: int, optimum: Optimum) -> Fraction:
    """Return the ratio that private chains force on LRU on whole nodes: at least this, on every trie.

    The largest, over the ancestor-closed sets of K + 1 blocks with two leaves or more, of the blocks in private chains;
    against the locked optimum less half of the two shortest of them.  At least 1.
    Cost: O(sets that peeling leaves off the whole trie down to K + 1 blocks meets), exponential in what is peeled off.
    """
    price = Fraction(1)
    layer = {(1 << len(trie)) - 1}
    for _ in range(len(trie) - capacity - 1):
        layer = {held & ~(1 << leaf) for held in layer for leaf in members(trie.leaves(held))}
    for held in layer:
        chains = private_chains(trie, held)
        if len(chains) > 1:
            saved = Fraction(chains[0] + chains[1], 2) if optimum is Optimum.LOCKED else Fraction(0)
            price = max(price, sum(chains) - saved)
    return price
