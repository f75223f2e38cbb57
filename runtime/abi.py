"""The C interface of compiled code, as ctypes sees it.

    typedef struct { void *data; int64_t *shape; } nnc_tensor;
    int32_t nnc_run(const nnc_tensor *inputs, nnc_tensor *outputs,
                    void *arena, const void *weights, nnc_pool *pool);
    int64_t nnc_prepare(const void *weights, void *prepared, void *arena, nnc_pool *pool,
                        int32_t step);
    void nnc_release(void *arena);
    void nnc_reuse(void *arena, void *data, size_t bytes);
    const char *nnc_failure(int32_t status);
    nnc_pool *nnc_pool_create(int32_t threads);
    void nnc_pool_destroy(nnc_pool *pool);

See `lowering/to_llvm/entry.py` and `prepare.py` for what the functions promise.
"""

from __future__ import annotations

import ctypes

RUN = "nnc_run"
RELEASE = "nnc_release"
REUSE = "nnc_reuse"
FAILURE = "nnc_failure"
PREPARE = "nnc_prepare"
POOL_CREATE = "nnc_pool_create"
POOL_DESTROY = "nnc_pool_destroy"
POOL_SYMBOLS = (POOL_CREATE, POOL_DESTROY)
PARALLEL_FOR = "nnc_parallel_for"
KERNELS = "nnc_kernels"
"""The symbol of the table of kernels' addresses, in programs whose kernels can be replaced."""
POOL_COUNTS = "nnc_pool_counts"

DEVICE_MAIN = "nnc_device_main"
"""The symbol of a device program's `nnc_run` before it is wrapped: the device's host code calls it.
"""
DEVICE_ARENA = "nnc_device_arena"
DEVICE_CONSTANT = "nnc_device_constant"
DEVICE_COPY = "nnc_device_copy"
DEVICE_GIVE = "nnc_device_give"
DEVICE_LAUNCH = "nnc_device_launch"
DEVICE_TAKE = "nnc_device_take"
DEVICE_CODE = "nnc_device_code"
DEVICE_KERNELS = "nnc_device_kernels"
"""The symbol of a text with a line for each kernel: its name, the threads of a group, and a letter
for each part of its arguments: `a` an address, `w` a word of 64 bits, `1`, `2`, `4`, `8` that many
bytes, `s` the address for the number of a failed check."""
DEVICE_WEIGHTS_BYTES = "nnc_device_weights_bytes"
DEVICE_CLOSE = "nnc_device_close"
DEVICE_MESSAGE = "nnc_device_message"
DEVICE_ADD = "nnc_device_add"
DEVICE_WAIT = "nnc_device_wait"
"""The symbol that a device program has if kernels are added while it is loaded."""
DEVICE_CHECKS = "nnc_device_checks"
"""The symbol of a text with a message for each check in kernels, one a line."""
DEVICE_HOST = (
    DEVICE_ARENA, DEVICE_CONSTANT, DEVICE_COPY, DEVICE_GIVE, DEVICE_LAUNCH, DEVICE_TAKE,
)  # fmt: skip
"""The functions of the device's host code that a program calls."""
DEVICE_SYMBOLS = (
    DEVICE_CHECKS,
    DEVICE_MAIN, DEVICE_ARENA, DEVICE_CONSTANT, DEVICE_COPY, DEVICE_GIVE, DEVICE_LAUNCH,
    DEVICE_TAKE, DEVICE_CODE, DEVICE_KERNELS, DEVICE_WEIGHTS_BYTES,
)  # fmt: skip
"""All symbols shared by a device program and the device's host code."""

FIRST_FAILURE = 16
"""The status of `nnc_run` if the program's first check fails; later checks follow. Smaller numbers
are for the code around the program, such as a library's context."""

NO_ARGUMENT = 1
"""The status for an argument that is NULL or out of range."""

OTHER_SHAPE = 7
"""The status for an input whose shape the model does not take."""

ALIGNMENT = 64
"""The alignment of arena, weights and buffers, in bytes: a cache line, and the widest vector
register."""


def aligned(size: int) -> int:
    """The size rounded up to the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


RUN_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 5)
"""The type of nnc_run; Python's lock is released during the call."""

RELEASE_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
"""The type of nnc_release."""

REUSE_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
"""The type of nnc_reuse."""

PREPARE_TYPE = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4, ctypes.c_int32)
"""The type of nnc_prepare."""

POOL_CREATE_TYPE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int32)
"""The type of nnc_pool_create. It returns a pool of as many threads, the caller included; NULL for
one thread."""

POOL_DESTROY_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
"""The type of nnc_pool_destroy."""
