"""The architectures of text models: properties that are not in a file, but follow from the name of
its architecture.

An architecture is a row of `ARCHITECTURES`. Other differences follow from the tensors in the file:
fused queries, keys and values, biases, norms of heads, norms after a layer.

Source: the models of llama.cpp (`src/models`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Architecture:
    """The properties of an architecture that files do not contain."""

    norm: str = "rms"
    """The kind of its norms: by the root mean square (`rms`), or by mean and variance (`layer`), or
    that whose epsilon the file has (`either`)."""
    bare_norms: bool = False
    """Whether the norms have no weights."""
    norms_first: bool = True
    """Whether attention and the feed-forward part first normalize their operand."""
    is_encoder: bool = False
    """Whether it is an encoder like BERT. Each token sees the whole text, unless the file says
    otherwise; the results are embeddings, not logits. Without `norms_first`, the results of
    attention and of the layer are normalized."""
    second_norm: str = "ffn_norm"
    """The name of the norm that the feed-forward part reads."""
    attention_norm: str = "post_attention_norm"
    """The name of the norm of attention's result, where there is one."""
    head_norms_last: bool = False
    """Whether queries and keys are normalized after the rotation, not before it."""
    rotary: str | None = "halves"
    """Which elements of a head are rotated together: neighbours (`pairs`), or equal places of its
    two `halves`."""
    unrotated_every: int | None = None
    """The last of every `unrotated_every` layers does not rotate; None if all rotate."""
    rotates_windows: bool = False
    """Whether only layers with a window rotate, in models in which some layers have one."""
    alibi: float | None = None
    """The largest slope's exponent of a bias by distance (ALiBi), in place of a rotation."""
    rotated_layers: int | None = None
    """The number of layers of the variant that rotates; others have ALiBi."""
    activation: str = "silu"
    gated: bool = True
    parallel: bool | None = False
    """Whether the feed-forward part reads the layer's operand, instead of the attention's result.
    None: where the layer has no norm for the feed-forward part."""
    scales_embedding: bool = False
    logits: str | None = None
    """How `logit_scale` acts on the logits: as a factor (`times`) or a divisor (`over`)."""
    full_every: int | None = None
    """One of every `full_every` layers attends to all tokens, the others to a window."""
    full_at: int = 0
    """The index, among every `full_every` layers, of the layer that attends to all tokens."""
    window: int | None = None
    local_base: float | None = None
    """The base of the rotary embedding in layers with a window, if it differs from the others'."""
    plain_windows: bool = False
    """Whether layers with a window rotate by frequencies that are not scaled."""
    halves_rotation: bool = False
    """Whether layers without a window rotate half of the elements that the file tells, by the first
    of its factors of frequencies."""
    wide_layers: int | None = None
    """The number of layers of the variant whose scores are scaled by the width of all heads, not of
    one."""
    gating: int = 1
    """The function that makes the weights of a token's experts, if the file has none: 1 is softmax
    over all experts, 2 sigmoid, 3 softmax over the chosen experts."""
    is_latent: bool = False
    """Whether keys and values are products of a latent vector of each token, which is cached in
    their place. Source: arXiv:2405.04434, 2.1."""
    is_hybrid: bool = False
    """Whether layers may have a state of fixed size in place of attention, or beside it, and may
    lack the feed-forward part. The tensors of a layer tell."""
    gates_heads: bool = False
    """Whether each head's query is followed by a gate, whose sigmoid opens the head's result."""
    tiles_keys: bool = False
    """Whether, in delta nets, groups of keys serve heads in turn, not several heads each."""
    score_scale: float | None = None
    """The factor of attention scores, if it does not follow from the heads' size."""
    normalizes_values: bool = False
    """Whether values are normalized; without a matrix of values, they are the keys' products."""
    last_norm: str = "output_norm"
    """The name of the norm after the last layer."""
    rank_pooling: int = 0
    """How the embeddings that are ranked are pooled, if the file does not say it."""
    normalizes_experts: bool = True
    """Whether the weights of a token's experts are scaled to a sum of 1."""
    routes_operands: bool = False
    """Whether a layer's operand chooses the experts, not what they read."""
    weighs_operands: bool = False
    """Whether the weights of a token's experts are factors of what they read, not of results."""
    shared_factor: float = 1.0
    """The factor of the sum of the experts' results and those of a network that all tokens use."""
    has_network_beside: bool = False
    """Whether such a network's tensors have the names of one without experts."""
    expert_function: str | None = None
    """The activation of experts, if it is another than that of other networks."""
    gated_activation: str | None = None
    """The activation of the variant with gates, if those without have another one."""
    is_relative: bool = False
    """Whether scores have a bias by the bucket of a key's distance, in place of a rotation."""
    prefix: str = ""
    """What the names of its tensors begin with. Errors name them without it."""
    is_diffusion: bool = False
    """Whether it is a model of diffusion: the logits of a whole text, in which each token sees all
    others, and no cache."""
    rotates_dense: bool = False
    """With `rotates_windows`, whether the first layers, those without experts, rotate, too."""
    is_chunked: bool = False
    """Whether a window has the tokens of an equal part of the text, which do not overlap."""
    normalizes_turned: int | None = None
    """Rotated queries and keys are normalized without weights; but in the variant of so many
    experts they are not."""
    warms_unrotated: bool = False
    """Whether, in layers that do not rotate, queries have a factor that grows with positions."""
    score_power: float = -0.5
    """The factor of attention scores is this power of the heads' size."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Numbers of the metadata that a file may lack."""
    depth_scale: float | None = None
    """The `residual_scale` that a file may lack, times the square root of the number of layers."""
    base_width: int | None = None
    """The width over the `logit_scale` that a file may lack."""

    @property
    def normalizes_results(self) -> bool:
        """Whether the results of attention and of each layer are normalized, as in BERT."""
        return self.is_encoder and not self.norms_first


