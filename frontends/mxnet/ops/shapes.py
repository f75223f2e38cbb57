"""Reshapes, slices, concatenations and broadcasts."""

from __future__ import annotations

from ...common import arrays
from ...common.movement import slice_axis as along
from ...common.vocabulary import *
from ..layer import MxnetLayer, rows

Factors = list[Extent]
"""An extent of a result, as the factors of a product."""


# -- reshaping ---------------------------------------------------------------------------------


@rows("Reshape", "reshape")
def reshape_by_codes(n: MxnetLayer, x: Value) -> Value:
    """x reshaped by codes: 0 keeps an extent, -1 infers it, -2 keeps all others, -3 joins two, -4
    splits one.
    """
    codes = list(n.ints("shape")) or _target(n)
    if n.flag("reverse"):
        return _reversed(n, x, codes, _legacy_factors)
    return _in_shape(n, x, _legacy_factors(n, x, codes, range(x.type.rank)))


def _target(n: MxnetLayer) -> list[int]:
    """The codes for `target_shape` of MXNet's first versions, where 0 is inferred."""
    keeps = n.flag("keep_highest")
    given = n.ints("target_shape")
    return [0 if keeps and i == 0 else e or -1 for i, e in enumerate(given)]


@rows("_npx_reshape")
def reshape_by_numpy_codes(n: MxnetLayer, x: Value) -> Value:
    """x reshaped by codes: -1 infers an extent, -2 keeps it, -3 drops it, -4 keeps all others, -5
    joins two, -6 splits one.
    """
    codes = list(n.ints("newshape"))
    if n.flag("reverse"):
        return _reversed(n, x, codes, _numpy_factors)
    return _in_shape(n, x, _numpy_factors(n, x, codes, range(x.type.rank)))


@rows("_np_reshape", "_npi_reshape")
def reshape_plainly(n: MxnetLayer, x: Value) -> Value:
    if n.attributes.get("order", "C") != "C":
        raise n.error("only the order C is supported")
    return _in_shape(n, x, [None if e == -1 else [e] for e in n.ints("newshape")])


def _reversed(n: MxnetLayer, x: Value, codes: list[int], factors) -> Value:
    """x reshaped with codes applied from the last dimension on."""
    order = range(x.type.rank - 1, -1, -1)
    i = 0
    turned = codes[::-1]
    split = -4 if factors is _legacy_factors else -6
    while i < len(turned):  # a split and its two extents stay together
        if i + 2 < len(turned) and turned[i + 2] == split:
            turned[i : i + 3] = [split, turned[i], turned[i + 1]]
            i += 2
        i += 1
    return _in_shape(n, x, factors(n, x, turned, order)[::-1])


_DROP = -(1 << 40)
"""Stands for -3 of NumPy-like MXNet (drop a dimension of extent 1) among the codes of legacy MXNet,
where -3 joins two dimensions."""


def _legacy_factors(
    n: MxnetLayer, x: Value, codes: list[int], dims: Sequence[int]
) -> list[Factors | None]:
    found: list[Factors | None] = []
    work, at = list(codes), 0
    left = list(dims)

    def take() -> Extent:
        if not left:
            raise n.error(f"shape {codes} has more dimensions than '{x.type}'")
        return (x, left.pop(0))

    while at < len(work):
        code = work[at]
        at += 1
        if code == 0:
            found.append([take()])
        elif code == -2:
            found.extend([(x, i)] for i in left)
            left.clear()
        elif code == _DROP:
            take()
        elif code == -3:
            found.append([take(), take()])
        elif code == -4:
            found += _split(n, take(), work[at : at + 2])
            at += 2
        elif code == -1 or code > 0:
            if left:
                left.pop(0)
            found.append(None if code == -1 else [code])
        else:
            raise n.error(f"shape {codes} has the unknown code {code}")
    return found


def _numpy_factors(
    n: MxnetLayer, x: Value, codes: list[int], dims: Sequence[int]
) -> list[Factors | None]:
    # The same but for their numbers, and -3, which drops a dimension of one element.
    table = {-2: 0, -3: _DROP, -4: -2, -5: -3, -6: -4}
    return _legacy_factors(n, x, [table.get(code, code) for code in codes], dims)


