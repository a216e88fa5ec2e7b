"""What a policy may know of a cached block, and what a policy is: a function from these facts to a score."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple


class Facts(NamedTuple):
    """What a policy may know of a cached block.

    `last_access` and `created` are request numbers, from 1 on; `hits` counts the later requests that matched the
    block; `priority` is the highest priority of the requests that reached it; `depth` is the number of blocks on its
    path.  A block that is evicted and comes back starts anew.
    """

    last_access: int
    created: int
    hits: int
    priority: int
    depth: int


Score = Callable[[Facts], Any]


class PolicyError(ValueError):
    """An unknown policy, or a configuration that it does not take."""
