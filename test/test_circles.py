"""No modules import one another, imports inside of functions and for types included; but two pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nnc.ir

ROOT = Path(nnc.ir.__file__).parents[1]
NOT_THE_PRODUCT = {"bench", "docs", "examples", "fuzz", "test"}
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for folder in sorted(ROOT.iterdir())
    if (folder / "__init__.py").exists() and folder.name not in NOT_THE_PRODUCT
    for path in sorted(folder.rglob("*.py"))
}
"""The file of each module, by its name below `nnc`."""


IMPORT = re.compile(r"^ *from (\.+)([\w.]*) import (\([^)]*\)|[^\n#]*)", re.M)


def imported(name: str) -> Iterator[str]:
    """The modules of the product that a module names in `from .. import`, wherever that stands."""
    path = MODULES[name]
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for dots, module, names in IMPORT.findall(path.read_text(encoding="utf-8")):
        source = [*package[: len(package) - len(dots) + 1], *module.split(".")]
        source = ".".join(part for part in source if part)
        for word in re.findall(r"(\w+|\*)(?: as \w+)?", names):
            whole = f"{source}.{word}"
            yield whole if whole in MODULES else source


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of a graph (Tarjan), those of one node left out."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(node: str) -> None:
        order[node] = lowest[node] = len(order)
        stack.append(node)
        for other in graph[node]:
            if other not in order:
                visit(other)
            if other in stack:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == order[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in graph:
        if node not in order:
            visit(node)
    return found


def test_circles_are_found():
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert sorted(circles(graph)) == [["a", "b", "c"], ["d", "e"]]


PAIRS = [
    ["ir.attributes", "ir.types"],
    ["ir.core", "ir.values"],
]
"""Two halves of one idea each: types are attributes, which have types; operations define values."""


def test_there_are_no_circles_but_a_few_pairs():
    graph = {name: set(imported(name)) & MODULES.keys() - {name} for name in MODULES}
    assert len(graph) > 900
    assert graph["ir.syntax.printer"] >= {"ir.core", "ir.syntax.naming"}
    assert sorted(circles(graph)) == PAIRS
