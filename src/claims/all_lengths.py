"""Ratios and counts for sequences of every length on the study's trie."""

from __future__ import annotations

from typing import Any, Callable

from src.claims.claim import Claim, claim
from src.claims.online import CAPACITIES, ONLINE_LENGTH, WIDTH, Beside, comparison_machine, study_managers
from src.claims.study import COMPETITIVE
from src.policies.scores import make_policy, sglang_policies
from src.radixcache import Optimum, Recency, Trie
from src.walks.beside_optimum import lru_beside_optimum
from src.walks.every_length import SATURATE, explore, policy_every_length, request_names
from src.walks.exhaustive import Machine, Tally, distribution, ratios_by_length

EVERY_LENGTH_CAPACITIES = (2, 3, 4, 5)
LONG = 30  # requests: a length at which nothing could be enumerated
FIGURE_LENGTH = 16  # requests: how far the drawing of ratios by length goes
Say = Callable[[str], None]


def every_length_claim(trie: Trie, say: Say) -> Claim:
    """The worst ratio of each policy over all lengths, and counts of the online comparison at lengths beyond reach."""
    measured: dict[str, Any] = {}
    witnesses: dict[str, Any] = {}
    for name in sglang_policies():
        say(f"every length: {name}")
        priorities = (0, 1) if name == "priority" else (0,)
        measured[name] = {optimum.value: {} for optimum in Optimum}
        witnesses[name] = {optimum.value: {} for optimum in Optimum}
        for capacity in EVERY_LENGTH_CAPACITIES:
            settled = policy_every_length(trie, capacity, make_policy(name), tuple(Optimum), priorities)
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
            str(ratio) for ratio in ratios_by_length(lru_beside_optimum(trie, capacity, Optimum.BYPASS), FIGURE_LENGTH)
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


def counts(trie: Trie, length: int, recency: Recency = Recency.PATH) -> dict[str, int]:
    """Return what the online comparison counts over all sequences of a length, by merged states with multiplicities."""
    instances = loses = strict = other = 0
    for capacity in CAPACITIES:
        for (extra, strict_one, other_one), count in distribution(_watched(trie, capacity, recency), length).items():
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


def _watched(trie: Trie, capacity: int, recency: Recency) -> Machine:
    """Return the comparison with what `counts` needs: extra misses of the shallow one, strict ones, other decisions."""
    comparison = comparison_machine(trie, capacity, study_managers(recency))

    def step(state: Any, request: Any) -> tuple[Any, Tally]:
        """Serve a request by all managers."""
        state, tally = comparison.step(state, request)
        shallow, deep = Beside(*tally[:WIDTH]), Beside(*tally[WIDTH:])
        return state, (shallow.extra, shallow.strict + deep.strict, deep.other)

    return Machine(comparison.start, comparison.requests, 3, step)


def all_lengths(trie: Trie, recency: Recency = Recency.PATH) -> dict[str, int]:
    """Return what the closed graph of the comparison shows: it has these states and edges, and no edge with either.

    So at no length does unconstrained LRU make a strict interior eviction, or the one with ties to the deeper block
    any decision other than leaf-only LRU's.
    """
    states = edges = strict = other = 0
    for capacity in CAPACITIES:
        comparison = _watched(trie, capacity, recency)

        def step(state: Any, request: Any, comparison: Machine = comparison) -> tuple[Any, Tally]:
            """Serve a request; of its tally the strict ones and the other decisions."""
            state, tally = comparison.step(state, request)
            return state, tally[1:]

        graph = explore(Machine(comparison.start, comparison.requests, 2, step))
        states += graph.states
        edges += len(graph.edges)
        strict += sum(edge.misses > 0 for edge in graph.edges)
        other += sum(edge.optimum_misses > 0 for edge in graph.edges)
    return {
        "states": states,
        "edges": edges,
        "edges_with_a_strict_interior_eviction": strict,
        "edges_with_another_decision": other,
    }
