"""A converter's view of a Keras layer: its configuration, call arguments and weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...dialects.nn.host_types import string
from ..common.complexes import Pair
from ..common.fields import Fields, Ignored, IgnoredFields
from ..common.graph import Node
from ..common.importer import NodeLayer
from ..common.rows import Rows
from ..common.vocabulary import *
from .masks import first_argument
from .structures import TYPES, flat

IGNORED = IgnoredFields(
    Ignored("*_initializer *_regularizer *_constraint initializer trainable", "of training"),
    Ignored("seed rate stddev noise_shape dropout recurrent_dropout", "of training"),
    Ignored("momentum *renorm*", "of training"),
    Ignored("mask", "of training", kinds="BatchNormalization"),
    Ignored("query_mask", "Keras takes that of the query itself", kinds="MultiHeadAttention"),
    Ignored("training", "what predicts gives False, whatever the call says"),
    Ignored("name dtype batch_input_shape input_shape *_input_shape autocast", "of the graph"),
    Ignored("build_config *_shape", "of the weights", kinds="*Attention EinsumDense"),
    Ignored("implementation use_cudnn flash_attention unroll swap_memory", "how Keras computes it"),
    Ignored("ragged sparse synchronized", "what is not there", values=(False,)),
    Ignored("synchronized", "of training on several devices", kinds="BatchNormalization"),
    Ignored("init_values projection_dim", "weights have it", kinds="LayerScale"),
    Ignored("units filters kernel_size depth_multiplier input_dim output_dim", "weights have it"),
    Ignored("key_dim value_dim head_dim num_heads num_*_heads", "weights have it"),
    Ignored("unit_forget_bias", "of the first weights"),
    Ignored(
        "fft_length frame_length window periodic scaling", "weights have it", "STFTSpectrogram"
    ),
    Ignored("return_attention_scores", "whether a second output is there"),
    Ignored("full_matrices", "default", values=(True,)),
    Ignored("function", "the name of the row", kinds="tf.*"),
    Ignored("validate_indices conjugate", "checked, or of complex numbers", kinds="tf.*"),
    Ignored("batch_dims", "none", kinds="tf.*gather", values=(0,)),
    Ignored("sorted", "sorted results are right too", kinds="tf.*"),
    Ignored("antialias preserve_aspect_ratio", "default", "tf.image.resize", values=(False,)),
    Ignored("layer", "the graph inside has it", kinds="TimeDistributed"),
    Ignored("center scale", "a spread has a scale only", kinds="LayerNormalization"),
    Ignored("pad_to_aspect_ratio", "crops instead", values=(False,)),
    Ignored("fill_mode", "the only one", values=("constant",)),
    Ignored("fill_value", "nothing is filled", kinds="Resizing ops.*"),
    Ignored("softmax_robust_masking equal_nan assume_unique", "default", values=(False,)),
    Ignored("axisa axisb axisc", "default", kinds="ops.Cross", values=(-1,)),
    Ignored("sorted", "sorted results are right too", kinds="ops.TopK"),
    Ignored("sorted", "default", kinds="ops.Unique", values=(True,)),
    Ignored("sorted", "tells how to compute it", kinds="ops.Segment*"),
    Ignored("beam_width top_paths", "of another strategy", kinds="ops.CTCDecode"),
    Ignored("stateful", "default", kinds="ConvLSTM*", values=(False,)),
    Ignored("use_scale", "weights have it", kinds="AdditiveAttention"),
    Ignored(
        "max_tokens vocabulary_size vocabulary_dtype", "the words have it",
        "*Lookup TextVectorization",
    ),
    Ignored("pad_to_max_tokens", "default", "*Lookup TextVectorization", values=(False,)),
    Ignored("oov_method", "default", kinds="*Lookup", values=("floormod",)),
    Ignored("encoding", "text is in it", "StringLookup TextVectorization", values=("utf-8",)),
    Ignored("*", "does nothing at inference", kinds=(
        "Random* AugMix CutMix MixUp RandAugment MaxNumBoundingBoxes Solarization *Dropout* "
        "Gaussian* ActivityRegularization StochasticDepth")),
    Ignored("data_format", "one dimension, or none that matters", kinds="AutoContrast Flatten"),
    Ignored("epsilon num_bins", "of adapting", kinds="Discretization"),
    Ignored("shared_axes", "weights have it", kinds="PReLU"),
    Ignored("mask_zero", "where it is called the other way round", kinds="ReversibleEmbedding"),
    Ignored("lora_rank lora_alpha", "merged in the weights"),
    Ignored("tie_weights", "weights have it", kinds="ReversibleEmbedding"),
    Ignored("groups", "Keras 2 does not use it", "*Transpose Separable* Depthwise*"),
)  # fmt: skip
ROWS = Rows(__package__ or "", IGNORED)
FLOATING = {
    "AugMix", "AutoContrast", "BatchNormalization", "CenterCrop", "CutMix", "Dense",
    "RandAugment", "RandomElasticTransform", "RandomErasing", "RandomFlip", "RandomGaussianBlur",
    "RandomPerspective", "RandomRotation", "RandomSharpness", "RandomShear", "RandomTranslation",
    "RandomZoom", "Solarization", "UnitNormalization",
}  # fmt: skip
"""Layers that take integers as floats."""
FLOATING_IN_2 = {"RandomBrightness", "RandomContrast", "Resizing"}
"""Those of Keras 2 that do so, too."""
REQUIRED = object()
MISFITS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)


def element_type(name: Any) -> Type | None:
    """The element type of a dtype or policy name; None if unknown."""
    return TYPES.get(str(name or "float32").removeprefix("mixed_"))


@dataclass(frozen=True)
class Slot:
    """Stands for a tensor in the arguments of a call: the index of the node's input."""

    index: int


