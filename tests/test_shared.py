"""The suite in several processes finds what it finds in one."""

from __future__ import annotations

import os
import unittest
from unittest import mock

from tests import Shared


class Cases(unittest.TestCase):
    """What can become of a test; loaded here alone, by name."""

    def good(self) -> None:
        """Do nothing."""

    def wrong(self) -> None:
        for number in range(3):
            with self.subTest(number=number):
                self.assertNotEqual(number % 2, 0)

    def broken(self) -> None:
        raise KeyError("lost")

    def left_out(self) -> None:
        self.skipTest("not today")

    @unittest.expectedFailure
    def known(self) -> None:
        self.fail()

    @unittest.expectedFailure
    def mended(self) -> None:
        """Do nothing, against all expectation."""


NAMES = ("good", "wrong", "broken", "left_out", "known", "mended")


def found(names: tuple[str, ...], processes: int) -> unittest.TestResult:
    result = unittest.TestResult()
    Shared([unittest.TestSuite([Cases(name)]) for name in names], processes).run(result)
    return result


@unittest.skipUnless(hasattr(os, "fork"), "needs processes that fork")
class SharedTest(unittest.TestCase):
    def test_the_same_in_any_number_of_processes(self) -> None:
        def told(result: unittest.TestResult) -> list[object]:
            kinds = (result.failures, result.errors, result.skipped, result.expectedFailures)
            unexpected = sorted(map(str, result.unexpectedSuccesses))
            return [result.testsRun, unexpected, *(sorted(str(test) for test, _ in kind) for kind in kinds)]

        alone = told(found(NAMES * 9, 1))
        self.assertEqual([alone[0], len(alone[2]), len(alone[3])], [54, 18, 9])  # type: ignore[arg-type]
        for processes in (2, 3, 8):
            shared = found(NAMES * 9, processes)
            self.assertEqual(told(shared), alone)
            self.assertFalse(shared.wasSuccessful())
            self.assertTrue(all("lost" in text for _, text in shared.errors))

    def test_a_process_that_dies_fails_the_suite(self) -> None:
        def in_the_other_alone(parts: object, following: int, result: object) -> None:
            if os.getpid() != here:
                os._exit(3)

        here = os.getpid()
        with mock.patch("tests._run_next", in_the_other_alone):
            result = found(("good",), 2)
        self.assertEqual([str(test) for test, _ in result.errors], ["a process of the tests"])
        self.assertFalse(result.wasSuccessful())


if __name__ == "__main__":
    unittest.main()
