"""`run.py replay`: what each policy hits on a trace, what the best possible policy hits, and how the two compare.

From options to text: the traces are read, replayed and compared, and the comparison is told as a table and sentences,
as JSON, as CSV and as a chart.  Nothing is written before all of that is done.

Which optimum a policy is measured against: while only the request in service is locked, a policy ends each request as
the locked optimum does, so that is the tighter of the two bounds; with requests in flight only the bypassing optimum
is a bound (see `src.traces.replay.TraceOptimum`).
"""

from __future__ import annotations

import argparse
import csv
import functools
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Callable, NamedTuple

from src.page.chart import Series, chart
from src.page.commandline import (
    Fault,
    Once,
    Parser,
    Progress,
    add_policy_options,
    check_writable,
    json_text,
    printable,
    shorten,
    table,
    whole_number,
    write_whole,
)
from src.policies.facts import Score
from src.policies.scores import REGISTRY, described, lru, make_policy, parameters
from src.radixcache import Optimum
from src.traces.lru_curve import Curve, lru_curve
from src.traces.optimum import OptimumCurve, TraceOptimum
from src.traces.reading import Trace, read_traces
from src.traces.replay import Counts, infinite, replay

SIZES = {"": 1, "k": 1000, "m": 1000**2}
CAPACITY = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)([km]?)", re.ASCII | re.IGNORECASE)
ROWS = 8  # of the table, where no capacity is given
COARSE = (10, 20, 50)
FINE = (10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82)  # E12: twelve even steps a decade on a log axis
STDOUT = "-"

EPILOG = f"""\
--radix-eviction-policy may be repeated (lru); "all" stands for {", ".join(REGISTRY)}.  The function in
FILE.py:FUNCTION takes the facts of a cached block and returns its score.  The configuration goes to every chosen policy
that takes its keys; it is an error if none does.  A policy or a capacity is given once.  Without --capacity: the last
eight of 1, 2, 5, 10, 20, 50, ... up to the number of distinct blocks.  With - for a file, stdout carries that file and
nothing else.  An existing file is replaced, once all is computed."""


def main(arguments: list[str]) -> str:
    """Run the command, write the files that were asked for, and return what goes to stdout.

    Raises Fault, or another ValueError, for what the user can mend; then no file was touched.
    Cost: that of a replay for each policy but `lru` at each capacity, of two optima for each capacity, and of a search
    for it: about ten optima more.
    """
    options = parse(arguments)
    policies = chosen_policies(options.radix_eviction_policy or ["lru"], options.radix_eviction_policy_config or {})
    outputs = chosen_outputs(options)
    try:
        trace = read_traces(options.traces, options.page_size, options.skip_bad_lines, _bytes_counter())
        found = compare(trace, policies, sorted(options.capacity or ladder(len(trace.parent))), options.in_flight)
        writers: dict[str, Callable[[], str]] = {
            "json": lambda: json_text(as_json(found, options)),
            "csv": lambda: as_csv(found),
            "svg": lambda: as_svg(found),
        }
        texts = {output: writers[kind]() for kind, output in outputs.items()}
    finally:
        Progress().end()
    for output, text in texts.items():
        if output != STDOUT:
            write_whole(Path(output), text)
    return texts[STDOUT] if STDOUT in texts else as_text(found)


