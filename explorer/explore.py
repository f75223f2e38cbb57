"""From models to a page: which compilations are in it, and what of them can be timed there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..kernels.tuned import TunedFolder
from ..targets.attribute import TARGET, target_of
from ..targets.base import HOST
from .compilation import Compilation, Progress, compile_traced
from .content import Content
from .page import page
from .trials import ENGINE, Trial, missing, probes, trial_of


@dataclass(frozen=True)
class Source:
    """A model to look into: its name, and what reads it anew for each target."""

    name: str
    load: Callable[[], Operation]


def explore(
    sources: Sequence[Source],
    targets: Sequence[str | None],
    *,
    measured: bool = True,
    tuned: TunedFolder | None = None,
    progress: Progress = lambda message: None,
    warn: Callable[[str], None] = lambda message: None,
) -> str:
    """The page of models, each compiled for each of the targets; None is what the IR says, else
    this machine.

    With `measured`, each model is also compiled for `ENGINE`, and the page times its kernels.
    `warn` is told what the page cannot do. Raises NncError for a model that does not compile.
    """
    content = Content()
    reason = missing() if measured else "it was made with --no-measure"
    if reason:
        content.notes.append(f"The page cannot time kernels: {reason}")
        if measured:
            warn(f"the page will not time kernels: {reason}")
    for source in sources:
        _add(content, source, targets, not reason, tuned, progress, warn)
    if any(part["trial"] is not None for one in content.compilations for part in one["parts"]):
        content.add_probes(probes())
    return page(" | ".join(dict.fromkeys(source.name for source in sources)), content)


def _add(
    content: Content,
    source: Source,
    targets: Sequence[str | None],
    timed: bool,
    tuned: TunedFolder | None,
    progress: Progress,
    warn: Callable[[str], None],
) -> None:
    """The compilations of a model: those that are asked for, and the one that can be timed."""
    number = -1
    seen = set()
    for name in (*targets, *([ENGINE] if timed else ())):
        asked = name in targets
        if not asked and ENGINE in seen:
            continue
        try:
            module = source.load()
            told = name or (HOST if TARGET not in module.attributes else target_of(module).name)
            made = compile_traced(source.name, module, target=name, tuned=tuned, progress=progress)
            trials = _trials(made, timed)
        except NncError as error:
            if asked:
                raise
            content.notes.append(f"'{source.name}' cannot be timed in a page: {error.message}")
            warn(content.notes[-1])
            continue
        if number < 0:
            number = content.add_model(source.name, made.graph)
        seen.add(made.target.name)
        content.add(number, made, trials, told)


def _trials(made: Compilation, timed: bool) -> list[Trial | None]:
    return [trial_of(part) if timed else None for part in made.parts]
