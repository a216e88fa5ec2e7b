"""SGLang's eviction policies, each one a score of a cached block, and one cache over any of them.

A policy is a function from the facts of a cached block to a sortable score.  The lowest score goes first; within a
tie the least recently used block goes, then the deeper one.  Nothing else knows the policies: to add one, write its
function and its line in `REGISTRY`.  The source is SGLang's page on radix cache eviction policies.

When the leaf-only rule is free (the theorem).  Let no cached block's score exceed its cached parent's.  Then
unconstrained eviction with ties to the deeper block never targets an interior block.
Proof.  Let a cached block have a cached child.  The child's score is not higher; its last access is not later, as a
request refreshes whole paths; and it is deeper.  So it precedes its parent in the order (score, last access, deeper
first), and it can go if its parent can, since a lock on it would be a lock on its whole path.  So a block with a
cached child is never first.
Hence an interior eviction certifies that some cached block scores higher than its parent.  The converse is not
claimed: the order can be violated where no eviction ever sees it.

Which policies keep the order in this model.  A request that reaches a child reaches its parent, at the same time
and with the same priority, and a parent is cached whenever its child is, so it was created no later:
* lru       last access: the parent's is no earlier.                                                   kept
* lfu       hits: whatever hits the child hits the parent, and the parent's count started no later.    kept
* slru      hits >= threshold: monotone in the hits.                                                   kept
* priority  highest priority so far: the parent has seen every request that the child has.             kept
* filo      minus the creation time: the parent was created no later, so it scores no lower.           kept
* fifo      creation time: the parent was created no later, so it scores no higher.                    violated
* mru       minus the last access: the parent's is no earlier, so it scores no higher.                 violated
"""

from __future__ import annotations

import functools
import inspect
import json
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Callable, NamedTuple

from src.radixcache import ROOT, String, Trie, as_set, check_capacity, members


class Facts(NamedTuple):
    """What a policy may know of a cached block.

    `last_access` and `created` are request numbers, from 1 on; `hits` counts the later requests that matched the
    block; `priority` is the highest priority of the requests that reached it; `depth` is the number of blocks on its
    path.  A block that is evicted and comes back starts anew.
    """

    last_access: int
    created: int
    hits: int
    priority: int
    depth: int


Score = Callable[[Facts], Any]


def lru(block: Facts) -> int:
    """Least recently used first.  The default."""
    return block.last_access


def lfu(block: Facts) -> int:
    """Least frequently used first: fewest hits."""
    return block.hits


def slru(block: Facts, protected_threshold: int = 2) -> bool:
    """Segmented: everything probationary goes before anything protected, which was hit `protected_threshold` times."""
    return block.hits >= protected_threshold


def priority(block: Facts) -> int:
    """Lowest request priority first."""
    return block.priority


def fifo(block: Facts) -> int:
    """First created, first evicted."""
    return block.created


def mru(block: Facts) -> int:
    """Most recently used first."""
    return -block.last_access


def filo(block: Facts) -> int:
    """First created, last evicted."""
    return -block.created


class Entry(NamedTuple):
    """A policy in the registry.  `experimental`: not offered on SGLang's command line."""

    score: Callable[..., Any]
    experimental: bool = False


REGISTRY: dict[str, Entry] = {
    "lru": Entry(lru),
    "lfu": Entry(lfu),
    "slru": Entry(slru),
    "priority": Entry(priority),
    "fifo": Entry(fifo, experimental=True),
    "mru": Entry(mru, experimental=True),
    "filo": Entry(filo, experimental=True),
}


class PolicyError(ValueError):
    """An unknown policy, or a configuration that it does not take."""


def parameters(score: Callable[..., Any]) -> dict[str, int]:
    """Return the parameters that a score function takes besides the facts, with their defaults."""
    options = list(inspect.signature(score).parameters.values())[1:]
    return {option.name: option.default for option in options}


def make_policy(name: str, config: Mapping[str, Any] | None = None) -> Score:
    """Return the score of a registered policy, or of the function in `FILE.py:FUNCTION`, with its parameters set.

    Every parameter is an integer of at least 1.  Raises PolicyError, with the choices there are, for an unknown
    policy, an unknown key and a value of the wrong type; also for a file or function that cannot be had.
    """
    if ".py:" in name:
        score = _load(name)
    elif name in REGISTRY:
        score = REGISTRY[name].score
    else:
        choices = ", ".join(REGISTRY)
        raise PolicyError(f"unknown eviction policy {name!r}: choose one of {choices} or give FILE.py:FUNCTION")
    known = parameters(score)
    for key, value in (config or {}).items():
        if key not in known:
            takes = ", ".join(known) or "no keys: leave its configuration out"
            raise PolicyError(f"unknown key {key!r} in the configuration of policy {name!r}, which takes {takes}")
        if type(value) is not int or value < 1:
            shown = json.dumps(value, default=repr)
            raise PolicyError(f"{key} of policy {name!r} is {shown}: give an integer of at least 1")
    return functools.partial(score, **config) if config else score


