"""Reductions along dimensions and in windows, by the operation that a region applies."""

from __future__ import annotations

from ....dialects.stablehlo.reductions import pairs
from ....ir.comprehension import combiner_identity
from ...common.blocks import dilated
from ...common.complexes import Pair, flat_parts, paired_like
from ...common.loops import Iteration, while_loop
from ...common.terms import extent as extent_of
from ...common.vocabulary import *
from ..layer import HloLayer, rows
from .formulas import add, maximum, minimum, multiply

REDUCTIONS = named("add=ReduceSum multiply=ReduceProd maximum=ReduceMax minimum=ReduceMin")
OF_TRUTH = named("""
    or=ReduceMax add=ReduceMax maximum=ReduceMax and=ReduceMin multiply=ReduceMin minimum=ReduceMin
""")
COMBINE: dict[str, Callable[[Term, Term], Term]] = {
    "add": add,
    "multiply": multiply,
    "maximum": maximum,
    "minimum": minimum,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
}


def combiner(n: HloLayer, at: int = 0) -> str:
    """The name of the operation that is all that a region applies to its two arguments, or ""."""
    graph = n.node.graphs[str(at)]
    given, (_, found) = {one.name for one in graph.inputs}, graph.outputs[0]
    made = next((node for node in graph.nodes if found in node.outputs), None)
    if len(graph.inputs) != 2 or made is None or set(made.inputs) != given:
        return ""
    return made.kind.removeprefix("stablehlo.")


# -- reductions ------------------------------------------------------------------------------------


@rows("stablehlo.reduce")
def reduce(n: HloLayer, *inputs: Any) -> list[Any]:
    count, axes = len(inputs) // 2, n.op.dimensions
    values, inits = inputs[:count], inputs[count:]
    if count == 1:
        name = combiner(n)
        found = _reduced(n, values[0], name, axes)
        if found is not None:
            return [_with_init(n, found, inits[0], name)]
    elif (at := _extreme(n)) is not None:
        return _argument(n, values, at, axes[0])
    return _by_halves(n, list(values), list(inits), axes)


def _reduced(n: HloLayer, x: Any, name: str, axes: Sequence[int]) -> Any:
    """x reduced by one operation; None if `nn` has none for it."""
    if isinstance(x, Pair):
        if name != "add":
            return None
        return Pair(*(reduced(n, part, nn.ReduceSum, axes) for part in (x.real, x.imag)))
    if not axes:
        return x
    element = x.type.element_type
    if element is i1:
        if name not in OF_TRUTH:
            return None
        numbers = n.cast(x, IntegerType(32))
        # Not a cast: of no elements, the largest is the least integer.
        return (Term(n, reduced(n, numbers, OF_TRUTH[name], axes)) > 0).value
    return reduced(n, x, REDUCTIONS[name], axes) if name in REDUCTIONS else None


def _with_init(n: HloLayer, found: Any, init: Any, name: str) -> Any:
    """The result combined with the initial value, unless that is neutral."""
    if isinstance(found, Pair):
        if all(_is_neutral(n, part, name) for part in (init.real, init.imag)):
            return found
        parts = ((found.real, init.real), (found.imag, init.imag))
        return Pair(*(n(nn.Add(a, b)) for a, b in parts))
    if _is_neutral(n, init, name):
        return found
    return COMBINE[name](Term(n, found), Term(n, init)).value


def _is_neutral(n: HloLayer, init: Value, name: str) -> bool:
    known, element = n.known(init), init.type.element_type
    if known is None:
        return False
    if element is i1:
        return bool(known) == (name in ("and", "multiply", "minimum"))
    combiner = {"multiply": "mul", "maximum": "max", "minimum": "min", "add": "add", "or": "add"}
    return name in combiner and bool(known == combiner_identity(combiner[name], element))


_FIRST_EXTREME = ("compare", "compare", "or", "compare", "compare", "and", "or", "select", "select")


def _extreme(n: HloLayer) -> str | None:
    """GT or LT if the region finds the extreme and its first index, as JAX's argmax; else None."""
    ops = [op for op in n.op.body.blocks[0].ops if op.name != "stablehlo.constant"]
    names = tuple(op.name.removeprefix("stablehlo.") for op in ops[:-1])
    if names != _FIRST_EXTREME or len(n.op.dimensions) != 1:
        return None
    made: Any = getattr(n.op.operands[1], "owner", None)
    counts = getattr(made, "name", "") in ("stablehlo.iota", "stablehlo.dynamic_iota")
    if not counts or made.iota_dimension != n.op.dimensions[0]:
        return None
    direction = ops[0].comparison_direction  # type: ignore[attr-defined]
    return direction if direction in ("GT", "LT") else None


