"""What the study left open: ratios for sequences of every length, and the theorems checked on every small trie."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Callable, NamedTuple

from src.adversary import names
from src.claim import Claim, claim
from src.everylength import EveryLength, bounded_by, every_length, explore
from src.exhaustive import MOST_STATES, Machine, Tally, distribution, ratios_by_length, shortest_sequence
from src.forests import forest_trie, forests, star
from src.machines import lru_machine
from src.policies import REGISTRY, Score, make_policy
from src.policymachine import PolicyMachines, with_policy
from src.priced import Priced, priced_lru, priced_policy
from src.radixcache import AnySetBelady, LeafOnlyBelady, Optimum, Trie
from src.study import CAPACITIES, COMPETITIVE, ONLINE_LENGTH, Comparison, comparison_machine

EVERY_LENGTH_CAPACITIES = (2, 3, 4, 5)
LONG = 30  # requests: a length at which nothing could be enumerated
FIGURE_LENGTH = 16  # requests: how far the drawing of ratios by length goes
SATURATE = 1  # where hits alone are the score, they are counted up to this: see PolicyMachines
FOREST_NODES, FIFO_NODES = 6, 5  # blocks of the largest forests on which LRU, and fifo, are checked
OFFLINE_NODES, OFFLINE_LENGTH = 4, 4  # blocks of the largest forests, and requests, of the offline check
Say = Callable[[str], None]


class Settled(NamedTuple):
    """An EveryLength of a policy with the requests of its witness as they are really made.

    `misses` and `optimum_misses` are those of one round of the real cycle (of the prefix where there is no cycle).
    """

    result: EveryLength
    prefix: list[Any]
    cycle: list[Any]
    misses: int
    optimum_misses: int
    closed: bool

    @property
    def ratio(self) -> str:
        """The ratio as text, "unbounded" where there is none."""
        return "unbounded" if self.result.ratio is None else str(self.result.ratio)


def settle(machine: Priced, most: int) -> Settled:
    """Return the supremum of the ratio over all lengths.  Raises Outgrown as `every_length` does."""
    graph = explore(machine, most)
    result = every_length(graph)
    prefix, cycle, rounds = machine.replay(result.witness.prefix, result.witness.cycle)
    misses, growth = result.witness.misses * rounds, result.witness.growth * rounds
    return Settled(result, prefix, cycle, misses, growth, graph.closed)


def settle_policy(
    trie: Trie,
    capacity: int,
    score: Score,
    optima: Sequence[Optimum],
    priorities: tuple[int, ...] = (0,),
    most: int = MOST_STATES,
) -> list[Settled]:
    """Return the supremum of a policy's ratio over all lengths against each of some optima.

    The path in service is locked.  Raises Outgrown as `every_length` does, and ValueError for a path that a
    locked optimum cannot hold.
    """

    def use(policy: PolicyMachines) -> list[Settled]:
        return [settle(priced_policy(policy, optimum), most) for optimum in optima]

    return with_policy(trie, capacity, score, use, priorities, SATURATE)


def request_names(requests: Sequence[Any], priorities: tuple[int, ...]) -> list[str]:
    """Return requests as text; with priorities as "string:priority"."""
    if len(priorities) == 1:
        return names(requests)
    return [f"{names([string])[0]}:{priority}" for string, priority in requests]


def every_length_claim(trie: Trie, say: Say) -> Claim:
    """The worst ratio of each policy over all lengths, and counts of the online comparison at lengths beyond reach."""
    measured: dict[str, Any] = {}
    witnesses: dict[str, Any] = {}
    for name in REGISTRY:
        say(f"every length: {name}")
        priorities = (0, 1) if name == "priority" else (0,)
        measured[name] = {optimum.value: {} for optimum in Optimum}
        witnesses[name] = {optimum.value: {} for optimum in Optimum}
        for capacity in EVERY_LENGTH_CAPACITIES:
            settled = settle_policy(trie, capacity, make_policy(name), tuple(Optimum), priorities)
            for optimum, one in zip(Optimum, settled):
                measured[name][optimum.value][str(capacity)] = {
                    "ratio": one.ratio,
                    "exceeds_every_cycle": one.result.exceeds,
                    "states": one.result.states,
                    "closed": one.closed,
                }
                witnesses[name][optimum.value][str(capacity)] = {
                    "prefix": request_names(one.prefix, priorities),
                    "cycle": request_names(one.cycle, priorities),
                    "policy_misses": one.misses,
                    "optimum_misses": one.optimum_misses,
                }
    say("every length: counts")
    measured["ratio_by_length"] = {
        str(capacity): [
            str(ratio) for ratio in ratios_by_length(priced_lru(trie, capacity, Optimum.BYPASS), FIGURE_LENGTH)
        ]
        for capacity in COMPETITIVE
    }
    measured["counts"] = {str(length): counts(trie, length) for length in (ONLINE_LENGTH, LONG)}
    measured["all_lengths"] = all_lengths(trie)
    parameters = {
        "strings": list(trie.strings),
        "capacities": list(EVERY_LENGTH_CAPACITIES),
        "priorities": [0, 1],
        "hits_saturate_at": SATURATE,
        "capacities_of_counts": list(CAPACITIES),
    }
    published = {"counts": {"6": {"instances": 93312, "shallow_loses": 33060}}}
    none = {"edges_with_a_strict_interior_eviction": 0, "edges_with_another_decision": 0}
    return claim(parameters, measured, published, {"all_lengths": none}, witnesses=witnesses)


def counts(trie: Trie, length: int) -> dict[str, int]:
    """Return what the online comparison counts over all sequences of a length, by merged states with multiplicities."""
    instances = loses = strict = other = 0
    for capacity in CAPACITIES:
        for (extra, strict_one, other_one), count in distribution(_watched(trie, capacity), length).items():
            instances += count
            loses += count * (extra > 0)
            strict += count * strict_one
            other += count * (other_one > 0)
    return {
        "instances": instances,
        "shallow_loses": loses,
        "strict_interior_evictions": strict,
        "other_decisions": other,
    }


def _watched(trie: Trie, capacity: int) -> Machine:
    """Return the comparison with what `counts` needs: extra misses of the shallow one, strict ones, other decisions."""
    comparison = comparison_machine(trie, capacity)

    def step(state: Any, request: Any) -> tuple[Any, Tally]:
        state, tally = comparison.step(state, request)
        one = Comparison(*tally)
        return state, (one.shallow_extra, one.shallow_strict + one.deep_strict, one.deep_other)

    return Machine(comparison.start, comparison.requests, 3, step)


def all_lengths(trie: Trie) -> dict[str, int]:
    """Return what the closed graph of the comparison shows: it has these states and edges, and no edge with either.

    So at no length does unconstrained LRU make a strict interior eviction, or the one with ties to the deeper block
    any decision other than leaf-only LRU's.
    """
    states = edges = strict = other = 0
    for capacity in CAPACITIES:
        comparison = _watched(trie, capacity)

        def step(state: Any, request: Any, comparison: Machine = comparison) -> tuple[Any, Tally]:
            state, tally = comparison.step(state, request)
            return state, tally[1:]

        graph = explore(Machine(comparison.start, comparison.requests, 2, step))
        states += graph.states
        edges += len(graph.edges)
        strict += sum(edge.misses > 0 for edge in graph.edges)
        other += sum(edge.growth > 0 for edge in graph.edges)
    return {
        "states": states,
        "edges": edges,
        "edges_with_a_strict_interior_eviction": strict,
        "edges_with_another_decision": other,
    }


# -- the theorems on every small trie ------------------------------------------------------------------------------


class Case(NamedTuple):
    """A trie with a capacity below its size, and the models of the optimum in which every path fits."""

    trie: Trie
    capacity: int
    optima: tuple[Optimum, ...]


def cases(nodes: int) -> Iterator[Case]:
    """Yield the cases of all forests with up to so many nodes, smaller forests first."""
    for count in range(1, nodes + 1):
        for forest in forests(count):
            trie = forest_trie(forest)
            for capacity in range(1, count):
                fits = max(trie.depth) <= capacity
                yield Case(trie, capacity, tuple(Optimum) if fits else (Optimum.BYPASS,))


def bound(capacity: int, optimum: Optimum) -> int:
    """Return the theorem's bound on leaf-only LRU's ratio: K against the locked optimum, K + 1 against the other."""
    return capacity + (optimum is Optimum.BYPASS)


def lru_sweep(nodes: int) -> dict[str, Any]:
    """Return how many cases exceed the theorem's bound on LRU, over all lengths, and the ratios of the stars.

    The star with K + 1 leaves attains the bound; so with no case above it, it has the largest ratio of all forests.
    """
    checked = above = 0
    for trie, capacity, optima in cases(nodes):
        policy = lru_machine(trie, capacity)
        for optimum in optima:
            graph = explore(priced_lru(trie, capacity, optimum, policy=policy))
            checked += 1
            above += not bounded_by(graph, Fraction(bound(capacity, optimum)))
    stars = {
        optimum.value: {
            str(capacity): str(every_length(explore(priced_lru(star(capacity + 1), capacity, optimum))).ratio)
            for capacity in range(1, nodes)
        }
        for optimum in Optimum
    }
    return {
        "forests": sum(len(forests(count)) for count in range(1, nodes + 1)),
        "cases": checked,
        "cases_above_the_bound": above,
        "ratio_of_the_star": stars,
    }


def fifo_sweep(nodes: int) -> dict[str, Any]:
    """Return, for each capacity, fifo's largest ratio over all forests, and how many cases exceed LRU's bound."""
    score = make_policy("fifo")
    largest: dict[str, dict[str, Fraction]] = {optimum.value: {} for optimum in Optimum}
    unbounded = checked = above = 0
    for trie, capacity, optima in cases(nodes):
        for optimum, one in zip(optima, settle_policy(trie, capacity, score, optima)):
            ratio = one.result.ratio
            checked += 1
            if ratio is None:
                unbounded += 1
                continue
            above += ratio > bound(capacity, optimum)
            rows = largest[optimum.value]
            rows[str(capacity)] = max(ratio, rows.get(str(capacity), ratio))
    return {
        "forests": sum(len(forests(count)) for count in range(1, nodes + 1)),
        "cases": checked,
        "unbounded_cases": unbounded,
        "cases_above_lrus_bound": above,
        "largest_ratio": {model: {k: str(ratio) for k, ratio in rows.items()} for model, rows in largest.items()},
    }


def offline_sweep(nodes: int, length: int) -> dict[str, int]:
    """Return in how many instances the leaf-only optimum differs from that of a cache that may hold any blocks."""
    instances = mismatches = 0
    for trie, capacity, optima in cases(nodes):
        for optimum in optima:
            leaf_only, any_set = LeafOnlyBelady(trie, capacity, optimum), AnySetBelady(trie, capacity, optimum)
            for sequence in itertools.product(trie.strings, repeat=length):
                instances += 1
                mismatches += leaf_only.misses(sequence) != any_set.misses(sequence)
    return {"instances": instances, "mismatches": mismatches}


def above_capacity() -> dict[str, Any]:
    """Return the shortest sequence of three one-block strings whose ratio exceeds K = 2, in the study's own model."""
    trie = Trie(("a", "b", "c"))
    machine = priced_lru(trie, 2, Optimum.BYPASS, merge=False)
    sequence = shortest_sequence(machine, 16, lambda tally: tally[0] > 2 * tally[1])
    tallies = machine.run(sequence or ())
    misses, best = (sum(column) for column in zip(*tallies))
    return {
        "strings": list(trie.strings),
        "capacity": 2,
        "sequence": names(sequence or ()),
        "lru_misses": misses,
        "optimum_misses": best,
        "ratio": str(Fraction(misses, best)),
    }