# -- options -------------------------------------------------------------------------------------------------------


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options.  Raises Fault for what cannot be understood or does not go together."""
    parser = Parser(
        "run.py replay",
        description="Replay traces: the hit rate of each policy at each capacity, and of the exact optimum.",
        epilog=EPILOG,
    )
    parser.add_argument("traces", nargs="+", metavar="TRACE", help="JSON lines, plain or gzip; - is standard input")
    add_policy_options(parser, described(), several=True)
    parser.add_argument(
        "--capacity", type=capacity, action="append", metavar="K", help="blocks, such as 500, 2.5k or 1M; repeatable"
    )
    parser.add_argument(
        "--in-flight", type=whole_number(0), default=0, action=Once, metavar="N",
        help="lock the paths of the N requests before each request too (0)",
    )  # fmt: skip
    parser.add_argument(
        "--page-size", type=whole_number(1), default=1, action=Once, metavar="N", help="tokens in a block (1)"
    )
    parser.add_argument("--skip-bad-lines", action="store_true", help="count bad lines instead of ending at the first")
    for kind, what in (("json", "exact counts"), ("csv", "a row for each rate"), ("svg", "a chart")):
        parser.add_argument(f"--{kind}", action=Once, metavar="FILE", help=f"write {what}")
    plain = "--" in arguments  # which intermixed parsing takes for a trace
    options = parser.parse_args(arguments) if plain else parser.parse_intermixed_args(arguments)
    if options.radix_eviction_policy is None and options.radix_eviction_policy_config is not None:
        raise Fault("--radix-eviction-policy-config goes with --radix-eviction-policy: give that too")
    _check_distinct("--capacity", options.capacity or [])
    return options


def capacity(text: str) -> int:
    """Return the blocks in a text such as 500, 2.5k or 1M, for an option's `type`.  Raises ArgumentTypeError."""
    match = CAPACITY.fullmatch(text)
    blocks = Fraction(match[1]) * SIZES[match[2].lower()] if match else Fraction(0)
    if blocks < 1 or blocks.denominator > 1:
        raise argparse.ArgumentTypeError(
            f"{shorten(text)!r} is not a whole number of at least 1 block: give one such as 500, 2.5k or 1M"
        )
    return int(blocks)


def chosen_policies(names: Sequence[str], config: dict[str, Any]) -> dict[str, Score]:
    """Return the scores of the chosen policies by name, in the order given, "all" being those of the registry.

    The configuration goes to those that take all its keys.  Raises PolicyError as `make_policy` does, and Fault if
    several policies are chosen and none takes the configuration, or one is chosen twice.
    """
    names = [each for name in names for each in (REGISTRY if name == "all" else [name])]
    _check_distinct("--radix-eviction-policy", names)
    if len(names) == 1:
        return {names[0]: make_policy(names[0], config)}
    scores = {name: make_policy(name) for name in names}
    takers = [name for name in names if config.keys() <= parameters(scores[name]).keys()]
    if not takers:
        takes = {name: ", ".join(parameters(scores[name])) for name in names}
        known = "; ".join(f"{name} takes {keys}" for name, keys in takes.items() if keys) or "they take no keys"
        raise Fault(f"no chosen policy takes the configuration's {', '.join(config)}: {known}")
    return {**scores, **{name: make_policy(name, config) for name in takers if config}}


def chosen_outputs(options: argparse.Namespace) -> dict[str, str]:
    """Return the outputs by kind, each as a real path or `-`.

    Raises Fault for one that cannot be written, is an input, or is another output too.
    """
    inputs = [name for name in options.traces if name != "-"]
    inputs += [name.rpartition(":")[0] for name in options.radix_eviction_policy or [] if ".py:" in name]
    taken = {os.path.realpath(name): "it is read" for name in inputs}
    outputs = {}
    for kind in ("json", "csv", "svg"):
        given = getattr(options, kind)
        if given is not None:
            output = given if given == STDOUT else os.path.realpath(given or os.curdir)
            if output in taken:
                raise Fault(f"cannot write --{kind} {shorten(given)}: {taken[output]}: name another file")
            if os.path.islink(output):
                raise Fault(f"cannot write {shorten(given)}: its links go round in a circle: name another file")
            if output != STDOUT:
                check_writable(Path(output))
            taken[output] = f"--{kind} goes there"
            outputs[kind] = output
    return outputs


def _check_distinct(flag: str, values: Sequence[Any]) -> None:
    """Raise Fault if one of the values is given twice: it would be counted twice."""
    for at, value in enumerate(values):
        if value in values[:at]:
            raise Fault(f"argument {flag}: {shorten(str(value))} is given twice: give it once")


def ladder(footprint: int) -> list[int]:
    """Return the capacities to look at: the last few of 1, 2, 5, 10, 20, 50, ... up to the distinct blocks."""
    return preferred(COARSE, 1, footprint)[-ROWS:]


