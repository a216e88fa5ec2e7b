"""The published numbers, each computed from the described algorithms, and the documents that quote them."""

from __future__ import annotations

import itertools
import json
import re
import unittest
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from src.claims.claim import agrees
from src.claims.derisk import BINARY, witness, worst_lru_ratio
from src.claims.preregistration import value
from src.claims.study import competitive, control_ratios, controls, lemma, offline, peel
from src.policies.cache import Cache
from src.policies.scores import REGISTRY, make_policy, sglang_policies
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


class Readme(unittest.TestCase):
    """Every number that the README quotes, against the committed results."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.text = (ROOT / "README.md").read_text(encoding="utf-8")
        cls.results = committed()

    def rows(self) -> list[list[str]]:
        lines = [line for line in self.text.splitlines() if line.startswith("| ")]
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]

    def measured(self, key: str) -> str:
        claim, _, rest = key.partition(".")
        return str(value(self.results[claim]["measured"], rest))

    def test_tables_of_claims(self) -> None:
        keys = set()
        for row in self.rows():
            match = re.fullmatch(r"`(\w+(?:\.\w+)+)`", row[0])
            if not match:
                continue
            key = match[1]
            keys.add(key)
            if len(row) == 4:
                claim, _, rest = key.partition(".")
                self.assertEqual(row[1], str(value(self.results[claim]["published"], rest)), key)
                self.assertEqual(row[3], "yes")
                self.assertTrue(agrees(row[1], row[2]) if "." in row[1] else row[1] == row[2], key)
                self.assertEqual(row[2], self.measured(key), key)
            else:
                self.assertEqual(row[1], self.measured(key), key)
        published = {
            f"{name}.{key}" for name, one in self.results.items() for key in flattened(one.get("published", {}))
        }
        self.assertLessEqual(published, keys)

    def test_table_of_policies(self) -> None:
        rows = {row[0].strip("`"): row[1:] for row in self.rows() if len(row) == 6 and row[0].startswith("`")}
        self.assertEqual(list(rows), list(sglang_policies()))
        for name, cells in rows.items():
            self.assertEqual(cells, [str(cell) for cell in self.results["policies"]["measured"][name].values()])

    def test_table_of_every_length(self) -> None:
        rows = {row[0].strip("`"): row[1:] for row in self.rows() if len(row) == 9 and row[0].startswith("`")}
        self.assertEqual(list(rows), list(sglang_policies()))
        for name, cells in rows.items():
            measured = self.results["every_length"]["measured"][name]
            expected = [measured[o.value][str(k)]["ratio"] for o in Optimum for k in (2, 3, 4, 5)]
            self.assertEqual(cells, expected, name)

    def test_table_of_the_conversation_trace(self) -> None:
        """The trace is not here; its committed results are what the README's command wrote."""
        made = json.loads((ROOT / "results" / "mooncake_conversation.json").read_text(encoding="utf-8"))["measured"]
        rows = {row[0]: row[1:] for row in self.rows() if len(row) == 10 and row[0].isdigit()}
        self.assertEqual(list(rows), list(made["capacities"]))
        for capacity, cells in rows.items():
            one = made["capacities"][capacity]
            hits = [one["policies"][name]["hits"] for name in sglang_policies()] + [
                one["optimum"][optimum.value]["hits"] for optimum in Optimum
            ]
            self.assertEqual(cells, [str(count) for count in hits])
        at = made["capacities"]["10000"]
        text = " ".join(self.text.split())
        closed = Fraction(at["gap_closed"]) * 100
        for sentence in (
            f"{made['requests']:,} requests for {made['blocks']:,} blocks, {made['distinct_blocks']:,} of them",
            f"a cache that never evicts hits {made['infinite']['hits']:,}",
            f"optimum with {at['optimum_matches_lru_at']:,} blocks hits as much as LRU with 10,000",
            f"LRU gets {float(closed):.2f}% of it, and the optimum needs {at['optimum_matches_lru_at']:,} blocks",
        ):
            self.assertIn(sentence, text)
        self.assertEqual(at["optimum"]["locked"]["hits"], made["infinite"]["hits"])
        self.assertEqual(at["gap_closed"], str(Fraction(at["lru_hits"], at["optimum"]["locked"]["hits"])))

    def test_numbers_in_sentences(self) -> None:
        text = " ".join(self.text.split())
        policies, every, theorems = (self.results[name] for name in ("policies", "every_length", "theorems"))
        long = every["measured"]["counts"]["30"]
        sentences = [
            f"{policies['assigned_priorities']['measured']['instances']} instances, no interior eviction",
            f"there are {long['instances']} instances",
            f"the shallow tie-break loses in {long['shallow_loses']} of them",
        ]
        for name, verb in (("mru", "costs"), ("fifo", "costs")):
            one = policies["witnesses"][name][verb]
            sentences.append(
                f"`{name}` at K = {one['capacity']} on `{' '.join(one['sequence'])}`:"
                f" {one['misses']['leaf_only']} misses under the rule, {one['misses']['unconstrained']} without it"
            )
        for name in ("fifo", "mru"):
            one = policies["witnesses"][name]["binds"]
            sentences.append(f"`{name}` at K = {one['capacity']} on `{' '.join(one['sequence'])}`")
        lengths = [len(policies["witnesses"][name]["costs"]["sequence"]) for name in ("mru", "fifo")]
        sentences.append(f"the smallest sequences have {lengths[0]} and {lengths[1]} requests")
        one = theorems["witnesses"]["above_capacity"]
        sentences.append(
            f"above {one['capacity']} is `{' '.join(one['sequence'])}`: {one['lru_misses']} misses to"
            f" {one['optimum_misses']}"
        )
        shown = [every["measured"]["lru"]["bypass"][str(k)]["ratio"] for k in (2, 3, 4, 5)]
        sentences.append(f"its ratios end at {', '.join(shown[:3])} and {shown[3]}")
        for sentence in sentences:
            self.assertIn(sentence, text)
        self.assertEqual(policies["assigned_priorities"]["measured"]["interior_evictions"], 0)
        models = [model for name in sglang_policies() for model in every["measured"][name].values()]
        rows = [one for model in models for one in model.values()]
        self.assertEqual(len(rows), 56)
        self.assertFalse(any(one["exceeds_every_cycle"] for one in rows))
        self.assertEqual(every["measured"]["all_lengths"]["edges_with_a_strict_interior_eviction"], 0)
        self.assertEqual(every["measured"]["all_lengths"]["edges_with_another_decision"], 0)

    def test_the_cycle_on_which_lfu_itself_repeats(self) -> None:
        match = re.search(r"first `([abc ]+)`, then `([abc ]+)` over and over", " ".join(self.text.split()))
        assert match
        prefix, cycle = match[1].split(), match[2].split()
        trie = Trie(("a", "b", "c"))
        cache = Cache(trie, 2, make_policy("lfu"))
        for string in prefix:
            cache.access(string)
        states = []
        for _ in range(4):
            misses = sum(cache.access(string).misses for string in cycle)
            order = sorted(cache.facts, key=lambda block: cache.facts[block].last_access)
            states.append((misses, order, [cache.facts[block].hits for block in order]))
        self.assertEqual(states, [(2, states[0][1], [1, 0])] * 4)
        search = LeafOnlyBelady(trie, 2, Optimum.LOCKED)
        rounds = [search.misses(prefix + cycle * count) for count in range(4)]
        self.assertEqual(rounds, [2, 3, 3, 3])

    def test_example_of_a_new_policy_prints_what_it_says(self) -> None:
        (example,) = re.findall(r"```python\n(.*?)```", self.text, re.DOTALL)
        expected = re.findall(r"print\(.*\)\s+# (.*)", example)
        printed: list[str] = []
        scope: dict[str, Any] = {"print": lambda *values: printed.append(" ".join(map(str, values)))}
        try:
            exec(example, scope)
        finally:
            REGISTRY.pop("shallow_last", None)
        self.assertEqual(printed, expected)


