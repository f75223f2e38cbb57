"""The table of HLS C++: C's, with arrays instead of allocated memory, and no vectors."""

from __future__ import annotations

from dataclasses import replace

from ..c.language import TEMPLATES, C
from ..source.language import Language

_NOT_HERE = "heap take give move copy here pool task parallel worst"
_OWN = {
    "restrict": "",
    "local": "{kind} {name}[{count}];",
    "kernel": "",
    "prefetch": "",
    "global": "static {const}{kind} {name}[{count}] = {{\n    {values}\n}};\n",
}


def language() -> Language:
    """A fresh table for one program."""
    templates = {k: v for k, v in TEMPLATES.items() if k not in _NOT_HERE.split()} | _OWN
    scalars = {k: v for k, v in C.scalars.items() if k != "f64"}
    return replace(
        C,
        name="HLS C++",
        scalars={**scalars, "index": "int", "size": "unsigned"},
        templates=templates,
        pointer_bits=32,
        needed={},
    )
