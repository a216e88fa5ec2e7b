"""The claim about engines: rows against plain enumeration, smallest witnesses, and counters seen counting."""

from __future__ import annotations

import itertools
import random
import unittest
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from src.claims.engines import (
    KINDS,
    TELL_APART,
    EngineRow,
    EngineTally,
    Kind,
    beside,
    interior_evictions,
    replayed,
    smallest,
    worst,
)
from src.claims.online import CAPACITIES
from src.engines.engine import EngineServed, serve_all
from src.engines.store import Store
from src.radixcache import ROOT, Optimum, Rule, Trie, serve_lru
from src.walks.belady import belady
from tests.helpers import STUDY, claimed, random_sequence, random_universe, shared_lru


def plain(capacity: int, kind: Kind, sequence: tuple[Any, ...], rule: Rule = Rule.LEAF_ONLY) -> EngineTally:
    """Return what an engine does beside LRU on one sequence, from a cold start."""
    engine = kind.make(capacity)
    extra = unequal = other = interior = 0
    held: set[int] = set()
    steps = shared_lru(STUDY, capacity, sequence, rule).steps
    for string, step, served in zip(sequence, steps, serve_all(engine, [(STUDY.path(one), 0) for one in sequence])):
        more = len(string) - served.hits - step.misses
        extra += more
        unequal += more != 0
        other += list(served.victims) != [eviction.victim for eviction in step.evictions]
        for victim in served.victims:
            held.remove(victim)
            interior += any(STUDY.parent[block] == victim for block in held)
        held = engine.cached()
    return EngineTally(extra, unequal, other, interior)


def all_plain(kind: Kind, length: int, rule: Rule = Rule.LEAF_ONLY) -> Iterator[EngineTally]:
    """Yield what an engine does on every sequence of a length, for both capacities."""
    for capacity in CAPACITIES:
        for sequence in itertools.product(STUDY.strings, repeat=length):
            yield plain(capacity, kind, sequence, rule)


def row(found: list[EngineTally]) -> EngineRow:
    """Return the row of some instances."""
    return EngineRow(
        len(found),
        sum(one.extra > 0 for one in found),
        sum(one.extra < 0 for one in found),
        sum(one.unequal == 0 for one in found),
        sum(one.other == 0 for one in found),
        sum(one.interior for one in found),
        sum(one.interior > 0 for one in found),
    )


def totals(kind: Kind, capacity: int, optimum: Optimum, sequence: Sequence[str]) -> tuple[int, int]:
    """Return the misses of an engine from a cold start, and the least misses."""
    served = serve_all(kind.make(capacity), [(STUDY.path(one), 0) for one in sequence])
    misses = sum(len(string) - one.hits for string, one in zip(sequence, served))
    return misses, belady(STUDY, capacity, sequence, optimum).misses


class Rows(unittest.TestCase):
    def test_against_plain_enumeration(self) -> None:
        for name, kind in KINDS.items():
            length = 4 if name == "sglang" else 3
            self.assertEqual(beside(STUDY, kind, length), row(list(all_plain(kind, length))), name)

    def test_every_counter_counts(self) -> None:
        sglang, store = beside(STUDY, KINDS["sglang"], 4), beside(STUDY, KINDS["store"], 4)
        for each in (sglang, store):
            self.assertTrue(0 < each.same_decisions < each.same_misses < each.instances)
            self.assertGreater(each.more_misses, 0)
        self.assertGreater(sglang.fewer_misses, 0)
        self.assertGreater(store.interior_evictions, store.instances_with_interior_evictions)
        self.assertGreater(store.instances_with_interior_evictions, 0)
        shallow = beside(STUDY, KINDS["sglang"], 4, Rule.SHALLOW)
        self.assertTrue(0 < shallow.same_misses < shallow.instances)

    def test_interior(self) -> None:
        zero, below = STUDY.path("00")
        one = STUDY.path("1")
        for evicted, counted in (((zero,),), 1), (((zero, below),), 0), (((below,), (zero,)), 0), ((one, (zero,)), 1):
            self.assertEqual(interior_evictions(STUDY, {zero, below, *one}, EngineServed(0, evicted=evicted)), counted)

    def test_the_claim(self) -> None:
        found = claimed("engines")
        self.assertTrue(found["holds"])
        self.assertEqual(found["measured"]["vllm"]["interior_evictions"], 0)
        for each in found["measured"].values():
            self.assertEqual(each["instances"], claimed("online")["measured"]["instances"])
        straw_man = claimed("tie_audit")["measured"]
        self.assertEqual(found["measured"]["store"]["more_misses"], straw_man["loses"])


