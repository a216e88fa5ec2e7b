"""Trace files in, requests out: the prompts that a serving system saw, as paths in one trie of blocks.

A trace is JSON lines, one request a line, plain or gzip (told apart by content, not by name).  Keys of a line:

* `hash_ids`: a list of integers or strings, one id a block (the published traces of Mooncake and Qwen Bailian); or
* `token_ids` or `input_ids`: a list of integers of 64 bits, from -2^63 to 2^64 - 1.  Each `page_size` consecutive
  tokens are one block; a partial last page is not cached, as in SGLang.  A token page never equals a hash id;
* `priority`: an integer, optional (null and absence are 0);
* `timestamp`: a number, optional.  Requests are served in the order of the lines and files, whatever it says; only that
  it is a number is checked, and how often it goes backwards within a file is counted.

Other keys are ignored, blank lines skipped.  A block is identified by its path, which is its parent and its id: the
same id under two parents is two blocks, and how many ids are like that is counted.  A request of zero blocks (an empty
list, or fewer tokens than a page) is a request that hits and misses nothing.
"""

from __future__ import annotations

import array
import collections
import contextlib
import gzip
import io
import json
import math
import os
import re
import sys
import zlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Callable, NamedTuple, NoReturn, Optional

from src.page.commandline import shorten
from src.page.guard import Fault, printable
from src.radixcache import ROOT

ID_KEYS = ("hash_ids", "token_ids", "input_ids")
MOST_DIGITS = 640  # the lowest limit that CPython can be set to, so what passes here converts on every Python
MOST_NESTED = 100  # far above any request, far below what any Python can parse
LONGEST_LINE = 1 << 26  # bytes, its end included: room for 8 million tokens, a bound for a file without line ends
CHUNK = 1 << 16
FOREIGN = {
    b"\x28\xb5\x2f\xfd": "a zstd file: decompress it first",
    b"\xfd7zXZ": "an xz file: decompress it first",
    b"BZh": "a bzip2 file: decompress it first",
    b"PK\x03\x04": "a zip file: unpack it first",
    b"\xff\xfe": "UTF-16 or UTF-32 text: save it as UTF-8",
    b"\xfe\xff": "UTF-16 text: save it as UTF-8",
}

OnProgress = Optional[Callable[[int, int], None]]


class Trace(NamedTuple):
    """The requests of a trace, in the order in which they are served, on the trie of its blocks.

    Blocks are numbered from 0 in the order of first use, so a parent comes before its children: block b has the parent
    `parent[b]` (-1 on the first level) and the depth `depth[b]` (1 on the first level).  `requests` holds the path of
    each request, first block first, and `priorities` its priority.  `shared_ids` is the number of ids that were seen
    under two or more parents, `backward_timestamps` the number of requests whose timestamp is below the one before it
    in its file, `bad_lines` the number of lines skipped and `first_bad_line` what was wrong with the first of them.
    `tokens` is the number of requests that came as tokens, which pages are cut from.
    """

    parent: Sequence[int]
    depth: Sequence[int]
    requests: Sequence[tuple[int, ...]]
    priorities: Sequence[int]
    shared_ids: int = 0
    backward_timestamps: int = 0
    bad_lines: int = 0
    first_bad_line: str = ""
    tokens: int = 0


def read_traces(
    names: Sequence[str], page_size: int = 1, skip_bad_lines: bool = False, progress: OnProgress = None
) -> Trace:
    """Return the trace in some files, read as one in the order given; the name `-` is standard input.

    A bad line raises Fault, one line with file, line number, fault and remedy, or with `skip_bad_lines` is counted and
    leaves no other mark.  Fault also tells of a file that cannot be read, of one without a request, of broken or
    foreign compression or encoding, and of a trace without any block.  Raises ValueError for a page size below 1 and
    for no names at all.  `progress` is called with the bytes read of a file and the bytes that it has; not for a
    pipe, whose size is unknown.  Cost: O(bytes) time; memory O(requested blocks + longest line).
    """
    if page_size < 1:
        raise ValueError(f"a page of {page_size} tokens cannot be cached: give at least 1")
    if not names:
        raise ValueError("there is no trace to read: name at least one file")
    if list(names).count("-") > 1:
        raise Fault("<stdin>: given twice, but it can be read only once: give - once")
    blocks = _Blocks()
    requests: list[tuple[int, ...]] = []
    priorities: list[int] = []
    bad: list[str] = []
    backward = tokens = 0
    for name in names:
        latest: float | None = None
        read = _requests(name, page_size, bad if skip_bad_lines else None, progress)
        for ids, priority, timestamp, tokenized in read:
            requests.append(blocks.path(ids))
            priorities.append(priority)
            tokens += tokenized
            if timestamp is not None:
                backward += latest is not None and timestamp < latest
                latest = timestamp
    if not blocks.parent:
        shown = _shown_name(names[0])
        raise Fault(f"{shown}: no request fills a block: give longer requests or a smaller page size")
    odd = (blocks.shared_ids(), backward, len(bad), bad[0] if bad else "")
    return Trace(blocks.parent, blocks.depth, requests, priorities, *odd, tokens)


