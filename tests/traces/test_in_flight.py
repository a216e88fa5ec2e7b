"""Requests in flight for their own time, held to the plain cache event by event under every policy."""

from __future__ import annotations

import random
import unittest

from src.policies.cache import Cache
from src.policies.facts import Facts, Score
from src.policies.scores import REGISTRY, make_policy
from src.radixcache import Trie
from src.traces.in_flight import REQUEST, serve_overlapping
from src.traces.reading import trace_of


def expiring(block: Facts, now_ms: int, now: int) -> tuple[bool, int]:
    """Score that changes with the time and with the event."""
    return (now_ms - block.last_access_ms < 900, (now - block.depth) % 3)


SCORES: dict[str, Score] = {**{name: make_policy(name) for name in REGISTRY}, "expiring": expiring}

Event = tuple[tuple[int, ...], int, int]


def random_events(seed: int) -> list[Event]:
    """Return events as (path, priority, arrival): paths of a small trie, many in flight, some growing."""
    chance = random.Random(seed)
    events: list[Event] = []
    flying: list[int] = []
    for _ in range(60):
        if flying and chance.random() < 0.5:
            arrival = flying.pop(chance.randrange(len(flying)))
            grown = events[arrival][0] + tuple(chance.randrange(3) for _ in range(chance.randrange(3)))
            events.append((grown, events[arrival][1], arrival))
        else:
            flying.append(len(events))
            path = tuple(chance.randrange(3) for _ in range(chance.randint(1, 5)))
            events.append((path, chance.randrange(3), REQUEST))
    return events


class Overlapping(unittest.TestCase):
    def test_against_the_plain_cache(self) -> None:
        grown = locked_out = finished_hits = 0
        for seed in range(12):
            events = random_events(seed)
            trace = trace_of([path for path, _, _ in events], [priority for _, priority, _ in events])
            times = [100 * at for at in range(len(events))]
            trace = trace._replace(milliseconds=times)
            for name, score in SCORES.items():
                capacity = 1 + seed % 12
                cache = Cache(Trie([path for path, _, _ in events]), capacity, score)
                served = serve_overlapping(trace, [arrival for _, _, arrival in events], capacity, score)
                held: dict[int, tuple[int, ...]] = {}
                for at, ((path, priority, arrival), one) in enumerate(zip(events, served)):
                    plain = cache.access(path, priority, arrival != REQUEST, times[at])
                    if arrival == REQUEST:
                        held[at] = cache.trie.path(path)[: cache.match(path)]
                        cache._hold(held[at])
                    else:
                        cache._release(held.pop(arrival))
                        grown += len(path) > len(events[arrival][0])
                        finished_hits += plain.hits
                    locked_out += plain.uncached
                    self.assertEqual(one, plain, (name, events[: at + 1]))
        self.assertTrue(min(grown, locked_out, finished_hits) > 50)

    def test_scores_that_do_not_compare(self) -> None:
        def mixed(block: Facts) -> object:
            return "x" if block.depth % 2 else 1

        trace = trace_of([path for at in range(9) for path in ((at,) * (at % 3 + 1), (at,) * 4)])
        arrivals = [event for at in range(9) for event in (REQUEST, 2 * at)]
        with self.assertRaisesRegex(ValueError, "do not compare"):
            list(serve_overlapping(trace, arrivals, 6, mixed))

    def test_no_times(self) -> None:
        def aged(block: Facts, now_ms: int) -> int:
            return now_ms - block.last_access_ms

        with self.assertRaisesRegex(ValueError, "aged asks for now_ms, and not every request has a timestamp: give"):
            serve_overlapping(trace_of(["a"]), [REQUEST, 0], 6, aged)


if __name__ == "__main__":
    unittest.main()
