"""Why the optimum wins: the misses of a policy that the optimum avoids, by what the policy knew when it evicted.

The optimum of `src.traces.optimum` hits the first blocks of a path, as the deeper of equals go first; so does every
policy.  What lies between the two on a request's path are the misses that the optimum avoids there.  Each of these
blocks was evicted by the policy: after so many requests of idleness, requested so often by then, at such a depth.
The gaps between two requests for the same block say what a policy would have to sit out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from src.page.chart import Series, chart
from src.page.commandline import Progress, table
from src.page.guard import printable
from src.policies.facts import Score
from src.traces.comparison import Comparison, Curves
from src.traces.in_flight import REQUEST
from src.traces.words import counted, percent
from src.traces.workload import Workload, serve_events

Histogram = dict[int, int]
"""From the least number of a class, a power of two or 0, to how many numbers there are up to the next class."""


class Explanation(NamedTuple):
    """What a policy lost at a capacity.

    `avoided` counts its misses that the optimum avoids, `gained` its hits that the optimum does not have, so that the
    optimum hits `avoided - gained` more.  The histograms are of the avoided ones: by age at their eviction, which is
    the requests since the last one for the block, by requests for the block up to then, and by depth.
    """

    policy: str
    capacity: int
    avoided: int
    gained: int
    by_age: Histogram
    by_seen: Histogram
    by_depth: Histogram

    @property
    def after_first_use(self) -> int:
        """The avoided misses of blocks that were evicted when they had been requested once."""
        return self.by_seen.get(1, 0)


def explain(workload: Workload, policy: str, score: Score, capacity: int, optimum: Iterable[int]) -> Explanation:
    """Return what a policy lost against the optimum, whose hits are given event by event.

    Raises ValueError as `serve_events` does.  Cost: that of a replay.
    """
    trace = workload.events
    seen, latest, evicted = ([0] * len(trace.parent) for _ in range(3))
    ages: list[int] = []
    times: list[int] = []
    depths: list[int] = []
    gained = 0
    every = zip(trace.requests, serve_events(workload, capacity, score), workload.countable, optimum)
    for now, (path, served, most, best) in enumerate(every, start=1):
        for block in path[served.hits : best]:
            ages.append(evicted[block] - latest[block])
            times.append(seen[block])
            depths.append(trace.depth[block])
        gained += max(min(served.hits, most) - best, 0)
        request = is_request(workload, now - 1)
        for block in path:
            seen[block] += request
            latest[block] = now
        for block in (*served.victims, *path[len(path) - served.uncached :]):
            evicted[block] = now
    return Explanation(policy, capacity, len(ages), gained, histogram(ages), histogram(times), histogram(depths))


def gaps(workload: Workload) -> Histogram:
    """Return how many events lie between two requests for the same block, 1 being the next one.  Cost: O(blocks)."""
    latest = [0] * len(workload.events.parent)
    found = []
    for now, path in enumerate(workload.events.requests, start=1):
        if is_request(workload, now - 1):
            for block in path:
                if latest[block]:
                    found.append(now - latest[block])
                latest[block] = now
    return histogram(found)


def is_request(workload: Workload, event: int) -> bool:
    """Return whether an event, by its number from 0 on, is a request and not the finishing of one."""
    return not workload.arrivals or workload.arrivals[event] == REQUEST


def histogram(numbers: Iterable[int]) -> Histogram:
    """Return how many of some numbers, none of them negative, fall into each class; no class between is left out."""
    classes = Counter(number.bit_length() for number in numbers)
    if not classes:
        return {}
    return {1 << size >> 1: classes[size] for size in range(min(classes), max(classes) + 1)}


def explanations(
    workload: Workload, curves: Curves, found: Comparison, policies: dict[str, Score]
) -> list[Explanation]:
    """Return an explanation for each policy and capacity of a comparison."""
    progress = Progress()
    bound = found.totals.bound
    belady = curves.optima[bound].belady
    pairs = [(row.capacity, name) for row in found.rows for name in policies]
    explained = []
    for capacity, name in pairs:
        explained.append(explain(workload, name, policies[name], capacity, belady.served(capacity, bound)))
        progress.count(len(explained), len(pairs), "explaining, policies and capacities")
    return explained


# -- told ----------------------------------------------------------------------------------------------------------


def as_text(explained: Sequence[Explanation], between: Histogram) -> str:
    """Return the explanations for a reader."""
    parts = [_histogram_text("gap (requests)", between, "Gaps between two requests for the same block:")]
    for one in explained:
        head = f"{printable(one.policy)} at {counted(one.capacity, 'block')}: the optimum avoids"
        if not one.avoided:
            parts.append(f"{head} none of its misses.\n")
            continue
        first = percent(Fraction(one.after_first_use, one.avoided))
        parts.append(
            f"{head} {one.avoided:,} of its misses; it has {counted(one.gained, 'hit')} that the optimum has not.\n"
            f"Of these blocks {one.after_first_use:,} were evicted after their first use, {first}.\n"
        )
        parts.append(_histogram_text("age (requests)", one.by_age, "By age at eviction:"))
        parts.append(_histogram_text("requests", one.by_seen, "By requests for the block until then:"))
        parts.append(_histogram_text("depth (blocks)", one.by_depth, "By depth:"))
    return "\n" + "\n".join(parts)


def _histogram_text(what: str, found: Histogram, title: str) -> str:
    total, most = sum(found.values()), max(found.values(), default=0)
    rows = [
        [_class_name(least), f"{count:,}", percent(Fraction(count, total)), "#" * (40 * count // most)]
        for least, count in found.items()
    ]
    return f"{title}\n{table([what, 'blocks', 'share', ''], rows)}\n" if rows else f"{title} none.\n"


def _class_name(least: int) -> str:
    return f"{least:,}" if least < 2 else f"{least:,} to {2 * least - 1:,}"


def as_json(explained: Sequence[Explanation], between: Histogram) -> dict[str, Any]:
    """Return the explanations for a machine; a class goes by its least number."""

    def keyed(found: Histogram) -> dict[str, int]:
        """Return a histogram with keys that JSON has."""
        return {str(least): count for least, count in found.items()}

    return {
        "gaps": keyed(between),
        "policies": [
            {
                **one._asdict(),
                "policy": printable(one.policy),
                "after_first_use": one.after_first_use,
                **{name: keyed(getattr(one, name)) for name in ("by_age", "by_seen", "by_depth")},
            }
            for one in explained
        ],
    }


def as_svg(explained: Sequence[Explanation], between: Histogram) -> str:
    """Return a chart: the gaps, and for each explanation the avoided misses by age at eviction."""
    series = [_steps("gaps between requests", between)]
    series += [_steps(f"{printable(one.policy)} at {one.capacity:,}", one.by_age) for one in explained]
    title = "Gaps between requests for a block, and ages at which blocks were evicted too early"
    return chart(title, "requests", "blocks", series, x_log=True)


def _steps(name: str, found: Histogram) -> Series:
    """Return a histogram as steps; age 0, which a logarithmic axis does not have, is added to 1."""
    counts: Histogram = {}
    for least, count in found.items():
        counts[max(least, 1)] = counts.get(max(least, 1), 0) + count
    return Series(name, [*counts.items(), (2 * max(counts, default=1), 0)], "steps")
