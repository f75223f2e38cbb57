"""The numbers of a decoder, as its file and its architecture give them."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..common.fields import Fields, Ignored, IgnoredFields
from ..common.source import Source
from .architectures import ARCHITECTURES
from .file import GgufFile

MOST_LAYERS = 4096
MEAN, FIRST, LAST, RANK = 1, 2, 3, 4
POOLINGS = {0: None, MEAN: "mean", FIRST: "first", LAST: "last"}
"""The poolings by their numbers in files. Files also have RANK: scores of a pooled embedding."""

IGNORED = IgnoredFields(
    Ignored("context_length vocab_size *feed_forward_length", "as the tensors tell, or no limit"),
    Ignored("tensor_data_layout", "the rows of weights, as the file has them"),
    Ignored("rope.scaling.original_context_length rope.scaling.finetuned", "of training"),
    Ignored("rope.scaling.factor", "not asked for", values=(1, 1.0)),
    Ignored(
        "rope.* attention.sliding_window*",
        "not asked for, without rotation",
        "gpt2 bloom mpt refact starcoder baichuan bert jina-bert-v2 jamba mamba* "
        "nemotron_h* granitehybrid",
    ),
    Ignored("expert_count expert_used_count", "none", values=(0,)),
    Ignored("num_loops", "all layers are used once", values=(1,)),
    Ignored("attention.sliding_window", "none", values=(0,)),
    Ignored("expert_group_used_count", "all are of one group"),
    Ignored(
        "expert_shared_count leading_dense_block_count interleave_moe_layer_step "
        "moe_every_n_layers dense_?_feat_* classifier.output_labels",
        "as the tensors tell",
    ),
    Ignored(
        "rope.dimension_sections n_deepstack_layers",
        "equal positions in a text",
        "qwen*vl qwen*vlmoe qwen35* hunyuan_vl ernie4_5* paddleocr",
    ),
    Ignored("attention.clamp_kqv attention.max_alibi_bias", "none", values=(0.0,)),
    Ignored("attention.*epsilon", "of the other norm"),
    Ignored("attention.q_lora_rank", "as the tensors tell", "deepseek2 minicpm3 mistral4"),
    Ignored(
        "shortconv.l_cache ssm.conv_kernel attention.recurrent_layers full_attention_interval "
        "attention.head_count*",
        "as the tensors tell",
        "falcon-h1 granitehybrid jamba lfm2* mamba* nemotron_h* qwen3next qwen35*",
    ),
    Ignored("*_lora_rank token_shift_count attention.head_count*", "as the tensors tell", "rwkv7"),
    Ignored("embedding_length_per_layer_input", "none", "gemma4", values=(0,)),
    Ignored("moe_latent_size", "as the tensors tell"),
    Ignored("router_logit_softcapping attention.temperature_length", "llama.cpp does not", "grok"),
    Ignored("rope.scaling.yarn_attn_factor", "default", "grok", values=(1, 1.0)),
    Ignored("ssm.group_count", "one", "mamba jamba", values=(0, 1)),
)
IGNORED_TENSORS = IgnoredFields(
    Ignored("rope_freqs.weight rope_factors_*", "of rotations of another kind"),
    Ignored("blk.0.time_mix_v?.weight", "of values that layers mix with those of the first"),
    Ignored("*.attn_rot_embd", "frequencies that the metadata tells"),
)


@dataclass(frozen=True)
class Heads:
    """The heads of one layer's attention."""

    count: int
    groups: int
    """The number of heads of keys and values; each serves as many queries."""
    size: int
    """The elements of a query or key."""
    value_size: int