def trace_of(paths: Iterable[Sequence[Hashable]], priorities: Sequence[int] | None = None) -> Trace:
    """Return the trace of requests given as sequences of block ids, with their priorities (0 where left out).

    Raises ValueError if there are not as many priorities as requests.  Cost: O(requested blocks).
    """
    blocks = _Blocks()
    requests = [blocks.path(ids) for ids in paths]
    given = [0] * len(requests) if priorities is None else list(priorities)
    if len(given) != len(requests):
        raise ValueError(f"{len(given)} priorities for {len(requests)} requests: give one for each")
    return Trace(blocks.parent, blocks.depth, requests, given, blocks.shared_ids())


class _Blocks:
    """The trie of the blocks seen so far.

    The new blocks of a request are the end of its path and get consecutive numbers.  So a block's first child is
    mostly the next number, and only where such an end begins is a table of parent and id needed: at most one entry a
    request, however many blocks there are.
    """

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.depth: list[int] = []
        self._id: list[Hashable] = []
        self._branches: dict[tuple[int, Hashable], int] = {}

    def path(self, ids: Sequence[Hashable]) -> tuple[int, ...]:
        """Return the blocks of a path, first block first, adding those that are new.  Cost: O(length)."""
        parent, known_id, branches = self.parent, self._id, self._branches
        blocks = len(parent)
        path = []
        block = ROOT
        for identity in ids:
            child = block + 1
            if child == blocks or parent[child] != block or known_id[child] != identity:
                child = branches.get((block, identity), ROOT)
                if child == ROOT:
                    break
            path.append(child)
            block = child
        known = len(path)
        if known < len(ids):  # below a new block all are new
            new = list(range(blocks, blocks + len(ids) - known))
            branches[block, ids[known]] = blocks
            parent.append(block)
            parent.extend(new[:-1])
            known_id.extend(ids[known:])
            self.depth.extend(range(known + 1, len(ids) + 1))
            path += new
        return tuple(path)

    def shared_ids(self) -> int:
        """Return how many ids were seen under two or more parents.  Cost: O(blocks)."""
        times = collections.Counter(self._id)  # a parent has one child of an id, so blocks of an id are parents of it
        return sum(count > 1 for count in times.values())


# -- files ---------------------------------------------------------------------------------------------------------


def _requests(name: str, page_size: int, bad: list[str] | None, progress: OnProgress) -> Iterator[_Request]:
    """Yield the requests of one file.  What is wrong with a line is put in `bad`, or raised if that is None."""
    shown = _shown_name(name)
    good = 0
    first_bad = ""
    with _file_faults(shown), _opened(name) as file:
        for number, line in enumerate(_lines(file, shown, progress), start=1):
            if line.isspace():
                continue
            try:
                request = _parse(line, page_size)
            except _LineError as error:
                fault = f"{shown}:{number}: {error}"
                if bad is None:
                    raise Fault(f"{fault}, or use --skip-bad-lines") from None
                bad.append(fault)
                first_bad = first_bad or f" (first bad line: {fault})"
            else:
                good += 1
                yield request
    if not good:
        raise Fault(f'{shown}: holds no request{first_bad}: give JSON lines such as {{"hash_ids": [1, 2]}}')


def _shown_name(name: str) -> str:
    """Return a file's name as messages show it: on one line, and of a very long one the end."""
    plain = printable(name)
    return "<stdin>" if name == "-" else plain if len(plain) <= 200 else "…" + plain[-199:]


