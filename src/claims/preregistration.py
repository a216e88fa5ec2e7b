"""What became of the pre-registration: its two predictions and its falsifier, decided by measured values."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from src.claims.claim import Claim
from src.radixcache import Optimum

P1 = "The leaf-only rule strictly costs."
P2 = "The worst ratio of subtree-closed LRU in the tree exceeds that of flat paging LRU."
FALSIFIER_1 = "The rule is free (the surprising positive)."


def value(results: Mapping[str, Any], key: str) -> Any:
    """Return the value at a dotted key of the results.  Raises KeyError if there is none."""
    found: Any = results
    for part in key.split("."):
        found = found[part]
    return found


def values(results: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return the values at some keys, each written without its `measured`."""
    return {key: value(results, key.replace(".", ".measured.", 1)) for key in keys}


def preregistration(results: Mapping[str, Claim]) -> dict[str, Any]:
    """Return for each prediction, and the falsifier, what was said, the values that decide it, and the verdict."""
    return {"P1": the_rule_costs(results), "P2": the_tree_is_worse(results), "falsifier_1": the_rule_is_free(results)}


def the_rule_costs(results: Mapping[str, Claim]) -> dict[str, Any]:
    """Return P1: instances in which the leaf-only optimum misses more, or unconstrained LRU less than leaf-only LRU."""
    deciding = values(
        results, "offline.bypass.leaf_only_worse", "offline.locked.leaf_only_worse", "online.better", "tie_audit.wins"
    )
    true = any(deciding.values())
    verdict = "came true" if true else "did not come true: in no instance does the rule cost the optimum or LRU a miss"
    return {"predicted": P1, "decided_by": deciding, "came_true": true, "verdict": f"P1 {verdict}."}


def the_tree_is_worse(results: Mapping[str, Claim]) -> dict[str, Any]:
    """Return P2: the published pair, both models at the study's bounds, and what holds for all lengths and tries.

    Beyond all bounds no trie exceeds what flat paging attains with K + 1 strings: K + 1 bypassing, K locked.
    """
    pair = values(results, "derisk.tree_bypass", "derisk.flat_locked", "derisk.flat_bypass", "derisk.tree_locked")
    everywhere = values(results, "theorems.lru.cases_above_the_bound")
    found = at_the_bounds(value(results, "derisk.measured.by_length"))
    above = [where for where, one in found.items() if one["tree"] == "above"]
    general = everywhere["theorems.lru.cases_above_the_bound"] > 0
    verdict = "came true" if general else "fails: over all lengths no trie exceeds what flat paging attains (K, K + 1)"
    places: dict[str, list[str]] = {}
    for where in above:
        place, _, model = where.rpartition(", ")
        places.setdefault(place, []).append(model)
    here = "".join(f"; it came true at {place} ({' and '.join(models)})" for place, models in places.items())
    return {
        "predicted": P2,
        "decided_by": {**pair, **everywhere},
        "at_the_bounds": found,
        "came_true": general,
        "came_true_at": above,
        "verdict": f"P2 {verdict}{here}.",
    }


def at_the_bounds(by_length: Mapping[str, Mapping[str, list[str]]]) -> dict[str, dict[str, str]]:
    """Return, for each capacity with its longest sequences and each optimum, both worst ratios and which is larger."""
    found = {}
    for capacity, ratios in by_length.items():
        for optimum in Optimum:
            tree, flat = ratios[f"tree_{optimum.value}"], ratios[f"flat_{optimum.value}"]
            place = (Fraction(tree[-1]) > Fraction(flat[-1])) - (Fraction(tree[-1]) < Fraction(flat[-1]))
            found[f"K = {capacity}, {len(tree)} requests, {optimum.value}"] = {
                "tree_ratio": tree[-1],
                "flat_ratio": flat[-1],
                "tree": {1: "above", 0: "equal", -1: "below"}[place],
            }
    return found


def the_rule_is_free(results: Mapping[str, Claim]) -> dict[str, Any]:
    """Return falsifier 1: no mismatch offline, no other decision online."""
    deciding = values(
        results, "offline.bypass.mismatches", "offline.locked.mismatches", "online.other_decisions", "online.worse"
    )
    fired = not any(deciding.values())
    verdict = "fired: the optima agree, and LRU decides alike, on every instance" if fired else "did not fire"
    return {"falsified_by": FALSIFIER_1, "decided_by": deciding, "fired": fired, "verdict": f"Falsifier 1 {verdict}."}
