"""Engines on a trace: against the plain classes, the parts of the price, and the model found inside SGLang."""

from __future__ import annotations

import random
import unittest

from src.engines.engine import serve_all
from src.engines.sglang import Behaviour, SGLang, of_facts, tlru
from src.engines.store import Store
from src.policies.facts import Facts
from src.policies.scores import make_policy, sglang_policies
from src.traces.engines import Engines, Setting, compare_engines, counting_creation, run
from src.traces.reading import Trace, trace_of
from src.traces.replay import replay
from tests.helpers import random_paths

ALL = ("block", "sglang", "vllm", "store")
POLICIES = {name: make_policy(name) for name in sglang_policies()}


def a_trace(seed: int) -> Trace:
    """Return a random trace with priorities."""
    chance = random.Random(seed)
    paths = random_paths(seed, 70)
    return trace_of(paths, [chance.randint(0, 2) for _ in paths])


def compared(trace: Trace, setting: Setting, capacities: tuple[int, ...] = (8, 14, 25)) -> Engines:
    """Return all engines beside the model under all policies."""
    return compare_engines(trace, POLICIES, tlru(4, 1), ALL, capacities, setting)


def plain_hits(trace: Trace, engine: SGLang, in_flight: int) -> tuple[int, int]:
    """Return the hits of admitted requests and the number of the others."""
    served = list(serve_all(engine, zip(trace.requests, trace.priorities), in_flight))
    return sum(one.hits for one in served if one.admitted), sum(not one.admitted for one in served)


class Compared(unittest.TestCase):
    def test_against_the_plain_classes(self) -> None:
        refused = 0
        for seed, setting in enumerate((Setting(), Setting(2), Setting(0, "page"), Setting(1, "code", True))):
            trace = a_trace(seed)
            found = compared(trace, setting)
            creation = setting.hit_count != "page"
            for row in found.rows:
                for name, score in POLICIES.items():
                    for unified in (False, True):
                        behaviour = Behaviour(count_creation=creation, unified=unified)
                        engine = SGLang(row.capacity, of_facts(score), behaviour)
                        total = (row.unified if unified else {}).get(name, row.sglang[name].total)
                        self.assertEqual(total, plain_hits(trace, engine, setting.in_flight), (seed, name, unified))
                        refused += total.refused
                    if name != "slru" or setting.hit_count != "code":
                        model = replay(trace, row.capacity, score, setting.in_flight)
                        self.assertEqual(row.block[name], model.hits)
                    parts = row.sglang[name]
                    lost = parts.whole_nodes + parts.refreshed_rest + parts.remaining
                    self.assertEqual(row.block[name] - lost, parts.total.hits)
                tail = SGLang(row.capacity, tlru(4, 1), Behaviour(count_creation=creation, unified=True))
                self.assertEqual(row.unified["tlru"], plain_hits(trace, tail, setting.in_flight))
                self.assertEqual(row.store, run(Store(row.capacity), trace))
                if not setting.in_flight and row.capacity >= max(map(len, trace.requests)):
                    self.assertEqual(row.vllm, (row.block["lru"], 0))
        self.assertGreater(refused, 20)

    def test_each_part_of_the_price_is_seen(self) -> None:
        """Where a part is nothing, a run is left out; here it is made, and is nothing."""
        seen = dict.fromkeys(("whole_nodes", "refreshed_rest", "remaining", "creation"), 0)
        for seed, in_flight in ((0, 0), (6, 0), (4, 2)):
            trace = a_trace(seed)
            for row in compared(trace, Setting(in_flight), (5, 14, 25)).rows:  # 5: less than the longest path
                for name, parts in row.sglang.items():
                    seen["whole_nodes"] += parts.whole_nodes != 0
                    seen["refreshed_rest"] += parts.refreshed_rest != 0
                    seen["remaining"] += parts.remaining != 0
                    seen["creation"] += name in ("fifo", "filo") and parts.remaining != 0 and not parts.total.refused
                    steps = [
                        SGLang(row.capacity, of_facts(POLICIES[name]), Behaviour(whole, fresh, False, True))
                        for whole, fresh in ((False, False), (True, False), (True, True))
                    ]
                    single, whole, refreshed = (plain_hits(trace, engine, in_flight)[0] for engine in steps)
                    self.assertEqual(parts.whole_nodes, single - whole, name)
                    self.assertEqual(parts.refreshed_rest, whole - refreshed, name)
        self.assertGreater(min(seen.values()), 0, seen)

    def test_together_is_another_order_for_vllm_alone(self) -> None:
        trace = a_trace(7)
        both = [compared(trace, Setting(3, None, together)).rows for together in (False, True)]
        self.assertNotEqual([row.vllm for row in both[0]], [row.vllm for row in both[1]])
        self.assertEqual([row.sglang for row in both[0]], [row.sglang for row in both[1]])

    def test_code_counts_one_more(self) -> None:
        slru, three = make_policy("slru"), make_policy("slru", {"protected_threshold": 3})
        facts = [Facts(last_access=1, created=1, hits=hits, priority=0, depth=1) for hits in range(5)]
        self.assertEqual(list(map(counting_creation(three), facts)), list(map(slru, facts)))
        self.assertIs(counting_creation(POLICIES["lru"]), POLICIES["lru"])
        trace = a_trace(6)
        code = compare_engines(trace, {"slru": three}, None, ["block"], [8], Setting(0, "code")).rows[0].block["slru"]
        self.assertEqual(code, replay(trace, 8, slru).hits)
        self.assertNotEqual(code, replay(trace, 8, three).hits)

    def test_a_score_that_fails_on_nodes(self) -> None:
        def fails(block: Facts) -> int:
            return 1 // (block.last_access <= 100)  # requests, or ticks of the nodes' clock

        with self.assertRaisesRegex(ValueError, "policy mine fails on the facts of SGLang's nodes"):
            compare_engines(a_trace(2), {"mine": fails}, None, ["block", "sglang"], [20], Setting())


if __name__ == "__main__":
    unittest.main()