def parse_config(text: str) -> dict[str, Any]:
    """Return the JSON object in the text of `--radix-eviction-policy-config`.  Raises PolicyError for anything else."""
    remedy = """give an object such as '{"protected_threshold": 3}'"""
    try:
        pairs = json.loads(text, object_pairs_hook=list)
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        fault = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise PolicyError(f"the policy configuration is not JSON ({fault}): {remedy}") from None
    if not isinstance(config, dict):
        raise PolicyError(f"the policy configuration is no JSON object: {remedy}")
    if len(pairs) != len(config):
        raise PolicyError("the policy configuration names a key twice: name it once")
    return config


def _load(name: str) -> Callable[..., Any]:
    """Return the function that `FILE.py:FUNCTION` names."""
    file, _, function = name.rpartition(":")
    path = Path(file)
    try:
        there = path.is_file()
    except (OSError, ValueError):  # a name too long, or with a null byte
        there = False
    if not there:
        raise PolicyError(f"{file}: there is no such file: give FILE.py:FUNCTION")
    if path.suffix != ".py":
        raise PolicyError(f"{file}: not a Python file: give FILE.py:FUNCTION")
    module = types.ModuleType(f"policy_{path.stem}")
    module.__file__ = file
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(compile(path.read_bytes(), file, "exec", dont_inherit=True), module.__dict__)
    except SyntaxError as error:
        raise PolicyError(f"{error.filename or file}:{error.lineno}: {error.msg}: mend the file") from None
    except (Exception, SystemExit) as error:
        raise PolicyError(f"{file}: fails when it is loaded ({type(error).__name__}: {error}): mend the file") from None
    score: Callable[..., Any] | None = getattr(module, function, None)
    if not callable(score):
        raise PolicyError(f"{file}: has no function {function!r}: name one that takes the facts of a block")
    try:
        options = list(inspect.signature(score).parameters.values())
    except (TypeError, ValueError):
        options = []
    positional = options and options[0].kind in (options[0].POSITIONAL_ONLY, options[0].POSITIONAL_OR_KEYWORD)
    if not positional or any(option.default is option.empty for option in options[1:]):
        raise PolicyError(f"{file}: {function} must take the facts of a block; any further parameter needs a default")

    @functools.wraps(score)
    def told(block: Facts, **config: int) -> Any:
        """Score a block, and say which file is at fault if that fails."""
        try:
            return score(block, **config)
        except TypeError:
            raise  # those who serve blocks that only compare need to know
        except Exception as error:
            raise PolicyError(f"{file}: {function} fails ({type(error).__name__}: {error}): mend it") from None

    return told


# -- the cache -----------------------------------------------------------------------------------------------------


class Served(NamedTuple):
    """One request served: blocks hit and missed, the victims in order, and how much of its tail was not cached.

    Without the leaf-only rule a victim's cached descendants go with it; `dragged` counts those blocks.
    """

    hits: int
    misses: int
    victims: tuple[int, ...]
    interior: int = 0
    strict_interior: int = 0
    dragged: int = 0
    uncached: int = 0


