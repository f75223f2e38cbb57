"""Which files have tests that `-m` can select, found without importing them.

To import all takes each process of tests twenty seconds, of which most steps of CI select a few files.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from pathlib import Path

GROUPS = ("thorough", "slow", "emulated", "formats", "service", "bindings")
"""The marks that pyproject.toml's `-m` leaves out."""
THOROUGH = r"mark\.thorough|mark\.sampled\(|\bby_default\("
"""What gives tests the mark: itself, a sample, or what makes networks parameters."""
FORMATS = Path(__file__).parent / "frontends"
"""All tests in its folders are marked `formats`, by its conftest.py."""


@cache
def is_selectable(path: Path, expression: str) -> bool:
    """Whether a test of this file may have marks that the expression selects.

    No test has a mark that stands nowhere in its file, and all have one that the file has as a whole;
    `thorough` may stand there in other words. Of what is no mark in `GROUPS` nothing is known. True
    where the expression cannot be read.
    """
    text = path.read_text(encoding="utf-8")
    always = {name for name in GROUPS if f"\npytestmark = pytest.mark.{name}\n" in text}
    if FORMATS in path.parent.parents:
        always.add("formats")
    words_of = {name: rf"mark\.{name}" for name in GROUPS} | {"thorough": THOROUGH}
    never = {name for name in GROUPS if not re.search(words_of[name], text)} - always
    words = set(re.findall(r"\w+", expression)) - {"and", "or", "not"}
    choices = [(name in always,) if name in always | never else (True, False) for name in words]
    try:
        code = compile(expression.strip() or "True", "-m", "eval")
        return any(
            eval(code, {"__builtins__": {}}, dict(zip(words, one, strict=True)))
            for one in product(*choices)
        )
    except Exception:  # pytest says what is wrong with it
        return True
