"""Caffe2: nets as text or binary, alone or two in a folder."""

from __future__ import annotations

import re

from ..common.source import Source
from .messages import fields_of, folder_has, text_of

_CAFFE2 = re.compile(rb"^\s*(op|external_input)\s*[:{]", re.MULTILINE)


def is_it(source: Source) -> bool:
    """Whether it is a net of Caffe2, text or binary, or a folder with its two nets."""
    if source.is_folder:
        return folder_has(source, "*predict_net.pb*")
    if (text := text_of(source)) is not None:
        return bool(_CAFFE2.search(text))
    if source.path is not None and source.path.name.endswith(("_net.pb", "_net.pbtxt")):
        return True
    fields = fields_of(source)
    inner = fields_of(source, 2)
    return fields.get(1, 2) == 2 and inner.get(4) == 2 and inner.get(5, 2) == 2 and 6 not in fields