def _argument(n: HloLayer, values: Sequence[Value], direction: str, axis: int) -> list[Value]:
    x, element = values[0], n.out(1).element_type
    if x.type.element_type is i1:
        x = n.cast(x, IntegerType(32))
    largest = direction == "GT"
    extreme = reduced(n, x, nn.ReduceMax if largest else nn.ReduceMin, (axis,))
    at = extreme_at(n, x, nn.Argmax if largest else nn.Argmin, axis)
    return [n.cast(extreme, values[0].type.element_type), n.cast(at, element)]


def _by_halves(n: HloLayer, values: list[Any], inits: list[Any], axes: Sequence[int]) -> list[Any]:
    """A reduction by any region: halves of a dimension are combined until one element is left."""
    for axis in axes:
        extent = flat_parts(values)[0].type.shape[axis]
        if extent is None:
            values = _halved_at_run_time(n, values, inits, axis)
        if extent == 0:
            values = _filled(n, values, inits, axis)
        while (extent := flat_parts(values)[0].type.shape[axis]) > 1:
            half = extent // 2
            first = [_part(n, v, axis, 0, half) for v in values]
            second = [_part(n, v, axis, half, 2 * half) for v in values]
            found = n.region(0, *first, *second)
            if extent % 2:
                rest = [_part(n, v, axis, extent - 1, extent) for v in values]
                found = [_joined(n, a, b, axis) for a, b in zip(found, rest, strict=True)]
            values = found
    kept = [i for i in range(flat_parts(values)[0].type.rank) if i not in axes]
    values = [_each(v, lambda x: reshape(n, x, [(x, i) for i in kept])) for v in values]
    return n.region(0, *inits, *values)


def _halved_at_run_time(n: HloLayer, values: list[Any], inits: list[Any], axis: int) -> list[Any]:
    """`_by_halves` along an axis of unknown extent, with the initial value for missing elements."""

    def part(value: Any, begin: Any, end: Any) -> Any:
        return _each(value, lambda x: slice_axis(n, x, axis, begin, end))

    first = flat_parts(values)[0]
    lacks = (-extent_of(n, (first, axis)) + 1).max(0)
    zeros = [constant(n, np.zeros(1, np.int64))] * (2 * first.type.rank)
    zeros[axis] = lacks.spread(0, 1)
    pads = joined(zeros, 0).value
    states = [
        _each_with(v, i, lambda x, fill: pad_by_vector(n, x, pads, fill))
        for v, i in zip(values, inits, strict=True)
    ]

    def step(number: Value, flag: Value, given: list[Value]) -> Iteration:
        before = paired_like(given, values)
        count = extent_of(n, (given[0], axis))
        half = (count / 2).value
        both = (Term(n, half) + Term(n, half)).value
        found = n.region(
            0, *(part(v, 0, half) for v in before), *(part(v, half, both) for v in before)
        )
        rest = [part(v, both, FAR) for v in before]
        found = [_joined(n, a, b, axis) for a, b in zip(found, rest, strict=True)]
        more = extent_of(n, (flat_parts(found)[0], axis)) > 1
        return Iteration(flat_parts(found), (), more.value)

    going = extent_of(n, (flat_parts(states)[0], axis)) > 1
    results, _ = while_loop(n, step, flat_parts(states), None, going.value)
    ones = [part(v, 0, 1) for v in paired_like(results, values)]
    return [_each(v, lambda x: _of_one(n, x, axis)) for v in ones]


def _of_one(n: HloLayer, x: Value, axis: int) -> Value:
    """x, typed with extent 1 along an axis."""
    return reshape(n, x, [1 if i == axis else (x, i) for i in range(x.type.rank)])


def _filled(n: HloLayer, values: list[Any], inits: list[Any], axis: int) -> list[Any]:
    """Values with one initial element instead of none along an axis."""
    found = []
    for value, init in zip(values, inits, strict=True):
        shape = tuple(1 if i == axis else d for i, d in enumerate(value.type.shape))
        found.append(
            _each(init, lambda x: n(nn.BroadcastTo(x, out=TensorType(shape, x.type.element_type))))  # noqa: B023
        )
    return found


