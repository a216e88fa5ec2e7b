"""What whole nodes cost: LRU that evicts nodes beside LRU that evicts blocks, and the same question of the optimum."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any, Callable, NamedTuple

from src.claims.claim import Claim, claim
from src.claims.study import COMPETITIVE
from src.claims.theorems import bound, cases
from src.radixcache import Optimum, String, Trie, names
from src.walks.belady import belady
from src.walks.beside_optimum import lru_beside_optimum
from src.walks.every_length import EveryLength, every_length, explore, supremum
from src.walks.exhaustive import MOST_STATES, Machine, Tally, shortest_sequence, side_by_side, summed, worst_ratio
from src.walks.forests import forest_trie, forests
from src.walks.whole_node_optimum import whole_node_optimum_machine
from src.walks.whole_nodes import (
    cold,
    price_from_below,
    serve_whole_nodes,
    whole_node_machine,
    whole_nodes_beside_optimum,
)
from src.walks.work_function import optimum_machine

NODE_CAPACITIES = (2, 3, 4, 5)
NODE_FOREST_NODES = 5  # blocks of the largest forests on which LRU on whole nodes is settled for all lengths
NODE_OPTIMUM_NODES, NODE_OPTIMUM_LENGTH = 4, 6  # blocks of the largest forests, and requests, of the optimum's sweep
PRICED_CAPACITIES = (1, 2, 3, 4, 5)  # capacities at which the optimum's bounds are shown to be attained
ROUNDS = 3
SPINES = {"nine_trees": (9, 11), "ten_trees": (10, 9)}
Say = Callable[[str], None]


class FittingCase(NamedTuple):
    """A trie and a capacity below its size in which every path fits."""

    trie: Trie
    capacity: int


def fitting_cases(nodes: int) -> list[FittingCase]:
    """Return all forests with up to so many blocks, each with every capacity in which its paths fit."""
    tries = [forest_trie(forest) for count in range(1, nodes + 1) for forest in forests(count)]
    return [FittingCase(trie, capacity) for trie in tries for capacity in range(max(trie.depth), len(trie))]


def on_the_study(trie: Trie) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return both LRUs' exact ratios over all lengths on a trie, with witnesses for the one on whole nodes."""
    measured: dict[str, Any] = {optimum.value: {} for optimum in Optimum}
    witnesses: dict[str, Any] = {optimum.value: {} for optimum in Optimum}
    for optimum in Optimum:
        for capacity in NODE_CAPACITIES:
            one = every_length(whole_nodes_beside_optimum(trie, capacity, optimum), MOST_STATES)
            blocks = supremum(explore(lru_beside_optimum(trie, capacity, optimum)))
            measured[optimum.value][str(capacity)] = {"whole_nodes": one.ratio, "blocks": str(blocks.ratio)}
            witnesses[optimum.value][str(capacity)] = _witness(one)
    return measured, witnesses


def _witness(one: EveryLength) -> dict[str, Any]:
    return {
        "prefix": names(one.prefix),
        "cycle": names(one.cycle),
        "misses": one.misses,
        "optimum_misses": one.optimum_misses,
    }


def above_capacity(trie: Trie) -> dict[str, Any]:
    """Return, for each capacity of the study, a shortest sequence within its bound whose ratio exceeds K, if any."""
    found: dict[str, Any] = {}
    for capacity, length in COMPETITIVE.items():
        machine = whole_nodes_beside_optimum(trie, capacity, Optimum.BYPASS, merge=False)
        exceeds = shortest_sequence(machine, length, partial(_above, capacity))
        if exceeds is None:
            found[str(capacity)] = None
            continue
        misses, least = summed(machine.run(exceeds), 2)
        found[str(capacity)] = {
            "sequence": names(exceeds),
            "misses": misses,
            "optimum_misses": least,
            "ratio": str(Fraction(misses, least)),
        }
    return found


def _above(capacity: int, tally: Tally) -> bool:
    return tally[0] > capacity * tally[1]


def forest_sweep(nodes: int) -> dict[str, int]:
    """Return in how many cases the ratio over all lengths exceeds the star's, or is not the private chains' price."""
    checked = above = other = dearer = 0
    for trie, capacity, optima in cases(nodes):
        policy = whole_node_machine(trie, capacity)
        for optimum in optima:
            graph = explore(whole_nodes_beside_optimum(trie, capacity, optimum, policy=policy))
            ratio = supremum(graph).ratio
            checked += 1
            above += ratio is None or ratio > bound(capacity, optimum)
            other += ratio != price_from_below(trie, capacity, optimum)
            dearer += ratio != supremum(explore(lru_beside_optimum(trie, capacity, optimum))).ratio
    return {
        "cases": checked,
        "cases_above_the_stars_bound": above,
        "cases_with_another_ratio_than_the_private_chains": other,
        "cases_dearer_than_blocks": dearer,
    }


def spines(trees: int, spine: int) -> tuple[Trie, list[String]]:
    """Return the trie of so many trees, each a chain of `spine` blocks with two leaves, and its leaves' strings."""
    leaves: list[String] = [
        (tree,) + (0,) * (spine - 1) + (end,) for tree in range(trees) for end in (0, 1)
    ]
    return Trie(leaves), leaves


