"""Rows of language models with recurrent states, with experts, or with attention of
several kinds.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import transformers as zoo
from torch import Tensor, nn

from .language import (
    _GROUPED,
    _STATE,
    _T5,
    HEADS,
    HIDDEN,
    LAYERS,
    SMALL,
    WIDTH,
    WORDS,
    decoder_rows,
    encode,
    encoder_row,
    logits,
    network,
    only_tokens,
)
from .rows import ROWS, Call, floats, integers, mask, ones
from .several import decoder_step_call

TOKENS = integers(WORDS, "batch", "tokens")
_EXPERTS = {**_GROUPED, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}

decoder_rows("qwen3_moe", "Qwen3Moe", **_EXPERTS, head_dim=16)
decoder_rows("qwen2_moe", "Qwen2Moe", **_EXPERTS, shared_expert_intermediate_size=32)
decoder_rows("glm4", "Glm4", **_GROUPED, head_dim=16)
decoder_rows("cohere", "Cohere", **_GROUPED)
decoder_rows("phi", "Phi", num_key_value_heads=HEADS)

encoder_row("longformer", "Longformer", attention_window=8, max_position_embeddings=130)
encoder_row("big_bird", "BigBird", attention_type="original_full")
encoder_row("esm", "Esm", mask_token_id=3, position_embedding_type="rotary")
for _name, _prefix, _sizes in (
    ("xlnet", "XLNet", {"n_layer": LAYERS, "d_inner": HIDDEN}),
    ("funnel", "Funnel", {"block_sizes": [1, 1], "d_inner": HIDDEN, "d_head": 16}),
):
    _made = {"vocab_size": WORDS, "d_model": WIDTH, "n_head": HEADS, **_sizes}
    _make = partial(network, f"{_prefix}Config", f"{_prefix}Model", **_made)
    ROWS.add(
        _name,
        lambda make=_make: Call(make(), encode),
        input_ids=TOKENS,
        attention_mask=mask("batch", "tokens"),
    )


def gemma3() -> nn.Module:
    """The text model of Gemma 3: layers with a sliding window and layers with full attention."""
    options = {k: v for k, v in _GROUPED.items() if k != "heads"}
    options |= {"head_dim": 16, "sliding_window": 8}
    options |= {"layer_types": ["sliding_attention", "full_attention"]}
    return network("Gemma3TextConfig", "Gemma3ForCausalLM", **(SMALL | options))


ROWS.add(
    "gemma3",
    lambda: Call(gemma3(), logits),
    input_ids=TOKENS,
    attention_mask=ones("batch", "tokens"),
)

_HEADS_OF_TWO = {"num_key_value_heads": 2}
_HYBRIDS: dict[str, tuple[str, dict[str, Any]]] = {
    "falcon_mamba": ("FalconMamba", _STATE),
    "rwkv": ("Rwkv", {**_STATE, "attention_hidden_size": WIDTH}),
    "lfm2": ("Lfm2", {**SMALL, **_HEADS_OF_TWO, "layer_types": ["conv", "full_attention"]}),
    "recurrent_gemma": (
        "RecurrentGemma",
        {**SMALL, "num_hidden_layers": 3, "lru_width": WIDTH, "attention_window_size": 8},
    ),
    "jamba": (
        "Jamba",
        {
            **SMALL,
            **_HEADS_OF_TWO,
            "attn_layer_period": 2,
            "attn_layer_offset": 1,
            "num_experts": 2,
            "expert_layer_period": 2,
            "expert_layer_offset": 1,
            "mamba_d_state": 8,
            "mamba_dt_rank": 4,
            "use_mamba_kernels": False,
        },
    ),
}
for _name, (_prefix, _options) in _HYBRIDS.items():
    ROWS.add(
        _name,
        lambda prefix=_prefix, options=_options: Call(
            network(f"{prefix}Config", f"{prefix}ForCausalLM", **options), only_tokens
        ),
        input_ids=TOKENS,
    )


_PAST = {
    f"past_{where}_{kind}_{i}": floats("batch", HEADS, "past" if where == "own" else "tokens", 16)
    for i in range(LAYERS)
    for where in ("own", "cross")
    for kind in ("key", "value")
}
ROWS.add(
    "t5_step",
    lambda: Call(network("T5Config", "T5ForConditionalGeneration", **_T5), decoder_step_call),
    input_ids=integers(WORDS, "batch", 1),
    heard=floats("batch", "tokens", WIDTH),
    **_PAST,
)


class MambaStep(nn.Module):
    """Mamba on one more token, with the convolution and recurrence states of each layer."""

    def __init__(self) -> None:
        super().__init__()
        self.model = network("MambaConfig", "MambaForCausalLM", **_STATE)

    def forward(self, input_ids: Tensor, *states: Tensor) -> tuple[Tensor, ...]:
        cache = zoo.DynamicCache(config=self.model.config)
        for i, layer in enumerate(cache.layers):
            layer.conv_states[0] = states[2 * i].clone()
            layer.recurrent_states[0] = states[2 * i + 1].clone()
            layer.conv_kernel_size[0] = states[2 * i].shape[-1]
            layer.is_conv_states_initialized[0] = layer.is_recurrent_states_initialized[0] = True
            layer.has_previous_state[0] = True
        found = self.model(input_ids=input_ids, cache_params=cache, use_cache=True)
        after = [t for one in cache.layers for t in (one.conv_states[0], one.recurrent_states[0])]
        return found.logits, *after


ROWS.add(
    "mamba_step",
    MambaStep,
    input_ids=integers(WORDS, "batch", 1),
    **{
        f"{kind}_{i}": floats("batch", 2 * WIDTH, size)
        for i in range(LAYERS)
        for kind, size in (("convolution", 4), ("recurrence", 8))
    },
)
