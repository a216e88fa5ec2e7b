"""The report, `results/README.md`: the claims for a reader, from the same data as `results/main.json`.

First what became of the pre-registration, then the study's sentences one by one, then each claim: what was asked and
how, a table that says what each value means, and a witness.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from src.claims.claim import Claim
from src.claims.markdown import paragraphs, shown, table
from src.claims.preregistration import value
from src.claims.report_beyond import BEYOND
from src.claims.report_engines import ENGINE_SECTIONS
from src.claims.report_sections import STUDY
from src.claims.report_theory import THEORY
from src.claims.sentences import SENTENCES

SECTIONS = {**STUDY, **BEYOND, **THEORY, **ENGINE_SECTIONS}


def report(results: Mapping[str, Claim]) -> str:
    """Return the report.  Raises KeyError for a claim without a section, or a section whose claim is not there."""
    missing = results.keys() - {"preregistration"} - SECTIONS.keys()
    if missing:
        raise KeyError(f"no section tells of the claims {', '.join(sorted(missing))}")
    return paragraphs(
        "# What was found",
        "Written by `python3 run.py` from the data of [main.json](main.json); `python3 run.py --check` holds both to"
        " a fresh computation. A value's key is claim, then its path under `measured`. An *instance* is a request"
        " sequence with a capacity K, in blocks. *Bypass* and *locked* are the two models of the optimum: the first"
        " may drop any part of a path as soon as its request is served, the second ends each request holding that"
        " path. Proofs are in [PROOFS.md](PROOFS.md), what the study had predicted in [PREREG.md](../PREREG.md).",
        "## The pre-registration",
        verdicts(results["preregistration"]),
        "## The study, sentence by sentence",
        sentences(results),
        *(section(results, name) for name in SECTIONS),
    ) + "\n"


def became(one: Mapping[str, Any]) -> str:
    """Return whether a prediction came true or a falsifier fired, and where a prediction did that fails in general."""
    answer = shown(one["came_true"] if "came_true" in one else one["fired"])
    places = "; ".join(one.get("came_true_at", ()))
    return f"in general {answer}; yes at {places}" if places else answer


def verdicts(found: Mapping[str, Any]) -> str:
    """Return what was predicted, what decides it, and the verdicts."""
    rows = [(name, one.get("predicted") or one["falsified_by"], became(one)) for name, one in found.items()]
    deciding = [(f"`{key}`", name, number) for name, one in found.items() for key, number in one["decided_by"].items()]
    bounds = [(where, *one.values()) for where, one in found["P2"]["at_the_bounds"].items()]
    return paragraphs(
        table(["", "said", "came true, or fired"], rows),
        "\n".join(f"* {one['verdict']}" for one in found.values()),
        table(["decided by", "", "value"], deciding),
        "P2 at the study's own bounds, with the same optimum on both sides. The published pair, 1.667 against 1.333,"
        " compares two objects and two optima.",
        table(["bound", "tree", "flat paging", "the tree is"], bounds),
    )


def sentences(results: Mapping[str, Claim]) -> str:
    """Return each sentence of the study that states a result, with what became of it and the values that show it."""
    rows = []
    for one in SENTENCES:
        evidence = [f"`{key}` {value(results, key.replace('.', '.measured.', 1))}" for key in one.evidence]
        rows.append((one.says, one.verdict(results), "; ".join([*evidence, one.remark] if one.remark else evidence)))
    return table(["the study says", "", "shown by"], rows)


def section(results: Mapping[str, Claim], name: str) -> str:
    """Return what the report says of one claim."""
    told = SECTIONS[name]
    measured = results[name]["measured"]
    rows = [(f"`{name}.{key}`", value(measured, key), means) for key, means in told.means.items()]
    return paragraphs(
        f"## {told.title}",
        told.asked,
        table(["key", "measured", "means"], rows) if rows else "",
        told.more(results[name]) if told.more else "",
    )
