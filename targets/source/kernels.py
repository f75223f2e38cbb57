"""Kernels of a device as source text, in languages with memory spaces and ids of threads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...dialects import gpu
from ...dialects.marks import KERNEL
from ...dialects.memref.layouts import open_parts
from ...ir.core import Operation, Value
from ...ir.diagnostics import PassError
from ...ir.location import node_of
from ...ir.types import IndexType, MemRefType, Type, i1
from . import control, scalars, storage, vectors  # noqa: F401 - they fill tables
from .facts import Facts
from .language import Language
from .memory import Buffer, from_parts, grouped, row_major
from .module import numbers_text
from .printer import FunctionPrinter, states, without_unused
from .printing import Printing, prints


class KernelPrinter(FunctionPrinter):
    """Prints one kernel.

    A buffer is passed as the start of its memory and its offset there in bytes, since not every
    device lets a host point into memory.
    """

    op: gpu.GPUFuncOp  # type: ignore[assignment]

    def __init__(
        self, language: Language, facts: Facts, op: gpu.GPUFuncOp, checks: list[str]
    ) -> None:
        super().__init__(language, facts, op)  # type: ignore[arg-type]
        self.kinds = ""
        """A letter for each part of the arguments, as in `DEVICE_KERNELS`."""
        self.parameters: list[str] = []
        self.words = 0
        """The number of arguments that are numbers."""
        self.status = self.fresh("status")
        self.checks = checks
        self.has_checks = False
        self.leaves = True
        """Whether a thread returns when a check fails."""

    def text(self) -> str:
        """The text of the whole kernel."""
        op, words = self.op, self.language.templates
        if len(op.body.blocks) > 1:
            raise PassError(f"branches between blocks have no form in {self.language.name}", op.loc)
        for i, arg in enumerate(op.args):
            self._argument(i, arg)
        for kind, buffers in (("workgroup", op.workgroup_buffers), ("local", op.private_buffers)):
            for buffer in buffers:
                self._own(kind, buffer)
        self.first = len(self.lines)
        self.block(op.body.blocks[0])
        if self.words and "words" in words:
            self._take("words")
        if self.has_checks:
            self.kinds += "s"
            self._take("status", name=self.status)
        self._check_count()
        named = set(re.findall(r"\w+", "\n".join(self.lines)))
        size = op.known_block_size
        threads = int(size[0]) if size is not None else 1
        head = self.heading(threads, [v for k, v in self.language.ids.items() if k in named])
        self.row = f"{self.name} {threads} {self.kinds}"
        node = node_of(op.loc)
        above = f"/* {node.replace('*/', '* /')} */\n" if node else ""
        return "\n".join([above + head + " {", *without_unused(self.lines), "}", ""])

    def heading(self, threads: int, ids: Sequence[str]) -> str:
        """The text before the body, with parameters for the ids that the body uses."""
        parameters = ", ".join([*self.parameters, *ids])
        return self.language.templates["kernel"].format(
            name=self.name, parameters=parameters, threads=threads
        )

    def _argument(self, number: int, arg: Value) -> None:
        """Declare the parameters of an argument, and bind its names."""
        words, hint = self.language.templates, arg.name_hint or f"arg{number}"
        if not isinstance(arg.type, MemRefType):
            self.kinds += "w" if isinstance(arg.type, IndexType) else str(scalar_bytes(arg.type))
            (name,) = self.bind_names(arg, hint)
            self._number(name, arg.type)
            return
        own = KERNEL in self.op.attributes
        name, start, at = self.fresh(hint), self.fresh(f"{hint}_memory"), self.fresh(f"{hint}_at")
        kind = self.pointer_type(arg.type, self.facts.reads.only(arg))
        self._take("memory", name=start, restrict=words["restrict"] if own else "")
        if "place" in words:
            self._take("place", name=at)
        self.line(words["buffer"].format(name=name, kind=kind, memory=start, at=at))
        sizes = [self.fresh(f"{hint}_{what}{axis}") for what, axis in open_parts(arg.type)]
        for size in sizes:
            self._number(size, IndexType())
        self.kinds += "a" + "w" * len(sizes)
        self.values[arg] = from_parts(arg.type, name, sizes)

    def _take(self, template: str, **words: str) -> None:
        """Declare a parameter by a template."""
        text = self.language.templates[template]
        self.parameters.append(text.format(number=len(self.parameters), **words))

    def _number(self, name: str, type: Type) -> None:
        """Declare a number: as a parameter, or as an element of the parameter `words`."""
        kind = self.language.type(type)
        if "words" in self.language.templates:
            word = f"nnc_words[{self.words}]"
            is_float = self.language.element(type) == "f32"
            value = f"f32_of_u32((uint32_t){word})" if is_float else f"({kind}){word}"
            self.line(f"const {kind} {name} = {value};")
        elif isinstance(type, IndexType):
            self._take("word", name=name)
        else:
            self.parameters.append(f"const {kind} {name}")
        self.words += 1

    def _check_count(self) -> None:
        """Raise PassError if there are more parameters than the language allows."""
        count, most = len(self.parameters), self.language.most_parameters
        if most and count > most:
            raise PassError(
                f"kernel '{self.name}' takes {count} buffers, and {self.language.name} gives a "
                f"kernel {most} at most",
                self.op.loc,
            )

    def fail(self, ok: str, op: Operation, status: str | None = None) -> None:
        """Report a failed condition to the host and leave the kernel; all threads agree on it."""
        node = node_of(op.loc)
        message = getattr(op, "msg", "") or "the kernel failed"
        self.checks.append(f"{node}: {message}" if node else message)
        self.has_checks = True
        failed = self.language.templates["failed"].format(self.status, len(self.checks))
        leave = " return;" if self.leaves else ""
        self.line(f"if (!{grouped(ok)}) {{ {failed}{leave} }}")

    def _own(self, kind: str, value: Value) -> None:
        """Declare a buffer of the group or of the thread."""
        type = value.type
        name = self.fresh(value.name_hint or kind)
        element = self.language.scalars[self.language.stored(type.element_type)]
        count = max(1, type.num_elements)
        self.line(self.language.templates[kind].format(kind=element, name=name, count=count))
        self.values[value] = Buffer(name, type.shape, row_major(type.shape))


def scalar_bytes(type: Any) -> int:
    """Bytes of a scalar argument; a truth value comes as an int."""
    return 4 if type is i1 else type.byte_width


@dataclass(frozen=True)
class Kernels:
    """Kernels as text; a line per kernel that lists its arguments; the message of each check.

    `code` is set if a driver takes something other than the text.
    """

    text: str
    rows: list[str]
    checks: list[str]
    code: bytes | None = None


def print_kernels(
    module: gpu.GPUModuleOp, language: Language, printer: type[KernelPrinter] = KernelPrinter
) -> Kernels:
    """The text of a module's kernels. Raises PassError."""
    facts, checks = Facts(module, language), list[str]()
    printers = [
        printer(language, facts, op, checks)
        for op in module.body_block
        if isinstance(op, gpu.GPUFuncOp)
    ]
    texts = [printer.text() for printer in printers]
    return Kernels("\n".join(texts), [printer.row for printer in printers], checks)


