"""The texts are tested through the command; here what only a made-up comparison shows."""

from __future__ import annotations

import unittest

from src.radixcache import Optimum
from src.traces.texts import as_csv
from tests.traces.test_verdict import comparison


class Texts(unittest.TestCase):
    def test_rates_of_tokens(self) -> None:
        found = comparison(best=40, optimum=80, infinite=90)
        lines = as_csv(found).splitlines()
        self.assertEqual(lines[0], "capacity,policy,hits,blocks,hit_rate,token_hit_rate")
        self.assertEqual(lines[1], "10,lru,40,100,0.400000,0.320000")
        self.assertEqual(lines[-1], f"10,optimum {list(Optimum)[-1].value},80,100,0.800000,0.640000")


if __name__ == "__main__":
    unittest.main()
