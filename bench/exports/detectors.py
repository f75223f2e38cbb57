"""Rows of detectors, and of networks for segmentation and depth, on small backbones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import transformers as zoo
from torch import Tensor, nn

from .language import HEADS, HIDDEN, LAYERS, SMALL, WIDTH, WORDS
from .rows import ROWS, Call, Spec, floats, images, integers
from .several import boxes_call, class_logits

FIXED = floats("batch", 3, 64, 64)
STAGES = ["stage2", "stage3", "stage4"]
_RESNET: dict[str, Any] = {"embedding_size": 16, "hidden_sizes": [16, 32, 48, 64]}
_RESNET |= {"depths": [1, 1, 1, 1], "layer_type": "basic"}
_VIT: dict[str, Any] = {k: SMALL[k] for k in ("hidden_size", "num_hidden_layers")}
_VIT |= {"num_attention_heads": HEADS, "image_size": 64, "patch_size": 16}
_VIT |= {"intermediate_size": HIDDEN}


def resnet(*features: str, kind: str = "ResNet") -> Any:
    """The configuration of a ResNet backbone whose outputs are the named stages."""
    return getattr(zoo, f"{kind}Config")(**_RESNET, out_features=list(features))


def swin() -> Any:
    """The configuration of a Swin transformer of four stages."""
    return zoo.SwinConfig(
        image_size=64,
        embed_dim=16,
        depths=[1, 1, 1, 1],
        num_heads=[2, 2, 4, 4],
        window_size=4,
        out_features=["stage1", *STAGES],
    )


def detector(prefix: str, model: str, options: Callable[[], dict[str, Any]]) -> nn.Module:
    """A model by its class names; `options` are made only when the model is."""
    config = getattr(zoo, f"{prefix}Config")(**options())
    config._attn_implementation = "eager"
    return getattr(zoo, f"{prefix}{model}")(config)


def row(
    name: str,
    prefix: str,
    model: str,
    options: Callable[[], dict[str, Any]],
    call: Callable[..., object] = boxes_call,
    **inputs: Spec,
) -> None:
    """Add a row; its input is an image unless `inputs` are given."""
    make = partial(detector, prefix, model, options)
    ROWS.add(name, lambda: Call(make(), call), **(inputs or {"image": images()}))


def sides(layers: bool = True) -> dict[str, Any]:
    """The sizes of DETR's encoder and decoder."""
    sizes: dict[str, Any] = {"d_model": WIDTH, "num_queries": 10}
    for side in ("encoder", "decoder"):
        sizes |= {f"{side}_ffn_dim": HIDDEN, f"{side}_attention_heads": HEADS}
        sizes |= {f"{side}_layers": LAYERS} if layers else {}
    return sizes


_NO_TIMM = {"use_timm_backbone": False, "use_pretrained_backbone": False, "backbone": None}
for _name, _prefix, _features in (
    ("conditional_detr", "ConditionalDetr", ["stage4"]),
    ("table_transformer", "TableTransformer", ["stage4"]),
    ("deformable_detr", "DeformableDetr", STAGES),
):
    row(
        _name,
        _prefix,
        "ForObjectDetection",
        lambda features=_features: {
            **_NO_TIMM,
            **sides(),
            "backbone_config": resnet(*features),
            **({"num_feature_levels": 3} if len(features) > 1 else {}),
        },
    )


