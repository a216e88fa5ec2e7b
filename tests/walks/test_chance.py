"""Marking with coins against every outcome of every coin, and its bounds run as programs."""

from __future__ import annotations

import random
import unittest
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from src.radixcache import Optimum, Trie, members, size
from src.walks.belady import belady
from src.walks.chance import (
    NO_COINS,
    by_chain,
    expected_misses,
    expected_ratio,
    harmonic,
    marking_machine,
    random_descent,
    serve_marking,
    uniform_leaf,
)
from src.walks.forests import forest_trie, forests, star
from src.walks.work_function import WorkFunction
from tests.helpers import STUDY, random_universe

BYPASS, LOCKED = Optimum.BYPASS, Optimum.LOCKED
Held = frozenset[Any]


def plain_misses(capacity: int, sequence: Sequence[Any]) -> Fraction:
    """Return the expected misses, block by block as the policy is said: each coin is tried both ways."""

    @cache
    def serve(cached: Held, marked: Held, at: int) -> Fraction:
        if at == len(sequence):
            return Fraction(0)
        path = [sequence[at][:end] for end in range(1, len(sequence[at]) + 1)]
        return fetch(cached, marked | (cached & set(path)), at, tuple(one for one in path if one not in cached))

    @cache
    def fetch(cached: Held, marked: Held, at: int, absent: tuple[Any, ...]) -> Fraction:
        path = {sequence[at][:end] for end in range(1, len(sequence[at]) + 1)}
        if not absent:
            return serve(cached, marked, at + 1)
        if len(cached) < capacity:
            return 1 + fetch(cached | {absent[0]}, marked | {absent[0]}, at, absent[1:])
        if not cached - marked:  # a phase begins
            marked = frozenset(cached & path)
        leaves = [one for one in cached - marked if not any(other[:-1] == one for other in cached if len(other) > 1)]
        total = sum((fetch(cached - {leaf}, marked, at, absent) for leaf in leaves), Fraction(0))
        return total / len(leaves)

    return serve(frozenset(), frozenset(), 0)


def random_case(rng: random.Random) -> tuple[Trie, int]:
    trie = Trie(random_universe(rng, 6, 3, "abc"))
    return trie, rng.randint(max(trie.depth), max(trie.depth) + 3)


class AgainstEveryCoin(unittest.TestCase):
    def test_random_sequences(self) -> None:
        rng = random.Random(7)
        fractions = 0
        for _ in range(100):
            trie, capacity = random_case(rng)
            sequence = tuple(rng.choice(trie.strings) for _ in range(rng.randint(1, 14)))
            found = expected_misses(trie, capacity, sequence)
            self.assertEqual(sum(found), plain_misses(capacity, sequence), (trie.strings, capacity, sequence))
            fractions += sum(found, Fraction(0)).denominator > 1
        self.assertGreater(fractions, 5)

    def test_every_state_is_sound(self) -> None:
        rng = random.Random(8)
        for _ in range(40):
            trie, capacity = random_case(rng)
            coins = NO_COINS
            for _ in range(20):
                string = rng.choice(trie.strings)
                coins, _ = serve_marking(trie, capacity, coins, string)
                self.assertEqual(sum(coins.probability), 1)
                for cached in coins.cached:
                    self.assertTrue(trie.is_ancestor_closed(cached))
                    self.assertLessEqual(size(cached), capacity)
                    self.assertFalse(coins.marked & ~cached)

    def test_the_machine(self) -> None:
        rng = random.Random(9)
        for _ in range(30):
            trie, capacity = random_case(rng)
            if len(trie) > 6:
                continue
            machine, scale = marking_machine(trie, capacity)
            sequence = [rng.choice(trie.strings) for _ in range(12)]
            tallies = [Fraction(tally, scale) for (tally,) in machine.run(sequence)]
            self.assertEqual(tallies, expected_misses(trie, capacity, sequence))

    def test_a_path_that_does_not_fit(self) -> None:
        for use in (marking_machine, lambda trie, k: expected_misses(trie, k, ["abc"])):
            with self.assertRaisesRegex(ValueError, "cannot be locked in a capacity of 2"):
                use(Trie(("abc",)), 2)


