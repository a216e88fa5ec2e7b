"""The options of `run.py replay` that say how a trace is read and counted, and the readers of sizes and shares."""

from __future__ import annotations

import argparse
import re
from fractions import Fraction
from typing import NamedTuple

from src.page.commandline import Once, Parser, quoted, whole_number
from src.page.guard import Fault
from src.traces.workload import LOGGED

SIZES = {
    "": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4,
    "ki": 1024, "mi": 1024**2, "gi": 1024**3, "ti": 1024**4,
}  # fmt: skip
CAPACITY = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)(?:([km]?)|([km]?)tok|([kmgt]i?)b)", re.ASCII | re.IGNORECASE)
SHARE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,18})?)%", re.ASCII)
ANY_SIZE = "give one such as 500, 2.5k or 1M, as tokens 1.5Mtok, as memory 40GB or 40GiB"


class Size(NamedTuple):
    """A capacity as it was given: an amount, and what it is an amount of: blocks, tokens or bytes."""

    amount: Fraction
    unit: str
    text: str

    def blocks(self, block_tokens: int, bytes_per_token: int | None) -> int:
        """Return how many whole blocks of so many tokens (0: not known) it holds.  Raises Fault if none is known."""
        if self.unit == "blocks":
            return int(self.amount)
        if not block_tokens:
            raise Fault(f"--capacity {self.text}: the tokens in a block are not known: give the capacity in blocks")
        if self.unit == "bytes" and bytes_per_token is None:
            raise Fault(f"--capacity {self.text}: the bytes of a token are not known: give --bytes-per-token")
        tokens = self.amount / (bytes_per_token or 1) if self.unit == "bytes" else self.amount
        blocks = int(tokens / block_tokens)
        if blocks < 1:
            raise Fault(f"--capacity {self.text} holds no block of {block_tokens:,} tokens: give a larger one")
        return blocks


def capacity(text: str) -> Size:
    """Return the size in a text such as 500, 2.5k, 1.5Mtok or 40GB, for an option's `type`.

    Units are decimal (k, M, G, T) and of bytes also binary (Ki, Mi, Gi, Ti).  Raises ArgumentTypeError.
    """
    match = CAPACITY.fullmatch(text)
    if match:
        unit = "bytes" if match[4] else "tokens" if match[3] is not None else "blocks"
        amount = Fraction(match[1]) * SIZES[(match[4] or match[3] or match[2] or "").lower()]
        if amount >= 1 and (unit != "blocks" or amount.denominator == 1):
            return Size(amount, unit, text)
    raise argparse.ArgumentTypeError(f"{quoted(text)} is not a whole number of at least 1 block: {ANY_SIZE}")


def share(text: str) -> Fraction:
    """Return the share in a text such as 30% or 99.5%, for an option's `type`.  Raises ArgumentTypeError."""
    match = SHARE.fullmatch(text)
    found = Fraction(match[1]) / 100 if match else Fraction(0)
    if not 0 < found <= 1:
        raise argparse.ArgumentTypeError(f"{quoted(text)} is not a share above 0%: give one such as 30% or 99.5%")
    return found


def add_reading_options(parser: Parser) -> None:
    """Add the options that say how the records of a trace are understood."""
    group = parser.add_argument_group("how the trace is read")
    group.add_argument(
        "--page-size", type=whole_number(1), default=1, action=Once, metavar="N", help="tokens in a block of tokens (1)"
    )
    group.add_argument(
        "--tokens-per-block", type=whole_number(1), action=Once, metavar="N",
        help="tokens in a block of hash_ids (512 as Mooncake's, 16 where there is a chat_id as in Bailian's)",
    )  # fmt: skip
    group.add_argument(
        "--partial-blocks", choices=("drop", "keep"), default="drop", action=Once, metavar="drop|keep",
        help="the last hash id, where input_length shows that its block is not full (drop)",
    )  # fmt: skip
    group.add_argument(
        "--namespace", action="append", default=[], metavar="KEY",
        help="requests with different values of KEY share no block either; repeatable",
    )  # fmt: skip
    group.add_argument("--skip-bad-lines", action="store_true", help="count bad lines instead of ending at the first")


def add_counting_options(parser: Parser) -> None:
    """Add the options that say what is locked, what is counted and what the cache holds."""
    group = parser.add_argument_group("what is counted")
    group.add_argument(
        "--in-flight", type=in_flight, default=0, action=Once, metavar="N|logged",
        help="lock the paths of the N requests before each request too (0), or those in flight by the log's times",
    )  # fmt: skip
    group.add_argument(
        "--warm-up", type=whole_number(0), default=0, action=Once, metavar="N",
        help="the first N requests fill the cache and are not counted (0)",
    )  # fmt: skip
    group.add_argument(
        "--last-block", choices=("hit", "recomputed"), default="hit", action=Once, metavar="hit|recomputed",
        help="recomputed: the last block of a prompt that fills it is never a hit, as in SGLang and vLLM (hit)",
    )  # fmt: skip
    group.add_argument(
        "--outputs", choices=("follow", "ignore"), default="follow", action=Once, metavar="follow|ignore",
        help="whether output_ids continue the path in the cache when a request has finished (follow)",
    )  # fmt: skip


def in_flight(text: str) -> int:
    """Return the number in a text, or `LOGGED` for the word, for an option's `type`.  Raises ArgumentTypeError."""
    return LOGGED if text == "logged" else whole_number(0)(text)


def cell(text: str) -> tuple[str, Size]:
    """Return the policy and the capacity in a text such as lru@5000, for an option's `type`."""
    policy, at, size = text.rpartition("@")
    if not (policy and at):
        raise argparse.ArgumentTypeError(f"{quoted(text)} is no policy at a capacity: give one such as lru@5000")
    return policy, capacity(size)
