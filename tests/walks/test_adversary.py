"""The adversary: what it finds against plain enumeration, and what it says when it cannot settle a policy."""

from __future__ import annotations

import functools
import unittest
from fractions import Fraction

from src.policies.cache import Cache, CacheState
from src.policies.facts import Facts, PolicyError, Score
from src.policies.scores import make_policy, sglang_policies
from src.radixcache import Optimum, Trie, UnrestrictedBelady
from src.walks.adversary import DEFAULT_LENGTH, Attack, attack, small_tries, worst_case
from tests.helpers import STUDY


def plain_worst(
    trie: Trie, capacity: int, score: Score, optimum: Optimum, length: int
) -> tuple[Fraction, tuple[str, ...]]:
    """Return the worst ratio and its first shortest sequence, one sequence at a time."""
    cache = Cache(trie, capacity, score)
    best: tuple[Fraction, tuple[str, ...]] = (Fraction(0), ())
    level: list[tuple[tuple[str, ...], CacheState, int]] = [((), CacheState(), 0)]
    for _ in range(length):
        longer = []
        for begin, state, misses in level:
            for string in trie.strings:
                cache.restore(state)
                total = misses + cache.access(string).misses
                sequence = (*begin, string)
                longer.append((sequence, cache.state(), total))
                ratio = Fraction(total, least_misses(trie, capacity, optimum, sequence))
                if ratio > best[0]:
                    best = (ratio, sequence)
        level = longer
    return best


@functools.cache
def least_misses(trie: Trie, capacity: int, optimum: Optimum, sequence: tuple[str, ...]) -> int:
    """Return the least misses of one sequence, by the plain search."""
    return searching(trie, capacity, optimum).misses(sequence)


searching = functools.cache(UnrestrictedBelady)


def on_study(score: Score, length: int | None = None, most: int = 20_000, capacity: int = 3) -> Attack:
    return attack([STUDY], capacity, score, Optimum.BYPASS, length, most)


class Bounded(unittest.TestCase):
    def test_every_policy_against_plain_enumeration(self) -> None:
        def timed(block: Facts) -> int:
            return block.last_access + 2 * block.hits - block.created

        for score in [*(make_policy(name) for name in sglang_policies() if name != "priority"), timed]:
            found = on_study(score, length=4)
            assert found.worst is not None
            self.assertEqual((found.worst.ratio, found.worst.sequence), plain_worst(STUDY, 3, score, Optimum.BYPASS, 4))
            self.assertIsNone(found.settled)

    def test_a_policy_that_reads_priorities_is_attacked_with_them(self) -> None:
        found = on_study(make_policy("priority"))
        self.assertEqual(found.priorities, (0, 1))
        assert found.settled is not None
        self.assertIsNone(found.settled.result.ratio)
        self.assertIn(":1", found.lines()[5])
        self.assertEqual(on_study(make_policy("lru")).priorities, (0,))

    def test_the_width_beside_the_ratio(self) -> None:
        """Exact where every block ends a string, a bound where not, nothing to say where all blocks fit."""
        said = "width 3 at K + 1 blocks: LRU's ratio over all lengths is "
        self.assertEqual(worst_case(STUDY, 3, Optimum.BYPASS), said + "exactly 3")
        self.assertEqual(worst_case(STUDY, 3, Optimum.LOCKED), said + "exactly 2")
        self.assertEqual(worst_case(Trie(("aa", "bb", "cc")), 2, Optimum.BYPASS), said + "at most 3")
        self.assertIn("all blocks fit", worst_case(STUDY, 6, Optimum.BYPASS))
        self.assertIn(said + "exactly 3", on_study(make_policy("lru")).lines())

    def test_outgrown(self) -> None:
        found = on_study(make_policy("lru"), length=5, most=200)
        self.assertIn("--max-states", found.outgrown)
        self.assertLess(found.length, 5)
        assert found.worst is not None
        self.assertEqual(found.worst, on_study(make_policy("lru"), length=found.length).worst)


class Supremum(unittest.TestCase):
    def test_settled(self) -> None:
        found = on_study(make_policy("lru"))
        assert found.settled is not None
        self.assertEqual(found.settled.result.ratio, 3)
        self.assertEqual(found.length, DEFAULT_LENGTH)
        self.assertEqual(found.as_json()["every_length"]["ratio"], "3")

    def test_hits_that_are_computed_with_do_not_close(self) -> None:
        found = on_study(lambda block: 2 * block.hits, most=1500)
        self.assertIsNone(found.settled)
        self.assertIn("more than 1500 states", found.open)
        self.assertTrue(found.outgrown)
        self.assertIn("not settled", found.lines()[-1])

    def test_times_that_are_computed_with_are_not_tried(self) -> None:
        found = on_study(lambda block: 2 * block.last_access)
        self.assertIsNone(found.settled)
        self.assertIn("computes with times", found.open)
        self.assertEqual(found.outgrown, "")

    def test_failing_scores(self) -> None:
        for score in (lambda block: "a" if block.depth > 1 else 1, lambda block: block.hits + "x"):
            with self.assertRaises(PolicyError):
                on_study(score)


class SmallTries(unittest.TestCase):
    def test_those_that_fit(self) -> None:
        self.assertEqual(len(small_tries(4, 2, Optimum.BYPASS)), 16)
        self.assertEqual(len(small_tries(4, 1, Optimum.LOCKED)), 4)

    def test_the_worst_of_all(self) -> None:
        found = attack(small_tries(3, 2, Optimum.BYPASS), 2, make_policy("lru"), Optimum.BYPASS, None, 10_000)
        assert found.settled is not None and found.settled_trie is not None
        self.assertEqual(found.settled.result.ratio, 3)
        self.assertEqual(max(found.settled_trie.depth), 1)
        self.assertEqual(found.tries, 7)
        self.assertIn("7 tries", found.lines()[0])

    def test_a_path_that_does_not_fit(self) -> None:
        with self.assertRaisesRegex(ValueError, "cannot be locked"):
            attack([STUDY], 1, make_policy("lru"), Optimum.LOCKED, 2, 1000)


class Asking(unittest.TestCase):
    def test_priorities_only_where_they_matter(self) -> None:
        """Of scores that ask for the clock only the one that looks at the priority is searched with two of them."""

        def plain(block: Facts, now: int) -> int:
            return now - block.last_access

        def prior(block: Facts, now: int) -> int:
            return now - block.last_access if block.priority else 9

        def failing(block: Facts, now: int) -> int:
            return now // (1 - block.priority)

        small = Trie(("a", "b", "c"))
        for score, priorities in ((plain, (0,)), (make_policy("return-density"), (0,)), (prior, (0, 1))):
            found = attack([small], 2, score, Optimum.LOCKED, 4, 10**6)
            self.assertEqual(found.priorities, priorities)
            worst = found.worst
            assert worst
            if priorities == (0,):
                self.assertEqual((worst.ratio, worst.sequence), plain_worst(small, 2, score, Optimum.LOCKED, 4))
        with self.assertRaisesRegex(PolicyError, "failing fails on"):
            attack([small], 2, failing, Optimum.LOCKED, 3, 10**6)


if __name__ == "__main__":
    unittest.main()
