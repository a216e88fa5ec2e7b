"""The families: all claims of the report, the same for any number of processes, and an end to all of them."""

from __future__ import annotations

import unittest
from unittest import mock

from src.claims import families
from src.claims.claim import Claim
from src.claims.families import FAMILIES, all_claims
from src.claims.report import SECTIONS
from src.radixcache import Trie
from tests.helpers import committed


def first(trie: Trie, say: families.Say) -> dict[str, Claim]:
    """Return a small claim, and say so."""
    say("first")
    return {"b": {"measured": {"strings": len(trie.strings)}}}


def second(trie: Trie, say: families.Say) -> dict[str, Claim]:
    """Return another one."""
    return {"a": {"measured": {}}}


class Families(unittest.TestCase):
    def found(self, jobs: int) -> tuple[list[str], dict[str, Claim], list[str]]:
        said: list[str] = []
        settings = {"FAMILIES": (first, second), "SECTIONS": dict.fromkeys("ab"), "preregistration": lambda found: "P"}
        with mock.patch.multiple(families, **settings):
            results = all_claims(said.append, jobs)
        return list(results), results, said

    def test_the_results_do_not_depend_on_the_processes(self) -> None:
        names, alone, said = self.found(1)
        self.assertEqual((names, said), (["preregistration", "a", "b"], ["first"]))
        self.assertEqual(alone["b"], {"measured": {"strings": 6}})
        for jobs in (2, 9):
            names, shared, said = self.found(jobs)
            self.assertEqual((names, shared), (["preregistration", "a", "b"], alone))
            self.assertEqual([line.partition(" of 2 claims")[0] for line in said], ["1", "2"])

    def test_every_claim_has_its_family(self) -> None:
        self.assertEqual(list(committed()), ["preregistration", *SECTIONS])
        self.assertEqual(len(FAMILIES), 6)


if __name__ == "__main__":
    unittest.main()
