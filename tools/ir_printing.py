"""Prints the IR around passes, for the `--mlir-print-ir-*` options, to a stream or into files."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TextIO

from ..ir.attributes import StringAttr
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.passes import Instrumentation, Pass

Print = Callable[[Operation], str]


class PrintIR(Instrumentation):
    """Prints before and after the chosen passes, under upstream's headings."""

    def __init__(self, args: SimpleNamespace, write: Output, text: Print) -> None:
        """`args` are nn-opt's options, `text` formats an operation."""
        self.write = write
        self.text = text
        self.before = None if args.mlir_print_ir_before_all else set(args.mlir_print_ir_before)
        self.only_changes = args.mlir_print_ir_after_change
        self.only_failures = args.mlir_print_ir_after_failure
        named = set(args.mlir_print_ir_after)
        # Changes alone are those of all passes.
        everything = args.mlir_print_ir_after_all or (self.only_changes and not named)
        self.after = None if everything or self.only_failures else named
        self.module_scope = args.mlir_print_ir_module_scope
        self._text_before = ""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is ever printed."""
        return self.before == set() and self.after == set()

    def before_pass(self, one: Pass, op: Operation) -> None:
        if self.before is None or one.name in self.before:
            self._dump("Before", one, op)
        if self.only_changes:
            self._text_before = self.text(op)

    def after_pass(self, one: Pass, op: Operation) -> None:
        if self.only_failures or not self._wanted(one):
            return
        if not self.only_changes or self.text(op) != self._text_before:
            self._dump("After", one, op)

    def after_failed_pass(self, one: Pass, op: Operation, error: NncError) -> None:
        if self._wanted(one):
            self._dump("After", one, op, " Failed")

    def _wanted(self, one: Pass) -> bool:
        return self.after is None or one.name in self.after

    def _dump(self, when: str, one: Pass, op: Operation, suffix: str = "") -> None:
        heading = f"// -----// IR Dump {when} {one.title}{suffix} ({one.name})"
        shown = op
        if self.module_scope:
            shown = op.outermost
            heading += f" ('{op.name}' operation{_symbol_suffix(op)})"
        self.write(f"{heading} //----- //\n{self.text(shown)}\n\n", one, op)


Output = Callable[[str, Pass, Operation], None]
"""Called with a dump of IR, and the pass and operation that it belongs to."""


def to_stream(stream: TextIO) -> Output:
    """An output that writes all dumps to a stream."""
    return lambda text, one, op: print(text, end="", file=stream)


class ToTree:
    """Writes dumps to files, in folders that follow the nesting of operations.

    `builtin_module_no-symbol-name/func_func_f/0_1_cse.mlir` is the second dump of function f, made
    before any other of the module. Source: upstream's FileTreeIRPrinterConfig.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._counts: dict[Operation, int] = {}

    def __call__(self, text: str, one: Pass, op: Operation) -> None:
        from ..ir.files import write_whole

        self._counts[op] = self._counts.get(op, -1) + 1
        numbers: list[str] = []
        names: list[str] = []
        outer: Operation | None = op
        while outer is not None:
            numbers.insert(0, str(self._counts.setdefault(outer, 0)))
            names.insert(0, _folder_name(outer))
            outer = outer.parent_op
        place = self.folder.joinpath(*names)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NncError(f"cannot make folder '{place}': {error.strerror or error}") from None
        write_whole(place / f"{'_'.join(numbers)}_{one.name}.mlir", text)


def _symbol(op: Operation) -> str | None:
    name = op.properties.get("sym_name")
    return name.value if isinstance(name, StringAttr) else None


def _symbol_suffix(op: Operation) -> str:
    name = _symbol(op)
    return f": @{name}" if name is not None else ""


def _folder_name(op: Operation) -> str:
    name = re.sub(r"[/\0]", "_", _symbol(op) or "no-symbol-name")
    return f"{op.name.replace('.', '_')}_{name}"
