"""The model as an engine: the plain cache, request by request."""

from __future__ import annotations

import random
import unittest

from src.engines.block import Block
from src.engines.engine import serve_all
from src.policies.cache import Cache
from src.policies.scores import make_policy
from src.radixcache import Trie
from src.traces.reading import trace_of
from src.traces.replay import serve
from tests.helpers import STUDY, random_paths


class Model(unittest.TestCase):
    def test_it_is_the_plain_cache_with_a_lock_on_each_path(self) -> None:
        engine, cache = Block(STUDY, 3, make_policy("fifo")), Cache(STUDY, 3, make_policy("fifo"))
        for string in ("00", "1", "01", "10", "00", "11", "0", "1"):
            one, other = engine.serve(STUDY.path(string)), cache.access(string)
            self.assertEqual((one.hits, one.victims), (other.hits, other.victims))
            self.assertEqual(engine.cached(), set(cache.facts))
            self.assertEqual(engine.cache.state().locks, ((string, (len(string),)),))
            engine.release(STUDY.path(string))
            self.assertEqual(engine.cache.state().locks, ())

    def test_it_is_the_replay_of_a_trace(self) -> None:
        chance = random.Random(4)
        for seed in range(6):
            paths = random_paths(seed)
            trie = Trie([tuple(path) for path in paths if path])
            priorities = [chance.randint(0, 2) for _ in paths]
            trace = trace_of(paths, priorities)
            numbered = [trie.path(tuple(path)) if path else () for path in paths]
            for name in ("lru", "lfu", "priority"):
                for in_flight in (0, 2):
                    ours = serve_all(Block(trie, 9, make_policy(name)), list(zip(numbered, priorities)), in_flight)
                    for one, other in zip(ours, serve(trace, 9, make_policy(name), in_flight)):
                        self.assertEqual((one.hits, len(one.victims)), (other.hits, len(other.victims)))


if __name__ == "__main__":
    unittest.main()
