"""The entry of a model in C, which checks what it is given and calls the model's text."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from math import prod
from typing import Any

from ...dialects.marks import ARENA, FAILURES, INPUT_DIMS, INPUTS, OUTPUTS, POOL, WEIGHTS
from ...dialects.nn.dimension_names import names_of
from ...ir.core import Operation
from ...ir.types import FloatType, IntegerType, MemRefType, TensorType
from ...runtime.abi import FIRST_FAILURE, NO_ARGUMENT, OTHER_SHAPE
from .language import Language
from .memory import bytes_of
from .module import Text

NO_MEMORY = 2
"""The status for lack of memory, as in the runtime's libraries."""

TENSOR = """\
#ifndef NNC_C_TENSOR
#define NNC_C_TENSOR
/* A contiguous, row-major tensor. `shape` is needed only if the model leaves an extent unknown. */
typedef struct {
    void *data;
    int64_t *shape;
} nnc_tensor;

/* The caller's threads: `parallel_for` calls `function(work, i)` for i from 0 to `count` - 1, in
   any order, also concurrently, and returns when all are done. `threads` is how many run at once.
*/
typedef struct nnc_pool {
    void (*parallel_for)(void *context, void (*function)(void *work, ptrdiff_t i), void *work,
        ptrdiff_t count);
    void *context;
    ptrdiff_t threads;
} nnc_pool;
#endif
"""


_SPECIAL = {
    ARENA: ("arena", "(uint8_t *)"),
    WEIGHTS: ("weights", "(const uint8_t *)"),
    POOL: ("pool", ""),
}
"""The names in the entry, and casts, of arguments that are no tensors of the model."""


def _given(text: Text, tensors: Sequence[tuple[str, int]]) -> Generator[str, None, list[str]]:
    """Checks of the caller's arguments; returns the arguments to pass on.

    `tensors` are the arrays `inputs` and `outputs` with indices in them, in the entry's order.
    """
    op = text.entry.op
    arguments: list[str] = []
    rest = iter(tensors)
    for i, type in enumerate(op.function_type.inputs):
        word, cast = next(
            (one for k, one in _SPECIAL.items() if op.arg_attribute(i, k) is not None), ("", "")
        )
        if word == "weights":
            yield "#if defined(NNC_WEIGHTS)"
            yield "    if (!weights) weights = NNC_WEIGHTS;"
            yield "#endif"
        if word in ("arena", "weights") and type.num_elements:
            yield f"    if (!{word}) return {NO_ARGUMENT};"
        if word:
            arguments.append(cast + word)
            continue
        array, number = next(rest)
        kind = text.entry.given_type(op.args[i])
        arguments.append(f"({kind}){array}[{number}].data")
        arguments += [
            f"(ptrdiff_t){array}[{number}].shape[{k}]"
            for k, n in enumerate(type.shape)
            if n is None
        ]
    return arguments


def entry_lines(module: Operation, text: Text, prefix: str) -> Iterator[str]:
    """The lines of the C functions that a program calls."""
    op = text.entry.op
    inputs, outputs = (list(module.attributes[k].elements) for k in (INPUTS, OUTPUTS))  # type: ignore[attr-defined]
    yield f"int32_t {prefix}_run(const nnc_tensor *inputs, nnc_tensor *outputs, void *arena,"
    yield "    const void *weights, nnc_pool *pool) {"
    for name in ("inputs", "outputs", "arena", "weights", "pool"):
        yield f"    (void){name};"
    static = [i for i, t in enumerate(outputs) if t.has_static_shape]
    tensors = [("inputs", i) for i in range(len(inputs))] + [("outputs", i) for i in static]
    yield from (f"    {line}" for line in _checked(op, inputs, outputs))
    arguments = yield from _given(text, tensors)
    made = [(i, t) for i, t in enumerate(outputs) if not t.has_static_shape]
    for (i, _), type in zip(made, op.function_type.results, strict=True):
        for k, word in enumerate(text.entry.flat_types(type)):
            start = "NULL" if k == 0 else "0"
            yield f"    {word}out{i}_{k} = {start};"
            arguments.append(f"&out{i}_{k}")
    if text.entry.on_heap:
        yield "    nnc_heap heap = { NULL };"
        arguments.append("&heap")
    call = f"{text.entry.name}({', '.join(arguments)})"
    if text.entry.fails or text.uses_heap:
        yield "    int32_t status = 0;"
    yield f"    status = {call};" if text.entry.fails else f"    {call};"
    for (i, _), type in zip(made, op.function_type.results, strict=True):
        yield from (f"    {line}" for line in _copied(i, type))
    if made:
        yield "    if (status == 0) {"
        for (i, _), type in zip(made, op.function_type.results, strict=True):
            yield from (f"        {line}" for line in _handed_over(i, type))
        yield "    } else {"
        yield from (f"        NNC_FREE(data{i});" for i, _ in made)
        yield "    }"
    if text.entry.on_heap:
        yield "    nnc_end(&heap);"
    if text.entry.fails or text.uses_heap:
        yield f"    return status > 0 ? status + {FIRST_FAILURE - 1} : -status;"
    else:
        yield "    return 0;"
    yield "}"
    yield ""
    yield from _messages([one.value for one in module.attributes.get(FAILURES, ())], prefix)  # type: ignore[attr-defined]


