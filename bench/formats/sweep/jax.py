"""JAX's functions by their signatures, exported by `jax.export` as bytecode and as text.

A parameter's name tells whether it is an array, and which other values to try. A function whose
simplest call JAX rejects is left out as unmakable.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import ml_dtypes
import numpy as np
from jax import export, lax

from .cases import Config, Made, Subject, UnmakableError
from .sampled import SampledSubject

jax.config.update("jax_enable_x64", True)

ROOMS: Mapping[str, Any] = {
    "lax": lax, "jnp": jnp, "nn": jax.nn, "special": jsp.special, "scipy.linalg": jsp.linalg,
    "linalg": jnp.linalg, "fft": jnp.fft, "stats.norm": jsp.stats.norm, "signal": jsp.signal,
    "stats.expon": jsp.stats.expon, "stats.gamma": jsp.stats.gamma, "stats.beta": jsp.stats.beta,
    "stats.logistic": jsp.stats.logistic, "stats.laplace": jsp.stats.laplace,
    "stats.poisson": jsp.stats.poisson, "stats.t": jsp.stats.t, "stats.cauchy": jsp.stats.cauchy,
    "image": jax.image, "ops": jax.ops,
}  # fmt: skip

ARRAYS = """
    x a arr ary array x1 x2 y z operand lhs rhs b c v m m1 q p k key value query xs logits values
    element data ar test_elements condition u w init_value min max loc scale start stop where_x
    real imag p1 p2 c1 c2 xp fp object_ obj in1 in2 vec1 vec2 log_probs input input1 input2 A B