class Hyperparameters:
    """The numbers of one file's model, whose architecture is `name`.

    Raises NncError, as its methods do, for numbers that no model can have.
    """

    def __init__(self, source: Source, file: GgufFile, name: str) -> None:
        self.source, self.file, self.name = source, file, name
        self.metadata = Fields(file.metadata)
        self.kind = ARCHITECTURES[name]
        self.defaults = dict(self.kind.numbers)
        self.width = self.integer("embedding_length")
        # Layers that predict further tokens follow the model's own.
        self.layers = self.integer("block_count") - self.count("nextn_predict_layers")
        if not 0 < self.layers <= MOST_LAYERS:
            raise source.error(f"{self.layers} layers")
        if self.kind.depth_scale is not None:
            self.defaults["residual_scale"] = self.kind.depth_scale / math.sqrt(self.layers)
        if self.kind.base_width is not None:
            self.defaults["logit_scale"] = self.width / self.kind.base_width
        if self.kind.is_latent:
            self.latent = self.integer("attention.kv_lora_rank")
        names = ["attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon"]
        own, other = names if self.kind.norm != "layer" else reversed(names)
        is_other = self.get(own) is None and self.get(other) is not None
        self.norm_form = self.kind.norm
        if self.norm_form == "either":
            self.norm_form = "layer" if is_other else "rms"
        self.epsilon = self.number(other if is_other else own, 1e-5)

    # -- metadata ----------------------------------------------------------------------------------

    def get(self, key: str) -> Any:
        """A value of the metadata, or the architecture's own number; None if there is none."""
        value = self.metadata.get(f"{self.name}.{key}")
        return self.defaults.get(key) if value is None else value

    def number(self, key: str, default: float | None = None) -> float:
        """A positive number of the metadata. Raises NncError for others."""
        value = self.get(key)
        value = default if value is None else value
        if not isinstance(value, int | float) or not 0 < value < math.inf:
            raise self.source.error(
                f"its '{self.name}.{key}' is {value}, expected a number above 0"
            )
        return float(value)

    def integer(self, key: str, default: int | None = None) -> int:
        """A positive integer, equal for all layers. Raises NncError for others."""
        value = self.get(key)
        if isinstance(value, list) and len(set(value)) == 1:
            value = value[0]
        return self.checked(key, value, default)

    def each(self, key: str, i: int, default: int | None = None) -> int:
        """The positive integer `key` of layer i: one of a list, or the same for all layers.

        Raises NncError.
        """
        value = self.get(key)
        if isinstance(value, list) and i < len(value):
            value = value[i]
        return self.checked(key, value, default)

    def checked(self, key: str, value: Any, default: int | None) -> int:
        """The value, or the default for None, if it is a positive integer. Raises NncError."""
        value = default if value is None else value
        if not isinstance(value, int) or not 0 < value < 1 << 31:
            raise self.source.error(
                f"its '{self.name}.{key}' is {value}, expected an integer above 0"
            )
        return value

    def count(self, key: str) -> int:
        """An integer that may be 0, as it is where there is none. Raises NncError for others."""
        return self.integer(key) if self.get(key) else 0

    def check_read(self, used: Collection[str]) -> None:
        """Raise NncError if a number or tensor that may matter is unused."""
        own = [(k, v) for k, v in self.metadata.unread() if k.startswith(f"{self.name}.")]
        keys = [(key.removeprefix(f"{self.name}."), value) for key, value in own]
        for key, value in IGNORED.refused(self.name, keys):
            shown = reprlib.repr(value)
            raise self.source.error(f"'{self.name}.{key}' is {shown}, which is not supported")
        tensors = [
            (name, "a tensor")
            for name in self.file.tensors
            if name not in used and not self.is_further(name)
        ]
        for name, _ in IGNORED_TENSORS.refused(self.name, tensors):
            raise self.source.error(f"the tensor '{name}' is not supported")

    def is_further(self, name: str) -> bool:
        """Whether a tensor is of a layer for multi-token prediction, which is not imported."""
        found = re.match(r"blk\.(\d{1,9})\.", name)
        if found is None or not self.count("nextn_predict_layers"):
            return False
        return self.layers <= int(found[1]) < self.integer("block_count")

    # -- results -----------------------------------------------------------------------------------

    @property
    def embeds(self) -> bool:
        """Whether the results are embeddings of a whole text, not logits of what may follow it."""
        return self.kind.is_encoder or self.count("pooling_type") > 0

    @property
    def remembers(self) -> bool:
        """Whether a run continues the text of earlier ones, of which the layers keep something."""
        return not self.embeds and not self.kind.is_diffusion

    @property
    def pooling(self) -> str | None:
        """How the tokens' embeddings become one: `mean`, `first` or `last`; None if they do not."""
        kind = self.count("pooling_type")
        if self.ranks:
            kind = self.count("classifier.pooling_type") or self.kind.rank_pooling
            kind = MEAN if kind == MEAN else LAST if self.is_causal else FIRST
        if kind not in POOLINGS:
            raise self.source.error(f"embeddings are pooled by kind {kind}, which is not supported")
        return POOLINGS[kind]

    @property
    def ranks(self) -> bool:
        """Whether the results are scores of a text, as of a query with a document."""
        return self.count("pooling_type") == RANK

    @property
    def is_causal(self) -> bool:
        """Whether a token sees only those before it."""
        given = self.get("attention.causal")
        if self.kind.is_diffusion:
            return False
        return not self.kind.is_encoder if given is None else bool(given)

    @property
    def activation(self) -> str:
        """The function of feed-forward parts. Raises NncError if the file names an unknown one."""
        told = self.get("hidden_activation")
        if told not in (None, "gelu", "silu"):
            raise self.source.error(f"the activation '{told}' is not supported")
        gated = self.kind.gated_activation
        return told or (gated if gated and self.is_gated else self.kind.activation)

    @property
    def is_gated(self) -> bool:
        """Whether the feed-forward parts have gates."""
        return self.kind.gated or "blk.0.ffn_gate.weight" in self.file.tensors

    def activation_numbers(self, lead: str) -> list[float]:
        """The parameters of a layer's activation, if it has any; `lead` is "blk.N"."""
        if self.activation != "xielu":
            return []
        found, i = [], int(lead.removeprefix("blk."))
        for key in ("alpha_n", "alpha_p", "beta", "eps"):
            value = self.metadata.get(f"xielu.{key}")
            value = value[i] if isinstance(value, list) and i < len(value) else value
            if not isinstance(value, float) or not math.isfinite(value):
                raise self.source.error(f"its 'xielu.{key}' is {value}, expected a number")
            found.append(value)
        negative, positive, linear, most = found
        # A file has the numbers before the softplus that keeps them positive.
        return [linear + _softplus(negative), _softplus(positive), linear, most]

    # -- attention ---------------------------------------------------------------------------------

    def attends(self, i: int) -> bool:
        """Whether a layer has attention, as all layers have but in hybrid models."""
        return not self.kind.is_hybrid or f"blk.{i}.attn_output.weight" in self.file.tensors

    def heads(self, i: int) -> Heads:
        """The heads of a layer's attention."""
        count = self.each("attention.head_count", i)
        groups = self.each("attention.head_count_kv", i, count)
        if count % groups:
            raise self.source.error(f"{count} heads do not divide into {groups} groups")
        size = self.integer("attention.key_length", self.width // count)
        values = self.integer("attention.value_length", size)
        if self.kind.is_latent:
            size = self.integer("attention.key_length_mla", size)
            values = self.integer("attention.value_length_mla", values)
        if self.window(i) is not None:
            size = self.integer("attention.key_length_swa", size)
            values = self.integer("attention.value_length_swa", values)
        return Heads(count, groups, size, values)

    def shared(self, i: int) -> int | None:
        """The earlier layer whose keys and values a layer uses, if it has none of its own."""
        start = self.layers - self.count("attention.shared_kv_layers")
        if i < start:
            return None
        own = [k for k in range(start) if self.window(k) == self.window(i)]
        found = own[-1] if own else -1
        if found < 0 or self.heads(found) != self.heads(i):
            raise self.source.error(f"layer {i} has no earlier one to share keys and values with")
        return found

    def scale(self, i: int) -> float:
        """The factor of a layer's attention scores."""
        if self.kind.score_scale is not None:
            return self.kind.score_scale
        if self.get("attention.output_scale"):
            return self.number("attention.output_scale")
        if self.get("attention.scale"):
            return self.number("attention.scale")
        wide = self.layers == self.kind.wide_layers
        heads = self.heads(i)
        scale = (self.width / heads.count if wide else heads.size) ** self.kind.score_power
        if self.kind.is_latent and self.get("rope.scaling.type") == "yarn":
            # YaRN's factor is of all elements, not of the rotated ones.
            multiplier = self.number("rope.scaling.yarn_log_multiplier", 0.1)
            grown = 1 + multiplier * math.log(self.stretch)
            scale *= (grown * self.number("rope.scaling.attn_factor", 1.0)) ** 2
        return scale

    @cached_property
    def has_windows(self) -> bool:
        return any(self.window(i) is not None for i in range(self.layers))

    def window(self, i: int) -> int | None:
        """The number of tokens that a layer sees; None for all."""
        given, pattern = self.get("attention.sliding_window"), self.kind.full_every
        told = self.get("attention.sliding_window_pattern")
        if isinstance(told, list) and i < len(told):
            is_full = not told[i]
        elif isinstance(told, int) and told > 0:
            is_full = i % told == told - 1
        else:
            is_full = pattern is not None and i % pattern == self.kind.full_at
        if is_full or given == 0 or (given is None and self.kind.window is None):
            return None
        return self.integer("attention.sliding_window", self.kind.window)

    def slopes(self) -> np.ndarray | None:
        """The bias of each head per token of distance (ALiBi). Source: arXiv:2108.12409, 3."""
        if not self.alibi:
            return None
        count = self.heads(0).count
        even = 1 << (count.bit_length() - 1)  # The largest power of two of heads.
        first = 2.0 ** (-self.alibi * np.arange(1, even + 1) / even)
        rest = 2.0 ** (-self.alibi * (np.arange(count - even) + 0.5) / even)
        return np.concatenate([first, rest])

    # -- rotation ----------------------------------------------------------------------------------

    @property
    def rotary(self) -> str | None:
        """The order of rotated elements, or None in a model without rotations."""
        if self.name.startswith("granite") and self.get("rope.scaling.finetuned") is False:
            return None
        return None if self.is_variant else self.kind.rotary

    def rotates(self, i: int) -> bool:
        """Whether a layer's queries and keys are rotated."""
        kind, every = self.kind, self.kind.unrotated_every
        if self.rotary is None:
            return False
        told = self.get("attention.rope_pattern")
        if isinstance(told, list) and i < len(told):
            return bool(told[i])
        if kind.rotates_dense and i < self.count("leading_dense_block_count"):
            return True
        if kind.rotates_windows and self.has_windows:
            return self.window(i) is not None
        if kind.warms_unrotated and not self.has_windows:
            return True
        return every is None or i % every != every - 1

    @property
    def alibi(self) -> float | None:
        """The largest slope's exponent of a bias by distance, or None without such a bias."""
        if self.kind.rotated_layers is not None and not self.is_variant:
            return None
        given = self.get("attention.max_alibi_bias")
        return self.number("attention.max_alibi_bias") if given else self.kind.alibi

    @property
    def is_variant(self) -> bool:
        """Whether this is the variant with ALiBi, recognized by the number of its layers."""
        return self.kind.rotated_layers not in (None, self.layers)

    def local_base(self) -> float | None:
        """The base of rotations in layers with a window; None if it is that of the other layers."""
        given = self.get("rope.freq_base_swa")
        if given:
            return self.number("rope.freq_base_swa")
        return (
            self.number("rope.freq_base", 1e4) if self.kind.plain_windows else self.kind.local_base
        )

    def turned(self, i: int) -> int:
        """The number of elements of a layer's heads to which the rotary embedding applies."""
        size = self.heads(i).size
        count = self.integer("rope.dimension_count", size)
        if self.window(i) is not None:
            count = self.integer("rope.dimension_count_swa", count)
        elif self.kind.halves_rotation:
            count //= 2
        if count > size or count % 2:
            raise self.source.error(f"{count} of the {size} elements of a head turn in pairs")
        return count

    def frequencies(self, base: float | None, count: int) -> tuple[np.ndarray, float]:
        """The angle by which each of `count` / 2 pairs turns per position, and a factor.

        Results of the rotation are multiplied by the factor. `base` is that of local attention,
        which is not scaled; None means the model's own.
        """
        local = base is not None
        base = self.number("rope.freq_base", 1e4) if base is None else base
        found = base ** (-np.arange(0, count, 2, dtype=np.float64) / count)
        factor = self.factor
        kind = self.get("rope.scaling.type") or ("none" if factor == 1 else "linear")
        size = self.number("rope.scaling.attn_factor", 1.0)
        mixed = self.get("rope.scaling.yarn_ext_factor")
        if mixed not in (None, -1, 1) or (mixed == 1 and kind == "linear"):  # -1 is none
            raise self.source.error(f"a yarn_ext_factor of {mixed} is not supported")
        if local or kind in ("none", "longrope"):
            return found, 1.0 if local else size
        if kind == "linear" and not self.kind.is_latent:
            return found / factor, size
        if kind != "yarn":
            raise self.source.error(f"the scaling '{kind}' of rotations is not supported")
        grown = 0.1 * math.log(self.stretch)
        has_multiplier = self.get("rope.scaling.yarn_log_multiplier")
        if not (has_multiplier and self.kind.is_latent):
            size *= 1 + grown
            if has_multiplier:
                size /= 1 + grown * self.number("rope.scaling.yarn_log_multiplier")
        return self.yarn(found, base, factor, count), size

    @property
    def stretch(self) -> float:
        """The factor by which the context is longer than in the original training, at least 1."""
        return max(self.factor, 1.0)

    @property
    def factor(self) -> float:
        """The divisor of rotations; 1 in files without one."""
        keys = "rope.scaling.factor", "rope.scale_linear"  # The second is in files of 2023.
        return next((self.number(key) for key in keys if self.get(key)), 1.0)

    @property
    def original(self) -> float:
        """The length of context that the model was first trained for."""
        key = "rope.scaling.original_context_length"
        return self.number(key, self.number("context_length", 4096))

    def yarn(self, found: np.ndarray, base: float, factor: float, count: int) -> np.ndarray:
        """YaRN: low frequencies are stretched, high ones kept. Source: arXiv:2309.00071, 3."""
        context = self.original
        if base <= 1:
            raise self.source.error(f"rotations of base {base} cannot be stretched by YaRN")
        bounds = []
        for key, turns in (("yarn_beta_fast", 32.0), ("yarn_beta_slow", 1.0)):
            turns = self.number(f"rope.scaling.{key}", turns)
            place = math.log(context / (turns * 2 * math.pi)) * count / (2 * math.log(base))
            bounds.append(place)
        low, high = max(math.floor(bounds[0]), 0), min(math.ceil(bounds[1]), count - 1)
        ramp = np.clip((np.arange(count // 2) - low) / max(high - low, 0.001), 0, 1)
        return found / factor * ramp + found * (1 - ramp)

    # -- what the file says ------------------------------------------------------------------------

    def producer(self) -> str:
        return f"version {self.file.version}, {self.name}"

    def notes(self) -> Mapping[str, str]:
        """The metadata as text, also the tokenizer's; of a long list only its number of entries."""
        notes = {}
        for key, value in self.file.metadata.items():
            if isinstance(value, list) and len(value) > 16:
                value = f"{len(value)} entries"
            notes[key] = str(value)
        return notes


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