def preferred(digits: Sequence[int], low: int, high: int) -> list[int]:
    """Return the numbers from `low` to `high` that start with one of some pairs of digits; below 10 with its first."""
    numbers = {pair * 10**power // 10 for power in range(len(str(high))) for pair in digits}
    return sorted(number for number in numbers if low <= number <= high)


# -- the comparison ------------------------------------------------------------------------------------------------


class AtCapacity(NamedTuple):
    """What was found at one capacity.

    `hits` are those of each policy, and of `lru` whether or not it was chosen; `optimum` those of both optima;
    `matching` is the smallest capacity at which the optimum that bounds the policies hits as many blocks as `lru` here.
    """

    capacity: int
    hits: dict[str, int]
    optimum: dict[Optimum, int]
    matching: int


class Comparison(NamedTuple):
    """The rows of some capacities in increasing order, and what they were computed from."""

    trace: Trace
    policies: Sequence[str]
    in_flight: int
    rows: Sequence[AtCapacity]
    infinite: Counts
    curve: Curve
    optima: dict[Optimum, OptimumCurve]

    @property
    def blocks(self) -> int:
        """The blocks requested, which a hit rate is a share of."""
        return self.infinite.blocks

    @property
    def bound(self) -> Optimum:
        """The optimum that the policies are measured against: the smaller one that bounds them."""
        return Optimum.BYPASS if self.in_flight else Optimum.LOCKED

    def best(self, row: AtCapacity) -> tuple[list[str], int]:
        """Return the chosen policies with the most hits, and these hits."""
        most = max(row.hits[name] for name in self.policies)
        return [name for name in self.policies if row.hits[name] == most], most


def compare(trace: Trace, policies: dict[str, Score], capacities: Sequence[int], in_flight: int = 0) -> Comparison:
    """Return what the policies and both optima hit at each capacity.  Raises ValueError as `replay` does."""
    curve = lru_curve(trace)
    hits = policy_hits(trace, {**policies, "lru": lru}, capacities, in_flight, curve)
    belady = TraceOptimum(trace)
    optima = {optimum: OptimumCurve(belady, optimum) for optimum in Optimum}
    rows: list[AtCapacity] = []
    found = Comparison(trace, list(policies), in_flight, rows, infinite(trace), curve, optima)
    progress = Progress()
    for blocks, each in zip(capacities, hits):
        both = {optimum: optima[optimum].hits(blocks) for optimum in Optimum}
        rows.append(AtCapacity(blocks, each, both, optima[found.bound].smallest_capacity(each["lru"])))
        progress.count(len(rows), len(capacities), "optimum, capacities")
    return found


def policy_hits(
    trace: Trace, scores: dict[str, Score], capacities: Sequence[int], in_flight: int, curve: Curve
) -> list[dict[str, int]]:
    """Return the hits of each policy by name, for each capacity.  Without requests in flight LRU's are on the curve."""
    progress = Progress()
    requests = len(trace.requests)
    replayed = {name: score for name, score in scores.items() if in_flight or score is not lru}
    runs = [(blocks, name) for blocks in capacities for name in replayed]
    hits = {blocks: {"lru": curve.hits(blocks)} for blocks in capacities}

    def count(run: int, done: int, _: int) -> None:
        blocks, name = runs[run]
        progress.count(run * requests + done, len(runs) * requests, f"{name} at {blocks:,}, requests")

    for run, (blocks, name) in enumerate(runs):
        done = replay(trace, blocks, replayed[name], in_flight, functools.partial(count, run))
        hits[blocks][name] = done.hits
    return [hits[blocks] for blocks in capacities]


def _bytes_counter() -> Callable[[int, int], None]:
    """Return the progress of reading; the next file starts its own rate."""
    progress, latest = Progress(), 0

    def count(done: int, size: int) -> None:
        nonlocal progress, latest
        if done < latest:
            progress = Progress()
        latest = done
        progress.count(done, size, "reading, bytes")

    return count


# -- the texts -----------------------------------------------------------------------------------------------------


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
    return "\n".join([*head(found), "", table(header, rows), "", *sentences, scale]) + "\n"


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
    return f"{share}, which matches LRU with {counted(row.matching, 'block')}."


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
