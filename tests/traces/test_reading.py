"""Trace files: every kind of good input, a table of malformed ones, and random traces against a plain recount."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from src.page.guard import Fault
from src.traces import files
from src.traces.reading import Trace, read_traces, trace_of
from tests.helpers import REPOSITORY

GOOD = b'{"hash_ids": [1, 2]}'
SKIP = "--skip-bad-lines"

# What is wrong, the line, and a part of the message.  Every one of them is one bad line among good ones.
BAD_LINES: list[tuple[str, bytes, str]] = [
    ("truncated after a comma", b'{"hash_ids": [1, 2,', "is not JSON at character 2"),
    ("truncated in a list", b'{"hash_ids": [1, 2', "is not JSON"),
    ("truncated in a string", b'{"hash_ids": [1], "model": "abc', "is not JSON"),
    ("truncated in a key", b'{"hash_i', "near '{\"hash_i': give one object a line"),
    ("truncated after a backslash", b'{"hash_ids": ["a\\', "is not JSON"),
    ("no quotes", b"{hash_ids: [1]}", "is not JSON at character 2"),
    ("single quotes", b"{'hash_ids': [1]}", "is not JSON at character 2"),
    ("comma at the end", b'{"hash_ids": [1,]}', "is not JSON"),
    ("two objects", b'{"hash_ids": [1]} {"hash_ids": [2]}', "is not JSON at character 19"),
    ("text", b"timestamp,hash_ids", "is not JSON at character 1, near 'timestamp,hash_ids'"),
    ("old Macintosh line ends", b'{"hash_ids": [1]}\r{"hash_ids": [2]}', "is not JSON at character 19"),
    ("leading zero", b'{"hash_ids": [01]}', "is not JSON"),
    ("plus sign", b'{"hash_ids": [+1]}', "is not JSON"),
    ("hexadecimal", b'{"hash_ids": [0x1F]}', "is not JSON"),
    ("control character in a string", b'{"hash_ids": ["a\x1bb"]}', "is not JSON"),
    ("unknown escape", b'{"hash_ids": ["\\x41"]}', "is not JSON"),
    ("terminal escape as text", b"\x1b[31mred\x1b[0m", r"near '\x1b[31mred\x1b[0m'"),
    ("byte order mark later on", b'\xef\xbb\xbf{"hash_ids": [1]}', r"is not JSON at character 1, near '\ufeff"),
    ("NaN as an id", b'{"hash_ids": [1, NaN]}', "has NaN, which is no JSON"),
    ("Infinity as a timestamp", b'{"hash_ids": [1], "timestamp": Infinity}', "has Infinity, which is no JSON"),
    ("-Infinity in another key", b'{"hash_ids": [1], "latency": -Infinity}', "has -Infinity, which is no JSON"),
    ("an array", b"[1, 2, 3]", "is a list: give an object"),
    ("a string", b'"hash_ids"', "is 'hash_ids': give an object"),
    ("a number", b"17", "is 17: give an object"),
    ("null", b"null", "is null: give an object"),
    ("false", b"false", "is false: give an object"),
    ("no ids", b'{"timestamp": 1, "input_length": 7}', "has none of the keys hash_ids, token_ids, input_ids"),
    ("empty object", b"{}", "has none of the keys hash_ids, token_ids, input_ids"),
    ("hashes and tokens", b'{"hash_ids": [1], "token_ids": [1]}', "has hash_ids and token_ids: give one of them"),
    ("tokens twice", b'{"token_ids": [1], "input_ids": [1]}', "has token_ids and input_ids: give one of them"),
    ("the same key twice", b'{"hash_ids": [1], "hash_ids": [2]}', "has the key 'hash_ids' twice"),
    ("another key twice", b'{"a\\n\\u0000": 1, "hash_ids": [1], "a\\n\\u0000": 2}', r"has the key 'a\n\x00' twice"),
    ("ids are a number", b'{"hash_ids": 5}', "hash_ids is 5: give a list"),
    ("ids are a string", b'{"hash_ids": "1,2"}', "hash_ids is '1,2': give a list"),
    ("ids are null", b'{"hash_ids": null}', "hash_ids is null: give a list"),
    ("ids are an object", b'{"input_ids": {"0": 1}}', "input_ids is an object: give a list"),
    ("an id is a fraction", b'{"hash_ids": [1, 2, 3, 1.5]}', "hash_ids[3] is 1.5: give integers or strings"),
    ("an id is a whole float", b'{"hash_ids": [1, 2.0]}', "hash_ids[1] is 2.0: give integers or strings"),
    ("an id is too large a float", b'{"hash_ids": [1e999]}', "hash_ids[0] is Infinity: give integers or strings"),
    ("an id is true", b'{"hash_ids": [0, true]}', "hash_ids[1] is true: give integers or strings"),
    ("an id is null", b'{"hash_ids": [null]}', "hash_ids[0] is null: give integers or strings"),
    ("nested lists", b'{"hash_ids": [[1, 2], [3]]}', "hash_ids[0] is a list: give integers or strings"),
    ("an id is an object", b'{"hash_ids": [{"id": 1}]}', "hash_ids[0] is an object: give integers or strings"),
    ("a batch of tokens", b'{"input_ids": [[1, 2], [3]]}', "input_ids[0] is a list: give integers"),
    ("a token is a string", b'{"token_ids": [1, "the"]}', "token_ids[1] is 'the': give integers"),
    ("a token is a long string", b'{"token_ids": ["' + b"word " * 100 + b'"]}', "token_ids[0] is 'word word"),
    ("a token is false", b'{"token_ids": [false]}', "token_ids[0] is false: give integers"),
    ("a token of 65 bits", b'{"token_ids": [18446744073709551615, 18446744073709551616]}', "token_ids[1] is 184467440"),
    ("a negative token of 65 bits", b'{"token_ids": [-9223372036854775809]}', "token_ids[0] is -9223372036854775809"),
    ("a million digits", b'{"hash_ids": [' + b"7" * 10**6 + b"]}", "has a number of 1000000 digits: give at most 640"),
    ("641 digits, negative", b'{"hash_ids": [-' + b"7" * 641 + b"]}", "has a number of 641 digits: give at most 640"),
    ("a long fraction", b'{"hash_ids": [1], "x": 0.' + b"3" * 9999 + b"}", "has a number of 9999 digits"),
    ("a long timestamp", b'{"hash_ids": [1], "timestamp": ' + b"1" * 5000 + b"}", "has a number of 5000 digits"),
    ("deep lists", b'{"hash_ids": ' + b"[" * 10**6, "is nested more than 100 deep: give flat objects"),
    ("deep objects", b'{"a":' * 10**5 + b"1" + b"}" * 10**5, "is nested more than 100 deep: give flat objects"),
    ("depth in another key", b'{"hash_ids": [1], "x": ' + b"[" * 100 + b"]" * 100 + b"}", "more than 100 deep"),
    ("priority is true", b'{"hash_ids": [1], "priority": true}', "priority is true: give an integer"),
    ("priority is a float", b'{"hash_ids": [1], "priority": 1.0}', "priority is 1.0: give an integer"),
    ("priority is a string", b'{"hash_ids": [1], "priority": "high"}', "priority is 'high': give an integer"),
    ("priority is a list", b'{"hash_ids": [1], "priority": [1]}', "priority is a list: give an integer"),
    ("timestamp is a string", b'{"hash_ids": [1], "timestamp": "12:00"}', "timestamp is '12:00': give a finite number"),
    ("timestamp is false", b'{"hash_ids": [1], "timestamp": false}', "timestamp is false: give a finite number"),
    ("timestamp too large", b'{"hash_ids": [1], "timestamp": 1e400}', "timestamp is Infinity: give a finite number"),
    ("Latin-1", '{"hash_ids": ["café"]}'.encode("latin-1"), "is not UTF-8 at byte 19: save the file as UTF-8"),
    ("a cut UTF-8 sequence", b'{"hash_ids": ["\xe2\x82"]}', "is not UTF-8 at byte 16"),
    ("a surrogate as bytes", b'{"hash_ids": ["\xed\xa0\x80"]}', "is not UTF-8 at byte 16"),
    ("an overlong UTF-8 sequence", b'{"hash_ids": ["\xc0\xaf"]}', "is not UTF-8 at byte 16"),
    ("a NUL byte", b'{"hash_ids": [1\0, 2]}', "has a NUL byte, so it is binary or UTF-16: give JSON lines in UTF-8"),
    ("UTF-16 without a mark", '{"hash_ids": [1]}'.encode("utf-16-le"), "has a NUL byte, so it is binary or UTF-16"),
    ("the head of a picture", b"\x89PNG\r", "is not UTF-8 at byte 1"),
]

ZIPPED = gzip.compress(b"".join(b'{"hash_ids": [%d]}\n' % (7919 * n) for n in range(1000)), mtime=0)

# What is wrong, the whole file, and a part of the message.
BAD_FILES: list[tuple[str, bytes, str]] = [
    ("empty", b"", "holds no request: give JSON lines"),
    ("a byte order mark alone", b"\xef\xbb\xbf", "holds no request: give JSON lines"),
    ("blank lines alone", b"\n \r\n\t\n", "holds no request: give JSON lines"),
    ("an empty file in gzip", gzip.compress(b"", mtime=0), "holds no request: give JSON lines"),
    ("no whole block", b'{"hash_ids": []}\n{"token_ids": []}\n', "no request fills a block: give longer requests"),
    ("gzip cut in the data", ZIPPED[: len(ZIPPED) // 2], "the gzip data ends too early: fetch the file again"),
    ("gzip cut in the check sum", ZIPPED[:-3], "the gzip data ends too early: fetch the file again"),
    ("gzip cut in the head", b"\x1f\x8b\x08", "the gzip data ends too early: fetch the file again"),
    ("gzip magic alone", b"\x1f\x8b", "the gzip data ends too early: fetch the file again"),
    ("gzip with a wrong check sum", ZIPPED[:-8] + b"\0\0\0\0" + ZIPPED[-4:], "the gzip data is broken: fetch the"),
    ("gzip with broken data", ZIPPED[:10] + b"\xff" * 50, "the gzip data is broken: fetch the file again"),
    ("gzip with an unknown method", b"\x1f\x8b\x07" + ZIPPED[3:], "the gzip data is broken: fetch the file again"),
    ("gzip and something after it", ZIPPED + b"tail", "the gzip data is broken: fetch the file again"),
    ("zstd", b"\x28\xb5\x2f\xfd\x04\x00", "is a zstd file: decompress it first"),
    ("xz", b"\xfd7zXZ\x00\x00\x04", "is an xz file: decompress it first"),
    ("bzip2", b"BZh91AY&SY", "is a bzip2 file: decompress it first"),
    ("zip", b"PK\x03\x04\x14\x00", "is a zip file: unpack it first"),
    ("UTF-16, little end first", b"\xff\xfe" + GOOD.decode().encode("utf-16-le"), "is UTF-16 or UTF-32 text: save it"),
    ("UTF-16, big end first", b"\xfe\xff" + GOOD.decode().encode("utf-16-be"), "is UTF-16 text: save it as UTF-8"),
]


class Files(unittest.TestCase):
    """A folder for the test's trace files."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, data: bytes, name: str = "trace.jsonl") -> str:
        path = self.folder / name
        if path.exists():
            path.unlink()  # some file systems wait for the disk when a file is overwritten
        path.write_bytes(data)
        return str(path)

    def read(self, data: bytes, page_size: int = 1, skip_bad_lines: bool = False) -> Trace:
        return read_traces([self.write(data)], page_size, skip_bad_lines)

    def lines(self, *records: Any) -> bytes:
        return b"".join(json.dumps(record).encode() + b"\n" for record in records)

    def fault(self, *names: str, skip_bad_lines: bool = False) -> str:
        """Return the message of the Fault that reading raises, which is one printable line."""
        with self.assertRaises(Fault) as caught:
            read_traces(names, 1, skip_bad_lines)
        message = str(caught.exception)
        self.assertTrue(message.isprintable(), repr(message))
        return message

    def check(self, trace: Trace) -> None:
        """The invariants of a trace."""
        self.assertEqual(len(trace.parent), len(trace.depth))
        self.assertEqual(len(trace.requests), len(trace.priorities))
        for block, (parent, depth) in enumerate(zip(trace.parent, trace.depth)):
            self.assertTrue(-1 <= parent < block)
            self.assertEqual(depth, 1 if parent == -1 else trace.depth[parent] + 1)
        used: dict[int, None] = {}
        for path in trace.requests:
            self.assertEqual([-1, *path[:-1]][: len(path)], [trace.parent[block] for block in path])
            used.update(dict.fromkeys(path))
        self.assertEqual(list(used), list(range(len(trace.parent))))  # numbered in the order of first use


