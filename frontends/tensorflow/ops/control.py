"""Functions, variables, branches and loops."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ....ir.core import Block
from ...common.complexes import flat_parts, paired_like
from ...common.loops import Iteration, branch, while_loop
from ...common.vocabulary import *
from ..layer import TfLayer, rows
from ..lists import ENDLESS, NeedsStack, Stacks, TensorList
from ..loops import Counted, Look, kept
from ..variables import States, Variable

MOST_UNROLLED = 1_000
"""The most nodes that unrolling a loop may make; a longer one stays a loop."""


MOST_UNROLLED_OF_LISTS = 100_000
"""The same for loops that cannot stay loops, because each iteration makes a list longer."""


@rows("PartitionedCall", "StatefulPartitionedCall")
def call(n: TfLayer, *inputs: Any) -> list[Any]:
    return n.graph("f", *inputs)


@rows("XlaCallModule")
def call_module(n: TfLayer, *inputs: Any) -> list[Any]:
    """A function of StableHLO; its argument types may be more static than the values'."""
    wanted = (one.type for one in n.node.graphs["module"].inputs)
    return n.graph("module", *(_typed(n, *pair) for pair in zip(inputs, wanted, strict=False)))


def _typed(n: TfLayer, x: Any, type: Type) -> Any:
    """The value typed with the known extents."""
    if not isinstance(x, Value) or not isinstance(type, TensorType) or None in type.shape:
        return x
    return x if x.type is type else n(nn.Reshape(x, out=type))


# -- variables -------------------------------------------------------------------------------------


@rows("VarHandleOp")
def variable(n: TfLayer) -> Variable:
    return n.attributes["variable"]


@rows("VariableV2", "Variable")
def variable_by_reference(n: TfLayer) -> Value:
    return n.attributes["variable"].read(n)


@rows("ReadVariableOp")
def read_variable(n: TfLayer, handle: Variable) -> Value:
    return handle.read(n)


@rows("VariableShape")
def variable_shape(n: TfLayer, handle: Variable) -> Value:
    return n.constant(handle.read(n).type.shape, n.element("out_type", i32))


@rows("_State")
def state(n: TfLayer, handle: Variable) -> Value:
    return handle.read(n)


@rows("AssignVariableOp")
def assign(n: TfLayer, handle: Variable, value: Value) -> Variable:
    handle.write(n, value)
    return handle


@rows("AssignAddVariableOp", "AssignSubVariableOp")
def assign_sum(n: TfLayer, handle: Variable, value: Value) -> Variable:
    op = nn.Add if n.kind == "AssignAddVariableOp" else nn.Sub
    handle.write(n, n(op(handle.read(n), value)))
    return handle


@contextmanager
def writing(n: TfLayer, states: States | None, values: Sequence[Value]) -> Iterator[None]:
    """In the context, variables have these values; afterwards the old ones."""
    if states is None:
        yield
        return
    before = states.block, [variable.value for variable in states.variables]
    states.block = n.builder.block
    for variable, value in zip(states.variables, values, strict=True):
        variable.value = value
    try:
        yield
    finally:
        states.block = before[0]
        for variable, value in zip(states.variables, before[1], strict=True):
            variable.value = value


def states_of(n: TfLayer, values: Sequence[Any]) -> States | None:
    """The variables that a graph with these inputs may write; None if it may write none."""
    return next((v.states for v in values if isinstance(v, Variable) and v.states), None)


def now(n: TfLayer, states: States | None) -> list[Value]:
    """The current values of written variables."""
    return [] if states is None else [variable.read(n) for variable in states.variables]


def settle(states: States | None, values: Sequence[Value]) -> None:
    """Set variables to the values that a branch or loop gives them."""
    for variable, value in zip(states.variables if states else (), values, strict=True):
        variable.value = value


# -- branches --------------------------------------------------------------------------------------


def is_true(n: TfLayer, condition: Value) -> Value:
    """A condition as a 0-d i1: a number is true if it is not 0."""
    if condition.type.element_type is not i1:
        condition = n(nn.Not(n(nn.Equal(condition, n.scalar(0, condition)))))
    return as_scalar(n, condition)


def chosen(n: TfLayer, condition: Value, names: Sequence[str], inputs: Sequence[Any]) -> list[Any]:
    """The results of the first graph if the condition holds, else of the second."""
    known = n.known(condition)
    if known is not None:
        return n.graph(names[0] if known.reshape(-1)[0] else names[1], *inputs)
    branches = [lambda name=name: n.graph(name, *inputs) for name in names]
    return unlisted_branch(n, condition, branches, states_of(n, inputs))