def _each(value: Any, work: Callable[[Value], Value]) -> Any:
    """Apply `work` to a tensor, or to both parts of a complex one."""
    if isinstance(value, Pair):
        return Pair(work(value.real), work(value.imag))
    return work(value)


def _part(n: HloLayer, value: Any, axis: int, begin: int, end: int) -> Any:
    return _each(value, lambda x: Term(n, x).part(axis, begin, end).value)


def _joined(n: HloLayer, a: Any, b: Any, axis: int) -> Any:
    parts = zip(flat_parts([a]), flat_parts([b]), strict=True)
    return paired_like([joined([Term(n, x), Term(n, y)], axis).value for x, y in parts], [a])[0]


# -- windows ---------------------------------------------------------------------------------------


@rows("stablehlo.reduce_window")
def reduce_window(n: HloLayer, *inputs: Any) -> list[Any]:
    op, count = n.op, len(inputs) // 2
    rank = len(op.window_dimensions)
    ones = (1,) * rank
    strides, apart = op.window_strides or ones, op.base_dilations or ones
    dilations, pads = op.window_dilations or ones, pairs(op.padding, rank)
    values, inits = list(inputs[:count]), list(inputs[count:])
    values = [
        _each_with(v, i, lambda x, fill: dilated(n, x, apart, fill))
        for v, i in zip(values, inits, strict=True)
    ]
    name = combiner(n)
    scan = _scan(values[0].type.shape, op.window_dimensions, strides, dilations, pads)
    if scan is not None:
        return _scanned(n, values, inits, scan, name)
    if count == 1 and _pools(values[0], name):
        found = _pooled(n, values[0], name, op.window_dimensions, strides, dilations, pads)
        return [_with_init(n, found, inits[0], name)]
    return _by_offsets(n, values, inits, op.window_dimensions, strides, dilations, pads)


def _each_with(value: Any, fill: Any, work: Callable[[Value, Value], Value]) -> Any:
    if isinstance(value, Pair):
        return Pair(work(value.real, fill.real), work(value.imag, fill.imag))
    return work(value, fill)


def _scan(shape: Any, window: Any, strides: Any, dilations: Any, pads: Any) -> Any:
    """(axis, reverse) if the windows are those of a running reduction; else None."""
    wide = [i for i, size in enumerate(window) if size != 1]
    if len(wide) != 1 or any(s != 1 for s in (*strides, *dilations)):
        return None
    axis = wide[0]
    if any(p != (0, 0) for i, p in enumerate(pads) if i != axis) or window[axis] != shape[axis]:
        return None
    if pads[axis] == (window[axis] - 1, 0):
        return axis, False
    return (axis, True) if pads[axis] == (0, window[axis] - 1) else None


def _scanned(
    n: HloLayer, values: list[Any], inits: list[Any], scan: tuple[int, bool], name: str
) -> list[Any]:
    """Running results along an axis."""
    (axis, reverse), x = scan, values[0]
    plain = len(values) == 1 and not isinstance(x, Pair) and x.type.element_type is not i1
    op = {"add": nn.Cumsum, "multiply": nn.Cumprod}.get(name)
    if plain and op is not None and _is_neutral(n, inits[0], name):
        return [n(op(x, axis=axis, reverse=reverse))]
    shift, extent = 1, x.type.shape[axis]
    if extent is None:
        return _scanned_at_run_time(n, values, inits, scan)
    while shift < extent:  # each element has those of twice as many places in it
        low = [0] * x.type.rank
        high = list(low)
        low[axis], high[axis] = (-shift, shift) if reverse else (shift, -shift)
        moved = [
            _each_with(v, i, lambda x, fill: padded_by(n, x, (*low, *high), fill))  # noqa: B023
            for v, i in zip(values, inits, strict=True)
        ]
        values = n.region(0, *moved, *values)
        shift *= 2
    return values