def beyond_private_chains(trees: int, spine: int) -> dict[str, Any]:
    """Return one round of all leaves in order, on trees with three blocks more than the cache: what it costs.

    The second leaf of a tree takes the last block that is free, and frees the next tree's whole spine for it.
    """
    trie, leaves = spines(trees, spine)
    capacity = len(trie) - 3
    state = cold(trie)
    misses = []
    for string in leaves * ROUNDS:
        state, missed, _ = serve_whole_nodes(trie, capacity, state, string)
        misses.append(missed)
    least = [step.misses for step in belady(trie, capacity, leaves * ROUNDS, Optimum.BYPASS).steps]
    last = -len(leaves)
    return {
        "trees": trees,
        "spine": spine,
        "capacity": capacity,
        "misses_of_a_round": sum(misses[last:]),
        "optimum_misses_of_a_round": sum(least[last:]),
        "ratio": str(Fraction(sum(misses[last:]), sum(least[last:]))),
        "private_chains": str(price_from_below(trie, capacity, Optimum.BYPASS)),
    }


def optimum_sweep(nodes: int, length: int) -> dict[str, int]:
    """Return in how many cases the optimum on whole nodes exceeds its bound, over all sequences up to a length."""
    checked = above = dearer = 0
    for trie, capacity in fitting_cases(nodes):
        for optimum in Optimum:
            worst = worst_ratio(beside_block_optimum(trie, capacity, optimum), length)
            checked += 1
            above += worst.ratio > optimum_bound(capacity, optimum)
            dearer += worst.ratio > 1
    return {"cases": checked, "cases_above_the_bound": above, "cases_dearer_than_blocks": dearer}


def optimum_bound(capacity: int, optimum: Optimum) -> Fraction:
    """Return the theorem's bound on the optimum on whole nodes beside that on blocks: (K + 1)/2 locked, else K."""
    return Fraction(capacity + 1, 2) if optimum is Optimum.LOCKED else Fraction(capacity)


def beside_block_optimum(trie: Trie, capacity: int, optimum: Optimum) -> Machine:
    """Return the optimum on whole nodes beside the one on blocks; its tallies are (misses, misses)."""
    return side_by_side(
        whole_node_optimum_machine(trie, capacity, optimum), optimum_machine(trie, capacity, optimum)
    )


def dearest_round(capacity: int, optimum: Optimum) -> list[str]:
    """Return the round of requests whose repetition attains the bound.

    Locked, two chains of K + 1 blocks in all, in turn.  Bypassing, a root K times and then a chain of K blocks.
    """
    other = 1 if optimum is Optimum.BYPASS else capacity - capacity // 2
    return ["r" * other] * (capacity if optimum is Optimum.BYPASS else 1) + ["c" * (capacity + 1 - other)]


def attained(capacity: int, optimum: Optimum) -> str:
    """Return the ratio of one round, all rounds after the first costing the same."""
    around = dearest_round(capacity, optimum)
    tallies = beside_block_optimum(Trie(around), capacity, optimum).run(around * ROUNDS)
    rounds = [summed(tallies[at : at + len(around)], 2) for at in range(len(around), len(tallies), len(around))]
    return str(Fraction(*rounds[0])) if len(set(rounds)) == 1 else "not periodic"


def whole_nodes(trie: Trie, say: Say) -> Claim:
    """LRU and the optimum on whole nodes: on the study's trie, on every small forest, and where the bounds are met."""
    say("whole nodes: every length on the study's trie")
    study, witnesses = on_the_study(trie)
    say("whole nodes: the study's bound")
    exceeding = above_capacity(trie)
    say("whole nodes: every small forest")
    forests_found = forest_sweep(NODE_FOREST_NODES)
    beyond = {name: beyond_private_chains(*shape) for name, shape in SPINES.items()}
    say("whole nodes: the optimum")
    measured = {
        "study": study,
        "above_capacity": {k: one and one["ratio"] for k, one in exceeding.items()},
        "forests": forests_found,
        "beyond_private_chains": beyond,
        "optimum": optimum_sweep(NODE_OPTIMUM_NODES, NODE_OPTIMUM_LENGTH),
        "optimum_attains": {
            optimum.value: {str(k): attained(k, optimum) for k in PRICED_CAPACITIES} for optimum in Optimum
        },
    }
    expected = {
        "forests": {"cases_above_the_stars_bound": 0},
        "beyond_private_chains": {
            name: {"ratio": str(Fraction(trees * (spine + 2), 3))} for name, (trees, spine) in SPINES.items()
        },
        "optimum": {"cases_above_the_bound": 0},
        "optimum_attains": {
            optimum.value: {str(k): str(optimum_bound(k, optimum)) for k in PRICED_CAPACITIES} for optimum in Optimum
        },
    }
    parameters = {
        "strings": list(trie.strings),
        "capacities": list(NODE_CAPACITIES),
        "forest_nodes": NODE_FOREST_NODES,
        "optimum_nodes": NODE_OPTIMUM_NODES,
        "optimum_length": NODE_OPTIMUM_LENGTH,
    }
    return claim(parameters, measured, expected=expected, witnesses={**witnesses, "above_capacity": exceeding})
