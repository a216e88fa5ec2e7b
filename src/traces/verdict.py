"""What a comparison means for the one who runs the cache: is it the size, the policy, or neither?"""

from __future__ import annotations

from fractions import Fraction

from src.page.guard import printable
from src.traces.comparison import AtCapacity, Comparison, Target
from src.traces.words import counted, percent

CAVEAT = "The optimum knows the future: what the policy costs bounds what a better one could gain, no promise."
ENOUGH = Fraction(9, 10)  # of the hits of a cache without a capacity, from which on there is little left to gain


def sentence(found: Comparison, row: AtCapacity) -> str:
    """Return how much of the optimum's hits the best policy gets, and with how few blocks the optimum gets LRU's."""
    at, reach = f"At {counted(row.capacity, 'block')}", row.optimum[found.totals.bound]
    if not reach:
        return f"{at} even the optimum hits nothing."
    names, most = row.best()
    every = len(names) == len(found.policies) > 1
    get = "all policies get" if every else " and ".join(map(printable, names)) + " get" + "s" * (len(names) == 1)
    share = f"{at} {get} {percent(Fraction(most, reach))} of the optimum's hits"
    if not row.lru:
        return f"{share}; LRU hits nothing."
    return f"{share}; the optimum matches LRU with {counted(row.matching, 'block')}."


def suffers_from(found: Comparison, row: AtCapacity) -> tuple[str, int, int]:
    """Return what costs the most hits at a capacity, and the two numbers that decide.

    These are the hits that the size costs, which even the optimum lacks against a cache without a capacity, and those
    that the policy costs, which the best of the chosen ones lacks against the optimum.  "neither" is the answer where
    that policy has nine tenths of all hits that there are to have.
    """
    infinite, reach = found.totals.infinite, row.optimum[found.totals.bound]
    _, most = row.best()
    size, policy = infinite - reach, reach - most
    if most >= ENOUGH * infinite:
        return "neither", size, policy
    return "policy" if policy > size else "size", size, policy


def verdict(found: Comparison, row: AtCapacity) -> str:
    """Return the answer at a capacity as a sentence that one can act on."""
    what, size, policy = suffers_from(found, row)
    names, most = row.best()
    best = f"{printable(names[0])} costs" if len(names) == 1 else "the best policies cost"
    rate = found.totals.rate
    if not found.totals.infinite:
        return "No block is ever requested again: no cache can help this trace."
    lost = (
        f"of the {percent(rate(found.totals.infinite))} that can be hit at all, the size costs {percent(rate(size))}"
        f" and {best} {percent(rate(policy))}"
    )
    at = f"At {counted(row.capacity, 'block')}"
    if what == "neither":
        return f"{at} it is neither: {lost}.  Leave size and policy as they are."
    if what == "policy":
        return f"{at} it is the policy: {lost}.  {_gains(found, row)}"
    return f"{at} it is the size: {lost}.  Memory gains more than any policy."


def _gains(found: Comparison, row: AtCapacity) -> str:
    """Return what was found to gain over LRU: the best of the chosen policies, and twice the blocks."""
    names, most = row.best()
    twice = percent(found.totals.rate(max(row.doubled - row.lru, 0)))
    if most <= row.lru:
        return f"Twice the blocks gain LRU {twice}.  Try other policies."
    best = f"{printable(names[0])} gains" if len(names) == 1 else "the best policies gain"
    return f"Over LRU, {best} {percent(found.totals.rate(most - row.lru))} and twice the blocks gain {twice}."


def target_sentence(found: Comparison, reached: Target) -> str:
    """Return where a share of the blocks is reached."""
    share = percent(reached.share)
    if reached.lru is None:
        infinite = percent(found.totals.rate(found.totals.infinite))
        return f"No capacity hits {share} of the blocks: a cache without a limit hits {infinite}."
    optima = " and by ".join(
        f"the optimum {optimum.value} with {counted(blocks, 'block')}"
        for optimum, blocks in reached.optimum.items()
        if blocks is not None
    )
    nothing = ", with nothing in flight," if found.totals.in_flight else ""
    return f"{share} of the blocks are hit by LRU{nothing} with {counted(reached.lru, 'block')}, by {optima}."
