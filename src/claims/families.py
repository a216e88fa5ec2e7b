"""All claims, in families that do not depend on each other, so that processes can share them.

Within a family claims share what is computed once.  The results are the same, in the same order, for any number of
processes.
"""

from __future__ import annotations

import multiprocessing
import signal
from typing import Any, Callable

from src.claims.all_lengths import every_length_claim
from src.claims.augmentation import augmentation
from src.claims.claim import Claim
from src.claims.derisk import BINARY
from src.claims.engines import engines
from src.claims.memory import memory
from src.claims.online_optimum import online_optimum
from src.claims.preregistration import preregistration
from src.claims.randomized import randomized
from src.claims.reduction import reduction
from src.claims.report import SECTIONS
from src.claims.study import study
from src.claims.theorems import theorems
from src.claims.whole_nodes import whole_nodes
from src.claims.width import width_claim
from src.claims.without_rule import policies
from src.radixcache import Trie

Say = Callable[[str], None]
Family = Callable[[Trie, Say], dict[str, Claim]]


def _policies(trie: Trie, say: Say) -> dict[str, Claim]:
    say("policies without the rule")
    return {"policies": policies(trie)}


def _prices(trie: Trie, say: Say) -> dict[str, Claim]:
    """The theorems' sweeps and the width's share LRU's and fifo's ratios on the small tries."""
    return {"theorems": theorems(say), "width": width_claim(trie, say), "augmentation": augmentation(say)}


def _reduction(trie: Trie, say: Say) -> dict[str, Claim]:
    return {"reduction": reduction(trie, say), "online_optimum": online_optimum(trie, say)}


def _beyond_blocks(trie: Trie, say: Say) -> dict[str, Claim]:
    found = {"whole_nodes": whole_nodes(trie, say), "randomized": randomized(trie, say)}
    say("engines, memory")
    return {**found, "engines": engines(trie), "memory": memory()}


def _every_length(trie: Trie, say: Say) -> dict[str, Claim]:
    return {"every_length": every_length_claim(trie, say)}


FAMILIES: tuple[Family, ...] = (_policies, _prices, _beyond_blocks, _reduction, _every_length, study)
"""The longest first, so that the last to end is a short one."""


def all_claims(say: Say, jobs: int = 1) -> dict[str, Any]:
    """Return the verdicts of the pre-registration and all claims, in the order of the report.

    `say` is told what is being computed, or with several processes what has been.  Ctrl-C ends all of them.
    """
    found: dict[str, Claim] = {}
    if jobs == 1:
        for family in FAMILIES:
            found.update(family(Trie(BINARY), say))
    else:
        with multiprocessing.Pool(min(jobs, len(FAMILIES)), signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
            for part in pool.imap_unordered(_family, range(len(FAMILIES))):
                found.update(part)
                say(f"{len(found)} of {len(SECTIONS)} claims, the latest {', '.join(part)}")
    ordered = {name: found[name] for name in SECTIONS}
    return {"preregistration": preregistration(ordered), **ordered}


def _family(number: int) -> dict[str, Claim]:
    return FAMILIES[number](Trie(BINARY), lambda _: None)
