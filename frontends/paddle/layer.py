"""A converter's view of an operator of PaddlePaddle.

Vectors of PIR, which hold several values, are Python lists of values here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import wraps

from ..common.complexes import by_parts, constant_pair, has_pairs, is_complex
from ..common.elements import ELEMENTS
from ..common.fields import Ignored, IgnoredFields
from ..common.importer import NodeLayer
from ..common.rows import Convert, Rows
from ..common.vocabulary import *
from .operators import of_operands
from .params import TYPES

IGNORED = IgnoredFields(
    # What PaddlePaddle before 2.3 writes of each operator, and its quantizers.
    Ignored("is_test", "it is", values=(True,)),
    Ignored("exhaustive_search use_addto use_quantizer workspace_size_MB", "how Paddle does it"),
    Ignored("Scale_in* Scale_out Scale_weights Scale_x Scale_y", "none", values=(1.0, [1.0])),
    Ignored("scale_x scale_y scale_out", "none", "mul", (1.0, [1.0])),
    Ignored("force_fp32_output fuse_relu* fuse_brelu", "not asked for", values=(False,)),
    Ignored("fuse_residual_connection", "not asked for", values=(False,)),
    Ignored("fuse_activation x_data_format y_data_format", "not asked for", values=("",)),
    Ignored("fuse_alpha fuse_beta fuse_brelu_threshold", "of a function that is not asked for"),
    Ignored("fused_reshape_* fused_transpose_*", "not asked for", values=([],)),
    Ignored("head_number", "not asked for", "matmul", (1,)),
    Ignored("threshold", "as the name tells", "relu6", (6.0,)),
    Ignored("beta", "not asked for", "swish", (1.0,)),
    Ignored("data_format", "any", values=("AnyLayout",)),
    Ignored(
        "entry entry_config epmap grad_inplace height_sections is_distributed table_names "
        "table_class trainer_id slot",
        "of training on several machines",
        "*embedding *lookup_table*",
    ),
    Ignored("out_threshold skip_quant quantization_type bit_length", "notes of quantizers"),
    Ignored("bias_after_scale", "not asked for, without a bias", "scale scale_"),
    Ignored("dtype", "floats, as the row gives", "one_hot", (5,)),
    Ignored("dtype shape", "as the tensors tell", "set_value set_value_"),
    Ignored("padding", "as the extents of its result tell", "unpool"),
    Ignored(
        "op_* struct_name name stop_gradient with_quant_attr *mkldnn* use_cudnn",
        "of Paddle's tools",
    ),
    Ignored(
        "place place_type force_cpu use_onednn is_persistable persistable", "where Paddle computes"
    ),
    Ignored(
        "infer_flags in_dtype only_observer im2col_step sparse is_sparse remote_prefetch",
        "how Paddle does it",
    ),
    Ignored("stable", "nnc's orders are", values=(False, True)),
    Ignored("out_dtype", "that of the input", values=(-1,)),
    Ignored("momentum trainable_statistics", "of training", "batch_norm batch_norm_"),
    Ignored("fuse_with_relu", "not asked for", "batch_norm batch_norm_", (False,)),
    Ignored("is_test seed fix_seed dropout_prob", "of training", "dropout rnn *quantize_linear"),
    Ignored("hidden_size input_size", "as the weights have it", "rnn"),
    Ignored(
        "str_value bool_values *_values value values",
        "one of the forms of a constant",
        "fill_constant assign_value set_value",
    ),
    Ignored("*_values", "other forms of a constant", "assign_value_ set_value_"),
    Ignored("value", "read as a constant", "full_like"),
    Ignored("align_mode", "of linear resampling", "nearest_interp bicubic_interp"),
    Ignored("align_mode", "of corners that are not aligned", "*linear_interp"),
    Ignored("scale", "not asked for, with extents", "*_interp"),
    Ignored("interp_method", "as the operator's name tells", "*_interp"),
    Ignored(
        "ksize strides paddings ceil_mode exclusive padding_algorithm kernel_size",
        "not asked for, of whole images",
        "*pool*",
    ),
    Ignored("paddings", "not asked for, with SAME or VALID", "conv* depthwise_conv*"),
    Ignored("decrease_axes", "as the shape tells", "set_value set_value_"),
    Ignored("epsilon", "of gradients", "p_norm"),
    Ignored("gaussian_sigma", "of Gaussian decay", "matrix_nms"),
    Ignored("iou_aware_factor", "of boxes that know overlaps", "yolo_box"),
    Ignored("padding_value", "what it is", "diag", (0.0,)),
    Ignored("Include_self include_self", "what the row does", values=(True,)),
    Ignored("allow_out_of_range", "what the row does", values=(False,)),
    Ignored("lambda threshold", "of gradients", "mish", (20.0,)),
    Ignored("qmin", "int8", values=(-128,)),
    Ignored("qmax", "int8", values=(127,)),
    Ignored("round_type", "to even", values=(0,)),
    Ignored("numeric_stable_mode return_*", "what the row does"),
    Ignored("ignore_index", "of labels by number", "cross_entropy_with_softmax", (-100,)),
    Ignored("is_arithmetic", "of shifts to the right", "bitwise_left_shift"),
    Ignored("output_size repeats", "as the other inputs tell", "repeat_interleave*"),
    Ignored("output_channels", "as the input has them", "psroi_pool"),
    Ignored("unpooling_type", "the only one", "unpool", ("max",)),
    Ignored("data_format", "the only one", "unpool", ("NCHW",)),
    Ignored("axis", "not asked for", "add subtract multiply divide equal not_equal", (-1,)),
    Ignored("unpack_*", "what the row does", "lu_unpack"),
    Ignored("axes axis", "not asked for, in another form", "squeeze unsqueeze"),
    Ignored("num", "not asked for, with sections", "split", (0,)),
    Ignored("num", "as the extent tells", "unstack"),
    Ignored("target_shape", "as the other operand has it", "expand_as"),
)
MOVES = {
    "assign", "concat", "cumsum", "expand", "expand_as", "flatten", "flip", "frame", "full_like",
    "gather", "gather_nd", "index_select", "mean", "overlap_add", "pad", "pad3d",
    "repeat_interleave", "reshape", "roll", "slice", "split", "split_with_num", "squeeze", "stack",
    "strided_slice", "sum", "take_along_axis", "tile", "transpose", "tril", "triu", "unbind",
    "unsqueeze", "unstack", "where", "zeros_like",
}  # fmt: skip
"""Operators that do the same to the real and to the imaginary part, each by itself."""

_COMPLEX = "complex."
_COMPLEX_ELEMENTS = {"complex64": ComplexType(f32), "complex128": ComplexType(f64)}


class PaddleRows(Rows):
    """Rows of which `complex.NAME` is of the operator NAME with complex operands."""

    def find(self, kind: str) -> Convert | None:
        """The converter of an operator; None if there is none."""
        plain, own = super().find(kind), super().find(_COMPLEX + kind)
        if kind.removesuffix("_") in MOVES and plain is not None:
            own = by_parts(plain)
        if own is None:
            return plain

        @wraps(plain or own)
        def convert(n: PaddleLayer, *inputs: Any) -> Any:
            given = _with_pairs(n, inputs)
            return (own if plain is None or has_pairs(given) else plain)(n, *given)

        return convert

    def __iter__(self) -> Iterator[str]:
        """The names of all operators, sorted."""
        return iter(sorted({name.removeprefix(_COMPLEX) for name in super().__iter__()}))


def _with_pairs(n: PaddleLayer, values: Any) -> list[Any]:
    """Values with complex constants as pairs, also those in lists."""
    return [
        _with_pairs(n, v)
        if isinstance(v, list | tuple)
        else constant_pair(n, v)
        if isinstance(v, Value) and is_complex(v.type)
        else v
        for v in values
    ]


rows = PaddleRows(__package__ or "", IGNORED)


class PaddleLayer(NodeLayer):
    """An operator; its attributes by name."""

    def unread(self) -> Iterator[tuple[str, Any]]:
        """The attributes that no converter has read, and that are not operands in PIR's form."""
        operands = of_operands(self.kind)
        return ((name, value) for name, value in super().unread() if name not in operands)

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute, unconverted."""
        found = self.attributes.get(name)
        return default if found is None else found

    def int(self, name: str, default: int = 0) -> int:
        return int(self._number(name, default))

    def float(self, name: str, default: float = 0.0) -> float:
        return float(self._number(name, default))

    def flag(self, name: str, default: bool = False) -> bool:
        return bool(self.get(name, default))

    def text(self, name: str, default: str = "") -> str:
        return str(self.get(name, default))

    def _number(self, name: str, default: Any) -> Any:
        value = self.get(name, default)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if not isinstance(value, int | float | bool):
            raise self.error(f"attribute '{name}' is {value!r}, expected a number")
        return value

    def ints(self, name: str, default: Sequence[int] = ()) -> tuple[int, ...]:
        """A list of integers."""
        value = self.get(name, default)
        value = value if isinstance(value, list | tuple) else [value]
        if not all(isinstance(v, int | float) for v in value):
            raise self.error(f"attribute '{name}' is {value!r}, expected integers")
        return tuple(int(v) for v in value)

    def floats(self, name: str) -> tuple[float, ...]:
        """A list of numbers."""
        value = self.get(name, ())
        if not isinstance(value, list | tuple) or not all(
            isinstance(v, int | float) for v in value
        ):
            raise self.error(f"attribute '{name}' is {value!r}, expected numbers")
        return tuple(float(v) for v in value)

    def element(self, name: str, default: Type) -> Type:
        """An element type that an attribute names."""
        value = self.get(name)
        if isinstance(value, int):
            return TYPES.get(value, default)
        return _COMPLEX_ELEMENTS.get(str(value)) or ELEMENTS.get(str(value), default)

    def axis(self, x: Value, axis: int) -> int:
        return normalize_axis(self, axis, x.type.rank)

    def known_axes(self, value: Any, x: Value) -> tuple[int, ...]:
        """The axes that an operand holds; all axes if it is empty."""
        axes = self.numbers(value, "axes") if value is not None and x.type.rank else ()
        return tuple(self.axis(x, a) for a in axes) or tuple(range(x.type.rank))

    def numbers(self, value: Any, what: str) -> tuple[int, ...]:
        """The known integers in an operand, a tensor or a vector. Raises NncError if unknown."""
        parts = value if isinstance(value, list | tuple) else [value]
        return tuple(number for part in parts for number in self.known_ints(part, what))

    def vector(self, value: Any) -> Value:
        """A 1-D i64 tensor, from a tensor, a list with one, or a list of one-element tensors."""
        if isinstance(value, list | tuple) and len(value) == 1:
            (value,) = value
        if not isinstance(value, list | tuple):
            value = as_i64(self, value)
            return value if value.type.rank == 1 else reshape(self, value, [1])
        if not value:
            return self.constant(np.zeros(0, np.int64))
        return self(nn.Concat([reshape(self, as_i64(self, part), [1]) for part in value], axis=0))

    def wanted(self, value: Any) -> tuple[Value, list[int | None]]:
        """The extents in an operand as a 1-D i64, and as a list with None for unknown ones."""
        vector = self.vector(value)
        known = self.extents(vector)
        if known is None:
            raise self.error("the number of extents must be known at import")
        return vector, list(known)
