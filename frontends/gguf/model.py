"""The graphs of decoders: a file gives its architecture's name and numbers; the graph is built
here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.types import TensorType, f32, i64
from ..common.graph import Graph
from ..common.inputs import Input
from ..common.source import Source
from .architectures import ARCHITECTURES
from .file import read_file
from .mixers import mixer, state_inputs
from .nodes import Nodes

GROWING = (".key", ".value")
"""How the names of inputs and outputs end that have an extent of tokens."""


def read_model(source: Source) -> Graph:
    """The graph. Raises NncError if the file is damaged, or its architecture unknown."""
    file = read_file(source)
    name = file.metadata.get("general.architecture")
    if name not in ARCHITECTURES:
        known = ", ".join(ARCHITECTURES)
        raise source.error(f"the architecture '{name}' is not supported; these are: {known}")
    return _Decoder(source, file, str(name)).graph()


class _Decoder(Nodes):
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
        places = self.rotary or self.alibi or self.kind.is_hybrid
        if self.has("position_embd.weight") or not places:
            x = self.node("Sum", "embeddings", (x, self.embedding("position_embd", "positions")))
        last = self.kind.last_norm
        if last != "token_embd_norm" and self.has("token_embd_norm.weight"):
            x = self.norm("token_embd_norm", x)
        for i in range(self.layers):
            x = self.layer(i, x)
        if not self.kind.normalizes_results:
            x = self.norm(last, x)
        name, found = ("embeddings", self.pooled(x)) if self.embeds else ("logits", self.logits(x))
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

        A model of embeddings keeps nothing.
        """
        layers = range(0 if self.embeds else self.layers)
        return [one for i in layers for one in (*self.kept(i), *state_inputs(self, i))]

    def kept(self, i: int) -> list[Input]:
        """The keys and values of a layer with attention."""
        if not self.attends(i):
            return []
        sizes = {"key": self.size, "value": self.value_size}
        groups = self.groups
        if self.kind.is_latent:
            groups, sizes = 1, {"key": self.latent + self.turned}
        return [
            Input(
                f"past.{i}.{what}",
                TensorType((1, groups, None, size), f32),
                ("", "", "past", ""),
            )
            for what, size in sizes.items()
        ]

    def embedding(self, name: str, indices: str) -> str:
        """The rows of a table at indices."""
        table = self.weight(f"{name}.weight")
        kind = self.file.tensors[f"{name}.weight"].kind
        is_scaled = self.kind.scales_embedding and name == "token_embd"
        scale = math.sqrt(self.width) if is_scaled else 1.0
        return self.node("Embedding", name, (indices, table), packing=kind, scale=scale)

    def pooled(self, x: str) -> str:
        """The embeddings x of all tokens, pooled to a single one if the file says so."""
        if self.pooling:
            x = self.node("Pool", "pooled", (x,), form=self.pooling)
        for name in ("dense_2", "dense_3"):
            x = self.linear(name, x) if self.has(f"{name}.weight") else x
        return x

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
        starts_bare = kind.is_encoder and i == 0 and not self.has(f"{lead}.attn_norm.weight")
        normed = self.norm(f"{lead}.attn_norm", x) if kind.norms_first and not starts_bare else x
        own = f"{lead}.attn_norm_2"
        has_own = self.has(f"{own}.weight")
        first = self.norm(own, x) if has_own and kind.norms_first else normed
        if kind.is_hybrid:
            return self.hybrid(i, x, first)
        out = self.attention(i, first)
        second = f"{lead}.{kind.second_norm}"
        has_second = kind.bare_norms or self.has(f"{second}.weight")
        after = f"{lead}.post_attention_norm"
        if after != second and self.has(f"{after}.weight"):
            out = self.norm(after, out)
        out = self.scaled(f"{lead}.attn_scaled", out, "residual_scale")
        is_parallel = kind.parallel
        if is_parallel is None:
            is_parallel = not has_second
        if self.get("use_parallel_residual") or is_parallel:
            more = self.feed_forward(lead, self.norm(second, x) if has_second else normed)
            more = self.scaled(f"{lead}.ffn_scaled", more, "residual_scale")
            x = self.node("Sum", f"{lead}.attn_residual", (x, out))
            return self.node("Sum", f"{lead}.residual", (x, more))
        given, x = x, self.node("Sum", f"{lead}.attn_residual", (x, out))
        if kind.normalizes_results:
            x = self.norm(f"{lead}.attn_output_norm", x)
            if has_own:
                x = self.norm(own, self.node("Sum", f"{lead}.attn_again", (x, given)))
        out = self.feed_forward(lead, self.norm(second, x) if kind.norms_first else x)
        if self.has(f"{lead}.post_ffw_norm.weight"):
            out = self.norm(f"{lead}.post_ffw_norm", out)
        out = self.scaled(f"{lead}.ffn_scaled", out, "residual_scale")
        out = self.node("Sum", f"{lead}.residual", (x, out))
        return self.norm(f"{lead}.layer_output_norm", out) if kind.normalizes_results else out

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
        if parts:
            normed = self.norm(f"{lead}.{self.kind.second_norm}", x)
        out = self.scaled(f"{lead}.ffn_scaled", self.feed_forward(lead, normed), scale)
        return self.node("Sum", f"{lead}.residual", (x, out))

    def feed_forward(self, lead: str, x: str) -> str:
        if self.has(f"{lead}.ffn_gate_inp.weight"):
            return self.experts(lead, x)
        return self.gated(lead, x)

    def gated(self, lead: str, x: str, of: str = "") -> str:
        """A gated feed-forward network; `of` distinguishes that of a shared expert."""
        up = self.linear(f"{lead}.ffn_up{of}", x)
        activation = self.activation
        if not self.kind.gated:
            given = {"function": activation, "numbers": self.activation_numbers(lead)}
            hidden = self.node("Activation", f"{lead}.ffn_act{of}", (up,), **given)
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
        bias = self.bias(f"{lead}.exp_probs_b")
        # Files that do not say it are of GLM 4.7 if there is a bias, else of DeepSeek V2.
        default = 2 if self.kind.is_latent and bias else self.kind.gating
        gating = self.count("expert_gating_func") or default
        if gating not in (1, 2, 3):
            raise self.source.error(f"experts are weighted by function {gating}: not supported")
        count, used = self.integer("expert_count"), self.integer("expert_used_count")
        if used > count:
            raise self.source.error(f"{used} of {count} experts are used")
        groups = self.expert_groups(count, used)
        logits = self.linear(f"{lead}.ffn_gate_inp", x)
        normalizes = self.get("expert_weights_norm")
        shares = self.node(
            "Shares",
            f"{lead}.ffn_shares",
            (logits, *bias),
            used=used,
            groups=groups,
            gating=gating,
            normalizes=self.kind.normalizes_experts if normalizes is None else bool(normalizes),
            scale=self.number("expert_weights_scale") if self.get("expert_weights_scale") else 1.0,
        )
        latent = f"{lead}.ffn_latent"
        has_latent = self.has(f"{latent}_down.weight")
        sent = self.linear(f"{latent}_down", x) if has_latent else x
        out = self.chosen_experts(lead, sent, shares, count)
        if has_latent:
            out = self.linear(f"{latent}_up", out)
        if not self.has(f"{lead}.ffn_up_shexp.weight"):
            return out
        shared = self.gated(lead, x, "_shexp")
        if self.has(f"{lead}.ffn_gate_inp_shexp.weight"):
            weight = self.weight(f"{lead}.ffn_gate_inp_shexp.weight")
            inputs = (x, shared, weight)
            shared = self.node("SharedShare", f"{lead}.ffn_gate_inp_shexp", inputs)
        return self.node("Sum", f"{lead}.ffn_out", (out, shared))

    def chosen_experts(self, lead: str, x: str, shares: str, count: int) -> str:
        """The sum of the experts' results, by their shares."""
        if self.has(f"{lead}.ffn_gate_up_exps.weight"):
            matrices = ("gate_up", "down")
        else:
            matrices = ("gate", "up", "down") if self.kind.gated else ("up", "down")
        stems = [f"{lead}.ffn_{one}_exps" for one in matrices]
        names = [f"{stem}.weight" for stem in stems]
        weights = [self.weight(name) for name in names]
        biases = [bias for stem in stems for bias in self.bias(stem)]
        if len(biases) not in (0, len(stems)):
            raise self.source.error(f"some experts' matrices in '{lead}' have a bias, others none")
        tensors = [self.file.tensors[name] for name in names]
        for name, tensor in zip(names, tensors, strict=True):
            if len(tensor.shape) != 3 or tensor.shape[0] != count:
                text = f"has shape {list(tensor.shape)}, expected {count} matrices"
                raise self.source.error(f"its tensor '{name}' {text}")
        given = {"packings": [tensor.kind for tensor in tensors], "matrices": matrices}
        given["function"] = self.activation
        return self.node("Experts", f"{lead}.ffn_exps", (x, shares, *weights, *biases), **given)

    def expert_groups(self, count: int, used: int) -> tuple[int, int]:
        """The number of groups of experts, and from how many of them a token's are chosen."""
        groups = self.count("expert_group_count")
        if groups <= 1:
            return 1, 1
        chosen = self.integer("expert_group_used_count")
        each = count // groups
        if count % groups or each < 2 or chosen > groups or used > chosen * each:
            text = f"{used} of {count} experts are chosen from {chosen} of {groups} groups"
            raise self.source.error(text)
        return groups, chosen

    def latent_attention(self, i: int, x: str) -> str:
        """Attention to latent vectors of tokens, each followed by its rotated key.

        In place of the keys' and values' product with a matrix of each head, the queries are
        multiplied by the first matrix, and the results by the second.
        """
        lead, turned, latent = f"blk.{i}", self.turned, self.latent
        plain = self.size - turned
        if plain <= 0:
            raise self.source.error(f"all {self.size} elements of a head are rotated")
        q = x
        name = f"{lead}.attn_q"
        if self.has(f"{name}_a.weight"):
            q = self.norm(f"{name}_a_norm", self.linear(f"{name}_a", x))
            name = f"{name}_b"
        q = self.node("Heads", f"{lead}.attn_heads.q", (self.linear(name, q),), heads=self.heads)
        sizes = {"sizes": (plain, turned)}
        q, q_turned = self.node("Split", f"{lead}.attn_parts.q", (q,), 2, **sizes)
        both = self.linear(f"{lead}.attn_kv_a_mqa", x)
        both = self.node("Heads", f"{lead}.attn_heads.kv", (both,), heads=1)
        sizes = {"sizes": (latent, turned)}
        k, k_turned = self.node("Split", f"{lead}.attn_parts.kv", (both,), 2, **sizes)
        k = self.norm(f"{lead}.attn_kv_a_norm", k)
        q_turned, k_turned = self.turned_heads(i, q_turned, k_turned, None)
        q = self.head_linear(lead, "k", q)
        q = self.node("Join", f"{lead}.attn_joined.q", (q, q_turned))
        k = self.node("Join", f"{lead}.attn_joined.k", (k, k_turned))
        if self.get("attention.temperature_scale"):
            q = self.warmed(lead, q)
        past = "" if self.embeds else f"past.{i}.key"
        given = {"scale": self.scale(), "limit": None, "latent": latent}
        inputs = (q, k, "", past, "", self.mask(None))
        out, key = self.node("Attention", f"{lead}.attention", inputs, 2, **given)
        if not self.embeds:
            self.outputs.append((f"present.{i}.key", key))
        out = self.node("Heads", f"{lead}.attn_heads.out", (out,), heads=self.heads)
        out = self.head_linear(lead, "v", out)
        return self.linear(
            f"{lead}.attn_output", self.node("JoinHeads", f"{lead}.attn_out", (out,))
        )

    def head_linear(self, lead: str, one: str, x: str) -> str:
        """The product of each head of x and its matrix for keys or values: `one` is `k` or `v`.

        The file has these matrices as two tensors, or all in one, with the rows of a head together.
        """
        plain, latent, key = self.size - self.turned, self.latent, f"{lead}.attn_{one}_b.weight"
        is_split, both = self.has(key), plain + self.value_size
        if is_split:
            rows, columns = (latent, plain) if one == "k" else (self.value_size, latent)
            shape, part = (self.heads, rows, columns), (0, rows)
        else:
            key, rows = f"{lead}.attn_kv_b.weight", both
            shape, part = (self.heads * both, latent), (0, plain) if one == "k" else (plain, both)
        weight, tensor = self.weight(key), self.file.tensors[key]
        if tensor.shape != shape:
            text = f"has shape {list(tensor.shape)}, expected {list(shape)}"
            raise self.source.error(f"its tensor '{key}' {text}")
        return self.node(
            "HeadLinear",
            f"{lead}.attn_{one}_b",
            (x, weight),
            packing=tensor.kind,
            apart=(self.heads, rows),
            part=part,
            transposed=is_split or one == "v",
        )

    def attention(self, i: int, x: str) -> str:
        if self.kind.is_latent:
            return self.latent_attention(i, x)
        lead = f"blk.{i}"
        widths = (self.heads * self.size, self.groups * self.size, self.groups * self.value_size)
        if self.has(f"{lead}.attn_qkv.weight"):
            fused = self.linear(f"{lead}.attn_qkv", x)
            parts = self.node("Split", f"{lead}.attn_parts", (fused,), 3, sizes=widths)
        else:
            parts = [self.linear(f"{lead}.attn_{one}", x) for one in "qkv"]
        if self.get("attention.clamp_kqv"):
            limit = self.number("attention.clamp_kqv")
            parts = [
                self.node("Clamp", f"{lead}.attn_clamp.{one}", (part,), limit=limit)
                for one, part in zip("qkv", parts, strict=True)
            ]
        parts = [self.normed(lead, one, part, True) for one, part in zip("qkv", parts, strict=True)]
        counts = (self.heads, self.groups, self.groups)
        q, k, v = (
            self.node("Heads", f"{lead}.attn_heads.{one}", (part,), heads=count)
            for one, part, count in zip("qkv", parts, counts, strict=True)
        )
        gate = None
        if self.has(f"{lead}.attn_gate.weight"):
            gate = self.linear(f"{lead}.attn_gate", x)
        if self.kind.gates_heads:
            sizes = {"sizes": (self.size, self.size)}
            q, gate = self.node("Split", f"{lead}.attn_parts.q", (q,), 2, **sizes)
            gate = self.node("JoinHeads", f"{lead}.attn_gate", (gate,))
        window = self.window(i)
        turns = [self.turned_heads, self.normed_heads]
        for turn in turns if self.kind.head_norms_last else reversed(turns):
            q, k = turn(i, q, k, window)
        if self.get("attention.temperature_scale"):
            q = self.warmed(lead, q)
        limit = self.get("attn_logit_softcapping")
        past = ("", "") if self.embeds else (f"past.{i}.key", f"past.{i}.value")
        out, key, value = self.node(
            "Attention",
            f"{lead}.attention",
            (q, k, v, *past, self.mask(window), *self.sinks(lead)),
            3,
            scale=self.scale(),
            limit=self.number("attn_logit_softcapping") if limit else None,
            latent=None,
        )
        if not self.embeds:
            self.outputs += [(f"present.{i}.key", key), (f"present.{i}.value", value)]
        if gate is not None:
            out = self.node("Gate", f"{lead}.attn_gated", (gate, out), function="sigmoid")
        return self.linear(f"{lead}.attn_output", out)

    def normed(self, lead: str, one: str, x: str, is_whole: bool) -> str:
        """Queries or keys x (`one` is q or k) after their norm, if the file has one.

        Its weights tell whether it is over all heads together or over each head.
        """
        name = f"{lead}.attn_{one}_norm"
        if one == "v" or not self.has(f"{name}.weight"):
            return x
        shape = self.file.tensors[f"{name}.weight"].shape
        return self.norm(name, x) if (shape not in self.head_shapes) == is_whole else x

    @property
    def head_shapes(self) -> Sequence[tuple[int, ...]]:
        """The weights' shapes in norms over each head: one for all heads, or one per head."""
        return (self.size,), (self.heads, self.size), (self.groups, self.size)

    def normed_heads(self, i: int, q: str, k: str, window: int | None) -> tuple[str, str]:
        return self.normed(f"blk.{i}", "q", q, False), self.normed(f"blk.{i}", "k", k, False)

    def turned_heads(self, i: int, q: str, k: str, window: int | None) -> tuple[str, str]:
        """Queries and keys after their rotation, if this layer has one."""
        every = self.kind.unrotated_every
        is_bare = every is not None and i % every == every - 1
        if self.kind.rotates_windows and window is None and self.has_windows:
            is_bare = True
        if self.rotary is None or is_bare:
            return q, k
        angles = self.angles(window is not None)
        turned = {"order": self.rotary, "size": self.turned}
        return (
            self.node("Rotate", f"blk.{i}.rotary.q", (q, *angles), **turned),
            self.node("Rotate", f"blk.{i}.rotary.k", (k, *angles), **turned),
        )

    def warmed(self, lead: str, q: str) -> str:
        """Queries q times a factor that grows with their positions; see the node `Temperature`."""
        scale, every = self.number("attention.temperature_scale"), self.original
        if self.kind.is_latent:
            every = self.number("attention.temperature_length")
        name = f"{lead}.attn_temperature"
        return self.node("Temperature", name, (q, "positions"), scale=scale, every=every)

    def sinks(self, lead: str) -> Sequence[str]:
        """The scores that each head adds to its softmax, without a value, where there are any."""
        name = f"{lead}.attn_sinks.weight"
        return (self.weight(name),) if self.has(name) else ()

    def mask(self, window: int | None) -> str:
        """The name of the mask that is added to scores; "" if each token sees all others alike."""
        if not self.is_causal and not self.alibi and window is None:
            return ""
        name = "mask" if window is None else f"mask.{window}"
        if name not in {node.name for node in self.nodes}:
            given = {"window": window, "slopes": self.slopes(), "is_causal": self.is_causal}
            self.node("Mask", name, ("positions",), **given)
        return name

    # -- rotation ----------------------------------------------------------------------------------

    def angles(self, is_local: bool) -> tuple[str, str]:
        """The cosines and sines of all positions."""
        local = self.local_base() if is_local else None
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


def _array(tensor: Any) -> np.ndarray:
    """The numbers of an unpacked tensor, or the bytes of a packed one."""
    dtype = tensor.kind.dtype
    if dtype is None:
        return tensor.data
    data = tensor.data
    if data.ctypes.data % dtype.itemsize:
        data = data.copy()
    return data.view(dtype).reshape(tensor.shape)