def _extents(i: int, type: MemRefType) -> list[str]:
    """The extents of an output of unknown shape, as text; unknown ones are results of the entry."""
    opened = [k for k, n in enumerate(type.shape) if n is None]
    return [
        str(n) if n is not None else f"out{i}_{opened.index(k) + 1}"
        for k, n in enumerate(type.shape)
    ]


def _copied(i: int, type: MemRefType) -> Iterator[str]:
    """Lines that copy an output of unknown shape into memory of its own, which the caller frees."""
    count = str(bytes_of(type.element_type))
    for size in _extents(i, type):
        count = f"nnc_product({count}, {size})"
    yield f"void *const data{i} = status == 0 ? NNC_MALLOC({count} + 64) : NULL;"
    yield f"if (data{i} != NULL) memcpy(data{i}, out{i}_0, {count});"
    yield f"else if (status == 0) status = -{NO_MEMORY};"


def _handed_over(i: int, type: MemRefType) -> Iterator[str]:
    yield f"outputs[{i}].data = data{i};"
    for k, size in enumerate(_extents(i, type)):
        yield f"outputs[{i}].shape[{k}] = {size};"


def _checked(op: Any, inputs: Sequence[TensorType], outputs: Sequence[TensorType]) -> Iterator[str]:
    """Lines that check the arguments before anything else is done."""
    for array, types in (("inputs", inputs), ("outputs", outputs)):
        if types:
            yield f"if (!{array}) return {NO_ARGUMENT};"
        for i, type in enumerate(types):
            if not type.has_static_shape:
                yield f"if (!{array}[{i}].shape) return {NO_ARGUMENT};"
            elif prod(n or 0 for n in type.shape):
                yield f"if (!{array}[{i}].data) return {NO_ARGUMENT};"
    names, known = names_of(op.attributes.get(INPUT_DIMS)), {}
    for i, type in enumerate(inputs):
        if type.has_static_shape:
            continue
        shape = f"inputs[{i}].shape"
        for axis, extent in enumerate(type.shape):
            name = names[i][axis] if extent is None and i < len(names) else ""
            place = f"{shape}[{axis}]"
            if extent is not None:
                wrong = f"{place} != {extent}"
            else:
                wrong = f"{place} != {known[name]}" if name in known else f"{place} < 0"
            if name:
                known.setdefault(name, place)
            yield f"if ({wrong}) return {OTHER_SHAPE};"
        opened = [f"{shape}[{k}]" for k, n in enumerate(type.shape) if n is None]
        own = max(1, MemRefType((1,), type.element_type).num_bytes) * prod(
            n or 1 for n in type.shape
        )
        bytes = " * ".join([f"{own}.0", *(f"(double){n}" for n in opened)])
        yield f"if ({bytes} > (double)PTRDIFF_MAX / 2) return {OTHER_SHAPE};"
        whole = [f"{shape}[{k}] != 0" for k in range(type.rank)]
        yield f"if (!inputs[{i}].data && {' && '.join(whole)}) return {NO_ARGUMENT};"


def _messages(messages: Sequence[str], prefix: str) -> Iterator[str]:
    """The function that gives the message of a status."""
    yield f"const char *{prefix}_failure(int32_t status) {{"
    if messages:
        yield "    static const char *const texts[] = {"
        yield from (f"        {string(m)}," for m in messages)
        yield "    };"
        yield f"    if (status >= {FIRST_FAILURE} && status < {FIRST_FAILURE + len(messages)})"
        yield f"        return texts[status - {FIRST_FAILURE}];"
    yield "    (void)status;"
    yield "    return NULL;"
    yield "}"


def string(text: str) -> str:
    """A C string literal; other than ASCII bytes are octal escapes."""
    bytes = text.replace("\0", "").encode("utf-8", "surrogateescape")
    plain = "".join(chr(b) if 32 <= b < 127 and b not in b'\\"?' else f"\\{b:03o}" for b in bytes)
    return f'"{plain}"'


_SIGNED = {"u8": "int8_t", "u16": "int16_t", "u32": "int32_t", "u64": "int64_t"}


def parameters(signature: Any, language: Language) -> list[tuple[str, str, TensorType, bool]]:
    """The (name, C type, tensor type, is it an output) of each tensor, with distinct names."""
    found, taken = [], set()
    for names, types, is_output in (
        (signature.input_names, signature.input_types, False),
        (signature.output_names, signature.output_types, True),
    ):
        for given, type in zip(names, types, strict=True):
            base = name = language.identifier(given)
            number = 1
            while (
                name in taken or f"{name}_shape" in taken or name in ("inputs", "outputs", "status")
            ):
                number, name = number + 1, f"{base}_{number}"
            taken |= {name, f"{name}_shape"}
            found.append((name, element_name(type, language), type, is_output))
    return found


def element_name(type: TensorType, language: Language) -> str:
    """A language's name for the elements of a tensor: integers are signed unless typed unsigned."""
    element = type.element_type
    short = language.stored(element)
    is_signed = isinstance(element, IntegerType) and element.signedness != "u" and element.width > 1
    return (
        _SIGNED[short]
        if is_signed and not isinstance(element, FloatType)
        else language.scalars[short]
    )
