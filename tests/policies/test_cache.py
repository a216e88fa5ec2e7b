"""The plain cache: hit counts, what it knows, against the model, and the theorem on when the rule binds."""

from __future__ import annotations

import itertools
import random
import unittest
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

from src.policies.cache import Cache, CacheState, Served
from src.policies.facts import Facts, Score
from src.policies.scores import make_policy
from src.radixcache import Rule, Trie, lru_access, serve_lru
from tests.helpers import BINARY
from tests.policies.policy_mixin import (
    CHAINS,
    LETTERS,
    cached_prefixes,
    fork,
    perform,
    prefixes,
    random_stories,
    random_strings,
    victims,
    violations,
)


class CacheTest(unittest.TestCase):
    def test_capacity_below_one(self) -> None:
        for capacity in (0, -1):
            with self.assertRaisesRegex(ValueError, f"a capacity of {capacity} blocks"):
                Cache(LETTERS, capacity)

    def test_strings_of_any_symbols(self) -> None:
        trie = Trie(((7, "x"), (7,), (8,)))
        self.assertEqual(victims(make_policy("lru"), [((7, "x"),), ((8,),), ((7,),)], trie), "7.x 8 7")

    def test_what_a_cache_knows_of_a_block(self) -> None:
        cache = Cache(CHAINS, 3)
        for request in (("ab",), ("a",), ("abc", 7)):
            cache.access(*request)
        a, ab, abc = CHAINS.path("abc")
        anew = {block: tuple(facts)[:5] for block, facts in cache.facts.items()}
        self.assertEqual(anew, {a: (3, 1, 2, 7, 1), ab: (3, 1, 1, 7, 2), abc: (3, 3, 0, 7, 3)})
        cache = Cache(CHAINS, 3)
        cache.access("a")
        self.assertEqual(tuple(cache.facts[a])[:5], (1, 1, 0, 0, 1))  # priority 0 where none is given

    def test_what_a_request_answers(self) -> None:
        cache = Cache(CHAINS, 3)
        self.assertEqual(cache.access("ab"), Served(0, 2, ()))
        self.assertEqual(cache.access("abc"), Served(2, 1, ()))
        a, ab, abc = CHAINS.path("abc")
        self.assertEqual(cache.access("bc"), Served(0, 2, (abc, ab)))
        self.assertEqual(cache.cached(), 1 << a | 1 << CHAINS.path("bc")[0] | 1 << CHAINS.path("bc")[1])

    def test_without_the_rule_a_victim_takes_its_descendants_along(self) -> None:
        cache = Cache(CHAINS, 4, make_policy("fifo"), leaf_only=False)
        for string in ("a", "abc", "b"):
            cache.access(string)
        # a was created first: it goes, and ab and abc with it, strictly, as no other block is as old; that is enough
        served = cache.access("bc")
        self.assertEqual(served._replace(victims=prefixes(cache, served.victims)), Served(1, 1, ("a",), 1, 1, 2, 0))
        self.assertEqual(cached_prefixes(cache), {"b", "bc"})
        cache.access("bcd")
        self.assertEqual(prefixes(cache, cache.evict(1)), ("b",))
        self.assertEqual(cached_prefixes(cache), set())

    def test_an_interior_eviction_in_a_tie_is_not_strict(self) -> None:
        # a and c share the lowest score; a, used earlier, goes and takes ab along, which scores higher
        cache = Cache(Trie(("a", "ab", "c", "d")), 3, lambda block: block.depth > 1, leaf_only=False)
        for string in ("a", "ab", "c"):
            cache.access(string)
        served = cache.access("d")
        self.assertEqual(served._replace(victims=prefixes(cache, served.victims)), Served(0, 1, ("a",), 1, 0, 1, 0))

    def test_a_restored_cache_goes_on_as_the_first_did(self) -> None:
        for story in random_stories(seed=21, count=60):
            first = story.cache(make_policy("lfu"))
            for at, operation in enumerate(story.operations):
                twin = story.cache(make_policy("lfu"))
                twin.restore(first.state())
                twin.check()
                self.assertEqual(twin.state(), first.state(), (story, at))
                self.assertEqual(perform(twin, operation), perform(first, operation), (story, at))
                self.assertEqual(twin.state(), first.state(), (story, at))

    def test_a_state_holds_everything_that_a_cache_remembers(self) -> None:
        """Whatever an attribute is called: two caches whose states are equal have the same attributes but for order."""
        cache, twin = Cache(CHAINS, 4), Cache(CHAINS, 4)
        for string in ("abc", "b"):
            cache.access(string)
        cache.lock("ab")
        twin.restore(cache.state())
        self.assertEqual(vars(twin), vars(cache))
        twin.access("b")
        self.assertNotEqual(twin.state(), cache.state())

    def test_check_sees_what_is_wrong(self) -> None:
        a, ab, abc = CHAINS.path("abc")
        fact = {block: Facts(3, 1, 1, 1, depth) for block, depth in ((a, 1), (ab, 2), (abc, 3))}
        wrong: list[tuple[str, Callable[[Cache], Any]]] = [
            ("not ancestor-closed", lambda cache: cache.facts.pop(ab)),
            ("3 blocks in a capacity of 2", lambda cache: setattr(cache, "capacity", 2)),
            ("locks do not add up", lambda cache: cache._locks.update({ab: 1})),
            ("locks do not add up", lambda cache: cache._held.update({"ab": [2]})),
            ("a locked block is not cached", lambda cache: (cache.lock("abc"), cache.facts.pop(abc))),
            ("evictable blocks are wrong", lambda cache: setattr(cache, "evictable", lambda: [abc, ab])),
            ("evictable blocks are wrong", lambda cache: setattr(cache, "evictable", list)),
            ("Facts", lambda cache: setattr(cache, "clock", 2)),
            ("a ghost too", lambda cache: cache.ghosts.update({ab: fact[ab]})),
            ("what was requested is not", lambda cache: cache.ghosts.update({CHAINS.path("bc")[1]: fact[ab]})),
            ("Facts", lambda cache: cache.ghosts.update({CHAINS.path("ad")[1]: fact[ab]._replace(seen=2)})),
        ]
        for block, change in [
            (a, {"created": 0}), (a, {"created": 4}), (abc, {"hits": -1}),  # impossible by themselves
            (a, {"created": 2}), (a, {"last_access": 2}), (ab, {"hits": 2}), (ab, {"priority": 2}),  # beside the parent
            (a, {"seen": 0}), (a, {"previous_access": 3}),
            *((ab, {name: 2}) for name in ("seen", "previous_access", "reach", "below")),
        ]:
            wrong.append(("Facts", lambda cache, b=block, c=change: cache.facts.update({b: fact[b]._replace(**c)})))
        for message, spoil in wrong:
            cache = Cache(CHAINS, 3)
            cache.restore(CacheState(3, tuple(fact.items())))
            cache.check()
            spoil(cache)
            with self.assertRaisesRegex(AssertionError, message):
                cache.check()