class BadLines(Files):
    """Every malformed line ends in one line that tells where and what to do, or is skipped and counted."""

    def test_table_is_long_and_has_no_doubles(self) -> None:
        self.assertGreaterEqual(len(BAD_LINES), 40)
        self.assertEqual(len({name for name, _, _ in BAD_LINES}), len(BAD_LINES))
        self.assertEqual(len({line for _, line, _ in BAD_LINES}), len(BAD_LINES))

    def test_fault_names_file_line_fault_and_remedy(self) -> None:
        for name, line, fragment in BAD_LINES:
            with self.subTest(name):
                path = self.write(GOOD + b"\n\n" + line + b"\n" + GOOD + b"\n")
                message = self.fault(path)
                self.assertTrue(message.startswith(f"{path}:3: "), message)
                self.assertIn(fragment, message)
                self.assertRegex(message, r": (give|save) .*, or use --skip-bad-lines$")
                self.assertLess(len(message) - len(path), 200)

    def test_the_same_lines_skipped(self) -> None:
        for name, line, fragment in BAD_LINES:
            with self.subTest(name):
                path = self.write(GOOD + b"\n\n" + line + b"\n" + GOOD + b"\n")
                trace = read_traces([path], skip_bad_lines=True)
                self.assertEqual(trace.bad_lines, 1)
                self.assertTrue(trace.first_bad_line.startswith(f"{path}:3: "), trace.first_bad_line)
                self.assertIn(fragment, trace.first_bad_line)
                self.assertNotIn(SKIP, trace.first_bad_line)
                self.assertEqual(trace, trace_of([(1, 2), (1, 2)])._replace(bad_lines=1, first_bad_line=mock.ANY))

    def test_the_same_lines_in_gzip_and_without_line_end(self) -> None:
        for name, line, fragment in BAD_LINES:
            with self.subTest(name):
                message = self.fault(self.write(gzip.compress(GOOD + b"\n" + line, 1)))
                self.assertIn("trace.jsonl:2: ", message)
                self.assertIn(fragment, message)

    def test_all_bad_lines_in_one_file(self) -> None:
        trace = self.read(b"\n".join([*(line for _, line, _ in BAD_LINES), GOOD]), skip_bad_lines=True)
        self.assertEqual((trace.bad_lines, list(trace.requests)), (len(BAD_LINES), [(0, 1)]))
        self.assertIn(BAD_LINES[0][2], trace.first_bad_line)

    def test_no_good_line_is_a_fault_that_shows_the_first_bad_one(self) -> None:
        self.write(GOOD + b"\nbad\n", "one.jsonl")
        two = self.write(b"\n17\n18\n", "two.jsonl")
        message = self.fault(str(self.folder / "one.jsonl"), two, skip_bad_lines=True)
        self.assertTrue(message.startswith(f"{two}: holds no request (first bad line: {two}:2: is 17: give"), message)

    def test_overlong_line(self) -> None:
        longest = b'{"hash_ids": [1], "x": "' + b"y" * 74 + b'"}'
        with mock.patch.object(files, "LONGEST_LINE", len(longest)):
            self.assertEqual(len(self.read(longest).requests), 1)
            for tail in (b"", b"\n"):
                for extra in range(0, 350, 7):
                    data = longest[:-2] + b"z" * extra + b'"}\n' + GOOD + tail
                    self.assertRegex(self.fault(self.write(data)), r":1: is longer than \d+ bytes: give one request")
                    trace = self.read(data, skip_bad_lines=True)
                    self.assertEqual((trace.bad_lines, list(trace.requests)), (1, [(0, 1)]), extra)


