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
from src.engines.engine import Engine, Served
from src.engines.sglang import LRU, Behaviour, SGLang
from src.engines.store import Store
from src.engines.vllm import VLLM
from src.radixcache import LastAccess, Path, Rule, String, Trie, as_set, lru_access, names
from src.walks.exhaustive import Machine, Tally, distribution, shortest_sequence
from src.walks.lru_machine import lru_step, ranks

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


class Beside(NamedTuple):
    """What an engine did beside leaf-only LRU: the tally of one request, and by addition of a sequence.

    `extra` are its misses beyond those of leaf-only LRU (negative: fewer); `unequal` counts requests with more or fewer
    misses, `other` requests with other victims.
    """

    extra: int
    unequal: int
    other: int
    interior: int


def interior_evictions(trie: Trie, held: set[int], served: Served) -> int:
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


def beside_lru(trie: Trie, capacity: int, kind: Kind, rule: Rule = Rule.LEAF_ONLY) -> Machine:
    """Return an engine with leaf-only LRU, or LRU under another rule, beside it; the tallies are Besides.

    States are canonical.  For each of the engine's one engine is kept that is in it, and copied to be served.
    """
    cold = kind.make(capacity)
    known: dict[Hashable, Engine] = {kind.state(cold): cold}
    lru = cache(lambda state, string: lru_step(trie, capacity, state, string, rule))

    @cache
    def serve(state: Hashable, path: Path) -> tuple[Hashable, Served, int]:
        engine = copy.deepcopy(known[state])
        held = engine.cached()
        served = engine.serve(path)
        engine.release(path)
        after = kind.state(engine)
        known.setdefault(after, engine)
        return after, served, interior_evictions(trie, held, served)

    def step(states: tuple[LastAccess, Hashable], string: String) -> tuple[tuple[LastAccess, Hashable], Tally]:
        path = trie.path(string)
        times, plain = lru(states[0], string)
        after, served, interior = serve(states[1], path)
        extra = len(path) - served.hits - plain.misses
        other = list(served.victims) != victims(plain)
        return (times, after), Beside(extra, int(extra != 0), int(other), interior)

    return Machine(((0,) * len(trie), kind.state(cold)), trie.strings, len(Beside._fields), step)


class Row(NamedTuple):
    """An engine's row: instances; those with more and with fewer misses, with as many at each request, and with the
    same decisions; interior evictions over all instances, and the instances that have one."""

    instances: int
    more_misses: int
    fewer_misses: int
    same_misses: int
    same_decisions: int
    interior_evictions: int
    instances_with_interior_evictions: int


def beside(trie: Trie, kind: Kind, length: int = ONLINE_LENGTH, rule: Rule = Rule.LEAF_ONLY) -> Row:
    """Return an engine's row over all sequences of exactly `length` requests and both capacities."""
    row = Row(*[0] * len(Row._fields))
    for capacity in CAPACITIES:
        for tally, count in distribution(beside_lru(trie, capacity, kind, rule), length).items():
            one = Beside(*tally)
            alike = one.unequal == 0, one.other == 0
            seen = Row(1, one.extra > 0, one.extra < 0, *alike, one.interior, one.interior > 0)
            row = Row(*(known + count * more for known, more in zip(row, seen)))
    return row


def smallest(trie: Trie, kind: Kind, holds: Callable[[Beside], bool]) -> dict[str, Any] | None:
    """Return a smallest sequence of which something holds, replayed: the smallest capacity first, then the shortest."""
    for capacity in CAPACITIES:
        machine = beside_lru(trie, capacity, kind)
        sequence = shortest_sequence(machine, WITNESS_LENGTH, lambda tally: holds(Beside(*tally)))
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


TELL_APART: dict[str, Callable[[Beside], bool]] = {
    "other_decisions": lambda one: one.other > 0,
    "more_misses": lambda one: one.extra > 0,
    "fewer_misses": lambda one: one.extra < 0,
    "interior_eviction": lambda one: one.interior > 0,
}


def engines(trie: Trie) -> Claim:
    """Every engine's row, and smallest sequences that tell SGLang and the store from the model.

    Three theorems are checked: vLLM is the model, SGLang without its two behaviours is, and the store misses what
    unconstrained LRU misses that takes the shallower one of equally old blocks.  See `results/PROOFS.md`.
    """
    measured: dict[str, Any] = {name: beside(trie, kind)._asdict() for name, kind in KINDS.items()}
    shallow = beside(trie, KINDS["store"], rule=Rule.SHALLOW)
    measured["store_beside_shallow_lru"] = {"instances": shallow.instances, "same_misses": shallow.same_misses}
    witnesses: dict[str, Any] = {}
    for name in ("sglang", "store"):
        found = {what: smallest(trie, KINDS[name], holds) for what, holds in TELL_APART.items()}
        witnesses[name] = {what: one for what, one in found.items() if one}
    every = shallow.instances
    model = {"more_misses": 0, "fewer_misses": 0, "same_decisions": every, "interior_evictions": 0}
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
