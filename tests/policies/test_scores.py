"""The policies: each by hand and through the mixin, the hit count, the configuration, the theorem and its limits."""

from __future__ import annotations

import json
import shutil
import tempfile
import unittest
import unittest.mock
from pathlib import Path
from typing import Any

from src.policies.cache import Cache
from src.policies.facts import Facts, PolicyError
from src.policies.scores import REGISTRY, Entry, described, make_policy, parameters, research_policies, sglang_policies
from src.radixcache import Trie
from tests.helpers import BINARY
from tests.policies.policy_mixin import (
    CHAINS,
    LETTERS,
    PolicyMixin,
    first_difference,
    prefixes,
    victims,
)

# -- each policy, through the mixin and by hand --------------------------------------------------------------------


class LruTest(PolicyMixin, unittest.TestCase):
    policy, keeps_order = "lru", True
    plain_score = staticmethod(lambda line: line.last)

    def test_the_last_access_decides(self) -> None:
        # a is the oldest block and the most used one; its last access saves it, nothing else
        self.assertEqual(victims(self.score(), "abca"), "b c a")

    def test_a_request_refreshes_its_whole_path(self) -> None:
        # a is as recent as ab, so b goes although a was created before it; then ab, on top of a
        self.assertEqual(victims(self.score(), ["a", "b", "ab"], CHAINS), "b ab a")

    def test_is_the_default_of_the_cache(self) -> None:
        self.assertIs(Cache(LETTERS, 1).score, make_policy("lru"))


class LfuTest(PolicyMixin, unittest.TestCase):
    policy, keeps_order = "lfu", True
    plain_score = staticmethod(lambda line: line.reuses)

    def test_the_fewest_hits_go_first(self) -> None:
        # hits: a 2, b 1, c 0; by last access it would be a, b, c
        self.assertEqual(victims(self.score(), "aaabbc"), "c b a")

    def test_equal_hits_go_by_last_access(self) -> None:
        # a and b have a hit each; b was created first and used last, so a goes before it
        self.assertEqual(victims(self.score(), "baabc"), "c a b")

    def test_a_prefix_keeps_its_advantage_after_it_stops_being_useful(self) -> None:
        # K = 2: a has two hits from long ago, so b and c push each other out for ever
        cache = Cache(LETTERS, 2, self.score())
        gone = [prefixes(cache, cache.access(string).victims) for string in "aaabcbc"]
        self.assertEqual(gone, [(), (), (), (), ("b",), ("c",), ("b",)])


class SlruTest(PolicyMixin, unittest.TestCase):
    policy, keeps_order = "slru", True
    plain_score = staticmethod(lambda line: line.reuses > 1)

    def test_everything_probationary_goes_before_anything_protected(self) -> None:
        # hits: a 2 (protected), b 1 and c 0 (probationary, by last access, where lfu would take c first)
        self.assertEqual(victims(self.score(), "aaabbc"), "b c a")

    def test_within_the_protected_the_least_recently_used_goes(self) -> None:
        # hits: a 3, b 2: both protected, a used earlier, so a goes before b though it was hit more often
        self.assertEqual(victims(self.score(), "aaaabbbc"), "c a b")

    def test_a_policy_cannot_pin(self) -> None:
        # K = 1: the protected a is all there is to evict, and goes
        cache = Cache(LETTERS, 1, self.score())
        for _ in range(9):
            cache.access("a")
        self.assertEqual(prefixes(cache, cache.access("b").victims), ("a",))


class SlruOneTest(PolicyMixin, unittest.TestCase):
    policy, config, keeps_order = "slru", {"protected_threshold": 1}, True
    plain_score = staticmethod(lambda line: line.reuses > 0)

    def test_threshold_one_protects_whatever_is_reused_once(self) -> None:
        # a was reused once, long before b came; lru would take a first
        self.assertEqual(victims(self.score(), "aabc"), "b c a")
        self.assertEqual(victims(make_policy("lru"), "aabc"), "a b c")


