"""What all engines share: victims one by one, and the order of releases."""

from __future__ import annotations

import unittest

from src.engines.engine import Engine, EngineServed, serve_all
from src.radixcache import Path


class Diary(Engine):
    """An engine that only writes down what it is asked; it refuses the empty path."""

    def __init__(self) -> None:
        super().__init__(1)
        self.asked: list[str] = []

    def serve(self, path: Path, priority: int = 0) -> EngineServed:
        self.asked.append(f"serve {path} {priority}")
        return EngineServed(0, admitted=bool(path))

    def release(self, path: Path) -> None:
        self.asked.append(f"release {path}")


def diary(in_flight: int, together: bool = False) -> list[str]:
    """Return what an engine is asked over four requests, of which the second is refused."""
    engine = Diary()
    for _ in serve_all(engine, [((0,), 5), ((), 0), ((1,), 0), ((2,), 0)], in_flight, together):
        engine.asked.append("done")
    return engine.asked


class Releases(unittest.TestCase):
    def test_nothing_in_flight(self) -> None:
        wanted = ["serve (0,) 5", "release (0,)", "done", "serve () 0", "done", "serve (1,) 0", "release (1,)", "done"]
        self.assertEqual(diary(0)[:8], wanted)

    def test_the_oldest_goes_and_a_refused_request_is_never_released(self) -> None:
        wanted = ["serve (0,) 5", "done", "serve () 0", "done", "serve (1,) 0", "release (0,)", "done"]
        self.assertEqual(diary(1)[:7], wanted)
        self.assertEqual(diary(1)[7:], ["serve (2,) 0", "release (1,)", "done"])

    def test_together_the_latest_goes_first(self) -> None:
        wanted = ["serve (1,) 0", "release (1,)", "release (0,)", "done", "serve (2,) 0", "done"]
        self.assertEqual(diary(1, together=True)[4:], wanted)
        self.assertEqual(diary(0, together=True), diary(0))


class Interface(unittest.TestCase):
    def test_victims_of_a_chain_go_from_its_end(self) -> None:
        self.assertEqual(EngineServed(0, True, 3, ((4, 5), (1,))).victims, (5, 4, 1))

    def test_the_base_class_serves_nothing(self) -> None:
        engine = Engine(1)
        for call in (lambda: engine.serve((0,)), lambda: engine.release((0,)), engine.cached):
            with self.assertRaisesRegex(TypeError, "subclasses"):
                call()


if __name__ == "__main__":
    unittest.main()
