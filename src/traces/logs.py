"""The logs of serving engines: a line of what SGLang or vLLM wrote in, a request out, or None for a line without one.

* SGLang's request log (`--log-requests --log-requests-level 3 --log-requests-format json`): a date in brackets, then an
  object.  A request is complete with its event `request.finished`; its place is that of its `request.received`.
* SGLang's exported metrics (`--export-metrics-to-file`): the request is JSON inside the string `request_parameters`.
* vLLM's log at level DEBUG (`--enable-log-requests --enable-log-outputs`): text, with the ids in `Request ... details`
  and `Generated response ... details`.

What these lines look like was taken from what the engines' own logging code writes.
"""

from __future__ import annotations

import datetime
import re
from typing import Any, NamedTuple

from src.traces.records import Form, Request, continued, count_of, namespace_of, priority_of, tokens_request
from src.traces.strict_json import LineError, decode, shown

Place = tuple[int, int]
"""The place of a request in the order of arrival: the number of the file, and of the line in it."""

LEVEL = "log with --log-requests-level 3"
_DATED = re.compile(rb"\s*\[\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[^]]*\]\s*")
_VLLM = re.compile(rb"(?:^|[ )])(?:DEBUG|INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d \[[^]]*\] (.*)", re.DOTALL)
_DETAILS = re.compile(rb"Request (\S+) details: .*prompt_token_ids: (\[[0-9, -]*\]|None)", re.DOTALL)
_RECEIVED = re.compile(rb"Received request (\S+): params: .*lora_request: (.*?)\.?\s*$", re.DOTALL)
_GENERATED = re.compile(rb"Generated response (\S+) details: .*output_token_ids: (\[[0-9, -]*\])", re.DOTALL)
_EPOCH = datetime.datetime(1970, 1, 1)


class Placed(NamedTuple):
    """A request with its place in the order of arrival."""

    place: Place
    request: Request


