"""What the report says of the claims beyond the study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from src.claims.claim import Claim
from src.claims.markdown import code, paragraphs, schedule, table
from src.claims.report_sections import Section
from src.radixcache import Optimum

BOTH = {"leaf_only": "leaf-only", "unconstrained": "unconstrained"}


def policies(claim: Claim) -> str:
    """Return the policies' rows and the witnesses."""
    header = ["policy", "instances", "interior evictions", "strict", "unconstrained worse", "unconstrained better"]
    rows = [[f"`{name}`", *row.values()] for name, row in claim["measured"].items()]
    lines = []
    for name, kinds in claim["witnesses"].items():
        binds, costs, soonest = kinds["binds"], kinds["costs"], claim["shortest_costs"][name]
        lines += [
            f"* The rule binds `{name}` at K = {binds['capacity']} on {code(binds['sequence'])}.",
            f"* It costs `{name}` on the study's trie at K = {costs['capacity']} on {code(costs['sequence'])}:"
            f" {told(costs)}. No shorter sequence shows that there at K = 2 or 3.",
            f"* The shortest sequence on any forest with up to {claim['parameters']['forest_nodes']} blocks where it"
            f" costs `{name}`: {code(soonest['sequence'])} on the strings {code(soonest['strings'])} at K ="
            f" {soonest['capacity']}: {told(soonest)}.",
        ]
    shown = claim["shortest_costs"]["fifo"]
    assigned = claim["assigned_priorities"]["measured"]
    return paragraphs(
        table(header, rows),
        f"`priority` also ran with every assignment of priorities 0 and 1 to sequences of"
        f" {claim['assigned_priorities']['parameters']['length']} requests: {assigned['instances']} instances,"
        f" {assigned['interior_evictions']} interior evictions.",
        "\n".join(lines),
        "`fifo` on that shortest sequence, step by step:",
        schedule(shown["schedule"], BOTH),
    )


def told(one: Mapping[str, Any]) -> str:
    """Return a witness's misses with and without the rule."""
    return f"{one['misses']['leaf_only']} misses under the rule, {one['misses']['unconstrained']} without it"


def every_length(claim: Claim) -> str:
    """Return the table of every length, a cycle, and the counts."""
    measured = claim["measured"]
    capacities = claim["parameters"]["capacities"]
    header = ["policy", *(f"K={k} {optimum.value}" for optimum in Optimum for k in capacities)]
    rows = [
        [f"`{name}`", *(by_model[o.value][str(k)]["ratio"] for o in Optimum for k in capacities)]
        for name, by_model in measured.items()
        if "bypass" in by_model
    ]
    cycle = claim["witnesses"]["lru"]["bypass"]["3"]
    long = measured["counts"]["30"]
    return paragraphs(
        table(header, rows),
        f"For example LRU at K = 3, bypass: first {code(cycle['prefix'])}, then over and over {code(cycle['cycle'])};"
        f" each round LRU misses {cycle['policy_misses']} blocks and the optimum {cycle['optimum_misses']}.",
        f"The same graph counts. At 30 requests there are {long['instances']} instances (K = 2 and 3 together); the"
        f" shallow tie-break loses in {long['shallow_loses']} of them.",
        "![Worst ratio of leaf-only LRU by sequence length](ratio_by_length.svg)",
    )


def stars(claim: Claim) -> str:
    """Return the ratios of the stars, and the shortest sequence above K."""
    ratios = claim["measured"]["lru"]["ratio_of_the_star"]
    header = ["optimum", *(f"K = {k}" for k in ratios["bypass"])]
    above = claim["witnesses"]["above_capacity"]
    return paragraphs(
        "LRU's ratio over all lengths on the star with K + 1 one-block strings, which attains the bound:",
        table(header, [[model, *by_capacity.values()] for model, by_capacity in ratios.items()]),
        f"The shortest sequence with a ratio above K = 2: {code(above['sequence'])}, {above['lru_misses']} misses to"
        f" {above['optimum_misses']}. Not every universe shows it: the study's binary one has only two blocks on its"
        " first level, so at K = 2 and more no K + 1 strings push each other out block for block there.",
    )


BEYOND: dict[str, Section] = {
    "policies": Section(
        "Every policy without the rule",
        "Each of SGLang's policies beside itself unconstrained, over the 93312 instances, the path in service locked."
        " An interior eviction means that some cached block scored higher than its parent.",
        {},
        policies,
    ),
    "every_length": Section(
        "Every length",
        "A policy whose state is finite and the optimum's work function form a finite graph, and the worst ratio over"
        " all lengths is that of a cycle in it. On the study's trie; \"unbounded\" is a cycle on which the policy"
        " misses and the optimum pays nothing. `priority` is attacked with requests of priority 0 and 1. The path in"
        " service is locked.",
        {
            "all_lengths.states": "states of the online comparison, whose graph is closed",
            "all_lengths.edges_with_a_strict_interior_eviction": "edges with a strict interior eviction: none at any"
            " length",
            "all_lengths.edges_with_another_decision": "edges on which ties to the deeper block decide otherwise: none",
        },
        every_length,
    ),
    "theorems": Section(
        "Every small trie",
        "The theorems' statements on every rooted forest with up to 6 blocks (`fifo`: 5, the offline optimum: 4),"
        " every string requestable, all K below the size, over all lengths; the locked model where every path fits.",
        {
            "lru.forests": "forests",
            "lru.cases": "forests with a capacity and a model of the optimum",
            "lru.cases_above_the_bound": "cases in which LRU exceeds K (locked) or K + 1 (bypass)",
            "fifo.cases": "the same for `fifo`",
            "fifo.unbounded_cases": "cases in which `fifo` has no bound",
            "fifo.cases_above_lrus_bound": "cases in which it exceeds LRU's",
            "offline.instances": "instances of the offline check, sequences of 4 requests",
            "offline.mismatches": "leaf-only optimum against a cache that may hold any set of blocks",
            "above_capacity": "a ratio above K = 2, in the study's own model",
        },
        stars,
    ),
}
