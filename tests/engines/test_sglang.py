"""SGLang's nodes: every step of the recordings, what the recordings do not show, and the model inside it."""

from __future__ import annotations

import random
import unittest
from typing import Any

from src.engines.block import Block
from src.engines.engine import serve_all
from src.engines.sglang import Behaviour, NodeFacts, SGLang, of_facts, shared_blocks, tlru
from src.policies.facts import Facts
from src.policies.scores import make_policy
from src.radixcache import Path, String, Trie
from tests.engines.recorded import ranked, recordings, sglang_faults, sglang_of
from tests.helpers import STUDY, random_sequence, random_universe

SINGLE_BLOCKS = Behaviour(whole_nodes=False, refresh_rest=False, unified=True)


def chains(engine: SGLang) -> list[Path]:
    """Return the blocks of each node."""
    return sorted(node.blocks for node in engine.nodes())


class Recorded(unittest.TestCase):
    def test_every_step(self) -> None:
        found = recordings("sglang_0_5_23.jsonl")
        self.assertEqual(len(found), 41)
        for one in found:
            engine = sglang_of(one)
            self.assertEqual(sglang_faults(one, engine), [])
            engine.check()

    def test_the_unified_cache_parts_where_it_was_seen_to_part(self) -> None:
        """Its own steps are not recorded, but which request is the first that it serves differently is, from 1 on."""
        parted = 0
        for one in recordings("sglang_0_5_23.jsonl"):
            agree: Any = one.given["agree"].get("UnifiedRadixCache, Python core", True)
            if one.given["impl"] != "RadixCache":
                continue
            pair = [SGLang(one.given["capacity"], sglang_of(one).score, Behaviour(unified=u)) for u in (False, True)]
            steps = zip(*(serve_all(engine, one.requests, one.given["in_flight"]) for engine in pair))
            different = [at for at, (radix, unified) in enumerate(steps, start=1) if radix != unified]
            self.assertEqual(different[:1], [] if agree is True else [agree], one.given["name"])
            parted += agree is not True
        self.assertEqual(parted, 2)

    def test_a_fault_is_seen(self) -> None:
        one = recordings("sglang_0_5_23.jsonl")[0]
        engine = sglang_of(one)
        engine.capacity += 1
        self.assertEqual(sglang_faults(one, engine)[0], f"{one.given['name']}, step 2, cached")
        self.assertEqual(ranked([["1", 1, 7, 9, 0, 0, 0], ["0", 1, 9, 8, 0, 0, 0]]),
                         [["0", 1, 2, 1, 0, 0, 0], ["1", 1, 0, 2, 0, 0, 0]])  # fmt: skip


class NotRecorded(unittest.TestCase):
    def test_a_refused_request_has_split_and_refreshed_already(self) -> None:
        trie = Trie(["000", "1", "00111"])
        engine = SGLang(5)
        for string in ("000", "1"):
            engine.serve(trie.path(string))
            engine.release(trie.path(string))
        engine.serve(trie.path("1"))
        served = engine.serve(trie.path("00111"))
        self.assertEqual(served, (2, False, 0, ()))
        engine.check()
        self.assertEqual(chains(engine), [trie.path("000")[:2], trie.path("000")[2:], trie.path("1")])
        upper, rest, other = sorted(engine.nodes(), key=lambda node: node.blocks)
        self.assertGreater(min(upper.last_access, rest.last_access), other.last_access)
        self.assertEqual([node.locks for node in (upper, rest, other)], [0, 0, 1])
        self.assertEqual((upper.hits, rest.hits), (1, 1))

    def test_a_refused_request_has_touched_whole_nodes_too(self) -> None:
        engine = SGLang(3)
        for string in ("0", "1"):
            engine.serve(STUDY.path(string))
            engine.release(STUDY.path(string))
        engine.serve(STUDY.path("1"))
        self.assertEqual(engine.serve((*STUDY.path("00"), 77, 78)), (1, False, 0, ()))
        zero, one = sorted(engine.nodes(), key=lambda node: node.blocks)
        self.assertGreater(zero.last_access, one.last_access)

    def test_a_path_longer_than_the_capacity_is_refused(self) -> None:
        engine = SGLang(2)
        self.assertFalse(engine.serve((0, 1, 2)).admitted)
        self.assertEqual(engine.cached(), set())

    def test_a_request_of_no_block(self) -> None:
        engine = SGLang(2)
        self.assertEqual(engine.serve(()), (0, True, 0, ()))
        engine.release(())
        engine.check()

    def test_a_child_with_more_locks_than_its_parent_is_seen(self) -> None:
        engine = SGLang(3)
        for path in ((0, 1, 2), (0,)):
            engine.serve(path)
            engine.release(path)
        engine.check()
        _, lower = sorted(engine.nodes(), key=lambda node: node.blocks)
        lower.locks += 1
        engine.locked += len(lower.blocks)
        self.assertRaises(AssertionError, engine.check)

    def test_one_behaviour_off(self) -> None:
        """Each of them changes what one scenario does, and only as it says."""
        trie = Trie(["000", "1", "2", "0", "222"])

        def after(behaviour: Behaviour, strings: str) -> list[String]:
            engine = SGLang(4, of_facts(make_policy("slru")), behaviour)
            for string in strings.split():
                engine.serve(trie.path(string))
                engine.release(trie.path(string))
                engine.check()
            return [trie.prefix[chain[-1]] for chain in chains(engine)]

        self.assertEqual(after(Behaviour(), "000 1 2"), ["1", "2"])
        self.assertEqual(after(Behaviour(whole_nodes=False), "000 1 2"), ["00", "1", "2"])
        self.assertEqual(after(Behaviour(), "000 1 0 2"), ["0", "000", "2"])
        self.assertEqual(after(Behaviour(refresh_rest=False), "000 1 0 2"), ["0", "1", "2"])
        self.assertEqual(after(Behaviour(), "1 1 000 222"), ["1", "222"])
        self.assertEqual(after(Behaviour(count_creation=False), "1 1 000 222"), ["222"])


