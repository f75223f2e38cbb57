"""Printing the IR around passes, as `--mlir-print-ir-*` ask."""

from __future__ import annotations

import argparse
from typing import TextIO

from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.passes import Instrumentation, Pass
from ..ir.syntax.printer import print_op


class PrintIR(Instrumentation):
    """Prints to a stream before and after the chosen passes, under upstream's headings."""

    def __init__(
        self,
        stream: TextIO,
        before: set[str] | None,
        after: set[str] | None,
        only_changes: bool = False,
        on_failure: bool = False,
    ) -> None:
        """`before` and `after` are sets of pass names; None stands for all passes."""
        self.stream = stream
        self.before = before
        self.after = after
        self.only_changes = only_changes
        self.on_failure = on_failure
        self._text_before = ""

    @staticmethod
    def from_arguments(args: argparse.Namespace, stream: TextIO) -> PrintIR | None:
        """From nn-opt's options; None where nothing is to be printed."""
        before = None if args.mlir_print_ir_before_all else _names(args.mlir_print_ir_before)
        all_after = args.mlir_print_ir_after_all or args.mlir_print_ir_after_change
        after = None if all_after else _names(args.mlir_print_ir_after)
        failure = args.mlir_print_ir_after_failure
        if before == set() and after == set() and not failure:
            return None
        return PrintIR(stream, before, after, args.mlir_print_ir_after_change, failure)

    def before_pass(self, one: Pass, op: Operation) -> None:
        if self.before is None or one.name in self.before:
            self._dump("Before", one, op)
        if self.only_changes:
            self._text_before = print_op(op)

    def after_pass(self, one: Pass, op: Operation) -> None:
        if self.after is not None and one.name not in self.after:
            return
        if not self.only_changes or print_op(op) != self._text_before:
            self._dump("After", one, op)

    def after_failed_pass(self, one: Pass, op: Operation, error: NncError) -> None:
        if self.on_failure or self.after is None:
            self._dump("After", one, op, " Failed")

    def _dump(self, when: str, one: Pass, op: Operation, suffix: str = "") -> None:
        name = type(one).__name__
        print(
            f"// -----// IR Dump {when} {name}{suffix} ({one.name}) //----- //\n{print_op(op)}\n",
            file=self.stream,
        )


def _names(text: str) -> set[str]:
    return {part.strip() for part in text.split(",") if part.strip()}