def _split(n: MxnetLayer, whole: Extent, parts: Sequence[int]) -> list[Factors]:
    assert not isinstance(whole, int)
    total = n.extent(*whole)
    if len(parts) != 2 or 0 in parts or parts[0] == parts[1] == -1:
        raise n.error(f"a dimension cannot be split into {list(parts)}")
    first, second = (
        total // -other if one == -1 else one
        for one, other in ((parts[0], -parts[1]), (parts[1], -parts[0]))
    )
    return [[first], [second]]


def _product(factors: Factors | None) -> Extent | None:
    """The product of factors; None if there are several and not all of them are known."""
    if factors is None:
        return None
    numbers = [resolve(one) for one in factors]
    if None not in numbers:
        return math.prod(numbers)  # type: ignore[arg-type]
    return factors[0] if len(factors) == 1 else None


def _in_shape(n: MxnetLayer, x: Value, factors: Sequence[Factors | None]) -> Value:
    """x reshaped; None is an inferred extent."""
    extents = [_product(own) for own in factors]
    if extents.count(None) == 1:
        numbers = [resolve(e) for e in extents if e is not None]
        whole = list(x.type.shape)
        if None not in whole and None not in numbers:
            rest = math.prod(numbers)  # type: ignore[arg-type]
            missing: Extent = math.prod(whole) // rest if rest else 0  # type: ignore[arg-type]
            extents[extents.index(None)] = missing
    if None not in extents:
        return reshape(n, x, extents)  # type: ignore[arg-type]
    out = TensorType(tuple(None if e is None else resolve(e) for e in extents), x.type.element_type)
    if out.shape.count(None) == 1:
        return n(nn.Reshape(x, out=out))
    parts = []
    for own, one in zip(factors, extents, strict=True):
        if one is not None:
            parts.append(n.term(shape_vector(n, [one])))
        elif own is None:
            parts.append(constant(n, np.array([-1], np.int64)))
        else:
            product = extent(n, own[0])
            for more in own[1:]:
                product = product * extent(n, more)
            parts.append(product.spread(1, 0))
    return n(nn.ReshapeDynamic(x, joined(parts, 0).value, out=out))


@rows("Flatten", "flatten", "_npx_batch_flatten")
def flatten_(n: MxnetLayer, x: Value) -> Value:
    return flatten(n, x, 1)


@rows("expand_dims", "_npi_expand_dims")
def expand_dims(n: MxnetLayer, x: Value) -> Value:
    return unsqueezed(n, x, n.axis("axis", None, x.type.rank + 1))


@rows("squeeze", "_np_squeeze")
def squeeze(n: MxnetLayer, x: Value) -> Value:
    axes = {axis % x.type.rank for axis in n.ints("axis")}
    if n.get("axis") is None:
        axes = {i for i, d in enumerate(x.type.shape) if d == 1}
    found = squeezed(n, x, *axes)
    return reshape(n, x, [1]) if n.kind == "squeeze" and found.type.rank == 0 else found


@rows("reshape_like", "_npx_reshape_like")
def reshape_like(n: MxnetLayer, x: Value, like: Value) -> Value:
    if n.get("lhs_begin") is None and n.get("rhs_begin") is None:
        return reshape(n, x, dims(like))
    bounds = []
    for side, value in (("lhs", x), ("rhs", like)):
        begin, end = n.int(f"{side}_begin", 0), n.int(f"{side}_end", value.type.rank)
        bounds += [begin % (value.type.rank + 1), end % (value.type.rank + 1)]
    own = dims(x)
    return reshape(
        n, x, [*own[: bounds[0]], *((like, i) for i in range(*bounds[2:])), *own[bounds[1] :]]
    )


@rows("transpose", "_np_transpose")
def transpose(n: MxnetLayer, x: Value) -> Value:
    axes = n.ints("axes") or tuple(reversed(range(x.type.rank)))
    return n.transposed(x, *normalize_axes(n, axes, x.type.rank))


@rows("SwapAxis", "swapaxes", "_npi_swapaxes")
def swap_axes(n: MxnetLayer, x: Value) -> Value:
    rank = x.type.rank
    return swapped(n, x, n.axis("dim1", 0, rank), n.axis("dim2", 0, rank))


