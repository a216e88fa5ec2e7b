"""The study's claims, each computed from the described algorithms and set beside the published value."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any, Callable, NamedTuple

from src.claims.claim import Claim, claim
from src.claims.derisk import Universe, derisk, witness, worst_lru_ratio
from src.radixcache import (
    LastAccess,
    LeafOnlyBelady,
    Optimum,
    Recency,
    Rule,
    Step,
    String,
    Trie,
    UnrestrictedBelady,
    members,
    serve_lru,
    size,
)
from src.walks.belady import belady
from src.walks.exhaustive import Machine, Tally, distribution
from src.walks.lru_machine import lru_step

CAPACITIES = (2, 3)
OFFLINE_LENGTH = 4
ONLINE_LENGTH = 6
COMPETITIVE = {2: 8, 3: 7, 4: 6}
"""For each capacity the longest sequence of the competitive search."""


def lemma(trie: Trie) -> Claim:
    """Reachability: between any two ancestor-closed sets S and T, S containing T, leaves alone lead from S to T."""
    sets = trie.ancestor_closed_sets(len(trie))
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


def offline(trie: Trie) -> Claim:
    """The two exact searches, leaf-only and unrestricted, on every sequence: in how many instances do they differ?"""
    measured: dict[str, Any] = {}
    for optimum in Optimum:
        instances = mismatches = 0
        for capacity in CAPACITIES:
            leaf_only = LeafOnlyBelady(trie, capacity, optimum)
            unrestricted = UnrestrictedBelady(trie, capacity, optimum)
            for sequence in itertools.product(trie.strings, repeat=OFFLINE_LENGTH):
                instances += 1
                mismatches += leaf_only.misses(sequence) != unrestricted.misses(sequence)
        measured[optimum.value] = {"instances": instances, "mismatches": mismatches}
    return claim(
        {"strings": list(trie.strings), "capacities": list(CAPACITIES), "length": OFFLINE_LENGTH},
        measured,
        {"bypass": {"instances": 2592, "mismatches": 0}},
    )


class OnlineTally(NamedTuple):
    """What unconstrained LRU did beyond leaf-only LRU: the tally of one request, and by addition of a sequence.

    `extra` are misses beyond those of leaf-only LRU (negative: fewer); `other` counts requests whose victims differ.
    """

    shallow_extra: int
    shallow_interior: int
    shallow_strict: int
    deep_extra: int
    deep_interior: int
    deep_strict: int
    deep_other: int


def comparison_machine(trie: Trie, capacity: int, recency: Recency = Recency.PATH) -> Machine:
    """Return leaf-only LRU with both kinds of unconstrained LRU beside it; its tallies are Comparisons."""

    @cache
    def serve(state: LastAccess, string: String, rule: Rule) -> tuple[LastAccess, Step]:
        return lru_step(trie, capacity, state, string, rule, recency)

    def step(states: tuple[LastAccess, ...], string: String) -> tuple[tuple[LastAccess, ...], Tally]:
        (leaf, plain), (shallow, naive), (deep, sane) = (
            serve(state, string, rule) for state, rule in zip(states, (Rule.LEAF_ONLY, Rule.SHALLOW, Rule.DEEP))
        )
        comparison = OnlineTally(
            naive.misses - plain.misses,
            *interior_evictions(naive),
            sane.misses - plain.misses,
            *interior_evictions(sane),
            victims(sane) != victims(plain),
        )
        return (leaf, shallow, deep), comparison

    cold = (0,) * len(trie)
    return Machine((cold, cold, cold), trie.strings, len(OnlineTally._fields), step)


def interior_evictions(step: Step) -> tuple[int, int]:
    """Return how many of a step's evictions were interior, and how many of those were strict."""
    interior = [eviction for eviction in step.evictions if eviction.interior]
    return len(interior), sum(eviction.strict for eviction in interior)


def victims(step: Step) -> list[int]:
    """Return a step's victims in the order in which they went."""
    return [eviction.victim for eviction in step.evictions]


Counted = dict[OnlineTally, int]


def compare_online(trie: Trie, recency: Recency = Recency.PATH, length: int = ONLINE_LENGTH) -> Counted:
    """Return how many instances, over both capacities and all sequences, have each OnlineTally."""
    counted: Counted = {}
    for capacity in CAPACITIES:
        for tally, count in distribution(comparison_machine(trie, capacity, recency), length).items():
            comparison = OnlineTally(*tally)
            counted[comparison] = counted.get(comparison, 0) + count
    return counted


def instances(counted: Counted, which: Callable[[OnlineTally], bool] = lambda _: True) -> int:
    """Return how many instances satisfy a condition."""
    return sum(count for comparison, count in counted.items() if which(comparison))


def total(counted: Counted, number: Callable[[OnlineTally], int]) -> int:
    """Return the sum of a number over all instances."""
    return sum(number(comparison) * count for comparison, count in counted.items())


def online_parameters(trie: Trie) -> dict[str, Any]:
    """Return the parameters of the claims about online LRU."""
    return {"strings": list(trie.strings), "capacities": list(CAPACITIES), "length": ONLINE_LENGTH}


