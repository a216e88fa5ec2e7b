"""What a policy may know of a cached block, and what a policy is: a function from these facts to a score."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, NamedTuple

OFFERED = ("now", "now_ms", "returns")
"""What a score may ask for beside the facts: the number of the request that must evict, its time in milliseconds, and
what was learned so far of blocks that come back (`src.policies.returns`)."""


class Facts(NamedTuple):
    """What a policy may know of a cached block.  Name the facts that you use: there may be more of them one day.

    `last_access` and `created` are request numbers, from 1 on; `hits` counts the later requests that matched the
    block; `priority` is the highest priority of the requests that reached it; `depth` is the number of blocks on its
    path.  A block that is evicted and comes back starts anew with these.

    The others outlive evictions: `seen` is the number of requests that reached the block ever, the latest one
    included; `previous_access` is the one before the latest (0: none); `reach` is the length in blocks of the longest
    path requested through the block; `below` is the number of distinct blocks ever requested below it;
    `last_access_ms` is the time of the latest request in milliseconds, which is its number where no times are known;
    `behind` is the number of blocks that the latest request had behind the block.

    From a parent to its child none of these rises but `behind`.  Proof.  A request that reaches the child reaches the
    parent, so the child's requests are some of the parent's: there are no more of them, and the last of some, or the
    last but one, is no later than that of all; times never go back.  A path through the child leads through the parent,
    and a block below the child is below the parent, as is the child itself: `below` even falls.
    """

    last_access: int
    created: int
    hits: int
    priority: int
    depth: int
    seen: int = 1
    previous_access: int = 0
    reach: int = 0
    below: int = 0
    last_access_ms: int = 0
    behind: int = 0


NEVER = Facts(last_access=0, created=0, hits=0, priority=0, depth=0, seen=0)
"""What is known of a block that was never requested."""

Score = Callable[..., Any]
"""From `Facts`, and what it asks for of `OFFERED`, to anything that compares."""


class PolicyError(ValueError):
    """An unknown policy, or a configuration that it does not take."""


@functools.lru_cache(maxsize=64)
def asks_for(score: Score) -> tuple[str, ...]:
    """Return which of `OFFERED` a score asks for: those that it takes by name and without a default."""
    try:
        options = list(inspect.signature(score).parameters.values())[1:]
    except (TypeError, ValueError):  # a function that does not tell its parameters
        return ()
    return tuple(
        option.name for option in options
        if option.name in OFFERED and option.default is option.empty
        and option.kind in (option.POSITIONAL_OR_KEYWORD, option.KEYWORD_ONLY)
    )  # fmt: skip


def answers(asked: tuple[str, ...], now: int, now_ms: int, returns: Any) -> dict[str, Any]:
    """Return what a score asks for, by name, of all that is `OFFERED`."""
    return {name: value for name, value in zip(OFFERED, (now, now_ms, returns)) if name in asked}
