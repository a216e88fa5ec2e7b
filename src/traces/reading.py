"""Trace files in, requests out: the prompts that a serving system saw, as paths in one trie of blocks.

A trace is JSON lines or one JSON array, one request each, or a log of a serving engine, plain or gzip.  What a record
may hold is told in `src.traces.records`, what a log may in `src.traces.logs`.  Requests are served in the order of the
lines and files, whatever their timestamps say (how often these go backwards within a file is counted); those of logs in
the order in which they arrived.

A block is identified by its namespace and its path, which is its parent and its id: the same id under two parents is
two blocks, and how many ids are like that is counted.  A request of zero blocks (an empty list, or fewer tokens than a
block) is a request that hits and misses nothing.
"""

from __future__ import annotations

import array
import contextlib
import itertools
import operator
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from src.page.guard import Fault
from src.radixcache import ROOT, Path
from src.traces import files
from src.traces.files import OnProgress, shown_name
from src.traces.logs import Log, Place, is_of_a_log
from src.traces.records import NAMESPACE_KEYS, Form, Request, Turn, packed, request_of
from src.traces.strict_json import LineError, decode

AT_ONCE = 32  # requests: to read some and then to add them is a tenth faster than one by one
SORTED_AT_ONCE = 1_000_000  # ids


class Trace(NamedTuple):
    """The requests of a trace, in the order in which they are served, on the trie of its blocks.

    Blocks are numbered from 0 in the order of first use, so a parent comes before its children: block b has the parent
    `parent[b]` (-1 on the first level) and the depth `depth[b]` (1 on the first level).  `requests` holds the path of
    each request, first block first, and `priorities` its priority.  `shared_ids` is the number of ids that were seen
    under two or more parents, `backward_timestamps` the number of requests whose timestamp is below the one before it
    in its file, `bad_lines` the number of lines skipped and `first_bad_line` what was wrong with the first of them.

    `other_lines` counts the lines of logs that complete no request, `namespaces` the namespaces, and `partial_blocks`
    the ids that were dropped as their tokens do not fill a block.  `block_tokens` is the size of a block in tokens, 0
    if not told or not one; `tokens` are those of each prompt, None if not told of each.  `served` holds the path of
    each request when it has finished, where any has grown, and `times` its arrival and finish in microseconds, where
    all are told.  `milliseconds` is the time of each request, if all are told: it never goes back, and a file whose
    times begin too early begins when the one before it ends.  `paged` counts the requests that came as tokens.
    `reported` is what servers said of their own cache: the tokens found in it, and of how many.
    """

    parent: Sequence[int]
    depth: Sequence[int]
    requests: Sequence[Path]
    priorities: Sequence[int]
    shared_ids: int = 0
    backward_timestamps: int = 0
    bad_lines: int = 0
    first_bad_line: str = ""
    other_lines: int = 0
    namespaces: int = 1
    partial_blocks: int = 0
    block_tokens: int = 0
    tokens: Sequence[int] | None = None
    served: Sequence[Path] = ()
    times: Sequence[tuple[int, int]] = ()
    milliseconds: Sequence[int] = ()
    paged: int = 0
    reported: tuple[int, int] | None = None


def read_traces(
    names: Sequence[str],
    page_size: int = 1,
    skip_bad_lines: bool = False,
    progress: OnProgress = None,
    tokens_per_block: int | None = None,
    keep_partial: bool = False,
    namespaces: Sequence[str] = (),
) -> Trace:
    """Return the trace in some files, read as one in the order given; the name `-` is standard input.

    How records are understood is told in `Form`; `namespaces` are keys beside the known ones.  A bad line raises Fault,
    one line with file, line number, fault and remedy, or with `skip_bad_lines` is counted and leaves no other mark.
    Fault also tells of a file that cannot be read, of one without a request, of broken or foreign compression or
    encoding, and of a trace without any block.  Raises ValueError for a page size below 1 and for no names at all.
    `progress` is called with the bytes read of a file and the bytes that it has; not for a pipe, whose size is unknown.
    Cost: O(bytes) time; memory O(requested blocks + longest line), and for logs O(tokens).
    """
    if page_size < 1:
        raise ValueError(f"a page of {page_size} tokens cannot be cached: give at least 1")
    if not names:
        raise ValueError("there is no trace to read: name at least one file")
    if list(names).count("-") > 1:
        raise Fault("<stdin>: given twice, but it can be read only once: give - once")
    form = Form(page_size, tokens_per_block, keep_partial, frozenset((*NAMESPACE_KEYS, *namespaces)))
    reader = _Reader(form, skip_bad_lines)
    made = _Maker()
    for number, name in enumerate(names):
        requests = reader.requests(number, name, progress)
        while some := list(itertools.islice(requests, AT_ONCE)):
            for request in some:
                made.add(request)
        made.end_of_file()
    placed = sorted(reader.log.requests, key=lambda one: one.place)
    for _, of_a_file in itertools.groupby(placed, key=lambda one: one.place[0]):
        for _, request in of_a_file:
            made.add(request)
        made.end_of_file()
    if not made.blocks.parent:
        raise Fault(f"{shown_name(names[0])}: no request fills a block: give longer requests or a smaller page size")
    bad = reader.bad
    return made.trace()._replace(
        bad_lines=len(bad), first_bad_line=bad[0] if bad else "", other_lines=reader.log.skipped
    )


