"""Weights that Keras has quantized to int8, int4 or floats of 8 bits, and products with them.

Source: keras.quantizers, and `_int8_call`, `_int4_call` and `_float8_call` of Keras's layers.
"""

from __future__ import annotations

from ....ir.numpy_types import type_to_numpy
from ...common.vocabulary import *
from ..layer import KerasLayer

FLOAT8 = FloatType("f8E4M3FN")
FLOAT8_LARGEST = 448.0
"""The largest finite number of that type."""
FLOAT8_STATES = 6
"""Weights of a float8 layer for training: scale and history of the input, kernel and gradient."""
GROUPED = 3
"""Arrays of a kernel in groups: integers, scales and zero points. Without groups there are two."""


def weights_of(
    n: KerasLayer, bias: bool, shape: Sequence[int] | None = None
) -> tuple[Value, list[Value], Value | None]:
    """The kernel; a list with its bias, if any; and a scale: of an int8 kernel, or of float8 input.

    An int4 kernel becomes floats of the given shape. HDF5 files have the bias first.
    """
    mode = n.quantization
    if mode is None:
        kernel, *others = n.weights(1 + bias)
        return kernel, others, None
    n.option("quantization_config", None)
    if mode == "float8":
        kernel, *others = n.weights(1 + bias + FLOAT8_STATES)
        scale, _, own_scale, *_ = others[bias:]
        own = [n.cast(n.cast(v, bf16), n.element) if n.result is f32 else v for v in others[:bias]]
        return _rounded(n, Term(n, kernel), own_scale), own, scale
    found = n.weights()
    whole = [v for v in found if v.type.element_type is i8]
    floats = [v for v in found if v.type.element_type is not i8]
    own, (scale, *groups) = floats[:bias], floats[bias:]
    if mode == "int8" and len(whole) == 1 and not groups:
        return whole[0], own, scale
    if not mode.startswith("int4/") or not len(whole) - 1 == len(groups) <= 1:
        raise n.error(f"weights quantized as {mode} are not supported")
    numbers = _nibbles(_array(n, whole[0]), scale.type.shape[-1])
    table = _floats(numbers, *(_array(n, v) for v in (scale, *whole[1:], *groups)))
    kernel = n.constant(table if shape is None else table.reshape(shape), n.element)
    return kernel, own, _one(n)


def kernel_shape(n: KerasLayer, equation: str, x: Value) -> list[int]:
    """The shape of the kernel of an einsum, by those of the input and the output."""
    operands, _, after = equation.replace(" ", "").partition("->")
    own, _, letters = operands.partition(",")
    if "." in own:
        raise n.error("a quantized kernel and '...' in the equation is not supported")
    given = n.config.get("output_shape")
    output = [None, *(given if isinstance(given, list | tuple) else [given])]
    return [
        n.extent(x, own.index(one)) if one in own else int(output[after.index(one)])
        for one in letters
    ]


def tables_of(n: KerasLayer) -> tuple[list[Value], Value | None]:
    """The table [rows, width] of an embedding, perhaps one [width, rows] for the reverse, and a
    scale for rounding the input of the reverse.
    """
    mode, found = n.quantization, n.weights()
    if mode is None or mode == "float8":
        n.option("quantization_config", None)
        return n.weights(1, 2), None
    if mode != "int8" and not mode.startswith("int4/"):
        raise n.error(f"weights quantized as {mode} are not supported")
    grouped = len(found) > GROUPED and found[1].type.rank > 1
    groups = [_array(n, found.pop(GROUPED))] if grouped else []
    size = GROUPED if groups else GROUPED - 1
    tables = []
    for i in range(0, len(found), size):
        numbers, *scales = (_array(n, v) for v in found[i : i + size])
        if mode != "int8":
            rows = _nibbles(numbers.T if i else numbers, n.integer("output_dim"))
            numbers = rows.T if i else rows
        table = _floats(numbers if i else numbers.T, *(s if i else s.T for s in scales), *groups)
        tables.append(n.constant(table if i else table.T, n.element))
    return tables, _one(n)


