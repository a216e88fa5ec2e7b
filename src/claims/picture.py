"""Schedules as strips, and the picture of the rule: `results/rule.svg`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

from src.claims.claim import Claim
from src.claims.derisk import BINARY
from src.claims.schedule import Schedule, lru_schedule, optimum_schedule
from src.page.chart import Series, chart
from src.page.guard import printable
from src.page.strips import Frame, Strip, Tree, strips_svg, strips_text
from src.radixcache import ROOT, Optimum, Rule, String, Trie, members, names, serve_lru

RULES = {
    "leaf-only LRU": Rule.LEAF_ONLY,
    "unconstrained LRU, ties to the deeper block": Rule.DEEP,
    "unconstrained LRU, ties to the shallower block": Rule.SHALLOW,
}
NOTES = (
    "Only a block with nothing cached below it may go: of these the oldest.",
    "Any block may go, the oldest first; of two equally old ones the deeper. Step by step it does the same.",
    "Any block may go; of two equally old ones the shallower, and what is below goes too: two where one is enough.",
)
LEAD = (
    "Evicting a block takes out all blocks below it, so caches evict only leaves. Is that a loss? Each request uses all"
    " blocks of its path, so the oldest block is a leaf, or just as old as a leaf below it. The rule decides that tie,"
    " and decides it well."
)


def tree_of(trie: Trie) -> Tree:
    """Return a trie's blocks as the page draws them."""
    assert ROOT == -1
    return Tree([printable(trie.label(block)) for block in range(len(trie))], trie.parent)


def strip_of(title: str, schedule: Schedule, note: str = "", requests: Sequence[str] | None = None) -> Strip:
    """Return a schedule as the page draws it; its requests are called so, or by their strings."""
    frames = []
    before = (0,) * len(schedule.trie)
    for now, (frame, name) in enumerate(zip(schedule.frames, requests or schedule.requests), start=1):
        gone = [(victim, tuple(members(dragged))) for victim, dragged in frame.evictions]
        ages = {block: now - time for block, time in enumerate(frame.last_access) if time}
        for victim, dragged in gone:
            for block in (victim, *dragged):
                ages[block] = 0 if block in frame.path else now - before[block]
        hits, misses = frame.path[: frame.hits], frame.path[frame.hits :]
        frames.append(Frame(printable(name), hits, misses, gone, ages))
        before = frame.last_access
    return Strip(title, frames, note)


def optimum_title(optimum: Optimum) -> str:
    """Return how an optimum is called above its strip."""
    return f"optimum, {optimum.value}"


def beside_optimum(
    title: str, schedule: Schedule, capacity: int, optimum: Optimum, requests: Sequence[str] | None = None
) -> str:
    """Return a schedule and the optimum's on the same requests as text."""
    best = optimum_schedule(schedule.trie, capacity, [frame.string for frame in schedule.frames], optimum)
    both = {title: schedule, optimum_title(optimum): best}
    strips = [strip_of(name, one, requests=requests) for name, one in both.items()]
    return strips_text(tree_of(schedule.trie), strips)


def first_loss(trie: Trie) -> tuple[int, tuple[String, ...]]:
    """Return the smallest capacity that holds every path, and the first of the shortest sequences on which the ties
    to the shallower block cost a miss there.

    Cost: exponential in the length that is needed.  It does not end on a trie where they never cost one.
    """
    capacity = max(trie.depth)
    for length in itertools.count(1):
        for sequence in itertools.product(trie.strings, repeat=length):
            plain, naive = (serve_lru(trie, capacity, sequence, rule) for rule in (Rule.LEAF_ONLY, Rule.SHALLOW))
            if naive.misses > plain.misses:
                return capacity, sequence
    raise AssertionError("unreachable: lengths have no end")


def rule_picture() -> str:
    """Return the picture: LRU's three rules on a smallest sequence that tells them apart, on the study's universe."""
    capacity, sequence = first_loss(Trie(BINARY))
    trie = Trie(sequence)
    strips = [
        strip_of(title[0].upper() + title[1:], lru_schedule(trie, capacity, sequence, rule), note)
        for (title, rule), note in zip(RULES.items(), NOTES)
    ]
    title = f"What is lost by evicting only leaves? Room for {capacity} blocks, requests {', '.join(names(sequence))}"
    return strips_svg(title, LEAD, tree_of(trie), strips)


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