def unlisted_branch(
    n: TfLayer, condition: Value, branches: Sequence[Any], states: States | None
) -> list[Any]:
    """The results of one of two branches; lists leave the branches as stacked tensors."""
    found: list[list[Any]] = []
    before = now(n, states)

    def make(one: Any) -> list[Any]:
        with writing(n, states, before):
            outcome = one()
            found.append(outcome)
            check_written(n, outcome, branches)
            values = [
                v.stacked(n) if isinstance(v, TensorList) else v
                for v in outcome
                if not isinstance(v, Variable)
            ]
            return [*flat_parts(values), *now(n, states)]

    made = branch(n, condition, [lambda one=one: make(one) for one in branches])
    settle(states, made[len(made) - len(before) :])
    pattern = [v for v in found[0] if not isinstance(v, Variable)]
    results = iter(paired_like(made[: len(made) - len(before)], pattern))
    return [v if isinstance(v, Variable) else _as_was(n, v, next(results)) for v in found[0]]


def check_written(n: TfLayer, outcome: Sequence[Any], branches: Sequence[Any]) -> None:
    """Raise NeedsStack for a loop's list that only one of two branches writes."""
    left = [v.state for v in outcome if isinstance(v, TensorList) and v.state is not None]
    if not left:
        return
    for one in branches:
        aside = Block()
        with n.builder.inside(aside):
            found = one()
            lists = [v for v in found if isinstance(v, TensorList) and v.written is not None]
        needs = [NeedsStack(v.state, v.written) for v in lists]
        aside.erase()
        if needs:
            raise needs[0]


def _as_was(n: TfLayer, before: Any, value: Any) -> Any:
    if isinstance(before, TensorList):
        return replace(TensorList.of(n, value), grows=before.grows)
    return value


@rows("If", "StatelessIf")
def if_(n: TfLayer, condition: Value, *inputs: Any) -> list[Any]:
    return chosen(n, is_true(n, condition), ("then_branch", "else_branch"), inputs)


@rows("Case", "StatelessCase")
def case(n: TfLayer, index: Value, *inputs: Any) -> list[Any]:
    """The graph of an index; the last one also serves indices out of range."""
    names = sorted(n.node.graphs, key=lambda name: int(name.removeprefix("branches")))
    index = n.cast(as_scalar(n, index), i64)

    def from_(i: int) -> list[Any]:
        if i == len(names) - 1:
            return n.graph(names[i], *inputs)
        condition = n(nn.Equal(index, n.constant(i, i64)))
        known = n.known(condition)
        if known is not None:
            return n.graph(names[i], *inputs) if known else from_(i + 1)
        branches = (lambda: n.graph(names[i], *inputs), lambda: from_(i + 1))
        return unlisted_branch(n, condition, branches, states_of(n, inputs))

    return from_(0)


# -- loops -----------------------------------------------------------------------------------------


@rows("While", "StatelessWhile")
def while_(n: TfLayer, *inputs: Any) -> list[Any]:
    """A loop; it is unrolled if it is known to have few iterations."""
    return Loop(n, list(inputs)).results()


def _numbers_of_parts(values: Sequence[Any]) -> Iterator[int]:
    """The index of the value that each of `flat_parts` is of."""
    for i, value in enumerate(values):
        yield from [i] * len(flat_parts([value]))