@contextlib.contextmanager
def _file_faults(shown: str) -> Iterator[None]:
    """Turn what goes wrong with a file as a whole into a Fault."""
    try:
        yield
    except FileNotFoundError:
        raise Fault(f"{shown}: there is no such file: check the name") from None
    except IsADirectoryError:
        raise Fault(f"{shown}: is a directory: name a trace file") from None
    except PermissionError:
        raise Fault(f"{shown}: no permission to read it: change its mode or name another file") from None
    except EOFError:
        raise Fault(f"{shown}: the gzip data ends too early: fetch the file again") from None
    except (gzip.BadGzipFile, zlib.error):
        raise Fault(f"{shown}: the gzip data is broken: fetch the file again") from None
    except OSError as error:
        raise Fault(f"{shown}: cannot be read ({error.strerror or error}): name another file") from None


def _opened(name: str) -> contextlib.AbstractContextManager[BinaryIO]:
    """Return the file of that name, to be closed after use, or standard input, to be left open."""
    if name != "-":
        try:
            return open(name, "rb")
        except ValueError:  # a name with a NUL character, or one that the file system's encoding does not have
            raise FileNotFoundError from None
    if sys.stdin is None:
        raise OSError("it is closed")
    return contextlib.nullcontext(sys.stdin.buffer)