def online(trie: Trie, counted: Counted) -> Claim:
    """Unconstrained LRU with ties to the deeper block against leaf-only LRU: decisions and misses."""
    measured = {
        "instances": instances(counted),
        "strict_interior_evictions": total(counted, lambda one: one.shallow_strict + one.deep_strict),
        "other_decisions": instances(counted, lambda one: one.deep_other > 0),
        "worse": instances(counted, lambda one: one.deep_extra > 0),
        "better": instances(counted, lambda one: one.deep_extra < 0),
    }
    published = {"instances": 93312, "strict_interior_evictions": 0, "other_decisions": 0, "worse": 0, "better": 0}
    return claim(online_parameters(trie), measured, published)


def tie_audit(trie: Trie, counted: Counted) -> Claim:
    """Unconstrained LRU with ties to the shallower block: where it loses, and whether anything but ties is to blame."""
    loses = instances(counted, lambda one: one.shallow_extra > 0)
    on_ties = instances(
        counted, lambda one: one.shallow_extra > 0 and one.shallow_interior > 0 and not one.shallow_strict
    )
    interior = total(counted, lambda one: one.shallow_interior)
    strict = total(counted, lambda one: one.shallow_strict)
    measured = {
        "loses": loses,
        "wins": instances(counted, lambda one: one.shallow_extra < 0),
        "loses_by_ties_alone": on_ties,
        "interior_evictions": interior,
        "tied_interior_evictions": interior - strict,
        "strict_interior_evictions": strict,
    }
    published = {"loses": 33060, "loses_by_ties_alone": 33060, "strict_interior_evictions": 0}
    return claim(online_parameters(trie), measured, published)


def competitive(trie: Trie) -> Claim:
    """The worst ratio of leaf-only LRU to its own optimum, for the study's bounds and both models of the optimum.

    The walk finds the worst sequence; the ratio is what the plain model makes of it.
    """
    measured: dict[str, Any] = {}
    witnesses: dict[str, Any] = {}
    above = 0
    for optimum in Optimum:
        ratios, shown = {}, {}
        for capacity, length in COMPETITIVE.items():
            worst = worst_lru_ratio(trie, capacity, length, optimum)
            one = shown[str(capacity)] = witness(trie, capacity, worst.sequence, optimum)
            ratio = Fraction(one["lru_misses"], one["optimum_misses"])
            above += optimum is Optimum.BYPASS and ratio > capacity
            ratios[str(capacity)] = str(ratio)
        measured[optimum.value] = ratios
        witnesses[optimum.value] = shown
    measured["capacities_with_ratio_above_capacity"] = above
    return claim(
        {"strings": list(trie.strings), "length_by_capacity": {str(k): length for k, length in COMPETITIVE.items()}},
        measured,
        {"bypass": {"2": "1.75", "3": "1.667", "4": "1.4"}, "capacities_with_ratio_above_capacity": 0},
        witnesses=witnesses,
    )


def controls(trie: Trie) -> Claim:
    """Two controls that must show no gap, and one that must show it.

    No gap: one string over and over; distinct strings that fit together, three rounds of them.  A gap: LRU when a
    request refreshes only the requested block and those it creates, so that a parent may be older than its child.
    """
    repeated = [(k, (string,) * length) for k in COMPETITIVE for string in trie.strings for length in (1, 2, 8)]
    fitting = [
        (capacity, chosen * 3)
        for capacity in (*COMPETITIVE, len(trie))
        for count in range(2, len(trie.strings) + 1)
        for chosen in itertools.combinations(trie.strings, count)
        if len({block for string in chosen for block in trie.path(string)}) <= capacity
    ]
    counted = compare_online(trie, Recency.REQUESTED)
    measured = {
        "repeated": control_ratios(trie, repeated),
        "distinct_that_fit": control_ratios(trie, fitting),
        "requested_only_recency": {
            "instances": instances(counted),
            "strict_interior_evictions": total(counted, lambda one: one.deep_strict),
            "worse": instances(counted, lambda one: one.deep_extra > 0),
            "better": instances(counted, lambda one: one.deep_extra < 0),
            "shows_a_gap": total(counted, lambda one: one.deep_strict) > 0,
        },
    }
    one = {"smallest_ratio": "1", "largest_ratio": "1"}
    parameters = {**online_parameters(trie), "capacities_of_ratios": [*COMPETITIVE, len(trie)]}
    must_fail = {"requested_only_recency": {"shows_a_gap": True}}
    return claim(parameters, measured, {"repeated": one, "distinct_that_fit": one}, must_fail)


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
    """Return the study's claims in the order of the README; `say` is told which is being computed."""
    results: dict[str, Claim] = {}
    say("lemma, offline")
    results["lemma"] = lemma(trie)
    results["offline"] = offline(trie)
    say("online, tie audit")
    counted = compare_online(trie)
    results["online"] = online(trie, counted)
    results["tie_audit"] = tie_audit(trie, counted)
    say("competitive ratios, controls, de-risk")
    results["competitive"] = competitive(trie)
    results["controls"] = controls(trie)
    results["derisk"] = derisk(Universe())
    return results
