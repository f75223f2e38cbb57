"""The nodes of feed-forward parts: gated networks, and mixtures of experts."""

from __future__ import annotations

import math

from .nodes import Nodes


class FeedForward(Nodes):
    """Builds the feed-forward parts of a model's layers; `lead` is "blk.N", the layer's name."""

    def feed_forward(self, lead: str, x: str, operand: str) -> str:
        """The result of a layer's feed-forward part; `operand` is what the layer reads."""
        if self.has(f"{lead}.ffn_norm_exps.weight"):
            routed = self.experts(lead, self.norm(f"{lead}.ffn_norm_exps", operand))
            return self.node("Sum", f"{lead}.ffn_both", (self.gated(lead, x), routed))
        if self.has(f"{lead}.ffn_gate_inp.weight"):
            return self.experts(lead, x, operand if self.kind.routes_operands else None)
        return self.gated(lead, x)

    def gated(self, lead: str, x: str, of: str = "") -> str:
        """A gated feed-forward network; `of` distinguishes that of a shared expert."""
        up = self.linear(f"{lead}.ffn_up{of}", x)
        activation = self.activation
        if not self.is_gated:
            given = {"function": activation, "numbers": self.activation_numbers(lead)}
            hidden = self.node("Activation", f"{lead}.ffn_act{of}", (up,), **given)
        elif self.has(f"{lead}.ffn_gate{of}.weight"):
            gate = self.sparse(lead, self.linear(f"{lead}.ffn_gate{of}", x))
            limit = self.limit(lead, "swiglu_clamp_shexp")
            given = {"function": activation, "limit": limit}
            hidden = self.node("Gate", f"{lead}.ffn_act{of}", (gate, up), **given)
        else:
            half = self.file.tensors[f"{lead}.ffn_up{of}.weight"].shape[0] // 2
            parts = self.node("Split", f"{lead}.ffn_parts{of}", (up,), 2, sizes=(half, half))
            hidden = self.node("Gate", f"{lead}.ffn_act{of}", parts, function=activation)
        if self.has(f"{lead}.ffn_sub_norm.weight") and not of:
            hidden = self.norm(f"{lead}.ffn_sub_norm", hidden)
        return self.linear(f"{lead}.ffn_down{of}", hidden)

    def limit(self, lead: str, key: str) -> float | None:
        """The largest result of a layer's gates, and size of what they let through; or None."""
        given, i = self.get(key), int(lead.removeprefix("blk."))
        limit = given[i] if isinstance(given, list) and i < len(given) else given
        if not limit:
            return None
        if self.activation != "silu" or not isinstance(limit, float) or not 0 < limit < math.inf:
            raise self.source.error(f"gates of layer {i} that are limited to {limit}")
        return limit

    def sparse(self, lead: str, gate: str) -> str:
        """A layer's gates, of which only those far above the mean remain in sparse layers."""
        given = self.get("activation_sparsity_scale")
        if given is None:
            return gate
        i = int(lead.removeprefix("blk."))
        factor = given[i] if isinstance(given, list) and i < len(given) else given
        if factor == -math.inf:
            return gate
        if not isinstance(factor, float) or not math.isfinite(factor):
            raise self.source.error(f"the gates of layer {i} are {factor} deviations from the mean")
        return self.node("Sparse", f"{lead}.ffn_gate.sparse", (gate,), factor=factor)

    def both_networks(self, lead: str, x: str) -> str:
        """The sum of a gated network and a mixture of experts, each between norms of its own."""
        first = self.gated(lead, self.norm(f"{lead}.ffn_norm", x))
        first = self.norm(f"{lead}.post_ffw_norm_1", first)
        routed = self.node(
            "Norm", f"{lead}.ffn_routed", (x,), form=self.norm_form, epsilon=self.epsilon
        )
        scales = self.weight(f"{lead}.ffn_gate_inp.scale")
        routed = self.node("Product", f"{lead}.ffn_routed.scaled", (routed, scales))
        factor = 1 / math.sqrt(self.width)
        routed = self.node("Scale", f"{lead}.ffn_routed.factor", (routed,), factor=factor)
        second = self.experts(lead, self.norm(f"{lead}.pre_ffw_norm_2", x), routed)
        second = self.norm(f"{lead}.post_ffw_norm_2", second)
        return self.node("Sum", f"{lead}.ffn_both", (first, second))

    def experts(self, lead: str, x: str, routed: str | None = None) -> str:
        """A mixture of experts: each token is sent to some, and perhaps to a shared one.

        What chooses them is a product with x, or with `routed` if given.
        """
        bias = self.bias(f"{lead}.exp_probs_b")
        if self.has(f"{lead}.exp_probs_b"):  # So it is named in files of Hunyuan 3.
            bias = (self.weight(f"{lead}.exp_probs_b"),)
        # Files that do not say it are of GLM 4.7 if there is a bias, else of DeepSeek V2.
        default = 2 if self.kind.is_latent and bias else self.kind.gating
        gating = self.count("expert_gating_func") or default
        if gating not in (1, 2, 3):
            raise self.source.error(f"experts are weighted by function {gating}: not supported")
        count, used = self.integer("expert_count"), self.integer("expert_used_count")
        if used > count:
            raise self.source.error(f"{used} of {count} experts are used")
        groups = self.expert_groups(count, used)
        logits = self.linear(f"{lead}.ffn_gate_inp", routed or x)
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
        of = "" if self.kind.has_network_beside else "_shexp"
        if not self.has(f"{lead}.ffn_up{of}.weight"):
            return out
        shared = self.gated(lead, x, of)
        if self.has(f"{lead}.ffn_gate_inp_shexp.weight"):
            weight = self.weight(f"{lead}.ffn_gate_inp_shexp.weight")
            inputs = (x, shared, weight)
            shared = self.node("SharedShare", f"{lead}.ffn_gate_inp_shexp", inputs)
        out = self.node("Sum", f"{lead}.ffn_out", (out, shared))
        if self.kind.shared_factor == 1:
            return out
        factor = self.kind.shared_factor
        return self.node("Scale", f"{lead}.ffn_out.scaled", (out,), factor=factor)

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
        given["function"] = self.kind.expert_function or self.activation
        given["weighs_operands"] = self.kind.weighs_operands
        given["limit"] = self.limit(lead, "swiglu_clamp_exp")
        scale = f"{stems[-1]}.scale"
        scales = self.weight(scale) if self.has(scale) else ""
        inputs = (x, shares, scales, *weights, *biases)
        return self.node("Experts", f"{lead}.ffn_exps", inputs, **given)

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
