"""What the report says of the study's claims: what was asked and how, what each value means, and what else is shown."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Callable, NamedTuple

from src.claims.claim import Claim
from src.claims.markdown import code, paragraphs, schedule, table
from src.radixcache import Optimum


class Section(NamedTuple):
    """A claim's section: its title, what was asked and how, what the values at some keys mean, and what follows."""

    title: str
    asked: str
    means: Mapping[str, str] = {}
    more: Callable[[Claim], str] | None = None


MANAGERS = {"lru": "leaf-only LRU", "optimum": "optimum"}


def competitive_witness(claim: Claim) -> str:
    """Return the witness of the ratio at K = 2, step by step."""
    one = claim["witnesses"]["bypass"]["2"]
    return paragraphs(
        f"The first of the shortest sequences with the ratio at K = 2: {code(one['sequence'])}, {one['lru_misses']}"
        f" misses of leaf-only LRU and {one['optimum_misses']} of the bypassing optimum. Serving `10` while it holds"
        " `0` and `00` needs room for four blocks: this, and not that a path could not be dropped, is why these"
        " ratios are not a server's.",
        schedule(one["schedule"], MANAGERS),
    )


def both_models(claim: Claim) -> str:
    """Return the ratios of both models by length, and where they agree or the tree is above."""
    rows, alike, above = [], [], []
    for capacity, ratios in claim["measured"]["by_length"].items():
        for optimum in Optimum:
            tree, flat = ratios[f"tree_{optimum.value}"], ratios[f"flat_{optimum.value}"]
            rows += [
                [f"K = {capacity}", optimum.value, model, *found, *["-"] * (8 - len(found))]
                for model, found in (("tree", tree), ("flat", flat))
            ]
            places = list(enumerate(zip(map(Fraction, tree), map(Fraction, flat)), start=1))
            alike += [f"K = {capacity}, {length}, {optimum.value}" for length, (a, b) in places if a == b != 1]
            above += [f"K = {capacity}, {length}, {optimum.value}" for length, (a, b) in places if a > b]
    return paragraphs(
        "Worst ratio by the longest sequence, in requests:",
        table(["", "optimum", "model", *map(str, range(1, 9))], rows),
        f"Ratios other than 1 agree at {'; '.join(alike)} (K, requests, optimum).",
        f"The tree is above at {'; '.join(above)}.",
    )


