"""Types of the llvm dialect, with upstream's text.

Inside another llvm type, upstream leaves out the prefix: `!llvm.struct<(ptr, array<3 x i64>)>`.
Scalars and vectors are the builtin types.
"""

from __future__ import annotations

from typing import ClassVar

from ...ir.syntax.attribute_printer import quote
from ...ir.types import OpaqueType
from ..vocabulary import *


@attribute_class
class PointerType(Type):
    """`!llvm.ptr`, an opaque pointer; `!llvm.ptr<1>` in another address space."""

    address_space: int = 0
    name: ClassVar[str] = "llvm.ptr"
    grammar: ClassVar[str] = '| "<" INTEGER ">"'

    @classmethod
    def from_syntax(cls, child: Sequence[Any]) -> PointerType:
        """The instance for the parse tree of `<1>`."""
        return cls(int(child[0][0], 0)) if child else cls()

    def parameters_text(self) -> str:
        """The text after the type's name."""
        return f"<{self.address_space}>" if self.address_space else ""


@attribute_class
class PlainType(Type):
    """Base of the types without parameters."""

    def parameters_text(self) -> str:
        """Nothing follows the type's name."""
        return ""


class VoidType(PlainType):
    """`!llvm.void`, the result of a function that returns nothing."""

    name: ClassVar[str] = "llvm.void"


class TokenType(PlainType):
    """`!llvm.token`, which ties operations together and is no value in memory."""

    name: ClassVar[str] = "llvm.token"


class LabelType(PlainType):
    """`!llvm.label`, a block."""

    name: ClassVar[str] = "llvm.label"


class MetadataType(PlainType):
    """`!llvm.metadata`, metadata as an argument."""

    name: ClassVar[str] = "llvm.metadata"


class X86AMXType(PlainType):
    """`!llvm.x86_amx`, a tile of AMX."""

    name: ClassVar[str] = "llvm.x86_amx"


class PPCFP128Type(PlainType):
    """`!llvm.ppc_fp128`, a pair of doubles."""

    name: ClassVar[str] = "llvm.ppc_fp128"


@attribute_class
class TargetType(Type):
    """`!llvm.target<"spirv.Image", i32, 0>`, a type of a target: its name, types, numbers."""

    target: str
    types: tuple[Type, ...] = ()
    numbers: tuple[int, ...] = ()
    name: ClassVar[str] = "llvm.target"
    grammar: ClassVar[str] = (
        '"<" STRING ">" -> neither | "<" STRING "," types_in_llvm ">" -> types '
        '| "<" STRING "," bare_numbers ">" -> numbers '
        '| "<" STRING "," types_in_llvm "," bare_numbers ">" -> both'
    )

    @classmethod
    def from_syntax(cls, child: Sequence[Any]) -> TargetType:
        """From what the grammar made of `<"x", i32, 0>`."""
        kind, (target, _), *rest = child
        types = tuple(rest[0]) if kind in ("types", "both") else ()
        numbers = [int(token[0], 0) for token in rest[-1]] if kind in ("numbers", "both") else ()
        return cls(target, types, tuple(numbers))

    def parameters_text(self) -> str:
        """The text behind the type's name: the target's name, types and numbers in `<>`."""
        parts = [quote(self.target), *map(str, self.types), *map(str, self.numbers)]
        return f"<{', '.join(parts)}>"


@attribute_class
class ArrayType(Type):
    """`!llvm.array<4 x f32>`"""

    size: int
    element_type: Type
    name: ClassVar[str] = "llvm.array"
    grammar: ClassVar[str] = '"<" INTEGER "x" TYPE_IN_LLVM ">"'

    @classmethod
    def from_syntax(cls, child: Sequence[Any]) -> ArrayType:
        """The instance for the parse tree of `<4 x f32>`."""
        size = int(child[0][0], 0)
        if size < 0:
            raise NncError("the size of an array is not negative")
        _check_member(child[1], "array element")
        return cls(size, child[1])

    def parameters_text(self) -> str:
        """The text after the type's name."""
        return f"<{self.size} x {nested_text(self.element_type)}>"


