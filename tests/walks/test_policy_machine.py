"""Policies as finite machines, against the plain cache: every short sequence, and random longer ones."""

from __future__ import annotations

import itertools
import random
import unittest
from collections.abc import Sequence
from functools import cache
from typing import Any

from src.policies.cache import Cache, CacheState, Served
from src.policies.dependence import EVERYTHING, Depends, Observer
from src.policies.facts import Facts, PolicyError, Score
from src.policies.scores import make_policy, sglang_policies
from src.radixcache import Trie
from src.walks.policy_machine import COLD, PolicyMachines, Saturated, reduced, requests, with_policy
from tests.helpers import STUDY, random_universe

LFU = make_policy("lfu")


def often(block: Facts) -> bool:
    """A threshold on hits that must tell 2 from 3."""
    return block.hits > 2


def reused(block: Facts) -> bool:
    """Creation against last access: blocks that were used since they came."""
    return block.last_access > block.created


def half_hits(block: Facts) -> Any:
    """Arithmetic on hits."""
    return block.hits // 2


def age_at_use(block: Facts) -> Any:
    """Arithmetic on times."""
    return block.created - 2 * block.last_access


def idle_then_old(block: Facts) -> Any:
    """Several facts in a row, some the other way round."""
    return (min(block.priority, 1), block.hits >= 1, -block.created, -block.depth)


def everything(block: Facts) -> Any:
    """All facts that start anew, by unpacking."""
    last_access, created, hits, priority, depth = (block[at] for at in range(5))
    return (hits == 1, priority, depth % 2, created, last_access)


def deeper_last(block: Facts) -> Any:
    """No fact but the depth."""
    return block[4]


def seen_twice(block: Facts) -> Any:
    """A threshold on the requests ever."""
    return block.seen >= 2


def last_but_one(block: Facts) -> Any:
    """The order of requests that may be older than the block's creation."""
    return block.previous_access


def tail_then_gap(block: Facts) -> Any:
    """All that outlives evictions, and the last access before or after the creation of others."""
    return (block.reach - block.depth > 1, -block.seen, block.below, block.previous_access < block.created)


def idle_long(block: Facts, now: int) -> Any:
    """A score that asks for the clock."""
    return (now - block.last_access < 3 * block.seen, block.previous_access)


USERS = (
    often, reused, half_hits, age_at_use, idle_then_old, everything, deeper_last,
    seen_twice, last_but_one, tail_then_gap, idle_long,
)  # fmt: skip
SCORES: dict[str, Score] = {name: make_policy(name) for name in sglang_policies()}
SCORES.update({score.__name__: score for score in USERS})
SHORTER = ("lru", "priority", "fifo", "mru", "filo", "often", "half_hits", "age_at_use", "idle_then_old", "deeper_last")
REMEMBER = ("seen_twice", "last_but_one", "tail_then_gap", "idle_long")  # their states seldom meet again
WITH_PRIORITY = ("priority", "idle_then_old", "everything")

DEPENDS = {
    "lru": Depends(other_than_hits=True),
    "lfu": Depends(hits_up_to=None),
    "slru": Depends(hits_up_to=2, other_than_hits=True),
    "priority": Depends(priority=True, other_than_hits=True),
    "fifo": Depends(created=True, other_than_hits=True),
    "mru": Depends(other_than_hits=True),
    "filo": Depends(created=True, other_than_hits=True),
    "often": Depends(hits_up_to=3, other_than_hits=True),
    "reused": Depends(created=True, across=True, other_than_hits=True),
    "half_hits": Depends(hits_up_to=None, other_than_hits=True),
    "age_at_use": Depends(created=True, exact_times=True, other_than_hits=True),
    "idle_then_old": Depends(created=True, priority=True, hits_up_to=1, other_than_hits=True),
    "everything": Depends(created=True, priority=True, hits_up_to=2, other_than_hits=True),
    "deeper_last": Depends(other_than_hits=True),
    "seen_twice": Depends(other_than_hits=True, seen_up_to=2),
    "last_but_one": Depends(other_than_hits=True, previous=True),
    "tail_then_gap": Depends(
        created=True, across=True, other_than_hits=True, seen_up_to=None, previous=True, shape=True
    ),
    "idle_long": EVERYTHING._replace(priority=False),
}