@rows("_np_moveaxis")
def move_axis(n: MxnetLayer, x: Value) -> Value:
    rank = x.type.rank
    source, target = ([a % rank for a in n.ints(k)] for k in ("source", "destination"))
    return n.transposed(x, *arrays.moveaxis(rank, source, target))


@rows("depth_to_space", "space_to_depth")
def blocks(n: MxnetLayer, x: Value) -> Value:
    op = nn.DepthToSpace if n.kind == "depth_to_space" else nn.SpaceToDepth
    return n(op(x, block=n.size("block_size")))


# -- slices ------------------------------------------------------------------------------------


def slice_of(
    n: MxnetLayer, x: Value, axis: int, begin: int | None, end: int | None, step: int = 1
) -> Value:
    """x[.., begin:end:step, ..]"""
    if not 0 <= axis < x.type.rank or not step:
        raise n.error(f"axis {axis} in steps of {step} of '{x.type}'")
    first, last = (0, FAR) if step > 0 else (FAR, -FAR)
    ends = first if begin is None else begin, last if end is None else end
    return along(n, x, axis, *ends, step)


@rows("slice", "_npi_slice", "_npx_slice", "crop", "_sparse_slice")
def slice_(n: MxnetLayer, x: Value) -> Value:
    begins, ends = n.optional_ints("begin"), n.optional_ints("end")
    steps = n.optional_ints("step") or (1,) * len(begins)
    for axis, (begin, end, step) in enumerate(zip(begins, ends, steps, strict=False)):
        x = slice_of(n, x, axis, begin, end, step or 1)
    return x


@rows("slice_axis")
def slice_axis(n: MxnetLayer, x: Value) -> Value:
    axis = n.axis("axis", None, x.type.rank)
    end = None if n.get("end") is None else n.int("end")
    return slice_of(n, x, axis, n.int("begin", 0), end)


@rows("slice_like")
def slice_like(n: MxnetLayer, x: Value, like: Value) -> Value:
    axes = n.axes("axes", x.type.rank) or range(like.type.rank)
    for axis in axes:
        x = slice_of(n, x, axis, 0, n.extent(like, axis))
    return x


@rows("Crop")
def crop(n: MxnetLayer, x: Value, like: Value | None = None) -> Value:
    wanted = n.ints("h_w", (0, 0), 2) if like is None else like.type.shape[2:]
    offset = n.ints("offset", (0, 0), 2)
    for i in range(2):
        begin, size = offset[i], wanted[i]
        if size is None:
            raise n.error(f"the extents of '{x.type}' must be known at import")
        if n.flag("center_crop"):
            begin = (n.extent(x, 2 + i) - size) // 2
        x = slice_of(n, x, 2 + i, begin, begin + size)
    return x


@rows("SliceChannel", "split")
def equal_parts(n: MxnetLayer, x: Value) -> list[Value]:
    axis = n.axis("axis", 1, x.type.rank)
    return _parts(n, split_evenly(n, x, axis, n.int("num_outputs")), axis)


@rows("_split_v2", "_npi_split", "_npi_hsplit", "_npi_dsplit")
def split_at(n: MxnetLayer, x: Value) -> list[Value]:
    default = {"_npi_hsplit": 1 if x.type.rank > 1 else 0, "_npi_dsplit": 2}.get(n.kind, 0)
    axis = n.axis("axis", default, x.type.rank)
    whole, count = n.extent(x, axis), n.int("sections", 0)
    if count > 0:
        return _parts(n, split_evenly(n, x, axis, count), axis)
    cuts = n.ints("indices", (0,))
    sizes = arrays.array_split(whole, cuts[1:] if cuts[:1] == (0,) else cuts)
    return _parts(n, split_into(n, x, axis, sizes), axis)


def _parts(n: MxnetLayer, parts: list[Value], axis: int) -> list[Value]:
    return [squeezed(n, part, axis) for part in parts] if n.flag("squeeze_axis") else parts


@rows("reverse", "flip", "_npi_flip")
def reverse(n: MxnetLayer, x: Value) -> Value:
    axes = n.axes("axis", x.type.rank) if n.get("axis") is not None else range(x.type.rank)
    return reversed_axes(n, x, axes)


