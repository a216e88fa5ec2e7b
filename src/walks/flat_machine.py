"""Flat paging on the written-out sequence: each request's blocks one by one, deepest first, in a cache with no tree.

After each request it holds what the radix cache holds under leaf-only LRU.  Proof: results/PROOFS.md, "The reduction".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from src.radixcache import LastAccess, Rule, String, Trie, as_set, check_capacity
from src.walks.exhaustive import Machine, Tally
from src.walks.lru_machine import cached_set, lru_step

Pages = tuple[int, ...]
"""The blocks held, the least recently used first."""


def written_out(trie: Trie, sequence: Iterable[String]) -> list[int]:
    """Return the blocks of some requests in a row, those of each request deepest first."""
    return [block for string in sequence for block in reversed(trie.path(string))]


def flat_access(capacity: int, pages: Pages, blocks: Sequence[int]) -> tuple[Pages, int]:
    """Request some blocks one by one of a least recently used cache; return what it holds then, and its misses."""
    held, misses = list(pages), 0
    for block in blocks:
        if block in held:
            held.remove(block)
        else:
            misses += 1
            if len(held) == capacity:
                del held[0]
        held.append(block)
    return tuple(held), misses


def flat_beside_lru(trie: Trie, capacity: int) -> Machine:
    """Return leaf-only LRU on the trie beside flat paging on the written-out sequence, of the same capacity.

    Its tallies: 1 if the two hold different sets after the request, and the flat misses less the trie's.
    """
    check_capacity(capacity)

    def step(state: tuple[LastAccess, Pages], string: String) -> tuple[tuple[LastAccess, Pages], Tally]:
        """Serve a request by both; the tally: whether they hold other blocks, and the misses that flat paging adds."""
        times, served = lru_step(trie, capacity, state[0], string, Rule.LEAF_ONLY)
        pages, misses = flat_access(capacity, state[1], written_out(trie, [string]))
        differ = as_set(pages) != cached_set(times)
        return (times, pages), (int(differ), misses - served.misses)

    return Machine(((0,) * len(trie), ()), trie.strings, 2, step)
