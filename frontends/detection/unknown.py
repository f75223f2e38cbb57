"""Describes files of unknown formats, for the error message."""

from __future__ import annotations

import json

from ..common.source import Source

_MAGIC = (
    (b"PK\x03\x04", "a ZIP archive (a PyTorch checkpoint?)"),
    (b"\x80\x02", "a Python pickle (a PyTorch checkpoint?)"),
    (b"\x89HDF", "an HDF5 file (a Keras model?)"),
    (b"\x93NUMPY", "an array of NumPy"),
    (b"\x1f\x8b", "compressed by gzip; unpack it first"),
    (b"BZh", "compressed by bzip2; unpack it first"),
    (b"\xfd7zXZ", "compressed by xz; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd; unpack it first"),
    (b"7z\xbc\xaf", "a 7-Zip archive; unpack it first"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\x7fELF", "an executable"),
    (b"MZ", "an executable"),
    (b"\0asm", "a WebAssembly module"),
    (b"BC\xc0\xde", "LLVM bitcode"),
    (b"version https://git-lfs", "a Git LFS pointer; the model was not downloaded"),
)


MLIR_BYTECODE = b"ML\xefR"
_JAX_BEGIN = 1 << 16
"""The first bytes of a jax.export artifact, among which its program begins."""


def what_it_is(source: Source) -> str | None:
    """A description of what a file looks like, or None."""
    head = source.head
    for magic, words in _MAGIC:
        if head.startswith(magic):
            return words
    if head[257:262] == b"ustar":
        return "a tar archive; unpack it first"
    if head[4:8] == b"ORTM":
        return "a model in ONNX Runtime's own format"
    if head[4:8] == b"TFL3":
        return "a TensorFlow Lite model"
    if MLIR_BYTECODE in source.data[:_JAX_BEGIN].tobytes():
        return "part of what jax.export writes, cut off or damaged"
    if head[8:10] == b'{"' and int.from_bytes(head[:8], "little") < len(source.data):
        return "weights of safetensors, without a program"
    return _kind_of_text(source)


def _kind_of_text(source: Source) -> str | None:
    """JSON or other text, in words, or None; only short files are read to the end."""
    if not all(32 <= byte < 127 or byte in b"\t\n\r\f" for byte in source.head[:64]):
        return None
    if source.head[:1] not in (b"{", b"["):
        return "XML or HTML text" if source.head[:1] == b"<" else "text"
    if len(source.data) > len(source.head):
        return "JSON text"
    try:
        json.loads(source.head)
    except ValueError:
        return "text"
    return "JSON text"
