"""What the report says of the theorems that settle what LRU costs on each trie."""

from __future__ import annotations

from src.claims.claim import Claim
from src.claims.markdown import code, paragraphs, table
from src.claims.report_sections import Section
from src.radixcache import Optimum


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
        " bounds (bypassing):",
        table(["strings", "K", "h", "every policy at least", "LRU in the long run", "bound by the widths"], rows),
    )


def whole_nodes(claim: Claim) -> str:
    """Return the ratios of whole nodes beside those of blocks, and what the optimum on whole nodes pays."""
    study, attained = claim["measured"]["study"], claim["measured"]["optimum_attains"]
    rows = [
        [optimum.value, f"K = {capacity}", one["whole_nodes"], one["blocks"]]
        for optimum in Optimum
        for capacity, one in study[optimum.value].items()
    ]
    factors = [[model, *by_capacity.values()] for model, by_capacity in attained.items()]
    one = claim["witnesses"]["above_capacity"]["2"]
    more = claim["measured"]["beyond_private_chains"]["nine_trees"]
    return paragraphs(
        "LRU's ratios over all lengths on the study's trie:",
        table(["optimum", "", "whole nodes", "block by block"], rows),
        f"Within the study's own bound whole nodes break its \"within K\": at K = 2 {code(one['sequence'])} costs"
        f" {one['misses']} misses and the optimum {one['optimum_misses']}.",
        f"On a trie of {more['trees']} trees, each a spine of {more['spine']} blocks with two leaves, at K ="
        f" {more['capacity']}, a round costs {more['misses_of_a_round']} misses and the optimum"
        f" {more['optimum_misses_of_a_round']}: {more['ratio']}, where the formula of the private chains says"
        f" {more['private_chains']}. The true formula is open.",
        "How much more than the block optimum the optimum on whole nodes pays, as a factor that is attained: K"
        " bypassing, (K + 1)/2 locked.",
        table(["optimum", *(f"K = {k}" for k in attained["bypass"])], factors),
    )


def randomized(claim: Claim) -> str:
    """Return marking's exact ratios on the study's trie, and what is open."""
    rows = [
        [model, f"K = {k}", one["width"], one["no_policy_below"], one["marking"], one["marking_not_above"]]
        for model, by_capacity in claim["measured"]["study"].items()
        for k, one in by_capacity.items()
    ]
    return paragraphs(
        "On the study's trie, over all lengths, in expected misses:",
        table(["optimum", "", "width", "no policy below", "marking", "not above, by the theorem"], rows),
        "Open: whether H(w − 1) is the locked price of every trie. It is with K + 1 blocks and on every star.",
    )


THEORY: dict[str, Section] = {
    "reduction": Section(
        "A radix cache under LRU is ordinary paging",
        "Write each request as its blocks, the deepest first, and serve them one by one by flat paging LRU with room"
        " for K pages. After every request it holds the blocks that leaf-only LRU holds on the trie: on the study's"
        " 93312 instances, and at every length on all forests with up to 5 blocks (edges of closed graphs; paths"
        " longer than K included). It may miss more, as it can push out a block that the same request still needs."
        " Below, the exact optima on all forests with up to 4 blocks and sequences of 4 requests. So every upper"
        " bound on paging LRU holds for radix caches on every trie.",
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
        " chain. The theorem: over all lengths LRU's ratio is exactly the width w against the bypassing optimum and"
        " max(1, w − 1) against the locked one, and so is leaf-only `fifo`'s; no deterministic online policy"
        " guarantees less. Checked over all lengths on every forest with up to 6 blocks (`fifo`: 5).",
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
    "online_optimum": Section(
        "The best online policy, as a game",
        "Independently of LRU: a policy against requests, the optimum's work function as the price, on finite graphs."
        " The value is the width again, with two certificates, a potential that shows that the ratio suffices and an"
        " adversary that shows that no less does. The study's trie at K = 2 to 5 and all forests with up to 5 blocks.",
        {
            "study.bypass.2.ratio": "what the best deterministic policy guarantees at K = 2",
            "study.bypass.5.ratio": "and at K = 5",
            "study.locked.5.ratio": "the same against the locked optimum",
            "forests.cases": "forests with a capacity and a model of the optimum",
            "forests.cases_with_another_ratio_than_the_width": "cases with another value than the width's price",
            "forests.cases_with_an_additive_constant": "cases in which the policy needs a constant beside the ratio",
            "forests.cases_without_an_adversary": "cases without an adversary that forces the ratio",
        },
    ),
    "augmentation": Section(
        "A smaller optimum",
        "LRU with K blocks beside an optimum with h < K. The classical bounds of paging hold on every trie, K/(K − h"
        " + 1) locked and (K + 1)/(K + 1 − h) bypassing: with twice the blocks LRU is within a factor of about two of"
        " perfect. The widths sharpen them; from below every policy pays a bound of its own. All forests with up to 5"
        " blocks, over all lengths (the *long run*: the largest ratio of a cycle).",
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
    "whole_nodes": Section(
        "Whole nodes",
        "SGLang evicts whole radix nodes: chains of blocks that came together and were not split since. LRU on whole"
        " nodes keeps the bounds of the star, K and K + 1, but on each trie it can cost more than block by block. So"
        " the leaf-only rule is free; evicting by whole nodes is not. All forests with up to 5 blocks, over all"
        " lengths.",
        {
            "forests.cases": "cases",
            "forests.cases_above_the_stars_bound": "above K locked, K + 1 bypassing",
            "forests.cases_dearer_than_blocks": "dearer than block by block",
            "forests.cases_with_another_ratio_than_the_private_chains": "not the price of the private chains (PROOFS,"
            " W2)",
            "optimum.cases": "the exact optimum on whole nodes, all sequences of 6 requests: cases",
            "optimum.cases_above_the_bound": "above K, or (K + 1)/2, times the block optimum",
            "optimum.cases_dearer_than_blocks": "dearer than the block optimum",
        },
        whole_nodes,
    ),
    "randomized": Section(
        "Chance",
        "Policies that flip coins, against an adversary that does not see them. Marking that evicts a uniformly"
        " random unmarked leaf pays at most 2·H(w − 1) locked and 3·H(w − 1) bypassing, w being the width and H(n) ="
        " 1 + 1/2 + … + 1/n; no policy that holds the path pays less than H(w − 1) locked. Exact expected misses as"
        " fractions on all forests with up to 5 blocks.",
        {
            "forests.cases": "cases",
            "forests.cases_below_a_lower_bound": "below what the theorem says of every policy",
            "forests.cases_above_the_upper_bound": "above what it says of marking",
            "forests.cases_of_one_block_too_many_with_another_ratio_than_harmonic": "tries of K + 1 blocks, locked: not"
            " H(w − 1)",
            "forests.bypassing_cases_with_another_ratio_than_twice_harmonic": "bypassing: not 2·H(w − 1), which is"
            " not proved",
            "variants.comb.8.uniform.expected_misses": "a comb with 8 teeth, a round: uniform leaves",
            "variants.comb.8.descent.expected_misses": "and a random walk down from the root",
        },
        randomized,
    ),
}
