"""A module as source text: its constants, declarations and functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...dialects import func, memref
from ...dialects.marks import ENTRY, PARALLEL_BODY, REPLACED
from ...ir.attributes import DenseElements, DenseResource, IntegerAttr
from ...ir.core import Operation
from ...ir.diagnostics import PassError
from ...ir.types import IndexType, IntegerType
from ...runtime.abi import KERNELS as TABLE
from . import control, scalars, storage, vectors  # noqa: F401 - they fill tables
from .facts import Facts
from .language import Language
from .printer import FunctionPrinter


def numbers_text() -> str:
    """The C functions that implement the dialects' arithmetic."""
    return (Path(__file__).parent / "numbers.h").read_text()


@dataclass
class Text:
    """A module's text in parts, and facts that the entry's writer needs."""

    constants: str
    types: str
    functions: str
    entry: FunctionPrinter
    uses_heap: bool


def print_module(
    module: Operation,
    language: Language,
    printer: Callable[[Language, Facts, func.FuncOp], FunctionPrinter] = FunctionPrinter,
    constants: Callable[[memref.Global, str, Language], str] | None = None,
) -> Text:
    """The text of a module's functions, the entry's last. Raises PassError."""
    functions = [op for op in module.body_block if isinstance(op, func.FuncOp)]
    marked = [op for op in functions if ENTRY in op.attributes]
    if len(marked) != 1:
        raise PassError(f"one function has to be marked {ENTRY}, not {len(marked)}", module.loc)
    for op in functions:
        if op.is_declaration:
            raise PassError(
                f"'{op.sym_name}' has no body: {language.name} text calls no function of its host",
                op.loc,
            )
    facts = Facts(module, language)
    replaced = [op for op in functions if REPLACED in op.attributes]
    for op in replaced:
        place = op.attributes[REPLACED]
        assert isinstance(place, IntegerAttr)
        head = printer(language, facts, op).head()
        kind = f"void (*)({head[head.index('(') + 1 : -1]})"
        facts.called[op.sym_name] = f"(({kind}){TABLE}[{place.value}])"
    printers: list[FunctionPrinter] = []
    heads, texts = [], []
    for op in functions:
        one = printer(language, facts, op)
        text = one.text()
        heads.append(text[: text.index(" {\n")].rpartition("*/\n")[2] + ";")
        texts.append(text)
        if PARALLEL_BODY in op.attributes:
            texts.append(one.task())
        printers.append(one)
    if replaced and ENTRY not in replaced[0].attributes:
        heads.append(f"void *{TABLE}[{len(replaced)}];")
    globals = [op for op in module.body_block if isinstance(op, memref.Global)]
    written = constants or constant
    texts_of_globals = (written(op, facts.names[op.sym_name], language) for op in globals)
    entry = printers[functions.index(marked[0])]
    return Text(
        "".join(texts_of_globals),
        "".join(language.needed.values()),
        "\n".join([*heads, "", *texts]),
        entry,
        bool(facts.heap),
    )


def constant(op: memref.Global, name: str, language: Language, kind: str = "") -> str:
    """The text of a constant array; elements have the type `kind` if it is given."""
    type, value = op.type, op.initial_value
    element = type.element_type
    if isinstance(value, DenseResource):
        value = DenseElements.from_numpy(value.to_numpy(), value.type)
    texts = ["0"]
    if isinstance(value, DenseElements):
        type_of_numbers = IntegerType(64) if isinstance(element, IndexType) else element
        values = list(value.values())
        texts = [str(v) if kind else language.literal(v, type_of_numbers) for v in values] or texts
        texts = texts * type.num_elements if value.is_splat and len(texts) == 1 else texts
    rows = [", ".join(texts[i : i + 8]) for i in range(0, len(texts), 8)]
    return language.templates["global"].format(
        kind=kind or language.scalars[language.stored(element)],
        const="const " if op.constant else "",
        name=name,
        count=len(texts) if isinstance(value, DenseElements) else max(1, type.num_elements),
        values=",\n    ".join(rows),
    )