def plain_step(plain: Cache, request: Any) -> tuple[Served, int]:
    """Serve one request, a string or a pair, by the plain cache; return what happened and what is cached then."""
    string, priority = request if isinstance(request, tuple) else (request, 0)
    return plain.access(string, priority), plain.cached()


def held(state: CacheState) -> int:
    """Return the set of the blocks in a machine's state."""
    return sum(1 << block for block, _ in state.blocks)


def first_failure(
    score: Score,
    capacity: int,
    leaf_only: bool,
    length: int,
    priorities: tuple[int, ...] = (0,),
    saturate: int | None = None,
) -> tuple[int, int, Any]:
    """Serve all sequences of up to `length` requests by the machine and by the plain cache.

    Only the first requests 0 and 00 are tried: the exchange of 0 and 1 gives the sequences that begin with 1 and 11,
    that of 00 and 01 those that begin with 01 (and then 10).  The machine's answers are remembered, as walks share
    states; sequences share the service of a common beginning.

    Returned are in how many places the two were compared; in how many the machine gave up although, or because, a
    victim had at least `saturate` hits (not followed further); and the first sequence on which they differ, with
    both answers (None: there is none).
    """

    def use(policy: PolicyMachines) -> tuple[int, int, Any]:
        plain = Cache(STUDY, capacity, score, leaf_only)
        serve = cache(policy.serve)
        compared = given_up = 0
        waiting: list[tuple[tuple[Any, ...], CacheState, CacheState]] = [((), COLD, COLD)]
        while waiting:
            walked, state, before = waiting.pop()
            facts = dict(before.blocks)
            for request in policy.requests:
                if not walked and policy.string(request) not in ("0", "00"):
                    continue
                plain.restore(before)
                expected = plain_step(plain, request)
                compared += 1
                try:
                    after, served = serve(state, request, leaf_only)
                except Saturated:
                    given_up += 1
                    if saturate is None or all(facts[victim].hits < saturate for victim in expected[0].victims):
                        return compared, given_up, ((*walked, request), Saturated, expected)
                    continue
                if (served, held(after)) != expected:
                    return compared, given_up, ((*walked, request), (served, held(after)), expected)
                if len(walked) + 1 < length:
                    waiting.append(((*walked, request), after, plain.state()))
        return compared, given_up, None

    return with_policy(STUDY, capacity, score, use, priorities, saturate)


class EverySequence(unittest.TestCase):
    def hold_equal(self, score: Score, capacity: int, leaf_only: bool, length: int, *priorities: int) -> None:
        compared, given_up, failed = first_failure(score, capacity, leaf_only, length, priorities or (0,))
        self.assertIsNone(failed, (score, capacity, leaf_only))
        wide = len(priorities) or 1
        self.assertEqual((compared, given_up), (sum(2 * wide * (6 * wide) ** at for at in range(length)), 0))

    def test_strings_alone(self) -> None:
        for (name, score), (capacity, leaf_only, length) in itertools.product(
            SCORES.items(), ((2, True, 4), (2, False, 4), (3, True, 5), (3, False, 4))
        ):
            with self.subTest(policy=name, capacity=capacity, leaf_only=leaf_only):
                self.hold_equal(score, capacity, leaf_only, length - (name in SHORTER) - 2 * (name in REMEMBER))

    def test_each_request_with_a_priority(self) -> None:
        for name, capacity, leaf_only in itertools.product(WITH_PRIORITY, (2, 3), (True, False)):
            with self.subTest(policy=name, capacity=capacity, leaf_only=leaf_only):
                self.hold_equal(SCORES[name], capacity, leaf_only, 3, 0, 1)
        self.hold_equal(SCORES["priority"], 3, True, 3, 2, 0, 1)

    def test_what_a_score_was_seen_to_depend_on(self) -> None:
        for name, score in SCORES.items():

            def use(policy: PolicyMachines) -> Depends:
                for sequence in itertools.product(policy.requests, repeat=3):
                    state = COLD
                    for request in sequence:
                        state, _ = policy.serve(state, request)
                return policy.depends

            small = Trie(("a", "b", "c"))
            self.assertEqual(with_policy(small, 2, score, use, (0, 1)), DEPENDS[name], name)