def product(n: KerasLayer, equation: str, x: Value, kernel: Value, scale: Value | None) -> Value:
    """x times a kernel, divided by the scale of the kernel if there is one.

    With a scale, x is quantized by its largest element along the summed axes, or in float8 with
    that scale. Integers up to 127 * 127 * 1040 are exact as f32.
    """
    if scale is None:
        return einsum(n, equation, [x, kernel])
    if n.quantization == "float8":
        return einsum(n, equation, [_rounded(n, Term(n, x), scale), kernel])
    weights = n.cast(kernel, n.element)
    before, _, after = equation.replace(" ", "").partition("->")
    own = before.partition(",")[0]
    if "." in own:
        raise n.error("a quantized kernel and '...' in the equation is not supported")
    quantizer = _quantizer(n)
    if quantizer is None:
        return (Term(n, einsum(n, equation, [x, weights])) / Term(n, scale)).value
    summed = tuple(i for i, letter in enumerate(own) if letter not in after)
    low, high = map(float, quantizer.get("value_range", (-127, 127)))
    given, epsilon = Term(n, x), float(quantizer.get("epsilon", 1e-7))
    steps = high / (given.function(nn.Abs).largest(*summed, keep=True) + epsilon)
    whole = (given * steps).function(nn.Round).max(low).min(high)
    total = Term(n, einsum(n, equation, [whole.value, weights]))
    kept = [letter for letter in after if letter in own]
    order = [own.index(letter) for letter in kept]
    turned = steps.transpose(*order, *summed)
    places = [(turned.value, kept.index(i)) if i in kept else 1 for i in after]
    return (total / (turned.reshape(*places) * Term(n, scale))).value


def _quantizer(n: KerasLayer) -> Mapping[str, Any] | None:
    """The configuration of what quantizes the layer's input at run time; None for nothing."""
    default = None if n.quantization and n.quantization.startswith("int4") else {}
    given = (n.option("quantization_config", None) or {}).get("config") or {}
    found = given.get("activation_quantizer", default)
    return None if found is None else found.get("config") or {}


def _one(n: KerasLayer) -> Value | None:
    """The scale of a kernel of floats; None unless the layer's input is quantized."""
    return None if _quantizer(n) is None else n.constant(1, n.element)


def _rounded(n: KerasLayer, x: Term, scale: Value) -> Value:
    """x rounded to multiples of the scale by floats of 8 bits."""
    step = Term(n, scale).cast(x.element)
    near = (x / step).max(-FLOAT8_LARGEST).min(FLOAT8_LARGEST)
    return (near.cast(FLOAT8).cast(x.element) * step).value


def _array(n: KerasLayer, weight: Value) -> np.ndarray:
    """The elements of a weight, also of one that the layer's policy rounds."""
    found, cast = n.array(weight), weight.defined_by(nn.Cast)
    if found is None and cast is not None:
        return _array(n, cast.x).astype(type_to_numpy(weight.type.element_type))
    assert found is not None
    return found


def _nibbles(packed: np.ndarray, count: int | None) -> np.ndarray:
    """The signed integers of 4 bits along the last axis, two to a byte: the low half is first."""
    pairs = np.stack([(packed << 4) >> 4, packed >> 4], -1)
    return pairs.reshape(*packed.shape[:-1], -1)[..., :count]


def _floats(
    numbers: np.ndarray,
    scale: np.ndarray,
    zero: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """The weights that integers [rows, columns] stand for: over a scale for each column, or less
    the zero point and times the scale of each row's group.
    """
    scale = scale.astype(np.float32)
    if zero is None or groups is None:
        return numbers / scale
    rows = groups.astype(np.int64)
    return (numbers - zero[rows].astype(np.float32)) * scale[rows]
