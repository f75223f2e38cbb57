"""Makes TensorFlow models of functions, and random inputs for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf

from ..cases import Config, Made, Subject, UnmakableError

Given = tuple[Callable[..., Any], Sequence[np.ndarray]]
"""A function of tensors, and its arguments."""

FLOATS = ["float32", "float64", "float16", "bfloat16"]
INTEGERS = ["int32", "int64", "uint8", "int8"]
ALL = [*FLOATS, *INTEGERS]
MOVED = [*ALL, "bool", "int16", "uint16", "string"]
"""Element types for operators that only move elements."""
OPEN = {"open": [False, True], "form": ["frozen", "saved"]}
"""Whether shapes are dynamic, and the file format."""

raw = tf.raw_ops


def numbers(
    rng: np.random.Generator, shape: Sequence[int], dtype: str, how: str = "plain"
) -> np.ndarray:
    """An array: plain numbers; "odd" with NaN, infinities and limits; "ties"; "positive" ones."""
    wanted = tf.as_dtype(dtype).as_numpy_dtype
    x = rng.standard_normal(shape) * 2
    if dtype == "bool":
        return np.asarray(x > 0)
    if dtype == "string":
        return np.vectorize("{:.1f}é".format, otypes=[object])(x)
    if how == "positive":
        x = np.abs(x) + 0.1
    if how == "ties":
        x = np.round(x)
    if how == "unit":
        x = np.tanh(x)
    if tf.as_dtype(dtype).is_integer:
        info = np.iinfo(wanted)
        x = np.abs(x) if info.min == 0 else x
        if how == "odd" and np.size(x):
            at = rng.integers(0, np.size(x), 2)
            flat = np.asarray(x * 3).astype(wanted).reshape(-1)
            flat[at] = [info.max, info.min]
            return flat.reshape(shape)
        return np.asarray(x * (1 if how == "ties" else 3)).astype(wanted)
    x = np.asarray(x).astype(wanted)
    if how == "odd" and x.size:
        flat = x.reshape(-1)
        odd = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5]
        flat[: len(odd)] = np.asarray(odd).astype(wanted)[: flat.size]
        x = rng.permutation(flat).reshape(shape)
    return x


def made(
    folder: Path, function: Callable[..., Any], inputs: Sequence[np.ndarray], config: Config
) -> Made:
    """The function as a file, and its outputs. Raises UnmakableError if TensorFlow rejects it."""
    is_open = config.get("open", False)
    inputs = [np.asarray(x) for x in inputs]
    specs = [
        tf.TensorSpec([None] * x.ndim if is_open else x.shape, _dtype(x), name=f"x{i}")
        for i, x in enumerate(inputs)
    ]

    def flat(*xs: Any) -> list[Any]:
        found = tf.nest.flatten(function(*xs), expand_composites=True)
        return [tf.identity(tf.convert_to_tensor(v)) for v in found]

    try:
        traced = tf.function(flat, input_signature=specs)
        concrete = traced.get_concrete_function()
        expected = [_decoded(v.numpy()) for v in concrete(*(tf.constant(x) for x in inputs))]
    except Exception as error:
        raise UnmakableError(f"{type(error).__name__}: {str(error)[:150]}") from None
    if not expected:
        raise UnmakableError("no outputs")
    named = {f"x{i}": x for i, x in enumerate(inputs)}
    if config.get("form") == "saved":
        module = tf.Module()
        module.run = traced
        tf.saved_model.save(module, str(folder / "model"), signatures=_named(traced, specs))
        return Made(folder / "model", [(named, expected)])
    path = folder / "model.pb"
    path.write_bytes(_needed(concrete).SerializeToString())
    return Made(path, [(named, expected)])


def _named(traced: Any, specs: Sequence[tf.TensorSpec]) -> Any:
    """The function with named outputs, as signatures require."""
    return tf.function(
        lambda *xs: {f"output_{i}": v for i, v in enumerate(traced(*xs))}, input_signature=specs
    ).get_concrete_function()


def _needed(concrete: Any) -> Any:
    """The graph with all inputs, but without nodes that no output needs: importers would take these
    for outputs.
    """
    graph = concrete.graph.as_graph_def()
    inputs = {
        node.name: [v.split(":")[0] for v in node.input if v[:1] != "^"] for node in graph.node
    }
    waiting = [tensor.op.name for tensor in (*concrete.outputs, *concrete.inputs)]
    needed = set()
    while waiting:
        name = waiting.pop()
        waiting += [] if name in needed else inputs[name]
        needed.add(name)
    kept = [node for node in graph.node if node.name in needed]
    for node in kept:
        data = [v for v in node.input if v[:1] != "^" or v[1:] in needed]
        node.input[:] = data
    del graph.node[:]
    graph.node.extend(kept)
    return graph


def _decoded(x: Any) -> Any:
    """The array, with bytes decoded to text."""
    if np.asarray(x).dtype.kind not in "OS":
        return x
    texts = [text.decode("utf-8", "surrogateescape") for text in np.ravel(np.asarray(x, object))]
    return np.array(texts, object).reshape(np.shape(x))


def _dtype(x: np.ndarray) -> Any:
    return tf.string if x.dtype.kind in "OUS" else x.dtype


def subject(name: str, give: Callable[..., Given], **choices: Sequence[Any]) -> Subject:
    """A subject whose function is made by `give(rng, **config)`; file formats and dynamic shapes
    are added.
    """

    def make(config: Config, rng: np.random.Generator, folder: Path) -> Made:
        own = {k: v for k, v in config.items() if k not in OPEN}
        function, inputs = give(rng, **own)
        return made(folder, function, inputs, config)

    return Subject(name, {**choices, **OPEN}, make)


class Raw:
    """A raw operator as a function."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *inputs: Any, **given: Any) -> Any:
        """The operator's results; inputs are in the order of its signature."""
        function, about = getattr(raw, self.name), definition(self.name)
        names, others = [a.name for a in about.input_arg], {a.name for a in about.attr} | {"name"}
        offered = [name for name in signature(function).parameters if name not in others]
        renamed = iter([name for name in offered if name not in names])
        names = [name if name in offered else next(renamed) for name in names]
        return function(**dict(zip(names, inputs, strict=False)), **given)


