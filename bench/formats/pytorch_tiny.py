"""Every type of model of transformers, as small as its configuration allows.

`tiny/Qwen2MoeModel` is a class of transformers with the numbers of its configuration made small,
and with the first inputs that its `forward` takes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

MOST_WEIGHTS = 120_000_000

_WORDS = r"(.*_)?vocab_size"

_SIZES = {
    r"(.*_|n_)?layers?|depth|num_blocks|.*num_hidden_layers": 2,
    r"hidden_size|d_model|n_embd|n_embed|embed_dim|dim|model_dim|text_dim|width|projection_dim"
    r"|(de|en)coder_hidden_(size|dim)|vision_feature_dim|emb_dim|hidden_dim|feat_dim": 64,
    r"n_heads?|num_heads(_.*)?|.*attention_heads": 4,
    r"num_key_value_heads|num_kv_heads": 2,
    r"head_dim|d_kv|attention_head_dim|kv_channels|v_head_dim|qk_(no|ro)pe_head_dim": 16,
    r"q_lora_rank|kv_lora_rank": 32,
    r"(.*_)?intermediate_size|d_ff|(.*_)?ffn_dim|n_inner|mlp_dim|feedforward_dim"
    r"|dim_feedforward": 96,
    _WORDS: 300,
    r"n_routed_experts|num_local_experts|num_experts|moe_num_experts|num_frames": 4,
    r"num_experts_per_tok(en)?|moe_topk|moe_k|n_group|num_expert_group|mamba_n_groups": 2,
    r"topk_group": 1,
    r"mamba_n_heads|mamba_num_heads": 8,
    r"mamba_d_head|mamba_head_dim": 16,
    r"image_size|img_size": 64,
    r"patch_size": 16,
    r"num_queries|num_query_tokens|num_latents": 12,
    r"rotary_dim|state_size": 8,
}
"""The largest allowed value of a configuration's number, by a pattern of its name."""

_NEEDED = {
    "vocab_size": 300,
    "head_dim": 16,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "prediction_length": 8,
    "context_length": 16,
}
"""Values for parameters that libraries leave undefined and models need."""

_TOKENS = re.compile(
    r"_token_(id|index)$|_index$|^(bos|eos|pad|sep|cls|mask|image|video|audio).*_id$"
)
_LISTS = ("layer_types", "mlp_layer_types", "layers_block_type", "block_types")


def tiny(name: str) -> tuple[Any, dict[str, Any]]:
    """The smallest model of a class that runs, and its inputs."""
    import transformers as library

    from .pytorch_models import scale_up

    kind, problem = getattr(library, name), None
    for config in _configurations(kind.config_class):
        try:
            model = _made(kind, config)
            found = _inputs(model, config)
            scale_up(model)
            return model, found
        except Exception as error:  # sizes that do not fit, inputs that it does not take
            problem = problem or error
    raise problem or ValueError(f"{name} has no configuration")


def _made(kind: Any, config: Any) -> Any:
    """The model, with fused attention if it supports that."""
    import torch

    _without_cache(config)
    for attention in ("sdpa", "eager"):
        config._attn_implementation = attention
        try:
            with torch.device("meta"):
                count = sum(p.numel() for p in kind(config).parameters())
            break
        except (ValueError, RuntimeError):
            if attention == "eager":
                raise
    if count > MOST_WEIGHTS:
        raise ValueError(f"{count} weights")
    return kind(config).eval()


def _without_cache(config: Any) -> None:
    config.use_cache = False
    for part in _parts(config):
        _without_cache(part)


def _parts(config: Any) -> list[Any]:
    """The configurations nested in a configuration, such as those of the text and
    the vision model.
    """
    from transformers import PreTrainedConfig

    return [value for value in vars(config).values() if isinstance(value, PreTrainedConfig)]


# -- configurations --------------------------------------------------------------------------------


def _configurations(kind: Any) -> Iterator[Any]:
    """Candidate configurations: the smallest first, then those that keep more of the library's
    values.
    """
    config = kind()
    _shrink(config, _SIZES)
    yield config
    config = kind()
    _shrink(config, _SIZES | {"num_key_value_heads|num_kv_heads": 4})
    yield config
    config = kind()
    _shrink(config, {key: size for key, size in _SIZES.items() if "head_dim" not in key}, True)
    yield config
    config = kind()
    _shrink(config, dict(list(_SIZES.items())[:1]))
    yield config
    yield kind()


def _shrink(config: Any, sizes: dict[str, int], whole_heads: bool = False) -> None:
    """Reduce a configuration's numbers in place; with `whole_heads`, heads keep their default
    width.
    """
    for part in _parts(config):
        _shrink(part, sizes, whole_heads)
    width = _head_width(config)
    for key, value in list(vars(config).items()):
        if isinstance(value, bool) or not isinstance(value, int) or key.startswith("_"):
            continue
        most = next((size for name, size in sizes.items() if re.fullmatch(name, key)), value)
        setattr(config, key, min(value, most))
    if whole_heads and width:
        config.hidden_size = config.num_attention_heads * width
    for key in _NEEDED:
        if hasattr(config, key) and getattr(config, key) is None:
            setattr(config, key, _NEEDED[key])
    if hasattr(config, "expand") and hasattr(config, "num_heads"):
        config.num_heads = config.expand * config.hidden_size // config.head_dim
    _fit_sections(config)
    words = getattr(config, "vocab_size", None)
    layers = getattr(config, "num_hidden_layers", None) or 2
    for key, value in list(vars(config).items()):
        if isinstance(value, list) and key in _LISTS:
            setattr(config, key, (list(dict.fromkeys(value)) * layers)[:layers])
        elif key == "eos_token_id" and isinstance(value, list):
            setattr(config, key, 1)
        elif isinstance(value, int) and isinstance(words, int) and _TOKENS.search(key):
            setattr(config, key, value if value < words else min(words - 1, 3 + len(key)))


