"""Records of traces: partial blocks, outputs, namespaces and wide ids; bad lines are tested through `reading`."""

from __future__ import annotations

import array
import json
import unittest
from typing import Any

from src.traces.reading import read_traces
from src.traces.records import NAMESPACE_KEYS, Form, Request, packed, request_of
from src.traces.strict_json import LineError
from tests.traces.test_logs import LOGS


def one(form: Form | None = None, **record: Any) -> Request:
    return request_of(json.loads(json.dumps(record)), form or Form())


class PartialBlocks(unittest.TestCase):
    def test_the_last_id_goes_where_the_tokens_do_not_fill_its_block(self) -> None:
        for tokens, ids, kept in (
            (1024, [1, 2], 2), (1025, [1, 2, 3], 2), (1535, [1, 2, 3], 2), (1, [1], 0), (0, [], 0), (1025, [1, 2], 2),
        ):  # fmt: skip
            found = one(input_length=tokens, hash_ids=ids)
            self.assertEqual((unpacked(found.ids), found.tokens, found.block_tokens), (ids[:kept], tokens, 512))
            self.assertEqual(found.partial, kept < len(ids))
            kept_all = one(Form(keep_partial=True), input_length=tokens, hash_ids=ids)
            self.assertEqual((unpacked(kept_all.ids), kept_all.partial), (ids, False))

    def test_block_sizes(self) -> None:
        given = one(Form(tokens_per_block=4), input_length=9, hash_ids=[1, 2, 3])
        self.assertEqual(unpacked(given.ids), [1, 2])
        self.assertEqual(unpacked(one(chat_id=1, input_length=33, hash_ids=[1, 2, 3]).ids), [1, 2])
        trace = read_traces([str(LOGS / "bailian.jsonl")], tokens_per_block=128)
        self.assertEqual((len(trace.requests[0]), trace.partial_blocks, trace.block_tokens), (4, 1, 128))
        self.assertEqual(one(hash_ids=[1, 2])[4:8], (None, 0, None, False))

    def test_ids_that_do_not_agree_with_the_tokens(self) -> None:
        for ids in ([1, 2, 3, 4], [1]):
            with self.assertRaises(LineError) as caught:
                one(input_length=1025, hash_ids=ids)
            self.assertEqual(
                str(caught.exception),
                f"has {len(ids)} hash_ids for an input_length of 1025, where a block has 512 tokens:"
                " give --tokens-per-block or --partial-blocks keep",
            )
        with self.assertRaisesRegex(LineError, "has 3 hash_ids for an input_length of 1024, "):
            one(input_length=1024, hash_ids=[1, 2, 3])
        with self.assertRaisesRegex(LineError, "input_length is 1.5: give a number of tokens"):
            one(input_length=1.5, hash_ids=[1])


class Keys(unittest.TestCase):
    def test_namespaces(self) -> None:
        known = [request_of({"hash_ids": [1], key: "x"}, Form()).namespace for key in NAMESPACE_KEYS]
        self.assertEqual(len({None, *known, one(hash_ids=[1], model=1).namespace}), len(NAMESPACE_KEYS) + 2)
        self.assertIsNone(one(hash_ids=[1], tenant="x", model=None).namespace)
        self.assertIsNotNone(one(Form(namespaces=frozenset({"tenant"})), hash_ids=[1], tenant="x").namespace)
        wrong: list[Any] = [True, 1.5, [], {}]
        for value in wrong:
            with self.assertRaisesRegex(LineError, "^model is .*: give a string or an integer$"):
                one(hash_ids=[1], model=value)

    def test_timestamps_as_digits(self) -> None:
        for text, number in (("17", 17), ("1719990000.25", 1719990000.25), ("0", 0)):
            self.assertEqual(one(hash_ids=[1], timestamp=text).timestamp, number)
        for text in ("", "-1", "1e3", "1.", "٣", "1 ", "9" * 19):
            with self.assertRaisesRegex(LineError, "give a finite number"):
                one(hash_ids=[1], timestamp=text)

    def test_outputs_continue_the_prompt_but_for_their_last_token(self) -> None:
        two = Form(page_size=2)
        self.assertIsNone(one(two, token_ids=[1, 2, 3], output_ids=[4]).served)
        self.assertIsNone(one(two, token_ids=[1, 2], output_ids=[]).served)
        grown = one(two, token_ids=[1, 2, 3], output_ids=[4, 5, 6, 7]).served
        self.assertEqual(grown, one(two, token_ids=[1, 2, 3, 4, 5, 6]).ids)
        with self.assertRaisesRegex(LineError, "output_ids is 'x': give a list"):
            one(token_ids=[1], output_ids="x")

    def test_ids_that_are_no_plain_integers_have_numbers_of_their_own(self) -> None:
        low = -(2**63)
        unusual = [2**64, "0xff", "1", low, low + 1, 2**63, -(2**62) - 1, 10**600]
        usual = [1, 0, -1, 2**63 - 1, -(2**62)]
        form = Form()
        for ids in ([low, 1], usual, unusual, usual + unusual, unusual[::-1], [1, *unusual]):
            found = unpacked(packed(ids, form))
            self.assertEqual([one if one in usual else form.numbers[one] for one in ids], found)
        self.assertEqual(len(set(form.numbers.values())), len(unusual))
        self.assertEqual(len(one(Form(page_size=2), token_ids=[2**64 - 1, 1, 5, 6, 2**63, -1, 7]).ids), 48)


def unpacked(ids: bytes) -> list[int]:
    return list(array.array("q", ids))


if __name__ == "__main__":
    unittest.main()