def definition(name: str) -> Any:
    """The definition of an operator in TensorFlow's registry."""
    from tensorflow.python.framework import op_def_registry

    return op_def_registry.get(name)


class Room:
    """The subjects of a file; each is registered by decorating a function of its choices.

        @room("Roll", type=MOVED, by=[0, 2])
        def roll(rng, op, type, by):
            return (lambda x: op(x, by, 0)), [numbers(rng, [3, 4], type)]

    `op` is the raw operator with the subject's name, or only the name if there is no such operator.
    """

    def __init__(self) -> None:
        self._made: list[Subject] = []

    def __call__(self, names: str, **choices: Sequence[Any]) -> Callable[..., Any]:
        def register(give: Callable[..., Given]) -> Callable[..., Given]:
            self._made += subjects_of(names, give, **choices)
            return give

        return register

    def subjects(self) -> Iterator[Subject]:
        """Yield the registered subjects."""
        yield from self._made


def positions(
    rng: np.random.Generator, shape: Sequence[int], below: int, dtype: str = "int32"
) -> np.ndarray:
    """Random indices below `below`, often repeated."""
    return rng.integers(0, max(below, 1), shape).astype(dtype)


def subjects_of(
    names: str, give: Callable[..., Given], **choices: Sequence[Any]
) -> Iterator[Subject]:
    """A subject for each of several raw operators; `give` gets the operator as its
    first argument.
    """
    for name in names.split():
        yield subject(name, partial(_with_op, give, name), **choices)


def _with_op(give: Callable[..., Given], name: str, rng: np.random.Generator, **own: Any) -> Given:
    return give(rng, Raw(name), **own)


def types_of(name: str, attribute: str = "T", most: Sequence[str] = ALL) -> list[str]:
    """The element types, of `most`, that an operator's signature allows."""
    found = next(a for a in definition(name).attr if a.name == attribute)
    allowed = {tf.as_dtype(t).name for t in found.allowed_values.list.type}
    return [t for t in most if not allowed or t in allowed]
