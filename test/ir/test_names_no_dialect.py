"""`ir/` is the language and the core: it names no dialect but builtin."""

import ast
import re
from pathlib import Path

import nnc.ir
import pytest
from nnc import dialects
from nnc.ir.dialect import registry
from nnc.ir.syntax.directive import Directive, find_directive

IR = Path(nnc.ir.__file__).parent
OTHERS = [name for name in dialects.MODULES if name != "builtin"]
NAMED = re.compile(rf"(?<![\w.$])(?:{'|'.join(OTHERS)})\.(?=[a-z_])")
"""`func.func`, `nn.weights_file`: an op, type, attribute or mark of a dialect."""

# What the text language has of its own, and also are the names of dialects.
LANGUAGE = {"affine", "memref", "tensor", "vector"}


def documented(tree):
    """The strings that stand alone: they explain, and may give examples."""
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def named_in(path):
    """What a source file names of dialects: imports, and names in its strings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    explained = documented(tree)
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=module) if re.search(r"\bdialects\b", module or ""):
                if module != "dialects.builtin":
                    yield f"line {node.lineno}: from {module}"
            case ast.Constant(str(text)) if id(node) not in explained:
                if NAMED.search(text) or (text in OTHERS and text not in LANGUAGE):
                    yield f"line {node.lineno}: {text!r}"


@pytest.mark.parametrize("path", sorted(IR.rglob("*.py")), ids=lambda p: str(p.relative_to(IR)))
def test_no_source_file_names_a_dialect(path):
    assert not list(named_in(path))


def test_the_grammar_names_no_dialect():
    text = (IR / "syntax" / "grammar.lark").read_text(encoding="utf-8")
    rules = "\n".join(line.partition("//")[0] for line in text.splitlines())
    words = set(re.findall(r"[a-z]+", rules.lower()))
    assert not words & (set(OTHERS) - LANGUAGE)


def test_a_directive_that_one_dialect_names_stands_in_its_room():
    """By itself, or by one that is derived from it."""
    registry.load_all()
    users: dict[type, set[str]] = {}
    for name, cls in registry.ops.items():
        for found in re.findall(r"custom<(\w+)>", cls.definition.format_text or ""):
            for one in find_directive(found, cls.definition).__mro__:
                if issubclass(one, Directive) and one is not Directive:
                    users.setdefault(one, set()).add(name.partition(".")[0])
    assert users
    for found, rooms in users.items():
        room = "nnc.ir.syntax.directives" if len(rooms) > 1 else f"nnc.dialects.{min(rooms)}"
        assert f"{found.__module__}.".startswith(f"{room}."), f"{found} serves {sorted(rooms)}"
