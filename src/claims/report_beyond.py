"""What the report says of the claims beyond the study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from src.claims.claim import Claim
from src.claims.markdown import code, paragraphs, schedule, table
from src.claims.report_sections import Section
from src.radixcache import Optimum

BOTH = {"leaf_only": "leaf-only", "unconstrained": "unconstrained"}
BLOCK_AND_ENGINE = {"block": "leaf-only LRU", "engine": "engine"}


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
            f" {told(costs)}."
            " No shorter sequence shows that there at K = 2 or 3.",
            f"* The shortest sequence on any forest with up to {claim['parameters']['forest_nodes']} blocks where it"
            f" costs"
            f" `{name}`: {code(soonest['sequence'])} on the strings {code(soonest['strings'])} at"
            f" K = {soonest['capacity']}: {told(soonest)}.",
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
        f" each"
        f" round LRU misses {cycle['policy_misses']} blocks and the optimum {cycle['optimum_misses']}.",
        f"The same graph counts. At 30 requests there are {long['instances']} instances (K = 2 and 3 together); the"
        f" shallow"
        f" tie-break loses in {long['shallow_loses']} of them.",
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
        f" first"
        " level, so at K = 2 and more no K + 1 strings push each other out block for block there.",
    )


def widths(claim: Claim) -> str:
    """Return two tries of equal size and different width, and how many cases have each price."""
    two = claim["witnesses"]["two_tries"]
    rows = [
        [name, code(one["strings"]), one["width"], one["bypass"]["ratio"], one["locked"]["ratio"]]
        for name, one in two.items()
    ]
    prices = claim["measured"]["lru"]["cases_by_price"]
    most = max(map(int, prices["bypass"]))
    counts = [[model, *(found.get(str(price), 0) for price in range(1, most + 1))] for model, found in prices.items()]
    cycle = two["bushy"]["bypass"]
    return paragraphs(
        f"Two tries of six blocks at K = {two['bushy']['capacity']}, and LRU's ratios over all lengths:",
        table(["", "strings", "width", "bypass", "locked"], rows),
        f"On the bushy one, after {code(cycle['prefix'])}, the cycle {code(cycle['cycle'])} costs LRU"
        f" {cycle['lru_misses']} misses a round and the optimum {cycle['optimum_misses']}.",
        "How many cases have which price:",
        table(["optimum", *map(str, range(1, most + 1))], counts),
    )


def smaller_optimum(claim: Claim) -> str:
    """Return the two examples, and the cases in which the bounds do not meet."""
    shown = {**claim["witnesses"]["examples"]}
    rows = [
        [code(one["strings"]), one["capacity"], one["smaller_capacity"], one["adversary"], one["limit"], one["widths"]]
        for one in [*shown.values(), *claim["witnesses"]["strictly_between"]]
    ]
    return paragraphs(
        "Two tries with the same widths and different values, and the cases whose value lies strictly between the"
        " bounds"
        " (bypassing):",
        table(["strings", "K", "h", "every policy at least", "LRU in the long run", "bound by the widths"], rows),
    )


def engines(claim: Claim) -> str:
    """Return the engines' rows, and the smallest sequences that tell them from leaf-only LRU."""
    counts = ("more_misses", "fewer_misses", "same_decisions", "interior_evictions")
    ratios = [(optimum.value, capacity) for optimum in Optimum for capacity in map(str, claim["parameters"]["capacities"])]
    header = ["engine", *(key.replace("_", " ") for key in counts), *(f"ratio, K = {k}, {model}" for model, k in ratios)]
    rows = [
        [title, *(row[key] for key in counts), *(row["worst_ratio"][model][k] for model, k in ratios)]
        for title, row in ((title, claim["measured"][name]) for name, title in ENGINES.items())
    ]
    lines = [
        f"* {ENGINES[name]}, {kind.replace('_', ' ')}: K = {one['capacity']}, {code(one['sequence'])},"
        f" {one['misses']['engine']} misses, leaf-only LRU {one['misses']['block']}."
        for name, kinds in claim["witnesses"].items()
        for kind, one in kinds.items()
        if kind != "worst_ratio"
    ]
    fewer = claim["witnesses"]["sglang"]["fewer_misses"]
    return paragraphs(
        table(header, rows),
        "The ratios are over all lengths.  Smallest sequences that tell the engines from leaf-only LRU:",
        "\n".join(lines),
        "Where whole nodes help, step by step:",
        schedule(fewer["schedule"], BLOCK_AND_ENGINE),
        "On the Mooncake conversation trace ([mooncake_engines.json](mooncake_engines.json)) vLLM hits what leaf-only"
        " LRU"
        " hits at 2,000, 5,000 and 10,000 blocks. The study says that its result transfers to any radix prefix cache."
        " It does to"
        " vLLM, decision by decision; SGLang keeps the rule, but its whole nodes cost misses and its bounds are"
        " others; the"
        " flat store is the study's straw man itself.",
    )


ENGINES = {
    "sglang": "SGLang, whole nodes",
    "sglang_without_whole_nodes": "SGLang, block by block",
    "sglang_without_refreshed_rest": "SGLang, splits keep their times",
    "sglang_without_both": "SGLang without both",
    "vllm": "vLLM's free queue",
    "store": "a flat store of blocks",
}

