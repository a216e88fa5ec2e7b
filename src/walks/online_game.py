"""The best deterministic online policy as a game on a finite graph: a policy against requests, paid in misses.

A position is what the policy holds and the optimum's work function.  The adversary names a request; the policy pays its
misses, the optimum the growth of its work function's minimum, and the policy chooses what to hold.  It may drop any
part of what it held and of the path, as long as the rest is ancestor-closed, fits, and nothing was dropped without
need: a policy that drops earlier can be followed by one that holds at least as much and pays no more.

A ratio r is settled by two certificates, numbers on positions that anyone can check edge by edge:

* a *potential* V >= 0: at each position, for each request, the policy has a choice such that
  misses + V(next) <= V(here) + r · growth.  So its misses are at most r times the optimum's, plus V(start).
* a *credit* C >= 0: at each position of a set that is never left, there is a request that the policy misses, such that
  for each of its choices C(next) <= C(here) + misses - r · growth.  So its misses, which grow forever, are at least r
  times the optimum's, less C(start): no deterministic policy guarantees less than r.

The policy of the first may not bypass, it holds the path in service; that of the second may.  So the value holds for
both kinds.  Both certificates come from the usual iteration of energy games (Bouyer, Fahrenberg, Larsen, Markey, Srba
2008).
"""

from __future__ import annotations

from typing import NamedTuple

from src.radixcache import Optimum, String, Trie, as_set, members, size
from src.walks.work_function import WorkFunction

Position = tuple[int, tuple[int, ...]]
"""What the policy holds, and the work function's numbers."""


class Move(NamedTuple):
    """A request at a position: what both pay, and the positions, by number, that the policy may choose.

    `serving` are those in which it holds the path (of a path longer than the capacity, its first K blocks).
    """

    request: String
    misses: int
    growth: int
    choices: tuple[int, ...]
    serving: tuple[int, ...]


class OnlineGame:
    """All positions that can be reached from the cold start, numbered, with their moves.

    Raises ValueError for a path that a locked optimum cannot hold.
    Cost: O(positions · requests · choices), exponential in the number of blocks.
    """

    def __init__(self, trie: Trie, capacity: int, optimum: Optimum) -> None:
        self.trie, self.capacity = trie, capacity
        self._work = WorkFunction(trie, capacity, optimum)
        self._choices: dict[int, list[int]] = {}
        start: Position = (0, self._work.start)
        self.positions: list[Position] = [start]
        self._number = {start: 0}
        self.moves: list[list[Move]] = []
        for position in self.positions:
            self.moves.append([self._move(position, string) for string in trie.strings])

    def _move(self, position: Position, string: String) -> Move:
        held, work = position
        path = self.trie.path(string)
        on_path = as_set(path)
        after, growth = self._work.step(work, string)
        kept = as_set(path[: self.capacity])
        choices = self._lazy(held | on_path)
        numbers = tuple(self._visit((choice, after)) for choice in choices)
        serving = tuple(number for number, choice in zip(numbers, choices) if not kept & ~choice)
        return Move(string, size(on_path & ~held), growth, numbers, serving)

    def _lazy(self, held: int) -> list[int]:
        """Return what may be left of a set: the set if it fits, else its ancestor-closed subsets of K blocks."""
        if held not in self._choices:
            layer = {held}
            for _ in range(size(held) - self.capacity):
                layer = {left & ~(1 << leaf) for left in layer for leaf in members(self.trie.leaves(left))}
            self._choices[held] = sorted(layer)
        return self._choices[held]

    def _visit(self, position: Position) -> int:
        number = self._number.setdefault(position, len(self.positions))
        if number == len(self.positions):
            self.positions.append(position)
        return number

    def potential(self, ratio: int, most: int) -> list[int] | None:
        """Return the least potential of a policy that holds the path, for a ratio; None if it exceeds `most` anywhere.

        Cost: O(moves · choices) for each round, at most positions · `most` rounds, in practice a few.
        """
        values = [0] * len(self.positions)
        changed = True
        while changed:
            changed = False
            for at in range(len(values) - 1, -1, -1):
                needed = values[at]
                for move in self.moves[at]:
                    after = move.misses - ratio * move.growth + min([values[to] for to in move.serving])
                    if after > needed:
                        needed = after
                if needed > values[at]:
                    if needed > most:
                        return None
                    values[at] = needed
                    changed = True
        return values

    def credit(self, ratio: int, most: int) -> list[int] | None:
        """Return the adversary's least credits against every policy, for a ratio; None if the start needs over `most`.

        A credit above `most` stands for a position at which the adversary may not win.  Cost: as above.
        """
        values = [0] * len(self.positions)
        changed = True
        while changed:
            changed = False
            for at in range(len(values) - 1, -1, -1):
                if values[at] <= most:
                    cruel = [move for move in self.moves[at] if move.misses]
                    needed = min([most + 1, *(self.need(move, ratio, values) for move in cruel)])
                    if needed > values[at]:
                        values[at] = needed
                        changed = True
        return values if values[0] <= most else None

    @staticmethod
    def need(move: Move, ratio: int, values: list[int]) -> int:
        """Return the credit that the adversary needs for a move, if the policy answers it as well as it can."""
        return max(0, max([values[to] for to in move.choices]) - move.misses + ratio * move.growth)


class OnlineValue(NamedTuple):
    """The ratio that the best deterministic online policy guarantees, with both certificates by position.

    `start` is the potential of the cold start: 0 means that no additive constant is needed.  `credits` is None if the
    adversary was not shown to force the ratio; then the true one lies between it and the whole number below.
    """

    ratio: int
    start: int
    game: OnlineGame
    potentials: list[int]
    credits: list[int] | None


def best_online(trie: Trie, capacity: int, optimum: Optimum) -> OnlineValue:
    """Return the smallest whole ratio with a potential, and the adversary's credits for the same ratio.

    The potentials are searched up to the number of blocks, the credits up to four times as much and more: with a limit
    that is too low a certificate could only be missed, never be false.  Raises ValueError as `OnlineGame` does.
    """
    game = OnlineGame(trie, capacity, optimum)
    ratio = 1
    potentials = game.potential(ratio, len(trie))
    while potentials is None:
        ratio += 1
        potentials = game.potential(ratio, len(trie))
    return OnlineValue(ratio, potentials[0], game, potentials, game.credit(ratio, 4 * (len(trie) + capacity)))
