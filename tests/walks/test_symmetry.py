"""The symmetries of tries, against all permutations of their blocks."""

from __future__ import annotations

import itertools
import math
import random
import unittest
from collections.abc import Sequence

from src.radixcache import ROOT, Rule, Trie
from src.walks.forests import forest_trie, forests, star
from src.walks.lru_machine import lru_step
from src.walks.symmetry import LARGEST_GROUP, Permutation, image, symmetries
from tests.helpers import BINARY, blocks, random_universe


def is_symmetry(trie: Trie, permutation: Sequence[int]) -> bool:
    """Return whether a permutation keeps parents and which blocks end a string (depths follow)."""
    ends = {trie.path(string)[-1] for string in trie.strings}
    return all(
        (permutation[parent] if parent != ROOT else ROOT) == trie.parent[permutation[block]]
        and (block in ends) == (permutation[block] in ends)
        for block, parent in enumerate(trie.parent)
    )


def all_symmetries(trie: Trie) -> list[Permutation]:
    """Return the symmetries among all permutations of the blocks, the identity first."""
    return [one for one in itertools.permutations(range(len(trie))) if is_symmetry(trie, one)]


class Groups(unittest.TestCase):
    def test_known_sizes(self) -> None:
        for strings, count in (
            (BINARY, 8),
            (("a",), 1),
            (("abcd",), 1),
            (("a", "ab", "abc"), 1),
            (("a", "ab", "c", "cd"), 2),
            (("ab", "cd"), 2),
            (("ab", "c", "cd"), 1),  # a ends no string, c does
            (("ab", "ac", "d", "de", "df"), 4),
            (("ab", "ac", "de", "df"), 8),
            (("ab", "ac", "a", "d"), 2),
            (("ax", "ay", "az", "b", "c"), 12),
            (("a", "ab", "abc", "ad", "x", "xy", "xz", "xzw"), 2),  # the longer child is first here and last there
        ):
            self.assertEqual(len(symmetries(Trie(strings))), count, strings)
        for leaves in range(1, 7):
            self.assertEqual(len(symmetries(star(leaves))), math.factorial(leaves))

    def test_against_all_permutations(self) -> None:
        rng = random.Random(1)
        tries = [forest_trie(forest) for count in range(1, 7) for forest in forests(count)]
        tries += [Trie(BINARY), Trie(("ab", "cd", "ce", "a")), Trie(("ab", "ac", "de", "df"))]
        while len(tries) < 150:
            trie = Trie(random_universe(rng, 5, 3, "abc"))
            tries += [trie] if len(trie) <= 6 else []
        for trie in tries:
            self.assertEqual(symmetries(trie), all_symmetries(trie), trie.strings)

    def test_each_is_a_symmetry_and_products_are_too(self) -> None:
        for trie in (Trie(("00", "01", "0", "10", "11", "1", "2", "3")), Trie(("abc", "abd", "aef", "aeg", "x", "y"))):
            group = symmetries(trie)
            self.assertEqual(group[0], tuple(range(len(trie))))
            self.assertEqual(len(set(group)), len(group))
            for one, other in itertools.product(group, repeat=2):
                self.assertTrue(is_symmetry(trie, one), one)
                self.assertIn(tuple(one[block] for block in other), set(group))

    def test_many_siblings_of_different_shapes(self) -> None:
        """Only orders that keep shapes are tried: the 11! orders of these siblings would take minutes."""
        self.assertEqual(len(symmetries(Trie(["a", "b", "c", "d", "ee", "ff", "gg", "hh", "i", "ii", "j"]))), 2880)

    def test_too_many_symmetries_count_as_none(self) -> None:
        self.assertEqual(LARGEST_GROUP, math.factorial(7))
        self.assertEqual(len(symmetries(star(7))), LARGEST_GROUP)
        self.assertEqual(symmetries(star(8)), [tuple(range(8))])
        wide = Trie(tuple("abcdefg") + ("xa", "xb", "x"))  # 7! arrangements of the leaves, times 2
        self.assertEqual(symmetries(wide), [tuple(range(10))])
        self.assertEqual(symmetries(star(40)), [tuple(range(40))])


class Images(unittest.TestCase):
    def test_by_hand(self) -> None:
        self.assertEqual(image(blocks(0, 2, 3), (1, 0, 4, 3, 2)), blocks(1, 3, 4))
        self.assertEqual(image(0, (1, 0)), 0)

    def test_a_run_turns_into_the_run_of_the_permuted_requests(self) -> None:
        """What the merging of states rests on, for LRU: the image of what a request does is what its image does."""
        rng = random.Random(2)
        for trie in (Trie(BINARY), Trie(("ab", "ac", "de", "df")), Trie(("a", "ab", "c", "cd", "e"))):
            ending = {trie.path(string)[-1]: string for string in trie.strings}
            for permutation in symmetries(trie):
                state = other = (0,) * len(trie)
                for string in [rng.choice(trie.strings) for _ in range(20)]:
                    moved = ending[permutation[trie.path(string)[-1]]]
                    state, step = lru_step(trie, 3, state, string, Rule.LEAF_ONLY)
                    other, same = lru_step(trie, 3, other, moved, Rule.LEAF_ONLY)
                    self.assertEqual([other[permutation[block]] for block in range(len(trie))], list(state))
                    self.assertEqual((same.misses, same.cached), (step.misses, image(step.cached, permutation)))


if __name__ == "__main__":
    unittest.main()
