#!/usr/bin/env python3
"""The study, claim by claim: `python3 run.py` regenerates results/main.json and prints what was reproduced."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

from src.claims import show
from src.claims.all_lengths import every_length_claim
from src.claims.augmentation import augmentation
from src.claims.claim import Claim, compared
from src.claims.derisk import BINARY
from src.claims.engines import engines
from src.claims.memory import memory
from src.claims.online_optimum import online_optimum
from src.claims.picture import rule_picture
from src.claims.preregistration import preregistration
from src.claims.randomized import randomized
from src.claims.reduction import reduction
from src.claims.report import report
from src.claims.study import study
from src.claims.theorems import theorems
from src.claims.whole_nodes import whole_nodes
from src.claims.width import width_claim
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
WRITTEN = [RESULTS.with_name(name) for name in ("README.md", "ratio_by_length.svg", "rule.svg")]
DURATION = "about half a minute"


def main(arguments: list[str]) -> int:
    """Compute all claims, print the tables, write or check the results; or replay.  Return the exit status."""
    if arguments[:1] == ["replay"]:
        from src.traces import command  # the study needs none of it

        print(command.main(arguments[1:]), end="")
        return OK
    if arguments[:1] == ["show"]:
        print(show.main(arguments[1:]), end="")
        return OK
    if arguments[:1] == ["tune"]:
        from src.traces import tuning

        print(tuning.main(arguments[1:]), end="")
        return OK
    parser = Parser(
        "run.py",
        description=f"Reproduce the study and write its results: {DURATION}.",
        epilog="'run.py replay TRACE' replays real traces, 'run.py tune TRACE' chooses parameters,"
        " 'run.py show STRING...' shows what a cache does with a few requests: see --help of each",
    )
    parser.add_argument(
        "--output", type=Path, default=RESULTS, action=Once, metavar="PATH", help="where to write (results/main.json)"
    )
    parser.add_argument(
        "--check", action="store_true", help="recompute, compare with the files, write nothing; status 1 if they differ"
    )
    options = parser.parse_args(arguments)
    standard = options.output == RESULTS  # the report and the figures belong to the standard results
    targets = [options.output, *WRITTEN] if standard else [options.output]
    before = [read(target) for target in targets] if options.check else []
    if not options.check:
        for target in targets:
            check_writable(target)
    progress = Progress()
    progress.say(f"this takes {DURATION}")
    results = claims(progress)
    progress.end()
    status = tell(results)
    texts = [json_text(results)]
    if standard:
        texts += [report(results), ratio_by_length(results), rule_picture()]
    for at, (target, text) in enumerate(zip(targets, texts)):
        if not options.check:
            write_whole(target, text)
        elif text != before[at]:
            print(f"run.py: {target} is not what was computed: write it anew without --check", file=sys.stderr)
            status = FAILED
    done = "compared with" if options.check else "wrote"
    print(f"{done} {', '.join(map(relative, targets))}")
    return status


def tell(results: dict[str, Claim]) -> int:
    """Print the tables and the verdicts.  Return the exit status: FAILED if a value is not what it must be."""
    marks = {True: "yes", False: "NO"}
    failed = []
    for against, agreed in (("published", "reproduced"), ("expected", "holds")):
        rows = compared(results, against)
        print(table(["claim", against, "measured", agreed], [[*row[:3], marks[row[3]]] for row in rows]), end="\n\n")
        failed += [name for name, *_, agrees in rows if not agrees]
    for one in results["preregistration"].values():
        print(one["verdict"])
    if failed:
        print(f"run.py: not reproduced: {', '.join(failed)}", file=sys.stderr)
    return FAILED if failed else OK


def relative(path: Path) -> str:
    """Return a path as a reader in the repository would type it, if it lies there."""
    home = RESULTS.parent.parent
    return str(path.relative_to(home) if home in path.parents else path)


def claims(progress: Progress) -> dict[str, Claim]:
    """Return all claims: the verdicts, the study's, and what goes beyond it, in the order of the report."""
    trie = Trie(BINARY)
    results = study(trie, progress.say)
    progress.say("policies")
    results["policies"] = policies(trie)
    results["every_length"] = every_length_claim(trie, progress.say)
    results["theorems"] = theorems(progress.say)
    results["reduction"] = reduction(trie, progress.say)
    results["width"] = width_claim(trie, progress.say)
    results["online_optimum"] = online_optimum(trie, progress.say)
    results["augmentation"] = augmentation(progress.say)
    results["whole_nodes"] = whole_nodes(trie, progress.say)
    results["randomized"] = randomized(trie, progress.say)
    progress.say("engines")
    results["engines"] = engines(trie)
    progress.say("memory")
    results["memory"] = memory()
    return {"preregistration": preregistration(results), **results}


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
