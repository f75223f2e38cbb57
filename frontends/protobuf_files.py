"""Which of the formats that are protocol buffers a file is in: they look alike."""

from __future__ import annotations

import re

from .common.source import Source

_TEXT = re.compile(rb"(?:\s|#[^\n]*\n)*(name|input|layers?|op|state)\s*[:{]")
_CAFFE = re.compile(rb"^\s*(layers?|input_dim|input_shape)\s*[:{]", re.MULTILINE)
_CAFFE2 = re.compile(rb"^\s*(op|external_input)\s*[:{]", re.MULTILINE)

GROUPS_OF_MODELS = range(200, 3001)
"""The fields of a CoreML model that tell its kind."""


def is_caffe(source: Source) -> bool:
    """Whether it is a net of Caffe, text or binary, or a folder with one."""
    if source.is_folder:
        return _folder_has(source, "*.prototxt")
    if (text := _text_of(source)) is not None:
        return bool(_CAFFE.search(text)) or _suffix(source) == ".prototxt"
    if _suffix(source) == ".caffemodel":
        return True
    fields = _fields(source)
    if fields.get(1, 2) != 2:
        return False
    if 100 in fields:
        return fields[100] == 2
    inner = _fields(source, 2)
    return inner.get(5) == 0 and inner.get(4) == 2


def is_caffe2(source: Source) -> bool:
    """Whether it is a net of Caffe2, text or binary, or a folder with its two nets."""
    if source.is_folder:
        return _folder_has(source, "*predict_net.pb*")
    if (text := _text_of(source)) is not None:
        return bool(_CAFFE2.search(text))
    if source.path is not None and source.path.name.endswith(("_net.pb", "_net.pbtxt")):
        return True
    fields = _fields(source)
    inner = _fields(source, 2)
    return fields.get(1, 2) == 2 and inner.get(4) == 2 and inner.get(5, 2) == 2 and 6 not in fields


def is_coreml(source: Source) -> bool:
    """Whether it is a CoreML model, or a package with one."""
    if source.is_folder:
        return source.has_beside("Manifest.json") or _suffix(source) == ".mlpackage"
    if _suffix(source) in (".mlmodel", ".mlpackage"):
        return True
    fields = _fields(source)
    return fields.get(1) == 0 and any(number in GROUPS_OF_MODELS for number in fields)


def _suffix(source: Source) -> str:
    return "" if source.path is None else source.path.suffix.lower()


def _folder_has(source: Source, pattern: str) -> bool:
    assert source.path is not None
    return next(source.path.glob(pattern), None) is not None


def _text_of(source: Source) -> bytes | None:
    """The begin of the file where that is such a message as text."""
    return source.head if _TEXT.match(source.head) and b"\0" not in source.head else None


def _fields(source: Source, inside: int = 0) -> dict[int, int]:
    """The kinds of a message's fields, or of the first one that it has of some number."""
    from .wire.protobuf import kinds_of_fields

    return kinds_of_fields(source.data, inside) if source.head else {}
