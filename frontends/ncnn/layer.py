"""A converter's view of a layer of ncnn."""

from __future__ import annotations

from collections.abc import Iterator

from ..common.fields import Fields, Ignored, IgnoredFields
from ..common.graph import Node
from ..common.importer import Importer, NodeLayer
from ..common.rows import Rows
from ..common.vocabulary import *
from .param import Entry, Parameters
from .weights import parts

NONE = Parameters()


IGNORED = IgnoredFields(
    Ignored(
        "0 1 2 3", "sizes, as the weights tell", "Embed InstanceNorm GroupNorm LayerNorm RMSNorm"
    ),
    Ignored("0 1 2 3 18", "sizes and the kind of weights", "Normalize Scale Embed PReLU BatchNorm"),
    Ignored("1", "a number is beside it, as parameter 2 tells", "BinaryOp"),
    Ignored("7 8 9 10", "sizes, as the operands tell", "Gemm"),
    Ignored("12", "how elements of the result are packed in memory", "Gemm"),
    Ignored("5 6", "not asked for, but with constants", "Padding"),
    Ignored("6", "corners of linear resampling", "Interp"),
    Ignored("7", "without ratios", "PriorBox"),
    # Converters write all parameters, also those that others make meaningless.
    Ignored("1 2 3 5 6 8 11 12 13 14 15 18", "not asked for, of the whole image", "Pooling"),
    Ignored("2", "an operand takes its place", "BinaryOp"),
    Ignored("0 1 2 11", "the list of axes takes their place", "ExpandDims Squeeze"),
    Ignored("0 1 2 3 4 5 6 7 8 13 14 15", "lists of bounds take their place", "Crop"),
    Ignored("0", "the operand has it", "Cast"),
    Ignored("1", "f32, as all values", "Cast", (1,)),
    Ignored("7", "one group; more of them are ConvolutionDepthWise", "Convolution", (1,)),
    Ignored(
        "0 1 5 6 11 21",
        "sizes, as the weights tell, which may be blobs",
        "Convolution* Deconvolution*",
    ),
    Ignored("5", "how axes count, of which none is named", "Reduction"),
    Ignored("6", "how frames at the ends are padded, which are not asked for", "Spectrogram"),
    Ignored("1", "axes count as they do today", "Softmax Reduction", (1,)),
)
rows = Rows(__package__ or "", IGNORED)


class NcnnLayer(NodeLayer):
    """A layer; its parameters by number, its weights by name."""

    def __init__(self, importer: Importer, node: Node) -> None:
        super().__init__(importer, node)
        given: Parameters = node.attributes or NONE
        parameters = self.parameters = Parameters(Fields(given.found))
        self.has = parameters.found.__contains__
        self.int, self.float = parameters.int, parameters.float
        self.ints, self.floats = parameters.ints, parameters.floats
        self.text = parameters.text

    def unread(self) -> Iterator[tuple[str, Any]]:
        """The parameters that neither the shapes of weights nor a converter has read."""
        assert isinstance(self.parameters.found, Fields)
        list(parts(Entry(self.kind, self.node.name, (), (), self.parameters)))
        return ((str(number), value) for number, value in self.parameters.found.unread())

    def has_weight(self, name: str) -> bool:
        """Whether the layer has this weight."""
        return f"{self.node.name}.{name}" in self.builder.graph.constants

    def array_of(self, name: str) -> np.ndarray:
        """A weight as an array of f32, or of int8 if it is stored so."""
        found = self.builder.graph.constants[f"{self.node.name}.{name}"]
        return found if found.dtype == np.int8 else np.asarray(found, np.float32)

    def weight(self, name: str) -> Value:
        """A weight as a value of f32."""
        return self.stored(name, self.array_of(name))

    def optional(self, name: str) -> Value | None:
        """A weight, or None where the layer has none of the name."""
        return self.weight(name) if self.has_weight(name) else None

    def stored(self, name: str, array: np.ndarray) -> Value:
        """A constant array derived from a weight, under its name."""
        array = np.asarray(array, np.float32)
        return self.builder.constant(array, self.loc, key=f"{self.node.name}.{name}")

    def axis(self, x: Value, axis: int) -> int:
        """The axis of the value for an axis of a blob, which has no batch dimension."""
        return 1 + normalize_axis(self, axis, x.type.rank - 1)

    def with_rank(self, x: Value, rank: int) -> Value:
        """x extended to a rank by dimensions of extent 1 after the batch."""
        return reshape(self, x, [1, *[1] * (rank - x.type.rank), *dims(x)[1:]])

    def image(self, x: Value, dims: int) -> Value:
        """x as [1, channels, extents..]. Raises NncError if its rank is higher."""
        if x.type.rank > dims + 2:
            found = x.type.rank - 1
            why = f"a blob of {found} dimensions, expected {dims + 1}; ncnn's blobs have no batch"
            raise self.error(why)
        return self.with_rank(x, dims + 2)

    def per_channel(self, name: str, x: Value) -> Value:
        """A weight with one element per channel, or a single one, shaped to broadcast against x."""
        array = self.array_of(name)
        return self.stored(name, array.reshape(-1, *[1] * (x.type.rank - 2)))


def cut(n: NcnnLayer, x: Value, axis: int, begin: int, end: int | None) -> Value:
    """The elements [begin, end) of an axis, or up to its end. Raises NncError for none."""
    found = slice_axis(n, x, axis, begin, FAR if end is None else end)
    if found.type.shape[axis] == 0:
        raise n.error(
            f"no element is in the range {begin}:{end} of an axis of {x.type.shape[axis]} elements"
        )
    return found


def part(n: NcnnLayer, x: Value, axis: int, begin: int, count: int) -> Value:
    """`count` elements of an axis from `begin` on."""
    return slice_axis(n, x, axis, begin, begin + count)


def by_axes(n: NcnnLayer, x: Value, axes: Sequence[int]) -> tuple[int, ...]:
    """The axes of x that are meant by axes of ncnn, which do not count the batch dimension."""
    return tuple(n.axis(x, axis) for axis in axes)
