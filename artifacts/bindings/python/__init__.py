"""Python without nnc: one module on ctypes and NumPy."""

import keyword
import sys

from ..language import EVERYWHERE, Language

_DTYPES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "uint16",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "ui64": "uint64",
    "ui32": "uint32",
    "ui16": "uint16",
    "ui8": "uint8",
    "i1": "bool_",
}


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
