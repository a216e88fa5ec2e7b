"""The optimum that must evict whole nodes, as a machine: what the leaf-only rule would cost if it spoke of nodes.

What a node is and how it is split is said in `whole_nodes`.  This optimum knows all requests.  When one has been
served it may drop any leaf nodes, in any number and at any time, needed or not; a locked one holds the path.  It
fetches what is requested and no more.
"""

from __future__ import annotations

from src.radixcache import Optimum, String, Trie, as_set, check_fits, members, size
from src.walks.exhaustive import Machine, Tally
from src.walks.whole_nodes import joined_after, node_of

Content = tuple[int, int]
"""The cached set, and the blocks of it that share a node with their parent."""
Costs = tuple[tuple[Content, int], ...]
"""For each content, the least misses to hold it now, less the least of all."""


class WholeNodeOptimum:
    """The least misses for each content that the cache may have: the work function of whole nodes.

    Unlike the one of blocks it knows no fetching ahead, as that could cut nodes finer than the requests do; so there
    may be infinitely many states.  Cost of a step: O(contents · contents that are left by dropping nodes).
    """

    def __init__(self, trie: Trie, capacity: int, optimum: Optimum) -> None:
        check_fits(trie, capacity, Optimum.LOCKED)
        self.trie, self.capacity, self.optimum = trie, capacity, optimum
        self._left: dict[tuple[Content, int], list[Content]] = {}

    start: Costs = (((0, 0), 0),)

    def step(self, costs: Costs, string: String) -> tuple[Costs, int]:
        """Serve one request; return the costs after it with the growth of the least of them."""
        path = self.trie.path(string)
        on_path = as_set(path)
        after: dict[Content, int] = {}
        for (held, joined), cost in costs:
            served = held | on_path, joined_after(self.trie, path, held, joined)
            misses = size(on_path & ~held)
            for content in self._reduced(served, self.optimum.kept(on_path)):
                if cost + misses < after.get(content, cost + misses + 1):
                    after[content] = cost + misses
        growth = min(after.values())
        return tuple((content, cost - growth) for content, cost in sorted(after.items())), growth

    def _reduced(self, content: Content, kept: int) -> list[Content]:
        """Return every content of at most K blocks that dropping leaf nodes without a block of `kept` leaves."""
        key = (content, kept)
        if key not in self._left:
            found = {content}
            waiting = [content]
            while waiting:
                held, joined = waiting.pop()
                for leaf in members(self.trie.leaves(held) & ~kept):
                    node = node_of(self.trie, leaf, joined)
                    less = held & ~node, joined & ~node
                    if less not in found:
                        found.add(less)
                        waiting.append(less)
            self._left[key] = [less for less in sorted(found) if size(less[0]) <= self.capacity]
        return self._left[key]


def whole_node_optimum_machine(trie: Trie, capacity: int, optimum: Optimum) -> Machine:
    """Return the optimum on whole nodes as a machine; its tallies add up to (least misses,)."""
    work = WholeNodeOptimum(trie, capacity, optimum)

    def step(costs: Costs, string: String) -> tuple[Costs, Tally]:
        """Serve a request; the tally is by how much the least cost grows, in blocks."""
        costs, growth = work.step(costs, string)
        return costs, (growth,)

    return Machine(work.start, trie.strings, 1, step)
