"""Searches, tables, transforms, and other operations of single models."""

from __future__ import annotations

from ...common import blocks
from ...common.arrays import searchsorted
from ...common.columns import folded
from ...common.fourier import Complex, along_axes
from ...common.linear_algebra import identity_like, solve
from ...common.segments import combined_segments, count_of, segment_means, sizes
from ...common.vocabulary import *
from ..layer import OpenvinoLayer, rows


@rows("Bucketize")
def bucketize(n: OpenvinoLayer, x: Value, bounds: Value) -> Value:
    right = not n.flag("with_right_bound", True)
    return searchsorted(Term(n, bounds), Term(n, x), right=right).value


@rows("SearchSorted")
def search_sorted(n: OpenvinoLayer, table: Value, x: Value) -> Value:
    return searchsorted(Term(n, table), Term(n, x), right=n.flag("right_mode")).value


@rows("GRN")
def grn(n: OpenvinoLayer, x: Value) -> Value:
    t = Term(n, x)
    return (t / ((t * t).sum(1, keep=True) + n.float("bias")).function(nn.Sqrt)).value


@rows("Eye")
def eye(
    n: OpenvinoLayer, count: Value, columns: Value, at: Value, batch: Value | None = None
) -> Value:
    element = n.element("output_type")
    sizes = (as_scalar(n, as_i64(n, v)) for v in (count, columns, at))
    height, width, shift = (Term(n, v) for v in sizes)
    rows_, places = counting(n, height).spread(0, 1), counting(n, width)
    found = (places - rows_).equals(shift).cast(element).value
    if batch is None:
        return found
    wanted = joined([Term(n, as_i64(n, batch)), Term(n, shape_of(n, found))], 0)
    return broadcast_by(n, found, wanted.value)


@rows("SpaceToBatch", "BatchToSpace")
def to_batch(n: OpenvinoLayer, x: Value, block: Value, begins: Value, ends: Value) -> Value:
    """Blocks of all dimensions moved into the batch, or back; those of the batch itself are 1."""
    size = n.known_ints(block, "blocks")
    pairs = list(zip(n.known_ints(begins, "begins"), n.known_ints(ends, "ends"), strict=True))
    if size[0] != 1 or pairs[0] != (0, 0):
        raise n.error("blocks of the batch are not supported")
    work = blocks.space_to_batch if n.kind == "SpaceToBatch" else blocks.batch_to_space
    return work(n, x, size[1:], pairs[1:])


@rows("Col2Im")
def col2im(n: OpenvinoLayer, x: Value, extents: Value, kernel: Value) -> Value:
    size, kernel_ = n.known_ints(extents, "extents"), n.known_ints(kernel, "the kernel")
    pads = [*n.ints("pads_begin", [0, 0]), *n.ints("pads_end", [0, 0])]
    is_lone = x.type.rank == 2
    columns = unsqueezed(n, x, 0) if is_lone else x
    strides, dilations = n.ints("strides", [1, 1]), n.ints("dilations", [1, 1])
    found = folded(n, columns, size, kernel_, strides, dilations, pads)
    return squeezed(n, found, 0) if is_lone else found


@rows("Inverse")
def inverse(n: OpenvinoLayer, x: Value) -> Value:
    t = Term(n, x)
    whole = solve(t, identity_like(t))
    if not n.flag("adjoint", False):
        return whole.value
    raise n.error("adjugate matrices are not supported")


@rows("SliceScatter")
def slice_scatter(
    n: OpenvinoLayer,
    x: Value,
    updates: Value,
    start: Value,
    stop: Value,
    step: Value,
    axes: Value | None = None,
) -> Value:
    """x with a slice replaced: places of elements, sliced, tell where the updates go."""
    given = [n.known_ints(v, "a slice") for v in (start, stop, step)]
    along = range(len(given[0])) if axes is None else n.axes(x, axes)
    if None in x.type.shape:
        raise n.error("its extents must be known")
    places = np.arange(math.prod(x.type.shape)).reshape(x.type.shape)
    picks = [slice(None)] * x.type.rank
    for axis, first, last, by in zip(along, *given, strict=True):
        # An end before the first element is none where steps go backward.
        ends_before = by < 0 and last < -x.type.shape[axis]
        picks[axis] = slice(first, None if ends_before else last, by)
    chosen = constant(n, places[tuple(picks)].reshape(-1, 1))
    flat = Term(n, x).flat()
    made = nn.ScatterNd(flat.value, chosen.value, Term(n, updates).flat().value)
    return flat.made(made).reshape(*((x, i) for i in range(x.type.rank))).value


# -- bags of rows of a table -----------------------------------------------------------------------


