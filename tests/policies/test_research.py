"""The policies of the literature: each by hand, and two of them against caches that know nothing of facts or scores."""

from __future__ import annotations

import functools
import random
import unittest
from fractions import Fraction
from typing import Callable

from src.policies.cache import Cache
from src.policies.facts import Facts, asks_for
from src.policies.scores import make_policy, research_policies
from src.radixcache import Optimum, Trie
from src.traces.optimum import TraceOptimum
from src.traces.reading import trace_of
from src.traces.replay import replay
from tests.policies.policy_mixin import CHAINS, perform, random_stories, victims, violations

Place = Callable[[list[int]], tuple[int, ...]]
"""From all times at which a prefix was requested to its place in the order of eviction."""


def lru_2_place(times: list[int]) -> tuple[int, ...]:
    """The last but one request, never counting as the earliest; then the last."""
    return (times[-2] if len(times) > 1 else 0, times[-1])


def two_queue_place(times: list[int]) -> tuple[int, ...]:
    """First the queue of those that were requested once; then the others, least recently used first."""
    return (int(len(times) > 1), times[-1])


class GhostCache:
    """A cache of prefixes, and a log of the times of all requests for every prefix, cached or a ghost.

    Each eviction looks at all prefixes.
    """

    def __init__(self, capacity: int, place: Place) -> None:
        self.capacity, self.place = capacity, place
        self.log: dict[str, list[int]] = {}
        self.cached: set[str] = set()
        self.now = 0

    def access(self, string: str) -> int:
        """Serve a request and return its hits."""
        self.now += 1
        path = [string[:end] for end in range(1, len(string) + 1)]
        hits = sum(prefix in self.cached for prefix in path)
        for prefix in path:
            self.log.setdefault(prefix, []).append(self.now)
            self.cached.add(prefix)
        while len(self.cached) > self.capacity:
            below = {one[:end] for one in self.cached for end in range(1, len(one))}
            may_go = [one for one in self.cached - below if not string.startswith(one)]
            self.cached.remove(min(may_go or [max(self.cached, key=len)], key=lambda one: self.place(self.log[one])))
        return hits


class SecondImplementations(unittest.TestCase):
    """LRU-2 and 2Q with ghosts, written anew, on 500 random traces: the plain cache and the replay agree with them."""

    def test_they_agree_on_500_random_traces(self) -> None:
        chance = random.Random(12)
        returned = 0
        for number in range(500):
            strings = ["".join(chance.choices("abc", k=chance.randint(1, 4))) for _ in range(chance.randint(3, 12))]
            requests = chance.choices(strings, k=16)
            capacity = chance.randint(1, 9)
            for name, place in (("lru-2", lru_2_place), ("2q", two_queue_place)):
                ghosts, cache = GhostCache(capacity, place), Cache(Trie(strings), capacity, make_policy(name))
                total = 0
                for at, string in enumerate(requests, start=1):
                    hits = ghosts.access(string)
                    returned += hits < len(string) and len(ghosts.log[string]) > 1
                    self.assertEqual(cache.access(string).hits, hits, (number, name, capacity, requests[:at]))
                    self.assertEqual(set(cache.trie.labels(cache.cached())), ghosts.cached, (name, requests[:at]))
                    total += hits
                self.assertEqual(replay(trace_of(requests), capacity, make_policy(name)).hits, total)
        self.assertGreater(returned, 2000)  # ghosts that came back


