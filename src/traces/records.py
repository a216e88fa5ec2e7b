"""One record in, one request out: the keys of a published trace's line, and what is shared with the lines of logs.

* `hash_ids`: a list of integers or strings, one id a block (the published traces of Mooncake and Qwen Bailian); or
* `token_ids` or `input_ids`: a list of integers of at most 64 bits.  Each `page_size` consecutive tokens are one block;
  a partial last page is not cached, as in SGLang.  A token page never equals a hash id;
* `input_length`: with `hash_ids`, the tokens of the prompt.  The last id may stand for a block that they do not fill;
* `output_ids`: with tokens, the output, which continues the prompt in the cache once the request has finished;
* `chat_id`, `parent_chat_id` and `output_length`: with `hash_ids` and `input_length`, as in Bailian's traces.  The ids
  of an output are those with which the next turn continues the prompt, as far as the output's length goes;
* `priority`: an integer, optional (null and absence are 0);
* `timestamp`: a number, or a string of digits, optional: milliseconds, but seconds where there is a `chat_id`;
* `lora_id`, `lora_path`, `extra_key`, `cache_salt`, `model`, and keys of the user's choice: strings or integers,
  optional.  Together they are the namespace; requests of different namespaces share no block.

Other keys are ignored.
"""

from __future__ import annotations

import array
import functools
import math
import re
import struct
import sys
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from src.traces.strict_json import LineError, shown

HASHES, TOKENS = frozenset((int, str)), frozenset((int,))
ID_KEYS = ("hash_ids", "token_ids", "input_ids")
NAMESPACE_KEYS = ("lora_id", "lora_path", "extra_key", "cache_salt", "model")
MOONCAKE_BLOCK, BAILIAN_BLOCK = 512, 16  # tokens, as the publishers of the two families of traces say
_LOW = -1 << 62
_SIGN = 7 if sys.byteorder == "little" else 0  # the byte of 8 that holds it
_DIGITS = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?", re.ASCII)


@dataclass(frozen=True)
class Form:
    """How records are to be understood.

    `page_size` is the number of tokens in a block of `token_ids`, `tokens_per_block` that of a hash id (None: known
    from the kind of the trace).  `keep_partial` takes the hash ids as they stand, also where the tokens do not fill the
    last block.  `namespaces` are the keys that separate requests.  `numbers` is for `packed` alone.
    """

    page_size: int = 1
    tokens_per_block: int | None = None
    keep_partial: bool = False
    namespaces: frozenset[str] = frozenset(NAMESPACE_KEYS)
    numbers: dict[Hashable, int] = field(default_factory=dict)


class Turn(NamedTuple):
    """A request as a turn of a chat: its name, that of the turn before it, and its blocks when it has finished."""

    name: Hashable
    before: Hashable
    blocks: int


class Request(NamedTuple):
    """A request: the ids of its blocks, its priority, and what else is known of it.

    The ids are packed (see `packed`): hashes, where `page_size` is 0, else pages of so many tokens.  `block_tokens` is
    the size of its blocks in tokens and `tokens` those of its prompt, 0 and None where not told; `partial` whether an
    id was dropped because the tokens do not fill its block.  `served` are the ids of the blocks when it has finished,
    None where they are the same or not told.  `cached` is how many of the tokens its server says it found in its cache.
    `timestamp` is in milliseconds, `arrival` and `finish` are in microseconds.
    """

    ids: bytes
    page_size: int = 0
    priority: int = 0
    timestamp: float | None = None
    namespace: Hashable = None
    block_tokens: int = 0
    tokens: int | None = None
    partial: bool = False
    served: bytes | None = None
    cached: int | None = None
    arrival: int | None = None
    finish: int | None = None
    turn: Turn | None = None


def request_of(record: Any, form: Form) -> Request:
    """Return the request in the record of a trace.  Raises LineError for anything else.  Cost: O(ids)."""
    if type(record) is not dict:
        raise LineError(f"is {shown(record)}: give an object on each line")
    plain = "hash_ids" in record and "token_ids" not in record and "input_ids" not in record
    key = "hash_ids" if plain else _key_of_the_ids(record)
    ids = record[key]
    if type(ids) is not list:
        raise LineError(f"{key} is {shown(ids)}: give a list")
    priority = priority_of(record) if "priority" in record else 0
    timestamp = record.get("timestamp")
    if timestamp is not None and type(timestamp) is not int:
        timestamp = _timestamp(timestamp)
    if timestamp is not None and "chat_id" in record:
        timestamp = _milliseconds(timestamp)
    namespace = None if form.namespaces.isdisjoint(record) else namespace_of(record, form)
    if plain:
        check_elements(key, ids, HASHES, "integers or strings")
        whole, size, tokens = _whole_blocks(record, ids, form) if "input_length" in record else (ids, 0, None)
        partial = len(whole) < len(ids)
        request = Request(packed(whole, form), 0, priority, timestamp, namespace, size, tokens, partial)
        return request._replace(turn=_turn(record, size, tokens)) if "chat_id" in record and tokens else request
    request = tokens_request(key, ids, record.get("output_ids"), form)
    return request._replace(priority=priority, timestamp=timestamp, namespace=namespace)


def _key_of_the_ids(record: dict[str, Any]) -> str:
    """Return the one key of `ID_KEYS` that a record has.  Raises LineError if it has not one."""
    keys = [key for key in ID_KEYS if key in record]
    if len(keys) != 1:
        given = " and ".join(keys) or f"none of the keys {', '.join(ID_KEYS)}"
        raise LineError(f"has {given}: give one of them")
    return keys[0]


