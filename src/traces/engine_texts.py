"""Engines on a trace told: as a table and sentences, and as JSON; and the options that choose them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from src.engines.sglang import NodeScore, tlru
from src.page.commandline import Once, shorten, table
from src.page.guard import Fault, printable
from src.policies.facts import Score, asks_for
from src.policies.scores import research_policies
from src.traces.engines import ENGINES, TLRU, Engines, EnginesAtCapacity, Setting, SGLangPrice, Total
from src.traces.words import counted
from src.traces.workload import LOGGED

TLRU_KEYS = {"threshold", "next_prompt_estimate"}
TOLD = {
    "block": "block is the model: single blocks, of which a path's last one goes first.",
    "sglang": "SGLang evicts whole nodes, the last one too; the rest of a node that a request splits counts as used.",
    "vllm": "vLLM has no tree but a queue: a release puts a path at its end, the last block first.",
    "store": "The store locks nothing and evicts a path from its first block on; what lies behind stays, of no use.",
}


# -- options -------------------------------------------------------------------------------------------------------


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose engines and how they are run."""
    parser.add_argument(
        "--engine", choices=[*ENGINES, "all"], default="block", action=Once,
        help="how the cache keeps and evicts: the model (block), as SGLang or vLLM, as a flat store",
    )  # fmt: skip
    parser.add_argument(
        "--hit-count", choices=["page", "code"], action=Once,
        help="hits for lfu and slru: later matches, as on SGLang's page, or creation too, as in its code"
        " (the model: page, SGLang: code)",
    )  # fmt: skip
    parser.add_argument(
        "--release", choices=["oldest", "together"], default="oldest", action=Once,
        help="with --in-flight, which requests vLLM releases when there are too many (oldest)",
    )  # fmt: skip


def engines_chosen(options: argparse.Namespace) -> list[str]:
    """Return the engines to set side by side, none for the plain replay.  Raises Fault for what does not go together.

    The model is always among them: it is what the others are measured against.
    """
    if options.engine == "block" and options.hit_count is None:
        if options.release != "oldest":
            raise Fault("argument --release: it is vLLM's: give --engine vllm or all too")
        return []
    chosen = list(ENGINES) if options.engine == "all" else ["block", *({options.engine} - {"block"})]
    if options.release != "oldest" and "vllm" not in chosen:
        raise Fault("argument --release: it is vLLM's: give --engine vllm or all too")
    for kind in ("csv", "svg"):
        if getattr(options, kind) is not None:
            raise Fault(f"argument --{kind}: it does not tell of engines: use --json, or leave --engine out")
    for flag, alone in (("target", []), ("warm_up", 0), ("last_block", "hit"), ("merge", False), ("explain", False)):
        if getattr(options, flag) != alone:
            raise Fault(f"argument --{flag.replace('_', '-')}: it is for the model alone: leave --engine out")
    if options.in_flight == LOGGED:
        raise Fault("argument --in-flight: logged is for the model alone: give a number, or leave --engine out")
    return chosen


def check_policies(policies: dict[str, Score], engines: Sequence[str]) -> None:
    """Raise Fault for a policy that needs more than SGLang's nodes know, if SGLang is among the engines."""
    for name, score in policies.items():
        if "sglang" in engines and (asks_for(score) or name in research_policies()):
            raise Fault(
                "argument --engine: SGLang's nodes have no clock and remember nothing of what was evicted:"
                f" leave out {shorten(printable(name))}, or take --engine vllm or store"
            )


def setting(options: argparse.Namespace) -> Setting:
    """Return how the engines are to be run."""
    return Setting(options.in_flight, options.hit_count, options.release == "together")


def without_tlru(
    names: Sequence[str], config: dict[str, Any], engines: Sequence[str]
) -> tuple[list[str], dict[str, Any], NodeScore | None]:
    """Return the policies other than `tlru`, the configuration that is left for them, and the score of `tlru`.

    The latter is a policy of SGLang's nodes, so no score of blocks.  Raises Fault if it is chosen without SGLang
    or without its two keys, which have no defaults.
    """
    if TLRU not in names or "sglang" not in engines:
        return list(names), config, None
    if names.count(TLRU) > 1:
        raise Fault("argument --radix-eviction-policy: tlru is given twice: give it once")
    if config.keys() != TLRU_KEYS or not all(type(value) is int and value >= 0 for value in config.values()):
        raise Fault(
            "policy tlru takes two whole numbers of blocks: give"
            """ --radix-eviction-policy-config '{"threshold": 3, "next_prompt_estimate": 1}'"""
        )
    return [name for name in names if name != TLRU], {}, tlru(**config)


# -- texts ---------------------------------------------------------------------------------------------------------


def as_text(found: Engines) -> str:
    """Return the comparison for a reader: the trace, the hits of each engine, and what each does differently."""
    unified = any(row.unified for row in found.rows)
    columns = [name for name in found.engines if name not in ("vllm", "store")]
    header = ["capacity", "policy", *columns, *(["sglang unified"] if unified else [])]
    header += [name for name in found.engines if name not in columns]
    rows = [cells(found, row, policy, unified) for row in found.rows for policy in found.policies]
    lines = [*head(found), "", "hits, in blocks:", table(header, rows), ""]
    for engine in found.engines:
        lines += [TOLD[engine], *(line for row in found.rows for line in SENTENCES[engine](row))]
    if found.setting.hit_count:
        lines.append(f"Hits are counted as in SGLang's {found.setting.hit_count}.")
    return "\n".join(lines) + "\n"


