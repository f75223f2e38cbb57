"""The index values of a kernel as text of integer sets, in terms of ids, counters and extents.

A form is an expression with its variables and the conditions that hold for them:

    %m = arith.minsi %n, %c64    ->    v3, where (n <= 64 and v3 = n) or (64 <= n and v3 = 64)

Ids of groups are b0, b1, b2, those of threads t0, t1, t2; what does not change during a launch is a
parameter, p0, p1, .. A value that is read from memory, or of which no form is known, is a variable
without conditions, and its form is not exact.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any

from ...dialects import arith, func, gpu, memref, vector
from ...dialects.index_lists import mix
from ...ir.core import BlockArgument, Operation, Value
from ...ir.rewriting import constant_int
from ...ir.traits import ReadsMemory, is_pure
from ...ir.types import MemRefType, i1
from .bounds import Bounds, bounds_of, is_natural
from .expressions import (
    ALWAYS,
    NEVER,
    Form,
    Meaning,
    added,
    choice_of,
    either,
    extreme_of,
    is_condition,
    is_fixed,
    is_number,
    number,
    scaled,
)
from .extents import first_of_name, name_of_extent
from .groups import QUOTIENTS, divided_id, parted
from .parameters import Parameters
from .polynomials import Polynomial
from .tables import Tables

_VARIABLE = re.compile(r"\bv\d+\b")
_IDS: dict[str, Any] = dict.fromkeys(f"{of}{axis}" for of in "bt" for axis in range(4))


@dataclass
class Forms:
    """The forms of the values of a launched kernel, each made once.

    `arguments` maps each argument of the kernel to the launch's operand; `threads` and `grid` are
    the numbers of threads of a group and of groups, along x, y and z.
    """

    arguments: Mapping[Value, Value]
    threads: tuple[int, int, int]
    subgroup_size: int
    grid: tuple[Form, ...] = ()
    parted: tuple[int, Form] | None = None
    """(axis, extent) if the group's id along this axis stands for a quotient and a remainder by
    this extent, see `number_groups`; else None."""
    calls: Mapping[Value, Value] = field(default_factory=dict)
    """The operand that the function's only call passes for each of its arguments."""
    parameters: Parameters = field(default_factory=Parameters)
    ends: dict[str, str] = field(default_factory=dict)
    """The exclusive upper bound of each counter, by the counter's name."""
    meanings: dict[str, Meaning] = field(default_factory=dict)
    """The definitions of variables that are computed from others, by the variable's name."""
    extremes: dict[str, tuple[str, Form, Form]] = field(default_factory=dict)
    """For each variable that is a minimum ("<=") or maximum (">="): that relation, and the two
    forms."""
    choices: dict[str, tuple[Form, Form, Form]] = field(default_factory=dict)
    """For each variable that is one of two forms: the condition, and the two."""
    products: dict[str, tuple[Form, Polynomial]] = field(default_factory=dict)
    """For each variable that is a form times a polynomial, and of which sets know nothing: both."""
    _known: dict[Value, Form] = field(default_factory=dict)
    _numbers: Any = field(default_factory=count)
    _tables: Tables = field(init=False)

    def __post_init__(self) -> None:
        self._tables = Tables({**self.calls, **self.arguments})

    def variable(self, *conditions: str, exact: bool = True) -> Form:
        """A new variable; the conditions speak of it as `@`."""
        name = f"v{next(self._numbers)}"
        return Form(name, (name,), tuple(c.replace("@", name) for c in conditions), (), exact)

    def counter(self, end: str, *conditions: str) -> Form:
        """A new variable in 0..end; if `conditions` are given, they bound it instead of `end`."""
        form = self.variable("@ >= 0", *(conditions or (f"@ < {end}",)))
        self.ends[form.text] = end
        return form

    def defined(self, value: str, condition: str) -> Form:
        """A new variable, by a value for arrays and by a condition for sets."""
        form = self.variable(condition)
        self.meanings[form.text] = Meaning(value, form.holds[0])
        return form

    def parameter(self, what: str) -> Form:
        """The parameter (a number that is constant during a launch) known by the key `what`."""
        name = self.parameters.named(what)
        return Form(str(self.parameters.values.get(name, name)))

    def of(self, value: Value) -> Form:
        """The form of an index or a condition."""
        known = self._known.get(value)
        if known is None:
            known = self._known[value] = self._make(value)
        return known

    def set(self, value: Value, form: Form) -> None:
        """Set the form of a value, such as the counter of a loop."""
        self._known[value] = form

    def _make(self, value: Value) -> Form:
        constant = self.parameters.chosen.get(value, constant_int(value))
        if constant is not None:
            return number(constant) if value.type is not i1 else ALWAYS if constant else NEVER
        op = value.defining_op
        if op is None:
            outside = self.arguments.get(value)
            if outside is not None:
                return self.of(outside)
            is_own = isinstance(value, BlockArgument) and isinstance(
                value.owner.parent_op, func.FuncOp
            )
            return self.parameter(f"argument {id(value)}") if is_own else self._unknown()
        if isinstance(op, memref.ExtractStridedMetadata) and value in op.extents:
            return self._of_view(op.source, op.extents.index(value))
        return self.made(op)

    def made(self, op: Operation) -> Form:
        """The form of an operation's result, by those of its operands."""
        maker = _FORMS.get(type(op))
        return maker(self, op) if maker is not None else self._unknown_of(op)

    def _of_view(self, view: Value, which: int) -> Form:
        """A size of a view, or a stride, which are counted after all sizes."""
        rank = view.type.rank  # type: ignore[attr-defined]
        if which < rank:
            return self.extent(view, which)
        op = view.defined_by(memref.ReinterpretCast)
        if op is None:
            return self._unknown()
        stride = mix(op.static_strides, op.strides)[which - rank]
        return number(stride) if isinstance(stride, int) else self.of(stride)

    def _unknown(self) -> Form:
        return self.variable(exact=False)

    def _unknown_of(self, op: Operation) -> Form:
        """A parameter for what the host computes or reads, else an unconstrained variable."""
        if op.parent_of(gpu.GPUFuncOp) is not None or op.regions:
            return self._unknown()
        if not (is_pure(op) or op.has_trait(ReadsMemory)):
            return self._unknown()
        found = self.parameter(f"value {id(op)}")
        self.parameters.values_of_host.add(found.text)
        return found

    def extent(self, buffer: Value, dim: int) -> Form:
        """The extent of a buffer along a dimension."""
        while buffer in self.arguments:
            buffer = self.arguments[buffer]
        type = buffer.type
        assert isinstance(type, MemRefType)
        fixed = type.shape[dim]
        if fixed is not None:
            return number(fixed)
        match buffer.defining_op:
            case memref.Alloc() as op:
                return self._size(op, op.dynamicSizes[type.shape[:dim].count(None)])
            case memref.ReinterpretCast() as op:
                return self._size(op, mix(op.static_sizes, op.sizes)[dim])
            case memref.ExpandShape() as op:
                return self._size(op, mix(op.static_output_shape, op.output_shape)[dim])
            case memref.SubView() as op if op.kept is not None:
                return self._size(op, mix(op.static_sizes, op.sizes)[op.kept[dim]])
            case memref.Cast() | memref.MemorySpaceCast() as op:
                return self.extent(op.operands[0], dim)
        if buffer in self.calls:
            first, its = first_of_name(buffer, dim)
            return self.extent(self.calls[first], its)
        first, more = self.parameters.related.get((buffer, dim), ((buffer, dim), 0))
        if more:
            return self._natural(added(self.extent(*first), number(more)))
        form = self.parameter(name_of_extent(*first))
        if is_number(form):
            return form
        self.parameters.count(form.text)
        self.parameters.extents.setdefault(form.text, {})[buffer] = dim
        return form

    def _size(self, op: Operation, size: Value | int) -> Form:
        """A size of a buffer or a view; one that the host has made is a parameter >= 0."""
        form = number(size) if isinstance(size, int) else self.of(size)
        block = op.parent
        if block is None or not isinstance(block.parent_op, func.FuncOp):
            return form
        if self.fixed(form) is None:
            form = self.parameter(f"size {id(size)}")
            self.parameters.count(form.text)
            self.parameters.values_of_host.add(form.text)
        return self._natural(form)

    def _natural(self, form: Form) -> Form:
        """Note that a form is not negative. Returns the form."""
        polynomial = self.parameters.polynomial(form)
        if polynomial is not None and polynomial.constant is None and not form.wanted:
            self.parameters.suppose_natural(polynomial)
        return form

    def number_groups(self, kernel: gpu.GPUFuncOp, grid: Sequence[Form]) -> None:
        """Set the number of groups along each axis.

        If a kernel uses the group's id along an axis only as quotient and remainder by an unknown
        extent, b3 stands for the quotient and the axis's own variable for the remainder.
        """
        self.grid = (*grid, number(1))
        sizes = [self._sum_of(size) for size in grid]
        found = parted(kernel, sizes, self._polynomial, self.parameters.is_natural)
        if found is None:
            return
        axis, by, times = found
        self.parted = axis, self.parameters.form(by)
        inner = [self.parted[1] if i == axis else own for i, own in enumerate(grid)]
        self.grid = (*inner, self.parameters.form(times))

    def _part(self, op: Operation) -> Form:
        """A quotient or remainder by an unknown extent; exact only for a group's id (`parted`)."""
        of = divided_id(op, self._polynomial)
        if self.parted is None or of is None or of[0] != self.parted[0]:
            return self._unknown_of(op)
        return Form("b3" if isinstance(op, QUOTIENTS) else of[1])

    def read(self, op: Operation) -> Form:
        """The form of a number read from memory; one read from a constant is in its range."""
        found = self._unknown_of(op)
        ends = self._tables.read(op) if found.variables else None
        return found if ends is None else found.given(f"{ends[0]} <= {found.text} <= {ends[1]}")

    # -- what stays the same -------------------------------------------------------------------

    def polynomial(self, form: Form) -> Polynomial | None:
        """The polynomial in parameters that a form is; None if it is not one."""
        found = self.fixed(form)
        return None if found is None else self.parameters.polynomial(found)

    def fixed(self, form: Form) -> Form | None:
        """A form of parameters only; None if it changes during a launch.

        A maximum, minimum or choice of parameters becomes a parameter itself.
        """
        made: dict[str, str] = {}
        for variable in dict.fromkeys(_VARIABLE.findall(form.text)):
            name = self._as_parameter(variable)
            if name is None:
                return None
            made[variable] = name
        text = _VARIABLE.sub(lambda found: made[found[0]], form.text)
        found = Form(text, (), (), form.wanted, form.is_exact)
        return found if is_fixed(found) else None

    def _as_parameter(self, variable: str) -> str | None:
        """The parameter for a variable that is a maximum, a minimum or a choice of parameters."""
        relation, *of = self.extremes.get(variable) or ("", *self.choices.get(variable, ()))
        parts = [found for found in map(self.fixed, of) if found is not None]
        either = [found for one in parts[-2:] if (found := self.parameters.polynomial(one))]
        if not parts or len(parts) < len(of) or len(either) < 2:
            return None
        define = partial(extreme_of, relation) if relation else choice_of
        return self.parameters.chosen_of(*define(*parts), relation, either)

    # -- arithmetic ----------------------------------------------------------------------------

    def product(self, op: Operation) -> Form:
        """The form of a product by a constant, or of two parameters.

        It is exact where the polynomials of both parameters are known. Of a parameter and something
        else, it is a variable among `products`.
        """
        a, b = self.of(op.operands[0]), self.of(op.operands[1])
        for one, other in ((a, b), (b, a)):
            if is_number(one):
                return scaled(other + one, int(one.text))
        first, second = (self._polynomial(value) for value in op.operands)
        if first is not None and second is not None:
            found = first * second
            if self.parameters.is_natural(first) and self.parameters.is_natural(second):
                self.parameters.suppose_natural(found)
            made = (a + b).saying(self.parameters.form(found).text)
            is_all = None not in map(self.polynomial, (a, b))
            return replace(made, is_exact=made.is_exact and is_all)
        for form, by in ((a, second), (b, first)):
            if by is not None and not is_condition(form):
                found = self._unknown()
                self.products[found.text] = form, by
                return found + a + b
        return self._unknown()

    def _polynomial(self, value: Value) -> Polynomial | None:
        """The polynomial of a value that is constant during a launch.

        Another expression of parameters, such as a quotient, becomes one parameter; so does a value
        that the host computes in another way, of which nothing is known.
        """
        found, op = self._sum_of(self.of(value)), self.arguments.get(value, value).defining_op
        if found is not None or op is None:
            return found
        return self.parameters.polynomial(self._unknown_of(op))

    def _sum_of(self, form: Form) -> Polynomial | None:
        """A form as a polynomial whose quotients are parameters; None if it is not constant."""
        found = self.fixed(form)
        if found is None or is_condition(found):
            return None
        is_sound = not found.wanted or is_natural(self.bounds(found))
        natural = lambda text: is_natural(self.bounds(Form(text)))  # noqa: E731
        return self.parameters.polynomial(found) or (
            self.parameters.total_of(found.text, natural) if is_sound else None
        )

    def bounds(self, form: Form) -> Bounds:
        """(least value, greatest value) of a number; None for an end that is not known."""
        counts = ChainMap[str, Any](self.parameters.counts, self.ends, _IDS)
        return bounds_of(form.text, counts, self.extremes)

    def division(self, op: Operation, up: bool = False, signed: bool = False) -> Form:
        """A quotient by a constant, rounded down or `up`; requires >= 0 unless `signed`."""
        divisor = self.of(op.operands[1])
        if not is_number(divisor) or int(divisor.text) <= 0:
            return self._part(op)
        a, by = self.of(op.operands[0]) + divisor, int(divisor.text)
        more = by - 1 if up else 0
        found = a if signed else a.wanting(f"{a.text} >= 0")
        fixed = self.parameters.polynomial(a)
        if fixed is None:
            low, high = (None if end is None else (end + more) // by for end in self.bounds(a))
            if low is not None and low == high:
                return found.saying(str(low))
            return found.saying(f"floor(({a.text} + {more})/{by})" if by > 1 else a.text)
        return found.saying(self.parameters.form(self.parameters.floor(fixed + more, by)).text)

    def remainder(self, op: Any) -> Form:
        """A remainder by a constant; one of a dividend that may be negative has the same sign.

        By another number, it is something below that number, which must be > 0.
        """
        divisor = self.of(op.operands[1])
        if not is_number(divisor) or int(divisor.text) <= 0:
            found = self._part(op)
            if found.is_exact or not divisor.is_exact:
                return found
            name, end = found.text, divisor.text
            within = f"{'0 <=' if op.is_unsigned else f'-1*({end}) <'} {name} and {name} < {end}"
            if (self.bounds(divisor)[0] or 0) <= 0:  # Nothing may follow from what is not there.
                within = f"({end} <= 0 or {within})"
            return (found.given(within) + divisor).wanting(f"{end} > 0")
        a, by = self.of(op.operands[0]) + divisor, int(divisor.text)
        fixed = self.parameters.polynomial(a)
        if fixed is None:
            low, rest = self.bounds(a)[0], a.saying(f"(({a.text}) mod {by})")
            if not op.is_unsigned and low is not None and low < 0:
                below = scaled(a.saying(f"(({scaled(a, -1).text}) mod {by})"), -1)
                return self.chosen(a.saying(f"({a.text}) >= (0)"), rest, below)
            return rest.wanting(f"{a.text} >= 0")
        rest = self.parameters.form(fixed - self.parameters.floor(fixed, by) * by)
        return a.saying(rest.text).wanting(f"{a.text} >= 0")

    def extreme(self, op: Operation, relation: str) -> Form:
        """The form of a minimum or maximum."""
        a, b = self.of(op.operands[0]), self.of(op.operands[1])
        first, second = self.parameters.polynomial(a), self.parameters.polynomial(b)
        if relation == ">=" and b.text == "0" and is_natural(self.bounds(a)):
            return a
        if first is not None and second is not None:
            small, large = (a, b) if relation == "<=" else (b, a)
            if self.parameters.is_natural(second - first):
                return small + large
            if self.parameters.is_natural(first - second):
                return large + small
        found = self.defined(*extreme_of(relation, a, b)) + a + b
        self.extremes[found.text] = relation, a, b
        return found

    def choice(self, op: Any) -> Form:
        """The form of an `arith.select`."""
        where, a, b = (self.of(v) for v in op.operands)
        if not is_condition(where):
            return self._unknown()
        if where in (ALWAYS, NEVER):
            return a if where is ALWAYS else b
        if op.results[0].type is i1:
            if not (is_condition(a) and is_condition(b)):
                return self._unknown_of(op)
            return (where + a + b).saying(either(where.text, a.text, b.text))
        found = self.chosen(where, a, b)
        if number(0) in (a, b):
            return found  # What is 0 or a distance is a factor of an index, see `views`.
        return self.fixed(found) or found

    def chosen(self, where: Form, a: Form, b: Form) -> Form:
        """A number that is `a` where a condition holds, else `b`."""
        found = self.defined(*choice_of(where, a, b)) + where + a + b
        self.choices[found.text] = where, a, b
        return found

    def comparison(self, op: arith.CmpI) -> Form:
        """The condition of a comparison; unsigned ones require operands that are not negative.

        What is below an unsigned bound need not be: a negative number is above all of them.
        """
        a, b = self.of(op.lhs), self.of(op.rhs)
        if op.lhs.type is i1:
            if op.predicate not in ("eq", "ne") or not (is_condition(a) and is_condition(b)):
                return self._unknown_of(op)
            same, differs = b.text, f"not ({b.text})"
            pair = (same, differs) if op.predicate == "eq" else (differs, same)
            return (a + b).saying(either(a.text, *pair))
        relation = {"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
        sign = relation[op.predicate[-2:]]
        form = (a + b).saying(f"({a.text}) {sign} ({b.text})")
        factors = self.parameters.factors_of(a) if sign in ("=", "!=") and b.text == "0" else ()
        if factors:  # Of a product's factors, sets know more than of the product.
            none = " or ".join(f"({name} = 0)" for name in factors)
            return form.saying(f"({none})" if sign == "=" else f"not ({none})")
        if op.predicate in ("ult", "ule") and not a.is_exact:
            return form.saying(f"0 <= ({a.text}) and {form.text}").wanting(f"{b.text} >= 0")
        return form.wanting(f"{a.text} >= 0", f"{b.text} >= 0") if op.is_unsigned else form

    def logical(self, op: Any, word: str) -> Form:
        """The conjunction or disjunction (`word`) of two conditions."""
        a, b = (self.of(v) for v in op.operands)
        if op.results[0].type is not i1 or not (is_condition(a) and is_condition(b)):
            return self._unknown()
        return (a + b).saying(f"({a.text}) {word} ({b.text})")

    def sum(self, op: Any, sign: int = 1) -> Form:
        """The sum of two values, or their difference if `sign` is -1."""
        a, b = self.of(op.operands[0]), self.of(op.operands[1])
        return added(a, b if sign > 0 else scaled(b, sign))

    def linear_thread(self) -> str:
        """The expression for the linear id of the thread in its group."""
        x, y, _ = self.threads
        return f"(t0 + {x}*t1 + {x * y}*t2)"


def _extent(forms: Forms, op: memref.Dim) -> Form:
    dim = constant_int(op.operands[1])
    buffer = op.operands[0]
    if dim is None or not isinstance(buffer.type, MemRefType) or not dim < buffer.type.rank:
        return forms.variable(exact=False)
    return forms.extent(buffer, dim)


_FORMS: dict[type[Operation], Callable[[Forms, Any], Form]] = {
    arith.AddI: lambda f, op: f.sum(op),
    arith.SubI: lambda f, op: f.sum(op, -1),
    arith.MulI: Forms.product,
    arith.DivUI: lambda f, op: f.division(op),
    arith.DivSI: lambda f, op: f.division(op),
    arith.FloorDivSI: lambda f, op: f.division(op, signed=True),
    arith.CeilDivUI: lambda f, op: f.division(op, up=True),
    arith.CeilDivSI: lambda f, op: f.division(op, up=True, signed=True),
    arith.RemUI: Forms.remainder,
    arith.RemSI: Forms.remainder,
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
    memref.Load: Forms.read,
    vector.Gather: Forms.read,
    vector.TransferRead: Forms.read,
    gpu.BlockId: lambda f, op: Form(f"b{op.axis}"),
    gpu.ThreadId: lambda f, op: Form(f"t{op.axis}"),
    gpu.BlockDim: lambda f, op: number(f.threads[op.axis]),
    gpu.GridDim: lambda f, op: f.grid[op.axis],
    gpu.GlobalId: lambda f, op: Form(f"({f.threads[op.axis]}*b{op.axis} + t{op.axis})"),
    gpu.LaneId: lambda f, op: Form(f"({f.linear_thread()} mod {f.subgroup_size})"),
    gpu.SubgroupId: lambda f, op: Form(f"floor({f.linear_thread()}/{f.subgroup_size})"),
    gpu.SubgroupSize: lambda f, op: number(f.subgroup_size),
}
