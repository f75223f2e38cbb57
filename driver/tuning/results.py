"""What a search of schedules has found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...kernels.tuned import TunedSchedule
from .graph import GraphFound
from .ratio import Ratio


@dataclass(frozen=True)
class Tuned:
    """The results of a search."""

    schedules: Mapping[str, TunedSchedule]
    """The kept schedules, by the fingerprints of their kernels."""
    whole: Ratio | None
    """The time of the whole model with the best schedules, relative to that with the default ones;
    None if it was not measured. Both have the choices on the graph."""
    ended: str
    dropped: Sequence[str]
    experiments: int
    graph: GraphFound = GraphFound()
    """The choices on the graph that the default schedules were made with."""
    curve: Sequence[tuple[float, float]] = ()
    """After each experiment: the seconds since the start, and the part of the untuned model's time
    saved by then, by the kernels' times in the search."""
    seconds: float = 0.0
    """The total duration in seconds."""

    @property
    def total(self) -> Ratio | None:
        """The model's time with everything that is kept, relative to its untuned time; None if
        nothing is kept.
        """
        graph, schedules = self.graph.whole, self.whole if self.schedules else None
        return graph.times(schedules) if graph and schedules else graph or schedules
