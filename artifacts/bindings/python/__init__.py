"""Python without nnc: one module on ctypes and NumPy."""

import keyword
import sys

from ..language import EVERYWHERE, Language, elements

_DTYPES = elements(
    "float64 float32 float16 uint16 int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool_"
)


def _quoted(text: str) -> str:
    """A string literal, in double quotes unless it needs escapes."""
    plain = text.isprintable() and not {*text} & {"\\", '"'}
    return f'"{text}"' if plain else repr(text)


LANGUAGE = Language(
    name="python",
    title="Python",
    files={"model.py": "{module}.py", "example.py": "example.py"},
    elements=_DTYPES,
    reserved=frozenset({*keyword.kwlist, "self"}),
    module_reserved=sys.stdlib_module_names | {"numpy", "example"},
    needs="Python 3.8 or newer and NumPy",
    build="pip install numpy",
    run="python example.py",
    quote=_quoted,
    systems=EVERYWHERE,
)
