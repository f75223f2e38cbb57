"""Instructions that add up products of small integers, as rows of a target's description."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dot:
    """An intrinsic that multiplies the small integers of two vectors of 32-bit words in pairs, and
    adds up the products of each word.

    `packing` says what a word holds, as `ir/packing.py` names it. One that `accumulates` takes the
    sum to add to as its first operand. One that `takes_bytes` has vectors of bytes for operands.
    """

    packing: str
    lanes: int
    intrinsic: str
    features: frozenset[str] = frozenset()
    """One of these has to be there, where any is named."""
    accumulates: bool = False
    takes_bytes: bool = False
