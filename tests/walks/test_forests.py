"""All forests of a size, against every way to choose parents."""

from __future__ import annotations

import itertools
import unittest
from typing import Any

from src.radixcache import ROOT, Trie
from src.walks.forests import Forest, Tree, forest_trie, forests, star


def canonical(parents: list[int], above: int = ROOT) -> tuple[Any, ...]:
    """Return the shape of the blocks below one: what it is whatever the order of siblings."""
    return tuple(sorted(canonical(parents, block) for block, parent in enumerate(parents) if parent == above))


def every_shape(nodes: int) -> set[tuple[Any, ...]]:
    """Return the shapes of all forests with that many nodes: each node's parent is any earlier node or none."""
    choices = itertools.product(*(range(ROOT, node) for node in range(nodes)))
    return {canonical(list(parents)) for parents in choices}


def nodes_of(forest: Forest) -> int:
    """Return the nodes of a forest, counted one by one."""
    return sum(1 + nodes_of(below) for _, below in forest)


def flat(forest: Forest) -> list[Tree]:
    """Return all trees of a forest, those below other trees included."""
    return [one for tree in forest for one in (tree, *flat(tree[1]))]


class Forests(unittest.TestCase):
    def test_there_are_84_with_up_to_6_nodes(self) -> None:
        counts = [len(forests(nodes)) for nodes in range(1, 7)]
        self.assertEqual((counts, sum(counts)), ([1, 2, 4, 9, 20, 48], 84))
        self.assertEqual([len(forests(nodes)) for nodes in (0, 7, 8, 9)], [1, 115, 286, 719])

    def test_each_shape_is_there_once(self) -> None:
        for nodes in range(8):
            shapes = [canonical(forest_trie(forest).parent) for forest in forests(nodes)] if nodes else [()]
            self.assertEqual(len(set(shapes)), len(shapes), nodes)
            self.assertEqual(set(shapes), every_shape(nodes), nodes)

    def test_the_numbers_of_nodes_are_right_and_larger_trees_come_first(self) -> None:
        for nodes in range(8):
            for forest in forests(nodes):
                self.assertEqual(nodes_of(forest), nodes, forest)
                for count, below in flat(forest):
                    self.assertEqual(count, 1 + nodes_of(below), forest)
                    self.assertEqual(sorted(below, reverse=True), list(below), forest)
                self.assertEqual(sorted(forest, reverse=True), list(forest))
            sizes = [forest[0][0] for forest in forests(nodes) if forest]
            self.assertEqual(sizes, sorted(sizes, reverse=True))

    def test_no_tree_larger_than_allowed(self) -> None:
        chain = (2, ((1, ()),))
        self.assertEqual(forests(3, (1, ())), (((1, ()),) * 3,))
        self.assertEqual(set(forests(3, chain)), {((1, ()),) * 3, (chain, (1, ()))})


class Tries(unittest.TestCase):
    def test_every_block_ends_a_string(self) -> None:
        for nodes in range(1, 7):
            for forest in forests(nodes):
                trie = forest_trie(forest)
                self.assertEqual((len(trie), len(trie.strings)), (nodes, nodes), forest)
                self.assertEqual({trie.path(string)[-1] for string in trie.strings}, set(range(nodes)), forest)

    def test_by_hand(self) -> None:
        chain = (2, ((1, ()),))
        self.assertEqual(forest_trie((chain, (1, ()))).strings, ("0", "00", "1"))
        self.assertEqual(forest_trie(((3, ((1, ()), (1, ()))),)).strings, ("0", "00", "01"))
        with self.assertRaisesRegex(ValueError, "universe is empty"):
            forest_trie(())

    def test_the_study_is_among_those_with_6_nodes(self) -> None:
        shapes = [canonical(forest_trie(forest).parent) for forest in forests(6)]
        self.assertIn(canonical(Trie(("0", "1", "00", "01", "10", "11")).parent), shapes)

    def test_stars(self) -> None:
        for leaves in (1, 2, 5):
            trie = star(leaves)
            self.assertEqual((trie.parent, trie.depth), ([ROOT] * leaves, [1] * leaves))
            self.assertEqual(trie.strings, tuple(map(str, range(leaves))))


if __name__ == "__main__":
    unittest.main()
