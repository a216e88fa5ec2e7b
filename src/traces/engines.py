"""Real engines set beside the model on a trace: what each of them hits, and what each of its behaviours costs.

The model is a cache of single blocks, `src.traces.replay`.  SGLang's loss against it is told in three parts, in this
order: whole nodes; then the refreshed rest of a split; then what remains, which is another creation time of split
nodes, another count of hits, and requests that are refused.  Each part is the difference of two replays.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from src.engines.engine import Engine, serve_all
from src.engines.sglang import LRU, Behaviour, NodeScore, of_facts
from src.engines.sglang_queue import QueuedSGLang
from src.engines.store import Store
from src.engines.vllm import VLLM
from src.page.commandline import Progress
from src.policies.facts import Facts, Score
from src.policies.scores import lru
from src.traces.lru_curve import Curve, lru_curve
from src.traces.reading import Trace
from src.traces.replay import serve

ENGINES = ("block", "sglang", "vllm", "store")
TLRU = "tlru"
LEAVE_CREATION = ("lru", "lfu", "slru", "priority", "mru")
"""The policies that do not look at the creation time: for them SGLang's unified cache is `RadixCache`."""


class Setting(NamedTuple):
    """How engines are run.

    `hit_count`: what counts as hits of a block or node, `page` (later matches, as SGLang's page says) or `code`
    (creation too, as SGLang does); None is `page` for the model and `code` for SGLang.  `together`: the requests in
    flight are released by vLLM all at once, the latest first.
    """

    in_flight: int = 0
    hit_count: str | None = None
    together: bool = False

    @property
    def model_counts_creation(self) -> bool:
        """Whether the model counts creation as a hit."""
        return self.hit_count == "code"

    def sglang(self, unified: bool = False) -> Behaviour:
        """Return SGLang's behaviour."""
        return Behaviour(count_creation=self.hit_count != "page", unified=unified)


class Total(NamedTuple):
    """The hits of an engine over a trace, and how many requests it refused, which hit nothing."""

    hits: int
    refused: int


class SGLangPrice(NamedTuple):
    """SGLang under one policy: what it hits, and its hits less in three parts (negative: more)."""

    total: Total
    whole_nodes: int
    refreshed_rest: int
    remaining: int


class EnginesAtCapacity(NamedTuple):
    """What was found at one capacity: hits by policy, and of the engines without a choice of policy.

    `block` has `lru` whether or not it was chosen.  `unified` has the policies for which SGLang's unified cache may
    differ from `RadixCache`, and `tlru`, which only the unified cache was seen to offer.
    """

    capacity: int
    block: dict[str, int]
    sglang: dict[str, SGLangPrice]
    unified: dict[str, Total]
    vllm: Total | None
    store: Total | None


class Engines(NamedTuple):
    """The rows of some capacities in increasing order, and what they were computed from."""

    trace: Trace
    policies: Sequence[str]
    engines: Sequence[str]
    setting: Setting
    rows: Sequence[EnginesAtCapacity]


def compare_engines(
    trace: Trace,
    policies: dict[str, Score],
    tail_optimized: NodeScore | None,
    engines: Sequence[str],
    capacities: Sequence[int],
    setting: Setting,
) -> Engines:
    """Return what the engines hit at each capacity under each policy, `tail_optimized` being the score of `tlru`.

    Raises ValueError as `replay` does.  Cost: that of up to six replays for each policy and capacity.
    """
    curve = lru_curve(trace)
    progress = Progress()
    rows: list[EnginesAtCapacity] = []
    for capacity in capacities:
        progress.count(len(rows), len(capacities), "engines, capacities")
        scores = {**policies, "lru": lru}
        block = {name: model_hits(trace, capacity, score, setting, curve) for name, score in scores.items()}
        sglang, unified = {}, {}
        if "sglang" in engines:
            for name, score in policies.items():
                with _faults_of(name):
                    sglang[name] = priced(trace, capacity, name, score, block[name], setting)
                    if name not in LEAVE_CREATION:
                        unified[name] = on_nodes(trace, capacity, score, setting.sglang(unified=True), setting)
            if tail_optimized:
                engine = QueuedSGLang(capacity, tail_optimized, setting.sglang(unified=True))
                unified[TLRU] = run(engine, trace, setting.in_flight)
        vllm = run(VLLM(capacity), trace, setting.in_flight, setting.together) if "vllm" in engines else None
        store = run(Store(capacity), trace) if "store" in engines else None
        rows.append(EnginesAtCapacity(capacity, block, sglang, unified, vllm, store))
    names = [*policies, *([TLRU] if tail_optimized else [])]
    return Engines(trace, names, engines, setting, rows)