class LruOfTheModelTest(unittest.TestCase):
    """The model's LRU and this cache under `lru`: leaf-only, and unconstrained with ties to the deeper block.

    The model does not lock the path in service; it peels the tail of a path that is longer than the capacity,
    which this cache reports as `uncached`.
    """

    RULES = ((Rule.LEAF_ONLY, True), (Rule.DEEP, False))

    def gone(self, cache: Cache, string: str, served: Served) -> list[int]:
        return [*served.victims, *cache.trie.path(string)[::-1][: served.uncached]]

    def test_every_sequence_of_up_to_five_requests(self) -> None:
        trie = Trie(BINARY)
        for capacity, (rule, leaf_only) in itertools.product((2, 3), self.RULES):
            memo: dict[tuple[tuple[int, ...], str], Any] = {}
            # sequences of a length that lead both to the same state go on as one; lru does not look at hits
            layer: dict[Any, tuple[str, ...]] = {((0,) * len(trie), ()): ()}
            cache = Cache(trie, capacity, leaf_only=leaf_only)
            for _ in range(5):
                following: dict[Any, tuple[str, ...]] = {}
                for (times, facts), sequence in layer.items():
                    for string in BINARY:
                        cache.restore(CacheState(max(times), facts))
                        served = cache.access(string)
                        if (times, string) not in memo:
                            memo[times, string] = lru_access(trie, capacity, times, string, rule)
                        after, step = memo[times, string]
                        told = f"{rule}, K = {capacity}: {(*sequence, string)}"
                        self.assertEqual(self.gone(cache, string, served), [e.victim for e in step.evictions], told)
                        self.assertEqual((served.misses, cache.cached()), (step.misses, step.cached), told)
                        key = (after, tuple(sorted((b, f._replace(hits=0)) for b, f in cache.facts.items())))
                        following.setdefault(key, (*sequence, string))
                layer = following

    def test_random_tries(self) -> None:
        rng = random.Random(7)
        longer = 0
        for _ in range(150):
            strings = random_strings(rng)
            sequence = rng.choices(strings, k=12)
            capacity = rng.randint(1, 5)
            for rule, leaf_only in self.RULES:
                trie = Trie(strings)
                cache = Cache(trie, capacity, leaf_only=leaf_only)
                for at, step in enumerate(serve_lru(trie, capacity, sequence, rule).steps):
                    served = cache.access(sequence[at])
                    longer += served.uncached > 0
                    told = f"{rule}, K = {capacity}, {strings}: {sequence[: at + 1]}"
                    self.assertEqual(self.gone(cache, sequence[at], served), [e.victim for e in step.evictions], told)
                    self.assertEqual((served.misses, cache.cached()), (step.misses, step.cached), told)
        self.assertGreater(longer, 100)


