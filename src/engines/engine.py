"""What an engine does: serve requests whose paths stay locked until they are released.

A request is served in one piece: what is cached of its path is found, room is made for the rest, the rest comes in.
From then on the path is locked: none of its blocks may go before the request is released.  A block is a number, which
stands for its path: no block lies on two paths behind different blocks (as in `src.radixcache.Trie` and in a trace).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from src.radixcache import Path


class EngineServed(NamedTuple):
    """What one request did.

    `hits`: the blocks found from the first on.  `admitted`: whether there was room for the rest; if not, the request is
    not served at all.  `asked`: how many blocks had to be evicted.  `evicted`: what went, in order, as the chains
    of blocks that went together, each from top to bottom.
    """

    hits: int
    admitted: bool = True
    asked: int = 0
    evicted: tuple[Path, ...] = ()

    @property
    def victims(self) -> tuple[int, ...]:
        """The evicted blocks one by one, of a chain the last block first."""
        return tuple(block for chain in self.evicted for block in reversed(chain))


class Engine:
    """A cache of at most `capacity` blocks, from a cold start.  What differs from engine to engine is in subclasses."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity

    def serve(self, path: Path, priority: int = 0) -> EngineServed:
        """Serve a request for a path, first block first, and if it is admitted lock the path."""
        raise TypeError("Engine is abstract: use one of its subclasses")

    def release(self, path: Path) -> None:
        """Release one admitted request for the path: its locks go."""
        raise TypeError("Engine is abstract: use one of its subclasses")

    def cached(self) -> set[int]:
        """Return the blocks that are held, orphans included."""
        raise TypeError("Engine is abstract: use one of its subclasses")


def serve_all(
    engine: Engine, requests: Iterable[tuple[Path, int]], in_flight: int = 0, together: bool = False
) -> Iterator[EngineServed]:
    """Serve requests, pairs of a path and a priority, and yield what each one did.

    When more than `in_flight` admitted requests are not released yet the oldest of them is released, or with `together`
    all of them, the latest first.  A step is yielded after the releases that follow it.
    """
    flying: deque[Path] = deque()
    for path, priority in requests:
        served = engine.serve(path, priority)
        if served.admitted:
            flying.append(path)
        while len(flying) > in_flight and not together:
            engine.release(flying.popleft())
        if len(flying) > in_flight:
            while flying:
                engine.release(flying.pop())
        yield served
