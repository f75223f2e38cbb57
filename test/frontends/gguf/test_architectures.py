"""Random models of the architectures of `random_models`: logits and embeddings are llama.cpp's.

See make_logits.py. llama.cpp looks its GELU up in a table of f16.
"""

from pathlib import Path

import numpy as np
import pytest
from nnc.frontends.gguf.architectures import ARCHITECTURES
from nnc.ir.diagnostics import NncError

from .random_models import container, file, parts
from .running import Model
from .shapes import SHAPES

EXPECTED = dict(np.load(Path(__file__).parent / "files" / "llama_cpp.npz"))
TOKENS = EXPECTED.pop("tokens")[None].astype(np.int64)


def check(name: str, got: np.ndarray) -> None:
    wanted = EXPECTED[name]
    kind = ARCHITECTURES[name.split()[0]]
    # Of Qwen2-VL, llama.cpp itself has this error.
    by_table = "gelu" in (kind.activation, kind.gated_activation)
    error = 1e-3 if by_table or name == "qwen2vl" else 5e-6
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=0, atol=error * np.abs(wanted).max())


def test_every_architecture_has_a_model():
    made = {name.split()[0] for name in SHAPES}
    elsewhere = {"llama", "gemma", "gemma2", "gemma3", "gemma3n", "gpt2", "phi2", "phi3"}
    assert made | elsewhere | {"qwen2", "qwen2moe", "qwen3", "qwen3moe"} == set(ARCHITECTURES)
    assert set(EXPECTED) == set(SHAPES)


@pytest.mark.parametrize("name", list(SHAPES))
def test_logits_or_embeddings(name):
    found = Model(file(name))(TOKENS)
    check(name, found if found.ndim == 2 else found[0])


IN_PARTS = [
    "gpt-oss",
    "deepseek2",
    "mistral3",
    "mpt with 6 heads",
    "cohere2",
    "glm4moe",
    "lfm2",
    "mamba",
    "granitehybrid",
    "falcon-h1",
    "qwen3next",
    "gemma4",
    "cohere2moe",
    "smallthinker",
    "granite_swa",
    "rwkv7",
    "step35",
]
"""Decoders of each kind of cache, which take a text in parts."""


