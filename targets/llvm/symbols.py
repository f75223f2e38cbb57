"""Renames the functions that LLVM's code exports."""

from __future__ import annotations

import re

from ...artifacts.options import DEFAULT_PREFIX
from ...runtime.abi import (
    DEVICE_SYMBOLS,
    FAILURE,
    PARALLEL_FOR,
    PREPARE,
    RELEASE,
    REUSE,
    RUN,
)
from ...runtime.threads import POOL_SYMBOLS
from ..base import Symbols

_EXPORTED = (RUN, RELEASE, REUSE, FAILURE, PREPARE, PARALLEL_FOR, *POOL_SYMBOLS, *DEVICE_SYMBOLS)


def renamed(text: str, symbols: Symbols) -> str:
    """LLVM IR text whose exported functions are named by `symbols`."""
    if symbols == Symbols():
        return text
    names = "|".join(name.removeprefix(DEFAULT_PREFIX) for name in _EXPORTED)
    pattern = re.compile(rf'("(?:[^"\\]|\\.)*")|@{DEFAULT_PREFIX}({names})\b')
    if symbols.hidden:
        defined = re.compile(rf"^define (?=[^@\n]*@{DEFAULT_PREFIX}(?:{names})\()", re.MULTILINE)
        text = defined.sub("define hidden ", text)
    return pattern.sub(lambda m: m[1] or f"@{symbols.prefix}{m[2]}", text)