# -- the theorem and its limits ------------------------------------------------------------------------------------


class Watched(Cache):
    """A cache without the rule that notes before each decision whether the order is kept, and what is cached."""

    def __init__(self, trie: Trie, capacity: int, score: Score) -> None:
        super().__init__(trie, capacity, score, leaf_only=False)
        self.noted: list[tuple[bool, int]] = []

    def evictable(self) -> list[int]:
        """Note the state before a decision and return what `Cache` returns."""
        self.noted.append((not violations(self), self.cached()))
        return super().evictable()


def random_score(rng: random.Random) -> Score:
    """Return a function of all the facts: by chance a look-up in a table or a sum, which keeps the order more often."""
    weights = [rng.choice((-1, 0, 1, 1, 2)) for _ in Facts._fields]
    table = [rng.randrange(4) for _ in range(97)]
    mixed = rng.random() < 0.5
    return lambda block: table[hash(block) % 97] if mixed else sum(w * fact for w, fact in zip(weights, block))


class TheoremTest(unittest.TestCase):
    def test_while_the_order_is_kept_the_victim_is_a_leaf(self) -> None:
        rng = random.Random(11)
        seen: dict[tuple[bool, bool], int] = {}
        for story in random_stories(6, 300):
            cache = Watched(Trie(story.strings), story.capacity, random_score(rng))
            for at, (name, *arguments) in enumerate(story.operations):
                cache.noted.clear()
                try:
                    answer = getattr(cache, name)(*arguments)
                except ValueError:
                    continue
                gone = answer.victims if name == "access" else answer if name == "evict" else ()
                interior = [bool(cache.trie.descendants[v] & held) for v, (_, held) in zip(gone, cache.noted)]
                for inside, (kept, _) in zip(interior, cache.noted):
                    seen[kept, inside] = seen.get((kept, inside), 0) + 1
                    self.assertFalse(kept and inside, story._replace(operations=story.operations[: at + 1]))
                if name == "access":
                    self.assertEqual(answer.interior, sum(interior))
        # the test has seen all the cases that the theorem allows: no converse, too
        self.assertEqual(sorted(seen), [(False, False), (False, True), (True, False)])
        self.assertGreater(min(seen.values()), 100)

    def test_the_order_can_be_violated_where_no_eviction_sees_it(self) -> None:
        # fifo: 00 was created after 0, so it scores higher than its parent; but the request 01 evicts 1, the oldest
        cache = Watched(Trie(BINARY), 3, make_policy("fifo"))
        for string in ("1", "0", "00"):
            cache.access(string)
        self.assertEqual(violations(cache), ["00"])
        served = cache.access("01")
        self.assertEqual(cache.noted[0][0], False)
        self.assertEqual((prefixes(cache, served.victims), served.interior), (("1",), 0))

    def test_fifo_and_mru_violate_the_order(self) -> None:
        for name, requests in (("fifo", ("0", "00")), ("mru", ("00", "0"))):
            cache = Cache(Trie(BINARY), 2, make_policy(name))
            for string in requests:
                cache.access(string)
            self.assertEqual(violations(cache), ["00"], name)


