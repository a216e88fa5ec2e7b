"""Policies of the literature and one of ours, none of them SGLang's, over what outlives evictions and over the clock.

Each is a score of a block, as in `src.policies.scores`; ties go to the least recently used block.  They follow their
sources in what is ranked, not in how: a source's queues, ghosts and heaps are facts here, and as nothing that was ever
requested is forgotten, a ghost list has no length to choose.

Which keep the order, so that the leaf-only rule is free for them (the theorem in `src.policies.scores`).  Whatever
never falls when `last_access`, its time, `seen`, `previous_access` and `reach` rise and `depth` falls does, as from a
parent to its child the first five never rise and the depth does.  So all do but the two that divide by the blocks
below, of which a parent has more, and the one that learns, which may expect less of a parent than of its child.
"""

from __future__ import annotations

from fractions import Fraction

from src.policies.facts import Facts
from src.policies.returns import Returns


def lru_2(block: Facts) -> int:
    """Oldest last but one request first; what was requested once goes before all others.  LRU-K with K = 2.

    Source: O'Neil, O'Neil and Weikum 1993, with requests as their uncorrelated references.
    """
    return block.previous_access


def two_queue(block: Facts, requests: int = 2) -> bool:
    """All that was requested fewer than `requests` times ever goes first, in the order of arrival; then the rest.

    Source: 2Q of Johnson and Shasha 1994.  Their A1in is a block requested once, A1out such a block evicted, Am the
    rest; A1in gives way first always.
    """
    return block.seen >= requests


def aged_lfu(block: Facts, half_life: int = 1000) -> int:
    """Twice as many requests make up for `half_life` requests of age.

    Source: LRFU of Lee et al. 2001, between LRU and LFU by an exponential decay.  Here the number of requests as a
    whole decays from the last one on, by halves and in whole binary digits: exact, and with no need of the clock.
    """
    return block.last_access + half_life * block.seen.bit_length()


def hyperbolic(block: Facts, now: int, patience: int = 300) -> int:
    """Most requests of age for each request seen first; nothing counts as younger than `patience` requests.

    Source: hyperbolic caching, Blankstein et al. 2017, where the age is that of the block's stay in the cache.  Here it
    is that of the last request, and the patience is ours: on traces of conversations the chance that a block comes
    back in the next request is about the same up to some age, and falls with the age from there on.  The quotient is
    taken to the next whole 2^-16 of a request: whole numbers compare much faster than fractions.
    """
    return -((max(now - block.last_access, patience) << 16) // block.seen)


def return_density(block: Facts, returns: Returns) -> int:
    """Fewest blocks coming back for each request of waiting first, as learned from the requests so far.

    Ours.  It ranks by hits for the room that they take, as LHD of Beckmann, Chen and Cidon 2018 does, with `Returns` in
    place of its classes: of blocks that were evicted too, and over the best stretch of ages.
    """
    return returns.density(block)


def hits_per_block(block: Facts) -> Fraction:
    """Fewest requests for a block and all blocks ever requested below it first: the density of a subtree."""
    return Fraction(block.seen, block.below + 1)


def gdsf(block: Facts, weight: int = 1000) -> Fraction:
    """Last access and `weight` times the requests by size first.

    Source: GreedyDual-Size-Frequency, Cherkasova 1998.  The value of the latest victim, by which it ages blocks, is
    the request number here; the size is that of the subtree.
    """
    return block.last_access + weight * hits_per_block(block)


def ttl(block: Facts, now: int, requests: int = 1000) -> tuple[bool, int]:
    """Blocks that no request reached for more than `requests` requests go first; then the least often requested.

    Source: the time to live of prompt caches as they are sold, here in requests.  One in minutes asks for `now_ms`.
    """
    return (now - block.last_access <= requests, block.seen)


def t_lru(block: Facts, spare: int = 10) -> bool:
    """The last `spare` blocks of each conversation go first: without them the next turn still starts soon.

    Source: tail-optimized LRU, Zhang et al. 2025.  A conversation is the longest path through the block.
    """
    return block.reach - block.depth >= spare
