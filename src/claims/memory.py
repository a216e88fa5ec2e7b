"""Policies that remember what they evicted: whether the rule is free for them, and what they risk in the worst case."""

from __future__ import annotations

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
STUBBORN = ("lru", "2q", "lru-2", "aged-lfu", "hyperbolic", "hits-per-block")
REPEATS = (4, 16, 64, 256)
"""How often the favourite is requested before two others take turns."""

LONGEST = 20_000  # requests: a bound on the turns, never reached


def memory() -> Claim:
    """The rule, the worst ratio over all lengths where states close, and what an old favourite costs."""
    measured: dict[str, Any] = {"rule": {}, "every_length": {}, "favourite": {}}
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
    free = {"interior_evictions": 0}
    parameters = {
        "pages": list(PAGES),
        "tree": list(TREE),
        "length_of_the_rule": RULE_LENGTH,
        "favourite": "a so many times, then b and c in turn until a is evicted; K = 2",
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
    best = belady(trie, 2, requests, Optimum.LOCKED).misses
    return {"requests": len(requests), "policy_misses": misses, "optimum_misses": best, "ratio": f"{misses}/{best}"}
