"""Numbers as every text of `run.py replay` shows them."""

from __future__ import annotations

from fractions import Fraction


def counted(number: int, what: str) -> str:
    """Return a number of things: `1 block`, `2,000 blocks`."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def percent(share: Fraction) -> str:
    """Return a share as percent with two decimals, halves to the even digit."""
    return decimal(100 * share, 2) + "%"


def decimal(value: Fraction, places: int) -> str:
    """Return a number that is not negative with so many decimals, halves to the even digit."""
    digits = str(round(value * 10**places)).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}"
