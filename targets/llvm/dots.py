"""Dot product instructions on small integers, as rows of a target's description."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dot:
    """An intrinsic that multiplies the small integers of two vectors of 32-bit words in pairs, and
    sums the products of each word.

    `packing` is the layout of a word, as named in `ir/packing.py`. One that `accumulates` takes the
    sum to add to as its first operand. One that `takes_bytes` has vectors of bytes as operands.
    """

    packing: str
    lanes: int
    intrinsic: str
    features: frozenset[str] = frozenset()
    """The instruction is available with any one of these features; always if there are none."""
    accumulates: bool = False
    takes_bytes: bool = False
