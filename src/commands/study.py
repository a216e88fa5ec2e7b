"""The study, claim by claim: `python3 run.py` regenerates results/main.json and prints what was reproduced."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from src.claims.claim import compared
from src.claims.families import all_claims
from src.claims.picture import ratio_by_length, rule_picture
from src.claims.report import report
from src.page.commandline import Once, Parser, Progress, json_text, table, whole_number
from src.page.guard import FAILED, OK, Fault, Outcome
from src.page.processors import processors
from src.page.writer import check_outputs, write_all

HOME = Path(__file__).resolve().parents[2]
RESULTS = HOME / "results" / "main.json"
OTHERS = [RESULTS.with_name(name) for name in ("README.md", "ratio_by_length.svg", "rule.svg")]
DURATION = "about half a minute on two processors"


def main(arguments: list[str]) -> Outcome:
    """Compute all claims and write or check the results.  Return page and status."""
    options = parse(arguments)
    targets = {"--output": options.output}
    if os.path.realpath(options.output) == str(RESULTS):  # the report and the figures belong to the standard results
        targets.update((f"results/{path.name}", str(path)) for path in OTHERS)
    if options.check:
        before = {name: read(name) for name in targets.values()}
    else:
        targets = check_outputs(targets)
    progress = Progress()
    progress.say(f"this takes {DURATION}")
    results = all_claims(progress.say, options.jobs)
    page, failed = told(results)
    complaints = [f"not reproduced: {', '.join(failed)}"] if failed else []
    drawn = [report(results), ratio_by_length(results), rule_picture()] if len(targets) > 1 else []
    texts = dict(zip(targets.values(), [json_text(results), *drawn]))
    if options.check:
        differ = [name for name, text in texts.items() if text != before[name]]
        complaints += [f"{name} is not what was computed: write it anew without --check" for name in differ]
    else:
        write_all(texts)
    done = "compared with" if options.check else "wrote"
    page += f"{done} {', '.join(map(relative, targets.values()))}\n"
    return Outcome(page, FAILED if complaints else OK, *complaints)


def parse(arguments: list[str]) -> Any:
    """Return the options.  Raises Fault for what cannot be understood."""
    parser = Parser(
        "run.py",
        description=f"Reproduce the study and write its results: {DURATION}.",
        epilog="'run.py replay TRACE' replays real traces, 'run.py tune TRACE' chooses parameters,"
        " 'run.py show STRING...' shows what a cache does with a few requests: see --help of each",
    )
    parser.add_argument(
        "--output", default=str(RESULTS), action=Once, metavar="PATH", help="where to write (results/main.json)"
    )
    parser.add_argument(
        "--check", action="store_true", help="recompute, compare with the files, write nothing; status 1 if they differ"
    )
    jobs = processors()
    parser.add_argument(
        "--jobs", type=whole_number(1), default=jobs, action=Once, metavar="N", help=f"processes ({jobs})"
    )
    return parser.parse_args(arguments)


def told(results: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the tables and the verdicts, and the keys of the values that are not what they must be."""
    marks = {True: "yes", False: "NO"}
    failed, parts = [], []
    for against, agreed in (("published", "reproduced"), ("expected", "holds")):
        rows = compared(results, against)
        parts.append(table(["claim", against, "measured", agreed], [[*row[:3], marks[row[3]]] for row in rows]) + "\n")
        failed += [name for name, *_, agrees in rows if not agrees]
    parts.append("".join(f"{one['verdict']}\n" for one in results["preregistration"].values()))
    return "\n".join(parts), failed


def relative(name: str) -> str:
    """Return a path as a reader in the repository would type it, if it lies there."""
    path = Path(os.path.realpath(name))
    return str(path.relative_to(HOME) if HOME in path.parents else path)


def read(name: str) -> str:
    """Return the text of the results to check against.  Raises Fault if there are none."""
    try:
        with open(name, "rb") as file:
            return file.read().decode("utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise Fault(f"cannot read {name}: {reason}: run 'python3 run.py' to write it") from None
