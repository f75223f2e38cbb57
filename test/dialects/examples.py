"""Turning an op's `example` into a complete module, for round trips through nnc and mlir-opt."""

import re
import subprocess
from textwrap import dedent, indent

from nnc.ir.dialect import registry
from nnc.ir.syntax.build import Builder
from nnc.ir.syntax.grammar import current_language
from nnc.ir.syntax.parser import parse_module
from nnc.ir.syntax.session import Session


class _FreeValues(Builder):
    """A builder that notes the types of values that the text uses but does not define."""

    def __init__(self, session):
        super().__init__(session)
        self.free = {}

    def _leave(self, frame):
        if frame.isolated:
            forward = self._scopes[-1].forward
            self.free.update({name: value.type for name, value in forward.items()})
            forward.clear()
        super()._leave(frame)


def ops_of(*dialects: str):
    """The op classes of the dialects, for pytest.mark.parametrize."""
    import nnc.dialects  # noqa: F401

    registry.load_all()
    return [cls for d in dialects for cls in registry.dialect(d).ops.values()]


def example_text(cls) -> str:
    return dedent(cls.example).strip()


def module_of(text: str, **options):
    """The example in a module; what it uses comes from `test.source` operations."""
    stands_alone = re.search(
        r"^(func\.func|module|gpu\.module|memref\.global|llvm\.(func|mlir\.global))", text, re.M
    )
    if stands_alone:
        text = f"module {{\n{indent(text, '  ')}\n}}"
        return parse_module(text, allow_unregistered=True, **options)
    session = Session(text, "-", current_language(), True)
    builder = _FreeValues(session)
    builder.build(session.run("file", 0, session.end))
    free = {name.partition("#")[0]: [] for name in builder.free}
    for name, type in builder.free.items():
        free[name.partition("#")[0]].append(type)
    sources = []
    for name, types in sorted(free.items()):
        count = f":{len(types)}" if len(types) > 1 else ""
        listed = ", ".join(map(str, types))
        sources.append(f'{name}{count} = "test.source"() : () -> ({listed})')
    body = indent("\n".join([*sources, text]), "  ")
    function = f"func.func @example() {{\n{body}\n  return\n}}"
    return parse_module(function, allow_unregistered=True, **options)


def printed_example(module) -> str:
    """The text of the example's operations, without what `module_of` put around them."""
    from nnc.ir.syntax.printer import print_op

    text = without_aliases(print_op(module, names=True))
    lines = text.splitlines()[1:-1]
    if any("@example()" in line for line in lines):
        lines = [line for line in lines[1:-2] if '"test.source"' not in line]
    lines = [re.sub(r"\s+// .*", "", line).rstrip() for line in lines]
    return dedent("\n".join(lines)).strip()


def without_aliases(text: str) -> str:
    """The text with the attributes that aliases stand for in their places."""
    aliases = dict(re.findall(r"^(#\w+) = (.*)\n", text, re.M))
    text = re.sub(r"^#\w+ = .*\n", "", text, flags=re.M)
    for _ in range(len(aliases)):  # as deep as they can nest
        text = re.sub(r"#\w+\b", lambda m: aliases.get(m[0], m[0]), text)
    return text


def through_mlir_opt(mlir_opt: str, text: str, *options: str) -> str:
    """What mlir-opt prints for the text; fails with its diagnostics if it rejects it."""
    run = subprocess.run(
        [mlir_opt, "--allow-unregistered-dialect", *options],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, f"{run.stderr}\n{text}"
    return run.stdout