@dataclass(frozen=True)
class Call:
    """A call of a layer. The node's inputs are the tensors in the arguments, then masks and
    weights; these fields refer to inputs by slots.
    """

    config: Mapping[str, Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    masks: Mapping[Slot, Slot] = field(default_factory=dict)
    """The masks of the tensors that have one."""
    weights: Sequence[Slot] = ()
    inner: Mapping[str, Call] = field(default_factory=dict)
    """The layers inside of a wrapper."""


class KerasLayer(NodeLayer):
    """A layer whose converter reads `args`, `option(..)` and `weights`."""

    attributes: Call

    def __init__(self, importer: Any, node: Node) -> None:
        super().__init__(importer, node)
        self._inputs: Sequence[Any] = ()
        self.config = Fields(self.attributes.config)
        self.kwargs = Fields(self.attributes.kwargs)
        self._parts: list[tuple[str, Fields]] = []
        self.keeps_types = False
        """Whether results may have other types than the policy's."""

    def part(self, name: str, config: Mapping[str, Any]) -> Fields:
        """The configuration of a nested layer."""
        self._parts.append((f"{name}.", Fields(config)))
        return self._parts[-1][1]

    @contextmanager
    def inside(self, config: Mapping[str, Any]) -> Iterator[None]:
        """In the context, `option` etc. read the configuration of a nested layer."""
        whole, self.config = self.config, Fields(config)
        yield
        self.config = whole

    def unread(self) -> Iterator[tuple[str, Any]]:
        """The configuration fields and named arguments that no converter has read."""
        for prefix, fields in (("", self.config), ("", self.kwargs), *self._parts):
            yield from ((prefix + name, value) for name, value in fields.unread())

    def given(self, inputs: Sequence[Any]) -> KerasLayer:
        """This layer with the values of its inputs, floats in its compute type."""
        self._inputs = inputs
        if self._has_policy:
            exact = self.kind.endswith(("Normalization", "ReversibleEmbedding"))
            # These round no weights.
            weights = {slot.index for slot in self.attributes.weights}
            whole = weights if exact else ()
            self._inputs = [
                self._cast(self._floating(x) if i not in weights else x, i in whole)
                for i, x in enumerate(inputs)
            ]
        return self

    def results(self, found: Any) -> Any:
        """The layer's outputs, floats in the output type of its policy."""
        if not self._has_policy or self.keeps_types:
            return found
        if isinstance(found, list | tuple):
            return [self.results(one) for one in found]
        is_float = isinstance(found, Value) and isinstance(found.type.element_type, FloatType)
        return self.cast(found, self.result) if is_float and self.result is not string else found

    @property
    def _has_policy(self) -> bool:
        return self.config.get("dtype") is not None and not self.kind.startswith(("ops.", "tf."))

    def _floating(self, x: Any) -> Any:
        """A tensor of integers as the floats that the layer makes of them."""
        kinds = FLOATING | FLOATING_IN_2 if self.is_old else FLOATING
        is_whole = self.kind in kinds and isinstance(x, Value)
        is_whole = is_whole and isinstance(x.type.element_type, IntegerType)
        return self.cast(x, self.result) if is_whole and x.type.element_type is not i1 else x

    def _cast(self, x: Any, exact: bool) -> Any:
        """A float rounded by the layer's policy, in its compute type."""
        if not isinstance(x, Value) or not isinstance(x.type.element_type, FloatType):
            return x
        if self.kind == "Discretization":  # it compares floats, whatever its policy
            return self.cast(x, f32)
        return self.cast(x if exact else self.cast(x, self.result), self.element)

    def option(self, name: str, default: Any = REQUIRED) -> Any:
        """A field of the configuration. Raises NncError if a required one is missing."""
        if name in self.config:
            return self.config[name]
        if default is REQUIRED:
            raise self.error(f"the configuration has no '{name}'")
        return default

    def integer(self, name: str, default: Any = REQUIRED) -> int:
        """A field that is an integer."""
        found = self.option(name, default)
        if not isinstance(found, int) or isinstance(found, bool):
            raise self.error(f"'{name}' is {found!r}, expected an integer")
        return found

    def number(self, name: str, default: Any = REQUIRED) -> float:
        """A field that is a number."""
        found = self.option(name, default)
        if not isinstance(found, int | float):
            raise self.error(f"'{name}' is {found!r}, expected a number")
        return float(found)

    def integers(self, name: str, count: int, default: Any = REQUIRED) -> tuple[int, ...]:
        """A field that is a list of `count` integers, or one for all."""
        found = self.option(name, default)
        listed = [found] * count if isinstance(found, int) else found
        if not (
            isinstance(listed, list | tuple)
            and len(listed) == count
            and all(isinstance(i, int) for i in listed)
        ):
            raise self.error(f"'{name}' is {found!r}, expected {count} integers")
        return tuple(listed)

    def choice(self, name: str, *choices: str, default: Any = REQUIRED) -> str:
        """A field that is one of `choices`."""
        found = self.option(name, default)
        if found not in choices:
            raise self.error(f"'{name}' is {found!r}, expected one of {', '.join(choices)}")
        return found

    @property
    def element(self) -> Type:
        """The element type of the weights and the computation; results may have fewer bits."""
        mixed = str(self._policy).startswith("mixed_")
        return f32 if mixed else element_type(self._policy) or f32

    @property
    def _policy(self) -> Any:
        """The policy that names the types of weights and computation."""
        policy = self.config.get("dtype")
        if isinstance(policy, dict):
            policy = policy.get("config") or {}
            policy = policy.get("name") or policy.get("source_name")
        return policy

    @property
    def result(self) -> Type:
        """The element type of inputs and outputs."""
        return element_type(self._policy) or f32

    @property
    def quantization(self) -> str | None:
        """The quantization of the weights: int8, ..; None for none."""
        policy = self.config.get("dtype")
        inner = policy.get("config") if isinstance(policy, dict) else None
        return inner.get("mode") if isinstance(inner, dict) else None

    def value(self, argument: Any) -> Any:
        """An argument with its slots replaced by values."""
        match argument:
            case Slot():
                return self._inputs[argument.index]
            case list() | tuple():
                return [self.value(item) for item in argument]
            case dict():
                return {key: self.value(item) for key, item in argument.items()}
        return argument

    @property
    def args(self) -> list[Any]:
        """The positional arguments of the call."""
        return self.value(list(self.attributes.args))

    def argument(self, position: int, name: str, default: Any = None) -> Any:
        """A call argument by position or name, or else the configuration's field `name`."""
        if position < len(self.attributes.args):
            return self.value(self.attributes.args[position])
        if name in self.kwargs:
            return self.value(self.kwargs[name])
        return self.config.get(name, default)

    def keyword(self, name: str, default: Any = None) -> Any:
        """A named argument of the call."""
        return self.value(self.kwargs.get(name, default))

    def mask_of(self, position: int, name: str) -> Value | None:
        """The mask of the tensor in a call argument."""
        args = self.attributes.args
        found = args[position] if position < len(args) else self.kwargs.get(name)
        mask = self.attributes.masks.get(found) if isinstance(found, Slot) else None
        return self.value(mask)

    @property
    def masks(self) -> list[Value | None]:
        """The masks of the tensors in the first argument, or the mask arguments."""
        given = self.keyword("mask")
        if isinstance(given, list):
            return given
        first = flat(first_argument(self.attributes.args, self.attributes.kwargs))
        slots = [self.attributes.masks.get(one) for one in first if isinstance(one, Slot)]
        return [None if slot is None else self.value(slot) for slot in slots]

    @property
    def mask(self) -> Value | None:
        """The mask argument, or the mask of the call's only tensor (in Keras 2, its first)."""
        given = self.keyword("mask")
        if isinstance(given, Value):
            return given
        parts = [*self.attributes.args, *self.attributes.kwargs.values()]
        alone = sum(any(isinstance(one, Slot) for one in flat(part)) for part in parts) == 1
        return next(iter(self.masks), None) if alone or self.is_old else None

    @property
    def is_old(self) -> bool:
        """Whether Keras 1 or 2 wrote the model."""
        return self.builder.graph.producer.startswith(("1.", "2."))

    def weights(self, *counts: int) -> list[Value]:
        """The weights. Raises NncError unless their number is one of `counts`."""
        found = [self.value(slot) for slot in self.attributes.weights]
        if counts and len(found) not in counts:
            expected = " or ".join(map(str, counts))
            raise self.error(f"it has {len(found)} weights, expected {expected}")
        return found

    def tensor(self, position: int = 0) -> Value:
        """An argument that must be a tensor. Raises NncError if it is not."""
        found = self.args[position] if position < len(self.attributes.args) else None
        if isinstance(found, list) and len(found) == 1:
            found = found[0]
        if isinstance(found, Pair):
            raise self.error("complex tensors are not supported here")
        if not isinstance(found, Value):
            raise self.error("it is not called with a tensor")
        return found

    def tensors(self) -> list[Value]:
        """The tensor arguments of the layer: a list, or several arguments."""
        found: list[Value] = []
        for item in self.args:
            found += item if isinstance(item, list) else [item]
        if any(isinstance(item, Pair) for item in found):
            raise self.error("complex tensors are not supported here")
        if not found or not all(isinstance(item, Value) for item in found):
            raise self.error("it is not called with tensors")
        return found


Convert = Callable[[KerasLayer], Any]


def layer(*kinds: str) -> Callable[[Convert], Convert]:
    """Register the function that imports layers of these classes.

    It reads arguments, masks and weights from the layer, as they are not positional.
    """

    def register(function: Convert) -> Convert:
        ROWS.add({kind: called(function) for kind in kinds})
        return function

    return register


def called(function: Convert) -> Callable[..., Any]:
    """The converter in the importer's form: called with all inputs of the node.

    A configuration may have anything anywhere: misfits become errors of the layer.
    """

    def convert(n: KerasLayer, *inputs: Any) -> Any:
        try:
            return n.results(function(n.given(inputs)))
        except MISFITS as fault:
            text = f"{type(fault).__name__}: {fault}"
            raise n.error(f"the configuration or the call does not fit: {text}") from fault

    return convert
