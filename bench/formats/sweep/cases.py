"""Subjects of the sweep, and the configurations of each: all pairs of values of its parameters."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice, product
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

Config = Mapping[str, Any]
Arrays = Mapping[str, Any] | Sequence[Any]


class UnmakableError(Exception):
    """The framework itself rejects this configuration."""


@runtime_checkable
class Runnable(Protocol):
    """A model that the framework runs, with parts of it computed by nnc."""

    def callable(self, interpreted: bool) -> Callable[..., Any]:
        """A function of a run's inputs; with `interpreted`, nnc's part is interpreted, not
        compiled.
        """
        ...


@dataclass(frozen=True)
class Made:
    """A model of a configuration, and what the framework computes with it.

    `model` is the argument of `nnc.compile`, usually a path, or a Runnable. Each run has the
    inputs, by name or in order, and the outputs in order; models with dynamic shapes have several
    runs. `options` are further arguments of `nnc.compile`; `tolerance` replaces those by element
    type, see `judge.py`. If reference implementations disagree, `alternatives` has the outputs of
    the others for the only run. If `interpreted`, the model is not compiled: such subjects test the
    reading of files.
    """

    model: Any
    runs: Sequence[tuple[Arrays, Sequence[Any]]]
    options: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float | None = None
    interpreted: bool = False
    alternatives: Sequence[Sequence[Any]] = ()


@dataclass(frozen=True)
class Subject:
    """An operator or a layer.

    `choices` has for each parameter the values to try, which JSON can represent, the simplest
    first. `make(config, rng, folder)` makes the model of a configuration in an empty folder, or
    raises UnmakableError. `allowed` excludes invalid configurations.
    """

    name: str
    choices: Mapping[str, Sequence[Any]]
    make: Callable[[Config, np.random.Generator, Path], Made]
    allowed: Callable[[Config], bool] = lambda config: True

    def has(self, config: Config) -> bool:
        """Whether a dictionary is a configuration of this subject."""
        is_one = config.keys() == self.choices.keys()
        return (
            is_one and all(v in self.choices[n] for n, v in config.items()) and self.allowed(config)
        )

    def configurations(self, strength: int = 2, most: int = 10_000) -> Iterator[Config]:
        """A small set of configurations such that each pair (or `strength`-tuple) of values is in
        one.
        """
        first = {name: values[0] for name, values in self.choices.items()}
        if not self.allowed(first):
            raise ValueError(f"{self.name}: the first values of all parameters are not allowed")
        free = {name: values for name, values in self.choices.items() if len(values) > 1}
        seen = set()
        for row in islice(self._rows(free, first, min(strength, len(free))), most):
            config = first | row
            if (key := json.dumps(config, sort_keys=True)) not in seen:
                seen.add(key)
                yield config

    def _rows(self, free: Config, first: Config, strength: int) -> Iterator[Config]:
        """The simplest configuration, the allowed ones of the covering array, and for each
        combination that is still missing a random completion.
        """
        from allpairspy import AllPairs  # not there where stored cases are tested

        yield {}
        if strength < 2:
            for name, values in free.items():
                yield from ({name: v} for v in values if self.allowed(first | {name: v}))
            return
        names = list(free)
        missing = {
            tuple(zip(chosen, indices, strict=True))
            for chosen in combinations(names, strength)
            for indices in product(*(range(len(free[name])) for name in chosen))
        }
        for indices in AllPairs([range(len(free[name])) for name in names], n=strength):
            row = dict(zip(names, indices, strict=True))
            if self.allowed(first | _values(free, row)):
                missing -= set(combinations(row.items(), strength))
                yield _values(free, row)
        draw = random.Random(1)
        for combination in sorted(missing):
            if combination not in missing:
                continue  # a row that another one needed has it
            for _ in range(TRIALS):
                row = {n: draw.randrange(len(free[n])) for n in names} | dict(combination)
                if self.allowed(first | _values(free, row)):
                    missing -= set(combinations(row.items(), strength))
                    yield _values(free, row)
                    break


TRIALS = 100
"""The most random attempts to complete a combination; most that fail are impossible."""


def _values(choices: Config, row: Mapping[str, int]) -> dict[str, Any]:
    return {name: choices[name][i] for name, i in row.items()}


def id_of(subject: str, config: Config) -> str:
    """The text that identifies a configuration of a subject."""
    return f"{subject} {json.dumps(config, sort_keys=True)}"


@dataclass(frozen=True)
class Case:
    """A configuration of a subject."""

    subject: Subject
    config: Config

    @property
    def id(self) -> str:
        """The text that identifies the case, the same in each run."""
        return id_of(self.subject.name, self.config)

    def make(self, folder: Path) -> Made:
        """Make the model in an empty folder, with random numbers seeded by `id`. Raises
        UnmakableError.
        """
        rng = np.random.default_rng(zlib.crc32(self.id.encode()))
        return self.subject.make(self.config, rng, folder)
