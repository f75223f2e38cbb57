"""The offer of targets, precisions and engines, set by whoever starts the service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TargetEntry:
    """An offered target."""

    name: str
    about: str
    measured: bool
    """Whether packages for the target include measurements."""
    why_not: str | None = None


@dataclass(frozen=True)
class EngineEntry:
    """An engine that models can be measured on, in addition to nnc."""

    name: str
    about: str
    available: bool
    why_not: str | None = None
    formats: Sequence[str] = ()
    """The formats whose models it runs, as looks name them; none means all."""


@dataclass(frozen=True)
class Catalogue:
    """All that the service offers."""

    targets: Sequence[TargetEntry]
    engines: Sequence[EngineEntry]
    all_precisions: Sequence[str] = field(default=("f32",))

    def target_names(self) -> list[str]:
        """The names of targets that an order may use."""
        return [target.name for target in self.targets]

    def precisions(self) -> list[str]:
        """The names of precisions that an order may use."""
        return list(self.all_precisions)

    def engine_names(self) -> list[str]:
        """The names of engines that an order may use."""
        return [engine.name for engine in self.engines if engine.available]
