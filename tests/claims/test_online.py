"""Unconstrained LRU beside leaf-only LRU: the published counts, each counter where it counts, all by plain runs."""

from __future__ import annotations

import itertools
import unittest
from collections.abc import Iterator

from src.claims.online import (
    CAPACITIES,
    TIE_BREAKS,
    Counted,
    Manager,
    compare,
    online,
    stamps,
    study_managers,
    tie_audit,
)
from src.radixcache import Recency, Rule, Run, as_set
from tests.helpers import STUDY, claimed, shared_lru

LENGTH = 4


def runs(managers: tuple[Manager, ...], length: int = LENGTH) -> Iterator[tuple[Run, ...]]:
    """Yield the runs of some caches on every instance."""
    for capacity, sequence in itertools.product(CAPACITIES, itertools.product(STUDY.strings, repeat=length)):
        yield tuple(shared_lru(STUDY, capacity, sequence, *manager) for manager in managers)


def plain_beside(first: Run, other: Run, sequence: tuple[str, ...]) -> tuple[int, ...]:
    """Return a Beside, written anew."""
    interior = [eviction for eviction in other.evictions if eviction.interior]
    in_service = [
        eviction
        for string, step in zip(sequence, other.steps)
        for eviction in step.evictions
        if as_set(STUDY.path(string)) & eviction.removed
    ]
    differing = sum(
        [eviction.victim for eviction in one.evictions] != [eviction.victim for eviction in two.evictions]
        for one, two in zip(first.steps, other.steps)
    )
    extra = other.misses - first.misses
    return (extra, len(interior), sum(eviction.strict for eviction in interior), len(in_service), differing)


class PublishedNumbers(unittest.TestCase):
    def test_online_and_tie_audit(self) -> None:
        shallow, deep = compare(STUDY, study_managers())
        self.assertEqual(
            online(STUDY, shallow, deep)["measured"],
            {"instances": 93312, "strict_interior_evictions": 0, "other_decisions": 0, "worse": 0, "better": 0},
        )
        audit = tie_audit(STUDY, shallow)["measured"]
        self.assertEqual(list(audit.values()), [33060, 0, 33060, 137480, 137480, 0])

    def test_stamps(self) -> None:
        measured = claimed("stamps")["measured"]
        self.assertEqual(list(measured["root_first"].values()), [93312, 137480, 137480, 0, 33060, 0, 75016, 0])
        self.assertEqual(list(measured["leaf_first"].values()), [93312] + [0] * 7)
        self.assertEqual(stamps(STUDY)["measured"], measured)


class EveryCounter(unittest.TestCase):
    """Each number of a claim, by the same function, where the right answer is not zero."""

    def test_online_with_the_recency_control(self) -> None:
        shallow, deep = compare(STUDY, study_managers(Recency.REQUESTED), LENGTH)
        strict = other = worse = better = 0
        for leaf, naive, sane in runs(study_managers(Recency.REQUESTED)):
            strict += sum(one.interior and one.strict for one in [*naive.evictions, *sane.evictions])
            other += [one.victim for one in leaf.evictions] != [one.victim for one in sane.evictions]
            worse += sane.misses > leaf.misses
            better += sane.misses < leaf.misses
        found = online(STUDY, shallow, deep)
        self.assertEqual(list(found["measured"].values()), [2592, strict, other, worse, better])
        self.assertGreater(min(strict, other, worse, better), 0)
        self.assertFalse(found["reproduced"])

    def test_the_tie_audit_with_the_recency_control(self) -> None:
        shallow, _ = compare(STUDY, study_managers(Recency.REQUESTED), LENGTH)
        loses = wins = alone = interior = strict = 0
        for leaf, naive, _ in runs(study_managers(Recency.REQUESTED)):
            inner = [one for one in naive.evictions if one.interior]
            loses += naive.misses > leaf.misses
            wins += naive.misses < leaf.misses
            alone += naive.misses > leaf.misses and bool(inner) and not any(one.strict for one in inner)
            interior += len(inner)
            strict += sum(one.strict for one in inner)
        found = tie_audit(STUDY, shallow)["measured"]
        self.assertEqual(list(found.values()), [loses, wins, alone, interior, interior - strict, strict])
        self.assertTrue(0 < alone < loses and wins > 0 < strict < interior, found)

    def test_a_loss_without_an_interior_eviction_is_not_laid_on_ties(self) -> None:
        """Leaf-only LRU loses to the recency control without the rule, with no interior eviction to blame."""
        (found,) = compare(STUDY, (Manager(Rule.DEEP, Recency.REQUESTED), Manager(Rule.LEAF_ONLY, Recency.REQUESTED)))
        audit = tie_audit(STUDY, found)["measured"]
        self.assertEqual((audit["loses"], audit["loses_by_ties_alone"], audit["interior_evictions"]), (4668, 0, 0))

    def test_stamps_of_the_wrong_kind(self) -> None:
        """The claim counts: with each order's other tie-break, with stamps that tie, and with the recency control."""
        swapped = {recency: Rule.DEEP if rule is Rule.SHALLOW else Rule.SHALLOW for recency, rule in TIE_BREAKS.items()}
        for found in stamps(STUDY, swapped)["measured"].values():
            self.assertGreater(found["decides_otherwise_than_its_tie_break"], 0)
        found = stamps(STUDY, {Recency.REQUESTED: Rule.SHALLOW, Recency.PATH: Rule.DEEP})["measured"]
        self.assertEqual(found["requested"]["strict_interior_evictions"], 88008)
        self.assertEqual(found["requested"]["unconstrained_better"], 4668)
        self.assertEqual(found["path"]["tied_interior_evictions"], 137480)

    def test_leaf_only_lru_decides_alike_under_every_recency(self) -> None:
        for recency in (Recency.ROOT_FIRST, Recency.LEAF_FIRST, Recency.REQUESTED):
            (found,) = compare(STUDY, (Manager(Rule.LEAF_ONLY), Manager(Rule.LEAF_ONLY, recency)))
            self.assertEqual(found.instances(lambda one: one.other > 0), 0, recency)


class PlainAgainstShared(unittest.TestCase):
    def test_every_tally_by_single_runs(self) -> None:
        settings = [study_managers(recency, locked) for recency in Recency for locked in (False, True)]
        for managers in settings:
            expected: dict[tuple[tuple[int, ...], ...], int] = {}
            sequences = list(itertools.product(STUDY.strings, repeat=3)) * 2
            for sequence, (first, *others) in zip(sequences, runs(managers, 3)):
                tally = tuple(plain_beside(first, other, sequence) for other in others)
                expected[tally] = expected.get(tally, 0) + 1
            shallow, deep = compare(STUDY, managers, 3)
            self.assertEqual({tuple(map(tuple, key)): n for key, n in shallow.tallies.items()}, expected, managers)
            self.assertEqual((shallow.tallies, shallow.at, deep.at), (deep.tallies, 0, 1))

    def test_counted(self) -> None:
        shallow, deep = compare(STUDY, study_managers(), 3)
        self.assertIsInstance(deep, Counted)
        self.assertEqual(shallow.instances(), 2 * 6**3)
        self.assertEqual(shallow.total(lambda _: 1), 2 * 6**3)


if __name__ == "__main__":
    unittest.main()
