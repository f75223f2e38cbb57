"""WGSL's table: types, literals, operations, and functions on vectors made of those on scalars."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ...dialects import gpu
from ...ir.diagnostics import NncError
from ...ir.packing import DOTS
from ...ir.types import IndexType, IntegerType, Type, VectorType, lane_type
from ..source.language import Language

PRELUDE = (Path(__file__).parent / "prelude.wgsl").read_text()
FUNCTIONS = {
    name: text
    for text in re.split(r"\n(?=fn |//)", PRELUDE)
    for name in re.findall(r"^fn (\w+)", text)
}
"""The functions of the prelude by name."""

_RESERVED = """
    alias break case const const_assert continue continuing default diagnostic discard else enable
    false fn for if let loop override requires return struct switch true var while NULL Self
    abstract active alignas alignof as asm asm_fragment async attribute auto await become cast catch
    class co_await co_return co_yield coherent column_major common compile compile_fragment concept
    const_cast consteval constexpr constinit crate debugger decltype delete demote
    demote_to_helper do dynamic_cast enum explicit export extends extern external fallthrough
    filter final finally friend from fxgroup get goto groupshared highp impl implements import
    inline instanceof interface layout lowp macro macro_rules match mediump meta mod module move
    mut mutable namespace new nil noexcept noinline nointerpolation non_coherent noncoherent
    noperspective null nullptr of operator package packoffset partition pass patch pixelfragment
    precise precision premerge priv protected pub public readonly ref regardless register
    reinterpret_cast require resource restrict self set shared sizeof smooth snorm static
    static_assert static_cast std subroutine super target template this thread_local throw trait
    try type typedef typeid typename typeof union unless unorm unsafe unsized use using varying
    virtual volatile wgsl where with writeonly yield
    abs all any array atan2 atomic atomicLoad atomicMax atomicXor bitcast bool ceil clamp cos
    countLeadingZeros countOneBits countTrailingZeros exp f16 f32 floor fma i32 log max min mix
    pow round select sign sin sqrt step tan tanh trunc u32 vec2 vec3 vec4 workgroupBarrier
    storageBarrier nnc_group nnc_thread nnc_words