class Cache:
    """A radix cache of at most K blocks under any policy, in the plain form: each eviction looks at every block.

    With `leaf_only=False` any unlocked block may be the victim and its cached descendants go with it: the
    unconstrained cache that the rule is measured against.  With `write_back=True` no hits are counted.
    Raises ValueError for a capacity below 1.
    """

    def __init__(
        self, trie: Trie, capacity: int, score: Score = lru, leaf_only: bool = True, write_back: bool = False
    ) -> None:
        check_capacity(capacity)
        self.trie, self.capacity, self.score = trie, capacity, score
        self.leaf_only, self.write_back = leaf_only, write_back
        self.clock = 0
        self.facts: dict[int, Facts] = {}
        self._locks: dict[int, int] = {}
        self._held: dict[String, list[int]] = {}  # for each locked string: how many blocks each of its locks holds

    def cached(self) -> int:
        """Return the set of cached blocks."""
        return as_set(self.facts)

    def match(self, string: String) -> int:
        """Return how many blocks of the string's path are cached, from the first on.  Changes nothing."""
        held = 0
        for block in self.trie.path(string):
            if block not in self.facts:
                break
            held += 1
        return held

    def access(self, string: String, priority: int = 0, chunked: bool = False) -> Served:
        """Serve a request: match its path, bring in the rest, evict what is too much.

        The path is locked while it is served.  Matched blocks count a hit each, unless this is a further step
        of a chunked prefill (`chunked`): a request that is prefilled in chunks is counted by its first access
        alone.  When nothing else is left to evict, the tail of the path is not cached, so of a path longer than the
        capacity the first K blocks remain.  Raises ValueError for a string that is not the trie's.
        Cost: O(blocks) for each eviction.
        """
        path = self.trie.path(string)
        self.clock += 1
        hits = self.match(string)
        for at, block in enumerate(path):
            if at < hits:
                old = self.facts[block]
                counted = old.hits + (not chunked and not self.write_back)
                self.facts[block] = Facts(self.clock, old.created, counted, max(old.priority, priority), old.depth)
            else:
                self.facts[block] = Facts(self.clock, self.clock, 0, priority, self.trie.depth[block])
        self._hold(path)
        uncached = 0
        try:
            reclaimed = self._reclaim(len(self.facts) - self.capacity)
        finally:  # a score may fail; the cache stays sound
            self._release(path)
            while len(self.facts) > self.capacity:
                uncached += 1
                del self.facts[path[-uncached]]
        return Served(hits, len(path) - hits, *reclaimed, uncached)

    def lock(self, string: String) -> int:
        """Lock the cached part of the string's path, once more if it is locked; return how many blocks that is."""
        held = self.match(string)
        self._hold(self.trie.path(string)[:held])
        self._held.setdefault(string, []).append(held)
        return held

    def unlock(self, string: String) -> None:
        """Release the oldest lock of the string.  Raises ValueError if it has none."""
        if not self._held.get(string):
            raise ValueError(f"{string!r} is not locked: unlock once for each lock")
        self._release(self.trie.path(string)[: self._held[string].pop(0)])

    def _hold(self, blocks: tuple[int, ...]) -> None:
        for block in blocks:
            self._locks[block] = self._locks.get(block, 0) + 1

    def _release(self, blocks: tuple[int, ...]) -> None:
        for block in blocks:
            self._locks[block] -= 1
            if not self._locks[block]:
                del self._locks[block]

    def evict(self, count: int) -> tuple[int, ...]:
        """Free `count` blocks, or as many as are not locked, and return the victims in order.

        Without the leaf-only rule more may be freed, as a victim takes its descendants along.  Raises ValueError for
        a negative count.
        """
        if count < 0:
            raise ValueError(f"cannot evict {count} blocks: give 0 or more")
        return self._reclaim(count)[0]

    def evictable(self) -> list[int]:
        """Return the blocks that may go: cached, not locked, and under the leaf-only rule without a cached child."""
        if not self.leaf_only:
            return [block for block in self.facts if block not in self._locks]
        inner = {self.trie.parent[block] for block in self.facts}
        return [block for block in self.facts if block not in self._locks and block not in inner]

    def order(self, block: int) -> tuple[Any, int, int, int]:
        """Return the block's place in the order of eviction: score, last access, deeper first, number."""
        facts = self.facts[block]
        return (self.score(facts), facts.last_access, -facts.depth, block)

    def _reclaim(self, count: int) -> tuple[tuple[int, ...], int, int, int]:
        """Evict until `count` blocks are free; return the victims, and the middle three numbers of a Served."""
        victims: list[int] = []
        interior = strict_interior = dragged = 0
        goal = len(self.facts) - max(count, 0)
        while len(self.facts) > goal:
            candidates = self.evictable()
            if not candidates:
                break
            victim = min(candidates, key=self.order)
            below = [] if self.leaf_only else [b for b in members(self.trie.descendants[victim]) if b in self.facts]
            if below:
                lowest = self.score(self.facts[victim])
                interior += 1
                strict_interior += sum(self.score(self.facts[block]) == lowest for block in candidates) == 1
                dragged += len(below)
            for block in [victim, *below]:
                del self.facts[block]
            victims.append(victim)
        return tuple(victims), interior, strict_interior, dragged

    def check(self) -> None:
        """Raise AssertionError unless the invariants hold.

        The cached set is ancestor-closed and at most K blocks; locks are cached and closed too, and add up;
        the evictable blocks are those that no lock holds and, under the rule, no cached block sits on; a parent was
        created no later than its child, and its last access, hits and priority are no lower.
        """
        cached = self.cached()
        assert self.trie.is_ancestor_closed(cached), f"not ancestor-closed: {self.trie.labels(cached)}"
        assert len(self.facts) <= self.capacity, f"{len(self.facts)} blocks in a capacity of {self.capacity}"
        held: dict[int, int] = {}
        for string, lengths in self._held.items():
            for length in lengths:
                for block in self.trie.path(string)[:length]:
                    held[block] = held.get(block, 0) + 1
        assert held == self._locks, f"locks do not add up: {held} and {self._locks}"
        assert as_set(self._locks) & ~cached == 0, "a locked block is not cached"
        free = cached if not self.leaf_only else self.trie.leaves(cached)
        assert as_set(self.evictable()) == free & ~as_set(self._locks), "evictable blocks are wrong"
        for block, facts in self.facts.items():
            assert 1 <= facts.created <= facts.last_access <= self.clock and facts.hits >= 0, f"{block}: {facts}"
            if self.trie.parent[block] != ROOT:
                parent = self.facts[self.trie.parent[block]]
                assert parent.created <= facts.created and parent.last_access >= facts.last_access, f"{parent} {facts}"
                assert parent.hits >= facts.hits and parent.priority >= facts.priority, f"{parent} {facts}"
