"""LRU against an optimum with a smaller cache: the classical bounds, what the widths make of them, and the true values.

Proofs: results/PROOFS.md, "A smaller optimum".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Callable, NamedTuple

from src.claims.claim import Claim, claim
from src.claims.theorems import cases
from src.policies.facts import Facts, Score
from src.policies.scores import lru
from src.radixcache import Optimum, Trie, members, names, size
from src.walks.beside_optimum import BesideOptimum, lru_beside_optimum, policy_beside_optimum
from src.walks.every_length import Witness, explore, limit, supremum
from src.walks.lru_machine import lru_machine
from src.walks.policy_machine import PolicyMachines, with_policy
from src.width import width

NODES = 5  # blocks of the largest forests
EXAMPLES = {"two_pairs": ("a", "b", "bb", "c", "cc"), "a_chain": ("a", "b", "c", "cc", "ccc")}
Say = Callable[[str], None]


def classical(capacity: int, smaller: int, optimum: Optimum) -> Fraction:
    """Return the upper bound of every trie, K / (K - h + 1) locked and (K + 1) / (K - h + 1) bypassing.

    The first is that of Sleator and Tarjan (1985).
    """
    return Fraction(capacity + (optimum is Optimum.BYPASS), capacity - smaller + 1)


def by_widths(trie: Trie, capacity: int, smaller: int, optimum: Optimum) -> Fraction:
    """Return the upper bound of this trie, 1 + qM / ((K - h)M + q), from its width at h + 1 blocks."""
    locked = optimum is Optimum.LOCKED
    groups, own = max(0, width(trie.parent, smaller + 1) - 1 - locked), smaller - locked
    if not groups:
        return Fraction(1)
    return 1 + Fraction(own * groups, (capacity - smaller) * groups + own)


def by_adversary(trie: Trie, capacity: int, smaller: int, optimum: Optimum) -> Fraction:
    """Return what no deterministic policy stays below in the long run: w / (K - h + 1), or w - 1 instead of w locked.

    It holds as far as the optimum can do without K - h + 1 of the leaves; 0 says that nothing is claimed.
    """
    leaves = width(trie.parent, capacity + 1) - (optimum is Optimum.LOCKED)
    lacking = capacity - smaller + 1
    return Fraction(leaves, lacking) if leaves >= lacking else Fraction(0)


def by_round_trips(trie: Trie, capacity: int, smaller: int) -> Fraction:
    """Return what LRU reaches against the bypassing optimum by going round the leaves of one ancestor-closed set.

    A set of N > K blocks with two leaves or more.  A block below which only one of its leaves lies is missed unless
    it is among the first K - N + p of the p that there are for this leaf.  The optimum keeps h blocks for good.
    """
    best = Fraction(0)
    for held in trie.ancestor_closed_sets(len(trie)):
        over, leaves = size(held) - capacity, list(members(trie.leaves(held)))
        if over > 0 and len(leaves) > 1:
            trips = Counter(block for leaf in leaves for block in trie.path(trie.prefix[leaf]))
            own = [sum(trips[block] == 1 for block in trie.path(trie.prefix[leaf])) for leaf in leaves]
            cheapest = sum(sorted(trips.values())[: size(held) - smaller])
            best = max(best, Fraction(sum(min(one, over) for one in own), cheapest))
    return best


def deepest_first(block: Facts) -> int:
    """Evict the deepest leaf first: a policy that is no good on most tries."""
    return -block.depth


def policy_limit(score: Score, trie: Trie, capacity: int, smaller: int) -> Fraction:
    """Return the ratio that a policy of K blocks keeps up against the bypassing optimum of h blocks."""

    def use(policy: PolicyMachines) -> Fraction:
        """Return the limit with the machines of the policy."""
        return limit(explore(policy_beside_optimum(policy, Optimum.BYPASS, capacity=smaller)))[0]

    return with_policy(trie, capacity, score, use)


class Found(NamedTuple):
    """A case, LRU's ratio over all lengths, the limit that long sequences can keep up, and the bounds on them."""

    trie: Trie
    capacity: int
    smaller: int
    optimum: Optimum
    ratio: Fraction | None
    limit: Fraction
    cycle: Witness
    adversary: Fraction
    round_trips: Fraction
    widths: Fraction

    @property
    def reached(self) -> Fraction:
        """The larger of the two lower bounds."""
        return max(self.adversary, self.round_trips)


