"""The model: tries, LRU by hand and against a second implementation, the exact optima against each other."""

from __future__ import annotations

import itertools
import random
import unittest
from collections.abc import Sequence
from functools import cache

from src.radixcache import (
    ROOT,
    Eviction,
    LeafOnlyBelady,
    Optimum,
    Recency,
    Rule,
    Step,
    Trie,
    UnrestrictedBelady,
    as_set,
    check_capacity,
    flat_belady,
    flat_lru,
    lru_access,
    members,
    serve_lru,
    size,
)
from src.walks.belady import AnySetBelady, belady
from tests.helpers import BINARY, blocks, random_sequence, random_universe

LEAF_ONLY, SHALLOW, DEEP = Rule.LEAF_ONLY, Rule.SHALLOW, Rule.DEEP
BYPASS, LOCKED = Optimum.BYPASS, Optimum.LOCKED
SEARCHES = (LeafOnlyBelady, UnrestrictedBelady, AnySetBelady)


class Tries(unittest.TestCase):
    def test_blocks_are_numbered_as_they_are_met_parents_first(self) -> None:
        trie = Trie(["ab", "b", "abc", "ac", "ab"])
        self.assertEqual(trie.strings, ("ab", "b", "abc", "ac"))
        self.assertEqual(trie.prefix, ["a", "ab", "b", "abc", "ac"])
        self.assertEqual(trie.parent, [ROOT, 0, ROOT, 1, 0])
        self.assertEqual(trie.depth, [1, 2, 1, 3, 2])
        self.assertEqual(trie.descendants, [blocks(1, 3, 4), blocks(3), 0, 0, 0])
        self.assertEqual(len(trie), 5)
        self.assertEqual([trie.path(string) for string in trie.strings], [(0, 1), (2,), (0, 1, 3), (0, 4)])
        self.assertEqual([trie.label(block) for block in range(5)], ["a", "ab", "b", "abc", "ac"])
        self.assertEqual(trie.labels(blocks(4, 0, 2)), ["a", "b", "ac"])
        self.assertEqual(trie.labels(0), [])

    def test_random_tries_against_the_definition(self) -> None:
        rng = random.Random(1)
        for _ in range(100):
            strings = random_universe(rng, 6, 5, "abc")
            trie = Trie(iter(strings))
            with self.subTest(strings=strings):
                prefixes = {string[:end] for string in strings for end in range(1, len(string) + 1)}
                self.assertEqual((len(trie), set(trie.prefix)), (len(prefixes), prefixes))
                for block, prefix in enumerate(trie.prefix):
                    self.assertLess(trie.parent[block], block)
                    self.assertEqual(trie.prefix[trie.parent[block]] if prefix[1:] else "", prefix[:-1])
                    self.assertEqual(trie.parent[block] == ROOT, len(prefix) == 1)
                    self.assertEqual(trie.depth[block], len(prefix))
                    below = [b for b, p in enumerate(trie.prefix) if p.startswith(prefix) and p != prefix]
                    self.assertEqual(trie.descendants[block], blocks(*below))
                for string in strings:
                    path = [trie.prefix.index(string[:end]) for end in range(1, len(string) + 1)]
                    self.assertEqual(trie.path(string), tuple(path))

    def test_strings_are_tuples_of_any_hashables_or_text(self) -> None:
        trie = Trie([("a", 10), ("a", None), (frozenset(),), ("a", 10)])
        self.assertEqual(trie.strings, (("a", 10), ("a", None), (frozenset(),)))
        self.assertEqual(trie.parent, [ROOT, 0, 0, ROOT])
        self.assertEqual([trie.label(block) for block in range(4)], ["a", "a.10", "a.None", "frozenset()"])
        self.assertEqual(trie.path(("a", None)), (0, 2))
        self.assertEqual(Trie("aba").strings, ("a", "b"))
        self.assertEqual(Trie([("ab",), ("a", "b")]).parent, [ROOT, ROOT, 1])

    def test_a_universe_without_strings_or_with_the_empty_one_is_refused(self) -> None:
        for strings, complaint in (([], "universe is empty"), ([""], "empty string"), (["a", ()], "empty string")):
            with self.subTest(strings=strings), self.assertRaisesRegex(ValueError, complaint):
                Trie(strings)

    def test_only_the_given_strings_can_be_requested(self) -> None:
        trie = Trie(["ab"])
        for string in ("a", "abc", "", ("a", "b")):
            with self.subTest(string=string), self.assertRaisesRegex(ValueError, "not one of the trie's strings"):
                trie.path(string)
        with self.assertRaisesRegex(ValueError, "'a' is not one"):
            serve_lru(trie, 2, ["ab", "a"], LEAF_ONLY)
        with self.assertRaisesRegex(ValueError, "'a' is not one"):
            belady(trie, 2, ["ab", "a"], BYPASS)


