"""Policies that remember what they evicted: whether the rule is free for them, and what they risk in the worst case."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from src.claims.claim import Claim, claim
from src.claims.without_rule import smallest, without_rule
from src.policies.cache import Cache
from src.policies.facts import Score
from src.policies.scores import make_policy, research_policies
from src.radixcache import Optimum, Trie, names
from src.walks.belady import belady
from src.walks.every_length import policy_every_length

PAGES = ("a", "b", "c")
TREE = ("a", "ab", "ac", "b")
KEEP_THE_ORDER = ("lru-2", "2q", "aged-lfu", "hyperbolic", "ttl", "t-lru")
"""The policies whose scores never exceed the parent's: see `src/policies/research.py`."""

RULE_LENGTH = 4
CLOSED = ("lru", "2q", "lru-2", "t-lru")
"""The policies whose states close on a trie; what the others compute with times never repeats."""

EVERY_LENGTH = ((PAGES, 2), (TREE, 2), (TREE, 3))
STUBBORN = ("lru", "2q", "lru-2", "aged-lfu", "hyperbolic", "return-density", "hits-per-block")
REPEATS = (4, 16, 64, 256)
"""How often the favourite is requested before two others take turns."""

LESSONS = (2, 3, 4)
"""The octaves up to which a lesson goes: see `lesson`."""

LONGEST = 20_000  # requests: a bound on the turns, never reached


def memory() -> Claim:
    """The rule, the worst ratio over all lengths where states close, and what an old favourite or a lesson costs."""
    measured: dict[str, Any] = {"rule": {}, "every_length": {}, "favourite": {}, "lesson": {}}
    witnesses: dict[str, Any] = {"rule": {}, "every_length": {}}
    tree = Trie(TREE)
    for name in research_policies():
        score = make_policy(name)
        row = measured["rule"][name] = without_rule(tree, score, RULE_LENGTH)._asdict()
        if row["interior_evictions"]:
            witnesses["rule"][name] = smallest(tree, score, costs=False)
    for name in CLOSED:
        measured["every_length"][name], witnesses["every_length"][name] = closed(make_policy(name))
    for name in STUBBORN:
        measured["favourite"][name] = {str(repeats): favourite(make_policy(name), repeats) for repeats in REPEATS}
    for name in ("lru", "return-density"):
        measured["lesson"][name] = {str(octaves): lesson(make_policy(name), octaves) for octaves in LESSONS}
    free = {"interior_evictions": 0}
    parameters = {
        "pages": list(PAGES),
        "tree": list(TREE),
        "length_of_the_rule": RULE_LENGTH,
        "favourite": "a so many times, then b and c in turn until a is evicted; K = 2",
        "lesson": "a always comes back after exactly 4, 8, ... requests, then never; two others take turns; K = 4",
    }
    return claim(
        parameters, measured, expected={"rule": {name: free for name in KEEP_THE_ORDER}}, witnesses=witnesses
    )


def closed(score: Score) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a policy's worst ratios over all lengths, and the requests that come to them, by trie and capacity."""
    ratios: dict[str, Any] = {}
    witnesses: dict[str, Any] = {}
    for strings, capacity in EVERY_LENGTH:
        where = f"{' '.join(strings)}, K = {capacity}"
        settled = policy_every_length(Trie(strings), capacity, score, tuple(Optimum))
        ratios[where] = {optimum.value: one.ratio for optimum, one in zip(Optimum, settled)}
        witnesses[where] = {
            optimum.value: {
                "prefix": names(one.prefix),
                "cycle": names(one.cycle),
                "policy_misses": one.misses,
                "optimum_misses": one.optimum_misses,
            }
            for optimum, one in zip(Optimum, settled)
        }
    return ratios, witnesses


def favourite(score: Score, repeats: int) -> dict[str, Any]:
    """Return what it costs that a block was requested often and never comes back, by the plain cache.

    Two other blocks, for which there would be room, take turns until it goes.  The optimum misses each block once.
    Where the score grows with the requests ever, as under aged-lfu, so do the turns: for any number of them there is a
    number of repeats after which neither of the two has caught up with it (results/PROOFS.md).
    """
    trie = Trie(PAGES)
    cache = Cache(trie, 2, score)
    requests: list[str] = []
    misses = 0
    while len(requests) < LONGEST and (len(requests) <= repeats or cache.match("a")):
        requests.append("a" if len(requests) < repeats else "bc"[(len(requests) - repeats) % 2])
        misses += cache.access(requests[-1]).misses
    return against_the_optimum(trie, 2, requests, misses)


def lesson(score: Score, octaves: int) -> dict[str, Any]:
    """Return what it costs that the gaps between the requests for a block taught something that no longer holds.

    With room for four, b, c and d are requested in turn, and a after each 4 of all requests, as often as it takes; then
    after each 8, and so on up to 2^octaves.  What waits so long, it seems, will be back at once.  Then x and y, known
    from before, take turns until both are held, and a, b, c and d never come back.
    """
    rounds: dict[int, int] = {}
    for octave in range(octaves, 1, -1):  # each octave is taught more often than the longer gaps pass it by
        rounds[octave] = 2**octave * max(sum(rounds.values()), 1)
    requests = [*"x" * 9, *"y" * 9]
    for octave in range(2, octaves + 1):
        requests += ["a", *("bcd"[at % 3] for at in range(2**octave - 1))] * rounds[octave]
    requests.append("a")
    trie = Trie("abcdxy")
    cache = Cache(trie, 4, score)
    misses = sum(cache.access(request).misses for request in requests)
    for request in itertools.islice(itertools.cycle("xy"), LONGEST):
        if cache.match("x") and cache.match("y"):
            break
        requests.append(request)
        misses += cache.access(request).misses
    return against_the_optimum(trie, 4, requests, misses)


def against_the_optimum(trie: Trie, capacity: int, requests: Sequence[str], misses: int) -> dict[str, Any]:
    """Return some requests' misses under a policy and under the locked optimum."""
    best = belady(trie, capacity, requests, Optimum.LOCKED).misses
    return {"requests": len(requests), "policy_misses": misses, "optimum_misses": best, "ratio": f"{misses}/{best}"}
