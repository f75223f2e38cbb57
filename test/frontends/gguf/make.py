"""Writes the folder `files` beside this script: tiny models of all architectures, and their logits.

pip install torch transformers gguf==0.19 && python make.py [name ..]

With names only those models are written.
"""

import re
import sys
from pathlib import Path
from statistics import NormalDist

import gguf
import numpy as np
import torch
import transformers as T

FILES = Path(__file__).parent / "files"
TOKENS = np.array([[3, 17, 40, 5, 5, 29, 61, 8, 33, 12, 50, 2]], np.int64)
COMMON = {
    "vocab_size": 64, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip

ONE = COMMON | {"num_hidden_layers": 1}

LLAMA = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}  # fmt: skip
GEMMA = LLAMA | {
    "post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
}  # fmt: skip
GEMMA3N = GEMMA | {
    "model.embed_tokens_per_layer": "per_layer_token_embd",
    "model.per_layer_model_projection": "per_layer_model_proj",
    "model.per_layer_projection_norm": "per_layer_proj_norm", "laurel.linear_left": "laurel_l",
    "laurel.linear_right": "laurel_r", "laurel.post_laurel_norm": "laurel_post_norm",
    "per_layer_input_gate": "inp_gate", "per_layer_projection": "proj",
    "post_per_layer_input_norm": "post_norm", "altup.correction_coefs": "altup_correct_coef",
    "altup.prediction_coefs": "altup_predict_coef", "altup.modality_router": "altup_router",
    "altup.router_norm": "altup_router_norm", "altup": "altup_correct_scale",
}  # fmt: skip
PHI = LLAMA | {
    "self_attn.dense": "attn_output", "mlp.fc1": "ffn_up", "mlp.fc2": "ffn_down",
    "model.final_layernorm": "output_norm", "self_attn.qkv_proj": "attn_qkv",
    "mlp.gate_up_proj": "ffn_up",
}  # fmt: skip
GPT2 = {
    "transformer.wte": "token_embd", "transformer.wpe": "position_embd",
    "transformer.ln_f": "output_norm", "ln_1": "attn_norm", "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output", "ln_2": "ffn_norm", "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
}  # fmt: skip


MOE = LLAMA | {
    "mlp.gate": "ffn_gate_inp", "mlp.shared_expert_gate": "ffn_gate_inp_shexp",
    "mlp.shared_expert.gate_proj": "ffn_gate_shexp", "mlp.shared_expert.up_proj": "ffn_up_shexp",
    "mlp.shared_expert.down_proj": "ffn_down_shexp",
}  # fmt: skip
LLAMA4 = LLAMA | {
    "feed_forward.router": "ffn_gate_inp", "feed_forward.shared_expert.gate_proj": "ffn_gate_shexp",
    "feed_forward.shared_expert.up_proj": "ffn_up_shexp",
    "feed_forward.shared_expert.down_proj": "ffn_down_shexp",
    "feed_forward.gate_proj": "ffn_gate", "feed_forward.up_proj": "ffn_up",
    "feed_forward.down_proj": "ffn_down",
}  # fmt: skip
EXPERTS = {"expert_count": 5, "expert_used_count": 2}


def rope(base=1e4, **more):
    return {"rope_type": "default", "rope_theta": base} | more


