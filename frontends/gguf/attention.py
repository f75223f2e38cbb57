"""The nodes of attention: heads, their norms and rotation, masks, and latent vectors."""

from __future__ import annotations

from collections.abc import Sequence

from .nodes import Nodes


class Attention(Nodes):
    """Builds the attention of a model's layers."""

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