class ByHand(unittest.TestCase):
    """The order in which each policy empties a cache, on a few requests."""

    def test_lru_2(self) -> None:
        score = make_policy("lru-2")
        self.assertEqual(victims(score, ["a", "a", "b", "b", "c"]), "c a b")
        self.assertEqual(victims(score, ["b", "a", "a", "b"]), "b a")  # a's last but one request is the later one

    def test_two_queue(self) -> None:
        self.assertEqual(victims(make_policy("2q"), ["a", "a", "b", "c"]), "b c a")
        self.assertEqual(victims(make_policy("2q", {"requests": 3}), ["a", "a", "b", "c"]), "a b c")

    def test_a_block_that_comes_back_is_known(self) -> None:
        """In a cache of two blocks a comes back as a ghost, and what is new then goes before it."""
        requests = list("abcadea")
        hits = {name: replay(trace_of(requests), 2, make_policy(name)).hits for name in ("lru", "slru", "lfu", "2q")}
        self.assertEqual(hits, {"lru": 0, "slru": 0, "lfu": 0, "2q": 1})

    def test_aged_lfu(self) -> None:
        score = make_policy("aged-lfu", {"half_life": 2})
        self.assertEqual(victims(score, ["a", "a", "b", "c"]), "b a c")  # 2 + 4, 3 + 2, 4 + 2; a is older than c
        self.assertEqual(victims(make_policy("aged-lfu"), ["a", "a", "b", "c"]), "b c a")

    def test_hyperbolic(self) -> None:
        score = make_policy("hyperbolic", {"patience": 2})
        facts = Facts(3, 1, 0, 0, 1, seen=4)
        found = [score(facts, now=now) for now in (3, 5, 6, 11)]
        self.assertEqual(found, [-(1 << 15), -(1 << 15), -(3 << 14), -(2 << 16)])
        self.assertEqual(victims(score, ["a", "a", "a", "b", "c"]), "b c a")  # 2/3, 2/1 and 2/1
        self.assertEqual(victims(score, ["a", "a", "b", "b", "d", "d", "c"]), "a c b d")  # 5/2, 2/1, 3/2 and 2/2

    def test_gdsf_and_hits_per_block(self) -> None:
        facts = Facts(10, 1, 0, 0, 1, seen=3, below=1)
        self.assertEqual(make_policy("hits-per-block")(facts), Fraction(3, 2))
        self.assertEqual(make_policy("gdsf", {"weight": 5})(facts), Fraction(35, 2))

    def test_ttl(self) -> None:
        score = make_policy("ttl", {"requests": 2})
        self.assertEqual(victims(score, ["a", "a", "b", "c", "d"]), "a b c d")  # a has expired
        self.assertEqual(victims(make_policy("ttl"), ["a", "a", "b", "c", "d"]), "b c d a")

    def test_return_density(self) -> None:
        """Four blocks in turn where three have room: the older, the sooner back, which no other policy finds out."""
        trace = trace_of("abcd" * 20)
        for name in research_policies():
            self.assertEqual(replay(trace, 3, make_policy(name)).hits, 48 if name == "return-density" else 0, name)
        self.assertEqual(TraceOptimum(trace).hits(3, Optimum.LOCKED), 51)

    def test_t_lru(self) -> None:
        score = make_policy("t-lru", {"spare": 2})
        self.assertEqual(victims(score, ["abc", "b"], CHAINS), "abc ab b a")  # of abc the last two; b has nothing below
        self.assertEqual(victims(make_policy("lru"), ["abc", "b"], CHAINS), "abc ab a b")


class OrderTest(unittest.TestCase):
    """For which of them the rule is free, as the head of the module says."""

    DIVIDE = {"hits-per-block", "gdsf"}
    LEARN = {"return-density"}

    def test_all_but_two_keep_the_order_and_these_two_do_not(self) -> None:
        broken = set()
        for name in set(research_policies()) - self.LEARN:
            plain = make_policy(name)
            for story in random_stories(8, 25, length=16):
                for now in (16, 30):
                    clock = dict.fromkeys(asks_for(plain), now)
                    cache = story.cache(functools.partial(plain, **clock))
                    for operation in story.operations:
                        perform(cache, operation)
                        if violations(cache):
                            broken.add(name)
        self.assertEqual(broken, self.DIVIDE)

    def test_the_rule_never_binds_where_the_order_is_kept(self) -> None:
        binds = set()
        for name in research_policies():
            for story in random_stories(9, 25, length=16):
                cache = Cache(Trie(story.strings), story.capacity, make_policy(name), leaf_only=False)
                for operation in story.operations:
                    if operation[0] == "access" and cache.access(*operation[1:]).interior:
                        binds.add(name)
        self.assertEqual(binds, self.DIVIDE | self.LEARN)


if __name__ == "__main__":
    unittest.main()
