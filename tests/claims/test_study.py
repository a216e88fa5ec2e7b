"""The published numbers, each computed from the described algorithms."""

from __future__ import annotations

import itertools
import json
import unittest
from collections.abc import Sequence
from fractions import Fraction

from src.claims.claim import agrees
from src.claims.derisk import BINARY, witness, worst_lru_ratio
from src.claims.study import competitive, control_ratios, controls, lemma, offline, peel
from src.radixcache import (
    LeafOnlyBelady,
    Optimum,
    Rule,
    String,
    Trie,
    UnrestrictedBelady,
    flat_belady,
    flat_lru,
    members,
    serve_lru,
)
from tests.helpers import REPOSITORY, STUDY, committed

ROOT = REPOSITORY


class PublishedNumbers(unittest.TestCase):
    def test_lemma(self) -> None:
        measured = lemma(STUDY)["measured"]
        self.assertEqual(measured["unreachable"], 0)
        closed = [s for s in range(1 << len(STUDY)) if STUDY.is_ancestor_closed(s)]
        pairs = [(s, t) for s in closed for t in closed if s & t == t]
        self.assertEqual((measured["sets"], measured["pairs"]), (len(closed), len(pairs)))
        self.assertEqual(measured["leaf_removals"], sum(bin(s & ~t).count("1") for s, t in pairs))

    def test_peeling_stops_short_of_a_target_that_is_not_ancestor_closed(self) -> None:
        zero, deep = STUDY.path("00")
        self.assertEqual(peel(STUDY, 1 << zero | 1 << deep, 1 << deep), [])

    def test_the_lemma_counts_what_leaves_do_not_reach(self) -> None:
        """With all sets of blocks: leaves lead to a closed set from a closed one, or from one that a step closes."""
        every = range(1 << len(STUDY))
        closed = {held for held in every if STUDY.is_ancestor_closed(held)}
        pairs = [(s, t) for s in every for t in every if s & t == t]
        first = {(s, t): max(members(s & ~t), key=lambda b: len(STUDY.strings[b])) for s, t in pairs if s != t}
        reached = sum(s == t or t in closed and (s in closed or s & ~(1 << first[s, t]) in closed) for s, t in pairs)
        found = lemma(STUDY, every)
        self.assertEqual(found["measured"]["pairs"], len(pairs))
        self.assertEqual(found["measured"]["unreachable"], len(pairs) - reached)
        self.assertGreater(len(pairs), reached)
        self.assertFalse(found["reproduced"])

    def test_offline_2592_instances_without_a_mismatch(self) -> None:
        measured = offline(STUDY)["measured"]
        for optimum in Optimum:
            self.assertEqual(
                measured[optimum.value],
                {"instances": 2592, "mismatches": 0, "leaf_only_worse": 0, "leaf_only_better": 0},
            )

    def test_offline_counts_searches_that_are_not_optimal(self) -> None:
        """A search that misses one block more on one sequence: the ruled one, then the other one."""

        class Clumsy(LeafOnlyBelady):
            def misses(self, sequence: Sequence[String], cached: int = 0) -> int:
                return super().misses(sequence, cached) + (tuple(sequence) == ("0", "1", "0", "1"))

        for optimum in Optimum:
            worse = offline(STUDY, leaf_only=Clumsy)["measured"][optimum.value]
            better = offline(STUDY, unrestricted=Clumsy)["measured"][optimum.value]
            self.assertEqual(list(worse.values()), [2592, 2, 2, 0])
            self.assertEqual(list(better.values()), [2592, 2, 0, 2])

    def test_competitive_ratios_and_misses(self) -> None:
        published = {2: (8, "1.75", 14, 8), 3: (7, "1.667", 10, 6), 4: (6, "1.4", 7, 5)}
        for capacity, (length, decimal, misses, best) in published.items():
            worst = worst_lru_ratio(STUDY, capacity, length, Optimum.BYPASS)
            self.assertTrue(agrees(decimal, str(worst.ratio)))
            self.assertEqual(worst.tally, (misses, best))
        one = competitive(STUDY)
        self.assertTrue(one["reproduced"])
        self.assertEqual(one["measured"]["locked"], {"2": "1", "3": "7/5", "4": "4/3"})

    def test_a_capacity_with_a_larger_ratio_is_counted(self) -> None:
        """Three one-block strings at K = 2 exceed the ratio 2 from length 11 on; at K = 1 the ratio is at most 2."""
        star = Trie(("a", "b", "c"))
        key = "capacities_with_ratio_above_capacity"
        found = [competitive(star, lengths)["measured"][key] for lengths in ({2: 10}, {2: 11}, {2: 11, 1: 5, 3: 5})]
        self.assertEqual(found, [0, 1, 2])

    def test_controls(self) -> None:
        measured = controls(STUDY)["measured"]
        for name in ("repeated", "distinct_that_fit"):
            self.assertEqual((measured[name]["smallest_ratio"], measured[name]["largest_ratio"]), ("1", "1"))
            self.assertGreater(measured[name]["ratios"], 50)
        one = {"instances": 93312, "strict_interior_evictions": 88008, "evictions_from_the_path_in_service": 36288}
        found = measured["requested_only_recency"]
        self.assertEqual(found, {**one, "worse": 27780, "better": 4668, "shows_a_gap": True})
        one = {"instances": 93312, "strict_interior_evictions": 69024, "evictions_from_the_path_in_service": 0}
        locked = measured["requested_only_recency_locked"]
        self.assertEqual(locked, {**one, "worse": 18720, "better": 0, "shows_a_gap": True})

    def test_ratios_of_controls_that_are_none(self) -> None:
        cases = [(2, ("0", "1")), (2, ("00", "10", "00"))]
        self.assertEqual(
            control_ratios(STUDY, cases), {"ratios": 4, "smallest_ratio": "1", "largest_ratio": "3/2"}
        )