"""

_INFIX = {"addf": "+", "subf": "-", "mulf": "*", "divf": "/"}
_INTEGERS = {"addi": "+", "subi": "-", "muli": "*", "andi": "&", "ori": "|", "xori": "^"}
_TRUTHS = {"addi": "!=", "subi": "!=", "xori": "!=", "andi": "&", "muli": "&", "ori": "|"}
_TRUTHS |= {"minui": "&", "maxui": "|", "minsi": "|", "maxsi": "&"}
_FUNCTIONS = "divsi divui remsi remui floordivsi ceildivsi ceildivui minsi maxsi shli shrui shrsi"
_BUILT_IN = {
    "absf": "abs", "ceil": "ceil", "floor": "floor", "trunc": "trunc", "roundeven": "round",
    "sqrt": "sqrt", "exp": "exp", "exp2": "exp2", "log": "log", "log2": "log2", "sin": "sin",
    "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "asinh": "asinh", "acosh": "acosh", "atanh": "atanh",
    "rsqrt": "1.0f / sqrt",
}  # fmt: skip
SIGNED = frozenset(
    {"divsi", "remsi", "minsi", "maxsi", "shrsi", "floordivsi", "ceildivsi", "absi", "ipowi"}
    | {"sitofp", "sitofp odd"}
)
"""Operations that depend on the sign of small integers."""
CLOSED = frozenset(
    {"andi", "ori", "xori", "divui", "remui", "minui", "maxui", "shrui", "ctpop", "ctlz", "cttz"}
)
"""Operations on small integers whose results stay within the type."""


BITWISE = frozenset(["addi", "subi", "muli", "andi", "ori", "xori"])
"""Operations written the same way for indices and, except for sums and products, for pairs of
words."""


def _templates() -> dict[str, str]:
    """The templates by operation; suffix `:w` for 64 bits, `:x` for indices, `:b` for truth values.

    `@name` is a function on scalars, which vectors apply lane by lane.
    """
    found = {f"arith.{name}": f"{{0}} {sign} {{1}}" for name, sign in (_INFIX | _INTEGERS).items()}
    found |= {f"arith.{name}:b": f"{{0}} {sign} {{1}}" for name, sign in _TRUTHS.items()}
    for name in ("addi", "subi", "muli"):
        found[f"arith.{name}:w"] = f"@{name}_64"
    for name in _FUNCTIONS.split():
        found[f"arith.{name}"], found[f"arith.{name}:w"] = f"@{name}_32", f"@{name}_64"
        found[f"arith.{name}:x"] = f"i32({name}_32(u32({{0}}), u32({{1}})))"
    for name in ("min", "max"):
        found[f"arith.{name}ui"], found[f"arith.{name}ui:w"] = (
            f"{name}({{0}}, {{1}})",
            f"@{name}ui_64",
        )
        found[f"arith.{name}si:x"] = f"{name}({{0}}, {{1}})"
        found[f"arith.{name}ui:x"] = f"i32({name}(u32({{0}}), u32({{1}})))"
        for full in (f"{name}imumf", f"{name}numf"):
            found[f"arith.{full}"] = f"@{full[:-1]}_32"
    counts = {"ctpop": "countOneBits", "ctlz": "countLeadingZeros", "cttz": "countTrailingZeros"}
    for name, function in counts.items():
        found[f"math.{name}"], found[f"math.{name}:w"] = f"{function}({{0}})", f"@{name}_64"
    for name in ("absi", "ipowi"):
        found[f"math.{name}"], found[f"math.{name}:w"] = f"@{name}_32", f"@{name}_64"
    found |= {f"math.{name}": f"{function}({{0}})" for name, function in _BUILT_IN.items()}
    for name in ("copysign", "isinf", "isfinite", "isnormal", "isnan", "clampf"):
        found[f"math.{name}"] = f"@{name}_32"
    return found


TEMPLATES = _templates() | {
    "arith.negf": "-{0}",
    "arith.remf": "@remf_32",
    "math.round": "@roundaway_32",
    "math.fma": "fma({0}, {1}, {2})",
    "math.powf": "pow({0}, {1})",
    "math.atan2": "atan2({0}, {1})",
    "math.fpowi": "fpowi_32({0}, i32({1}))",
    "least": "select({0}, {1}, {0} < {1})",
    "most": "select({0}, {1}, {0} > {1})",
    "arith.mulsi_extended": "@mulhsi_32",
    "arith.mului_extended": "@mulhui_32",
    "arith.sitofp": "{T}({I}({0}))",
    "arith.sitofp:b": "-{T}({0})",
    "arith.sitofp:w": "@f32_of_s64",
    "arith.uitofp": "{T}({0})",
    "arith.uitofp:b": "{T}({0})",
    "arith.uitofp:w": "@f32_of_u64",
    "arith.sitofp odd": "@odd_of_s32",
    "arith.sitofp odd:b": "-{T}({0})",
    "arith.sitofp odd:w": "@odd_of_s64",
    "arith.uitofp odd": "@odd_of_u32",
    "arith.uitofp odd:b": "{T}({0})",
    "arith.uitofp odd:w": "@odd_of_u64",
    "arith.fptosi": "@s{W}_of_f32",
    "arith.fptoui": "@uns{W}_of_f32",
    "whole": "@s{W}_of_f32",
    "cast": "{T}({0})",
    "recast": "{T}({0})",
    "choose": "select({2}, {1}, {0})",
    "lane": "{0}[{1}]",
    "any_lane": "{0}[{1}]",
    "lanes": "{T}({0})",
    "shuffle": "{T}({lanes})",
    "convert": "{T}({0})",
    "constant": "let {name} = {0};",
    "variable": "var {name}: {kind}{start};",
    "for": "for (var {name} = {low}; {first} < {last}; {name} += {step})",
    "forever": "loop",
    "restrict": "",
    "prefetch": "",
    "memory": "@group(0) @binding({number}) var<storage, {access}> {name}: array<{kind}>;",
    "status": "@group(0) @binding({number}) var<storage, read_write> {name}: atomic<u32>;",
    "failed": "atomicMax(&{0}, {1}u);",
    "gpu.barrier": "workgroupBarrier(); storageBarrier();",
    "gpu.thread_id": "nnc_thread[{axis}]",
    "gpu.block_id": "(nnc_group[{axis}] + nnc_words[0][{axis}])",
}


class WgslLanguage(Language):
    """WGSL: integers of 8 to 32 bits are `u32`, 64-bit ones pairs of those, truth values `bool`."""

    def element(self, type: Type) -> str:
        self.bits(type)
        return "i32" if isinstance(type, IndexType) else super().element(type)

    def stored(self, type: Type) -> str:
        """The short name of an element in memory: a truth value takes a byte, an index 8."""
        if isinstance(type, IndexType):
            return "u64"
        return "u8" if type is IntegerType(1) else self.element(type)

    def type(self, type: Type, mask: int = 32) -> str:
        scalar = lane_type(type)
        count = type.num_elements or 0 if isinstance(type, VectorType) else 1
        name = self.scalars["bool" if scalar is IntegerType(1) else self.element(scalar)]
        return name if count == 1 else self.wide(name, count)

    def vector(self, element: str, count: int) -> str:
        return self.wide(self.scalars[element], count)

    def wide(self, name: str, count: int) -> str:
        """The vector type of `count` scalars of a named type. Raises NncError if there is none."""
        if count > 4 or name.startswith("vec"):
            raise NncError(
                f"vectors of {count} elements of type {name} have no form in {self.name}"
            )
        return f"vec{count}<{name}>" if count > 1 else name

    def lanewise(self, function: str, types: list[str], result: str, count: int) -> str:
        """The name of a vector function that applies a scalar function to each lane."""
        full = f"{function}_x{count}"
        if full not in self.needed:
            names = "abcdef"[: len(types)]
            given = ", ".join(
                f"{n}: {self.wide(t, count)}" for n, t in zip(names, types, strict=True)
            )
            lanes = ", ".join(
                f"{function}({', '.join(f'{n}[{i}]' for n in names)})" for i in range(count)
            )
            result = self.wide(result, count)
            self.needed[full] = f"fn {full}({given}) -> {result} {{ return {result}({lanes}); }}\n"
        return full

    def literal(self, value: Any, type: Type) -> str:
        if type is IntegerType(1):
            return "true" if int(value) & 1 else "false"
        if isinstance(type, IntegerType) and self.bits(type) == 64:
            value = int(value) & ((1 << 64) - 1)
            return f"vec2<u32>({value & 0xFFFFFFFF}u, {value >> 32}u)"
        text = super().literal(value, type)
        return text.replace("3.4028235e+38", "3.4028234663852886e+38")  # is beyond it as written


WGSL = WgslLanguage(
    name="WGSL",
    scalars={
        **dict.fromkeys(("u8", "u16", "u32"), "u32"),
        **dict.fromkeys(("i8", "i16", "i32", "index"), "i32"),
        "u64": "vec2<u32>",
        "i64": "vec2<u32>",
        "f32": "f32",
        "bool": "bool",
    },
    templates=TEMPLATES,
    constants={
        "infinity": "f32_of_u32(0x7f800000u)",
        "nan": "f32_of_u32(0x7fc00000u)",
        "bits": "f{w}_of_u{w}({})",
    },
    functions=lambda name, words: "",
    reserved=frozenset([*_RESERVED.split(), *FUNCTIONS, *DOTS]),
    pointer_bits=32,
    spaces={gpu.GLOBAL: "", gpu.WORKGROUP: "", gpu.PRIVATE: ""},
    ids={
        "nnc_thread": "@builtin(local_invocation_id) nnc_thread: vec3<u32>",
        "nnc_group": "@builtin(workgroup_id) nnc_group: vec3<u32>",
    },
    most_parameters=8,
)


def functions_for(text: str) -> str:
    """The prelude's functions that a text uses, and those that these use."""
    found: dict[str, str] = {}
    rest = [text]
    while rest:
        for name in dict.fromkeys(re.findall(r"\w+", rest.pop())):
            if name in FUNCTIONS and name not in found:
                found[name] = FUNCTIONS[name].rstrip()
                rest.append(found[name])
    return "".join(f"{one}\n" for name, one in FUNCTIONS.items() if name in found)
