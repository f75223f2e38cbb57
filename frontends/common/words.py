"""Text and tables of it, which a host looks things up in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dialects import nn
from ...dialects.nn.host_types import string
from ...ir.attributes import DenseElements
from ...ir.core import Value
from .layer import Layer


def strings(values: Sequence[Any]) -> np.ndarray:
    """Text as an array of objects."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


def elements(array: np.ndarray) -> DenseElements:
    """An array as an attribute."""
    return DenseElements.from_numpy(np.asarray(array))


def lookup(n: Layer, x: Value, keys: np.ndarray, values: np.ndarray, default: np.ndarray) -> Value:
    """The value whose key each element is: by the host, in a dictionary."""
    op = nn.Lookup(x, keys=elements(keys), values=elements(values), default=elements(default))
    return n(op)


def scalar_string(text: str) -> np.ndarray:
    """A 0-d array of text."""
    return strings([text]).reshape(())


def ids(n: Layer, x: Value, words: tuple[str, ...]) -> Value:
    """The position of each string among the words, -1 where it is none of them."""
    return lookup(n, x, strings(words), np.arange(len(words)), np.array(-1))


def buckets(n: Layer, x: Value, count: int, key: Sequence[int] = ()) -> Value:
    """Which of so many buckets the text of each element falls into, by its hash, as i64."""
    return n(nn.StringHash(as_text(n, x), buckets=count, key=tuple(key)))


def as_text(n: Layer, x: Value) -> Value:
    """Text as it is, and numbers as they are written."""
    return x if x.type.element_type is string else n(nn.ToString(x))
