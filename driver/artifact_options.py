"""What a person may choose about an artifact: the options of `nnc compile`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..ir.diagnostics import NncError

SUFFIXES = (".mlir", ".ll", ".s", ".o", ".so", ".a")
LIBRARIES = (".so", ".a")
PLACES = ("inside", "beside")
"""Where the weights are."""
FORMS = ("original", "packed")
"""Weights as the model has them, where those that the code reads are larger and made of them when
it is loaded; or as the code reads them."""
PREPARE_MILLISECONDS = 50
"""What loading a library may take longer for a smaller file."""
_ANY_TIME = 1 << 31


@dataclass(frozen=True)
class ArtifactOptions:
    """How an artifact is made; see the options of `nnc compile`."""

    weights: str | None = None
    form: str | None = None
    prefix: str = "nnc"
    static: bool = False

    def prepare_milliseconds(self, path: Path) -> int | None:
        """How long making weights may take when the artifact is loaded; None: not at all.

        Who calls an object file has to make them, and so has to have asked for it.
        """
        if self.form is None:
            return PREPARE_MILLISECONDS if path.suffix in LIBRARIES else None
        return _ANY_TIME if self.form == "original" else None


def check_output(path: Path, options: ArtifactOptions) -> None:
    """Refuse what cannot be written, before any work. Raises NncError."""
    if path.suffix not in SUFFIXES:
        found = f"'{path.suffix}'" if path.suffix else "none"
        raise NncError(f"the output's suffix is .mlir, .ll, .s, .o, .so or .a; found {found}")
    if options.static and path.suffix != ".a":
        raise NncError(f"--static writes a .a file, not '{path.name}'")
    if options.weights == "inside" and path.suffix not in LIBRARIES:
        raise NncError(f"only a .so or .a file holds weights, not '{path.name}'")
    if options.form == "original" and path.suffix not in (".o", *LIBRARIES):
        raise NncError(f"only a .so, .a or .o file makes weights, not '{path.name}'")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", options.prefix):
        raise NncError(f"--prefix is the start of C names, such as resnet, not '{options.prefix}'")
