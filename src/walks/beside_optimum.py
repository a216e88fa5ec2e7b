"""A policy beside the optimum, as one machine: its tallies are (misses of the policy, misses of the optimum).

States that are images of each other under a symmetry of the trie are merged unless told otherwise; `replay` turns
a walk of the merged machine back into requests.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Callable

from src.policies.cache import CacheState
from src.radixcache import LastAccess, Optimum, String, Trie
from src.walks.exhaustive import Machine, Tally
from src.walks.lru_machine import lru_machine
from src.walks.policy_machine import PolicyMachines
from src.walks.symmetry import Permutation, image, symmetries
from src.walks.work_function import WorkFunction

Move = Callable[[Any, Permutation], Any]


@dataclass
class _Walk:
    """A walk at once in the real and in the merged machine; the permutation leads from the real state to the merged."""

    real: Any
    merged: Any
    permutation: Permutation


class _Numbered:
    """States by number: large states are hashed once, and the numbers stand for them from then on."""

    def __init__(self) -> None:
        self.states: list[Any] = []
        self._numbers: dict[Hashable, int] = {}

    def number(self, state: Hashable) -> int:
        """Return a state's number, a new one for a new state."""
        number = self._numbers.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
        return number


Pair = tuple[int, int]
"""A state: the numbers of the policy's state and of the work function."""


class BesideOptimum(Machine):
    """A policy's machine, with tallies (misses,), beside the optimum.

    `strings` gives the string of each request; `move` gives the image of a policy's state under a permutation of the
    blocks.  With `merge` a state stands for all its images: of these the least in the order of the policy's state,
    then of the work function.
    Raises ValueError for a path that a locked optimum cannot hold.
    """

    def __init__(
        self, policy: Machine, work: WorkFunction, strings: Sequence[String], move: Move, merge: bool = True
    ) -> None:
        self._held, self._works = _Numbered(), _Numbered()
        start = (self._held.number(policy.start), self._works.number(work.start))
        super().__init__(start, policy.requests, 2, self._serve)
        self._policy, self._work, self._move = policy, work, move
        self._string = dict(zip(policy.requests, strings))
        self._group = symmetries(work.trie) if merge else [tuple(range(len(work.trie)))]
        self._index = {held: at for at, held in enumerate(work.sets)}
        self._sources: dict[int, list[int]] = {}
        self._least: dict[int, tuple[int, list[int]]] = {}
        self._images: dict[Pair, int] = {}
        self._requests: dict[Permutation, dict[Any, Any]] = {}  # the request whose image is a given one
        self._decided: dict[tuple[int, Any], tuple[int, int]] = {}
        self._served: dict[tuple[int, String], tuple[int, int]] = {}

    def _serve(self, state: Pair, request: Any) -> tuple[Pair, Tally]:
        after, tally = self._plain(state, request)
        return self._representative(after)[0], tally

    def _plain(self, state: Pair, request: Any) -> tuple[Pair, Tally]:
        """Serve one request without merging states."""
        decision = (state[0], request)
        if decision not in self._decided:
            after, (misses,) = self._policy.step(self._held.states[state[0]], request)
            self._decided[decision] = self._held.number(after), misses
        service = (state[1], self._string[request])
        if service not in self._served:
            work, growth = self._work.step(self._works.states[state[1]], service[1])
            self._served[service] = self._works.number(work), growth
        (held, misses), (best, growth) = self._decided[decision], self._served[service]
        return (held, best), (misses, growth)

    def _representative(self, state: Pair) -> tuple[Pair, int]:
        """Return the image of a state that stands for all its images, and the number of a permutation to it."""
        held, work = state
        if held not in self._least:
            moved = [self._move(self._held.states[held], permutation) for permutation in self._group]
            least = min(moved)
            self._least[held] = self._held.number(least), [at for at, one in enumerate(moved) if one == least]
        representative, ways = self._least[held]
        way = ways[0]
        if len(ways) > 1:
            way = min(ways, key=lambda at: self._works.states[self._image(work, at)])
        return (representative, self._image(work, way)), way

    def _image(self, work: int, at: int) -> int:
        """Return the image of a work function under a permutation, both by number."""
        key = (work, at)
        if key not in self._images:
            if at not in self._sources:
                self._sources[at] = self._source(self._group[at])
            numbers = self._works.states[work]
            self._images[key] = self._works.number(tuple([numbers[source] for source in self._sources[at]]))
        return self._images[key]

    def _source(self, permutation: Permutation) -> list[int]:
        """Return, for each set, the set whose number its image takes over."""
        sources = [0] * len(self._index)
        for held, at in self._index.items():
            sources[self._index[image(held, permutation)]] = at
        return sources

    def replay(self, prefix: Sequence[Any], cycle: Sequence[Any]) -> tuple[list[Any], list[Any], int]:
        """Return the requests that a walk of the merged machine stands for: prefix, cycle, rounds.

        The merged cycle leads back to an image of its first state; it is repeated, `rounds` times, until that
        is the state itself.  The permutation from the real state to its representative is carried along: each round
        multiplies it by the same one, so some round brings it back.
        """
        walk = _Walk(self.start, self.start, self._group[0])
        walked = [self._follow(walk, request) for request in prefix]
        begin = walk.real
        around = [self._follow(walk, request) for request in cycle]
        rounds = 1
        while walk.real != begin and cycle:
            around += [self._follow(walk, request) for request in cycle]
            rounds += 1
        return walked, around, rounds

    def _follow(self, walk: _Walk, request: Any) -> Any:
        """Serve a request of the merged machine; return the request that it is for the real state."""
        if walk.permutation not in self._requests:
            self._requests[walk.permutation] = {self._moved(one, walk.permutation): one for one in self.requests}
        real = self._requests[walk.permutation][request]
        walk.real, _ = self._plain(walk.real, real)
        after, _ = self._plain(walk.merged, request)
        walk.merged, way = self._representative(after)
        walk.permutation = tuple(self._group[way][block] for block in walk.permutation)
        return real

    def _moved(self, request: Any, permutation: Permutation) -> Any:
        """Return the image of a request."""
        trie = self._work.trie
        string = self._string[request]
        end = permutation[trie.path(string)[-1]]
        moved = next(other for other in trie.strings if trie.path(other)[-1] == end)
        return moved if request == string else (moved, *request[1:])


