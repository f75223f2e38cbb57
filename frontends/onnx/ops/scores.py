"""The labels of classifiers of ai.onnx.ml."""

from __future__ import annotations

import numpy as np

from ....ir.core import Value
from ...common.terms import Term, constant
from ..node import Node

Labels = tuple[int, ...] | tuple[str, ...]


def labels_of(n: Node, ints: str, strings: str) -> Labels:
    """The classes' labels. Raises NncError where there are none."""
    found = n.ints(ints) or n.strings(strings)
    if not found:
        raise n.error(f"neither '{ints}' nor '{strings}' is given")
    return found


def class_of(n: Node, index: Term, labels: Labels) -> Value:
    """The labels at positions."""
    if isinstance(labels[0], str):
        return constant(n, np.array(labels, object)).gather(index).value
    return constant(n, np.array(labels, np.int64)).gather(index).value