def _weighted(n: OpenvinoLayer, table: Value, indices: Value, weights: Value | None) -> Term:
    """The rows at the indices [..], multiplied by weights [..]."""
    found = Term(n, gathered(n, table, as_i64(n, indices), 0))
    if weights is None:
        return found
    return found * Term(n, weights).spread(0, table.type.rank - 1)


@rows("EmbeddingBagPackedSum", "EmbeddingBagPacked")
def packed_bags(
    n: OpenvinoLayer, table: Value, indices: Value, weights: Value | None = None
) -> Value:
    """The sum, or the mean, of the table's rows in each bag: indices [B, N] -> [B, ..]."""
    found = _weighted(n, table, indices, weights)
    if n.text("reduction", "sum") == "mean":
        return found.mean(1).value
    return found.sum(1).value


@rows("EmbeddingBagOffsetsSum", "EmbeddingBagOffsets")
def bags(
    n: OpenvinoLayer,
    table: Value,
    indices: Value,
    offsets: Value,
    default: Value | None = None,
    weights: Value | None = None,
) -> Value:
    """The same of bags that lie one after another in indices [N], bag b from `offsets[b]` on."""
    starts = Term(n, as_i64(n, offsets))
    places = counting(n, extent(n, (indices, 0)))
    ids = searchsorted(starts, places, right=True) - 1
    found = _weighted(n, table, indices, weights)
    return _summed(n, table, found, ids, extent(n, (offsets, 0)), default)


@rows("EmbeddingSegmentsSum")
def segment_bags(
    n: OpenvinoLayer,
    table: Value,
    indices: Value,
    ids: Value,
    count: Value,
    default: Value | None = None,
    weights: Value | None = None,
) -> Value:
    """The same of `count` bags, where `ids` has the bag of each index."""
    found = _weighted(n, table, indices, weights)
    number = Term(n, as_scalar(n, as_i64(n, count)))
    return _summed(n, table, found, Term(n, as_i64(n, ids)), number, default)


@rows("SegmentMax")
def largest_of_segments(
    n: OpenvinoLayer, x: Value, ids: Value, count: Value | None = None
) -> Value:
    """The largest rows of each segment; one without rows is 0, or with LOWEST the least number."""
    mode = n.text("fill_mode", "zero")
    if mode not in ("zero", "lowest"):
        raise n.error(f"fill_mode '{mode}' is not supported")
    number = count_of(n, ids) if count is None else as_scalar(n, as_i64(n, count))
    found = combined_segments(n, x, ids, number, "max")
    if mode == "zero":
        return found
    is_float = isinstance(x.type.element_type, FloatType)
    about: Any = (np.finfo if is_float else np.iinfo)(type_to_numpy(x.type.element_type))
    empty = sizes(n, x, ids, number).equals(0)
    return empty.choose(about.min, Term(n, found)).value


def _summed(
    n: OpenvinoLayer, table: Value, found: Term, ids: Term, count: Term, default: Value | None
) -> Value:
    """The combined rows of each bag; an empty one is the default row of the table, or zeros."""
    known = None if default is None else n.known_int(default, "the default row")
    if n.text("reduction", "sum") == "mean":
        made = segment_means(n, found.value, ids.value, count.value)
    else:
        made = combined_segments(n, found.value, ids.value, count.value, "add")
    if known is None or known < 0:
        return made
    some = ids.spread(0, 1).equals(counting(n, count)).cast(i64).sum(0) > 0
    empty = Term(n, gathered(n, table, n.constant(known, i64), 0))
    return some.spread(0, table.type.rank - 1).choose(Term(n, made), empty).value


# -- transforms of Fourier -------------------------------------------------------------------------


@rows("DFT", "IDFT", "RDFT", "IRDFT")
def fourier(n: OpenvinoLayer, x: Value, axes: Value, sizes: Value | None = None) -> Value:
    """Transforms along axes; complex numbers are pairs in the last dimension."""
    is_pair = n.kind != "RDFT"
    given = Term(n, x)
    parts: Complex = (given.column(0), given.column(1)) if is_pair else (given, None)
    along = normalize_axes(n, n.known_ints(axes, "axes"), parts[0].rank)
    counts: list[Term | None] = [None] * len(along)
    if sizes is not None:
        wanted = n.known_ints(sizes, "sizes")
        counts = [None if v == -1 else constant(n, v, i64) for v in wanted]
    pairs = list(zip(along, counts, strict=True))
    inverse, half = n.kind in ("IDFT", "IRDFT"), n.kind in ("RDFT", "IRDFT")
    real, imaginary = along_axes(parts, pairs, inverse, half)
    if n.kind == "IRDFT":
        return real.value
    rest = real.zeros() if imaginary is None else imaginary
    return joined([real.spread(0, 1), rest.spread(0, 1)], -1).value