class BadFiles(Files):
    """A file that cannot be read as a whole ends in one line, also when bad lines are skipped."""

    def test_table(self) -> None:
        for name, data, fragment in BAD_FILES:
            for skip in (False, True):
                with self.subTest(name, skip=skip):
                    path = self.write(data)
                    message = self.fault(path, skip_bad_lines=skip)
                    self.assertTrue(message.startswith(f"{path}: "), message)
                    self.assertIn(fragment, message)
                    self.assertRegex(message, r": (give|save|fetch|decompress|unpack) ")

    def test_gzip_cut_anywhere(self) -> None:
        for end in range(1, len(ZIPPED), 97):
            self.assertIn("trace.jsonl", self.fault(self.write(ZIPPED[:end])))

    def test_missing_directory_and_impossible_names(self) -> None:
        missing = str(self.folder / "missing.jsonl")
        self.assertEqual(self.fault(missing), f"{missing}: there is no such file: check the name")
        self.assertEqual(self.fault(str(self.folder)), f"{self.folder}: is a directory: name a trace file")
        self.assertIn("there is no such file", self.fault(""))
        self.assertEqual(self.fault("a\0b"), r"a\x00b: there is no such file: check the name")
        self.assertEqual(self.fault("a\nb\x1b"), r"a\nb\x1b: there is no such file: check the name")
        self.assertIn("there is no such file", self.fault("\ud800"))
        self.assertIn("cannot be read", self.fault("x" * 5000))
        self.assertLess(len(self.fault("x" * 5000)), 300)
        self.assertIn("cannot be read", self.fault(self.write(GOOD) + "/below"))

    def test_no_permission(self) -> None:
        with mock.patch("builtins.open", side_effect=PermissionError(13, "Permission denied")):
            self.assertEqual(self.fault("x"), "x: no permission to read it: change its mode or name another file")

    def test_device_that_fails(self) -> None:
        with mock.patch("builtins.open", side_effect=OSError(5, "Input/output error")):
            self.assertEqual(self.fault("x"), "x: cannot be read (Input/output error): name another file")

    def test_second_file_is_named(self) -> None:
        good = self.write(GOOD)
        bad = self.write(GOOD + b"\n{", "second.jsonl")
        self.assertTrue(self.fault(good, bad).startswith(f"{bad}:2: is not JSON"))
        empty = self.write(b"", "empty.jsonl")
        self.assertTrue(self.fault(good, empty, bad).startswith(f"{empty}: holds no request: "))

    def test_files_are_closed(self) -> None:
        opened: list[Any] = []
        original = open
        mixed = self.write(GOOD + b"\nbad\n")

        def remember(*arguments: Any) -> Any:
            opened.append(original(*arguments))
            return opened[-1]

        with mock.patch("builtins.open", remember):
            self.fault("missing")
            self.fault(mixed)
            read_traces([mixed], skip_bad_lines=True)
        self.assertEqual([file.closed for file in opened], [True, True])

    def test_errors_of_the_caller(self) -> None:
        path = self.write(GOOD)
        for page_size in (0, -1):
            with self.assertRaisesRegex(ValueError, "give at least 1"):
                read_traces([path], page_size)
        with self.assertRaisesRegex(ValueError, "name at least one file"):
            read_traces([])
        with self.assertRaisesRegex(ValueError, "2 priorities for 1 requests"):
            trace_of([(1,)], [0, 0])