def rt_detr_options(kind: str) -> dict[str, Any]:
    """The options of RT-DETR, and of D-FINE, which differs in how it describes boxes."""
    backbone = resnet(*STAGES, kind="RTDetrResNet")
    sizes: dict[str, Any] = {"backbone_config": backbone, "encoder_in_channels": [32, 48, 64]}
    sizes |= {"encoder_hidden_dim": WIDTH, "encoder_ffn_dim": HIDDEN, "d_model": WIDTH}
    sizes |= {"encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS}
    sizes |= {"decoder_in_channels": [WIDTH] * 3, "decoder_ffn_dim": HIDDEN, "num_queries": 10}
    sizes |= {"decoder_layers": LAYERS, "num_denoising": 0, "anchor_image_size": None}
    return sizes | ({"feat_strides": [8, 16, 32]} if kind == "DFine" else {})


for _name, _prefix in (("rt_detr", "RTDetr"), ("rt_detr_v2", "RTDetrV2"), ("d_fine", "DFine")):
    row(_name, _prefix, "ForObjectDetection", partial(rt_detr_options, _prefix))


def owl_call(model: nn.Module, image: Tensor, input_ids: Tensor) -> object:
    """The logits of each patch for each text, and the predicted boxes."""
    found = model(input_ids=input_ids, pixel_values=image)
    return found.logits, found.pred_boxes


_TEXTS = {**SMALL, "max_position_embeddings": 16}
for _name, _prefix in (("owlvit", "OwlViT"), ("owlv2", "Owlv2")):
    row(
        _name,
        _prefix,
        "ForObjectDetection",
        lambda: {"text_config": _TEXTS, "vision_config": _VIT, "projection_dim": WIDTH},
        owl_call,
        image=FIXED,
        input_ids=integers(WORDS, "batch", 8),
    )


def masks_call(model: nn.Module, image: Tensor) -> object:
    """The class logits and the mask of each query."""
    found = model(image)
    return found.class_queries_logits, found.masks_queries_logits


def mask2former_options() -> dict[str, Any]:
    """The options of Mask2Former on Swin."""
    sizes = {"feature_size": WIDTH, "mask_feature_size": WIDTH, "hidden_dim": WIDTH}
    sizes |= {"encoder_feedforward_dim": HIDDEN, "dim_feedforward": HIDDEN, "num_queries": 10}
    sizes |= {"encoder_layers": LAYERS, "decoder_layers": LAYERS + 1, "num_attention_heads": HEADS}
    return {"backbone_config": swin(), **sizes}


row(
    *("mask2former", "Mask2Former", "ForUniversalSegmentation", mask2former_options, masks_call),
    image=FIXED,
)
row(
    *("maskformer", "MaskFormer", "ForInstanceSegmentation"),
    lambda: {
        "backbone_config": swin(),
        "decoder_config": zoo.DetrConfig(**sides()),
        "fpn_feature_size": WIDTH,
        "mask_feature_size": WIDTH,
    },
    masks_call,
    image=FIXED,
)
row(
    *("upernet", "UperNet", "ForSemanticSegmentation"),
    lambda: {
        "backbone_config": resnet("stage1", *STAGES),
        "hidden_size": 32,
        "auxiliary_in_channels": 48,
        "auxiliary_channels": 16,
        "num_labels": 5,
    },
    class_logits,
)


def depth(model: nn.Module, image: Tensor) -> object:
    """The depth of each pixel."""
    return model(image).predicted_depth


def depth_anything_options() -> dict[str, Any]:
    """The options of Depth Anything on DINOv2."""
    backbone = zoo.Dinov2Config(
        **(_VIT | {"num_hidden_layers": 4}),
        out_features=["stage1", *STAGES],
        reshape_hidden_states=False,
    )
    sizes: dict[str, Any] = {"backbone_config": backbone, "reassemble_hidden_size": WIDTH}
    sizes |= {"patch_size": 16, "neck_hidden_sizes": [16, 16, 32, 32], "fusion_hidden_size": 16}
    return sizes | {"head_hidden_size": 8}


row(
    *("depth_anything", "DepthAnything", "ForDepthEstimation", depth_anything_options, depth),
    image=FIXED,
)
row(
    *("dpt", "DPT", "ForDepthEstimation"),
    lambda: {
        **_VIT,
        "num_hidden_layers": 4,
        "backbone_out_indices": [0, 1, 2, 3],
        "neck_hidden_sizes": [16, 16, 32, 32],
        "fusion_hidden_size": 16,
        "is_hybrid": False,
    },
    depth,
    image=FIXED,
)
row(
    *("glpn", "GLPN", "ForDepthEstimation"),
    lambda: {
        "hidden_sizes": [16, 32, 48, 64],
        "depths": [1, 1, 1, 1],
        "num_attention_heads": [1, 2, 4, 4],
        "decoder_hidden_size": 16,
    },
    depth,
)