class Sets(unittest.TestCase):
    def test_sets_of_blocks_by_hand(self) -> None:
        self.assertEqual([size(held) for held in (0, 1, 0b1011, 1 << 100)], [0, 1, 3, 1])
        self.assertEqual(list(members(blocks(3, 0, 100))), [0, 3, 100])
        self.assertEqual(list(members(0)), [])
        self.assertEqual(as_set([3, 0, 3]), 0b1001)

    def test_the_binary_universe_has_25_ancestor_closed_sets(self) -> None:
        trie = Trie(BINARY)
        self.assertEqual([len(trie.ancestor_closed_sets(k)) for k in range(8)], [1, 3, 8, 14, 20, 24, 25, 25])
        self.assertEqual(trie.ancestor_closed_sets(1), [0, 1, 2])
        self.assertEqual(trie.leaves(blocks(0, 1, 3)), blocks(1, 3))

    def test_ancestor_closed_sets_and_leaves_against_all_subsets(self) -> None:
        rng = random.Random(2)
        for _ in range(25):
            strings = random_universe(rng, 4, 4)
            trie = Trie(strings)
            closed = []
            for held in range(2 ** min(len(trie), 8)):
                prefixes = {p for block, p in enumerate(trie.prefix) if held >> block & 1}
                is_closed = all(p[:-1] in prefixes or len(p) == 1 for p in prefixes)
                self.assertEqual(trie.is_ancestor_closed(held), is_closed, (strings, held))
                if is_closed:
                    closed.append(held)
                    leaves = [p for p in prefixes if not any(q[:-1] == p for q in prefixes)]
                    self.assertEqual(set(trie.labels(trie.leaves(held))), set(leaves), (strings, held))
            if len(trie) <= 8:
                for capacity in range(len(trie) + 2):
                    expected = [held for held in closed if bin(held).count("1") <= capacity]
                    expected.sort(key=lambda held: (bin(held).count("1"), held))
                    self.assertEqual(trie.ancestor_closed_sets(capacity), expected, (strings, capacity))