class Loop:
    """A loop over values of any kind; unchanged ones stay outside of it."""

    def __init__(self, n: TfLayer, inits: list[Any]) -> None:
        self.n = n
        self.states = states_of(n, inits)
        self.pattern = inits
        """The states as the graphs have them, complex tensors being pairs."""
        self.inits: list[Any] = [*flat_parts(inits), *now(n, self.states)]
        self.own = len(flat_parts(inits))
        """The number of explicit states; after them come variables that iterations may assign."""
        same = set(kept(n.node.graphs["body"]))
        self.fixed = tuple(k for k, i in enumerate(_numbers_of_parts(inits)) if i in same)
        self.reads: set[int] = set()
        """The lists that the body reads, which must be carried as tensors."""

    def results(self) -> list[Any]:
        """The values after the loop."""
        found = self._results()
        settle(self.states, found[self.own :])
        return self._paired(found)

    def _results(self) -> list[Any]:
        while True:
            try:
                how = (self.given, self.fixed, self._carried())
                plan = Look(self.n, self.inits, self.cond, self.body, *how).result()
                if plan.count is not None and self._is_short(plan.count):
                    return self._unrolled(plan.count)
                return self._loop(plan)
            except Stacks:
                return self._unrolled_by_condition()
            except NeedsStack as need:
                i, written = need.args[0], (*need.args, None)[1]
                if i in self.reads:
                    raise self.n.error("the loop reads a list before its elements exist") from None
                self.reads.add(i)
                init: TensorList = self.inits[i]
                if written is not None:
                    shape = written.item.type.shape if init.shape is None else init.shape
                    init = replace(init, shape=shape, grows=init.grows or written.grows)
                self.inits[i] = replace(init, stack=init.stacked(self.n), items={})

    def cond(self, states: Sequence[Any]) -> Value:
        """Whether there is a next iteration."""
        with writing(self.n, self.states, states[self.own :]):
            return is_true(self.n, self.n.graph("cond", *self._paired(states))[0])

    def body(self, states: Sequence[Any]) -> list[Any]:
        """The states after an iteration."""
        with writing(self.n, self.states, states[self.own :]):
            found = flat_parts(self.n.graph("body", *self._paired(states)))
            if len(found) != self.own:
                raise self.n.error(f"the body gives {len(found)} values, expected {self.own}")
            return [*found, *now(self.n, self.states)]

    def _paired(self, states: Sequence[Any]) -> list[Any]:
        """The explicit states as the graphs have them."""
        return paired_like(states[: self.own], self.pattern)

    def _is_short(self, count: int) -> bool:
        nodes = len(self.n.node.graphs["body"].nodes)
        return count * max(nodes, 1) <= MOST_UNROLLED

    def _unrolled(self, count: int) -> list[Any]:
        states = self.inits
        for _ in range(count):
            states = self.body(states)
        return states

    def _unrolled_by_condition(self) -> list[Any]:
        """The states after iterations whose condition is known before each of them."""
        states, nodes = self.inits, len(self.n.node.graphs["body"].nodes)
        for _ in range(MOST_UNROLLED_OF_LISTS // max(nodes, 1) + 1):
            going = self.n.known(self.cond(states))
            if going is None:
                break
            if not going.all():
                return states
            states = self.body(states)
        raise self.n.error(ENDLESS)

    def given(self, i: int, arguments: Any) -> Any:
        """The body's value of state i; `arguments` has the loop's values."""
        init = self.inits[i]
        if i in self.fixed:
            return init
        if isinstance(init, TensorList):
            if i in self.reads:
                stack = next(arguments)
                return replace(TensorList.of(self.n, stack), grows=init.grows)
            return TensorList(init.element, init.count, init.shape, state=i)
        return next(arguments) if isinstance(init, Value) else init

    def _loop(self, plan: Counted) -> list[Any]:
        n, carried = self.n, self._carried()
        written = list(plan.written)
        last: list[Any] = []

        def step(number: Value, flag: Value, values: list[Value]) -> Iteration:
            arguments = iter(values)
            states = [self.given(i, arguments) for i in range(len(self.inits))]
            after = self.body(states)
            last[:] = after
            going = None if plan.count is not None or plan.limit is not None else self.cond(after)
            outs = [self._value(after[i]) for i in carried]
            return Iteration(outs, [after[i].written.item for i in written], going)

        inits = [self._value(self.inits[i]) for i in carried]
        count = plan.limit if plan.count is None else n.constant(plan.count, i64)
        going = None if count is not None else self.cond(self.inits)
        states, stacks = while_loop(n, step, inits, count, going)
        results = list(self.inits)
        for i, value in zip(carried, states, strict=True):
            was, results[i] = self.inits[i], value
            if isinstance(was, TensorList):
                grows = was.grows or last[i].grows
                found = replace(TensorList.of(n, value), grows=grows)
                results[i] = found if grows else replace(found, count=was.count)
        for i, stack in zip(written, stacks, strict=True):
            results[i] = self._collected(i, plan, stack, last[i].written.grows)
        return results

    def _carried(self) -> list[int]:
        """The states that the loop op carries."""
        return [
            i
            for i, v in enumerate(self.inits)
            if i not in self.fixed
            and (isinstance(v, Value) or (isinstance(v, TensorList) and i in self.reads))
        ]

    def _value(self, state: Any) -> Value:
        if isinstance(state, TensorList):
            return state.stacked(self.n)
        if not isinstance(state, Value):
            raise self.n.error("a variable of the loop is neither a tensor nor a list of tensors")
        return state

    def _collected(self, i: int, plan: Counted, stack: Value, grows: bool) -> TensorList:
        """The list of the rows that the iterations wrote."""
        n, before = self.n, self.inits[i]
        shape = stack.type.shape[1:]
        if grows and plan.written[i] is None and before.count == 0:
            return replace(TensorList.of(n, stack), grows=True)
        if plan.written[i] is not None:  # each iteration writes the same element
            last = gathered(n, stack, n.constant(-1, i64))
            at = n.constant(plan.written[i], i64)
            return replace(before, shape=shape).with_item(n, at, last)
        count = before.count
        if isinstance(count, int) and stack.type.shape[0] == count:
            return replace(before, shape=shape, stack=stack, items={})
        if isinstance(count, int) and stack.type.shape[0] is not None:
            if stack.type.shape[0] > count:
                raise n.error(f"{stack.type.shape[0]} iterations write a list of {count} elements")
            items = {
                k: reshape(n, gathered(n, stack, n.constant(k, i64)),
                           [(stack, 1 + d) for d in range(len(shape))])
                for k in range(stack.type.shape[0])
            }  # fmt: skip
            return replace(before, shape=shape, items={**before.items, **items})
        checked = before.begun_by(n, stack, plan.limit)
        if isinstance(count, int):
            checked = reshape(n, checked, [count, *((checked, 1 + d) for d in range(len(shape)))])
        return replace(before, shape=shape, stack=checked, items={})
