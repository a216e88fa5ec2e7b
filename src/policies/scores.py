"""SGLang's eviction policies, each one a score of a cached block, and the registry of these and of others.

A policy is a function from the facts of a cached block to a sortable score.  The lowest score goes first; within a
tie the least recently used block goes, then the deeper one.  Nothing else knows the policies: to add one, write its
function and its line in `REGISTRY`.  The source is SGLang's page on radix cache eviction policies.

While no cached block's score exceeds its cached parent's, the leaf-only rule is free: unconstrained eviction with ties
to the deeper block never targets an interior block.  Proof: results/PROOFS.md, "Neutrality".

Which policies keep the order in this model.  A request that reaches a child reaches its parent, at the same time
and with the same priority, and a parent is cached whenever its child is, so it was created no later:
* lru       last access: the parent's is no earlier.                                                   kept
* lfu       hits: whatever hits the child hits the parent, and the parent's count started no later.    kept
* slru      hits >= threshold: monotone in the hits.                                                   kept
* priority  highest priority so far: the parent has seen every request that the child has.             kept
* filo      minus the creation time: the parent was created no later, so it scores no lower.           kept
* fifo      creation time: the parent was created no later, so it scores no higher.                    violated
* mru       minus the last access: the parent's is no earlier, so it scores no higher.                 violated
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Mapping
from typing import Any, Callable, NamedTuple

from src.policies import research
from src.policies.facts import Facts, PolicyError, Score, asks_for
from src.policies.user_file import load


def lru(block: Facts) -> int:
    """Least recently used first.  The default."""
    return block.last_access


def lfu(block: Facts) -> int:
    """Least frequently used first: fewest hits."""
    return block.hits


def slru(block: Facts, protected_threshold: int = 2) -> bool:
    """Segmented: everything probationary goes before anything protected, which was hit `protected_threshold` times.

    Here, as on SGLang's page, a hit is a later match.  SGLang's code counts creation too: its threshold of 3 is 2 here.
    """
    return block.hits >= protected_threshold


def priority(block: Facts) -> int:
    """Lowest request priority first."""
    return block.priority


def fifo(block: Facts) -> int:
    """First created, first evicted."""
    return block.created


def mru(block: Facts) -> int:
    """Most recently used first."""
    return -block.last_access


def filo(block: Facts) -> int:
    """First created, last evicted."""
    return -block.created


class Entry(NamedTuple):
    """A policy in the registry.

    `experimental`: not offered on SGLang's command line.  `research`: not SGLang's at all.
    """

    score: Callable[..., Any]
    experimental: bool = False
    research: bool = False


REGISTRY: dict[str, Entry] = {
    "lru": Entry(lru),
    "lfu": Entry(lfu),
    "slru": Entry(slru),
    "priority": Entry(priority),
    "fifo": Entry(fifo, experimental=True),
    "mru": Entry(mru, experimental=True),
    "filo": Entry(filo, experimental=True),
}
SGLANG = tuple(REGISTRY)  # and so it stays, whatever else is registered

REGISTRY.update({
    "lru-2": Entry(research.lru_2, research=True),
    "2q": Entry(research.two_queue, research=True),
    "aged-lfu": Entry(research.aged_lfu, research=True),
    "hyperbolic": Entry(research.hyperbolic, research=True),
    "return-density": Entry(research.return_density, research=True),
    "hits-per-block": Entry(research.hits_per_block, research=True),
    "gdsf": Entry(research.gdsf, research=True),
    "ttl": Entry(research.ttl, research=True),
    "t-lru": Entry(research.t_lru, research=True),
})


def sglang_policies() -> tuple[str, ...]:
    """Return the names of SGLang's policies: what is claimed is claimed of these, and of no other."""
    return SGLANG


def research_policies() -> list[str]:
    """Return the names of the registered policies that are not SGLang's."""
    return [name for name, entry in REGISTRY.items() if entry.research]


def described() -> list[str]:
    """Return the names of the registered policies, each marked if it is experimental in SGLang or not SGLang's."""
    marks = {(True, False): " (experimental)", (False, True): " (research)"}
    return [name + marks.get(entry[1:], "") for name, entry in REGISTRY.items()]


def parameters(score: Callable[..., Any]) -> dict[str, int]:
    """Return the parameters that a score takes by name, besides the facts and the clock, with their defaults."""
    options = list(inspect.signature(score).parameters.values())[1:]
    named = (option for option in options if option.kind is not option.POSITIONAL_ONLY)
    return {option.name: option.default for option in named if option.name not in asks_for(score)}


def make_policy(name: str, config: Mapping[str, Any] | None = None) -> Score:
    """Return the score of a registered policy, or of the function in `FILE.py:FUNCTION`, with its parameters set.

    Every parameter is an integer of at least 1.  Raises PolicyError, with the choices there are, for an unknown
    policy, an unknown key and a value of the wrong type; also for a file or function that cannot be had.
    """
    if ".py:" in name:
        score: Callable[..., Any] = load(name)
    elif name in REGISTRY:
        score = REGISTRY[name].score
    else:
        choices = ", ".join(REGISTRY)
        raise PolicyError(f"unknown eviction policy {name!r}: choose one of {choices} or give FILE.py:FUNCTION")
    known = parameters(score)
    for key, value in (config or {}).items():
        if key not in known:
            takes = ", ".join(known) or "no keys: leave its configuration out"
            raise PolicyError(f"unknown key {key!r} in the configuration of policy {name!r}, which takes {takes}")
        if type(value) is not int or value < 1:
            shown = json.dumps(value, default=repr)
            raise PolicyError(f"{key} of policy {name!r} is {shown}: give an integer of at least 1")
    return functools.partial(score, **config) if config else score
