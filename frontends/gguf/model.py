"""The graphs of decoders: a file gives its architecture's name and numbers; the graph is built
here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...ir.types import TensorType, f32, i64
from ..common.graph import Graph
from ..common.inputs import Input
from ..common.source import Source
from .altup import AltUp
from .architectures import ARCHITECTURES
from .file import read_file
from .mixers import mixer, state_inputs
from .rwkv import is_rwkv, rwkv_layer

OWN_WIDTH = "embedding_length_per_layer_input"
"""The key of the width of the per-layer embeddings."""
GROWING = (".key", ".value")
"""The suffixes of inputs and outputs that have a dimension of tokens."""


def read_model(source: Source) -> Graph:
    """The graph. Raises NncError if the file is damaged, or its architecture unknown."""
    file = read_file(source)
    name = file.metadata.get("general.architecture")
    if name not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise source.error(f"the architecture '{name}' is not supported; these are: {known}")
    prefix = ARCHITECTURES[str(name)].prefix
    if prefix:
        file = replace(file, tensors={_plain(k, prefix): v for k, v in file.tensors.items()})
    return _Decoder(source, file, str(name)).graph()


def _plain(name: str, prefix: str) -> str:
    """The name of a tensor without its prefix, as in other architectures."""
    return name.removeprefix(prefix).replace(".attn_o.", ".attn_output.")


class _Decoder(AltUp):
    """Builds the graph of one file's model."""

    def graph(self) -> Graph:
        """The whole model."""
        inputs = [Input("tokens", TensorType((1, None), i64), ("", "length")), *self.cache()]
        x = self.embedding("token_embd", "tokens")
        x = self.scaled("embedding.scaled", x, "embedding_scale")
        keys = [one.name for one in inputs if one.name.endswith(".key")]
        self.node("Positions", "positions", ["tokens", *keys[:1]])
        if self.has("token_types.weight"):
            table = "token_types.weight"
            kind = self.file.tensors[table].kind
            first = self.node("FirstRow", "token_types", (self.weight(table),), packing=kind)
            x = self.node("Sum", "typed", (x, first))
        places = self.rotary or self.alibi or self.kind.is_hybrid or self.kind.is_relative
        if self.has("position_embd.weight") or not places:
            x = self.node("Sum", "embeddings", (x, self.embedding("position_embd", "positions")))
        last = self.kind.last_norm
        if last != "token_embd_norm" and self.has("token_embd_norm.weight"):
            x = self.norm("token_embd_norm", x)
        own = self.layer_inputs(x) if self.has("per_layer_token_embd.weight") else None
        if self.has_streams:
            x = self.all_streams(x, own)
        else:
            values = None
            for i in range(self.layers):
                if is_rwkv(self, i):
                    x, values = rwkv_layer(self, i, x, values)
                else:
                    x = self.layer(i, x)
                x = self.finished(i, x, own)
        if not self.kind.normalizes_results:
            x = self.norm(last, x)
        if not self.embeds:
            name, found = "logits", self.logits(x)
        elif self.ranks:
            name, found = "scores", self.scores(self.pooled(x))
        else:
            name, found = "embeddings", self.pooled(x)
        outputs = [(name, found), *self.outputs]
        dims: dict[str, Sequence[str]] = {
            name: ("", "", "total", "") for name, _ in self.outputs if name.endswith(GROWING)
        }
        dims[name] = ("", "") if self.embeds and self.pooling else ("", "length", "")
        self.check_read(self.used)
        constants = {f"{name}:data": _array(self.file.tensors[name]) for name in sorted(self.used)}
        starts = dict.fromkeys((one.name for one in inputs[1:]), 0.0)
        return Graph(
            inputs, self.nodes, outputs, constants, dims, self.producer(), self.notes(), starts
        )

    def cache(self) -> list[Input]:
        """What is kept of the tokens before these: keys and values, and the states of mixers.

        A model of embeddings or of diffusion keeps nothing.
        """
        layers = range(self.layers if self.remembers else 0)
        return [one for i in layers for one in (*self.kept(i), *state_inputs(self, i))]

    def kept(self, i: int) -> list[Input]:
        """The keys and values of a layer with attention."""
        if not self.attends(i) or self.shared(i) is not None:
            return []
        heads = self.heads(i)
        groups, sizes = heads.groups, {"key": heads.size, "value": heads.value_size}
        if self.kind.is_latent:
            groups, sizes = 1, {"key": self.latent + self.turned(i)}
        return [
            Input(
                f"past.{i}.{what}",
                TensorType((1, groups, None, size), f32),
                ("", "", "past", ""),
            )
            for what, size in sizes.items()
        ]

    def embedding(self, name: str, indices: str) -> str:
        """The rows of a table at indices, with the square root of their width as a factor if the
        architecture has it.
        """
        table = self.weight(f"{name}.weight")
        kind = self.file.tensors[f"{name}.weight"].kind
        scale = 1.0
        if self.kind.scales_embedding and name != "position_embd":
            is_first = name == "token_embd"
            scale = math.sqrt(self.width if is_first else self.integer(OWN_WIDTH))
        return self.node("Embedding", name, (indices, table), packing=kind, scale=scale)

    def layer_inputs(self, x: str) -> str:
        """The per-layer embeddings, from the tokens and their embeddings x: [1,
        layers, length, D].
        """
        name = "per_layer_model_proj"
        projected = self.linear(name, x)
        factor = 1 / math.sqrt(self.width)
        projected = self.node("Scale", f"{name}.scaled", (projected,), factor=factor)
        projected = self.node("Heads", f"{name}.layers", (projected,), heads=self.layers)
        projected = self.norm("per_layer_proj_norm", projected)
        found = self.embedding("per_layer_token_embd", "tokens")
        found = self.node("Heads", "per_layer_token_embd.layers", (found,), heads=self.layers)
        found = self.node("Sum", "per_layer_inputs.sum", (projected, found))
        return self.node("Scale", "per_layer_inputs", (found,), factor=1 / math.sqrt(2))

    def finished(self, i: int, x: str, own: str | None) -> str:
        """A layer's result x, plus its per-layer embedding and times its factor,
        if it has these.
        """
        lead = f"blk.{i}"
        if own is not None:
            part = self.own_part(i, x, own)
            x = self.node("Sum", f"{lead}.inp_residual", (x, part))
        scale = f"{lead}.layer_output_scale"
        if self.has(f"{scale}.weight"):
            x = self.node("Product", scale, (x, self.weight(f"{scale}.weight")))
        return x

    def pooled(self, x: str) -> str:
        """The embeddings x of all tokens, pooled to a single one if the file says so."""
        if self.pooling:
            x = self.node("Pool", "pooled", (x,), form=self.pooling)
        for name in ("dense_2", "dense_3"):
            x = self.linear(name, x) if self.has(f"{name}.weight") else x
        return x

    def scores(self, x: str) -> str:
        """The scores [1, labels] of a pooled embedding x: those of a classifier."""
        if self.has("cls.weight"):
            is_modern = self.name == "modern-bert"
            given = {"function": "gelu" if is_modern else "tanh", "numbers": ()}
            x = self.node("Activation", "cls.act", (self.linear("cls", x),), **given)
        if self.has("cls.norm.weight"):
            x = self.norm("cls.norm", x)
        if self.has("cls.output.weight"):
            x = self.linear("cls.output", x)
        return self.node("Softmax", "scores", (x,)) if self.name in ("qwen3", "qwen3vl") else x

    def logits(self, x: str) -> str:
        shared = None if self.has("output.weight") else "token_embd.weight"
        logits = self.linear("output", x, shared)
        if self.kind.logits is not None:
            divides = self.kind.logits == "over"
            logits = self.scaled("logits.scaled", logits, "logit_scale", divides)
        if self.get("final_logit_softcapping"):
            limit = self.number("final_logit_softcapping")
            logits = self.node("Softcap", "logits", (logits,), limit=limit)
        return logits

    # -- layers ------------------------------------------------------------------------------------

    def layer(self, i: int, x: str) -> str:
        lead, kind = f"blk.{i}", self.kind
        may_lack = i == 0 if kind.is_encoder else kind.is_hybrid and self.is_only_fed(i)
        is_bare = may_lack and not self.has(f"{lead}.attn_norm.weight")
        normed = self.norm(f"{lead}.attn_norm", x) if kind.norms_first and not is_bare else x
        own = f"{lead}.attn_norm_2"
        has_own = self.has(f"{own}.weight")
        first = self.norm(own, x) if has_own and kind.norms_first else normed
        if kind.is_hybrid:
            return self.hybrid(i, x, first)
        out = self.attention(i, first)
        second = f"{lead}.{kind.second_norm}"
        has_second = kind.bare_norms or self.has(f"{second}.weight")
        after = f"{lead}.{kind.attention_norm}"
        if after != second and self.has_norm(after):
            out = self.norm(after, out)
        out = self.scaled(f"{lead}.attn_scaled", out, "residual_scale")
        is_parallel = kind.parallel
        if is_parallel is None:
            is_parallel = not has_second
        if self.get("use_parallel_residual") or is_parallel:
            more = self.feed_forward(lead, self.norm(second, x) if has_second else normed, x)
            more = self.scaled(f"{lead}.ffn_scaled", more, "residual_scale")
            x = self.node("Sum", f"{lead}.attn_residual", (x, out))
            return self.node("Sum", f"{lead}.residual", (x, more))
        given, x = x, self.node("Sum", f"{lead}.attn_residual", (x, out))
        if kind.normalizes_results:
            x = self.norm(f"{lead}.attn_output_norm", x)
            if has_own:
                x = self.norm(own, self.node("Sum", f"{lead}.attn_again", (x, given)))
        if self.has(f"{lead}.pre_ffw_norm_2.weight"):
            out = self.both_networks(lead, x)
        else:
            fed = self.norm(second, x) if kind.norms_first else x
            out = self.feed_forward(lead, fed, given)
        own = () if kind.normalizes_results else ("layer_output_norm",)
        for name in ("post_ffw_norm", *own):  # Grok's first files have the second name.
            if self.has_norm(f"{lead}.{name}"):
                out = self.norm(f"{lead}.{name}", out)
        out = self.scaled(f"{lead}.ffn_scaled", out, "residual_scale")
        out = self.node("Sum", f"{lead}.residual", (x, out))
        return self.norm(f"{lead}.layer_output_norm", out) if kind.normalizes_results else out

    def is_only_fed(self, i: int) -> bool:
        """Whether a layer has neither attention nor a state, but a feed-forward part alone."""
        return not self.attends(i) and mixer(self, i) is None

    def hybrid(self, i: int, x: str, normed: str) -> str:
        """A layer with attention, a state or both, and a feed-forward part, or with only one."""
        lead, scale = f"blk.{i}", "residual_scale"
        mix = mixer(self, i)
        parts = [self.attention(i, normed)] if self.attends(i) else []
        parts += [mix(self, i, normed)] if mix is not None else []
        for k, part in enumerate(parts):
            part = self.scaled(f"{lead}.mixed_scaled.{k}", part, scale)
            x = self.node("Sum", f"{lead}.mixed.{k}", (x, part))
        is_fed = any(self.has(f"{lead}.{one}.weight") for one in ("ffn_down", "ffn_down_exps"))
        if not is_fed and not parts:
            raise self.source.error(f"layer {i} has neither attention, a state nor a network")
        if not is_fed:
            return x
        second = f"{lead}.{self.kind.second_norm}"
        if parts or self.has(f"{second}.weight"):
            normed = self.norm(second, x)
        out = self.scaled(f"{lead}.ffn_scaled", self.feed_forward(lead, normed, x), scale)
        return self.node("Sum", f"{lead}.residual", (x, out))


def _array(tensor: Any) -> np.ndarray:
    """The numbers of an unpacked tensor, or the bytes of a packed one."""
    dtype = tensor.kind.dtype
    if dtype is None:
        return tensor.data
    data = tensor.data
    if data.ctypes.data % dtype.itemsize:
        data = data.copy()
    return data.view(dtype).reshape(tensor.shape)
