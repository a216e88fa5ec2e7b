"""The LRU curve against replay at every capacity, and the stack that it rests on."""

from __future__ import annotations

import random
import unittest
from collections.abc import Iterable

from src.policies.cache import Cache
from src.radixcache import Trie, members
from src.traces.lru_curve import Curve, _Fenwick, lru_curve
from src.traces.reading import Trace, trace_of
from src.traces.replay import replay, serve
from tests.helpers import infinite


def random_strings(chance: random.Random, requests: int, length: int, symbols: str) -> list[str]:
    """Return requests of 1 to `length` blocks; some repeat or continue an earlier one."""
    strings: list[str] = []
    for _ in range(requests):
        tail = "".join(chance.choices(symbols, k=chance.randint(1, length)))
        if strings and chance.random() < 0.5:
            earlier = chance.choice(strings)
            tail = (earlier[: chance.randint(1, length)] + tail)[:length]
        strings.append(tail)
    return strings


class CurveTest(unittest.TestCase):
    """`lru_curve` is LRU replayed at every capacity."""

    def check_curve(self, trace: Trace, capacities: Iterable[int]) -> Curve:
        """Fail unless the curve is replay's at the capacities; return it."""
        curve = lru_curve(trace)
        for capacity in capacities:
            self.assertEqual(curve.hits(capacity), replay(trace, capacity).hits, (capacity, trace.requests))
        return curve

    def test_by_hand(self) -> None:
        # The stack: a b after ab; then a c b after ac.  ac finds a first, ab finds a first and b third.
        curve = lru_curve(trace_of(["ab", "ac", "ab"]))
        self.assertEqual(curve, Curve([1, 3], [2, 3]))
        self.assertEqual([curve.hits(capacity) for capacity in (1, 2, 3, 1000)], [2, 2, 3, 3])

    def test_a_path_longer_than_the_capacity(self) -> None:
        curve = lru_curve(trace_of(["abcd", "abcd"]))
        self.assertEqual([curve.hits(capacity) for capacity in range(1, 6)], [1, 2, 3, 4, 4])

    def test_equals_replay_at_every_capacity_of_small_traces(self) -> None:
        chance = random.Random(1)
        for _ in range(100):
            strings = random_strings(chance, chance.randint(1, 20), chance.randint(1, 7), chance.choice(("ab", "abc")))
            trace = trace_of(strings)
            curve = self.check_curve(trace, range(1, len(trace.parent) + 2))
            steps = [k for k in range(1, len(trace.parent) + 1) if curve.hits(k) > (k > 1 and curve.hits(k - 1))]
            self.assertEqual(list(curve.capacities), steps)
            self.assertEqual(curve.hits(len(trace.parent)), infinite(trace).hits)

    def test_equals_replay_at_random_capacities_of_a_larger_trace(self) -> None:
        chance = random.Random(2)
        trace = trace_of(random_strings(chance, 700, 30, "abcd"))
        self.check_curve(trace, [chance.randint(1, len(trace.parent)) for _ in range(20)])

    def test_equals_the_plain_cache(self) -> None:
        chance = random.Random(3)
        for _ in range(15):
            strings = random_strings(chance, 15, 5, "ab")
            curve, trie = lru_curve(trace_of(strings)), Trie(strings)
            for capacity in range(1, len(trie) + 1):
                cache = Cache(trie, capacity)
                hits = sum(cache.access(string).hits for string in strings)
                self.assertEqual(curve.hits(capacity), hits, (strings, capacity))

    def test_the_cache_is_the_top_of_the_stack(self) -> None:
        chance = random.Random(4)
        for _ in range(15):
            strings = random_strings(chance, 15, 6, "ab")
            trie = Trie(strings)
            for capacity in range(1, len(trie) + 1):
                cache = Cache(trie, capacity)
                stack: list[int] = []
                for string in strings:
                    cache.access(string)
                    path = trie.path(string)
                    stack = [*path, *(block for block in stack if block not in path)]
                    self.assertEqual(list(members(cache.cached())), sorted(stack[:capacity]), (strings, capacity))

    def test_nothing_requested_and_nothing_hit(self) -> None:
        for paths in ([], [""], ["", "ab", ""], ["a", "b", "c"]):
            curve = lru_curve(trace_of(paths))
            self.assertEqual((list(curve.capacities), curve.hits(1), curve.hits(10)), ([], 0, 0))

    def test_requests_of_no_block_change_nothing(self) -> None:
        strings = random_strings(random.Random(5), 20, 5, "ab")
        padded = [padded for string in strings for padded in (string, "")]
        self.assertEqual(lru_curve(trace_of(padded)), lru_curve(trace_of(strings)))

    def test_requests_in_flight_are_not_part_of_it(self) -> None:
        trace = trace_of(["ab", "c", "ab"])
        self.assertEqual(lru_curve(trace).hits(2), 1)
        self.assertEqual(sum(served.hits for served in serve(trace, 2, in_flight=1)), 2)

    def test_capacity_below_one(self) -> None:
        for capacity in (0, -1):
            with self.assertRaisesRegex(ValueError, f"capacity of {capacity} blocks"):
                lru_curve(trace_of(["a"])).hits(capacity)


class FenwickTest(unittest.TestCase):
    """The tree of sums is a list of numbers, summed."""

    def test_equals_a_list(self) -> None:
        chance = random.Random(6)
        for items in (1, 2, 7, 8, 33):
            tree, plain = _Fenwick(items), [0] * (items + 1)
            for _ in range(100):
                item, amount = chance.randint(1, items), chance.randint(-5, 5)
                tree.add(item, amount)
                plain[item] += amount
                self.assertEqual([tree.up_to(end) for end in range(items + 1)],
                                 [sum(plain[: end + 1]) for end in range(items + 1)])


if __name__ == "__main__":
    unittest.main()