@pytest.mark.parametrize("name", IN_PARTS)
def test_parts_of_a_text_follow_on_their_cache(name):
    check_parts(name, Model(file(name)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", IN_PARTS)
def test_parts_of_a_text_in_machine_code(name):
    check_parts(name, Model(file(name), compiled=True))


def check_parts(name, model):
    found = [model(TOKENS[:, a:b]) for a, b in ((0, 7), (7, 8), (8, 12))]
    check(name, np.concatenate(found, 1)[0])


def test_packed_experts():
    """MXFP4, in which gpt-oss has its experts: floats of 4 bits, 32 with an exponent."""
    metadata, tensors = parts("gpt-oss")
    levels = np.float32([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    random, packed, plain = np.random.RandomState(0), {}, []
    for name, numbers in tensors:
        if name.endswith(("gate_exps.weight", "up_exps.weight")):
            codes = random.randint(0, 256, (*numbers.shape[:2], 17)).astype(np.uint8)
            codes[..., 0] = random.randint(122, 126, codes.shape[:2])
            packed[name] = 39, codes
            places = np.concatenate([codes[..., 1:] & 15, codes[..., 1:] >> 4], -1)
            scale = np.exp2(codes[..., :1].astype("f") - 127)
            numbers = np.concatenate([levels, -levels])[places] * scale
        plain.append((name, numbers))
    found = Model(container(metadata, tensors, packed), compiled=True)(TOKENS)
    wanted = Model(container(metadata, plain))(TOKENS)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=5e-6 * np.abs(wanted).max())


def test_packed_matrices_of_heads():
    """Q8_0, in which DeepSeek's files may have the matrix of each head: bytes, 32 with a scale."""
    metadata, tensors = parts("deepseek2")
    random, packed, plain = np.random.RandomState(0), {}, []
    for name, numbers in tensors:
        if name.endswith("attn_v_b.weight"):
            codes = random.randint(-127, 128, numbers.shape).astype(np.int8)
            scale = random.uniform(0.001, 0.002, (*numbers.shape[:2], 1)).astype(np.float16)
            packed[name] = 8, np.concatenate([scale.view(np.uint8), codes.view(np.uint8)], -1)
            numbers = codes * scale.astype("f")
        plain.append((name, numbers))
    found = Model(container(metadata, tensors, packed))(TOKENS)
    wanted = Model(container(metadata, plain))(TOKENS)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=5e-6 * np.abs(wanted).max())


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("dots1", {"dots1.expert_gating_func": 4}, "experts are weighted by function 4"),
        ("deepseek2", {"deepseek2.expert_group_count": 3}, "chosen from 2 of 3 groups"),
        ("deepseek2", {"deepseek2.expert_group_count": 8}, "chosen from 2 of 8 groups"),
        ("deepseek2", {"deepseek2.expert_used_count": 5}, "5 of 8 experts are chosen from 2 of 4"),
        ("deepseek2", {"deepseek2.rope.dimension_count": 12}, "all 12 elements of a head are"),
        ("deepseek2", {"deepseek2.attention.value_length_mla": 7}, "expected \\[4, 7, 32\\]"),
        ("deepseek2", {"deepseek2.rope.scaling.type": "linear"}, "'linear' of rotations is not"),
        ("deepseek2", {"deepseek2.rope.scaling.yarn_ext_factor": 0.5}, "factor of 0.5 is not"),
        ("glm4moe", {"glm4moe.nextn_predict_layers": 3}, "0 layers"),
        ("glm4moe", {"glm4moe.nextn_predict_layers": 0}, "the tensor 'blk.2.nextn.eh_proj"),
        ("dots1", {"dots1.expert_group_count": "two"}, "expected an integer above 0"),
        ("dots1", {"dots1.expert_gating_func": [1, 2]}, "expected an integer above 0"),
        ("bert", {"bert.pooling_type": [1, 2]}, "expected an integer above 0"),
        ("bert", {"bert.pooling_type": 5}, "pooled by kind 5, which is not supported"),
        ("mistral3", {"mistral3.rope.freq_base": 1.0}, "base 1.0 cannot be stretched"),
        ("modern-bert", {"modern-bert.hidden_activation": "tanh"}, "'tanh' is not supported"),
        ("apertus", {"xielu.beta": [0.5]}, "'xielu.beta' is \\[0.5\\], expected a number"),
        ("granite", {"granite.logit_scale": -1.0}, "expected a number above 0"),
        ("mamba", {"mamba.ssm.state_size": 7}, "shape \\[64, 8\\], expected floats \\[64, 7\\]"),
        ("mamba", {"mamba.ssm.inner_size": 32}, "shape \\[64, 8\\], expected floats \\[32, 8\\]"),
        ("mamba2", {"mamba2.ssm.time_step_rank": 7}, "64 elements do not divide into 7 heads"),
        ("mamba2", {"mamba2.ssm.group_count": 0}, "expected an integer above 0"),
        ("granitehybrid", {"granitehybrid.attention.head_count_kv": [0, 3]}, "into 3 groups"),
        ("gemma4", {"gemma4.attention.shared_kv_layers": 5}, "no earlier one to share"),
        ("qwen3next", {"qwen3next.ssm.group_count": 3}, "8 heads of values do not divide into 3"),
        (
            "qwen3next",
            {"qwen3next.ssm.time_step_rank": 4},
            "shape \\[8\\], expected floats \\[4\\]",
        ),
        ("rwkv7", {"rwkv7.wkv.head_size": 48}, "128 elements do not divide into heads of 48"),
        (
            "t5encoder",
            {"t5encoder.attention.relative_buckets_count": 7},
            "shape \\[8, 4\\], expected floats \\[7, 4\\]",
        ),
        ("step35", {"step35.swiglu_clamp_exp": [-1.0] * 5}, "gates of layer 1 .* limited to -1.0"),
        ("step35", {"step35.swiglu_clamp_shexp": "x"}, "gates of layer 0 .* limited to x"),
        ("grok", {"grok.rope.scaling.yarn_attn_factor": 2.0}, "yarn_attn_factor' is 2.0, which is"),
        ("nanbeige", {"nanbeige.num_loops": 2}, "'nanbeige.num_loops' is 2, which is not supp"),
        ("hunyuan-dense", {"hunyuan-dense.rope.scaling.alpha": 2.0}, "which is not supported"),
    ],
)
def test_numbers_that_no_model_can_have(name, change, message):
    metadata, tensors = parts(name)
    with pytest.raises(NncError, match=message):
        Model(container({**metadata, **change}, tensors))


@pytest.mark.parametrize(
    ("name", "lost", "message"),
    [
        ("mamba", "blk.1.ssm_", "layer 1 has neither attention, a state nor a network"),
        ("mamba2", "blk.1.ssm_d", "its tensor 'blk.1.ssm_d.*' is missing"),
        ("lfm2", "blk.0.shortconv.conv", "its tensor 'blk.0.shortconv.conv.weight' is missing"),
        ("falcon-h1", "blk.1.attn_output", "the tensor 'blk.1.attn_q.weight' is not supported"),
    ],
)
def test_tensors_that_are_lost(name, lost, message):
    metadata, tensors = parts(name)
    kept = [one for one in tensors if not one[0].startswith(lost)]
    with pytest.raises(NncError, match=message):
        Model(container(metadata, kept))


def test_a_factor_of_extrapolation_of_one_changes_nothing():
    metadata, tensors = parts("deepseek2")
    Model(container(metadata | {"deepseek2.rope.scaling.yarn_ext_factor": 1.0}, tensors))


def test_a_factor_of_rotations_that_are_not_scaled():
    metadata, tensors = parts("exaone")
    more = {"exaone.rope.scaling.type": "none", "exaone.rope.scaling.factor": 4.0}
    check("exaone", Model(container({**metadata, **more}, tensors))(TOKENS)[0])


def test_experts_of_which_some_have_a_bias():
    metadata, tensors = parts("gpt-oss")
    kept = [one for one in tensors if one[0] != "blk.1.ffn_up_exps.bias"]
    with pytest.raises(
        NncError, match=r"some experts' matrices in 'blk.1' have a bias, others none"
    ):
        Model(container(metadata, kept))


def test_layers_of_linear_attention_are_an_error():
    """Those of `deci` that have heads of queries, but none of keys."""
    metadata, tensors = parts("deci")
    metadata = dict(metadata) | {"deci.attention.head_count_kv": [0, 0, 2]}
    with pytest.raises(NncError, match="head_count_kv' is 0, expected an integer"):
        Model(container(metadata, tensors))(TOKENS)
