"""Strings and lookup tables, which only the host supports."""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects.nn.host_types import string
from ...ir.attributes import DenseElements
from . import tensorflow as tf
from .words import *


def strings(values: Sequence[Any]) -> np.ndarray:
    """Values as an array of Python objects, for a tensor of strings."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


def elements(array: np.ndarray) -> DenseElements:
    """An array as an attribute of an op."""
    return DenseElements.from_numpy(np.asarray(array))


def lookup(n: Layer, x: Value, keys: np.ndarray, values: np.ndarray, default: np.ndarray) -> Value:
    """The value of each element's key, or the default for an unknown key; the host looks it up."""
    op = nn.Lookup(x, keys=elements(keys), values=elements(values), default=elements(default))
    return n(op)


@dataclass(eq=False)
class LookupTable:
    """A table of keys [N] and values [N, ..]; if they are None, `fault` says why."""

    name: str
    keys: Any = None
    values: Any = None
    fault: str = "nothing fills it"

    def filled(self, n: Layer) -> LookupTable:
        """This table. Raises NncError if its contents are not known."""
        if self.keys is None:
            raise n.error(f"the contents of table '{self.name}' are not known: {self.fault}")
        return self

    def find(self, n: Layer, keys: Value, default: Value) -> Value:
        """The value of each key, or the default for an unknown key."""
        own, known = self.filled(n), n.array(default)
        count = len(own.keys)
        if not count:
            return tf.broadcast_to(n, default, shape_of(n, keys))
        if own.values.ndim == 1 and known is not None and known.size == 1:
            element = default.type.element_type
            dtype = object if element is string else type_to_numpy(element)
            return lookup(n, keys, own.keys, own.values.astype(dtype), known.reshape(()))
        places = lookup(n, keys, own.keys, np.arange(count), np.array(count))
        values = constant(n, own.values, default.type.element_type)
        last = Term(n, default).reshape(1, *own.values.shape[1:])
        return joined([values, last], 0).gather(Term(n, places)).value


def scalar_string(text: str) -> np.ndarray:
    """A 0-d array of text."""
    return strings([text]).reshape(())


def ids(n: Layer, x: Value, words: tuple[str, ...]) -> Value:
    """The index of each string in `words`; -1 if it is not among them."""
    return lookup(n, x, strings(words), np.arange(len(words)), np.array(-1))


def buckets(n: Layer, x: Value, count: int, key: Sequence[int] = ()) -> Value:
    """The bucket, an i64 below `count`, that the hash of each element's text selects."""
    return n(nn.StringHash(as_text(n, x), buckets=count, key=tuple(key)))


def as_text(n: Layer, x: Value) -> Value:
    """Strings unchanged, and numbers as text."""
    return x if x.type.element_type is string else n(nn.ToString(x))
