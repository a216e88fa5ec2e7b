"""The model as an engine: a radix cache of single blocks under the leaf-only rule, `src.policies.cache.Cache`.

It admits every request.  Where nothing is left to evict the tail of the path is not cached.
"""

from __future__ import annotations

from src.engines.engine import Engine, EngineServed
from src.policies.cache import Cache
from src.policies.facts import Score
from src.policies.scores import lru
from src.radixcache import Path, Trie


class Block(Engine):
    """The model on a trie; its requests are the paths of the trie's strings, and the empty path."""

    def __init__(self, trie: Trie, capacity: int, score: Score = lru) -> None:
        super().__init__(capacity)
        self.cache = Cache(trie, capacity, score)
        self._string = {trie.path(string): string for string in trie.strings}

    def serve(self, path: Path, priority: int = 0) -> EngineServed:
        """Serve a request, and lock what is cached of its path."""
        if not path:
            return EngineServed(0)
        served = self.cache.access(self._string[path], priority)
        self.cache.lock(self._string[path])
        return EngineServed(served.hits, evicted=tuple((block,) for block in served.victims))

    def release(self, path: Path) -> None:
        """Release the oldest request for the path."""
        if path:
            self.cache.unlock(self._string[path])

    def cached(self) -> set[int]:
        """Return the cached blocks."""
        return set(self.cache.facts)
