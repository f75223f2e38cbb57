"""Finding where things end in the text, also by the `re` of Python 3.11.0 to 3.11.4."""

import ast
import re
from pathlib import Path

import nnc
import pytest
from nnc.ir.syntax import scanning

ROOT = Path(nnc.__file__).parent
ROOMS = ("ir", "dialects", "passes", "kernels", "lowering", "frontends", "driver", "numerics")


@pytest.mark.parametrize(
    "text",
    ["!llvm.struct<(ptr)>", "!llvm.struct<(\n  ptr,\n  i32)>", "tensor <1x{a = 1}>", "(i1) -> i2"],
)
def test_a_type_ends_with_its_bracket(text):
    assert scanning.type_end(f"{text} {{", 0, len(text) + 2) == len(text)


@pytest.mark.thorough
def test_no_group_is_possessive():
    """Such a group keeps what a repetition that fails has read, before Python 3.11.5."""
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    assert len(files) > 500
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not re.search(r"\(\?:.*\)[*+?]\+", node.value), f"{path}:{node.lineno}"
