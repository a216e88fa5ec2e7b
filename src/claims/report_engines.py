"""What the report says of the real engines, and of policies with a memory."""

from __future__ import annotations

from src.claims.claim import Claim
from src.claims.markdown import code, paragraphs, schedule, table
from src.claims.report_sections import Section
from src.radixcache import Optimum

BLOCK_AND_ENGINE = {"block": "leaf-only LRU", "engine": "engine"}
ENGINES = {
    "sglang": "SGLang, whole nodes",
    "sglang_without_whole_nodes": "SGLang, block by block",
    "sglang_without_refreshed_rest": "SGLang, splits keep their times",
    "sglang_without_both": "SGLang without both",
    "vllm": "vLLM's free queue",
    "store": "a flat store of blocks",
}


def engines(claim: Claim) -> str:
    """Return the engines' rows, and the smallest sequences that tell them from leaf-only LRU."""
    counts = ("more_misses", "fewer_misses", "same_decisions", "interior_evictions")
    ratios = [(optimum.value, str(k)) for optimum in Optimum for k in claim["parameters"]["capacities"]]
    columns = [*(key.replace("_", " ") for key in counts), *(f"ratio, K = {k}, {model}" for model, k in ratios)]
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
        table(["engine", *columns], rows),
        "The ratios are over all lengths.  Smallest sequences that tell the engines from leaf-only LRU:",
        "\n".join(lines),
        "Where whole nodes help, step by step:",
        schedule(fewer["schedule"], BLOCK_AND_ENGINE),
        "On the Mooncake conversation trace ([mooncake_engines.json](mooncake_engines.json)) vLLM hits what leaf-only"
        " LRU hits at 2,000, 5,000 and 10,000 blocks. The study says that its result transfers to any radix prefix"
        " cache. It does to vLLM, decision by decision; SGLang keeps the rule, but its whole nodes cost misses and"
        " its bounds are others; the flat store is the study's straw man itself.",
    )


def memory(claim: Claim) -> str:
    """Return for each policy whether the rule binds it, its worst ratios, and what a favourite or a lesson costs it."""
    measured = claim["measured"]
    header = ["policy", "instances", "interior evictions", "strict", "unconstrained worse", "unconstrained better"]
    ratios = [
        [f"`{name}`", *(f"{one['bypass']}, {one['locked']}" for one in by_case.values())]
        for name, by_case in measured["every_length"].items()
    ]
    repeats = list(measured["favourite"]["lru"])
    costs = [
        [f"`{name}`", *(one["ratio"] for one in by_repeats.values())]
        for name, by_repeats in measured["favourite"].items()
    ]
    lessons = [
        [f"`{name}`", *(f"{one['ratio']} ({one['requests']})" for one in by_octaves.values())]
        for name, by_octaves in measured["lesson"].items()
    ]
    return paragraphs(
        table(header, [[f"`{name}`", *row.values()] for name, row in measured["rule"].items()]),
        "Worst ratios over all lengths where a policy's states close (bypass, locked):",
        table(["policy", *measured["every_length"]["lru"]], ratios),
        f"An old favourite: {claim['parameters']['favourite']}. Misses to the optimum's, by how often a was asked for:",
        table(["policy", *repeats], costs),
        f"A lesson that no longer holds: {claim['parameters']['lesson']}. Misses to the optimum's, and the requests:",
        table(["policy", *(f"gaps up to {2 ** int(octaves)}" for octaves in measured["lesson"]["lru"])], lessons),
        "So a policy that counts every request ever pays when a lasting favourite ends: `aged-lfu`, `hits-per-block`"
        " and `gdsf` have no bound in the worst case, `hyperbolic` and `ttl` none that holds for all their parameters"
        " ([PROOFS.md](PROOFS.md#policies-that-remember-how-often)). `lru-2` remembers two requests, and its ratio is"
        " finite where its states close. `return-density` gives up this favourite at once, but a lesson misleads it,"
        " the longer the more: at K ≥ 3 it has no bound ([proof](PROOFS.md#a-policy-that-learns)). What they hit on"
        " real traces: [TRACES.md](TRACES.md#policies-with-a-memory).",
    )


ENGINE_SECTIONS: dict[str, Section] = {
    "engines": Section(
        "The real engines",
        "How SGLang 0.5.23 and vLLM 0.33.0 keep and evict, as plain classes that reproduce every step of recordings"
        " of the real systems (`tests/engines/recordings`), and a flat store of independent blocks, each under LRU"
        " against leaf-only LRU over the 93312 instances. SGLang evicts whole nodes, chains of blocks that came"
        " together and were not split since, and gives the unmatched rest of a split node a fresh time; without both"
        " it decides as the model does. vLLM has no tree, and decides as leaf-only LRU does on every instance.",
        {
            "vllm.same_decisions": "instances in which vLLM's free queue evicts what leaf-only LRU evicts",
            "sglang_without_both.same_decisions": "the same for SGLang without its two behaviours",
            "store_beside_shallow_lru.same_misses": "instances in which a flat store misses, request by request, what"
            " the study's straw man misses",
        },
        engines,
    ),
    "memory": Section(
        "Policies with a memory",
        "The policies of the literature, over facts that outlive evictions: how often a block was ever requested, and"
        " when before the last time; and one of our own, `return-density`, which learns online how soon blocks of a"
        " kind come back (`src/policies/returns.py`). Is the leaf-only rule free for them (all sequences of 4 requests"
        " on a trie of four blocks, K = 2 and 3)? What can they cost in the worst case?",
        {},
        memory,
    ),
}