def beside(trie: Trie, capacity: int, smaller: int, optimum: Optimum) -> BesideOptimum:
    """Return LRU of K blocks beside the optimum of h blocks."""
    return lru_beside_optimum(trie, smaller, optimum, policy=lru_machine(trie, capacity))


def found(nodes: int) -> Iterator[Found]:
    """Yield every case on forests with up to so many nodes: all paths fit into K blocks, locked ones into h < K."""
    for trie, capacity, _ in cases(nodes):
        if max(trie.depth) > capacity:
            continue
        for smaller in range(1, capacity):
            for optimum in Optimum:
                if optimum.fits(trie, smaller):
                    yield one_case(trie, capacity, smaller, optimum)


def one_case(trie: Trie, capacity: int, smaller: int, optimum: Optimum) -> Found:
    """Return what is found in one case."""
    case = (trie, capacity, smaller, optimum)
    graph = explore(beside(*case))
    kept_up, cycle = limit(graph)
    trips = by_round_trips(trie, capacity, smaller) if optimum is Optimum.BYPASS else Fraction(0)
    return Found(*case, supremum(graph).ratio, kept_up, cycle, by_adversary(*case), trips, by_widths(*case))


def sweep(every: list[Found]) -> dict[str, Any]:
    """Return how many cases there are, how many break a bound (none may), and how far the bounds settle the value."""
    return {
        "cases": len(every),
        "above_the_classical_bound": sum(
            one.ratio is None or one.ratio > classical(one.capacity, one.smaller, one.optimum) for one in every
        ),
        "above_the_bound_of_the_widths": sum(one.ratio is None or one.ratio > one.widths for one in every),
        "limit_below_the_adversary": sum(one.limit < one.adversary for one in every),
        "limit_below_the_round_trips": sum(one.limit < one.round_trips for one in every),
        "widths_below_the_classical_bound": sum(
            one.widths < classical(one.capacity, one.smaller, one.optimum) for one in every
        ),
        "limit_below_1": sum(one.limit < 1 for one in every),
        "finite_sequences_exceed_the_limit": sum(one.ratio is None or one.ratio > one.limit for one in every),
        "limit_above_the_adversary": sum(1 <= one.limit > one.adversary for one in every),
        "limit_of_1_or_more_not_reached": sum(1 <= one.limit > one.reached for one in every),
        "bounds_meet": sum(one.reached == one.widths for one in every),
    }


def shown(one: Found) -> dict[str, Any]:
    """Return a case for a reader, with the cycle on which LRU keeps up the limit."""
    prefix, cycle, rounds = beside(one.trie, one.capacity, one.smaller, one.optimum).replay(*one.cycle[:2])
    return {
        "strings": names(one.trie.strings),
        "capacity": one.capacity,
        "smaller_capacity": one.smaller,
        "optimum": one.optimum.value,
        "adversary": str(one.adversary),
        "limit": str(one.limit),
        "widths": str(one.widths),
        "prefix": names(prefix),
        "cycle": names(cycle),
        "lru_misses": one.cycle.misses * rounds,
        "optimum_misses": one.cycle.optimum_misses * rounds,
    }


def augmentation(say: Say) -> Claim:
    """LRU against a smaller optimum on every small forest, and two tries of equal widths and different limits."""
    say("augmentation: a smaller optimum on every small forest")
    every = list(found(NODES))
    measured: dict[str, Any] = {
        optimum.value: sweep([one for one in every if one.optimum is optimum]) for optimum in Optimum
    }
    examples = {name: one_case(Trie(strings), 3, 2, Optimum.BYPASS) for name, strings in EXAMPLES.items()}
    measured["examples"] = {name: str(one.limit) for name, one in examples.items()}
    trie = Trie(EXAMPLES["two_pairs"])
    measured["two_pairs_beside_one_block"] = {
        score.__name__: str(policy_limit(score, trie, 3, 1)) for score in (lru, deepest_first)
    }
    none = dict.fromkeys(list(measured[Optimum.BYPASS.value])[1:5], 0)
    expected = {optimum.value: none for optimum in Optimum}
    between = [shown(one) for one in every if one.adversary < one.limit < one.widths and one.limit > 1]
    witnesses = {"examples": {name: shown(one) for name, one in examples.items()}, "strictly_between": between}
    return claim({"nodes": NODES}, measured, expected=expected, witnesses=witnesses)
