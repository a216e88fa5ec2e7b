"""A claim of `results/main.json`: what was measured, what the study published, and whether the two agree."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

Claim = dict[str, Any]


def claim(
    parameters: Mapping[str, Any],
    measured: Mapping[str, Any],
    published: Mapping[str, Any] | None = None,
    expected: Mapping[str, Any] | None = None,
    **more: Any,
) -> Claim:
    """Return a claim as results hold it; `more` are its witnesses.

    `published` has keys of `measured`, perhaps not all of them.  Where there is a published value, `reproduced` tells
    whether it agrees with the measured one.  Likewise `expected`, what a theorem or a control demands, and `holds`.
    """
    result: Claim = {"parameters": dict(parameters), "measured": dict(measured)}
    if published is not None:
        result["published"] = dict(published)
        result["reproduced"] = agrees(published, measured)
    if expected is not None:
        result["expected"] = dict(expected)
        result["holds"] = agrees(expected, measured)
    result.update(more)
    return result


def agrees(published: Any, measured: Any) -> bool:
    """Return whether a measured value is the published one.

    A published decimal such as "1.667" agrees with the exact ratio "5/3" if that, rounded to as many places, is the
    decimal.  A mapping agrees if all its published keys do.
    """
    if isinstance(published, Mapping):
        return isinstance(measured, Mapping) and all(
            key in measured and agrees(value, measured[key]) for key, value in published.items()
        )
    if isinstance(published, str) and isinstance(measured, str):
        places = len(published.partition(".")[2])
        ratio = Fraction(measured)
        return (round(ratio, places) if places else ratio) == Fraction(published)
    return type(published) is type(measured) and bool(published == measured)


def compared(results: Mapping[str, Claim], against: str = "published") -> list[tuple[str, str, str, bool]]:
    """Return a row for each value that is published (or "expected"): key, that value, the measured one, agreement."""
    rows = []
    for name, one in results.items():
        for key, published, measured in _pairs(one.get(against, {}), one.get("measured", {})):
            rows.append((f"{name}.{key}", str(published), str(measured), agrees(published, measured)))
    return rows


def _pairs(published: Mapping[str, Any], measured: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    pairs: list[tuple[str, Any, Any]] = []
    for key, value in published.items():
        found = measured.get(key)
        if isinstance(value, Mapping) and isinstance(found, Mapping):
            pairs += [(f"{key}.{below}", one, other) for below, one, other in _pairs(value, found)]
        else:
            pairs.append((key, value, found))
    return pairs
