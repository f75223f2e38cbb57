"""Recurrence, attention, products and losses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import paddle
import paddle.nn.functional as fn
from paddle import nn

from .cases import Config, Subject
from .paddle_base import FLOATS, TYPES, Function, Operand, given, subject


def _weight(*shape: int, dtype: str = "float32") -> Any:
    return paddle.to_tensor(np.random.default_rng(7).normal(0, 0.5, shape).astype(dtype))


# -- recurrence ------------------------------------------------------------------------------------


def _recurrent(config: Config) -> Function:
    kind, both = config["layer"], config["direction"] == "bidirect"
    more = {"activation": config["activation"]} if kind == "SimpleRNN" else {}
    layer = getattr(nn, kind)(
        4, 3, config["layers"], config["direction"], time_major=config["time_major"], **more
    )
    count = config["layers"] * (2 if both else 1)

    def function(x: Any, *lengths: Any) -> Any:
        states = None
        if config["states"]:
            batch = x.shape[1 if config["time_major"] else 0]
            one = paddle.ones([count, batch, 3]) * 0.3
            states = (one, one * -0.5) if kind == "LSTM" else one
        return layer(x, states, lengths[0] if lengths else None)

    return function


def _sequences(config: Config) -> list[Operand]:
    shape = [5, 2, 4] if config["time_major"] else [2, 5, 4]
    x = Operand(shape, config.get("dtype", "float32"), closed=[2])
    return [x, Operand([2], "int64", "", 1, 6)] if config["lengths"] else [x]


def _recurrences() -> Iterator[Subject]:
    choices = {
        "layer": ["LSTM", "GRU", "SimpleRNN"],
        "layers": [1, 2],
        "direction": ["forward", "bidirect"],
    }
    choices |= {"time_major": [False, True], "lengths": [False, True], "states": [False, True]}
    choices |= {"activation": ["tanh", "relu"]}
    yield subject("recurrent", choices, _sequences, _recurrent)

    def cells(config: Config) -> Function:
        kind, bias = config["layer"], None if config["bias"] else False
        cell = lambda: getattr(nn, f"{kind}Cell")(4, 3, bias_ih_attr=bias)  # noqa: E731
        if config["both"]:
            layer = nn.BiRNN(cell(), cell(), config["time_major"])
        else:
            layer = nn.RNN(cell(), config["reverse"], config["time_major"])
        return lambda x, *n: layer(x, None, n[0] if n else None)

    choices = {
        "layer": ["LSTM", "GRU", "SimpleRNN"],
        "both": [False, True],
        "reverse": [False, True],
    }
    choices |= {"time_major": [False, True], "lengths": [False, True], "bias": [True, False]}
    yield subject("cells", choices, _sequences, cells, opens=("", "batch"))


# -- attention -------------------------------------------------------------------------------------


def _attention(config: Config) -> Function:
    how = given(config, "kdim", "vdim", "need_weights")
    layer = nn.MultiHeadAttention(8, config["heads"], **how)

    def function(q: Any, k: Any, v: Any, *mask: Any) -> Any:
        if config["same"]:
            k = v = q
        return layer(q, k, v, attn_mask=mask[0] if mask else None)

    return function


def _attention_inputs(config: Config) -> list[Operand]:
    q = Operand([2, 5, 8], closed=[2])
    keys = 5 if config["same"] else 6
    found = [
        q,
        Operand([2, keys, config["kdim"] or 8], closed=[2]),
        Operand([2, keys, config["vdim"] or 8], closed=[2]),
    ]
    if config["mask"]:
        shape = [2, config["heads"], 5, keys] if config["mask"][1] == "whole" else [1, 1, 5, keys]
        found.append(Operand(shape, config["mask"][0], "plain", 0, 2, closed=[1]))
    return found


def _scaled(config: Config) -> Function:
    def function(q: Any, k: Any, v: Any, *mask: Any) -> Any:
        return fn.scaled_dot_product_attention(
            q, k, v, mask[0] if mask else None, 0.0, config["causal"], False
        )

    return function


def _scaled_inputs(config: Config) -> list[Operand]:
    keys = config["keys"]
    closed = [2, 3]
    found = [Operand([2, 5, 4, 8], closed=closed), *[Operand([2, keys, 4, 8], closed=closed)] * 2]
    if config["mask"]:
        shape = [2, 4, 5, keys] if config["mask"][1] == "whole" else [1, 1, 5, keys]
        found.append(Operand(shape, config["mask"][0], closed=[1]))
    return found


def _transformer(config: Config) -> Function:
    how = given(config, "activation", "normalize_before")
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.1, **how)
    if config["stack"]:
        layer = nn.TransformerEncoder(layer, 2)
    if config["decoder"]:
        layer = nn.TransformerDecoderLayer(8, 2, 16, 0.1, **how)
        layer.eval()
        return lambda x: layer(x, x * 2)
    layer.eval()
    return lambda x: layer(x)


def _attentions() -> Iterator[Subject]:
    masks = [
        None,
        ["float32", "whole"],
        ["bool", "one"],
        ["float32", "one"],
        ["bool", "whole"],
        ["int64", "one"],
    ]
    choices = {"heads": [2, 4], "same": [True, False], "mask": masks, "need_weights": [False, True]}
    choices |= {"kdim": [None, 6], "vdim": [None, 4]}
    yield subject("MultiHeadAttention", choices, _attention_inputs, _attention)
    choices = {"causal": [False, True], "mask": masks[:-1], "keys": [5, 7]}
    yield subject("scaled_dot_product_attention", choices, _scaled_inputs, _scaled)
    choices = {
        "activation": ["relu", "gelu"],
        "normalize_before": [False, True],
        "stack": [False, True],
    }
    choices |= {"decoder": [False, True]}
    yield subject("transformer", choices, lambda c: [Operand([2, 5, 8], closed=[2])], _transformer)


# -- products --------------------------------------------------------------------------------------

PRODUCTS: dict[str, tuple[Function, list[list[int]]]] = {
    "matmul": (paddle.matmul, [[2, 3, 4], [2, 4, 5]]),
    "matmul broadcast": (paddle.matmul, [[2, 1, 3, 4], [6, 4, 5]]),
    "matmul x": (lambda x, y: paddle.matmul(x, y, True), [[2, 4, 3], [4, 5]]),
    "matmul y": (lambda x, y: paddle.matmul(x, y, False, True), [[2, 3, 4], [2, 5, 4]]),
    "matmul xy": (lambda x, y: paddle.matmul(x, y, True, True), [[4, 3], [5, 4]]),
    "matmul vectors": (paddle.matmul, [[4], [4]]),
    "matmul row": (paddle.matmul, [[4], [2, 4, 5]]),
    "matmul row x": (lambda x, y: paddle.matmul(x, y, True, True), [[4], [2, 5, 4]]),
    "matmul column": (paddle.matmul, [[2, 3, 4], [4]]),
    "matmul empty": (paddle.matmul, [[2, 0, 4], [4, 3]]),
    "matmul of nothing": (paddle.matmul, [[2, 3, 0], [0, 5]]),
    "mm": (paddle.mm, [[3, 4], [4, 5]]),
    "bmm": (paddle.bmm, [[2, 3, 4], [2, 4, 5]]),
    "mv": (paddle.mv, [[3, 4], [4]]),
    "dot": (paddle.dot, [[3, 4], [3, 4]]),
    "dot vectors": (paddle.dot, [[4], [4]]),
    "inner": (paddle.inner, [[2, 3, 4], [5, 4]]),
    "outer": (paddle.outer, [[2, 3], [4]]),
    "addmm": (lambda x, y: paddle.addmm(x[:1, :1], x, y, 0.5, 2.0), [[3, 4], [4, 5]]),
    "baddbmm": (lambda x, y: paddle.baddbmm(x[:, :1, :1], x, y, 0.5, 2.0), [[2, 3, 4], [2, 4, 5]]),
    "cross": (paddle.cross, [[2, 3, 4], [2, 3, 4]]),
    "cross -1": (lambda x, y: paddle.cross(x, y, -1), [[3, 3], [3, 3]]),
    "cdist": (paddle.cdist, [[2, 3, 4], [2, 5, 4]]),
    "cdist 1": (lambda x, y: paddle.cdist(x, y, 1.0), [[3, 4], [5, 4]]),
    "dist 0": (lambda x, y: paddle.dist(x, y, 0), [[3, 4], [3, 4]]),
    "dist inf": (lambda x, y: paddle.dist(x, y, float("inf")), [[3, 4], [4]]),
    "dist 3": (lambda x, y: paddle.dist(x, y, 3), [[3, 4], [3, 1]]),
    "tensordot": (paddle.tensordot, [[2, 3, 4], [3, 4, 5]]),
    "tensordot axes": (
        lambda x, y: paddle.tensordot(x, y, [[0, 2], [1, 0]]),
        [[2, 3, 4], [4, 2, 5]],
    ),
    "multi_dot": (lambda x, y: paddle.linalg.multi_dot([x, y, y.T]), [[3, 4], [4, 5]]),
    "kron": (paddle.kron, [[2, 3], [3, 1, 2]]),
    "einsum": (lambda x, y: paddle.einsum("bij,bjk->bik", x, y), [[2, 3, 4], [2, 4, 5]]),
    "einsum ...": (lambda x, y: paddle.einsum("...i,...i->...", x, y), [[2, 3, 4], [2, 3, 4]]),
    "einsum sum": (lambda x, y: paddle.einsum("ij,kj->k", x, y), [[3, 4], [5, 4]]),
    "linear": (lambda x, y: fn.linear(x, y), [[2, 3, 4], [4, 5]]),
    "bilinear": (lambda x, y: fn.bilinear(x, y, _weight(3, 4, 5)), [[2, 4], [2, 5]]),
    "cosine_similarity": (lambda x, y: fn.cosine_similarity(x, y, 1), [[2, 3, 4], [2, 3, 4]]),
    "pairwise_distance": (
        lambda x, y: fn.pairwise_distance(x, y, 2.0, keepdim=True),
        [[3, 4], [3, 4]],
    ),
    "lerp": (lambda x, y: paddle.lerp(x, y, 0.3), [[2, 3, 4], [4]]),
    "where": (lambda x, y: paddle.where(x > y, x, y), [[2, 3, 4], [4]]),
    "addcmul": (lambda x, y: x + y * y, [[2, 3], [3]]),
    "broadcast_tensors": (lambda x, y: paddle.broadcast_tensors([x, y]), [[2, 1, 4], [3, 1]]),
    "add_n": (lambda x, y: paddle.add_n([x, y, x]), [[2, 3], [2, 3]]),
    "concat": (lambda x, y: paddle.concat([x, y], 1), [[2, 3, 4], [2, 1, 4]]),
    "masked_select": (lambda x, y: paddle.masked_select(x, y > 0), [[2, 3], [2, 3]]),
    "masked_select broadcast": (lambda x, y: paddle.masked_select(x, y > 0), [[2, 3], [3]]),
    "masked_scatter": (lambda x, y: paddle.masked_scatter(x, x > 0, y), [[2, 3], [9]]),
    "expand_as": (lambda x, y: paddle.expand_as(x, y), [[3, 1], [2, 3, 4]]),
    "swiglu": (lambda x, y: fn.silu(x) * y, [[2, 4], [2, 4]]),
    "logaddexp": (paddle.logaddexp, [[2, 3], [3]]),
    "label_smooth": (lambda x, y: fn.label_smooth(x, y), [[2, 4], [1, 4]]),
}


def _products() -> Subject:
    def operands(config: Config) -> list[Operand]:
        closed = [1] if config["op"].startswith(("cross", "bilinear")) else []
        return [
            Operand(shape, config["dtype"], "plain", closed=closed)
            for shape in PRODUCTS[config["op"]][1]
        ]

    def whole(config: Config) -> bool:
        """Paddle's products of integers do not broadcast, or end the process."""
        return config["op"] != "matmul broadcast" or "float" in config["dtype"]

    choices = {"op": list(PRODUCTS), "dtype": [d for d in TYPES if d != "bool"]}
    return subject("products", choices, operands, lambda c: PRODUCTS[c["op"]][0], whole)


