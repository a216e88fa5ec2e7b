"""The parts that the report is made of: tables and paragraphs in Markdown, from the values of claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from src.walks.every_length import condensed


def shown(value: Any) -> str:
    """Return a value as a cell shows it: True as yes, a sequence of requests as code."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return code(value) if value else "none"
    return str(value)


def code(requests: Iterable[Any]) -> str:
    """Return requests as code."""
    return f"`{condensed(list(map(str, requests)))}`"


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table."""
    lines = [list(header), ["---"] * len(header), *([shown(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def schedule(steps: Sequence[Mapping[str, Any]], managers: Mapping[str, str]) -> str:
    """Return a witness step by step: for each request what each manager (key and name) missed, evicted and held."""
    header = ["request", *(f"{name}: {what}" for name in managers.values() for what in ("misses", "evicts", "holds"))]
    rows = []
    for step in steps:
        cells = [f"`{step['request']}`"]
        for key in managers:
            one = step[key]
            cells += [str(one["misses"]), *(" ".join(one[what]) or "-" for what in ("evicted", "cached"))]
        rows.append(cells)
    return table(header, rows)


def paragraphs(*parts: str) -> str:
    """Return parts with a blank line between them."""
    return "\n\n".join(part.strip() for part in parts if part.strip())
