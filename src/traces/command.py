"""`run.py replay`: what each policy hits on a trace, what the best possible policy hits, and how the two compare.

From options to text: the traces are read, replayed and compared, and the comparison is told as a table and sentences,
as JSON, as CSV and as a chart.  Nothing is written before all of that is done.

Which optimum a policy is measured against: while only the request in service is locked, a policy ends each request as
the locked optimum does, so that is the tighter of the two bounds; with requests in flight only the bypassing optimum
is a bound (see `src.traces.optimum.TraceOptimum`).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable

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
    whole_number,
    write_whole,
)
from src.policies.facts import Score
from src.policies.scores import REGISTRY, described, make_policy, parameters
from src.traces.about import about
from src.traces.cells import default_jobs
from src.traces.comparison import Curves, compare, curves_of, ladder
from src.traces.merge import Result, merge
from src.traces.options import add_counting_options, add_reading_options, capacity, cell, share
from src.traces.reading import Trace, read_traces
from src.traces.texts import as_csv, as_json, as_svg, as_text
from src.traces.workload import LOGGED, workload_of

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
    Cost: that of reading and of `compare`.
    """
    options = parse(arguments)
    policies = chosen_policies(options.radix_eviction_policy or ["lru"], options.radix_eviction_policy_config or {})
    outputs = chosen_outputs(options)
    try:
        result, curves = (merge(options.traces), None) if options.merge else replayed(options, policies)
        writers: dict[str, Callable[[], str]] = {
            "json": lambda: json_text(as_json(*result)),
            "csv": lambda: as_csv(result.found),
            "svg": lambda: as_svg(result.found, curves) if curves else "",
        }
        texts = {output: writers[kind]() for kind, output in outputs.items()}
    finally:
        Progress().end()
    for output, text in texts.items():
        if output != STDOUT:
            write_whole(Path(output), text)
    return texts[STDOUT] if STDOUT in texts else as_text(result.found, result.told)


def replayed(options: argparse.Namespace, policies: dict[str, Score]) -> tuple[Result, Curves]:
    """Return what the policies hit on the traces, and the curves.  Raises Fault and ValueError as their parts do."""
    trace = read_traces(
        options.traces,
        options.page_size,
        options.skip_bad_lines,
        _bytes_counter(),
        options.tokens_per_block,
        options.partial_blocks == "keep",
        options.namespace,
    )
    follow = options.outputs == "follow"
    workload = workload_of(
        trace, options.in_flight, options.warm_up, options.last_block == "recomputed", follow
    )
    curves = curves_of(workload)
    found = compare(workload, curves, policies, capacities(options, trace), options.target, options.jobs)
    written = {
        "traces": list(map(printable, options.traces)),
        "policies": list(map(printable, policies)),
        "configuration": options.radix_eviction_policy_config or {},
        "capacities": [row.capacity for row in found.rows],
        "in_flight": "logged" if options.in_flight == LOGGED else options.in_flight,
        "page_size": options.page_size,
        "tokens_per_block": options.tokens_per_block,
        "partial_blocks": options.partial_blocks,
        "last_block": options.last_block,
        "outputs": options.outputs,
        "namespaces": list(map(printable, options.namespace)),
        "skip_bad_lines": options.skip_bad_lines,
    }
    return Result(found, about(trace, options.warm_up, follow), written), curves


def capacities(options: argparse.Namespace, trace: Trace) -> list[int]:
    """Return the capacities in blocks, in increasing order.  Raises Fault for one that is not known or given twice."""
    if not options.capacity:
        return ladder(len(trace.parent))
    blocks = [size.blocks(trace.block_tokens, options.bytes_per_token) for size in options.capacity]
    _check_distinct("--capacity", blocks)
    return sorted(blocks)


# -- options -------------------------------------------------------------------------------------------------------


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options.  Raises Fault for what cannot be understood or does not go together."""
    parser = Parser(
        "run.py replay",
        description="Replay traces: the hit rate of each policy at each capacity, and of the exact optimum.",
        epilog=EPILOG,
    )
    parser.add_argument(
        "traces", nargs="+", metavar="TRACE",
        help="JSON lines, one JSON array, or a log of SGLang or vLLM, plain or gzip; - is standard input",
    )  # fmt: skip
    add_policy_options(parser, described(), several=True)
    parser.add_argument(
        "--capacity", type=capacity, action="append", metavar="K",
        help="blocks, such as 500, 2.5k or 1M, tokens, such as 1.5Mtok, or memory, such as 40GB; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--bytes-per-token", type=whole_number(1), action=Once, metavar="N", help="for a capacity that is memory"
    )
    parser.add_argument(
        "--target", type=share, action="append", default=[], metavar="SHARE",
        help="find the smallest capacities that hit a share of the blocks, such as 30%%; repeatable",
    )  # fmt: skip
    add_reading_options(parser)
    add_counting_options(parser)
    parser.add_argument(
        "--jobs", type=whole_number(1), default=default_jobs(), action=Once, metavar="N",
        help="processes for policies and capacities (the processors)",
    )  # fmt: skip
    parser.add_argument(
        "--only", type=cell, action=Once, metavar="POLICY@K", help="replay one policy at one capacity, for a job array"
    )
    parser.add_argument("--merge", action="store_true", help="the files are what --json wrote: join them")
    for kind, what in (("json", "exact counts"), ("csv", "a row for each rate"), ("svg", "a chart")):
        parser.add_argument(f"--{kind}", action=Once, metavar="FILE", help=f"write {what}")
    plain = "--" in arguments  # which intermixed parsing takes for a trace
    options = parser.parse_args(arguments) if plain else parser.parse_intermixed_args(arguments)
    _check_together(options)
    return options


def _check_together(options: argparse.Namespace) -> None:
    """Raise Fault for options that do not go together, and put what --only stands for in its place."""
    if options.only:
        if options.radix_eviction_policy is not None or options.capacity:
            raise Fault("--only names a policy and a capacity: leave out --radix-eviction-policy and --capacity")
        options.radix_eviction_policy, options.capacity = [options.only[0]], [options.only[1]]
    if options.radix_eviction_policy is None and options.radix_eviction_policy_config is not None:
        raise Fault("--radix-eviction-policy-config goes with --radix-eviction-policy: give that too")
    if options.merge and (options.capacity or options.radix_eviction_policy is not None or options.target):
        raise Fault("--merge joins what was found: leave out policies, capacities and targets")
    if options.merge and options.svg is not None:
        raise Fault("--merge draws no chart, which needs the trace: leave out --svg")
    for flag in ("capacity", "target"):
        _check_distinct(f"--{flag}", getattr(options, flag) or [])


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
