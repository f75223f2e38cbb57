"""The reference interpreter: runs the IR of any level on NumPy values.

    Interpreter(module).call("main", [x]) -> [y]

A value is a NumPy scalar of the type's dtype (index is int64, i1 is bool), an array for a
vector or tensor, an array that shares its storage for a memref, a name for a function.

An operation says what it does in one of two methods, which know nothing of this module:

    evaluate(self, *operands)         pure, without regions: the result, or a tuple of several
    interpret(self, operands, frame)  everything else: a list of the results, or None

and `interpret` may use of its frame:

    frame.value(v)                    what an SSA value stands for now
    frame.run_region(region, args)    runs the region from its first block; returns the
                                      operation that ended it and that operation's operands
    frame.run_op(op, operands)        runs one operation; returns the list of its results
    frame.call(symbol, args)          the results of a function of the module
    frame.branch(block, args)         to be returned by a terminator with successors
    frame.shared(key, make)           make(), made once for the life of the interpreter
    frame.write(text)                 prints
    frame.reads(op, array, at), writes, changes
                                      says which elements of a memref it is about to touch, by
                                      indices or arrays of them; `changes` is in one step
    frame.watches(array)              whether anyone asks for that: else it need not be said
    frame.thread                      the thread of a launched kernel, see launches.py
    frame.launch(kernel, groups, threads, args)
                                      runs a kernel of the module `frame.module`

A terminator without successors ends its region; it has neither method, unless being
reached is an error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dialects.nn.host_types import HostType, held, is_host_type
from ..dialects.nn.traits import OnHost
from ..ir.core import Block, Operation, Region, Value
from ..ir.diagnostics import NncError
from ..ir.location import Location
from ..ir.numpy_types import type_to_numpy
from ..ir.symbols import symbol_name
from ..ir.traits import Terminator
from ..ir.types import (
    MemRefType,
    ScalarType,
    ShapedType,
    TensorType,
    Type,
    UnrankedMemRefType,
    UnrankedTensorType,
    VectorType,
)
from .threads import Access, Axes, Thread

if TYPE_CHECKING:
    from ..dialects.gpu import GPUFuncOp

OnValue = Callable[[Operation, list[Any]], None]


class Observer:
    """Callbacks before and after the execution of every operation."""

    def before_op(self, op: Operation, operands: list[Any]) -> None: ...
    def after_op(self, op: Operation, operands: list[Any], results: list[Any]) -> None: ...


class CannotInterpretError(NncError):
    """The interpreter gives up, but machine code may run: an op has no semantics, or steps are too
    many.
    """


@dataclass(frozen=True, slots=True)
class Branch:
    """The block to which a terminator branches, and the arguments that it passes."""

    block: Block
    args: Sequence[Any]


class TooManyStepsError(CannotInterpretError):
    """There are more than `max_steps` operations to execute."""


class Interpreter:
    """Runs functions of a module.

    `on_value` is called with every executed operation and its results. `max_steps` limits the
    number of executed operations. `externals` has Python functions for functions that are only
    declared. The memory of globals lives as long as the interpreter.
    """

    def __init__(
        self,
        module: Operation,
        *,
        on_value: OnValue | None = None,
        max_steps: int | None = None,
        externals: Mapping[str, Callable[..., Any]] | None = None,
        write: Callable[[str], Any] | None = None,
    ) -> None:
        self.module = module
        self.on_value = on_value
        self.max_steps = max_steps
        self.externals = externals or {}
        self.write = write or sys.stdout.write
        self.steps = 0
        self._plans: dict[Block, list[_Step]] = {}
        self.storage: dict[Any, Any] = {}
        self.observer: Observer | None = None
        self.thread: Thread | None = None
        self.symbols: dict[str, Operation] = {}
        for region in module.regions:
            for op in region.ops:
                if (name := symbol_name(op)) is not None:
                    self.symbols[name] = op

    def call(self, name: str, args: Sequence[Any] = ()) -> list[Any]:
        """Run a function and return its results. Raises NncError if it cannot be run to its end."""
        function = self.symbols.get(name)
        if function is None:
            raise NncError(f"there is no function '@{name}' to run", self.module.loc)
        try:
            return self._enter(name, function, args)
        except RecursionError:
            raise NncError(
                f"'@{name}' nests calls or regions too deeply to be interpreted", function.loc
            ) from None

    def _enter(self, name: str, function: Operation, args: Sequence[Any]) -> list[Any]:
        body = function.regions[0] if len(function.regions) == 1 else None
        if body is None or not body.blocks:
            return self._call_external(name, function, args)
        params = body.blocks[0].args
        if len(args) != len(params):
            raise NncError(
                f"'@{name}' takes {len(params)} arguments, but {len(args)} are given", function.loc
            )
        values = [
            to_value(arg, param.type, f"argument {i} of '@{name}'", function.loc)
            for i, (arg, param) in enumerate(zip(args, params, strict=True))
        ]
        return self.run_function(name, function, values)

    def run_function(self, name: str, function: Operation, values: list[Any]) -> list[Any]:
        """The results of a function that has a body; tools override it to watch calls."""
        _, results = self.run_body(function.regions[0], values)
        return list(results)

    def run_body(self, region: Region, args: Sequence[Any]) -> tuple[Operation, list[Any]]:
        """Run the body of a function or kernel. Returns what `Frame.run_region` does."""
        return Frame(self).run_region(region, args)

    def _call_external(self, name: str, function: Operation, args: Sequence[Any]) -> list[Any]:
        external = self.externals.get(name)
        if external is None:
            raise CannotInterpretError(f"'@{name}' has no body to interpret", function.loc)
        results = external(*args)
        if results is None:
            return []
        return list(results) if isinstance(results, tuple | list) else [results]

    def plan(self, block: Block) -> list[_Step]:
        """The block's operations with their methods, looked up once, so the IR must not change."""
        plan = self._plans.get(block)
        if plan is None:
            plan = self._plans[block] = [_step(op) for op in block]
        return plan

    def count_step(self, op: Operation) -> None:
        """Count an executed operation. Raises NncError beyond `max_steps`."""
        self.steps += 1
        if self.max_steps is not None and self.steps > self.max_steps:
            raise TooManyStepsError(f"stopped after {self.max_steps} operations", op.loc)


