"""SGLang with a heap of candidates: the plain class, decision by decision."""

from __future__ import annotations

import itertools
import random
import unittest

from src.engines.engine import serve_all
from src.engines.sglang import Behaviour, SGLang, of_facts, tlru
from src.engines.sglang_queue import QueuedSGLang
from src.policies.scores import make_policy, sglang_policies
from src.traces.reading import trace_of
from tests.engines.recorded import recordings, sglang_faults, sglang_of
from tests.helpers import random_paths

BEHAVIOURS = [Behaviour(*flags) for flags in itertools.product((True, False), repeat=4)]


class Queue(unittest.TestCase):
    def test_every_recorded_step(self) -> None:
        for one in recordings("sglang_0_5_23.jsonl"):
            self.assertEqual(sglang_faults(one, sglang_of(one, QueuedSGLang)), [])

    def test_against_the_plain_class(self) -> None:
        chance = random.Random(6)
        scores = {name: of_facts(make_policy(name)) for name in sglang_policies()}
        scores["tlru"] = tlru(threshold=4, next_prompt_estimate=1)
        scores["deepest first"] = of_facts(lambda block: -block.depth)
        evicted = refused = 0
        for seed, (name, score) in enumerate(scores.items()):
            paths = random_paths(seed, requests=40)
            trace = trace_of(paths, [chance.randint(0, 2) for _ in paths])
            requests = list(zip(trace.requests, trace.priorities))
            for behaviour in BEHAVIOURS:
                capacity, in_flight = chance.randint(6, 40), chance.choice((0, 0, 1, 3))
                plain, fast = SGLang(capacity, score, behaviour), QueuedSGLang(capacity, score, behaviour)
                steps = zip(serve_all(plain, requests, in_flight), serve_all(fast, requests, in_flight))
                for at, (one, other) in enumerate(steps):
                    fast.check()
                    self.assertEqual(one, other, (name, behaviour, capacity, in_flight, paths[: at + 1]))
                    evicted += len(one.evicted)
                    refused += not one.admitted
                self.assertEqual(facts_of(plain), facts_of(fast))
        self.assertGreater(evicted, 1300)
        self.assertGreater(refused, 65)

    def test_the_heap_stays_small(self) -> None:
        engine = QueuedSGLang(3)
        for _ in serve_all(engine, [((number % 2,), 0) for number in range(1000)]):
            self.assertLess(len(engine._queue), 2 * len(engine._latest) + 66)


def facts_of(engine: SGLang) -> list[tuple[object, ...]]:
    """Return all that is in the nodes."""
    return sorted(
        (node.blocks, node.start, node.last_access, node.created, node.hits, node.priority, node.reach, node.locks)
        for node in engine.nodes()
    )


if __name__ == "__main__":
    unittest.main()