STUDY: dict[str, Section] = {
    "lemma": Section(
        "Reachability",
        "Every pair of ancestor-closed sets of the study's trie, one inside the other: do leaves alone lead from the"
        " larger to the smaller? Each step removes the deepest block of the difference and is checked to remove a"
        " leaf.",
        {
            "sets": "ancestor-closed sets",
            "pairs": "pairs, one inside the other",
            "leaf_removals": "steps, each checked",
            "unreachable": "pairs that leaves do not connect; the study says 0",
        },
    ),
    "offline": Section(
        "Offline: the two exact optima",
        "Two independent exact searches, one that peels leaves and one that may keep any ancestor-closed subset, on all"
        " sequences of 4 requests for 6 strings at K = 2 and 3: 2 · 6⁴ = 2592 instances, in both models of the"
        " optimum.",
        {
            "bypass.instances": "instances",
            "bypass.mismatches": "instances in which the two differ; the study says 0",
            "bypass.leaf_only_worse": "of these: the rule costs (what prediction P1 needs)",
            "bypass.leaf_only_better": "of these: the search without the rule was not optimal",
            "locked.mismatches": "the same with the optimum that holds the path in service",
        },
    ),
    "online": Section(
        "Online: LRU without the rule, ties to the deeper block",
        "All sequences of 6 requests at K = 2 and 3: 2 · 6⁶ = 93312 instances. Unconstrained LRU takes the least"
        " recently used block and, if it is interior, its cached descendants with it; of equally old blocks it takes"
        " the deeper.",
        {
            "instances": "instances",
            "strict_interior_evictions": "interior evictions, of either tie-break, with no tie; the study says 0",
            "other_decisions": "instances with a decision other than leaf-only LRU's",
            "worse": "instances in which the unconstrained cache misses more: there the rule helps",
            "better": "instances in which it misses less: there the rule costs (what prediction P1 needs)",
        },
    ),
    "tie_audit": Section(
        "The tie audit: ties to the shallower block",
        "The same instances, with the tie-break that the study calls a straw man: of equally old blocks the shallower"
        " goes.",
        {
            "loses": "instances in which it misses more than leaf-only LRU; the study says 33060",
            "wins": "instances in which it misses less",
            "loses_by_ties_alone": "losses with interior evictions, all of them ties",
            "interior_evictions": "interior evictions over all instances",
            "tied_interior_evictions": "of these, ties",
            "strict_interior_evictions": "of these, not ties; the study says 0",
        },
    ),
    "stamps": Section(
        "The order of the stamps",
        "The study stamps a path in one step. Real systems stamp block by block, so no two blocks are equally old and"
        " no tie-break is asked. Root first, a parent is older than its child by one stamp; leaf first, younger. The"
        " same 93312 instances, against leaf-only LRU. In the recordings of SGLang 0.5.23 no request leaves a parent"
        " with a later time than the node below it: its unified cache stamps root first, its default cache gives some"
        " nodes of a path equal times and the new node a later one. vLLM frees a request's last block first.",
        {
            "root_first.interior_evictions": "interior evictions of LRU without the rule",
            "root_first.strict_interior_evictions": "of these, strict: all, where the study counts 0",
            "root_first.unconstrained_worse": "instances in which the rule saves misses",
            "root_first.unconstrained_better": "instances in which it costs",
            "root_first.decides_otherwise_than_its_tie_break": "instances with another decision than ties to the"
            " shallower",
            "leaf_first.interior_evictions": "interior evictions with stamps leaf first",
            "leaf_first.unconstrained_decides_otherwise": "instances with another decision than leaf-only LRU's",
            "leaf_first.decides_otherwise_than_its_tie_break": "instances with another decision than ties to the"
            " deeper",
        },
        lambda _: (
            "So the study's two tie-breaks are the two orders of stamps. The rule is neutral for one and saves misses"
            " for the other. Leaf-only LRU itself decides alike under every order."
            "\n\n![The rule in one picture](rule.svg)"
        ),
    ),
    "competitive": Section(
        "Competitive ratios within the study's bounds",
        "The largest ratio of leaf-only LRU's misses to the optimum's, over all sequences of up to 8, 7 and 6"
        " requests at K = 2, 3 and 4.",
        {
            "bypass.2": "K = 2; the study says 1.75",
            "bypass.3": "K = 3; the study says 1.667",
            "bypass.4": "K = 4; the study says 1.4",
            "locked.2": "K = 2 against the optimum that holds the path in service",
            "locked.3": "K = 3, the same",
            "locked.4": "K = 4, the same",
            "capacities_with_ratio_above_capacity": "capacities at which a bypass ratio exceeds K; the study says none",
        },
        competitive_witness,
    ),
    "controls": Section(
        "Controls",
        "Two that must show no gap, and two that must. The latter refresh only the requested block and those that the"
        " request creates, so that a parent can be older than its child by whole requests; ties go to the deeper"
        " block, over the 93312 instances. Without a lock many of their evictions take the path in service; with the"
        " lock no instance is better, so \"better\" is an artefact of the missing lock.",
        {
            "repeated.largest_ratio": "one string over and over: the study says 1",
            "distinct_that_fit.largest_ratio": "three rounds of strings that fit together: the study says 1",
            "requested_only_recency.strict_interior_evictions": "strict interior evictions, nothing locked",
            "requested_only_recency.evictions_from_the_path_in_service": "evictions that take a block of the path in"
            " service",
            "requested_only_recency.worse": "instances in which unconstrained LRU misses more",
            "requested_only_recency.better": "instances in which it misses less",
            "requested_only_recency_locked.strict_interior_evictions": "strict ones with the path in service locked",
            "requested_only_recency_locked.worse": "and instances with more misses",
            "requested_only_recency_locked.better": "and with fewer",
        },
    ),
    "derisk": Section(
        "The pre-registered search",
        "LRU's worst ratio in the tree (missed blocks) and in flat paging (missed pages; a string is one page), K ="
        " 2, up to 5 requests, against both optima. The study's pair is the first and the last.",
        {
            "tree_bypass": "the study says 1.667",
            "flat_bypass": "flat paging against the same optimum",
            "tree_locked": "the tree against the other optimum",
            "flat_locked": "the study says 1.333",
        },
        both_models,
    ),
}