class Frame:
    """An execution of a function: the present values of its SSA values."""

    def __init__(self, interpreter: Interpreter) -> None:
        self.interpreter = interpreter
        self.values: dict[Value, Any] = {}

    # -- what operations may use -----------------------------------------------------------------

    def value(self, value: Value) -> Any:
        """The current value of an SSA value."""
        return self.values[value]

    def run_region(self, region: Region, args: Sequence[Any]) -> tuple[Operation, list[Any]]:
        """Run a region from its first block. Returns the operation that ends it, and that one's
        operands.
        """
        at: Branch | None = Branch(region.blocks[0], args)
        values = self.values
        while True:
            block, args = at.block, at.args
            for param, arg in zip(block.args, args, strict=True):
                values[param] = arg
            at = None
            for op, perform, scalar in self.interpreter.plan(block):
                operands = [values[v] for v in op._operands]
                if perform is None:
                    self.interpreter.count_step(op)
                    return op, operands
                outcome: Any = self._run(op, perform, operands, scalar)
                if outcome.__class__ is Branch:
                    at = outcome
                    break
            if at is None:
                raise NncError("the block has no terminator to go on from", _loc_of(block))

    def run_op(self, op: Operation, operands: Sequence[Any]) -> list[Any]:
        """Run one operation with these operands; binds and returns its results."""
        outcome = self._run(op, _performer(op), list(operands), _scalar_class(op))
        return [] if isinstance(outcome, Branch) else outcome

    def call(self, symbol: str, args: Sequence[Any]) -> list[Any]:
        """The results of a function of the module."""
        interpreter = self.interpreter
        function = interpreter.symbols.get(symbol)
        if function is None:
            raise NncError(f"there is no function '@{symbol}' to call")
        return interpreter._enter(symbol, function, args)

    def branch(self, block: Block, args: Sequence[Any]) -> Branch:
        """The value that a terminator returns to branch to `block`."""
        return Branch(block, args)

    def shared(self, key: Any, make: Callable[[], Any]) -> Any:
        """The result of make(); it is called only the first time for a key."""
        storage = self.interpreter.storage
        if key not in storage:
            storage[key] = make()
        return storage[key]

    def write(self, text: str) -> None:
        """Print text where the interpreter prints."""
        self.interpreter.write(text)

    @property
    def module(self) -> Operation:
        """The module that is run."""
        return self.interpreter.module

    # -- threads of kernels ----------------------------------------------------------------------

    @property
    def thread(self) -> Thread:
        """The thread of the kernel that is running. Raises NncError outside of a launch."""
        thread = self.interpreter.thread
        if thread is None:
            raise NncError("only a kernel that is launched has threads")
        return thread

    def launch(
        self, kernel: GPUFuncOp, groups: Axes, threads: Axes, args: Sequence[np.ndarray]
    ) -> None:
        """Run a kernel with `groups` groups of `threads` threads along x, y and z."""
        from .launches import launch  # with the gpu dialect, which most modules do without

        launch(self.interpreter, kernel, groups, threads, args)

    def watches(self, array: np.ndarray) -> bool:
        """Whether threads share the memref, so that accesses to its elements must be reported."""
        thread = self.interpreter.thread
        return thread is not None and thread.shares(array)

    def reads(self, op: Operation, array: np.ndarray, at: tuple[Any, ...]) -> None:
        """Report that the operation is about to read these elements."""
        if self.interpreter.thread is not None:
            self.interpreter.thread.touch(op, array, at, Access.READ)

    def writes(self, op: Operation, array: np.ndarray, at: tuple[Any, ...]) -> None:
        """Report that the operation is about to write these elements."""
        if self.interpreter.thread is not None:
            self.interpreter.thread.touch(op, array, at, Access.WRITE)

    def changes(self, op: Operation, array: np.ndarray, at: tuple[Any, ...]) -> None:
        """Report that the operation is about to read and write these elements, each in one step."""
        if self.interpreter.thread is not None:
            self.interpreter.thread.touch(op, array, at, Access.CHANGE)

    # -- one operation ----------------------------------------------------------------------------

    def _run(
        self, op: Operation, perform: Perform, operands: list[Any], scalar: type | None
    ) -> list[Any] | Branch:
        self.interpreter.count_step(op)
        observer = self.interpreter.observer
        if observer is not None:
            observer.before_op(op, operands)
        try:
            outcome = perform(operands, self)
        except NncError as error:
            if error.location is not None:
                raise
            raise type(error)(error.message, op.loc, error.diagnostic.notes) from error
        except RecursionError:
            raise
        except Exception as error:
            message = f"'{op.name}' op cannot be interpreted: {error}"
            raise NncError(message, op.loc) from error
        if outcome.__class__ is Branch:
            return outcome
        results = [outcome] if outcome.__class__ is scalar else _as_results(op, outcome)
        for result, value in zip(op.results, results, strict=True):
            self.values[result] = value
        if self.interpreter.on_value is not None:
            self.interpreter.on_value(op, results)
        if observer is not None:
            observer.after_op(op, operands, results)
        return results


