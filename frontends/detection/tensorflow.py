"""TensorFlow: folders and files of SavedModels, and graphs as binary or text."""

from __future__ import annotations

import re

from ..common.source import Source

FILE = "saved_model.pb"
SAVED = b"\x08\x01\x12"
"""The first bytes of a SavedModel: the version 1, then a graph. ONNX has no version 1."""

_NODE = re.compile(rb"(?:\s|#[^\n]*\n)*(node|library|versions)\s*\{")
_OPERATOR = re.compile(rb"\bop\s*:\s*[\"']")


def is_it(source: Source) -> bool:
    """Whether it is the folder of a SavedModel, the file in it, or a graph."""
    if source.is_folder:
        return source.has_beside(FILE)
    head = source.head
    if head[:3] == SAVED:
        return source.path is not None and source.path.name == FILE
    return is_text(head) or _is_graph(head)


def is_text(head: bytes) -> bool:
    """Whether a file begins as a graph in text form."""
    return b"\0" not in head and bool(_NODE.match(head) and _OPERATOR.search(head))


def _is_graph(head: bytes) -> bool:
    """Whether the first field is a node: a message with a name and an operator."""
    if head[:1] != b"\n":
        return False
    at = 1
    while at < len(head) and head[at] & 128:
        at += 1
    inner = head[at + 1 :]
    if inner[:1] != b"\n" or len(inner) < 4 or inner[1] & 128:
        return False
    rest = inner[2 + inner[1] :]
    if rest[:1] != b"\x12" or len(rest) < 3:
        return False
    return rest[2 : 2 + rest[1]].replace(b"_", b"").isalnum()
