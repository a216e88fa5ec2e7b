"""The facts of a block: what counts as a hit, and what is forgotten."""

from __future__ import annotations

import functools
import unittest
from typing import Any

from src.policies.cache import Cache
from src.policies.facts import Facts, asks_for
from src.policies.scores import make_policy
from src.radixcache import Trie
from tests.helpers import BINARY
from tests.policies.policy_mixin import CHAINS, first_difference, perform, random_stories


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
        a = cache.facts[CHAINS.path("a")[0]]
        self.assertEqual((a.last_access, a.created, a.priority), (4, 1, 4))  # a use all the same, and a priority

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


class OutlivingTest(unittest.TestCase):
    """What outlives evictions, against a log of all requests that is read anew for each block."""

    def logged(self, prefix: str, log: list[tuple[str, bool]]) -> tuple[int, int, int, int]:
        """Return a block's requests ever, the last but one of them, its reach, and the blocks below it."""
        reaching = [
            (now, string, chunked) for now, (string, chunked) in enumerate(log, 1) if string.startswith(prefix)
        ]
        times: list[int] = []
        for now, _, chunked in reaching:
            if chunked and times:
                times[-1] = now  # a further step of the same request
            else:
                times.append(now)
        longer = {string[:end] for _, string, _ in reaching for end in range(len(prefix) + 1, len(string) + 1)}
        return len(times), times[-2] if times[1:] else 0, max(len(string) for _, string, _ in reaching), len(longer)

    def test_they_are_those_of_the_log(self) -> None:
        returned = 0
        for story in random_stories(7, 75, length=20):
            cache = story.cache(make_policy("lru"))
            log: list[tuple[str, bool]] = []
            for operation in story.operations:
                if operation[0] == "access":
                    log.append((operation[1], operation[3]))
                perform(cache, operation)
                cache.check()
                known = {**cache.facts, **cache.ghosts}
                ever = {string[:end] for string, _ in log for end in range(1, len(string) + 1)}
                self.assertEqual({cache.trie.label(block) for block in known}, ever, story)
                for block, facts in known.items():
                    expected = self.logged(cache.trie.label(block), log)
                    found = (facts.seen, facts.previous_access, facts.reach, facts.below)
                    self.assertEqual(found, expected, (cache.trie.label(block), log, story))
                returned += sum(facts.created > facts.previous_access > 0 for facts in cache.facts.values())
        self.assertGreater(returned, 500)

    def test_by_hand(self) -> None:
        cache = Cache(CHAINS, 3)
        for string in ("ab", "abc", "bcd", "a"):  # bcd takes the place of all
            cache.access(string)
        a = cache.facts[CHAINS.path("a")[0]]
        self.assertEqual(a, Facts(4, 4, 0, 0, 1, seen=3, previous_access=2, reach=3, below=2, last_access_ms=4))
        ghosts = {cache.trie.label(block): (facts.seen, facts.created) for block, facts in cache.ghosts.items()}
        self.assertEqual(ghosts, {"ab": (2, 0), "abc": (1, 0), "bcd": (1, 0)})


class ClockTest(unittest.TestCase):
    """What scores ask for beside the facts, and what they are told."""

    def test_they_ask_by_name_and_without_a_default(self) -> None:
        def aged(block: Facts, now: int, half_life: int = 3) -> int:
            return now - block.last_access - half_life

        for score, asks in (
            (aged, ("now",)),
            (functools.partial(aged, half_life=5), ("now",)),
            (functools.partial(aged, now=5), ()),
            (lambda block, now_ms, now: 0, ("now_ms", "now")),
            (lambda block, *, now_ms: 0, ("now_ms",)),
            (lambda block, now, /: 0, ()),
            (lambda block, *now, **now_ms: 0, ()),
            (lambda block: 0, ()),
            (lambda block, now=0: 0, ()),
            (lambda block, time=0: 0, ()),
            (lambda now: 0, ()),
            (max, ()),  # tells no parameters
        ):
            self.assertEqual(asks_for(score), asks, score)

    def test_the_clock_is_the_number_of_the_request_that_evicts(self) -> None:
        asked = []

        def score(block: Facts, now: int) -> int:
            asked.append((block.last_access, now))
            return now - block.last_access  # the most recently used goes first

        cache = Cache(Trie("abcd"), 3, score)
        served = [cache.access(string) for string in "abcd"]
        self.assertEqual([one.victims for one in served], [(), (), (), (2,)])
        self.assertEqual(asked, [(1, 4), (2, 4), (3, 4)])
        self.assertEqual(cache.evict(1), (3,))  # no request: the clock stands
        self.assertEqual(asked[3:], [(1, 4), (2, 4), (4, 4)])

    def test_the_time_in_milliseconds(self) -> None:
        """Those of the requests, which never go back; without any, their numbers."""
        asked = []

        def score(block: Facts, now_ms: int, now: int) -> int:
            asked.append((block.last_access_ms, now_ms, now))
            return block.last_access_ms

        cache = Cache(Trie("abcd"), 3, score)
        times = (50, 70, 60, None, 90)
        victims = [cache.access(string, now_ms=time).victims for string, time in zip("abcda", times)]
        self.assertEqual(asked[:3], [(50, 70, 4), (70, 70, 4), (70, 70, 4)])
        self.assertEqual(asked[3:], [(70, 90, 5), (70, 90, 5), (70, 90, 5)])
        self.assertEqual(victims, [(), (), (), (0,), (1,)])
        early = Cache(Trie("ab"), 3, score)
        for time in (-500, -300):
            early.access("a", now_ms=time)
        self.assertEqual(early.now_ms, -300)
        state = cache.state()
        cache.access("b", now_ms=95)
        cache.restore(state)
        self.assertEqual((cache.now_ms, cache.state()), (90, state))
        plain = Cache(Trie("abcd"), 3, score)
        asked.clear()
        for string in "abcd":
            plain.access(string)
        self.assertEqual(asked, [(1, 4, 4), (2, 4, 4), (3, 4, 4)])

    def test_a_block_that_expires_between_two_requests(self) -> None:
        """No score without the clock does this: of the same two blocks, untouched, now one goes and now the other."""

        def expired(block: Facts, now: int) -> Any:
            return (now - block.last_access <= 2, -block.last_access)

        cache = Cache(Trie("abcd"), 2, expired)
        for string in "abc":
            cache.access(string)
        self.assertEqual(cache.trie.labels(cache.cached()), ["a", "c"])  # b is younger, and neither has expired
        cache.access("d")
        self.assertEqual(cache.trie.labels(cache.cached()), ["c", "d"])  # a has expired


if __name__ == "__main__":
    unittest.main()