class LruByHand(unittest.TestCase):
    def test_three_rules_part_at_a_tie(self) -> None:
        """"00" leaves 0@1 00@1, "1" adds 1@2, "01" makes 0@3 01@3: 00 is oldest.  Then "10": 0@3 01@3 1@4 10@4."""
        trie = Trie(BINARY)
        sequence = ("00", "1", "01", "10", "0")
        before = [Step(2, (), blocks(0, 2)), Step(1, (), blocks(0, 1, 2))]
        third = Step(1, (Eviction(2, blocks(2), interior=False, strict=True),), blocks(0, 1, 3))
        expected = {
            LEAF_ONLY: [Step(1, (Eviction(3, blocks(3), False, strict=True),), blocks(0, 1, 4)), blocks(0, 1, 4), 0],
            DEEP: [Step(1, (Eviction(3, blocks(3), False, strict=False),), blocks(0, 1, 4)), blocks(0, 1, 4), 0],
            SHALLOW: [Step(1, (Eviction(0, blocks(0, 3), True, strict=False),), blocks(1, 4)), blocks(0, 1, 4), 1],
        }
        for rule, (fourth, cached, misses) in expected.items():
            with self.subTest(rule=rule):
                run = serve_lru(trie, 3, sequence, rule)
                self.assertEqual(run.steps, (*before, third, fourth, Step(misses, (), cached)))
                self.assertEqual(run.misses, 5 + misses)
                self.assertEqual(run.evictions, [*third.evictions, *fourth.evictions])

    def test_a_strict_interior_eviction_when_only_the_requested_block_is_refreshed(self) -> None:
        """After "00" twice, "1" and "10" the times are 0@1 00@2 1@3 10@4: the parent 0 is older than its child."""
        trie = Trie(BINARY)
        sequence = ("00", "00", "1", "10")
        taken_whole = (Eviction(0, blocks(0, 2), interior=True, strict=True),)
        a_leaf = (Eviction(2, blocks(2), interior=False, strict=True),)
        for rule, evictions, cached in (
            (SHALLOW, taken_whole, blocks(1, 4)),
            (DEEP, taken_whole, blocks(1, 4)),
            (LEAF_ONLY, a_leaf, blocks(0, 1, 4)),
        ):
            with self.subTest(rule=rule):
                run = serve_lru(trie, 3, sequence, rule, Recency.REQUESTED)
                self.assertEqual([step.misses for step in run.steps], [2, 0, 1, 1])
                self.assertEqual(run.steps[-1], Step(1, evictions, cached))
        for rule, eviction in (
            (SHALLOW, Eviction(0, blocks(0, 2), interior=True, strict=False)),
            (DEEP, Eviction(2, blocks(2), interior=False, strict=False)),
        ):
            self.assertEqual(serve_lru(trie, 3, sequence, rule).evictions, [eviction])

    def test_a_path_longer_than_the_capacity(self) -> None:
        """The blocks are a, ab, abc, abcd, x.  Leaf-only LRU always has one oldest leaf, so all it does is strict."""
        trie = Trie(["abcd", "x"])
        oldest = Eviction(4, blocks(4), interior=False, strict=True)
        for rule, rest, cached, again in (
            (LEAF_ONLY, [Eviction(3, blocks(3), False, True), Eviction(2, blocks(2), False, True)], blocks(0, 1), 2),
            (DEEP, [Eviction(3, blocks(3), False, False), Eviction(2, blocks(2), False, False)], blocks(0, 1), 2),
            (SHALLOW, [Eviction(0, blocks(0, 1, 2, 3), True, False)], 0, 4),
        ):
            with self.subTest(rule=rule):
                run = serve_lru(trie, 2, ["x", "abcd", "abcd"], rule)
                self.assertEqual(run.steps[0], Step(1, (), blocks(4)))
                self.assertEqual(run.steps[1], Step(4, (oldest, *rest), cached))
                self.assertEqual(run.steps[2], Step(again, tuple(rest), cached))

    def test_long_paths_end_with_the_first_blocks_or_with_nothing(self) -> None:
        rng = random.Random(3)
        for _ in range(100):
            trie = Trie([*random_universe(rng, 4, 4), "abab"])
            sequence = (*random_sequence(rng, trie, 5), "abab")
            for capacity in (1, 2, 3):
                with self.subTest(strings=trie.strings, sequence=sequence, capacity=capacity):
                    first = as_set(trie.path("abab")[:capacity])
                    for rule, cached in ((LEAF_ONLY, first), (DEEP, first), (SHALLOW, 0)):
                        self.assertEqual(serve_lru(trie, capacity, sequence, rule).steps[-1].cached, cached)

    def test_one_access_sets_the_time_to_one_more_than_the_largest(self) -> None:
        trie = Trie(BINARY)
        self.assertEqual(lru_access(trie, 4, (7, 3, 0, 0, 3, 0), "01", LEAF_ONLY)[0], (8, 3, 0, 8, 3, 0))
        self.assertEqual(
            lru_access(trie, 4, (7, 3, 0, 0, 3, 0), "10", LEAF_ONLY, Recency.REQUESTED)[0], (7, 3, 0, 0, 8, 0)
        )
        self.assertEqual(lru_access(trie, 4, (0,) * 6, "01", LEAF_ONLY, Recency.REQUESTED)[0], (1, 0, 0, 1, 0, 0))

    def test_a_capacity_below_1_is_refused(self) -> None:
        trie = Trie(["a"])
        check_capacity(1)
        for capacity in (0, -1):
            for call in (
                lambda k: check_capacity(k),
                lambda k: serve_lru(trie, k, [], LEAF_ONLY),
                lambda k: belady(trie, k, [], BYPASS),
                lambda k: AnySetBelady(trie, k, BYPASS),
                lambda k: flat_lru(k, ""),
                lambda k: flat_belady(k, "", BYPASS),
            ):
                with self.assertRaisesRegex(ValueError, f"capacity of {capacity} blocks cannot hold"):
                    call(capacity)


