"""A converter's view of an MXNet operator, whose attributes are all text."""

from __future__ import annotations

import ast
import re

from ..common.fields import Ignored, IgnoredFields
from ..common.importer import NodeLayer
from ..common.rows import Rows
from ..common.vocabulary import *

IGNORED = IgnoredFields(
    Ignored("__* ctx cudnn_* workspace *lr_mult *wd_mult", "of training, and where MXNet computes"),
    Ignored("ctx_group force_mirroring mirror_stage", "of training, and where MXNet computes"),
    # Files tell all parameters of an operator, also those that have no meaning for its kind.
    Ignored(
        "grad_scale ignore_label use_ignore normalization out_grad smooth_alpha valid_thresh "
        "margin regularization_coefficient use_linear",
        "of losses and gradients",
        "*Output Softmax MakeLoss",
    ),
    Ignored("momentum penalty sparseness_target", "of training", "IdentityAttachKLSparseReg"),
    Ignored("preserve_shape", "channels are what it sums over", "SoftmaxOutput Softmax"),
    Ignored("slope lower_bound upper_bound", "of other functions", "LeakyReLU *leaky_relu"),
    Ignored("target_shape keep_highest", "'shape' takes their place", "Reshape reshape"),
    Ignored("use_length", "there are no lengths", "*softmax softmin"),
    Ignored("output_mean_var", "as the node's outputs tell", "LayerNorm GroupNorm *_norm"),
    Ignored("dtype", "as the weights have it", "*Embedding *embedding"),
    Ignored("num_args num_outputs num_out_data num_data num_weights", "as the node's inputs tell"),
    Ignored("num_filter num_hidden input_dim output_dim sparse_grad", "as the weights have it"),
    Ignored("kernel", "as the weights have it", "*Convolution* *Deconvolution* *_conv"),
    Ignored(
        "kernel stride pad pooling_convention count_include_pad",
        "not asked for, of the whole image",
        "*ooling*",
    ),
    Ignored("axis", "the only one", "SequenceReverse", ("0",)),
    Ignored("no_bias", "as the node's inputs tell"),
    Ignored(
        "momentum p use_global_stats output_mean_var",
        "of training",
        "*BatchNorm* *batch_norm Dropout",
    ),
    Ignored("axes", "of training", "Dropout"),
    Ignored("p", "of training", "RNN _npx_rnn"),
    Ignored("lstm_state_clip_min lstm_state_clip_max", "not clipped", values=("None",)),
    Ignored("lstm_state_clip_nan", "only where states are clipped", "RNN _npx_rnn"),
    Ignored("axis value", "not asked for, without lengths", "SequenceMask"),
    Ignored("sampler_type", "the only one", values=("bilinear",)),
    Ignored("transform_type", "the only one", values=("affine",)),
    Ignored("copy", "values are never changed in place"),
    Ignored("indices", "none", values=("[]", "()")),
    Ignored("infer_range", "without a meaning", values=("False",)),
    Ignored("is_int", "of a scalar that is written as such", "_npi_*_scalar"),
    Ignored("optimize", "the order of products", "_npi_einsum"),
    Ignored("out_type", "the only one", "_contrib_dequantize", ("float32",)),
    Ignored("output_score state_outputs", "as the node's outputs tell"),
)
rows = Rows(__package__ or "", IGNORED)

_LONG = re.compile(r"(?<=\d)L\b")  # Python 2 wrote its long integers so


