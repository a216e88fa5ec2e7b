#!/usr/bin/env python3
"""The study, claim by claim: `python3 run.py` regenerates results/main.json and prints what was reproduced."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

from src.claims.all_lengths import every_length_claim
from src.claims.claim import Claim, compared
from src.claims.derisk import BINARY
from src.claims.memory import memory
from src.claims.study import study
from src.claims.theorems import theorems
from src.claims.without_rule import policies
from src.page.chart import Series, chart
from src.page.commandline import (
    FAILED,
    OK,
    Fault,
    Once,
    Parser,
    Progress,
    check_writable,
    guarded,
    json_text,
    table,
    write_whole,
)
from src.radixcache import Trie

RESULTS = Path(__file__).resolve().parent / "results" / "main.json"
FIGURE = RESULTS.with_name("ratio_by_length.svg")


def main(arguments: list[str]) -> int:
    """Compute all claims, print the tables, write or check the results; or replay.  Return the exit status."""
    if arguments[:1] == ["replay"]:
        from src.traces import command  # the study needs none of it

        print(command.main(arguments[1:]), end="")
        return OK
    if arguments[:1] == ["tune"]:
        from src.traces import tuning

        print(tuning.main(arguments[1:]), end="")
        return OK
    parser = Parser(
        "run.py",
        description="Reproduce the study and write its results.",
        epilog="'run.py replay TRACE' replays real traces, 'run.py tune TRACE' chooses parameters: see --help of each",
    )
    parser.add_argument(
        "--output", type=Path, default=RESULTS, action=Once, metavar="PATH", help="where to write (results/main.json)"
    )
    parser.add_argument(
        "--check", action="store_true", help="recompute, compare with the file, write nothing; status 1 if they differ"
    )
    options = parser.parse_args(arguments)
    standard = options.output == RESULTS  # the figure belongs to the standard results
    targets = [options.output, FIGURE] if standard else [options.output]
    before = [read(target) for target in targets] if options.check else []
    if not options.check:
        for target in targets:
            check_writable(target)
    progress = Progress()
    results = claims(progress)
    progress.end()
    marks = {True: "yes", False: "NO"}
    failed = []
    for against, agreed in (("published", "reproduced"), ("expected", "holds")):
        rows = compared(results, against)
        print(table(["claim", against, "measured", agreed], [[*row[:3], marks[row[3]]] for row in rows]), end="\n\n")
        failed += [name for name, *_, agrees in rows if not agrees]
    status = OK
    if failed:
        print(f"run.py: not reproduced: {', '.join(failed)}", file=sys.stderr)
        status = FAILED
    texts = [json_text(results), ratio_by_length(results)] if standard else [json_text(results)]
    for at, (target, text) in enumerate(zip(targets, texts)):
        if not options.check:
            write_whole(target, text)
        elif text != before[at]:
            print(f"run.py: {target} is not what was computed: write it anew without --check", file=sys.stderr)
            status = FAILED
    return status


def claims(progress: Progress) -> dict[str, Claim]:
    """Return all claims: the study's, then those of every policy, every length, every small trie and memory."""
    trie = Trie(BINARY)
    results = study(trie, progress.say)
    progress.say("policies")
    results["policies"] = policies(trie)
    results["every_length"] = every_length_claim(trie, progress.say)
    results["theorems"] = theorems(progress.say)
    progress.say("memory")
    results["memory"] = memory()
    return results


def ratio_by_length(results: dict[str, Claim]) -> str:
    """Return the drawing of leaf-only LRU's worst ratio against the length of the sequences."""
    measured, parameters = results["every_length"]["measured"], results["competitive"]["parameters"]
    series = []
    for capacity, ratios in measured["ratio_by_length"].items():
        name = f"K = {capacity}"
        published = Fraction(results["competitive"]["published"]["bypass"][capacity])
        limit = Fraction(measured["lru"]["bypass"][capacity]["ratio"])
        ends = (1, len(ratios))
        series += [
            Series(name, [(at, Fraction(ratio)) for at, ratio in enumerate(ratios, start=1)]),
            Series(name, [(parameters["length_by_capacity"][capacity], published)], "rings", "published"),
            Series(name, [(end, limit) for end in ends], "dashed", "all lengths, this trie"),
            Series(name, [(end, int(capacity) + 1) for end in ends], "dotted", "K + 1, every trie"),
        ]
    title = "Worst ratio of leaf-only LRU to the bypassing optimum"
    return chart(title, "longest sequence (requests)", "misses / optimum's misses", series)


def read(path: Path) -> str:
    """Return the text of the results to check against.  Raises Fault if there are none."""
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise Fault(f"cannot read {path}: {reason}: run 'python3 run.py' to write it") from None


if __name__ == "__main__":
    sys.exit(guarded(main))