""".split()  # noqa: SIM905
INDICES = "indices idx i index segment_ids repeats shift_right_by kth".split()  # noqa: SIM905

OTHERS: Mapping[str, Sequence[Any]] = {
    "axis": [None, 0, -1, 1, [0, 1]],
    "axes": [None, [0], [1, 0]],
    "dimension": [0, 1], "dimensions": [[0], [1], [0, 1]],
    "keepdims": [False, True], "dtype": [None, "float32", "int32", "float16"],
    "new_dtype": ["float32", "int32", "bfloat16"], "ddof": [0, 1], "reverse": [False, True],
    "descending": [False, True], "stable": [True, False], "side": ["left", "right"],
    "k": [0, 1, -1, 2], "n": [None, 2, 5], "offset": [0, 1, -1], "num_classes": [5, 1],
    "norm": [None, "ortho", "forward"], "lower": [False, True], "approximate": [True, False],
    "mode": [None, "clip", "wrap", "full", "same", "valid", "reflect", "edge"],
    "method": ["linear", "nearest", "cubic", "lower", "higher", "midpoint", "lanczos3"],
    "shift": [1, -2, 0], "shape": [[12], [3, 4], [4, 3], [2, 3, 4], [-1]],
    "newshape": [[12], [4, 3]], "reps": [2, [2, 1], [1, 2, 2]], "pad_width": [1, [1, 2], 0],
    "axis1": [0, 1], "axis2": [1, 0], "source": [0, -1], "destination": [1, 0],
    "indices_or_sections": [2, [1, 3]], "num_segments": [5, 3], "decimals": [0, 1, -1],
    "alpha": [1.0, 0.3], "negative_slope": [0.01, 0.2], "full_matrices": [True, False],
    "subscripts": ["ij,ij->i", "ij,kj->ik", "ii->i", "ij->ji", "ij,ij->"],
    "initial": [None, 1.0], "exponent_bits": [5, 8, 4], "mantissa_bits": [10, 3, 7],
    "total_repeat_length": [None, 6], "num": [4, 7], "increasing": [False, True],
    "N": [None, 3], "M": [None, 5], "deg": [1, 2], "assume_unique": [False],
    "window_dimensions": [[2, 2], [1, 3]], "window_strides": [[1, 1], [2, 1]],
    "padding": ["VALID", "SAME"], "left": [None, 0.5], "right": [None, 0.5],
    "upper": [False, True], "unbiased": [True], "bins": [4], "length": [6, 3],
    "nan": [0.0, 1.5], "posinf": [None, 2.0], "direction": ["forward"], "equal_nan": [False, True],
    "interpolation": ["linear"], "repeat": [2], "copy": [None], "order": [None],
}  # fmt: skip
"""Values to try for a parameter, by its name; the first is used if the signature has no default."""

ELEMENTS = "float32 float64 float16 bfloat16 int32 int8 uint8 int64 uint32 bool complex64".split()  # noqa: SIM905
SHAPES: Sequence[Any] = [[4, 4], [3, 4], [4], [], [2, 3, 4], [1, 4], [3, 1], [0, 4]]
NUMBERS = ["plain", "whole", "unit", "negative", "nan", "infinite"]
UNDECIDED: Sequence[tuple[str, str, Callable[[Config], bool]]] = [
    (
        "jnp.logspace jnp.geomspace",
        "an ulp of the exponent shows in integers, and in floats of 16 bits is a percent",
        lambda c: c["elements"] in HALVES or c.get("@dtype") in ("int32", "float16"),
    ),
    (
        "jnp.histogram*",
        "equal numbers lie where two bins meet, so that rounding tells in which they are",
        lambda c: c["elements"] == "bool",
    ),
    (
        "special.betaln",
        "results are 0 but for the rounding of logarithms",
        lambda c: c["elements"] == "bool",
    ),
]
"""Subjects whose results depend on rounding alone: their names, the reason, and the
configurations.
"""

HALVES = ("float16", "bfloat16")
SKIPPED = ("print", "debug", "load", "save", "from", "vectorize", "callback", "feed", "custom")


def subjects() -> Iterator[Subject]:
    """Yield the subjects of this file."""
    for room, module in ROOMS.items():
        for name in sorted(dir(module)):
            function = getattr(module, name)
            if name[0] == "_" or not callable(function) or inspect.isclass(function):
                continue
            if any(word in name for word in SKIPPED):
                continue
            if (subject := _subject(f"{room}.{name}", function)) is not None:
                yield subject


def _subject(name: str, function: Callable[..., Any]) -> Subject | None:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    arrays, choices = [], {}
    for one in parameters:
        needed = one.default is one.empty and one.kind in (
            one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY
        )  # fmt: skip
        is_array = one.name in (*ARRAYS, *INDICES) and one.name not in ("k" if arrays else "",)
        if one.kind == one.VAR_POSITIONAL:
            arrays += ["x", "y"] if one.name in ("operands", "args", "arrays", "xs") else []
        elif is_array and needed:
            arrays.append(one.name)
        elif one.name in OTHERS:
            values = list(OTHERS[one.name])
            plain = _plain(one.default) if not needed else values[0]
            choices[one.name] = [plain, *(v for v in values if v != plain)]
        elif needed:
            return None
    if not arrays:
        return None
    found: dict[str, Sequence[Any]] = {
        "elements": ELEMENTS, "shape": SHAPES, "second": ["same", "row", "scalar"],
        "numbers": NUMBERS, "open": [False, True], "text": [False, True],
    }  # fmt: skip
    if len(arrays) == 1:
        found.pop("second")
    given = {f"@{key}": values for key, values in choices.items()}
    maker = _maker(function, arrays, [p.name for p in parameters])

    def is_decided(config: Config) -> bool:
        return not any(
            when(config)
            for names, _, when in UNDECIDED
            if any(fnmatchcase(name, pattern) for pattern in names.split())
        )

    return SampledSubject(name, {**found, **given}, maker, is_decided, single=7, pairs=4)


def _plain(default: Any) -> Any:
    """The default value, if JSON can represent it; else None."""
    return default if default is None or isinstance(default, int | float | str) else None


def _maker(function: Callable[..., Any], arrays: Sequence[str], names: Sequence[str]) -> Any:
    def make(config: Config, rng: np.random.Generator, folder: Path) -> Made:
        fixed = {key[1:]: _frozen(v) for key, v in config.items() if key[0] == "@"}
        fixed = {k: v for k, v in fixed.items() if v is not None or k in ("axis",)}

        def call(*given: Any) -> Any:
            rest = list(given)
            positional = [
                fixed[n] if n in fixed else rest.pop(0) for n in _leading(names, fixed, given)
            ]
            keyword = {k: v for k, v in fixed.items() if k not in _leading(names, fixed, given)}
            return function(*positional, *rest, **keyword)

        shapes = [config["shape"]] + ([[d + 1 for d in config["shape"]]] if config["open"] else [])
        runs, compiled = [], jax.jit(call, keep_unused=True)
        for shape in shapes:
            given = _given(arrays, shape, config, rng)
            outs = jax.tree.leaves(compiled(*given))
            if not outs:
                raise UnmakableError("it gives nothing")
            runs.append((list(given), [np.asarray(v) for v in outs]))
        exported = export.export(compiled)(*_specs(arrays, config, given))
        path = folder / "model.stablehlo"
        if config["text"]:
            path.write_text(exported.mlir_module())
        else:
            path.write_bytes(exported.mlir_module_serialized)
        return Made(path, runs)

    return make


def _leading(names: Sequence[str], fixed: Mapping[str, Any], given: Sequence[Any]) -> list[str]:
    """The parameters up to the last array, which are passed by position."""
    arrays = [i for i, n in enumerate(names) if n in (*ARRAYS, *INDICES) and n not in fixed]
    return list(names[: arrays[min(len(given), len(arrays)) - 1] + 1]) if arrays else []


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _given(
    arrays: Sequence[str], shape: Sequence[int], config: Config, rng: np.random.Generator
) -> list[np.ndarray]:
    """An array for each array parameter."""
    found = []
    for i, name in enumerate(arrays):
        own = list(shape)
        if i and config.get("second") == "row":
            own = own[-1:]
        elif i and config.get("second") == "scalar":
            own = []
        if name in INDICES:
            found.append(rng.integers(0, 3, own).astype(np.int32))
        else:
            found.append(_numbers(own, config, rng))
    return found


def _numbers(shape: Sequence[int], config: Config, rng: np.random.Generator) -> np.ndarray:
    dtype = np.dtype(getattr(ml_dtypes, config["elements"], None) or config["elements"])
    values = rng.standard_normal(shape) * 3
    match config["numbers"]:
        case "whole":
            values = np.round(values)
        case "unit":
            values = rng.random(shape)
        case "negative":
            values = -np.abs(values)
        case "nan" | "infinite" if values.size and dtype.kind not in "iub":
            values.flat[values.size // 2] = np.nan if config["numbers"] == "nan" else np.inf
    if dtype.kind == "u":
        values = np.abs(values)
    return np.asarray(values > 0 if dtype.kind == "b" else values).astype(dtype)


def _specs(arrays: Sequence[str], config: Config, given: Sequence[np.ndarray]) -> list[Any]:
    """The argument types for which the function is exported."""
    if not config["open"]:
        return [jax.ShapeDtypeStruct(v.shape, v.dtype) for v in given]
    scope, letters = export.SymbolicScope(), "abcdef"[: len(config["shape"])]
    specs = []
    for array in given:
        own = letters[len(letters) - array.ndim :]
        text = ", ".join(l if array.shape[i] != 1 else "1" for i, l in enumerate(own))
        specs.append(jax.ShapeDtypeStruct(export.symbolic_shape(text, scope=scope), array.dtype))
    return specs