class SlruFourTest(PolicyMixin, unittest.TestCase):
    policy, config, keeps_order = "slru", {"protected_threshold": 4}, True
    plain_score = staticmethod(lambda line: min(line.reuses // 4, 1))

    def test_hit_three_times_is_probationary_at_four_and_protected_at_two(self) -> None:
        # a: created, then hit three times; b: created after that
        self.assertEqual(victims(self.score(), "aaaab"), "a b")
        self.assertEqual(victims(make_policy("slru"), "aaaab"), "b a")
        self.assertEqual(victims(make_policy("slru", {"protected_threshold": 3}), "aaaab"), "b a")

    def test_hit_four_times_is_protected_at_four(self) -> None:
        self.assertEqual(victims(self.score(), "aaaaab"), "b a")


class PriorityTest(PolicyMixin, unittest.TestCase):
    policy, keeps_order = "priority", True
    priorities, length = (0, 1), 3
    plain_score = staticmethod(lambda line: line.urgency)

    def test_the_lowest_priority_goes_first(self) -> None:
        # b and c have the same priority and go by last access; a is older than both
        self.assertEqual(victims(self.score(), [("a", 5), ("b", 1), ("c", 1), ("d", -1)]), "d b c a")

    def test_a_block_keeps_the_highest_priority_that_reached_it(self) -> None:
        # a was once reached with 5, a later 0 does not lower it; b is raised from 1 to 9 by its second request
        self.assertEqual(victims(self.score(), [("b", 1), ("a", 5), ("c", 6), ("a", 0), ("b", 9)]), "a c b")

    def test_a_request_raises_the_prefixes_that_it_goes_through(self) -> None:
        # the block a was created with 0; ab's request, with 5, goes through it and leaves b, with 4, to go first
        self.assertEqual(victims(self.score(), [("a", 0), ("ab", 5), ("ad", 1), ("b", 4)], CHAINS), "ad b ab a")

    def test_an_evicted_block_forgets_its_priority(self) -> None:
        cache = Cache(LETTERS, 2, self.score())
        for request in (("a", 5), ("b", 6), ("c", 6), ("a", 0)):  # c pushes a out; a comes back with 0
            cache.access(*request)
        self.assertEqual(prefixes(cache, cache.evict(1)), ("a",))

    def test_without_priorities_it_is_lru(self) -> None:
        for capacity in (2, 3):
            caches = (Cache(Trie(BINARY), capacity, make_policy(name)) for name in ("priority", "lru"))
            self.assertIsNone(first_difference(*caches, [(string,) for string in BINARY], 4))


class FifoTest(PolicyMixin, unittest.TestCase):
    policy = "fifo"
    plain_score = staticmethod(lambda line: line.first)

    def test_the_creation_decides(self) -> None:
        # a is the most used and the most recent block, but the first one
        self.assertEqual(victims(self.score(), "abcaa"), "a b c")

    def test_a_block_that_comes_back_is_new(self) -> None:
        cache = Cache(LETTERS, 2, self.score())
        self.assertEqual([prefixes(cache, cache.access(one).victims) for one in "abca"], [(), (), ("a",), ("b",)])
        self.assertEqual(prefixes(cache, cache.evict(2)), ("c", "a"))

    def test_blocks_of_one_request_go_from_the_tip(self) -> None:
        # a, ab and abc were created at once: without the rule the tie goes to the deeper block
        self.assertEqual(victims(self.score(), ["abc"], CHAINS, leaf_only=False), "abc ab a")


class MruTest(PolicyMixin, unittest.TestCase):
    policy = "mru"
    plain_score = staticmethod(lambda line: -line.last)

    def test_the_last_access_decides_the_other_way_round(self) -> None:
        # a is used again at the end and goes first
        self.assertEqual(victims(self.score(), "abca"), "a c b")

    def test_only_leaves_go(self) -> None:
        # a is used last of all, but ab sits on it: c goes first, then ab, and a as soon as it is free
        trie = Trie(("ab", "a", "c"))
        self.assertEqual(victims(self.score(), ["ab", "c", "a"], trie), "c ab a")


class FiloTest(PolicyMixin, unittest.TestCase):
    policy, keeps_order = "filo", True
    plain_score = staticmethod(lambda line: -line.first)

    def test_the_creation_decides_the_other_way_round(self) -> None:
        # a is used last, which mru would go by; filo goes by creation alone
        self.assertEqual(victims(self.score(), "abca"), "c b a")


class UserDefinedTest(PolicyMixin, unittest.TestCase):
    """A policy from a file: hits, each worth some blocks of depth, so that of equally used blocks the shallow stay."""

    config, keeps_order = {"weight": 2}, True
    plain_score = staticmethod(lambda line: 2 * line.reuses - line.length)
    text = "def shallow(block, weight=3):\n    return weight * block.hits - block.depth\n"

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, folder)
        path = Path(folder, "mine.py")
        path.write_text(cls.text, encoding="utf-8")
        cls.policy = f"{path}:shallow"

    def test_hits_are_weighed_against_depth(self) -> None:
        # weight 2: abc 2*1-3 = -1, ab -1 + 1 = 0, a 1, b -1 and older than abc
        self.assertEqual(victims(self.score(), ["b", "abc", "abc"], CHAINS), "b abc ab a")
        # weight 1: abc 1-3 = -2 goes before b with -1, and ab with -1, used later than b, after it
        self.assertEqual(victims(make_policy(self.policy, {"weight": 1}), ["b", "abc", "abc"], CHAINS), "abc b ab a")


# -- hit count -----------------------------------------------------------------------------------------------------


class ConfigurationTest(unittest.TestCase):
    def assert_refused(self, message: str, name: str, config: dict[Any, Any] | None = None) -> None:
        with self.assertRaises(PolicyError) as caught:
            make_policy(name, config)
        self.assertEqual(str(caught.exception), message)

    def test_the_registry(self) -> None:
        self.assertEqual(list(sglang_policies()), ["lru", "lfu", "slru", "priority", "fifo", "mru", "filo"])
        self.assertEqual([*sglang_policies(), *research_policies()], list(REGISTRY))
        self.assertEqual([name for name, entry in REGISTRY.items() if entry.experimental], ["fifo", "mru", "filo"])
        self.assertEqual(parameters(lambda block, now, returns: 0), {})  # asked for
        self.assertEqual(parameters(lambda block, now=3: 0), {"now": 3})
        taken = {name: parameters(REGISTRY[name].score) for name in sglang_policies()}
        self.assertEqual({name: keys for name, keys in taken.items() if keys}, {"slru": {"protected_threshold": 2}})

    def test_what_is_registered_later_is_not_sglangs(self) -> None:
        with unittest.mock.patch.dict(REGISTRY, {"mine": Entry(REGISTRY["lru"].score)}):
            self.assertNotIn("mine", sglang_policies())
            self.assertIn("mine", described())

    def test_descriptions(self) -> None:
        told = described()
        self.assertEqual(told[:5], ["lru", "lfu", "slru", "priority", "fifo (experimental)"])
        self.assertIn("lru-2 (research)", told)

    def test_registered_policies_are_had_by_name(self) -> None:
        for name, entry in REGISTRY.items():
            for config in (None, {}):
                self.assertIs(make_policy(name, config), entry.score)

    def test_an_unknown_policy_lists_the_known(self) -> None:
        for name in ("", "LRU", "lru ", "random", "policy.py"):
            known = f"choose one of {', '.join(REGISTRY)} or give FILE.py:FUNCTION"
            self.assert_refused(f"unknown eviction policy {name!r}: {known}", name)

    def test_an_unknown_key_is_named_with_the_policy_and_the_keys_that_it_takes(self) -> None:
        for name in sglang_policies():
            takes = "protected_threshold" if name == "slru" else "no keys: leave its configuration out"
            text = f"unknown key 'threshold' in the configuration of policy {name!r}, which takes {takes}"
            self.assert_refused(text, name, {"threshold": 2})
            self.assert_refused(text, name, {"threshold": "wrong twice"})
        for name in set(sglang_policies()) - {"slru"}:
            with self.assertRaisesRegex(PolicyError, f"key 'protected_threshold' .* '{name}', which takes no keys: "):
                make_policy(name, {"protected_threshold": 2})

    def test_a_known_key_does_not_excuse_an_unknown_one(self) -> None:
        with self.assertRaisesRegex(PolicyError, "unknown key 'window'"):
            make_policy("slru", {"protected_threshold": 2, "window": 3})

    def test_a_value_must_be_an_integer_of_at_least_one(self) -> None:
        for text in ("true", "false", "2.0", "1e3", '"2"', "null", "0", "-1", "[2]", "{}", "NaN"):
            config = json.loads(f'{{"protected_threshold": {text}}}')
            shown = json.dumps(config["protected_threshold"])
            message = f"protected_threshold of policy 'slru' is {shown}: give an integer of at least 1"
            self.assert_refused(message, "slru", config)
        self.assertTrue(make_policy("slru", {"protected_threshold": 10**30})(Facts(1, 1, 10**30, 0, 1)))


if __name__ == "__main__":
    unittest.main()
