"""ONNX's operators in all their versions, against onnx.reference and ONNX Runtime.

Each version of an operator is a subject. ONNX's own test cases are the simplest configurations, see
`onnx_models.py`; others differ from one of these in one parameter, or in two of a random pair. If
both reference implementations compute something and disagree, nnc has to agree with one of them,
and with the right one if the specification of the version decides, see `onnx_slips.py`.
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
from .onnx_slips import REFERENCE_SLIPS, RUNTIME_SLIPS, Trial
from .sampled import SampledSubject

CASES = 3
"""The most test cases of ONNX's own that are used for each operator."""

SECONDS = 20
"""The time limit of ONNX's reference implementation for one model. Units: seconds."""

DRAWN = "Bernoulli Dropout Multinomial RandomNormal* RandomUniform*"
"""Operators with random results, which differ between runtimes."""


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
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
        trial = Trial(f"{schema.name}-{schema.since_version}", model, feeds)
        if reason := trial.undefined():
            raise UnmakableError(reason)
        wanted, *others = _expected(trial)
        return Made(
            model, [(feeds, wanted)], tolerance=trial.tolerance(wanted), alternatives=others
        )

    return make


def _expected(trial: Trial) -> list[list[Any]]:
    """The outputs of each reference implementation, once if they agree. Raises UnmakableError
    without any.
    """
    found, reasons = [], []
    for oracle, slips in ((_reference, REFERENCE_SLIPS), (_runtime, RUNTIME_SLIPS)):
        if reason := trial.reason(slips):
            reasons.append(f"{oracle.__name__[1:]} is not asked: {reason}")
            continue
        try:
            found.append(oracle(trial.model, trial.feeds))
        except Exception as error:
            reasons.append(f"{type(error).__name__}: {error}")
    if not found:
        raise UnmakableError("; ".join(reasons)[:300])
    agree = len(found) == 2 and difference(found[1], found[0], trial.tolerance(found[0])) is None
    return found[:1] if agree else found


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