class Log:
    """What the logs told so far: the finished requests, and those that have arrived and not finished.

    `requests` are in the order of the lines that completed them; sorted, they are in the order of their arrival.
    `skipped` counts the lines that complete no request.  Memory: O(tokens) of all requests.
    """

    def __init__(self, form: Form) -> None:
        self.form = form
        self.requests: list[Placed] = []
        self.skipped = 0
        self._arrived: dict[str, tuple[Place, int | None]] = {}  # SGLang's, by request id
        self._detailed: dict[bytes, tuple[int, list[int]]] = {}  # vLLM's: where a request is, the tokens in no block

    @property
    def seen(self) -> bool:
        """Whether any line of a log was read."""
        return bool(self.requests or self.skipped)

    def add(self, place: Place, request: Request) -> None:
        """Put a request in its place."""
        self.requests.append(Placed(place, request))

    def read(self, text: bytes, place: Place) -> bool:
        """Take a line that is not a plain record, and return whether it is a line of a log.

        Raises LineError for a request without its ids.  Cost: O(bytes).
        """
        dated = _DATED.match(text)
        if dated:
            self._sglang(text[dated.end() :], place)
            return True
        other = _VLLM.search(text[:200])
        if other:
            self._vllm(text[other.start(1) :], place)
            return True
        if self.seen and not text.lstrip().startswith(b"{"):  # a line that belongs to the one before
            self.skipped += 1
            return True
        return False

    def read_record(self, record: dict[str, Any], place: Place) -> None:
        """Take a record for which `is_of_a_log` holds.  Raises LineError for a request without its ids."""
        if "request_parameters" in record:
            self._export(record, place)
        else:
            self._event(record, place)

    # -- SGLang ----------------------------------------------------------------------------------------------------

    def _sglang(self, text: bytes, place: Place) -> None:
        if text.startswith((b"Receive: obj=", b"Finish: obj=")):
            raise LineError("is SGLang's request log as text: log with --log-requests-format json")
        record: Any = decode(text) if text.startswith(b"{") else None
        if is_of_a_log(record):
            self.read_record(record, place)
        else:
            self.skipped += 1

    def _event(self, record: dict[str, Any], place: Place) -> None:
        event, name = record["event"], record.get("rid")
        if event == "request.received" and type(name) is str:
            self._arrived[name] = (place, _microseconds(record.get("timestamp")))
        if event != "request.finished":
            self.skipped += 1
            return
        given, out = record["obj"], record.get("out")
        if type(given) is not dict or not (out is None or type(out) is dict):
            raise LineError("has an obj or an out that is no object: give the log as SGLang wrote it")
        out = out or {}
        arrived, arrival = self._arrived.pop(name, (place, None)) if type(name) is str else (place, None)
        request = self._of_sglang(given, out.get("output_ids"), out.get("meta_info") or {})
        finish = _microseconds(record.get("timestamp"))
        if arrival is not None and finish is not None and arrival <= finish:
            request = request._replace(arrival=arrival, finish=finish, timestamp=arrival // 1000)
        self.add(arrived, request)

    def _export(self, record: dict[str, Any], place: Place) -> None:
        text = record["request_parameters"]
        given = decode(text.encode("utf-8", "surrogatepass")) if type(text) is str else text
        if type(given) is not dict:
            raise LineError(f"request_parameters is {shown(given)}: give the file as SGLang exported it")
        self.add(place, self._of_sglang(given, record.get("output_ids"), record))

    def _of_sglang(self, given: dict[str, Any], output: Any, told: Any) -> Request:
        """Return the request with these parameters, output and figures of the server."""
        if "input_ids" not in given:
            raise LineError(f"has no input_ids, which SGLang drops below level 2: {LEVEL}")
        ids = given["input_ids"]
        if ids is None:
            raise LineError(f"has null for input_ids, as the prompt was sent as text: send input_ids, and {LEVEL}")
        for key, value in (("input_ids", ids), ("output_ids", output)):
            if type(value) is str and "..." in value or type(value) is list and "..." in value:
                raise LineError(f"has {key} cut short, as SGLang does at level 2: {LEVEL}")
        if type(ids) is not list:
            raise LineError(f"input_ids is {shown(ids)}: give a list")
        cached = count_of(told, "cached_tokens") if type(told) is dict else None
        request = tokens_request("input_ids", ids, output, self.form)
        return request._replace(
            priority=priority_of(given), namespace=namespace_of(given, self.form), cached=cached
        )

    # -- vLLM ------------------------------------------------------------------------------------------------------

    def _vllm(self, text: bytes, place: Place) -> None:
        details, received, generated = _DETAILS.match(text), _RECEIVED.match(text), _GENERATED.match(text)
        if details:
            if details[2] == b"None":
                raise LineError("has no prompt_token_ids, as the prompt was sent as embeddings: send tokens or text")
            ids = decode(details[2])
            request = tokens_request("prompt_token_ids", ids, None, self.form)
            rest = ids[len(request.ids) // 8 :]
            self._detailed[details[1]] = (len(self.requests), rest)
            self.add(place, request)
            return
        self.skipped += 1
        if received and received[1] not in self._detailed:
            raise LineError("is vLLM's log without token ids: log with --log-level DEBUG")
        if received and received[2] != b"None":
            self._amend(received[1], namespace=received[2])
        if generated and generated[1] in self._detailed:
            at, rest = self._detailed[generated[1]]
            ids = self.requests[at].request.ids
            self._amend(generated[1], served=continued(ids, rest, decode(generated[2]), self.form))

    def _amend(self, name: bytes, **what: Any) -> None:
        at, _ = self._detailed[name]
        self.requests[at] = self.requests[at]._replace(request=self.requests[at].request._replace(**what))


def is_of_a_log(record: Any) -> bool:
    """Return whether a record is one that SGLang logs."""
    return type(record) is dict and ("obj" in record and "event" in record or "request_parameters" in record)


def _microseconds(text: Any) -> int | None:
    """Return the time in an ISO timestamp, in microseconds since 1970, None where there is none."""
    try:
        return (datetime.datetime.fromisoformat(text).replace(tzinfo=None) - _EPOCH) // datetime.timedelta(
            microseconds=1
        )
    except (TypeError, ValueError):
        return None
