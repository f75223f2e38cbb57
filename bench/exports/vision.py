"""Rows of networks of torchvision and timm on images."""

from __future__ import annotations

from functools import partial
from typing import Any

import timm
import torchvision.models as zoo
from torch import Tensor, nn

from .rows import ROWS, Call, Spec, flatten, floats, images, unit

FIXED = floats("batch", 3, 64, 64)
"""The input of networks whose weights or windows depend on the image's size."""


def classifier(name: str, **options: Any) -> nn.Module:
    """A torchvision classifier with ten classes, by its name there."""
    return getattr(zoo, name)(weights=None, num_classes=10, **options)


def torchvision_row(name: str, image: Spec | None = None, **options: Any) -> None:
    """Add a classifier; its images may have any size unless `image` is given."""
    ROWS.add(name, partial(classifier, name, **options), image=image or images())


for _name in (
    *("resnet18", "resnext50_32x4d", "densenet121", "mobilenet_v2", "mobilenet_v3_small"),
    *("mnasnet0_5", "shufflenet_v2_x0_5", "squeezenet1_1", "efficientnet_b0", "regnet_y_400mf"),
    *("convnext_tiny",),
):
    torchvision_row(_name)
torchvision_row("alexnet", floats("batch", 3, 224, 224))
torchvision_row("vgg11_bn", floats("batch", 3, 224, 224))
torchvision_row("googlenet", init_weights=False, aux_logits=False)
torchvision_row("inception_v3", floats("batch", 3, 96, 96), init_weights=False, aux_logits=False)


ROWS.add(
    "vit_torchvision",
    partial(
        zoo.VisionTransformer,
        image_size=64,
        patch_size=16,
        num_layers=2,
        num_heads=4,
        hidden_dim=64,
        mlp_dim=128,
        num_classes=10,
    ),
    image=FIXED,
)
_SWIN: dict[str, Any] = {"patch_size": [4, 4], "embed_dim": 32, "depths": [2, 2], "num_classes": 10}
_SWIN |= {"num_heads": [2, 4], "window_size": [4, 4]}
ROWS.add("swin", partial(zoo.SwinTransformer, **_SWIN), image=FIXED)
ROWS.add(
    "swin_v2",
    partial(
        zoo.SwinTransformer,
        **_SWIN,
        block=zoo.swin_transformer.SwinTransformerBlockV2,
        downsample_layer=zoo.swin_transformer.PatchMergingV2,
    ),
    image=FIXED,
)
ROWS.add(
    "maxvit",
    partial(
        zoo.MaxVit,
        input_size=(64, 64),
        stem_channels=16,
        partition_size=2,
        head_dim=8,
        block_channels=[16, 32],
        block_layers=[1, 1],
        stochastic_depth_prob=0.0,
        num_classes=10,
    ),
    image=FIXED,
)


def segmenter(name: str, **options: Any) -> nn.Module:
    """A torchvision segmentation network with five classes."""
    made = getattr(zoo.segmentation, name)(
        weights=None, weights_backbone=None, num_classes=5, **options
    )
    return Call(made, lambda m, image: m(image)["out"])


for _name in ("fcn_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large"):
    ROWS.add(_name, partial(segmenter, _name), image=images())


class Detector(nn.Module):
    """A detector on one image, which returns boxes, scores and labels."""

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__()
        make = getattr(zoo.detection, name)
        self.model = make(weights=None, weights_backbone=None, num_classes=5, **options)
        for module in self.model.modules():
            if isinstance(module, nn.Conv2d):  # scores and boxes that differ
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu")

    def forward(self, image: Tensor) -> tuple[Tensor, ...]:
        return tuple(flatten(self.model([image])))


_RESIZED = {"min_size": 64, "max_size": 96}
for _name, _options in (
    ("fasterrcnn_mobilenet_v3_large_320_fpn", _RESIZED),
    ("fasterrcnn_resnet50_fpn", _RESIZED),
    ("maskrcnn_resnet50_fpn", _RESIZED),
    ("keypointrcnn_resnet50_fpn", {**_RESIZED, "num_keypoints": 3}),
    ("retinanet_resnet50_fpn", _RESIZED),
    ("fcos_resnet50_fpn", _RESIZED),
    ("ssdlite320_mobilenet_v3_large", {}),
    ("ssd300_vgg16", {}),
):
    ROWS.add(_name, partial(Detector, _name, **_options), image=unit(3, "height", "width"))

VIDEO = floats("batch", 3, 4, 32, 32)
for _name in ("r3d_18", "s3d"):
    _frames = floats("batch", 3, 16, 224, 224) if _name == "s3d" else VIDEO
    ROWS.add(
        _name,
        partial(getattr(zoo.video, _name), weights=None, num_classes=10),
        video=_frames,
    )


class Flow(nn.Module):
    """RAFT: the optical flow between two images, after two refinements."""

    def __init__(self) -> None:
        super().__init__()
        self.model = zoo.optical_flow.raft_small(weights=None)

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        return self.model(first, second, num_flow_updates=2)[-1]


_LARGE = {"height": (128, 136), "width": (136, 128)}
ROWS.add("raft_small", Flow, _LARGE, first=images(), second=images())


def timm_network(name: str, **options: Any) -> nn.Module:
    """A network of timm, by its name there, with ten classes."""
    return timm.create_model(name, pretrained=False, num_classes=10, **options)


for _name in (
    *("mobilenetv4_conv_small", "ghostnet_100", "hrnet_w18_small", "res2net50_14w_8s"),
    *("repvgg_a0", "resnest14d", "convnextv2_atto", "edgenext_xx_small", "poolformer_s12"),
    *("fastvit_t8", "mobileone_s0", "lcnet_050", "tf_efficientnetv2_b0"),
):
    ROWS.add(f"timm_{_name}", partial(timm_network, _name), image=images())

for _name, _options in (
    ("deit_tiny_patch16_224", {"img_size": 64, "depth": 2}),
    ("beit_base_patch16_224", {"img_size": 64, "depth": 2, "embed_dim": 96, "num_heads": 4}),
    ("eva02_tiny_patch14_224", {"img_size": 56, "depth": 2}),
    ("mixer_s32_224", {"img_size": 64}),
    ("cait_xxs24_224", {"img_size": 64, "depth": 2}),
    ("xcit_nano_12_p16_224", {"img_size": 64, "depth": 2}),
    ("levit_128s", {"img_size": 64}),
    ("mobilevit_xxs", {}),
    ("tiny_vit_5m_224", {}),
    ("efficientformer_l1", {"img_size": 224}),
    ("coat_tiny", {"img_size": 64}),
    ("pvt_v2_b0", {}),
    ("twins_pcpvt_small", {"img_size": 64}),
    ("volo_d1_224", {"img_size": 64}),
):
    _size = _options.get("img_size", 64)
    ROWS.add(
        f"timm_{_name}",
        partial(timm_network, _name, **_options),
        image=floats("batch", 3, _size, _size),
    )
