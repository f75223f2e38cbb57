"""From models to a page: the compilations that it shows, and what it can time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..kernels.tuned import TunedFolder
from ..targets.attribute import TARGET, target_of
from ..targets.base import HOST
from .compilation import Progress, compile_traced
from .content import Content
from .page import page
from .trials import ENGINE, GPU_ENGINE, missing, probes, trial_of


@dataclass(frozen=True)
class Source:
    """A model to explore: its name, and a function that reads it anew for each target."""

    name: str
    load: Callable[[], Operation]


def explore(
    sources: Sequence[Source],
    targets: Sequence[str | None],
    *,
    measured: bool = True,
    on_gpu: bool = True,
    tuned: TunedFolder | None = None,
    progress: Progress = lambda message: None,
    warn: Callable[[str], None] = lambda message: None,
) -> str:
    """The page of models, each compiled for each of the targets; None is the target that the IR
    names, else this machine.

    With `measured`, each model is also compiled for `ENGINE`, and the page times its kernels; with
    `on_gpu`, for `GPU_ENGINE` too. `warn` gets messages on what the page cannot do. Raises NncError
    for a model that does not compile.
    """
    content = Content()
    reason = missing() if measured else "it was made with --no-measure"
    if reason:
        content.notes.append(f"The page cannot time kernels: {reason}")
        if measured:
            warn(f"the page will not time kernels: {reason}")
    engines = () if reason else (ENGINE, GPU_ENGINE) if on_gpu else (ENGINE,)
    for source in sources:
        _add(content, source, targets, engines, tuned, progress, warn)
    if any(part["trial"] is not None for one in content.compilations for part in one["parts"]):
        content.add_probes(probes())
    return page(" | ".join(dict.fromkeys(source.name for source in sources)), content)


def _add(
    content: Content,
    source: Source,
    targets: Sequence[str | None],
    engines: Sequence[str],
    tuned: TunedFolder | None,
    progress: Progress,
    warn: Callable[[str], None],
) -> None:
    """Add the compilations of a model: the requested ones, and those that can be timed."""
    number = -1
    seen = set()
    for name in (*targets, *engines):
        asked = name in targets
        if not asked and name in seen:
            continue
        try:
            module = source.load()
            told = name or (HOST if TARGET not in module.attributes else target_of(module).name)
            made = compile_traced(source.name, module, target=name, tuned=tuned, progress=progress)
            trials = [trial_of(part) if engines else None for part in made.parts]
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
