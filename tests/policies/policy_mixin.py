"""What every policy must do, whatever its score: a mixin for the tests of one policy, and a plain cache beside it.

A new policy is tested by a class of a few lines, here for a function `thrifty` in the file `mine.py`:

    class ThriftyTest(PolicyMixin, unittest.TestCase):
        policy, config = "mine.py:thrifty", {"weight": 3}
        keeps_order = True  # no cached block ever scores higher than its parent
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple

from src.policies.cache import Cache, Served
from src.policies.facts import Facts, Score
from src.policies.scores import make_policy
from src.radixcache import ROOT, Trie
from tests.helpers import BINARY

CHAINS = Trie(("a", "ab", "abc", "ad", "b", "bc", "bcd"))
"""Two chains, a-ab-abc and b-bc-bcd, and a branch ad: the trie of the examples."""


LETTERS = Trie(("a", "b", "c", "d"))
"""Blocks without relations: what goes first is the policy's choice alone."""


# -- a plain cache, written from SGLang's page alone ---------------------------------------------------------------


@dataclass
class Line:
    """A cached prefix: the requests that brought it in and used it last, its reuses, its most urgent request."""

    length: int
    first: int
    last: int
    reuses: int
    urgency: int


class PlainCache:
    """The cache once more, on other data: a dictionary of prefixes, all of which are scanned for each eviction."""

    def __init__(self, capacity: int, score: Callable[[Line], Any], leaf_only: bool, write_back: bool) -> None:
        self.capacity, self.score, self.leaf_only, self.write_back = capacity, score, leaf_only, write_back
        self.lines: dict[str, Line] = {}
        self.locks: list[tuple[str, str]] = []  # the string that was locked, and the prefix of it that is held
        self.now = 0

    def access(self, string: str, priority: int = 0, chunked: bool = False) -> Served:
        self.now += 1
        path = [string[:length] for length in range(1, len(string) + 1)]
        new = [prefix for prefix in path if prefix not in self.lines]
        for prefix in path:
            if prefix in new:
                self.lines[prefix] = Line(len(prefix), self.now, self.now, 0, priority)
                continue
            line = self.lines[prefix]
            line.last = self.now
            line.urgency = max(line.urgency, priority)
            if not chunked and not self.write_back:
                line.reuses += 1
        self.locks.append(("in service", string))
        served = self.free(len(self.lines) - self.capacity)
        self.locks.pop()
        uncached = 0
        while len(self.lines) > self.capacity:
            del self.lines[new.pop()]
            uncached += 1
        return served._replace(hits=len(path) - len(new) - uncached, misses=len(new) + uncached, uncached=uncached)

    def lock(self, string: str) -> int:
        held = max((prefix for prefix in self.lines if string.startswith(prefix)), key=len, default="")
        self.locks.append((string, held))
        return len(held)

    def unlock(self, string: str) -> None:
        self.locks.pop([name for name, _ in self.locks].index(string))  # index raises ValueError

    def evict(self, count: int) -> tuple[str, ...]:
        if count < 0:
            raise ValueError(count)
        return self.free(count).victims

    def candidates(self) -> list[str]:
        return [
            prefix
            for prefix in self.lines
            if not any(held.startswith(prefix) for _, held in self.locks)
            and not (self.leaf_only and self.above(prefix))
        ]

    def above(self, prefix: str) -> list[str]:
        return [other for other in self.lines if other != prefix and other.startswith(prefix)]

    def free(self, count: int) -> Served:
        victims: list[str] = []
        freed = interior = strict = dragged = 0
        while freed < count and self.candidates():
            ranked = sorted((self.score(self.lines[p]), self.lines[p].last, -len(p), p) for p in self.candidates())
            victim = ranked[0][3]
            above = self.above(victim)
            if above:
                interior += 1
                dragged += len(above)
                strict += len(ranked) == 1 or ranked[1][0] != ranked[0][0]
            for prefix in [victim, *above]:
                del self.lines[prefix]
                freed += 1
            victims.append(victim)
        return Served(0, 0, tuple(victims), interior, strict, dragged)


