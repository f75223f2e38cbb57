"""A converter's view of a layer of Caffe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..common.fields import Ignored, IgnoredFields, RecordFields
from ..common.graph import Node
from ..common.importer import Importer, NodeLayer
from ..common.rows import Rows
from ..common.vocabulary import *
from ..wire.protobuf import Record


@dataclass(frozen=True)
class Attributes:
    """A layer's message, and its weights."""

    record: Record
    blobs: Sequence[np.ndarray]


IGNORED = IgnoredFields(
    Ignored("name type bottom top blobs phase include exclude", "read where the graph is made"),
    Ignored("param loss_weight propagate_down loss_param *.lr_mult *.decay_mult", "of training"),
    Ignored(
        "field_8 field_10 field_11 field_5 field_6 field_7 blobs_lr weight_decay", "of training"
    ),
    Ignored("*_filler *_param.filler", "how training begins"),
    Ignored("*_param.engine *.cudnn_* transform_param", "how Caffe computes it, and of data"),
    Ignored("convolution_param.field_7 convolution_param.field_8", "how training begins"),
    Ignored("convolution_param.field_15 convolution_param.field_17", "how Caffe computes it"),
    Ignored("convolution_param.force_nd_im2col", "how Caffe computes it"),
    Ignored("convolution_param.axis", "channels, as nnc has them", values=(1,)),
    Ignored("inner_product_param.field_3 inner_product_param.field_4", "how training begins"),
    Ignored("scale_param.field_3 scale_param.field_5 bias_param.field_3", "how training begins"),
    Ignored("prelu_param.field_1 recurrent_param.field_[23]", "how training begins"),
    Ignored("recurrent_param.field_4 recurrent_param.debug_info", "messages"),
    Ignored("lrn_param.field_6 pooling_param.field_11 relu_param.field_2", "how Caffe computes it"),
    Ignored(
        "softmax_param.field_1 field_124 field_127 sigmoid_param tanh_param", "how Caffe does it"
    ),
    Ignored("dropout_param.dropout_ratio", "of training", "Dropout"),
    Ignored("eltwise_param.stable_prod_grad", "of gradients"),
    Ignored(
        "pooling_param.kernel_* pooling_param.stride* pooling_param.pad*",
        "not asked for, of the whole image",
        "Pooling",
    ),
    Ignored("field_101 field_42 accuracy_param", "of training"),
    Ignored("*.moving_average_fraction batch_norm_param.field_2 bn_param.field_2", "of training"),
    Ignored("embed_param.input_dim", "as the blob has it"),
    Ignored("embed_param.field_4 embed_param.field_5 norm_param.field_2", "how training begins"),
    Ignored("python_param.module", "the layer's name tells it"),
    Ignored("detection_output_param.save_output_param detection_output_param.field_5", "files"),
    Ignored("detection_output_param.visualize*", "pictures"),
)
rows = Rows(__package__ or "", IGNORED)


class CaffeLayer(NodeLayer):
    """A layer that is being imported; `p` gives its parameters, with their defaults."""

    attributes: Attributes

    def __init__(self, importer: Importer, node: Node) -> None:
        super().__init__(importer, node)
        self.record = RecordFields(node.attributes.record)

    def unread(self) -> Iterator[tuple[str, Any]]:
        """The parameters that no converter has read."""
        return self.record.unread()

    def p(self, name: str) -> Record:
        """A message of parameters: `n.p("convolution")`."""
        return self.record.part(f"{name}_param")

    @property
    def blobs(self) -> int:
        """How many blobs of weights there are."""
        return len(self.attributes.blobs)

    def blob(self, i: int, *shape: int) -> Value:
        """A blob of weights, reshaped if a shape is given. Raises NncError if it does not fit."""
        if i >= len(self.attributes.blobs):
            raise self.error(
                f"it needs {i + 1} blobs of weights and has {self.blobs}; a .caffemodel beside "
                "the .prototxt must have them, under the layer's name"
            )
        array = self.attributes.blobs[i]
        if shape:
            fits = array.size % max(-int(np.prod(shape)), 1) == 0
            if -1 not in shape:
                fits = array.size == int(np.prod(shape))
            if not fits:
                found = list(array.shape)
                raise self.error(f"blob {i} has shape {found}, expected {list(shape)}")
            array = array.reshape(shape)
        return self.builder.constant(array, self.loc, key=f"{self.node.name}.{i}")

    def pair(self, p: Record, name: str, rank: int, default: int = 0) -> tuple[int, ...]:
        """A number for each spatial dimension: one for all, one for each, or `_h` and `_w`.

        `kernel_size` is the short form of `kernel_h` and `kernel_w`.
        """
        short = name.removesuffix("_size")
        if p.has(f"{short}_h") or p.has(f"{short}_w"):
            found = [getattr(p, f"{short}_h"), getattr(p, f"{short}_w")]
        else:
            found = list(getattr(p, name)) or [default]
        if len(found) not in (1, rank):
            raise self.error(f"{name} has {len(found)} numbers, expected {rank}")
        found *= rank // len(found)
        if min(found) < 0 or max(found) >= 1 << 31:
            raise self.error(f"{name} is {found}, expected numbers from 0 on")
        return tuple(found)