class Preregistration(unittest.TestCase):
    """The keys of PREREG.md lead to values that decide its predictions as it says."""

    def test_keys(self) -> None:
        text = (ROOT / "PREREG.md").read_text(encoding="utf-8")
        results = committed()
        keys = re.findall(r"`((?:\w+\.)+measured(?:\.\w+)*)`", text)
        self.assertGreaterEqual(len(keys), 9)
        for key in keys:
            value(results, key)
        rows = [line for line in text.splitlines() if line.startswith(("| P", "| 1."))]
        self.assertEqual(len(rows), 3)
        costs, exceeds, free = (re.findall(r"`((?:\w+\.)+\w+)`", row) for row in rows)
        verdicts = results["preregistration"]
        for found, one in ((costs, verdicts["P1"]), (free, verdicts["falsifier_1"])):
            self.assertEqual({key.replace(".measured.", ".", 1) for key in found}, set(one["decided_by"]))
            self.assertEqual({value(results, key) for key in found}, {0})
        self.assertEqual(value(results, exceeds[1]), 0)
        self.assertEqual(rows[1].split("|")[3].strip(), "in general no; at K = 4 and 6 requests yes")
        places = {where: one["tree"] for where, one in verdicts["P2"]["at_the_bounds"].items()}
        self.assertEqual({place for where, place in places.items() if "K = 4" not in where}, {"below"})
        self.assertEqual({place for where, place in places.items() if "K = 4" in where}, {"above"})
        self.assertIn(str(results["tie_audit"]["measured"]["loses"]), text)
        first = " ".join(text.split("\n\n")[1].split())
        self.assertIn("as the study itself reports it", first)


def flattened(tree: dict[str, Any]) -> list[str]:
    """Return the dotted keys of a nested dictionary's values."""
    keys: list[str] = []
    for key, one in tree.items():
        keys += [f"{key}.{below}" for below in flattened(one)] if isinstance(one, dict) else [key]
    return keys


if __name__ == "__main__":
    unittest.main()