def theorems(say: Say) -> Claim:
    """The theorems' statements, checked on every forest up to a size, and fifo in the same sweep."""
    say("theorems: LRU on every small forest")
    measured: dict[str, Any] = {"lru": lru_sweep(FOREST_NODES)}
    say("theorems: fifo on every small forest")
    measured["fifo"] = fifo_sweep(FIFO_NODES)
    say("theorems: the offline optimum on every small forest")
    measured["offline"] = offline_sweep(OFFLINE_NODES, OFFLINE_LENGTH)
    exceeding = above_capacity()
    measured["above_capacity"] = exceeding["ratio"]
    parameters = {
        "lru_nodes": FOREST_NODES,
        "fifo_nodes": FIFO_NODES,
        "offline_nodes": OFFLINE_NODES,
        "offline_length": OFFLINE_LENGTH,
    }
    expected = {
        "lru": {
            "cases_above_the_bound": 0,
            "ratio_of_the_star": {
                optimum.value: {str(k): str(bound(k, optimum)) for k in range(1, FOREST_NODES)} for optimum in Optimum
            },
        },
        "fifo": {"unbounded_cases": 0, "cases_above_lrus_bound": 0},
        "offline": {"mismatches": 0},
    }
    return claim(parameters, measured, expected=expected, witnesses={"above_capacity": exceeding})


def beyond(trie: Trie, say: Say) -> dict[str, Claim]:
    """Return the claims of this module in the order of the README."""
    return {"every_length": every_length_claim(trie, say), "theorems": theorems(say)}