def parsed(text: str) -> Any:
    """The value of a Python literal; any other word stays text."""
    try:
        return ast.literal_eval(_LONG.sub("", text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


class MxnetLayer(NodeLayer):
    """A node; `attributes` are text, such as `"(3, 3)"`."""

    attributes: Mapping[str, str]

    def get(self, name: str, default: Any = None) -> Any:
        """The parsed value of an attribute; the default if it is missing or None."""
        text = self.attributes.get(name)
        value = None if text is None else parsed(text)
        return default if value is None or value == "None" else value

    def int(self, name: str, default: int | None = None) -> int:
        """An integer. Raises NncError if it is no integer, or missing without a default."""
        value = self.get(name, default)
        if isinstance(value, float) and value == int(value):
            value = int(value)
        if not isinstance(value, int):
            raise self._fault(name, value, "an integer")
        return int(value)

    def size(self, name: str, default: int | None = None) -> int:
        """A positive integer, for an extent. Raises NncError if it is not."""
        value = self.int(name, default)
        if not 0 < value < 1 << 31:
            raise self._fault(name, value, "a number above 0")
        return value

    def float(self, name: str, default: float | None = None) -> float:
        """An attribute that is a number. Raises NncError if it is not."""
        value = self.get(name, default)
        if value in ("inf", "-inf", "nan"):
            return float(value)
        if not isinstance(value, int | float):
            raise self._fault(name, value, "a number")
        return float(value)

    def flag(self, name: str, default: bool = False) -> bool:
        """Whether an attribute is true."""
        return str(self.get(name, default)).lower() in ("true", "1")

    def text(self, name: str, default: str, *known: str) -> str:
        """A word. Raises NncError if it is none of those in `known`."""
        value = self.attributes.get(name, default)
        if known and value not in known:
            raise self._fault(name, value, " or ".join(known))
        return value

    def ints(self, name: str, default: tuple = (), count: int | None = None) -> tuple[int, ...]:
        """Integers; a single one is repeated `count` times. Raises NncError for another number of
        them.
        """
        value = self.get(name, default)
        value = (value,) * (count or 1) if isinstance(value, int) else value
        if not isinstance(value, tuple | list) or not all(isinstance(v, int) for v in value):
            raise self._fault(name, value, "integers")
        if count is not None and len(value) not in (0, count):
            raise self._fault(name, value, f"{count} integers")
        return tuple(value) if value or count is None else tuple(default)

    def optional_ints(self, name: str) -> tuple[int | None, ...]:
        """Integers, of which some may be None."""
        value = self.get(name, ())
        value = value if isinstance(value, tuple | list) else (value,)
        if not all(v is None or isinstance(v, int) for v in value):
            raise self._fault(name, value, "integers or None")
        return tuple(value)

    def floats(
        self, name: str, default: tuple[float, ...] = (), count: int | None = None
    ) -> tuple[float, ...]:
        """Numbers: `count` of them if given, and at least one if the default has some."""
        value = self.get(name, default)
        value = (value,) if isinstance(value, int | float) else value
        if not isinstance(value, tuple | list) or not all(
            isinstance(v, int | float) for v in value
        ):
            raise self._fault(name, value, "numbers")
        if len(value) != count if count is not None else default and not value:
            raise self._fault(name, value, f"{count or 'some'} numbers")
        return tuple(float(v) for v in value)

    def _fault(self, name: str, value: Any, expected: str) -> Exception:
        found = "left out" if value is None else f"'{value}'"
        return self.error(f"attribute '{name}' is {found}, expected {expected}")

    def element(self, name: str, default: Type) -> Type:
        """An element type, by its NumPy name."""
        text = self.attributes.get(name, "None")
        if text in ("None", "-1"):
            return default
        try:
            return numpy_to_type(np.dtype(text))
        except (TypeError, ValueError):
            raise self._fault(name, text, "an element type") from None

    def axes(self, name: str, rank: int) -> tuple[int, ...]:
        """Axes, counted from the front."""
        return normalize_axes(self, self.ints(name), rank)

    def term(self, value: Value) -> Term:
        """The value as a term, for formulas."""
        return Term(self, value)

    def axis(self, name: str, default: int | None, rank: int) -> int:
        """An axis, counted from the front."""
        axis = self.int(name, default)
        if not -rank <= axis < rank:
            raise self.error(f"attribute '{name}' is {axis}, expected an axis of rank {rank}")
        return axis % rank

    def transposed(self, x: Value, *permutation: int) -> Value:
        """x with its dimensions in another order."""
        return transposed(self, x, permutation)

    def part(self, x: Value, axis: int, begin: int, end: int) -> Value:
        """The elements [begin, end) of an axis."""
        return self.term(x).part(axis, begin, end).value

    def check_rank(self, x: Value, least: int) -> None:
        """Raise NncError if a value has fewer than `least` dimensions."""
        if x.type.rank < least:
            raise self.error(f"an input is '{x.type}', expected rank {least} or more")

    def zeros(self, shape: tuple[int, ...], element: Type, value: float = 0) -> Value:
        """A tensor whose elements all equal `value`."""
        return self(nn.Fill(self.constant(value, element), out=TensorType(shape, element)))
