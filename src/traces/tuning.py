"""`run.py tune`: parameters chosen on the first half of a trace, and judged on its second half and on other traces.

What is chosen: for each research policy its parameters among a few written down here, and of all these the
policy itself.  The measure is the mean, over some capacities, of the hits as a share of the locked optimum's, so that
each capacity counts alike.  Nothing else is looked at for the choice; what is judged is replayed from a cold start.
Beside stand LRU and SGLang's other policies, a coin, and both optima.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from src.page.commandline import Once, Parser, Progress, json_text, table
from src.page.guard import Outcome
from src.page.processors import processors
from src.page.writer import check_outputs, write_all
from src.policies.facts import Facts, Score
from src.policies.scores import make_policy, research_policies, sglang_policies
from src.radixcache import Optimum
from src.traces.cells import Cell, run_cells
from src.traces.lru_curve import lru_curve
from src.traces.optimum import TraceOptimum
from src.traces.reading import Trace, read_traces, trace_of
from src.traces.workload import workload_of

CHOSEN_AT = (1_000, 2_000, 5_000, 10_000)  # blocks
JUDGED_AT = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
GRID: dict[str, tuple[dict[str, int], ...]] = {
    "2q": tuple({"requests": value} for value in (2, 3, 4)),
    "aged-lfu": tuple({"half_life": value} for value in (250, 500, 1000, 2000)),
    "hyperbolic": tuple({"patience": value} for value in (150, 300, 450)),
    "gdsf": tuple({"weight": value} for value in (250, 1000, 4000)),
    "ttl": tuple({"requests": value} for value in (500, 1000, 2000)),
    "t-lru": tuple({"spare": value} for value in (2, 5, 10)),
}
"""The parameters to choose from; a policy that is not here takes none."""


def coin(block: Facts) -> bool:
    """Keep the blocks of every third request: a control that knows nothing."""
    return block.last_access % 3 == 0


class Candidate(NamedTuple):
    """A policy with its parameters, and its mean share of the optimum's hits where parameters are chosen."""

    policy: str
    config: dict[str, int]
    share: Fraction


class Judged(NamedTuple):
    """What was hit on a trace: for each policy and each optimum by name, the hits at each capacity.

    `looked_at`: some of its requests were those on which parameters were chosen.
    """

    name: str
    looked_at: bool
    trace: Trace
    hits: dict[str, list[int]]


def halves(trace: Trace) -> tuple[Trace, Trace]:
    """Return the requests of the first half of a trace and those of the second, each as a trace of its own."""
    middle = len(trace.requests) // 2
    return (
        trace_of(trace.requests[:middle], trace.priorities[:middle]),
        trace_of(trace.requests[middle:], trace.priorities[middle:]),
    )


def hits_at(trace: Trace, scores: dict[str, Score], capacities: Sequence[int]) -> dict[str, list[int]]:
    """Return the hits of each policy, LRU's too, and of both optima, at each capacity.  Costs as `run_cells` does."""
    workload, curve = workload_of(trace), lru_curve(trace)
    found = {"lru": [curve.hits(capacity) for capacity in capacities]}
    cells = [Cell(name, score, capacity) for name, score in scores.items() if name != "lru" for capacity in capacities]
    for cell, hits in zip(cells, run_cells(workload, cells, processors())):
        found.setdefault(cell.name, []).append(hits)
    belady = TraceOptimum(trace)
    for optimum in Optimum:
        found[f"optimum {optimum.value}"] = [belady.hits(capacity, optimum) for capacity in capacities]
    return found


def candidates(trace: Trace, capacities: Sequence[int]) -> list[Candidate]:
    """Return every research policy with every choice of its parameters, the best first."""
    tried = [(name, config) for name in research_policies() for config in GRID.get(name, ({},))]
    scores = {str(at): make_policy(name, config) for at, (name, config) in enumerate(tried)}
    hits = hits_at(trace, scores, capacities)
    best = hits[f"optimum {Optimum.LOCKED.value}"]
    found = []
    for at, (name, config) in enumerate(tried):
        shares = [Fraction(one, max(most, 1)) for one, most in zip(hits[str(at)], best)]
        found.append(Candidate(name, config, sum(shares, Fraction(0)) / len(shares)))
    return sorted(found, key=lambda one: -one.share)