def models():
    """Name, architecture, configuration, names, and metadata that the common ones do not tell."""
    yield "llama", "llama", T.LlamaConfig(**COMMON, rope_parameters=rope()), LLAMA, {}
    yield (
        "llama3",
        "llama",
        T.LlamaConfig(
            **ONE,
            tie_word_embeddings=True,
            rope_parameters=rope(
                5e4,
                rope_type="llama3",
                factor=4.0,
                low_freq_factor=1.0,
                high_freq_factor=4.0,
                original_max_position_embeddings=32,
            ),
        ),
        LLAMA,
        {},
    )
    yield (
        "linear",
        "llama",
        T.LlamaConfig(**ONE, rope_parameters=rope(rope_type="linear", factor=2.5)),
        LLAMA,
        {"rope.scaling.type": "linear", "rope.scaling.factor": 2.5},
    )
    yield "qwen2", "qwen2", T.Qwen2Config(**COMMON, rope_parameters=rope(1e6)), LLAMA, {}
    yield (
        "yarn",
        "qwen2",
        T.Qwen2Config(
            **ONE,
            rope_parameters=rope(
                1e4, rope_type="yarn", factor=4.0, original_max_position_embeddings=32
            ),
        ),
        LLAMA,
        {
            "rope.scaling.type": "yarn",
            "rope.scaling.factor": 4.0,
            "rope.scaling.original_context_length": 32,
        },
    )
    yield "qwen3", "qwen3", T.Qwen3Config(**COMMON, head_dim=8, rope_parameters=rope()), LLAMA, {}
    yield (
        "mistral",
        "llama",
        T.MistralConfig(**ONE, sliding_window=5, rope_parameters=rope()),
        LLAMA,
        {"attention.sliding_window": 5},
    )
    yield (
        "gemma",
        "gemma",
        T.GemmaConfig(**COMMON, head_dim=8, rope_parameters=rope()),
        GEMMA | {"post_attention_layernorm": "ffn_norm"},
        {},
    )
    yield (
        "gemma2",
        "gemma2",
        T.Gemma2Config(
            **COMMON,
            head_dim=8,
            sliding_window=5,
            query_pre_attn_scalar=8,
            rope_parameters=rope(),
            attn_logit_softcapping=2.0,
            final_logit_softcapping=3.0,
        ),
        GEMMA,
        {
            "attention.sliding_window": 5,
            "attn_logit_softcapping": 2.0,
            "final_logit_softcapping": 3.0,
        },
    )
    many = COMMON | {"num_hidden_layers": 7, "hidden_size": 16, "intermediate_size": 16}
    yield (
        "gemma3",
        "gemma3",
        T.Gemma3TextConfig(
            **many,
            head_dim=8,
            sliding_window=5,
            query_pre_attn_scalar=8,
            rope_parameters={"full_attention": rope(1e6), "sliding_attention": rope(1e4)},
        ),
        GEMMA,
        {"attention.sliding_window": 5, "rope.freq_base": 1e6},
    )
    yield (
        "gemma3n",
        "gemma3n",
        T.Gemma3nTextConfig(
            **COMMON | {"num_hidden_layers": 5, "vocab_size_per_layer_input": 64},
            head_dim=8,
            hidden_size_per_layer_input=6,
            laurel_rank=3,
            altup_num_inputs=4,
            altup_active_idx=1,
            num_kv_shared_layers=2,
            layer_types=["sliding_attention", "full_attention"] * 2 + ["sliding_attention"],
            activation_sparsity_pattern=[0.9, 0.9, 0.0, 0.9, 0.0],
            sliding_window=5,
            final_logit_softcapping=3.0,
            rope_parameters={"full_attention": rope(1e6), "sliding_attention": rope(1e4)},
        ),
        GEMMA3N,
        {
            "attention.sliding_window": 5,
            "attention.sliding_window_pattern": [True, False, True, False, True],
            "attention.shared_kv_layers": 2,
            "embedding_length_per_layer_input": 6,
            "altup.active_idx": 1,
            "altup.num_inputs": 4,
            "activation_sparsity_scale": [NormalDist().inv_cdf(0.9)] * 2
            + [-np.inf, NormalDist().inv_cdf(0.9), -np.inf],
            "final_logit_softcapping": 3.0,
            "rope.freq_base": 1e6,
        },
    )
    yield (
        "phi2",
        "phi2",
        T.PhiConfig(**COMMON, rope_parameters=rope(partial_rotary_factor=0.5)),
        PHI,
        {"rope.dimension_count": 2},
    )
    yield "phi3", "phi3", T.Phi3Config(**COMMON, rope_parameters=rope()), PHI, {}
    few = {"num_experts_per_tok": 2, "rope_parameters": rope()}
    yield "mixtral", "llama", T.MixtralConfig(**COMMON, **few, num_local_experts=5), MOE, EXPERTS
    few |= {"num_experts": 5, "moe_intermediate_size": 12}
    shared = {"shared_expert_intermediate_size": 20}
    yield "qwen2moe", "qwen2moe", T.Qwen2MoeConfig(**ONE, **few, **shared), MOE, EXPERTS
    few |= {"norm_topk_prob": True, "head_dim": 8}
    yield "qwen3moe", "qwen3moe", T.Qwen3MoeConfig(**ONE, **few), MOE, EXPERTS
    yield (
        "llama4",
        "llama4",
        T.Llama4TextConfig(
            **COMMON | {"num_hidden_layers": 4},
            intermediate_size_mlp=20,
            head_dim=8,
            num_experts_per_tok=1,
            num_local_experts=3,
            interleave_moe_layer_step=2,
            attention_chunk_size=5,
            floor_scale=3,
            attn_scale=0.1,
            rope_parameters=rope(),
        ),
        LLAMA4,
        {
            "expert_count": 3,
            "expert_used_count": 1,
            "interleave_moe_layer_step": 2,
            "attention.sliding_window": 5,
            "attention.temperature_length": 3,
        },
    )
    factors = [1.0, 1.5], [2.0, 6.0]
    yield (
        "phi3_long",
        "phi3",
        T.Phi3Config(
            **ONE,
            original_max_position_embeddings=8,
            rope_parameters=rope(
                rope_type="longrope", short_factor=factors[0], long_factor=factors[1]
            ),
        ),
        PHI,
        {
            "rope.scaling.attn_factor": float(np.sqrt(1 + np.log(16) / np.log(8))),
            "rope.scaling.original_context_length": 8,
        },
    )
    yield (
        "gpt2",
        "gpt2",
        T.GPT2Config(vocab_size=64, n_embd=16, n_layer=2, n_head=4, n_positions=64, n_inner=32),
        GPT2,
        {},
    )


