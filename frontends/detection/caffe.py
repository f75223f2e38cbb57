"""Caffe: nets and weights, as text or binary."""

from __future__ import annotations

import re

from ..common.source import Source
from .messages import fields_of, folder_has, suffix_of, text_of

_CAFFE = re.compile(rb"^\s*(layers?|input_dim|input_shape)\s*[:{]", re.MULTILINE)


def is_it(source: Source) -> bool:
    """Whether it is a net of Caffe, text or binary, or a folder with one."""
    if source.is_folder:
        return folder_has(source, "*.prototxt")
    if (text := text_of(source)) is not None:
        return bool(_CAFFE.search(text)) or suffix_of(source) == ".prototxt"
    if suffix_of(source) == ".caffemodel":
        return True
    fields = fields_of(source)
    if fields.get(1, 2) != 2:
        return False
    if 100 in fields:
        return fields[100] == 2
    inner = fields_of(source, 2)
    return inner.get(5) == 0 and inner.get(4) == 2
