"""The published numbers, each computed from the described algorithms, and the documents that quote them."""

from __future__ import annotations

import itertools
import json
import re
import unittest
from fractions import Fraction
from typing import Any

from src.claims.claim import agrees
from src.claims.derisk import BINARY, Universe, derisk, witness, worst_lru_ratio
from src.claims.study import (
    compare_online,
    competitive,
    controls,
    instances,
    lemma,
    offline,
    online,
    peel,
    tie_audit,
    total,
)
from src.policies.cache import Cache
from src.policies.scores import REGISTRY, make_policy
from src.radixcache import (
    LeafOnlyBelady,
    Optimum,
    Recency,
    Rule,
    Trie,
    UnrestrictedBelady,
    flat_belady,
    flat_lru,
    serve_lru,
)
from tests.helpers import REPOSITORY, STUDY

ROOT = REPOSITORY


def committed() -> dict[str, Any]:
    """Return the committed results."""
    results: dict[str, Any] = json.loads((ROOT / "results" / "main.json").read_text(encoding="utf-8"))
    return results


def value(results: dict[str, Any], key: str) -> Any:
    """Return the value at a dotted key."""
    found: Any = results
    for part in key.split("."):
        found = found[part]
    return found


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

    def test_offline_2592_instances_without_a_mismatch(self) -> None:
        measured = offline(STUDY)["measured"]
        for optimum in Optimum:
            self.assertEqual(measured[optimum.value], {"instances": 2592, "mismatches": 0})

    def test_online_and_tie_audit(self) -> None:
        counted = compare_online(STUDY)
        self.assertEqual(
            online(STUDY, counted)["measured"],
            {"instances": 93312, "strict_interior_evictions": 0, "other_decisions": 0, "worse": 0, "better": 0},
        )
        audit = tie_audit(STUDY, counted)["measured"]
        self.assertEqual((audit["loses"], audit["wins"], audit["loses_by_ties_alone"]), (33060, 0, 33060))
        self.assertEqual(audit["interior_evictions"], audit["tied_interior_evictions"])
        self.assertGreater(audit["interior_evictions"], 0)
        self.assertEqual(audit["strict_interior_evictions"], 0)

    def test_competitive_ratios_and_misses(self) -> None:
        published = {2: (8, "1.75", 14, 8), 3: (7, "1.667", 10, 6), 4: (6, "1.4", 7, 5)}
        for capacity, (length, decimal, misses, best) in published.items():
            worst = worst_lru_ratio(STUDY, capacity, length, Optimum.BYPASS)
            self.assertTrue(agrees(decimal, str(worst.ratio)))
            self.assertEqual(worst.tally, (misses, best))
        one = competitive(STUDY)
        self.assertTrue(one["reproduced"])
        self.assertEqual(one["measured"]["locked"], {"2": "1", "3": "7/5", "4": "4/3"})

    def test_controls(self) -> None:
        measured = controls(STUDY)["measured"]
        for name in ("repeated", "distinct_that_fit"):
            self.assertEqual((measured[name]["smallest_ratio"], measured[name]["largest_ratio"]), ("1", "1"))
            self.assertGreater(measured[name]["ratios"], 50)
        self.assertEqual(measured["requested_only_recency"]["strict_interior_evictions"], 88008)

    def test_derisk_and_what_remains_of_the_gap(self) -> None:
        one = derisk(Universe())
        self.assertTrue(one["reproduced"])
        self.assertEqual(
            one["measured"], {"tree_bypass": "5/3", "tree_locked": "1", "flat_bypass": "5/3", "flat_locked": "4/3"}
        )
        shown = one["witnesses"]["tree_bypass"]
        self.assertEqual((shown["lru_misses"], shown["optimum_misses"]), (10, 6))


class PlainAgainstShared(unittest.TestCase):
    """The walks with shared states against one simulation for each sequence, by the plain model."""

    def test_online_counts_at_length_four(self) -> None:
        for recency in Recency:
            plain = [0] * 6
            for capacity in (2, 3):
                for sequence in itertools.product(STUDY.strings, repeat=4):
                    leaf, shallow, deep = (serve_lru(STUDY, capacity, sequence, rule, recency) for rule in Rule)
                    plain[0] += shallow.misses > leaf.misses
                    plain[1] += sum(e.interior for e in shallow.evictions)
                    plain[2] += sum(e.interior and e.strict for e in shallow.evictions)
                    plain[3] += deep.misses > leaf.misses
                    plain[4] += sum(e.interior and e.strict for e in deep.evictions)
                    plain[5] += any(
                        [e.victim for e in one.evictions] != [e.victim for e in other.evictions]
                        for one, other in zip(leaf.steps, deep.steps)
                    )
            counted = compare_online(STUDY, recency, length=4)
            self.assertEqual(
                plain,
                [
                    instances(counted, lambda one: one.shallow_extra > 0),
                    total(counted, lambda one: one.shallow_interior),
                    total(counted, lambda one: one.shallow_strict),
                    instances(counted, lambda one: one.deep_extra > 0),
                    total(counted, lambda one: one.deep_strict),
                    instances(counted, lambda one: one.deep_other > 0),
                ],
            )

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
        self.assertEqual(
            list(results),
            [
                *("lemma", "offline", "online", "tie_audit", "competitive", "controls", "derisk"),
                *("policies", "every_length", "theorems"),
                *("online_optimum", "whole_nodes", "randomized"),
            ],
        )
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
        self.assertEqual(written, committed()["derisk"])


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
        self.assertEqual(list(rows), list(REGISTRY))
        for name, cells in rows.items():
            self.assertEqual(cells, [str(cell) for cell in self.results["policies"]["measured"][name].values()])

    def test_table_of_every_length(self) -> None:
        rows = {row[0].strip("`"): row[1:] for row in self.rows() if len(row) == 9 and row[0].startswith("`")}
        self.assertEqual(list(rows), list(REGISTRY))
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
            hits = [one["policies"][name]["hits"] for name in REGISTRY] + [
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
        rows = [one for name in REGISTRY for model in every["measured"][name].values() for one in model.values()]
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
        self.assertEqual({value(results, key) for key in costs + free}, {0})
        tree_bypass, flat_locked, flat_bypass = (Fraction(value(results, key)) for key in exceeds)
        self.assertEqual((tree_bypass, flat_locked), (Fraction(5, 3), Fraction(4, 3)))
        self.assertLessEqual(tree_bypass, flat_bypass)
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
