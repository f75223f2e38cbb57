"""A smaller input with the same finding: lines first, then tokens, then characters."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .cases import Case
from .mutate import TOKEN
from .oracle import check


def minimized(case: Case, key: str, scratch: Path, seconds: float = 60) -> Case:
    """The case without the parts that the finding does not need, as far as the time allows."""
    deadline = time.monotonic() + seconds

    def still(data: bytes) -> bool:
        found = check(case.with_data(data), scratch)
        return found is not None and found.key == key

    def still_text(parts: Sequence[str]) -> bool:
        return still("".join(parts).encode("utf-8", "surrogateescape"))

    if case.suffix != ".mlir":
        return case
    text = case.data.decode("utf-8", "surrogateescape")
    for split in (lambda t: t.splitlines(keepends=True), TOKEN.findall):
        text = "".join(_reduced(split(text), still_text, deadline))
    return case.with_data(text.encode("utf-8", "surrogateescape"))


def _reduced(
    parts: list[str], still: Callable[[Sequence[str]], bool], deadline: float
) -> list[str]:
    """The parts with sequences left out, long ones first. Source: Zeller, Delta Debugging."""
    size = max(len(parts) // 2, 1)
    while size and time.monotonic() < deadline:
        at = 0
        while at < len(parts) and time.monotonic() < deadline:
            shorter = parts[:at] + parts[at + size :]
            if shorter and still(shorter):
                parts = shorter
            else:
                at += size
        size //= 2
    return parts