def trace_of(paths: Iterable[Sequence[Hashable]], priorities: Sequence[int] | None = None) -> Trace:
    """Return the trace of requests given as sequences of block ids, with their priorities (0 where left out).

    Raises ValueError if there are not as many priorities as requests.  Cost: O(requested blocks).
    """
    made, form = _Maker(), Form()
    for ids in paths:
        made.add(Request(packed(ids, form)))
    if priorities is not None:
        if len(priorities) != len(made.requests):
            raise ValueError(f"{len(priorities)} priorities for {len(made.requests)} requests: give one for each")
        made.priorities = list(priorities)
    return made.trace()


# -- requests ------------------------------------------------------------------------------------------------------


class _Reader:
    """The requests of files, one file after the other; those of logs are kept in `log` until all are read."""

    def __init__(self, form: Form, skip_bad_lines: bool) -> None:
        self.form, self.skip_bad_lines = form, skip_bad_lines
        self.log = Log(form)
        self.bad: list[str] = []

    def requests(self, file: int, name: str, progress: OnProgress) -> Iterator[Request]:
        """Yield the requests of one file that need not wait.  What is wrong with a line is kept in `bad`, or raised."""
        shown = shown_name(name)
        good, first_bad, before = 0, "", len(self.log.requests)
        longest = files.LONGEST_LINE
        with contextlib.closing(files.lines_of(name, progress)) as lines:
            for text, number, element in lines:
                try:
                    if len(text) > longest:
                        raise LineError(f"is longer than {longest} bytes: give one request a line")
                    request = self._request(text, (file, number))
                except LineError as error:
                    fault = f"{shown}:{files.where(number, element)}: {error}"
                    if not self.skip_bad_lines:
                        raise Fault(f"{fault}, or use --skip-bad-lines") from None
                    self.bad.append(fault)
                    first_bad = first_bad or f" (first bad line: {fault})"
                else:
                    if request is not None:
                        good += 1
                        yield request
        if not good and len(self.log.requests) == before:
            raise Fault(f'{shown}: holds no request{first_bad}: give JSON lines such as {{"hash_ids": [1, 2]}}')

    def _request(self, text: bytes, place: Place) -> Request | None:
        """Return the request in a line; None if it has none, or one that waits in the log for those before it."""
        if text[:1] != b"{" and self.log.read(text, place):
            return None
        record = decode(text)
        if is_of_a_log(record):
            self.log.read_record(record, place)
            return None
        request = request_of(record, self.form)
        if self.log.requests:
            self.log.add(place, request)
            return None
        return request


class _Maker:
    """A trace in the making: requests go in one by one, in the order in which they are served."""

    def __init__(self) -> None:
        self.blocks = _Blocks()
        self.requests: list[Path] = []
        self.priorities: list[int] = []
        self.served: list[Path] = []
        self.tokens = array.array("q")
        self.times: list[tuple[int, int]] = []
        self.turns: dict[Hashable, tuple[int, int]] = {}  # of chats: the request, and its blocks when it has finished
        self.grown: dict[int, Path] = {}
        self.sizes: set[int] = set()
        self.namespaces: set[Hashable] = set()
        self.backward = self.partial = self.cached = self.prompts = self.paged = 0
        self.timestamps: list[float] = []  # of the file being read
        self.milliseconds: list[int] = []

    def add(self, request: Request) -> None:
        """Add a request.  Cost: O(blocks)."""
        ids, page, priority, timestamp, namespace, size, tokens, partial, served, cached, arrival, finish, turn = (
            request
        )
        path = self.blocks.path(ids, page, namespace)
        self.requests.append(path)
        self.priorities.append(priority)
        self.namespaces.add(namespace)
        self.sizes.add(size)
        if tokens is not None:
            self.tokens.append(tokens)
        if served is not None or self.served:
            self.served += self.requests[len(self.served) : -1]
            self.served.append(path if served is None else self.blocks.path(served, page, namespace))
        if turn is not None:
            self._follow(turn, path)
        if timestamp is not None:
            self.timestamps.append(timestamp)
        self.partial += partial
        self.paged += page > 0
        if cached is not None:
            self.cached += cached
            self.prompts += tokens or 0
        if arrival is not None and finish is not None:
            self.times.append((arrival, finish))

    def _follow(self, turn: Turn, path: Path) -> None:
        """Let the path of the turn before grow by what this one has further, as far as that one's output goes."""
        at, blocks = (0, 0) if turn.before is None else self.turns.pop(turn.before, (0, 0))
        before = self.requests[at]
        if len(before) < blocks and path[: len(before)] == before:
            self.grown[at] = path[:blocks]
        self.turns[turn.name] = (len(self.requests) - 1, turn.blocks)

    def end_of_file(self) -> None:
        """Take down the times of a file: the next one may have its own clock.  Cost: O(requests)."""
        times, self.timestamps = self.timestamps, []
        if times:
            self.backward += sum(map(operator.lt, itertools.islice(times, 1, None), times))
            begins = round(times[0])
            late = max(self.milliseconds[-1] - begins, 0) if self.milliseconds else 0
            self.milliseconds += [time + late for time in itertools.accumulate(map(round, times), max)]

    def trace(self) -> Trace:
        """Return the trace of what was added.  Cost: O(blocks · log) for `shared_ids`, else O(1)."""
        every = len(self.requests)
        served = self.served or (self.requests[:] if self.grown else [])
        for at, path in self.grown.items():
            served[at] = path
        return Trace(
            self.blocks.parent,
            self.blocks.depth,
            self.requests,
            self.priorities,
            self.blocks.shared_ids(),
            self.backward,
            namespaces=max(len(self.namespaces), 1),
            partial_blocks=self.partial,
            block_tokens=self.sizes.pop() if len(self.sizes) == 1 else 0,
            tokens=self.tokens if len(self.tokens) == every and every else None,
            served=served,
            times=self.times if len(self.times) == every else [],
            milliseconds=self.milliseconds if len(self.milliseconds) == every else [],
            paged=self.paged,
            reported=(self.cached, self.prompts) if self.prompts else None,
        )


