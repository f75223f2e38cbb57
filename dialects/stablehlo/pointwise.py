"""The ops of stablehlo that work element by element, as a table."""

from __future__ import annotations

from ..quant import UniformType
from ..vocabulary import *
from .attributes import ResultAccuracy, parameters_kind
from .checks import check_same_shape, same_elements, shaped
from .kinds import table

PURE = (Pure,)

LINES = """
    abs                        number -> magnitude | |x|
    cbrt                       float               | the cube root of x
    ceil                       float               | x rounded up
    convert                    any -> any          | x with elements of another type
    cosine                     float               | cos(x)
    count_leading_zeros        int                 | how many of the highest bits are 0
    exponential                float               | exp(x)
    exponential_minus_one      float               | exp(x) - 1
    floor                      float               | x rounded down
    imag                       float -> real       | the imaginary part of x
    is_finite                  float -> bool       | whether x is neither infinite nor NaN
    log                        float               | the natural logarithm of x
    log_plus_one               float               | log(1 + x)
    logistic                   float               | 1 / (1 + exp(-x))
    negate                     number              | -x
    not                        int                 | not x, bit by bit
    popcnt                     int                 | how many bits are 1
    real                       float -> real       | the real part of x
    round_nearest_afz          float               | x rounded, halves away from zero
    round_nearest_even         float               | x rounded, halves to the even integer
    rsqrt                      float               | 1 / sqrt(x)
    sign                       number              | -1, 0 or 1 as x is negative, zero or positive
    sine                       float               | sin(x)
    sqrt                       float               | the square root of x
    tan                        float               | tan(x)
    tanh                       float               | tanh(x)
    uniform_dequantize         any -> any          | the real numbers that quantized ones stand for
    uniform_quantize           any -> any          | x as integers that stand for real numbers
    add                        any, any            | x + y; or for truth values
    and                        int, int            | x and y, bit by bit
    atan2                      float, float        | the angle of the point (y, x)
    divide                     number, number      | x / y; integers are cut towards zero
    maximum                    any, any            | the greater of x and y
    minimum                    any, any            | the lesser of x and y
    multiply                   any, any            | x * y; and for truth values
    or                         int, int            | x or y, bit by bit
    power                      number, number      | x to the power of y
    remainder                  number, number      | x - y * (x / y cut towards zero)
    shift_left                 int, int            | x * 2**y
    shift_right_arithmetic     int, int            | x / 2**y, with the sign bit repeated
    shift_right_logical        int, int            | x / 2**y, of the bits as an unsigned number
    subtract                   number, number      | x - y
    xor                        int, int            | x xor y, bit by bit
"""
"""Name, kinds of the operands' elements, and of the result's where it is another type."""

COMMUTATIVE = ("add", "and", "maximum", "minimum", "multiply", "or", "xor")


def _is_number(type: Type) -> bool:
    return isinstance(type, IntegerType | FloatType | ComplexType)


def real_of(element: Type) -> Type:
    """The type of the parts of a complex number."""
    return element.element_type if isinstance(element, ComplexType) else element


KINDS: dict[str, tuple[str, Callable[[Any], bool], str]] = {
    "any": ("any type", lambda t: True, "f32"),
    "int": ("integers", lambda t: isinstance(t, IntegerType), "i32"),
    "float": ("floats", lambda t: isinstance(t, FloatType | ComplexType), "f32"),
    "number": ("numbers", _is_number, "f32"),
}
"""Kinds of elements: their words, what is allowed, and one for the example."""

RESULTS: dict[str, Callable[[Any], Any]] = {
    "magnitude": real_of,
    "real": real_of,
    "bool": lambda element: i1,
    "any": lambda element: None,
}

UNARY_FORMAT = "operands attr-dict `:` custom<SameOperandsAndResultType>(operands, type(results))"


class Pointwise(Op, traits=PURE):
    """Base of the ops of the table."""

    result_accuracy: Any = attribute(parameters_kind(ResultAccuracy), optional=True)
    result: Result = result(AnyType)

    format = UNARY_FORMAT
    kinds = ("any",)
    gives = ""

    def verify_op(self) -> None:
        check_same_shape(self)
        elements = [shaped(t).element_type for t in self.operand_types]
        if any(isinstance(t, UniformType) for t in elements):
            return  # they may differ in scales
        for kind, element in zip(self.kinds, elements, strict=True):
            words, allows, _ = KINDS[kind]
            if not allows(element):
                raise self.error(f"operand must be a tensor of {words}, but got '{element}'")
        if any(element is not elements[0] for element in elements):
            raise self.error("requires the same element type for all operands")
        wanted = RESULTS[self.gives](elements[0]) if self.gives else elements[0]
        found = shaped(self.result_types[0]).element_type
        if wanted is not None and found is not wanted:
            raise self.error(f"result must have elements of type '{wanted}', but got '{found}'")


