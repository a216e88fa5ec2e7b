"""Recordings of the real engines: what each request did to SGLang 0.5.23 and vLLM 0.33.0, on small scenarios."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path as File
from typing import Any, NamedTuple

from src.engines.engine import Engine, EngineServed, serve_all
from src.engines.sglang import Behaviour, NodeScore, SGLang, of_facts, tlru
from src.engines.vllm import VLLM
from src.policies.scores import make_policy
from src.radixcache import Path, Trie

FOLDER = File(__file__).parent / "recordings"
MakeSGLang = Callable[[int, NodeScore, Behaviour], SGLang]


class Recording(NamedTuple):
    """One scenario: its trie, the requests as paths with priorities, and all that the file says of it."""

    trie: Trie
    requests: list[tuple[Path, int]]
    given: dict[str, Any]

    def label(self, block: int) -> str:
        """Return the name of a block in the file: the ids on its path."""
        return "".join(map(str, self.trie.prefix[block]))

    def labels(self, blocks: Iterable[int]) -> list[str]:
        """Return the names of some blocks, in their order."""
        return [self.label(block) for block in blocks]


def recordings(name: str) -> list[Recording]:
    """Return the scenarios of a file."""
    found = []
    for line in (FOLDER / name).read_text().splitlines():
        given = json.loads(line)
        strings = [tuple(request["ids"]) for request in given["requests"]]
        trie = Trie(strings)
        priorities = [request.get("priority", 0) for request in given["requests"]]
        found.append(Recording(trie, [(trie.path(string), each) for string, each in zip(strings, priorities)], given))
    return found


def sglang_of(one: Recording, make: MakeSGLang = SGLang) -> SGLang:
    """Return SGLang's cache as a scenario has it."""
    given = one.given
    config = given["config"]
    score = tlru(**config) if given["policy"] == "tlru" else of_facts(make_policy(given["policy"], config))
    return make(given["capacity"], score, Behaviour(unified=given["impl"].startswith("Unified")))


def node_rows(one: Recording, engine: SGLang) -> list[list[Any]]:
    """Return the nodes as the file has them: end, blocks, last access, creation, hits, priority, locks."""
    return [
        [one.label(node.blocks[-1]), len(node.blocks), node.last_access, node.created, node.hits, node.priority,
         node.locks]
        for node in engine.nodes()
    ]  # fmt: skip


def ranked(rows: list[list[Any]]) -> list[list[Any]]:
    """Return nodes in the order of their names, with times replaced by their ranks among all times of all nodes."""
    times = sorted({time for row in rows for time in row[2:4]})
    return sorted([*row[:2], *map(times.index, row[2:4]), *row[4:]] for row in rows)


def sglang_faults(one: Recording, engine: SGLang) -> list[str]:
    """Return where the engine does not do what was recorded: the first step, and what is different in it."""
    steps = serve_all(engine, one.requests, one.given["in_flight"])
    for at, (served, recorded) in enumerate(zip(steps, one.given["steps"])):
        pairs = {
            **common(one, engine, served, recorded),
            "asked": (served.asked, recorded["asked"]),
            "evicted": ([one.labels(chain) for chain in served.evicted], recorded["evicted"]),
            "nodes": (ranked(node_rows(one, engine)), ranked(recorded["nodes"])),
        }
        different = [f"{one.given['name']}, step {at}, {key}" for key, (ours, its) in pairs.items() if ours != its]
        if different:
            return different
    return []


def vllm_faults(one: Recording, engine: VLLM) -> list[str]:
    """Return what `sglang_faults` returns, for vLLM; the recording says when each request is released."""
    for at, ((path, _), recorded) in enumerate(zip(one.requests, one.given["steps"])):
        served = engine.serve(path)
        for request in recorded["released"]:
            engine.release(one.requests[request][0])
        pairs = {
            **common(one, engine, served, recorded),
            "evicted": (one.labels(served.victims), recorded["evicted"]),
        }
        different = [f"{one.given['name']}, step {at}, {key}" for key, (ours, its) in pairs.items() if ours != its]
        if different:
            return different
    return []


def common(
    one: Recording, engine: Engine, served: EngineServed, recorded: dict[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Return pairs of what was done and what was recorded, of what both engines' recordings have."""
    return {
        "hits": (served.hits, recorded["hits"]),
        "admitted": (served.admitted, recorded["admitted"]),
        "cached": (sorted(one.labels(engine.cached())), recorded["cached"]),
    }