class Choices(unittest.TestCase):
    def test_by_hand(self) -> None:
        """A spine s-ss with a leaf at each block, and a chain of two: the leaves are st, sst and cc."""
        trie = Trie(("st", "sst", "cc"))
        everything = 2 ** len(trie) - 1

        def named(choice: Any, marked: int = 0) -> dict[str, Fraction]:
            return {trie.label(leaf): chance for leaf, chance in choice(trie, everything, marked)}

        third, half, quarter, sixth = (Fraction(1, part) for part in (3, 2, 4, 6))
        self.assertEqual(named(uniform_leaf), {"st": third, "sst": third, "cc": third})
        self.assertEqual(named(random_descent), {"st": quarter, "sst": quarter, "cc": half})
        self.assertEqual(named(by_chain), {"st": 1 * quarter * 4 / 5, "sst": Fraction(2, 5), "cc": Fraction(2, 5)})
        marked = sum(1 << block for block in trie.path("st"))
        self.assertEqual(named(uniform_leaf, marked), {"sst": half, "cc": half})
        self.assertEqual(named(random_descent, marked), {"sst": half, "cc": half})
        self.assertEqual(named(by_chain, 1 << trie.path("cc")[0]), {"st": quarter, "sst": half, "cc": quarter})
        self.assertEqual(sixth * 6, 1)

    def test_they_are_distributions_over_unmarked_leaves(self) -> None:
        rng = random.Random(10)
        for _ in range(60):
            trie, capacity = random_case(rng)
            closed = trie.ancestor_closed_sets(len(trie))
            cached = rng.choice(closed[1:])
            marked = rng.choice([one for one in closed if not one & ~cached and one != cached])
            for choice in (uniform_leaf, random_descent, by_chain):
                chosen = choice(trie, cached, marked)
                self.assertEqual([leaf for leaf, _ in chosen], list(members(trie.leaves(cached) & ~marked)))
                self.assertEqual(sum(chance for _, chance in chosen), 1)
                self.assertTrue(all(chance > 0 for _, chance in chosen))


class Phase(NamedTuple):
    """A phase: the request in which it began, the blocks that it marked, its expected misses."""

    begin: int
    marked: frozenset[Any]
    misses: Fraction


class ThePhasesOfTheProof(unittest.TestCase):
    """The upper bound run as a program, phase by phase."""

    def phases(self, trie: Trie, capacity: int, sequence: Sequence[Any]) -> list[Phase]:
        """Return the phases; the blocks fetched before the marks go count for the phase that ends."""
        found = []
        begin, marked = 0, frozenset[Any]()
        spent = Fraction(0)
        expected = expected_misses(trie, capacity, sequence)
        for at, string in enumerate(sequence):
            path = [string[:end] for end in range(1, len(string) + 1)]
            if len(marked | set(path)) > capacity:
                top = [one for one in path if one not in marked][: capacity - len(marked)]
                full = marked | set(top)
                self.assertEqual(len(full), capacity)
                # When the phase ends, all K marked blocks are cached: what the rest of the path misses is known.
                rest = len(set(path) - full)
                found.append(Phase(begin, full, spent + expected[at] - rest))
                begin, marked, spent = at, frozenset(path), Fraction(rest)
            else:
                marked |= set(path)
                spent += expected[at]
        return [*found, Phase(begin, marked, spent)]

    def hold(self, trie: Trie, capacity: int, sequence: Sequence[Any], counts: dict[str, int]) -> None:
        widest = max(size(trie.leaves(held)) for held in trie.ancestor_closed_sets(capacity + 1))
        phases = self.phases(trie, capacity, sequence)
        self.assertEqual(sum(one.misses for one in phases), sum(expected_misses(trie, capacity, sequence)))
        least = {o: [step.misses for step in belady(trie, capacity, sequence, o).steps] for o in Optimum}
        before = frozenset[Any]()
        begins = [0, *(one.begin for one in phases), len(sequence) - 1]
        total = 0
        for number, one in enumerate(phases):
            new = len(one.marked - before)
            total += new
            counts["above one for each"] += one.misses > new
            counts["above half a chain"] += one.misses > new * harmonic(max(1, widest - 2))
            self.assertLessEqual(one.misses, new * harmonic(max(1, widest - 1)), (trie.strings, capacity, sequence))
            first, end = begins[max(0, number)], begins[number + 2]  # b(i - 1) and b(i + 1)
            inside = sum(least[LOCKED][first + (number > 1) : end + 1])
            self.assertGreaterEqual(inside, new, (trie.strings, capacity, sequence))
            self.assertGreaterEqual(sum(least[BYPASS][first : end + 1]), new)
            counts["bypassing window without its first request"] += sum(least[BYPASS][first + 1 : end + 1]) < new
            counts["window of one phase"] += sum(least[LOCKED][begins[number + 1] + 1 : end + 1]) < new
            before = one.marked
        self.assertLessEqual(total, 2 * sum(least[LOCKED]))
        self.assertLessEqual(total, 3 * sum(least[BYPASS]))

    def test_every_step_holds(self) -> None:
        """Each bound holds, and each smaller one is seen to fail."""
        rng = random.Random(11)
        counts = dict.fromkeys(
            ("above one for each", "above half a chain", "bypassing window without its first request",
             "window of one phase"), 0,
        )  # fmt: skip
        for _ in range(100):
            trie, capacity = random_case(rng)
            self.hold(trie, capacity, [rng.choice(trie.strings) for _ in range(25)], counts)
        self.assertGreater(min(counts.values()), 0, counts)

    def test_the_recursion_of_a_chain(self) -> None:
        """E(o) = (1/o) · the sum over k < o of 1 + E(o - k) is H(o) - 1."""
        expected = [Fraction(0), Fraction(0)]
        for leaves in range(2, 12):
            expected.append(sum((1 + expected[leaves - k] for k in range(1, leaves)), Fraction(0)) / leaves)
            self.assertEqual(expected[leaves], harmonic(leaves) - 1)