def head(found: Engines) -> Iterator[str]:
    """Yield what the trace holds, and how much a cache hits that never evicts."""
    trace, in_flight = found.trace, found.setting.in_flight
    blocks, distinct = sum(map(len, trace.requests)), len(trace.parent)
    yield f"{counted(len(trace.requests), 'request')}, {counted(blocks, 'block')}, {distinct:,} of them distinct"
    if trace.bad_lines:
        yield f"{counted(trace.bad_lines, 'bad line')} skipped, the first: {trace.first_bad_line}"
    yield f"infinite cache: {counted(blocks - distinct, 'hit')}"
    if in_flight:
        yield f"in flight: {counted(in_flight, 'request')} before each request, their paths locked, but in the store"


def cells(found: Engines, row: EnginesAtCapacity, policy: str, unified: bool) -> list[str]:
    """Return the line of a capacity and a policy."""
    line = [f"{row.capacity:,}", printable(policy), hits(row.block.get(policy))]
    if "sglang" in found.engines:
        one = row.sglang.get(policy)
        line.append(hits(one.total.hits if one else None))
        if unified:
            both = row.unified.get(policy) or (one.total if one else None)
            line.append(hits(both.hits if both else None))
    for total in (row.vllm, row.store):
        if total is not None:
            line.append(hits(total.hits if policy == "lru" else None))
    return line


def hits(number: int | None) -> str:
    """Return a number of hits, or "-" where there is none."""
    return "-" if number is None else f"{number:,}"


def sglang_sentences(row: EnginesAtCapacity) -> Iterator[str]:
    """Yield what each part of SGLang's behaviour costs under each policy."""
    for policy, one in row.sglang.items():
        yield (
            f"  At {counted(row.capacity, 'block')} {printable(policy)}: block {row.block[policy]:,},"
            f" whole nodes {signed(one.whole_nodes)}, refreshed rest of a split {signed(one.refreshed_rest)},"
            f" what remains {signed(one.remaining)}: {one.total.hits:,}{refusals(one.total)}."
        )
    for policy, total in row.unified.items():
        if total.refused or policy == TLRU:
            at = f"At {counted(row.capacity, 'block')} {printable(policy)}"
            yield f"  {at}, unified: {total.hits:,}{refusals(total)}."


def lru_sentences(row: EnginesAtCapacity, total: Total | None) -> Iterator[str]:
    """Yield what an engine without a choice of policy hits beside the model's lru."""
    if total is not None:
        yield (
            f"  At {counted(row.capacity, 'block')}: lru of block {row.block['lru']:,},"
            f" {signed(row.block['lru'] - total.hits)}: {total.hits:,}{refusals(total)}."
        )


SENTENCES: dict[str, Any] = {
    "block": lambda row: (),
    "sglang": sglang_sentences,
    "vllm": lambda row: lru_sentences(row, row.vllm),
    "store": lambda row: lru_sentences(row, row.store),
}


def signed(loss: int) -> str:
    """Return what a loss does to the hits: `-3`, `+3` or `0`."""
    return f"{-loss:+,}" if loss else "0"


def refusals(total: Total) -> str:
    """Return how many requests were refused, if any was."""
    return f", {counted(total.refused, 'request')} refused" if total.refused else ""


def as_json(found: Engines, options: argparse.Namespace) -> dict[str, Any]:
    """Return the comparison as exact counts."""
    trace = found.trace
    blocks = sum(map(len, trace.requests))

    def total(one: Total) -> dict[str, int]:
        """Return what an engine hit, in blocks, and how many requests it refused."""
        return {"hits": one.hits, "refused_requests": one.refused}

    def price(one: SGLangPrice) -> dict[str, Any]:
        """Return SGLang's hits, and the model's that each of its differences costs, in blocks."""
        lost = {"whole_nodes": one.whole_nodes, "refreshed_rest": one.refreshed_rest, "remaining": one.remaining}
        return {**total(one.total), "hits_lost": lost}

    def at(row: EnginesAtCapacity) -> dict[str, Any]:
        """Return what was found at one capacity, by engine."""
        shown: dict[str, Any] = {"block": {printable(name): {"hits": each} for name, each in row.block.items()}}
        if row.sglang or row.unified:
            shown["sglang"] = {printable(name): price(one) for name, one in row.sglang.items()}
            shown["sglang_unified"] = {printable(name): total(one) for name, one in row.unified.items()}
        for name, one in (("vllm", row.vllm), ("store", row.store)):
            if one is not None:
                shown[name] = {"lru": total(one)}
        return shown

    return {
        "parameters": {
            "traces": list(map(printable, options.traces)),
            "engines": list(found.engines),
            "policies": list(map(printable, found.policies)),
            "configuration": options.radix_eviction_policy_config or {},
            "capacities": [row.capacity for row in found.rows],
            "in_flight": found.setting.in_flight,
            "hit_count": found.setting.hit_count,
            "release": options.release,
            "page_size": options.page_size,
            "tokens_per_block": options.tokens_per_block,
            "partial_blocks": options.partial_blocks,
            "namespaces": list(map(printable, options.namespace)),
            "skip_bad_lines": options.skip_bad_lines,
        },
        "measured": {
            "requests": len(trace.requests),
            "blocks": blocks,
            "distinct_blocks": len(trace.parent),
            "bad_lines": trace.bad_lines,
            "infinite_hits": blocks - len(trace.parent),
            "capacities": {str(row.capacity): at(row) for row in found.rows},
        },
    }