# -- losses and plain layers -----------------------------------------------------------------------

LOSSES = """mse_loss l1_loss smooth_l1_loss kl_div binary_cross_entropy
binary_cross_entropy_with_logits cross_entropy soft_cross_entropy nll_loss log_loss
square_error_cost sigmoid_focal_loss margin_ranking_loss hinge_embedding_loss soft_margin_loss
multi_label_soft_margin_loss poisson_nll_loss gaussian_nll_loss softmax_with_cross_entropy dice_loss
cosine_embedding_loss triplet_margin_loss multi_margin_loss"""
_CLASSES = ("cross_entropy", "nll_loss", "softmax_with_cross_entropy", "multi_margin_loss")
_UNIT = ("binary_cross_entropy", "log_loss")
_SIGNS = ("margin_ranking_loss", "hinge_embedding_loss", "soft_margin_loss")
_WHOLE = ("log_loss", "square_error_cost", "softmax_with_cross_entropy", "dice_loss")


def _loss(config: Config) -> Function:
    op, weighted = config["op"], config["weighted"]
    how: dict[str, Any] = {} if op in _WHOLE else {"reduction": config["reduction"]}

    def function(x: Any, y: Any) -> Any:
        if op in _CLASSES and op != "multi_margin_loss":
            if op != "softmax_with_cross_entropy":
                how["weight"] = _weight(5).abs() if weighted else None
            else:
                y2 = y.unsqueeze(-1)
                return fn.softmax_with_cross_entropy(x, y2, return_softmax=weighted)
            how["ignore_index"] = 1 if config["other"] else -100
            x2 = fn.log_softmax(x) if op == "nll_loss" else x
            return getattr(fn, op)(x2, y, **how)
        if op == "soft_cross_entropy":
            smooth = 0.1 if config["other"] else 0.0
            return fn.cross_entropy(
                x, fn.softmax(y), soft_label=True, label_smoothing=smooth, **how
            )
        if op == "kl_div":
            return fn.kl_div(fn.log_softmax(x), fn.softmax(y), **how)
        if op in _SIGNS:
            y = paddle.where(y > 0, paddle.ones_like(y), -paddle.ones_like(y))
        if op == "margin_ranking_loss":
            return fn.margin_ranking_loss(x, x * 0.5, y, 0.2, **how)
        if op == "triplet_margin_loss":
            return fn.triplet_margin_loss(x, y, x * 0.3, swap=weighted, **how)
        if op == "gaussian_nll_loss":
            return fn.gaussian_nll_loss(x, y, x * x + 0.1, full=weighted, **how)
        if op == "cosine_embedding_loss":
            return fn.cosine_embedding_loss(x, y, paddle.sign(x[:, 0]), 0.1, **how)
        if op == "dice_loss":
            return fn.dice_loss(fn.softmax(x), (y[:, :1] > 0).astype("int64"))
        if op == "binary_cross_entropy_with_logits" and weighted:
            how["pos_weight"] = _weight(5).abs()
        if op == "smooth_l1_loss" and config["other"]:
            how["delta"] = 0.3
        return getattr(fn, op)(x, y, **how)

    return function


