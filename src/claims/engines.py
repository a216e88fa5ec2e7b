"""The engines over the study's instances: does the model, leaf-only LRU, speak for SGLang, vLLM and a flat store?

Each engine under LRU runs beside leaf-only LRU over all sequences.  Only the request in service is locked.  A decision
is which blocks a request evicts, and in which order; of a chain that goes as a whole the last block first.
An eviction is interior if the victim still had a cached child.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence
from functools import cache
from typing import Any, Callable, NamedTuple

from src.claims.claim import Claim, claim
from src.claims.online import CAPACITIES, ONLINE_LENGTH, online_parameters, victims
from src.engines.engine import Engine, EngineServed
from src.engines.sglang import LRU, Behaviour, SGLang
from src.engines.store import Store
from src.engines.vllm import VLLM
from src.radixcache import LastAccess, Optimum, Rule, String, Trie, as_set, lru_access, names
from src.walks.beside_optimum import lru_beside_optimum
from src.walks.every_length import explore, supremum
from src.walks.exhaustive import Machine, Tally, distribution, shortest_sequence, side_by_side
from src.walks.lru_machine import lru_step, ranks
from src.walks.work_function import optimum_machine

WITNESS_LENGTH = 6


class Kind(NamedTuple):
    """How an engine is made for a capacity, and all of its state that its future depends on under LRU."""

    make: Callable[[int], Any]
    state: Callable[[Any], Hashable]


def nodes_in_order(engine: SGLang) -> Hashable:
    """Return the tree, with last accesses replaced by their ranks: nothing else decides under LRU."""
    nodes = sorted(engine.nodes(), key=lambda node: node.blocks)
    return tuple(zip((node.blocks for node in nodes), ranks(node.last_access for node in nodes)))


KINDS: dict[str, Kind] = {
    "sglang": Kind(SGLang, nodes_in_order),
    "sglang_without_whole_nodes": Kind(lambda k: SGLang(k, LRU, Behaviour(whole_nodes=False)), nodes_in_order),
    "sglang_without_refreshed_rest": Kind(lambda k: SGLang(k, LRU, Behaviour(refresh_rest=False)), nodes_in_order),
    "sglang_without_both": Kind(lambda k: SGLang(k, LRU, Behaviour(False, False)), nodes_in_order),
    "vllm": Kind(VLLM, lambda engine: tuple(engine.free)),
    "store": Kind(Store, lambda engine: tuple(engine.order)),
}


class EngineTally(NamedTuple):
    """What an engine did beside leaf-only LRU: the tally of one request, and by addition of a sequence.

    `extra` are its misses beyond those of leaf-only LRU (negative: fewer); `unequal` counts requests with more or fewer
    misses, `other` requests with other victims.
    """

    extra: int
    unequal: int
    other: int
    interior: int


def interior_evictions(trie: Trie, held: set[int], served: EngineServed) -> int:
    """Return how many victims of a request had a child that was still held, `held` being what was before.

    A child that the request itself brings in is not asked for: its parent is on the same path and was asked for
    before it, so no engine evicts it as long as the path fits.
    """
    held = set(held)
    interior = 0
    for victim in served.victims:
        held.discard(victim)
        interior += any(trie.parent[block] == victim for block in held)
    return interior


class Steps:
    """An engine's steps between canonical states.  For each state one engine is kept that is in it, and copied to be
    served."""

    def __init__(self, trie: Trie, capacity: int, kind: Kind) -> None:
        self.trie, self.kind = trie, kind
        cold = kind.make(capacity)
        self.start = kind.state(cold)
        self._known: dict[Hashable, Engine] = {self.start: cold}
        self.serve = cache(self._serve)

    def _serve(self, state: Hashable, string: String) -> tuple[Hashable, EngineServed, int]:
        """Return the state after a request, what the request did, and its interior evictions."""
        engine = copy.deepcopy(self._known[state])
        held = engine.cached()
        path = self.trie.path(string)
        served = engine.serve(path)
        engine.release(path)
        after = self.kind.state(engine)
        self._known.setdefault(after, engine)
        return after, served, interior_evictions(self.trie, held, served)


def beside_lru(trie: Trie, capacity: int, kind: Kind, rule: Rule = Rule.LEAF_ONLY) -> Machine:
    """Return an engine with leaf-only LRU, or LRU under another rule, beside it; the tallies are EngineTallies."""
    steps = Steps(trie, capacity, kind)
    lru = cache(lambda state, string: lru_step(trie, capacity, state, string, rule))

    def step(states: tuple[LastAccess, Hashable], string: String) -> tuple[tuple[LastAccess, Hashable], Tally]:
        """Serve a request by both; the tally is an EngineTally."""
        times, plain = lru(states[0], string)
        after, served, interior = steps.serve(states[1], string)
        extra = len(string) - served.hits - plain.misses
        other = list(served.victims) != victims(plain)
        return (times, after), EngineTally(extra, int(extra != 0), int(other), interior)

    return Machine(((0,) * len(trie), steps.start), trie.strings, len(EngineTally._fields), step)


def beside_optimum(trie: Trie, capacity: int, kind: Kind, optimum: Optimum) -> Machine:
    """Return an engine with the optimum beside it; the tallies are (misses, least misses)."""
    steps = Steps(trie, capacity, kind)

    def step(state: Hashable, string: String) -> tuple[Hashable, Tally]:
        """Serve a request; the tally is (misses,), in blocks."""
        after, served, _ = steps.serve(state, string)
        return after, (len(string) - served.hits,)

    engine = Machine(steps.start, trie.strings, 1, step)
    return side_by_side(engine, optimum_machine(trie, capacity, optimum))


class EngineRow(NamedTuple):
    """An engine's row: instances; those with more and with fewer misses, with as many at each request, and with the
    same decisions; interior evictions over all instances, and the instances that have one."""

    instances: int
    more_misses: int
    fewer_misses: int
    same_misses: int
    same_decisions: int
    interior_evictions: int
    instances_with_interior_evictions: int


def beside(trie: Trie, kind: Kind, length: int = ONLINE_LENGTH, rule: Rule = Rule.LEAF_ONLY) -> EngineRow:
    """Return an engine's row over all sequences of exactly `length` requests and both capacities."""
    row = EngineRow(*[0] * len(EngineRow._fields))
    for capacity in CAPACITIES:
        for tally, count in distribution(beside_lru(trie, capacity, kind, rule), length).items():
            one = EngineTally(*tally)
            alike = one.unequal == 0, one.other == 0
            seen = EngineRow(1, one.extra > 0, one.extra < 0, *alike, one.interior, one.interior > 0)
            row = EngineRow(*(known + count * more for known, more in zip(row, seen)))
    return row


