"""vLLM's free queue: against recordings of the real one, against the model, and never an orphan."""

from __future__ import annotations

import random
import unittest

from src.engines.block import Block
from src.engines.engine import serve_all
from src.engines.vllm import VLLM
from src.radixcache import ROOT, Trie
from tests.engines.recorded import recordings, vllm_faults
from tests.helpers import STUDY, random_sequence, random_universe


def orphans(trie: Trie, cached: set[int]) -> list[int]:
    """Return the cached blocks whose parent is not cached."""
    return [block for block in cached if trie.parent[block] != ROOT and trie.parent[block] not in cached]


class Recorded(unittest.TestCase):
    def test_every_step(self) -> None:
        found = recordings("vllm_0_33_0.jsonl")
        self.assertEqual(len(found), 24)
        for one in found:
            self.assertEqual(vllm_faults(one, VLLM(one.given["capacity"])), [])


class Queue(unittest.TestCase):
    def test_released_in_the_order_of_requests_it_is_leaf_only_lru(self) -> None:
        chance = random.Random(1)
        evicted = [0, 0, 0]
        for _ in range(90):
            trie = Trie(random_universe(chance, 20, 3, "abcd"))
            in_flight = chance.randint(0, 2)
            capacity = (in_flight + 1) * max(trie.depth) + chance.randint(0, 2)
            sequence = random_sequence(chance, trie, 30)
            requests = [(trie.path(string), 0) for string in sequence]
            ours, model = VLLM(capacity), Block(trie, capacity)
            both = zip(serve_all(ours, requests, in_flight), serve_all(model, requests, in_flight))
            for one, other in both:
                self.assertEqual((one.hits, one.victims), (other.hits, other.victims), (trie.strings, sequence))
                self.assertEqual(ours.cached(), model.cached())
                evicted[in_flight] += len(one.victims)
        self.assertGreater(min(evicted), 50)

    def test_no_orphan_and_children_before_parents_in_any_order_of_release(self) -> None:
        chance = random.Random(2)
        evicted = refused = 0
        for _ in range(80):
            trie = Trie(random_universe(chance, 8, 4))
            engine = VLLM(chance.randint(2, len(trie) + 1))
            flying = []
            for string in random_sequence(chance, trie, 40):
                path = trie.path(string)
                before = engine.cached()
                served = engine.serve(path)
                self.assertTrue(served.admitted or engine.cached() == before)
                if served.admitted:
                    flying.append(path)
                refused += not served.admitted
                held = before | set(path)
                for victim in served.victims:
                    held.remove(victim)
                    self.assertEqual(orphans(trie, held), [])
                    evicted += 1
                while len(flying) > chance.randint(0, 3):
                    engine.release(flying.pop(chance.randrange(len(flying))))
                self.assertLessEqual(len(engine.cached()), engine.capacity)
                self.assertEqual(orphans(trie, engine.cached()), [])
                place = {block: at for at, block in enumerate(engine.free)}
                for block, at in place.items():
                    self.assertGreater(place.get(trie.parent[block], at + 1), at)
        self.assertGreater(evicted, 100)
        self.assertGreater(refused, 20)

    def test_a_refused_request_changes_nothing(self) -> None:
        engine = VLLM(2)
        engine.serve(STUDY.path("0"))
        engine.serve(STUDY.path("1"))
        engine.release(STUDY.path("1"))
        free = list(engine.free)
        self.assertEqual(engine.serve(STUDY.path("11")), (1, False, 0, ()))
        self.assertEqual(list(engine.free), free)

    def test_recency_is_the_order_of_releases(self) -> None:
        engine = VLLM(2)
        zero, one = STUDY.path("0"), STUDY.path("1")
        engine.serve(zero)
        engine.serve(one)
        engine.release(one)
        engine.release(zero)
        self.assertEqual(engine.serve(STUDY.path("00")).victims, one)


if __name__ == "__main__":
    unittest.main()
