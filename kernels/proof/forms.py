"""What values of a kernel are, as text of integer sets: in terms of ids, counters and extents.

A form is an expression with the variables that it needs and what holds for them:

    %m = arith.minsi %n, %c64    ->    v3, where (n <= 64 and v3 = n) or (64 <= n and v3 = 64)

Ids of groups are b0, b1, b2, those of threads t0, t1, t2; what does not change during a launch is a
parameter, p0, p1, .. A value that is read from memory, or of which no form is known, is a variable
without conditions, and its form is not exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from ...dialects import arith, func, gpu, memref
from ...dialects.index_lists import mix
from ...dialects.marks import INPUT_DIMS
from ...ir.attributes import ArrayAttr, StringAttr
from ...ir.core import BlockArgument, Operation, Value
from ...ir.rewriting import constant_int
from ...ir.traits import is_pure
from ...ir.types import MemRefType, i1


@dataclass(frozen=True)
class Form:
    """An expression, the variables in it, what holds for them, and what has to.

    `wanted` are conditions under which the expression says what the operations do.
    """

    text: str
    variables: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()
    is_exact: bool = True

    def __add__(self, other: Form) -> Form:
        """Both conditions, with the text of the first."""
        return Form(
            self.text,
            _union(self.variables, other.variables),
            _union(self.holds, other.holds),
            _union(self.wanted, other.wanted),
            self.is_exact and other.is_exact,
        )

    def saying(self, text: str) -> Form:
        """The same conditions with another expression."""
        return Form(text, self.variables, self.holds, self.wanted, self.is_exact)

    def wanting(self, *conditions: str) -> Form:
        """With more that has to hold."""
        wanted = _union(self.wanted, conditions)
        return Form(self.text, self.variables, self.holds, wanted, self.is_exact)

    def given(self, *conditions: str) -> Form:
        """With more that holds."""
        holds = _union(self.holds, conditions)
        return Form(self.text, self.variables, holds, self.wanted, self.is_exact)


def _union(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*a, *b)))


def is_condition(form: Form) -> bool:
    """Whether a form says when something holds, and not only that it is unknown."""
    return any(sign in form.text for sign in "<>=")


def _is_fixed(form: Form) -> bool:
    """Whether a form stays the same during a launch."""
    return not form.variables and not re.search(r"[bt]\d", form.text)


def _is_number(form: Form) -> bool:
    return form.text.lstrip("-").isdigit()


_ALWAYS, _NEVER = Form("(0 = 0)"), Form("(0 = 1)")
"""Constants of conditions."""


def number(value: int) -> Form:
    """The form of a constant."""
    return Form(str(value))


def added(a: Form, b: Form) -> Form:
    """A sum. Its constant comes last, also where it is 0: so pieces of a tile are alike."""
    (rest, constant), (other, more) = _parts(a.text), _parts(b.text)
    rests = " + ".join(text for text in (rest, other) if text)
    return (a + b).saying(_sum(rests, constant + more))


def scaled(a: Form, by: int) -> Form:
    """A form times a constant."""
    rest, constant = _parts(a.text)
    return a.saying(_sum(f"{by}*({rest})" if rest else "", by * constant))


def _sum(rests: str, constant: int) -> str:
    if not rests:
        return str(constant)
    return f"({rests} {'-' if constant < 0 else '+'} {abs(constant)})"


_SUM = re.compile(r"\((.*) ([+-]) (\d+)\)")


def _parts(text: str) -> tuple[str, int]:
    """What is in a sum but its constant, and the constant."""
    if text.lstrip("-").isdigit():
        return "", int(text)
    found = _SUM.fullmatch(text)
    if found is None or not _is_closed(found[1]):
        return text, 0
    return found[1], int(found[2] + found[3])


def _is_closed(text: str) -> bool:
    """Whether each parenthesis in a text is closed there, and opened."""
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0


@dataclass
class Parameters:
    """What stays the same while a function of the host runs."""

    names: dict[str, str] = field(default_factory=dict)
    """By what they stand for."""
    known: dict[str, None] = field(default_factory=dict)
    """Conditions that hold for them."""
    extents: dict[str, dict[Value, int]] = field(default_factory=dict)
    """The buffers that have an open extent, by its name, and along which dimension."""
    equal: dict[tuple[Value, int], tuple[Value, int]] = field(default_factory=dict)
    """Of arguments' extents, by buffer and dimension: the first one that is equal in all calls."""

    def named(self, what: str) -> str:
        """The name of what a parameter stands for."""
        return self.names.setdefault(what, f"p{len(self.names)}")

    def suppose(self, *conditions: str) -> None:
        """Say what holds for them."""
        self.known.update(dict.fromkeys(conditions))


