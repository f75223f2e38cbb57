"""The graphs of decoders: a file gives its architecture's name and numbers; the graph is built
here.

Architectures differ by a row of `ARCHITECTURES`, or by which tensors exist: fused queries, keys and
values, biases, norms of heads, norms after a layer.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ir.types import TensorType, f32, i64
from ..common.fields import Fields, Ignored, IgnoredFields
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..common.source import Source
from .file import GgufFile, read_file

MOST_LAYERS = 4096


@dataclass(frozen=True)
class Architecture:
    """The properties of an architecture that files do not contain."""

    norm: str = "rms"
    rotary: str | None = "halves"
    """Which elements of a head are rotated together: neighbours (`pairs`), or equal places of its
    two `halves`."""
    activation: str = "silu"
    gated: bool = True
    parallel: bool = False
    """Whether the feed-forward part reads the attention's operand, instead of its result."""
    scales_embedding: bool = False
    full_every: int | None = None
    """One layer of so many attends to all tokens, the others to a window."""
    full_at: int = 0
    """The index of that layer among them."""
    window: int | None = None
    local_base: float | None = None
    """The base of the rotary embedding in layers with a window, if another one."""
    wide_layers: int | None = None
    """The number of layers of the variant whose scores are scaled by the width of all heads, not of
    one."""
    normalizes_experts: bool = True
    """Whether the weights of a token's experts are scaled to a sum of 1."""


ARCHITECTURES: Mapping[str, Architecture] = {
    "llama": Architecture(rotary="pairs"),
    "qwen2": Architecture(),
    "qwen3": Architecture(),
    "qwen2moe": Architecture(normalizes_experts=False),
    "qwen3moe": Architecture(),
    "gemma": Architecture(activation="gelu", scales_embedding=True),
    "gemma2": Architecture(
        activation="gelu", scales_embedding=True, full_every=2, full_at=1, window=4096,
        wide_layers=46,
    ),
    "gemma3": Architecture(
        activation="gelu", scales_embedding=True, full_every=6, full_at=5, window=1024,
        local_base=1e4, wide_layers=62,
    ),
    "phi2": Architecture(norm="layer", activation="gelu", gated=False, parallel=True),
    "phi3": Architecture(),
    "gpt2": Architecture(norm="layer", rotary=None, activation="gelu", gated=False),
}  # fmt: skip


IGNORED = IgnoredFields(
    Ignored("context_length vocab_size *feed_forward_length", "as the tensors tell, or no limit"),
    Ignored("tensor_data_layout", "the rows of weights, as the file has them"),
    Ignored("rope.scaling.original_context_length rope.scaling.finetuned", "of training"),
    Ignored("rope.scaling.factor", "not asked for", values=(1, 1.0)),
    Ignored("rope.* attention.sliding_window*", "not asked for, without rotation", "gpt2"),
    Ignored("attention.causal", "as decoders are", values=(True,)),
    Ignored("expert_count expert_used_count", "none", values=(0,)),
    Ignored("attention.*epsilon", "of the other norm"),
    Ignored("pooling_type", "none", values=(0,)),
)
IGNORED_TENSORS = IgnoredFields(
    Ignored("rope_freqs.weight rope_factors_*", "of rotations of another kind"),
    Ignored("*.attn_rot_embd", "frequencies that the metadata tells"),
)


def read_model(source: Source) -> Graph:
    """The graph. Raises NncError if the file is damaged, or its architecture unknown."""
    file = read_file(source)
    name = file.metadata.get("general.architecture")
    if name not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise source.error(f"the architecture '{name}' is not supported; these are: {known}")
    return _Decoder(source, file, str(name)).graph()


