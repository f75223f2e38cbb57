"""The options of an artifact, and the kinds of files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..ir.diagnostics import NncError
from ..ir.files import check_folder
from .bindings import LANGUAGES
from .bindings.names import snake_case, words_of

PLACES = ("inside", "beside")
"""Where weights are stored: in the library, or in a file beside it."""
FORMS = ("original", "packed")
"""In which form weights are stored: "original", as in the model, if the code's form is larger and
can be computed when the model is loaded; or "packed", always in the code's form.
"""
DEFAULT_PREFIX = "nnc"
IR = ".mlir"
"""The suffix of a module in its last stage, which any target can write."""
PREPARE_MILLISECONDS = 50
"""The most additional milliseconds of loading for the sake of a smaller file."""
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
"""Prefixes whose header or library would hide one of C, the system or a language."""


@dataclass(frozen=True)
class ArtifactOptions:
    """How an artifact is made; see the options of `nnc compile`."""

    weights: str | None = None
    form: str | None = None
    prefix: str = DEFAULT_PREFIX
    static: bool = False
    bindings: tuple[str, ...] = ()
    memory: int | None = None
    """The most bytes of a run's arena."""

    def prepare_milliseconds(self, kind: FileKind) -> int | None:
        """The time limit for computing weights when the file is loaded; None if it does not.

        The caller of an object file has to have them computed, so they must have been requested.
        """
        if self.form is None:
            asked = kind.makes_weights and kind.holds_weights
            return PREPARE_MILLISECONDS if asked else None
        return _ANY_TIME if self.form == "original" else None


@dataclass(frozen=True)
class FileKind:
    """The properties of files with a suffix.

    Such a file may hold its weights, may compute weights when it is loaded, and may be text for
    people only. If it has names, they are C's, and start with `--prefix`.
    """

    holds_weights: bool = False
    makes_weights: bool = False
    is_text: bool = False
    has_names: bool = True


def check_options(
    path: Path,
    options: ArtifactOptions,
    known: FileKind | None,
    kinds: Callable[[], Mapping[str, FileKind]],
) -> None:
    """Raise NncError, before any work, for options that cannot be fulfilled.

    `known` is the kind of file for the path's suffix, None if no target supports it; `kinds` gives
    all suffixes, for messages.
    """
    check_folder(path)
    kind = known or FileKind(is_text=True)
    if options.bindings:
        if path.exists() and not path.is_dir():
            raise NncError(f"--bindings writes a folder, but '{path}' is a file")
        if options.static:
            raise NncError("--static writes a .a file, --bindings a folder with a shared library")
    elif known is None and path.suffix != IR:
        found = f"'{path.suffix}'" if path.suffix else "none"
        raise NncError(f"the output's suffix is {listed([IR, *kinds()])}; found {found}")
    elif options.static and path.suffix != ".a":
        raise NncError(f"--static writes a .a file, not '{path.name}'")
    elif options.weights == "inside" and not kind.holds_weights:
        holders = [suffix for suffix, one in kinds().items() if one.holds_weights]
        raise NncError(f"only a {listed(holders)} file holds weights, not '{path.name}'")
    elif options.form == "original" and not kind.makes_weights:
        makers = [suffix for suffix, one in kinds().items() if one.makes_weights]
        raise NncError(f"only a {listed(makers)} file makes weights, not '{path.name}'")
    elif options.prefix != DEFAULT_PREFIX and not kind.has_names:
        raise NncError(f"--prefix is the start of C names, but '{path.name}' will have no C names")
    check_prefix(options.prefix)
    if options.bindings and options.prefix.lower() in _TAKEN:
        raise NncError(
            f"{options.prefix}.h or lib{options.prefix} is C's own: choose another --prefix"
        )


def check_prefix(prefix: str) -> None:
    """Raise NncError for a prefix that cannot start C names."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", prefix):
        raise NncError(f"--prefix is the start of C names, such as resnet, not '{prefix}'")


def chosen_languages(text: str) -> tuple[str, ...]:
    """The languages of a list such as `java,rust`, or `all`, in fixed order. Raises NncError."""
    wanted = {name.strip() for name in text.split(",")} - {""}
    unknown = sorted(wanted - {"all", *LANGUAGES})
    if unknown or not wanted:
        found = f"'{', '.join(unknown)}'" if unknown else "none"
        raise NncError(f"bindings are for {', '.join(LANGUAGES)} or all; found {found}")
    return tuple(one for one in LANGUAGES if one in wanted or "all" in wanted)


def prefix_of(model: str) -> str:
    """The prefix of C names for a model's file: `mobilenet_v2` for `mobilenet-v2.onnx`,
    `model_v2_0` for `model.v2.0.onnx`.
    """
    name = model.removeprefix("onnx:").rstrip("/").rpartition("/")[2]
    words = words_of(re.sub(r"(?<=.)\.[A-Za-z][A-Za-z0-9]*$", "", name))
    found = snake_case(words if words and words[0][0].isalpha() else ["model", *words])
    return f"{found}_model" if found in _TAKEN else found


def listed(suffixes: Sequence[str]) -> str:
    """The suffixes in words: `.a, .b or .c`."""
    if len(suffixes) < 2:
        return "".join(suffixes)
    return f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
