"""The request of `nnc package`, and the progress of its steps."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .engines.table import Engine
from .engines.turns import Effort
from .precision import AS_IT_IS, PRECISIONS

Say = Callable[[str, float, str], None]
"""Called with the current step, the part of it that is done, and a message."""

USUAL = ("c", "python")
"""The default languages of bindings."""

STEPS = ("read", "tune", "compile", "reference", "measure", "explain", "write")
"""The steps in order."""


@dataclass(frozen=True)
class Request:
    """One model for one target in one precision.

    `model` is the model's path, `name` its name in commands, `format` nnc's name of its format.
    `choices` are the user's choices for its inputs, `ops` files of custom operators; `arguments`
    has `choices` and `ops` as command-line arguments. If `tune_seconds` is 0, no schedules are
    searched; `tuned` is a folder with earlier ones. `tolerance` is the allowed error of outputs
    relative to their largest value.
    """

    model: Path
    name: str
    format: str
    engines: tuple[Engine, ...]
    target: str | None = None
    precision: str = AS_IT_IS
    threads: tuple[int, ...] = (1,)
    tune_seconds: float = 0.0
    tuned: Path | None = None
    effort: Effort = Effort()
    tolerance: float | None = None
    fast_math: bool = True
    choices: Mapping[str, Any] = field(default_factory=dict)
    ops: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    bindings: tuple[str, ...] | None = None
    prefix: str = "nnc"
    seed: int = 0
    has_inputs: bool = False

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the library's bindings."""
        return USUAL if self.bindings is None else self.bindings

    @property
    def allowed(self) -> float:
        """The requested tolerance, else that of the precision."""
        found = PRECISIONS[self.precision].tolerance
        return found if self.tolerance is None else self.tolerance

    def command(self, engine: str, threads: int, tuned: bool) -> str:
        """The command that measures an engine again, from the package's folder with the model."""
        words = ["nnc", "package", *self._common(), "--only-measure", "--engines", engine]
        words += ["--threads", str(threads), "--inputs", "inputs.npz"]
        words += ["--tuned", "tuned"] if tuned else []
        if self.effort.seconds is not None:
            words += ["--seconds-each", f"{self.effort.seconds:g}"]
        return shlex.join(words)

    def compile_command(self, languages: Sequence[str], file: str, tuned: bool) -> str | None:
        """The command that compiles the library again; None in another precision than the model's,
        for which `nnc compile` has no option.
        """
        if self.precision != AS_IT_IS:
            return None
        words = ["nnc", "compile", *self._common(), "-o", file]
        words += ["--bindings", ",".join(languages), "--prefix", self.prefix] if languages else []
        words += ["--tuned", "tuned"] if tuned else []
        return shlex.join(words)

    def _common(self) -> Iterator[str]:
        yield f"./{self.name}" if self.name.startswith("-") else self.name
        yield from self.arguments
        if self.target is not None:
            yield from ("--target", self.target)
        if self.precision != AS_IT_IS:
            yield from ("--precision", self.precision)
        if not self.fast_math:
            yield from ("--fast-math", "off")
