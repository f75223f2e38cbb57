"""Every place in the code that raises an error for a user, found in its syntax."""

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLOORS = (
    *("ir", "dialects", "passes", "kernels", "lowering", "frontends", "targets"),
    *("runtime", "driver", "numerics", "tools"),
)
NOT_FOR_USERS = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)
"""Python's own exceptions: misuse of the library, or caught where they are raised."""
CAUGHT = frozenset({"WireError", "UnbalancedError", "argparse.ArgumentTypeError"})
"""Exceptions of ours that never leave the module above, which makes a diagnostic of them."""


@dataclass(frozen=True)
class Site:
    """A `raise` statement: where it is, and its message with `_` for values."""

    file: str
    function: str
    first: int
    last: int
    message: str

    @property
    def key(self) -> str:
        """Names the place without line numbers, which change."""
        return f"{self.file}:{self.function}: {self.message}"

    def __str__(self) -> str:
        return f"{self.file}:{self.first}: {self.function}: {self.message}"


def sites() -> list[Site]:
    """All of them, in the order of files and lines."""
    found: list[Site] = []
    for floor in FLOORS:
        for path in sorted((ROOT / floor).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found += _Finder(str(path.relative_to(ROOT))).find(tree)
    return found


class _Finder:
    def __init__(self, file: str) -> None:
        self.file = file

    def find(self, tree: ast.AST) -> Iterator[Site]:
        yield from self._below(tree, [], frozenset())

    def _below(self, node: ast.AST, names: list[str], caught: frozenset[str]) -> Iterator[Site]:
        for child in ast.iter_child_nodes(node):
            inner, handled = names, caught
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inner = [*names, child.name]
            if isinstance(child, ast.ExceptHandler) and child.name:
                handled = caught | {child.name}
            if (call := _raised(child, handled)) is not None:
                yield Site(
                    self.file, ".".join(names), child.lineno, child.end_lineno or 0, _message(call)
                )
            yield from self._below(child, inner, handled)


def _raised(node: ast.AST, caught: frozenset[str]) -> ast.expr | None:
    """What a `raise` statement raises, unless it passes on what was caught."""
    if not isinstance(node, ast.Raise) or node.exc is None:
        return None
    what = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    name = ast.unparse(what)
    if name in NOT_FOR_USERS or name in CAUGHT or name in caught:
        return None
    return node.exc


def _message(call: ast.expr) -> str:
    """The text of the message, `_` for what is put in; the source where there is none."""
    arguments = call.args if isinstance(call, ast.Call) else []
    for argument in arguments:
        if (text := _text(argument)) is not None:
            return re.sub(r"\s+", " ", text)
    return ast.unparse(call)


def _text(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(
                str(part.value) if isinstance(part, ast.Constant) else "_" for part in parts
            )
        case ast.BinOp(left=left, right=right):
            texts = _text(left), _text(right)
            return "".join(t or "_" for t in texts) if any(texts) else None
        case ast.IfExp(body=body, orelse=other):
            return _text(body) or _text(other)
    return None
