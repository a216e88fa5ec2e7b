"""Schedules: each frame is what the manager did, told from the sequence alone."""

from __future__ import annotations

import random
import unittest
from typing import Any

from src.claims.schedule import (
    Gone,
    Schedule,
    ServedRequest,
    lru_schedule,
    optimum_schedule,
    policy_schedule,
    steps_json,
)
from src.policies.cache import Cache
from src.policies.scores import REGISTRY, make_policy
from src.radixcache import Optimum, Rule, Trie, as_set, serve_lru, size
from src.walks.belady import belady
from tests.helpers import STUDY, random_sequence, random_universe


def check(schedule: Schedule, sequence: Any) -> None:
    """Raise AssertionError unless the frames follow from one another."""
    trie, held = schedule.trie, 0
    before = (0,) * len(trie)
    assert [frame.string for frame in schedule.frames] == list(sequence)
    for now, frame in enumerate(schedule.frames, start=1):
        path = trie.path(frame.string)
        assert frame.path == path
        assert all(held >> block & 1 for block in path[: frame.hits])
        assert not any(held >> block & 1 for block in path[frame.hits :])
        assert frame.hits + frame.misses == len(path)
        held |= as_set(path)
        for victim, dragged in frame.evictions:
            assert held >> victim & 1 and dragged == trie.descendants[victim] & held
            held &= ~(1 << victim | dragged)
        after = frame.cached
        assert not after & ~held and not held & ~after & ~as_set(path)  # but for a tail that does not fit
        for block, time in enumerate(frame.last_access):
            assert time == 0 or time == (now if block in path else before[block])
        before, held = frame.last_access, after


class EveryManager(unittest.TestCase):
    def test_equals_the_plain_managers(self) -> None:
        rng = random.Random(8)
        for _ in range(150):
            trie = Trie(random_universe(rng, 5, 3))
            capacity, sequence = rng.randint(1, 4), random_sequence(rng, trie, 8)
            with self.subTest(strings=trie.strings, capacity=capacity, sequence=sequence):
                for rule in Rule:
                    one = lru_schedule(trie, capacity, sequence, rule)
                    check(one, sequence)
                    self.assert_is_run(one, serve_lru(trie, capacity, sequence, rule))
                for optimum in Optimum:
                    if optimum.fits(trie, capacity):
                        one = optimum_schedule(trie, capacity, sequence, optimum)
                        check(one, sequence)
                        self.assert_is_run(one, belady(trie, capacity, sequence, optimum))
                name, leaf_only = rng.choice(list(REGISTRY)), rng.random() < 0.5
                priorities = [rng.randint(0, 2) for _ in sequence]
                one = policy_schedule(trie, capacity, sequence, make_policy(name), leaf_only, priorities)
                check(one, sequence)
                self.assert_is_cache(one, Cache(trie, capacity, make_policy(name), leaf_only), priorities)

    def assert_is_run(self, schedule: Schedule, run: Any) -> None:
        self.assertEqual(schedule.misses, run.misses)
        for frame, step in zip(schedule.frames, run.steps):
            self.assertEqual((frame.misses, frame.cached), (step.misses, step.cached))
            self.assertEqual(
                [(gone.victim, 1 << gone.victim | gone.dragged) for gone in frame.evictions],
                [(one.victim, one.removed) for one in step.evictions],
            )

    def assert_is_cache(self, schedule: Schedule, cache: Cache, priorities: list[int]) -> None:
        for frame, priority in zip(schedule.frames, priorities):
            served = cache.access(frame.string, priority)
            self.assertEqual((frame.hits, frame.misses), (served.hits, served.misses))
            self.assertEqual(tuple(gone.victim for gone in frame.evictions), served.victims)
            self.assertEqual(sum(size(gone.dragged) for gone in frame.evictions), served.dragged)
            times = {block: facts.last_access for block, facts in cache.facts.items()}
            self.assertEqual({block: time for block, time in enumerate(frame.last_access) if time}, times)

    def test_lru_as_a_policy(self) -> None:
        rng = random.Random(9)
        for _ in range(100):
            sequence = random_sequence(rng, STUDY, 8)
            for rule, leaf_only in ((Rule.LEAF_ONLY, True), (Rule.DEEP, False)):
                one = lru_schedule(STUDY, 3, sequence, rule)
                self.assertEqual(one, policy_schedule(STUDY, 3, sequence, make_policy("lru"), leaf_only), sequence)


class ByHand(unittest.TestCase):
    def test_a_victim_drags_its_child(self) -> None:
        one = lru_schedule(Trie(("00", "1", "0")), 2, ("00", "1", "0"), Rule.SHALLOW)
        self.assertEqual(one.frames[1], ServedRequest("1", (2,), 0, 1, (Gone(0, 0b10),), (0, 0, 2)))
        self.assertEqual(one.misses, 4)

    def test_what_was_dragged_is_not_dragged_again(self) -> None:
        trie = Trie(("abc", "xyz"))
        one = policy_schedule(trie, 3, ("abc", "xyz"), lambda facts: (2, 1, 3)[facts.depth - 1], leaf_only=False)
        self.assertEqual(one.frames[1].evictions, (Gone(1, 0b100), Gone(0, 0)))

    def test_times_go_on_where_nothing_is_left(self) -> None:
        one = lru_schedule(Trie(("00", "1")), 1, ("00", "1"), Rule.SHALLOW)
        self.assertEqual([frame.last_access for frame in one.frames], [(0, 0, 0), (0, 0, 2)])

    def test_priorities_count(self) -> None:
        trie = Trie(("a", "b", "c"))
        one = policy_schedule(trie, 2, ("a", "b", "c"), make_policy("priority"), priorities=(1, 0, 0))
        self.assertEqual(one.frames[2].evictions, (Gone(1, 0),))
        one = policy_schedule(trie, 2, ("a", "b", "c"), make_policy("priority"))
        self.assertEqual(one.frames[2].evictions, (Gone(0, 0),))

    def test_json(self) -> None:
        one = lru_schedule(Trie((("a", "b"), ("c",))), 2, (("a", "b"), ("c",)), Rule.SHALLOW)
        last = {"misses": 1, "evicted": ["a"], "cached": ["c"]}
        self.assertEqual(one.as_json(), [{"misses": 2, "evicted": [], "cached": ["a", "a.b"]}, last])
        self.assertEqual(steps_json({"x": one, "y": one})[1], {"request": "c", "x": last, "y": last})


if __name__ == "__main__":
    unittest.main()