@rows("_np_roll")
def roll(n: MxnetLayer, x: Value) -> Value:
    shifts, axes = n.ints("shift"), n.axes("axis", x.type.rank)
    if not axes or len(shifts) not in (1, len(axes)):
        raise n.error(f"shifts {shifts} along axes {axes}, expected an axis for each")
    for shift, axis in zip(shifts * (len(axes) // len(shifts)), axes, strict=True):
        x = rolled(n, x, axis, shift)
    return x


# -- joins -------------------------------------------------------------------------------------


@rows("Concat", "concat", "_npi_concatenate", "_rnn_param_concat", "_npi_rnn_param_concat",
      "_sparse_concat")  # fmt: skip
def concat(n: MxnetLayer, *inputs: Value) -> Value:
    if n.get("axis", 0) is None:
        inputs = tuple(n.term(x).flat().value for x in inputs)
    name, default = ("axis", 0) if n.kind == "_npi_concatenate" else ("dim", 1)
    axis = n.axis(name, default, inputs[0].type.rank)
    return concatenated(n, inputs, axis)


@rows("stack", "_npi_stack")
def stack(n: MxnetLayer, *inputs: Value) -> Value:
    return stacked(n, inputs, n.axis("axis", 0, inputs[0].type.rank + 1))


@rows("tile", "_npi_tile")
def tile(n: MxnetLayer, x: Value) -> Value:
    return arrays.tile(n, x, n.constant(np.array(n.ints("reps"), np.int64)))


@rows("repeat", "_np_repeat")
def repeat(n: MxnetLayer, x: Value) -> Value:
    count = n.size("repeats")
    if n.get("axis") is None:
        x = n.term(x).flat().value
    return arrays.repeat(n, x, count, n.axis("axis", 0, x.type.rank))


@rows("Pad", "pad", "_npi_pad")
def pad(n: MxnetLayer, x: Value) -> Value:
    kinds = {"constant": "constant", "edge": "edge", "reflect": "reflect"}
    mode = kinds[n.text("mode", "constant", *kinds)]
    width = n.get("pad_width", ())
    width = width if isinstance(width, tuple | list) else ()
    flat = [v for one in width for v in (one if isinstance(one, tuple | list) else (one,))]
    if len(flat) != 2 * x.type.rank or not all(type(v) is int and v < FAR for v in flat):
        raise n.error(f"attribute 'pad_width' is {width}, expected {2 * x.type.rank} integers")
    pads = (*flat[::2], *flat[1::2])
    fill = n.float("constant_values" if n.kind == "_npi_pad" else "constant_value", 0.0)
    return padded_by(n, x, pads, fill, mode)


# -- broadcasts --------------------------------------------------------------------------------


@rows("broadcast_to", "_npi_broadcast_to")
def broadcast_to(n: MxnetLayer, x: Value) -> Value:
    """x broadcast to a shape, in which 0 (NumPy-like: -2) keeps an extent."""
    shape = n.ints("shape")
    lead = len(shape) - x.type.rank
    return broadcast(n, x, [d if d > 0 else (x, i - lead) for i, d in enumerate(shape)])


@rows("broadcast_axis", "broadcast_axes")
def broadcast_axis(n: MxnetLayer, x: Value) -> Value:
    axes, extents = n.axes("axis", x.type.rank), n.ints("size")
    if len(axes) != len(extents):
        raise n.error(f"extents {extents} for axes {axes}")
    sizes = dict(zip(axes, extents, strict=True))
    return broadcast(n, x, [sizes.get(i, (x, i)) for i in range(x.type.rank)])


@rows("broadcast_like")
def broadcast_like(n: MxnetLayer, x: Value, like: Value) -> Value:
    pairs = {i: i for i in range(like.type.rank)}
    if n.get("lhs_axes") is not None:
        own, others = n.axes("lhs_axes", x.type.rank), n.axes("rhs_axes", like.type.rank)
        if len(own) != len(others):
            raise n.error(f"axes {own} and {others}, expected as many")
        pairs = dict(zip(own, others, strict=True))
        return broadcast(
            n, x, [(like, pairs[i]) if i in pairs else (x, i) for i in range(x.type.rank)]
        )
    return broadcast(n, x, [(like, i) for i in pairs])
