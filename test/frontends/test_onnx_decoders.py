"""Operators of com.microsoft of large language models against ONNX Runtime: experts, recurrences,
streams and attention to caches."""

import numpy as np
import onnxruntime
import pytest
from nnc.ir.diagnostics import NncError
from onnx import TensorProto, helper

from .models import run
from .onnx_operators import by_onnxruntime
from .test_onnx_contributed import check, floats, model, whole

F, HALF = TensorProto.FLOAT, TensorProto.FLOAT16
DOMAIN = "com.microsoft"


def compare(op_type, *arrays, outputs=(F,), rtol=1e-4, atol=1e-5, **more):
    check(op_type, *arrays, domain=DOMAIN, outputs=outputs, rtol=rtol, atol=atol, **more)


def compare_in_place(op_type, shared, *arrays, outputs, **more):
    """The same where ONNX Runtime wants outputs in the memory of inputs, by their numbers."""
    made, given = model(op_type, arrays, DOMAIN, outputs, **more)
    session = onnxruntime.InferenceSession(
        made.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    binding, values = session.io_binding(), {}
    for node, array in zip(session.get_inputs(), given, strict=True):
        values[node.name] = onnxruntime.OrtValue.ortvalue_from_numpy(array.copy())
        binding.bind_ortvalue_input(node.name, values[node.name])
    places = {output: f"x{i}" for i, output in shared.items()}
    for i, node in enumerate(session.get_outputs()):
        if i in places:
            binding.bind_ortvalue_output(node.name, values[places[i]])
        else:
            binding.bind_output(node.name)
    session.run_with_iobinding(binding)
    for found, expected in zip(run(made, *given), binding.copy_outputs_to_cpu(), strict=True):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


# -- experts ---------------------------------------------------------------------------------------

SWIGLU = {"activation_type": "swiglu", "swiglu_fusion": 1}
CLIPPED = {"activation_alpha": 1.7, "activation_beta": 1.0, "swiglu_limit": 1.0}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"k": 2, "activation_type": "gelu"},
        {"k": 2, "normalize_routing_weights": 1, "activation_type": "silu"},
        {"k": 2, **SWIGLU},
        {"k": 2, "normalize_routing_weights": 1, **SWIGLU, **CLIPPED},
    ],
)
@pytest.mark.parametrize("rank", [2, 3])
def test_mixture_of_experts(given, rank):
    count, width, inner = 4, 8, 16 * (1 + given.get("swiglu_fusion", 0))
    compare(
        "MoE",
        floats(6, width) if rank == 2 else floats(2, 3, width),
        floats(6, count),
        floats(count, inner, width),
        None if rank == 3 else floats(count, inner),
        floats(count, width, 16),
        None if rank == 3 else floats(count, width),
        rtol=1e-3,
        atol=1e-4,
        **given,
    )


def test_experts_of_an_open_router_are_those_of_the_weights():
    arrays = floats(6, 8), floats(6, 3), floats(3, 16, 8), None, floats(3, 8, 16)
    made, given = model("MoE", arrays, DOMAIN, [F], k=2)
    for dim in made.graph.input[1].type.tensor_type.shape.dim:
        dim.ClearField("dim_value")
    expected = by_onnxruntime(made, *given)[0]
    np.testing.assert_allclose(run(made, *given)[0], expected, rtol=1e-4, atol=1e-5)
    made.graph.input[2].type.tensor_type.shape.dim[0].dim_param = "experts"
    with pytest.raises(NncError, match="the number of experts must be known"):
        run(made, *given)