class GoodInput(Files):
    """What a trace file may look like."""

    def test_mooncake_lines(self) -> None:
        trace = self.read(
            self.lines(
                {"timestamp": 0, "input_length": 1536, "output_length": 9, "hash_ids": [0, 1, 2]},
                {"timestamp": 0, "input_length": 1024, "output_length": 9, "hash_ids": [0, 3]},
                {"timestamp": 3000, "input_length": 2048, "output_length": 9, "hash_ids": [0, 1, 2, 4]},
            )
        )
        self.assertEqual(list(trace.parent), [-1, 0, 1, 0, 2])
        self.assertEqual(list(trace.depth), [1, 2, 3, 2, 4])
        self.assertEqual(list(trace.requests), [(0, 1, 2), (0, 3), (0, 1, 2, 4)])
        self.assertEqual(list(trace.priorities), [0, 0, 0])
        self.assertEqual(trace[4:8], (0, 0, 0, ""))
        self.assertEqual((trace.block_tokens, list(trace.tokens or ())), (512, [1536, 1024, 2048]))

    def test_the_next_turn_of_a_chat_tells_the_output(self) -> None:
        def turn(name: int, before: int, ids: list[int], output: int) -> dict[str, Any]:
            tokens = {"input_length": 16 * len(ids), "output_length": output}
            return {"chat_id": name, "parent_chat_id": before, "hash_ids": ids, **tokens}

        first, other = turn(1, -1, [1, 2], 33), turn(2, -1, [1, 2], 33)
        trace = self.read(self.lines(first, other, turn(3, 1, [1, 2, 3, 4, 5], 1), turn(4, 3, [1, 2, 3, 4, 5, 6], 1)))
        self.assertEqual(trace.served, [(0, 1, 2, 3), (0, 1), (0, 1, 2, 3, 4), (0, 1, 2, 3, 4, 5)])  # 32 are read again
        for second in (turn(3, 1, [1, 7, 3, 4], 1), turn(3, 5, [1, 2, 3, 4], 1)):
            self.assertEqual(self.read(self.lines(first, second)).served, [])
        shorter = turn(1, -1, [1, 2], 16)
        self.assertEqual(self.read(self.lines(shorter, turn(3, 1, [1, 2, 3, 4], 1))).served, [])  # 15 fill no block

    def test_a_block_is_its_path(self) -> None:
        trace = self.read(self.lines(*({"hash_ids": ids} for ids in ([1, 2], [2, 1], [2], [1, 1], [1, 2], [3, 1, 2]))))
        self.assertEqual(list(trace.requests), [(0, 1), (2, 3), (2,), (0, 4), (0, 1), (5, 6, 7)])
        self.assertEqual(list(trace.parent), [-1, 0, -1, 2, 0, -1, 5, 6])
        self.assertEqual(trace.shared_ids, 2)  # 1 under the root, 2, 1 and 3; 2 under 1, the root and 3-1; 3 under one

    def test_ids_that_differ_in_any_one_byte(self) -> None:
        """The third id of two paths, at any page size; what follows it is another block then."""
        for byte in range(8):
            one, other = (5, 6, 1, 9), (5, 6, 1 + (1 << 8 * byte), 9)
            self.assertEqual(list(trace_of([one, other]).requests), [(0, 1, 2, 3), (0, 1, 4, 5)], byte)
            for page_size in (1, 2, 4):
                pages = ([token for token in ids for _ in range(page_size)] for ids in (one, other))
                read = self.read(self.lines(*({"token_ids": tokens} for tokens in pages)), page_size)
                self.assertEqual(list(read.requests), [(0, 1, 2, 3), (0, 1, 4, 5)], (byte, page_size))

    def test_an_id_repeated_in_one_path(self) -> None:
        trace = trace_of(["aaa", "aa", "aaaa"])
        self.assertEqual(list(trace.requests), [(0, 1, 2), (0, 1), (0, 1, 2, 3)])
        self.assertEqual(trace.shared_ids, 1)

    def test_ids_of_any_size_and_kind(self) -> None:
        huge = 10**640 - 1
        ids = (1, "1", -1, huge, -huge, 2**64, "", "\ud800", "é", 1)
        trace = self.read(self.lines(*({"hash_ids": [identity]} for identity in ids)))
        self.assertEqual(list(trace.requests), [(block,) for block in range(9)] + [(0,)])

    def test_long_numbers_and_brackets_in_a_string_are_text(self) -> None:
        prompt = "[{" * 500 + '\\"' * 50 + "9" * 10**5
        trace = self.read(self.lines({"prompt": prompt, "hash_ids": [1]}, {"hash_ids": ["8" * 700]}))
        self.assertEqual(len(trace.requests), 2)

    def test_many_brackets_that_are_not_deep(self) -> None:
        nested: Any = 0
        for _ in range(98):
            nested = [nested]
        trace = self.read(self.lines({"hash_ids": [1], "messages": [[{}, []]] * 1000, "deep": nested}))
        self.assertEqual(len(trace.requests), 1)

    def test_other_keys_are_ignored(self) -> None:
        others = {"turn": 1.5, "chat": None, "text": "\ud83d", "x": {"hash_ids": 3, "token_ids": []}}
        self.assertEqual(self.read(self.lines({"hash_ids": [1], **others})), trace_of([(1,)]))

    def test_pages(self) -> None:
        data = self.lines(
            {"token_ids": [1, 2, 3, 4, 5]},
            {"input_ids": [1, 2, 3, 4]},
            {"token_ids": [1, 2, 3]},
            {"token_ids": [1]},
            {"token_ids": []},
            {"token_ids": [3, 4, 1, 2]},
        )
        self.assertEqual(list(self.read(data, 2).requests), [(0, 1), (0, 1), (0,), (), (), (2, 3)])
        self.assertEqual(self.read(data, 2).shared_ids, 2)
        self.assertEqual(list(self.read(data, 4).requests), [(0,), (0,), (), (), (), (1,)])
        self.assertEqual(list(self.read(data, 5).requests), [(0,), (), (), (), (), ()])
        first = self.read(data)
        self.assertEqual(list(first.requests)[:4], [(0, 1, 2, 3, 4), (0, 1, 2, 3), (0, 1, 2), (0,)])
        with self.assertRaisesRegex(Fault, "no request fills a block: give longer requests or a smaller page size"):
            self.read(data, 6)
        with self.assertRaisesRegex(Fault, "no request fills a block"):
            self.read(data, 10**18)

    def test_tokens_are_integers_of_64_bits(self) -> None:
        trace = self.read(self.lines({"token_ids": [-(2**63), 2**63 - 1, 0, -1]}, {"token_ids": [-1]}))
        self.assertEqual(list(trace.requests), [(0, 1, 2, 3), (4,)])

    def test_tokens_beyond_63_bits(self) -> None:
        """No two different pages are one block, however they are packed."""
        tokens = [-(2**63), -1, 0, 2**63 - 1, 2**63, 2**64 - 1]
        lines = self.lines(*({"token_ids": [one, other, one]} for one in tokens for other in tokens))
        trace = self.read(lines, 2)
        self.assertEqual(list(trace.requests), [(at,) for at in range(36)])
        self.assertEqual(self.read(lines * 2, 2).requests[36:], trace.requests)
        again = self.read(self.lines({"token_ids": [1, 2**63]}, {"token_ids": [1]}))
        self.assertEqual((list(again.requests), again.paged), ([(0, 1), (0,)], 2))

    def test_what_is_at_fault_stands_in_near(self) -> None:
        for before in ("", "x" * 30, "\x1b" * 30, " " * 40, "\U0001f600" * 30):
            with self.assertRaises(Fault) as caught:
                self.read(f'{{"{before}": @here, "hash_ids": [1]}}'.encode())
            shown = r"\\x1b\\x1b" if "\x1b" in before else "@here"
            self.assertRegex(str(caught.exception), f"near '.*{shown}")

    def test_the_page_size_leaves_hash_ids_alone(self) -> None:
        self.assertEqual(self.read(self.lines({"hash_ids": [1, 2, 3]}), 2), trace_of([(1, 2, 3)]))

    def test_a_token_page_is_no_hash_id(self) -> None:
        trace = self.read(self.lines({"hash_ids": [1, 2]}, {"token_ids": [1, 2]}))
        self.assertEqual(list(trace.requests), [(0, 1), (2, 3)])
        self.assertEqual(trace.shared_ids, 0)

    def test_requests_of_no_block_count(self) -> None:
        trace = self.read(self.lines({"hash_ids": []}, {"hash_ids": [1], "priority": 2}, {"hash_ids": []}))
        self.assertEqual((list(trace.requests), list(trace.priorities)), ([(), (0,), ()], [0, 2, 0]))

    def test_priorities(self) -> None:
        given = [3, -1, None, 0, 10**30]
        trace = self.read(self.lines(*({"hash_ids": [1], "priority": value} for value in given), {"hash_ids": [1]}))
        self.assertEqual(list(trace.priorities), [3, -1, 0, 0, 10**30, 0])
        self.assertEqual(list(trace_of(["a", "b"], (4, 5)).priorities), [4, 5])

    def test_timestamps_do_not_order_but_going_back_is_counted(self) -> None:
        times = [5, 5, 3.5, None, 4, -1, 10**400, 0]
        records = [{"hash_ids": [at], "timestamp": time} for at, time in enumerate(times)]
        trace = self.read(self.lines(*records, {"hash_ids": [9]}))
        self.assertEqual(list(trace.requests), [(block,) for block in range(9)])
        self.assertEqual(trace.backward_timestamps, 3)
        later = self.write(self.lines({"hash_ids": [1], "timestamp": 9}), "a")
        sooner = self.write(self.lines({"hash_ids": [1], "timestamp": 1}), "b")
        self.assertEqual(read_traces([later, sooner]).backward_timestamps, 0)

    def test_the_time_of_each_request(self) -> None:
        """It never goes back, and goes on with the next file; that of a chat is in seconds."""
        records = [{"hash_ids": [1], "timestamp": time} for time in (7, "30", 20, 41.6)]
        first = self.write(self.lines(*records), "a")
        self.assertEqual(list(read_traces([first]).milliseconds), [7, 30, 30, 42])
        self.assertEqual(list(read_traces([first, first]).milliseconds), [7, 30, 30, 42, 42, 65, 65, 77])
        second = self.write(self.lines(*({**one, "timestamp": 50} for one in records)), "b")
        self.assertEqual(list(read_traces([first, second]).milliseconds), [7, 30, 30, 42, 50, 50, 50, 50])
        chats = [{"chat_id": 1, "hash_ids": [1], "timestamp": time} for time in (0.25, 61.114, 1e306)]
        self.assertEqual(list(self.read(self.lines(*chats)).milliseconds), [250, 61114, 1000 * int(1e306)])
        self.assertEqual(list(self.read(self.lines(*records, {"hash_ids": [1]})).milliseconds), [])

    def test_the_times_of_logs_file_by_file(self) -> None:
        """A log that begins earlier goes on where the one before it ends, as other files do."""
        line = '[2026-12-01 10:00:00] {"timestamp": "2026-12-01T%s", "event": "request.%s", "rid": "%s"%s}'
        rest = ', "obj": {"input_ids": [1, 2]}, "out": {}'
        names = []
        for hour in (11, 10):
            times = [f"{hour}:00:00", f"{hour}:00:00.500000", f"{hour}:00:02"]
            lines = [line % (time, "received", time, rest) for time in times]
            lines += [line % (f"{hour}:00:03", "finished", time, rest) for time in times]
            names.append(self.write("\n".join(lines).encode(), f"{hour}.log"))
        trace = read_traces(names)
        begins = trace.milliseconds[0]
        self.assertEqual([time - begins for time in trace.milliseconds], [0, 500, 2000, 2000, 2500, 4000])
        self.assertEqual(trace.backward_timestamps, 0)

    def test_blank_lines_line_ends_and_byte_order_mark(self) -> None:
        expected = trace_of([(1, 2), (1, 2)])
        for data in (
            GOOD + b"\n" + GOOD,
            GOOD + b"\r\n" + GOOD + b"\r\n",
            b"\n\r\n \t\n" + GOOD + b"\n\n\n" + GOOD + b"\n \n",
            b"\xef\xbb\xbf" + GOOD + b"\n" + GOOD + b"\n",
            b"\xef\xbb\xbf\r\n" + GOOD + b"\r\n" + GOOD,
            b"  " + GOOD + b"\t\n" + GOOD,
        ):
            with self.subTest(data):
                self.assertEqual(self.read(data), expected)
                self.assertEqual(self.read(gzip.compress(data)), expected)

    def test_gzip_is_told_by_content(self) -> None:
        data = GOOD + b"\n"
        self.assertEqual(len(read_traces([self.write(data, "plain.gz")]).requests), 1)
        self.assertEqual(len(read_traces([self.write(gzip.compress(data), "zipped.jsonl")]).requests), 1)
        members = gzip.compress(data) + gzip.compress(data * 2) + b"\0" * 512
        self.assertEqual(len(read_traces([self.write(members, "members")]).requests), 3)

    def test_files_larger_than_a_chunk(self) -> None:
        draw = random.Random(4)
        paths = [[draw.randrange(10**9) for _ in range(draw.randrange(300))] for _ in range(300)]
        data = self.lines(*({"hash_ids": ids} for ids in paths))
        self.assertGreater(len(data), 4 * files.CHUNK)
        self.assertEqual(self.read(data), trace_of(paths))
        self.assertEqual(self.read(gzip.compress(data)), trace_of(paths))

    def test_several_files_are_one_trace_in_their_order(self) -> None:
        one = self.write(self.lines({"hash_ids": [1, 2]}, {"hash_ids": [3]}), "one")
        two = self.write(gzip.compress(self.lines({"hash_ids": [1, 4]})), "two")
        self.assertEqual(read_traces([one, two]), trace_of([(1, 2), (3,), (1, 4)]))
        self.assertEqual(read_traces([two, one, two]), trace_of([(1, 4), (1, 2), (3,), (1, 4)]))
        bad = self.write(b"bad\n" + GOOD + b"\nworse", "bad")
        skipped = read_traces([bad, one, bad], skip_bad_lines=True)
        self.assertEqual((skipped.bad_lines, len(skipped.requests)), (4, 4))
        self.assertTrue(skipped.first_bad_line.startswith(f"{bad}:1: "))

    def test_progress_reaches_the_size_of_each_file(self) -> None:
        data = gzip.compress(GOOD + b"\n")
        told: list[tuple[int, int]] = []
        read_traces([self.write(data)], progress=lambda done, total: told.append((done, total)))
        self.assertEqual(told[-1], (len(data), len(data)))
        self.assertEqual(told, sorted(told))
        with mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(data))):
            read_traces(["-"], progress=lambda done, total: self.fail("the size of a pipe is not known"))