class Witnesses(unittest.TestCase):
    def test_they_show_what_they_claim_and_none_is_smaller(self) -> None:
        for name, found in claimed("engines")["witnesses"].items():
            kind = KINDS[name]
            for what in TELL_APART.keys() & found.keys():
                witness = found[what]
                holds, capacity, sequence = TELL_APART[what], witness["capacity"], tuple(witness["sequence"])
                self.assertEqual(witness, smallest(STUDY, kind, holds))
                self.assertEqual(witness, replayed(STUDY, capacity, kind, sequence))
                self.assertTrue(holds(plain(capacity, kind, sequence)))
                for length in range(len(sequence)):
                    for shorter in itertools.product(STUDY.strings, repeat=length):
                        self.assertFalse(holds(plain(capacity, kind, shorter)), (name, what, shorter))

    def test_the_worst_ratios(self) -> None:
        """Round by round: the engine from a cold start, and the optimum by the furthest next use."""
        found = claimed("engines")
        for name in ("sglang", "store"):
            for optimum in Optimum:
                for capacity in CAPACITIES:
                    one, key = worst(STUDY, capacity, KINDS[name], optimum), (optimum.value, str(capacity))
                    shown, measured = (found[part][name]["worst_ratio"] for part in ("witnesses", "measured"))
                    self.assertEqual(one._asdict(), shown[key[0]][key[1]])
                    self.assertEqual(one.ratio, measured[key[0]][key[1]])
                    self.assertEqual(Fraction(one.misses, one.optimum_misses), Fraction(one.ratio))
                    before = totals(KINDS[name], capacity, optimum, [*one.prefix, *one.cycle * 2])
                    after = totals(KINDS[name], capacity, optimum, [*one.prefix, *one.cycle * 3])
                    self.assertEqual(
                        (after[0] - before[0], after[1] - before[1]), (one.misses, one.optimum_misses), (name, one)
                    )

    def test_no_sequence_is_worse(self) -> None:
        for name in ("sglang", "store"):
            for optimum in Optimum:
                limit = Fraction(worst(STUDY, 2, KINDS[name], optimum).ratio)
                highest = Fraction(0)
                for sequence in itertools.product(STUDY.strings, repeat=3):
                    misses, least = totals(KINDS[name], 2, optimum, sequence)
                    highest = max(highest, Fraction(misses, least))
                self.assertTrue(1 <= highest <= limit, (name, highest, limit))

    def test_a_schedule(self) -> None:
        found = smallest(STUDY, KINDS["store"], TELL_APART["interior_eviction"])
        assert found is not None
        self.assertEqual(found["schedule"][1], {
            "request": "1",
            "block": {"misses": 1, "evicted": ["00"], "cached": ["0", "1"]},
            "engine": {"misses": 1, "evicted": ["0"], "cached": ["1", "00"]},
        })  # fmt: skip
        self.assertIsNone(smallest(STUDY, KINDS["vllm"], TELL_APART["other_decisions"]))


class ShallowLru(unittest.TestCase):
    def test_the_store_misses_what_it_misses_on_every_trie(self) -> None:
        """And what lies behind an evicted block goes before it is asked for again: no orphan is ever of use."""
        chance = random.Random(8)
        orphans = 0
        for _ in range(150):
            trie = Trie(random_universe(chance, 8, 6))
            capacity = chance.randint(max(trie.depth), len(trie) + 1)
            sequence = random_sequence(chance, trie, 30)
            store = Store(capacity)
            for string, step in zip(sequence, serve_lru(trie, capacity, sequence, Rule.SHALLOW).steps):
                path, before = trie.path(string), store.cached()
                served = store.serve(path)
                self.assertEqual(len(path) - served.hits, step.misses, (trie.strings, capacity, sequence))
                self.assertLessEqual(set(path[served.hits :]) & before, set(served.victims))
                held = store.cached()
                orphans += sum(trie.parent[block] not in held | {ROOT} for block in held)
        self.assertGreater(orphans, 300)


if __name__ == "__main__":
    unittest.main()
