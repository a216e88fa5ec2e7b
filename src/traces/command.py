"""`run.py replay`: what each policy hits on a trace, what the best possible policy hits, and how the two compare.

From options to text: the traces are read, replayed and compared, and the comparison is told as a table and sentences,
as JSON, as CSV and as a chart.  Nothing is written before all of that is done.

Which optimum a policy is measured against: while only the request in service is locked, a policy ends each request as
the locked optimum does, so that is the tighter of the two bounds; with requests in flight only the bypassing optimum
is a bound (see `src.traces.replay.TraceOptimum`).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Callable

from src.page.commandline import (
    Once,
    Parser,
    Progress,
    add_policy_options,
    json_text,
    quoted,
    shorten,
    whole_number,
)
from src.page.guard import Fault, Outcome
from src.page.writer import check_outputs, write_all
from src.policies.facts import Score
from src.policies.scores import described, make_policy, parameters, research_policies, sglang_policies
from src.policies.user_file import file_of
from src.traces import engine_texts, explanation
from src.traces.comparison import compare, ladder
from src.traces.engines import compare_engines
from src.traces.reading import read_traces
from src.traces.texts import MOST_POLICIES, as_csv, as_json, as_svg, as_text

SIZES = {"": 1, "k": 1000, "m": 1000**2}
CAPACITY = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)([km]?)", re.ASCII | re.IGNORECASE)
STDOUT = "-"

EPILOG = f"""\
--radix-eviction-policy may be repeated (lru); "all" stands for SGLang's own, {", ".join(sglang_policies())};
"research" for those of the literature, {", ".join(research_policies())}.
The function in FILE.py:FUNCTION takes the facts of a cached block and returns its score, which must depend on
nothing else; if it also takes "now", the number of the request that must evict, it is computed anew for each of these.
The configuration goes to every chosen policy that takes its keys; it is an error if none does.  With --engine sglang or
all, tlru may be chosen too, with its keys threshold and next_prompt_estimate, in blocks.  A policy or a capacity is
given once.  Without --capacity: the last eight of 1, 2, 5, 10, 20, 50, ... up to the number of distinct blocks.  With -
for a file, stdout carries that file and nothing else.  Existing files are replaced, once all is computed."""


def main(arguments: list[str]) -> Outcome:
    """Run the command, write the files that were asked for, and return what goes to stdout.

    Raises Fault, or another ValueError, for what the user can mend; then no file was touched.
    Cost: that of a replay for each policy but `lru` at each capacity, of two optima for each capacity, and of a search
    for it: about ten optima more.
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
        trace = read_traces(options.traces, options.page_size, options.skip_bad_lines, _bytes_counter())
        if options.page_size > 1 and not trace.tokens:
            raise Fault("argument --page-size: no request has tokens to cut into pages: leave it out")
        found = compare(trace, policies, sorted(options.capacity or ladder(len(trace.parent))), options.in_flight)
        writers: dict[str, Callable[[], str]] = {
            "json": lambda: json_text(as_json(found, options)),
            "csv": lambda: as_csv(found),
            "svg": lambda: as_svg(found),
        }
        why = ""
        if options.explain:
            explained, between = explanation.explanations(found, policies), explanation.gaps(trace)
            told = {**as_json(found, options), "explained": explanation.as_json(explained, between)}
            writers["json"] = lambda: json_text(told)
            writers["svg"] = lambda: explanation.as_svg(explained, between)
            why = explanation.as_text(explained, between)
        texts = {output: writers[kind]() for kind, output in outputs.items()}
    finally:
        Progress().end()
    page = texts.pop(STDOUT, None)
    write_all(texts)
    return Outcome(as_text(found) + why) if page is None else Outcome(page, encoding="utf-8")


def beside_engines(options: argparse.Namespace, engines: Sequence[str]) -> Outcome:
    """Do what `main` does where engines are set beside the model.  Cost: that of `compare_engines`."""
    chosen, config = options.radix_eviction_policy or ["lru"], options.radix_eviction_policy_config or {}
    names, config, tail_optimized = engine_texts.without_tlru(chosen, config, engines)
    policies = chosen_policies(names, config) if names else {}
    outputs = chosen_outputs(options)
    try:
        trace = read_traces(options.traces, options.page_size, options.skip_bad_lines, _bytes_counter())
        capacities = sorted(options.capacity or ladder(len(trace.parent)))
        setting = engine_texts.setting(options)
        found = compare_engines(trace, policies, tail_optimized, engines, capacities, setting)
        json = json_text(engine_texts.as_json(found, options))
    finally:
        Progress().end()
    if STDOUT in outputs.values():
        return Outcome(json, encoding="utf-8")
    write_all({output: json for output in outputs.values()})
    return Outcome(engine_texts.as_text(found))


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
    engine_texts.add_engine_options(parser)
    parser.add_argument("--skip-bad-lines", action="store_true", help="count bad lines instead of ending at the first")
    parser.add_argument(
        "--explain", action="store_true", help="tell which misses the optimum avoids, also in the JSON and as the chart"
    )
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
            f"{quoted(text)} is not a whole number of at least 1 block: give one such as 500, 2.5k or 1M"
        )
    return int(blocks)


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
        nonlocal progress, latest
        if done < latest:
            progress = Progress()
        latest = done
        progress.count(done, size, "reading, bytes")

    return count
