"""The decisions of a policy, which can be told otherwise: so schedules beside the default are made.

A policy asks at each decision, under a key that names it, for the model's choice or another one:

    tile = choices.choose(f"tile {stage.index}", model.best(), lambda: model.others())

Told nothing, `Choices` answers with what the model takes, and looks at nothing else. Schedules of
one kernel ask their models much the same: `once` has what was found before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")

Told = Mapping[str, int]
"""By the key of a decision, which option is taken: 0 is the model's, 1 the next best, and so on."""

MOST_OPTIONS = 16
"""Options of a decision that are looked at beside the model's."""


class Choices:
    """Answers a policy's decisions, and remembers which there were.

    `found` is what models of the same kernel have found before, and is added to.
    """

    def __init__(self, told: Told | None = None, found: dict[Hashable, Any] | None = None) -> None:
        self._told = dict(told or {})
        self._found = {} if found is None else found
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

    def once(self, question: Hashable, answer: Callable[[], T]) -> T:
        """The answer to a question that says all that it depends on, found once."""
        if question not in self._found:
            self._found[question] = answer()
        return self._found[question]
