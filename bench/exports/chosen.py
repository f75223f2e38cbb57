"""Selects files by name, and forty dynamic exports that represent all others in timings.

    python -m bench.exports --to FOLDER --forty --seconds 1

The forty are convolutional networks, transformers with and without a cache, recurrent ones,
detectors, sound, and networks of several inputs. They were chosen before any was timed; SSDlite,
Faster R-CNN and Mamba, which PyTorch 2.13 does not export with dynamic shapes, were replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatch

FORTY = tuple(
    f"{row}.dynamo.dynamic"
    for row in (
        *("resnet18", "mobilenet_v3_small", "efficientnet_b0", "shufflenet_v2_x0_5"),
        *("timm_mobilenetv4_conv_small", "timm_edgenext_xx_small", "segformer", "detr"),
        *("bert", "distilbert", "modernbert", "gpt2", "gpt2_step", "llama_step", "gemma2"),
        *("mixtral", "t5", "whisper", "clip", "sam", "swin", "wav2vec2", "sd_unet"),
        *("torch_transformer", "lstm_tagger"),
    )
) + tuple(
    f"{row}.script.dynamic"
    for row in (
        *("mobilenet_v2", "squeezenet1_1", "regnet_y_400mf", "lraspp_mobilenet_v3_large"),
        *("timm_convnextv2_atto", "ssd300_vgg16"),
        *("yolos", "bert_sdpa", "deberta_v2", "qwen3_step"),
        *("whisper_step", "hubert", "gru_tagger", "lstm_stream", "sd_vae_decoder"),
    )
)


def asked_for(file: str, names: Sequence[str]) -> bool:
    """Whether one of the names or patterns selects a file, or all files of its row."""
    row = file.split(".")[0]
    return any(fnmatch(file, pattern) or fnmatch(row, pattern) for pattern in names)
