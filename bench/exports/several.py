"""Rows of networks with several kinds of input, on sound, and of Stable Diffusion's parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import transformers as zoo
from torch import Tensor, nn

from .language import HEADS, HIDDEN, LAYERS, SMALL, WIDTH, WORDS, network
from .rows import ROWS, Call, Spec, floats, images, integers, mask, unit

Calls = Callable[..., object]


def row(
    name: str, prefix: str, model: str, call: Calls, config: dict[str, Any], **inputs: Spec
) -> None:
    """Add a model of `transformers`, by the prefix of its classes; `call` returns its tensors."""
    make = partial(network, f"{prefix}Config", f"{prefix}{model}", **config)
    ROWS.add(name, lambda: Call(make(), call), **inputs)


_LAYERS = {k: SMALL[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads")}
_LAYERS |= {"intermediate_size": HIDDEN}
_IMAGE = {**_LAYERS, "image_size": 64, "patch_size": 16}
FIXED = floats("batch", 3, 64, 64)


def hidden(model: nn.Module, x: Tensor) -> object:
    """The last hidden states."""
    return model(x).last_hidden_state


def boxes_call(model: nn.Module, x: Tensor) -> object:
    """Each query's class logits and box."""
    found = model(x)
    return found.logits, found.pred_boxes


def class_logits(model: nn.Module, x: Tensor) -> object:
    """The logits."""
    return model(x).logits


row("vit", "ViT", "ForImageClassification", class_logits, _IMAGE, image=FIXED)
row("dinov2", "Dinov2", "Model", hidden, _IMAGE, image=FIXED)
row(
    *("swin_transformers", "Swin", "ForImageClassification", class_logits),
    {"image_size": 64, "embed_dim": 32, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4},
    image=FIXED,
)
row(
    "convnext_transformers",
    "ConvNext",
    "Model",
    hidden,
    {"hidden_sizes": [16, 32, 48, 64], "depths": [1, 1, 1, 1]},
    image=images(),
)
row(
    *("segformer", "Segformer", "ForSemanticSegmentation", class_logits),
    {"hidden_sizes": [16, 32, 48, 64], "depths": [1, 1, 1, 1], "decoder_hidden_size": 32},
    image=images(),
)
row(
    "yolos",
    "Yolos",
    "ForObjectDetection",
    boxes_call,
    {**_IMAGE, "image_size": [64, 64], "num_detection_tokens": 10},
    image=FIXED,
)


def detr() -> nn.Module:
    """DETR on a small ResNet backbone."""
    backbone = zoo.ResNetConfig(
        embedding_size=16,
        hidden_sizes=[16, 32, 48, 64],
        depths=[1, 1, 1, 1],
        layer_type="basic",
        out_features=["stage4"],
    )
    config = zoo.DetrConfig(
        use_timm_backbone=False,
        use_pretrained_backbone=False,
        backbone=None,
        backbone_config=backbone,
        d_model=WIDTH,
        num_queries=10,
        encoder_layers=LAYERS,
        decoder_layers=LAYERS,
        encoder_ffn_dim=HIDDEN,
        decoder_ffn_dim=HIDDEN,
        encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS,
    )
    config._attn_implementation = "eager"
    return Call(zoo.DetrForObjectDetection(config), boxes_call)


ROWS.add("detr", detr, image=images())


def clip_call(model: nn.Module, input_ids: Tensor, image: Tensor, attention_mask: Tensor) -> object:
    """The similarity of each text to each image, and the embeddings of both."""
    found = model(input_ids=input_ids, pixel_values=image, attention_mask=attention_mask)
    return found.logits_per_image, found.text_embeds, found.image_embeds


def siglip_call(model: nn.Module, input_ids: Tensor, image: Tensor) -> object:
    """The similarity of each text to each image, and the embeddings of both."""
    found = model(input_ids=input_ids, pixel_values=image)
    return found.logits_per_image, found.text_embeds, found.image_embeds


_TEXT = {**SMALL, "max_position_embeddings": 64}
ROWS.add(
    "clip",
    lambda: Call(
        network(
            "CLIPConfig", "CLIPModel", text_config=_TEXT, vision_config=_IMAGE, projection_dim=32
        ),
        clip_call,
    ),
    {"pictures": (3, 2)},
    input_ids=integers(WORDS, "batch", "tokens"),
    image=floats("pictures", 3, 64, 64),
    attention_mask=mask("batch", "tokens"),
)
row(
    *("siglip", "Siglip", "Model", siglip_call),
    {"text_config": _TEXT, "vision_config": _IMAGE},
    input_ids=integers(WORDS, "batch", "tokens"),
    image=FIXED,
)


def sam() -> nn.Module:
    """SAM, which predicts masks from an image and points on it."""
    config = zoo.SamConfig(
        vision_config={
            "hidden_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "image_size": 64,
            "patch_size": 16,
            "output_channels": 32,
            "mlp_dim": 128,
            "window_size": 2,
            "num_pos_feats": 16,
            "global_attn_indexes": [1],
        },
        prompt_encoder_config={"hidden_size": 32, "image_size": 64, "patch_size": 16},
        mask_decoder_config={
            "hidden_size": 32,
            "mlp_dim": 64,
            "num_attention_heads": 4,
            "iou_head_hidden_dim": 32,
        },
    )
    config._attn_implementation = "eager"
    return zoo.SamModel(config)


def sam_call(model: nn.Module, image: Tensor, points: Tensor) -> object:
    """The masks of the objects at the points."""
    labels = torch.ones_like(points[..., 0]).int()
    found = model(pixel_values=image, input_points=points, input_labels=labels)
    return found.pred_masks, found.iou_scores


