"""`keras.ops`, and TensorFlow's in Keras 2, that move and select elements."""

from __future__ import annotations

from ...common import arrays
from ...common.blocks import mirrored_pad
from ...common.tensorflow import pack
from ...common.vocabulary import *
from ..layer import KerasLayer, layer
from .core import encoded
from .functions import alike, axes_of, operand
from .resizing import resized_in_ratio


@layer("ops.Reshape")
def reshape_operation(n: KerasLayer) -> Value:
    x = n.tensor()
    given = n.argument(1, "newshape", n.argument(1, "shape"))
    return reshape_by(n, x, shape_of(n, x), _extents(n, x, given))


def _extents(n: KerasLayer, x: Value, given: Any) -> list[int]:
    """The extents in a shape argument; -1 for an unknown one, of which there is at most one."""
    found = [-1 if d is None else d for d in given or ()]
    if not all(isinstance(d, int) for d in found):
        raise n.error(f"the shape {given!r} is not known")
    if found.count(-1) > 1:
        raise n.error(f"the shape {list(given)} lacks more than one extent")
    return found


@layer("ops.Transpose", "tf.transpose", "tf.compat.v1.transpose")
def transpose(n: KerasLayer) -> Value:
    x = n.tensor()
    axes = n.argument(1, "axes", n.argument(1, "perm")) or tuple(reversed(range(x.type.rank)))
    if sorted(a % x.type.rank for a in axes) != list(range(x.type.rank)):
        raise n.error(f"the axes {list(axes)} are not a permutation of {x.type.rank} dimensions")
    return n(nn.Transpose(x, permutation=tuple(a % x.type.rank for a in axes)))


@layer("ops.ExpandDims", "tf.expand_dims")
def expand_dims(n: KerasLayer) -> Value:
    x, given = n.tensor(), n.argument(1, "axis")
    listed = list(given) if isinstance(given, list | tuple) else [given]
    new = normalize_axes(n, listed, x.type.rank + len(listed))
    return unsqueezed(n, x, *sorted(new))


@layer("ops.Squeeze", "tf.squeeze", "tf.compat.v1.squeeze")
def squeeze(n: KerasLayer) -> Value:
    x, given = n.tensor(), n.argument(1, "axis")
    ones = [i for i, d in enumerate(x.type.shape) if d == 1]
    axes = ones if given is None else axes_of(n, x, given)
    return squeezed(n, x, *axes)


@layer("ops.Swapaxes")
def swapaxes(n: KerasLayer) -> Value:
    x = n.tensor()
    first, second = (n.argument(i + 1, f"axis{i + 1}") for i in range(2))
    return swapped(n, x, *(normalize_axis(n, a, x.type.rank) for a in (first, second)))


@layer("ops.Moveaxis")
def moveaxis(n: KerasLayer) -> Value:
    x = n.tensor()
    source, target = (
        [normalize_axis(n, a, x.type.rank) for a in ([v] if isinstance(v, int) else v)]
        for v in (n.argument(1, "source"), n.argument(2, "destination"))
    )
    return transposed(n, x, arrays.moveaxis(x.type.rank, source, target))


@layer("ops.Concatenate", "tf.concat")
def concatenate(n: KerasLayer) -> Value:
    given = n.argument(0, "xs", n.argument(0, "values"))
    if not isinstance(given, list) or not all(isinstance(v, Value) for v in given):
        raise n.error("it is not called with a list of tensors")
    axis = normalize_axis(n, n.argument(1, "axis", 0), given[0].type.rank)
    return concat(n, alike(n, given), axis)


@layer("ops.Stack", "tf.stack")
def stack(n: KerasLayer) -> Value:
    return pack(n, alike(n, n.tensors()), n.argument(1, "axis", 0))


@layer("ops.Hstack", "ops.Dstack")
def stack_known(n: KerasLayer) -> Value:
    join = arrays.hstack if n.kind == "ops.Hstack" else arrays.dstack
    return join(n, alike(n, n.tensors()))


@layer("ops.Vstack")
def stack_below(n: KerasLayer) -> Value:
    """Tensors stacked as rows; vectors are joined end to end, unlike NumPy."""
    return concat(n, alike(n, n.tensors()), 0)