@pytest.mark.parametrize(
    ("bits", "block", "zeros", "mixed", "given"),
    [
        (4, 0, False, False, {}),
        (4, 16, False, True, {"k": 2}),
        (8, 0, True, False, {}),
        (8, 32, True, False, {"activation_type": "silu"}),
        (4, 16, True, False, {"k": 2, "normalize_routing_weights": 1, **SWIGLU}),
        (4, 0, True, False, {}),
        (2, 16, False, False, {}),
    ],
)
def test_mixture_of_quantized_experts(bits, block, zeros, mixed, given):
    def quantized(rows, columns):
        count = columns // block if block else 1
        lead = (4, rows, count) if block else (4, rows)
        points = (4, rows, -(-count * bits // 8)) if block else (4, rows * bits // 8)
        return (
            whole(0, 256, (4, rows, columns * bits // 8), np.uint8),
            np.abs(floats(*lead)) * 0.1,
            floats(4, rows),
            whole(0, 256, points, np.uint8) if zeros else None,
        )

    outer = quantized(64 * (1 + given.get("swiglu_fusion", 0)), 32)
    inner = quantized(32, 64)
    compare(
        "QMoE",
        floats(6, 32),
        floats(6, 4),
        *outer[:3],
        *inner[:3],
        *[None] * 3,
        outer[3],
        inner[3],
        None,
        np.abs(floats(6, 4)) if mixed else None,
        expert_weight_bits=bits,
        **({"block_size": block} if block else {}),
        **given,
        rtol=1e-3,
        atol=1e-2,
    )


@pytest.mark.parametrize("given", [{}, {"n_group": 4, "topk_group": 2, "router_sentinel": -7.0}])
def test_router_of_groups(given):
    compare("MoEGroupRouter", floats(2, 5, 16), floats(16), top_k=3, **given)


def test_router_that_gives_scores():
    compare("MoEGroupRouter", floats(5, 16), floats(16), top_k=3, outputs=(None, F, F))


# -- recurrences -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "heads", "groups", "past"),
    [
        ("linear", 4, 4, False),
        ("gated", 4, 2, True),
        ("delta", 2, 4, False),
        ("gated_delta", 4, 4, True),
    ],
)
def test_linear_attention(rule, heads, groups, past):
    compare(
        "LinearAttention",
        floats(2, 5, heads * 8),
        floats(2, 5, groups * 8) * 0.3,
        floats(2, 5, groups * 6),
        floats(2, groups, 8, 6) if past else None,
        -np.abs(floats(2, 5, groups * (8 if past else 1))) if "gated" in rule else None,
        np.abs(floats(2, 5, groups)) * 0.3 if "delta" in rule else None,
        outputs=(F, F),
        update_rule=rule,
        q_num_heads=heads,
        kv_num_heads=groups,
    )


@pytest.mark.parametrize(
    ("length", "kernel", "past", "given"),
    [
        (7, 4, True, {}),
        (7, 3, True, {"dilation": 2, "activation": "silu"}),
        (7, 4, True, {"channels_last": 1, "activation": "swish"}),
        (1, 4, True, {}),
        (5, 1, False, {}),
    ],
)
def test_causal_convolution(length, kernel, past, given):
    last, reach = given.get("channels_last"), (kernel - 1) * given.get("dilation", 1)
    shapes = [(2, size, 2, 3) if last else (2, 6, size) for size in (length, reach)]
    compare(
        "CausalConvWithState",
        floats(*shapes[0]),
        floats(6, 1, kernel),
        floats(6),
        floats(*shapes[1]) if past else None,
        outputs=(F, F),
        **given,
    )


# -- streams and gates -----------------------------------------------------------------------------


@pytest.mark.parametrize("activation", ["silu", "sigmoid"])
def test_gated_rms_norm(activation):
    x, scale, gate = floats(2, 3, 8), floats(4), floats(2, 3, 8)
    compare("GatedRMSNorm", x, scale, gate, activation=activation, epsilon=1e-2)


def test_gates():
    compare(
        "LinearAttentionGate", floats(2, 3, 8), floats(8), floats(8), floats(2, 3, 8),
        outputs=(F, F),
    )  # fmt: skip
    compare("GatedAdd", floats(2, 3, 8), floats(2, 3, 8), floats(2, 3, 1))
    compare("ScaledSiLU", floats(2, 8).astype(np.float16), alpha=0.3, outputs=(HALF,), rtol=2e-3)
    keys, norms = [floats(2, 3, 4, 8) for _ in range(2)], [floats(4, 8) for _ in range(3)]
    compare("EngramGate", *keys, floats(2, 3, 8), *norms, outputs=(F, F))


@pytest.mark.parametrize("flat", [False, True])
def test_streams(flat):
    x = floats(2, 3, 32) if flat else floats(2, 3, 4, 8)
    given = {"num_branches": 4} if flat else {}
    for shape in ((4, 8), (8,)):
        compare("BranchwiseRMSNorm", x, floats(*shape), **given)
    for shape in ((2, 3, 4), (2, 3, 32) if flat else (2, 3, 4, 1)):
        compare("HyperConnectionPreMix", x, floats(*shape), reduction_scale=0.5, **given)
    output, gate, mix = floats(2, 3, 8), floats(2, 3, 4), floats(2, 3, 4, 4)
    compare("HyperConnectionPostMix", x, output, gate, **given)
    compare("HyperConnectionPostMix", x, output, gate, mix, **given)


# -- attention -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "past", "layouts", "rotary", "packed"),
    [(3, 0, 2, 0, False), (40, 0, 1, 0, False), (1, 37, 2, 1, False), (40, 0, 2, 1, True)],
)
def test_sparse_attention(length, past, layouts, rotary, packed):
    heads, groups, width, size, blocks = 4, 2, 16, 16, 4
    masks = np.repeat(np.tril(np.ones((blocks, blocks), bool))[None], layouts, 0)
    masks[0, 2, 1] = masks[-1, 3, 0] = False
    columns = [np.nonzero(mask)[1] for mask in masks]
    most = max(map(len, columns))
    columns = [np.pad(c, (0, most - len(c)), constant_values=-1) for c in columns]
    starts = np.pad(masks.sum(2).cumsum(1), ((0, 0), (1, 0)))
    wide = [heads + 2 * groups, None, None] if packed else [heads, groups, groups]
    compare_in_place(
        "SparseAttention",
        {3: 1, 4: 2},
        *(None if count is None else floats(2, length, count * width) for count in wide),
        *(floats(2, groups, blocks * size, width) for _ in range(2)),
        starts.astype(np.int32),
        np.array(columns, np.int32),
        np.array([past + length], np.int32),
        np.full(2, past + length, np.int32),
        *(floats(blocks * size, width // 2) if rotary else None for _ in range(2)),
        outputs=(F, F, F),
        num_heads=heads,
        kv_num_heads=groups,
        sparse_block_size=size,
        do_rotary=rotary,
    )


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("beams", [0, 2])
@pytest.mark.parametrize("biased", [False, True])
def test_masked_attention_of_one_token(masked, beams, biased):
    mask = whole(0, 2, (4, 6), np.int32)
    mask[:, 0] = 1
    compare_in_place(
        "DecoderMaskedMultiHeadAttention",
        {5: 1, 6: 2},
        *(floats(4, 1, 16) for _ in range(3)),
        mask if masked else None,
        floats(1, 2, 1, 6) if masked else None,
        *(floats(4, 2, 9, 8) for _ in range(2)),
        np.array([5], np.int32),
        np.array([beams], np.int32) if beams else None,
        whole(0, 2, (2, 2, 9), np.int32) if beams else None,
        floats(48) if biased else None,
        outputs=(F, F, F, F),
        num_heads=2,
        past_present_share_buffer=1,
        mask_filter_value=-1000.0,
        output_qk=1,
    )


def test_masked_attention_to_an_encoder():
    compare(
        "DecoderMaskedMultiHeadAttention",
        floats(4, 1, 16),
        *(floats(4, 2, 6, 8) for _ in range(2)),
        outputs=(F, None, None, F),
        num_heads=2,
        output_qk=1,
    )


@pytest.mark.parametrize("rank", [3, 4])
@pytest.mark.parametrize(
    ("sections", "given"),
    [
        ((2, 1, 1), {}),
        ((2, 1, 1), {"interleaved": 1}),
        ((4, 2, 2), {"mrope_layout": 1}),
        ((1, 1, 0), {"rotary_embedding_dim": 4}),
    ],
)
def test_rotary_embedding_of_sections(rank, sections, given):
    half, heads = sum(sections), 3
    width = 2 * half + (4 if "rotary_embedding_dim" in given else 0)
    x = floats(2, 5, heads * width) if rank == 3 else floats(2, heads, 5, width)
    positions = whole(0, 9, (3, 2, 5))
    angles = floats(9, half)
    compare(
        "MRotaryEmbedding", x, positions, np.cos(angles), np.sin(angles),
        mrope_section=list(sections), num_heads=heads, **given,
    )  # fmt: skip


def test_packed_queries_without_a_cache():
    """What comes before an input that is needed may be left out."""
    compare(
        "GroupQueryAttention", floats(1, 3, 8 * 8), None, None, None, None,
        np.array([2], np.int32), np.array([3], np.int32),
        outputs=(F, F, F), num_heads=4, kv_num_heads=2,
    )  # fmt: skip


# -- sequences of several lengths ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rank", "packed", "ends", "starts", "given"),
    [
        (3, False, None, True, {}),
        (3, True, None, True, {}),
        (4, False, None, True, {"update_rule": "delta"}),
        (3, False, [0, 3, 10], True, {}),
        (3, False, [0, 3, 10], False, {"update_rule": "gated"}),
        (3, True, [0, 3, 10], True, {"update_rule": "linear"}),
        (3, False, None, True, {"gate_activation": "softplus", "qk_l2_norm": 1}),
        (4, False, None, True, {"gate_activation": "sigmoid", "beta_activation": "sigmoid"}),
    ],
)
def test_gated_delta_net(rank, packed, ends, starts, given):
    batch, steps, heads, wide_k, wide_v = 2, 5, 4, 8, 6
    lead = (batch, steps) if rank == 4 else (batch * steps,)
    rule, gate = given.get("update_rule", "gated_delta"), given.get("gate_activation")
    of_keys = gate == "sigmoid"
    parts = [floats(*lead, 2, wide_k), floats(*lead, 2, wide_k) * 0.3, floats(*lead, heads, wide_v)]
    if packed:
        parts = [np.concatenate([p.reshape(*lead, -1) for p in parts], -1), None, None]
    decay = floats(*lead, heads, wide_k) if of_keys else floats(*lead, heads)
    compare(
        "GatedDeltaNet",
        *parts,
        None if ends is None else np.array(ends, np.int32),
        (decay if gate else -np.abs(decay)) if "gated" in rule else None,
        np.abs(floats(*lead, heads)) * 0.3 if "delta" in rule else None,
        floats(batch, heads, wide_v, wide_k) if starts else None,
        floats(heads) if gate else None,
        (floats(heads, wide_k) if of_keys else floats(heads)) if gate else None,
        outputs=(F, F),
        **given,
    )


@pytest.mark.parametrize(("kernel", "given"), [(4, {}), (3, {"dilation": 2, "activation": "silu"})])
def test_causal_convolution_of_several_lengths(kernel, given):
    state = floats(3, 6, (kernel - 1) * given.get("dilation", 1))
    ends = np.array([0, 1, 6, 10], np.int32)
    compare(
        "VarlenCausalConvWithState", floats(10, 6), floats(6, 1, kernel), ends, floats(6), state,
        outputs=(F, F), **given,
    )  # fmt: skip


@pytest.mark.parametrize("bits", [8, 4])
@pytest.mark.parametrize("kind", ["PER_TENSOR", "PER_CHANNEL"])
@pytest.mark.parametrize("steps", [1, 3])
def test_caches_of_integers(bits, kind, steps):
    """One step after five, of sequences of different lengths; and a first prompt."""
    held, angles = 5 if steps == 1 else 0, floats(16, 8)
    type_, width = (np.int8, 16) if bits == 8 else (np.uint8, 8)
    least, most = (-100, 100) if bits == 8 else (0, 255)
    lengths = np.array([held, held - 2] if held else [2, 2], np.int32)
    scales = [
        np.abs(floats(*((1,) if kind == "PER_TENSOR" else (1, 2, 1, 16)))) / bits + 0.01
        for _ in range(2)
    ]
    check(
        "GroupQueryAttention",
        *(floats(2, steps, 64), floats(2, steps, 32), floats(2, steps, 32)),
        *(whole(least, most, (2, 2, held, width), type_) for _ in range(2)),
        *(lengths, np.array(held + steps, np.int32), np.cos(angles), np.sin(angles)),
        *(None, None, None, *scales),
        domain=DOMAIN,
        outputs=[F] + [helper.np_dtype_to_tensor_dtype(np.dtype(type_))] * 2,
        num_heads=4,
        kv_num_heads=2,
        do_rotary=1,
        k_quant_type=kind,
        v_quant_type=kind,
        kv_cache_bit_width=bits,
    )


@pytest.mark.parametrize("more", [{}, {"qk_norm_epsilon": 0.3}, {"k_norm_epsilon": 0.2}])
def test_queries_and_keys_divided_by_their_root_mean_squares(more):
    """As by NumPy before: ONNX Runtime has them on devices only."""
    q, k, v, scales = floats(2, 3, 64), floats(2, 3, 32), floats(2, 3, 32), floats(2, 16)
    after, total, angles = np.array([2, 2], np.int32), np.array(3, np.int32), floats(16, 8)
    turns = np.cos(angles), np.sin(angles)
    both = more.get("qk_norm_epsilon", 1e-6)
    epsilons = more.get("q_norm_epsilon", both), more.get("k_norm_epsilon", both)
    heads = [x.reshape(2, 3, -1, 16) for x in (q, k)]
    divided = [
        (x / np.sqrt((x**2).mean(-1, keepdims=True) + e) * scale).reshape(2, 3, -1)
        for x, e, scale in zip(heads, epsilons, scales, strict=True)
    ]
    kinds, sizes = [F] * 3, {"num_heads": 4, "kv_num_heads": 2, "do_rotary": 1}
    given = None, None, after, total, *turns
    plain, arrays = model("GroupQueryAttention", (*divided, v, *given), DOMAIN, kinds, **sizes)
    expected = by_onnxruntime(plain, *arrays)
    made, arrays = model(
        "GroupQueryAttention",
        (q, k, v, *given, *[None] * 5, *scales),
        DOMAIN,
        kinds,
        **sizes,
        **more,
    )
    for one, other in zip(run(made, *arrays), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
