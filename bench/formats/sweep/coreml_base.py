"""Makes MIL programs of configurations, and computes their expected outputs."""

from __future__ import annotations

import gc
import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import coremltools as ct
import numpy as np
import torch
from coremltools.converters.mil import Builder, Function, Program
from coremltools.converters.mil.mil import types

from .cases import Config, Made, Subject, UnmakableError

mb = Builder
logging.getLogger("coremltools").setLevel(logging.ERROR)
warnings.simplefilter("ignore")
gc.freeze()  # the converter collects garbage at each call

TARGETS = {"target": ["iOS17", "iOS15", "iOS18"]}
"""The versions of the operations, which differ in inputs and defaults."""
NUMBERS = {"numbers": ["plain", "odd"]}
ODD = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e4, 0.5, 3.0]
_MIL = {"float32": types.fp32, "float16": types.fp16, "int32": types.int32, "bool": types.bool}
_SPEC = {65552: np.float16, 65568: np.float32, 65600: np.float64, 131104: np.int32, 131080: np.int8}
"""The element types of outputs, by their numbers in a model's description."""
Arrays = Sequence[np.ndarray]
Body = Callable[..., Any]
"""A function of MIL values that returns a value, or a list of them."""


def array(
    rng: np.random.Generator, shape: Sequence[int], dtype: str = "float32", kind: str = ""
) -> Any:
    """Random numbers of a kind: `odd` ones include infinities and NaN, of `ties` many are equal."""
    if dtype.startswith("int"):
        return rng.integers(-4, 5, shape).astype(dtype)
    x = np.array(rng.normal(0, 2, shape))
    if kind == "odd":
        x = np.where(rng.random(shape) < 0.5, rng.choice(ODD, shape), x)
    if kind == "ties":
        x = np.round(x)
    if kind == "positive":
        x = np.abs(x) + 0.1
    return x.astype(dtype)


def _outputs(found: Any) -> list[Any]:
    """The values, converted to types that outputs may have."""
    values = list(found) if isinstance(found, list | tuple) else [found]
    wide = (types.fp32, types.fp16, types.int32)
    return [mb.identity(x=v) if v.dtype in wide else mb.cast(x=v, dtype="int32") for v in values]


def _inferred(body: Body, inputs: Arrays, target: Any) -> list[np.ndarray]:
    """The values that coremltools computes at conversion."""
    with Function({}, opset_version=target):
        found = body(*(mb.const(val=x) for x in inputs))
        values = list(found) if isinstance(found, list | tuple) else [found]
    if any(v.val is None for v in values):
        raise UnmakableError("coremltools has no value")
    return [np.asarray(v.val) for v in values]


def program(
    config: Config,
    folder: Path,
    body: Body,
    inputs: Arrays,
    reference: Callable[..., Any] | None = None,
    tolerance: float | None = None,
) -> Made:
    """The file of a program, with the outputs of `reference`, or of coremltools itself."""
    target = getattr(ct.target, config["target"])
    names = [f"x{i}" for i in range(len(inputs))]
    try:
        if reference is None:
            expected = _inferred(body, inputs, target)
        else:
            found = reference(*inputs)
            expected = [
                np.asarray(v) for v in (found if isinstance(found, list | tuple) else [found])
            ]
        given = {
            n: mb.placeholder(x.shape, dtype=_MIL[x.dtype.name])
            for n, x in zip(names, inputs, strict=True)
        }
        with Function(given, opset_version=target) as function:
            function.set_outputs(_outputs(body(*(function.inputs[n] for n in names))))
        made = Program()
        made.add_function("main", function)
        model = ct.convert(
            made,
            convert_to="mlprogram",
            minimum_deployment_target=target,
            skip_model_load=True,
            pass_pipeline=ct.PassPipeline.EMPTY,
            compute_precision=ct.precision.FLOAT32,
        )
        path = folder / "model.mlpackage"
        model.save(str(path))
    except UnmakableError:
        raise
    except Exception as error:
        raise UnmakableError(f"{type(error).__name__}: {str(error)[-200:]}") from None
    expected = described(model, expected)
    return Made(
        path,
        [(dict(zip(names, inputs, strict=True)), expected)],
        tolerance=tolerance,
        interpreted=True,
    )


def described(model: Any, values: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The values converted to the types of the model's outputs."""
    outputs = model.get_spec().description.output
    if len(outputs) != len(values):
        raise UnmakableError(f"{len(values)} results of {len(outputs)} outputs")
    kinds = [_SPEC[one.type.multiArrayType.dataType] for one in outputs]
    with np.errstate(over="ignore", invalid="ignore"):
        return [np.asarray(v).astype(k) for v, k in zip(values, kinds, strict=True)]


def subject(
    name: str,
    choices: Mapping[str, Sequence[Any]],
    inputs: Callable[[Config, np.random.Generator], Arrays],
    body: Callable[[Config], Body],
    reference: Callable[[Config], Callable[..., Any]] | None = None,
    allowed: Callable[[Config], bool] = lambda config: True,
) -> Subject:
    """A subject whose programs are made by `body(config)`, a function of the inputs."""

    def make(config: Config, rng: np.random.Generator, folder: Path) -> Made:
        judge = None if reference is None else reference(config)
        half = "float16" in config.values()
        return program(
            config, folder, body(config), inputs(config, rng), judge, 2**-8 if half else None
        )

    return Subject(name, {**choices, **TARGETS}, make, lambda c: _fits(c) and allowed(c))


def _fits(config: Config) -> bool:
    """Whether the target supports the input types: float16 since iOS 16."""
    return "float16" not in config.values() or config["target"] != "iOS15"


def of_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of tensors wrapped as one of arrays."""

    def computed(*inputs: np.ndarray) -> Any:
        halves = any(x.dtype == np.float16 for x in inputs)
        tensors = [
            torch.from_numpy(x.astype(np.float32) if x.dtype == np.float16 else x) for x in inputs
        ]
        with torch.no_grad():
            found = function(*tensors)
        found = found if isinstance(found, list | tuple) else [found]
        arrays = [v.numpy() for v in found]
        return [a.astype(np.float16) if halves and a.dtype == np.float32 else a for a in arrays]

    return computed


def given(config: Config, *names: str) -> dict[str, Any]:
    """The parameters of a configuration that are not None, as keyword arguments."""
    return {name: config[name] for name in names if config[name] is not None}
