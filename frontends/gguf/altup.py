"""Layers with several streams of hidden vectors, of which one is computed with attention and a
feed-forward part, and the others follow it (AltUp), as in Gemma 3n.

Sources: arXiv:2301.13310 (AltUp), arXiv:2411.07501 (LAuReL); Gemma 3n's model in transformers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .attention import Attention
from .feed_forward import FeedForward

Streams = Sequence[str]
"""The names of hidden vectors [1, length, width], one for each stream."""


class AltUp(Attention, FeedForward):
    """Builds the layers of models with several streams."""

    @property
    def has_streams(self) -> bool:
        return self.has("altup_proj.weight")

    @property
    def active(self) -> int:
        """The index of the stream that layers compute. Raises NncError if there is none."""
        index, count = self.count("altup.active_idx"), self.integer("altup.num_inputs", 4)
        if index >= count:
            raise self.source.error(f"stream {index} of {count} is active")
        return index

    def all_streams(self, x: str, own: str | None) -> str:
        """The result of all layers for the embeddings x, with the per-layer embeddings."""
        if own is None:
            raise self.source.error("its tensor 'per_layer_token_embd.weight' is missing")
        streams = self.streams(x)
        for i in range(self.layers):
            streams = self.altup_layer(i, streams, own)
        return self.merged(streams)

    def streams(self, x: str) -> Streams:
        """The first streams: the embeddings x, and products of them that are as long."""
        more = self.integer("altup.num_inputs", 4) - 1
        self.check_matrices("altup_proj", more)
        return [x, *self.projected("altup_proj", [x] * more, x)]

    def merged(self, streams: Streams) -> str:
        """The mean of the streams, of which all but the first are first multiplied by a matrix."""
        self.check_matrices("altup_unembd_proj", len(streams) - 1)
        x, *rest = streams[0], *self.projected("altup_unembd_proj", streams[1:], streams[0])
        for k, one in enumerate(rest):
            x = self.node("Sum", f"altup_merged.{k}", (x, one))
        return self.node("Scale", "altup_merged", (x,), factor=1 / len(streams))

    def check_matrices(self, name: str, count: int) -> None:
        """Raise NncError if a tensor does not have so many matrices, one for each stream."""
        own, expected = self.file.tensors.get(f"{name}.weight"), (count, self.width, self.width)
        if own is not None and own.shape != expected:
            text = f"has shape {list(own.shape)}, expected {list(expected)}"
            raise self.source.error(f"its tensor '{name}.weight' {text}")

    def projected(self, name: str, streams: Streams, like: str) -> Streams:
        """The product of each stream and its matrix, with the length of the vectors `like`."""
        weight, tensor = self.weight(f"{name}.weight"), self.file.tensors[f"{name}.weight"]
        products = [
            self.node("LinearAt", f"{name}.{k}", (x, weight), index=k, packing=tensor.kind)
            for k, x in enumerate(streams)
        ]
        return [
            self.node("AsLong", f"{name}.scaled.{k}", (x, like)) for k, x in enumerate(products)
        ]

    def altup_layer(self, i: int, streams: Streams, own: str) -> Streams:
        """The streams after layer i; `own` are the per-layer embeddings of all layers."""
        lead, active = f"blk.{i}", self.active
        coefficients = self.linear(f"{lead}.altup_predict_coef", self.told(i, streams[active], 0))
        predicted = self.node(
            "Predict", f"{lead}.altup_predicted", (coefficients, *streams), len(streams)
        )
        out = self.computed(i, predicted[active])
        coefficients = self.linear(f"{lead}.altup_correct_coef", self.told(i, out, 1))
        corrected = self.node(
            "Correct", f"{lead}.altup_corrected", (coefficients, out, *predicted), len(streams),
            active=active,
        )  # fmt: skip
        scale = self.weight(f"{lead}.altup_correct_scale.weight")
        first = self.node("Product", f"{lead}.altup_first", (corrected[active], scale))
        part = self.own_part(i, first, own)
        rest = [
            self.node("Sum", f"{lead}.altup_rest.{k}", (x, part))
            for k, x in enumerate(corrected[1:])
        ]
        return [corrected[0], *rest]

    def told(self, i: int, x: str, k: int) -> str:
        """What hidden vectors x tell about the streams' coefficients: [1, length, streams]."""
        lead = f"blk.{i}.altup_router"
        normed = self.node(
            "Norm", f"{lead}.normed.{k}", (x, self.weight(f"{lead}_norm.weight")),
            form="rms", epsilon=self.epsilon,
        )  # fmt: skip
        normed = self.node("Scale", f"{lead}.scaled.{k}", (normed,), factor=1 / self.width)
        packing = self.file.tensors[f"{lead}.weight"].kind if self.has(f"{lead}.weight") else None
        inputs = (normed, self.weight(f"{lead}.weight"))
        found = self.node("Linear", f"{lead}.{k}", inputs, packing=packing)
        return self.node("Activation", f"{lead}.told.{k}", (found,), function="tanh", numbers=())

    def computed(self, i: int, x: str) -> str:
        """The active stream x after attention, beside it a product of low rank (LAuReL), and a
        feed-forward part.
        """
        lead = f"blk.{i}"
        normed = self.norm(f"{lead}.attn_norm", x)
        low = self.linear(f"{lead}.laurel_r", self.linear(f"{lead}.laurel_l", normed))
        low = self.norm(f"{lead}.laurel_post_norm", low)
        beside = self.node("Sum", f"{lead}.laurel", (low, normed))
        out = self.norm(f"{lead}.post_attention_norm", self.attention(i, normed))
        out = self.node("Sum", f"{lead}.attn_residual", (out, x))
        out = self.node("Sum", f"{lead}.attn_laurel", (out, beside))
        out = self.node("Scale", f"{lead}.attn_laurel.scaled", (out,), factor=1 / math.sqrt(2))
        fed = self.gated(lead, self.norm(f"{lead}.ffn_norm", out))
        fed = self.norm(f"{lead}.post_ffw_norm", fed)
        return self.node("Sum", f"{lead}.residual", (fed, out))

    def own_part(self, i: int, x: str, own: str) -> str:
        """A layer's part of the per-layer embeddings, as its result x lets it through."""
        lead = f"blk.{i}"
        part = self.node("Pick", f"{lead}.inp", (own,), index=i)
        gate = self.linear(f"{lead}.inp_gate", x)
        part = self.node("Gate", f"{lead}.inp_gated", (gate, part), function=self.activation)
        return self.norm(f"{lead}.post_norm", self.linear(f"{lead}.proj", part))
