"""The only reasons for which a test may be skipped or expected to fail.

A skip hides a test, so each reason stands here once, with what would remove it. A test skipped
for any other reason fails (see `conftest.py`). A key is the reason as the test gives it; `*`
stands for a part that varies.
"""

from fnmatch import fnmatchcase

ALLOWED: dict[str, str] = {
    "no C compiler is installed": "install one; only tests of the C interface need it",
    "mlir-opt 22 is not installed": "install the distribution's mlir-22-tools; an error in CI",
    "bash is not installed": "install it; an error in CI",
    "zsh is not installed": "install zsh; the completion for it is read by zsh itself",
    "fish is not installed": "install fish; the completion for it is tried in fish itself",
    "/dev/full": "Linux has it",
    "QEMU or a libc for it is not installed": "install qemu-user, libc6-arm64-cross; an error in CI",
    "no compiler or qemu-system-arm for a Cortex-M7": "install gcc-arm-none-eabi, qemu-system-arm",
    "llvm-mca is not installed": "install the distribution's llvm-22; an error in CI",
    "no tools for *": "install the language's compiler, see .ci/run; an error in CI",
    "ziglang is not installed": "pip install -e .[cross]; an error in CI",
    "no C compiler": "install cc; CI has it",
    "ptxas is not installed": "pip install nvidia-cuda-nvcc, and its bin folder in PATH",
    "no C++ compiler": "install g++; CI has it",
    "needs g++": "install g++; the emulation of Metal is C++; CI has it",
    "needs clang": "install clang, which checks Metal's text and host; CI's step `targets` has it",
    "commands cannot be confined on this machine *": "run as an ordinary user on Linux 6.12 or newer "
    "that lets users make namespaces: docs/confinement.md",
    "confinement is of Linux": "Linux on x86-64 or AArch64 has what it takes",
    "a Mac *": "Metal's libraries are linked and run there, and what refuses that is not tested",
    "no OpenCL * is installed": "install ocl-icd-libopencl1 and pocl-opencl-icd; an error in CI",
    "oclgrind is not installed": "install oclgrind; an error in CI",
    "wgpu is not installed": "pip install -e .[webgpu]; an error in CI",
    "no driver of Vulkan is installed": "install mesa-vulkan-drivers; an error in CI",
    "Chromium is not installed": "install chromium; an error in CI",
    "QEMU* is not installed": "install what .ci/run targets does; an error in CI",
    "hls4ml is not installed": "pip install --no-deps hls4ml; AMD's ap_int.h and ap_fixed.h are in it",
    "CIRCT is not installed": "pip install -e .[fpga]; an error in CI",
    "Verilator is not installed": "install verilator; an error in CI",
    "Keras is not installed": "pip install keras tensorflow-cpu; models in memory need it",
    "the engine paddle is not installed": "pip install paddlepaddle, of some 190 MB",
    "the engine * is not installed": "pip install -e .[models,engines]; CI's slow step has it",
    "JAX is not installed": "pip install jax; functions in memory need it",
    "the `models` extra is not installed": "pip install -e .[models]; CI's slow step has it",
}


def is_allowed(reason: str) -> bool:
    """Whether the table knows this reason."""
    return any(fnmatchcase(reason, allowed) for allowed in ALLOWED)