def _whole_blocks(record: dict[str, Any], ids: list[Any], form: Form) -> tuple[list[Any], int, int | None]:
    """Return the ids of the blocks that the tokens fill, their size in tokens, and the tokens."""
    tokens = count_of(record, "input_length")
    if tokens is None:
        return ids, 0, None
    size = form.tokens_per_block or (BAILIAN_BLOCK if "chat_id" in record else MOONCAKE_BLOCK)
    whole = tokens // size
    if form.keep_partial or len(ids) == whole:
        return ids, size, tokens
    if len(ids) != whole + 1 or not tokens % size:
        raise LineError(
            f"has {len(ids)} hash_ids for an input_length of {tokens}, where a block has {size} tokens:"
            " give --tokens-per-block or --partial-blocks keep"
        )
    return ids[:-1], size, tokens


def _turn(record: dict[str, Any], size: int, tokens: int) -> Turn:
    """Return a request's place in its chat."""
    for key in ("chat_id", "parent_chat_id"):
        if type(record.get(key)) not in (int, str, type(None)):
            raise LineError(f"{key} is {shown(record[key])}: give a string or an integer")
    output = count_of(record, "output_length") or 0
    return Turn(record["chat_id"], record.get("parent_chat_id"), (tokens + max(output - 1, 0)) // size)


def tokens_request(key: str, tokens: list[Any], output: Any, form: Form) -> Request:
    """Return the request of a prompt's tokens; `output` are those of its output, or None."""
    ids = _pages(key, tokens, form)
    served = continued(ids, tokens[len(ids) // 8 :], output, form) if output else None
    return Request(ids, form.page_size, block_tokens=form.page_size, tokens=len(tokens), served=served)


def continued(ids: bytes, rest: list[int], output: Any, form: Form) -> bytes | None:
    """Return the blocks of a prompt and its output, None if they are those of the prompt: `ids`, then `rest` tokens.

    The last token of the output is in no block: no later step has read it.
    """
    if type(output) is not list:
        raise LineError(f"output_ids is {shown(output)}: give a list")
    check_elements("output_ids", output, TOKENS, "integers")
    pages = _pages("output_ids", rest + output[:-1], form)
    return ids + pages if pages else None


def namespace_of(record: dict[str, Any], form: Form) -> Hashable:
    """Return what separates a request from others: the values of the keys that it has, None if it has none."""
    found: Hashable = None
    for key in sorted(form.namespaces):
        value = record.get(key)
        if value is not None:
            if type(value) is not str and type(value) is not int:
                raise LineError(f"{key} is {shown(value)}: give a string or an integer")
            found = (found, key, value)
    return found


def priority_of(record: dict[str, Any]) -> int:
    """Return the priority in a record, 0 where there is none."""
    priority = record.get("priority")
    if priority is not None and type(priority) is not int:
        raise LineError(f"priority is {shown(priority)}: give an integer")
    return priority or 0


def count_of(record: dict[str, Any], key: str) -> int | None:
    """Return the number of tokens under a key, None where there is none."""
    count = record.get(key)
    if count is not None and (type(count) is not int or count < 0):
        raise LineError(f"{key} is {shown(count)}: give a number of tokens")
    return count


def _timestamp(value: Any) -> float:
    """Return a timestamp as a number.  Published generators write some as strings of digits."""
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) is str and _DIGITS.fullmatch(value):
        return float(value) if "." in value else int(value)
    raise LineError(f"timestamp is {shown(value)}: give a finite number")


def _milliseconds(seconds: float) -> int:
    """Return seconds in milliseconds, however many they are."""
    whole = math.floor(seconds)
    return 1000 * whole + round(1000 * (seconds - whole))


def check_elements(key: str, ids: list[Any], kinds: frozenset[type], wanted: str) -> None:
    """Raise LineError unless each element is of one of the kinds; a bool is no int here."""
    if not kinds.issuperset(map(type, ids)):
        at = next(at for at, element in enumerate(ids) if type(element) not in kinds)
        raise LineError(f"{key}[{at}] is {shown(ids[at])}: give {wanted}")


def _pages(key: str, tokens: list[Any], form: Form) -> bytes:
    """Return the whole pages of some tokens, packed."""
    check_elements(key, tokens, TOKENS, "integers")
    whole = len(tokens) // form.page_size * form.page_size
    if tokens and not -1 << 63 <= min(tokens) <= max(tokens) < 1 << 64:
        at = next(at for at, token in enumerate(tokens) if not -1 << 63 <= token < 1 << 64)
        raise LineError(f"{key}[{at}] is {shown(tokens[at])}: give integers of at most 64 bits")
    return packed(tokens[:whole], form)


@functools.lru_cache(maxsize=1000)
def _struct(count: int) -> struct.Struct:
    return struct.Struct(f"{count}q")


def packed(ids: Sequence[Hashable], form: Form) -> bytes:
    """Return ids in 8 bytes each: integers of 63 bits as they are, others by the number that the form has for each.

    The numbers are at the low end of the range, and integers that lie there are numbered like the others.
    """
    try:
        plain = _struct(len(ids)).pack(*ids)
        if plain[_SIGN::8].isascii():  # no sign, so none is near the low end
            return plain
    except struct.error:
        pass
    numbers = form.numbers
    return array.array(
        "q",
        [
            one if type(one) is int and _LOW <= one < 1 << 63 else numbers.setdefault(one, len(numbers) - (1 << 63))
            for one in ids
        ],
    ).tobytes()
