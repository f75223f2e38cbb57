"""What a person may choose about an artifact: the options of `nnc compile`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..ir.diagnostics import NncError
from ..ir.files import check_folder
from ..targets.system import LINUX, SYSTEMS
from .bindings import LANGUAGES
from .bindings.names import snake_case, words_of

if TYPE_CHECKING:
    from ..targets.base import Target

WASM = ".wasm"
SHARED = tuple(system.library for system in SYSTEMS)
"""Shared libraries, of which each system has its own."""
LIBRARIES = (*SHARED, ".a", WASM)
SUFFIXES = (".mlir", ".ll", ".s", ".o", *LIBRARIES)
PLACES = ("inside", "beside")
"""Where the weights are."""
FORMS = ("original", "packed")
"""Weights as the model has them, where those that the code reads are larger and made of them when
it is loaded; or as the code reads them."""
DEFAULT_PREFIX = "nnc"
PREPARE_MILLISECONDS = 50
"""What loading a library may take longer for a smaller file."""
_ANY_TIME = 1 << 31


_TAKEN_WORDS = """
    alloca assert byteswap c cerrno complex ctype dl dlfcn endian errno fcntl features fenv
    float gcc getopt glob inttypes jni limits link locale m malloc math memory node nss objc
    poll printf process pthread regex rt sched search semaphore setjmp signal spawn stab
    stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings
    syscall termios tgmath threads time types uchar ucontext unistd util utime values
    version wait wchar wctype z
"""
_TAKEN = frozenset(_TAKEN_WORDS.split())
"""Prefixes whose header or library would stand before one of C's, of the system's or of a
language's."""


@dataclass(frozen=True)
class ArtifactOptions:
    """How an artifact is made; see the options of `nnc compile`."""

    weights: str | None = None
    form: str | None = None
    prefix: str = DEFAULT_PREFIX
    static: bool = False
    bindings: tuple[str, ...] = ()

    def file_in(self, path: Path, target: Target) -> Path:
        """The file to write: of bindings, whose `path` is a folder, the library in it."""
        if not self.bindings:
            return path
        system = next((one for one in SYSTEMS if one.name == target.system), LINUX)
        return path / system.library_name(self.prefix)

    def prepare_milliseconds(self, path: Path) -> int | None:
        """How long making weights may take when the artifact is loaded; None: not at all.

        Who calls an object file has to make them, and so has to have asked for it.
        """
        if self.form is None:
            return PREPARE_MILLISECONDS if path.suffix in LIBRARIES else None
        return _ANY_TIME if self.form == "original" else None


def check_bindings(target: Target, options: ArtifactOptions) -> None:
    """Refuse bindings for a target whose libraries they cannot call. Raises NncError."""
    from .bindings.language import language

    system = next((one for one in SYSTEMS if one.name == target.system), None)
    if options.bindings and system is None:
        raise NncError(f"bindings call libraries; '{target.name}' is for no operating system")
    for name in options.bindings:
        if target.system not in language(name).systems:
            assert system is not None
            raise NncError(
                f"there are no bindings for {language(name).title} under {system.title}, "
                f"which '{target.name}' is for"
            )


def check_output(path: Path, options: ArtifactOptions) -> None:
    """Refuse what cannot be written, before any work. Raises NncError."""
    check_folder(path)
    if options.bindings:
        if path.exists() and not path.is_dir():
            raise NncError(f"--bindings writes a folder, but '{path}' is a file")
        if options.static:
            raise NncError("--static writes a .a file, --bindings a folder with a shared library")
    elif path.suffix not in SUFFIXES:
        found = f"'{path.suffix}'" if path.suffix else "none"
        raise NncError(f"the output's suffix is {_listed(SUFFIXES)}; found {found}")
    elif options.static and path.suffix != ".a":
        raise NncError(f"--static writes a .a file, not '{path.name}'")
    elif options.weights == "inside" and path.suffix not in LIBRARIES:
        raise NncError(f"only a {_listed(LIBRARIES)} file holds weights, not '{path.name}'")
    elif options.form == "original" and path.suffix not in (".o", *LIBRARIES):
        makers = _listed((*LIBRARIES, ".o"))
        raise NncError(f"only a {makers} file makes weights, not '{path.name}'")
    elif path.suffix == WASM and options.prefix != DEFAULT_PREFIX:
        raise NncError(f"--prefix is the start of C names, which '{path.name}' has none of")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", options.prefix):
        raise NncError(f"--prefix is the start of C names, such as resnet, not '{options.prefix}'")
    if options.bindings and options.prefix.lower() in _TAKEN:
        raise NncError(
            f"{options.prefix}.h or lib{options.prefix} is C's own: choose another --prefix"
        )


def chosen_languages(text: str) -> tuple[str, ...]:
    """The languages of `java,rust` or `all`, in the order of `LANGUAGES`. Raises NncError."""
    wanted = {name.strip() for name in text.split(",")} - {""}
    unknown = sorted(wanted - {"all", *LANGUAGES})
    if unknown or not wanted:
        found = f"'{', '.join(unknown)}'" if unknown else "none"
        raise NncError(f"bindings are for {', '.join(LANGUAGES)} or all; found {found}")
    return tuple(one for one in LANGUAGES if one in wanted or "all" in wanted)


def prefix_of(model: str) -> str:
    """The start of C names that a model's file gives: `mobilenet_v2` of `mobilenet-v2.onnx`,
    `model_v2_0` of `model.v2.0.onnx`.
    """
    name = model.removeprefix("onnx:").rstrip("/").rpartition("/")[2]
    words = words_of(re.sub(r"(?<=.)\.[A-Za-z][A-Za-z0-9]*$", "", name))
    found = snake_case(words if words and words[0][0].isalpha() else ["model", *words])
    return f"{found}_model" if found in _TAKEN else found


def _listed(suffixes: Sequence[str]) -> str:
    return f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
