"""Files of operators and of dialects take their words from a vocabulary, and none hides another."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest
from nnc.frontends.common import vocabulary

from .sources import parsed

ROOT = Path(vocabulary.__file__).parents[2]
FILES = [
    path
    for room in ("frontends", "dialects")
    for path in sorted((ROOT / room).rglob("*.py"))
    if re.search(r"^from .*(vocabulary|words) import \*$", path.read_text(encoding="utf-8"), re.M)
    and path.stem != "vocabulary"
]
CONVERTERS = [path for path in FILES if path.parent.name == "ops"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_an_import_means_what_it_says(path: Path) -> None:
    """A name imported from elsewhere is not one that the vocabulary, later in order, replaces."""
    package = "nnc." + ".".join(path.relative_to(ROOT).parent.parts)
    module = import_module(f"{package}.{path.stem}")
    for node in parsed(path).body:
        if not isinstance(node, ast.ImportFrom) or node.module == "__future__":
            continue
        source = import_module("." * node.level + (node.module or ""), package)
        for alias in (a for a in node.names if a.name != "*"):
            meant = getattr(source, alias.name, None)
            if meant is not None and alias.name not in _defined(path):
                assert getattr(module, alias.asname or alias.name) is meant, alias.name


@pytest.mark.parametrize("path", CONVERTERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_converter_that_hides_a_word_is_not_used_for_it(path: Path) -> None:
    """Where a converter is called like a word, the file does without the word."""
    tree = parsed(path)
    converters = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and node.decorator_list
        and hasattr(vocabulary, node.name)
    }
    used = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    assert not converters & used


def _defined(path: Path) -> set[str]:
    """What a file defines, which may be called like what it imports under another name."""
    kinds = ast.FunctionDef | ast.ClassDef
    return {node.name for node in parsed(path).body if isinstance(node, kinds)}