def print_with_prelude(
    module: gpu.GPUModuleOp,
    language: Language,
    prelude: Path,
    printer: type[KernelPrinter] = KernelPrinter,
) -> Kernels:
    """Kernels behind a file of declarations, the functions of numbers in C, and those of the
    language that the kernels call. Raises PassError.
    """
    language = replace(language, needed={})
    found = print_kernels(module, language, printer)
    before = (prelude.read_text() + numbers_text(), "".join(language.needed.values()))
    return replace(found, text="\n".join((*before, found.text)))


@prints(
    "gpu.thread_id", "gpu.block_id", "gpu.block_dim", "gpu.grid_dim", "gpu.global_id",
    "gpu.lane_id", "gpu.subgroup_id", "gpu.num_subgroups", "gpu.subgroup_size",
)  # fmt: skip
def _id(p: Printing, op: Any) -> str:
    text = p.language.templates[op.name].format(axis=getattr(op, "axis", 0))
    return p.cast(text, p.language.scalars["index"])


@states(gpu.Barrier)
def _barrier(p: FunctionPrinter, op: gpu.Barrier) -> None:
    p.line(p.language.templates["gpu.barrier"])


@states(gpu.Shuffle)
def _shuffle(p: FunctionPrinter, op: gpu.Shuffle) -> None:
    value, offset = p.text_of(op.value), p.text_of(op.offset)
    text = p.language.templates[f"gpu.shuffle {op.mode}"].format(value, offset)
    p.declare(op.shuffleResult, text)
    if op.valid.uses:
        raise PassError("whether a thread is there has no form in source text", op.loc)
    p.values[op.valid] = "true"