@dataclass(frozen=True)
class Meaning:
    """What a variable is: an expression of arrays, and the same as a condition."""

    value: str
    condition: str


@dataclass
class Forms:
    """The forms of the values of a launched kernel, each made once.

    `arguments` says what each argument of the kernel is where it is launched, `threads` how many a
    group has, `grid` how many groups there are.
    """

    arguments: Mapping[Value, Value]
    threads: tuple[int, int, int]
    subgroup_size: int
    grid: tuple[Form, ...] = ()
    calls: Mapping[Value, Value] = field(default_factory=dict)
    """What the only call of the host's function gives for each of its arguments."""
    parameters: Parameters = field(default_factory=Parameters)
    ends: dict[str, str] = field(default_factory=dict)
    """Of variables that count from 0: what they stay below."""
    meanings: dict[str, Meaning] = field(default_factory=dict)
    """Of variables that follow from others: how."""
    _known: dict[Value, Form] = field(default_factory=dict)
    _numbers: Any = field(default_factory=count)

    def variable(self, *conditions: str, exact: bool = True) -> Form:
        """A new variable; the conditions speak of it as `@`."""
        name = f"v{next(self._numbers)}"
        return Form(name, (name,), tuple(c.replace("@", name) for c in conditions), (), exact)

    def counter(self, end: str, *conditions: str) -> Form:
        """A new variable from 0 to below an end; without conditions of its own it takes all."""
        form = self.variable("@ >= 0", *(conditions or (f"@ < {end}",)))
        self.ends[form.text] = end
        return form

    def defined(self, value: str, condition: str) -> Form:
        """A new variable, by a value for arrays and by a condition for sets."""
        form = self.variable(condition)
        self.meanings[form.text] = Meaning(value, form.holds[0])
        return form

    def parameter(self, what: str) -> Form:
        """A number that stays the same during a launch, named by what it is."""
        return Form(self.parameters.named(what))

    def of(self, value: Value) -> Form:
        """The form of an index or a condition."""
        known = self._known.get(value)
        if known is None:
            known = self._known[value] = self._make(value)
        return known

    def set(self, value: Value, form: Form) -> None:
        """Say what a value is: the counter of a loop."""
        self._known[value] = form

    def _make(self, value: Value) -> Form:
        constant = constant_int(value)
        if constant is not None:
            return number(constant) if value.type is not i1 else _ALWAYS if constant else _NEVER
        op = value.defining_op
        if op is None:
            outside = self.arguments.get(value)
            if outside is not None:
                return self.of(outside)
            is_own = isinstance(value, BlockArgument) and isinstance(
                value.owner.parent_op, func.FuncOp
            )
            return self.parameter(f"argument {id(value)}") if is_own else self._unknown()
        made = _FORMS.get(type(op))
        return made(self, op) if made is not None else self._unknown_of(op)

    def _unknown(self) -> Form:
        return self.variable(exact=False)

    def _unknown_of(self, op: Operation) -> Form:
        """Of what the host computes, a parameter; else a variable of which nothing is known."""
        inside = op.parent_of(gpu.GPUFuncOp) is not None
        if not inside and is_pure(op) and not op.regions:
            return self.parameter(f"value {id(op)}")
        return self._unknown()

    def extent(self, buffer: Value, dim: int) -> Form:
        """How long a buffer is along a dimension."""
        while buffer in self.arguments:
            buffer = self.arguments[buffer]
        type = buffer.type
        assert isinstance(type, MemRefType)
        fixed = type.shape[dim]
        if fixed is not None:
            return number(fixed)
        match buffer.defining_op:
            case memref.Alloc() as op:
                return self.of(op.dynamicSizes[type.shape[:dim].count(None)])
            case memref.ReinterpretCast() as op:
                return self.size(op, dim)
            case memref.SubView() as op if op.kept is not None:
                return self.size(op, op.kept[dim])
            case memref.Cast() | memref.MemorySpaceCast() as op:
                return self.extent(op.operands[0], dim)
        if buffer in self.calls:
            return self.extent(self.calls[buffer], dim)
        first = self.parameters.equal.get((buffer, dim), (buffer, dim))
        form = self.parameter(_name_of_extent(*first))
        self.parameters.suppose(f"{form.text} >= 0")
        self.parameters.extents.setdefault(form.text, {})[buffer] = dim
        return form

    def size(self, op: memref.ReinterpretCast | memref.SubView, dim: int) -> Form:
        """How long a view is along a dimension, as it says."""
        size = mix(op.static_sizes, op.sizes)[dim]
        return number(size) if isinstance(size, int) else self.of(size)

    # -- arithmetic ----------------------------------------------------------------------------

    def product(self, op: Operation) -> Form:
        """By a constant; or of numbers that stay the same, which is such a number."""
        a, b = self.of(op.operands[0]), self.of(op.operands[1])
        for one, other in ((a, b), (b, a)):
            if _is_number(one):
                return scaled(other + one, int(one.text))
        if _is_fixed(a) and _is_fixed(b):
            form = self.parameter(f"({a.text}) * ({b.text})")
            return (a + b).saying(form.text)
        return self._unknown()

    def division(self, op: Operation, text: str) -> Form:
        """Of a number that is not negative by a constant, `{a}` and `{c}`."""
        by = constant_int(op.operands[1])
        if by is None or by <= 0:
            return self._unknown_of(op)
        a = self.of(op.operands[0])
        found = a.saying(text.format(a=a.text, c=by, less=by - 1)).wanting(f"{a.text} >= 0")
        if not _is_fixed(a) or _is_number(a):
            return found
        up = by - 1 if "{less}" in text else 0
        whole = self.parameter(f"floor(({a.text} + {up})/{by})")
        top = f"{a.text} + {up}"
        self.parameters.suppose(f"{by}*{whole.text} <= {top}", f"{top} < {by}*{whole.text} + {by}")
        return found.saying(whole.text if "mod" not in text else f"({a.text} - {by}*{whole.text})")

    def extreme(self, op: Operation, relation: str) -> Form:
        """The smaller or the larger of two."""
        a, b = self.of(op.operands[0]), self.of(op.operands[1])
        first = f"({a.text}) {relation} ({b.text}) and @ = {a.text}"
        second = f"({b.text}) {relation} ({a.text}) and @ = {b.text}"
        value = f"{'least' if relation == '<=' else 'most'}({a.text}, {b.text})"
        return self.defined(value, f"(({first}) or ({second}))") + a + b

    def choice(self, op: Any) -> Form:
        """What `arith.select` gives."""
        where, a, b = (self.of(v) for v in op.operands)
        if not is_condition(where):
            return self._unknown()
        taken = f"({where.text}) and @ = {a.text}"
        other = f"not ({where.text}) and @ = {b.text}"
        value = f"choice({where.text}, {a.text}, {b.text})"
        return self.defined(value, f"(({taken}) or ({other}))") + where + a + b

    def comparison(self, op: arith.CmpI) -> Form:
        """A condition. Unsigned ones are wanted to be of numbers that are not negative."""
        a, b = self.of(op.lhs), self.of(op.rhs)
        relation = {"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
        sign = relation[op.predicate[-2:]]
        form = (a + b).saying(f"({a.text}) {sign} ({b.text})")
        return form.wanting(f"{a.text} >= 0", f"{b.text} >= 0") if op.is_unsigned else form

    def logical(self, op: Any, word: str) -> Form:
        """Both or one of two conditions."""
        if op.results[0].type is not i1:
            return self._unknown()
        a, b = (self.of(v) for v in op.operands)
        if not (is_condition(a) and is_condition(b)):
            return self._unknown()
        return (a + b).saying(f"({a.text}) {word} ({b.text})")

    def along(self, kind: str, op: Any) -> Form:
        """The place of a group or a thread along an axis."""
        return Form(f"{kind}{op.axis}")

    def sum(self, op: Any, sign: int = 1) -> Form:
        """Of two values, or their difference."""
        a, b = self.of(op.operands[0]), self.of(op.operands[1])
        return added(a, b if sign > 0 else scaled(b, sign))

    def linear_thread(self) -> str:
        """The number of the thread in its group."""
        x, y, _ = self.threads
        return f"(t0 + {x}*t1 + {x * y}*t2)"


def _name_of_extent(buffer: Value, dim: int) -> str:
    """What an open extent is called where the function names it; equal names are equal extents."""
    if isinstance(buffer, BlockArgument):
        function = buffer.owner.parent_op
        names = function.attributes.get(INPUT_DIMS) if function is not None else None
        if isinstance(names, ArrayAttr) and buffer.index < len(names.elements):
            own = names.elements[buffer.index]
            if isinstance(own, ArrayAttr) and dim < len(own.elements):
                name = own.elements[dim]
                if isinstance(name, StringAttr) and name.value:
                    return f"extent {name.value} of {id(function)}"
    return f"extent {dim} of {id(buffer)}"


def _extent(forms: Forms, op: memref.Dim) -> Form:
    dim = constant_int(op.operands[1])
    buffer = op.operands[0]
    if dim is None or not isinstance(buffer.type, MemRefType) or not dim < buffer.type.rank:
        return forms.variable(exact=False)
    return forms.extent(buffer, dim)


_Maker = Callable[[Forms, Any], Form]
_FORMS: dict[type[Operation], _Maker] = {
    arith.AddI: lambda f, op: f.sum(op),
    arith.SubI: lambda f, op: f.sum(op, -1),
    arith.MulI: Forms.product,
    arith.DivUI: lambda f, op: f.division(op, "floor(({a})/{c})"),
    arith.FloorDivSI: lambda f, op: f.division(op, "floor(({a})/{c})"),
    arith.CeilDivUI: lambda f, op: f.division(op, "floor(({a} + {less})/{c})"),
    arith.CeilDivSI: lambda f, op: f.division(op, "floor(({a} + {less})/{c})"),
    arith.DivSI: lambda f, op: f.division(op, "floor(({a})/{c})"),
    arith.RemUI: lambda f, op: f.division(op, "(({a}) mod {c})"),
    arith.RemSI: lambda f, op: f.division(op, "(({a}) mod {c})"),
    arith.MinSI: lambda f, op: f.extreme(op, "<="),
    arith.MaxSI: lambda f, op: f.extreme(op, ">="),
    arith.MinUI: lambda f, op: f.extreme(op, "<="),
    arith.MaxUI: lambda f, op: f.extreme(op, ">="),
    arith.IndexCast: lambda f, op: f.of(op.operands[0]),
    arith.IndexCastUI: lambda f, op: f.of(op.operands[0]),
    arith.Select: Forms.choice,
    arith.CmpI: Forms.comparison,
    arith.AndI: lambda f, op: f.logical(op, "and"),
    arith.OrI: lambda f, op: f.logical(op, "or"),
    memref.Dim: _extent,
    gpu.BlockId: lambda f, op: f.along("b", op),
    gpu.ThreadId: lambda f, op: f.along("t", op),
    gpu.BlockDim: lambda f, op: number(f.threads[op.axis]),
    gpu.GridDim: lambda f, op: f.grid[op.axis],
    gpu.GlobalId: lambda f, op: Form(f"({f.threads[op.axis]}*b{op.axis} + t{op.axis})"),
    gpu.LaneId: lambda f, op: Form(f"({f.linear_thread()} mod {f.subgroup_size})"),
    gpu.SubgroupId: lambda f, op: Form(f"floor({f.linear_thread()}/{f.subgroup_size})"),
    gpu.SubgroupSize: lambda f, op: number(f.subgroup_size),
}
