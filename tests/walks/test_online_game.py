"""Both certificates of the game, checked edge by edge by code that shares nothing with the solver."""

from __future__ import annotations

import itertools
import unittest
from collections.abc import Iterator
from functools import cache
from typing import Any

from src.radixcache import Optimum, Trie, names
from src.walks.forests import forest_trie, forests, star
from src.walks.online_game import OnlineGame, OnlineValue, best_online
from tests.helpers import STUDY

BYPASS, LOCKED = Optimum.BYPASS, Optimum.LOCKED
Held = frozenset[Any]
"""A set of prefixes."""


class PlainGame:
    """The rules of the game in prefixes: the sets, what a request costs the optimum, what a policy may do."""

    def __init__(self, trie: Trie, capacity: int, optimum: Optimum) -> None:
        self.trie, self.capacity, self.locked = trie, capacity, optimum is LOCKED
        prefixes = {one[:end] for one in trie.strings for end in range(1, len(one) + 1)}
        subsets = itertools.chain(*(itertools.combinations(sorted(prefixes), n) for n in range(len(prefixes) + 1)))
        closed = [frozenset(one) for one in subsets if all(p[:-1] in one for p in one if len(p) > 1)]
        self.sets = [one for one in closed if len(one) <= capacity]
        self.served = self.sets if self.locked else closed
        number = {trie.prefix[block]: block for block in range(len(trie))}
        self.mask = {one: sum(2 ** number[prefix] for prefix in one) for one in closed}
        self.order = sorted(self.sets, key=lambda one: (len(one), self.mask[one]))

    @cache  # noqa: B019
    def path(self, string: Any) -> Held:
        return frozenset(string[:end] for end in range(1, len(string) + 1))

    @cache  # noqa: B019 (the games of these tests are few)
    def optimum(self, work: tuple[int, ...], string: Any) -> tuple[tuple[int, ...], int]:
        """Serve by the definition: move to a set that holds the path, then to any set; a block fetched costs one."""
        path = self.path(string)
        through = {
            middle: min(cost + len(middle - one) for one, cost in zip(self.order, work))
            for middle in self.served
            if path <= middle
        }
        after = [min(cost + len(one - middle) for middle, cost in through.items()) for one in self.order]
        return tuple(cost - min(after) for cost in after), min(after)

    @cache  # noqa: B019
    def choices(self, held: Held, string: Any, free: bool) -> list[Held]:
        """Return what a policy may hold next: any part that fits; if not `free`, with the path or what fits of it."""
        reach = held | self.path(string)
        kept = self.path(string[: self.capacity])
        return [one for one in self.sets if one <= reach and (free or kept <= one)]


def faults(
    found: OnlineValue, plain: PlainGame, potentials: list[int], credits: list[int], ratio: int
) -> Iterator[str]:
    """Yield each way in which the two certificates fail, over all positions that were given a number."""
    value = dict(zip(found.game.positions, potentials))
    credit = dict(zip(found.game.positions, credits))
    named = {mask: one for one, mask in plain.mask.items()}
    start = (0, tuple(len(one) for one in plain.order))
    if value.get(start) != 0 or start not in credit:
        yield "start"
    for (mask, work), here in value.items():
        held = named[mask]
        cruel = False
        for string in plain.trie.strings:
            after, growth = plain.optimum(work, string)
            misses = len(plain.path(string) - held)
            pay = misses - ratio * growth
            nexts = [(plain.mask[one], after) for one in plain.choices(held, string, False)]
            if here < 0 or not any(pay + value[to] <= here for to in nexts if to in value):
                yield "potential"
            # A policy that holds less is followed by one that drops only as it must, and misses at least as much.
            free = plain.choices(held, string, True)
            full = max(map(len, free))
            largest = [(plain.mask[one], after) for one in free if len(one) == full]
            cruel |= misses > 0 and all(credit[to] <= credit[mask, work] + pay for to in largest)
        if not cruel or credit[mask, work] < 0:
            yield "credit"


