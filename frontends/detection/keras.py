"""Keras: archives and HDF5 files with a model's configuration, and live objects."""

from __future__ import annotations

from ..common.source import Source


def is_it(source: Source) -> bool:
    """Whether a source is an archive of Keras 3, HDF5 of older versions, or a live model."""
    if source.object is not None:
        kinds = (one.__module__ for one in type(source.object).__mro__)
        return any(kind.startswith(("keras.", "tf_keras.")) for kind in kinds)
    if source.head.startswith(b"PK\x03\x04"):
        return b"model.weights.h5" in source.data[-(1 << 16) :].tobytes()
    return source.head.startswith(b"\x89HDF\r\n")