Perform = Callable[[list[Any], Frame], Any]
_Step = tuple[Operation, Perform | None, type | None]


def _step(op: Operation) -> _Step:
    """The operation, the function that runs it (None if it ends its region), and its
    `_scalar_class`.
    """
    ends_region = op.has_trait(Terminator) and not op.successors and not hasattr(op, "interpret")
    return op, None if ends_region else _performer(op), _scalar_class(op)


def _scalar_class(op: Operation) -> type | None:
    """NumPy's class for the only result, if any value of this class has the right
    form; else None.
    """
    if len(op.results) != 1 or not isinstance(type := op.results[0].type, ScalarType):
        return None
    try:
        dtype = type_to_numpy(type)
    except NncError:
        return None
    return dtype.type if dtype.isbuiltin == 1 and dtype.kind in "biufc" else None


def _performer(op: Operation) -> Perform:
    interpret = getattr(op, "interpret", None)
    if interpret is not None:
        return interpret
    evaluate = getattr(op, "evaluate", None)
    if evaluate is not None and op.has_trait(OnHost):
        return lambda operands, frame: _as_tuple(evaluate(*operands))
    if evaluate is not None:
        return lambda operands, frame: evaluate(*operands)

    def nothing(operands: list[Any], frame: Frame) -> Any:
        raise CannotInterpretError(f"'{op.name}' op has no semantics to interpret", op.loc)

    return nothing


