"""What the tests of `run.py replay` share: a working directory with a trace in it."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests import helpers
from tests.helpers import WorkingDirectory, random_paths

in_process = functools.partial(helpers.in_process, "run", "replay")


def lines(paths: Sequence[Sequence[int]]) -> bytes:
    """Return a trace of these paths, with priorities."""
    records = [{"hash_ids": list(path), "priority": at % 3, "timestamp": at} for at, path in enumerate(paths)]
    return "".join(json.dumps(record) + "\n" for record in records).encode()


class Folder(WorkingDirectory):
    """A working directory with a trace in it, `t.jsonl`."""

    def setUp(self) -> None:
        super().setUp()
        self.write("t.jsonl", lines(random_paths(1)))

    def write(self, name: str, content: bytes) -> None:
        Path(name).write_bytes(content)

    def out(self, *arguments: str, stdin: bytes = b"") -> str:
        """Return the stdout of a run that must succeed in silence on stderr."""
        status, out, err = in_process(*arguments, stdin=stdin)
        self.assertEqual((status, err), (0, ""))
        return out

    def json(self, *arguments: str) -> Any:
        return json.loads(self.out(*arguments, "--json", "-"))

    def folder(self) -> dict[str, bytes]:
        return {entry.name: entry.read_bytes() for entry in Path().iterdir() if entry.is_file()}