def smallest(trie: Trie, kind: Kind, holds: Callable[[EngineTally], bool]) -> dict[str, Any] | None:
    """Return a smallest sequence of which something holds, replayed: the smallest capacity first, then the shortest."""
    for capacity in CAPACITIES:
        machine = beside_lru(trie, capacity, kind)
        sequence = shortest_sequence(machine, WITNESS_LENGTH, lambda tally: holds(EngineTally(*tally)))
        if sequence is not None:
            return replayed(trie, capacity, kind, sequence)
    return None


def replayed(trie: Trie, capacity: int, kind: Kind, sequence: Sequence[String]) -> dict[str, Any]:
    """Return what the model and the engine do on a sequence, step by step, from a cold start."""
    engine, times = kind.make(capacity), (0,) * len(trie)
    misses = {"block": 0, "engine": 0}
    schedule = []
    for string in sequence:
        path = trie.path(string)
        times, plain = lru_access(trie, capacity, times, string, Rule.LEAF_ONLY)
        served = engine.serve(path)
        engine.release(path)
        shown = {
            "block": shown_step(trie, plain.misses, victims(plain), plain.cached),
            "engine": shown_step(trie, len(path) - served.hits, served.victims, as_set(engine.cached())),
        }
        for name, step in shown.items():
            misses[name] += step["misses"]
        schedule.append({"request": names([string])[0], **shown})
    return {"capacity": capacity, "sequence": names(sequence), "misses": misses, "schedule": schedule}