def _losses() -> Subject:
    def operands(config: Config) -> list[Operand]:
        op = config["op"]
        kind = "unit" if op in _UNIT else "plain"
        x = Operand([4, 5], config["dtype"], kind, closed=[1])
        if op in _CLASSES:
            return [x, Operand([4], "int64", "", 0, 5)]
        y = Operand(
            [4, 5], config["dtype"], "unit" if "cross" in op or "focal" in op else kind, closed=[1]
        )
        return [x, y]

    choices = {
        "op": LOSSES.split(),
        "reduction": ["mean", "sum", "none"],
        "weighted": [False, True],
    }
    choices |= {"other": [False, True], "dtype": ["float32", "float64"]}
    return subject("losses", choices, operands, _loss, opens=("", "batch"))


LAYERS: dict[str, Any] = {
    "Linear": lambda c: nn.Linear(4, 3, bias_attr=False if c["other"] else None),
    "Dropout": lambda c: nn.Dropout(
        0.4, mode="downscale_in_infer" if c["other"] else "upscale_in_train"
    ),
    "Dropout axis": lambda c: nn.Dropout(0.4, axis=[0]),
    "AlphaDropout": lambda c: nn.AlphaDropout(0.4),
    "PReLU": lambda c: nn.PReLU(3 if c["other"] else 1),
    "Maxout": lambda c: nn.Maxout(3, 1),
    "Softmax": lambda c: nn.Softmax(0 if c["other"] else -1),
    "Flatten": lambda c: nn.Flatten(0, -1) if c["other"] else nn.Flatten(),
    "Unflatten": lambda c: nn.Unflatten(-1, [2, -1] if c["other"] else [2, 2]),
    "Identity": lambda c: nn.Identity(),
    "GLU": lambda c: nn.GLU(2 if c["other"] else -1),
    "SpectralNorm": lambda c: nn.SpectralNorm([2, 3, 4], 1 if c["other"] else 0, 2),
    "ZeroPad1D": lambda c: nn.ZeroPad1D([1, 2] if c["other"] else 1),
    "Pad1D": lambda c: nn.Pad1D([1, 2], "reflect" if c["other"] else "replicate"),
    "Sequential": lambda c: nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.LayerNorm(4)),
    "AdaptiveAvgPool1D": lambda c: nn.AdaptiveAvgPool1D(3 if c["other"] else 1),
    "Conv1D": lambda c: nn.Conv1D(
        3, 5, 3, padding=1, padding_mode="circular" if c["other"] else "zeros"
    ),
    "Conv1D reflect": lambda c: nn.Conv1D(3, 6, 3, padding=2, groups=3, padding_mode="reflect"),
    "Conv1DTranspose": lambda c: nn.Conv1DTranspose(
        3, 5, 3, stride=2, output_padding=int(c["other"])
    ),
}