class TheLowerBounds(unittest.TestCase):
    def growth(self, trie: Trie, capacity: int, optimum: Optimum, leaves: Sequence[Any], again: bool) -> Fraction:
        """Return what one random request costs the optimum in the long run: the distribution is followed exactly.

        The next request is a random leaf, with `again` any of them, else another one than the last.
        """
        work = WorkFunction(trie, capacity, optimum)
        spread: dict[Any, Fraction] = {(work.start, leaves[0]): Fraction(1)}
        totals = []
        for _ in range(48):
            following: dict[Any, Fraction] = {}
            total = Fraction(0)
            for (state, last), chance in spread.items():
                others = [leaf for leaf in leaves if again or leaf != last]
                for leaf in others:
                    after, growth = work.step(state, leaf)
                    share = chance / len(others)
                    total += share * growth
                    following[after, leaf] = following.get((after, leaf), Fraction(0)) + share
            spread = following
            totals.append(total)
        return sum(totals[-12:], Fraction(0)) / 12

    def test_the_cost_of_a_cover(self) -> None:
        """One payment in a cover of all w leaves: the policy's 1/(w - 1) a request, over that, is the bound."""
        for trie, capacity in ((star(3), 2), (Trie(("ab", "ac", "d")), 3), (Trie(("ab", "cd")), 3)):
            leaves = [trie.prefix[leaf] for leaf in members(trie.leaves(2 ** len(trie) - 1))]
            widest = len(leaves)
            self.assertEqual(len(trie), capacity + 1)
            h = harmonic(widest - 1)
            for optimum, again, rate, bound in (
                (LOCKED, False, Fraction(1, widest - 1), h),
                (BYPASS, False, Fraction(1, widest - 1), h + Fraction(1, widest - 1)),
                (BYPASS, True, Fraction(1, widest), harmonic(widest)),
            ):
                ratio = rate / self.growth(trie, capacity, optimum, leaves, again)
                self.assertLess(abs(ratio - bound), Fraction(1, 100), (trie.strings, optimum, again))

    def test_marking_pays_twice_the_harmonic_number(self) -> None:
        """The round of the proof, on every forest: x, the others, y, the others; the bypassing optimum pays once."""
        played = 0
        for forest in [*forests(4), *forests(5)]:
            trie = forest_trie(forest)
            for capacity in range(max(trie.depth), len(trie)):
                for held in trie.ancestor_closed_sets(capacity + 1):
                    leaves = [trie.prefix[leaf] for leaf in members(trie.leaves(held))]
                    if size(held) == capacity + 1:
                        x, y, *others = leaves
                        around = [x, *others, y, *others]
                        expected = expected_misses(trie, capacity, around * 3)[-len(around) :]
                        self.assertEqual(sum(expected), 2 * harmonic(len(leaves) - 1), (trie.strings, held))
                        steps = belady(trie, capacity, around * 3, BYPASS).steps
                        self.assertEqual(sum(step.misses for step in steps[-len(around) :]), 1)
                        played += 1
        self.assertGreater(played, 100)


class ExactRatios(unittest.TestCase):
    def test_known_ones(self) -> None:
        """On a star with one page too many marking has ratio H(K), with twice the pages 2 H(K) - 1 (locked)."""
        for capacity in (1, 2, 3):
            self.assertEqual(expected_ratio(star(capacity + 1), capacity, LOCKED).ratio, harmonic(capacity))
            self.assertEqual(expected_ratio(star(capacity + 1), capacity, BYPASS).ratio, 2 * harmonic(capacity))
        self.assertEqual(expected_ratio(star(4), 2, LOCKED).ratio, 2 * harmonic(2) - 1)

    def test_a_trie_is_dearer_than_the_star_of_its_width(self) -> None:
        """Width 3, and more than 2 H(2) - 1 = 2, which is the most on the star."""
        found = []
        for forest in forests(6):
            trie = forest_trie(forest)
            if trie.strings == ("0", "00", "1", "10", "2", "20"):
                found.append(expected_ratio(trie, 4, LOCKED).ratio)
        self.assertEqual(found, [Fraction(5, 2)])

    def test_with_a_machine_at_hand(self) -> None:
        policy = marking_machine(STUDY, 3)
        for optimum in Optimum:
            found = expected_ratio(STUDY, 3, optimum)
            self.assertEqual(found, expected_ratio(STUDY, 3, optimum, policy))


if __name__ == "__main__":
    unittest.main()
