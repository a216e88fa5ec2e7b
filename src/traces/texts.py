"""A comparison told: as a table and sentences, as JSON, as CSV and as a chart."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from src.page.chart import MOST_NAMES, Series, chart
from src.page.commandline import table
from src.page.guard import printable
from src.radixcache import Optimum
from src.traces.comparison import FINE, AtCapacity, Comparison, preferred
from src.width import width_curve

MOST_POLICIES = MOST_NAMES - len(Optimum) - 1  # that a chart has names for besides the optima and the infinite cache


def as_text(found: Comparison) -> str:
    """Return the comparison for a reader: the trace, the table of hit rates, a sentence a capacity."""
    header = ["capacity", *map(printable, found.policies), *(f"optimum {optimum.value}" for optimum in Optimum)]
    rows = []
    for row in found.rows:
        hits = [*(row.hits[name] for name in found.policies), *row.optimum.values()]
        rows.append([f"{row.capacity:,}", *(percent(Fraction(each, found.blocks)) for each in hits)])
    sentences = [sentence(found, row) for row in found.rows]
    scale = "The gap runs from nothing to the locked optimum: like a policy, it ends each request holding its path."
    if found.in_flight:
        scale = (
            "The gap runs from nothing to the bypassing optimum.  Where paths in flight keep the end of a path out of\n"
            "the cache the locked one must hold it, so only the bypassing one bounds every policy."
        )
    return "\n".join([*head(found), "", table(header, rows), "", *sentences, scale, *worst_case(found)]) + "\n"


def head(found: Comparison) -> Iterator[str]:
    """Yield what the trace holds, what is odd about it, and how much an infinite cache hits."""
    trace = found.trace
    requests, hits = len(trace.requests), found.infinite.hits
    yield f"{counted(requests, 'request')}, {counted(found.blocks, 'block')}, {len(trace.parent):,} of them distinct"
    if trace.shared_ids:
        yield f"{counted(trace.shared_ids, 'id')} under two parents or more: one block for each parent"
    if trace.backward_timestamps:
        yield f"{counted(trace.backward_timestamps, 'request')} with an earlier timestamp than the one before"
    if trace.bad_lines:
        yield f"{counted(trace.bad_lines, 'bad line')} skipped, the first: {trace.first_bad_line}"
    yield f"infinite cache: {counted(hits, 'hit')}, {percent(Fraction(hits, found.blocks))}"
    if found.in_flight:
        yield f"in flight: {counted(found.in_flight, 'request')} before each request, their paths locked"


def sentence(found: Comparison, row: AtCapacity) -> str:
    """Return how much of the optimum's hits the best policy gets, and with how few blocks the optimum gets LRU's."""
    at, reach = f"At {counted(row.capacity, 'block')}", row.optimum[found.bound]
    if not reach:
        return f"{at} even the optimum hits nothing."
    names, most = found.best(row)
    every = len(names) == len(found.policies) > 1
    close = "all policies close" if every else " and ".join(map(printable, names)) + " close" + "s" * (len(names) == 1)
    share = f"{at} {close} {percent(Fraction(most, reach))} of the gap to the optimum"
    if not row.hits["lru"]:
        return f"{share}; LRU hits nothing."
    return f"{share}; the optimum matches LRU with {counted(row.matching, 'block')}."


def worst_case(found: Comparison) -> Iterator[str]:
    """Yield the width of the trace's trie at K + 1 blocks, for the capacities that do not hold all of it."""
    curve = width_curve(found.trace.parent)
    rows = [(row.capacity, *curve.between(row.capacity + 1)) for row in found.rows]
    widths = [
        f"{upper:,} at {capacity:,}" if lower == upper else f"{lower:,} to {upper:,} at {capacity:,}"
        for capacity, lower, upper in rows
        if capacity < len(found.trace.parent)
    ]
    if widths and not found.in_flight:  # the theorem is for LRU that locks the path in service alone
        yield "LRU misses at most w times what the bypassing optimum misses, w being the trie's width at K + 1 blocks:"
        yield "; ".join(widths) + "."