LAYER: dict[str, Any] = {"norm": "layer", "activation": "gelu", "gated": False}
"""The norms and feed-forward parts of GPT-2 and its like."""
BERT: dict[str, Any] = LAYER | {"norms_first": False, "is_encoder": True}
COHERE: dict[str, Any] = {"norm": "layer", "rotary": "pairs", "parallel": True, "logits": "times"}
MINICPM: dict[str, Any] = {
    "logits": "over", "numbers": {"embedding_scale": 12.0}, "depth_scale": 1.4, "base_width": 256,
}  # fmt: skip
"""The numbers of all models before 2025, whose files may lack them."""

DELTA: dict[str, Any] = {
    "is_hybrid": True, "gates_heads": True, "second_norm": "post_attention_norm",
}  # fmt: skip

ARCHITECTURES: Mapping[str, Architecture] = {
    "llama": Architecture(rotary="pairs"),
    "afmoe": Architecture(
        scales_embedding=True, gating=2, normalizes_experts=False, full_every=4, full_at=3,
        unrotated_every=4,
    ),
    "apertus": Architecture(activation="xielu", gated=False),
    "arcee": Architecture(rotary="pairs", activation="relu_squared", gated=False),
    "arctic": Architecture(rotary="pairs"),
    "baichuan": Architecture(rotary="pairs", alibi=8.0, rotated_layers=32),
    "bailingmoe": Architecture(rotary="pairs", normalizes_experts=False),
    "bailingmoe2": Architecture(normalizes_experts=False),
    "bert": Architecture(**BERT, rotary=None),
    "bitnet": Architecture(),
    "bloom": Architecture(**LAYER, rotary=None, alibi=8.0),
    "chatglm": Architecture(rotary="pairs"),
    "codeshell": Architecture(**LAYER),
    "cohere2": Architecture(**COHERE, full_every=4, full_at=3, rotates_windows=True),
    "cohere2moe": Architecture(
        **{**COHERE, "norm": "either"}, full_every=4, full_at=0, rotates_windows=True,
        rotates_dense=True, gating=2, normalizes_experts=False, shared_factor=0.5,
    ),
    "command-r": Architecture(**COHERE),
    "dbrx": Architecture(norm="layer", second_norm="attn_output_norm"),
    "deci": Architecture(rotary="pairs", is_hybrid=True),
    "deepseek": Architecture(rotary="pairs", normalizes_experts=False),
    "deepseek2": Architecture(rotary="pairs", is_latent=True, normalizes_experts=False),
    "dots1": Architecture(normalizes_experts=False),
    "dream": Architecture(is_diffusion=True),
    "ernie4_5": Architecture(rotary="pairs"),
    "ernie4_5-moe": Architecture(rotary="pairs"),
    "eurobert": Architecture(is_encoder=True),
    "exaone": Architecture(),
    "exaone4": Architecture(norms_first=False, full_every=4, full_at=3, rotates_windows=True),
    "exaone-moe": Architecture(
        full_every=4, full_at=3, window=128, rotates_windows=True, normalizes_experts=False
    ),
    "falcon": Architecture(**LAYER, parallel=True),
    "falcon-h1": Architecture(is_hybrid=True),
    "gemma": Architecture(activation="gelu", scales_embedding=True),
    "gemma2": Architecture(
        activation="gelu", scales_embedding=True, full_every=2, full_at=1, window=4096,
        wide_layers=46,
        numbers={"attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0},
    ),
    "gemma3": Architecture(
        activation="gelu", scales_embedding=True, full_every=6, full_at=5, window=1024,
        local_base=1e4, wide_layers=62,
    ),
    "gemma-embedding": Architecture(
        activation="gelu", scales_embedding=True, full_every=6, full_at=5, local_base=1e4,
        is_encoder=True,
    ),
    "gemma3n": Architecture(
        activation="gelu", scales_embedding=True, full_every=5, full_at=4, local_base=1e4,
        score_scale=1.0, normalizes_values=True, numbers={"final_logit_softcapping": 30.0},
    ),
    "gemma4": Architecture(
        activation="gelu", scales_embedding=True, local_base=1e4, score_scale=1.0,
        normalizes_values=True,
    ),
    "glm4": Architecture(rotary="pairs"),
    "glm4moe": Architecture(second_norm="post_attention_norm", gating=2, normalizes_experts=False),
    "grok": Architecture(
        activation="gelu", attention_norm="attn_output_norm", logits="times",
        has_network_beside=True, shared_factor=0.5**0.5,
        numbers={"logit_scale": 3**-0.5, "embedding_scale": 78.38367176906169,
                 "attention.output_scale": 128**-0.5, "attn_logit_softcapping": 30.0,
                 "rope.scaling.yarn_beta_fast": 8.0},
    ),
    "gpt-oss": Architecture(
        second_norm="post_attention_norm", activation="clamped", gating=3, full_every=2, full_at=1,
        normalizes_experts=False,
    ),
    "gpt2": Architecture(**LAYER, rotary=None),
    "gptneox": Architecture(**LAYER),
    "granite": Architecture(rotary="pairs", logits="over"),
    "granite_swa": Architecture(rotary="pairs", logits="over"),
    "granitemoe": Architecture(rotary="pairs", logits="over"),
    "granitehybrid": Architecture(rotary="pairs", logits="over", is_hybrid=True),
    "hunyuan-dense": Architecture(head_norms_last=True),
    "hunyuan-moe": Architecture(head_norms_last=True),
    "hunyuan_vl": Architecture(head_norms_last=True),
    "hy_v3": Architecture(gating=2, normalizes_experts=False),
    "internlm2": Architecture(rotary="pairs"),
    "jais": Architecture(norm="layer", rotary=None, score_power=-1.0),
    "jais2": Architecture(norm="layer", activation="relu_squared", gated=False),
    "jina-bert-v2": Architecture(**{**BERT, "gated": True}, rotary=None, alibi=8.0),
    "jamba": Architecture(rotary=None, is_hybrid=True, normalizes_experts=False),
    "jina-bert-v3": Architecture(**BERT),
    "lfm2": Architecture(is_hybrid=True, last_norm="token_embd_norm"),
    "lfm2moe": Architecture(is_hybrid=True, last_norm="token_embd_norm"),
    "llada": Architecture(rotary="pairs", is_diffusion=True),
    "llada-moe": Architecture(is_diffusion=True, normalizes_experts=False),
    "llama-embed": Architecture(rotary="pairs", is_encoder=True),
    "llama4": Architecture(
        rotary="pairs", full_every=4, full_at=3, window=8192, is_chunked=True, unrotated_every=4,
        normalizes_turned=128, warms_unrotated=True, gating=2, normalizes_experts=False,
        weighs_operands=True, numbers={"attention.temperature_scale": 0.1,
                                       "attention.temperature_length": 8192},
    ),
    "maincoder": Architecture(rotary="pairs", head_norms_last=True),
    "mamba": Architecture(rotary=None, is_hybrid=True),
    "mamba2": Architecture(rotary=None, is_hybrid=True),
    "mellum": Architecture(full_every=4, full_at=3, plain_windows=True),
    "mimo2": Architecture(gating=2, local_base=1e4),
    "minicpm": Architecture(**MINICPM, rotary="pairs"),
    "minicpm3": Architecture(**MINICPM, is_latent=True),
    "minimax-m2": Architecture(),
    "mistral3": Architecture(rotary="pairs"),
    "mistral4": Architecture(rotary="pairs", is_latent=True, normalizes_experts=False),
    "modern-bert": Architecture(
        norm="layer", activation="gelu", full_every=3, full_at=0, local_base=1e4, is_encoder=True,
        rank_pooling=1,
    ),
    "mpt": Architecture(**LAYER, rotary=None),
    "nanbeige": Architecture(rotary="pairs"),
    "nemotron": Architecture(norm="layer", activation="relu_squared", gated=False),
    "nemotron_h": Architecture(
        rotary=None, activation="relu_squared", gated=False, is_hybrid=True
    ),
    "nemotron_h_moe": Architecture(
        rotary=None, activation="relu_squared", gated=False, is_hybrid=True, gating=2,
        normalizes_experts=False,
    ),
    "neo-bert": Architecture(rotary="pairs", is_encoder=True, last_norm="enc.output_norm"),
    "nomic-bert": Architecture(**{**BERT, "gated": True, "activation": "silu"}),
    "nomic-bert-moe": Architecture(**BERT, normalizes_experts=False),
    "olmo": Architecture(norm="layer", bare_norms=True, rotary="pairs"),
    "olmo2": Architecture(norms_first=False, full_every=4, full_at=3, plain_windows=True),
    "olmoe": Architecture(normalizes_experts=False),
    "openelm": Architecture(),
    "orion": Architecture(norm="layer"),
    "paddleocr": Architecture(),
    "pangu-embedded": Architecture(),
    "phi2": Architecture(**LAYER, parallel=True),
    "phi3": Architecture(),
    "phimoe": Architecture(),
    "plamo": Architecture(parallel=True),
    "plamo3": Architecture(full_every=8, full_at=7),
    "qwen": Architecture(),
    "qwen2": Architecture(),
    "qwen2moe": Architecture(normalizes_experts=False),
    "qwen2vl": Architecture(),
    "qwen3": Architecture(),
    "qwen35": Architecture(**DELTA, tiles_keys=True),
    "qwen35moe": Architecture(**DELTA, tiles_keys=True),
    "qwen3moe": Architecture(),
    "qwen3next": Architecture(**DELTA),
    "qwen3vl": Architecture(),
    "qwen3vlmoe": Architecture(),
    "refact": Architecture(rotary=None, alibi=8.0),
    "rnd1": Architecture(is_diffusion=True),
    "rwkv7": Architecture(norm="layer", rotary=None, is_hybrid=True),
    "seed_oss": Architecture(second_norm="post_attention_norm"),
    "smallthinker": Architecture(
        expert_function="relu", full_every=4, full_at=0, rotates_windows=True, routes_operands=True
    ),
    "smollm3": Architecture(rotary="pairs", unrotated_every=4),
    "stablelm": Architecture(norm="layer", parallel=None),
    "starcoder": Architecture(**LAYER, rotary=None),
    "starcoder2": Architecture(**LAYER),
    "step35": Architecture(
        gating=2, normalizes_experts=False, plain_windows=True, halves_rotation=True,
    ),
    "t5encoder": Architecture(
        rotary=None, is_relative=True, is_encoder=True, score_scale=1.0, activation="relu",
        gated=False, gated_activation="gelu", prefix="enc.",
    ),
    "xverse": Architecture(rotary="pairs"),
}  # fmt: skip
