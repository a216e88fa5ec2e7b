"""`run.py replay`: what each policy hits on a trace, what the best possible policy hits, and how the two compare.

From options to text: the traces are read, replayed and compared, and the comparison is told as a table and sentences,
as JSON, as CSV and as a chart.  Nothing is written before all of that is done.

Which optimum a policy is measured against: while only the request in service is locked, a policy ends each request as
the locked optimum does, so that is the tighter of the two bounds; with requests in flight only the bypassing optimum
is a bound (see `src.traces.optimum.TraceOptimum`).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Callable

from src.page.commandline import Once, Parser, Progress, add_policy_options, json_text, shorten, whole_number
from src.page.guard import Fault, Outcome, printable
from src.page.processors import processors
from src.page.writer import check_outputs, write_all
from src.policies.facts import Score
from src.policies.scores import described, make_policy, parameters, research_policies, sglang_policies
from src.policies.user_file import file_of
from src.traces import engine_texts, explanation
from src.traces.about import about
from src.traces.comparison import Comparison, compare, curves_of, ladder
from src.traces.engines import compare_engines
from src.traces.merge import Result, merge
from src.traces.options import add_counting_options, add_reading_options, capacity, cell, share
from src.traces.reading import Trace, read_traces
from src.traces.texts import MOST_POLICIES, as_csv, as_json, as_svg, as_text
from src.traces.workload import LOGGED, workload_of

STDOUT = "-"

EPILOG = f"""\
--radix-eviction-policy may be repeated (lru); "all" stands for SGLang's own, {", ".join(sglang_policies())};
"research" for those of the literature and ours, {", ".join(research_policies())}.
The function in FILE.py:FUNCTION takes the facts of a cached block and returns its score, which must depend on
nothing else.  It is computed anew for each request that must evict if it also takes "now" (the number of that request),
"now_ms" (its time in milliseconds) or "returns" (what was learned so far of blocks that come back).
The configuration goes to every chosen policy that takes its keys; it is an error if none does.  With --engine sglang or
all, tlru may be chosen too, with its keys threshold and next_prompt_estimate, in blocks.  A policy or a capacity is
given once.  Without --capacity: the last eight of 1, 2, 5, 10, 20, 50, ... up to the number of distinct blocks.  With -
for a file, stdout carries that file and nothing else.  Existing files are replaced, once all is computed."""


def main(arguments: list[str]) -> Outcome:
    """Run the command, write the files that were asked for, and return what goes to stdout.

    Raises Fault, or another ValueError, for what the user can mend; then no file was touched.
    Cost: that of reading and of `compare`, or of `compare_engines`.
    """
    options = parse(arguments)
    engines = engine_texts.engines_chosen(options)
    if engines:
        return beside_engines(options, engines)
    policies = chosen_policies(options.radix_eviction_policy or ["lru"], options.radix_eviction_policy_config or {})
    outputs = chosen_outputs(options)
    if "svg" in outputs and len(policies.keys() | {"lru"}) > MOST_POLICIES:
        raise Fault(f"argument --svg: a chart has room for {MOST_POLICIES} policies: choose fewer or leave it out")
    try:
        if options.merge:
            result = merge(options.traces)
            writers, more = told(result), ""
        else:
            writers, more = told_of_traces(options, policies)
        texts = {output: writers[kind]() for kind, output in outputs.items()}
        page = "" if STDOUT in texts else writers["text"]() + more
    finally:
        Progress().end()
    file = texts.pop(STDOUT, None)
    write_all(texts)
    return Outcome(page) if file is None else Outcome(file, encoding="utf-8")


Writers = dict[str, Callable[[], str]]


def told(result: Result) -> Writers:
    """Return what makes the texts of a result, by kind."""
    return {
        "text": lambda: as_text(result.found, result.told),
        "json": lambda: json_text(as_json(*result)),
        "csv": lambda: as_csv(result.found),
    }


def told_of_traces(options: argparse.Namespace, policies: dict[str, Score]) -> tuple[Writers, str]:
    """Return what makes the texts of what was found on the traces, and what the page tells beyond it."""
    trace = read(options)
    recompute, follow = options.last_block == "recomputed", options.outputs == "follow"
    workload = workload_of(trace, options.in_flight, options.warm_up, recompute, follow)
    curves = curves_of(workload)
    compared = compare(workload, curves, policies, capacities(options, trace), options.target, options.jobs)
    found = Result(compared, about(trace, options.warm_up, follow), parameters_of(options, compared))
    writers = told(found)
    writers["svg"] = lambda: as_svg(found.found, curves)
    more = ""
    if options.explain:
        explained = explanation.explanations(workload, curves, found.found, policies)
        between = explanation.gaps(workload)
        everything = {**as_json(*found), "explained": explanation.as_json(explained, between)}
        writers["json"] = lambda: json_text(everything)
        writers["svg"] = lambda: explanation.as_svg(explained, between)
        more = explanation.as_text(explained, between)
    return writers, more


def read(options: argparse.Namespace) -> Trace:
    """Return the trace that the options name.  Raises Fault as `read_traces` does, and for pages of no tokens."""
    trace = read_traces(
        options.traces,
        options.page_size,
        options.skip_bad_lines,
        _bytes_counter(),
        options.tokens_per_block,
        options.partial_blocks == "keep",
        options.namespace,
    )
    if options.page_size > 1 and not trace.paged:
        raise Fault("argument --page-size: no request has tokens to cut into pages: leave it out")
    return trace


def parameters_of(options: argparse.Namespace, found: Comparison) -> dict[str, Any]:
    """Return the parameters as the results hold them."""
    return {
        "traces": list(map(printable, options.traces)),
        "policies": list(map(printable, found.policies)),
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


def beside_engines(options: argparse.Namespace, engines: Sequence[str]) -> Outcome:
    """Do what `main` does where engines are set beside the model.  Cost: that of `compare_engines`."""
    chosen, config = options.radix_eviction_policy or ["lru"], options.radix_eviction_policy_config or {}
    names, config, tail_optimized = engine_texts.without_tlru(chosen, config, engines)
    policies = chosen_policies(names, config) if names else {}
    engine_texts.check_policies(policies, engines)
    outputs = chosen_outputs(options)
    try:
        trace = read(options)
        setting = engine_texts.setting(options)
        found = compare_engines(trace, policies, tail_optimized, engines, capacities(options, trace), setting)
        json = json_text(engine_texts.as_json(found, options))
    finally:
        Progress().end()
    if STDOUT in outputs.values():
        return Outcome(json, encoding="utf-8")
    write_all({output: json for output in outputs.values()})
    return Outcome(engine_texts.as_text(found))


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
    engine_texts.add_engine_options(parser)
    parser.add_argument(
        "--jobs", type=whole_number(1), default=processors(), action=Once, metavar="N",
        help="processes for policies and capacities (the processors)",
    )  # fmt: skip
    parser.add_argument(
        "--only", type=cell, action=Once, metavar="POLICY@K", help="replay one policy at one capacity, for a job array"
    )
    parser.add_argument("--merge", action="store_true", help="the files are what --json wrote: join them")
    parser.add_argument(
        "--explain", action="store_true", help="tell which misses the optimum avoids, also in the JSON and as the chart"
    )
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
    """Return the scores of the chosen policies by name, in the order given.

    "all" stands for SGLang's, and "research" for the other registered ones.
    The configuration goes to those that take all its keys.  Raises PolicyError as `make_policy` does, and Fault if
    several policies are chosen and none takes the configuration, or one is chosen twice.
    """
    groups = {"all": sglang_policies(), "research": research_policies()}
    names = [each for name in names for each in groups.get(name, [name])]
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
    named = {f"--{kind}": getattr(options, kind) for kind in ("json", "csv", "svg")}
    given = {option: name for option, name in named.items() if name is not None}
    to_stdout = [option for option, name in given.items() if name == STDOUT]
    if len(to_stdout) > 1:
        raise Fault(f"cannot write {to_stdout[1]} {STDOUT}: {to_stdout[0]} goes there: name another file")
    policies = filter(None, map(file_of, options.radix_eviction_policy or []))
    targets = check_outputs(
        {option: name for option, name in given.items() if name != STDOUT}, [*options.traces, *policies]
    )
    return {option.lstrip("-"): targets.get(option, STDOUT) for option in given}


def _check_distinct(flag: str, values: Sequence[Any]) -> None:
    """Raise Fault if one of the values is given twice: it would be counted twice."""
    for at, value in enumerate(values):
        if value in values[:at]:
            raise Fault(f"argument {flag}: {shorten(str(value))} is given twice: give it once")


def _bytes_counter() -> Callable[[int, int], None]:
    """Return the progress of reading; the next file starts its own rate."""
    progress, latest = Progress(), 0

    def count(done: int, size: int) -> None:
        """Show the bytes read; fewer than before are those of the next file."""
        nonlocal progress, latest
        if done < latest:
            progress = Progress()
        latest = done
        progress.count(done, size, "reading, bytes")

    return count
