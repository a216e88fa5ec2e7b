"""The flat store: LRU over blocks that do not know each other, against its plain definition; orphans seen."""

from __future__ import annotations

import random
import unittest

from src.engines.engine import serve_all
from src.engines.store import Store
from src.radixcache import Path
from tests.helpers import STUDY


def plain(capacity: int, paths: list[Path]) -> list[tuple[int, list[int]]]:
    """Return the hits and the victims of each request, from the times at which blocks were asked for."""
    asked: dict[int, int] = {}
    now = 0
    found = []
    for path in paths:
        missing = [at for at, block in enumerate(path) if block not in asked]
        victims = []
        for block in path:
            now += 1
            asked[block] = now
            if len(asked) > capacity:
                victims.append(min(asked, key=asked.__getitem__))
                del asked[victims[-1]]
        found.append((min(missing, default=len(path)), victims))
    return found


class FlatStore(unittest.TestCase):
    def test_against_the_definition(self) -> None:
        chance = random.Random(3)
        for _ in range(60):
            paths = [tuple(range(chance.choice((0, 10, 20)), 30)[: chance.randint(0, 6)]) for _ in range(30)]
            capacity = chance.randint(1, 12)
            engine = Store(capacity)
            found = []
            for served in serve_all(engine, [(path, 0) for path in paths]):
                found.append((served.hits, list(served.victims)))
                self.assertLessEqual(len(engine.cached()), capacity)
            self.assertEqual(found, plain(capacity, paths))

    def test_an_orphan_takes_room_and_counts_once_its_parent_is_back(self) -> None:
        engine = Store(2)
        zero, below, other = STUDY.path("0"), STUDY.path("00"), STUDY.path("1")
        engine.serve(below)
        self.assertEqual(engine.serve(other).victims, zero)
        self.assertEqual(engine.cached(), {below[1], *other})
        self.assertEqual(engine.serve(below).hits, 0)
        self.assertEqual(engine.serve(below).hits, 2)
        engine.release(below)
        self.assertEqual(engine.cached(), set(below))


if __name__ == "__main__":
    unittest.main()
