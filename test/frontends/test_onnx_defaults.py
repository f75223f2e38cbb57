"""Attributes of com.microsoft that exporters write although they mean nothing there, and inputs
that may be left out.
"""

import nnc
import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from onnx import TensorProto

from .models import run
from .test_onnx_contributed import check, floats, model, whole

MS, ML = "com.microsoft", "ai.onnx.ml"
F32 = TensorProto.FLOAT


@pytest.mark.parametrize("op", ["QuantizeLinear", "DequantizeLinear"])
def test_an_axis_of_one_scale(op):
    quantizes = op == "QuantizeLinear"
    x = floats(3, 4) * 20 if quantizes else whole(0, 256, (3, 4), np.uint8)
    scale, zero = np.array(0.7, np.float32), np.array(3, np.uint8)
    kind = TensorProto.UINT8 if quantizes else F32
    check(op, x, scale, zero, domain=MS, outputs=(kind,), axis=0)


def test_the_order_of_pairs_where_nothing_is_rotated():
    past = floats(1, 1, 2, 8)
    lengths, total = np.array([2], np.int32), np.array(3, np.int32)
    given = floats(1, 1, 16), floats(1, 1, 8), floats(1, 1, 8), past, past, lengths, total
    more = {"num_heads": 2, "kv_num_heads": 1, "do_rotary": 0, "rotary_interleaved": 0}
    check(
        "GroupQueryAttention", *given, domain=MS, outputs=(F32,) * 3, qk_norm_epsilon=1e-6, **more
    )


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_scale_of_a_rotary_embedding_means_nothing(scale):
    """It is of angles, whose cosines and sines are inputs."""
    x, at = floats(2, 3, 16), whole(0, 6, (2, 3))
    check("RotaryEmbedding", x, at, floats(6, 4), floats(6, 4), domain=MS, scale=scale)


@pytest.mark.parametrize("kind", [0, 1])
def test_the_kind_of_a_mask_index(kind):
    ids, mask = whole(0, 6, (2, 4), np.int32), np.array([[1, 1, 0, 0], [1, 1, 1, 0]], np.int32)
    tables = floats(6, 8), floats(7, 8), floats(2, 8), floats(8), floats(8)
    outputs = (F32, TensorProto.INT32)
    given = ids, ids % 2, *tables, mask
    check(
        "EmbedLayerNormalization", *given, domain=MS, outputs=outputs, mask_index_type=kind,
        epsilon=1e-3,
    )  # fmt: skip


def test_gates_that_an_activation_does_not_have():
    experts = whole(0, 256, (4, 32, 16), np.uint8)
    scales = np.full((4, 32), 0.02, np.float32)
    given = floats(3, 32), floats(3, 4), experts, scales, None, experts, scales
    more = {"expert_weight_bits": 4, "activation_type": "relu", "activation_alpha": 1.0}
    check("QMoE", *given, domain=MS, k=2, swiglu_fusion=0, rtol=2e-3, atol=1e-3, **more)


def test_sizes_of_a_words_embedding():
    sizes = {"embedding_size": 3, "conv_window_size": 3, "char_embedding_size": 5}
    given = whole(1, 6, (2, 4), np.int32), floats(3, 1, 3, 5), floats(3), floats(6, 5)
    check("WordConvEmbedding", *given, domain=MS, **sizes)


@pytest.mark.parametrize("kind", [np.int32, np.float32])
def test_steps_of_a_range_are_1(kind):
    out = TensorProto.INT32 if kind is np.int32 else F32
    check("Range", np.array(-2, kind), np.array(5, kind), domain=MS, outputs=(out,))


@pytest.mark.parametrize("kind", ["cats_int64s", "cats_strings"])
def test_unknown_categories_that_are_errors(kind):
    x = np.array([[4, 1], [0, 4]])
    categories = [1, 4, 0]
    if kind == "cats_strings":
        x, categories = x.astype(str).astype(object), ["1", "4", "0"]
    check("OneHotEncoder", x, domain=ML, zeros=0, **{kind: categories})
    made, given = model("OneHotEncoder", [x], ML, (F32,), zeros=0, **{kind: categories[:2]})
    with pytest.raises(NncError, match="none of the categories"):
        run(made, *given)
    with pytest.raises(NncError, match="none of the categories"):
        nnc.compile(made, cache=False)(*given)


@pytest.mark.parametrize("op", ["LinearAttention", "GroupQueryAttention"])
def test_heads_that_there_are_not(op):
    q, k = floats(1, 2, 16), floats(1, 2, 8)
    lengths = None, None, np.array([1], np.int32), np.array(2, np.int32)
    is_linear = op == "LinearAttention"
    more = {"q_num_heads" if is_linear else "num_heads": 0, "kv_num_heads": 1}
    more |= {"update_rule": "linear"} if is_linear else {}
    made, given = model(op, [q, k, k, *(() if is_linear else lengths)], MS, (F32,) * 2, **more)
    with pytest.raises(NncError, match="16 elements cannot be divided into 0 equal heads"):
        run(made, *given)
    if is_linear:
        made.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "width"
        with pytest.raises(NncError, match="the extent that is split into 0 heads must be known"):
            run(made, *given)
