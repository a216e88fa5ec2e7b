"""The furthest next use and the exact searches against each other."""

from __future__ import annotations

import itertools
import random
import unittest
from collections.abc import Sequence
from math import inf
from typing import Any

from src.radixcache import (
    Eviction,
    LeafOnlyBelady,
    Optimum,
    Path,
    Rule,
    Run,
    Search,
    Step,
    Trie,
    UnrestrictedBelady,
    check_fits,
)
from src.walks.belady import AnySetBelady, belady
from tests.helpers import BINARY, blocks, random_sequence, random_universe

LEAF_ONLY, SHALLOW, DEEP = Rule.LEAF_ONLY, Rule.SHALLOW, Rule.DEEP
BYPASS, LOCKED = Optimum.BYPASS, Optimum.LOCKED
SEARCHES = (LeafOnlyBelady, UnrestrictedBelady, AnySetBelady)


def next_use(prefix: str, rest: Sequence[str]) -> float:
    """Return how many requests away the next use of a block is."""
    return next((at for at, string in enumerate(rest) if string.startswith(prefix)), inf)


class TheOptimum(unittest.TestCase):
    def replay(self, trie: Trie, capacity: int, sequence: Sequence[str], optimum: Optimum, run: Run) -> None:
        """Replay Belady's schedule: a valid one, of leaves alone, each used furthest away, the deepest of such."""
        cached = 0
        case = (trie.strings, capacity, sequence, optimum)
        self.assertEqual(len(run.steps), len(sequence), case)
        for at, (string, step) in enumerate(zip(sequence, run.steps)):
            path = blocks(*trie.path(string))
            self.assertEqual(step.misses, bin(path & ~cached).count("1"), case)
            cached |= path
            for eviction in step.evictions:
                self.assertGreater(bin(cached).count("1"), capacity, case)
                able = [b for b in range(len(trie)) if cached >> b & 1 and not (optimum is LOCKED and path >> b & 1)]
                use = {block: next_use(trie.prefix[block], sequence[at + 1 :]) for block in able}
                last = [block for block in able if use[block] == max(use.values())]
                victim = max(last, key=lambda block: (len(trie.prefix[block]), block))
                self.assertTrue(trie.leaves(cached) >> victim & 1, case)
                self.assertEqual(eviction, Eviction(victim, blocks(victim), False, len(last) == 1), case)
                cached &= ~eviction.removed
            self.assertEqual(step.cached, cached, case)
            self.assertTrue(trie.is_ancestor_closed(cached), case)
            self.assertLessEqual(bin(cached).count("1"), capacity, case)
            self.assertTrue(optimum is BYPASS or not path & ~cached, case)

    def test_by_hand(self) -> None:
        """Bypass drops "1" at once and hits; a locked optimum must give up 00, the deeper of two used equally soon."""
        trie = Trie(BINARY)
        sequence = ("00", "1", "00")
        first = Step(2, (), blocks(0, 2))
        dropped = Step(1, (Eviction(1, blocks(1), interior=False, strict=True),), blocks(0, 2))
        self.assertEqual(belady(trie, 2, sequence, BYPASS), Run((first, dropped, Step(0, (), blocks(0, 2)))))
        locked = Step(1, (Eviction(2, blocks(2), interior=False, strict=False),), blocks(0, 1))
        back = Step(1, (Eviction(1, blocks(1), interior=False, strict=True),), blocks(0, 2))
        self.assertEqual(belady(trie, 2, sequence, LOCKED), Run((first, locked, back)))
        for search in SEARCHES:
            self.assertEqual(search(trie, 2, BYPASS).misses(sequence), 3)
            self.assertEqual(search(trie, 2, LOCKED).misses(sequence), 4)

    def test_blocks_that_are_never_used_again_go_deeper_first_then_the_higher_number(self) -> None:
        trie = Trie(BINARY)
        run = belady(trie, 2, ("1", "00", "10"), BYPASS)
        self.assertEqual([eviction.victim for eviction in run.evictions], [2, 4])
        run = belady(trie, 2, ("01", "00"), BYPASS)
        self.assertEqual(run.evictions, [Eviction(3, blocks(3), False, False)])
        run = belady(trie, 2, ("0", "1", "11"), LOCKED)
        self.assertEqual(run.evictions, [Eviction(0, blocks(0), False, True)])

    def test_an_interior_eviction_is_said_to_be_one(self) -> None:
        """Of a trie whose requests use their last block alone, 0 has no next use where 00, which lies on it, has."""

        class LastBlocks(Trie):
            def path(self, string: Any) -> Path:
                return super().path(string)[-1:]

        run = belady(LastBlocks(BINARY), 2, ("0", "00", "1", "00"), LOCKED)
        self.assertEqual(run.evictions, [Eviction(0, blocks(0, 2), interior=True, strict=True)])

    def test_a_path_longer_than_the_capacity_under_bypass(self) -> None:
        trie = Trie(["abcd"])
        cut = (Eviction(3, blocks(3), False, False), Eviction(2, blocks(2), False, False))
        self.assertEqual(
            belady(trie, 2, ["abcd", "abcd"], BYPASS), Run((Step(4, cut, blocks(0, 1)), Step(2, cut, blocks(0, 1))))
        )
        for search in SEARCHES:
            self.assertEqual(search(trie, 2, BYPASS).misses(("abcd", "abcd")), 6)

    def test_no_requests_and_a_warm_start(self) -> None:
        trie = Trie(BINARY)
        self.assertEqual(belady(trie, 2, (), BYPASS), Run(()))
        for search in SEARCHES:
            with self.subTest(search=search):
                self.assertEqual(search(trie, 2, BYPASS).misses([]), 0)
                self.assertEqual(search(trie, 2, BYPASS).misses(["00", "1", "00"], cached=blocks(0)), 2)
                self.assertEqual(search(trie, 2, BYPASS).misses(["00", "1", "1"], cached=blocks(0, 2)), 1)

    def test_successors_by_hand(self) -> None:
        """From 0, 00, 01, 1 down to two blocks, with and without a lock on 00's path."""
        trie = Trie(BINARY)
        held, kept = blocks(0, 1, 2, 3), blocks(0, 2)
        pairs = [blocks(0, 1), blocks(0, 2), blocks(0, 3)]
        self.assertEqual(list(LeafOnlyBelady(trie, 2, BYPASS).successors(held, 0)), pairs)
        self.assertEqual(list(LeafOnlyBelady(trie, 2, LOCKED).successors(held, kept)), [kept])
        self.assertEqual(list(LeafOnlyBelady(trie, 4, BYPASS).successors(held, 0)), [held])
        self.assertEqual(list(UnrestrictedBelady(trie, 2, BYPASS).successors(held, 0)), [0, 1, 2, *pairs])
        self.assertEqual(list(UnrestrictedBelady(trie, 3, LOCKED).successors(held, kept)), [kept, 7, 13])
        self.assertEqual(
            sorted(AnySetBelady(trie, 2, BYPASS).successors(held, 0)), [s for s in range(16) if bin(s).count("1") < 3]
        )
        self.assertEqual(sorted(AnySetBelady(trie, 3, LOCKED).successors(held, kept)), [kept, 7, 13])
        with self.assertRaisesRegex(TypeError, "abstract"):
            Search(trie, 2, BYPASS).misses(["0"])

    def test_a_locked_path_must_fit(self) -> None:
        trie = Trie(["abc", "x"])
        check_fits(trie, 3, LOCKED)
        check_fits(trie, 1, BYPASS)
        with self.assertRaisesRegex(ValueError, "capacity of 0"):
            check_fits(trie, 0, BYPASS)
        for call in (check_fits, LeafOnlyBelady, lambda trie, k, optimum: belady(trie, k, [], optimum)):
            with self.assertRaisesRegex(ValueError, "the path of 'abc' has 3 blocks .* capacity of 2"):
                call(trie, 2, LOCKED)
        with self.assertRaisesRegex(ValueError, "the path of 'a.b' has 2 blocks .* capacity of 1"):
            check_fits(Trie([("a", "b")]), 1, LOCKED)

    def test_every_sequence_of_4_requests_has_one_optimum(self) -> None:
        trie = Trie(BINARY)
        for capacity, optimum in itertools.product((2, 3), Optimum):
            searches = [search(trie, capacity, optimum) for search in SEARCHES]
            for sequence in itertools.product(BINARY, repeat=4):
                run = belady(trie, capacity, sequence, optimum)
                found = {search.misses(sequence) for search in searches}
                self.assertEqual(found, {run.misses}, (capacity, optimum, sequence))
                self.replay(trie, capacity, sequence, optimum, run)

    def test_random_tries_have_one_optimum(self) -> None:
        rng = random.Random(5)
        for _ in range(110):
            trie = Trie(random_universe(rng, 4, 3))
            sequence = random_sequence(rng, trie, 7)
            for capacity in range(1, 5):
                for optimum in Optimum if capacity >= max(trie.depth) else (BYPASS,):
                    run = belady(trie, capacity, sequence, optimum)
                    found = {search(trie, capacity, optimum).misses(sequence) for search in SEARCHES}
                    self.assertEqual(found, {run.misses}, (trie.strings, capacity, optimum, sequence))
                    self.replay(trie, capacity, sequence, optimum, run)

    def test_long_random_schedules_are_valid(self) -> None:
        rng = random.Random(6)
        for _ in range(60):
            trie = Trie(random_universe(rng, 10, 4, "abc"))
            sequence = random_sequence(rng, trie, 30)
            for capacity, optimum in itertools.product((2, 4, 6), Optimum):
                if optimum is BYPASS or capacity >= max(trie.depth):
                    self.replay(trie, capacity, sequence, optimum, belady(trie, capacity, sequence, optimum))


if __name__ == "__main__":
    unittest.main()
