"""Layers on sequences: recurrent ones, attention, and layers that propagate masks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import keras
import numpy as np

from .cases import Config, Subject
from .keras_base import COMMON, OPEN, Inputs, L, arguments, subject

YES = [False, True]
MASKS = ["none", "trailing", "scattered", "masking", "explicit"]


def masked(config: Config, inputs: Inputs, how: str, steps: int, width: int, **more: Any) -> Any:
    """A sequence with a mask: padding at its end, masked steps anywhere, or identical rows.

    With "explicit" the mask is a second result, which the caller passes to the layer.
    """
    if how in ("none", "explicit"):
        x = inputs.floats(steps, width, **more)
        return (x, inputs.integers(steps, most=2, dtype="bool")) if how == "explicit" else x
    if how == "masking":

        def fill(shape: tuple[int, ...]) -> np.ndarray:
            found = inputs.rng.standard_normal(shape).astype("float32")
            found[inputs.rng.random(shape[:2]) < 0.4] = 0.5
            return found

        return L.Masking(0.5)(inputs.add((steps, width), fill, "float32", **more))

    def numbers(shape: tuple[int, ...]) -> np.ndarray:
        found = inputs.rng.integers(1, 6, shape)
        if how == "scattered":
            found = inputs.rng.integers(0, 3, shape)
            found[-1:] = 0
            return found.astype("int32")
        ends = inputs.rng.integers(0, shape[1] + 1, (shape[0], 1))
        return np.where(np.arange(shape[1]) < ends, found, 0).astype("int32")

    x = inputs.add((steps,), numbers, "int32", **more)
    return L.Embedding(6, width, mask_zero=True)(x)


UNITS = 3
RECURRENT = {
    "return_sequences": YES,
    "return_state": YES,
    "go_backwards": YES,
    "mask": MASKS,
    "initial_state": ["none", "given", "by place"],
    "zero_output_for_mask": YES,
    "unroll": YES,
    "use_bias": [True, False],
    "steps": [5, 1],
    "stateful": YES,
    "activation": ["tanh", "relu"],
}
OWN = ("return_sequences", "return_state", "go_backwards", "zero_output_for_mask", "unroll")


def _layer(kind: str, config: Config, **more: Any) -> Any:
    how = arguments(config, *OWN, "stateful") | more
    cell = arguments(config, "activation", "use_bias")
    if kind == "RNN":
        return L.RNN(L.GRUCell(UNITS, reset_after=False, **cell), **how)
    if kind == "StackedRNN":
        cells = [L.LSTMCell(UNITS, **cell), L.GRUCell(UNITS, **cell), L.SimpleRNNCell(UNITS)]
        return L.RNN(cells, **how)
    if kind == "GRU":
        cell["reset_after"] = config.get("reset_after", True)
    if kind in ("GRU", "LSTM"):
        cell["recurrent_activation"] = config.get("recurrent_activation", "sigmoid")
    return getattr(L, kind)(UNITS, **how, **cell)


STATES = {"LSTM": 2, "GRU": 1, "SimpleRNN": 1, "RNN": 1, "StackedRNN": 4}


def _called(config: Config, inputs: Inputs, layer: Any, states: int) -> Any:
    """The layer applied to a sequence, with its mask and perhaps initial states."""
    batch = inputs.batch if config["stateful"] else None
    more = {"batch": batch} if batch else {}
    kwargs: dict[str, Any] = {}
    x = masked(config, inputs, config["mask"], config["steps"], 4, **more)
    if config["mask"] == "explicit":
        x, kwargs["mask"] = x
    given = [inputs.floats(UNITS, **more) for _ in range(states)]
    if config["initial_state"] == "given":
        return layer(x, initial_state=given, **kwargs)
    if config["initial_state"] == "by place":
        return layer(x, given, **kwargs)
    return layer(x, **kwargs)


def _recurrent(kind: str):
    def build(config: Config, inputs: Inputs) -> Any:
        states = STATES[kind] if config["initial_state"] != "none" else 0
        layer = _layer(kind, config)
        if kind != "StackedRNN" or not states:
            return _called(config, inputs, layer, states)
        given = [inputs.floats(UNITS) for _ in range(4)]
        x = masked(config, inputs, config["mask"], config["steps"], 4)
        kwargs = {}
        if config["mask"] == "explicit":
            x, kwargs["mask"] = x
        return layer(x, initial_state=[given[:2], given[2], given[3]], **kwargs)

    return build


def _both_ways(config: Config, inputs: Inputs) -> Any:
    kind = config["kind"]
    more = {}
    if config["backward"] != "none":
        back = config | {"go_backwards": not config["go_backwards"]}
        kind_behind = kind if config["backward"] == "same" else "GRU"
        more["backward_layer"] = _layer(kind_behind, back)
    layer = L.Bidirectional(_layer(kind, config), merge_mode=config["merge_mode"], **more)
    behind = "GRU" if config["backward"] == "other" else kind
    states = STATES[kind] + STATES[behind] if config["initial_state"] != "none" else 0
    return _called(config, inputs, layer, states)


def _may_be(config: Config) -> bool:
    if config["unroll"] and (config["open"] or config["steps"] > 5):
        return False
    return not config["stateful"] or (config["batch"] > 0 and not config["open"])


def _images(config: Config, inputs: Inputs) -> Any:
    rank = config["rank"]
    layer = getattr(L, f"ConvLSTM{rank}D")(
        2, 2, strides=config["strides"], dilation_rate=config["dilation"],
        **arguments(config, "padding", "data_format", "return_sequences", "return_state",
                    "go_backwards", "use_bias"),
    )  # fmt: skip
    places = (5, 4, 3)[:rank]
    first = config["data_format"] == "channels_first"
    x = inputs.floats(4, *((2, *places) if first else (*places, 2)))
    return layer(L.Masking(0.1)(x) if config["mask"] else x)


PASSING = {
    "Dense": lambda: L.Dense(4),
    "BatchNormalization": L.BatchNormalization,
    "LayerNormalization": L.LayerNormalization,
    "Activation": lambda: L.Activation("relu"),
    "PReLU": L.PReLU,
    "TimeDistributed": lambda: L.TimeDistributed(L.Dense(4)),
    "Conv1D": lambda: L.Conv1D(4, 3, padding="same"),
    "Dropout": lambda: L.Dropout(0.5),
    "RMSNormalization": L.RMSNormalization,
    "EinsumDense": lambda: L.EinsumDense("abc,cd->abd", (None, 4)),
    "SpatialDropout1D": lambda: L.SpatialDropout1D(0.5),
    "LSTM": lambda: L.LSTM(4, return_sequences=True),
    "SpectralNormalization": lambda: L.SpectralNormalization(L.Dense(4)),
    "LeakyReLU": L.LeakyReLU,
    "Bidirectional": lambda: L.Bidirectional(L.GRU(2, return_sequences=True)),
    "Rescaling": lambda: L.Rescaling(2.0),
    "Reshape": lambda: L.Reshape((5, 4)),
    "UnitNormalization": L.UnitNormalization,
    "GaussianNoise": lambda: L.GaussianNoise(0.1),
    "Sequential": lambda: keras.Sequential([L.Dense(4), L.Dropout(0.2)]),
}
"""Layers between the one that makes a mask and the one that uses it."""
MERGING = ["Add", "Multiply", "Maximum", "Concatenate"]


def _pass_on(config: Config, inputs: Inputs) -> Any:
    """The outputs of a layer that uses a mask, behind another layer that propagates it."""
    x = masked(config, inputs, config["mask"], 5, 4)
    kind = config["layer"]
    if kind in PASSING:
        y = PASSING[kind]()(x)
    elif kind == "Add to attention":
        y = L.Add()([x, L.MultiHeadAttention(2, 2)(x, x)])
    elif kind == "Functional":
        one = keras.Input((5, 4))
        y = keras.Model(one, L.LayerNormalization()(L.Dense(4)(one)))(x)
    elif kind == "+":
        y = x + 1.0
    else:
        y = getattr(L, kind)()([x, masked(config, inputs, config["mask"], 5, 4)])
    match config["behind"]:
        case "LSTM":
            return L.LSTM(3)(y)
        case "attention":
            return L.MultiHeadAttention(2, 2)(y, y)
        case "pooling":
            return L.GlobalAveragePooling1D()(y)
        case "twice":
            return [L.MultiHeadAttention(2, 2)(y, y), L.GRU(3)(y), L.Attention()([y, y])]
    return L.Attention()([y, y])


def _merge(config: Config, inputs: Inputs) -> Any:
    given = [masked(config, inputs, how, 5, 4) for how in (config["mask"], config["other"])]
    if config["count"] == 3:
        given.append(masked(config, inputs, config["mask"], 5, 4))
    y = getattr(L, config["kind"])()(given)
    return [y, L.GRU(3)(y)] if config["behind"] else y


def _attention(config: Config, inputs: Inputs) -> Any:
    q = masked(config, inputs, config["query"], 5, 4)
    v = masked(config, inputs, config["value"], 6, 4)
    given = [q, v]
    if config["key"]:
        given.append(masked(config, inputs, config["value"], 6, 4))
    more = {"use_scale": config["use_scale"], "dropout": config["dropout"]}
    if config["kind"] == "Attention":
        more["score_mode"] = config["score_mode"]
    calls = {"use_causal_mask": config["causal"]}
    if config["explicit"]:
        calls["mask"] = [inputs.integers(n, most=2, dtype="bool") for n in (5, 6)]
    if config["scores"]:
        calls["return_attention_scores"] = True
    return getattr(L, config["kind"])(**more)(given, **calls)


def _heads(config: Config, inputs: Inputs) -> Any:
    grouped = config["kind"] == "GroupQueryAttention"
    how = arguments(config, "use_bias", "use_gate", "sliding_window", "dropout")
    if grouped:
        layer = L.GroupQueryAttention(3, 4, config["groups"], **how)
    else:
        layer = L.MultiHeadAttention(
            2, 3, value_dim=config["value_dim"], output_shape=config["output_shape"],
            attention_axes=config["axes"], **how,
        )  # fmt: skip
    if config["rank"] == 4:
        q, v = inputs.floats(3, 4, 6), inputs.floats(3, 4, 6)
        sizes = (3, 4, 3, 4) if config["axes"] in (None, [1, 2]) else (4, 4)
        sizes = (3, 3) if config["axes"] == [1] else sizes
    else:
        q = masked(config, inputs, config["query"], 5, 4)
        v = q if config["self"] else masked(config, inputs, config["value"], 6, 4)
        sizes = (5, 5 if config["self"] else 6)
    calls: dict[str, Any] = {}
    if config["key"]:
        calls["key"] = v + 1.0 if config["rank"] == 4 or config["self"] else masked(
            config, inputs, config["value"], 6, 4)  # fmt: skip
    if config["causal"]:
        calls["use_causal_mask"] = True
    if config["scores"]:
        calls["return_attention_scores"] = True
    if config["attention_mask"]:
        calls["attention_mask"] = inputs.integers(*sizes, most=2, dtype="bool")
    if config["given_masks"]:
        calls["value_mask"] = inputs.integers(sizes[1], most=2, dtype="bool")
        calls["query_mask"] = inputs.integers(sizes[0], most=2, dtype="bool")
    found = layer(query=q, value=v, **calls) if config["by name"] else layer(q, v, **calls)
    behind = keras.tree.flatten(found)
    if config["behind"] and config["rank"] == 3:
        behind.append(L.GRU(2)(behind[0]) if config["output_shape"] is None else behind[0])
    return behind


def _heads_may_be(config: Config) -> bool:
    grouped = config["kind"] == "GroupQueryAttention"
    if grouped and (config["rank"] != 3 or config["axes"] or config["value_dim"]):
        return False
    if config["axes"] and config["rank"] != 4:
        return False
    wide = config["output_shape"] is not None and len(config["output_shape"]) > 1
    return not (wide and config["behind"])


def _distributed(config: Config, inputs: Inputs) -> Any:
    """A layer applied to each step (TimeDistributed), perhaps with a mask for each."""
    inner = {
        "LSTM": lambda: L.LSTM(3), "Bidirectional": lambda: L.Bidirectional(L.GRU(2)),
        "Dense": lambda: L.Dense(3), "GlobalAveragePooling1D": L.GlobalAveragePooling1D,
        "Conv1D": lambda: L.Conv1D(3, 2), "Flatten": L.Flatten,
        "Sequential": lambda: keras.Sequential([L.Dense(3), L.LSTM(2)]),
        "BatchNormalization": L.BatchNormalization,
    }[config["inner"]]()  # fmt: skip
    if config["words"]:
        x = L.Embedding(4, 3, mask_zero=config["mask"])(inputs.integers(4, 5, most=4))
    else:
        x = inputs.floats(4, 5, 3)
        x = L.Masking(0.0)(x) if config["mask"] else x
    return L.TimeDistributed(inner)(x)


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    for kind in STATES:
        more = {"GRU": {"reset_after": [True, False]}}.get(kind, {})
        if kind in ("GRU", "LSTM"):
            more |= {"recurrent_activation": ["sigmoid", "hard_sigmoid"]}
        yield subject(kind, _recurrent(kind), RECURRENT | more | OPEN, _may_be)
    ways = {
        "kind": ["LSTM", "GRU", "SimpleRNN", "RNN"],
        "merge_mode": ["concat", "sum", "mul", "ave", None],
        "backward": ["none", "same", "other"],
    }
    yield subject(
        "Bidirectional", _both_ways, RECURRENT | ways | OPEN,
        lambda c: _may_be(c) and (c["backward"] != "none" or not c["go_backwards"])
    )  # fmt: skip
    images = {
        "rank": [2, 1, 3], "strides": [1, 2], "dilation": [1, 2], "padding": ["same", "valid"],
        "data_format": ["channels_last", "channels_first"], "return_sequences": YES,
        "return_state": YES, "go_backwards": YES, "use_bias": [True, False], "mask": YES,
    }  # fmt: skip
    yield subject("ConvLSTM", _images, images, lambda c: c["strides"] == 1 or c["dilation"] == 1)
    yield subject(
        "masks passed on", _pass_on,
        {"layer": [*PASSING, *MERGING, "Functional", "Add to attention", "+"], "mask": MASKS[1:4],
         "behind": ["LSTM", "attention", "pooling", "twice", "plain attention"]},
    )  # fmt: skip
    yield subject(
        "merging with masks", _merge,
        {"kind": ["Add", "Multiply", "Maximum", "Minimum", "Average", "Subtract", "Concatenate"],
         "mask": MASKS[:4], "other": MASKS[:4], "count": [2, 3], "behind": YES} | OPEN,
        lambda c: c["kind"] != "Subtract" or c["count"] == 2,
    )  # fmt: skip
    yield subject(
        "Attention", _attention,
        {"kind": ["Attention", "AdditiveAttention"], "query": MASKS[:4], "value": MASKS[:4],
         "key": YES, "use_scale": YES, "dropout": [0.0, 0.5], "score_mode": ["dot", "concat"],
         "causal": YES, "explicit": YES, "scores": YES} | OPEN,
    )  # fmt: skip
    yield subject(
        "heads", _heads,
        {"kind": ["MultiHeadAttention", "GroupQueryAttention"], "query": MASKS[:4],
         "value": MASKS[:4], "self": YES, "key": YES, "causal": YES, "scores": YES,
         "attention_mask": YES, "given_masks": YES, "by name": YES, "behind": YES,
         "use_bias": [True, False], "use_gate": YES, "sliding_window": [None, 2],
         "dropout": [0.0, 0.3], "groups": [2, 4, 1], "value_dim": [None, 5],
         "output_shape": [None, [7], [2, 3]], "rank": [3, 4], "axes": [None, [2], [1], [1, 2]]}
        | OPEN,
        _heads_may_be,
    )  # fmt: skip
    inner = ["LSTM", "Bidirectional", "Dense", "GlobalAveragePooling1D", "Conv1D", "Flatten",
             "Sequential", "BatchNormalization"]  # fmt: skip
    yield subject(
        "TimeDistributed", _distributed, {"inner": inner, "mask": YES, "words": YES}, common=COMMON
    )
