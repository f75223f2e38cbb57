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
"""The table of kernels' addresses in programs whose kernels can be replaced."""
POOL_COUNTS = "nnc_pool_counts"

DEVICE_MAIN = "nnc_device_main"
"""What `nnc_run` of a program for a device is called in its own code: the device's host calls it
when it is ready."""
DEVICE_ARENA = "nnc_device_arena"
DEVICE_CONSTANT = "nnc_device_constant"
DEVICE_COPY = "nnc_device_copy"
DEVICE_GIVE = "nnc_device_give"
DEVICE_LAUNCH = "nnc_device_launch"
DEVICE_TAKE = "nnc_device_take"
DEVICE_CODE = "nnc_device_code"
DEVICE_KERNELS = "nnc_device_kernels"
"""Text: for each kernel a line with its name, the threads of a group, and a letter for each part of
its arguments: `a` an address, `w` a word of 64 bits, `1`, `2`, `4`, `8` so many bytes, `s` where
it writes the number of a check that does not hold."""
DEVICE_WEIGHTS_BYTES = "nnc_device_weights_bytes"
DEVICE_CLOSE = "nnc_device_close"
DEVICE_MESSAGE = "nnc_device_message"
DEVICE_ADD = "nnc_device_add"
DEVICE_WAIT = "nnc_device_wait"
"""What a program has to whose kernels others are added while it is loaded."""
DEVICE_CHECKS = "nnc_device_checks"
"""Text: for each check in a kernel a line that says what does not hold."""
DEVICE_HOST = (
    DEVICE_ARENA, DEVICE_CONSTANT, DEVICE_COPY, DEVICE_GIVE, DEVICE_LAUNCH, DEVICE_TAKE,
)  # fmt: skip
"""The functions that code around kernels calls."""
DEVICE_SYMBOLS = (
    DEVICE_CHECKS,
    DEVICE_MAIN, DEVICE_ARENA, DEVICE_CONSTANT, DEVICE_COPY, DEVICE_GIVE, DEVICE_LAUNCH,
    DEVICE_TAKE, DEVICE_CODE, DEVICE_KERNELS, DEVICE_WEIGHTS_BYTES,
)  # fmt: skip
"""What the code of a program for a device and the device's host have for each other."""

FIRST_FAILURE = 16
"""The status of `nnc_run` where the first check of the program fails, by 1 more for each other one.
Smaller ones are for what is around the code, such as a library's context."""

NO_ARGUMENT = 1
"""The status where an argument is NULL or out of range."""

OTHER_SHAPE = 7
"""The status where an input's shape is not one that the model takes."""

ALIGNMENT = 64
"""Units: bytes. Of arena, weights and buffers: a cache line, and the widest vector register."""


def aligned(size: int) -> int:
    """The size rounded up to the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


RUN_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 5)
"""nnc_run; the interpreter's lock is released while it runs."""

RELEASE_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
"""nnc_release"""

REUSE_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
"""nnc_reuse"""

PREPARE_TYPE = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4, ctypes.c_int32)
"""nnc_prepare"""

POOL_CREATE_TYPE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int32)
"""nnc_pool_create: the pool of that many threads, the caller counted; NULL for one."""

POOL_DESTROY_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
"""nnc_pool_destroy"""