class Unary(Pointwise):
    """A function of one tensor."""

    input: Operand = operand(AnyTensor)


class Binary(Pointwise):
    """A function of two tensors."""

    lhs: Operand = operand(AnyTensor)
    rhs: Operand = operand(AnyTensor)


def rows(lines: str) -> dict[str, tuple[tuple[str, ...], str, str]]:
    """{name: (kinds of operands, kind of result, summary)} of a table's lines."""
    found = {}
    for line in lines.strip().splitlines():
        head, _, summary = line.partition(" | ")
        name, _, signature = head.strip().partition(" ")
        kinds, _, gives = (part.strip() for part in signature.partition("->"))
        found[name] = (tuple(kind.strip() for kind in kinds.split(",")), gives, summary.strip())
    return found


_ROWS = rows(LINES)


def _example(name: str, kinds: tuple[str, ...], gives: str) -> str:
    operands = ", ".join(["%x", "%y"][: len(kinds)])
    element = KINDS[kinds[0]][2]
    type = f"tensor<4x{element}>"
    if name.startswith("chlo."):
        types = ", ".join([type] * len(kinds))
        return (
            f"%r = {name} {operands} : {types} -> tensor<4x{'i1' if gives == 'bool' else element}>"
        )
    if gives in ("bool", "real", "any"):
        source = f"tensor<4x{'complex<f32>' if gives == 'real' else element}>"
        to = {"bool": "i1", "real": "f32", "any": "i32"}[gives]
        type = f"({source}) -> tensor<4x{to}>"
    return f"%r = {name} {operands} : {type}"


def declare(full_name: str, module: str, row: Any, unary: Any, binary: Any, traits: Any) -> Any:
    """The class of an op of a table."""
    kinds, gives, summary = row
    name = full_name.partition(".")[2]
    body: dict[str, Any] = {
        "__module__": module,
        "__doc__": f"Element by element: {summary}.",
        "kinds": kinds,
        "gives": gives,
        "example": _example(full_name, kinds, gives),
    }
    class_name = "".join(part.title() for part in name.split("_"))
    body["__qualname__"] = class_name
    base = unary if len(kinds) == 1 else binary
    return OpMeta(class_name, (base,), body, name=full_name, traits=traits)


def _declare(full_name: str) -> Any:
    name = full_name.partition(".")[2]
    traits = (Commutative,) if name in COMMUTATIVE else ()
    return declare(full_name, __name__, _ROWS[name], Unary, Binary, traits)


registry.defer_ops([f"stablehlo.{name}" for name in _ROWS], _declare)


OPS = table(
    """
    compare: Whether a relation holds, element by element.
      !comparison_direction:comparison_direction lhs:tensor rhs:tensor
      !compare_type:comparison_type? -> result:tensor
    = $comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? FUNCTIONAL
    > %r = stablehlo.compare LT, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>

    complex: Complex numbers of real and imaginary parts.
      lhs:tensor rhs:tensor -> result:tensor
    = operands attr-dict `:` custom<ComplexOpType>(operands, type(results))
    > %r = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>

    select: `on_true` where the predicate holds, else `on_false`.
      pred:tensor on_true:tensor on_false:tensor -> result:tensor
    = operands attr-dict `:` custom<SelectOpType>(operands, type(results))
    > %r = stablehlo.select %p, %x, %y : tensor<4xi1>, tensor<4xf32>

    clamp: Elements that are at least `low` and at most `high`.
      low:tensor input:tensor high:tensor -> result:tensor
    = operands attr-dict `:` custom<SameOperandsAndResultType>(operands, type(results))
    > %r = stablehlo.clamp %low, %x, %high : tensor<4xf32>

    reduce_precision: Elements rounded as a float of fewer exponent and mantissa bits holds them.
      input:tensor !exponent_bits:any !mantissa_bits:any -> result:tensor
    = custom<SomeOperands>(operands) `,` `format` `=` custom<ExponentMantissa>($exponent_bits,
      $mantissa_bits) attr-dict `:` custom<SameOperandsAndResultType>(operands, type(results))
    > %r = stablehlo.reduce_precision %x, format = e5m10 : tensor<4xf32>

    optimization_barrier: Its operands; nothing is moved across it.
      values:any* -> outs:any*
    = custom<Barrier>($values) attr-dict custom<ListedTypes>($values, type($outs))
    > %r = stablehlo.optimization_barrier %x : tensor<4xf32>
    """,
    Pure,
)


