"""Masks of sequence steps, which Keras attaches to tensors at run time.

A called layer looks for the masks of its input tensors, and attaches one to its output. Layers that
return their input tensor itself share its mask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

KEEPS_MASK = {
    "Activation", "ActivityRegularization", "AlphaDropout", "BatchNormalization", "Dense",
    "Dropout", "ELU", "GaussianDropout", "GaussianNoise", "GroupNormalization", "Identity",
    "LayerNormalization", "LeakyReLU", "Normalization", "PReLU", "ReLU", "Rescaling", "Softmax",
    "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "ThresholdedReLU",
    "TimeDistributed", "UnitNormalization", "MultiHeadAttention", "GroupQueryAttention",
    "GroupedQueryAttention", "Attention", "AdditiveAttention",
}  # fmt: skip
"""Layers that pass the mask of their first input on to their first output."""
KEEPS_NO_MASK_IN_2 = {"Identity", "Normalization", "Rescaling"}
"""Those of them that pass no mask on in Keras 2."""
GIVES_BACK = {
    "ActivityRegularization", "AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise",
    "Identity", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D",
}  # fmt: skip
"""Layers that return their input, except in training."""
MERGES_MASKS = {"Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"}
"""Layers whose output mask is the union of their inputs' masks, if all inputs have one; in Keras 2,
the intersection of those that there are."""
RECURRENT = {"LSTM", "GRU", "SimpleRNN", "RNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"}
QUERY = ("query", "value", "key")
"""The arguments of attention layers, in order."""
FIRST = ("query", "sequences", "inputs")
"""The possible names of a call's first argument."""

SIGNATURES = {
    **dict.fromkeys(
        (*RECURRENT, "Bidirectional"), ("sequences", "initial_state", "mask", "training")),
    **dict.fromkeys(("Attention", "AdditiveAttention"), (
        "inputs", "mask", "training", "return_attention_scores", "use_causal_mask")),
    **dict.fromkeys(("BatchNormalization", "TimeDistributed"), ("inputs", "training", "mask")),
    **dict.fromkeys(("Softmax", "GlobalAveragePooling1D"), ("inputs", "mask")),
    **dict.fromkeys(GIVES_BACK, ("inputs", "training")),
}  # fmt: skip
"""The positional arguments of layers' calls in Keras 3."""


def by_name(
    kind: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call, with all but the first one by name where names are known."""
    names = SIGNATURES.get(kind)
    if names is None or len(args) < 2:
        return list(args), dict(kwargs)
    return [args[0]], {**dict(zip(names[1:], args[1:], strict=False)), **kwargs}


def first_argument(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The first argument of a call."""
    if args:
        return args[0]
    return next((kwargs[name] for name in FIRST if name in kwargs), next(iter(kwargs.values()), ()))


def makes_mask(
    kind: str, config: Mapping[str, Any], masks: Sequence[str | None], is_old: bool
) -> bool:
    """Whether a layer makes a new mask if its first inputs have these masks; `is_old` says that it
    is one of Keras 1 or 2.
    """
    if kind in MERGES_MASKS:
        return len(masks) > 1 and (any(masks) if is_old else None not in masks)
    if kind == "Concatenate":
        return any(masks)
    embeds = kind in ("Embedding", "ReversibleEmbedding")
    return kind == "Masking" or (embeds and bool(config.get("mask_zero")))


def masks_behind(
    kind: str, config: Mapping[str, Any], masks: Sequence[str | None], is_old: bool
) -> list[str | None]:
    """For each of a layer's first outputs, the input's mask that it keeps; None without a mask."""
    mask = next(iter(masks), None)
    if is_old and kind in KEEPS_NO_MASK_IN_2:
        return []
    if kind in KEEPS_MASK:
        return [mask]
    if kind == "Bidirectional":
        inner = config["layer"]["config"]
        both = 1 if config.get("merge_mode", "concat") else 2
        return [mask] * both if inner.get("return_sequences") else []
    return [mask] if kind in RECURRENT and config.get("return_sequences") else []
