"""Files cut into lines and arrays cut into elements; what else a file may be is tested through `reading`."""

from __future__ import annotations

import gzip
import json
import random
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from src.page.commandline import Fault
from src.traces import files
from src.traces.files import Line, lines_of, where
from src.traces.reading import read_traces


class Arrays(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "trace.json")

    def lines(self, data: bytes) -> list[Line]:
        self.path.write_bytes(data)
        return list(lines_of(str(self.path)))

    def fault(self, data: bytes) -> str:
        with self.assertRaises(Fault) as caught:
            self.lines(data)
        return str(caught.exception).replace(str(self.path), "FILE")

    def test_elements_and_the_lines_they_begin_on(self) -> None:
        self.assertEqual(self.lines(b'[{"a": 1}, {"b": [{}]}]'), [(b'{"a": 1}', 1, 1), (b'{"b": [{}]}', 1, 2)])
        self.assertEqual(
            self.lines(b'\xef\xbb\xbf\n [\n\n{"a":\n1}\n,\n {}] \n\n'), [(b'{"a":\n1}', 4, 1), (b"{}", 7, 2)]
        )
        self.assertEqual((where(4, 2), where(4, 0)), ("4: element 2", "4"))
        self.assertEqual(self.lines(b"[1]\n\n[{}"), [(b"[1]\n", 1, 0), (b"[{}", 3, 0)])

    def test_strings_hide_their_brackets(self) -> None:
        for text in ('"', "\\", '\\"', "}]", "[{", '{"', "\\\\", "]}," * 3, '"' * 5):
            element = json.dumps({text: [text, {text: text}]}).encode()
            for size in (1, 2, 3, 7, 1000):
                with mock.patch.object(files, "CHUNK", size):
                    found = self.lines(b"[" + element + b",\n" + element + b"]\n")
                self.assertEqual(found, [(element, 1, 1), (element, 2, 2)], (text, size))

    def test_faults(self) -> None:
        for data, message in (
            (b'[{"a": 1}', "FILE: the array does not end: fetch the file again"),
            (b'[{"a": 1', "FILE: the array does not end: fetch the file again"),
            (b'[{"a": "]', "FILE: the array does not end: fetch the file again"),
            (b"[{} {}]", "FILE: no object or no comma stands after element 1 of the array: give objects alone"),
            (b"[{}, 5, {}]", "FILE: no object or no comma stands after element 1 of the array: give objects alone"),
            (b"[{}, [1], {}]", "FILE: no object or no comma stands after element 1 of the array: give objects alone"),
            (b"[{}, {},]", "FILE: no object or no comma stands after element 2 of the array: give objects alone"),
            (b"[{}] 5", "FILE: something follows the array: give one array, or one object a line"),
            (b"[{}]\n" + b" " * 200_000 + b"[]", "FILE: something follows the array: give one array, or one object a"),
        ):
            self.assertIn(message, self.fault(data))

    def test_a_bad_element_is_told_by_line_and_number(self) -> None:
        self.path.write_bytes(b'[{"hash_ids": [1]},\n{"hash_ids": [2]}, {"hash_ids": 3}]')
        with self.assertRaisesRegex(Fault, r"json:2: element 3: hash_ids is 3: give a list, or use --skip-bad-lines$"):
            read_traces([str(self.path)])
        trace = read_traces([str(self.path)], skip_bad_lines=True)
        self.assertEqual((list(trace.requests), trace.bad_lines), ([(0,), (1,)], 1))

    def test_an_overlong_element_is_cut_and_passed_by(self) -> None:
        with mock.patch.object(files, "LONGEST_LINE", 100), mock.patch.object(files, "CHUNK", 16):
            found = self.lines(b'[{"a": 1}, {"b": "' + b"x" * 5000 + b'"}, {"c": 2}]')
            self.assertEqual([len(text) > 100 for text, _, _ in found], [False, True, False])
            self.assertLess(len(found[1][0]), 200)

    def test_random_arrays_are_as_their_lines(self) -> None:
        draw = random.Random(1)
        for _ in range(60):
            records: list[dict[str, Any]] = [
                {"hash_ids": [draw.randrange(3)] * draw.randrange(4), "x": [{"y": "}\\\""}] * draw.randrange(2)}
                for _ in range(draw.randrange(1, 8))
            ]
            records.append({"hash_ids": [1]})
            self.path.write_text("".join(json.dumps(record) + "\n" for record in records))
            lines = read_traces([str(self.path)])
            data = json.dumps(records, indent=draw.choice([None, 1])).encode()
            self.path.write_bytes(gzip.compress(data, 1) if draw.random() < 0.3 else data)
            with mock.patch.object(files, "CHUNK", draw.choice([1, 5, 50, 5000])):
                self.assertEqual(read_traces([str(self.path)]), lines, records)


if __name__ == "__main__":
    unittest.main()
