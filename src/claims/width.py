"""The price of a trie: LRU's exact ratio, and fifo's, is the trie's width, and no deterministic policy has less."""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable

from src.claims.claim import Claim, claim
from src.claims.theorems import FIFO_NODES, FOREST_NODES, bound, cases, priced
from src.policies.cache import Cache
from src.policies.facts import Score
from src.policies.scores import make_policy, sglang_policies
from src.radixcache import Optimum, String, Trie, members, names, size
from src.walks.belady import belady
from src.walks.beside_optimum import lru_beside_optimum
from src.walks.every_length import every_length
from src.walks.exhaustive import MOST_STATES
from src.width import plain_width, price, width

STUDY_CAPACITIES = (2, 3, 4, 5)
ADVERSARY_NODES, ADVERSARY_ROUNDS = 5, 6  # blocks of the largest forests; requests for each leaf
TWO_TRIES = {"bushy": ("a", "ab", "ac", "ad", "ae", "af"), "slender": ("a", "aa", "aaa", "b", "bb", "bbb")}
TWO_CAPACITY = 4
Say = Callable[[str], None]


def sweep(policy: str, nodes: int) -> dict[str, Any]:
    """Return in how many cases, over all lengths, the policy's ratio is not the price of the trie."""
    found = [(one, width(one.trie.parent, one.capacity + 1)) for one in priced(policy, nodes)]
    prices: dict[str, Counter[int]] = {optimum.value: Counter() for optimum in Optimum}
    for one, leaves in found:
        prices[one.optimum.value][price(leaves, one.optimum)] += 1
    return {
        "cases": len(found),
        "cases_off_the_width": sum(one.ratio != price(leaves, one.optimum) for one, leaves in found),
        "cases_cheaper_than_the_star": sum(
            price(leaves, one.optimum) < bound(one.capacity, one.optimum) for one, leaves in found
        ),
        "cases_by_price": {
            model: {str(value): count for value, count in sorted(counts.items())} for model, counts in prices.items()
        },
    }


def longer_paths(nodes: int) -> dict[str, int]:
    """Return in how many of the cases where some path does not fit the width changes if those paths are left out.

    Of a path longer than the capacity only the first K blocks can ever be cached, by anybody, so the rest costs all the
    same.  Hence the theorem for the trie without those blocks settles such a trie, if its width is the same.
    """
    checked = other = 0
    for trie, capacity, _ in cases(nodes):
        if max(trie.depth) > capacity:
            short = Trie(string for string in trie.strings if len(string) <= capacity)
            checked += 1
            other += width(short.parent, capacity + 1) != width(trie.parent, capacity + 1)
    return {"cases": checked, "cases_with_another_width": other}


def widest(trie: Trie, blocks: int) -> int:
    """Return the first ancestor-closed set of so many blocks that has the most leaves."""
    leaves = plain_width(trie, blocks)
    return next(
        held
        for held in trie.ancestor_closed_sets(blocks)
        if size(held) == blocks and size(trie.leaves(held)) == leaves
    )


def asked_for_what_is_missing(trie: Trie, capacity: int, score: Score, requests: int) -> tuple[list[String], int]:
    """Return the requests of an adversary that always asks for a leaf of the widest set that is not cached.

    Also returns the policy's misses.  A cache of K blocks lacks one of the K + 1, and with it a leaf above it.
    """
    cache = Cache(trie, capacity, score)
    leaves = trie.leaves(widest(trie, capacity + 1))
    sequence: list[String] = []
    misses = 0
    for _ in range(requests):
        block = next(members(leaves & ~cache.cached()))
        sequence.append(trie.prefix[block])
        misses += cache.access(sequence[-1]).misses
    return sequence, misses


def adversary(nodes: int, rounds: int) -> dict[str, int]:
    """Return how the adversary fares against each of SGLang's policies: each request misses, the optimum pays for few.

    With N requests the optimum pays at most K + N / price: it holds all of the widest set but one leaf.
    """
    found = dict.fromkeys(("runs", "requests", "runs_with_a_full_hit", "runs_in_which_the_optimum_pays_more"), 0)
    for name in sglang_policies():
        for trie, capacity, optima in cases(nodes):
            leaves = width(trie.parent, capacity + 1)
            for optimum in optima:
                if leaves < 2:  # nothing to show: no policy pays less than the optimum
                    continue
                requests = rounds * leaves
                sequence, misses = asked_for_what_is_missing(trie, capacity, make_policy(name), requests)
                least = belady(trie, capacity, sequence, optimum).misses
                found["runs"] += 1
                found["requests"] += requests
                found["runs_with_a_full_hit"] += misses < requests
                found["runs_in_which_the_optimum_pays_more"] += (least - capacity) * price(leaves, optimum) > requests
    return found


def two_tries() -> dict[str, Any]:
    """Return a bushy and a slender trie of six blocks, at the same capacity, with LRU's worst cycle on each."""
    shown = {}
    for name, strings in TWO_TRIES.items():
        trie = Trie(strings)
        shown[name] = {"strings": names(strings), "capacity": TWO_CAPACITY, "blocks": len(trie)}
        shown[name]["width"] = width(trie.parent, TWO_CAPACITY + 1)
        for optimum in Optimum:
            worst = every_length(lru_beside_optimum(trie, TWO_CAPACITY, optimum), MOST_STATES)
            shown[name][optimum.value] = {
                "ratio": worst.ratio,
                "prefix": names(worst.prefix),
                "cycle": names(worst.cycle),
                "lru_misses": worst.misses,
                "optimum_misses": worst.optimum_misses,
            }
    return shown


def width_claim(trie: Trie, say: Say) -> Claim:
    """The width theorem on every small forest: LRU and fifo from above and below, every policy from below."""
    say("width: LRU on every small forest")
    measured: dict[str, Any] = {"lru": sweep("lru", FOREST_NODES)}
    say("width: fifo on every small forest")
    measured["fifo"] = sweep("fifo", FIFO_NODES)
    measured["longer_paths"] = longer_paths(FOREST_NODES)
    say("width: the adversary")
    measured["adversary"] = adversary(ADVERSARY_NODES, ADVERSARY_ROUNDS)
    measured["study"] = {str(capacity): width(trie.parent, capacity + 1) for capacity in STUDY_CAPACITIES}
    parameters = {
        "lru_nodes": FOREST_NODES,
        "fifo_nodes": FIFO_NODES,
        "adversary_nodes": ADVERSARY_NODES,
        "requests_for_each_leaf": ADVERSARY_ROUNDS,
        "strings": names(trie.strings),
    }
    expected = {
        "lru": {"cases_off_the_width": 0},
        "fifo": {"cases_off_the_width": 0},
        "longer_paths": {"cases_with_another_width": 0},
        "adversary": {"runs_with_a_full_hit": 0, "runs_in_which_the_optimum_pays_more": 0},
    }
    return claim(parameters, measured, expected=expected, witnesses={"two_tries": two_tries()})
