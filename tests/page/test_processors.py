"""The number of processes, where a system tells what may be used and where not."""

from __future__ import annotations

import unittest
from unittest import mock

from src.page.processors import processors


class Processors(unittest.TestCase):
    def test_what_the_system_tells(self) -> None:
        self.assertGreaterEqual(processors(), 1)
        with mock.patch("os.sched_getaffinity", return_value={4, 7, 9}, create=True):
            self.assertEqual(processors(), 3)
        with mock.patch("os.sched_getaffinity", side_effect=OSError, create=True):
            for there, expected in ((8, 8), (None, 1)):
                with mock.patch("os.cpu_count", return_value=there):
                    self.assertEqual(processors(), expected)


if __name__ == "__main__":
    unittest.main()
