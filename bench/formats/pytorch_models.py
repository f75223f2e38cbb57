# ruff: noqa: E501  (a table)
"""The models that `bench.formats.pytorch` compares: makers by library, and their names."""

from __future__ import annotations

import re
from typing import Any

from .pytorch_diffusion import diffusers
from .pytorch_tiny import tiny

PIXELS = 64
_LARGE = re.compile(
    r"quantized|rcnn|fcos|retinanet|ssd|raft|keypoint|_h_14|128gf|32gf|_l_|large$|v2_l|16gf|8gf|"
    r"b[567]$|_101|resnet152|resnext101_64|wide_resnet101|_b$|_b_32|vgg1[369]|swin3d_s|resnet101|"
    r"swin_v2_s|convnext_small|convnext_base|efficientnet_v2_m|densenet(161|201)"
)


def torchvision_names() -> list[str]:
    """The names of torchvision's models that are not too large."""
    import torchvision

    kept = [n for n in torchvision.models.list_models() if not _LARGE.search(n)]
    return [f"torchvision/{name}" for name in [*kept, "mobilenet_v3_large", "vgg13_bn", "vgg16"]]


def torchvision(name: str) -> tuple[Any, dict[str, Any]]:
    """A model of torchvision."""
    import torch
    import torchvision

    options: dict[str, Any] = {}
    if any(part in name for part in ("deeplab", "fcn", "lraspp")):
        options["weights_backbone"] = None
    side = {"inception_v3": 96, "maxvit_t": 224, "googlenet": 96}.get(name, PIXELS)
    if name.startswith(("vit", "alexnet")):
        side = 224
    if name in ("inception_v3", "googlenet"):
        options |= {"init_weights": False}
    if name == "maxvit_t":
        options["input_size"] = (224, 224)
    model = torchvision.models.get_model(name, weights=None, **options)
    shape: tuple[int, ...] = (1, 3, side, side)
    if any(part in name for part in ("r3d", "mc3", "r2plus1d", "s3d", "swin3d")):
        shape = (1, 3, 16, 64, 64)
    if name.startswith(("mvit", "s3d")):
        shape = (1, 3, 16, 224, 224)
    return model, {"x": torch.randn(shape)}


_TIMM = """
bat_resnext26ts beit_base_patch16_224 botnet26t_256 caformer_s18
cait_xxs24_224 coat_tiny coatnet_pico_rw_224 convformer_s18 convit_tiny convmixer_768_32
convnext_atto convnextv2_atto crossvit_tiny_240 cs3darknet_s cspresnet50 darknet17 davit_tiny
deit3_small_patch16_224 deit_tiny_patch16_224 densenetblur121d dla34 dla46x_c dpn68 eca_nfnet_l0
eca_resnet33ts ecaresnet26t edgenext_xx_small efficientformer_l1 efficientformerv2_s0
efficientnet_lite0 efficientvit_b0 efficientvit_m0 ese_vovnet19b_slim eva02_tiny_patch14_224
fasternet_t0 fastvit_t8 fbnetc_100 fbnetv3_b flexivit_small focalnet_tiny_srf gcresnet33ts
gcvit_xxtiny gernet_s ghostnet_100 ghostnetv2_100 gmixer_12_224 gmlp_ti16_224 halonet26t
hardcorenas_a hgnet_tiny hgnetv2_b0 hiera_tiny_224 hrnet_w18_small inception_next_atto
inception_resnet_v2 lambda_resnet26t lcnet_050 levit_128s mambaout_femto maxvit_rmlp_pico_rw_256
mixer_s32_224 mixnet_s mobilenetv1_100 mobilenetv2_050 mobilenetv3_small_050
mobilenetv4_conv_small mobileone_s0 mobilevit_xxs mobilevitv2_050 mvitv2_tiny nest_tiny
nextvit_small nf_resnet26 pit_ti_224 poolformer_s12 poolformerv2_s12 pvt_v2_b0 regnetx_002
regnety_002 regnetz_005 repghostnet_050 repvgg_a0 repvit_m0_9 res2net50_14w_8s resmlp_12_224
resnest14d resnet18d resnetblur18 resnetv2_50 resnext26ts rexnet_100 samvit_base_patch16
sebotnet33ts_256 selecsls42b semnasnet_050 sequencer2d_s seresnet18 shvit_s1 skresnet18
starnet_s1 swiftformer_xs swin_tiny_patch4_window7_224 swinv2_cr_tiny_224 swinv2_tiny_window8_256
tf_efficientnet_b0 tinynet_e tnt_s_patch16_224 tresnet_m twins_svt_small twins_pcpvt_small
vgg11_bn visformer_tiny vit_tiny_patch16_224 vit_small_patch32_224 vitamin_small_224 volo_d1_224
vovnet39a xception41 xcit_nano_12_p16_224 vit_relpos_small_patch16_224 rdnet_tiny
"""


