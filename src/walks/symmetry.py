"""The symmetries of a trie: permutations of its blocks that keep parents, depths and which blocks end a string.

A cache's decisions do not depend on how blocks are numbered: score, last access and depth leave no tie to break (blocks
with the same last access lie on one path, where depths differ).  So a symmetry turns a run into the run of the
permuted requests, and of states that are images of each other one is enough.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from src.radixcache import ROOT, Trie, members

Permutation = tuple[int, ...]
"""The image of each block."""

LARGEST_GROUP = 5040
"""A trie with more symmetries than this is treated as having none: its permutations would cost more than they save."""


def symmetries(trie: Trie) -> list[Permutation]:
    """Return all symmetries of the trie, the identity first; the identity alone if they are too many.

    Two siblings can change places when their subtrees have the same shape.  Cost: O(symmetries · blocks).
    """
    ends = {trie.path(string)[-1] for string in trie.strings}
    children: dict[int, list[int]] = {block: [] for block in range(ROOT, len(trie))}
    for block, parent in enumerate(trie.parent):
        children[parent].append(block)
    shape: dict[int, str] = {}
    for block in range(len(trie) - 1, -1, -1):
        shape[block] = f"{int(block in ends)}({''.join(sorted(shape[child] for child in children[block]))})"
    if _count(children, shape) > LARGEST_GROUP:
        return [tuple(range(len(trie)))]
    # Sorted, the identity comes first: it is the smallest permutation.
    return sorted(tuple(moved[block] for block in range(len(trie))) for moved in _images(children, shape, ROOT, ROOT))


def _count(children: dict[int, list[int]], shape: dict[int, str]) -> int:
    """Return how many symmetries there are: for each set of k siblings of one shape, k! arrangements."""
    count = 1
    for siblings in children.values():
        for _, alike in itertools.groupby(sorted(shape[child] for child in siblings)):
            count *= math.factorial(len(list(alike)))
    return count


def _images(
    children: dict[int, list[int]], shape: dict[int, str], source: int, target: int
) -> list[dict[int, int]]:
    """Return all ways to map the blocks below `source` onto those below `target`, a block of the same shape."""
    found = []
    for order in _orders(children[source], children[target], shape):
        parts = [
            [{one: other, **below} for below in _images(children, shape, one, other)]
            for one, other in zip(children[source], order)
        ]
        for choice in itertools.product(*parts):
            found.append({block: moved for part in choice for block, moved in part.items()})
    return found


def _orders(sources: list[int], targets: list[int], shape: dict[int, str]) -> Iterator[list[int]]:
    """Yield the orders of the targets in which each has the shape of the source in its place."""
    shapes = sorted({shape[one] for one in sources})
    alike = [[one for one in targets if shape[one] == wanted] for wanted in shapes]
    for arranged in itertools.product(*map(itertools.permutations, alike)):
        rest = {wanted: iter(some) for wanted, some in zip(shapes, arranged)}
        yield [next(rest[shape[one]]) for one in sources]


def image(blocks: int, permutation: Permutation) -> int:
    """Return the image of a set of blocks."""
    moved = 0
    for block in members(blocks):
        moved |= 1 << permutation[block]
    return moved
