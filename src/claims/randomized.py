"""What coins buy: marking with uniform leaves, its exact expected ratios, its bounds, and two variants that are bad."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Callable

from src.claims.claim import Claim, claim
from src.claims.whole_nodes import fitting_cases
from src.radixcache import Optimum, String, Trie, names
from src.walks.belady import belady
from src.walks.chance import (
    Choice,
    by_chain,
    expected_misses,
    expected_ratio,
    harmonic,
    marking_machine,
    random_descent,
    uniform_leaf,
)
from src.walks.every_length import explore, supremum
from src.walks.exhaustive import Machine, Tally, side_by_side
from src.walks.forests import star
from src.walks.work_function import optimum_machine
from src.width import width

COIN_CAPACITIES = (2, 3, 4, 5)
COIN_NODES = 5  # blocks of the largest forests on which marking is settled for all lengths
VARIANT_SIZES = (4, 6, 8)
BYPASSED_SIZES = (2, 4, 8)
WARM, ROUNDS = 1, 3  # rounds until the costs repeat, and in all
Say = Callable[[str], None]


def least_of_all(widest: int, optimum: Optimum) -> Fraction:
    """Return what no randomized policy that holds the path in service can go below, on a trie of this width."""
    if widest < 2:
        return Fraction(1)
    return harmonic(widest - 1) + (Fraction(1, widest - 1) if optimum is Optimum.BYPASS else 0)


def least_of_marking(widest: int, optimum: Optimum) -> Fraction:
    """Return what marking itself cannot go below: twice as much against the optimum that bypasses as else."""
    return harmonic(widest - 1) * (2 if optimum is Optimum.BYPASS else 1)


def most_of_marking(widest: int, optimum: Optimum) -> Fraction:
    """Return the bound on marking: three times H(w - 1) against the optimum that bypasses, else twice."""
    return harmonic(widest - 1) * (3 if optimum is Optimum.BYPASS else 2)


def on_the_study(trie: Trie) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return marking's exact ratio on a trie for each model and capacity, beside the bounds, with witnesses."""
    measured: dict[str, Any] = {optimum.value: {} for optimum in Optimum}
    witnesses: dict[str, Any] = {optimum.value: {} for optimum in Optimum}
    for capacity in COIN_CAPACITIES:
        policy = marking_machine(trie, capacity)
        widest = width(trie.parent, capacity + 1)
        for optimum in Optimum:
            found = expected_ratio(trie, capacity, optimum, policy)
            measured[optimum.value][str(capacity)] = {
                "marking": str(found.ratio),
                "no_policy_below": str(least_of_all(widest, optimum)),
                "marking_not_above": str(most_of_marking(widest, optimum)),
                "width": widest,
            }
            witnesses[optimum.value][str(capacity)] = {
                "prefix": names(found.prefix),
                "cycle": names(found.cycle),
                "finite": found.exceeds,
            }
    return measured, witnesses


def forest_sweep(nodes: int) -> dict[str, Any]:
    """Return in how many cases marking's exact ratio is outside a bound, and its largest by width and model."""
    cases = below = above = off = twice = 0
    largest: dict[str, dict[str, Fraction]] = {optimum.value: {} for optimum in Optimum}
    for trie, capacity in fitting_cases(nodes):
        widest = width(trie.parent, capacity + 1)
        policy = marking_machine(trie, capacity)
        for optimum in Optimum:
            ratio = expected_ratio(trie, capacity, optimum, policy).ratio
            cases += 1
            below += ratio < max(least_of_all(widest, optimum), least_of_marking(widest, optimum))
            above += ratio > most_of_marking(widest, optimum)
            if optimum is Optimum.LOCKED:
                off += len(trie) == capacity + 1 and ratio != harmonic(widest - 1)
            else:
                twice += ratio != 2 * harmonic(widest - 1)
            rows = largest[optimum.value]
            rows[str(widest)] = max(ratio, rows.get(str(widest), ratio))
    return {
        "cases": cases,
        "cases_below_a_lower_bound": below,
        "cases_above_the_upper_bound": above,
        "cases_of_one_block_too_many_with_another_ratio_than_harmonic": off,
        "bypassing_cases_with_another_ratio_than_twice_harmonic": twice,
        "largest_by_width": {model: {k: str(rows[k]) for k in sorted(rows)} for model, rows in largest.items()},
    }


def comb(teeth: int) -> list[String]:
    """Return two phases on a spine with a leaf at each block: the last leaf or the one before, then the others."""
    leaves = ["s" * depth + "t" for depth in range(1, teeth + 1)]
    return [leaves[-1], *leaves[:-2], leaves[-2], *leaves[:-2]]


