"""Files in, lines out: plain or gzip, told apart by content, read once and in bounded memory.

A file is lines, or one JSON array of objects over any number of lines.  An array is cut into its elements, and each of
them is given as a line of its own.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Generator, Iterable, Iterator
from typing import Any, BinaryIO, Callable, Optional

from src.page.guard import Fault, printable

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
MARK = b"\xef\xbb\xbf"  # of the byte order, which UTF-8 needs not and some editors write

Stream = Any  # an io.BufferedReader, whose type has a parameter that its source does not tell
OnProgress = Optional[Callable[[int, int], None]]


Line = tuple[bytes, int, int]
"""A line's text and number, from 1 on, and 0; or an element of an array, the line it begins on, and its own number."""


def lines_of(name: str, progress: OnProgress = None) -> Generator[Line, None, None]:
    """Yield the lines of a file that are not blank; the name `-` is standard input.

    Of a line of more than `LONGEST_LINE` bytes only a part is yielded, itself as long.  Raises Fault for what is wrong
    with the file as a whole: one that cannot be read, is of a foreign kind, or whose compression or array is broken.
    `progress` is called with the bytes read and the bytes that the file has; not for a pipe, whose size is unknown.
    Cost: O(bytes) time, O(longest line) memory.
    """
    shown = shown_name(name)
    with _file_faults(shown), _opened(name) as file:
        stream = _text(file, shown, progress)
        head = _head(stream)
        if _is_array(head):
            yield from _elements(_chunks(head, stream), shown)
        else:
            yield from _lines(head, stream)


def where(number: int, element: int) -> str:
    """Return the place of a line in its file as a message names it."""
    return f"{number}: element {element}" if element else str(number)


def shown_name(name: str) -> str:
    """Return a file's name as messages show it: on one line, and of a very long one the end."""
    plain = printable(name)
    return "<stdin>" if name == "-" else plain if len(plain) <= 200 else "…" + plain[-199:]


# -- bytes ---------------------------------------------------------------------------------------------------------


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
        """Return True, which a buffered reader asks for."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer, report how many bytes were given so far, and return how many were put in."""
        chunk = self._left[: len(buffer)] or self._read(len(buffer))
        self._left = self._left[len(chunk) :]
        buffer[: len(chunk)] = chunk
        self._done += len(chunk)
        self._report(self._done)
        return len(chunk)


def _text(file: BinaryIO, shown: str, progress: OnProgress) -> Stream:
    """Return the plain bytes of a plain or gzip file.  Raises Fault for a foreign kind of file."""
    size = 0
    with contextlib.suppress(OSError):
        size = os.fstat(file.fileno()).st_size
    source = _Source(file, lambda done: progress(done, size) if progress and size else None)
    for magic, what in FOREIGN.items():
        if source.head.startswith(magic):
            raise Fault(f"{shown}: is {what}")
    stream: Stream = io.BufferedReader(source, CHUNK)
    if source.head.startswith(b"\x1f\x8b"):
        stream = io.BufferedReader(gzip.GzipFile(fileobj=stream), CHUNK)
    return stream


def _head(stream: Stream) -> list[bytes]:
    """Return the first lines, up to where it shows whether they are an array; the last may be cut short."""
    head: list[bytes] = []
    while True:
        piece = stream.readline(CHUNK)
        if not piece:
            return head
        if head and not head[-1].endswith(b"\n"):
            head[-1] += piece
        else:
            head.append(piece[len(MARK) :] if not head and piece.startswith(MARK) else piece)
        begun = b"".join(head).lstrip()
        if begun and (begun[:1] != b"[" or begun[1:].strip()):
            return head


def _is_array(head: list[bytes]) -> bool:
    """Return whether a file that begins so is one array of objects, and no line of a log or of a list."""
    return re.match(rb"\s*\[\s*\{", b"".join(head)) is not None


# -- lines and elements --------------------------------------------------------------------------------------------


def _lines(head: list[bytes], stream: Stream) -> Iterator[Line]:
    """Yield the lines of a file of which the head was read."""
    number = 0
    for number, line in enumerate(head, start=1):
        if not line.endswith(b"\n"):
            line += stream.readline(LONGEST_LINE + 1 - len(line))
            _skip_to_the_end(line, stream)
        if line.strip():
            yield line, number, 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if not line.isspace():
            yield line, number, 0
        if len(line) > LONGEST_LINE:
            _skip_to_the_end(line, stream)


def _skip_to_the_end(line: bytes, stream: Stream) -> None:
    while line and not line.endswith(b"\n"):
        line = stream.readline(LONGEST_LINE + 1)


def _chunks(head: list[bytes], stream: Stream) -> Iterator[bytes]:
    yield b"".join(head)
    while chunk := stream.read1(CHUNK):
        yield chunk


_MARK_OF_STRUCTURE = re.compile(rb'[]["\\{}]')
_STEP = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}


def _elements(chunks: Iterable[bytes], shown: str) -> Iterator[Line]:
    """Yield the elements of an array of objects.  Brackets are counted outside of strings; the rest is not looked at.

    Raises Fault where something stands between the elements that is no single comma, and for an array without an end.
    """
    element, depth, quoted, escaped = 0, 0, False, -1
    begun, line = 1, 1  # the lines on which the element and the chunk begin
    parts: list[bytes] = []  # of what is not given yet: an element, or what stands between two
    size = 0
    for chunk in chunks:
        start = 0
        for found in _MARK_OF_STRUCTURE.finditer(chunk):
            at, mark = found.start(), found[0]
            if quoted or mark == b'"' or mark == b"\\":
                if at != escaped:
                    quoted ^= mark == b'"'
                    escaped = at + 1 if mark == b"\\" else -1
                continue
            depth += _STEP[mark]
            if depth == 2 and mark == b"{" or depth == 0:  # the end of what stands between two
                _check_between(b"".join([*parts, chunk[start:at]]), element, depth, shown)
                parts, size, start = [], 0, at
                begun = line + chunk.count(b"\n", 0, at)
            elif depth == 1 and mark == b"}":
                element += 1
                yield b"".join([*parts, chunk[start : at + 1]]), begun, element
                parts, size, start = [], 0, at + 1
            if depth == 0 and chunk[at + 1 :].strip():
                raise Fault(f"{shown}: something follows the array: give one array, or one object a line")
            if depth == 0:
                break
        escaped -= len(chunk)
        line += chunk.count(b"\n")
        if size <= LONGEST_LINE:  # of an overlong element a part is enough
            parts.append(chunk[start:])
            size += len(chunk) - start
        if depth == 0 and element:
            break
    else:
        raise Fault(f"{shown}: the array does not end: fetch the file again")
    if any(chunk.strip() for chunk in chunks):
        raise Fault(f"{shown}: something follows the array: give one array, or one object a line")


def _check_between(between: bytes, element: int, depth: int, shown: str) -> None:
    """Raise Fault unless the elements of an array are separated by a comma, and its ends by nothing."""
    wanted = b"[" if not element else b"," if depth else b""
    if between.strip() != wanted:
        raise Fault(f"{shown}: no object or no comma stands after element {element} of the array: give objects alone")