def _fit_sections(config: Any) -> None:
    """Adjust the sections of rotary embeddings (time, height, width), whose sum must be half of a
    head.
    """
    rope = getattr(config, "rope_parameters", None)
    is_split = isinstance(rope, dict) and ("mrope_section" in rope or "glm" in config.model_type)
    if not isinstance(rope, dict) or not is_split:
        return
    width = getattr(config, "head_dim", None) or _head_width(config)
    half = int(width * rope.get("partial_rotary_factor", 1)) // 2
    side = half * 3 // 8
    rope["mrope_section"] = [half - 2 * side, side, side]


def _head_width(config: Any) -> int:
    """The width of an attention head; 0 if the configuration does not define it."""
    width, heads = (getattr(config, key, None) for key in ("hidden_size", "num_attention_heads"))
    return width // heads if isinstance(width, int) and isinstance(heads, int) else 0


# -- inputs ----------------------------------------------------------------------------------------


def _inputs(model: Any, config: Any) -> dict[str, Any]:
    """The first of the usual sets of inputs that the model accepts."""
    import torch

    problem: Any = ValueError("no inputs are known")
    for given in _usual_inputs(model, config):
        try:
            with torch.no_grad():
                model(**given)
            return given
        except Exception as error:  # whatever a model says of inputs that are others'
            problem = error
    raise problem


def _usual_inputs(model: Any, config: Any) -> Iterator[dict[str, Any]]:
    import torch

    takes = inspect.signature(model.forward).parameters
    main = model.main_input_name
    main = main[0] if isinstance(main, list | tuple) else main
    words = max(_number(config, ("vocab_size",), 300), 8)
    ids = torch.randint(min(5, words - 2), min(words - 1, 290), (1, 16))
    side, channels = _number(config, ("image_size",), 64), _number(config, ("num_channels",), 3)
    bands = _number(config, ("num_mel_bins",), 80)
    image = torch.randn(1, channels, side, side)
    text = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    text |= {"bbox": torch.randint(0, 50, (1, 16, 4)), "decoder_input_ids": ids.clone()}
    every = {
        "input_ids": [ids],
        "pixel_values": [image, image[:, None].repeat(1, 4, 1, 1, 1), torch.randn(1, 3, 224, 224)],
        "pixel_values_videos": [image[:, None].repeat(1, 4, 1, 1, 1)],
        "input_values": [torch.randn(1, *shape) for shape in ((4000,), (1, 4000), (64, bands))],
        "input_features": [torch.randn(1, *s) for s in ((bands, 100), (100, bands), (bands, 3000))],
        "inputs_embeds": [torch.randn(1, 16, _number(config, ("hidden_size",), 64))],
        "past_values": [
            torch.randn(1, 64, _number(config, ("num_input_channels", "input_size"), 1))
        ],
    }
    beside = {key: text[key] for key in ("decoder_input_ids", "bbox") if key in takes}
    for value in every.get(main, []):
        yield {main: value, **(beside if main == "input_ids" else {})}
        yield {main: value, **{key: text[key] for key in text if key in takes}}
    both = {key: v for key, v in (text | {"pixel_values": image}).items() if key in takes}
    yield {key: v for key, v in both.items() if key != "decoder_input_ids"}
    yield both
    yield from _needed_inputs(config, takes, text | {"pixel_values": image})
    if "inputs_embeds" in takes:
        yield {"inputs_embeds": every["inputs_embeds"][0]}


def _needed_inputs(config: Any, takes: Any, given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Inputs that some models require besides the usual ones: images as patches, sound, queries."""
    import torch

    width, side = _number(config, ("hidden_size", "d_model"), 64), 4
    patch = _number(config, ("patch_size",), 16)
    pixels = _number(config, ("in_channels", "in_chans", "num_channels"), 3) * patch * patch
    pixels *= _number(config, ("temporal_patch_size",), 1)
    bands = _number(config, ("num_mel_bins", "input_feat_size", "feature_size", "input_size"), 80)
    sound = torch.ones(1, 64, dtype=torch.bool)
    every = given | {
        "grid_thw": torch.tensor([[1, side, side]]),
        "query_embeds": torch.randn(1, 8, width),
        "input_features_mask": sound,
        "audio_mel_mask": ~sound,
        "pixel_position_ids": torch.cartesian_prod(torch.arange(side), torch.arange(side))[None],
        "input_values": torch.randn(1, 4000),
        "timestep": torch.tensor([7]),
    }
    needed = [p.name for p in takes.values() if p.default is p.empty and p.kind not in (2, 4)]
    for patches in (torch.randn(side * side, pixels), torch.randn(1, 16, width)):
        for features in (torch.randn(1, 64, bands), torch.randn(1, bands, 64)):
            every |= {"hidden_states": patches, "pixel_values": patches}
            every |= {"input_features": features, "audio_mel": features}
            if not set(needed) - set(every):
                yield {name: every[name] for name in needed}
            yield {name: every[name] for name in takes if name in every}


def _number(config: Any, names: tuple[str, ...], default: int) -> int:
    """The first number with one of these names in a configuration or its parts, else `default`."""
    for one in (config, *_parts(config)):
        for name in names:
            value = getattr(one, name, None)
            value = value[0] if isinstance(value, list | tuple) and value else value
            if isinstance(value, int):
                return value
    return default
