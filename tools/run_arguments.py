"""Arguments of nn-run from text.

    a.npy                     the array of a file
    a.npz:x                   one of several
    f32[2x3]:random           standard normal; small integers; see `_made`
    f32[2x3]:zeros            and ones, arange
    f32[2x3]:[1,2,3,4,5,6]    elements in order
    i64:3                     a scalar
    3, random, [1,2]          the same, of the parameter's own type

Arguments are separated by commas outside brackets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..dialects.llvm import PointerType
from ..ir.diagnostics import NncError
from ..ir.numpy_types import number_kind, numpy_to_type, type_to_numpy
from ..ir.types import FLOAT_KINDS, FloatType, IndexType, IntegerType, ScalarType, ShapedType, Type
from .array_files import read_arrays

_TYPE = re.compile(r"(?P<element>index|[su]?i\d+|[a-z]+\d+\w*)(?P<shape>\[[\dx]*\])?$", re.I)
_WORDS = ("random", "zeros", "ones", "arange")


def split_arguments(text: str) -> list[str]:
    """The parts between commas outside brackets."""
    parts, depth, part = [], 0, ""
    for char in text:
        depth += (char == "[") - (char == "]")
        if char == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += char
    if part or parts:
        parts.append(part)
    if depth or any(not p.strip() for p in parts):
        raise NncError(f"nn-run: cannot read the arguments '{text}'")
    return [p.strip() for p in parts]


def read_arguments(
    texts: Sequence[str], types: Sequence[Type], name: str, folder: Path, seed: int
) -> list[Any]:
    """One value for each parameter type. Raises NncError that names the argument."""
    if len(texts) != len(types):
        wanted = ", ".join(str(t) for t in types) or "none"
        raise NncError(
            f"nn-run: '@{name}' takes {len(types)} arguments ({wanted}), "
            f"but --args gives {len(texts)}"
        )
    generator = np.random.default_rng(seed)
    values = []
    for i, (text, type) in enumerate(zip(texts, types, strict=True)):
        try:
            values.append(_argument(text, type, folder, generator))
        except NncError as error:
            raise NncError(f"nn-run: argument {i} ('{text}'): {error.message}") from None
    return values


def _argument(text: str, type: Type, folder: Path, generator: Any) -> Any:
    stem, _, member = text.partition(":")
    if stem.endswith((".npy", ".npz")):
        return _fitted(_from_file(folder / stem, member), type)
    head, colon, value = text.partition(":")
    if _TYPE.match(head) and (colon or head not in _WORDS):
        element, shape = _parse_type(head)
        if not colon:
            raise NncError(f"no value after the type; write {head}:random or {head}:0")
        return _fitted(_made(value, element, shape, generator), type)
    if isinstance(type, PointerType):
        raise NncError("a pointer needs an array, as f32[16]:zeros")
    return _fitted(_made(text, _element_of(type), _shape_of(type), generator), type)


def _from_file(path: Path, member: str) -> np.ndarray:
    arrays = read_arrays(path)
    if member:
        if member not in arrays:
            raise NncError(f"the file has no array '{member}', but {', '.join(arrays)}")
        return arrays[member]
    if len(arrays) != 1:
        raise NncError(f"the file has several arrays; name one of {', '.join(arrays)} after a ':'")
    return next(iter(arrays.values()))


def _parse_type(text: str) -> tuple[ScalarType, tuple[int, ...]]:
    match = _TYPE.match(text)
    assert match is not None
    name, shape = match["element"], match["shape"]
    if shape is not None and not re.fullmatch(r"\[(\d+(x\d+)*)?\]", shape):
        raise NncError(f"'{shape}' is not a shape; write [2x3]")
    sizes = tuple(int(n) for n in re.findall(r"\d+", shape or ""))
    if name == "index":
        return IndexType(), sizes
    integer = re.fullmatch(r"([su]?)i(\d+)", name)
    if integer:
        return IntegerType(int(integer[2]), integer[1]), sizes
    if name in FLOAT_KINDS:
        return FloatType(name), sizes
    raise NncError(f"'{name}' is not a type; there are f32, i64, index and so on")


def _element_of(type: Type) -> ScalarType:
    element = type.element_type if isinstance(type, ShapedType) else type
    if not isinstance(element, ScalarType):
        raise NncError(f"no value of type {type} can be given")
    return element


def _shape_of(type: Type) -> tuple[int, ...]:
    if not isinstance(type, ShapedType):
        return ()
    if not type.has_static_shape:
        raise NncError(f"give the shape, as {type.element_type}[2x3]:random, for {type}")
    return tuple(type.shape)


def _made(text: str, element: ScalarType, shape: tuple[int, ...], generator: Any) -> np.ndarray:
    """An array of elements given by a word, or by numbers."""
    dtype = type_to_numpy(element)
    count = math.prod(shape)
    match text:
        case "zeros" | "ones":
            return np.full(shape, int(text == "ones")).astype(dtype)
        case "arange":
            return np.arange(count).astype(dtype).reshape(shape)
        case "random":
            if dtype.kind == "b":
                return generator.integers(0, 2, shape).astype(dtype)
            if number_kind(dtype) in "iu":
                return generator.integers(0, 10, shape).astype(dtype)
            return np.asarray(generator.standard_normal(shape)).astype(dtype)
    numbers = [_number(part, element) for part in re.sub(r"[\[\]\s]", "", text).split(",") if part]
    if len(numbers) == 1 and "[" not in text:
        numbers *= count
    if len(numbers) != count:
        raise NncError(f"{count} elements expected, found {len(numbers)}")
    with np.errstate(all="ignore"):
        return np.array(numbers).astype(dtype).reshape(shape)


def _number(text: str, element: ScalarType) -> int | float | bool:
    words = {"true": True, "false": False}
    if text in words and element is IntegerType(1):
        return words[text]
    try:
        if isinstance(element, FloatType):
            return float.fromhex(text) if "0x" in text else float(text)
        number = int(text, 0)
    except ValueError:
        choices = ", ".join(_WORDS)
        raise NncError(f"'{text}' is not of type {element}, and none of {choices}") from None
    width = getattr(element, "width", 64)
    if not -(1 << (width - 1)) <= number < 1 << width:
        raise NncError(f"{number} does not fit in {element}")
    dtype = type_to_numpy(element)
    if isinstance(element, IntegerType) and dtype.kind != "b":
        return element.wrap(number)
    return number


def _fitted(array: np.ndarray, type: Type) -> Any:
    """The value converted to the form of the type. Raises NncError if it does not fit."""
    if isinstance(type, PointerType):
        return np.array(array)
    dtype = type_to_numpy(_element_of(type))
    shape = type.shape if isinstance(type, ShapedType) else ()
    fits = array.ndim == len(shape) and all(
        want is None or want == have for want, have in zip(shape, array.shape, strict=True)
    )
    if array.dtype != dtype or not fits:
        found = f"{_dtype_text(array.dtype)}[{'x'.join(map(str, array.shape))}]"
        raise NncError(f"the function takes {type}, not {found if array.ndim else found[:-2]}")
    return np.array(array) if isinstance(type, ShapedType) else array[()]


def _dtype_text(dtype: np.dtype) -> str:
    try:
        return str(numpy_to_type(dtype))
    except NncError:
        return str(dtype)