@attribute_class
class StructType(Type):
    """`!llvm.struct<(ptr, i64)>`, `!llvm.struct<packed (i8, i32)>`, `!llvm.struct<"name", (i8)>`.

    With an `identifier`, `form` may be "opaque", a struct without a body, or "reference", the
    mention of a struct inside its own body.
    """

    elements: tuple[Type, ...]
    packed: bool = False
    identifier: str | None = None
    form: str = ""
    name: ClassVar[str] = "llvm.struct"
    grammar: ClassVar[str] = (
        '"<" "(" ")" ">" -> plain | "<" "(" types_in_llvm ")" ">" -> plain '
        '| "<" "packed" "(" ")" ">" -> packed | "<" "packed" "(" types_in_llvm ")" ">" -> packed '
        '| "<" STRING "," "(" ")" ">" -> named | "<" STRING "," "(" types_in_llvm ")" ">" -> named '
        '| "<" STRING "," "packed" "(" ")" ">" -> named_packed '
        '| "<" STRING "," "packed" "(" types_in_llvm ")" ">" -> named_packed '
        '| "<" STRING "," "opaque" ">" -> opaque | "<" STRING ">" -> reference'
    )

    @classmethod
    def from_syntax(cls, child: Sequence[Any]) -> StructType:
        """The instance for the parse tree of `<packed (i8, i32)>`."""
        kind, *rest = child
        identifier = rest.pop(0)[0] if kind not in ("plain", "packed") else None
        elements = tuple(rest[0]) if rest else ()
        for element in elements:
            _check_member(element, "LLVM structure element")
        form = kind if kind in ("opaque", "reference") else ""
        return cls(elements, kind in ("packed", "named_packed"), identifier, form)

    def __post_init__(self) -> None:
        object.__setattr__(self, "elements", tuple(self.elements))

    def parameters_text(self) -> str:
        """The text after the type's name."""
        inner = ", ".join(nested_text(t) for t in self.elements)
        body = f"{'packed ' if self.packed else ''}({inner})"
        if self.identifier is None:
            return f"<{body}>"
        head = quote(self.identifier)
        if self.form == "reference":
            return f"<{head}>"
        return f"<{head}, {self.form or body}>"


@attribute_class
class LLVMFunctionType(Type):
    """`!llvm.func<i32 (ptr, ...)>`; the result of a function without one is `void`."""

    output: Type
    inputs: tuple[Type, ...]
    variadic: bool = False
    name: ClassVar[str] = "llvm.func"
    grammar: ClassVar[str] = (
        '"<" TYPE_IN_LLVM "(" ")" ">" -> fixed '
        '| "<" TYPE_IN_LLVM "(" types_in_llvm ")" ">" -> fixed '
        '| "<" TYPE_IN_LLVM "(" "..." ")" ">" -> variadic '
        '| "<" TYPE_IN_LLVM "(" types_in_llvm "," "..." ")" ">" -> variadic'
    )

    @classmethod
    def from_syntax(cls, child: Sequence[Any]) -> LLVMFunctionType:
        """The instance for the parse tree of `<i32 (ptr, ...)>`."""
        kind, output, *inputs = child
        for one in inputs[0] if inputs else ():
            _check_member(one, "function argument", ("llvm.void",))
        return cls(output, tuple(inputs[0]) if inputs else (), kind == "variadic")

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", tuple(self.inputs))

    @property
    def results(self) -> tuple[Type, ...]:
        """None or one, the way `func` counts."""
        return () if self.output is void else (self.output,)

    def as_function_type(self) -> FunctionType:
        """The builtin function type of the fixed part."""
        return FunctionType(self.inputs, self.results)

    def parameters_text(self) -> str:
        """The text after the type's name."""
        inner = [nested_text(t) for t in self.inputs] + (["..."] if self.variadic else [])
        return f"<{nested_text(self.output)} ({', '.join(inner)})>"


_NOT_IN_MEMORY = ("llvm.void", "llvm.label", "llvm.metadata", "llvm.func", "llvm.token")


def _check_member(type: Type, what: str, refused: tuple[str, ...] = _NOT_IN_MEMORY) -> None:
    """Raise for a type that cannot be a member; `what` names the aggregate."""
    if type.name in refused:
        raise NncError(f"invalid {what} type: '{type}'")


ptr = PointerType()
void = VoidType()
token = TokenType()


def function_type(inputs: tuple[Type, ...] | list[Type], *outputs: Type) -> LLVMFunctionType:
    """The function type from its inputs to none or one output."""
    (output,) = outputs or (void,)
    return LLVMFunctionType(output, tuple(inputs))


def nested_text(type: Attribute) -> str:
    """The text of a type inside an llvm type: without `!llvm.` in front."""
    return str(type).removeprefix("!llvm.")


def is_llvm_type(type: Attribute) -> bool:
    """Whether LLVM IR has the type: scalars, 1-d vectors, pointers and aggregates."""
    match type:
        case IntegerType():
            return type.is_signless
        case FloatType(kind):
            return kind in ("f16", "bf16", "f32", "f64", "f80", "f128")
        case VectorType(shape, element):
            return len(shape) == 1 and (
                is_llvm_type(element) and not isinstance(element, (StructType, ArrayType))
            )
        case PointerType() | PlainType() | TargetType():
            return True
        case OpaqueType(dialect):
            return dialect == "ptr"  # pointers of the dialect ptr stand where LLVM's do
        case ArrayType(_, element):
            return is_llvm_type(element)
        case StructType(elements):
            return all(is_llvm_type(t) for t in elements)
        case LLVMFunctionType(output, inputs):
            return is_llvm_type(output) and all(is_llvm_type(t) for t in inputs)
    return False