def doubling(chains: int) -> list[String]:
    """Return two phases on chains of 1, 2, 4, ... blocks and two single ones: one of these, then the longest first."""
    longest_first = [chr(ord("a") + number) * 2**number for number in range(chains - 1, -1, -1)]
    return ["y", *longest_first, "z", *longest_first]


def round_of(around: list[String], optimum: Optimum, choice: Choice = uniform_leaf, spare: int = 1) -> dict[str, Any]:
    """Return what a round costs with `spare` blocks more than fit, all rounds after the first costing the same."""
    trie = Trie(around)
    capacity = len(trie) - spare
    found = expected_misses(trie, capacity, around * ROUNDS, choice)
    least = [step.misses for step in belady(trie, capacity, around * ROUNDS, optimum).steps]
    ends = range(WARM * len(around), len(found), len(around))
    (cost,) = {(sum(found[end : end + len(around)]), sum(least[end : end + len(around)])) for end in ends}
    return {"capacity": capacity, "expected_misses": str(cost[0]), "optimum_misses": cost[1]}


def variants() -> dict[str, Any]:
    """Return what uniform leaves and the two variants cost in a round made against the variant."""
    return {
        name: {
            str(size): {
                "uniform": round_of(around(size), Optimum.LOCKED),
                other: round_of(around(size), Optimum.LOCKED, choice),
            }
            for size in VARIANT_SIZES
        }
        for name, around, other, choice in (
            ("comb", comb, "descent", random_descent),
            ("doubling", doubling, "by_chain", by_chain),
        )
    }


def two_pages() -> dict[str, str]:
    """Return the ratio, against the bypassing optimum, of a policy that may bypass: one block of capacity, two pages.

    It holds the first page with probability 0, 1/2 or 1, and goes half a step towards the requested page: on a
    certain miss it bypasses with probability 1/2.  That is below what a policy that holds the path can reach.
    """
    first, _ = strings = star(2).strings

    def step(halves: int, string: String) -> tuple[int, Tally]:
        """Serve a request; what is missed and held of the first page counts in halves."""
        return (min(2, halves + 1), (2 - halves,)) if string == first else (max(0, halves - 1), (halves,))

    policy = Machine(0, strings, 1, step)
    found = supremum(explore(side_by_side(policy, optimum_machine(star(2), 1, Optimum.BYPASS))))
    ratio = "unbounded" if found.ratio is None else str(found.ratio / 2)
    return {"may_bypass": ratio, "holds_the_path_no_less_than": str(least_of_all(2, Optimum.BYPASS))}


def bypassed_chains(length: int) -> list[String]:
    """Return a round in which marking misses almost three blocks for each that the bypassing optimum pays.

    Two chains fill the cache, and two others of `length` blocks are requested once each: bypassed, they cost the
    optimum `length` each.  They come when all but `length` - 1 blocks are marked, so that a phase ends inside them;
    the one after it begins with what they drove out.
    """
    part = 2 * length
    around: list[String] = []
    for other in ("u", "v"):
        around += ["x" * part, "y" * (part - length + 1), other * length, "y" * part, "x" * (part - length)]
    return around


def randomized(trie: Trie, say: Say) -> Claim:
    """Marking's exact expected ratios beside its bounds, and what other choices of the leaf and bypassing do."""
    say("randomized: the study's trie")
    study, witnesses = on_the_study(trie)
    say("randomized: every small forest")
    found = forest_sweep(COIN_NODES)
    say("randomized: variants")
    measured = {
        "study": study,
        "forests": found,
        "variants": variants(),
        "two_pages": two_pages(),
        "bypassed_chains": {
            str(size): round_of(bypassed_chains(size), Optimum.BYPASS, spare=2 * size) for size in BYPASSED_SIZES
        },
    }
    expected = {
        "forests": {
            "cases_below_a_lower_bound": 0,
            "cases_above_the_upper_bound": 0,
            "cases_of_one_block_too_many_with_another_ratio_than_harmonic": 0,
        },
        "variants": {
            "comb": {str(size): {"uniform": {"expected_misses": str(2 * harmonic(size - 1))}} for size in VARIANT_SIZES}
        },
    }
    parameters = {
        "strings": list(trie.strings),
        "capacities": list(COIN_CAPACITIES),
        "forest_nodes": COIN_NODES,
        "variant_sizes": list(VARIANT_SIZES),
        "bypassed_sizes": list(BYPASSED_SIZES),
    }
    return claim(parameters, measured, expected=expected, witnesses=witnesses)