class Certificates(unittest.TestCase):
    def hold(self, trie: Trie, capacity: int, optimum: Optimum) -> OnlineValue:
        found = best_online(trie, capacity, optimum)
        assert found.credits is not None
        plain = PlainGame(trie, capacity, optimum)
        wrong = list(faults(found, plain, found.potentials, found.credits, found.ratio))
        self.assertEqual(wrong, [], (trie.strings, capacity, optimum))
        return found

    def test_the_studys_trie(self) -> None:
        for capacity, optimum, ratio in (
            (2, BYPASS, 2), (3, BYPASS, 3), (4, BYPASS, 3), (5, BYPASS, 4),
            (2, LOCKED, 1), (3, LOCKED, 2), (4, LOCKED, 2), (5, LOCKED, 3),
        ):  # fmt: skip
            self.assertEqual(self.hold(STUDY, capacity, optimum).ratio, ratio)

    def test_every_forest(self) -> None:
        cases = 0
        for count in range(2, 5):
            for forest in forests(count):
                trie = forest_trie(forest)
                for capacity, optimum in itertools.product(range(1, count), Optimum):
                    if optimum is BYPASS or max(trie.depth) <= capacity:
                        cases += 1
                        found = self.hold(trie, capacity, optimum)
                        self.assertEqual(found.start, 0)
        self.assertEqual(cases, 56)

    def test_a_false_certificate_is_seen(self) -> None:
        """Another ratio, or one number changed: the checker finds it."""
        found, plain = best_online(STUDY, 2, BYPASS), PlainGame(STUDY, 2, BYPASS)
        assert found.credits is not None
        for ratio, fault in ((found.ratio - 1, "potential"), (found.ratio + 1, "credit")):
            self.assertEqual(set(faults(found, plain, found.potentials, found.credits, ratio)), {fault})
        for at in range(0, len(found.potentials), 19):
            lower = list(found.potentials)
            lower[at] -= 1
            wrong = set(faults(found, plain, lower, found.credits, found.ratio))
            self.assertEqual(wrong, {"potential"} if at else {"potential", "start"}, at)
            lower = list(found.credits)
            lower[at] -= 1
            self.assertIn("credit", set(faults(found, plain, found.potentials, lower, found.ratio)), at)

    def test_no_other_whole_ratio(self) -> None:
        for trie, capacity, optimum in ((STUDY, 2, BYPASS), (STUDY, 3, LOCKED), (star(3), 2, BYPASS)):
            found = best_online(trie, capacity, optimum)
            self.assertIsNone(found.game.potential(found.ratio - 1, 60))
            self.assertIsNone(found.game.credit(found.ratio + 1, 60))

    def test_the_star_needs_each_block_of_the_bounds(self) -> None:
        for capacity in (1, 2, 3):
            self.assertEqual(best_online(star(capacity + 1), capacity, BYPASS).ratio, capacity + 1)
            self.assertEqual(best_online(star(capacity + 1), capacity, LOCKED).ratio, capacity)


class Positions(unittest.TestCase):
    def test_moves_by_hand(self) -> None:
        game = OnlineGame(Trie(("a", "ab", "c")), 2, LOCKED)
        first = game.moves[0]
        self.assertEqual([(names([move.request])[0], move.misses, move.growth) for move in first],
                         [("a", 1, 1), ("ab", 2, 2), ("c", 1, 1)])
        self.assertEqual([[game.positions[to][0] for to in move.choices] for move in first], [[0b1], [0b11], [0b100]])
        both = first[1].choices[0]
        move = game.moves[both][2]
        self.assertEqual([game.positions[to][0] for to in move.choices], [0b11, 0b101])
        self.assertEqual([game.positions[to][0] for to in move.serving], [0b101])

    def test_who_may_choose_what(self) -> None:
        """The potential is that of a policy that holds the path, the credits are against one that may bypass."""
        found = best_online(star(3), 2, BYPASS)
        game = found.game
        game.moves = [[move._replace(choices=()) for move in moves] for moves in game.moves]
        self.assertEqual(game.potential(found.ratio, 20), found.potentials)
        game = best_online(star(3), 2, BYPASS).game
        game.moves = [[move._replace(serving=()) for move in moves] for moves in game.moves]
        self.assertEqual(game.credit(found.ratio, 20), found.credits)

    def test_a_path_that_does_not_fit(self) -> None:
        with self.assertRaisesRegex(ValueError, "cannot be locked in a capacity of 2"):
            best_online(Trie(("abc",)), 2, LOCKED)
        self.assertEqual(best_online(Trie(("abc",)), 2, BYPASS).ratio, 1)


if __name__ == "__main__":
    unittest.main()