# -- the trie ------------------------------------------------------------------------------------------------------


class _Blocks:
    """The trie of the blocks seen so far.

    The new blocks of a request are the end of its path and get consecutive numbers: a run.  A path is a row of runs,
    each perhaps left before its end, and only where a run begins is a table of parent and id needed.  So a path is
    found by one look-up and one comparison of packed ids for each of its runs, however many blocks these have.
    """

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.depth: list[int] = []
        self._depths: list[int] = []  # 1, 2, 3, ...: all depths share these objects
        self._runs: dict[tuple[Hashable, bytes], tuple[int, bytes]] = {}  # by parent and id: first block, packed ids
        self._new: dict[int, list[bytes]] = {}  # the packed ids of all runs, by page size

    def path(self, ids: bytes, page_size: int = 0, namespace: Hashable = None) -> Path:
        """Return the blocks of a path, first block first, adding those that are new.

        The ids are packed: those of hashes, for a page size of 0, in 8 bytes each, else those of a page in 8 bytes a
        token.  Cost: O(bytes) to compare and to copy, and O(runs) look-ups.
        """
        runs = self._runs
        width = 8 * (page_size or 1)
        at, size = 0, len(ids)
        path: list[int] = []
        above: Hashable = (page_size, namespace)
        while at < size:
            run = runs.get((above, ids[at : at + width]))
            if run is None:
                break
            start, known = run
            same = len(known) if ids.startswith(known, at) else _common(known, ids, at, width)
            at += same
            above = start + same // width - 1
            path += self.parent[start + 1 : above + 1]  # in a run each block is the next one's parent: no new objects
            path.append(above)
        if at < size:  # below a new block all are new
            start, depth, rest = len(self.parent), len(path), ids[at:]
            new = list(range(start, start + len(rest) // width))
            runs[above, rest[:width]] = (start, rest)
            self._new.setdefault(page_size, []).append(rest)
            self.parent.append(path[-1] if path else ROOT)
            self.parent += new[:-1]
            path += new
            if len(path) > len(self._depths):
                self._depths = list(range(1, 2 * len(path) + 1))
            self.depth += self._depths[depth : len(path)]
        return tuple(path)

    def shared_ids(self) -> int:
        """Return how many ids were seen under two or more parents, those of different namespaces among them.

        Cost: O(blocks · log blocks).
        """
        shared = 0
        for page_size, runs in self._new.items():
            joined, width = b"".join(runs), 8 * page_size
            if page_size <= 1:
                shared += _repeated(array.array("q", joined))
            else:
                shared += _repeated([joined[at : at + width] for at in range(0, len(joined), width)])
        return shared


def _common(known: bytes, ids: bytes, at: int, width: int) -> int:
    """Return how many bytes of whole ids `known` and `ids`, from `at` on, begin with alike.  The first id is alike.

    Cost: O(bytes).
    """
    if known[width : 2 * width] != ids[at + width : at + 2 * width]:  # mostly
        return width
    most = min(len(known), len(ids) - at)
    differing = int.from_bytes(known[:most], "big") ^ int.from_bytes(ids[at : at + most], "big")
    same = most - (differing.bit_length() + 7) // 8
    return same - same % width


def _repeated(ids: Sequence[Hashable]) -> int:
    """Return how many ids are there twice or more.  Cost: O(ids · log ids), some at a time: so few are held twice."""
    parts = len(ids) // SORTED_AT_ONCE + 1
    repeated = 0
    for part in range(parts):
        some: list[Any] = sorted(ids if parts == 1 else (one for one in ids if hash(one) % parts == part))
        if any(map(operator.eq, some, itertools.islice(some, 1, None))):
            repeated += len({one for one, other in zip(some, itertools.islice(some, 1, None)) if one == other})
    return repeated
