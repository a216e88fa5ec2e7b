"""Results of several runs joined: of the same trace, counted in the same way, for other capacities or policies.

A result is what `--json` writes, so the cells of a job array and whole runs are joined alike.  Joining the cells gives
the bytes that one run over all of them writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from src.page.guard import Fault
from src.policies.scores import REGISTRY
from src.radixcache import Optimum
from src.traces.about import About
from src.traces.comparison import AtCapacity, Comparison, Target, Totals
from src.traces.files import shown_name
from src.traces.strict_json import LineError, decode
from src.traces.texts import as_json
from src.traces.workload import LOGGED


class Result(NamedTuple):
    """What a run found: the comparison, the facts of the trace, and the parameters as they were written."""

    found: Comparison
    told: About
    parameters: dict[str, Any]


def merge(names: Sequence[str]) -> Result:
    """Return the joined results of some files.

    Policies come in the order of the registry, then in that of the files; capacities in increasing order.  Raises Fault
    for a file that is no result, for results of different traces or options, and for two that differ in a number or of
    which one lacks a policy at a capacity.  Cost: O(bytes).
    """
    results = [read_result(name) for name in names]
    first = results[0]
    for name, other in zip(names, results):
        if _common(other) != _common(first):
            raise Fault(f"{shown_name(name)}: is of another trace or other options than the first: join like with like")
    rows: dict[int, AtCapacity] = {}
    for name, result in zip(names, results):
        for row in result.found.rows:
            rows[row.capacity] = _joined(rows[row.capacity], row, name) if row.capacity in rows else row
    policies = _in_order({policy for row in rows.values() for policy in row.hits}, results)
    for row in rows.values():
        for policy in policies:
            if policy not in row.hits:
                raise Fault(f"no result has {policy} at {row.capacity}: add --only {policy}@{row.capacity}")
    ordered = [rows[at]._replace(hits={name: rows[at].hits[name] for name in policies}) for at in sorted(rows)]
    targets = {target.share: target for result in results for target in result.found.targets}
    found = Comparison(first.found.totals, policies, ordered, [targets[share] for share in sorted(targets)])
    parameters = {**first.parameters, "policies": policies, "capacities": sorted(rows)}
    return Result(found, first.told, parameters)


def _common(result: Result) -> Any:
    """Return what must be equal in results that are joined."""
    others = {key: value for key, value in result.parameters.items() if key not in ("policies", "capacities")}
    return result.found.totals, result.told, others


def _joined(one: AtCapacity, other: AtCapacity, name: str) -> AtCapacity:
    both = {**one.hits, **other.hits}
    if one._replace(hits=both) != other._replace(hits={**other.hits, **one.hits}):
        raise Fault(f"{shown_name(name)}: has other numbers at {other.capacity} than a file before it: run it again")
    return one._replace(hits=both)


def _in_order(policies: set[str], results: Sequence[Result]) -> list[str]:
    given = [policy for result in results for policy in result.found.policies]
    return sorted(policies, key=lambda name: (list(REGISTRY).index(name) if name in REGISTRY else len(REGISTRY),
                                              given.index(name)))


def read_result(name: str) -> Result:
    """Return what a run wrote to a file.  Raises Fault for a file that is no such result."""
    shown = shown_name(name)
    try:
        with open(name, "rb") as file:
            written = decode(file.read())
        result = _from_json(written)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Fault(f"{shown}: cannot be read ({reason}): name what --json wrote") from None
    except (LineError, KeyError, TypeError, AttributeError, IndexError):
        raise Fault(f"{shown}: is no result of a replay: name what --json wrote") from None
    if as_json(*result) != written:
        raise Fault(f"{shown}: is not as a replay wrote it: run it again")
    return result


def _from_json(written: Any) -> Result:
    """Return the result that `as_json` wrote."""
    measured, parameters = written["measured"], written["parameters"]
    reported = measured["reported"] or {"cached_tokens": 0, "tokens": 0}
    facts = {key: measured[key] for key in About._fields if key in measured}
    told = About(**facts, reported_cached=reported["cached_tokens"], reported_tokens=reported["tokens"])
    counted = measured["counted"]
    totals = Totals(
        counted["requests"],
        counted["blocks"],
        counted["tokens"],
        told.block_tokens if counted["tokens"] else 0,
        told.distinct_blocks,
        measured["infinite"]["hits"],
        LOGGED if parameters["in_flight"] == "logged" else parameters["in_flight"],
    )
    rows = [_row(int(capacity), row) for capacity, row in measured["capacities"].items()]
    targets = [
        Target(Fraction(share[:-1]) / 100, at["lru"], {optimum: at[optimum.value] for optimum in Optimum})
        for share, at in measured["targets"].items()
    ]
    return Result(Comparison(totals, parameters["policies"], rows, targets), told, parameters)


def _row(capacity: int, row: dict[str, Any]) -> AtCapacity:
    return AtCapacity(
        capacity,
        {name: each["hits"] for name, each in row["policies"].items()},
        row["lru_hits"],
        row["lru_hits_at_twice"],
        {optimum: row["optimum"][optimum.value]["hits"] for optimum in Optimum},
        row["optimum_matches_lru_at"],
        None if row["width"] is None else (row["width"][0], row["width"][1]),
    )
