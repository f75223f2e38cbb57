"""Lists of tensors, and the arrays of TensorFlow 1."""

from __future__ import annotations

from dataclasses import replace

from ...common.vocabulary import *
from ..layer import TfLayer, rows
from ..lists import TensorList


def element_shape(n: TfLayer, shape: Value) -> tuple[int | None, ...] | None:
    """The shape of a list's elements; None if it is unspecified."""
    found = n.known(shape)
    if found is None:
        return n.extents(shape) if shape.type.rank == 1 else None
    if found.ndim == 0:
        return None
    return tuple(None if d < 0 else int(d) for d in found)


@rows("TensorListReserve")
def list_reserve(n: TfLayer, shape: Value, count: Value) -> TensorList:
    known = n.known(count)
    number = n.cast(as_scalar(n, count), i64) if known is None else int(known)
    return TensorList(n.element("element_dtype"), number, element_shape(n, shape))


@rows("EmptyTensorList")
def list_empty(n: TfLayer, shape: Value, most: Value) -> TensorList:
    return TensorList(n.element("element_dtype"), 0, element_shape(n, shape))


@rows("TensorListFromTensor")
def list_of(n: TfLayer, x: Value, shape: Value) -> TensorList:
    return TensorList.of(n, x)


@rows("TensorListStack")
def list_stack(n: TfLayer, x: TensorList, shape: Value) -> Value:
    return x.stacked(n)


@rows("TensorListConcatV2", "TensorListConcat")
def list_concat(n: TfLayer, x: TensorList, *others: Value) -> list[Any]:
    if x.stack is None and x.items and len(x.items) == x.count:
        return [concat(n, [x.items[i] for i in range(len(x.items))], 0), None]
    found = x.stacked(n)
    if found.type.rank < 2:
        raise n.error("the elements have rank 0")
    groups = [(0, 2), *((i, i + 1) for i in range(2, found.type.rank))]
    return [merge(n, found, groups), None]


@rows("TensorListGetItem")
def list_item(n: TfLayer, x: TensorList, index: Value, shape: Value) -> Value:
    return x.item(n, index)


@rows("TensorListSetItem")
def list_set(n: TfLayer, x: TensorList, index: Value, item: Value) -> TensorList:
    return x.with_item(n, index, item, n.flag("resize_if_index_out_of_bounds"))


@rows("TensorListLength")
def list_length(n: TfLayer, x: TensorList) -> Value:
    return n.cast(x.length(n), i32)


@rows("TensorListElementShape")
def list_element_shape(n: TfLayer, x: TensorList) -> Value:
    """The shape of the elements, -1 for unknown extents; -1 alone if the rank is unknown."""
    found = x.element_shape()
    extents: Any = -1 if found is None else [-1 if d is None else d for d in found]
    return n.constant(np.array(extents), n.element("shape_type", i32))


@rows("TensorListPushBack")
def list_push(n: TfLayer, x: TensorList, item: Value) -> TensorList:
    return x.pushed(n, item)


@rows("TensorListPopBack")
def list_pop(n: TfLayer, x: TensorList, shape: Value) -> list[Any]:
    return list(x.popped(n))


@rows("TensorListGather")
def list_gather(n: TfLayer, x: TensorList, indices: Value, shape: Value) -> Value:
    return gathered(n, x.stacked(n), indices)


@rows("TensorListSplit")
def list_split(n: TfLayer, x: Value, shape: Value, lengths: Value) -> TensorList:
    """Consecutive parts of x, whose lengths must be known."""
    sizes = n.known_ints(lengths, "the lengths")
    ends = np.cumsum(sizes)
    parts = [Term(n, x).part(0, int(b - s), int(b)) for s, b in zip(sizes, ends, strict=True)]
    own = (sizes[0] if len(set(sizes)) == 1 else None, *x.type.shape[1:])
    items = {i: part.value for i, part in enumerate(parts)}
    return TensorList(x.type.element_type, len(items), own, items=items)


@rows("TensorListResize")
def list_resize(n: TfLayer, x: TensorList, size: Value) -> TensorList:
    """The first elements of a list, and zeros after its end."""
    most = n.known_int(size, "the size")
    if not isinstance(x.count, int):
        raise n.error("the length of the list must be known at import")
    if x.stack is None:
        return replace(x, count=most, items={i: v for i, v in x.items.items() if i < most})
    stack = Term(n, x.stacked(n)).part(0, 0, min(x.count, most)).value
    items = {i: column(n, stack, 0, i) for i in range(min(x.count, most))}
    return replace(x, count=most, stack=None, items=items)


@rows("TensorListConcatLists")
def list_joined(n: TfLayer, x: TensorList, y: TensorList) -> TensorList:
    return TensorList.of(n, concat(n, [x.stacked(n), y.stacked(n)], 0))


@rows("TensorListScatter", "TensorListScatterV2")
def list_scattered(
    n: TfLayer, items: Value, indices: Value, shape: Value, count: Value | None = None
) -> TensorList:
    """A list of items at known indices; with a count of -1 or none, as long as they need."""
    places = n.known_ints(indices, "the indices")
    most = -1 if count is None else n.known_int(count, "the number of elements")
    most = max(places, default=-1) + 1 if most == -1 else most
    own = {at: column(n, items, 0, i) for i, at in enumerate(places)}
    return TensorList(items.type.element_type, most, items.type.shape[1:], items=own)


@rows("TensorListScatterIntoExistingList")
def list_scatter(n: TfLayer, x: TensorList, items: Value, indices: Value) -> TensorList:
    stack = x.stacked(n)
    places = reshape(n, n.cast(indices, i64), [(indices, 0), 1])
    return replace(x, stack=n(nn.ScatterNd(stack, places, items)), items={})


# Arrays of TensorFlow 1: the flow is the list.


@rows("TensorArrayV3")
def array(n: TfLayer, size: Value) -> list[Any]:
    known = n.known(size)
    number = n.cast(as_scalar(n, size), i64) if known is None else int(known)
    grows = n.flag("dynamic_size")
    found = TensorList(n.element("dtype"), number, n.shape("element_shape"), grows=grows)
    return [found, found]


@rows("TensorArrayReadV3")
def array_read(n: TfLayer, handle: Any, index: Value, flow: TensorList) -> Value:
    return flow.item(n, index)


@rows("TensorArrayWriteV3")
def array_write(n: TfLayer, handle: Any, index: Value, item: Value, flow: TensorList) -> TensorList:
    return flow.with_item(n, index, item, flow.grows)


@rows("TensorArraySizeV3")
def array_size(n: TfLayer, handle: Any, flow: TensorList) -> Value:
    return n.cast(flow.length(n), i32)


@rows("TensorArrayGatherV3")
def array_gather(n: TfLayer, handle: Any, indices: Value, flow: TensorList) -> Value:
    return gathered(n, flow.stacked(n), indices)


@rows("TensorArrayScatterV3")
def array_scatter(
    n: TfLayer, handle: Any, indices: Value, items: Value, flow: TensorList
) -> TensorList:
    known = n.known(indices)
    if known is not None and list(known) == list(range(len(known))) == list(range(_count(flow))):
        return replace(flow, stack=items, items={}, shape=items.type.shape[1:])
    if known is None:
        # Exporters unstack by a range of the first dimension.
        return TensorList.of(n, items)
    base = replace(flow, shape=items.type.shape[1:]).stacked(n)
    places = reshape(n, n.cast(indices, i64), [(indices, 0), 1])
    return replace(flow, stack=n(nn.ScatterNd(base, places, items)), items={})


def _count(x: TensorList) -> int:
    return x.count if isinstance(x.count, int) else -1