def lru_beside_optimum(
    trie: Trie, capacity: int, optimum: Optimum, merge: bool = True, policy: Machine | None = None
) -> BesideOptimum:
    """Return leaf-only LRU beside the optimum.  `policy` is its machine, if there is one already."""

    def move(state: LastAccess, permutation: Permutation) -> LastAccess:
        """Return the state with the blocks renamed."""
        moved = [0] * len(state)
        for block, time in enumerate(state):
            moved[permutation[block]] = time
        return tuple(moved)

    work = WorkFunction(trie, capacity, optimum)
    return BesideOptimum(policy or lru_machine(trie, capacity), work, trie.strings, move, merge)


def policy_beside_optimum(
    policy: PolicyMachines, optimum: Optimum, merge: bool = True, capacity: int | None = None
) -> BesideOptimum:
    """Return a policy, under the leaf-only rule, beside the optimum of a capacity, of the policy's own if not given."""

    def move(state: CacheState, permutation: Permutation) -> CacheState:
        """Return the state with the blocks renamed."""
        blocks, ghosts = (
            tuple(sorted((permutation[block], facts) for block, facts in some)) for some in (state.blocks, state.ghosts)
        )
        return state._replace(blocks=blocks, ghosts=ghosts)

    work = WorkFunction(policy.trie, capacity or policy.capacity, optimum)
    strings = [policy.string(request) for request in policy.requests]
    return BesideOptimum(policy.machine(), work, strings, move, merge)
