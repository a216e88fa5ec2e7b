"""The writer: which files may be written, and that all are written or none."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from src.page.guard import Fault
from src.page.writer import check_outputs, write_all


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(os.path.realpath(holder.name))
        self.path = self.folder / "main.json"
        self.path.write_bytes(b"old")

    def refused(self, name: Any, *inputs: str) -> str:
        with self.assertRaises(Fault) as caught:
            check_outputs({"--json": str(name)}, inputs)
        return str(caught.exception)

    def hold_untouched(self) -> None:
        """The old file is as it was, and nothing lies beside it."""
        self.assertEqual(self.path.read_bytes(), b"old")
        self.assertEqual([file.name for file in self.folder.iterdir()], ["main.json"])


class Checks(Folder):
    def test_an_output_is_no_input_whatever_its_name(self) -> None:
        symbolic, hard = self.folder / "symbolic", self.folder / "hard"
        symbolic.symlink_to(self.path)
        os.link(self.path, hard)
        same = (self.path, symbolic, hard, self.folder / ".." / self.folder.name / "main.json")
        for one in same:
            for other in same:
                self.assertEqual(
                    self.refused(one, "nothing.jsonl", str(other)),
                    f"cannot write --json {one}: it is read: name another file",
                )
        with open(self.path, encoding="utf-8") as file, mock.patch("sys.stdin", file):
            self.assertIn("it is read", self.refused(hard, "-"))
            self.assertEqual(check_outputs({"--json": str(hard)}), {"--json": str(hard)})
        with mock.patch("sys.stdin", None):
            check_outputs({"--json": str(hard)}, ["-"])
        with open(self.path, "a", encoding="utf-8") as file, contextlib.redirect_stdout(file):
            self.assertIn("standard output goes there", self.refused(symbolic))

    def test_an_output_is_no_other_output(self) -> None:
        (self.folder / "link").symlink_to("new.json")
        for one, other in (("main.json", "main.json"), ("new.json", "./new.json"), ("new.json", "link")):
            outputs = {"--json": f"{self.folder}/{one}", "--csv": f"{self.folder}/{other}"}
            with self.assertRaisesRegex(Fault, f"cannot write --csv .*{other}: --json goes there: name another file"):
                check_outputs(outputs)
        found = check_outputs({"--json": f"{self.folder}/link", "--csv": str(self.path)})
        self.assertEqual(found, {"--json": f"{self.folder}/new.json", "--csv": str(self.path)})

    def test_what_is_no_file(self) -> None:
        os.mkfifo(self.folder / "pipe")
        (self.folder / "one").symlink_to("other")
        (self.folder / "other").symlink_to("one")
        for name, reason in (
            (self.folder, "it is a directory: name a file"),
            ("", "it is a directory: name a file"),
            ("-", "it stands for standard output, which has the page: name a file"),
            (f"{self.folder}/new/", "it is a directory: name a file"),
            (f"{self.path}/", "it is a directory: name a file"),
            (f"{self.folder}/new/.", "it is a directory: name a file"),
            (self.folder / "none" / "x", f"there is no directory {self.folder / 'none'}: make it or name another file"),
            (self.path / "x", f"there is no directory {self.path}: make it or name another file"),
            (self.folder / "pipe", "it is not a regular file: name another file"),
            (os.devnull, "it is not a regular file: name another file"),
            (self.folder / "one", "Too many levels of symbolic links: name another file"),
            (self.folder / ("x" * 256), "File name too long: name another file"),
        ):
            with self.subTest(name=name):
                self.assertEqual(self.refused(name), f"cannot write {name or repr(name)}: {reason}")

    def test_a_null_byte(self) -> None:
        self.assertRegex(self.refused("a\0b"), "^cannot write a\0b: .*embedded null .*: name another file$")

    def test_a_pipe_by_the_name_of_stdout(self) -> None:
        if not os.path.exists("/dev/fd"):
            self.skipTest("needs /dev/fd")
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        self.addCleanup(os.close, write)
        self.assertIn("it is not a regular file", self.refused(f"/dev/fd/{write}"))

    def test_what_may_not_be_written(self) -> None:
        self.path.chmod(0o444)
        self.assertIn("it is read-only: change its mode or name another file", self.refused(self.path))
        with mock.patch("src.page.writer.os.access", return_value=False):
            self.assertIn(f"no permission to write in {self.folder}: name another", self.refused(self.folder / "new"))
        self.hold_untouched()


class Writes(Folder):
    def test_old_and_new_files(self) -> None:
        """Whole, through links, in UTF-8, with the old mode or what the umask leaves; long names too."""
        link, long = self.folder / "link", self.folder / ("x" * 255)
        link.symlink_to("main.json")
        self.path.chmod(0o640)
        for mask, mode in ((0o002, 0o664), (0o077, 0o600)):
            before = os.umask(mask)
            try:
                targets = check_outputs({"--json": str(link), "--csv": str(long)})
                with open(self.path, "rb") as reader:
                    write_all({targets["--json"]: "é…\nnew\n", targets["--csv"]: "\udcff"})
                    reader.read()
            finally:
                os.umask(before)
            self.assertTrue(link.is_symlink())
            self.assertEqual(self.path.read_bytes(), "é…\nnew\n".encode())
            self.assertEqual(self.path.stat().st_mode & 0o777, 0o640)
            self.assertEqual(long.read_bytes(), b"\\udcff")
            self.assertEqual(long.stat().st_mode & 0o777, mode)
            long.unlink()
        self.assertEqual({file.name for file in self.folder.iterdir()}, {"main.json", "link"})

    def test_a_reader_of_the_old_file_keeps_it(self) -> None:
        with open(self.path, "rb") as reader:
            write_all({str(self.path): "new"})
            self.assertEqual(reader.read(), b"old")

    def test_what_an_earlier_run_left_is_left(self) -> None:
        left = self.folder / f".radix-{os.getpid()}-0"
        left.write_bytes(b"left")
        write_all({str(self.path): "new"})
        self.assertEqual((self.path.read_bytes(), left.read_bytes()), (b"new", b"left"))

    def test_all_or_none(self) -> None:
        """Whatever stops the second file's writing leaves the first one as it was, and nothing beside them."""

        make = open
        full = OSError(errno.ENOSPC, "No space left on device")
        for error, raised in ((full, Fault), (KeyboardInterrupt(), KeyboardInterrupt), (MemoryError(), MemoryError)):
            opened: list[Any] = []
            stops = mock.MagicMock()
            stops.__enter__.return_value.write.side_effect = error

            def second(file: int, mode: str, opened: list[Any] = opened, stops: Any = stops) -> Any:
                opened.append(make(file, mode))
                return opened[0] if len(opened) == 1 else stops

            with mock.patch("src.page.writer.open", second, create=True), self.assertRaises(raised) as caught:
                write_all({str(self.path): "new", str(self.folder / "other"): "new"})
            opened[1].close()
            self.hold_untouched()
            if raised is Fault:
                told = f"cannot write {self.folder}/other: No space left on device: name another file or free the space"
                self.assertEqual(str(caught.exception), told)
        for what in ("open", "replace", "chmod"):
            denied = mock.patch(f"src.page.writer.os.{what}", side_effect=PermissionError(errno.EACCES, "denied"))
            with denied, self.assertRaisesRegex(Fault, "main.json: denied: name another file or free the space"):
                write_all({str(self.path): "new"})
            self.hold_untouched()


if __name__ == "__main__":
    unittest.main()