# -- random sequences of operations --------------------------------------------------------------------------------

Operation = tuple[Any, ...]


class Story(NamedTuple):
    """A cache and what is done to it, in full: what a failing test prints."""

    strings: tuple[str, ...]
    capacity: int
    leaf_only: bool
    write_back: bool
    operations: tuple[Operation, ...]

    def cache(self, score: Score) -> Cache:
        """Return the cold cache of the story."""
        return Cache(Trie(self.strings), self.capacity, score, self.leaf_only, self.write_back)


def random_strings(rng: random.Random, alphabet: str = "abc") -> tuple[str, ...]:
    """Return 2 to 7 strings of 1 to 4 symbols, each once."""
    strings = ["".join(rng.choices(alphabet, k=rng.randint(1, 4))) for _ in range(rng.randint(2, 7))]
    return tuple(dict.fromkeys(strings))


def random_stories(seed: int, count: int, length: int = 12, locking: bool = True) -> Iterator[Story]:
    """Yield stories over random tries; capacities from 1 on, so that some paths are longer."""
    rng = random.Random(seed)
    for number in range(count):
        strings = random_strings(rng)
        operations: list[Operation] = []
        locked: list[str] = []
        for _ in range(length):
            string = rng.choice(strings)
            kind = rng.choices(("access", "lock", "unlock", "evict"), (12, 2, 2, 1) if locking else (12, 0, 0, 1))[0]
            if kind == "access":
                operations.append((kind, string, rng.choice((0, 0, 1, 2, -1)), rng.random() < 0.2))
            elif kind == "evict":
                operations.append((kind, rng.randint(0, 3)))
            elif kind == "lock":
                locked.append(string)
                operations.append((kind, string))
            else:
                if locked and rng.random() < 0.8:
                    string = locked.pop(rng.randrange(len(locked)))
                operations.append((kind, string))
        yield Story(strings, rng.randint(1, 6), number % 2 == 0, number % 16 == 0, tuple(operations))


def perform(cache: Any, operation: Operation) -> Any:
    """Return what an operation answers, with blocks as prefixes, or the class of the error that it raises."""
    name, *arguments = operation
    try:
        answer = getattr(cache, name)(*arguments)
    except ValueError:
        return ValueError
    if isinstance(cache, Cache):
        if name == "access":
            return answer._replace(victims=prefixes(cache, answer.victims))
        if name == "evict":
            return prefixes(cache, answer)
    return answer


def prefixes(cache: Cache, blocks: Sequence[int]) -> tuple[str, ...]:
    """Return the strings that end at some blocks."""
    return tuple(cache.trie.label(block) for block in blocks)


def cached_prefixes(cache: Cache) -> set[str]:
    """Return the cached blocks as strings."""
    return set(cache.trie.labels(cache.cached()))


def victims(score: Score, requests: Sequence[Any], trie: Trie = LETTERS, leaf_only: bool = True) -> str:
    """Return, separated by spaces, the order in which a policy empties a cache that has room for all requests.

    A request is a string, or the arguments of `access`.
    """
    cache = Cache(trie, len(trie), score, leaf_only)
    for request in requests:
        cache.access(*((request,) if isinstance(request, str) else request))
    return " ".join(prefixes(cache, cache.evict(len(trie))))


def fork(cache: Cache) -> Cache:
    """Return a cache in the same state, without locks, that goes on by itself."""
    twin = copy.copy(cache)
    twin.restore(cache.state()._replace(locks=()))
    return twin


def first_difference(
    left: Cache, right: Cache, requests: Sequence[tuple[Any, ...]], length: int
) -> tuple[Any, ...] | None:
    """Return a sequence of at most `length` requests that two caches serve differently, or None if there is none.

    A request is the arguments of `access`.  Sequences with a common beginning are served once.
    """
    if not length:
        return None
    for request in requests:
        one, other = fork(left), fork(right)
        if one.access(*request) != other.access(*request) or one.facts != other.facts:
            return (request,)
        rest = first_difference(one, other, requests, length - 1)
        if rest:
            return (request, *rest)
    return None