BEYOND: dict[str, Section] = {
    "policies": Section(
        "Every policy without the rule",
        "Each of SGLang's policies beside itself unconstrained, over the 93312 instances, the path in service locked."
        " An"
        " interior eviction means that some cached block scored higher than its parent.",
        {},
        policies,
    ),
    "every_length": Section(
        "Every length",
        "A policy whose state is finite and the optimum's work function form a finite graph, and the worst ratio over"
        " all"
        " lengths is that of a cycle in it. On the study's trie; \"unbounded\" is a cycle on which the policy misses"
        " and the"
        " optimum pays nothing. `priority` is attacked with requests of priority 0 and 1. The path in service is"
        " locked.",
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
        " every string"
        " requestable, all K below the size, over all lengths; the locked model where every path fits.",
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
    "reduction": Section(
        "A radix cache under LRU is ordinary paging",
        "Write each request as its blocks, the deepest first, and serve them one by one by flat paging LRU with room"
        " for K"
        " pages. After every request it holds the blocks that leaf-only LRU holds on the trie: on the study's 93312"
        " instances, and at every length on all forests with up to 5 blocks (edges of closed graphs; paths longer"
        " than K"
        " included). It may miss more, as it can push out a block that the same request still needs. Below, the exact"
        " optima"
        " on all forests with up to 4 blocks and sequences of 4 requests. So every upper bound on paging LRU holds"
        " for radix"
        " caches on every trie.",
        {
            "study.instances": "instances",
            "study.held_sets_differ": "instances in which the two ever hold different blocks",
            "study.flat_misses_more": "instances in which flat paging misses more",
            "study.flat_misses_fewer": "and fewer",
            "forests.edges": "edges of the graphs of all forests",
            "forests.edges_where_held_sets_differ": "edges after which the two hold different blocks",
            "optimum.bypass.instances": "instances of the bypassing optimum",
            "optimum.bypass.flat_misses_more": "in which flat paging's optimum misses more than the trie's",
            "optimum.bypass.flat_misses_fewer": "and fewer",
            "optimum.locked.flat_misses_more": "the same with locks: more",
            "optimum.locked.flat_misses_fewer": "and fewer: flat paging locks page by page, which is easier",
        },
    ),
    "width": Section(
        "The price of a trie is its width",
        "The width is the largest number of leaves that K + 1 blocks of the trie can have: K + 1 on a star, 1 on a"
        " chain. The"
        " theorem: over all lengths LRU's ratio is exactly the width w against the bypassing optimum and max(1, w − 1)"
        " against the locked one, and so is leaf-only `fifo`'s; no deterministic online policy guarantees less."
        " Checked over"
        " all lengths on every forest with up to 6 blocks (`fifo`: 5).",
        {
            "lru.cases": "forests with a capacity and a model of the optimum",
            "lru.cases_off_the_width": "cases in which LRU's ratio is not the price",
            "lru.cases_cheaper_than_the_star": "cases in which it is below K or K + 1",
            "fifo.cases": "the same for `fifo`",
            "fifo.cases_off_the_width": "and off the price",
            "longer_paths.cases": "cases with paths longer than K",
            "longer_paths.cases_with_another_width": "of these, the width changes without those paths",
            "adversary.runs": "an adversary asks each of SGLang's seven policies for a leaf that it lacks: runs",
            "adversary.runs_with_a_full_hit": "runs in which some request hits entirely",
            "adversary.runs_in_which_the_optimum_pays_more": "runs in which the optimum pays more than its share",
            "study.2": "the width of the study's trie at K = 2",
            "study.3": "at K = 3",
            "study.4": "at K = 4",
            "study.5": "at K = 5",
        },
        widths,
    ),
    "augmentation": Section(
        "A smaller optimum",
        "LRU with K blocks beside an optimum with h < K. The classical bounds of paging hold on every trie, K/(K − h"
        " + 1)"
        " locked and (K + 1)/(K + 1 − h) bypassing: with twice the blocks LRU is within a factor of about two of"
        " perfect. The"
        " widths sharpen them; from below every policy pays a bound of its own. All forests with up to 5 blocks, over"
        " all"
        " lengths (the *long run*: the largest ratio of a cycle).",
        {
            "bypass.cases": "cases, bypassing",
            "bypass.above_the_classical_bound": "above the classical bound",
            "bypass.above_the_bound_of_the_widths": "above the bound by the widths",
            "bypass.widths_below_the_classical_bound": "cases in which the widths say less than the classical bound",
            "bypass.limit_below_the_adversary": "long run below what every policy pays",
            "bypass.bounds_meet": "cases in which upper and lower bound are one",
            "locked.cases": "cases, locked",
            "locked.above_the_bound_of_the_widths": "above the bound by the widths",
            "locked.bounds_meet": "cases in which upper and lower bound are one",
            "two_pairs_beside_one_block.lru": "`a b bb c cc`, K = 3, h = 1, bypassing: LRU in the long run",
            "two_pairs_beside_one_block.deepest_first": "there the deepest leaf first keeps up less: LRU is not the"
            " best",
        },
        smaller_optimum,
    ),
    "engines": Section(
        "The real engines",
        "How SGLang 0.5.23 and vLLM 0.33.0 keep and evict, as plain classes that reproduce every step of recordings"
        " of the"
        " real systems (`tests/engines/recordings`), and a flat store of independent blocks, each under LRU against"
        " leaf-only"
        " LRU over the 93312 instances. SGLang evicts whole nodes, chains of blocks that came together and were not"
        " split"
        " since, and gives the unmatched rest of a split node a fresh time; without both it decides as the model"
        " does. vLLM"
        " has no tree, and decides as leaf-only LRU does on every instance.",
        {
            "vllm.same_decisions": "instances in which vLLM's free queue evicts what leaf-only LRU evicts",
            "sglang_without_both.same_decisions": "the same for SGLang without its two behaviours",
            "store_beside_shallow_lru.same_misses": "instances in which a flat store misses, request by request, what"
            " the"
            " study's straw man misses",
        },
        engines,
    ),
}