def _scanned_at_run_time(
    n: HloLayer, values: list[Any], inits: list[Any], scan: tuple[int, bool]
) -> list[Any]:
    """Running results along an axis of an extent that is known at run time only."""
    axis, reverse = scan
    x = flat_parts(values)[0]
    extent, rank = extent_of(n, (x, axis)), x.type.rank
    place = constant(n, np.arange(rank) == axis)

    def step(number: Value, flag: Value, given: list[Value]) -> Iteration:
        *states, shift = given
        before, by = paired_like(states, values), Term(n, shift)
        low = place.choose(-by if reverse else by, 0)
        pads = joined([low, -low], 0).value
        moved = [
            _each_with(v, i, lambda x, fill: pad_by_vector(n, x, pads, fill))
            for v, i in zip(before, inits, strict=True)
        ]
        found = n.region(0, *moved, *before)
        twice = by + by
        return Iteration([*flat_parts(found), twice.value], (), (twice < extent).value)

    one = n.constant(1, i64)
    results, _ = while_loop(n, step, [*flat_parts(values), one], None, (extent > 1).value)
    return paired_like(results[:-1], values)


@rows("custom_call @stablehlo.dynamic_reduce_window")
def dynamic_reduce_window(n: HloLayer, *inputs: Any) -> list[Any]:
    """A reduction in windows whose extents or padding are computed at run time.

    Windows of unknown extents must be those of a running reduction.
    """
    count = (len(inputs) - 5) // 2
    values, inits = list(inputs[:count]), list(inputs[count : 2 * count])
    window, *steps, padding = (as_i64(n, v) for v in inputs[2 * count :])
    strides, apart, dilations = (
        n.known_ints(v, f"window {name}")
        for v, name in zip(steps, ("strides", "base dilations", "dilations"), strict=True)
    )
    if any(step != 1 for step in apart):
        raise n.error("base dilations are not supported in windows of computed extents")
    rank, sizes = len(strides), n.ranked(window)
    name, pads = combiner(n), n.extents(Term(n, padding).transpose(1, 0).flat().value)
    low = Term(n, padding).column(0)
    high = Term(n, padding).column(1)
    if None in sizes:
        scan, fits = _open_scan(n, values, window, (low, high), (*strides, *dilations), pads or ())
        text = (
            "a window of dynamic extent must hold all elements before its position, or all after it"
        )
        held = [_each(v, lambda x: n(nn.Assume(x, fits.value, text))) for v in values]
        return _scanned(n, held, inits, scan, name)
    by = joined([low, high], 0).value
    values = [
        _each_with(v, i, lambda x, fill: pad_by_vector(n, x, by, fill))
        for v, i in zip(values, inits, strict=True)
    ]
    none = ((0, 0),) * rank
    if count == 1 and _pools(values[0], name):
        found = _pooled(n, values[0], name, sizes, strides, dilations, none)
        return [_with_init(n, found, inits[0], name)]
    return _by_offsets(n, values, inits, sizes, strides, dilations, none)


def _open_scan(
    n: HloLayer,
    values: list[Any],
    window: Value,
    padding: tuple[Term, Term],
    steps: Sequence[int],
    pads: Sequence[Any],
) -> tuple[tuple[int, bool], Term]:
    """(axis, reverse) of a running reduction, and a condition on the window and the padding, known
    at run time only, for it to be one.
    """
    sizes = n.ranked(window)
    (axis, *others) = (i for i, size in enumerate(sizes) if size != 1)
    rank = len(sizes)
    if others or any(step != 1 for step in steps) or len(pads) != 2 * rank:
        raise n.error("windows of computed extents are supported along one dimension only")
    reverse = pads[axis] == 0
    if pads[rank + axis] != 0 and not reverse:
        raise n.error("windows of computed extents must be padded at one side only")
    extent = extent_of(n, (flat_parts(values)[0], axis))
    size = Term(n, window).column(axis)
    side, other = padding if not reverse else padding[::-1]
    fits = size.equals(extent) & side.column(axis).equals(extent - 1)
    total = (side.function(nn.Abs).sum(0) + other.function(nn.Abs).sum(0)).equals(extent - 1)
    return (axis, reverse), fits & total


def _pools(x: Any, name: str) -> bool:
    """Whether an `nn` pooling computes the reduction `name` in windows. Padding is neutral."""
    floats = not isinstance(x, Pair) and isinstance(x.type.element_type, FloatType)
    return floats and name in ("add", "maximum")