def timm_names() -> list[str]:
    """The names of timm's models here, one of nearly every family."""
    return [f"timm/{name}" for name in _TIMM.split()]


_SIZES = {
    "bat_resnext26ts": 256,
    "botnet26t_256": 256,
    "halonet26t": 256,
    "sebotnet33ts_256": 256,
    "samvit_base_patch16": 128,
}


def timm_side(name: str) -> int:
    """The side of an image in pixels: small if the network does not fix it."""
    import timm as library

    config: Any = library.get_pretrained_cfg(name)
    fixed = config.fixed_input_size or "224" in name or "256" in name
    return _SIZES.get(name) or (config.input_size[-1] if fixed else 96)


def timm(name: str) -> tuple[Any, dict[str, Any]]:
    """A model of timm, at a small size if it does not fix one, and its input."""
    import timm as library
    import torch

    side = timm_side(name)
    try:
        size = {"img_size": side} if name in _SIZES else {}
        model = library.create_model(name, pretrained=False, **size)
    except TypeError:  # it has no size at all
        model = library.create_model(name, pretrained=False)
    return model, {"x": torch.randn(1, 3, side, side)}


_SMALL = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "vocab_size": 200,
    "max_position_embeddings": 64,
}
_SAME_HEADS = {"num_key_value_heads": 2, "head_dim": 16}

_CLASSES: dict[str, dict[str, Any]] = {
    "Bert": {}, "Roberta": {}, "DistilBert": {"dim": 64, "n_heads": 4, "n_layers": 2, "hidden_dim": 96},
    "Albert": {"embedding_size": 32}, "Electra": {"embedding_size": 32}, "Deberta": {}, "DebertaV2": {},
    "MobileBert": {"embedding_size": 32, "intra_bottleneck_size": 32, "true_hidden_size": 32},
    "Camembert": {}, "XLMRoberta": {}, "Ernie": {}, "ConvBert": {"embedding_size": 32},
    "MPNet": {}, "RoFormer": {"embedding_size": 64}, "SqueezeBert": {"embedding_size": 64},
    "FNet": {}, "MegatronBert": {}, "Nystromformer": {"num_landmarks": 16, "segment_means_seq_len": 16}, "Splinter": {}, "YosoModel": {},
    "LayoutLM": {}, "Luke": {}, "Mra": {}, "Data2VecText": {}, "IBert": {}, "RemBert": {"input_embedding_size": 32, "output_embedding_size": 32},
    "GPT2": {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 64},
    "GPTNeo": {"num_layers": 2, "attention_types": [[["global", "local"], 1]], "num_heads": 4},
    "GPTNeoX": {}, "GPTJ": {"n_embd": 64, "n_layer": 2, "n_head": 4, "rotary_dim": 8}, "OPT": {"ffn_dim": 96, "word_embed_proj_dim": 64},
    "Bloom": {"n_layer": 2, "n_head": 4}, "Llama": _SAME_HEADS, "Mistral": _SAME_HEADS, "Qwen2": _SAME_HEADS, "Qwen3": _SAME_HEADS,
    "Gemma": _SAME_HEADS, "Gemma2": _SAME_HEADS, "Phi": {"num_key_value_heads": 4}, "Phi3": {"num_key_value_heads": 2, "pad_token_id": 0},
    "StableLm": {"num_key_value_heads": 2}, "Falcon": {"num_kv_heads": 4}, "Mpt": {"d_model": 64, "n_heads": 4, "n_layers": 2, "max_seq_len": 64},
    "CodeGen": {"n_embd": 64, "n_layer": 2, "n_head": 4, "rotary_dim": 8}, "Cohere": {"num_key_value_heads": 2}, "Olmo": {"num_key_value_heads": 2}, "Olmo2": {"num_key_value_heads": 2},
    "Granite": {"num_key_value_heads": 2}, "Starcoder2": {"num_key_value_heads": 2}, "Persimmon": {}, "XGLM": {"d_model": 64, "num_layers": 2, "attention_heads": 4, "ffn_dim": 96},
    "BioGpt": {}, "GPTBigCode": {"n_embd": 64, "n_layer": 2, "n_head": 4}, "Mamba": {"state_size": 8}, "SmolLM3": {**_SAME_HEADS, "pad_token_id": 0}, "Nemotron": _SAME_HEADS, "ModernBert": {"pad_token_id": 0},
    "T5": {"d_model": 64, "d_kv": 16, "d_ff": 96, "num_layers": 2, "num_heads": 4},
    "MT5": {"d_model": 64, "d_kv": 16, "d_ff": 96, "num_layers": 2, "num_heads": 4},
    "Bart": {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96},
    "Pegasus": {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96},
    "Marian": {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "pad_token_id": 0},
    "ViT": {"image_size": 32, "patch_size": 8}, "DeiT": {"image_size": 32, "patch_size": 8}, "Beit": {"image_size": 32, "patch_size": 8},
    "Dinov2": {"image_size": 32, "patch_size": 8}, "Swin": {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4},
    "Swinv2": {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4},
    "ConvNext": {"hidden_sizes": [16, 32], "depths": [2, 2], "num_stages": 2}, "ResNet": {"hidden_sizes": [16, 32], "depths": [2, 2], "embedding_size": 16},
    "Segformer": {}, "PoolFormer": {}, "MobileViT": {"image_size": 64}, "MobileNetV2": {}, "RegNet": {}, "LevitModel": {}, "Pvt": {}, "Cvt": {},
    "Whisper": {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "max_source_positions": 50, "num_mel_bins": 16, "pad_token_id": 0},
    "Wav2Vec2": {"conv_dim": [16] * 3, "conv_kernel": [10, 3, 2], "conv_stride": [5, 2, 2], "num_feat_extract_layers": 3, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4},
    "Hubert": {"conv_dim": [16] * 3, "conv_kernel": [10, 3, 2], "conv_stride": [5, 2, 2], "num_feat_extract_layers": 3, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4},
    "ASTModel": {},
}  # fmt: skip


