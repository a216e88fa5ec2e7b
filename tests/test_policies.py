"""The policies: each by hand and through the mixin, the hit count, the configuration, the theorem and its limits."""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import shutil
import sys
import tempfile
import unittest
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Callable, NamedTuple

from src.policies import REGISTRY, Cache, Facts, PolicyError, Score, Served, make_policy, parameters, parse_config
from src.radixcache import Rule, Trie, lru, lru_access
from tests.policy_mixin import (
    BINARY,
    CHAINS,
    PolicyMixin,
    cached_prefixes,
    first_difference,
    fork,
    prefixes,
    random_stories,
    random_strings,
    violations,
)

LETTERS = Trie(("a", "b", "c", "d"))
"""Blocks without relations: what goes first is the policy's choice alone."""


def victims(score: Score, requests: Sequence[Any], trie: Trie = LETTERS, leaf_only: bool = True) -> str:
    """Return, separated by spaces, the order in which a policy empties a cache that has room for all requests.

    A request is a string, or the arguments of `access`.
    """
    cache = Cache(trie, len(trie), score, leaf_only)
    for request in requests:
        cache.access(*((request,) if isinstance(request, str) else request))
    return " ".join(prefixes(cache, cache.evict(len(trie))))


@contextlib.contextmanager
def policy_file(text: str) -> Iterator[str]:
    """Write a file `policy.py` into a directory of its own, for as long as the context lasts, and return its name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "policy.py")
        path.write_text(text, encoding="utf-8")
        yield str(path)


# -- each policy, through the mixin and by hand --------------------------------------------------------------------


class LruTest(PolicyMixin, unittest.TestCase):
    policy, keeps_order = "lru", True
    plain_score = staticmethod(lambda line: line.last)

    def test_the_last_access_decides(self) -> None:
        # a is the oldest block and the most used one; its last access saves it, nothing else
        self.assertEqual(victims(self.score(), "abca"), "b c a")

    def test_a_request_refreshes_its_whole_path(self) -> None:
        # a is as recent as ab, so b goes although a was created before it; then ab, on top of a
        self.assertEqual(victims(self.score(), ["a", "b", "ab"], CHAINS), "b ab a")

    def test_is_the_default_of_the_cache(self) -> None:
        self.assertIs(Cache(LETTERS, 1).score, make_policy("lru"))


class LfuTest(PolicyMixin, unittest.TestCase):
    policy, keeps_order = "lfu", True
    plain_score = staticmethod(lambda line: line.reuses)

    def test_the_fewest_hits_go_first(self) -> None:
        # hits: a 2, b 1, c 0; by last access it would be a, b, c
        self.assertEqual(victims(self.score(), "aaabbc"), "c b a")

    def test_equal_hits_go_by_last_access(self) -> None:
        # a and b have a hit each; b was created first and used last, so a goes before it
        self.assertEqual(victims(self.score(), "baabc"), "c a b")

    def test_a_prefix_keeps_its_advantage_after_it_stops_being_useful(self) -> None:
        # K = 2: a has two hits from long ago, so b and c push each other out for ever
        cache = Cache(LETTERS, 2, self.score())
        gone = [prefixes(cache, cache.access(string).victims) for string in "aaabcbc"]
        self.assertEqual(gone, [(), (), (), (), ("b",), ("c",), ("b",)])


class SlruTest(PolicyMixin, unittest.TestCase):
    policy, keeps_order = "slru", True
    plain_score = staticmethod(lambda line: line.reuses > 1)

    def test_everything_probationary_goes_before_anything_protected(self) -> None:
        # hits: a 2 (protected), b 1 and c 0 (probationary, by last access, where lfu would take c first)
        self.assertEqual(victims(self.score(), "aaabbc"), "b c a")

    def test_within_the_protected_the_least_recently_used_goes(self) -> None:
        # hits: a 3, b 2: both protected, a used earlier, so a goes before b though it was hit more often
        self.assertEqual(victims(self.score(), "aaaabbbc"), "c a b")

    def test_a_policy_cannot_pin(self) -> None:
        # K = 1: the protected a is all there is to evict, and goes
        cache = Cache(LETTERS, 1, self.score())
        for _ in range(9):
            cache.access("a")
        self.assertEqual(prefixes(cache, cache.access("b").victims), ("a",))


class SlruOneTest(PolicyMixin, unittest.TestCase):
    policy, config, keeps_order = "slru", {"protected_threshold": 1}, True
    plain_score = staticmethod(lambda line: line.reuses > 0)

    def test_threshold_one_protects_whatever_is_reused_once(self) -> None:
        # a was reused once, long before b came; lru would take a first
        self.assertEqual(victims(self.score(), "aabc"), "b c a")
        self.assertEqual(victims(make_policy("lru"), "aabc"), "a b c")


class SlruFourTest(PolicyMixin, unittest.TestCase):
    policy, config, keeps_order = "slru", {"protected_threshold": 4}, True
    plain_score = staticmethod(lambda line: min(line.reuses // 4, 1))

    def test_hit_three_times_is_probationary_at_four_and_protected_at_two(self) -> None:
        # a: created, then hit three times; b: created after that
        self.assertEqual(victims(self.score(), "aaaab"), "a b")
        self.assertEqual(victims(make_policy("slru"), "aaaab"), "b a")
        self.assertEqual(victims(make_policy("slru", {"protected_threshold": 3}), "aaaab"), "b a")

    def test_hit_four_times_is_protected_at_four(self) -> None:
        self.assertEqual(victims(self.score(), "aaaaab"), "b a")


class PriorityTest(PolicyMixin, unittest.TestCase):
    policy, keeps_order = "priority", True
    priorities, length = (0, 1), 3
    plain_score = staticmethod(lambda line: line.urgency)

    def test_the_lowest_priority_goes_first(self) -> None:
        # b and c have the same priority and go by last access; a is older than both
        self.assertEqual(victims(self.score(), [("a", 5), ("b", 1), ("c", 1), ("d", -1)]), "d b c a")

    def test_a_block_keeps_the_highest_priority_that_reached_it(self) -> None:
        # a was once reached with 5, a later 0 does not lower it; b is raised from 1 to 9 by its second request
        self.assertEqual(victims(self.score(), [("b", 1), ("a", 5), ("c", 6), ("a", 0), ("b", 9)]), "a c b")

    def test_a_request_raises_the_prefixes_that_it_goes_through(self) -> None:
        # the block a was created with 0; ab's request, with 5, goes through it and leaves b, with 4, to go first
        self.assertEqual(victims(self.score(), [("a", 0), ("ab", 5), ("ad", 1), ("b", 4)], CHAINS), "ad b ab a")

    def test_an_evicted_block_forgets_its_priority(self) -> None:
        cache = Cache(LETTERS, 2, self.score())
        for request in (("a", 5), ("b", 6), ("c", 6), ("a", 0)):  # c pushes a out; a comes back with 0
            cache.access(*request)
        self.assertEqual(prefixes(cache, cache.evict(1)), ("a",))

    def test_without_priorities_it_is_lru(self) -> None:
        for capacity in (2, 3):
            caches = (Cache(Trie(BINARY), capacity, make_policy(name)) for name in ("priority", "lru"))
            self.assertIsNone(first_difference(*caches, [(string,) for string in BINARY], 4))


class FifoTest(PolicyMixin, unittest.TestCase):
    policy = "fifo"
    plain_score = staticmethod(lambda line: line.first)

    def test_the_creation_decides(self) -> None:
        # a is the most used and the most recent block, but the first one
        self.assertEqual(victims(self.score(), "abcaa"), "a b c")

    def test_a_block_that_comes_back_is_new(self) -> None:
        cache = Cache(LETTERS, 2, self.score())
        self.assertEqual([prefixes(cache, cache.access(one).victims) for one in "abca"], [(), (), ("a",), ("b",)])
        self.assertEqual(prefixes(cache, cache.evict(2)), ("c", "a"))

    def test_blocks_of_one_request_go_from_the_tip(self) -> None:
        # a, ab and abc were created at once: without the rule the tie goes to the deeper block
        self.assertEqual(victims(self.score(), ["abc"], CHAINS, leaf_only=False), "abc ab a")


class MruTest(PolicyMixin, unittest.TestCase):
    policy = "mru"
    plain_score = staticmethod(lambda line: -line.last)

    def test_the_last_access_decides_the_other_way_round(self) -> None:
        # a is used again at the end and goes first
        self.assertEqual(victims(self.score(), "abca"), "a c b")

    def test_only_leaves_go(self) -> None:
        # a is used last of all, but ab sits on it: c goes first, then ab, and a as soon as it is free
        trie = Trie(("ab", "a", "c"))
        self.assertEqual(victims(self.score(), ["ab", "c", "a"], trie), "c ab a")


class FiloTest(PolicyMixin, unittest.TestCase):
    policy, keeps_order = "filo", True
    plain_score = staticmethod(lambda line: -line.first)

    def test_the_creation_decides_the_other_way_round(self) -> None:
        # a is used last, which mru would go by; filo goes by creation alone
        self.assertEqual(victims(self.score(), "abca"), "c b a")


class UserDefinedTest(PolicyMixin, unittest.TestCase):
    """A policy from a file: hits, each worth some blocks of depth, so that of equally used blocks the shallow stay."""

    config, keeps_order = {"weight": 2}, True
    plain_score = staticmethod(lambda line: 2 * line.reuses - line.length)
    text = "def shallow(block, weight=3):\n    return weight * block.hits - block.depth\n"

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, folder)
        path = Path(folder, "mine.py")
        path.write_text(cls.text, encoding="utf-8")
        cls.policy = f"{path}:shallow"

    def test_hits_are_weighed_against_depth(self) -> None:
        # weight 2: abc 2*1-3 = -1, ab -1 + 1 = 0, a 1, b -1 and older than abc
        self.assertEqual(victims(self.score(), ["b", "abc", "abc"], CHAINS), "b abc ab a")
        # weight 1: abc 1-3 = -2 goes before b with -1, and ab with -1, used later than b, after it
        self.assertEqual(victims(make_policy(self.policy, {"weight": 1}), ["b", "abc", "abc"], CHAINS), "abc b ab a")


# -- hit count -----------------------------------------------------------------------------------------------------


class HitCountTest(unittest.TestCase):
    """Hits as SGLang's page counts them: how many times a block was matched by a later request."""

    def hits(self, cache: Cache) -> dict[str, int]:
        return {cache.trie.label(block): facts.hits for block, facts in cache.facts.items()}

    def serve(self, *requests: Any, capacity: int = 7, write_back: bool = False) -> Cache:
        cache = Cache(CHAINS, capacity, write_back=write_back)
        for request in requests:
            cache.access(*((request,) if isinstance(request, str) else request))
        return cache

    def test_the_request_that_creates_a_block_does_not_count(self) -> None:
        self.assertEqual(self.hits(self.serve("ab")), {"a": 0, "ab": 0})

    def test_each_later_request_counts_once_for_the_blocks_that_it_matches(self) -> None:
        self.assertEqual(self.hits(self.serve("a", "ab", "abc", "ab")), {"a": 3, "ab": 2, "abc": 0})

    def test_looking_up_does_not_count(self) -> None:
        cache = self.serve("ab")
        before = dict(cache.facts)
        self.assertEqual([cache.match(string) for string in ("abc", "ab", "ad", "b")], [2, 2, 1, 0])
        cache.lock("ab")
        cache.unlock("ab")
        self.assertEqual(cache.facts, before)

    def test_chunked_prefill_steps_do_not_count(self) -> None:
        cache = self.serve("a", "b", ("ab", 0, True), ("abc", 4, True))
        self.assertEqual(self.hits(cache), {"a": 0, "ab": 0, "abc": 0, "b": 0})
        self.assertEqual(cache.facts[CHAINS.path("a")[0]], Facts(4, 1, 0, 4, 1))  # a use all the same, and a priority

    def test_an_evicted_block_starts_again_at_zero(self) -> None:
        self.assertEqual(self.hits(self.serve("ab", "ab", "ab", "b", "bc", "ab", capacity=2)), {"a": 0, "ab": 0})

    def test_a_tail_that_was_not_cached_starts_again_at_zero(self) -> None:
        self.assertEqual(self.hits(self.serve("abc", "abc", "abc", capacity=2)), {"a": 2, "ab": 2})

    def test_under_write_back_nothing_counts(self) -> None:
        self.assertEqual(self.hits(self.serve("ab", "ab", "abc", write_back=True)), {"a": 0, "ab": 0, "abc": 0})

    def test_under_write_back_lfu_and_slru_are_lru(self) -> None:
        for name in ("lfu", "slru"):
            caches = (Cache(Trie(BINARY), 2, make_policy(one), write_back=True) for one in (name, "lru"))
            self.assertIsNone(first_difference(*caches, [(string,) for string in BINARY], 3), name)


