"""A model of compiled parts, with steps on the host between them, in this process.

A plan is a list of steps on numbered values. A compiled part is a model of its own. A host step is
an operation that is evaluated, a branch, or a loop; the regions of these are plans again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..dialects import nn
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.location import node_of
from ..ir.types import TensorType, Type
from .model import Model
from .program import Signature

Values = dict[int, Any]
"""The values of one call, by number."""


@dataclass
class Plan:
    """Steps in order, and the numbers of the argument and result values."""

    steps: list[Step] = field(default_factory=list)
    results: list[int] = field(default_factory=list)

    def run(self, values: Values, parts: Sequence[Model]) -> list[Any]:
        """Run the steps; they store their results in the values. Raises NncError."""
        for step in self.steps:
            step.run(values, parts)
        return [values[number] for number in self.results]


class Step:
    """A step of a plan."""

    def run(self, values: Values, parts: Sequence[Model]) -> None:
        """Run the step on the values, and store its results there."""
        raise NotImplementedError


@dataclass
class Compute(Step):
    """A call of a compiled part."""

    part: int
    inputs: list[int]
    outputs: list[int]

    def run(self, values: Values, parts: Sequence[Model]) -> None:
        found = parts[self.part](*(values[number] for number in self.inputs))
        results = found if len(self.outputs) > 1 else (found,)
        values.update(zip(self.outputs, results, strict=True))


@dataclass
class HostStep(Step):
    """An operation that the host computes: this base evaluates it."""

    op: Operation
    inputs: list[int]
    outputs: list[int]
    function: Callable[..., Any] | None = None
    """A faster function with the same results, if there is one."""

    def run(self, values: Values, parts: Sequence[Model]) -> None:
        operands = [values[number] for number in self.inputs]
        try:
            with np.errstate(all="ignore"):
                results = self.results(operands, values, parts)
        except NodeError:
            raise
        except NncError as error:
            raise self.error(error.message) from None
        except Exception as error:  # what a function of NumPy's or the user's raises
            words = str(error) or "no reason is given"
            raise self.error(f"{type(error).__name__}: {words}") from error
        for i, (number, one) in enumerate(zip(self.outputs, results, strict=True)):
            values[number] = self.checked(i, one)

    def results(self, operands: list[Any], values: Values, parts: Sequence[Model]) -> Any:
        """The results of the operation for its operands, one value each."""
        function = self.function or self.op.evaluate  # type: ignore[attr-defined]
        found = function(*operands)
        if len(self.outputs) == 1 and not isinstance(found, tuple):
            return (found,)
        if not isinstance(found, tuple) or len(found) != len(self.outputs):
            given = len(found) if isinstance(found, tuple) else 1
            raise NncError(f"gives {given} results, expected {len(self.outputs)}")
        return found

    def checked(self, i: int, value: Any) -> Any:
        """The result with index `i`, checked to be of its type. Raises NncError.

        Elements of sequences and maps are not checked; only a user's function can get them wrong.
        """
        expected = self.op.results[i].type
        if not isinstance(expected, TensorType) and not isinstance(self.op, nn.HostCall):
            return value
        try:
            return nn.held(value, expected)
        except NncError as error:
            raise self.error(f"result {i} should be {expected}, but is {error.message}") from None

    def error(self, message: str) -> NncError:
        """An error that names the node."""
        where = node_of(self.op.loc)
        return NodeError(f"{where}: {message}" if where else f"'{self.op.name}' op {message}")


class NodeError(NncError):
    """An error of a step that already names its node."""


@dataclass
class Choose(HostStep):
    """A branch: one of two plans."""

    plans: tuple[Plan, Plan] = field(kw_only=True)

    def results(self, operands: list[Any], values: Values, parts: Sequence[Model]) -> Any:
        return self.plans[0 if operands[0] else 1].run(values, parts)


@dataclass
class Repeat(HostStep):
    """A loop; `before` and `after` are the plans and arguments of its regions."""

    before: tuple[Plan, list[int]] = field(kw_only=True)
    after: tuple[Plan, list[int]] = field(kw_only=True)

    def results(self, operands: list[Any], values: Values, parts: Sequence[Model]) -> Any:
        def region(of: tuple[Plan, list[int]], carried: list[Any]) -> list[Any]:
            plan, arguments = of
            values.update(zip(arguments, carried, strict=True))
            return plan.run(values, parts)

        inits = len(self.op.inits)  # type: ignore[attr-defined]
        return nn.run_loop(
            self.op,
            operands[:inits],
            operands[inits:],
            lambda carried: region(self.before, carried)[0],
            lambda carried: region(self.after, carried),
        )


class Hosted(Model):
    """A model of compiled parts with host steps between them. Calls are thread-safe.

    `inputs` has the numbers of the inputs' values, `constants` further values that host steps need.
    """

    def __init__(
        self,
        found: Signature,
        parts: Sequence[Model],
        plan: Plan,
        inputs: Sequence[int],
        constants: Values,
    ) -> None:
        super().__init__(found)
        self.parts = tuple(parts)
        self._plan, self._given, self._constants = plan, tuple(inputs), constants

    @property
    def threads(self) -> int:
        return max((part.threads for part in self.parts), default=1)

    @threads.setter
    def threads(self, count: int) -> None:
        for part in self.parts:
            part.threads = count  # type: ignore[misc]

    def _call(self, inputs: list[Any]) -> list[Any]:
        values = self._constants | dict(zip(self._given, inputs, strict=True))
        outputs = self._plan.run(values, self.parts)
        types: list[Type] = list(self.output_types)
        return [nn.held(value, type) for value, type in zip(outputs, types, strict=True)]