class PlainCache:
    """LRU written a second time: prefixes with times of their own, told apart by a clock that ticks for every block.

    A path is touched from its last block to its first, so that a deeper block is older; under SHALLOW the other way.
    With block by block stamps the order of the stamps decides.
    """

    def __init__(self, capacity: int, rule: Rule, recency: Recency) -> None:
        self.capacity, self.rule, self.recency = capacity, rule, recency
        self.clock = 0
        self.used: dict[str, int] = {}

    def request(self, string: str) -> tuple[int, list[str], set[str]]:
        """Return the misses, the victims in their order and what is cached."""
        prefixes = [string[:end] for end in range(1, len(string) + 1)]
        absent = [prefix for prefix in prefixes if prefix not in self.used]
        touched = list(dict.fromkeys([*absent, string])) if self.recency is Recency.REQUESTED else prefixes
        orders = {Recency.ROOT_FIRST: True, Recency.LEAF_FIRST: False}
        for prefix in touched if orders.get(self.recency, self.rule is SHALLOW) else reversed(touched):
            self.clock += 1
            self.used[prefix] = self.clock
        victims = []
        while len(self.used) > self.capacity:
            victims.append(self.evict())
        return len(absent), victims, set(self.used)

    def evict(self) -> str:
        """Remove the least recently used prefix that may go, with all that starts with it, and return it."""
        parents = {prefix[:-1] for prefix in self.used}
        able = [prefix for prefix in self.used if self.rule is not LEAF_ONLY or prefix not in parents]
        victim = min(able, key=lambda prefix: self.used[prefix])
        self.used = {prefix: time for prefix, time in self.used.items() if not prefix.startswith(victim)}
        return victim


class LruAgainstASecondImplementation(unittest.TestCase):
    def hold_equal(
        self, trie: Trie, capacity: int, sequence: Sequence[str], rule: Rule, recency: Recency = Recency.PATH
    ) -> None:
        plain = PlainCache(capacity, rule, recency)
        cached: set[str] = set()
        for string, step in zip(sequence, serve_lru(trie, capacity, sequence, rule, recency).steps):
            before = cached | {string[:end] for end in range(1, len(string) + 1)}
            misses, victims, cached = plain.request(string)
            case = (trie.strings, capacity, sequence, rule, recency)
            self.assertEqual([trie.label(eviction.victim) for eviction in step.evictions], victims, case)
            self.assertEqual((step.misses, set(trie.labels(step.cached))), (misses, cached), case)
            for eviction in step.evictions:
                gone = {prefix for prefix in before if prefix.startswith(trie.label(eviction.victim))}
                self.assertEqual(set(trie.labels(eviction.removed)), gone, case)
                self.assertEqual(eviction.interior, len(gone) > 1, case)
                before -= gone

    def test_every_sequence_of_up_to_4_requests(self) -> None:
        trie = Trie(BINARY)
        for sequence in itertools.product(BINARY, repeat=4):
            for capacity in (1, 2, 3, 4):
                self.hold_equal(trie, capacity, sequence, LEAF_ONLY)
            self.hold_equal(trie, 3, sequence, SHALLOW)
            self.hold_equal(trie, 3, sequence, DEEP)

    def test_random_tries(self) -> None:
        rng = random.Random(4)
        for _ in range(80):
            trie = Trie(random_universe(rng, 8, 4, "abc"))
            sequence = random_sequence(rng, trie, 12)
            for rule, recency in itertools.product(Rule, Recency):
                self.hold_equal(trie, rng.randint(1, 8), sequence, rule, recency)