def _as_tuple(outcome: Any) -> tuple[Any, ...]:
    """The results as a tuple; a single result may itself be a list or None."""
    return outcome if isinstance(outcome, tuple) else (outcome,)


def _as_results(op: Operation, outcome: Any) -> list[Any]:
    """The results as a list, each of the form that its type prescribes."""
    if outcome.__class__ is np.ndarray and len(op.results) == 1:
        type = op.results[0].type
        if isinstance(type, VectorType) and _is_of(outcome, type):
            return [outcome]
    if outcome is None:
        results: list[Any] = []
    elif isinstance(outcome, list | tuple):
        results = list(outcome)
    else:
        results = [outcome]
    if len(results) != len(op.results):
        raise NncError(
            f"'{op.name}' op has {len(op.results)} results, but its semantics gave {len(results)}",
            op.loc,
        )
    return [
        to_value(value, result.type, f"result {result.index} of '{op.name}'", op.loc)
        for value, result in zip(results, op.results, strict=True)
    ]


def _is_of(array: np.ndarray, type: VectorType) -> bool:
    """Whether an array is already what `to_value` would make of it."""
    return (
        array.shape == type.shape
        and array.flags.c_contiguous
        and array.dtype == type_to_numpy(type.element_type)
    )


def _loc_of(block: Block) -> Location | None:
    return block.last.loc if block.last is not None else None


# -- the form of values ---------------------------------------------------------------------------


def to_value(value: Any, type: Type, what: str, loc: Location | None = None) -> Any:
    """The value in the form that its type requires; Python numbers are converted.

    Raises NncError if an array has another dtype or shape than the type.
    """
    match type:
        case TensorType() | HostType() if is_host_type(type):
            try:
                return held(value, type)
            except NncError as error:
                raise NncError(f"{what} is {error.message}, expected {type}", loc) from None
        case VectorType() | TensorType():
            array = np.asarray(value)
            # What NumPy sums in which order depends on strides: equal values shall lie equally.
            array = array if array.flags.c_contiguous else array.copy("C")
            return _check_array(array, type, what, loc)
        case MemRefType():
            if not isinstance(value, np.ndarray):
                raise NncError(f"{what} is not a NumPy array, but a {type} shares its memory", loc)
            return _check_array(value, type, what, loc)
        case UnrankedTensorType() | UnrankedMemRefType():
            return value
        case ScalarType():
            return _to_scalar(value, type, what, loc)
    return value


def _to_scalar(value: Any, type: ScalarType, what: str, loc: Location | None) -> Any:
    dtype = type_to_numpy(type)
    if isinstance(value, np.generic) and value.dtype == dtype:
        return value
    array = np.asarray(value)
    if array.ndim or (isinstance(value, np.generic | np.ndarray) and array.dtype != dtype):
        found = f"{array.dtype} of shape {array.shape}" if array.ndim else str(array.dtype)
        raise NncError(f"{what} is {found}, expected {type}", loc)
    return array.astype(dtype)[()]


def _check_array(array: Any, type: ShapedType, what: str, loc: Location | None) -> Any:
    dtype = type_to_numpy(type.element_type)
    fits = array.ndim == type.rank and all(
        d is None or d == n for d, n in zip(type.shape, array.shape, strict=True)
    )
    if array.dtype != dtype or not fits:
        raise NncError(
            f"{what} has shape {list(array.shape)} and dtype {array.dtype}, expected {type}", loc
        )
    return array