def own_reduction(plain: Cache, depends: Depends) -> CacheState:
    """Return what the machine's state should be, from the facts of the plain cache, written anew."""
    held, gone = sorted(plain.facts.items()), sorted(plain.ghosts.items()) if depends.memory else []
    everyone = [one for _, one in held + gone]
    recent = {one.last_access for _, one in held}
    if depends.previous:
        recent |= {time for one in everyone for time in (one.last_access, one.previous_access)}
    created = {one.created for one in everyone}
    if depends.across:
        recent = created = recent | created

    def place(time: int, among: set[int]) -> int:
        """Count the times up to this one; 0, which is never, stays."""
        return time if depends.exact_times else sum(0 < other <= time for other in among)

    def reduced_one(one: Facts, cached: bool) -> Facts:
        last = place(one.last_access, recent) if cached or depends.previous else 0
        return Facts(
            last_access=last,
            created=place(one.created, created) if depends.created else 0,
            hits=one.hits if depends.hits_up_to is None else min(one.hits, depends.hits_up_to),
            priority=one.priority if depends.priority else 0,
            depth=one.depth,
            seen=one.seen if depends.seen_up_to is None else min(one.seen, depends.seen_up_to) or 1,
            previous_access=place(one.previous_access, recent) if depends.previous else 0,
            reach=one.reach if depends.shape else 0,
            below=one.below if depends.shape else 0,
            last_access_ms=last,
            behind=one.behind if depends.shape else 0,
        )

    return CacheState(
        plain.clock if depends.exact_times else 0,
        tuple((block, reduced_one(one, True)) for block, one in held),
        (),
        tuple((block, reduced_one(one, False)) for block, one in gone),
    )


def random_requests(rng: random.Random, trie: Trie, priorities: Sequence[int], length: int) -> tuple[Any, ...]:
    """Return random requests, as pairs where there is more than one priority."""
    return tuple(rng.choice(requests(trie, priorities)) for _ in range(length))


class LongerSequences(unittest.TestCase):
    def hold_equal(
        self, trie: Trie, capacity: int, score: Score, leaf_only: bool, sequence: Sequence[Any], *priorities: int
    ) -> None:
        """Hold what happens and the state after it equal at each request of a sequence."""

        def use(policy: PolicyMachines) -> None:
            plain = Cache(trie, capacity, score, leaf_only)
            state = COLD
            for at, request in enumerate(sequence, start=1):
                expected, _ = plain_step(plain, request)
                state, served = policy.serve(state, request, leaf_only)
                case = (trie.strings, capacity, score, leaf_only, sequence[:at])
                self.assertEqual((served, state), (expected, own_reduction(plain, policy.depends)), case)

        with_policy(trie, capacity, score, use, priorities or (0,))

    def test_random_tries(self) -> None:
        rng = random.Random(1)
        for _ in range(3):
            trie = Trie(random_universe(rng, 8, 4))
            capacity = rng.randint(1, 5)
            for (name, score), leaf_only in itertools.product(SCORES.items(), (True, False)):
                priorities = (0, 1, 4) if name in WITH_PRIORITY else (0,)
                sequence = random_requests(rng, trie, priorities, 30)
                self.hold_equal(trie, capacity, score, leaf_only, sequence, *priorities)

    def test_the_study(self) -> None:
        rng = random.Random(2)
        for (name, score), capacity in itertools.product(SCORES.items(), (2, 3, 4)):
            priorities = (0, 1) if name in WITH_PRIORITY else (0,)
            sequence = random_requests(rng, STUDY, priorities, 30)
            self.hold_equal(STUDY, capacity, score, capacity > 2, sequence, *priorities)