class PlainAgainstShared(unittest.TestCase):
    """The walks with shared states against one simulation for each sequence, by the plain model."""

    def test_worst_ratio_up_to_length_four(self) -> None:
        for optimum in Optimum:
            for capacity in (2, 3):
                search = UnrestrictedBelady(STUDY, capacity, optimum)
                ratios = {
                    sequence: Fraction(
                        serve_lru(STUDY, capacity, sequence, Rule.LEAF_ONLY).misses, search.misses(sequence)
                    )
                    for length in range(1, 5)
                    for sequence in itertools.product(STUDY.strings, repeat=length)
                }
                worst = worst_lru_ratio(STUDY, capacity, 4, optimum)
                self.assertEqual(worst.ratio, max(ratios.values()))
                self.assertEqual(worst.sequence, max(ratios, key=lambda one: ratios[one]))

    def test_flat_ratios_by_flat_paging_itself(self) -> None:
        for optimum, expected in ((Optimum.BYPASS, Fraction(5, 3)), (Optimum.LOCKED, Fraction(4, 3))):
            largest = max(
                Fraction(flat_lru(2, sequence), flat_belady(2, sequence, optimum))
                for length in range(1, 6)
                for sequence in itertools.product(BINARY, repeat=length)
            )
            self.assertEqual(largest, expected)


class CommittedResults(unittest.TestCase):
    def test_every_published_value_is_reproduced(self) -> None:
        results = committed()
        for one in results.values():
            if "published" in one:
                self.assertIs(one["reproduced"], agrees(one["published"], one["measured"]))
                self.assertTrue(one["reproduced"])

    def test_every_schedule_can_be_replayed_by_hand(self) -> None:
        """Each step follows from the one before: misses are the absent blocks, and what is evicted was a leaf."""
        results = committed()
        shown = [one for model in results["competitive"]["witnesses"].values() for one in model.values()]
        shown += [results["derisk"]["witnesses"][f"tree_{optimum.value}"] for optimum in Optimum]
        for one in shown:
            for who in ("lru", "optimum"):
                cached: set[str] = set()
                for step in one["schedule"]:
                    path = {step["request"][:end] for end in range(1, len(step["request"]) + 1)}
                    self.assertEqual(step[who]["misses"], len(path - cached))
                    cached |= path
                    for victim in step[who]["evicted"]:
                        self.assertFalse([block for block in cached if block[:-1] == victim])
                        cached.remove(victim)
                    self.assertEqual(cached, set(step[who]["cached"]))
                self.assertEqual(one[f"{who}_misses"], sum(step[who]["misses"] for step in one["schedule"]))

    def test_witnesses_by_the_plain_search(self) -> None:
        for model, shown in committed()["competitive"]["witnesses"].items():
            for capacity, one in shown.items():
                search = LeafOnlyBelady(STUDY, int(capacity), Optimum(model))
                self.assertEqual(one["optimum_misses"], search.misses(one["sequence"]))
                run = serve_lru(STUDY, int(capacity), one["sequence"], Rule.LEAF_ONLY)
                self.assertEqual(one["lru_misses"], run.misses)
                self.assertEqual(one, witness(STUDY, int(capacity), one["sequence"], Optimum(model)))

    def test_derisk_file_holds_the_same_claim(self) -> None:
        written = json.loads((ROOT / "results" / "derisk.json").read_text(encoding="utf-8"))
        claim = committed()["derisk"]
        del claim["measured"]["by_length"]  # which is for the report alone
        self.assertEqual(written, claim)


if __name__ == "__main__":
    unittest.main()