def as_json(found: Comparison, options: argparse.Namespace) -> dict[str, Any]:
    """Return the comparison as exact counts and ratios."""
    config = options.radix_eviction_policy_config or {}
    trace = found.trace

    def rate(hits: int) -> dict[str, Any]:
        return {"hits": hits, "hit_rate": str(Fraction(hits, found.blocks))}

    def at(row: AtCapacity) -> dict[str, Any]:
        names, most = found.best(row)
        reach = row.optimum[found.bound]
        return {
            "policies": {printable(name): rate(row.hits[name]) for name in found.policies},
            "optimum": {optimum.value: rate(hits) for optimum, hits in row.optimum.items()},
            "best_policies": list(map(printable, names)),
            "gap_closed": str(Fraction(most, reach)) if reach else None,
            "lru_hits": row.hits["lru"],
            "optimum_matches_lru_at": row.matching,
        }

    return {
        "parameters": {
            "traces": list(map(printable, options.traces)),
            "policies": list(map(printable, found.policies)),
            "configuration": config,
            "capacities": [row.capacity for row in found.rows],
            "in_flight": found.in_flight,
            "page_size": options.page_size,
            "skip_bad_lines": options.skip_bad_lines,
        },
        "measured": {
            "requests": len(trace.requests),
            "blocks": found.blocks,
            "distinct_blocks": len(trace.parent),
            "shared_ids": trace.shared_ids,
            "backward_timestamps": trace.backward_timestamps,
            "bad_lines": trace.bad_lines,
            "infinite": rate(found.infinite.hits),
            "bound": found.bound.value,
            "capacities": {str(row.capacity): at(row) for row in found.rows},
        },
    }


def as_csv(found: Comparison) -> str:
    """Return a line for each capacity and policy or optimum: its hits, the requested blocks, the rate to six places."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["capacity", "policy", "hits", "blocks", "hit_rate"])
    for row in found.rows:
        lines = [(printable(name), row.hits[name]) for name in found.policies]
        lines += [(f"optimum {optimum.value}", hits) for optimum, hits in row.optimum.items()]
        for name, hits in lines:
            writer.writerow([row.capacity, name, hits, found.blocks, decimal(Fraction(hits, found.blocks), 6)])
    return out.getvalue()


def as_svg(found: Comparison) -> str:
    """Return a chart: LRU at all capacities, both optima at some forty, the other policies at those of the rows."""
    footprint = len(found.trace.parent)
    low = max(min(found.rows[0].capacity, footprint // 1000), 1)
    high = max(found.rows[-1].capacity, footprint)
    samples = sorted({low, high, *preferred(FINE, low, high)})
    steps = [low, *(place for place in found.curve.capacities if low < place < high), high]

    def points(places: Sequence[int], hits: Iterable[int]) -> list[tuple[int, Fraction]]:
        return [(place, Fraction(each, found.blocks)) for place, each in zip(places, hits)]

    kinds = ("nothing in flight", f"{found.in_flight:,} in flight") if found.in_flight else ("", "")
    series = [Series("lru", points(steps, map(found.curve.hits, steps)), "steps", kinds[0])]
    for optimum, optimal in found.optima.items():
        series.append(Series(f"optimum {optimum.value}", points(samples, map(optimal.hits, samples))))
    capacities = [row.capacity for row in found.rows]
    for policy in found.policies:
        if policy != "lru" or found.in_flight:
            hits = (row.hits[policy] for row in found.rows)
            series.append(Series(printable(policy), points(capacities, hits), "points", kinds[1]))
    series.append(Series("infinite cache", points([low, high], [found.infinite.hits] * 2), "dotted"))
    title = f"Hit rate by capacity: {counted(len(found.trace.requests), 'request')}, {counted(found.blocks, 'block')}"
    return chart(title, "capacity in blocks", "hit rate", series, x_log=True, y_percent=True)


def counted(number: int, what: str) -> str:
    """Return a number of things: `1 block`, `2,000 blocks`."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def percent(share: Fraction) -> str:
    """Return a share as percent with two decimals, halves to the even digit."""
    return decimal(100 * share, 2) + "%"


def decimal(value: Fraction, places: int) -> str:
    """Return a number that is not negative with so many decimals, halves to the even digit."""
    digits = str(round(value * 10**places)).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}"