class Saturation(unittest.TestCase):
    def test_the_machine_gives_up_exactly_where_a_victim_has_too_many_hits(self) -> None:
        for limit, leaf_only, capacity in itertools.product((1, 2), (True, False), (2, 3)):
            compared, given_up, failed = first_failure(LFU, capacity, leaf_only, capacity + 2, saturate=limit)
            self.assertIsNone(failed, (limit, leaf_only, capacity))
            self.assertGreater(compared, 100)
            # At K = 2 under the rule there is never more than one leaf that may go: hits are not compared.
            self.assertEqual(given_up > 0, not (capacity == 2 and leaf_only), (limit, leaf_only, capacity))

    def walks(self, trie: Trie, capacity: int, limit: int, rng: random.Random, length: int) -> list[list[Any]]:
        """Return random walks of the saturated machine, with the requests that it takes."""

        def use(policy: PolicyMachines) -> list[list[Any]]:
            walked: list[list[Any]] = []
            for _ in range(4):
                walked.append([])
                state = COLD
                for _ in range(length):
                    request = rng.choice(policy.requests)
                    try:
                        state, (misses,) = policy.machine().step(state, request)
                    except Saturated:
                        continue
                    walked[-1].append((request, misses, held(state)))
                    self.assertLessEqual(max(facts.hits for _, facts in state[1]), limit)
            return walked

        return with_policy(trie, capacity, LFU, use, saturate=limit)

    def test_every_walk_is_a_run(self) -> None:
        rng = random.Random(3)
        steps = 0
        for trie in (STUDY, Trie("abcde"), Trie(("aa", "ab", "b", "bb", "cd", "cdd"))):
            for limit, capacity in itertools.product((1, 2, 3), (3, 4, 5)):
                for walk in self.walks(trie, capacity, limit, rng, 40):
                    plain = Cache(trie, capacity, LFU)
                    steps += len(walk)
                    for at, (request, misses, cached) in enumerate(walk, start=1):
                        served = plain.access(request)
                        case = (trie.strings, capacity, limit, [request for request, _, _ in walk[:at]])
                        self.assertEqual((served.misses, plain.cached()), (misses, cached), case)
        self.assertGreater(steps, 2_000)

    def test_the_saturated_machine_closes(self) -> None:
        def use(policy: PolicyMachines) -> int:
            known, waiting = {COLD}, [COLD]
            while waiting:
                state = waiting.pop()
                for request in policy.requests:
                    try:
                        after, _ = policy.serve(state, request)
                    except Saturated:
                        continue
                    if after not in known:
                        known.add(after)
                        waiting.append(after)
                self.assertLess(len(known), 1000)
            return len(known)

        self.assertGreater(with_policy(STUDY, 3, LFU, use, saturate=1), 10)

    def test_other_scores_are_not_saturated(self) -> None:
        for score in (
            *(score for name, score in SCORES.items() if name not in ("lfu", *REMEMBER)),
            lambda block: (block.hits, block.created),
            lambda block: -block.hits,
        ):
            compared, given_up, failed = first_failure(score, 3, True, 4, saturate=1)
            self.assertEqual((given_up, failed), (0, None))
            self.assertEqual(compared, 2 + 12 + 72 + 432)

    def test_a_score_that_compares_hits_with_numbers_too_is_not_saturated(self) -> None:
        """These scores are the number of hits, and then they turn: hits beyond the limit are not alike."""
        for score in (
            lambda block: block.hits if block.hits < 2 else -1,
            lambda block: block.hits if block.hits <= 2 else 0,
        ):
            self.assertIsNone(first_failure(score, 3, True, 5, saturate=1)[2])
            self.assertIsNone(first_failure(score, 3, False, 5, saturate=1)[2])


