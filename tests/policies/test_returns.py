"""What is learned of returns, against a log of all requests that is read anew from its beginning after each of them."""

from __future__ import annotations

import unittest
from fractions import Fraction

from src.policies.cache import Cache
from src.policies.facts import Facts
from src.policies.returns import BEHINDS, BINARY_DIGITS, KINDS, Returns, kind
from src.policies.scores import make_policy
from tests.policies.policy_mixin import CHAINS, perform, random_stories

Log = list[tuple[str, bool]]
"""Strings, each with whether it is a further step of the request before."""


def plain_kind(seen: int, behind: int) -> int:
    """Return the class of the count, then that of the blocks behind, as the docstring lists them."""
    count = [seen <= 1, seen == 2, seen == 3, 4 <= seen <= 7, seen >= 8].index(True)
    limits = (0, 1, 3, 7, 15, 31, 63)
    return count * BEHINDS + sum(behind > limit for limit in limits)


def plain_tables(log: Log) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]]:
    """Return for each kind and octave the requests that blocks waited, and the blocks that came back."""
    waited: dict[tuple[int, int], int] = {}
    back: dict[tuple[int, int], int] = {}
    blocks: dict[str, tuple[int, int, int]] = {}  # requests, latest request, blocks behind
    for now, (string, further) in enumerate(log, start=1):
        for block, (seen, latest, behind) in blocks.items():
            age, power = now - latest, 0
            while 2 ** (power + 1) <= age:
                power += 1
            place = plain_kind(seen, behind), power
            waited[place] = waited.get(place, 0) + 1
            if string.startswith(block) and not further:
                back[place] = back.get(place, 0) + 1
        for end in range(1, len(string) + 1):
            seen = blocks.get(string[:end], (0, 0, 0))[0]
            blocks[string[:end]] = (seen if further and seen else seen + 1, now, len(string) - end)
    return waited, back


def told(table: list[list[int]]) -> dict[tuple[int, int], int]:
    """Return what of a table is not zero."""
    return {(one, at): number for one, row in enumerate(table) for at, number in enumerate(row) if number}


class Learned(unittest.TestCase):
    def test_kinds(self) -> None:
        for seen in range(1, 20):
            for behind in range(200):
                self.assertEqual(kind(seen, behind), plain_kind(seen, behind), (seen, behind))
        self.assertEqual(len({kind(seen, behind) for seen in range(1, 20) for behind in range(200)}), KINDS)

    def test_the_tables_are_those_of_the_log(self) -> None:
        returned = further = gone = 0
        for story in random_stories(11, 160, length=30):
            cache = story.cache(make_policy("return-density"))
            assert cache.returns
            log: Log = []
            for operation in story.operations:
                before = len(cache.ghosts)
                perform(cache, operation)
                cache.check()
                gone += len(cache.ghosts) < before
                if operation[0] == "access":
                    log.append((operation[1], operation[3]))
                    further += operation[3]
                waited, back = plain_tables(log)
                self.assertEqual((told(cache.returns.waited), told(cache.returns.back)), (waited, back), log)
                now = [len(cache.facts) + len(cache.ghosts), sum(map(sum, cache.returns.waiting))]
                self.assertEqual(now[0], now[1], log)
            returned += sum(back.values())
            self.check_densities(cache, waited, back)
        self.assertGreater(min(returned, further, gone), 150)

    def check_densities(
        self, cache: Cache, waited: dict[tuple[int, int], int], back: dict[tuple[int, int], int]
    ) -> None:
        """Hold the density of each block to the definition, in fractions."""
        assert cache.returns
        for facts in (*cache.facts.values(), *cache.ghosts.values()):
            age = max(cache.clock - facts.last_access, 1)
            first, one = len(bin(age)) - 3, plain_kind(facts.seen, facts.behind)
            best = Fraction(0)
            for last in range(first, 10):
                octaves = range(first, last + 1)
                come = 1 + sum(back.get((one, at), 0) for at in octaves)
                best = max(best, Fraction(come, 2**first + sum(waited.get((one, at), 0) for at in octaves)))
            floor = best.numerator * 2**BINARY_DIGITS // best.denominator
            self.assertEqual(cache.returns.density(facts), floor)

    def test_by_hand(self) -> None:
        """a waits, then b does; a comes back after two requests, of kind 0 and octave 1, and is of another kind."""
        learned = Returns()
        learned.request([], [0])
        learned.request([], [0])
        learned.request([(0, 1)], [BEHINDS])
        self.assertEqual((told(learned.waited), told(learned.back)), ({(0, 0): 2, (0, 1): 1}, {(0, 1): 1}))
        b, a = Facts(2, 2, 0, 0, 1), Facts(3, 1, 1, 0, 1, seen=2)
        densities = [learned.density(b), learned.density(b._replace(last_access=1)), learned.density(a)]
        self.assertEqual(densities, [2 * 2**32 // 4, 2 * 2**32 // 3, 2**32])  # from octave 0 on; from octave 1 on

    def test_where_a_kind_is_not_known_the_older_goes_first(self) -> None:
        learned = Returns()
        for _ in range(100):
            learned.request([], [0])
        densities = [learned.density(Facts(last, last, 0, 0, 1, seen=8)) for last in range(1, 100)]
        self.assertEqual(densities, sorted(densities))
        self.assertGreater(len(set(densities)), 5)

    def test_state_and_restore(self) -> None:
        cache = Cache(CHAINS, 3, make_policy("return-density"))
        for string in ("ab", "abc", "bcd", "a", "b"):
            cache.access(string)
        state = cache.state()
        then = [cache.access(string) for string in ("ab", "bcd", "abc", "a")]
        cache.restore(state)
        self.assertEqual(cache.state(), state)
        self.assertEqual([cache.access(string) for string in ("ab", "bcd", "abc", "a")], then)
        cache.restore(Cache(CHAINS, 3).state())
        self.assertEqual(cache.state(), Cache(CHAINS, 3, make_policy("return-density")).state())


if __name__ == "__main__":
    unittest.main()
