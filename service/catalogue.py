"""What may be ordered: targets, precisions, engines. Who starts the service says what it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TargetEntry:
    """A target as it is offered."""

    name: str
    about: str
    measured: bool
    """Whether packages for it come with figures."""
    why_not: str | None = None


@dataclass(frozen=True)
class EngineEntry:
    """An engine that models can be measured on, beside or instead of nnc."""

    name: str
    about: str
    available: bool
    why_not: str | None = None


@dataclass(frozen=True)
class Catalogue:
    """What the service offers."""

    targets: Sequence[TargetEntry]
    engines: Sequence[EngineEntry]
    all_precisions: Sequence[str] = field(default=("f32",))

    def target_names(self) -> list[str]:
        """Names of targets that an order may have."""
        return [target.name for target in self.targets]

    def precisions(self) -> list[str]:
        """Names of precisions that an order may have."""
        return list(self.all_precisions)

    def engine_names(self) -> list[str]:
        """Names of engines that an order may have."""
        return [engine.name for engine in self.engines if engine.available]
