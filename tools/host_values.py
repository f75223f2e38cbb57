"""Files of values that only a host handles: strings, sequences, optionals and maps.

    x.npy     strings, as NumPy's arrays of text of one width
    x.npz     a sequence of tensors, in the order of the file
    x.json    any of them: nested lists of numbers or text for a tensor, a list for a sequence,
              null for none, an object for a map

JSON values are read by the model's types: `[[1, 2]]` is a tensor of f32 if one is expected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..dialects import nn
from ..ir.diagnostics import NncError
from ..ir.numpy_types import number_kind, type_to_numpy
from ..ir.types import IntegerType, TensorType, Type


def read_json(path: Path) -> Any:
    """The contents of a JSON file. Raises NncError."""
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise NncError(f"cannot read '{path}': {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise NncError(f"{path}: not JSON: {error}") from None


def from_json(value: Any, type: Type, name: str) -> Any:
    """JSON data as a value of a type. Raises NncError that names the input."""
    try:
        return _from_json(value, type)
    except (ValueError, TypeError, OverflowError, AttributeError) as error:
        raise NncError(f"'{name}': JSON is not a value of type {type}: {error}") from None


def _from_json(value: Any, type: Any) -> Any:
    match type:
        case nn.OptionalType():
            return None if value is None else _from_json(value, type.element)
        case nn.SequenceType():
            if not isinstance(value, list):
                raise ValueError("a sequence is a list")
            return [_from_json(one, type.element) for one in value]
        case nn.MapType():
            key = int if isinstance(type.key, IntegerType) else str
            return {key(name): one for name, one in value.items()}
    return np.array(value, type_to_numpy(type.element_type))


def as_json(value: Any) -> Any:
    """A value as JSON data."""
    match value:
        case np.ndarray():
            small = value.dtype.kind == "V"  # numbers of ml_dtypes
            wide = np.float64 if number_kind(value.dtype) == "f" else np.int64
            return (value.astype(wide) if small else value).tolist()
        case list():
            return [as_json(one) for one in value]
        case Mapping():
            return {str(key): as_json(one) for key, one in value.items()}
    return value


MOST_SHOWN = 5


def describe_value(name: str, value: Any) -> str | None:
    """The kind of a value and its beginning, as text; None for a tensor of numbers."""
    match value:
        case None:
            return f"{name}: none"
        case list():
            return f"{name}: a sequence of {len(value)}"
        case Mapping():
            shown = [f"{key!r}: {one}" for key, one in list(value.items())[:MOST_SHOWN]]
            more = [".."] if len(value) > MOST_SHOWN else []
            return f"{name}: a map {{{', '.join((*shown, *more))}}}"
    if value.dtype != object:
        return None
    shape = "x".join(map(str, value.shape))
    shown = [repr(one) for one in value.reshape(-1)[:MOST_SHOWN]]
    more = [".."] if value.size > MOST_SHOWN else []
    return f"{name}: string[{shape}]: {' '.join((*shown, *more))}"


WORDS = ("", "a", "the", "of", "Zürich", "x y", "1.5")


def random_value(type: Any, generator: np.random.Generator, tensor: Any) -> Any:
    """A random value of a type; `tensor` makes tensors of numbers.

    Raises NncError for an unsupported type.
    """
    match type:
        case nn.OptionalType():
            return random_value(type.element, generator, tensor)
        case nn.SequenceType():
            return [random_value(type.element, generator, tensor) for _ in range(3)]
        case TensorType() if nn.is_strings(type):
            if not type.has_static_shape:
                return tensor(type)
            return np.array(WORDS, object)[generator.integers(0, len(WORDS), type.shape)]
        case TensorType():
            return tensor(type)
    raise NncError(f"there are no random values of type {type}: give --input")