def _pooled(
    n: HloLayer, x: Value, name: str, window: Any, strides: Any, dilations: Any, pads: Any
) -> Value:
    """A pooling over the dimensions with windows, brought behind two others."""
    rank = x.type.rank
    moving = [
        i for i in range(rank)
        if (window[i], strides[i], tuple(pads[i])) != (1, 1, (0, 0))
    ]  # fmt: skip
    moving = moving or [rank - 1]
    others = [i for i in range(rank) if i not in moving]
    order = [*others, *moving]
    turned = Term(n, x).transpose(*order)
    lead = [(turned.value, i) for i in range(len(others))]
    inner = [(turned.value, len(others) + i) for i in range(len(moving))]
    last = len(lead) - 1
    if last > 1:
        groups = [(0, last), *((i, i + 1) for i in range(last, rank))]
        images = Term(n, merge(n, turned.value, groups))
    else:
        images = turned.reshape(*[1] * (1 - last), *lead, *inner)
    if any(p < 0 for i in moving for p in pads[i]):
        low, high = ([0, 0, *(min(pads[i][side], 0) for i in moving)] for side in (0, 1))
        images = Term(n, padded_by(n, images.value, (*low, *high)))
    ends = [max(pads[i][side], 0) for side in (0, 1) for i in moving]
    kernel, steps, apart = ([v[i] for i in moving] for v in (window, strides, dilations))
    pool = max_pooled if name == "maximum" else sum_pooled
    whole = Term(n, pool(n, images.value, Windows(kernel, steps, ends, apart)))
    back: list[Any] = [(turned.value, i) for i in range(len(others))]
    back += [(whole.value, 2 + i) for i in range(len(moving))]
    apart = whole.reshape(*back)
    return apart.transpose(*(order.index(i) for i in range(rank))).value


def _by_offsets(
    n: HloLayer,
    values: list[Any],
    inits: list[Any],
    window: Any,
    strides: Any,
    dilations: Any,
    pads: Any,
) -> list[Any]:
    """A window reduction by any region: combines the elements at successive window positions."""
    low, high = ([p[side] for p in pads] for side in (0, 1))
    values = [
        _each_with(v, i, lambda x, fill: padded_by(n, x, (*low, *high), fill))
        for v, i in zip(values, inits, strict=True)
    ]
    found = inits
    for place in np.ndindex(*window):
        starts = [p * d for p, d in zip(place, dilations, strict=True)]
        parts = [
            _each(v, lambda x: _strided(n, x, starts, window, strides, dilations))  # noqa: B023
            for v in values
        ]
        found = n.region(0, *found, *parts)
    return found


def _strided(
    n: HloLayer, x: Value, starts: Any, window: Any, strides: Any, dilations: Any
) -> Value:
    """The elements at one position of all windows."""
    for axis, (begin, size, step, apart) in enumerate(
        zip(starts, window, strides, dilations, strict=True)
    ):
        behind = (size - 1) * apart - begin  # how much of each window follows
        known = x.type.shape[axis]
        if known is not None:
            x = slice_axis(n, x, axis, begin, known - behind, step)
        elif step == 1 and not behind:
            x = slice_axis(n, x, axis, begin, FAR)
        else:
            end = extent_of(n, (x, axis)) - behind
            x = slice_axis(n, x, axis, begin, end.value, step)
    return x


@rows("stablehlo.select_and_scatter")
def select_and_scatter(n: HloLayer, x: Value, source: Value, init: Value) -> Value:
    """The gradient of a pooling: each number of `source` is added at its window's extreme."""
    select = n.last(0).operands[0].owner
    direction = getattr(select, "comparison_direction", "")
    if direction not in ("GE", "LE") or combiner(n, 1) != "add":
        raise n.error("only the first largest or smallest elements, and sums, are supported")
    rank = x.type.rank
    ones = (1,) * rank
    window, strides = n.op.window_dimensions or ones, n.op.window_strides or ones
    pads = pairs(n.op.padding, rank)
    ends = [p[side] for side in (0, 1) for p in pads]
    signed = Term(n, x) if direction[0] == "G" else -Term(n, x)
    images = signed.spread(2, 0)
    _, indices = max_pooled_with_indices(n, images.value, Windows(window, strides, ends))
    places = Term(n, indices).flat().spread(0, 1)
    totals = Term(n, init).filled(Term(n, shape_of(n, x))).flat()
    numbers = Term(n, source).flat()
    if any(end >= size for end, size in zip(ends, (*window, *window), strict=True)):
        # A window of padding alone chooses no element; its place is -1.
        numbers = (places.flat() >= 0).choose(numbers, 0.0)
    found = n(nn.ScatterNd(totals.value, places.value, numbers.value, reduction="add"))
    return Term(n, found).reshape(*((x, i) for i in range(rank))).value
