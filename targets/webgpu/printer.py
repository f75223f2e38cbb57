"""Kernels as WGSL, which has neither pointers nor integers of other widths than 32 bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ...dialects import arith, gpu, math
from ...ir.core import Operation, Value
from ...ir.diagnostics import NncError
from ...ir.types import FloatType, IndexType, IntegerType, MemRefType, Type, lane_type
from ..source.kernels import KernelPrinter, scalar_bytes
from ..source.memory import Buffer, from_parts, offset, open_parts, plus, row_major
from ..source.printer import STATEMENTS
from ..source.printing import (
    OPERATIONS,
    is_half,
    lanes_of,
    of_integers,
    stripped,
)
from ..source.scalars import number_of
from ..source.vectors import COMBINED, COMBINED_FLOATS
from .language import BITWISE, CLOSED, SIGNED, TEMPLATES, WGSL, WgslLanguage
from .regions import Region

_WORD = IntegerType(32)


def _size(value: Value) -> float | None:
    number = number_of(value)
    return None if number is None else abs(number)


class WgslPrinter(KernelPrinter):
    """Prints one kernel of WGSL after its bindings: buffers, then the numbers in a uniform buffer.

    The first four words of the uniform buffer are the position of the first group in the grid. An
    offset into a buffer's memory is one word, in bytes; a number of 64 bits is two words.
    """

    language: WgslLanguage
    operations: ClassVar[dict[str, Callable[[Any, Any], Any]]] = dict(OPERATIONS)
    statements: ClassVar[dict[type[Operation], Callable[[Any, Any], None]]] = dict(STATEMENTS)

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.words = 4
        self.status = self.module_name("status")
        self.declared: list[str] = []
        """Declarations of workgroup and private memory."""
        self.regions: dict[str, Region] = {}
        self.leaves = not any(isinstance(op, gpu.Barrier) for op in self.op.walk())

    # -- the kernel ----------------------------------------------------------------------------

    def module_name(self, hint: str) -> str:
        """A name that is not yet used in the module."""
        base = name = self.fresh(f"{self.name}_{hint}")
        while name in self.language.needed:
            name = self.fresh(base)
        self.language.needed[name] = ""
        return name

    def region(
        self, name: str, hint: str, type: MemRefType, packed: bool = False, written: bool = True
    ) -> Region:
        """Register an array `name` for a buffer of a type."""
        short = self.language.stored(type.element_type)
        named = lambda what: self.module_name(f"{hint}_{what}")  # noqa: E731
        self.regions[name] = Region(name, short, named, packed, written)
        return self.regions[name]

    def heading(self, threads: int, ids: Sequence[str]) -> str:
        count, number = -(-self.words // 4), len(self.parameters)
        words = f"@group(0) @binding({number}) var<uniform> nnc_words: array<vec4<u32>, {count}>;"
        start = f"@compute @workgroup_size({threads})\nfn {self.name}({', '.join(ids)})"
        functions = [text for one in self.regions.values() for _, text in one.functions.values()]
        return "\n".join([*self.parameters, words, *self.declared, *functions, start])

    def text(self) -> str:
        return super().text().replace("nnc_words", self.module_name("words"))

    def _argument(self, number: int, arg: Value) -> None:
        hint = arg.name_hint or f"arg{number}"
        if not isinstance(arg.type, MemRefType):
            self.kinds += "w" if isinstance(arg.type, IndexType) else str(scalar_bytes(arg.type))
            (name,) = self.bind_names(arg, hint)
            self._number(name, arg.type)
            return
        name, only_read = self.module_name(hint), self.facts.reads.only(arg)
        region = self.region(name, hint, arg.type, packed=True, written=not only_read)
        access = "read" if only_read else "read_write"
        self._take("memory", name=name, kind=region.array, access=access)
        self.kinds += "r" if only_read else "a"
        place = self.fresh(f"{hint}_at")
        self.line(f"let {place} = i32({self._word()} / {int(region.short[1:]) // 8}u);")
        sizes = [self.fresh(f"{hint}_{what}{axis}") for what, axis in open_parts(arg.type)]
        for size in sizes:
            self._number(size, IndexType())
        self.kinds += "w" * len(sizes)
        self.values[arg] = from_parts(arg.type, f"{name} + {place}", sizes)

    def _word(self) -> str:
        self.words += 1
        return f"nnc_words[{(self.words - 1) // 4}].{'xyzw'[(self.words - 1) % 4]}"

    def _number(self, name: str, type: Type) -> None:
        word, kind = self._word(), self.language.type(type)
        if isinstance(type, FloatType) and type.kind == "f32":
            word = f"bitcast<f32>({word})"
        elif self.language.bits(type) == 64:
            word = f"vec2<u32>({word}, {self._word()})"
        else:
            word = self.converted(word, IntegerType(32), type)
        self.line(f"let {name}: {kind} = {word};")

    def _own(self, kind: str, value: Value) -> None:
        type, name = value.type, self.module_name(value.name_hint or kind)
        region = self.region(name, value.name_hint or kind, type)
        space = "workgroup" if kind == "workgroup" else "private"
        count = max(1, type.num_elements)
        self.declared.append(f"var<{space}> {name}: array<{region.array}, {count}>;")
        self.values[value] = Buffer(name, type.shape, row_major(type.shape))

    # -- memory --------------------------------------------------------------------------------

    def place(self, base: Value, indices: Sequence[Value]) -> tuple[Region, Any]:
        """The array of a buffer, and the subscript of an element."""
        buffer = self.values[base]
        name, _, start = buffer.pointer.partition(" + ")
        if name not in self.regions:
            raise NncError(f"looks into a buffer from within, which has no form in {WGSL.name}")
        at = offset(buffer, [self.values[i] for i in indices])
        return self.regions[name], plus(start, at) if start else at

    def value_of(self, text: str, type: Type) -> str:
        """Text of memory contents as a value: truth values are bytes, indices have 64 bits."""
        element = lane_type(type)
        if isinstance(element, IndexType):
            return f"i32({text}.x)"
        if element is not IntegerType(1):
            return text
        return self.converted(text, of_integers(type, 32) if lanes_of(type) > 1 else _WORD, type)

    def stored_as(self, text: str, type: Type) -> str:
        """A value converted to its form in memory."""
        element = lane_type(type)
        if element is not IntegerType(1) and not isinstance(element, IndexType):
            return stripped(text)
        bits = 64 if isinstance(element, IndexType) else 32
        wanted = of_integers(type, bits) if lanes_of(type) > 1 else IntegerType(bits)
        return self.converted(text, type, wanted)

    def read(self, op: Any, base: Value, indices: Sequence[Value]) -> str:
        """The text that reads a scalar, or a vector of adjacent elements."""
        type = op.results[0].type
        region, at = self.place(base, indices)
        count = lanes_of(type)
        return self.value_of(region.element(at) if count == 1 else region.elements(at, count), type)

    def write(self, op: Any, base: Value, value: Value, indices: Sequence[Value]) -> None:
        """Print a store of a scalar or of adjacent elements, with its mask if it has one."""
        type, count = value.type, lanes_of(value.type)
        region, at = self.place(base, indices)
        text = self.stored_as(self.text_of(value), type)
        mask = stripped(self.text_of(op.mask)) if hasattr(op, "mask") else None
        if count > 1:
            self.line(region.all_assigned(at, count, text, mask))
        else:
            statement = region.assigned(at, text)
            self.line(f"if ({mask}) {{ {statement} }}" if mask else statement)

    # -- operations ----------------------------------------------------------------------------

    def text_of(self, value: Value) -> str:
        """A value as an operand; a negative index gets a type, so that `u32` keeps its bits."""
        known = self.values[value]
        if isinstance(known, int) and known < 0:
            return f"i32({known})"
        return super().text_of(value)

    def is_mask(self, type: Type) -> bool:
        """False: vectors of truth values are vectors like others."""
        return False

    def vector_type(self, type: Type, letter: str = "") -> str:
        if letter:
            return self.language.wide("i32" if letter == "i" else "u32", lanes_of(type))
        return self.language.type(type)

    def kind(self, type: Type) -> str:
        """The kind of elements: `f`, `b`, `x` (index), `s` (< 32 bits), `u` (32 bits), `w` (64)."""
        element = lane_type(type)
        if isinstance(element, FloatType):
            return "f"
        if isinstance(element, IndexType):
            return "x"
        bits = self.language.bits(element)
        return "b" if bits == 1 else "s" if bits < 32 else "u" if bits == 32 else "w"

    def computed(
        self,
        name: str,
        args: Sequence[str],
        source: Type,
        type: Type,
        wild: bool = False,
        op: Any = None,
    ) -> str:
        if is_half(type) and is_half(source):
            return super().computed(name, args, source, type, wild, op)
        kind, base = self.kind(source), name.rpartition(".")[2]
        template = TEMPLATES.get(f"{name}:{kind}")
        if template is None and (kind in "fsu" or (kind in "wx" and base in BITWISE)):
            template = TEMPLATES.get(name)
        if template is None:
            raise NncError(f"has no form in {self.language.name} on {source}")
        bits = self.language.bits(lane_type(source))
        if kind == "s" and base in SIGNED:
            args = [self.lanewise(f"sext_{bits}", source, source, a) for a in args]
        if op is not None and name in ("arith.addf", "arith.subf"):
            args = [self.opaque(a, op, i) for i, a in enumerate(args)]
        words = {"T": self.language.type(type), "I": self.vector_type(source, "i")}
        words["W"] = str(self.language.bits(lane_type(type)))
        if template.startswith("@"):
            text = self.lanewise(template[1:].format(**words), source, type, *args)
        else:
            text = template.format(*args, **words)
        if kind == "s" and base == "ctlz":
            return f"{text} - {32 - bits}u"
        if kind == "s" and base == "cttz":
            return f"min({text}, {words['T']}({bits}u))"
        if kind == "s" and self.kind(type) == "s" and base not in CLOSED:
            text = self.lanewise(f"low_{bits}", source, source, text)
        return text

    def opaque(self, text: str, op: Operation, i: int) -> str:
        """The text of operand i, hidden from the compiler if it is a sum with the other operand.

        WGSL lets compilers simplify (a + b) - b to a, which would undo rounding by a large number.
        So the sum's bits are combined with a word of memory that is always zero.
        """
        made, other = op._operands[i].defining_op, op._operands[1 - i]
        if not isinstance(made, arith.AddF | arith.SubF | math.Fma):
            return text
        added, number = made._operands[2:] or made._operands, number_of(other)
        if other not in added and (number is None or abs(number) not in map(_size, added)):
            return text
        kind = op.results[0].type
        words, zero = self.vector_type(kind, "u"), "nnc_words[0].w"
        return f"bitcast<{self.language.type(kind)}>(bitcast<{words}>({text}) ^ {words}({zero}))"

    def lanewise(self, function: str, source: Type, type: Type, *args: str) -> str:
        """The call of a function on scalars: for a vector, once for each lane."""
        count, given = lanes_of(source), ", ".join(map(stripped, args))
        if count == 1:
            return f"{function}({given})"
        names = [self.language.type(lane_type(t)) for t in (source, type)]
        return (
            f"{self.language.lanewise(function, [names[0]] * len(args), names[1], count)}({given})"
        )

    def call(self, helper: str, type: Type, *arguments: str, index: str = "") -> str:
        if helper == "splat":
            return f"{self.vector_type(type)}({stripped(arguments[0])})"
        if helper.startswith("reduce_"):
            return self.reduced(helper[7:], type, *arguments)
        if "_of_" in helper:
            names = [
                self.language.scalars["f32" if n == "f32" else "u16"] for n in helper.split("_of_")
            ]
            full = self.language.lanewise(helper, names[1:], names[0], lanes_of(type))
            return f"{full}({', '.join(map(stripped, arguments))})"
        if helper.startswith("dot_"):
            return self.lanewise(helper, type, type, *arguments)
        raise NncError(f"has no form in {self.language.name} on {type}")

    def reduced(self, kind: str, type: Type, text: str, *start: str) -> str:
        """The text of a reduction of lanes: by folding halves, or in order."""
        element, ordered = lane_type(type), kind.endswith("_ordered")
        kind = kind.removesuffix("_ordered")
        name = (
            COMBINED_FLOATS.get(kind, COMBINED[kind]) if self.kind(type) == "f" else COMBINED[kind]
        )
        found = [*start, *(self.lane(text, i) for i in range(lanes_of(type)))]
        while len(found) > 1:
            half = 1 if ordered else -(-len(found) // 2)
            if ordered:
                pair = [found[0], found[1]]
                found = [f"({self.computed(name, pair, element, element)})", *found[2:]]
                continue
            for i in range(len(found) - half):
                pair = [found[i], found[i + half]]
                found[i] = f"({self.computed(name, pair, element, element)})"
            found = found[:half]
        return stripped(found[0])

    def converted(self, text: str, kind: Type, type: Type, signed: bool = False) -> str:
        """An integer, index or truth value converted to another type, with bits extended or cut."""
        one, other, count = self.kind(kind), self.kind(type), lanes_of(type)
        unsigned, index = (self.language.wide(n, count) for n in ("u32", "i32"))
        bits, wanted = (self.language.bits(lane_type(t)) for t in (kind, type))
        if one == other and bits == wanted:
            return text
        if one == "b":
            text = f"{unsigned}(-{index}({text}))" if signed else f"{unsigned}({text})"
        elif one == "x":
            text, signed = f"{unsigned}({text})", True
        elif one == "w":
            text = f"{text}.x"
        elif one == "s" and signed:
            text = self.lanewise(f"sext_{bits}", kind, kind, text)
        if other == "b":
            return (
                f"({text} & {unsigned}(1u)) != {unsigned}()"
                if count > 1
                else f"({text} & 1u) != 0u"
            )
        if other == "x":
            return f"{index}({stripped(text)})"
        if other == "s" and (
            (one == "b" and not signed) or (one == "s" and bits < wanted and not signed)
        ):
            return text
        if other == "s":
            return self.lanewise(f"low_{wanted}", type, type, text)
        return (
            self.lanewise(f"{'s' if signed else 'u'}64_of_u32", _WORD, type, text)
            if other == "w"
            else text
        )
