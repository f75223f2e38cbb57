"""Elementwise operators, from their signatures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..cases import Subject
from .base import ALL, Given, numbers, raw, subject, subjects_of, tf, types_of

UNARY = """
Abs Acos Acosh Asin Asinh Atan Atanh BesselI0e BesselI1e Ceil Cos Cosh Digamma Elu Erf Erfc Erfinv
Exp Expm1 Floor Inv Invert IsFinite IsInf IsNan L2Loss Lgamma Log Log1p LogSoftmax Ndtri Neg
OnesLike Reciprocal Relu Relu6 Rint Round Rsqrt Selu Sigmoid Sign Sin Sinh Softmax Softplus
Softsign Sqrt Square Tan Tanh ZerosLike BesselI0 BesselI1 BesselJ0 BesselJ1 BesselK0 BesselK0e
BesselK1 BesselK1e BesselY0 BesselY1 Expint FresnelCos FresnelSin Spence Dawsn PopulationCount
"""
BINARY = """
Add AddV2 Atan2 BitwiseAnd BitwiseOr BitwiseXor Div DivNoNan Equal FloorDiv FloorMod Greater
GreaterEqual LeftShift Less LessEqual Maximum Minimum Mod Mul MulNoNan NotEqual Pow RealDiv
RightShift SquaredDifference Sub TruncateDiv TruncateMod Xdivy Xlog1py Xlogy NextAfter Igamma
Igammac Zeta Polygamma
"""
GRADIENTS = "ReluGrad SigmoidGrad TanhGrad SoftplusGrad EluGrad RsqrtGrad SqrtGrad InvGrad SeluGrad"
HOW = ["plain", "odd", "unit"]


def _unary(rng: Any, op: Any, type: str, shape: list[int], values: str) -> Given:
    return op, [numbers(rng, shape, type, values)]


def _binary(rng: Any, op: Any, type: str, shapes: list[list[int]], values: str) -> Given:
    return (
        op,
        [numbers(rng, shapes[0], type, values), numbers(rng, shapes[1], type, values)],
    )


def _cast(rng: Any, type: str, to: str, shape: list[int], values: str, truncate: bool) -> Given:
    x = numbers(rng, shape, type, values if values != "odd" or "int" not in to else "plain")
    return (lambda x: raw.Cast(x=x, DstT=tf.as_dtype(to), Truncate=truncate)), [x]


def _attribute(rng: Any, op: Any, type: str, shape: list[int], values: str, **given: Any) -> Given:
    return (lambda x: op(x, **given)), [numbers(rng, shape, type, values)]


def _select(rng: Any, op: Any, type: str, shapes: list[list[int]], values: str) -> Given:
    condition = numbers(rng, shapes[0], "bool")
    x, y = (numbers(rng, shape, type, values) for shape in shapes[1:])
    return op, [condition, x, y]


def _clip(rng: Any, type: str, values: str, limits: str) -> Given:
    shapes = [[3, 4], [], []] if limits == "numbers" else [[3, 4], [3, 4], [3, 4]]
    inputs = [numbers(rng, shape, type, values) for shape in shapes]
    return (lambda x, a, b: raw.ClipByValue(t=x, clip_value_min=a, clip_value_max=b)), inputs


def _quantized(
    rng: Any, op: Any, bits: int, narrow: bool, range: list[float], values: str
) -> Given:
    x = numbers(rng, [3, 4], "float32", values)
    how = {"num_bits": bits, "narrow_range": narrow}
    if op.name.endswith("Args"):
        return (lambda x: op(inputs=x, min=range[0], max=range[1], **how)), [x]
    low, high = range
    if op.name.endswith("Channel"):
        low, high = [low] * 4, [high, 1.0, 2.0, high]
    return (lambda x: op(inputs=x, min=low, max=high, **how)), [x]


def _quantized_and_back(
    rng: Any, signed: bool, bits: int, given: bool, mode: str, narrow: bool, axis: int, values: str
) -> Given:
    low, high = (-1.5, 2.0) if axis == -1 else ([-1.5, -1.0, -0.5], [2.0, 0.5, 1.0])
    return (
        lambda x: raw.QuantizeAndDequantizeV4(
            input=x, input_min=low, input_max=high, signed_input=signed, num_bits=bits,
            range_given=given, round_mode=mode, narrow_range=narrow, axis=axis),
        [numbers(rng, [3, 4], "float32", values)],
    )  # fmt: skip


def _incomplete_beta(rng: Any, type: str, values: str, shape: list[int]) -> Given:
    a, b = (numbers(rng, shape, type, "positive") for _ in range(2))
    x = numbers(rng, shape, type, "unit")
    x = abs(x) if values == "plain" else x
    return (lambda a, b, x: raw.Betainc(a=a, b=b, x=x)), [a, b, x]


def _bucketize(rng: Any, type: str, values: str, bounds: list[float]) -> Given:
    return (
        lambda x: raw.Bucketize(input=x, boundaries=bounds),
        [numbers(rng, [3, 4], type, values)],
    )


def _bias(rng: Any, op: Any, type: str, shape: list[int], layout: str) -> Given:
    count = shape[-1] if layout == "NHWC" else shape[1]
    inputs = [numbers(rng, shape, type), numbers(rng, [count], type)]
    return (lambda x, b: op(value=x, bias=b, data_format=layout)), inputs


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    shapes = [[3, 4], [], [0, 3], [2, 3, 2, 2]]
    for name in UNARY.split():
        attribute = "type" if name == "Bitcast" else "T"
        yield from subjects_of(
            name, _unary, type=types_of(name, attribute), shape=shapes, values=HOW
        )
    pairs = [[[3, 4], [3, 4]], [[3, 4], [4]], [[3, 1], [1, 4]], [[], [3, 4]], [[0, 4], [4]],
             [[2, 1, 3], [4, 1]], [[], []]]  # fmt: skip
    for name in BINARY.split():
        yield from subjects_of(name, _binary, type=types_of(name), shapes=pairs, values=HOW)
    alike = [[[3, 4], [3, 4]], [[], []], [[0, 4], [0, 4]]]
    for name in GRADIENTS.split():
        yield from subjects_of(name, _binary, type=types_of(name), shapes=alike, values=HOW)
    for name in ("LogicalAnd", "LogicalOr"):
        yield from subjects_of(name, _binary, type=["bool"], shapes=pairs, values=["plain"])
    yield subject("Cast", _cast, type=[*ALL, "bool"], to=[*ALL, "bool"], shape=[[3, 4], [], [0, 3]],
                  values=HOW, truncate=[False, True])  # fmt: skip
    some = types_of("LeakyRelu")
    yield from subjects_of("LeakyRelu", _attribute, type=some, shape=shapes, values=HOW,
                           alpha=[0.2, 0.0, 1.5, -0.5])  # fmt: skip
    yield subject("Bitcast", _bits, type=["float32", "int32", "float64", "int8", "uint8"],
                  shape=[[3, 4], [2, 2], [1, 8]],
                  to=["int32", "float32", "int64", "uint8", "float16"])  # fmt: skip
    triples = [
        [[3, 4], [3, 4], [3, 4]],
        [[4], [3, 4], [3, 4]],
        [[3, 1], [1, 4], []],
        [[], [3, 4], [4]],
    ]
    yield from subjects_of("SelectV2", _select, type=ALL, shapes=triples, values=["plain", "odd"])
    rows = [[[3, 4], [3, 4], [3, 4]], [[3], [3, 4], [3, 4]], [[], [3, 4], [3, 4]]]
    yield from subjects_of("Select", _select, type=ALL, shapes=rows, values=["plain", "odd"])
    yield subject("ClipByValue", _clip, type=ALL, values=HOW, limits=["numbers", "tensors"])
    yield from subjects_of(
        "FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsPerChannel",
        _quantized, bits=[8, 2, 16], narrow=[False, True], values=["plain", "odd", "ties"],
        range=[[-1.0, 2.0], [0.0, 3.0], [-2.0, 0.0], [0.1, 1.0], [-1.37, -0.2]])  # fmt: skip
    yield subject("QuantizeAndDequantizeV4", _quantized_and_back, signed=[True, False], bits=[8, 4],
                  given=[False, True], mode=["HALF_TO_EVEN", "HALF_UP"], narrow=[False, True],
                  axis=[-1, 0], values=["plain", "ties"])  # fmt: skip
    yield subject("Betainc", _incomplete_beta, type=["float32", "float64"], values=["plain", "odd"],
                  shape=[[3, 4], [0, 2], []])  # fmt: skip
    yield subject("Bucketize", _bucketize, type=["float32", "float64", "int32", "int64"],
                  values=HOW, bounds=[[-1.0, 0.0, 1.0], [], [0.3], [-2.0, -2.0, 1.0]])  # fmt: skip
    yield from subjects_of("BiasAdd", _bias, type=ALL, layout=["NHWC", "NCHW"],
                           shape=[[2, 3], [2, 3, 4], [2, 3, 4, 5], [2, 3, 2, 2, 2]])  # fmt: skip
    yield from subjects_of("AddN AccumulateNV2", _many, type=ALL, count=[1, 2, 5])


def _bits(rng: Any, type: str, to: str, shape: list[int]) -> Given:
    return (lambda x: raw.Bitcast(input=x, type=tf.as_dtype(to))), [numbers(rng, shape, type)]


def _many(rng: Any, op: Any, type: str, count: int) -> Given:
    more = {"shape": [3, 4]} if op.name == "AccumulateNV2" else {}
    return (lambda *xs: op(inputs=xs, **more)), [numbers(rng, [3, 4], type) for _ in range(count)]