@OPS.verifies("compare")
def _check_compare(op: Any) -> None:
    check_same_shape(op)
    left, right = (shaped(t).element_type for t in op.operand_types)
    if not same_elements(left, right):
        raise op.error("requires the same element type for all operands")
    if shaped(op.result.type).element_type is not i1:
        raise op.error("result must have elements of type 'i1'")


@OPS.verifies("complex")
def _check_complex(op: Any) -> None:
    check_same_shape(op)
    element = shaped(op.result.type).element_type
    parts = {shaped(t).element_type for t in op.operand_types}
    if not isinstance(element, ComplexType) or parts != {element.element_type}:
        raise op.error("result must have complex elements of the operands' type")


@OPS.verifies("select")
def _check_select(op: Any) -> None:
    pred, *values = (shaped(t) for t in (*op.operand_types, *op.result_types))
    if pred.element_type is not i1:
        raise op.error("predicate must have elements of type 'i1'")
    check_same_shape(op, 0 if pred.rank else 1)
    if not all(same_elements(t.element_type, values[0].element_type) for t in values):
        raise op.error("requires the same element type for what is selected")


@OPS.verifies("clamp")
def _check_clamp(op: Any) -> None:
    low, value, high = (shaped(t) for t in op.operand_types)
    for bound in (low, high):
        if not same_elements(bound.element_type, value.element_type) or (
            bound.rank and bound.rank != value.rank
        ):
            raise op.error("bounds must be 0-d or of the operand's type")
    if not same_elements(shaped(op.result.type).element_type, value.element_type):
        raise op.error("result must have elements of the operand's type")


@OPS.verifies("reduce_precision")
def _check_reduce_precision(op: Any) -> None:
    check_same_shape(op)
    for name, value in (("exponent", op.exponent_bits), ("mantissa", op.mantissa_bits)):
        least = 1 if name == "exponent" else 0
        if not isinstance(value, IntegerAttr) or value.type is not i32 or value.value < least:
            raise op.error(f"{name}_bits must be an i32 of at least {least}")


class Cholesky(Op, name="stablehlo.cholesky", traits=PURE):
    """The triangular factor of symmetric positive matrices, lower or upper."""

    a: Operand = operand(AnyTensor)
    lower = attribute(BOOL, default=False)
    result: Result = result(AnyTensor)

    format = (
        "custom<SomeOperands>(operands) (`,` `lower` `=` $lower^)? attr-dict `:` "
        "custom<SameOperandsAndResultType>(operands, type(results))"
    )
    example = "%r = stablehlo.cholesky %x, lower = true : tensor<4x4xf32>"

    def verify_op(self) -> None:
        check_same_shape(self)
        shape = shaped(self.result.type).shape
        if len(shape) < 2 or (None not in shape[-2:] and shape[-1] != shape[-2]):
            raise self.error("operand must hold square matrices")


@OPS.verifies("optimization_barrier")
def _check_optimization_barrier(op: Any) -> None:
    if op.operand_types != op.result_types:
        raise op.error("requires the same types for operands and results")


class Constant(Op, name="stablehlo.constant", traits=(Pure, ConstantLike)):
    """The value of an attribute."""

    value: Any = attribute(ANY)
    output: Result = result(AnyTensor)

    format = "attr-dict $value"
    example = "%c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>"

    @classmethod
    def infer_result_types(cls, operand_types, properties, regions=()):
        """The type of the value."""
        type = getattr(properties.get("value"), "type", None)
        return [type] if isinstance(type, TensorType) else None

    def result_names(self) -> list[str]:
        """`%c` of integers, `%cst` of others."""
        element = getattr(self.output.type, "element_type", None)
        return ["c" if isinstance(element, IntegerType) else "cst"]

    def fold(self):
        return [self.value]

    def verify_op(self) -> None:
        type: Any = self.output.type
        if isinstance(type.element_type, UniformType):
            type = TensorType(type.shape, type.element_type.storage)
        if getattr(self.value, "type", None) is not type:
            raise self.error("value must be elements of the result's type")