def shown_step(trie: Trie, misses: int, evicted: Sequence[int], cached: int) -> dict[str, Any]:
    """Return a step of a schedule."""
    return {"misses": misses, "evicted": list(map(trie.label, evicted)), "cached": trie.labels(cached)}


TELL_APART: dict[str, Callable[[EngineTally], bool]] = {
    "other_decisions": lambda one: one.other > 0,
    "more_misses": lambda one: one.extra > 0,
    "fewer_misses": lambda one: one.extra < 0,
    "interior_eviction": lambda one: one.interior > 0,
}


class WorstCycle(NamedTuple):
    """An engine's worst ratio to the optimum over all lengths, and requests that approach it: a prefix, then a cycle
    over and over, of which one round costs so many misses."""

    ratio: str
    prefix: list[str]
    cycle: list[str]
    misses: int
    optimum_misses: int


def worst(trie: Trie, capacity: int, kind: Kind, optimum: Optimum) -> WorstCycle:
    """Return an engine's worst ratio.  Its states under LRU are finitely many, so the graph closes."""
    found = supremum(explore(beside_optimum(trie, capacity, kind, optimum)))
    ratio = "unbounded" if found.ratio is None else str(found.ratio)
    shown = found.witness
    return WorstCycle(ratio, names(shown.prefix), names(shown.cycle), shown.misses, shown.optimum_misses)


def engines(trie: Trie) -> Claim:
    """Every engine's row and worst ratios, and smallest sequences that tell SGLang and the store from the model.

    Three theorems are checked: vLLM is the model, SGLang without its two behaviours is, and the store misses what
    unconstrained LRU misses that takes the shallower one of equally old blocks.  See `results/PROOFS.md`.
    """
    measured: dict[str, Any] = {}
    cycles: dict[str, Any] = {}
    for name, kind in KINDS.items():
        ratios = {
            optimum.value: {str(capacity): worst(trie, capacity, kind, optimum) for capacity in CAPACITIES}
            for optimum in Optimum
        }
        measured[name] = {**beside(trie, kind)._asdict(), "worst_ratio": only_ratios(ratios)}
        cycles[name] = {key: {at: one._asdict() for at, one in each.items()} for key, each in ratios.items()}
    shallow = beside(trie, KINDS["store"], rule=Rule.SHALLOW)
    measured["store_beside_shallow_lru"] = {"instances": shallow.instances, "same_misses": shallow.same_misses}
    witnesses: dict[str, Any] = {}
    for name in ("sglang", "store"):
        found = {what: smallest(trie, KINDS[name], holds) for what, holds in TELL_APART.items()}
        witnesses[name] = {"worst_ratio": cycles[name], **{what: one for what, one in found.items() if one}}
    lru = {
        optimum.value: {
            str(capacity): str(supremum(explore(lru_beside_optimum(trie, capacity, optimum))).ratio)
            for capacity in CAPACITIES
        }
        for optimum in Optimum
    }
    every = shallow.instances
    model = {"more_misses": 0, "fewer_misses": 0, "same_decisions": every, "interior_evictions": 0, "worst_ratio": lru}
    return claim(
        {**online_parameters(trie), "witness_length": WITNESS_LENGTH},
        measured,
        expected={
            "sglang": {"interior_evictions": 0},
            "sglang_without_both": model,
            "vllm": model,
            "store_beside_shallow_lru": {"same_misses": every},
        },
        witnesses=witnesses,
    )


def only_ratios(ratios: dict[str, dict[str, WorstCycle]]) -> dict[str, dict[str, str]]:
    """Return the ratios without their witnesses."""
    return {key: {capacity: one.ratio for capacity, one in each.items()} for key, each in ratios.items()}
