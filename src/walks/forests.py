"""All rooted forests of a size: every shape that a small trie can have.

A trie's root holds no block, so its blocks form a forest; every block ends a string, so that every path may be
requested.  The numbers of forests with 1, 2, 3, ... nodes are 1, 2, 4, 9, 20, 48 (as many as rooted trees with a
node more).
"""

from __future__ import annotations

from functools import cache
from string import ascii_letters, digits

from src.radixcache import Trie

Forest = tuple["Tree", ...]
Tree = tuple[int, Forest]
"""A tree: its number of nodes, and the forest below its root."""


@cache
def forests(nodes: int, largest: Tree | None = None) -> tuple[Forest, ...]:
    """Return all forests with that many nodes, no two alike, whose trees are at most `largest`, larger trees first.

    Each forest is listed once, with its trees in descending order.  Cost: O(forests · nodes).
    """
    if nodes == 0:
        return ((),)
    found = []
    for first in range(nodes, 0, -1):
        for below in forests(first - 1):
            tree = (first, below)
            if largest is None or tree <= largest:
                found += [(tree, *rest) for rest in forests(nodes - first, tree)]
    return tuple(found)


def forest_trie(forest: Forest) -> Trie:
    """Return the trie of that shape; its strings are the paths of all its blocks: 0, 00, 01, 1 and so on.

    Raises IndexError for more than 62 children.
    """
    return Trie(_paths(forest, ""))


def star(leaves: int) -> Trie:
    """Return the trie of so many one-block strings: flat paging."""
    return forest_trie(((1, ()),) * leaves)


def _paths(forest: Forest, above: str) -> list[str]:
    paths = []
    for number, (_, below) in enumerate(forest):
        path = above + (digits + ascii_letters)[number]
        paths += [path, *_paths(below, path)]
    return paths
