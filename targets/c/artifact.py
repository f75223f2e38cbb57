"""The files of a C program: `model.c` and `model.h`, with the weights inside or in another file."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...artifacts.header import about as about_tensors
from ...runtime.abi import FIRST_FAILURE, NO_ARGUMENT, OTHER_SHAPE
from ..source.entry import NO_MEMORY, TENSOR, parameters, string
from .language import C

_STATUSES = (
    ("OK", 0, "all is well"),
    ("NO_ARGUMENT", NO_ARGUMENT, "an argument is NULL"),
    ("NO_MEMORY", NO_MEMORY, "out of memory"),
    ("NO_WEIGHTS", 3, "the weights file cannot be read, or no weights are given"),
    ("OTHER_WEIGHTS", 4, "the weights file is another model's, or damaged"),
    ("OTHER_SHAPE", OTHER_SHAPE, "an input has another shape than the model's"),
)

_HEADER = """\
#ifndef {upper}_H
#define {upper}_H

#include <stddef.h>
#include <stdint.h>

#define {upper}_ARENA_BYTES {arena}
#define {upper}_WEIGHTS_BYTES {weights}

{tensor}
#ifdef __cplusplus
extern "C" {{
#endif

enum {{
{statuses}
    {upper}_FIRST_FAILURE = {first}
}};

/* The message for a status; from {upper}_FIRST_FAILURE on it names the model's node, and what did
   not hold. */
const char *{prefix}_message(int32_t status);
{load}
/* Runs the model in the calling thread, in static memory of {upper}_ARENA_BYTES: for one caller at
   a time.{heap} */
int32_t {prefix}_call({parameters});

/* The same with the caller's memory, aligned to 64 bytes, so that several may call at once, and
   with a pool of threads, or NULL. {weights_word} */
int32_t {prefix}_run(const nnc_tensor *inputs, nnc_tensor *outputs, void *arena,
    const void *weights, nnc_pool *pool);

#ifdef __cplusplus
}}
#endif
#endif
"""

_LOAD = """
/* Reads the weights from a file, before the first {prefix}_call; or, on chips without files, sets
   the address of {upper}_WEIGHTS_BYTES, aligned to 64 bytes. */
int32_t {prefix}_load(const char *path);
void {prefix}_use_weights(const void *weights);
"""

_LOADING = """
static const void *nnc_weights;

void {prefix}_use_weights(const void *weights) {{
    nnc_weights = weights;
}}

#if !defined(NNC_NO_FILES)
#include <stdio.h>

int32_t {prefix}_load(const char *path) {{
    static NNC_ALIGNED uint64_t words[{words}];
    FILE *const file = path == NULL ? NULL : fopen(path, "rb");
    uint64_t sum = 0;
    size_t i, count;
    int more;
    if (path == NULL) return 1;
    if (file == NULL) return 3;
    count = fread(words, 1, {weights}, file);
    more = fgetc(file) != EOF;
    fclose(file);
    for (i = 0; i < {words}; i++) sum += words[i] * (2 * (uint64_t)i + 1);
    if (count != {weights} || more || sum != {sum}ull) return 4;
    nnc_weights = words;
    return 0;
}}
#endif
"""

_CHECK = "    if (nnc_weights == NULL) return 3;\n"

_CALL = """
static NNC_ALIGNED unsigned char nnc_arena[{arena}];

int32_t {prefix}_call({parameters}) {{
    nnc_tensor inputs[{inputs}], outputs[{outputs}];
    int32_t status;
{given}{check}    status = {prefix}_run(inputs, outputs, nnc_arena, nnc_weights, NULL);
{made}    return status;
}}

const char *{prefix}_message(int32_t status) {{
    const char *const failure = {prefix}_failure(status);
    if (failure != NULL) return failure;
    switch (status) {{
{cases}
    default: return "unknown status";
    }}
}}
"""


def _listed(signature: Any) -> str:
    texts = []
    for name, kind, type, is_output in parameters(signature, C):
        const, opened = "" if is_output else "const ", not type.has_static_shape
        texts.append(f"{const}{kind} {'**' if is_output and opened else '*'}{name}")
        if opened:
            texts.append(f"{const}int64_t *{name}_shape")
    return ", ".join(texts) or "void"


def header(signature: Any, prefix: str, inside: bool) -> str:
    """The text of `model.h`."""
    about = about_tensors(signature) + "\n"
    upper, opened = prefix.upper(), any(not t.has_static_shape for t in signature.output_types)
    heap = (
        "\n   Outputs of open shape are set to memory that the caller gives back by free(), or by\n"
        "   what NNC_FREE is defined as."
    )
    words = {"upper": upper, "prefix": prefix}
    return about + _HEADER.format(
        arena=signature.arena_bytes,
        weights=signature.weights_bytes,
        tensor=TENSOR,
        statuses="\n".join(
            f"    {upper}_{word} = {n}, /* {text} */" for word, n, text in _STATUSES
        ),
        first=FIRST_FAILURE,
        load="" if inside or not signature.weights_bytes else _LOAD.format(**words),
        heap=heap if opened else "",
        parameters=_listed(signature),
        weights_word="`weights` may be NULL: they are inside." if inside else "",
        **words,
    )


def weights_text(signature: Any, prefix: str, weights: np.ndarray, inside: bool) -> str:
    """C text that defines the weights, or that reads them from a file."""
    total = signature.weights_bytes
    if not total:
        return "static const void *const nnc_weights = NULL;\n"
    words = np.zeros(-(-total // 8), "<u8")
    words.view(np.uint8)[:total] = weights
    if not inside:
        odd = np.arange(len(words), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        with np.errstate(over="ignore"):
            total_sum = int((words * odd).sum(dtype=np.uint64))
        return _LOADING.format(prefix=prefix, weights=total, words=len(words), sum=total_sum)
    lines = (words[i : i + 4].tolist() for i in range(0, len(words), 4))
    rows = "\n".join("    " + " ".join(f"0x{n:x}ull," for n in line) for line in lines)
    return (
        "/* The weights, as little-endian machines have them in memory. */\n"
        f"static NNC_ALIGNED const uint64_t nnc_weights[{len(words)}] = {{\n{rows}\n}};\n"
        "#define NNC_WEIGHTS nnc_weights\n"
    )


def call_text(signature: Any, prefix: str, inside: bool) -> str:
    """The end of `model.c`: the simple call, and the messages of statuses."""
    given, made = [], []
    counts = {False: 0, True: 0}
    for name, kind, type, is_output in parameters(signature, C):
        array = f"{'outputs' if is_output else 'inputs'}[{counts[is_output]}]"
        counts[is_output] += 1
        value, shape = name, f"{name}_shape"
        if not is_output:
            value, shape = f"(void *)(uintptr_t){value}", f"(int64_t *)(uintptr_t){shape}"
        if type.has_static_shape:
            shape = "NULL"
        elif is_output:
            value = "NULL"
            made.append(f"    if (status == 0) *{name} = ({kind} *){array}.data;\n")
        given.append(f"    {array}.data = {value};\n    {array}.shape = {shape};\n")
    return _CALL.format(
        prefix=prefix,
        check="" if inside or not signature.weights_bytes else _CHECK,
        arena=max(1, signature.arena_bytes),
        parameters=_listed(signature),
        inputs=max(1, counts[False]),
        outputs=max(1, counts[True]),
        given="".join(given),
        made="".join(made),
        cases="\n".join(f"    case {n}: return {string(text)};" for _, n, text in _STATUSES),
    )
