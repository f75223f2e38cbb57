"""Operators that create, move and reshape tensors, of known and of unknown shapes."""

from __future__ import annotations

from ...common.blocks import dilated
from ...common.complexes import Pair, as_complex, as_real, by_parts
from ...common.vocabulary import *
from ..layer import HloLayer, rows


@rows("complex input")
def complex_input(n: HloLayer, x: Value) -> Pair:
    return as_complex(n, x)


@rows("complex output")
def complex_output(n: HloLayer, x: Pair) -> Value:
    return as_real(n, x)


@rows("stablehlo.constant", "chlo.constant")
def constant(n: HloLayer) -> Any:
    value = n.op.value
    if not hasattr(value, "to_numpy"):
        raise n.error("the file does not contain the elements of the constant")
    array = value.to_numpy()
    if isinstance(n.out().element_type, ComplexType):
        return Pair(*(n.constant(np.array(p)) for p in (array.real, array.imag)))
    if array.size > 1 and value.__class__.__name__ == "DenseElements" and value.is_splat:
        single = n.constant(array.reshape(-1)[0], n.out().element_type)
        return n(nn.BroadcastTo(single, out=n.out()))
    return n.constant(np.asarray(array, order="C"), n.out().element_type)


@rows("stablehlo.iota")
def iota(n: HloLayer) -> Any:
    out, at = n.out(), n.op.iota_dimension
    element: Any = out.element_type
    if isinstance(element, ComplexType):
        element = element.element_type
    shape = [1] * out.rank
    shape[at] = out.shape[at] or 0
    places = np.arange(shape[at]).astype(type_to_numpy(element)).reshape(shape)
    whole = n.constant(places)
    if out.shape != whole.type.shape:
        whole = n(nn.BroadcastTo(whole, out=TensorType(out.shape, element)))
    if element is out.element_type:
        return whole
    return Pair(whole, n(nn.Sub(whole, whole)))


@rows("stablehlo.dynamic_iota")
def dynamic_iota(n: HloLayer, shape: Value) -> Value:
    out, at = n.out(), n.op.iota_dimension
    shape = as_i64(n, shape)
    count = Term(n, gathered(n, shape, n.constant(at, i64)))
    places = counting(n, count).cast(out.element_type).spread(0, out.rank - 1 - at)
    return broadcast_by(n, places.value, shape)


@rows("stablehlo.reshape")
@by_parts
def reshape_(n: HloLayer, x: Value) -> Value:
    out = TensorType(n.out().shape, x.type.element_type)
    return x if out is x.type else n(nn.Reshape(x, out=out))


@rows("stablehlo.dynamic_reshape", "chlo.dynamic_reshape")
@by_parts
def dynamic_reshape(n: HloLayer, x: Value, shape: Value) -> Value:
    return Term(n, x).shaped(Term(n, as_i64(n, shape))).value


@rows("stablehlo.broadcast_in_dim")
@by_parts
def broadcast_in_dim(n: HloLayer, x: Value) -> Value:
    out = TensorType(n.out().shape, x.type.element_type)
    placed = _placed(n, x, n.op.broadcast_dimensions, out.rank)
    return placed if placed.type is out else n(nn.BroadcastTo(placed, out=out))


def _placed(n: HloLayer, x: Value, dims: Any, rank: int) -> Value:
    """x with its dimensions at these places, which may be in any order, and 1 elsewhere."""
    order = sorted(range(len(dims)), key=lambda i: dims[i])
    x = transposed(n, x, order)
    extents: list[Any] = [1] * rank
    for i, dim in enumerate(sorted(dims)):
        extents[dim] = (x, i)
    return reshape(n, x, extents)


@rows("stablehlo.dynamic_broadcast_in_dim")
@by_parts
def dynamic_broadcast_in_dim(n: HloLayer, x: Value, shape: Value) -> Value:
    placed = _placed(n, x, n.op.broadcast_dimensions, n.out().rank)
    return broadcast_by(n, placed, as_i64(n, shape))


@rows("stablehlo.broadcast")
@by_parts
def broadcast(n: HloLayer, x: Value) -> Value:
    shape = (*n.op.broadcast_sizes, *x.type.shape)
    return n(nn.BroadcastTo(x, out=TensorType(shape, x.type.element_type)))


@rows("stablehlo.transpose")
@by_parts
def transpose(n: HloLayer, x: Value) -> Value:
    return transposed(n, x, n.op.permutation)


@rows("stablehlo.reverse")
@by_parts
def reverse(n: HloLayer, x: Value) -> Value:
    return reversed_axes(n, x, n.op.dimensions)


@rows("stablehlo.concatenate")
def concatenate(n: HloLayer, *inputs: Any) -> Any:
    if isinstance(inputs[0], Pair):
        parts = ([getattr(v, part) for v in inputs] for part in ("real", "imag"))
        return Pair(*(n(nn.Concat(part, axis=n.op.dimension)) for part in parts))
    return concatenated(n, inputs, n.op.dimension)


@rows("stablehlo.slice")
@by_parts
def slice_(n: HloLayer, x: Value) -> Value:
    out = TensorType(n.out().shape, x.type.element_type)
    if 0 in out.shape:
        return n.constant(np.zeros(out.shape, type_to_numpy(out.element_type)))
    return portion(n, x, n.op.start_indices, out.shape, n.op.strides)


@rows("stablehlo.real_dynamic_slice")
@by_parts
def real_dynamic_slice(n: HloLayer, x: Value, starts: Value, ends: Value, steps: Value) -> Value:
    axes = n.constant(np.arange(x.type.rank))
    return sliced_by(n, x, starts, ends, axes, steps, n.out().shape)


@rows("stablehlo.pad")
@by_parts
def pad(n: HloLayer, x: Value, fill: Value) -> Value:
    op = n.op
    x = dilated(n, x, [i + 1 for i in op.interior_padding], fill)
    return padded_by(n, x, (*op.edge_padding_low, *op.edge_padding_high), fill)


@rows("stablehlo.dynamic_pad")
@by_parts
def dynamic_pad(
    n: HloLayer, x: Value, fill: Value, low: Value, high: Value, interior: Value
) -> Value:
    if any(n.known_ints(interior, "interior padding")):
        raise n.error("interior padding that is computed is not supported")
    pads = n(nn.Concat([as_i64(n, low), as_i64(n, high)], axis=0))
    return pad_by_vector(n, x, pads, fill)


@rows("stablehlo.get_dimension_size")
def get_dimension_size(n: HloLayer, x: Any) -> Value:
    value = x.real if isinstance(x, Pair) else x
    extent = as_scalar(n, shape_vector(n, [(value, n.op.dimension)]))
    return n.cast(extent, n.out().element_type)