class Tlru(unittest.TestCase):
    def test_what_a_node_scores(self) -> None:
        """The condition, as the recordings have it; each of them turns red where it is another one."""
        score = tlru(threshold=3, next_prompt_estimate=1)
        engine = SGLang(9, score, Behaviour(unified=True))
        path = (0, 1, 2, 3, 4)
        engine.serve(path)
        (node,) = engine.nodes()
        self.assertEqual((node.start, node.reach, score(node)), (0, 5, 0))
        node.blocks = path[2:]
        self.assertEqual((node.start, score(node)), (2, 0))
        node.blocks = path[3:]
        self.assertEqual((node.start, score(node)), (3, -1))


class SingleBlocks(unittest.TestCase):
    def test_with_its_own_behaviours_off_it_is_the_model(self) -> None:
        chance = random.Random(5)
        evicted = 0
        for _ in range(40):
            trie = Trie(random_universe(chance, 8, 4))
            capacity = chance.randint(max(trie.depth), len(trie) + 1)
            sequence = random_sequence(chance, trie, 30)
            requests = [(trie.path(string), chance.randint(0, 2)) for string in sequence]
            for name in ("lru", "lfu", "slru", "fifo", "mru", "filo"):
                config = {"protected_threshold": 3} if name == "slru" else None
                ours = SGLang(capacity, of_facts(make_policy(name, config)), SINGLE_BLOCKS)
                model = Block(trie, capacity, make_policy(name))
                for one, other in zip(serve_all(ours, requests), serve_all(model, requests)):
                    ours.check()
                    shown = (name, capacity, trie.strings, sequence)
                    self.assertEqual((one.hits, one.victims), (other.hits, other.victims), shown)
                    self.assertEqual(ours.cached(), model.cached())
                    evicted += len(one.victims)
        self.assertGreater(evicted, 1000)

    def test_slru_counts_as_the_page_says(self) -> None:
        score = of_facts(make_policy("slru"))
        page = SGLang(3, score, SINGLE_BLOCKS._replace(count_creation=False))
        model = Block(STUDY, 3, make_policy("slru"))
        for string in ("0", "0", "0", "1", "10", "11", "01", "1"):
            one, other = page.serve(STUDY.path(string)), model.serve(STUDY.path(string))
            self.assertEqual((one.hits, one.victims), (other.hits, other.victims))
            page.release(STUDY.path(string))
            model.release(STUDY.path(string))


class Parts(unittest.TestCase):
    def test_a_node_scores_by_the_facts_of_its_last_block(self) -> None:
        engine = SGLang(4)
        engine.serve((0, 1), 7)
        (node,) = engine.nodes()
        facts = NodeFacts(last_access=3, created=4, hits=1, priority=7, depth=2)
        self.assertEqual(of_facts(lambda one: one)(node), facts)
        self.assertEqual(NodeFacts._fields, Facts._fields[:5])

    def test_shared_blocks(self) -> None:
        self.assertEqual([shared_blocks((1, 2, 3), other) for other in ((1, 2), (1, 4, 3), (), (1, 2, 3, 4))],
                         [2, 1, 0, 3])  # fmt: skip


if __name__ == "__main__":
    unittest.main()
