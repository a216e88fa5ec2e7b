"""Why the optimum wins: the misses that it avoids, against the plain cache and a plain log, and how they are told."""

from __future__ import annotations

import json
import random
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from src.policies.cache import Cache
from src.policies.scores import make_policy
from src.radixcache import Optimum, Trie
from src.traces.command import main
from src.traces.explanation import Explanation, as_svg, as_text, explain, gaps, histogram
from src.traces.optimum import TraceOptimum
from src.traces.reading import trace_of
from src.traces.replay import replay
from src.traces.workload import workload_of
from src.walks.belady import belady


def random_load(chance: random.Random, requests: int = 40) -> list[str]:
    """Return random requests, some of them again."""
    strings = ["".join(chance.choices("abc", k=chance.randint(1, 4))) for _ in range(12)]
    return chance.choices(strings, k=requests)


def plainly_avoided(
    strings: list[str], capacity: int, name: str, best: list[int], in_flight: int
) -> Counter[tuple[int, int, int]]:
    """Return age at eviction, requests until then and depth of each avoided miss, by prefixes and the plain cache."""
    cache = Cache(Trie(strings), capacity, make_policy(name))
    log: dict[str, list[int]] = {}
    went: dict[str, int] = {}
    found: Counter[tuple[int, int, int]] = Counter()
    for now, (string, most) in enumerate(zip(strings, best), start=1):
        held = set(cache.trie.labels(cache.cached()))
        cache.access(string)
        cache.lock(string)
        if now > in_flight:
            cache.unlock(strings[now - 1 - in_flight])
        for end in range(1, len(string) + 1):
            prefix = string[:end]
            if prefix not in held and end <= most:
                found[went[prefix] - log[prefix][-1], len(log[prefix]), end] += 1
            log.setdefault(prefix, []).append(now)
        for gone in (held | {string[:end] for end in range(1, len(string) + 1)}) - set(
            cache.trie.labels(cache.cached())
        ):
            went[gone] = now
    return found


class Explained(unittest.TestCase):
    def test_the_optimum_request_by_request(self) -> None:
        chance = random.Random(1)
        for _ in range(60):
            strings = random_load(chance)
            trie, trace = Trie(strings), trace_of(strings)
            for optimum in Optimum:
                capacity = chance.randint(max(trie.depth), 8)
                steps = belady(trie, capacity, strings, optimum).steps
                expected = [len(string) - step.misses for string, step in zip(strings, steps)]
                self.assertEqual(list(TraceOptimum(trace).served(capacity, optimum)), expected, (strings, capacity))

    def test_equals_the_plain_log_on_random_traces(self) -> None:
        chance = random.Random(2)
        avoided = gained = 0
        for number in range(50):
            strings = random_load(chance)
            capacity, name = chance.randint(1, 8), ("lru", "mru", "lru-2", "hyperbolic")[number % 4]
            optimum = Optimum.BYPASS if number % 3 else Optimum.LOCKED
            best = list(TraceOptimum(trace_of(strings)).served(capacity, optimum))
            in_flight = number % 3
            one = explain(workload_of(trace_of(strings), in_flight), name, make_policy(name), capacity, best)
            plain = plainly_avoided(strings, capacity, name, best, in_flight)
            for at, found in enumerate((one.by_age, one.by_seen, one.by_depth)):
                expected = histogram(fact[at] for fact in plain.elements())
                self.assertEqual(found, expected, (strings, capacity, name))
            avoided += one.avoided
            gained += one.gained
        self.assertGreater(avoided, 400)
        self.assertGreater(gained, 10)

    def test_avoided_less_gained_is_what_the_optimum_hits_more(self) -> None:
        chance = random.Random(3)
        for _ in range(40):
            trace = trace_of(random_load(chance))
            capacity, in_flight = chance.randint(1, 8), chance.randrange(3)
            belady_of_it = TraceOptimum(trace)
            best = belady_of_it.served(capacity, Optimum.BYPASS)
            one = explain(workload_of(trace, in_flight), "lfu", make_policy("lfu"), capacity, best)
            more = belady_of_it.hits(capacity, Optimum.BYPASS) - replay(
                trace, capacity, make_policy("lfu"), in_flight
            ).hits
            self.assertEqual(one.avoided - one.gained, more)

    def test_by_hand(self) -> None:
        """With room for two, LRU evicts a after one request of idleness; the optimum evicts b and then c."""
        trace = trace_of("abca")
        best = list(TraceOptimum(trace).served(2, Optimum.LOCKED))
        self.assertEqual(best, [0, 0, 0, 1])
        one = explain(workload_of(trace), "lru", make_policy("lru"), 2, best)
        self.assertEqual(one, Explanation("lru", 2, 1, 0, {2: 1}, {1: 1}, {1: 1}))
        self.assertEqual(one.after_first_use, 1)

    def test_histograms_and_gaps(self) -> None:
        self.assertEqual(histogram([]), {})
        self.assertEqual(histogram([0, 1, 8, 9, 1]), {0: 1, 1: 2, 2: 0, 4: 0, 8: 2})
        self.assertEqual(gaps(workload_of(trace_of(["ab", "a", "c", "ab"]))), {1: 1, 2: 2})


class Told(unittest.TestCase):
    def test_the_command(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path, told, drawn = (str(Path(folder, name)) for name in ("t.jsonl", "t.json", "t.svg"))
            Path(path).write_text("\n".join(json.dumps({"hash_ids": [one]}) for one in [1, 2, 3, 1] * 5))
            arguments = [path, "--capacity", "2", "--radix-eviction-policy", "mru", "--radix-eviction-policy", "lru"]
            plain = main(arguments).page
            text = main([*arguments, "--explain", "--json", told, "--svg", drawn]).page
            self.assertTrue(text.startswith(plain))
            self.assertIn("lru at 2 blocks: the optimum avoids ", text)
            self.assertIn("Gaps between two requests for the same block:", text)
            found = json.loads(Path(told).read_text())["explained"]
            self.assertEqual([one["policy"] for one in found["policies"]], ["mru", "lru"])
            self.assertEqual(found["gaps"], {"1": 4, "2": 5, "4": 8})
            ElementTree.parse(drawn)

    def test_nothing_to_tell(self) -> None:
        one = Explanation("lru", 2, 0, 0, {}, {}, {})
        self.assertIn("none of its misses", as_text([one], {}))
        ElementTree.fromstring(as_svg([one], {}))


if __name__ == "__main__":
    unittest.main()
