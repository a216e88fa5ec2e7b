"""The study, claim by claim: `python3 run.py` regenerates results/main.json and prints what was reproduced."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

from src.claims.all_lengths import every_length_claim
from src.claims.claim import Claim, compared
from src.claims.derisk import BINARY
from src.claims.study import study
from src.claims.theorems import theorems
from src.claims.without_rule import policies
from src.page.chart import Series, chart
from src.page.commandline import Once, Parser, Progress, json_text, table
from src.page.guard import FAILED, OK, Fault, Outcome
from src.page.writer import check_outputs, write_all
from src.radixcache import Trie

RESULTS = Path(__file__).resolve().parents[2] / "results" / "main.json"
FIGURE = RESULTS.with_name("ratio_by_length.svg")


def main(arguments: list[str]) -> Outcome:
    """Compute all claims and write or check the results; or replay.  Return the tables and the status."""
    if arguments[:1] == ["replay"]:
        from src.traces import command  # the study needs none of it

        return command.main(arguments[1:])
    parser = Parser(
        "run.py",
        description="Reproduce the study and write its results.",
        epilog="'run.py replay TRACE' replays real traces instead: see 'run.py replay --help'",
    )
    parser.add_argument(
        "--output", default=str(RESULTS), action=Once, metavar="PATH", help="where to write (results/main.json)"
    )
    parser.add_argument(
        "--check", action="store_true", help="recompute, compare with the file, write nothing; status 1 if they differ"
    )
    options = parser.parse_args(arguments)
    targets = {"--output": options.output}
    if os.path.realpath(options.output) == str(RESULTS):  # the figure belongs to the standard results
        targets["the figure"] = str(FIGURE)
    if options.check:
        before = {name: read(name) for name in targets.values()}
    else:
        targets = check_outputs(targets)
    results = claims(Progress())
    marks = {True: "yes", False: "NO"}
    failed, tables = [], []
    for against, agreed in (("published", "reproduced"), ("expected", "holds")):
        rows = compared(results, against)
        header = ["claim", against, "measured", agreed]
        tables.append(table(header, [[*row[:3], marks[row[3]]] for row in rows]) + "\n\n")
        failed += [name for name, *_, agrees in rows if not agrees]
    complaints = [f"not reproduced: {', '.join(failed)}"] if failed else []
    texts = dict(zip(targets.values(), (json_text(results), ratio_by_length(results) if len(targets) > 1 else "")))
    if options.check:
        differ = [name for name, text in texts.items() if text != before[name]]
        complaints += [f"{name} is not what was computed: write it anew without --check" for name in differ]
    else:
        write_all(texts)
    return Outcome("".join(tables), FAILED if complaints else OK, *complaints)


def claims(progress: Progress) -> dict[str, Claim]:
    """Return all claims: the study's, then those of every policy, of every length and of every small trie."""
    trie = Trie(BINARY)
    results = study(trie, progress.say)
    progress.say("policies")
    results["policies"] = policies(trie)
    results["every_length"] = every_length_claim(trie, progress.say)
    results["theorems"] = theorems(progress.say)
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


def read(name: str) -> str:
    """Return the text of the results to check against.  Raises Fault if there are none."""
    try:
        with open(name, "rb") as file:
            return file.read().decode("utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise Fault(f"cannot read {name}: {reason}: run 'python3 run.py' to write it") from None