def tensor_name(name, names):
    """llama.cpp's name of a tensor."""
    name = name.replace("correct_output_scale", "weight")
    layer = re.search(r"\.(?:layers|h)\.(\d+)\.(.*)\.(weight|bias)$", name)
    if layer:
        return f"blk.{layer[1]}.{names[layer[2]]}.{layer[3]}"
    stem, _, kind = name.rpartition(".")
    return f"{names[stem]}.{kind}"


def permuted(weight, heads):
    """Rows of a head in the order of pairs, where they were in that of halves."""
    rows = weight.shape[0] // heads // 2
    return weight.reshape(heads, 2, rows, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def tensors(model, arch, config, names):
    tied = model.config.tie_word_embeddings
    state = model.state_dict()
    for name, value in state.items():
        if name.endswith((".attn.bias", ".masked_bias", "inv_freq")):
            continue
        if tied and name == "lm_head.weight":
            continue
        data = value.float().numpy()
        if arch == "llama4" and data.ndim == 3:
            data = data.swapaxes(1, 2)
        if arch == "gpt2" and re.search(r"c_(attn|proj|fc)\.weight", name):
            data = data.T
        if arch in ("gemma", "gemma2", "gemma3") and "norm" in name:
            data = data + 1
        if arch == "llama" and re.search(r"[qk]_proj\.weight", name):
            is_q = "q_proj" in name
            data = permuted(
                data, config.num_attention_heads if is_q else config.num_key_value_heads
            )
        stack = re.search(r"altup_(unembed_)?projections", name)
        if stack:
            if name.endswith(".0.weight"):
                parts = [v for k, v in state.items() if k.startswith(name[: -len("0.weight")])]
                stem = "altup_unembd_proj" if "unembed" in name else "altup_proj"
                yield f"{stem}.weight", np.stack([one.float().numpy() for one in parts])
        elif name.endswith("experts.gate_up_proj"):
            layer = name.split(".")[2]
            for one, part in zip(("gate", "up"), np.split(data, 2, axis=1), strict=True):
                yield f"blk.{layer}.ffn_{one}_exps.weight", np.ascontiguousarray(part)
        elif name.endswith("experts.down_proj"):
            yield f"blk.{name.split('.')[2]}.ffn_down_exps.weight", np.ascontiguousarray(data)
        else:
            yield tensor_name(name, names), np.ascontiguousarray(data)


def metadata(writer, arch, config, more):
    get = lambda *keys: next(getattr(config, k) for k in keys if hasattr(config, k))  # noqa: E731
    heads = get("num_attention_heads", "n_head")
    writer.add_context_length(get("max_position_embeddings", "n_positions"))
    writer.add_embedding_length(get("hidden_size", "n_embd"))
    writer.add_block_count(get("num_hidden_layers", "n_layer"))
    writer.add_feed_forward_length(getattr(config, "intermediate_size", 128))
    writer.add_head_count(heads)
    writer.add_head_count_kv(getattr(config, "num_key_value_heads", heads))
    if getattr(config, "head_dim", None):
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
    if hasattr(config, "rms_norm_eps"):
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    else:
        writer.add_layer_norm_eps(get("layer_norm_eps", "layer_norm_epsilon"))
    if arch != "gpt2" and "rope.freq_base" not in more:
        writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    for key, value in more.items():
        add = {str: writer.add_string, int: writer.add_uint32, float: writer.add_float32}
        add = add.get(type(value), writer.add_array)
        add(f"{arch}.{key}", value)
    writer.add_tokenizer_model("none")
    writer.add_token_list([f"<{i}>" for i in range(64)])


def scalings(model, arch, config):
    """Tensors of frequencies' factors, where a model has them."""
    if arch == "gpt2" or "full_attention" in config.rope_parameters:
        return
    given = config.rope_parameters
    if given["rope_type"] == "llama3":
        count = config.hidden_size // config.num_attention_heads
        plain = given["rope_theta"] ** (-np.arange(0, count, 2) / count)
        scaled = model.model.rotary_emb.inv_freq.numpy()
        yield "rope_freqs.weight", (plain / scaled).astype("f")
    if given["rope_type"] == "longrope":
        for kind in ("long", "short"):
            yield f"rope_factors_{kind}.weight", np.array(given[f"{kind}_factor"], "f")


def packed(data, key, kinds):
    """A matrix as the first of the kinds says whose pattern its name has."""
    kind = next((kind for pattern, kind in kinds.items() if re.search(pattern, key)), None)
    if kind is None or data.ndim < 2:
        return data.astype(np.float16 if data.ndim > 1 else np.float32), None, data
    kind = gguf.GGMLQuantizationType[kind]
    rows = gguf.quants.quantize(data, kind)
    return rows, kind, gguf.quants.dequantize(rows, kind)


def write_packed():
    """A file whose weights are packed; the model of transformers gets the numbers in it."""
    config = T.Qwen2Config(
        **ONE | {"hidden_size": 32, "intermediate_size": 64, "tie_word_embeddings": True},
        rope_parameters=rope(),
    )
    kinds = {"attn_[qk]": "Q8_0", "attn": "Q4_0", "down": "Q5_1", "ffn": "Q4_1", "token": "Q8_0"}
    torch.manual_seed(0)
    model = T.AutoModelForCausalLM.from_config(config).eval()
    for value in model.parameters():
        value.data.normal_(1 if value.ndim < 2 else 0, 0.2)
    writer = gguf.GGUFWriter(FILES / "packed.gguf", "qwen2")
    metadata(writer, "qwen2", config, {})
    state = model.state_dict()
    for key, data in tensors(model, "qwen2", config, LLAMA):
        rows, kind, numbers = packed(data, key, kinds)
        writer.add_tensor(key, rows, raw_dtype=kind)
        name = next(k for k in state if tensor_name(k, LLAMA) == key)
        state[name].copy_(torch.from_numpy(numbers))
    finish(writer)
    with torch.no_grad():
        return model(torch.from_numpy(TOKENS)).logits.numpy()


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write(name, arch, config, names, more):
    torch.manual_seed(0)
    config._attn_implementation = "eager"
    model = T.AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for key, value in model.named_parameters():
            scale = 0.25 if value.ndim > 1 else 0.1
            value.normal_(0, scale)
            is_shifted = arch in ("gemma", "gemma2", "gemma3")
            if value.ndim == 1 and "bias" not in key and not is_shifted:
                value += 1
            value.copy_(value.half().float())
        tokens = torch.from_numpy(TOKENS)
        logits = model(tokens).logits.numpy()
    writer = gguf.GGUFWriter(FILES / f"{name}.gguf", arch)
    metadata(writer, arch, config, more)
    for key, data in (*tensors(model, arch, config, names), *scalings(model, arch, config)):
        big = data.ndim > 1
        writer.add_tensor(key, data.astype(np.float16) if big else data)
    finish(writer)
    return logits


def blocks():
    """Random blocks of all kinds, with what the package makes of them.

    The file also has NVFP4, Q1_0 and Q2_0, by `to_float` of ggml (`ggml_get_type_traits`).
    """
    random, found = np.random.default_rng(0), {}
    kinds = (
        "Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS MXFP4 "
        "IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S IQ1_S IQ1_M TQ1_0 TQ2_0"
    )
    for name in kinds.split():
        kind = gguf.GGMLQuantizationType[name]
        size = gguf.GGML_QUANT_SIZES[kind][1]
        data = random.integers(0, 256, (64, size), dtype=np.uint8)
        with np.errstate(all="ignore"):
            numbers = gguf.quants.dequantize(data, kind)
        kept = np.isfinite(numbers).all(1)
        found[f"{name}/bytes"], found[f"{name}/numbers"] = data[kept][:6], numbers[kept][:6]
    return found


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    wanted, known = set(sys.argv[1:]), FILES / "logits.npz"
    outputs = dict(np.load(known)) if wanted else {}
    chosen = [one for one in models() if not wanted or one[0] in wanted]
    outputs |= {name: write(name, *rest) for name, *rest in chosen}
    if not wanted:
        outputs["packed"] = write_packed()
        kept = dict(np.load(FILES / "blocks.npz"))
        np.savez_compressed(FILES / "blocks.npz", **kept | blocks())
    np.savez_compressed(known, **outputs | {"tokens": TOKENS})
