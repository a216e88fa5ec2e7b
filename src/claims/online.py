"""Unconstrained LRU beside leaf-only LRU on every sequence: the study's online claims, and the order of the stamps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Callable, NamedTuple

from src.claims.claim import Claim, claim
from src.radixcache import LastAccess, Recency, Rule, Step, String, Trie, as_set
from src.walks.exhaustive import Machine, Tally, distribution
from src.walks.lru_machine import lru_step

CAPACITIES = (2, 3)
ONLINE_LENGTH = 6


class Manager(NamedTuple):
    """An LRU cache: its rule, what a request stamps, and whether the path in service is locked."""

    rule: Rule
    recency: Recency = Recency.PATH
    locked: bool = False


class Beside(NamedTuple):
    """What an LRU cache did beside another one: the tally of one request, and by addition that of a sequence.

    `extra`: its misses beyond those of the other one (negative: fewer).  `interior`: its interior evictions; `strict`:
    the strict ones among them; `in_service`: its evictions that took a block of the path in service.  `other`: requests
    whose victims differ.
    """

    extra: int
    interior: int
    strict: int
    in_service: int
    other: int


WIDTH = len(Beside._fields)


def comparison_machine(trie: Trie, capacity: int, managers: Sequence[Manager]) -> Machine:
    """Return LRU caches side by side; a tally is, for each one after the first, a Beside to the first, in a row."""

    @cache
    def serve(state: LastAccess, string: String, manager: Manager) -> tuple[LastAccess, Step]:
        """Serve a request by one manager; equal states are served once."""
        return lru_step(trie, capacity, state, string, *manager)

    def step(states: tuple[LastAccess, ...], string: String) -> tuple[tuple[LastAccess, ...], Tally]:
        """Serve a request by all managers."""
        after, (first, *others) = zip(*(serve(state, string, one) for state, one in zip(states, managers)))
        path = as_set(trie.path(string))
        return after, tuple(number for other in others for number in beside(first, other, path))

    cold = ((0,) * len(trie),) * len(managers)
    return Machine(cold, trie.strings, WIDTH * (len(managers) - 1), step)


def beside(first: Step, other: Step, path: int) -> Beside:
    """Return what a cache did at a request for a path, beside what the first one did."""
    interior = [eviction for eviction in other.evictions if eviction.interior]
    return Beside(
        other.misses - first.misses,
        len(interior),
        sum(eviction.strict for eviction in interior),
        sum(eviction.removed & path != 0 for eviction in other.evictions),
        victims(first) != victims(other),
    )


def victims(step: Step) -> list[int]:
    """Return a step's victims in the order in which they went."""
    return [eviction.victim for eviction in step.evictions]


class Counted(NamedTuple):
    """How many instances (a sequence with a capacity) have each tally of a comparison, in which `at` names a cache."""

    tallies: dict[tuple[Beside, ...], int]
    at: int = 0

    def instances(self, which: Callable[[Beside], bool] = lambda _: True) -> int:
        """Return how many instances satisfy a condition."""
        return sum(count for tally, count in self.tallies.items() if which(tally[self.at]))

    def total(self, number: Callable[[Beside], int]) -> int:
        """Return the sum of a number over all instances."""
        return sum(number(tally[self.at]) * count for tally, count in self.tallies.items())


def compare(trie: Trie, managers: Sequence[Manager], length: int = ONLINE_LENGTH) -> list[Counted]:
    """Return what each cache after the first did beside the first, over both capacities and all sequences."""
    tallies: dict[tuple[Beside, ...], int] = {}
    for capacity in CAPACITIES:
        for tally, count in distribution(comparison_machine(trie, capacity, managers), length).items():
            parts = tuple(Beside(*tally[at : at + WIDTH]) for at in range(0, len(tally), WIDTH))
            tallies[parts] = tallies.get(parts, 0) + count
    return [Counted(tallies, at) for at in range(len(managers) - 1)]


def study_managers(recency: Recency = Recency.PATH, locked: bool = False) -> tuple[Manager, ...]:
    """Return leaf-only LRU, then unconstrained LRU with ties to the shallower and to the deeper block."""
    return tuple(Manager(rule, recency, locked) for rule in (Rule.LEAF_ONLY, Rule.SHALLOW, Rule.DEEP))