def transformers_names() -> list[str]:
    """The names of the architectures of transformers here."""
    return [f"transformers/{name}" for name in _CLASSES]


def transformers(name: str) -> tuple[Any, dict[str, Any]]:
    """A small model of an architecture, and the inputs that it takes: images, audio or text."""
    import torch
    import transformers as library

    own = name.removesuffix("Model")
    given = _SMALL | _CLASSES[name]
    if own == "AST":
        given |= {"max_length": 64, "num_mel_bins": 32}
    config = getattr(library, f"{own}Config")()
    for key, value in given.items():
        if hasattr(config, key):
            try:
                setattr(config, key, value)
            except Exception:  # of a field that has another meaning here
                continue
    config.use_cache = False
    config.return_dict = True
    config = type(config)(**{k: v for k, v in config.to_dict().items() if k not in _DERIVED})
    config.use_cache = False
    model = getattr(library, f"{own}Model")(config)
    scale_up(model)
    main = model.main_input_name
    if main == "pixel_values":
        side = getattr(config, "image_size", 64)
        return model, {main: torch.randn(1, 3, *([side] * 2 if isinstance(side, int) else side))}
    if main == "input_values":
        shape = (1, 64, 32) if own == "AST" else (1, 1600)
        return model, {main: torch.randn(shape)}
    ids = torch.randint(5, 190, (1, 16))
    if main == "input_features":
        return model, {main: torch.randn(1, 16, 100), "decoder_input_ids": ids}
    inputs = {"input_ids": ids}
    if config.is_encoder_decoder:
        inputs["decoder_input_ids"] = ids.clone()
    return model, inputs


_DERIVED = (
    "model_type",
    "transformers_version",
    "stage_names",
    "out_features",
    "out_indices",
    "_out_features",
    "_out_indices",
    "layer_types",
    "attention_layers",
)


def scale_up(model: Any) -> None:
    """Make weights so large that outputs depend on inputs; parameters of one number stay."""
    import torch

    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1 and 0 < parameter.std() < 0.05:
                parameter.mul_(3)


MAKERS = {
    "torchvision": torchvision,
    "timm": timm,
    "transformers": transformers,
    "tiny": tiny,
    "diffusers": diffusers,
}