def model_hits(trace: Trace, capacity: int, score: Score, setting: Setting, curve: Curve) -> int:
    """Return what the model hits; `curve` has the answer for LRU with nothing in flight."""
    if score is lru and not setting.in_flight:
        return curve.hits(capacity)
    if setting.model_counts_creation:
        score = counting_creation(score)
    return sum(served.hits for served in serve(trace, capacity, score, setting.in_flight))


def run(engine: Engine, trace: Trace, in_flight: int = 0, together: bool = False) -> Total:
    """Serve a trace from a cold start and return what was counted."""
    hits = refused = 0
    for served in serve_all(engine, zip(trace.requests, trace.priorities), in_flight, together):
        if served.admitted:
            hits += served.hits
        else:
            refused += 1
    return Total(hits, refused)


def on_nodes(trace: Trace, capacity: int, score: Score, behaviour: Behaviour, setting: Setting) -> Total:
    """Return what SGLang's tree with some behaviour hits under a policy of blocks."""
    node_score = LRU if score is lru else of_facts(score)
    return run(QueuedSGLang(capacity, node_score, behaviour), trace, setting.in_flight)


def priced(trace: Trace, capacity: int, name: str, score: Score, model: int, setting: Setting) -> SGLangPrice:
    """Return what SGLang hits under a policy under which the model has `model` hits, and the parts of the difference.

    Only the runs are made that can differ.  A tree of single blocks whose splits change nothing differs from the model
    by the requests that it refuses.  Beyond whole nodes and the refreshed rest of a split only the creation time
    and the count of hits are left.  Of the policies that do not look at the former, only `slru` sees that all counts
    are one higher.
    """
    like_the_model = Behaviour(False, False, setting.model_counts_creation, unified=True)
    single = Total(model, 0)
    if setting.in_flight or capacity < max(map(len, trace.requests)):
        single = on_nodes(trace, capacity, score, like_the_model, setting)
    whole = on_nodes(trace, capacity, score, like_the_model._replace(whole_nodes=True), setting)
    real = refreshed = on_nodes(trace, capacity, score, setting.sglang(), setting)
    recounted = name == "slru" and setting.model_counts_creation != setting.sglang().count_creation
    if recounted or name not in LEAVE_CREATION:
        behaviour = like_the_model._replace(whole_nodes=True, refresh_rest=True)
        refreshed = on_nodes(trace, capacity, score, behaviour, setting)
    return SGLangPrice(
        real,
        whole_nodes=single.hits - whole.hits,
        refreshed_rest=whole.hits - refreshed.hits,
        remaining=model - single.hits + refreshed.hits - real.hits,
    )


def counting_creation(score: Score) -> Score:
    """Return the score that takes the request that creates a block as its first hit."""
    if score is lru:
        return score  # the replay knows it

    def counted(block: Facts) -> Any:
        """Return the score with one hit more."""
        return score(block._replace(hits=block.hits + 1))

    return counted


@contextlib.contextmanager
def _faults_of(name: str) -> Iterator[None]:
    """Tell of a score that fails on the facts of nodes, as a replay tells of one that fails on those of blocks."""
    try:
        yield
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise ValueError(f"policy {name} fails on the facts of SGLang's nodes ({what}): mend the function") from None