def online_parameters(trie: Trie) -> dict[str, Any]:
    """Return the parameters of the claims about online LRU."""
    return {"strings": list(trie.strings), "capacities": list(CAPACITIES), "length": ONLINE_LENGTH}


def online(trie: Trie, shallow: Counted, deep: Counted) -> Claim:
    """Unconstrained LRU with ties to the deeper block against leaf-only LRU: decisions and misses."""
    measured = {
        "instances": deep.instances(),
        "strict_interior_evictions": shallow.total(lambda one: one.strict) + deep.total(lambda one: one.strict),
        "other_decisions": deep.instances(lambda one: one.other > 0),
        "worse": deep.instances(lambda one: one.extra > 0),
        "better": deep.instances(lambda one: one.extra < 0),
    }
    published = {"instances": 93312, "strict_interior_evictions": 0, "other_decisions": 0, "worse": 0, "better": 0}
    return claim(online_parameters(trie), measured, published)


def tie_audit(trie: Trie, shallow: Counted) -> Claim:
    """Unconstrained LRU with ties to the shallower block: where it loses, and whether anything but ties is to blame."""
    interior = shallow.total(lambda one: one.interior)
    strict = shallow.total(lambda one: one.strict)
    measured = {
        "loses": shallow.instances(lambda one: one.extra > 0),
        "wins": shallow.instances(lambda one: one.extra < 0),
        "loses_by_ties_alone": shallow.instances(lambda one: one.extra > 0 and one.interior > 0 and not one.strict),
        "interior_evictions": interior,
        "tied_interior_evictions": interior - strict,
        "strict_interior_evictions": strict,
    }
    published = {"loses": 33060, "loses_by_ties_alone": 33060, "strict_interior_evictions": 0}
    return claim(online_parameters(trie), measured, published)


TIE_BREAKS = {Recency.ROOT_FIRST: Rule.SHALLOW, Recency.LEAF_FIRST: Rule.DEEP}
"""For each order of stamps the tie-break, under the model's stamps, that makes the same decisions."""


def stamps(trie: Trie, tie_breaks: Mapping[Recency, Rule] = TIE_BREAKS) -> Claim:
    """A path stamped block by block: which of the study's tie-breaks each order is, and what it does unconstrained.

    The unconstrained cache with these stamps is given the other tie-break, of which it has no use: no stamps are equal.
    Leaf-only LRU needs no second look.  Its decisions are the same under every `Recency`: when a block becomes a leaf,
    then either its latest request was for the block itself, or what was requested lay below it and has just gone as the
    oldest leaf, so that the block is the oldest one now, whichever stamp it bears.
    """
    measured: dict[str, Any] = {}
    for recency, tie_break in tie_breaks.items():
        unused = Rule.DEEP if tie_break is Rule.SHALLOW else Rule.SHALLOW
        block_by_block = Manager(unused, recency)
        (by_leaf_only,) = compare(trie, (Manager(Rule.LEAF_ONLY), block_by_block))
        (by_tie_break,) = compare(trie, (Manager(tie_break), block_by_block))
        interior, strict = by_leaf_only.total(lambda one: one.interior), by_leaf_only.total(lambda one: one.strict)
        measured[recency.name.lower()] = {
            "instances": by_leaf_only.instances(),
            "interior_evictions": interior,
            "strict_interior_evictions": strict,
            "tied_interior_evictions": interior - strict,
            "unconstrained_worse": by_leaf_only.instances(lambda one: one.extra > 0),
            "unconstrained_better": by_leaf_only.instances(lambda one: one.extra < 0),
            "unconstrained_decides_otherwise": by_leaf_only.instances(lambda one: one.other > 0),
            "decides_otherwise_than_its_tie_break": by_tie_break.instances(lambda one: one.other > 0),
        }
    same = {"tied_interior_evictions": 0, "decides_otherwise_than_its_tie_break": 0}
    free = {"interior_evictions": 0, "unconstrained_decides_otherwise": 0}
    return claim(online_parameters(trie), measured, expected={"root_first": same, "leaf_first": {**same, **free}})
