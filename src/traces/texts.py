"""A comparison told: as a table and sentences, as JSON, as CSV and as a chart."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Callable

from src.page.chart import MOST_NAMES, Series, chart
from src.page.commandline import table
from src.page.guard import printable
from src.radixcache import Optimum
from src.traces.about import About, head
from src.traces.comparison import FINE, AtCapacity, Comparison, Curves, Target, Totals, preferred
from src.traces.verdict import CAVEAT, sentence, suffers_from, target_sentence, verdict
from src.traces.words import counted, decimal, percent

MOST_POLICIES = MOST_NAMES - len(Optimum) - 1  # that a chart has names for besides the optima and the infinite cache


def as_text(found: Comparison, told: About) -> str:
    """Return the comparison for a reader: the trace, the tables of hit rates, sentences for each capacity."""
    parts = [*head(told, found.totals), "", _rates(found, found.totals.rate), ""]
    if found.totals.some_outside:
        parts += ["of the tokens:", _rates(found, found.totals.token_rate), ""]
    parts += [sentence(found, row) for row in found.rows]
    parts += [_scale(found), *_worst_case(found), ""]
    parts += [target_sentence(found, target) for target in found.targets]
    parts += [verdict(found, row) for row in found.rows]
    return "\n".join([*parts, CAVEAT]) + "\n"


def _worst_case(found: Comparison) -> list[str]:
    """Return the width of the trie at one block more than each capacity, and what it bounds."""
    widths = []
    for row in found.rows:
        if row.width is not None:
            lower, upper = row.width
            between = f"{lower:,}" if lower == upper else f"{lower:,} to {upper:,}"
            widths.append(f"{between} at {row.capacity:,}")
    told = "LRU misses at most w times what the bypassing optimum misses, w being the trie's width at K + 1 blocks:"
    return [told, f"{'; '.join(widths)}."] if widths else []


def _rates(found: Comparison, rate: Callable[[int], Fraction]) -> str:
    """Return the table of hit rates; the last column is what LRU hits with twice the capacity."""
    optima = [f"optimum {optimum.value}" for optimum in Optimum]
    rows = []
    for row in found.rows:
        hits = [*row.hits.values(), *row.optimum.values(), row.doubled]
        rows.append([f"{row.capacity:,}", *(percent(rate(each)) for each in hits)])
    return table(["capacity", *map(printable, found.policies), *optima, "lru at twice"], rows)


def _scale(found: Comparison) -> str:
    if found.totals.in_flight:
        return (
            "The optimum meant is the bypassing one.  Where paths in flight keep the end of a path out of the cache\n"
            "the locked one must hold it, so only the bypassing one bounds every policy."
        )
    return "The optimum meant is the locked one: like a policy, it ends each request holding its path."


# -- JSON ----------------------------------------------------------------------------------------------------------


def as_json(found: Comparison, told: About, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the comparison as exact counts and ratios; `from_json` in `merge` reads it back."""
    totals = found.totals
    facts = told._asdict()
    cached, tokens = facts.pop("reported_cached"), facts.pop("reported_tokens")
    reported = None
    if tokens:
        reported = {"cached_tokens": cached, "tokens": tokens, "hit_rate": str(Fraction(cached, tokens))}
    return {
        "parameters": parameters,
        "measured": {
            **facts,
            "counted": {"requests": totals.requests, "blocks": totals.blocks, "tokens": totals.tokens},
            "infinite": _hit_rate(totals, totals.infinite),
            "reported": reported,
            "bound": totals.bound.value,
            "capacities": {str(row.capacity): _row(found, row) for row in found.rows},
            "targets": {percent(each.share): _target(each) for each in found.targets},
        },
    }


def _hit_rate(totals: Totals, hits: int) -> dict[str, Any]:
    rate = {"hits": hits, "hit_rate": str(totals.rate(hits))}
    return {**rate, "token_hit_rate": str(totals.token_rate(hits))} if totals.tokens else rate


def _row(found: Comparison, row: AtCapacity) -> dict[str, Any]:
    names, most = row.best()
    reach = row.optimum[found.totals.bound]
    suffers, size, policy = suffers_from(found, row)
    return {
        "policies": {printable(name): _hit_rate(found.totals, hits) for name, hits in row.hits.items()},
        "optimum": {optimum.value: _hit_rate(found.totals, hits) for optimum, hits in row.optimum.items()},
        "best_policies": list(map(printable, names)),
        "share_of_optimum": str(Fraction(most, reach)) if reach else None,
        "lru_hits": row.lru,
        "lru_hits_at_twice": row.doubled,
        "optimum_matches_lru_at": row.matching,
        "width": None if row.width is None else list(row.width),
        "suffers_from": {"answer": suffers, "hits_lost_to_size": size, "hits_lost_to_policy": policy},
    }


def _target(target: Target) -> dict[str, Any]:
    return {"lru": target.lru, **{optimum.value: blocks for optimum, blocks in target.optimum.items()}}


# -- CSV and chart -------------------------------------------------------------------------------------------------


def as_csv(found: Comparison) -> str:
    """Return a line for each capacity and policy or optimum: its hits, the requested blocks, the rates to six places.

    The last column is the rate of tokens, empty where it is not known.
    """
    totals = found.totals
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["capacity", "policy", "hits", "blocks", "hit_rate", "token_hit_rate"])
    for row in found.rows:
        lines = [(printable(name), hits) for name, hits in row.hits.items()]
        lines += [(f"optimum {optimum.value}", hits) for optimum, hits in row.optimum.items()]
        for name, hits in lines:
            tokens = decimal(totals.token_rate(hits), 6) if totals.tokens else ""
            writer.writerow([row.capacity, name, hits, totals.blocks, decimal(totals.rate(hits), 6), tokens])
    return out.getvalue()


def as_svg(found: Comparison, curves: Curves) -> str:
    """Return a chart: LRU at all capacities, both optima at some forty, the other policies at those of the rows."""
    totals = found.totals
    low = max(min(found.rows[0].capacity, totals.distinct // 1000), 1)
    high = max(found.rows[-1].capacity, totals.distinct)
    samples = sorted({low, high, *preferred(FINE, low, high)})
    steps = [low, *(place for place in curves.lru.capacities if low < place < high), high]

    def points(places: Sequence[int], hits: Iterable[int]) -> list[tuple[int, Fraction]]:
        """Return capacities with their hits as a share of the blocks."""
        return [(place, totals.rate(each)) for place, each in zip(places, hits)]

    kinds = ("nothing in flight", "some in flight") if totals.in_flight else ("", "")
    series = [Series("lru", points(steps, map(curves.lru.hits, steps)), "steps", kinds[0])]
    for optimum, optimal in curves.optima.items():
        series.append(Series(f"optimum {optimum.value}", points(samples, map(optimal.hits, samples))))
    capacities = [row.capacity for row in found.rows]
    for policy in found.policies:
        if policy != "lru" or totals.in_flight:
            hits = (row.hits[policy] for row in found.rows)
            series.append(Series(printable(policy), points(capacities, hits), "points", kinds[1]))
    series.append(Series("infinite cache", points([low, high], [totals.infinite] * 2), "dotted"))
    title = f"Hit rate by capacity: {counted(totals.requests, 'request')}, {counted(totals.blocks, 'block')}"
    return chart(title, "capacity in blocks", "hit rate", series, x_log=True, y_percent=True)