class Machines(unittest.TestCase):
    def test_requests(self) -> None:
        trie = Trie(("b", "a"))
        self.assertEqual(requests(trie, (0,)), ("b", "a"))
        self.assertEqual(requests(trie, (0, 3)), (("b", 0), ("b", 3), ("a", 0), ("a", 3)))

    def test_the_machine_of_a_policy(self) -> None:
        for priorities, sequence in (((0,), ["ab", "ab", "c"]), ((0, 1), [("ab", 1), ("ab", 0), ("c", 0)])):

            def use(policy: PolicyMachines, sequence: list[Any] = sequence) -> None:
                machine = policy.machine()
                self.assertIs(machine, policy.machine(leaf_only=True))
                self.assertIsNot(machine, policy.machine(leaf_only=False))
                self.assertEqual((machine.start, machine.width), (COLD, 1))
                self.assertEqual(machine.requests, policy.requests)
                self.assertEqual(machine.run(sequence), [(2,), (0,), (1,)])
                self.assertEqual([policy.string(request) for request in sequence], ["ab", "ab", "c"])

            with_policy(Trie(("ab", "c")), 2, SCORES["priority"], use, priorities)

    def test_unconstrained_and_leaf_only_differ(self) -> None:
        """First in, first out: without the rule the parent goes first and takes its child along."""

        def use(policy: PolicyMachines) -> tuple[Any, ...]:
            sequence = ("0", "00", "1", "0")
            return tuple(policy.machine(leaf_only).run(sequence) for leaf_only in (True, False))

        both = with_policy(STUDY, 2, SCORES["fifo"], use)
        self.assertEqual(both, ([(1,), (1,), (1,), (0,)], [(1,), (1,), (1,), (1,)]))

    def test_reduced_by_hand(self) -> None:
        held = ((0, Facts(9, 4, 7, 2, 1)), (3, Facts(9, 9, 0, 1, 2)), (5, Facts(4, 2, 3, 0, 1)))
        state = CacheState(9, held)

        def times(**depends: Any) -> list[tuple[int, ...]]:
            return [tuple(facts[:4]) for _, facts in reduced(state, Depends(**depends)).blocks]

        self.assertEqual(times(), [(2, 0, 0, 0), (2, 0, 0, 0), (1, 0, 0, 0)])
        self.assertEqual(times(created=True), [(2, 2, 0, 0), (2, 3, 0, 0), (1, 1, 0, 0)])
        self.assertEqual(times(created=True, across=True), [(3, 2, 0, 0), (3, 3, 0, 0), (2, 1, 0, 0)])
        self.assertEqual(times(hits_up_to=3), [(2, 0, 3, 0), (2, 0, 0, 0), (1, 0, 3, 0)])
        self.assertEqual(times(hits_up_to=None, priority=True), [(2, 0, 7, 2), (2, 0, 0, 1), (1, 0, 3, 0)])
        depths = [(block, facts.depth) for block, facts in reduced(state, Depends()).blocks]
        self.assertEqual(depths, [(0, 1), (3, 2), (5, 1)])
        self.assertEqual(reduced(COLD, Depends(across=True, created=True)), COLD)

    def test_the_result_of_use_is_returned(self) -> None:
        seen = []

        def use(policy: PolicyMachines) -> str:
            seen.append(policy.depends)
            policy.machine().run(("0", "1", "00", "11", "0"))
            return "done"

        self.assertEqual(with_policy(STUDY, 3, SCORES["slru"], use), "done")
        self.assertEqual((seen[0], seen[-1]), (Depends(), DEPENDS["slru"]))

    def test_scores_that_fail_say_so(self) -> None:
        def use(policy: PolicyMachines) -> None:
            policy.machine().run(("11", "0", "10"))

        for score in (
            lambda block: "leaf" if block.depth == 1 else block.depth,
            lambda block: block.depth + None,
            lambda block: block.depth if block.depth == 1 else None,
        ):
            with self.assertRaisesRegex(
                PolicyError, r"test_policy_machine\.py:\d+: <lambda> .*Facts\(.*\(TypeError: .*: (mend|return)"
            ):
                with_policy(STUDY, 3, score, use)

        with self.assertRaisesRegex(PolicyError, r"fails on Facts\(.*\(ZeroDivisionError: "):
            with_policy(STUDY, 3, lambda block: block.depth // 0, use)
        with self.assertRaisesRegex(ValueError, "capacity of 0"):
            with_policy(STUDY, 0, LFU, use)

    def test_a_single_observer_refuses_what_it_did_not_expect(self) -> None:
        """PolicyMachines alone do not try again: the score of the first eviction is seen to depend on creation."""
        machines = PolicyMachines(STUDY, 2, Observer(SCORES["fifo"]))
        state, _ = machines.serve(COLD, "0")
        state, _ = machines.serve(state, "1")
        with self.assertRaises(Exception) as raised:
            machines.serve(state, "00")
        self.assertEqual(type(raised.exception).__name__, "DependsOnMore")


if __name__ == "__main__":
    unittest.main()