class Audit(NamedTuple):
    """What unconstrained eviction did beyond leaf-only eviction, over the sequences of one length."""

    instances: int = 0
    interior: int = 0
    strict: int = 0
    worse: int = 0
    better: int = 0


def audit(name: str, capacities: Sequence[int], length: int) -> tuple[list[Audit], dict[str, tuple[str, ...]]]:
    """Return an Audit for each length, and the first sequences that evict inside, miss more and miss fewer."""
    counts = [Audit() for _ in range(length + 1)]
    first: dict[str, tuple[str, ...]] = {}
    trie = Trie(BINARY)
    for capacity in capacities:
        pair = [Cache(trie, capacity, make_policy(name), rule) for rule in (True, False)]
        layer: list[tuple[tuple[str, ...], list[Cache], tuple[int, int, int]]] = [((), pair, (0, 0, 0))]
        for at in range(length + 1):
            following = []
            for sequence, caches, (interior, strict, extra) in layer:
                counts[at] = Audit(*map(sum, zip(counts[at], (1, interior, strict, extra > 0, extra < 0))))
                for what, happened in (("interior", interior), ("worse", extra > 0), ("better", extra < 0)):
                    if happened and len(first.get(what, sequence + ("",))) > len(sequence):
                        first[what] = sequence
                for string in BINARY if at < length else ():
                    leaf, free = twins = [fork(cache) for cache in caches]
                    plain, served = leaf.access(string), free.access(string)
                    tally = (interior + served.interior, strict + served.strict_interior,
                             extra + served.misses - plain.misses)
                    following.append(((*sequence, string), twins, tally))
            layer = following
    return counts, first


class WhereTheRuleBindsTest(unittest.TestCase):
    """fifo and mru: where the rule binds, where unconstrained eviction misses more, and where it misses fewer."""

    def extra(self, name: str, capacity: int, requests: Sequence[str]) -> int:
        """Return the misses of unconstrained eviction beyond those of leaf-only eviction."""
        caches = [Cache(Trie(BINARY), capacity, make_policy(name), rule) for rule in (False, True)]
        free, leaf_only = (sum(cache.access(string).misses for string in requests) for cache in caches)
        return free - leaf_only

    def test_the_audit_at_length_four(self) -> None:
        for name, expected, witness in (
            ("fifo", Audit(2592, 660, 660, 72, 0), {"interior": ("0", "00", "1"), "worse": ("0", "00", "1", "0")}),
            ("mru", Audit(2592, 384, 384, 60, 0), {"interior": ("00", "0", "1"), "worse": ("00", "0", "1", "0")}),
        ):
            counts, first = audit(name, (2, 3), 4)
            self.assertEqual(counts[4], expected, name)
            # the smallest witnesses: nothing shorter, and at K = 2 the first in the order of the strings
            self.assertEqual(first, witness, name)
            self.assertEqual((counts[2].interior, counts[3].worse), (0, 0), name)

    def test_a_witness_by_hand(self) -> None:
        # fifo, K = 2: 0 is older than 00, and taken by the request 1 it drags 00 along; leaf-only takes 00 and keeps 0
        served = [Cache(Trie(BINARY), 2, make_policy("fifo"), rule) for rule in (True, False)]
        for cache in served:
            for string in ("0", "00", "1"):
                last = cache.access(string)
            self.assertEqual(prefixes(cache, last.victims), ("00",) if cache.leaf_only else ("0",))
        self.assertEqual([cache.access("0").misses for cache in served], [0, 1])

    def test_for_mru_the_rule_costs(self) -> None:
        # K = 3: 0 was used after 00, which sits on it; unconstrained mru drops both and has room for 1, 10 and 11,
        # while leaf-only mru keeps the useless 0 and lets 10 and 11 push each other out
        requests = ("00", "0", "10", "11", "10")
        self.assertEqual(self.extra("mru", 3, requests), -1)
        self.assertEqual(self.extra("mru", 3, requests + ("11", "10") * 5), -11)  # one miss a request, without bound

    def test_for_fifo_the_rule_costs_beyond_the_audit(self) -> None:
        # nowhere up to 6 requests at K = 2 and 3, but here
        self.assertEqual(self.extra("fifo", 3, ("1", "10", "00", "1", "01", "1", "00", "01")), -1)
        self.assertEqual(self.extra("fifo", 4, ("0", "10", "00", "11", "10")), -1)


if __name__ == "__main__":
    unittest.main()
