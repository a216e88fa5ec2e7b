"""SGLang's eviction policies, each one a score of a cached block, and one cache over any of them.

A policy is a function from the facts of a cached block to a sortable score.  The lowest score goes first; within a
tie the least recently used block goes, then the deeper one.  Nothing else knows the policies: to add one, write its
function and its line in `REGISTRY`.  The source is SGLang's page on radix cache eviction policies.

When the leaf-only rule is free (the theorem).  Let no cached block's score exceed its cached parent's.  Then
unconstrained eviction with ties to the deeper block never targets an interior block.
Proof.  Let a cached block have a cached child.  The child's score is not higher; its last access is not later, as a
request refreshes whole paths; and it is deeper.  So it precedes its parent in the order (score, last access, deeper
first), and it can go if its parent can, since a lock on it would be a lock on its whole path.  So a block with a
cached child is never first.
Hence an interior eviction certifies that some cached block scores higher than its parent.  The converse is not
claimed: the order can be violated where no eviction ever sees it.

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

from src.policies.facts import Facts, PolicyError, Score
from src.policies.user_file import load


def lru(block: Facts) -> int:
    """Least recently used first.  The default."""
    return block.last_access


def lfu(block: Facts) -> int:
    """Least frequently used first: fewest hits."""
    return block.hits


def slru(block: Facts, protected_threshold: int = 2) -> bool:
    """Segmented: everything probationary goes before anything protected, which was hit `protected_threshold` times."""
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
    """A policy in the registry.  `experimental`: not offered on SGLang's command line."""

    score: Callable[..., Any]
    experimental: bool = False


REGISTRY: dict[str, Entry] = {
    "lru": Entry(lru),
    "lfu": Entry(lfu),
    "slru": Entry(slru),
    "priority": Entry(priority),
    "fifo": Entry(fifo, experimental=True),
    "mru": Entry(mru, experimental=True),
    "filo": Entry(filo, experimental=True),
}


def described() -> list[str]:
    """Return the names of the registered policies, each marked if SGLang does not offer it on its command line."""
    return [f"{name} (experimental)" if entry.experimental else name for name, entry in REGISTRY.items()]


def parameters(score: Callable[..., Any]) -> dict[str, int]:
    """Return the parameters that a score function takes by name, besides the facts, with their defaults."""
    options = list(inspect.signature(score).parameters.values())[1:]
    return {option.name: option.default for option in options if option.kind is not option.POSITIONAL_ONLY}


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
