"""The width: three computations held together, and the smallest trie that misleads the greedy one."""

from __future__ import annotations

import random
import unittest

from src.radixcache import ROOT, Trie
from src.walks.forests import forest_trie, forests, star
from src.width import WidthCurve, plain_width, width, width_curve
from tests.helpers import STUDY

MISLEADING = Trie(("a", "aa", "aaa", "aab", "aac", "b", "ba", "bb"))


class Width(unittest.TestCase):
    def test_by_hand(self) -> None:
        """A star, a chain, the study's trie: its two roots, then three leaves on four blocks, then all four."""
        self.assertEqual([width(star(4).parent, blocks) for blocks in range(6)], [0, 1, 2, 3, 4, 4])
        self.assertEqual([width([ROOT, 0, 1], blocks) for blocks in (1, 2, 3)], [1, 1, 1])
        self.assertEqual([width(STUDY.parent, blocks) for blocks in range(1, 7)], [1, 2, 2, 3, 3, 4])
        self.assertEqual([width(STUDY.parent, capacity + 1) for capacity in (2, 3, 4, 5)], [2, 3, 3, 4])

    def test_all_forests(self) -> None:
        """The program is the plain definition, and the curve's bounds enclose it, at every number of blocks."""
        cases = open_cases = too_low = too_high = 0
        for nodes in range(1, 8):
            for forest in forests(nodes):
                trie = forest_trie(forest)
                curve = width_curve(trie.parent)
                check(self, curve)
                for blocks in range(1, nodes + 2):
                    exact = plain_width(trie, blocks)
                    self.assertEqual(width(trie.parent, blocks), exact, (trie.parent, blocks))
                    lower, upper = curve.between(blocks)
                    self.assertTrue(lower <= exact <= upper, (trie.parent, blocks, lower, exact, upper))
                    cases += 1
                    open_cases += lower < upper
                    too_low += lower < exact
                    too_high += exact < upper
        self.assertEqual((cases, open_cases, too_low, too_high), (1445, 27, 0, 27))

    def test_taking_the_most_for_the_least_first_is_not_exact(self) -> None:
        """Two leaves for two inner blocks or one for one: with room for two, one is taken and the rest is left."""
        self.assertEqual(width_curve(MISLEADING.parent).between(6), (3, 4))
        self.assertEqual(width(MISLEADING.parent, 6), 4)  # aaa, aab, aac and b

    def test_random_tries(self) -> None:
        chance = random.Random(1)
        for _ in range(30):
            parent = [chance.randrange(max(ROOT, block - chance.choice((1, 3, 40))), block) for block in range(60)]
            curve = width_curve(parent)
            check(self, curve)
            before = 0
            for blocks in range(1, 70, 4):
                exact = width(parent, blocks)
                lower, upper = curve.between(blocks)
                self.assertTrue(before <= lower <= exact <= upper, (parent, blocks, lower, exact, upper))
                before = lower
            self.assertEqual(curve.between(60), (exact, exact))

    def test_a_long_chain_and_a_wide_comb(self) -> None:
        """Neither recursion nor a square of the blocks: groups that grow block by block upwards."""
        blocks = 4_000
        self.assertEqual(width_curve([ROOT, *range(blocks - 1)]).between(blocks), (1, 1))
        spine = [ROOT, *range(blocks - 1)]
        leaves = [block for block in range(1, blocks) for _ in range(1 + block % 7)]
        curve = width_curve(spine + leaves)
        self.assertEqual(curve.between(len(spine) + len(leaves)), (len(leaves),) * 2)


def check(case: unittest.TestCase, curve: WidthCurve) -> None:
    """Assert that the sets grow, that the best are among them, and that their slopes fall."""
    for one, other in zip(curve.sets, curve.sets[1:]):
        case.assertTrue(one.inner < other.inner and one.leaves < other.leaves, curve)
    case.assertLessEqual(set(curve.best), set(curve.sets))
    steps = list(zip(curve.best, curve.best[1:]))
    for (one, two), (three, four) in zip(steps, steps[1:]):
        gain, cost = two.leaves - one.leaves, two.inner - one.inner
        case.assertGreaterEqual(gain * (four.inner - three.inner), (four.leaves - three.leaves) * cost, curve)


if __name__ == "__main__":
    unittest.main()
