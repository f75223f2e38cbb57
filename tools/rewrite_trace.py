"""`--trace-rewrites`: each rule that fired, in which pass, where, on what, and what it made.

    // -----// canonicalize: fold at "in.mlir":4:8
    //   - %1 = arith.addi %arg0, %c0_i32 : i32
    //   = %arg0

A line with `-` is the operation as it was, `+` one that was made, `~` one changed in place,
and `=` names the values that stand for the results now.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from ..ir.passes import Instrumentation, Pass
from ..ir.rewriting import RewriteTrace
from ..ir.syntax.naming import Names
from ..ir.syntax.print_flags import FlaggedNaming, FlaggedPrinter, PrintFlags

if TYPE_CHECKING:
    from ..ir.core import Operation, Value

FLAGS = PrintFlags(skip_regions=True, local_scope=True, elements_limit=16)


class _GrowingNames(Names):
    """Names of values, with new ones for values made since the pass began."""

    def __init__(self, known: Names) -> None:
        super().__init__(known)
        self._made = 0

    def __missing__(self, value: Value) -> str:
        name = f"%new{self._made}"
        self._made += 1
        owner = value.defining_op
        results = owner.results if owner is not None else [value]
        if len(results) == 1:
            self[value] = name
        else:
            for i, result in enumerate(results):
                self[result] = f"{name}#{i}"
        return self[value]


class TraceRewrites(RewriteTrace, Instrumentation):
    """Writes a record for each rule that fires; names are stable during a pass.

    As an instrumentation it knows the running pass and its operation.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.records = 0
        self._pass = ""
        self._printer: FlaggedPrinter | None = None
        self._before = ""
        self._made: dict[Operation, None] = {}
        self._changed: dict[Operation, str] = {}
        self._values: Sequence[Value] = ()

    # -- which pass runs -----------------------------------------------------------------------

    def before_pass(self, one: Pass, op: Operation) -> None:
        naming = FlaggedNaming(op, FLAGS)
        naming.values = _GrowingNames(naming.values)
        self._pass = one.name
        self._printer = FlaggedPrinter(naming, None, FLAGS)

    # -- what rewriting does -------------------------------------------------------------------

    def start(self, op: Operation) -> None:
        self._before = self._text(op)
        self._made.clear()
        self._changed.clear()
        self._values = ()

    def inserted(self, op: Operation) -> None:
        self._made[op] = None

    def replaced(self, op: Operation, values: Sequence[Value]) -> None:
        self._values = list(values)

    def fired(self, rule: str, op: Operation) -> None:
        lines = [f"// -----// {self._pass}: {rule} at {_place(op)}"]
        made = [self._text(one) for one in self._made if one.parent is not None]
        after = self._text(op) if op.parent is not None else None
        if after is None:
            lines.append(f"//   - {self._before}")
        elif after != self._before:
            lines += [f"//   - {self._before}", f"//   ~ {after}"]
        else:
            lines.append(f"//   ~ {after}")
        lines += [f"//   + {text}" for text in made]
        if self._values:
            names = self._names()
            lines.append(f"//   = {', '.join([names[v] for v in self._values])}")
        print("\n".join(lines), file=self.stream)
        self.records += 1

    def replacement(self, rule: str, op: Operation, values: Sequence[Value]) -> None:
        self.start(op)
        self._values = list(values)
        names = self._names()
        made = [v.defining_op for v in values if v not in names]
        self._made = {one: None for one in made if one is not None}
        text = [f"// -----// {self._pass}: {rule} at {_place(op)}", f"//   - {self._before}"]
        text += [f"//   + {self._text(one)}" for one in self._made]
        text.append(f"//   = {', '.join([names[v] for v in values])}")
        print("\n".join(text), file=self.stream)
        self.records += 1

    # -- text ----------------------------------------------------------------------------------

    def _names(self) -> Any:
        return self._printer.names if self._printer is not None else Names()

    def _text(self, op: Operation) -> str:
        if self._printer is None:
            return op.name
        for result in op.results:
            _ = self._printer.names[result]  # a name even where nothing else mentions it
        if len(op.results) > 1:
            head = self._printer.names[op.results[0]].partition("#")[0]
            self._printer._naming.groups.setdefault(op, f"{head}:{len(op.results)}")
        return self._printer.text_of(op).replace("\n", "\n//     ")


def _place(op: Operation) -> str:
    return op.loc.describe()
