"""Rows of networks on sound and on series of numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

from torch import Tensor, nn

from .language import HEADS, HIDDEN, LAYERS, WIDTH, WORDS, network
from .rows import ROWS, Call, Spec, floats, integers
from .several import _LAYERS, _SOUND, hidden

SOUND = floats("batch", "samples")


def row(name: str, prefix: str, config: dict[str, Any], call: Any = hidden, **inputs: Spec) -> None:
    """Add a model of `transformers`, by the prefix of its classes."""
    make = partial(network, f"{prefix}Config", f"{prefix}Model", **config)
    ROWS.add(name, lambda: Call(make(), call), **(inputs or {"sound": SOUND}))


row("wavlm", "WavLM", _SOUND)
row("unispeech_sat", "UniSpeechSat", _SOUND)
row("data2vec_audio", "Data2VecAudio", _SOUND)
row("sew", "SEW", {**_SOUND, "squeeze_factor": 2})
row(
    *("spectrogram_transformer", "AST", {**_LAYERS, "max_length": 64, "num_mel_bins": 32}),
    sound=floats("batch", 64, 32),
)


def heard(model: nn.Module, sound: Tensor, decoder_input_ids: Tensor) -> object:
    """The hidden states of the decoder."""
    return model(sound, decoder_input_ids=decoder_input_ids, use_cache=False).last_hidden_state


_SIDES: dict[str, Any] = {"vocab_size": WORDS, "d_model": WIDTH}
for _side in ("encoder", "decoder"):
    _SIDES |= {f"{_side}_layers": LAYERS, f"{_side}_attention_heads": HEADS}
    _SIDES |= {f"{_side}_ffn_dim": HIDDEN}
WORDS_SAID = integers(WORDS, "batch", "prompt")
row(
    *("speech_to_text", "Speech2Text", {**_SIDES, "input_feat_per_channel": 20}, heard),
    sound=floats("batch", "frames", 20),
    decoder_input_ids=WORDS_SAID,
)
row(
    "moonshine",
    "Moonshine",
    {
        "vocab_size": WORDS,
        "hidden_size": WIDTH,
        "intermediate_size": HIDDEN,
        "encoder_num_hidden_layers": LAYERS,
        "decoder_num_hidden_layers": LAYERS,
        "encoder_num_attention_heads": HEADS,
        "decoder_num_attention_heads": HEADS,
    },
    heard,
    sound=floats("batch", 2400),
    decoder_input_ids=WORDS_SAID,
)


def codes(model: nn.Module, sound: Tensor) -> object:
    """The sound that the decoder makes of an input sound's codes."""
    return model(sound, return_dict=True).audio_values


row(
    *("encodec", "Encodec", {"num_filters": 8, "hidden_size": 32, "codebook_size": 64}, codes),
    sound=floats("batch", 1, 1600),
)
row(
    *("dac", "Dac", {"encoder_hidden_size": 8, "decoder_hidden_size": 64, "n_codebooks": 2}, codes),
    sound=floats("batch", 1, 2048),
)
row(
    "patchtst",
    "PatchTST",
    {
        "num_input_channels": 3,
        "context_length": 32,
        "patch_length": 4,
        "patch_stride": 4,
        "d_model": WIDTH,
        "ffn_dim": HIDDEN,
        "num_hidden_layers": LAYERS,
    },
    series=floats("batch", 32, 3),
)