ROWS.add(
    "sam",
    lambda: Call(sam(), sam_call),
    {"points": (3, 5)},
    image=FIXED,
    points=unit("batch", 1, "points", 2),
)

_SOUND: dict[str, Any] = {**_LAYERS, "conv_dim": (32, 32, 32), "conv_stride": (5, 2, 2)}
_SOUND |= {"conv_kernel": (10, 3, 3), "num_feat_extract_layers": 3, "vocab_size": 32}
_SOUND |= {"num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4}
for _name, _prefix in (("wav2vec2", "Wav2Vec2"), ("hubert", "Hubert")):
    row(_name, _prefix, "ForCTC", class_logits, _SOUND, sound=floats("batch", "samples"))

_WHISPER: dict[str, Any] = {"vocab_size": WORDS, "d_model": WIDTH, "num_mel_bins": 20}
_WHISPER |= {"max_source_positions": 40, "max_target_positions": 64, "pad_token_id": 0}
_WHISPER |= {"bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
for _side in ("encoder", "decoder"):
    _WHISPER |= {f"{_side}_layers": LAYERS, f"{_side}_attention_heads": HEADS}
    _WHISPER |= {f"{_side}_ffn_dim": HIDDEN}


def whisper_call(model: nn.Module, features: Tensor, decoder_input_ids: Tensor) -> object:
    """The decoder's logits and the encoder's hidden states."""
    found = model(
        input_features=features,
        decoder_input_ids=decoder_input_ids,
        decoder_attention_mask=torch.ones_like(decoder_input_ids),
        use_cache=False,
    )
    return found.logits, found.encoder_last_hidden_state


row(
    *("whisper", "Whisper", "ForConditionalGeneration", whisper_call, _WHISPER),
    features=floats("batch", 20, 80),
    decoder_input_ids=integers(WORDS, "batch", "prompt"),
)


def whisper_step() -> nn.Module:
    """Whisper's decoder on one more token, with caches of its own keys and values and the
    encoder's.
    """
    config = zoo.WhisperConfig(**_WHISPER)
    config._attn_implementation = "eager"
    return Call(zoo.WhisperForConditionalGeneration(config), decoder_step_call)


def decoder_step_call(model: nn.Module, input_ids: Tensor, heard: Tensor, *past: Tensor) -> object:
    """The logits of one more token, and the keys and values extended by one."""
    own = zoo.DynamicCache([tuple(past[4 * i : 4 * i + 2]) for i in range(LAYERS)])
    cross = zoo.DynamicCache([tuple(past[4 * i + 2 : 4 * i + 4]) for i in range(LAYERS)])
    found = model(
        encoder_outputs=(heard,),
        decoder_input_ids=input_ids,
        past_key_values=zoo.EncoderDecoderCache(own, cross),
        use_cache=True,
    )
    layers = found.past_key_values.self_attention_cache.layers
    return (found.logits, *(t for layer in layers for t in (layer.keys, layer.values)))


_PAST = {
    f"past_{where}_{kind}_{i}": floats("batch", HEADS, "past" if where == "own" else 40, 16)
    for i in range(LAYERS)
    for where in ("own", "cross")
    for kind in ("key", "value")
}
ROWS.add(
    "whisper_step",
    whisper_step,
    input_ids=integers(WORDS, "batch", 1),
    heard=floats("batch", 40, WIDTH),
    **_PAST,
)


def diffusion(kind: str, **options: Any) -> nn.Module:
    """A network of `diffusers`, by its class name."""
    import diffusers

    return getattr(diffusers, kind)(**options)


_BLOCKS: dict[str, Any] = {"block_out_channels": (32, 64), "layers_per_block": 1}
_BLOCKS |= {"norm_num_groups": 8}
_UNET = partial(
    diffusion,
    "UNet2DConditionModel",
    sample_size=16,
    in_channels=4,
    out_channels=4,
    cross_attention_dim=32,
    down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
    up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
    attention_head_dim=8,
    **_BLOCKS,
)
_VAE = partial(
    diffusion,
    "AutoencoderKL",
    down_block_types=("DownEncoderBlock2D",) * 2,
    latent_channels=4,
    up_block_types=("UpDecoderBlock2D",) * 2,
    **_BLOCKS,
)
_LATENT = {"height": (16, 24), "width": (24, 16)}
ROWS.add(
    "sd_unet",
    lambda: Call(_UNET(), lambda m, x, t, text: m(x, t, text).sample),
    _LATENT,
    latent=images(4),
    timestep=integers(999, "batch"),
    text=floats("batch", "tokens", 32),
)
ROWS.add(
    "sd_vae_decoder",
    lambda: Call(_VAE(), lambda m, x: m.decode(x).sample),
    _LATENT,
    latent=images(4),
)
ROWS.add(
    "sd_vae_encoder",
    lambda: Call(_VAE(), lambda m, x: m.encode(x).latent_dist.parameters),
    image=images(),
)
ROWS.add(
    "sd3_transformer",
    lambda: Call(
        diffusion(
            "SD3Transformer2DModel",
            sample_size=16,
            patch_size=2,
            in_channels=4,
            num_layers=2,
            attention_head_dim=16,
            num_attention_heads=4,
            caption_projection_dim=64,
            joint_attention_dim=32,
            pooled_projection_dim=64,
            out_channels=4,
        ),
        lambda m, x, text, pooled, t: m(x, text, pooled, t).sample,
    ),
    latent=floats("batch", 4, 16, 16),
    text=floats("batch", "tokens", 32),
    pooled=floats("batch", 64),
    timestep=integers(999, "batch"),
)
