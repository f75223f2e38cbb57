"""The decisions of a policy, which can be told otherwise: so schedules beside the default are made.

A policy asks at each decision, under a key that names it, for the model's choice or another one:

    tile = choices.choose(f"tile {stage.index}", model.best(), lambda: model.others())

Told nothing, `Choices` answers with what the model takes, and looks at nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import TypeVar

T = TypeVar("T")

Told = Mapping[str, int]
"""By the key of a decision, which option is taken: 0 is the model's, 1 the next best, and so on."""

MOST_OPTIONS = 16
"""Options of a decision that are looked at beside the model's."""


class Choices:
    """Answers a policy's decisions, and remembers which there were."""

    def __init__(self, told: Told | None = None) -> None:
        self._told = dict(told or {})
        self.asked: dict[str, int] = {}
        """By the key of each decision, how many options it may have beside the model's."""

    def choose(
        self,
        key: str,
        model: T,
        others: Callable[[], Iterable[T]],
        most: int = MOST_OPTIONS,
    ) -> T:
        """What the model takes, or the option of `others` that was told; of which there are at
        most so many, the most promising first.

        A number beyond the last option stands for the model's.
        """
        self.asked[key] = most
        number = self._told.get(key, 0)
        if not number:
            return model
        return next(islice(iter(others()), min(number, most) - 1, None), model)

    def either(self, key: str, model: bool) -> bool:
        """Whether something is done: as the model says, or the other way."""
        return self.choose(key, model, lambda: [not model], most=1)
