"""The C header of a compiled model."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.types import TensorType
from ..runtime.abi import FIRST_FAILURE, OTHER_SHAPE
from ..runtime.program import Signature
from .interface import BELOW_A_BYTE


def c_header(
    found: Signature, prefix: str, *, library: bool, inside: bool, levels: Sequence[str] = ()
) -> str:
    """The header for C and C++ programs: for a `library`, or for an object file alone.

    Every name starts with `prefix`; `inside` says whether the library holds its weights, `levels`
    names its targets if there are several.
    """
    guard = f"NNC_{prefix.upper()}_H"
    parts = [
        about(found),
        f"#ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n#include <stdint.h>\n",
        _TENSOR,
        _sizes(found, prefix),
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
        _library(found, prefix, inside) if library else "",
        _LEVELS.format(levels=", ".join(levels), prefix=prefix) if levels else "",
        _run(found, prefix, library),
        "#ifdef __cplusplus\n}\n#endif\n",
        f"#endif /* {guard} */\n",
    ]
    return "\n".join(part for part in parts if part)


def _run(found: Signature, prefix: str, library: bool) -> str:
    """The code's own functions."""
    text = _RUN.replace("RETURNS", _MAY_FAIL if found.failures else _ALWAYS)
    text += _FAILURE if found.failures else ""
    text += _KEPT_MEMORY if found.heap_bytes else ""
    text += _PREPARE if found.prepared_bytes else ""
    if any(not type.has_static_shape for type in found.output_types) and not library:
        text += _OWN_MEMORY
    return text.replace("PREFIX", prefix)


def about(found: Signature) -> str:
    """A comment that lists inputs and outputs."""

    def lines(word: str, names: Sequence[str], types: Sequence[TensorType]) -> list[str]:
        shapes = [
            "x".join("?" if d is None else str(d) for d in (*type.shape,)) or "scalar"
            for type in types
        ]
        return [
            f"   {word} {i}: {_printable(name)}, {type.element_type}, {shape}"
            for i, (name, type, shape) in enumerate(zip(names, types, shapes, strict=True))
        ]

    text = [
        *lines("input", found.input_names, found.input_types),
        *lines("output", found.output_names, found.output_types),
    ]
    if found.complex_outputs:
        names = ", ".join(map(_printable, found.complex_outputs))
        text.append(f"   Complex numbers, with both parts as their last dimension: {names}")
    types = {str(t.element_type) for t in (*found.input_types, *found.output_types)}
    if types & BELOW_A_BYTE:
        text += _LOW_BITS
    return "/* A neural network, compiled by nnc.\n" + "\n".join(text) + " */\n"


_LOW_BITS = [
    "   Numbers of less than 8 bits take a byte each, of which the low bits count; in outputs the",
    "   others are 0.",
]


def _printable(name: str) -> str:
    """A name with characters replaced that could end a comment."""
    return "".join(c if c.isprintable() else "?" for c in name).replace("*/", "* /")


def _sizes(found: Signature, prefix: str) -> str:
    upper = prefix.upper()
    rows = {
        "INPUTS": len(found.input_names),
        "OUTPUTS": len(found.output_names),
        "ARENA_BYTES": found.arena_bytes,
        "WEIGHTS_BYTES": found.weights_bytes,
    }
    if found.heap_bytes:
        rows["HEAP_BYTES"] = found.heap_bytes
    if found.prepared_bytes:
        rows["PREPARED_BYTES"] = found.prepared_bytes
        rows["PREPARE_ARENA_BYTES"] = found.prepare_arena_bytes
    return "".join(f"#define {upper}_{name} {value}\n" for name, value in rows.items())


_TENSOR = """\
#ifndef NNC_TENSOR
#define NNC_TENSOR
/* A contiguous, row-major tensor. `shape` is needed only if the model leaves an extent unknown. */
typedef struct {
    void *data;
    int64_t *shape;
} nnc_tensor;

/* Threads that share the work of a call. */
typedef struct nnc_pool nnc_pool;
#endif
"""

_RUN = """\
/* The compiled code itself, for callers that bring their own memory. `arena` is scratch memory,
   aligned to 64 bytes, of one call at a time; so is `pool`, which may be NULL. `weights` are
   the bytes of the weights file, aligned to 64 bytes. RETURNS */
int32_t PREFIX_run(const nnc_tensor *inputs, nnc_tensor *outputs, void *arena,
    const void *weights, nnc_pool *pool);

/* A pool of `threads` threads, the caller counted; NULL for 1, or where none can be started.
   Only in models that have parallel loops. */
nnc_pool *PREFIX_pool_create(int32_t threads);
void PREFIX_pool_destroy(nnc_pool *pool);
"""

_LEVELS = """\
/* The code is included for several processors: {levels}. The best that
   this processor can run is used; the environment variable NNC_LEVEL may name the best to consider.
   Returns the name of the one in use, NULL if this processor can run none. */
const char *{prefix}_target(void);
"""

_OWN_MEMORY = """
/* An output whose shape depends on the input is given in memory that the caller frees: with
   free(), on Windows with _aligned_free(). */
"""

