"""Rows of architectures in `bench/formats/pytorch_models.py` that the other modules lack."""

from __future__ import annotations

from torch import Tensor, nn

from ..formats.pytorch_models import timm, timm_side, transformers
from .rows import ROWS, Call, Spec, floats, integers

WORDS = 190
SIDES = {"Beit": 32, "Swinv2": 32}

TEXT = """
Deberta MobileBert Ernie ConvBert RoFormer SqueezeBert FNet Nystromformer YosoModel Mra
IBert RemBert GPTNeo GPTJ StableLm Mpt CodeGen Olmo2 Granite Starcoder2 Persimmon XGLM
BioGpt GPTBigCode SmolLM3 Nemotron
"""
PAIRS = "Pegasus MT5"
"""Architectures with an encoder and a decoder."""
PICTURES = "Beit Swinv2 ResNet PoolFormer MobileViT MobileNetV2 RegNet Cvt"
NETWORKS = """
bat_resnext26ts botnet26t_256 caformer_s18 convit_tiny convmixer_768_32 crossvit_tiny_240
davit_tiny dpn68 eca_nfnet_l0 efficientformerv2_s0 efficientvit_b0 efficientvit_m0 fasternet_t0
flexivit_small focalnet_tiny_srf gcvit_xxtiny gmlp_ti16_224 halonet26t hgnetv2_b0 hiera_tiny_224
inception_next_atto lambda_resnet26t mambaout_femto mixnet_s mobilevitv2_050 mvitv2_tiny nest_tiny
nextvit_small pit_ti_224 regnetz_005 repvit_m0_9 rexnet_100 samvit_base_patch16 selecsls42b
sequencer2d_s shvit_s1 skresnet18 starnet_s1 swiftformer_xs swinv2_cr_tiny_224 tnt_s_patch16_224
tresnet_m visformer_tiny vitamin_small_224 vit_relpos_small_patch16_224 xception41
"""
"""Networks of timm, at their own image sizes."""


def first(model: nn.Module, *names: str) -> Call:
    """A module that passes its inputs to a model by name, and returns only the first output."""

    def call(inner: nn.Module, *tensors: Tensor) -> object:
        return inner(**dict(zip(names, tensors, strict=True)))[0]

    return Call(model, call)


def add(name: str, **inputs: Spec) -> None:
    """Add the row of an architecture of `transformers`, by its class name."""
    ROWS.add(
        f"{name.removesuffix('Model').lower()}_base",
        lambda: first(transformers(name)[0], *inputs),
        **inputs,
    )


TOKENS = integers(WORDS, "batch", "tokens")
for _name in TEXT.split():
    add(_name, input_ids=TOKENS)
for _name in PAIRS.split():
    add(_name, input_ids=TOKENS, decoder_input_ids=integers(WORDS, "batch", "prompt"))
for _name in PICTURES.split():
    _side = SIDES.get(_name, 64)
    add(_name, pixel_values=floats("batch", 3, _side, _side))
for _name in NETWORKS.split():
    ROWS.add(
        f"timm_{_name}",
        lambda name=_name: timm(name)[0],
        image=floats("batch", 3, timm_side(_name), timm_side(_name)),
    )
