"""Logs of serving engines: the very lines that their logging code writes, at each level, and made longer by hand."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

from src.page.commandline import Fault
from src.traces.logs import Log, is_of_a_log
from src.traces.reading import Trace, read_traces, trace_of
from src.traces.records import Form

LOGS = Path(__file__).with_name("request_logs")
LEVEL = "log with --log-requests-level 3"


def sglang(event: str, name: str, second: int, given: dict[str, Any], out: dict[str, Any] | None = None) -> str:
    """Return a line of SGLang's request log."""
    record = {"timestamp": f"2026-11-30T19:13:{second:02}.500000", "event": event, "rid": name, "obj": given}
    return f"[2026-11-30 19:13:{second:02}] " + json.dumps({**record, **({"out": out} if out else {})}) + "\n"


def finished(name: str, second: int, ids: Any, output: Any = None, **given: Any) -> str:
    """Return the line of a finished request whose server found one token in its cache."""
    out = {"output_ids": output, "meta_info": {"cached_tokens": 1}}
    return sglang("request.finished", name, second, {"input_ids": ids, **given}, out)


class Logs(unittest.TestCase):
    def read(self, *texts: str, **options: Any) -> Trace:
        """Return the trace of some files with these texts."""
        with tempfile.TemporaryDirectory() as folder:
            names = []
            for at, text in enumerate(texts):
                Path(folder, f"{at}.log").write_text(text, encoding="utf-8")
                names.append(str(Path(folder, f"{at}.log")))
            return read_traces(names, **options)

    def fault(self, text: str) -> str:
        with self.assertRaises(Fault) as caught:
            self.read(text)
        return str(caught.exception)

    # -- SGLang ----------------------------------------------------------------------------------------------------

    def test_the_recorded_lines_with_ids(self) -> None:
        for name, other in (("sglang_level_3.log", 1), ("sglang_exported.log", 0)):
            trace = read_traces([str(LOGS / name)])
            self.assertEqual(list(trace.requests), [(0, 1, 2, 3, 4, 5)], name)
            self.assertEqual((trace.other_lines, trace.reported, trace.block_tokens), (other, (4, 6), 1), name)
        trace = read_traces([str(LOGS / "sglang_level_3.log")], page_size=2)
        self.assertEqual((trace.requests, trace.served), ([(0, 1, 2)], [(0, 1, 2, 3)]))  # 1 to 6, 11, 12: 2 is unread
        self.assertEqual([finish - arrival for arrival, finish in trace.times], [303])
        self.assertEqual(read_traces([str(LOGS / "sglang_exported.log")]).served, [])

    def test_the_recorded_lines_without_ids_tell_the_remedy(self) -> None:
        for name, line, message in (
            ("sglang_level_0.log", 2, f"has no input_ids, which SGLang drops below level 2: {LEVEL}"),
            ("sglang_level_1.log", 2, f"has no input_ids, which SGLang drops below level 2: {LEVEL}"),
            ("sglang_text_request.log", 1,
             f"has null for input_ids, as the prompt was sent as text: send input_ids, and {LEVEL}"),
            ("sglang_text_format.log", 1, "is SGLang's request log as text: log with --log-requests-format json"),
            ("vllm_info.log", 2, "is vLLM's log without token ids: log with --log-level DEBUG"),
        ):
            with self.assertRaises(Fault) as caught:
                read_traces([str(LOGS / name)])
            self.assertEqual(str(caught.exception), f"{LOGS / name}:{line}: {message}, or use --skip-bad-lines")

    def test_ids_cut_short(self) -> None:
        for key, text in (
            ("input_ids", finished("a", 1, [1, "...", 9])), ("input_ids", finished("a", 1, "[1, ..., 9]")),
            ("output_ids", finished("a", 1, [1], [2, "...", 9])),
        ):  # fmt: skip
            self.assertIn(f":1: has {key} cut short, as SGLang does at level 2: {LEVEL}", self.fault(text))

    def test_other_faults(self) -> None:
        for text, message in (
            (finished("a", 1, 7), "input_ids is 7: give a list"),
            (finished("a", 1, [[1], [2]]), "input_ids[0] is a list: give integers"),
            (finished("a", 1, [1], [True]), "output_ids[0] is true: give integers"),
            (finished("a", 1, [1], priority="high"), "priority is 'high': give an integer"),
            (finished("a", 1, [1], lora_id=[1]), "lora_id is a list: give a string or an integer"),
            (sglang("request.finished", "a", 1, {"input_ids": [1]}, {"meta_info": {"cached_tokens": -1}}),
             "cached_tokens is -1: give a number of tokens"),
            ('{"event": "request.finished", "obj": 3}\n', "has an obj or an out that is no object"),
            ('{"request_parameters": "[]"}\n', "request_parameters is a list: give the file as SGLang exported it"),
            ('{"request_parameters": "{"}\n', "is not JSON at character 2"),
            ("[2026-11-30 19:11:25] {\n", "is not JSON at character 3"),
        ):
            self.assertIn(f".log:1: {message}", self.fault(text))
        self.assertIn("holds no request", self.fault("[2026-11-30 19:11:25] The server is fired up\n"))

    def test_requests_in_the_order_of_arrival(self) -> None:
        text = (
            sglang("request.received", "a", 1, {"input_ids": [1]}) + sglang("request.received", "b", 2, {})
            + finished("b", 3, [2], priority=7) + "[2026-11-30 19:13:04 TP0] Decode batch\nof two lines\n"
            + finished("a", 5, [1], [8, 9], priority=3) + finished("late", 6, [3])
        )
        trace = self.read(text)
        self.assertEqual(list(trace.requests), [(0,), (2,), (3,)])  # 1 is the output of the first
        self.assertEqual((trace.priorities, trace.served), ([3, 7, 0], [(0, 1), (2,), (3,)]))
        self.assertEqual((trace.other_lines, trace.reported, trace.times), (4, (3, 3), []))
        lines = text.splitlines(keepends=True)
        for cut in range(3, 6):
            self.assertEqual(self.read("".join(lines[:cut]), "".join(lines[cut:])), trace, cut)
        timed = self.read("".join(lines[:-1]))
        self.assertEqual([finish - arrival for arrival, finish in timed.times], [4_000_000, 1_000_000])

    def test_records_beside_logs_keep_their_place(self) -> None:
        trace = self.read(finished("a", 1, [1]), '{"token_ids": [2]}\n', finished("a", 1, [1]))
        self.assertEqual(list(trace.requests), [(0,), (1,), (0,)])

    def test_namespaces_share_nothing(self) -> None:
        given: list[dict[str, Any]] = [
            {}, {"lora_id": None}, {"lora_id": "a"}, {"lora_id": "b"}, {"extra_key": "a"}, {"cache_salt": "a"},
            {"lora_id": "a", "cache_salt": "a"}, {"lora_path": "a"}, {"lora_id": "a"},
        ]  # fmt: skip
        trace = self.read("".join(finished(str(at), at, [1, 2], **each) for at, each in enumerate(given)))
        self.assertEqual([path[0] // 2 for path in trace.requests], [0, 0, 1, 2, 3, 4, 5, 6, 1])
        self.assertEqual(trace.namespaces, 7)

    # -- vLLM ------------------------------------------------------------------------------------------------------

    def test_vllm_at_debug(self) -> None:
        trace = read_traces([str(LOGS / "vllm_debug.log")], page_size=4)
        self.assertEqual((trace.requests, trace.served), ([(0,)], [(0, 1)]))
        self.assertEqual((trace.other_lines, trace.tokens and list(trace.tokens)), (4, [6]))

    def test_vllm_with_an_adapter_and_without_token_ids(self) -> None:
        text = (LOGS / "vllm_debug.log").read_text()
        adapted = text.replace("cmpl-1-0", "cmpl-2-0").replace("lora_request: None", "lora_request: LoRARequest(x=1)")
        trace = self.read(text + adapted + text.replace("cmpl-1-0", "cmpl-3-0"), page_size=6)
        self.assertEqual((trace.requests, trace.namespaces), ([(0,), (1,), (0,)], 2))
        embedded = text.replace("prompt_token_ids: [1, 2, 3, 4, 5, 6]", "prompt_token_ids: None")
        self.assertIn("has no prompt_token_ids, as the prompt was sent as embeddings", self.fault(embedded))
        spoofed = text.replace("'Once upon'", "'prompt_token_ids: [7], prompt_embeds'")
        self.assertEqual(self.read(spoofed), self.read(text))

    def test_what_is_no_log(self) -> None:
        log = Log(Form())
        for text in (b"hello\n", b"[1, 2]\n", b"(1)\n", b"", b"[2026] {}\n"):
            self.assertFalse(log.read(text, (0, 1)), text)
        self.assertFalse(log.seen)
        self.assertFalse(is_of_a_log({"event": "x", "hash_ids": [1]}))
        self.assertEqual(self.read('{"event": "x", "hash_ids": [1]}\n'), trace_of([[1]]))


if __name__ == "__main__":
    unittest.main()
