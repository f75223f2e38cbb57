"""ONNX's operators in all their versions, against onnx.reference and ONNX Runtime.

Each version of an operator is a subject. ONNX's own cases are the plainest configurations, see
`onnx_models.py`; others differ from one of these in one thing, or in two that chance pairs. Where
both oracles compute something, they have to agree: what is right is not known otherwise.
"""

from __future__ import annotations

import random
import signal
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

from .cases import Config, Made, Subject, UnmakableError
from .judge import difference
from .onnx_models import choices, made, seeds
from .sampled import SampledSubject

CASES = 3
"""So many of ONNX's own cases of an operator."""

SECONDS = 20
"""ONNX's reference may take so long for one model."""

DRAWN = "Bernoulli Dropout Multinomial RandomNormal* RandomUniform*"
"""Their results are drawn; no two runtimes draw the same numbers."""

REFERENCE_ALONE = {
    "AffineGrid-20 Det-22 STFT-17 GridSample-* LayerNormalization-17": "it mixes bf16 and f32",
    "AveragePool-1": "it counts padding, which the text of the version excludes",
    "BatchNormalization-14 BatchNormalization-15": "its statistics have the type of the images",
    "Attention-23 Attention-24 Attention-25": "it masks what is behind a row from the mask's shape",
    "Erf-* Gelu-20 HardSwish-*": "it computes, or has constants, in f32",
    "GRU-* LSTM-* RNN-*": "it does not clip",
    "Gemm-1 Gemm-6": "it does not add the third operand where `broadcast` is absent",
    "Hardmax-1 Hardmax-11 *Softmax-1 *Softmax-11": "it takes one axis, the text makes a matrix",
    "PRelu-1 PRelu-6": "it repeats slopes by the rules of version 7",
    "ReduceSumSquare-*": "it sums 32-bit integers in 64 bits",
    "Selu-1": "its constants are those of version 6",
}
"""Where ONNX's reference does not compute what the text of the version says: not asked there."""


def subjects() -> Iterator[Subject]:
    """All subjects."""
    everything = onnx.defs.get_all_schemas_with_history()
    for schema in sorted(everything, key=lambda s: (s.domain, s.name, -s.since_version)):
        known = seeds().get((schema.domain, schema.name), [])
        draws = any(Path(schema.name).match(pattern) for pattern in DRAWN.split())
        if not known or draws or schema.domain not in ("", "ai.onnx.ml"):
            continue
        rng = random.Random(f"{schema.name}-{schema.since_version}")
        chosen = rng.sample(known, min(CASES, len(known)))
        name = f"{schema.name}-{schema.since_version}"
        yield SampledSubject(name, choices(schema, chosen, rng), _maker(schema, chosen))


def _maker(schema: Any, chosen: list[Any]) -> Any:
    def make(config: Config, rng: np.random.Generator, folder: Path) -> Made:
        seed = next(one for one in chosen if one.name == config["case"])
        model, feeds = made(schema, seed, config)
        wanted = _expected(f"{schema.name}-{schema.since_version}", model, feeds)
        integers = any(np.asarray(one).dtype.kind in "iu" for one in wanted)
        if integers and schema.name.startswith("Cast") and _is_beyond_integers(feeds):
            raise UnmakableError("what becomes of such numbers as integers is undefined")
        return Made(model, [(feeds, wanted)])

    return make


def _expected(name: str, model: Any, feeds: dict[str, Any]) -> list[Any]:
    """What the oracles compute. Raises UnmakableError where none does, or they disagree."""
    slips = any(Path(name).match(one) for patterns in REFERENCE_ALONE for one in patterns.split())
    found, reasons = [], []
    for oracle in (_runtime,) if slips else (_reference, _runtime):
        try:
            found.append(oracle(model, feeds))
        except Exception as error:
            reasons.append(f"{type(error).__name__}: {error}")
    if not found:
        raise UnmakableError("; ".join(reasons)[:300])
    if len(found) == 2 and (fault := difference(found[1], found[0])):
        raise UnmakableError(f"ONNX Runtime and ONNX's reference disagree: {fault}")
    return found[0]


def _is_beyond_integers(feeds: dict[str, Any]) -> bool:
    """Whether the operands have floats that an integer of some type cannot be."""
    floats = [v.astype(np.float64) for v in feeds.values() if v.dtype.kind not in "OUSbiu"]
    return any(not np.all((v >= 0) & (v < 8)) for v in floats)


def _reference(model: Any, feeds: dict[str, Any]) -> list[Any]:
    def late(*given: Any) -> None:
        raise TimeoutError("ONNX's reference takes too long")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return list(ReferenceEvaluator(model).run(None, dict(feeds)))
    finally:
        signal.alarm(0)


def _runtime(model: Any, feeds: dict[str, Any]) -> list[Any]:
    if any(array.dtype == ml_dtypes.bfloat16 for array in feeds.values()):
        raise ValueError("ONNX Runtime takes no bf16 from Python")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    data = model.SerializeToString()
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    return list(session.run(None, feeds))