# -- registry and configuration ------------------------------------------------------------------------------------


class ConfigurationTest(unittest.TestCase):
    def assert_refused(self, message: str, name: str, config: dict[Any, Any] | None = None) -> None:
        with self.assertRaises(PolicyError) as caught:
            make_policy(name, config)
        self.assertEqual(str(caught.exception), message)

    def test_the_registry(self) -> None:
        self.assertEqual(list(REGISTRY), ["lru", "lfu", "slru", "priority", "fifo", "mru", "filo"])
        self.assertEqual([name for name, entry in REGISTRY.items() if entry.experimental], ["fifo", "mru", "filo"])
        taken = {name: parameters(entry.score) for name, entry in REGISTRY.items() if parameters(entry.score)}
        self.assertEqual(taken, {"slru": {"protected_threshold": 2}})

    def test_registered_policies_are_had_by_name(self) -> None:
        for name, entry in REGISTRY.items():
            for config in (None, {}):
                self.assertIs(make_policy(name, config), entry.score)

    def test_an_unknown_policy_lists_the_known(self) -> None:
        for name in ("", "LRU", "lru ", "random", "policy.py"):
            known = "choose one of lru, lfu, slru, priority, fifo, mru, filo or give FILE.py:FUNCTION"
            self.assert_refused(f"unknown eviction policy {name!r}: {known}", name)

    def test_an_unknown_key_is_named_with_the_policy_and_the_keys_that_it_takes(self) -> None:
        for name in REGISTRY:
            takes = "protected_threshold" if name == "slru" else "no keys: leave its configuration out"
            text = f"unknown key 'threshold' in the configuration of policy {name!r}, which takes {takes}"
            self.assert_refused(text, name, {"threshold": 2})
            self.assert_refused(text, name, {"threshold": "wrong twice"})
        for name in set(REGISTRY) - {"slru"}:
            with self.assertRaisesRegex(PolicyError, f"key 'protected_threshold' .* '{name}', which takes no keys: "):
                make_policy(name, {"protected_threshold": 2})

    def test_a_known_key_does_not_excuse_an_unknown_one(self) -> None:
        with self.assertRaisesRegex(PolicyError, "unknown key 'window'"):
            make_policy("slru", {"protected_threshold": 2, "window": 3})

    def test_a_value_must_be_an_integer_of_at_least_one(self) -> None:
        for text in ("true", "false", "2.0", "1e3", '"2"', "null", "0", "-1", "[2]", "{}", "NaN"):
            config = parse_config(f'{{"protected_threshold": {text}}}')
            shown = json.dumps(config["protected_threshold"])
            message = f"protected_threshold of policy 'slru' is {shown}: give an integer of at least 1"
            self.assert_refused(message, "slru", config)
        self.assertTrue(make_policy("slru", {"protected_threshold": 10**30})(Facts(1, 1, 10**30, 0, 1)))

    def test_the_configuration_text(self) -> None:
        self.assertEqual(parse_config(' {"protected_threshold": 3} '), {"protected_threshold": 3})
        self.assertEqual(parse_config("{}"), {})
        remedy = """: give an object such as '{"protected_threshold": 3}'"""
        for text in ("", "{", "{'a': 1}", '{"a": 1,}', "protected_threshold=3", "{} {}", "[" * 10**5, '{"a":' * 10**5):
            with self.assertRaises(PolicyError) as caught:
                parse_config(text)
            self.assertTrue(str(caught.exception).startswith("the policy configuration is not JSON ("), text[:20])
            self.assertTrue(str(caught.exception).endswith(remedy), text[:20])
        for text, fault in (("[" * 10**5, "nested too deeply"), ("{", "Expecting .* line 1 column 2 .*")):
            with self.assertRaisesRegex(PolicyError, rf"not JSON \({fault}\): give"):
                parse_config(text)
        for text in ("[]", '[["protected_threshold", 2]]', "null", "true", "3", "2.5", '"lru"', "NaN"):
            with self.assertRaises(PolicyError) as caught:
                parse_config(text)
            self.assertEqual(str(caught.exception), f"the policy configuration is no JSON object{remedy}", text)

    def test_a_key_given_twice(self) -> None:
        for second in (2, 3):
            with self.assertRaisesRegex(PolicyError, "^the policy configuration names a key twice: name it once$"):
                parse_config(f'{{"protected_threshold": 2, "protected_threshold": {second}}}')


