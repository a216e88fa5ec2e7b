"""`run.py show`: what a cache does with a few requests, step by step, as text and as a drawing."""

from __future__ import annotations

import argparse

from src.claims.derisk import DERISK_CAPACITY
from src.claims.picture import RULES, optimum_title, strip_of, tree_of
from src.claims.schedule import Schedule, lru_schedule, optimum_schedule, policy_schedule
from src.page.commandline import Once, Parser, add_policy_options, whole_number
from src.page.guard import Fault, Outcome, printable
from src.page.strips import strips_svg, strips_text
from src.page.writer import check_outputs, write_all
from src.policies.scores import described, make_policy
from src.policies.user_file import file_of
from src.radixcache import Optimum, Trie

EPILOG = """\
Each character of a string is a block: 00 is a block "00" on a block "0".  Without a policy the strips are LRU's under
three rules: leaf-only; any block, ties to the deeper one; any block, ties to the shallower one.  A string that starts
with - goes behind --.  With - for the file, stdout carries the drawing and nothing else."""


def main(arguments: list[str]) -> Outcome:
    """Run the command, write the drawing if one is asked for, and return what goes to stdout.

    Raises Fault, or another ValueError, for what the user can mend; then nothing was written.
    """
    options = parse(arguments)
    policy = file_of(options.radix_eviction_policy or "")
    to_a_file = {} if options.svg in (None, "-") else {"--svg": options.svg}
    targets = check_outputs(to_a_file, [policy] if policy else [])
    trie = Trie(options.strings)
    strips = [strip_of(title, schedule) for title, schedule in schedules(trie, options).items()]
    if options.svg is None:
        return Outcome(strips_text(tree_of(trie), strips))
    title = f"A cache of {options.capacity} blocks, requests {printable(', '.join(options.strings))}"
    drawing = strips_svg(title, "", tree_of(trie), strips)
    if options.svg == "-":
        return Outcome(drawing, encoding="utf-8")
    write_all({target: drawing for target in targets.values()})
    return Outcome(strips_text(tree_of(trie), strips))


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options.  Raises Fault for what cannot be understood or does not go together."""
    parser = Parser(
        "run.py show", description="Show what a cache does with a few requests, step by step.", epilog=EPILOG
    )
    parser.add_argument("strings", nargs="+", metavar="STRING", help="the requests, in their order")
    parser.add_argument(
        "--capacity", type=whole_number(1), default=DERISK_CAPACITY, action=Once, metavar="K", help="blocks (2)"
    )
    add_policy_options(parser, described())
    models = [one.value for one in Optimum]
    parser.add_argument("--optimum", choices=[*models, "both"], action=Once, help="show the exact optimum too")
    parser.add_argument("--svg", action=Once, metavar="FILE", help="draw it as well")
    plain = "--" in arguments  # which intermixed parsing takes for a string
    options = parser.parse_args(arguments) if plain else parser.parse_intermixed_args(arguments)
    if options.radix_eviction_policy is None and options.radix_eviction_policy_config is not None:
        raise Fault("--radix-eviction-policy-config goes with --radix-eviction-policy: give that too")
    if "" in options.strings:
        raise Fault("an empty string has no block: give strings of at least one character")
    return options


def schedules(trie: Trie, options: argparse.Namespace) -> dict[str, Schedule]:
    """Return the chosen managers' schedules by title.  Raises ValueError for a locked path that does not fit."""
    capacity, sequence, name = options.capacity, options.strings, options.radix_eviction_policy
    if name is None:
        found = {title: lru_schedule(trie, capacity, sequence, rule) for title, rule in RULES.items()}
    else:
        score = make_policy(name, options.radix_eviction_policy_config)
        found = {
            f"{kind} {printable(name)}": policy_schedule(trie, capacity, sequence, score, leaf_only)
            for kind, leaf_only in (("leaf-only", True), ("unconstrained", False))
        }
    for optimum in Optimum:
        if options.optimum in (optimum.value, "both"):
            found[optimum_title(optimum)] = optimum_schedule(trie, capacity, sequence, optimum)
    return found
