"""Tensors of other frameworks as arrays, by DLPack: without a copy if they are in host memory.

Results are NumPy arrays, which support the same protocol:

    y = torch.from_dlpack(model(torch.rand(1, 3, 224, 224)))
"""

from __future__ import annotations

import sys
from typing import Any

import ml_dtypes
import numpy as np

from ..ir.diagnostics import NncError

HERE = {1: "CPU", 3: "CUDA host", 11: "ROCm host", 13: "CUDA managed"}
"""The device types of DLPack whose memory this machine's processor can read."""


def as_array(value: Any) -> np.ndarray:
    """The elements of another framework's tensor; a tensor elsewhere (on a GPU) is copied.

    Raises NncError if the tensor refuses, as PyTorch's do while they track gradients.
    """
    try:
        value = _resolved(value)
        kind, _ = value.__dlpack_device__()
        if kind in HERE:
            return np.from_dlpack(value)
        return np.from_dlpack(value, device="cpu")
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        if hasattr(value, "__array__"):  # NumPy's import lacks some element types, such as bf16.
            return _by_its_own(value, error)
        raise _refused(error) from None


def _resolved(value: Any) -> Any:
    """A PyTorch tensor whose elements are negated or conjugated only on reading, with them so.

    Its DLPack capsule leaves the negation out (`z.conj().imag`).
    """
    for name in ("resolve_conj", "resolve_neg"):
        resolve = getattr(value, name, None)
        if resolve is not None:
            value = resolve()
    return value


def _by_its_own(value: Any, error: Exception) -> np.ndarray:
    try:
        return np.asarray(value)
    except (RuntimeError, TypeError, ValueError):
        found = _by_its_bits(value)
        if found is None:
            raise _refused(error) from None
        return found


def _by_its_bits(value: Any) -> np.ndarray | None:
    """The elements of a PyTorch tensor whose element type NumPy lacks, taken as integers."""
    module, _, name = str(getattr(value, "dtype", None)).partition(".")
    if module != "torch" or not hasattr(ml_dtypes, name) or value.requires_grad:
        return None
    element = np.dtype(getattr(ml_dtypes, name))
    bits = getattr(sys.modules[module], f"int{8 * element.itemsize}")
    try:
        return np.from_dlpack(value.view(bits), device="cpu").view(element)
    except (BufferError, RuntimeError, TypeError, ValueError):
        return None


def _refused(error: Exception) -> NncError:
    said = str(error).partition("\n")[0] or type(error).__name__
    return NncError(f"the tensor cannot be read here: {said}")


def is_tensor(value: Any) -> bool:
    """Whether a value is another framework's tensor."""
    return hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray | np.generic)
