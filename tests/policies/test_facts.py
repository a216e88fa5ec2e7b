"""The facts of a block: what counts as a hit, and what is forgotten."""

from __future__ import annotations

import unittest
from typing import Any

from src.policies.cache import Cache
from src.policies.facts import Facts
from src.policies.scores import make_policy
from src.radixcache import Trie
from tests.helpers import BINARY
from tests.policies.policy_mixin import (
    CHAINS,
    first_difference,
)


class HitCountTest(unittest.TestCase):
    """Hits as SGLang's page counts them: how many times a block was matched by a later request."""

    def hits(self, cache: Cache) -> dict[str, int]:
        return {cache.trie.label(block): facts.hits for block, facts in cache.facts.items()}

    def serve(self, *requests: Any, capacity: int = 7, write_back: bool = False) -> Cache:
        cache = Cache(CHAINS, capacity, write_back=write_back)
        for request in requests:
            cache.access(*((request,) if isinstance(request, str) else request))
        return cache

    def test_the_request_that_creates_a_block_does_not_count(self) -> None:
        self.assertEqual(self.hits(self.serve("ab")), {"a": 0, "ab": 0})

    def test_each_later_request_counts_once_for_the_blocks_that_it_matches(self) -> None:
        self.assertEqual(self.hits(self.serve("a", "ab", "abc", "ab")), {"a": 3, "ab": 2, "abc": 0})

    def test_looking_up_does_not_count(self) -> None:
        cache = self.serve("ab")
        before = dict(cache.facts)
        self.assertEqual([cache.match(string) for string in ("abc", "ab", "ad", "b")], [2, 2, 1, 0])
        cache.lock("ab")
        cache.unlock("ab")
        self.assertEqual(cache.facts, before)

    def test_chunked_prefill_steps_do_not_count(self) -> None:
        cache = self.serve("a", "b", ("ab", 0, True), ("abc", 4, True))
        self.assertEqual(self.hits(cache), {"a": 0, "ab": 0, "abc": 0, "b": 0})
        self.assertEqual(cache.facts[CHAINS.path("a")[0]], Facts(4, 1, 0, 4, 1))  # a use all the same, and a priority

    def test_an_evicted_block_starts_again_at_zero(self) -> None:
        self.assertEqual(self.hits(self.serve("ab", "ab", "ab", "b", "bc", "ab", capacity=2)), {"a": 0, "ab": 0})

    def test_a_tail_that_was_not_cached_starts_again_at_zero(self) -> None:
        self.assertEqual(self.hits(self.serve("abc", "abc", "abc", capacity=2)), {"a": 2, "ab": 2})

    def test_under_write_back_nothing_counts(self) -> None:
        self.assertEqual(self.hits(self.serve("ab", "ab", "abc", write_back=True)), {"a": 0, "ab": 0, "abc": 0})

    def test_under_write_back_lfu_and_slru_are_lru(self) -> None:
        for name in ("lfu", "slru"):
            caches = (Cache(Trie(BINARY), 2, make_policy(one), write_back=True) for one in (name, "lru"))
            self.assertIsNone(first_difference(*caches, [(string,) for string in BINARY], 3), name)


# -- registry and configuration ------------------------------------------------------------------------------------


# -- the cache itself ----------------------------------------------------------------------------------------------


if __name__ == "__main__":
    unittest.main()