class PolicyFileTest(unittest.TestCase):
    """FILE.py:FUNCTION: a policy of the user's own, and what can be wrong with it."""

    def refused(self, text: str, function: str = "score") -> str:
        """Return the complaint about a file, with {file} in place of its name."""
        with policy_file(text) as file, self.assertRaises(PolicyError) as caught:
            make_policy(f"{file}:{function}")
        return str(caught.exception).replace(file, "{file}")

    def test_a_good_one_with_its_parameter(self) -> None:
        with policy_file("def score(block, weight=3):\n    return block.hits * weight\n") as file:
            name = f"{file}:score"
            self.assertEqual(make_policy(name)(Facts(9, 1, 5, 0, 1)), 15)
            self.assertEqual(make_policy(name, {"weight": 4})(Facts(9, 1, 5, 0, 1)), 20)
            self.assertEqual(parameters(make_policy(name)), {"weight": 3})
            with self.assertRaisesRegex(PolicyError, "^unknown key 'size' in .*policy.py:score', which takes weight$"):
                make_policy(name, {"size": 4})
            with self.assertRaisesRegex(PolicyError, "^weight of policy .* is 0: give an integer of at least 1$"):
                make_policy(name, {"weight": 0})

    def test_two_parameters_are_both_named(self) -> None:
        with policy_file("def score(block, one=1, *, two=2):\n    return one - two\n") as file:
            self.assertEqual(make_policy(f"{file}:score", {"two": 5})(Facts(1, 1, 0, 0, 1)), -4)
            with self.assertRaisesRegex(PolicyError, "which takes one, two$"):
                make_policy(f"{file}:score", {"three": 3})

    def test_anything_that_can_be_called_with_the_facts(self) -> None:
        text = "class Score:\n    def __call__(self, block): return block.hits\nscore = Score()"
        for each in ("score = lambda block: block.hits", text):
            with policy_file(each) as file:
                self.assertEqual(make_policy(f"{file}:score")(Facts(1, 1, 7, 0, 1)), 7)

    def test_missing_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "directory.py").mkdir()
            for name in (f"{folder}/none.py", f"{folder}/directory.py"):
                with self.assertRaises(PolicyError) as caught:
                    make_policy(f"{name}:score")
                self.assertEqual(str(caught.exception), f"{name}: there is no such file: give FILE.py:FUNCTION")

    def test_a_file_that_is_not_python(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = f"{folder}/text.py:txt"  # the last colon separates the function
            Path(file).write_text("", encoding="utf-8")
            with self.assertRaises(PolicyError) as caught:
                make_policy(f"{file}:score")
        self.assertEqual(str(caught.exception), f"{file}: not a Python file: give FILE.py:FUNCTION")

    def test_missing_function(self) -> None:
        for text, function in (("", "score"), ("score = 3", "score"), ("def score(b): return 1", "")):
            message = f"{{file}}: has no function {function!r}: name one that takes the facts of a block"
            self.assertEqual(self.refused(text, function), message)

    def test_syntax_error(self) -> None:
        self.assertRegex(self.refused("x = 1\ndef score(block:\n"), r"^\{file\}:2: .+: mend the file$")

    def test_a_null_byte(self) -> None:
        self.assertRegex(self.refused("x = '\0'"), r"^\{file\}:.* null bytes.*: mend the file$")

    def test_a_file_that_fails_when_it_is_loaded(self) -> None:
        message = "{file}: fails when it is loaded (%s): mend the file"
        missing = "ModuleNotFoundError: No module named 'no_such_module'"
        self.assertEqual(self.refused("import no_such_module"), message % missing)
        self.assertEqual(self.refused("1 // 0").split(" (")[1].split(":")[0], "ZeroDivisionError")

    def test_a_function_that_does_not_take_the_facts(self) -> None:
        message = "{file}: score must take the facts of a block; any further parameter needs a default"
        for text in ("def score(): return 1", "def score(block, weight): return 1", "score = max"):
            self.assertEqual(self.refused(text), message, text)

    def test_a_function_that_cannot_take_the_facts_by_position(self) -> None:
        for text in ("def score(*, block): return 1", "def score(**facts): return 1"):
            self.assertIn("score must take the facts of a block", self.refused(text), text)

    def test_a_function_that_fails(self) -> None:
        with policy_file("def score(block, limit=1):\n    raise LookupError(limit)\n") as file:
            score = make_policy(f"{file}:score", {"limit": 4})
            with self.assertRaises(PolicyError) as caught:
                score(Facts(1, 1, 0, 0, 1))
        self.assertEqual(str(caught.exception), f"{file}: score fails (LookupError: 4): mend it")

    def test_a_type_error_of_a_function_is_left_as_it_is(self) -> None:
        with policy_file("def score(block): return block + 1\n") as file, self.assertRaises(TypeError):
            make_policy(f"{file}:score")(Facts(1, 1, 0, 0, 1))

    def test_a_file_that_exits_when_it_is_loaded(self) -> None:
        self.assertRegex(self.refused("raise SystemExit(3)"), r"fails when it is loaded \(SystemExit")

    def test_a_syntax_error_in_an_imported_file_is_not_laid_on_the_policy_file(self) -> None:
        text = "import sys\nsys.path.insert(0, __file__[:-9])\nimport broken_neighbour\n"
        with policy_file(text) as file:
            Path(file).with_name("broken_neighbour.py").write_text("\n" * 8 + "x = = 1\n", encoding="utf-8")
            path = list(sys.path)
            try:
                with self.assertRaises(PolicyError) as caught:
                    make_policy(f"{file}:score")
            finally:
                sys.path[:] = path
        self.assertRegex(str(caught.exception), r"broken_neighbour\.py:9: .+: mend the file$")

    def test_a_file_with_a_dataclass(self) -> None:
        head = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        text = "@dataclass\nclass Weight:\n    hits: int = 2\ndef score(block): return block.hits * Weight().hits\n"
        with policy_file(head + text) as file:
            self.assertEqual(make_policy(f"{file}:score")(Facts(1, 1, 3, 0, 1)), 6)

    def test_a_file_is_compiled_as_if_it_stood_alone(self) -> None:
        with policy_file("def score(block: int): return score.__annotations__['block'] is int\n") as file:
            self.assertTrue(make_policy(f"{file}:score")(Facts(1, 1, 0, 0, 1)))  # not 'int': no future of src's

    def test_an_edited_file_is_read_again_and_leaves_nothing_beside_it(self) -> None:
        written = sys.dont_write_bytecode
        sys.dont_write_bytecode = False
        try:
            with policy_file("def score(block): return 1\n") as file:
                self.assertEqual(make_policy(f"{file}:score")(Facts(1, 1, 0, 0, 1)), 1)
                Path(file).write_text("def score(block): return 2\n", encoding="utf-8")
                self.assertEqual(make_policy(f"{file}:score")(Facts(1, 1, 0, 0, 1)), 2)
                self.assertEqual([path.name for path in Path(file).parent.iterdir()], ["policy.py"])
        finally:
            sys.dont_write_bytecode = written


# -- the cache itself ----------------------------------------------------------------------------------------------


class CacheTest(unittest.TestCase):
    def test_capacity_below_one(self) -> None:
        for capacity in (0, -1):
            with self.assertRaisesRegex(ValueError, f"a capacity of {capacity} blocks"):
                Cache(LETTERS, capacity)

    def test_strings_of_any_symbols(self) -> None:
        trie = Trie(((7, "x"), (7,), (8,)))
        self.assertEqual(victims(make_policy("lru"), [((7, "x"),), ((8,),), ((7,),)], trie), "7.x 8 7")

    def test_what_a_cache_knows_of_a_block(self) -> None:
        cache = Cache(CHAINS, 3)
        for request in (("ab",), ("a",), ("abc", 7)):
            cache.access(*request)
        a, ab, abc = CHAINS.path("abc")
        self.assertEqual(cache.facts, {a: Facts(3, 1, 2, 7, 1), ab: Facts(3, 1, 1, 7, 2), abc: Facts(3, 3, 0, 7, 3)})
        cache = Cache(CHAINS, 3)
        cache.access("a")
        self.assertEqual(cache.facts, {a: Facts(1, 1, 0, 0, 1)})  # priority 0 where none is given

    def test_what_a_request_answers(self) -> None:
        cache = Cache(CHAINS, 3)
        self.assertEqual(cache.access("ab"), Served(0, 2, ()))
        self.assertEqual(cache.access("abc"), Served(2, 1, ()))
        a, ab, abc = CHAINS.path("abc")
        self.assertEqual(cache.access("bc"), Served(0, 2, (abc, ab)))
        self.assertEqual(cache.cached(), 1 << a | 1 << CHAINS.path("bc")[0] | 1 << CHAINS.path("bc")[1])

    def test_without_the_rule_a_victim_takes_its_descendants_along(self) -> None:
        cache = Cache(CHAINS, 4, make_policy("fifo"), leaf_only=False)
        for string in ("a", "abc", "b"):
            cache.access(string)
        # a was created first: it goes, and ab and abc with it, strictly, as no other block is as old; that is enough
        served = cache.access("bc")
        self.assertEqual(served._replace(victims=prefixes(cache, served.victims)), Served(1, 1, ("a",), 1, 1, 2, 0))
        self.assertEqual(cached_prefixes(cache), {"b", "bc"})
        cache.access("bcd")
        self.assertEqual(prefixes(cache, cache.evict(1)), ("b",))
        self.assertEqual(cached_prefixes(cache), set())

    def test_an_interior_eviction_in_a_tie_is_not_strict(self) -> None:
        # a and c share the lowest score; a, used earlier, goes and takes ab along, which scores higher
        cache = Cache(Trie(("a", "ab", "c", "d")), 3, lambda block: block.depth > 1, leaf_only=False)
        for string in ("a", "ab", "c"):
            cache.access(string)
        served = cache.access("d")
        self.assertEqual(served._replace(victims=prefixes(cache, served.victims)), Served(0, 1, ("a",), 1, 0, 1, 0))

    def test_check_sees_what_is_wrong(self) -> None:
        a, ab, abc = CHAINS.path("abc")
        fact = {block: Facts(3, 1, 1, 1, depth) for block, depth in ((a, 1), (ab, 2), (abc, 3))}
        wrong: list[tuple[str, Callable[[Cache], Any]]] = [
            ("not ancestor-closed", lambda cache: cache.facts.pop(ab)),
            ("3 blocks in a capacity of 2", lambda cache: setattr(cache, "capacity", 2)),
            ("locks do not add up", lambda cache: cache._locks.update({ab: 1})),
            ("locks do not add up", lambda cache: cache._held.update({"ab": [2]})),
            ("a locked block is not cached", lambda cache: (cache.lock("abc"), cache.facts.pop(abc))),
            ("evictable blocks are wrong", lambda cache: setattr(cache, "evictable", lambda: [abc, ab])),
            ("evictable blocks are wrong", lambda cache: setattr(cache, "evictable", list)),
            ("Facts", lambda cache: setattr(cache, "clock", 2)),
        ]
        for block, change in [
            (a, {"created": 0}), (a, {"created": 4}), (abc, {"hits": -1}),  # impossible by themselves
            (a, {"created": 2}), (a, {"last_access": 2}), (ab, {"hits": 2}), (ab, {"priority": 2}),  # beside the parent
        ]:
            wrong.append(("Facts", lambda cache, b=block, c=change: cache.facts.update({b: fact[b]._replace(**c)})))
        for message, spoil in wrong:
            cache = Cache(CHAINS, 3)
            cache.facts, cache.clock = dict(fact), 3
            cache.check()
            spoil(cache)
            with self.assertRaisesRegex(AssertionError, message):
                cache.check()


class LruOfTheModelTest(unittest.TestCase):
    """The model's LRU and this cache under `lru`: leaf-only, and unconstrained with ties to the deeper block.

    The model does not lock the path in service; it peels the tail of a path that is longer than the capacity,
    which this cache reports as `uncached`.
    """

    RULES = ((Rule.LEAF_ONLY, True), (Rule.DEEP, False))

    def gone(self, cache: Cache, string: str, served: Served) -> list[int]:
        return [*served.victims, *cache.trie.path(string)[::-1][: served.uncached]]

    def test_every_sequence_of_up_to_five_requests(self) -> None:
        trie = Trie(BINARY)
        for capacity, (rule, leaf_only) in itertools.product((2, 3), self.RULES):
            memo: dict[tuple[tuple[int, ...], str], Any] = {}
            # sequences of a length that lead both to the same state go on as one; lru does not look at hits
            layer: dict[Any, tuple[str, ...]] = {((0,) * len(trie), ()): ()}
            for _ in range(5):
                following: dict[Any, tuple[str, ...]] = {}
                for (times, facts), sequence in layer.items():
                    for string in BINARY:
                        cache = Cache(trie, capacity, leaf_only=leaf_only)
                        cache.facts, cache.clock = dict(facts), max(times)
                        served = cache.access(string)
                        if (times, string) not in memo:
                            memo[times, string] = lru_access(trie, capacity, times, string, rule)
                        after, step = memo[times, string]
                        told = f"{rule}, K = {capacity}: {(*sequence, string)}"
                        self.assertEqual(self.gone(cache, string, served), [e.victim for e in step.evictions], told)
                        self.assertEqual((served.misses, cache.cached()), (step.misses, step.cached), told)
                        key = (after, tuple(sorted((b, f._replace(hits=0)) for b, f in cache.facts.items())))
                        following.setdefault(key, (*sequence, string))
                layer = following

    def test_random_tries(self) -> None:
        rng = random.Random(7)
        longer = 0
        for _ in range(150):
            strings = random_strings(rng)
            sequence = rng.choices(strings, k=12)
            capacity = rng.randint(1, 5)
            for rule, leaf_only in self.RULES:
                trie = Trie(strings)
                cache = Cache(trie, capacity, leaf_only=leaf_only)
                for at, step in enumerate(lru(trie, capacity, sequence, rule).steps):
                    served = cache.access(sequence[at])
                    longer += served.uncached > 0
                    told = f"{rule}, K = {capacity}, {strings}: {sequence[: at + 1]}"
                    self.assertEqual(self.gone(cache, sequence[at], served), [e.victim for e in step.evictions], told)
                    self.assertEqual((served.misses, cache.cached()), (step.misses, step.cached), told)
        self.assertGreater(longer, 100)


# -- the theorem and its limits ------------------------------------------------------------------------------------


class Watched(Cache):
    """A cache without the rule that notes before each decision whether the order is kept, and what is cached."""

    def __init__(self, trie: Trie, capacity: int, score: Score) -> None:
        super().__init__(trie, capacity, score, leaf_only=False)
        self.noted: list[tuple[bool, int]] = []

    def evictable(self) -> list[int]:
        """Note the state before a decision and return what `Cache` returns."""
        self.noted.append((not violations(self), self.cached()))
        return super().evictable()


def random_score(rng: random.Random) -> Score:
    """Return a function of all the facts: by chance a look-up in a table or a sum, which keeps the order more often."""
    weights = [rng.choice((-1, 0, 1, 1, 2)) for _ in Facts._fields]
    table = [rng.randrange(4) for _ in range(97)]
    mixed = rng.random() < 0.5
    return lambda block: table[hash(block) % 97] if mixed else sum(w * fact for w, fact in zip(weights, block))


class TheoremTest(unittest.TestCase):
    def test_while_the_order_is_kept_the_victim_is_a_leaf(self) -> None:
        rng = random.Random(11)
        seen: dict[tuple[bool, bool], int] = {}
        for story in random_stories(6, 300):
            cache = Watched(Trie(story.strings), story.capacity, random_score(rng))
            for at, (name, *arguments) in enumerate(story.operations):
                cache.noted.clear()
                try:
                    answer = getattr(cache, name)(*arguments)
                except ValueError:
                    continue
                gone = answer.victims if name == "access" else answer if name == "evict" else ()
                interior = [bool(cache.trie.descendants[v] & held) for v, (_, held) in zip(gone, cache.noted)]
                for inside, (kept, _) in zip(interior, cache.noted):
                    seen[kept, inside] = seen.get((kept, inside), 0) + 1
                    self.assertFalse(kept and inside, story._replace(operations=story.operations[: at + 1]))
                if name == "access":
                    self.assertEqual(answer.interior, sum(interior))
        # the test has seen all the cases that the theorem allows: no converse, too
        self.assertEqual(sorted(seen), [(False, False), (False, True), (True, False)])
        self.assertGreater(min(seen.values()), 100)

    def test_the_order_can_be_violated_where_no_eviction_sees_it(self) -> None:
        # fifo: 00 was created after 0, so it scores higher than its parent; but the request 01 evicts 1, the oldest
        cache = Watched(Trie(BINARY), 3, make_policy("fifo"))
        for string in ("1", "0", "00"):
            cache.access(string)
        self.assertEqual(violations(cache), ["00"])
        served = cache.access("01")
        self.assertEqual(cache.noted[0][0], False)
        self.assertEqual((prefixes(cache, served.victims), served.interior), (("1",), 0))

    def test_fifo_and_mru_violate_the_order(self) -> None:
        for name, requests in (("fifo", ("0", "00")), ("mru", ("00", "0"))):
            cache = Cache(Trie(BINARY), 2, make_policy(name))
            for string in requests:
                cache.access(string)
            self.assertEqual(violations(cache), ["00"], name)


class Audit(NamedTuple):
    """What unconstrained eviction did beyond leaf-only eviction, over the sequences of one length."""

    instances: int = 0
    interior: int = 0
    strict: int = 0
    worse: int = 0
    better: int = 0


def audit(name: str, capacities: Sequence[int], length: int) -> tuple[list[Audit], dict[str, tuple[str, ...]]]:
    """Return an Audit for each length, and the first sequences that evict inside, miss more and miss fewer."""
    counts = [Audit() for _ in range(length + 1)]
    first: dict[str, tuple[str, ...]] = {}
    trie = Trie(BINARY)
    for capacity in capacities:
        pair = [Cache(trie, capacity, make_policy(name), rule) for rule in (True, False)]
        layer: list[tuple[tuple[str, ...], list[Cache], tuple[int, int, int]]] = [((), pair, (0, 0, 0))]
        for at in range(length + 1):
            following = []
            for sequence, caches, (interior, strict, extra) in layer:
                counts[at] = Audit(*map(sum, zip(counts[at], (1, interior, strict, extra > 0, extra < 0))))
                for what, happened in (("interior", interior), ("worse", extra > 0), ("better", extra < 0)):
                    if happened and len(first.get(what, sequence + ("",))) > len(sequence):
                        first[what] = sequence
                for string in BINARY if at < length else ():
                    leaf, free = twins = [fork(cache) for cache in caches]
                    plain, served = leaf.access(string), free.access(string)
                    tally = (interior + served.interior, strict + served.strict_interior,
                             extra + served.misses - plain.misses)
                    following.append(((*sequence, string), twins, tally))
            layer = following
    return counts, first


class WhereTheRuleBindsTest(unittest.TestCase):
    """fifo and mru: where the rule binds, where unconstrained eviction misses more, and where it misses fewer."""

    def extra(self, name: str, capacity: int, requests: Sequence[str]) -> int:
        """Return the misses of unconstrained eviction beyond those of leaf-only eviction."""
        caches = [Cache(Trie(BINARY), capacity, make_policy(name), rule) for rule in (False, True)]
        free, leaf_only = (sum(cache.access(string).misses for string in requests) for cache in caches)
        return free - leaf_only

    def test_the_audit_at_length_four(self) -> None:
        for name, expected, witness in (
            ("fifo", Audit(2592, 660, 660, 72, 0), {"interior": ("0", "00", "1"), "worse": ("0", "00", "1", "0")}),
            ("mru", Audit(2592, 384, 384, 60, 0), {"interior": ("00", "0", "1"), "worse": ("00", "0", "1", "0")}),
        ):
            counts, first = audit(name, (2, 3), 4)
            self.assertEqual(counts[4], expected, name)
            # the smallest witnesses: nothing shorter, and at K = 2 the first in the order of the strings
            self.assertEqual(first, witness, name)
            self.assertEqual((counts[2].interior, counts[3].worse), (0, 0), name)

    def test_a_witness_by_hand(self) -> None:
        # fifo, K = 2: 0 is older than 00, and taken by the request 1 it drags 00 along; leaf-only takes 00 and keeps 0
        served = [Cache(Trie(BINARY), 2, make_policy("fifo"), rule) for rule in (True, False)]
        for cache in served:
            for string in ("0", "00", "1"):
                last = cache.access(string)
            self.assertEqual(prefixes(cache, last.victims), ("00",) if cache.leaf_only else ("0",))
        self.assertEqual([cache.access("0").misses for cache in served], [0, 1])

    def test_for_mru_the_rule_costs(self) -> None:
        # K = 3: 0 was used after 00, which sits on it; unconstrained mru drops both and has room for 1, 10 and 11,
        # while leaf-only mru keeps the useless 0 and lets 10 and 11 push each other out
        requests = ("00", "0", "10", "11", "10")
        self.assertEqual(self.extra("mru", 3, requests), -1)
        self.assertEqual(self.extra("mru", 3, requests + ("11", "10") * 5), -11)  # one miss a request, without bound

    def test_for_fifo_the_rule_costs_beyond_the_audit(self) -> None:
        # nowhere up to 6 requests at K = 2 and 3, but here
        self.assertEqual(self.extra("fifo", 3, ("1", "10", "00", "1", "01", "1", "00", "01")), -1)
        self.assertEqual(self.extra("fifo", 4, ("0", "10", "00", "11", "10")), -1)


if __name__ == "__main__":
    unittest.main()