@layer("ops.Unstack")
def unstack(n: KerasLayer) -> list[Value]:
    x = n.tensor()
    axis = normalize_axis(n, n.argument(2, "axis", 0), x.type.rank)
    return [column(n, x, axis, i) for i in range(_known_extent(n, x, axis))]


@layer("ops.Split", "tf.split")
def split(n: KerasLayer) -> list[Value]:
    x, given = n.tensor(), n.argument(1, "indices_or_sections", n.argument(1, "num_or_size_splits"))
    axis = normalize_axis(n, n.argument(2, "axis", 0), x.type.rank)
    extent = _known_extent(n, x, axis)
    if isinstance(given, int):
        if given < 1 or extent % given:
            raise n.error(f"{extent} elements do not split into {given} parts")
        return split_into(n, x, axis, [extent // given] * given)
    if n.kind == "tf.split":
        return split_into(n, x, axis, [int(v) for v in given])
    bounds = [0, *(int(v) for v in given), extent]
    return split_into(n, x, axis, np.diff(bounds).tolist())


def _known_extent(n: KerasLayer, x: Value, axis: int) -> int:
    found = x.type.shape[axis]
    if found is None:
        raise n.error(f"the extent of axis {axis} must be known; give the shape")
    return found


@layer("ops.Pad", "tf.pad", "tf.compat.v1.pad")
def pad(n: KerasLayer) -> Value:
    x = n.tensor()
    widths = np.asarray(n.argument(1, "pad_width", n.argument(1, "paddings")), np.int64)
    widths = np.broadcast_to(widths, (x.type.rank, 2))
    mode = str(n.argument(2, "mode", "constant")).lower()
    if mode == "symmetric":
        for axis in np.flatnonzero(widths.any(axis=1)):
            _known_extent(n, x, int(axis))
        return mirrored_pad(n, x, widths.tolist())
    if mode not in ("constant", "reflect", "edge", "wrap"):
        raise n.error(f"padding '{mode}' is not supported")
    value = n.argument(3, "constant_values") or 0
    return padded_by(n, x, widths.T.reshape(-1).tolist(), value, mode)


@layer("ops.Flip", "ops.Fliplr", "ops.Flipud")
def flip(n: KerasLayer) -> Value:
    x = n.tensor()
    known = {"ops.Fliplr": 1, "ops.Flipud": 0}
    return reversed_axes(n, x, axes_of(n, x, known.get(n.kind, n.argument(1, "axis"))))


@layer("ops.Roll")
def roll(n: KerasLayer) -> Value:
    x, shifts, axes = n.tensor(), n.argument(1, "shift"), n.argument(2, "axis")
    if axes is None:
        raise n.error("'axis' is needed")
    pairs = [(shifts, axes)] if isinstance(axes, int) else zip(shifts, axes, strict=True)
    for shift, axis in pairs:
        x = rolled(n, x, normalize_axis(n, axis, x.type.rank), int(shift))
    return x


@layer("ops.Tile", "tf.tile")
def tile(n: KerasLayer) -> Value:
    x, given = n.tensor(), n.argument(1, "repeats", n.argument(1, "multiples"))
    repeats = [given] if isinstance(given, int) else [int(v) for v in given]
    return arrays.tile(n, x, n.constant(np.array(repeats, np.int64)))


@layer("ops.Repeat", "tf.repeat")
def repeat(n: KerasLayer) -> Value:
    """Each element of an axis repeated several times."""
    x, counts, axis = n.tensor(), n.argument(1, "repeats"), n.argument(2, "axis")
    if axis is None:
        x, axis = Term(n, x).flat().value, 0
    axis = normalize_axis(n, axis, x.type.rank)
    if isinstance(counts, int):
        return arrays.repeat(n, x, counts, axis)
    return arrays.repeat_each(n, x, operand(n, counts, i64).value, axis)


@layer("ops.BroadcastTo")
def broadcast_to(n: KerasLayer) -> Value:
    x = n.tensor()
    shape = _extents(n, x, n.argument(1, "shape"))
    return expand_by(n, x, n.constant(np.array(shape, np.int64)), tuple(shape))


@layer("ops.Ravel")
def ravel(n: KerasLayer) -> Value:
    return Term(n, n.tensor()).flat().value


@layer("ops.Take", "tf.gather", "tf.compat.v1.gather")
def take(n: KerasLayer) -> Value:
    x, indices, axis = n.argument(0, "x"), n.argument(1, "indices"), n.argument(2, "axis")
    given = operand(n, x, f32) if not isinstance(x, Value) else Term(n, x)
    if axis is None and n.kind.startswith("tf."):
        axis = 0
    if axis is None:
        given, axis = given.flat(), 0
    places = n.cast(indices, i64) if isinstance(indices, Value) else n.constant(indices, i64)
    return given.gather(Term(n, places), normalize_axis(n, axis, given.rank)).value


@layer("ops.TakeAlongAxis")
def take_along_axis(n: KerasLayer) -> Value:
    x, indices = n.tensor(), n.tensor(1)
    axis = normalize_axis(n, n.argument(2, "axis"), x.type.rank)
    return gathered_elements(n, x, indices, axis)


@layer("ops.OneHot")
def one_hot_(n: KerasLayer) -> Value:
    x = n.tensor()
    axis = normalize_axis(n, n.argument(2, "axis", -1), x.type.rank + 1)
    column_of_one = reshape(n, x, [*((x, i) for i in range(x.type.rank)), 1])
    found = encoded(n, column_of_one, int(n.argument(1, "num_classes")), "one_hot")
    rank = found.type.rank
    return transposed(n, found, arrays.moveaxis(rank, [rank - 1], [axis]))


@layer("ops.ZerosLike", "ops.OnesLike", "ops.FullLike")
def like(n: KerasLayer) -> Value:
    x = n.tensor()
    given = n.argument(1, "fill_value", 0) if n.kind == "ops.FullLike" else None
    number = given if given is not None else int(n.kind == "ops.OnesLike")
    if isinstance(number, Value):
        raise n.error("a value that is computed is not supported")
    return broadcast(n, n.scalar(number, x), [(x, i) for i in range(x.type.rank)])


@layer("ops.Tril", "ops.Triu")
def triangle(n: KerasLayer) -> Value:
    k = n.constant(int(n.argument(1, "k", 0)), i64)
    return n(nn.Trilu(n.tensor(), k, upper=n.kind == "ops.Triu"))


@layer("ops.GetItem", "tf.__operators__.getitem")
def get_item(n: KerasLayer) -> Value:
    """NumPy's indexing by integers, slices, None and `...`."""
    x = n.tensor()
    given = n.argument(1, "key", n.argument(1, "slice_spec"))
    keys = list(given) if isinstance(given, list | tuple) else [given]
    count = sum(key is not None and key is not Ellipsis for key in keys)
    if count > x.type.rank:
        raise n.error(f"{count} indices for a tensor of rank {x.type.rank}")
    whole = [slice(None)] * (x.type.rank - count)
    if Ellipsis in keys:
        at = keys.index(Ellipsis)
        keys[at : at + 1] = whole
    else:
        keys += whole
    axis, kept = 0, []
    for key in keys:
        if key is None:
            kept.append(None)
            continue
        x = _indexed(n, x, axis, key)
        if isinstance(key, slice):
            kept.append(axis)
        axis += 1
    return reshape(n, x, [1 if k is None else (x, k) for k in kept])


def _indexed(n: KerasLayer, x: Value, axis: int, key: Any) -> Value:
    """A part of an axis, which keeps its dimension."""
    if isinstance(key, int):
        extent = x.type.shape[axis]
        if extent is not None and not -extent <= key < extent:
            raise n.error(f"index {key} is out of range for axis {axis} of {extent} elements")
        return slice_axis(n, x, axis, key, key + 1 if key != -1 else FAR)
    if not isinstance(key, slice):
        raise n.error(f"an index is {key!r}, expected a number or a slice")
    step = 1 if key.step is None else key.step
    ends = (0, FAR) if step > 0 else (FAR, -FAR)
    begin, end = (e if v is None else v for v, e in zip((key.start, key.stop), ends, strict=True))
    return slice_axis(n, x, axis, begin, end, step)


@layer("ops.Resize")
def resize(n: KerasLayer) -> Value:
    return resized_in_ratio(n, n.tensor(), [int(v) for v in n.option("size")])