def flat_optimum(capacity: int, sequence: str, optimum: Optimum) -> int:
    """Return the least page misses by trying every set of pages after every request."""

    @cache
    def least(at: int, pages: frozenset[str]) -> int:
        if at == len(sequence):
            return 0
        page = sequence[at]
        able = pages | {page}
        kept = {page} if optimum is LOCKED else set()
        choices = (
            frozenset(after)
            for count in range(min(capacity, len(able)) + 1)
            for after in itertools.combinations(sorted(able), count)
            if kept <= set(after)
        )
        return (page not in pages) + min(least(at + 1, after) for after in choices)

    return least(0, frozenset())


class FlatPaging(unittest.TestCase):
    def test_lru_by_hand(self) -> None:
        for capacity, sequence, misses in (
            (1, "aab", 2),
            (2, "abacab", 4),  # c takes b's place, b takes c's
            (2, "abcabc", 6),
            (3, "abcabc", 3),
            (3, "abcdabc", 7),
            (4, "abca", 3),  # three pages fit in four
            (9, "abcdefgabcdefg", 7),
            (2, "", 0),
        ):
            with self.subTest(capacity=capacity, sequence=sequence):
                self.assertEqual(flat_lru(capacity, iter(sequence)), misses)

    def test_belady_by_hand(self) -> None:
        for capacity, sequence, bypass, locked in (
            (1, "aba", 2, 3),
            (2, "abcab", 3, 4),
            (2, "abcabcabc", 5, 6),
            (3, "abcabc", 3, 3),
            (2, "", 0, 0),
        ):
            with self.subTest(capacity=capacity, sequence=sequence):
                self.assertEqual(flat_belady(capacity, sequence, BYPASS), bypass)
                self.assertEqual(flat_belady(capacity, sequence, LOCKED), locked)

    def test_flat_paging_is_the_tree_model_of_a_star(self) -> None:
        rng = random.Random(7)
        star = Trie([(page,) for page in "abcde"])
        for _ in range(100):
            sequence = "".join(rng.choice("abcde") for _ in range(rng.randint(1, 12)))
            requests = [(page,) for page in sequence]
            for capacity in range(1, 7):
                case = (capacity, sequence)
                for rule in Rule:
                    self.assertEqual(flat_lru(*case), serve_lru(star, capacity, requests, rule).misses, case)
                for optimum in Optimum:
                    misses = flat_belady(*case, optimum)
                    self.assertEqual(misses, belady(star, capacity, requests, optimum).misses, case)
        for sequence in ("abcdabecabde", "abcbdcaebdca"):
            requests = [(page,) for page in sequence]
            for capacity, optimum, search in itertools.product((2, 3), Optimum, SEARCHES):
                misses = flat_belady(capacity, sequence, optimum)
                self.assertEqual(search(star, capacity, optimum).misses(requests), misses, (sequence, capacity))

    def test_belady_against_brute_force(self) -> None:
        for sequence in map("".join, itertools.product("abcd", repeat=5)):
            for capacity, optimum in itertools.product((1, 2, 3), Optimum):
                if sequence[0] == "a":  # the names of the pages do not matter
                    self.assertEqual(
                        flat_belady(capacity, sequence, optimum),
                        flat_optimum(capacity, sequence, optimum),
                        (capacity, sequence, optimum),
                    )


if __name__ == "__main__":
    unittest.main()