class _Decoder:
    """Builds the nodes of one file's model."""

    def __init__(self, source: Source, file: GgufFile, name: str) -> None:
        self.source, self.file, self.name = source, file, name
        self.metadata = Fields(file.metadata)
        self.kind = ARCHITECTURES[name]
        self.nodes: list[Node] = []
        self.used: set[str] = set()
        self.outputs: list[tuple[str, str]] = []
        self.width = self.integer("embedding_length")
        self.layers = self.integer("block_count")
        if self.layers > MOST_LAYERS:
            raise source.error(f"{self.layers} layers")
        self.heads = self.integer("attention.head_count")
        self.groups = self.integer("attention.head_count_kv", self.heads)
        if self.heads % self.groups:
            raise source.error(f"{self.heads} heads do not divide into {self.groups} groups")
        self.size = self.integer("attention.key_length", self.width // self.heads)
        self.value_size = self.integer("attention.value_length", self.size)
        norm = "layer_norm_rms_epsilon" if self.kind.norm == "rms" else "layer_norm_epsilon"
        self.epsilon = self.number(f"attention.{norm}", 1e-5)

    # -- metadata ----------------------------------------------------------------------------------

    def get(self, key: str) -> Any:
        return self.metadata.get(f"{self.name}.{key}")

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
        value = default if value is None else value
        if not isinstance(value, int) or not 0 < value < 1 << 31:
            raise self.source.error(
                f"its '{self.name}.{key}' is {value}, expected an integer above 0"
            )
        return value

    # -- nodes -------------------------------------------------------------------------------------

    def has(self, name: str) -> bool:
        return name in self.file.tensors

    def node(self, kind: str, name: str, inputs: Sequence[str], outputs: int = 1, **given) -> Any:
        """The name of a new node's value, or the names of several."""
        names = [name] if outputs == 1 else [f"{name}.{i}" for i in range(outputs)]
        self.nodes.append(Node(kind, name, inputs, names, given))
        return names[0] if outputs == 1 else names

    def weight(self, name: str) -> str:
        """Add a required tensor as a constant; returns its name. Raises NncError."""
        if not self.has(name):
            raise self.source.error(f"its tensor '{name}' is missing")
        self.used.add(name)
        return f"{name}:data"

    def bias(self, name: str) -> Sequence[str]:
        """The tensor of a bias, where there is one."""
        return (self.weight(f"{name}.bias"),) if self.has(f"{name}.bias") else ()

    def linear(self, name: str, x: str, weight: str | None = None) -> str:
        """The product of x and a matrix, plus a bias if there is one."""
        key = f"{name}.weight" if weight is None else weight
        tensor = self.weight(key)
        shape = self.file.tensors[key].shape
        if len(shape) != 2:
            raise self.source.error(f"its tensor '{key}' has shape {list(shape)}, expected rows")
        inputs = (x, tensor, *self.bias(name))
        return self.node("Linear", name, inputs, packing=self.file.tensors[key].kind)

    def norm(self, name: str, x: str) -> str:
        inputs = (x, self.weight(f"{name}.weight"), *self.bias(name))
        return self.node("Norm", name, inputs, form=self.kind.norm, epsilon=self.epsilon)

    def graph(self) -> Graph:
        """The whole model."""
        tokens = "tokens"
        inputs = [Input(tokens, TensorType((1, None), i64), ("", "length"))]
        for i in range(self.layers):
            for what, size in (("key", self.size), ("value", self.value_size)):
                shape = (1, self.groups, None, size)
                inputs.append(
                    Input(f"past.{i}.{what}", TensorType(shape, f32), ("", "", "past", ""))
                )
        embedding = self.weight("token_embd.weight")
        packing = self.file.tensors["token_embd.weight"].kind
        scale = math.sqrt(self.width) if self.kind.scales_embedding else 1.0
        x = self.node("Embedding", "token_embd", (tokens, embedding), packing=packing, scale=scale)
        self.node("Positions", "positions", (tokens, "past.0.key"))
        if self.kind.rotary is None:
            table = "position_embd.weight"
            inputs_ = ("positions", self.weight(table))
            kind = self.file.tensors[table].kind
            places = self.node("Embedding", "position_embd", inputs_, packing=kind, scale=1.0)
            x = self.node("Sum", "embeddings", (x, places))
        for i in range(self.layers):
            x = self.layer(i, x)
        x = self.norm("output_norm", x)
        shared = None if self.has("output.weight") else "token_embd.weight"
        logits = self.linear("output", x, shared)
        if self.get("final_logit_softcapping"):
            limit = self.number("final_logit_softcapping")
            logits = self.node("Softcap", "logits", (logits,), limit=limit)
        outputs = [("logits", logits), *self.outputs]
        names = ("", "", "total", "")
        dims: dict[str, Sequence[str]] = {name: names for name, _ in self.outputs}
        dims["logits"] = ("", "length", "")
        self.check_read()
        constants = {f"{name}:data": _array(self.file.tensors[name]) for name in sorted(self.used)}
        starts = dict.fromkeys((one.name for one in inputs[1:]), 0.0)
        return Graph(
            inputs, self.nodes, outputs, constants, dims, self.producer(), self.notes(), starts
        )

    # -- layers ------------------------------------------------------------------------------------

    def layer(self, i: int, x: str) -> str:
        lead = f"blk.{i}"
        normed = self.norm(f"{lead}.attn_norm", x)
        out = self.attention(i, normed)
        if self.has(f"{lead}.post_attention_norm.weight"):
            out = self.norm(f"{lead}.post_attention_norm", out)
        if self.kind.parallel:
            more = self.feed_forward(lead, normed)
            x = self.node("Sum", f"{lead}.attn_residual", (x, out))
            return self.node("Sum", f"{lead}.residual", (x, more))
        x = self.node("Sum", f"{lead}.attn_residual", (x, out))
        out = self.feed_forward(lead, self.norm(f"{lead}.ffn_norm", x))
        if self.has(f"{lead}.post_ffw_norm.weight"):
            out = self.norm(f"{lead}.post_ffw_norm", out)
        return self.node("Sum", f"{lead}.residual", (x, out))

    def feed_forward(self, lead: str, x: str) -> str:
        if self.has(f"{lead}.ffn_gate_inp.weight"):
            return self.experts(lead, x)
        return self.gated(lead, x)

    def gated(self, lead: str, x: str, of: str = "") -> str:
        """A gated feed-forward network; `of` distinguishes that of a shared expert."""
        up = self.linear(f"{lead}.ffn_up{of}", x)
        activation = self.kind.activation
        if not self.kind.gated:
            hidden = self.node("Activation", f"{lead}.ffn_act{of}", (up,), function=activation)
        elif self.has(f"{lead}.ffn_gate{of}.weight"):
            gate = self.linear(f"{lead}.ffn_gate{of}", x)
            hidden = self.node("Gate", f"{lead}.ffn_act{of}", (gate, up), function=activation)
        else:
            half = self.file.tensors[f"{lead}.ffn_up{of}.weight"].shape[0] // 2
            parts = self.node("Split", f"{lead}.ffn_parts{of}", (up,), 2, sizes=(half, half))
            hidden = self.node("Gate", f"{lead}.ffn_act{of}", parts, function=activation)
        return self.linear(f"{lead}.ffn_down{of}", hidden)

    def experts(self, lead: str, x: str) -> str:
        """A mixture of experts: each token is sent to some, and perhaps to a shared one."""
        if self.get("expert_gating_func") not in (None, 1):
            raise self.source.error("experts that are chosen by other functions than softmax")
        count, used = self.integer("expert_count"), self.integer("expert_used_count")
        if used > count:
            raise self.source.error(f"{used} of {count} experts are used")
        logits = self.linear(f"{lead}.ffn_gate_inp", x)
        normalizes = self.get("expert_weights_norm")
        shares = self.node(
            "Shares",
            f"{lead}.ffn_shares",
            (logits,),
            used=used,
            normalizes=self.kind.normalizes_experts if normalizes is None else bool(normalizes),
            scale=self.number("expert_weights_scale", 1.0),
        )
        names = [f"{lead}.ffn_{one}_exps.weight" for one in ("gate", "up", "down")]
        weights = [self.weight(name) for name in names]
        tensors = [self.file.tensors[name] for name in names]
        for name, tensor in zip(names, tensors, strict=True):
            if len(tensor.shape) != 3 or tensor.shape[0] != count:
                text = f"has shape {list(tensor.shape)}, expected {count} matrices"
                raise self.source.error(f"its tensor '{name}' {text}")
        kinds = [tensor.kind for tensor in tensors]
        given = {"packings": kinds, "function": self.kind.activation}
        out = self.node("Experts", f"{lead}.ffn_exps", (x, shares, *weights), **given)
        if not self.has(f"{lead}.ffn_up_shexp.weight"):
            return out
        shared = self.gated(lead, x, "_shexp")
        if self.has(f"{lead}.ffn_gate_inp_shexp.weight"):
            weight = self.weight(f"{lead}.ffn_gate_inp_shexp.weight")
            inputs = (x, shared, weight)
            shared = self.node("SharedShare", f"{lead}.ffn_gate_inp_shexp", inputs)
        return self.node("Sum", f"{lead}.ffn_out", (out, shared))

    def attention(self, i: int, x: str) -> str:
        lead = f"blk.{i}"
        widths = (self.heads * self.size, self.groups * self.size, self.groups * self.value_size)
        if self.has(f"{lead}.attn_qkv.weight"):
            fused = self.linear(f"{lead}.attn_qkv", x)
            parts = self.node("Split", f"{lead}.attn_parts", (fused,), 3, sizes=widths)
        else:
            parts = [self.linear(f"{lead}.attn_{one}", x) for one in "qkv"]
        counts = (self.heads, self.groups, self.groups)
        q, k, v = (
            self.node("Heads", f"{lead}.attn_heads.{one}", (part,), heads=count)
            for one, part, count in zip("qkv", parts, counts, strict=True)
        )
        if self.has(f"{lead}.attn_q_norm.weight"):
            q = self.norm(f"{lead}.attn_q_norm", q)
            k = self.norm(f"{lead}.attn_k_norm", k)
        window = self.window(i)
        if self.kind.rotary is not None:
            angles = self.angles(window is not None)
            turned = {"order": self.kind.rotary, "size": self.turned}
            q, k = (
                self.node("Rotate", f"{lead}.rotary.{one}", (x, *angles), **turned)
                for one, x in (("q", q), ("k", k))
            )
        limit = self.get("attn_logit_softcapping")
        out, key, value = self.node(
            "Attention",
            f"{lead}.attention",
            (q, k, v, f"past.{i}.key", f"past.{i}.value", self.mask(window)),
            3,
            scale=self.scale(),
            limit=self.number("attn_logit_softcapping") if limit else None,
        )
        self.outputs += [(f"present.{i}.key", key), (f"present.{i}.value", value)]
        return self.linear(f"{lead}.attn_output", out)

    def scale(self) -> float:
        """The factor of attention scores."""
        if self.get("attention.scale"):
            return self.number("attention.scale")
        wide = self.layers == self.kind.wide_layers
        return 1 / math.sqrt(self.width / self.heads if wide else self.size)

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
        if is_full or (not given and self.kind.window is None):
            return None
        return self.integer("attention.sliding_window", self.kind.window)

    def mask(self, window: int | None) -> str:
        name = "mask" if window is None else f"mask.{window}"
        if name not in {node.name for node in self.nodes}:
            self.node("Mask", name, ("positions",), window=window)
        return name

    # -- rotation ----------------------------------------------------------------------------------

    @property
    def turned(self) -> int:
        """The number of rotated elements of a head."""
        count = self.integer("rope.dimension_count", self.size)
        if count > self.size or count % 2:
            raise self.source.error(f"{count} of the {self.size} elements of a head turn in pairs")
        return count

    def angles(self, is_local: bool) -> tuple[str, str]:
        """The cosines and sines of all positions."""
        local = self.kind.local_base if is_local else None
        name = "angles" if local is None else "angles.local"
        names = f"{name}.0", f"{name}.1"
        if name in {node.name for node in self.nodes}:
            return names
        frequencies, size = self.frequencies(local)
        inputs = ["positions"]
        given = [f for f in ("rope_factors_short", "rope_factors_long") if self.has(f"{f}.weight")]
        if local is None and len(given) == 2:
            inputs += [self.weight(f"{one}.weight") for one in given]
        elif local is None and self.has("rope_freqs.weight"):
            inputs.append(self.weight("rope_freqs.weight"))
        original = self.get("rope.scaling.original_context_length")
        self.node("Angles", name, inputs, 2, frequencies=frequencies, size=size, original=original)
        return names

    def frequencies(self, base: float | None) -> tuple[np.ndarray, float]:
        """The angles per position, and the factor of rotated elements."""
        count = self.turned
        local = base is not None
        base = self.number("rope.freq_base", 1e4) if base is None else base
        found = base ** (-np.arange(0, count, 2, dtype=np.float64) / count)
        kind = self.get("rope.scaling.type")
        size = self.number("rope.scaling.attn_factor", 1.0)
        if local or kind in (None, "none", "longrope"):
            return found, 1.0 if local else size
        factor = self.number("rope.scaling.factor", 1.0)
        if kind == "linear":
            return found / factor, size
        if kind != "yarn":
            raise self.source.error(f"the scaling '{kind}' of rotations is not supported")
        return self.yarn(found, base, factor), size * (1 + 0.1 * math.log(max(factor, 1.0)))

    def yarn(self, found: np.ndarray, base: float, factor: float) -> np.ndarray:
        """YaRN: low frequencies are stretched, high ones kept. Source: arXiv:2309.00071, 3."""
        context = self.number(
            "rope.scaling.original_context_length", self.number("context_length", 4096)
        )
        count = self.turned
        bounds = []
        for key, turns in (("yarn_beta_fast", 32.0), ("yarn_beta_slow", 1.0)):
            turns = self.number(f"rope.scaling.{key}", turns)
            place = math.log(context / (turns * 2 * math.pi)) * count / (2 * math.log(base))
            bounds.append(place)
        low, high = max(math.floor(bounds[0]), 0), min(math.ceil(bounds[1]), count - 1)
        ramp = np.clip((np.arange(count // 2) - low) / max(high - low, 0.001), 0, 1)
        return found / factor * ramp + found * (1 - ramp)

    def check_read(self) -> None:
        """Raise NncError if a number or tensor that may matter is unused."""
        own = [(k, v) for k, v in self.metadata.unread() if k.startswith(f"{self.name}.")]
        keys = [(key.removeprefix(f"{self.name}."), value) for key, value in own]
        for key, value in IGNORED.refused(self.name, keys):
            shown = reprlib.repr(value)
            raise self.source.error(f"'{self.name}.{key}' is {shown}, which is not supported")
        tensors = [(name, "a tensor") for name in self.file.tensors if name not in self.used]
        for name, _ in IGNORED_TENSORS.refused(self.name, tensors):
            raise self.source.error(f"the tensor '{name}' is not supported")

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


def _array(tensor: Any) -> np.ndarray:
    """The numbers of an unpacked tensor, or the bytes of a packed one."""
    dtype = tensor.kind.dtype
    if dtype is None:
        return tensor.data
    data = tensor.data
    if data.ctypes.data % dtype.itemsize:
        data = data.copy()
    return data.view(dtype).reshape(tensor.shape)