def _plain() -> Subject:
    def build(config: Config) -> Function:
        layer = LAYERS[config["layer"]](config)
        layer = layer.astype(config["dtype"]) if config["dtype"] == "float64" else layer
        layer.eval()
        return lambda x: layer(x)

    choices = {"layer": list(LAYERS), "other": [False, True], "dtype": FLOATS}
    return subject(
        "layers", choices, lambda c: [Operand([2, 3, 4], c["dtype"], closed=[1, 2])], build
    )


# -- control flow ----------------------------------------------------------------------------------


def _branch(x: Any, config: Config) -> Any:
    def yes() -> Any:
        return x * 2

    return paddle.static.nn.cond(x.sum() > 0, yes, lambda: x - 1)


def _loop(x: Any, config: Config) -> Any:
    i = paddle.zeros([1], "int64")
    step = lambda i, y: [i + 1, y * 0.5 + i.astype(y.dtype)]  # noqa: E731
    return paddle.static.nn.while_loop(lambda i, y: i < config["times"], step, [i, x])


def _switch(x: Any, config: Config) -> Any:
    at = (x.sum() > 0).astype("int32") + config["times"]
    branches = {1: lambda: x + 1, 2: lambda: x * 3, 3: lambda: x - x}
    return paddle.static.nn.switch_case(at, branches, lambda: x)


def _control() -> Subject:
    functions = {"cond": _branch, "while": _loop, "switch": _switch}
    choices = {"op": list(functions), "times": [3, 0, 1], "dtype": ["float32", "float64", "int64"]}
    operand = lambda c: [Operand([2, 3], c["dtype"])]  # noqa: E731
    return subject("control", choices, operand, lambda c: lambda x: functions[c["op"]](x, c))


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    yield from _recurrences()
    yield from _attentions()
    yield _products()
    yield _losses()
    yield _plain()
    yield _control()
