"""The study's sentences that state a result, in our words, each with the values that decide what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Callable, NamedTuple

from src.claims.claim import Claim
from src.claims.preregistration import value

Results = Mapping[str, Claim]


class Sentence(NamedTuple):
    """What the study says, the keys (claim, then the path under `measured`) that show it, and two conditions.

    `holds`: the values are what the sentence says.  `beyond`: something was found that it does not say, or that it gets
    wrong, which `remark` names; `contradicts` tells which of the two.
    """

    says: str
    evidence: tuple[str, ...]
    holds: Callable[[Results], bool]
    remark: str = ""
    beyond: Callable[[Results], bool] = lambda _: False
    contradicts: bool = False

    def verdict(self, results: Results) -> str:
        """Return "reproduced", "sharpened" or "contradicted", or "not reproduced" if the values are others."""
        if not self.holds(results):
            return "not reproduced"
        if not self.beyond(results):
            return "reproduced"
        return "contradicted beyond its bound" if self.contradicts else "reproduced and sharpened"


def measured(results: Results, key: str) -> Any:
    """Return the measured value at a key."""
    return value(results, key.replace(".", ".measured.", 1))


def zero(*keys: str) -> Callable[[Results], bool]:
    """Return the condition that all these values are zero."""
    return lambda results: not any(measured(results, key) for key in keys)


def above(key: str, bound: Any) -> Callable[[Results], bool]:
    """Return the condition that a value, a number or a ratio as text, exceeds a bound."""
    return lambda results: Fraction(measured(results, key)) > Fraction(bound)


def reproduced(name: str) -> Callable[[Results], bool]:
    """Return the condition that a claim's published values are reproduced."""
    return lambda results: results[name]["reproduced"] is True


SENTENCES = (
    Sentence(
        "Offline, the leaf-only rule costs nothing: both exact optima agree on all 2592 instances.",
        ("offline.bypass.instances", "offline.bypass.mismatches", "theorems.offline.mismatches"),
        reproduced("offline"),
        "on every trie and length, and even against a cache that may hold any set of blocks",
        zero("theorems.offline.mismatches"),
    ),
    Sentence(
        "Every ancestor-closed subset of a cached set is reached by peeling leaves, the deepest block first.",
        ("lemma.pairs", "lemma.unreachable"),
        reproduced("lemma"),
    ),
    Sentence(
        "A request refreshes its whole path in the same step, so an ancestor's last access dominates its descendants'.",
        ("stamps.root_first.strict_interior_evictions", "stamps.leaf_first.interior_evictions"),
        zero("stamps.leaf_first.interior_evictions"),
        "real systems stamp block by block; root first, every interior eviction is a strict decision of LRU",
        above("stamps.root_first.strict_interior_evictions", 0),
    ),
    Sentence(
        "A strict LRU decision never takes an interior block: zero such evictions in 93312 instances.",
        (
            "online.instances",
            "online.strict_interior_evictions",
            "every_length.all_lengths.edges_with_a_strict_interior_eviction",
        ),
        reproduced("online"),
        "nor at any length on this trie",
        zero("every_length.all_lengths.edges_with_a_strict_interior_eviction"),
    ),
    Sentence(
        "With ties to the deeper block, unconstrained LRU decides as leaf-only LRU does, on every instance.",
        (
            "online.other_decisions",
            "online.worse",
            "online.better",
            "every_length.all_lengths.edges_with_another_decision",
        ),
        reproduced("online"),
        "at every length on this trie, and on every trie by a theorem",
        zero("every_length.all_lengths.edges_with_another_decision"),
    ),
    Sentence(
        "The straw man with ties to the shallower block loses in 33060 instances, by ties alone.",
        ("tie_audit.loses", "tie_audit.loses_by_ties_alone", "stamps.root_first.decides_otherwise_than_its_tie_break"),
        reproduced("tie_audit"),
        "it is no straw man: it is LRU with stamps written root first",
        zero("stamps.root_first.decides_otherwise_than_its_tie_break"),
    ),
    Sentence(
        "LRU's worst ratios are 1.75, 1.667 and 1.4 at K = 2, 3 and 4.",
        ("competitive.bypass.2", "competitive.bypass.3", "competitive.bypass.4", "competitive.locked.2"),
        reproduced("competitive"),
        "against an optimum that may bypass; against one that holds the path in service they are smaller",
        lambda results: above("competitive.bypass.2", measured(results, "competitive.locked.2"))(results),
    ),
    Sentence(
        "No ratio exceeds K, as for ordinary paging.",
        (
            "competitive.capacities_with_ratio_above_capacity",
            "theorems.above_capacity",
            "theorems.lru.ratio_of_the_star.bypass.5",
        ),
        zero("competitive.capacities_with_ratio_above_capacity"),
        "in the study's own model the tight bound is K + 1: three one-block strings at K = 2 reach 11/5",
        above("theorems.above_capacity", 2),
        contradicts=True,
    ),
    Sentence(
        "The prediction that the rule costs, with the tree's worst ratio above flat paging's, was wrong.",
        ("online.better", "offline.bypass.leaf_only_worse", "theorems.lru.cases_above_the_bound"),
        zero("online.better", "offline.bypass.leaf_only_worse"),
        "at K = 4 and 6 requests the tree's ratio is above in both models; over all lengths no trie exceeds flat"
        " paging",
        lambda results: bool(results["preregistration"]["P2"]["came_true_at"]),
    ),
    Sentence(
        "The de-risk gap, 1.667 against 1.333, comes from comparing two cost models on two objects.",
        ("derisk.tree_bypass", "derisk.flat_locked", "derisk.flat_bypass"),
        reproduced("derisk"),
        "and two optima: with the bypassing one on both sides the ratios are equal there",
        lambda results: measured(results, "derisk.tree_bypass") == measured(results, "derisk.flat_bypass"),
    ),
    Sentence(
        "The result is a property of the eviction structure and transfers to any radix prefix cache with the rule.",
        ("every_length.lru.locked.3.ratio", "every_length.lfu.locked.3.ratio", "every_length.slru.locked.3.ratio"),
        lambda results: measured(results, "every_length.lru.locked.3.ratio") != "unbounded",
        "for the competitive bound this is false: `lfu`, `slru` and `priority` have none from K = 3 on",
        lambda results: measured(results, "every_length.lfu.locked.3.ratio") == "unbounded",
        contradicts=True,
    ),
    Sentence(
        "The rule never binds on a choice that a competent cache manager would make.",
        ("policies.lru.interior_evictions", "policies.fifo.unconstrained_worse", "policies.mru.unconstrained_better"),
        zero("policies.lru.interior_evictions"),
        "true of five of SGLang's policies; it binds `fifo` and `mru`, where it can help and can cost",
        above("policies.mru.unconstrained_better", 0),
    ),
    Sentence(
        "The positive controls, one repeated string and strings that fit, return the ratio 1.",
        ("controls.repeated.largest_ratio", "controls.distinct_that_fit.largest_ratio"),
        reproduced("controls"),
    ),
)