def violations(cache: Cache) -> list[str]:
    """Return the cached blocks that score higher than their cached parent."""
    scores = {block: cache.score(facts) for block, facts in cache.facts.items()}
    pairs = [(block, cache.trie.parent[block]) for block in scores if cache.trie.parent[block] != ROOT]
    return [cache.trie.label(block) for block, parent in pairs if scores[block] > scores[parent]]


# -- the mixin -----------------------------------------------------------------------------------------------------


class PolicyMixin:
    """The tests that any policy passes.  A subclass names the policy, its configuration and whether it keeps the order.

    `plain_score` is the policy once more, as a function of a `Line`; left out, the policy's own function is used.
    `priorities` and `length` bound the exhaustive comparison of a policy that keeps the order.
    """

    policy: str = "lru"
    config: Mapping[str, Any] = {}
    keeps_order: bool = False
    priorities: tuple[int, ...] = (0,)
    length: int = 4
    plain_score: Callable[[Line], Any] | None = None
    stories: int = 100

    def score(self) -> Score:
        return make_policy(self.policy, self.config)

    def cache(self, capacity: int, *requests: str, trie: Trie = CHAINS) -> Cache:
        """Return a cache that has served some requests."""
        cache = Cache(trie, capacity, self.score())
        for string in requests:
            cache.access(string)
            cache.check()
        return cache

    def assert_cached(self, cache: Cache, *expected: str) -> None:
        cache.check()
        self.assertEqual(cached_prefixes(cache), set(expected))

    # -- random sequences

    def test_agrees_with_the_plain_cache(self) -> None:
        score = self.score()

        def from_line(line: Line) -> Any:
            return score(Facts(line.last, line.first, line.reuses, line.urgency, line.length))

        for story in random_stories(1, self.stories):
            cache = story.cache(score)
            plain = PlainCache(story.capacity, type(self).plain_score or from_line, story.leaf_only, story.write_back)
            for at, operation in enumerate(story.operations):
                got, expected = perform(cache, operation), perform(plain, operation)
                try:
                    self.assertEqual(got, expected)
                    self.assertEqual(cached_prefixes(cache), set(plain.lines))
                    cache.check()
                except AssertionError as error:
                    self.fail(f"{self.policy}: {error}\n{story._replace(operations=story.operations[: at + 1])}")

    def test_a_tie_goes_to_the_least_recently_used_then_to_the_deeper(self) -> None:
        for story in random_stories(2, 25, locking=False):
            cache = story.cache(self.score())
            for operation in story.operations:
                perform(cache, operation)
                candidates = cache.evictable()
                facts = cache.facts
                for victim in fork(cache).evict(1):
                    lowest = min(cache.score(facts[block]) for block in candidates)
                    tied = [block for block in candidates if cache.score(facts[block]) == lowest]
                    oldest = min(facts[block].last_access for block in tied)
                    tied = [block for block in tied if facts[block].last_access == oldest]
                    deepest = max(facts[block].depth for block in tied)
                    self.assertEqual([victim], [block for block in tied if facts[block].depth == deepest], story)

    def test_the_same_sequence_has_the_same_victims(self) -> None:
        for story in random_stories(3, 20):
            one, other = story.cache(self.score()), story.cache(self.score())
            for operation in story.operations:
                other.facts = dict(reversed(list(other.facts.items())))  # must not decide
                self.assertEqual(perform(one, operation), perform(other, operation), story)

    def test_the_path_in_service_and_locked_blocks_never_go(self) -> None:
        for story in random_stories(4, 25):
            cache = story.cache(self.score())
            locked: list[str] = []
            for operation in story.operations:
                name, *arguments = operation
                answer = perform(cache, operation)
                if answer is ValueError:
                    continue
                if name == "lock":
                    locked.append(arguments[0][:answer])
                    self.assertTrue(answer == 0 or locked[-1] in cached_prefixes(cache), story)
                elif name == "unlock":
                    locked = []  # what is still held is not followed
                elif name == "access":
                    self.assertFalse([v for v in answer.victims if arguments[0].startswith(v)], story)
                held = {one[:length] for one in locked for length in range(1, len(one) + 1)}
                self.assertLessEqual(held, cached_prefixes(cache), story)

    # -- which blocks may go

    def test_a_parent_is_a_candidate_as_soon_as_its_child_is_gone(self) -> None:
        cache = self.cache(3, "abc")
        self.assertEqual(prefixes(cache, cache.evictable()), ("abc",))
        self.assertEqual(prefixes(cache, cache.evict(1)), ("abc",))
        self.assertEqual(prefixes(cache, cache.evictable()), ("ab",))
        self.assertEqual(prefixes(cache, cache.evict(2)), ("ab", "a"))
        self.assertEqual(cache.evictable(), [])

    def test_one_eviction_walks_a_branch_from_its_tip_towards_the_root(self) -> None:
        cache = self.cache(3, "abc")
        served = cache.access("bcd")  # all of its three blocks need the room
        self.assertEqual(prefixes(cache, served.victims), ("abc", "ab", "a"))
        self.assert_cached(cache, "b", "bc", "bcd")

    def test_the_root_is_never_evicted(self) -> None:
        for leaf_only in (True, False):
            cache = Cache(CHAINS, 7, self.score(), leaf_only)
            for string in CHAINS.strings:
                cache.access(string)
            victims = cache.evict(10**6)
            self.assertNotIn(ROOT, victims)
            self.assertEqual(len(set(victims)), len(victims))
            self.assert_cached(cache)
            self.assertEqual(cache.evict(1), ())
            self.assertEqual(cache.access("abc").misses, 3)
            self.assert_cached(cache, "a", "ab", "abc")

    def test_evict_frees_what_it_is_asked_for(self) -> None:
        cache = self.cache(7, "abc", "bc")
        before = dict(cache.facts)
        self.assertEqual(cache.evict(0), ())
        with self.assertRaisesRegex(ValueError, "cannot evict -1 blocks: give 0 or more"):
            cache.evict(-1)
        self.assertEqual(cache.facts, before)
        self.assertEqual(len(cache.evict(2)), 2)
        self.assertEqual(len(cache.facts), 3)
        self.assertEqual(len(cache.evict(4)), 3)  # more than there is

    # -- locks

    def test_a_locked_path_stays_whatever_is_asked_for(self) -> None:
        cache = self.cache(5, "ad", "b", "abc")
        self.assertEqual(cache.lock("ab"), 2)
        self.assertEqual(sorted(prefixes(cache, cache.evict(9))), ["abc", "ad", "b"])
        self.assert_cached(cache, "a", "ab")
        self.assertEqual(cache.evict(1), ())  # all is locked: nothing is freed, and that is what it says
        cache.unlock("ab")
        self.assertEqual(prefixes(cache, cache.evict(9)), ("ab", "a"))

    def test_locks_are_counted(self) -> None:
        cache = self.cache(3, "ab")
        cache.lock("ab")
        cache.lock("ab")
        cache.lock("a")
        cache.unlock("ab")
        self.assertEqual(cache.evict(2), ())
        cache.unlock("ab")
        self.assertEqual(prefixes(cache, cache.evict(2)), ("ab",))
        cache.unlock("a")
        self.assertEqual(prefixes(cache, cache.evict(2)), ("a",))

    def test_unlocking_what_is_not_locked_is_an_error(self) -> None:
        cache = self.cache(3, "ab")
        cache.lock("ab")
        for string in ("a", "b", "abc"):  # not even a prefix of a locked string
            with self.assertRaisesRegex(ValueError, f"'{string}' is not locked: unlock once for each lock"):
                cache.unlock(string)
        cache.check()
        cache.unlock("ab")
        with self.assertRaises(ValueError):
            cache.unlock("ab")
        self.assertEqual(len(cache.evict(9)), 2)

    def test_a_lock_of_a_partly_cached_path_holds_what_was_cached(self) -> None:
        cache = self.cache(3, "ab")
        self.assertEqual(cache.lock("abc"), 2)
        cache.access("abc")
        self.assertEqual(prefixes(cache, cache.evict(9)), ("abc",))
        cache.access("abc")
        self.assertEqual(cache.lock("abc"), 3)
        cache.unlock("abc")  # the older of the two locks
        self.assertEqual(cache.evict(9), ())
        cache.unlock("abc")
        self.assertEqual(prefixes(cache, cache.evict(9)), ("abc", "ab", "a"))

    def test_a_lock_of_a_path_that_is_not_cached_holds_nothing(self) -> None:
        cache = self.cache(3)
        self.assertEqual(cache.lock("b"), 0)
        cache.access("b")
        self.assertEqual(prefixes(cache, cache.evict(1)), ("b",))
        cache.unlock("b")
        with self.assertRaises(ValueError):
            cache.unlock("b")

    def test_the_tail_is_not_cached_when_everything_else_is_locked(self) -> None:
        cache = self.cache(3, "ab", "b")
        cache.lock("ab")
        cache.lock("b")
        served = cache.access("ad")
        self.assertEqual((served.hits, served.misses, served.victims, served.uncached), (1, 1, (), 1))
        self.assert_cached(cache, "a", "ab", "b")
        self.assertEqual(cache.access("bcd").uncached, 2)
        self.assert_cached(cache, "a", "ab", "b")
        cache.unlock("b")
        served = cache.access("ad")
        self.assertEqual((prefixes(cache, served.victims), served.uncached), (("b",), 0))
        self.assert_cached(cache, "a", "ab", "ad")

    def test_as_much_of_the_tail_is_cached_as_there_is_room_for(self) -> None:
        cache = self.cache(3, "a")
        cache.lock("a")
        served = cache.access("bcd")
        self.assertEqual((served.misses, served.victims, served.uncached), (3, (), 1))
        self.assert_cached(cache, "a", "b", "bc")

    # -- capacities and strings

    def test_capacity_one(self) -> None:
        cache = self.cache(1)
        first = cache.access("abc")
        self.assertEqual((first.hits, first.misses, first.victims, first.uncached), (0, 3, (), 2))
        self.assert_cached(cache, "a")
        second = cache.access("ad")
        self.assertEqual((second.hits, second.misses, second.victims, second.uncached), (1, 1, (), 1))
        self.assert_cached(cache, "a")
        third = cache.access("b")
        self.assertEqual((third.hits, third.misses, prefixes(cache, third.victims), third.uncached), (0, 1, ("a",), 0))
        self.assert_cached(cache, "b")

    def test_a_path_longer_than_the_capacity_keeps_its_first_blocks(self) -> None:
        cache = self.cache(2, "b")
        served = cache.access("abc")
        self.assertEqual((served.misses, prefixes(cache, served.victims), served.uncached), (3, ("b",), 1))
        self.assert_cached(cache, "a", "ab")
        served = cache.access("abc")
        self.assertEqual((served.hits, served.misses, served.victims, served.uncached), (2, 1, (), 1))
        self.assert_cached(cache, "a", "ab")

    def test_a_string_that_is_not_the_tries_changes_nothing(self) -> None:
        cache = self.cache(3, "ab")
        before = cache.state()
        for method in (cache.access, cache.match, cache.lock, cache.unlock):
            with self.assertRaises(ValueError):
                method("nowhere")
        self.assertEqual(cache.state(), before)
        cache.check()

    # -- for policies that keep the order: the leaf-only rule is free

    def skip_unless_kept(self) -> None:
        if not self.keeps_order:
            self.skipTest("this policy does not keep the order")

    def test_no_block_scores_higher_than_its_parent(self) -> None:
        self.skip_unless_kept()
        for story in random_stories(5, 40):
            cache = story.cache(self.score())
            for operation in story.operations:
                perform(cache, operation)
                self.assertEqual(violations(cache), [], story)

    def test_without_the_rule_the_same_victims_go(self) -> None:
        requests = [(string, priority) for string in BINARY for priority in self.priorities]
        self.skip_unless_kept()
        for capacity in (2, 3):
            leaf_only, free = (Cache(Trie(BINARY), capacity, self.score(), rule) for rule in (True, False))
            difference = first_difference(leaf_only, free, requests, self.length)
            self.assertIsNone(difference, f"{self.policy} at K = {capacity}")
