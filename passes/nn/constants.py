"""Constant tensors as NumPy arrays, and arrays as constants."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from weakref import WeakValueDictionary

from ...dialects import nn
from ...ir.attributes import DenseElements, DenseResource
from ...ir.core import Value
from ...ir.lazy import np
from ...ir.resources import ComputedBlob, MemoryBlob, MissingBlob
from ...ir.types import TensorType

INLINE = 64
"""The most elements that a constant has in the text instead of in a resource."""

UNNAMED = "folded"
"""The key of a resource that has not been given its own key yet."""

_COMPUTED: WeakValueDictionary[tuple[str, ...], ComputedBlob] = WeakValueDictionary()
"""Constants computed at compile time, by key and by the identities of their sources, which each of
them holds. A second request for the same constant finds it here.
"""


def constant_array(value: Value) -> np.ndarray | None:
    """The elements of a constant, or None for any other value.

    Raises NncError if its data is missing.
    """
    op = value.defined_by(nn.Constant)
    return None if op is None else elements_of(op.value)


def elements_of(value: DenseElements | DenseResource) -> np.ndarray | None:
    """The elements as an array of any memory order; None for strings.

    Raises NncError if the data is missing.
    """
    if isinstance(value, DenseResource):
        return value.blob.elements(value.type)
    return None if value.strings is not None else value.to_numpy()


def array_attribute(
    array: np.ndarray, type: TensorType, stored: bool = False
) -> DenseElements | DenseResource:
    """An array as an attribute: in the text if it has few elements or all are equal, else as a
    resource.

    With `stored`, equal elements become a resource too. A resource has the key UNNAMED until
    `name_resource` gives it one.
    """
    if array.size <= INLINE or (not stored and _is_uniform(array)):
        return DenseElements.from_numpy(array, type)
    return DenseResource(UNNAMED, type, MemoryBlob(np.ascontiguousarray(array)))


@dataclass(frozen=True)
class Computation:
    """A function without arguments that computes an op's result for these constants as operands."""

    op: nn.NnOp
    operands: tuple[DenseElements | DenseResource, ...]

    def __call__(self) -> np.ndarray:
        return self.op.evaluate(*map(elements_of, self.operands))  # type: ignore[arg-type]


def computed_constant(op: nn.NnOp) -> nn.Constant | None:
    """The result of an op of constants, as a constant that is computed when it is read.

    Its key is a digest of the computation, so equal computations share a key and the data. None if
    an operand's data is missing.
    """
    type = op.result_types[0]
    assert isinstance(type, TensorType)
    constants: list[nn.Constant] = [v.defined_by(nn.Constant) for v in op.operands]  # type: ignore[misc]
    for constant in constants:
        name_resource(constant)
    values = [constant.value for constant in constants]
    properties = sorted((key, str(value)) for key, value in op.properties.items())
    digest = sha256(f"{op.name} {properties} {type}".encode())
    for value in values:
        digest.update(f"{value.type}".encode())
        if isinstance(value, DenseElements):
            digest.update(value.data)
        elif isinstance(value.blob.source(), MissingBlob):
            return None
        else:
            digest.update(value.key.encode())

    key = f"folded_{digest.hexdigest()[:16]}"
    sources = [value.blob for value in values if isinstance(value, DenseResource)]
    known = (key, *(str(id(source)) for source in sources))
    computed = _COMPUTED.get(known)
    if computed is None:
        computed = _COMPUTED[known] = ComputedBlob(Computation(op, tuple(values)), sources)
    return nn.Constant(DenseResource(key, type, computed))


def name_resource(constant: nn.Constant) -> None:
    """Give a constant's resource a key made from its content, so that equal ones have one key.

    That reads the whole content, so it is done only for constants that stay.
    """
    value = constant.value
    if isinstance(value, DenseResource) and value.key == UNNAMED:
        array = value.to_numpy()
        digest = sha256(f"{value.type}".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
        constant.value = DenseResource(f"folded_{digest.hexdigest()[:16]}", value.type, value.blob)


def _is_uniform(array: np.ndarray) -> bool:
    """Whether all elements are equal; it looks at a few of them first."""
    flat = np.ascontiguousarray(array).reshape(-1)
    raw = flat.view(np.uint8).reshape(flat.size, -1)
    return bool((raw[:: max(1, flat.size // 16)] == raw[0]).all() and (raw == raw[0]).all())


def make_constant(array: np.ndarray, stored: bool = False) -> nn.Constant:
    """A constant op with the elements of an array; `stored` is as in `array_attribute`."""
    from ...ir.numpy_types import numpy_to_type

    array = np.asarray(array)
    type = TensorType(array.shape, numpy_to_type(array.dtype))
    return nn.Constant(array_attribute(array, type, stored))
