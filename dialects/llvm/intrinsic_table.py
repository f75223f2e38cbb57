"""LLVM's intrinsics that nothing in nnc makes itself, as a table: `llvm.intr.*`.

Each line of a section gives a name, a signature and a summary. In a signature `a:int` is an
operand and its kind, `=a` the kind "of the same type as a", `!size:i64` an attribute, and what
follows `->` the result. The ops are declared when they are first met; all in a section share
one form of text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...ir.declare import float_kind
from ..vocabulary import *
from .arithmetic import AnyPointer, BoolLike, FloatLike, IntegerLike, LLVMType, PointerLike
from .attributes import EXCEPTION_BEHAVIOR, FASTMATH, ROUNDING_MODE
from .types import token


def _vector_of(words: str, *classes: type[Type]) -> Constraint:
    return Constraint(
        f"LLVM dialect-compatible vector of {words}",
        lambda t: isinstance(t, VectorType) and isinstance(t.element_type, classes),
    )


_INTEGER = Constraint("signless integer", lambda t: isinstance(t, IntegerType))
_FLOAT = Constraint("floating point LLVM type", lambda t: isinstance(t, FloatType))
_VECTOR = Constraint("LLVM dialect-compatible vector type", lambda t: isinstance(t, VectorType))

KINDS: dict[str, tuple[Any, str]] = {
    "int": (IntegerLike, "i32"),
    "float": (FloatLike, "f32"),
    "scalar_int": (_INTEGER, "i32"),
    "offset": (IntegerLike, "i64"),
    "num": (_INTEGER, "i64"),
    "scalar_float": (_FLOAT, "f32"),
    "i1": (Exactly(i1, "1-bit signless integer"), "i1"),
    "i8": (Constraint("8-bit signless integer", lambda t: t is IntegerType(8)), "i8"),
    "i32": (Constraint("32-bit signless integer", lambda t: t is i32), "i32"),
    "bool": (BoolLike, "i1"),
    "ptr": (AnyPointer, "!llvm.ptr"),
    "ptrs": (PointerLike, "!llvm.ptr"),
    "token": (Exactly(token, "LLVM token type"), "!llvm.token"),
    "any": (LLVMType, "i32"),
    "vec": (_VECTOR, "vector<4xf32>"),
    "wide": (_VECTOR, "vector<8xf32>"),
    "block": (_VECTOR, "vector<16xf32>"),
    "ints": (_vector_of("signless integer", IntegerType), "vector<4xi32>"),
    "longs": (_vector_of("signless integer", IntegerType), "vector<4xi64>"),
    "floats": (_vector_of("floating-point", FloatType), "vector<4xf32>"),
    "doubles": (_vector_of("floating-point", FloatType), "vector<4xf64>"),
    "pointers": (
        Constraint("vector of LLVM pointer type", lambda t: isinstance(t, VectorType)),
        "vector<4x!llvm.ptr>",
    ),
    "mask": (
        Constraint(
            "LLVM dialect-compatible vector of 1-bit signless integer",
            lambda t: isinstance(t, VectorType) and t.element_type is i1,
        ),
        "vector<4xi1>",
    ),
    "fraction": (LLVMType, "!llvm.struct<(f32, i32)>"),
    "float_pair": (LLVMType, "!llvm.struct<(f32, f32)>"),
    "overflowed": (LLVMType, "!llvm.struct<(i32, i1)>"),
    "halves": (LLVMType, "!llvm.struct<(vector<2xf32>, vector<2xf32>)>"),
}
"""Kinds of operands and results: (constraint, type in the example)."""

I8_ATTRIBUTE = AttrKind[int](
    "8-bit signless integer attribute",
    lambda a: isinstance(a, IntegerAttr) and a.type is IntegerType(8),
    lambda a: a.value,
    lambda value: IntegerAttr(value, IntegerType(8)),
    bare=IntegerType(8),
)
_ANY_INTEGER = AttrKind[int](
    "arbitrary integer attribute",
    lambda a: isinstance(a, IntegerAttr),
    lambda a: a.value,
    lambda value: IntegerAttr(value, i32),
)

ATTRIBUTES: dict[str, tuple[AttrKind[Any], str]] = {
    "i1": (BOOL, "false"),
    "i8": (I8_ATTRIBUTE, "1 : i8"),
    "i32": (I32, "4 : i32"),
    "i64": (I64, "4 : i64"),
    "f64": (float_kind(FloatType("f64")), "5.000000e-01 : f64"),
    "integer": (_ANY_INTEGER, "4 : i32"),
    "rounding": (ROUNDING_MODE, "tonearest"),
    "exceptions": (EXCEPTION_BEHAVIOR, "ignore"),
}
"""Kinds of attributes: (kind, value in the example)."""


@dataclass(frozen=True)
class Section:
    """Intrinsics of one form. `example` has the places {name}, {values}, {types}, {result},
    {attributes}, {type} (of the first operand) and those of single operands and attributes.
    """

    format: str | None
    example: str
    lines: str
    pure: bool = True
    fastmath: bool = False

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """(name, signature, summary) of each line."""
        for line in self.lines.strip().splitlines():
            name, signature, summary = (part.strip() for part in line.split("|"))
            yield f"llvm.intr.{name}", signature, summary


_FUNCTIONAL = "`(` operands `)` attr-dict `:` functional-type(operands, results)"
_FUNCTIONAL_EXAMPLE = "{left}{name}({values}) : ({types}) -> {result}"
_LISTED = "operands attr-dict `:` functional-type(operands, results)"
_LISTED_EXAMPLE = "{left}{name} {values} : ({types}) -> {result}"
_GENERIC_EXAMPLE = '{left}"{name}"({values}){attributes} : ({types}) -> {result}'

SECTIONS = (
    Section(
        _FUNCTIONAL,
        _FUNCTIONAL_EXAMPLE,
        """
        rint | x:float -> =x | The nearest integer in the current rounding mode.
        exp | x:float -> =x | e to the power of the operand.
        exp2 | x:float -> =x | 2 to the power of the operand.
        log | x:float -> =x | Natural logarithm.
        log2 | x:float -> =x | Logarithm to base 2.
        log10 | x:float -> =x | Logarithm to base 10.
        sin | x:float -> =x | Sine.
        cos | x:float -> =x | Cosine.
        tan | x:float -> =x | Tangent.
        asin | x:float -> =x | Arc sine.
        acos | x:float -> =x | Arc cosine.
        atan | x:float -> =x | Arc tangent.
        sinh | x:float -> =x | Hyperbolic sine.
        cosh | x:float -> =x | Hyperbolic cosine.
        tanh | x:float -> =x | Hyperbolic tangent.
        pow | a:float b:=a -> =a | a to the power of b.
        powi | val:float power:int -> =val | A float to an integer power.
        exp10 | x:float -> =x | 10 to the power of the operand.
        atan2 | y:float x:=y -> =y | The angle of a point.
        ldexp | val:float power:scalar_int -> =val | A float times 2 to an integer power.
        frexp | val:float -> fraction | A float's fraction, and its exponent.
        sincos | val:float -> float_pair | Sine and cosine.
        """,
        fastmath=True,
    ),
    Section(
        _FUNCTIONAL,
        _FUNCTIONAL_EXAMPLE,
        """
        bitreverse | x:int -> =x | The bits in reverse order.
        bswap | x:int -> =x | The bytes in reverse order.
        fshl | a:int b:=a c:=a -> =a | The high bits of two words shifted left as one.
        fshr | a:int b:=a c:=a -> =a | The low bits of two words shifted right as one.
        sadd.sat | a:int b:=a -> =a | Signed sum that stops at the ends of the range.
        uadd.sat | a:int b:=a -> =a | Unsigned sum that stops at the largest.
        ssub.sat | a:int b:=a -> =a | Signed difference that stops at the ends of the range.
        usub.sat | a:int b:=a -> =a | Unsigned difference that stops at zero.
        sshl.sat | a:int b:=a -> =a | Signed shift left that stops at the ends of the range.
        ushl.sat | a:int b:=a -> =a | Unsigned shift left that stops at the largest.
        scmp | a:int b:=a -> int | -1, 0 or 1 as signed a is below, equal to or above b.
        ucmp | a:int b:=a -> int | -1, 0 or 1 as unsigned a is below, equal to or above b.
        lround | val:float -> int | The nearest integer, ties away from zero, as a long.
        llround | val:scalar_float -> int | The same, as a long long.
        lrint | val:float -> int | The nearest integer in the rounding mode, as a long.
        llrint | val:float -> int | The same, as a long long.
        """,
    ),
    Section(
        None,
        _GENERIC_EXAMPLE,
        """
        sadd.with.overflow | a:int b:=a -> overflowed | Signed sum, and whether it wrapped.
        uadd.with.overflow | a:int b:=a -> overflowed | Unsigned sum, and whether it wrapped.
        ssub.with.overflow | a:int b:=a -> overflowed | Signed difference, and if it wrapped.
        usub.with.overflow | a:int b:=a -> overflowed | Unsigned difference, and if it wrapped.
        smul.with.overflow | a:int b:=a -> overflowed | Signed product, and whether it wrapped.
        umul.with.overflow | a:int b:=a -> overflowed | Unsigned product, and if it wrapped.
        is.constant | val:any -> i1 | Whether the value is known when compiling.
        threadlocal.address | global:ptr -> ptr | This thread's own of a variable.
        vector.interleave2 | vec1:vec vec2:=vec1 -> wide | Elements of two vectors in turn.
        vector.deinterleave2 | vec:vec -> halves | The even elements and the odd ones.
        """,
    ),
    Section(
        None,
        _GENERIC_EXAMPLE,
        """
        vp.add | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked sum.
        vp.sub | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked difference.
        vp.mul | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked product.
        vp.sdiv | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked signed quotient.
        vp.udiv | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked unsigned quotient.
        vp.srem | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked signed remainder.
        vp.urem | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked unsigned remainder.
        vp.ashr | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked shift right, sign in.
        vp.lshr | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked shift right, zeros in.
        vp.shl | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked shift left.
        vp.or | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked bitwise or.
        vp.and | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked bitwise and.
        vp.xor | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked bitwise exclusive or.
        vp.smax | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked larger, signed.
        vp.smin | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked smaller, signed.
        vp.umax | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked larger, unsigned.
        vp.umin | lhs:ints rhs:ints mask:mask evl:i32 -> ints | Masked smaller, unsigned.
        vp.fadd | lhs:floats rhs:floats mask:mask evl:i32 -> floats | Masked sum of floats.
        vp.fsub | lhs:floats rhs:floats mask:mask evl:i32 -> floats | Masked difference.
        vp.fmul | lhs:floats rhs:floats mask:mask evl:i32 -> floats | Masked product.
        vp.fdiv | lhs:floats rhs:floats mask:mask evl:i32 -> floats | Masked quotient.
        vp.frem | lhs:floats rhs:floats mask:mask evl:i32 -> floats | Masked remainder.
        vp.fneg | op:floats mask:mask evl:i32 -> floats | Masked change of sign.
        vp.fmuladd | op1:floats op2:floats op3:floats mask:mask evl:i32 -> floats | a * b + c.
        vp.fma | op1:floats op2:floats op3:floats mask:mask evl:i32 -> floats | a * b + c once.
        vp.reduce.add | start:scalar_int val:ints mask:mask evl:i32 -> any | Masked sum of all.
        vp.reduce.mul | start:scalar_int val:ints mask:mask evl:i32 -> any | Product of all.
        vp.reduce.and | start:scalar_int val:ints mask:mask evl:i32 -> any | And of all.
        vp.reduce.or | start:scalar_int val:ints mask:mask evl:i32 -> any | Or of all.
        vp.reduce.xor | start:scalar_int val:ints mask:mask evl:i32 -> any | Xor of all.
        vp.reduce.smax | start:scalar_int val:ints mask:mask evl:i32 -> any | The largest, signed.
        vp.reduce.smin | start:scalar_int val:ints mask:mask evl:i32 -> any | The smallest, signed.
        vp.reduce.umax | start:scalar_int val:ints mask:mask evl:i32 -> any | The largest.
        vp.reduce.umin | start:scalar_int val:ints mask:mask evl:i32 -> any | The smallest.
        vp.reduce.fadd | start:scalar_float val:floats mask:mask evl:i32 -> scalar_float | Sum.
        vp.reduce.fmul | start:scalar_float val:floats mask:mask evl:i32 -> scalar_float | Product.
        vp.reduce.fmax | start:scalar_float val:floats mask:mask evl:i32 -> scalar_float | Largest.
        vp.reduce.fmin | start:scalar_float val:floats mask:mask evl:i32 -> scalar_float | Smallest.
        vp.select | cond:mask true_val:vec false_val:vec evl:i32 -> vec | One of two vectors.
        vp.merge | cond:mask true_val:vec false_val:vec evl:i32 -> vec | The same; false at the end.
        vp.trunc | src:longs mask:mask evl:i32 -> ints | Masked narrower integers.
        vp.zext | src:ints mask:mask evl:i32 -> longs | Masked wider integers, zeros in.
        vp.sext | src:ints mask:mask evl:i32 -> longs | Masked wider integers, sign in.
        vp.fptrunc | src:doubles mask:mask evl:i32 -> floats | Masked narrower floats.
        vp.fpext | src:floats mask:mask evl:i32 -> doubles | Masked wider floats.
        vp.fptoui | src:doubles mask:mask evl:i32 -> longs | Masked unsigned integers of floats.
        vp.fptosi | src:doubles mask:mask evl:i32 -> longs | Masked signed integers of floats.
        vp.uitofp | src:longs mask:mask evl:i32 -> doubles | Masked floats of unsigned integers.
        vp.sitofp | src:longs mask:mask evl:i32 -> doubles | Masked floats of signed integers.
        vp.ptrtoint | src:pointers mask:mask evl:i32 -> longs | Masked integers of pointers.
        vp.inttoptr | src:longs mask:mask evl:i32 -> pointers | Masked pointers of integers.
        """,
    ),
    Section(
        None,
        _GENERIC_EXAMPLE,
        """
        vscale | -> scalar_int | How many times longer scalable vectors are than written.
        vp.load | ptr:ptr mask:mask evl:i32 -> ints | Masked load.
        vp.store | val:ints ptr:ptr mask:mask evl:i32 | Masked store.
        experimental.vp.strided.load | ptr:ptr step:num mask:mask evl:i32 -> ints | Strided load.
        experimental.vp.strided.store | val:ints ptr:ptr step:num mask:mask evl:i32 | Strided store.
        var.annotation | val:ptr annotation:ptr fileName:ptr line:i32 attr:ptr | A variable's note.
        ptr.annotation | ptr:ptr note:ptr file:ptr line:i32 attr:ptr -> =ptr | A note on a pointer.
        annotation | integer:scalar_int note:ptr file:ptr line:i32 -> =integer | A note on a number.
        """,
        pure=False,
    ),
    Section(
        "$ptr attr-dict `:` type($ptr)",
        "{name} %ptr : {type}",
        """
        lifetime.start | ptr:ptr | From here on, stack memory is used.
        lifetime.end | ptr:ptr | From here on, stack memory is not used.
        coro.resume | ptr:ptr | Go on with a coroutine.
        vastart | ptr:ptr | Start to read variadic arguments.
        vaend | ptr:ptr | End reading variadic arguments.
        stackrestore | ptr:ptr | Give back stack memory taken since a `stacksave`.
        """,
        pure=False,
    ),
    Section(
        "$ptr attr-dict `:` type($ptr)",
        "%r = {name} %ptr : {type}",
        """
        strip.invariant.group | ptr:ptr -> =ptr | The pointer, of no invariant group.
        ssa.copy | ptr:any -> =ptr | The value under another name.
        """,
        pure=False,
    ),
    Section(
        "attr-dict `:` type($res)",
        "%r = {name} : {result}",
        """
        coro.size | -> scalar_int | The bytes that a coroutine's frame takes.
        coro.align | -> scalar_int | The alignment of a coroutine's frame.
        stacksave | -> ptr | The stack as it is, for `stackrestore`.
        stepvector | -> ints | 0, 1, 2, ..
        """,
        pure=False,
    ),
    Section(
        "attr-dict",
        "{name}",
        """
        trap | | Stop the program.
        debugtrap | | Stop in a debugger.
        """,
        pure=False,
    ),
    Section(
        _LISTED,
        _LISTED_EXAMPLE,
        """
        ptrmask | ptr:ptrs mask:offset -> =ptr | The pointer with bits cleared.
        coro.id | align:i32 promise:ptr coroaddr:ptr fnaddrs:ptr -> token | A coroutine's identity.
        coro.begin | token:token mem:ptr -> ptr | The start of a coroutine; its frame.
        coro.save | handle:ptr -> token | The point to which a suspend goes back.
        coro.end | handle:ptr unwind:i1 retvals:token -> i1 | The end of a coroutine.
        coro.free | id:token handle:ptr -> ptr | The memory of a coroutine to be freed.
        coro.promise | handle:ptr align:i32 from:i1 -> ptr | Between a handle and its promise.
        eh.typeid.for | type_info:ptr -> i32 | The number of a type in an exception table.
        """,
        pure=False,
    ),
)


# -- declaring -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Signature:
    """What a signature says: operands (name, kind), attributes (name, kind), the result's kind."""

    operands: list[tuple[str, str]]
    attributes: list[tuple[str, str]]
    result: str | None

    @staticmethod
    def of(text: str) -> Signature:
        left, arrow, right = text.partition("->")
        pairs = [(n, k) for n, _, k in (word.partition(":") for word in left.split())]
        return Signature(
            [(n, k) for n, k in pairs if not n.startswith("!")],
            [(n[1:], k) for n, k in pairs if n.startswith("!")],
            right.strip() if arrow else None,
        )

    def fields(self) -> dict[str, Any]:
        """The fields of the class."""
        body: dict[str, Any] = {}
        for name, kind in self.operands:
            body[_field(name)] = operand(_constraint(kind))
        for name, kind in self.attributes:
            body[_field(name)] = attribute(ATTRIBUTES[kind][0], key=name)
        if self.result is not None:
            body["res"] = result(_constraint(self.result))
        return body

    def type_of(self, kind: str) -> str:
        """A type for the example."""
        return self.type_of(dict(self.operands)[kind[1:]]) if kind[0] == "=" else KINDS[kind][1]

    def places(self) -> dict[str, str]:
        """What the example's places stand for."""
        types = [self.type_of(kind) for _, kind in self.operands]
        given = ", ".join(f"{n} = {ATTRIBUTES[k][1]}" for n, k in sorted(self.attributes))
        return {
            "left": "" if self.result is None else "%r = ",
            "values": ", ".join(f"%{name}" for name, _ in self.operands),
            "types": ", ".join(types),
            "type": types[0] if types else "",
            "result": "()" if self.result is None else self.type_of(self.result),
            "attributes": f" <{{{given}}}>" if given else "",
        }


def _field(name: str) -> str:
    """A name that hides no member of an operation."""
    return f"{name}_" if hasattr(Op, name) or name in ("from", "global") else name


def _constraint(kind: str) -> Constraint:
    return Same(_field(kind[1:])) if kind[0] == "=" else KINDS[kind][0]


def declare_intrinsic(section: Section, name: str, signature: str, summary: str) -> Any:
    """Declare the op of one line."""
    said = Signature.of(signature)
    body: dict[str, Any] = {"__doc__": summary, "__module__": __name__, "format": section.format}
    body |= said.fields()
    if section.fastmath:
        body["fastmathFlags"] = attribute(FASTMATH, default="none")
    body["example"] = section.example.format(name=name, **said.places())
    plain = name.removeprefix("llvm.intr.").replace(".", "_")
    class_name = "Intr" + "".join(part.capitalize() for part in plain.split("_"))
    body["__qualname__"] = class_name
    return OpMeta(class_name, (Op,), body, name=name, traits=(Pure,) if section.pure else ())


_ROWS = {name: (section, name, *row) for section in SECTIONS for name, *row in section.rows()}

registry.defer_ops(_ROWS, lambda name: declare_intrinsic(*_ROWS[name]))