class StandardInput(Files):
    """The name `-`: plain and gzip, from a file and from a pipe that gives one byte at first."""

    SCRIPT = (
        "import sys\n"
        "from src.page.guard import Fault\n"
        "from src.traces.reading import read_traces\n"
        "try:\n"
        "    trace = read_traces(['-'])\n"
        "    print(list(trace.requests))\n"
        "except Fault as fault:\n"
        "    print('fault', fault)\n"
    )

    @contextlib.contextmanager
    def stdin(self, data: bytes) -> Iterator[None]:
        with mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="ascii")):
            yield
            self.assertFalse(sys.stdin.buffer.closed)

    def test_patched(self) -> None:
        for data in (GOOD + b"\n", gzip.compress(GOOD)):
            with self.stdin(data):
                self.assertEqual(read_traces(["-"]), trace_of([(1, 2)]))
        with self.stdin(GOOD):
            self.assertEqual(read_traces([self.write(GOOD), "-"]), trace_of([(1, 2), (1, 2)]))

    def test_faults(self) -> None:
        with self.stdin(GOOD + b"\n{}"):
            self.assertTrue(self.fault("-").startswith("<stdin>:2: has none of the keys"))
        with self.stdin(b""):
            self.assertTrue(self.fault("-").startswith("<stdin>: holds no request: give"))
        with self.stdin(ZIPPED[:50]):
            self.assertEqual(self.fault("-"), "<stdin>: the gzip data ends too early: fetch the file again")
        self.assertEqual(self.fault("-", "x", "-"), "<stdin>: given twice, but it can be read only once: give - once")
        with mock.patch.object(sys, "stdin", None):
            self.assertEqual(self.fault("-"), "<stdin>: cannot be read (it is closed): name another file")
        idle = mock.Mock()
        idle.buffer.read.return_value = None  # what a non-blocking file gives when there is nothing yet
        idle.buffer.fileno.side_effect = io.UnsupportedOperation
        with mock.patch.object(sys, "stdin", idle):
            self.assertIn("cannot be read (it does not wait for data)", self.fault("-"))

    def test_pipe_whose_first_read_gives_one_byte(self) -> None:
        for data in (GOOD + b"\n", gzip.compress(GOOD + b"\n")):
            with subprocess.Popen(
                [sys.executable, "-c", self.SCRIPT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=REPOSITORY,
                bufsize=0,
            ) as process:
                assert process.stdin is not None and process.stdout is not None
                process.stdin.write(data[:1])
                process.stdin.write(data[1:])
                process.stdin.close()
                self.assertEqual(process.stdout.read(), b"[(0, 1)]\n")

    def test_closed_and_redirected(self) -> None:
        root = REPOSITORY
        path = self.write(GOOD)
        for redirection, expected in ((f"< {path}", "[(0, 1)]\n"), ("<&-", "fault <stdin>: cannot be read (")):
            output = subprocess.run(
                ["sh", "-c", f'"$0" -c "$1" {redirection}', sys.executable, self.SCRIPT],
                stdout=subprocess.PIPE,
                cwd=root,
                check=True,
            ).stdout.decode()
            self.assertTrue(output.startswith(expected), output)


def recount(paths: Sequence[Sequence[Hashable]]) -> tuple[list[int], list[int], list[tuple[int, ...]], int]:
    """Return parents, depths, requests and shared ids by the definition: a block is a prefix."""
    number: dict[tuple[Hashable, ...], int] = {}
    parents_of: dict[Hashable, set[tuple[Hashable, ...]]] = defaultdict(set)
    requests = []
    for ids in map(tuple, paths):
        prefixes = [ids[:end] for end in range(1, len(ids) + 1)]
        for prefix in prefixes:
            number.setdefault(prefix, len(number))
            parents_of[prefix[-1]].add(prefix[:-1])
        requests.append(tuple(number[prefix] for prefix in prefixes))
    parent = [number.get(prefix[:-1], -1) for prefix in number]
    shared = sum(len(parents) > 1 for parents in parents_of.values())
    return parent, list(map(len, number)), requests, shared


class RandomTraces(Files):
    """Random tries and requests, written as JSON lines and read back, against the plain recount."""

    def agree(self, trace: Trace, paths: Sequence[Sequence[Hashable]]) -> None:
        self.check(trace)
        found = (list(trace.parent), list(trace.depth), list(trace.requests), trace.shared_ids)
        self.assertEqual(found, recount(paths), f"on the requests {paths}")

    def draw_paths(self, draw: random.Random) -> list[list[Any]]:
        """Return requests that share prefixes: many are an earlier one, cut and continued."""
        alphabet: list[Any] = draw.choice(([0, 1], [0, 1, 2, "0", "1", -1], [2**70, 7, "é", "a b"], list(range(60))))
        paths: list[list[Any]] = [[draw.choice(alphabet)]]
        for _ in range(draw.randrange(30)):
            known = draw.choice(paths)
            start = known[: draw.randrange(len(known) + 1)] if draw.random() < 0.8 else []
            paths.append(start + [draw.choice(alphabet) for _ in range(draw.randrange(6))])
        draw.shuffle(paths)
        return paths

    def test_in_memory(self) -> None:
        draw = random.Random(1)
        for _ in range(350):
            paths = self.draw_paths(draw)
            self.agree(trace_of(paths), paths)

    def test_hash_ids_through_files(self) -> None:
        draw = random.Random(2)
        for _ in range(150):
            paths = self.draw_paths(draw)
            priorities = [draw.randrange(-2, 3) for _ in paths]
            lines = []
            for ids, priority in zip(paths, priorities):
                record = {"hash_ids": ids, **({"priority": priority} if priority or draw.random() < 0.5 else {})}
                lines.append(json.dumps(record, ensure_ascii=draw.random() < 0.5).encode())
                lines += [draw.choice([b"", b" \t", b"\r"])] * draw.randrange(2)
            data = draw.choice([b"\n", b"\r\n"]).join(lines)
            trace = self.read(gzip.compress(data, 1) if draw.random() < 0.3 else data)
            self.agree(trace, paths)
            self.assertEqual(list(trace.priorities), priorities)

    def test_tokens_through_files_at_every_page_size(self) -> None:
        draw = random.Random(3)
        for _ in range(20):
            tokens = [[draw.randrange(-1, 2) for _ in range(draw.randrange(12))] for _ in range(20)] + [[0] * 12]
            data = self.lines(*({draw.choice(["token_ids", "input_ids"]): request} for request in tokens))
            for size in range(1, 13):
                pages = [
                    [tuple(request[at : at + size]) for at in range(0, len(request) - size + 1, size)]
                    for request in tokens
                ]
                self.agree(self.read(data, size), pages)

    def test_damaged_lines_raise_nothing_but_faults(self) -> None:
        draw = random.Random(5)
        seed = b'{"timestamp": 1.5, "priority": 2, "hash_ids": [1, -23, "a\\u00e9\\n"], "x": {"y": [null, true]}}'
        outcomes = {"read": 0, "fault": 0}
        for _ in range(350):
            line = bytearray(seed)
            for _ in range(draw.randrange(1, 4)):
                at = draw.randrange(len(line))
                damage = bytes(draw.choice(b'[]{}",:\\\n\r 0.-eN\0\xc3\xff') for _ in range(draw.randrange(3)))
                line[at : at + draw.randrange(3)] = damage
            try:
                self.read(bytes(line))
                outcomes["read"] += 1
            except Fault as fault:
                self.assertTrue(str(fault).isprintable(), bytes(line))
                outcomes["fault"] += 1
        self.assertGreater(min(outcomes.values()), 40)


if __name__ == "__main__":
    unittest.main()
