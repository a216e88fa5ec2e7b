"""The study's claims, each computed from the described algorithms and set beside the published value."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Callable

from src.claims.claim import Claim, claim
from src.claims.derisk import pre_registered, witness, worst_lru_ratio
from src.claims.online import CAPACITIES, compare, online, online_parameters, stamps, study_managers, tie_audit
from src.radixcache import (
    LeafOnlyBelady,
    Optimum,
    Recency,
    Rule,
    Search,
    String,
    Trie,
    UnrestrictedBelady,
    members,
    serve_lru,
    size,
)
from src.walks.belady import belady

OFFLINE_LENGTH = 4
COMPETITIVE = {2: 8, 3: 7, 4: 6}
"""For each capacity the longest sequence of the competitive search."""


def lemma(trie: Trie, sets: Sequence[int] | None = None) -> Claim:
    """Reachability: between any two ancestor-closed sets S and T, S containing T, leaves alone lead from S to T.

    `sets` are all ancestor-closed sets unless others are given, which the recipe may fail on.
    """
    sets = trie.ancestor_closed_sets(len(trie)) if sets is None else sets
    pairs = unreachable = removals = 0
    for source, target in itertools.product(sets, repeat=2):
        if not target & ~source:
            pairs += 1
            removed = peel(trie, source, target)
            removals += len(removed)
            unreachable += len(removed) != size(source & ~target)
    return claim(
        {"strings": list(trie.strings)},
        {"sets": len(sets), "pairs": pairs, "leaf_removals": removals, "unreachable": unreachable},
        {"unreachable": 0},
    )


def peel(trie: Trie, source: int, target: int) -> list[int]:
    """Return the blocks removed on the way from `source` down to `target`, its subset, by the study's recipe.

    The deepest block of the difference goes first.  It is a leaf: a cached descendant of it would, being deeper, not be
    in the difference, so in the target, and the ancestor-closed target would contain the block itself.  Each step
    is checked; the way ends early where a block is no leaf or the set is no longer ancestor-closed.
    """
    removed: list[int] = []
    while source != target:
        block = max(members(source & ~target), key=lambda one: trie.depth[one])
        if not trie.leaves(source) >> block & 1 or not trie.is_ancestor_closed(source & ~(1 << block)):
            break
        source &= ~(1 << block)
        removed.append(block)
    return removed


def offline(
    trie: Trie, leaf_only: type[Search] = LeafOnlyBelady, unrestricted: type[Search] = UnrestrictedBelady
) -> Claim:
    """The two exact searches, leaf-only and unrestricted, on every sequence: in how many instances do they differ?

    `leaf_only_worse` counts those in which the rule costs, `leaf_only_better` those in which the unrestricted search is
    not optimal.
    """
    measured: dict[str, Any] = {}
    for optimum in Optimum:
        instances = worse = better = 0
        for capacity in CAPACITIES:
            ruled, free = leaf_only(trie, capacity, optimum), unrestricted(trie, capacity, optimum)
            for sequence in itertools.product(trie.strings, repeat=OFFLINE_LENGTH):
                instances += 1
                worse += ruled.misses(sequence) > free.misses(sequence)
                better += ruled.misses(sequence) < free.misses(sequence)
        measured[optimum.value] = {
            "instances": instances,
            "mismatches": worse + better,
            "leaf_only_worse": worse,
            "leaf_only_better": better,
        }
    return claim(
        {"strings": list(trie.strings), "capacities": list(CAPACITIES), "length": OFFLINE_LENGTH},
        measured,
        {"bypass": {"instances": 2592, "mismatches": 0}},
    )


def competitive(trie: Trie, lengths: Mapping[int, int] = COMPETITIVE) -> Claim:
    """The worst ratio of leaf-only LRU to its own optimum, for the study's bounds and both models of the optimum.

    `lengths` gives for each capacity the longest sequence.  The walk finds the worst sequence; the ratio is what the
    plain model makes of it.
    """
    measured: dict[str, Any] = {}
    witnesses: dict[str, Any] = {}
    above = 0
    for optimum in Optimum:
        ratios, shown = {}, {}
        for capacity, length in lengths.items():
            worst = worst_lru_ratio(trie, capacity, length, optimum)
            one = shown[str(capacity)] = witness(trie, capacity, worst.sequence, optimum)
            ratio = Fraction(one["lru_misses"], one["optimum_misses"])
            above += optimum is Optimum.BYPASS and ratio > capacity
            ratios[str(capacity)] = str(ratio)
        measured[optimum.value] = ratios
        witnesses[optimum.value] = shown
    measured["capacities_with_ratio_above_capacity"] = above
    return claim(
        {"strings": list(trie.strings), "length_by_capacity": {str(k): length for k, length in lengths.items()}},
        measured,
        {"bypass": {"2": "1.75", "3": "1.667", "4": "1.4"}, "capacities_with_ratio_above_capacity": 0},
        witnesses=witnesses,
    )


def controls(trie: Trie) -> Claim:
    """Two controls that must show no gap, and one that must show it.

    No gap: one string over and over; distinct strings that fit together, three rounds of them.  A gap: LRU when a
    request refreshes only the requested block and those it creates, so that a parent may be older than its child.  Ties
    go to the deeper block there, as in the claim that it controls, and nothing is locked; beside it the same with the
    path in service locked.
    """
    repeated = [(k, (string,) * length) for k in COMPETITIVE for string in trie.strings for length in (1, 2, 8)]
    fitting = [
        (capacity, chosen * 3)
        for capacity in (*COMPETITIVE, len(trie))
        for count in range(2, len(trie.strings) + 1)
        for chosen in itertools.combinations(trie.strings, count)
        if len({block for string in chosen for block in trie.path(string)}) <= capacity
    ]
    measured = {
        "repeated": control_ratios(trie, repeated),
        "distinct_that_fit": control_ratios(trie, fitting),
        "requested_only_recency": recency_control(trie, locked=False),
        "requested_only_recency_locked": recency_control(trie, locked=True),
    }
    one = {"smallest_ratio": "1", "largest_ratio": "1"}
    parameters = {**online_parameters(trie), "capacities_of_ratios": [*COMPETITIVE, len(trie)]}
    gap = {"shows_a_gap": True}
    must_fail = {"requested_only_recency": gap, "requested_only_recency_locked": gap}
    return claim(parameters, measured, {"repeated": one, "distinct_that_fit": one}, must_fail)


def recency_control(trie: Trie, locked: bool) -> dict[str, Any]:
    """Return what unconstrained LRU, ties to the deeper block, does where only the requested block is refreshed."""
    _, deep = compare(trie, study_managers(Recency.REQUESTED, locked))
    strict = deep.total(lambda one: one.strict)
    return {
        "instances": deep.instances(),
        "strict_interior_evictions": strict,
        "evictions_from_the_path_in_service": deep.total(lambda one: one.in_service),
        "worse": deep.instances(lambda one: one.extra > 0),
        "better": deep.instances(lambda one: one.extra < 0),
        "shows_a_gap": strict > 0,
    }


def control_ratios(trie: Trie, cases: Sequence[tuple[int, Sequence[String]]]) -> dict[str, Any]:
    """Return the smallest and the largest ratio of leaf-only LRU to both optima over (capacity, sequence) cases."""
    ratios = [
        Fraction(
            serve_lru(trie, capacity, sequence, Rule.LEAF_ONLY).misses,
            belady(trie, capacity, sequence, optimum).misses,
        )
        for capacity, sequence in cases
        for optimum in Optimum
    ]
    return {"ratios": len(ratios), "smallest_ratio": str(min(ratios)), "largest_ratio": str(max(ratios))}


def study(trie: Trie, say: Callable[[str], None]) -> dict[str, Claim]:
    """Return the study's claims in the order of the report; `say` is told which is being computed."""
    results: dict[str, Claim] = {}
    say("lemma, offline")
    results["lemma"] = lemma(trie)
    results["offline"] = offline(trie)
    say("online, tie audit")
    shallow, deep = compare(trie, study_managers())
    results["online"] = online(trie, shallow, deep)
    results["tie_audit"] = tie_audit(trie, shallow)
    results["stamps"] = stamps(trie)
    say("competitive ratios, controls, de-risk")
    results["competitive"] = competitive(trie)
    results["controls"] = controls(trie)
    results["derisk"] = pre_registered(COMPETITIVE)
    return results