def judge(
    name: str,
    trace: Trace,
    chosen: Sequence[Candidate],
    looked_at: bool = False,
    capacities: Sequence[int] = JUDGED_AT,
) -> Judged:
    """Return what SGLang's policies, the coin, the chosen ones and both optima hit on a trace."""
    scores: dict[str, Score] = {one: make_policy(one) for one in sglang_policies()}
    scores["coin"] = coin
    scores.update({one.policy: make_policy(one.policy, one.config) for one in chosen})
    return Judged(name, looked_at, trace, hits_at(trace, scores, capacities))


def best_of_each(tried: Sequence[Candidate]) -> list[Candidate]:
    """Return the first candidate of each policy."""
    first: dict[str, Candidate] = {}
    for one in tried:
        first.setdefault(one.policy, one)
    return list(first.values())


# -- the command ---------------------------------------------------------------------------------------------------


def main(arguments: list[str]) -> Outcome:
    """Run the command, write the file that was asked for, and return what goes to stdout.

    Raises Fault, or another ValueError, for what the user can mend; then no file was touched.
    """
    parser = Parser(
        "run.py tune",
        description="Choose parameters on the first half of a trace; judge on its second half and on other traces.",
    )
    parser.add_argument("trace", metavar="TRACE", help="the trace on whose first half is chosen")
    parser.add_argument("others", nargs="*", metavar="OTHER", help="further traces to judge on, each by itself")
    parser.add_argument("--json", action=Once, metavar="FILE", help="write exact counts")
    options = parser.parse_args(arguments)
    outputs = {} if options.json is None else {"--json": options.json}
    targets = check_outputs(outputs, [options.trace, *options.others])
    try:
        whole = read_traces([options.trace], keep_partial=True)
        first, second = halves(whole)
        name = Path(options.trace).name
        traces = {f"second half of {name}": second}
        traces.update({Path(other).name: read_traces([other], keep_partial=True) for other in options.others})
        tried = candidates(first, CHOSEN_AT)
        judged = [judge(one, trace, best_of_each(tried)) for one, trace in traces.items()]
        judged.append(judge(name, whole, best_of_each(tried)[:2], looked_at=True))
    finally:
        Progress().end()
    write_all({target: json_text(as_json(tried, judged)) for target in targets.values()})
    return Outcome(as_text(tried, judged))


def as_json(tried: Sequence[Candidate], judged: Sequence[Judged]) -> dict[str, Any]:
    """Return all counts for a machine; ratios are strings."""
    return {
        "parameters": {
            "chosen_on": f"first half of {judged[-1].name}",
            "chosen_at_capacities": list(CHOSEN_AT),
            "measure": "mean share of the locked optimum's hits",
            "capacities": list(JUDGED_AT),
        },
        "chosen": [{**one._asdict(), "share": str(one.share)} for one in best_of_each(tried)],
        "tried": [{**one._asdict(), "share": str(one.share)} for one in tried],
        "judged": [
            {
                "trace": one.name,
                "looked_at": one.looked_at,
                "requests": len(one.trace.requests),
                "blocks": sum(map(len, one.trace.requests)),
                "distinct_blocks": len(one.trace.parent),
                "hits": {
                    name: {str(capacity): hits for capacity, hits in zip(JUDGED_AT, row)}
                    for name, row in one.hits.items()
                },
            }
            for one in judged
        ],
    }


def as_text(tried: Sequence[Candidate], judged: Sequence[Judged]) -> str:
    """Return the choice and a table of hits for each trace."""
    rows = []
    for one in best_of_each(tried):
        config = ", ".join(f"{key} {value}" for key, value in one.config.items())
        rows.append([one.policy, config or "none", f"{float(100 * one.share):.1f} %"])
    text = f"chosen on the first half of {judged[-1].name}\n\n"
    text += table(["policy", "parameters", "mean share of the locked optimum"], rows) + "\n"
    header = ["policy", *(f"{capacity:,}" for capacity in JUDGED_AT)]
    for on in judged:
        note = "its first half chose the parameters" if on.looked_at else "not used to choose"
        text += f"\n{on.name} ({note}): hits of {sum(map(len, on.trace.requests)):,} blocks\n\n"
        text += table(header, [[name, *(f"{hits:,}" for hits in row)] for name, row in on.hits.items()]) + "\n"
    return text
