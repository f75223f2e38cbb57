# ruff: noqa: E501  (a table)
"""Networks of diffusers that `bench.formats.pytorch` compares, in small sizes."""

from __future__ import annotations

import inspect
from typing import Any

_UNET = {
    "block_out_channels": (32, 64),
    "norm_num_groups": 8,
    "layers_per_block": 1,
    "sample_size": 16,
}


def _rows() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """The configuration and the inputs of each class."""
    import torch

    r, step, text = torch.randn, torch.tensor([7]), torch.randn(1, 8, 32)
    return {
        "UNet2DModel": ({**_UNET, "in_channels": 3, "out_channels": 3, "down_block_types": ("DownBlock2D", "AttnDownBlock2D"), "up_block_types": ("AttnUpBlock2D", "UpBlock2D"), "attention_head_dim": 8}, {"sample": r(1, 3, 16, 16), "timestep": step}),
        "UNet2DConditionModel": ({**_UNET, "in_channels": 4, "out_channels": 4, "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"), "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"), "cross_attention_dim": 32, "attention_head_dim": 8}, {"sample": r(1, 4, 16, 16), "timestep": step, "encoder_hidden_states": text}),
        "UNet3DConditionModel": ({"block_out_channels": (32, 64), "norm_num_groups": 8, "layers_per_block": 1, "sample_size": 16, "down_block_types": ("CrossAttnDownBlock3D", "DownBlock3D"), "up_block_types": ("UpBlock3D", "CrossAttnUpBlock3D"), "cross_attention_dim": 32, "attention_head_dim": 8}, {"sample": r(1, 4, 3, 16, 16), "timestep": step, "encoder_hidden_states": text}),
        "UNetMotionModel": ({"block_out_channels": (32, 64), "norm_num_groups": 8, "layers_per_block": 1, "sample_size": 16, "down_block_types": ("CrossAttnDownBlockMotion", "DownBlockMotion"), "up_block_types": ("UpBlockMotion", "CrossAttnUpBlockMotion"), "cross_attention_dim": 32, "num_attention_heads": 2, "motion_num_attention_heads": 2}, {"sample": r(1, 4, 3, 16, 16), "timestep": step, "encoder_hidden_states": text.repeat(1, 1, 1)}),
        "UNetSpatioTemporalConditionModel": ({"block_out_channels": (32, 64), "layers_per_block": 1, "sample_size": 16, "down_block_types": ("CrossAttnDownBlockSpatioTemporal", "DownBlockSpatioTemporal"), "up_block_types": ("UpBlockSpatioTemporal", "CrossAttnUpBlockSpatioTemporal"), "cross_attention_dim": 32, "num_attention_heads": (2, 2), "projection_class_embeddings_input_dim": 96, "addition_time_embed_dim": 32}, {"sample": r(1, 2, 8, 16, 16), "timestep": step, "encoder_hidden_states": r(1, 1, 32), "added_time_ids": r(1, 3)}),
        "ControlNetModel": ({"block_out_channels": (32, 64), "norm_num_groups": 8, "layers_per_block": 1, "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"), "cross_attention_dim": 32, "attention_head_dim": 8, "conditioning_embedding_out_channels": (16, 32)}, {"sample": r(1, 4, 16, 16), "timestep": step, "encoder_hidden_states": text, "controlnet_cond": r(1, 3, 32, 32)}),
        "AutoencoderKL": ({"block_out_channels": (32, 64), "norm_num_groups": 8, "down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2, "latent_channels": 4}, {"sample": r(1, 3, 32, 32)}),
        "AsymmetricAutoencoderKL": ({"down_block_out_channels": (32, 64), "up_block_out_channels": (32, 64), "down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2, "norm_num_groups": 8}, {"sample": r(1, 3, 32, 32)}),
        "AutoencoderTiny": ({"encoder_block_out_channels": (32, 32), "decoder_block_out_channels": (32, 32), "num_encoder_blocks": (1, 2), "num_decoder_blocks": (2, 1)}, {"sample": r(1, 3, 32, 32)}),
        "AutoencoderKLTemporalDecoder": ({"block_out_channels": (32, 64), "down_block_types": ("DownEncoderBlock2D",) * 2, "layers_per_block": 1}, {"sample": r(3, 3, 32, 32), "num_frames": 3}),
        "VQModel": ({"block_out_channels": (32, 64), "norm_num_groups": 8, "down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2, "latent_channels": 3}, {"sample": r(1, 3, 32, 32)}),
        "AutoencoderDC": ({"in_channels": 3, "latent_channels": 4, "attention_head_dim": 8, "encoder_block_types": ("ResBlock", "EfficientViTBlock"), "decoder_block_types": ("ResBlock", "EfficientViTBlock"), "encoder_block_out_channels": (16, 32), "decoder_block_out_channels": (16, 32), "encoder_qkv_multiscales": ((), (5,)), "decoder_qkv_multiscales": ((), (5,)), "encoder_layers_per_block": (1, 1), "decoder_layers_per_block": (1, 1), "downsample_block_type": "conv", "upsample_block_type": "interpolate", "decoder_norm_types": "rms_norm", "decoder_act_fns": "silu"}, {"sample": r(1, 3, 32, 32)}),
        "AutoencoderOobleck": ({"encoder_hidden_size": 16, "downsampling_ratios": [2, 4], "decoder_channels": 16, "decoder_input_channels": 8, "channel_multiples": [1, 2]}, {"sample": r(1, 2, 256)}),
        "AutoencoderKLCogVideoX": ({"block_out_channels": (16, 16, 16, 16), "layers_per_block": 1, "norm_num_groups": 4, "temporal_compression_ratio": 4, "latent_channels": 4, "down_block_types": ("CogVideoXDownBlock3D",) * 4, "up_block_types": ("CogVideoXUpBlock3D",) * 4}, {"sample": r(1, 3, 8, 16, 16)}),
        "AutoencoderKLWan": ({"base_dim": 8, "z_dim": 4, "dim_mult": [1, 1, 1, 1], "num_res_blocks": 1, "temperal_downsample": [False, True, True]}, {"sample": r(1, 3, 5, 16, 16)}),
        "AutoencoderKLMochi": ({"latent_channels": 4, "encoder_block_out_channels": (32, 32, 32, 32), "decoder_block_out_channels": (32, 32, 32, 32), "layers_per_block": (1, 1, 1, 1, 1)}, {"sample": r(1, 3, 7, 16, 16)}),
        "AutoencoderKLLTXVideo": ({"latent_channels": 8, "block_out_channels": (8, 8, 8, 8), "decoder_block_out_channels": (8, 8, 8, 8), "layers_per_block": (1,) * 5, "decoder_layers_per_block": (1,) * 5}, {"sample": r(1, 3, 9, 32, 32)}),
        "AutoencoderKLAllegro": ({"block_out_channels": (8, 8, 8, 8), "latent_channels": 4, "layers_per_block": 1, "norm_num_groups": 2, "temporal_compression_ratio": 4}, {"sample": r(1, 3, 16, 16, 16)}),
        "DiTTransformer2DModel": ({"sample_size": 8, "num_layers": 2, "patch_size": 2, "attention_head_dim": 8, "num_attention_heads": 2, "in_channels": 4, "out_channels": 8, "num_embeds_ada_norm": 8}, {"hidden_states": r(1, 4, 8, 8), "timestep": step, "class_labels": torch.tensor([3])}),
        "PixArtTransformer2DModel": ({"sample_size": 8, "num_layers": 1, "patch_size": 2, "attention_head_dim": 8, "num_attention_heads": 2, "in_channels": 4, "cross_attention_dim": 16, "out_channels": 8, "caption_channels": 32, "use_additional_conditions": False}, {"hidden_states": r(1, 4, 8, 8), "timestep": step, "encoder_hidden_states": text, "added_cond_kwargs": {"aspect_ratio": None, "resolution": None}}),
        "SD3Transformer2DModel": ({"sample_size": 16, "patch_size": 1, "in_channels": 4, "num_layers": 2, "attention_head_dim": 8, "num_attention_heads": 4, "caption_projection_dim": 32, "joint_attention_dim": 32, "pooled_projection_dim": 64, "out_channels": 4}, {"hidden_states": r(1, 4, 16, 16), "encoder_hidden_states": text, "pooled_projections": r(1, 64), "timestep": step}),
        "FluxTransformer2DModel": ({"patch_size": 1, "in_channels": 4, "num_layers": 1, "num_single_layers": 1, "attention_head_dim": 16, "num_attention_heads": 2, "joint_attention_dim": 32, "pooled_projection_dim": 32, "axes_dims_rope": [4, 4, 8]}, {"hidden_states": r(1, 16, 4), "encoder_hidden_states": text, "pooled_projections": r(1, 32), "timestep": torch.tensor([0.5]), "img_ids": torch.zeros(16, 3), "txt_ids": torch.zeros(8, 3)}),
        "SanaTransformer2DModel": ({"patch_size": 1, "in_channels": 4, "out_channels": 4, "num_layers": 1, "attention_head_dim": 4, "num_attention_heads": 2, "num_cross_attention_heads": 2, "cross_attention_head_dim": 4, "cross_attention_dim": 8, "caption_channels": 32, "sample_size": 8}, {"hidden_states": r(1, 4, 8, 8), "encoder_hidden_states": text, "timestep": step}),
        "AuraFlowTransformer2DModel": ({"sample_size": 16, "patch_size": 2, "in_channels": 4, "num_mmdit_layers": 1, "num_single_dit_layers": 1, "attention_head_dim": 8, "num_attention_heads": 4, "caption_projection_dim": 32, "joint_attention_dim": 32, "out_channels": 4, "pos_embed_max_size": 256}, {"hidden_states": r(1, 4, 16, 16), "encoder_hidden_states": text, "timestep": step}),
        "Lumina2Transformer2DModel": ({"sample_size": 16, "patch_size": 2, "in_channels": 4, "hidden_size": 24, "num_layers": 1, "num_refiner_layers": 1, "num_attention_heads": 3, "num_kv_heads": 1, "multiple_of": 2, "axes_dim_rope": (4, 2, 2), "axes_lens": (128, 128, 128), "cap_feat_dim": 32}, {"hidden_states": r(1, 4, 16, 16), "encoder_hidden_states": text, "timestep": torch.tensor([0.5]), "encoder_attention_mask": torch.ones(1, 8, dtype=torch.bool)}),
        "CogView4Transformer2DModel": ({"patch_size": 2, "in_channels": 4, "num_layers": 1, "attention_head_dim": 4, "num_attention_heads": 4, "out_channels": 4, "text_embed_dim": 32, "time_embed_dim": 8, "condition_dim": 4}, {"hidden_states": r(1, 4, 16, 16), "encoder_hidden_states": text, "timestep": step, "original_size": torch.tensor([[20, 20]]), "target_size": torch.tensor([[20, 20]]), "crop_coords": torch.tensor([[0, 0]])}),
        "MochiTransformer3DModel": ({"patch_size": 2, "num_attention_heads": 2, "attention_head_dim": 8, "num_layers": 2, "pooled_projection_dim": 16, "in_channels": 4, "text_embed_dim": 32, "time_embed_dim": 4, "max_sequence_length": 16}, {"hidden_states": r(1, 4, 2, 16, 16), "encoder_hidden_states": text, "timestep": step, "encoder_attention_mask": torch.ones(1, 8, dtype=torch.bool)}),
        "WanTransformer3DModel": ({"patch_size": (1, 2, 2), "num_attention_heads": 2, "attention_head_dim": 12, "in_channels": 4, "out_channels": 4, "text_dim": 32, "freq_dim": 64, "ffn_dim": 32, "num_layers": 2, "cross_attn_norm": True, "qk_norm": "rms_norm_across_heads", "rope_max_seq_len": 32}, {"hidden_states": r(1, 4, 2, 16, 16), "encoder_hidden_states": text, "timestep": step}),
        "LTXVideoTransformer3DModel": ({"in_channels": 8, "out_channels": 8, "num_attention_heads": 4, "attention_head_dim": 8, "cross_attention_dim": 32, "num_layers": 1, "caption_channels": 32}, {"hidden_states": r(1, 32, 8), "encoder_hidden_states": text, "timestep": step, "encoder_attention_mask": torch.ones(1, 8, dtype=torch.bool), "num_frames": 2, "height": 4, "width": 4}),
        "HunyuanDiT2DModel": ({"sample_size": 16, "num_layers": 2, "patch_size": 2, "attention_head_dim": 8, "num_attention_heads": 3, "in_channels": 4, "cross_attention_dim": 8, "cross_attention_dim_t5": 8, "pooled_projection_dim": 4, "hidden_size": 24, "text_len": 4, "text_len_t5": 4, "activation_fn": "gelu-approximate"}, {"hidden_states": r(1, 4, 16, 16), "timestep": step, "encoder_hidden_states": r(1, 4, 8), "text_embedding_mask": torch.ones(1, 4), "encoder_hidden_states_t5": r(1, 4, 8), "text_embedding_mask_t5": torch.ones(1, 4), "image_meta_size": r(1, 6), "style": torch.tensor([0]), "image_rotary_emb": [r(64, 8), r(64, 8)]}),
        "LatteTransformer3DModel": ({"sample_size": 8, "num_layers": 1, "patch_size": 2, "attention_head_dim": 8, "num_attention_heads": 3, "caption_channels": 32, "in_channels": 4, "cross_attention_dim": 24, "out_channels": 8, "attention_bias": True, "activation_fn": "gelu-approximate", "num_embeds_ada_norm": 1000, "norm_type": "ada_norm_single", "norm_elementwise_affine": False, "norm_eps": 1e-06}, {"hidden_states": r(1, 4, 1, 8, 8), "encoder_hidden_states": text, "timestep": step}),
        "AllegroTransformer3DModel": ({"num_attention_heads": 2, "attention_head_dim": 8, "in_channels": 4, "out_channels": 4, "num_layers": 1, "cross_attention_dim": 16, "sample_width": 8, "sample_height": 8, "sample_frames": 8, "caption_channels": 32}, {"hidden_states": r(1, 4, 2, 8, 8), "encoder_hidden_states": r(1, 1, 8, 32), "timestep": step}),
        "StableAudioDiTModel": ({"sample_size": 4, "in_channels": 4, "num_layers": 2, "attention_head_dim": 4, "num_attention_heads": 2, "num_key_value_attention_heads": 2, "out_channels": 4, "cross_attention_dim": 4, "time_proj_dim": 8, "global_states_input_dim": 8, "cross_attention_input_dim": 4}, {"hidden_states": r(1, 4, 4), "timestep": torch.tensor([0.5]), "encoder_hidden_states": r(1, 4, 4), "global_hidden_states": r(1, 1, 8), "rotary_embedding": (r(5, 2), r(5, 2))}),
        "PriorTransformer": ({"num_attention_heads": 2, "attention_head_dim": 4, "num_layers": 2, "embedding_dim": 8, "num_embeddings": 7, "additional_embeddings": 4}, {"hidden_states": r(1, 8), "timestep": step, "proj_embedding": r(1, 8), "encoder_hidden_states": r(1, 7, 8)}),
        "UVit2DModel": ({"hidden_size": 32, "use_bias": False, "hidden_dropout": 0.0, "cond_embed_dim": 16, "micro_cond_encode_dim": 2, "micro_cond_embed_dim": 10, "encoder_hidden_size": 32, "vocab_size": 32, "codebook_size": 32, "in_channels": 32, "block_out_channels": 32, "num_res_blocks": 1, "block_num_heads": 4, "num_hidden_layers": 1, "num_attention_heads": 4, "attention_dropout": 0.0, "intermediate_size": 32, "layer_norm_eps": 1e-06, "ln_elementwise_affine": True}, {"input_ids": torch.randint(0, 31, (1, 4, 4)), "encoder_hidden_states": r(1, 6, 32), "pooled_text_emb": r(1, 16), "micro_conds": r(1, 5)}),
        "ChromaTransformer2DModel": ({"patch_size": 1, "in_channels": 4, "num_layers": 1, "num_single_layers": 1, "attention_head_dim": 16, "num_attention_heads": 2, "joint_attention_dim": 32, "axes_dims_rope": [4, 4, 8], "approximator_num_channels": 8, "approximator_hidden_dim": 16, "approximator_layers": 1}, {"hidden_states": r(1, 16, 4), "encoder_hidden_states": text, "timestep": torch.tensor([0.5]), "img_ids": torch.zeros(16, 3), "txt_ids": torch.zeros(8, 3)}),
        "QwenImageTransformer2DModel": ({"patch_size": 2, "in_channels": 16, "out_channels": 4, "num_layers": 2, "attention_head_dim": 16, "num_attention_heads": 3, "joint_attention_dim": 32, "axes_dims_rope": (8, 4, 4)}, {"hidden_states": r(1, 16, 16), "encoder_hidden_states": text, "timestep": torch.tensor([0.5]), "encoder_hidden_states_mask": torch.ones(1, 8, dtype=torch.int64), "img_shapes": [(1, 4, 4)], "txt_seq_lens": [8]}),
        "Transformer2DModel": ({"num_attention_heads": 2, "attention_head_dim": 8, "in_channels": 16, "norm_num_groups": 4, "cross_attention_dim": 32}, {"hidden_states": r(1, 16, 8, 8), "encoder_hidden_states": text}),
        "HunyuanVideoTransformer3DModel": ({"in_channels": 4, "out_channels": 4, "num_attention_heads": 2, "attention_head_dim": 10, "num_layers": 1, "num_single_layers": 1, "num_refiner_layers": 1, "patch_size": 1, "patch_size_t": 1, "guidance_embeds": True, "text_embed_dim": 32, "pooled_projection_dim": 8, "rope_axes_dim": (2, 4, 4)}, {"hidden_states": r(1, 4, 1, 8, 8), "timestep": step, "encoder_hidden_states": text, "pooled_projections": r(1, 8), "encoder_attention_mask": torch.ones(1, 8), "guidance": torch.tensor([100])}),
        "AutoencoderKLCosmos": ({"in_channels": 3, "out_channels": 3, "latent_channels": 4, "encoder_block_out_channels": (8, 8, 8, 8), "decode_block_out_channels": (8, 8, 8, 8), "attention_resolutions": (8,), "resolution": 64, "num_layers": 2, "patch_size": 4, "patch_type": "haar", "spatial_compression_ratio": 4, "temporal_compression_ratio": 4}, {"sample": r(1, 3, 9, 32, 32)}),
    }  # fmt: skip


def diffusers(name: str) -> tuple[Any, dict[str, Any]]:
    """A network that returns its outputs as a tuple, and its inputs."""
    import diffusers as library
    import torch

    class Plain(torch.nn.Module):
        def __init__(self, network: Any) -> None:
            super().__init__()
            self.network = network

        def forward(self, **inputs):
            return self.network(**inputs, return_dict=False)

    config, inputs = _rows()[name]
    network = getattr(library, name)(**config).eval()
    has_choice = "return_dict" in inspect.signature(network.forward).parameters
    return Plain(network) if has_choice else network, inputs


def diffusers_names() -> list[str]:
    """The names of all networks here."""
    return [f"diffusers/{name}" for name in _rows()]
