"""Constant tensors as NumPy arrays, and arrays as constants."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from ...dialects import nn
from ...ir.attributes import Attribute, DenseElements, DenseResource
from ...ir.core import Value
from ...ir.resources import MemoryBlob
from ...ir.types import TensorType

if TYPE_CHECKING:
    import numpy as np

INLINE = 64
"""The most elements that a constant keeps in the text."""


def constant_array(value: Value) -> np.ndarray | None:
    """The elements of a constant, or None for anything else. Raises NncError if missing."""
    op = value.defined_by(nn.Constant)
    if op is None or (isinstance(op.value, DenseElements) and op.value.strings is not None):
        return None
    return op.value.to_numpy()


def array_attribute(array: np.ndarray, type: TensorType) -> Attribute:
    """Elements as an attribute: in the text where they are few or equal, else a resource.

    The resource's key is made from the content, so that equal constants have one key.
    """
    import numpy as np

    dense = None
    if array.size <= INLINE or _is_uniform(array):
        dense = DenseElements.from_numpy(array, type)
    if dense is not None:
        return dense
    array = np.ascontiguousarray(array)
    digest = blake2b(f"{type}".encode(), digest_size=8)
    digest.update(array.reshape(-1).view(np.uint8))
    return DenseResource(f"folded_{digest.hexdigest()}", type, MemoryBlob(array))


def _is_uniform(array: np.ndarray) -> bool:
    """Whether all elements are one; looks at few of them first."""
    import numpy as np

    flat = np.ascontiguousarray(array).reshape(-1)
    raw = flat.view(np.uint8).reshape(flat.size, -1)
    return bool((raw[:: max(1, flat.size // 16)] == raw[0]).all() and (raw == raw[0]).all())


def make_constant(array: np.ndarray) -> nn.Constant:
    """A constant op with the elements of an array."""
    import numpy as np

    from ...ir.numpy_types import numpy_to_type

    array = np.asarray(array)
    type = TensorType(array.shape, numpy_to_type(array.dtype))
    return nn.Constant(array_attribute(array, type))
