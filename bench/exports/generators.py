"""Rows of `diffusers` networks other than Stable Diffusion's, and of networks for images with
texts.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from .language import SMALL, WORDS, network
from .rows import ROWS, Call, floats, images, integers, mask
from .several import _BLOCKS, _IMAGE, _LATENT, FIXED, diffusion

TIMES = integers(999, "batch")
TEXT = floats("batch", "tokens", 32)


def sample(model: nn.Module, *tensors: Tensor) -> object:
    """The predicted noise, or the image."""
    return model(*tensors).sample


ROWS.add(
    "ddpm_unet",
    lambda: Call(
        diffusion(
            "UNet2DModel",
            sample_size=16,
            down_block_types=("DownBlock2D", "AttnDownBlock2D"),
            up_block_types=("AttnUpBlock2D", "UpBlock2D"),
            attention_head_dim=8,
            **_BLOCKS,
        ),
        sample,
    ),
    _LATENT,
    image=images(),
    timestep=TIMES,
)
_CROSS: dict[str, Any] = {"sample_size": 16, "in_channels": 4, "cross_attention_dim": 32}
_CROSS |= {"down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"), "attention_head_dim": 8}


def sdxl_call(
    model: nn.Module,
    latent: Tensor,
    timestep: Tensor,
    text: Tensor,
    pooled: Tensor,
    extents: Tensor,
) -> object:
    """SDXL, whose conditions are a text, its pooled embedding, and the sizes of images."""
    more = {"text_embeds": pooled, "time_ids": extents}
    return model(latent, timestep, text, added_cond_kwargs=more).sample


ROWS.add(
    "sdxl_unet",
    lambda: Call(
        diffusion(
            "UNet2DConditionModel",
            out_channels=4,
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            addition_embed_type="text_time",
            addition_time_embed_dim=8,
            projection_class_embeddings_input_dim=16 + 6 * 8,
            transformer_layers_per_block=(1, 2),
            use_linear_projection=True,
            **_CROSS,
            **_BLOCKS,
        ),
        sdxl_call,
    ),
    _LATENT,
    latent=images(4),
    timestep=TIMES,
    text=TEXT,
    pooled=floats("batch", 16),
    extents=floats("batch", 6),
)


def control_call(
    model: nn.Module, latent: Tensor, timestep: Tensor, text: Tensor, image: Tensor
) -> object:
    """The residuals that ControlNet adds to each block and to the middle one."""
    return model(latent, timestep, text, image, return_dict=False)


ROWS.add(
    "controlnet",
    lambda: Call(
        diffusion(
            "ControlNetModel",
            in_channels=4,
            cross_attention_dim=32,
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            attention_head_dim=8,
            conditioning_embedding_out_channels=(8, 16),
            **_BLOCKS,
        ),
        control_call,
    ),
    latent=floats("batch", 4, 16, 16),
    timestep=TIMES,
    text=TEXT,
    image=floats("batch", 3, 32, 32),
)
ROWS.add(
    "tiny_autoencoder",
    lambda: Call(
        diffusion(
            "AutoencoderTiny",
            encoder_block_out_channels=(16, 16),
            decoder_block_out_channels=(16, 16),
            num_encoder_blocks=(1, 1),
            num_decoder_blocks=(1, 1),
        ),
        sample,
    ),
    image=images(),
)
ROWS.add(
    "vq_autoencoder",
    lambda: Call(
        diffusion(
            "VQModel",
            down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2,
            num_vq_embeddings=32,
            **_BLOCKS,
        ),
        sample,
    ),
    image=images(),
)
_SMALL_DIT: dict[str, Any] = {"num_attention_heads": 4, "attention_head_dim": 16, "num_layers": 2}
_SMALL_DIT |= {"sample_size": 16, "patch_size": 2, "in_channels": 4}


def dit_call(model: nn.Module, latent: Tensor, timestep: Tensor, label: Tensor) -> object:
    """The predicted noise, conditioned on a class label."""
    return model(latent, timestep, class_labels=label).sample


ROWS.add(
    "dit",
    lambda: Call(
        diffusion("DiTTransformer2DModel", norm_num_groups=4, num_embeds_ada_norm=20, **_SMALL_DIT),
        dit_call,
    ),
    latent=floats("batch", 4, 16, 16),
    timestep=integers(19, "batch"),
    label=integers(19, "batch"),
)
ROWS.add(
    "pixart",
    lambda: Call(
        diffusion(
            "PixArtTransformer2DModel",
            norm_num_groups=4,
            cross_attention_dim=64,
            caption_channels=32,
            use_additional_conditions=False,
            **_SMALL_DIT,
        ),
        lambda m, x, text, t: m(x, text, t, {"resolution": None, "aspect_ratio": None}).sample,
    ),
    latent=floats("batch", 4, 16, 16),
    text=TEXT,
    timestep=TIMES,
)


def flux_call(
    model: nn.Module, latent: Tensor, text: Tensor, pooled: Tensor, timestep: Tensor
) -> object:
    """Flux, with the positions of the latent's tokens and of the text's tokens."""
    places = torch.arange(latent.shape[1], dtype=torch.float32)
    image = torch.stack([0 * places, torch.floor(places / 4), places % 4], dim=1)
    words = torch.zeros(text.shape[1], 3)
    return model(
        hidden_states=latent,
        encoder_hidden_states=text,
        pooled_projections=pooled,
        timestep=timestep,
        img_ids=image,
        txt_ids=words,
    ).sample


ROWS.add(
    "flux",
    lambda: Call(
        diffusion(
            "FluxTransformer2DModel",
            patch_size=1,
            in_channels=4,
            num_layers=1,
            num_single_layers=1,
            attention_head_dim=16,
            num_attention_heads=2,
            joint_attention_dim=32,
            pooled_projection_dim=32,
            axes_dims_rope=(4, 4, 8),
        ),
        flux_call,
    ),
    latent=floats("batch", 16, 4),
    text=TEXT,
    pooled=floats("batch", 32),
    timestep=floats("batch"),
)


def both_call(model: nn.Module, input_ids: Tensor, image: Tensor, attention_mask: Tensor) -> object:
    """The similarity of each text to each image."""
    found = model(input_ids=input_ids, pixel_values=image, attention_mask=attention_mask)
    return found.logits_per_image


def hidden_of_both(model: nn.Module, input_ids: Tensor, image: Tensor, words: Tensor) -> object:
    """The hidden states of texts and images in one sequence."""
    return model(input_ids=input_ids, pixel_values=image, attention_mask=words).last_hidden_state


_TEXT = {**SMALL, "max_position_embeddings": 64}
_PAIR = {"text_config": _TEXT, "vision_config": _IMAGE, "projection_dim": 32}
_SHORT = {"input_ids": integers(WORDS, "batch", "tokens"), "image": FIXED}
_SHORT["attention_mask"] = mask("batch", "tokens")
for _name, _prefix, _options, _call in (
    ("blip", "Blip", _PAIR, both_call),
    ("chinese_clip", "ChineseCLIP", _PAIR, both_call),
    ("vilt", "Vilt", {**SMALL, **_IMAGE}, hidden_of_both),
):
    _make = partial(network, f"{_prefix}Config", f"{_prefix}Model", **_options)
    ROWS.add(_name, lambda make=_make, call=_call: Call(make(), call), **_SHORT)
