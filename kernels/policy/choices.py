"""The decisions of a policy, which can be overridden to make schedules beside the default.

A policy asks at each decision, under a key that names it, for the model's choice or another one:

    tile = choices.choose(f"tile {stage.index}", model.best(), lambda: model.others())

By default `Choices` returns the model's choice and does not compute the others. Schedules of one
kernel ask its models nearly the same questions: `once` remembers the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")

Told = Mapping[str, int]
"""Overridden decisions, by key: 0 takes the model's option, 1 the next best, and so on."""

MOST_OPTIONS = 16
"""How many options of a decision are considered at most beside the model's."""


class Choices:
    """Answers a policy's decisions, and records which were asked for.

    `told` has the overridden decisions: the number of the option to take, by key. `found` caches
    answers of cost models for the same kernel.
    """

    def __init__(self, told: Told | None = None, found: dict[Hashable, Any] | None = None) -> None:
        self._told = dict(told or {})
        self._found = {} if found is None else found
        self.asked: dict[str, int] = {}
        """The number of alternatives to the model's option, by the key of each decision."""

    def choose(
        self,
        key: str,
        model: T,
        others: Callable[[], Iterable[T]],
        most: int = MOST_OPTIONS,
    ) -> T:
        """The model's option or, if `key` was overridden by a number n, the n-th of `others`.

        `others` yields the most promising options first, of which the first `most` can be chosen.
        If `others` has fewer than n options, the model's option is returned.
        """
        self.asked[key] = most
        number = self._told.get(key, 0)
        if not number:
            return model
        return next(islice(iter(others()), min(number, most) - 1, None), model)

    def either(self, key: str, model: bool) -> bool:
        """Whether something is done: the model's answer or, where overridden, the opposite."""
        return self.choose(key, model, lambda: [not model], most=1)

    def once(self, question: Hashable, answer: Callable[[], T]) -> T:
        """`answer()`, remembered under a question that holds all that the answer depends on."""
        if question not in self._found:
            self._found[question] = answer()
        return self._found[question]
