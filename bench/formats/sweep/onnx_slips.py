"""Known deviations of ONNX's reference implementations from the specification, and gaps in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from onnx import numpy_helper


@dataclass(frozen=True)
class Trial:
    """The model of an operator's configuration, and its inputs."""

    name: str
    model: Any
    feeds: Mapping[str, Any]

    @property
    def operands(self) -> list[np.ndarray]:
        """The operands that are tensors, including constants."""
        constants = [numpy_helper.to_array(one) for one in self.model.graph.initializer]
        return [np.asarray(v) for v in self.feeds.values()] + constants

    def has(self, attribute: str) -> bool:
        """Whether the node has an attribute of this name."""
        return any(one.name == attribute for one in self.model.graph.node[0].attribute)

    def has_type(self, *types: str) -> bool:
        """Whether an operand has one of the element types."""
        return any(one.dtype.name in types for one in self.operands)

    def has_numbers(self, test: Callable[[np.ndarray], Any]) -> bool:
        """Whether a test is true for any float among the operands."""
        floats = [v for v in self.operands if v.dtype.kind not in "OUSbiu"]
        return any(np.any(test(v.astype(np.float64))) for v in floats)

    def reason(self, slips: Sequence[Slip]) -> str | None:
        """The reason of the first deviation that applies to this trial; None if none does."""
        return next((slip.why for slip in slips if slip.is_met(self)), None)

    def undefined(self) -> str | None:
        """Why the specification does not define the result; None if it does."""
        return self.reason(UNDEFINED)

    def tolerance(self, wanted: Sequence[Any]) -> float | None:
        """The tolerance of f32 for results in f64 if the specification computes in f32 in between;
        else None.
        """
        doubles = any(np.asarray(one).dtype == np.float64 for one in wanted if one is not None)
        return 1e-6 if doubles and self.reason(IN_SINGLE) else None


@dataclass(frozen=True)
class Slip:
    """A known deviation: patterns of subjects' names, the reason, and a test of the trials it
    applies to.
    """

    names: str
    why: str
    when: Callable[[Trial], Any] = lambda trial: True

    def is_met(self, trial: Trial) -> bool:
        """Whether the deviation applies to a trial."""
        named = any(fnmatchcase(trial.name, pattern) for pattern in self.names.split())
        return named and bool(self.when(trial))


def _has_nan(trial: Trial) -> bool:
    return trial.has_numbers(np.isnan)


def _is_beyond_small_integers(trial: Trial) -> bool:
    return trial.has_numbers(lambda v: ~((v >= 0) & (v < 8)))


def _gives_integers(trial: Trial) -> bool:
    types = [one.type.tensor_type.elem_type for one in trial.model.graph.output]
    return any(one in INTEGERS for one in types)


def _is_dilated_same(trial: Trial) -> bool:
    return trial.has("dilations") and trial.has("auto_pad")


INTEGERS = (2, 3, 4, 5, 6, 7, 12, 13, 21, 22)
"""The numbers of ONNX's integer types, including those of 4 bits."""

UNDEFINED = (
    Slip(
        "Cast-* CastLike-*",
        "what becomes of such floats as integers is undefined",
        lambda t: _gives_integers(t) and _is_beyond_small_integers(t),
    ),
    Slip(
        "MaxUnpool-*",
        "positions outside of the image that strides of 1 make",
        lambda t: not t.has("strides"),
    ),
    Slip(
        "MeanVarianceNormalization-*",
        "equal numbers differ from their mean by rounding alone",
        lambda t: any(v.size and np.all(v == v.ravel()[0]) for v in t.operands),
    ),
    Slip(
        "Resize-* RoiAlign-*",
        "weights of 0 times infinity",
        lambda t: t.has_numbers(np.isinf),
    ),
    Slip(
        "DynamicQuantizeLinear-*",
        "a range that is not finite has no scale",
        lambda t: t.has_numbers(lambda v: ~np.isfinite(v)),
    ),
    Slip(
        "ReduceLogSum-* ReduceLogSumExp-* ReduceMean-*",
        "the result for no elements is not an integer",
        lambda t: _gives_integers(t) and any(not v.size for v in t.operands),
    ),
)

IN_SINGLE = (
    Slip("LayerNormalization-* GroupNormalization-21 RMSNormalization-*", "`stash_type` is f32"),
)

REFERENCE_SLIPS = (
    Slip(
        "AffineGrid-20 Det-22 STFT-17 GridSample-* LayerNormalization-17",
        "it mixes bf16 and f32",
        lambda t: t.has_type("bfloat16"),
    ),
    Slip("AveragePool-1", "it counts padding, which the text of the version excludes"),
    Slip("BatchNormalization-14 BatchNormalization-15", "its statistics have the images' type"),
    Slip("Attention-2[345]", "it masks what is behind a row from the mask's shape"),
    Slip("Erf-* Gelu-20 HardSwish-*", "it computes, or has constants, in f32"),
    Slip("GRU-* LSTM-* RNN-*", "it does not clip", lambda t: t.has("clip")),
    Slip("Gemm-1 Gemm-6", "it does not add the third operand where `broadcast` is absent"),
    Slip("Hardmax-1 Hardmax-11 *Softmax-1 *Softmax-11", "it takes one axis, not a matrix"),
    Slip("PRelu-1 PRelu-6", "it repeats slopes by the rules of version 7"),
    Slip("ReduceSumSquare-*", "it sums 32-bit integers in 64 bits"),
    Slip(
        "Resize-*",
        "it cuts means of integers where ONNX Runtime's antialiasing rounds",
        lambda t: t.has("antialias") and _gives_integers(t),
    ),
    Slip("LpPool-*", "its SAME padding is not that of dilated windows", _is_dilated_same),
    Slip(
        "RMSNormalization-*",
        "its result has not the scale's type",
        lambda t: len({one.dtype for one in t.operands}) > 1,
    ),
    Slip("Selu-1", "its constants are those of version 6"),
)
"""Deviations of ONNX's reference implementation from the specification of the version."""

RUNTIME_SLIPS = (
    Slip("Hardmax-1 Hardmax-11", "it passes over NaN, the reference of 13 takes it", _has_nan),
    Slip("GRU-* LSTM-* RNN-*", "it loses NaN in activations", _has_nan),
    Slip("LpPool-*", "its SAME padding is that of windows without dilation", _is_dilated_same),
)
"""Deviations of ONNX Runtime from the specification of the version."""