_KEPT_MEMORY = """
/* An arena keeps memory between runs, as much as the largest run has needed. Its first HEAP_BYTES
   must be zero before the first run with it. PREFIX_release frees the memory that it keeps; the
   arena is then as new. PREFIX_reuse gives the memory of an output, of `bytes` rounded up to a
   multiple of 64, to the next run, which uses it for an output or frees it. Both ignore NULL. */
void PREFIX_release(void *arena);
void PREFIX_reuse(void *arena, void *data, size_t bytes);
"""

_KEPT_LIBRARY = """
/* Gives the memory of an output, of `bytes`, to the next call with this context, which uses it for
   an output or frees it; NULL is allowed. */
void PREFIX_give_back(PREFIX_context *context, void *data, size_t bytes);

/* Frees the memory that a context keeps between calls: as much as the largest call has needed. */
void PREFIX_trim(PREFIX_context *context);
"""

_ALWAYS = f"""\
Returns 0; 1 where
   a pointer is NULL, {OTHER_SHAPE} where an input has a shape that the model does not take."""

_MAY_FAIL = f"""\
Returns 0; 1 where
   a pointer is NULL, {OTHER_SHAPE} where an input has a shape that the model does not take; or the
   status of a check that failed, {FIRST_FAILURE} or more: sizes that do not fit, say. Outputs of
   fixed shape are then undefined, the `data` of others is unchanged, nothing has to be freed, and
   the next call may work."""

_FAILURE = """
/* The message for the status of a failed check: the model's node, and what did not hold. NULL for
   other statuses. */
const char *PREFIX_failure(int32_t status);
"""

_PREPARE = """
/* Computes weights from the stored ones: call it with `step` 0, 1, .. until it returns -1.
   `weights` are the bytes of the weights file, and have to stay. `prepared`, PREPARED_BYTES
   aligned to 64 bytes, is then what PREFIX_run takes as its weights; calls at the same time may
   share it. `arena` are PREPARE_ARENA_BYTES, for the time of the call. Returns how many bytes of
   `weights`, from the first on, are not needed for further steps. */
int64_t PREFIX_prepare(const void *weights, void *prepared, void *arena, nnc_pool *pool,
    int32_t step);
"""


_CHECK = """
/* Reads all weights: the status OTHER_WEIGHTS if the file that holds them was damaged, else OK.
   PREFIX_create does not, since that takes about 0.3 ms for each MB. */
int32_t PREFIX_check(void);
"""


def _library(found: Signature, prefix: str, inside: bool) -> str:
    kept = _KEPT_LIBRARY.replace("PREFIX", prefix) if found.heap_bytes else ""
    check = _CHECK.replace("PREFIX", prefix) if inside else ""
    weights = (
        "`weights` is not used: they are part of the library."
        if inside
        else "`weights` is the path of the weights file."
    )
    return f"""\
/* Every function returns one of these, or nothing. {prefix}_call returns {FIRST_FAILURE} or more
   where a check of the model fails, one status for each: {prefix}_message says which node it was
   and what did not hold. Outputs of fixed shape are then undefined, the `data` of others is
   unchanged, nothing has to be freed, and the next call may work. */
enum {{
    {prefix.upper()}_OK = 0,
    {prefix.upper()}_NO_ARGUMENT = 1,    /* an argument is NULL or out of range */
    {prefix.upper()}_NO_MEMORY = 2,      /* out of memory */
    {prefix.upper()}_NO_WEIGHTS = 3,     /* the weights file cannot be read */
    {prefix.upper()}_OTHER_WEIGHTS = 4,  /* the weights are another model's, or damaged */
    {prefix.upper()}_NO_THREADS = 5,     /* the threads cannot be started */
    {prefix.upper()}_OTHER_PROCESSOR = 6, /* no code for this processor, or for NNC_LEVEL */
    {prefix.upper()}_OTHER_SHAPE = {OTHER_SHAPE}, /* an input has another shape than the model's */
    {prefix.upper()}_FIRST_FAILURE = {FIRST_FAILURE}
}};

/* What a status means, as text. */
const char *{prefix}_message(int32_t status);

/* The memory and the threads of one caller at a time: make one for each thread that calls. */
typedef struct {prefix}_context {prefix}_context;

/* Makes a context that uses `threads` threads, the caller counted. {weights} */
int32_t {prefix}_create({prefix}_context **context, const char *weights, int32_t threads);

/* Runs the model. Outputs of fixed shape are written in place; for one whose shape depends on
   the input, `data` is set to a buffer that the caller frees with {prefix}_free(), and `shape`,
   which the caller provides, is filled in. */
int32_t {prefix}_call({prefix}_context *context, const nnc_tensor *inputs, nnc_tensor *outputs);

/* Frees what `data` of an output was set to; NULL is allowed. On Linux and macOS free() does so
   as well. */
void {prefix}_free(void *data);
{kept}{check}
/* Ends a context; NULL is allowed. */
void {prefix}_destroy({prefix}_context *context);
"""
