"""The best deterministic online policy, found as the value of a game: LRU has no part in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

from src.claims.claim import Claim, claim
from src.claims.theorems import cases
from src.radixcache import Optimum, Rule, String, Trie, names
from src.walks.lru_machine import lru_step
from src.walks.online_game import OnlineGame, OnlineValue, best_online
from src.width import width

GAME_CAPACITIES = (2, 3, 4, 5)
GAME_NODES = 5  # blocks of the largest forests on which the game is solved
Say = Callable[[str], None]


def demanded(trie: Trie, capacity: int, optimum: Optimum) -> int:
    """Return the ratio that the width theorem demands: w(T, K + 1), against the locked optimum one less, at least 1."""
    widest = width(trie.parent, capacity + 1)
    return max(1, widest - 1) if optimum is Optimum.LOCKED else widest


def against_lru(found: OnlineValue) -> dict[str, Any]:
    """Play the adversary of the credits against LRU until a position returns: prefix, cycle and the cycle's costs."""
    game, trie, credits = found.game, found.game.trie, found.credits
    if credits is None:
        raise ValueError("there is no adversary to play: the credits were not found")
    number = {position: at for at, position in enumerate(game.positions)}
    times = (0,) * len(trie)
    at = 0
    visited: dict[Any, int] = {}
    asked: list[String] = []
    costs: list[tuple[int, int]] = []
    while (times, at) not in visited:
        visited[times, at] = len(asked)
        move = cruel_move(game, credits, found.ratio, at)
        times, served = lru_step(trie, game.capacity, times, move.request, Rule.LEAF_ONLY)
        at = number[served.cached, game.positions[move.choices[0]][1]]
        asked.append(move.request)
        costs.append((move.misses, move.growth))
    begin = visited[times, at]
    misses, growth = map(sum, zip(*costs[begin:]))
    return {
        "prefix": names(asked[:begin]),
        "cycle": names(asked[begin:]),
        "misses": misses,
        "optimum_misses": growth,
    }


def cruel_move(game: OnlineGame, credits: Sequence[int], ratio: int, at: int) -> Any:
    """Return the adversary's move at a position: the first that its credit pays for."""
    return next(
        move for move in game.moves[at] if move.misses and game.need(move, ratio, list(credits)) <= credits[at]
    )


def on_the_study(trie: Trie) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the value of the game on a trie for each model and capacity, and the adversary's play against LRU."""
    measured: dict[str, Any] = {optimum.value: {} for optimum in Optimum}
    witnesses: dict[str, Any] = {optimum.value: {} for optimum in Optimum}
    for optimum in Optimum:
        for capacity in GAME_CAPACITIES:
            found = best_online(trie, capacity, optimum)
            measured[optimum.value][str(capacity)] = {
                "ratio": found.ratio,
                "potential_of_the_start": found.start,
                "no_less": found.credits is not None,
                "positions": len(found.game.positions),
            }
            witnesses[optimum.value][str(capacity)] = against_lru(found)
    return measured, witnesses


def forest_sweep(nodes: int) -> dict[str, int]:
    """Return in how many cases the value is not the width's, needs a constant, or lacks a certificate."""
    checked = other = constant = open_below = positions = 0
    for trie, capacity, optima in cases(nodes):
        for optimum in optima:
            found = best_online(trie, capacity, optimum)
            checked += 1
            other += found.ratio != demanded(trie, capacity, optimum)
            constant += found.start > 0
            open_below += found.credits is None
            positions += len(found.game.positions)
    return {
        "cases": checked,
        "cases_with_another_ratio_than_the_width": other,
        "cases_with_an_additive_constant": constant,
        "cases_without_an_adversary": open_below,
        "positions": positions,
    }


def online_optimum(trie: Trie, say: Say) -> Claim:
    """The ratio that the best deterministic online policy guarantees, with a certificate from above and from below."""
    say("online optimum: the study's trie")
    study, witnesses = on_the_study(trie)
    say("online optimum: every small forest")
    measured = {"study": study, "forests": forest_sweep(GAME_NODES)}
    settled = {"potential_of_the_start": 0, "no_less": True}
    expected = {
        "study": {
            optimum.value: {str(k): {"ratio": demanded(trie, k, optimum), **settled} for k in GAME_CAPACITIES}
            for optimum in Optimum
        },
        "forests": {
            "cases_with_another_ratio_than_the_width": 0,
            "cases_with_an_additive_constant": 0,
            "cases_without_an_adversary": 0,
        },
    }
    parameters = {"strings": list(trie.strings), "capacities": list(GAME_CAPACITIES), "forest_nodes": GAME_NODES}
    return claim(parameters, measured, expected=expected, witnesses=witnesses)