class _Source(io.RawIOBase):
    """A binary file whose first bytes were looked at: they are given once more, which a pipe cannot do by itself."""

    def __init__(self, file: BinaryIO, report: Callable[[int], None]) -> None:
        self._file, self._report = file, report
        self._done = 0
        self.head = self._left = self._read(8)

    def _read(self, count: int) -> bytes:
        chunk: bytes | None = self._file.read(count)
        if chunk is None:
            raise OSError("it does not wait for data")
        return chunk

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer, report how many bytes were given so far, and return how many were put in."""
        chunk = self._left[: len(buffer)] or self._read(len(buffer))
        self._left = self._left[len(chunk) :]
        buffer[: len(chunk)] = chunk
        self._done += len(chunk)
        self._report(self._done)
        return len(chunk)


def _lines(file: BinaryIO, shown: str, progress: OnProgress) -> Iterator[bytes]:
    """Yield the lines of a plain or gzip file, with their ends and without a byte order mark.

    Of an overlong line only a part is yielded, itself overlong.  Raises Fault for a foreign kind of file.
    """
    size = 0
    with contextlib.suppress(OSError):
        size = os.fstat(file.fileno()).st_size
    source = _Source(file, lambda done: progress(done, size) if progress and size else None)
    for magic, what in FOREIGN.items():
        if source.head.startswith(magic):
            raise Fault(f"{shown}: is {what}")
    stream = io.BufferedReader(source, CHUNK)
    if source.head.startswith(b"\x1f\x8b"):
        stream = io.BufferedReader(gzip.GzipFile(fileobj=stream), CHUNK)  # type: ignore[arg-type]
    line = stream.readline(LONGEST_LINE + 1)
    if line.startswith(b"\xef\xbb\xbf"):
        line = line[3:]
    while line:
        yield line
        while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            line = stream.readline(LONGEST_LINE + 1)
        line = stream.readline(LONGEST_LINE + 1)


# -- lines ---------------------------------------------------------------------------------------------------------


class _LineError(Exception):
    """What is wrong with a line, and the remedy; without the file and the line number."""


class _Request(NamedTuple):
    """One line: the ids of its blocks, its priority, its timestamp if it has one, whether it came as tokens."""

    ids: Sequence[Hashable]
    priority: int
    timestamp: float | None
    tokenized: bool


def _parse(line: bytes, page_size: int) -> _Request:
    """Return the request in a line.  Raises _LineError for anything else.  Cost: O(bytes)."""
    record = _decode(line)
    if type(record) is not dict:
        raise _LineError(f"is {_shown(record)}: give an object on each line")
    keys = [key for key in ID_KEYS if key in record]
    if len(keys) != 1:
        given = " and ".join(keys) or f"none of the keys {', '.join(ID_KEYS)}"
        raise _LineError(f"has {given}: give one of them")
    key, ids = keys[0], record[keys[0]]
    if type(ids) is not list:
        raise _LineError(f"{key} is {_shown(ids)}: give a list")
    if key == "hash_ids":
        _check_elements(key, ids, {int, str}, "integers or strings")
    else:
        ids = _pages(key, ids, page_size)
    priority = record.get("priority")
    if priority is not None and type(priority) is not int:
        raise _LineError(f"priority is {_shown(priority)}: give an integer")
    timestamp = record.get("timestamp")
    if not (timestamp is None or type(timestamp) is int or type(timestamp) is float and math.isfinite(timestamp)):
        raise _LineError(f"timestamp is {_shown(timestamp)}: give a finite number")
    return _Request(ids, priority or 0, timestamp, key != "hash_ids")


def _check_elements(key: str, ids: list[Any], kinds: set[type], wanted: str) -> None:
    """Raise _LineError unless each element is of one of the kinds; a bool is no int here."""
    if not kinds.issuperset(map(type, ids)):
        at = next(at for at, element in enumerate(ids) if type(element) not in kinds)
        raise _LineError(f"{key}[{at}] is {_shown(ids[at])}: give {wanted}")


def _pages(key: str, tokens: list[Any], page_size: int) -> list[Hashable]:
    """Return the whole pages of some tokens, packed: 8 bytes a token, where a tuple of integers takes 36 or more.

    A page with a token of 2^63 or more is a tuple: packed it could be mistaken for one with a negative token.
    """
    _check_elements(key, tokens, {int}, "integers")
    width = 8 * page_size
    try:
        packed = array.array("q", tokens).tobytes()
    except OverflowError:
        at = next((at for at, token in enumerate(tokens) if not -1 << 63 <= token < 1 << 64), None)
        if at is not None:
            raise _LineError(f"{key}[{at}] is {_shown(tokens[at])}: give integers of at most 64 bits") from None
        starts = range(0, len(tokens) - page_size + 1, page_size)
        pages = (tuple(tokens[at : at + page_size]) for at in starts)
        return [page if max(page) >= 1 << 63 else array.array("q", page).tobytes() for page in pages]
    return [packed[at : at + width] for at in range(0, len(packed) - width + 1, width)]


def _decode(line: bytes) -> Any:
    """Return the JSON value in a line.  Raises _LineError if there is none, or one that is no strict JSON."""
    if len(line) > LONGEST_LINE:
        raise _LineError(f"is longer than {LONGEST_LINE} bytes: give one request a line")
    if b"\0" in line:
        raise _LineError("has a NUL byte, so it is binary or UTF-16: give JSON lines in UTF-8")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _LineError(f"is not UTF-8 at byte {error.start + 1}: save the file as UTF-8") from None
    if text.count("[") + text.count("{") > MOST_NESTED or _LONG_NUMBER.search(text):  # rare, and the check is slow
        _check_bounds(text)
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        before, after = (repr(part)[1:-1] for part in (text[: error.pos][-20:], text[error.pos :][:20].rstrip()))
        near = f"'{before[-25:]}{after[:30]}'"
        raise _LineError(f"is not JSON at character {error.pos + 1}, near {near}: give one object a line") from None


def _check_bounds(text: str) -> None:
    """Raise _LineError for what some Pythons parse and others do not, or in quadratic time.  Cost: O(length)."""
    depth = 0
    for token in _BRACKET_STRING_OR_LONG_NUMBER.finditer(text):
        if token[0][0].isdigit():
            raise _LineError(f"has a number of {len(token[0])} digits: give at most {MOST_DIGITS}")
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > MOST_NESTED:
            raise _LineError(f"is nested more than {MOST_NESTED} deep: give flat objects")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; of a key given twice JSON does not say which value holds."""
    record = dict(pairs)
    if len(record) != len(pairs):
        twice = next(key for key, times in collections.Counter(key for key, _ in pairs).items() if times > 1)
        raise _LineError(f"has the key {_quoted(twice)} twice: give it once")
    return record


def _constant(text: str) -> NoReturn:
    """Reject NaN, Infinity and -Infinity, which are no JSON."""
    raise _LineError(f"has {text}, which is no JSON: give a number")


_LONG_NUMBER = re.compile(f"[0-9]{{{MOST_DIGITS + 1},}}")
_BRACKET_STRING_OR_LONG_NUMBER = re.compile(rf'[][{{}}]|"[^"\\]*(?:\\.[^"\\]*)*"?|{_LONG_NUMBER.pattern}')
_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)


def _shown(value: Any) -> str:
    """Return a JSON value as a message shows it, in at most 60 characters."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    return _quoted(value) if isinstance(value, str) else shorten(json.dumps(value))


def _quoted(text: str) -> str:
    """Return some text in quotes, printable, on one line, in at most 60 characters."""
    return shorten(repr(text[:60]))
