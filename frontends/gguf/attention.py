"""The nodes of attention: heads, their norms and rotation, masks, and latent vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .nodes import Nodes


class Attention(Nodes):
    """Builds the attention of a model's layers."""

    def latent_attention(self, i: int, x: str) -> str:
        """Attention to latent vectors of tokens, each followed by its rotated key.

        In place of the keys' and values' product with a matrix of each head, the queries are
        multiplied by the first matrix, and the results by the second.
        """
        lead, turned, latent, heads = f"blk.{i}", self.turned(i), self.latent, self.heads(i)
        plain = heads.size - turned
        if plain <= 0:
            raise self.source.error(f"all {heads.size} elements of a head are rotated")
        q = x
        name = f"{lead}.attn_q"
        if self.has(f"{name}_a.weight"):
            q = self.norm(f"{name}_a_norm", self.linear(f"{name}_a", x))
            name = f"{name}_b"
        q = self.node("Heads", f"{lead}.attn_heads.q", (self.linear(name, q),), heads=heads.count)
        sizes = {"sizes": (plain, turned)}
        q, q_turned = self.node("Split", f"{lead}.attn_parts.q", (q,), 2, **sizes)
        both = self.linear(f"{lead}.attn_kv_a_mqa", x)
        both = self.node("Heads", f"{lead}.attn_heads.kv", (both,), heads=1)
        sizes = {"sizes": (latent, turned)}
        k, k_turned = self.node("Split", f"{lead}.attn_parts.kv", (both,), 2, **sizes)
        k = self.norm(f"{lead}.attn_kv_a_norm", k)
        q_turned, k_turned = (
            self.turned_head(i, one, x) for one, x in (("q", q_turned), ("k", k_turned))
        )
        q = self.head_linear(i, "k", q)
        q = self.node("Join", f"{lead}.attn_joined.q", (q, q_turned))
        k = self.node("Join", f"{lead}.attn_joined.k", (k, k_turned))
        if self.get("attention.temperature_scale"):
            q = self.warmed(lead, q)
        past = f"past.{i}.key" if self.remembers else ""
        given = {"scale": self.scale(i), "limit": None, "latent": latent}
        inputs = (q, k, "", past, "", self.mask(None))
        out, key = self.node("Attention", f"{lead}.attention", inputs, 2, **given)
        if self.remembers:
            self.outputs.append((f"present.{i}.key", key))
        out = self.node("Heads", f"{lead}.attn_heads.out", (out,), heads=heads.count)
        out = self.head_linear(i, "v", out)
        return self.linear(
            f"{lead}.attn_output", self.node("JoinHeads", f"{lead}.attn_out", (out,))
        )

    def head_linear(self, i: int, one: str, x: str) -> str:
        """The product of each head of x and its matrix for keys or values: `one` is `k` or `v`.

        The file has these matrices as two tensors, or all in one, with the rows of a head together.
        """
        lead, heads, latent = f"blk.{i}", self.heads(i), self.latent
        plain, key = heads.size - self.turned(i), f"{lead}.attn_{one}_b.weight"
        is_split, both = self.has(key), plain + heads.value_size
        if is_split:
            rows, columns = (latent, plain) if one == "k" else (heads.value_size, latent)
            shape, part = (heads.count, rows, columns), (0, rows)
        else:
            key, rows = f"{lead}.attn_kv_b.weight", both
            shape, part = (heads.count * both, latent), (0, plain) if one == "k" else (plain, both)
        weight, tensor = self.weight(key), self.file.tensors[key]
        if tensor.shape != shape:
            text = f"has shape {list(tensor.shape)}, expected {list(shape)}"
            raise self.source.error(f"its tensor '{key}' {text}")
        return self.node(
            "HeadLinear",
            f"{lead}.attn_{one}_b",
            (x, weight),
            packing=tensor.kind,
            apart=(heads.count, rows),
            part=part,
            transposed=is_split or one == "v",
        )

    def attention(self, i: int, x: str) -> str:
        if self.kind.is_latent:
            return self.latent_attention(i, x)
        lead, heads, window = f"blk.{i}", self.heads(i), self.window(i)
        parts = [self.normed(i, one, part, True) for one, part in self.products(i, x).items()]
        counts = (heads.count, heads.groups, heads.groups)
        # `own` are the layer's keys and values, none if it uses those of an earlier layer.
        q, *own = (
            self.node("Heads", f"{lead}.attn_heads.{one}", (part,), heads=count)
            for one, part, count in zip("qkv", parts, counts, strict=False)
        )
        gate = None
        if self.has(f"{lead}.attn_gate.weight"):
            gate = self.linear(f"{lead}.attn_gate", x)
        if self.kind.gates_heads:
            sizes = {"sizes": (heads.size, heads.size)}
            q, gate = self.node("Split", f"{lead}.attn_parts.q", (q,), 2, **sizes)
            gate = self.node("JoinHeads", f"{lead}.attn_gate", (gate,))
        turns = [self.turned_head, self.normed_head, self.leveled_head]
        if not self.kind.head_norms_last:
            turns[:2] = reversed(turns[:2])
        for turn in turns:
            q = turn(i, "q", q)
            own[:1] = [turn(i, "k", k) for k in own[:1]]
        if own and self.kind.normalizes_values:
            given = {"form": "rms", "epsilon": self.epsilon}
            own[1] = self.node("Norm", f"{lead}.attn_v_norm", (own[1],), **given)
        is_warmed = not self.kind.warms_unrotated or not self.rotates(i)
        if is_warmed and self.get("attention.temperature_scale"):
            q = self.warmed(lead, q)
        limit = self.get("attn_logit_softcapping")
        out, key, value = self.node(
            "Attention",
            f"{lead}.attention",
            (q, *self.seen(i, own), self.mask(window), *self.sinks(lead)),
            3,
            scale=self.scale(i),
            limit=self.number("attn_logit_softcapping") if limit else None,
            latent=None,
        )
        if own and self.remembers:
            self.outputs += [(f"present.{i}.key", key), (f"present.{i}.value", value)]
        if gate is not None:
            out = self.gated_heads(i, gate, out)
        if self.has(f"{lead}.attn_sub_norm.weight"):
            out = self.norm(f"{lead}.attn_sub_norm", out)
        out = self.linear(f"{lead}.attn_output", out)
        return self.scaled(f"{lead}.attn_output.scaled", out, "attention.value_scale")

    def gated_heads(self, i: int, gate: str, out: str) -> str:
        """The results of a layer's heads times the sigmoid of gates: of each element, or head."""
        name, count = f"blk.{i}.attn_gate", self.heads(i).count
        per_head = self.has(f"{name}.weight") and (
            self.file.tensors[f"{name}.weight"].shape[0] == count
        )
        if per_head:
            gate = self.node("Heads", f"{name}.heads", (gate,), heads=count)
            out = self.node("Heads", f"{name}.out", (out,), heads=count)
        given = {"function": "sigmoid", "limit": None}
        out = self.node("Gate", f"blk.{i}.attn_gated", (gate, out), **given)
        return self.node("JoinHeads", f"{name}.joined", (out,)) if per_head else out

    def products(self, i: int, x: str) -> Mapping[str, str]:
        """The queries `q` of x, and the keys `k` and values `v` of a layer that has its own."""
        lead, heads = f"blk.{i}", self.heads(i)
        if self.has(f"{lead}.attn_qkv.weight"):
            fused = self.linear(f"{lead}.attn_qkv", x)
            groups = heads.groups
            sizes = (heads.count * heads.size, groups * heads.size, groups * heads.value_size)
            parts = self.node("Split", f"{lead}.attn_parts", (fused,), 3, sizes=sizes)
        elif self.shared(i) is not None:
            parts = [self.linear(f"{lead}.attn_q", x)]
        else:
            parts = [self.linear(f"{lead}.attn_{one}", x) for one in "qk"]
            has_values = self.has(f"{lead}.attn_v.weight") or not self.kind.normalizes_values
            parts.append(self.linear(f"{lead}.attn_v", x) if has_values else parts[1])
        if self.get("attention.clamp_kqv"):
            limit = self.number("attention.clamp_kqv")
            parts = [
                self.node("Clamp", f"{lead}.attn_clamp.{one}", (part,), limit=limit)
                for one, part in zip("qkv", parts, strict=False)
            ]
        return dict(zip("qkv", parts, strict=False))

    def seen(self, i: int, own: Sequence[str]) -> Sequence[str]:
        """The keys and values that a layer sees: its own and cached ones, or an earlier layer's."""
        if not own:
            return f"blk.{self.shared(i)}.attention.1", f"blk.{self.shared(i)}.attention.2", "", ""
        return (*own, f"past.{i}.key", f"past.{i}.value") if self.remembers else (*own, "", "")

    def normed(self, i: int, one: str, x: str, is_whole: bool) -> str:
        """Queries or keys x (`one` is q or k) after their norm, if the file has one.

        Its weights tell whether it is over all heads together or over each head.
        """
        name, heads = f"blk.{i}.attn_{one}_norm", self.heads(i)
        if one == "v" or not self.has(f"{name}.weight"):
            return x
        shape = self.file.tensors[f"{name}.weight"].shape
        of_heads = ((heads.size,), (heads.count, heads.size), (heads.groups, heads.size))
        return self.norm(name, x) if (shape not in of_heads) == is_whole else x

    def normed_head(self, i: int, one: str, x: str) -> str:
        return self.normed(i, one, x, False)

    def turned_head(self, i: int, one: str, x: str) -> str:
        """Queries or keys x (`one` is q or k) after their rotation, if this layer has one."""
        if not self.rotates(i):
            return x
        turned = {"order": self.rotary, "size": self.turned(i)}
        return self.node("Rotate", f"blk.{i}.rotary.{one}", (x, *self.angles(i)), **turned)

    def leveled_head(self, i: int, one: str, x: str) -> str:
        """Rotated queries or keys after a norm without weights, if the model has one."""
        without = self.kind.normalizes_turned
        if without is None or without == self.count("expert_count") or not self.rotates(i):
            return x
        given = {"form": "rms", "epsilon": self.epsilon}
        return self.node("Norm", f"blk.{i}.attn_{one}_leveled", (x,), **given)

    def warmed(self, lead: str, q: str) -> str:
        """Queries q times a factor that grows with their positions; see the node `Temperature`."""
        kind, every = self.kind, self.original
        if kind.is_latent or kind.warms_unrotated:
            every = self.number("attention.temperature_length")
        return self.node(
            "Temperature",
            f"{lead}.attn_temperature",
            (q, "positions"),
            scale=self.number("attention.temperature_scale"),
            every=every,
            offset=1.0 if kind.warms_unrotated else 0.0,
        )

    def sinks(self, lead: str) -> Sequence[str]:
        """The scores that each head adds to its softmax, without a value, where there are any."""
        name = f"{lead}.attn_sinks.weight"
        return (self.weight(name),) if self.has(name) else ()

    def mask(self, window: int | None) -> str:
        """The name of the mask that is added to scores; "" if each token sees all others alike."""
        table = "blk.0.attn_rel_b.weight"
        if self.has(table):
            if "mask" not in {node.name for node in self.nodes}:
                count = self.integer("attention.relative_buckets_count")
                self.parameter(table, (count, self.heads(0).count))
                self.node("RelativeBias", "mask", ("positions", f"{table}:data"))
            return "mask"
        if not self.is_causal and not self.alibi and window is None:
            return ""
        name = "mask" if window is None else f"mask.{window}"
        if name not in {node.name for node in self.nodes}:
            given = {"window": window, "slopes": self.slopes(), "is_causal": self.is_causal}
            given["is_chunked"] = self.kind.is_chunked
            self.node("Mask", name, ("positions",), **given)
        return name

    def angles(self, i: int) -> tuple[str, str]:
        """The cosines and sines of all positions, for the heads of a layer."""
        is_local = self.window(i) is not None
        local = self.local_base() if is_local else None
        has_own = is_local and self.turned(i) != self.integer(
            "rope.dimension_count", self.turned(i)
        )
        name = "angles.local" if has_own or local is not None else "angles"
        names = f"{name}.0", f"{name}.1"
        if name in {node.name for node in self.nodes}:
            return names
        frequencies, size = self.frequencies(local, self.turned(i))
        inputs = ["positions"]
        given = [f for f in ("rope_factors_short", "rope_factors_long") if self.has(f"{f}.weight")]
        if local is None and len(given) == 2:
            inputs += [self.weight(f"{one}.weight") for one in given]
        elif local is None and self.has("rope_freqs.weight"):
            inputs.append(self.weight("rope_freqs.weight"))
        original = self.get("rope.scaling.original_context_length")
        given = {"frequencies": frequencies, "size": size, "original": original}
        given["has_more"] = self.kind.halves_rotation
        self.node("Angles", name, inputs, 2, **given)
        return names
