"""Operators that rearrange, select, sort and create elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import paddle
import paddle.nn.functional as fn

from .cases import Config, Subject
from .paddle_base import TYPES, Function, Operand, subject

DTYPES = {"dtype": ["float32", "int64", "bool", "float16", "int32", "float64"]}
SHAPES = {"shape": [[2, 3, 4], [1, 3, 4], [0, 3, 4]]}

ONE: dict[str, Function] = {
    "reshape -1": lambda x: paddle.reshape(x, [-1, 4]),
    "reshape 0": lambda x: paddle.reshape(x, [0, -1]),
    "reshape 0 late": lambda x: paddle.reshape(x, [-1, 0, 2, 2]),
    "reshape shape": lambda x: paddle.reshape(x, [paddle.shape(x)[0], 12]),
    "flatten": paddle.flatten,
    "flatten 1": lambda x: paddle.flatten(x, 1),
    "flatten -2": lambda x: paddle.flatten(x, -2, -1),
    "flatten 0 1": lambda x: paddle.flatten(x, 0, 1),
    "squeeze": paddle.squeeze,
    "squeeze 0": lambda x: paddle.squeeze(x, 0),
    "squeeze list": lambda x: paddle.squeeze(x.unsqueeze([0, -1]), [0, -1, 1]),
    "unsqueeze": lambda x: paddle.unsqueeze(x, [0, -1]),
    "unsqueeze -2": lambda x: paddle.unsqueeze(x, -2),
    "unsqueeze 1 1": lambda x: paddle.unsqueeze(x, [1, 1]),
    "transpose": lambda x: paddle.transpose(x, [2, 0, 1]),
    "transpose -": lambda x: paddle.transpose(x, [-1, 0, -2]),
    "moveaxis": lambda x: paddle.moveaxis(x, [0, 1], [-1, 0]),
    "swapaxes": lambda x: paddle.swapaxes(x, -1, 0),
    "t": lambda x: paddle.t(x[0]),
    "flip": lambda x: paddle.flip(x, 1),
    "flip list": lambda x: paddle.flip(x, [0, -1]),
    "rot90": lambda x: paddle.rot90(x, 1, [1, 2]),
    "rot90 -3": lambda x: paddle.rot90(x, -3, [0, 2]),
    "roll": lambda x: paddle.roll(x, 1),
    "roll axis": lambda x: paddle.roll(x, -5, 2),
    "roll list": lambda x: paddle.roll(x, [1, -2], [1, -1]),
    "tile": lambda x: paddle.tile(x, [2, 1, 3]),
    "tile short": lambda x: paddle.tile(x, [2]),
    "tile long": lambda x: paddle.tile(x, [2, 1, 1, 2]),
    "tile 0": lambda x: paddle.tile(x, [1, 0, 1]),
    "expand": lambda x: paddle.expand(x, [5, -1, -1, 4]),
    "expand 1": lambda x: paddle.expand(x[:, :, :1], [-1, 3, 6]),
    "expand_as": lambda x: paddle.expand_as(x[:, :1], x),
    "broadcast_to": lambda x: paddle.broadcast_to(x, [2, *x.shape[:1], 3, 4]),
    "split": lambda x: paddle.split(x, 2, 2),
    "split sizes": lambda x: paddle.split(x, [1, -1], -1),
    "split 3": lambda x: paddle.split(x, 3, 1),
    "chunk": lambda x: paddle.chunk(x, 2, -1),
    "tensor_split": lambda x: paddle.tensor_split(x, 3, 2),
    "tensor_split at": lambda x: paddle.tensor_split(x, [1, 2], 1),
    "unbind": lambda x: paddle.unbind(x, 1),
    "unbind -1": lambda x: paddle.unbind(x, -1),
    "unstack": lambda x: paddle.unstack(x, 1),
    "stack": lambda x: paddle.stack([x, x], -1),
    "stack 1": lambda x: paddle.stack([x, x, x], 1),
    "concat": lambda x: paddle.concat([x, x], -1),
    "concat 0": lambda x: paddle.concat([x, x[:1]], 0),
    "hstack": lambda x: paddle.hstack([x, x]),
    "dstack": lambda x: paddle.dstack([x, x]),
    "slice": lambda x: paddle.slice(x, [1, 2], [0, -3], [2, -1]),
    "slice far": lambda x: paddle.slice(x, [1], [-100], [100]),
    "slice empty": lambda x: paddle.slice(x, [1], [2], [1]),
    "strided_slice": lambda x: paddle.strided_slice(x, [1, 2], [0, 3], [3, 0], [2, -1]),
    "strided_slice -": lambda x: paddle.strided_slice(x, [2], [-1], [-10], [-2]),
    "x[0]": lambda x: x[0],
    "x[:, -1]": lambda x: x[:, -1],
    "x[..., 1]": lambda x: x[..., 1],
    "x[:, ::2]": lambda x: x[:, ::2],
    "x[:, ::-1]": lambda x: x[:, ::-1],
    "x[:, 3:0:-2]": lambda x: x[:, :, 3:0:-2],
    "x[None]": lambda x: x[None, :, None],
    "x[:, [2, 0]]": lambda x: x[:, [2, 0]],
    "x[:, [0, 1], [2, 3]]": lambda x: x[:, [0, 1], [2, 3]],
    "x[[0], :, [1]]": lambda x: x[[0], :, [1]],
    "x[:, mask]": lambda x: x[:, paddle.to_tensor([True, False, True])],
    "x[:, -5:2]": lambda x: x[:, -5:2],
    "tril": lambda x: paddle.tril(x, 1),
    "triu": lambda x: paddle.triu(x, -1),
    "diagonal": paddle.diagonal,
    "diagonal -1": lambda x: paddle.diagonal(x, -1, 1, 2),
    "diagonal 2": lambda x: paddle.diagonal(x, 2, -1, 1),
    "diag_embed": lambda x: paddle.diag_embed(x, 1),
    "diag_embed axes": lambda x: paddle.diag_embed(x, -1, 0, 2),
    "diag": lambda x: paddle.diag(x[0, 0], 1),
    "diag matrix": lambda x: paddle.diag(x[0], -1),
    "diag padding": lambda x: paddle.diag(x[0, 0], 0, 5),
    "diagflat": lambda x: paddle.diagflat(x, 1),
    "trace": lambda x: paddle.trace(x, 1, 1, 2),
    "trace -": lambda x: paddle.trace(x, -1, -1, 0),
    "unfold": lambda x: x.unfold(2, 2, 1),
    "as_strided": lambda x: paddle.as_strided(x, [2, 3], [1, 2]),
    "view": lambda x: paddle.view(x, [12, -1]),
    "crop": lambda x: paddle.crop(x, [-1, 2, 2], [0, 1, 1]),
    "pad": lambda x: fn.pad(x, [1, 2]),
    "pad all": lambda x: fn.pad(x, [0, 1, 2, 0, 1, 1], value=3.0),
    "repeat_interleave": lambda x: paddle.repeat_interleave(x, 2, 1),
    "repeat_interleave flat": lambda x: paddle.repeat_interleave(x, 3),
    "repeat_interleave list": lambda x: paddle.repeat_interleave(x, paddle.to_tensor([2, 0, 1]), 1),
    "meshgrid": lambda x: paddle.meshgrid(x[0, 0], x[0, :, 0]),
    "shape": paddle.shape,
    "numel": paddle.numel,
    "rank": paddle.rank,
    "nonzero": paddle.nonzero,
    "nonzero tuple": lambda x: paddle.nonzero(x, True),
    "zeros_like": paddle.zeros_like,
    "ones_like": lambda x: paddle.ones_like(x, "int32"),
    "diff": paddle.diff,
    "diff 2": lambda x: paddle.diff(x, 2, 1),
    "diff prepend": lambda x: paddle.diff(x, 1, -1, x[:, :, :1]),
    "trapezoid": paddle.trapezoid,
    "trapezoid dx": lambda x: paddle.trapezoid(x, dx=0.5, axis=1),
    "cumulative_trapezoid": paddle.cumulative_trapezoid,
    "vander": lambda x: paddle.vander(x[0, 0], 3),
    "atleast_3d": lambda x: paddle.atleast_3d(x[0, 0]),
    "histogram": lambda x: paddle.histogram(x, 5, -2, 2),
    "increment": lambda x: paddle.increment(x[0, 0, 0], 2),
    "unique": paddle.unique,
    "unique all": lambda x: paddle.unique(x, True, True, True),
    "unique axis": lambda x: paddle.unique(x, axis=1),
    "unique_consecutive": lambda x: paddle.unique_consecutive(x, True, True),
    "expand shape": lambda x: paddle.expand(x[:1], paddle.shape(x)),
    "renorm": lambda x: paddle.renorm(x, 2.0, 1, 1.0),
    "clone": paddle.clone,
    "block_diag": lambda x: paddle.block_diag([x[0], x[0]]),
    "combinations": lambda x: paddle.combinations(x[0, 0], 2),
    "cartesian_prod": lambda x: paddle.cartesian_prod([x[0, 0], x[0, :, 0]]),
}


def _one() -> Subject:
    operands = lambda c: [Operand(c["shape"], c["dtype"], "ties")]  # noqa: E731
    choices = {"op": list(ONE), **DTYPES, **SHAPES}

    def allowed(config: Config) -> bool:
        """Whether Paddle writes the operator correctly: not for some unknown or empty extents."""
        op = config["op"]
        closed = op.startswith(("trapezoid", "cumulative", "unbind", "unstack", "tensor_split"))
        empty = op in ("reshape 0 late", "unique axis") and 0 in config["shape"]
        return not (closed and config["open"]) and not empty

    return subject("movement", choices, operands, lambda c: ONE[c["op"]], allowed)


def _integers(least: int, most: int, *shape: int) -> Any:
    return lambda kind: Operand(shape, kind, "", least, most)


_ROWS, _PLACES = _integers(0, 3, 5), _integers(-3, 3, 5)
BY_INDEX: dict[str, tuple[Function, Any]] = {
    "gather": (lambda x, i: paddle.gather(x, i, 1), _ROWS),
    "gather -1": (lambda x, i: paddle.gather(x, i, -1), _ROWS),
    "gather 0": (paddle.gather, _integers(0, 2, 4)),
    "gather column": (paddle.gather, _integers(0, 2, 4, 1)),
    "index_select": (lambda x, i: paddle.index_select(x, i, 1), _ROWS),
    "index_select -2": (lambda x, i: paddle.index_select(x, i, -2), _PLACES),
    "gather_nd": (paddle.gather_nd, _integers(0, 2, 4, 2)),
    "gather_nd -": (paddle.gather_nd, _integers(-2, 2, 4, 3)),
    "gather_nd 1": (paddle.gather_nd, _integers(0, 2, 3, 2, 1)),
    "take": (paddle.take, _integers(-6, 6, 2, 2)),
    "take wrap": (lambda x, i: paddle.take(x, i, "wrap"), _integers(-90, 90, 7)),
    "take clip": (lambda x, i: paddle.take(x, i, "clip"), _integers(-90, 90, 7)),
    "take_along_axis": (lambda x, i: paddle.take_along_axis(x, i, 1), _integers(0, 3, 2, 5, 4)),
    "take_along_axis -": (
        lambda x, i: paddle.take_along_axis(x, i, -1, False),
        _integers(0, 4, 1, 2, 3),
    ),
    "take_along_axis broadcast": (
        lambda x, i: paddle.take_along_axis(x, i, 1),
        _integers(0, 3, 1, 2, 1),
    ),
    "put_along_axis": (
        lambda x, i: paddle.put_along_axis(x, i, x[:, :2] + x[:, :2], 1),
        _integers(0, 3, 2, 2, 4),
    ),
    "put_along_axis number": (
        lambda x, i: paddle.put_along_axis(x, i, 7, 1),
        _integers(0, 3, 1, 2, 1),
    ),
    "put_along_axis add": (
        lambda x, i: paddle.put_along_axis(x, i, x[:, :2], 1, "add"),
        _integers(0, 3, 2, 2, 4),
    ),
    "put_along_axis mul": (
        lambda x, i: paddle.put_along_axis(x, i, x[:, :2], 1, "mul", False),
        _integers(0, 3, 2, 2, 4),
    ),
    "put_along_axis amax": (
        lambda x, i: paddle.put_along_axis(x, i, x[:, :2], 1, "amax"),
        _integers(0, 3, 2, 2, 4),
    ),
    "put_along_axis mean": (
        lambda x, i: paddle.put_along_axis(x, i, x[:, :2], 1, "mean"),
        _integers(0, 3, 2, 2, 4),
    ),
    "put_along_axis least": (
        lambda x, i: paddle.put_along_axis(x, i, x[:, :2], 1, "amin", False),
        _integers(0, 3, 2, 2, 4),
    ),
    "scatter": (lambda x, i: paddle.scatter(x, i, x + x), lambda k: Operand([2], k, "", 0, 2)),
    "scatter add": (
        lambda x, i: paddle.scatter(x, i, x + x, False),
        lambda k: Operand([2], k, "", 0, 2),
    ),
    "scatter_nd_add": (
        lambda x, i: paddle.scatter_nd_add(x, i, x[0, :2].sum(1)),
        _integers(0, 2, 2, 3),
    ),
    "scatter_nd": (lambda x, i: paddle.scatter_nd(i, x[0, :2], [5, 4]), _integers(0, 5, 2, 1)),
    "index_add": (lambda x, i: paddle.index_add(x, i, 1, x[:, :2]), _integers(0, 3, 2)),
    "index_add -1": (lambda x, i: paddle.index_add(x, i, -1, x[:, :, :2]), _integers(0, 4, 2)),
    "index_put": (lambda x, i: paddle.index_put(x, (i, i), x[0, 0, 0]), _integers(0, 2, 3)),
    "index_put -": (
        lambda x, i: paddle.index_put(x, (i,), x[:1] + x[:1], True),
        _integers(-2, 2, 3),
    ),
    "index_fill": (lambda x, i: paddle.index_fill(x, i, 1, 5), _integers(0, 3, 2)),
    "index_sample": (lambda x, i: paddle.index_sample(x[0], i), _integers(0, 4, 3, 2)),
    "x[i]": (lambda x, i: x[i], _integers(-2, 2, 2, 2)),
    "x[:, i]": (lambda x, i: x[:, i], _PLACES),
    "x[i, :, i]": (lambda x, i: x[i, :, i], _integers(-2, 2, 3)),
    "x[i, j]": (lambda x, i: x[i, i + 1], _integers(-2, 1, 3)),
    "one_hot": (lambda x, i: fn.one_hot(i, 6), _integers(0, 6, 2, 3)),
    "embedding": (lambda x, i: fn.embedding(i, x[0]), _integers(0, 3, 2, 3)),
    "embedding padding": (lambda x, i: fn.embedding(i, x[0], 1), _integers(0, 3, 2, 3)),
    "embedding -1": (lambda x, i: fn.embedding(i, x[0], -1), _integers(0, 3, 2, 3)),
    "shard_index": (lambda x, i: paddle.shard_index(i, 20, 2, 1), _integers(0, 20, 6, 1)),
    "bincount": (lambda x, i: paddle.bincount(i, minlength=4), _integers(0, 6, 9)),
    "sequence_mask": (lambda x, i: fn.sequence_mask(i, 5), _integers(0, 6, 3)),
    "sequence_mask open": (lambda x, i: fn.sequence_mask(i, dtype="bool"), _integers(1, 6, 2, 2)),
    "x.shape": (lambda x, i: paddle.full([x.shape[0], 3], 2.5) + i, _integers(0, 6, 3)),
    "segment_sum": (lambda x, i: paddle.geometric.segment_sum(x[0], i.sort()), _ROWS),
    "searchsorted": (
        lambda x, i: paddle.searchsorted(x[0, 0].sort(), i.astype(x.dtype)),
        _integers(-3, 3, 5),
    ),
    "bucketize": (
        lambda x, i: paddle.bucketize(x, i.astype(x.dtype).sort(), right=True),
        _integers(-3, 3, 5),
    ),
    "multiplex": (lambda x, i: paddle.multiplex([x[0], x[1]], i), _integers(0, 2, 3, 1)),
}


def _indexed() -> Subject:
    def operands(config: Config) -> list[Operand]:
        index = BY_INDEX[config["op"]][1](config["index"])
        return [Operand([2, 3, 4], config["dtype"], "ties"), index]

    choices = {"op": list(BY_INDEX), **DTYPES, "index": ["int64", "int32"]}
    return subject(
        "indices", choices, operands, lambda c: BY_INDEX[c["op"]][0], opens=("", "batch")
    )


WRITTEN: dict[str, Any] = {
    "x[0]": lambda x: (0,),
    "x[:, 1:]": lambda x: (slice(None), slice(1, None)),
    "x[..., ::2]": lambda x: (Ellipsis, slice(None, None, 2)),
    "x[:, ::-1]": lambda x: (slice(None), slice(None, None, -1)),
    "x[:, -1]": lambda x: (slice(None), -1),
    "x[x > 0]": lambda x: x > 0,
    "x[:, [1, 0]]": lambda x: (slice(None), [1, 0]),
    "x[:, [2, 0], 1]": lambda x: (slice(None), [2, 0], 1),
    "x[None]": lambda x: (None, 0),
    "x[:, -100:2]": lambda x: (slice(None), slice(-100, 2)),
    "x[:, 2:100]": lambda x: (slice(None), slice(2, 100)),
}


def _written() -> Subject:
    def build(config: Config) -> Function:
        def function(x: Any) -> Any:
            y, where = x + 0, WRITTEN[config["at"]](x)
            value = 7 if config["value"] == "number" else x[0, 0, 0] * 3
            if config["value"] == "row":
                value = x[0, :1, :1] + 2
            y[where] = value
            return y

        return function

    choices = {"at": list(WRITTEN), "value": ["number", "element", "row"], **SHAPES}
    choices |= {"dtype": ["float32", "int64", "float16", "float64"]}
    return subject("written", choices, lambda c: [Operand(c["shape"], c["dtype"])], build)


ORDERS: dict[str, Any] = {
    "sort": lambda x, c: paddle.sort(x, c["axis"], c["descending"]),
    "sort stable": lambda x, c: paddle.sort(x, c["axis"], c["descending"], True),
    "argsort": lambda x, c: paddle.argsort(x, c["axis"], c["descending"], True),
    "topk": lambda x, c: paddle.topk(x, 2, c["axis"], c["descending"])[0],
    "topk values": lambda x, c: paddle.topk(x, 1, c["axis"], c["descending"], False)[0],
    "kthvalue": lambda x, c: paddle.kthvalue(x, 1 + c["descending"], c["axis"], c["keepdim"])[0],
    "mode": lambda x, c: paddle.mode(x, c["axis"], c["keepdim"])[0],
    "argmax": lambda x, c: paddle.argmax(x, c["axis"], c["keepdim"]),
    "argmin": lambda x, c: paddle.argmin(x, c["axis"], c["keepdim"], "int32"),
    "median": lambda x, c: paddle.median(x, c["axis"], c["keepdim"]),
    "median min": lambda x, c: paddle.median(x, c["axis"], c["keepdim"], "min"),
    "cummax": lambda x, c: paddle.cummax(x, c["axis"]),
    "cummin": lambda x, c: paddle.cummin(x, c["axis"]),
    "cumsum": lambda x, c: paddle.cumsum(x, c["axis"]),
    "cumprod": lambda x, c: paddle.cumprod(x, c["axis"]),
    "logcumsumexp": lambda x, c: paddle.logcumsumexp(x, c["axis"]),
}


def _orders() -> Subject:
    choices = {"op": list(ORDERS), "axis": [-1, 0, 1, -2], "descending": [False, True]}
    choices |= {"keepdim": [False, True], "shape": [[2, 3, 4], [3, 2], [0, 3], [4, 3, 2]]}
    choices |= {"dtype": [d for d in TYPES if d != "bool"], "numbers": ["ties", "plain", "odd"]}
    operands = lambda c: [Operand(c["shape"], c["dtype"], c["numbers"])]  # noqa: E731
    return subject("orders", choices, operands, lambda c: lambda x: ORDERS[c["op"]](x, c))


MADE: dict[str, Any] = {
    "zeros": lambda d: paddle.zeros([2, 3], d),
    "ones": lambda d: paddle.ones([2], d),
    "full": lambda d: paddle.full([2, 0], 2.7, d),
    "full 0-d": lambda d: paddle.full([], 3, d),
    "arange": lambda d: paddle.arange(5, dtype=d),
    "arange step": lambda d: paddle.arange(5, -2, -2, d),
    "arange float": lambda d: paddle.arange(0.5, 3, 0.4, d),
    "linspace": lambda d: paddle.linspace(0, 3, 7, d),
    "linspace 1": lambda d: paddle.linspace(2, 3, 1, d),
    "logspace": lambda d: paddle.logspace(0, 2, 5, dtype=d),
    "eye": lambda d: paddle.eye(3, dtype=d),
    "eye wide": lambda d: paddle.eye(2, 4, d),
    "tril_indices": lambda d: paddle.tril_indices(3, 4, 1, d),
    "triu_indices": lambda d: paddle.triu_indices(4, 3, -1, d),
    "to_tensor": lambda d: paddle.to_tensor(np.array([1.5, -2, 0])).astype(d),
    "constant": lambda d: paddle.to_tensor(np.array([[1, 0, 3]]), d),
    "diag": lambda d: paddle.diag(paddle.to_tensor([1, 2]).astype(d), padding_value=9),
    "bool": lambda d: paddle.to_tensor([True, False]).astype(d),
}


def _made() -> Subject:
    def build(config: Config) -> Function:
        return lambda x: [x, MADE[config["op"]](config["dtype"])]

    choices = {"op": list(MADE), "dtype": [*TYPES, "int8", "uint8", "int16"]}
    return subject("made", choices, lambda c: [Operand([2])], build, opens=("",))


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    yield _one()
    yield _indexed()
    yield _written()
    yield _orders()
    yield _made()
