"""One record in, one request out: the keys of a published trace's line, and what is shared with the lines of logs.

* `hash_ids`: a list of integers or strings, one id a block (the published traces of Mooncake and Qwen Bailian); or
* `token_ids` or `input_ids`: a list of integers of at most 64 bits.  Each `page_size` consecutive tokens are one block;
  a partial last page is not cached, as in SGLang.  A token page never equals a hash id;
* `input_length`: with `hash_ids`, the tokens of the prompt.  The last id may stand for a block that they do not fill;
* `output_ids`: with tokens, the output, which continues the prompt in the cache once the request has finished;
* `priority`: an integer, optional (null and absence are 0);
* `timestamp`: a number, or a string of digits, optional;
* `lora_id`, `lora_path`, `extra_key`, `cache_salt`, `model`, and keys of the user's choice: strings or integers,
  optional.  Together they are the namespace; requests of different namespaces share no block.

Other keys are ignored.
"""

from __future__ import annotations

import array
import math
import re
import sys
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from src.traces.strict_json import LineError, shown

ID_KEYS = ("hash_ids", "token_ids", "input_ids")
NAMESPACE_KEYS = ("lora_id", "lora_path", "extra_key", "cache_salt", "model")
MOONCAKE_BLOCK, BAILIAN_BLOCK = 512, 16  # tokens, as the publishers of the two families of traces say
_DIGITS = re.compile(r"[0-9]{1,18}(\.[0-9]{1,18})?", re.ASCII)


class Form(NamedTuple):
    """How records are to be understood.

    `page_size` is the number of tokens in a block of `token_ids`, `tokens_per_block` that of a hash id (None: known
    from the kind of the trace).  `keep_partial` takes the hash ids as they stand, also where the tokens do not fill the
    last block.  `namespaces` are the keys that separate requests.
    """

    page_size: int = 1
    tokens_per_block: int | None = None
    keep_partial: bool = False
    namespaces: tuple[str, ...] = NAMESPACE_KEYS


class Request(NamedTuple):
    """A request: the ids of its blocks, its priority, and what else is known of it.

    `block_tokens` is the size of its blocks in tokens and `tokens` those of its prompt, 0 and None where not told;
    `partial` whether an id was dropped because the tokens do not fill its block.  `served` are the ids of the blocks
    when it has finished, None where they are the same.  `cached` is how many of the tokens its server says it found in
    its cache.  `arrival` and `finish` are times in microseconds.
    """

    ids: Sequence[Hashable]
    priority: int = 0
    timestamp: float | None = None
    namespace: Hashable = None
    block_tokens: int = 0
    tokens: int | None = None
    partial: bool = False
    served: Sequence[Hashable] | None = None
    cached: int | None = None
    arrival: int | None = None
    finish: int | None = None


def request_of(record: Any, form: Form) -> Request:
    """Return the request in the record of a trace.  Raises LineError for anything else.  Cost: O(ids)."""
    if type(record) is not dict:
        raise LineError(f"is {shown(record)}: give an object on each line")
    keys = [key for key in ID_KEYS if key in record]
    if len(keys) != 1:
        given = " and ".join(keys) or f"none of the keys {', '.join(ID_KEYS)}"
        raise LineError(f"has {given}: give one of them")
    key, ids = keys[0], record[keys[0]]
    if type(ids) is not list:
        raise LineError(f"{key} is {shown(ids)}: give a list")
    priority, timestamp = priority_of(record), _timestamp(record.get("timestamp"))
    namespace = namespace_of(record, form)
    if key == "hash_ids":
        check_elements(key, ids, {int, str}, "integers or strings")
        whole, size, tokens = _whole_blocks(record, ids, form)
        return Request(whole, priority, timestamp, namespace, size, tokens, len(whole) < len(ids))
    request = tokens_request(key, ids, record.get("output_ids"), form)
    return request._replace(priority=priority, timestamp=timestamp, namespace=namespace)


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


def tokens_request(key: str, tokens: list[Any], output: Any, form: Form) -> Request:
    """Return the request of a prompt's tokens; `output` are those of its output, or None."""
    ids = _pages(key, tokens, form.page_size)
    served = continued(ids, tokens[len(ids) * form.page_size :], output, form) if output else None
    return Request(ids, block_tokens=form.page_size, tokens=len(tokens), served=served)


def continued(ids: Sequence[Hashable], rest: list[int], output: Any, form: Form) -> Sequence[Hashable] | None:
    """Return the blocks of a prompt and its output, None if they are those of the prompt: `ids`, then `rest` tokens.

    The last token of the output is in no block: no later step has read it.
    """
    if type(output) is not list:
        raise LineError(f"output_ids is {shown(output)}: give a list")
    check_elements("output_ids", output, {int}, "integers")
    pages = _pages("output_ids", rest + output[:-1], form.page_size)
    return [*ids, *pages] if pages else None


def namespace_of(record: dict[str, Any], form: Form) -> Hashable:
    """Return what separates a request from others: the values of the keys that it has, None if it has none."""
    found: Hashable = None
    for key in form.namespaces:
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


def _timestamp(value: Any) -> float | None:
    """Return a timestamp as a number.  Published generators write some as strings of digits."""
    if value is None or type(value) is int or type(value) is float and math.isfinite(value):
        return value
    if type(value) is str and _DIGITS.fullmatch(value):
        return float(value) if "." in value else int(value)
    raise LineError(f"timestamp is {shown(value)}: give a finite number")


def check_elements(key: str, ids: list[Any], kinds: set[type], wanted: str) -> None:
    """Raise LineError unless each element is of one of the kinds; a bool is no int here."""
    if not kinds.issuperset(map(type, ids)):
        at = next(at for at, element in enumerate(ids) if type(element) not in kinds)
        raise LineError(f"{key}[{at}] is {shown(ids[at])}: give {wanted}")


def _pages(key: str, tokens: list[Any], page_size: int) -> list[bytes]:
    """Return the whole pages of some tokens, packed: 8 bytes a token, where a tuple of integers takes 36 or more."""
    check_elements(key, tokens, {int}, "integers")
    try:
        packed = array.array("q", tokens).tobytes()
    except OverflowError:
        return _wide_pages(key, tokens, page_size)
    width = 8 * page_size
    return [packed[at : at + width] for at in range(0, len(packed) - width + 1, width)]


def _wide_pages(key: str, tokens: list[int], page_size: int) -> list[bytes]:
    """Return the pages of tokens of which some need 64 bits without a sign; a page of these is packed wider."""
    for at, token in enumerate(tokens):
        if not -1 << 63 <= token < 1 << 64:
            raise LineError(f"{key}[{at}] is {shown(token)}: give integers of at most 64 bits")
    pages = []
    for at in range(0, len(tokens) - page_size + 1, page_size):
        page = tokens[at : at + page_size]
        width = 8 if max(page) < 1 << 63 else 9
        pages.append(b"".join(token.to_bytes(width, sys.byteorder, signed=True) for token in page))
    return pages
