"""Small random models of many architectures, as bytes of GGUF files."""

import struct
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .shapes import EXPERTS, GROUPS, HEADS, HIDDEN, INNER, SHAPES, SIZE, STATE, WIDTH, WORDS

Shapes = Iterator[tuple[str, tuple[int, ...]]]
"""The names and shapes of tensors, in the order of the file."""


def file(name: str) -> bytes:
    """A file with a random model."""
    return container(*parts(name))


def parts(name: str) -> tuple[Mapping[str, Any], list[tuple[str, np.ndarray]]]:
    """The metadata and the tensors of a random model."""
    given, random = SHAPES[name], np.random.RandomState(len(name))
    tensors = [(key, _numbers(key, shape, random)) for key, shape in _tensors(given)]
    if given.get("alike"):
        # The router rates all experts much alike: for some tokens, all their sigmoids are near 0.
        tensors = [(k, x - 40 * x[:1] if "gate_inp." in k else x) for k, x in tensors]
    if given.get("soft"):
        # Scores are not scaled: those of random heads would make each softmax pick one token.
        tensors = [(k, x * np.float32(0.2) if "attn_q_norm" in k else x) for k, x in tensors]
    return _metadata(name.split()[0], given), tensors


def _numbers(key: str, shape: tuple[int, ...], random: np.random.RandomState) -> np.ndarray:
    numbers = random.standard_normal(shape).astype("f")
    is_near_one = any(part in key for part in ("norm", "rope_freqs", "layer_output_scale"))
    if is_near_one and not key.endswith("bias"):
        return 1 + numbers * np.float32(0.1)
    if key.endswith("ssm_a"):
        return -np.exp(numbers)
    return numbers * np.float32(0.2 if len(shape) > 1 else 0.1)


def _metadata(arch: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    heads, size = given.get("heads", HEADS), SIZE
    if given.get("bare_mixers"):
        heads = [heads * ("attention" in one) for one in given["mixers"].split()]
    norm = "layer_norm_epsilon" if given.get("norm") == "layer" else "layer_norm_rms_epsilon"
    found = {
        "context_length": 64, "embedding_length": given.get("width", WIDTH),
        "block_count": _layers(given) + bool(given.get("further")), "vocab_size": WORDS,
        "feed_forward_length": HIDDEN, "attention.head_count": heads,
        "attention.head_count_kv": _groups(given), f"attention.{norm}": given.get("epsilon", 1e-5),
    }  # fmt: skip
    if given.get("further"):
        found["nextn_predict_layers"] = 1
    if given.get("rope", True):
        found |= {"rope.dimension_count": size, "rope.freq_base": 1e4}
    if given.get("experts"):
        found |= EXPERTS
    named = {f"{arch}.{key}": value for key, value in (found | given.get("more", {})).items()}
    types = {"tokenizer.ggml.token_type_count": 2} if given.get("types") else {}
    general = {"general.architecture": arch, "tokenizer.ggml.model": "none"}
    return general | given.get("general", {}) | types | named


def _groups(given: Mapping[str, Any]) -> int | list[int]:
    """The number of heads of keys, or those of each layer where not all layers have attention."""
    groups = given.get("heads_kv", GROUPS)
    if "mixers" not in given or "delta" in given["mixers"]:
        return groups
    return [groups * ("attention" in one) for one in given["mixers"].split()]


def _layers(given: Mapping[str, Any]) -> int:
    return given.get("layers", 2)


def _tensors(given: Mapping[str, Any]) -> Shapes:
    width = given.get("width", WIDTH)
    yield from _embeddings(given, width)
    if given.get("final", True) or "last" in given:
        last = given.get("prefix", "") + given.get("last", "output_norm")
        yield from _norm(given, last, width)
        if not given.get("tied"):
            yield from _linear(given, "output", WORDS, width, "logits")
    if given.get("own_width"):
        own = given["own_width"]
        yield "per_layer_token_embd.weight", (WORDS, own * _layers(given))
        yield "per_layer_model_proj.weight", (own * _layers(given), width)
        yield "per_layer_proj_norm.weight", (own,)
    if "frequencies" in given:
        yield "rope_freqs.weight", (given["frequencies"] // 2,)
    yield from _classifier(given, width)
    if given.get("dense"):
        yield "dense_2.weight", (given["more"]["dense_2_feat_out"], width)
        yield "dense_3.weight", (width, given["more"]["dense_2_feat_out"])
    prefix = given.get("prefix", "")
    if "buckets" in given:
        yield f"{prefix}blk.0.attn_rel_b.weight", (given["buckets"], HEADS)
    for i in range(_layers(given) + bool(given.get("further"))):
        for name, shape in _layer(given, i, width):
            own = name.replace("attn_output", "attn_o") if prefix else name
            yield f"{prefix}blk.{i}.{own}", shape
    if given.get("further"):
        lead = f"blk.{_layers(given)}.nextn"
        yield f"{lead}.eh_proj.weight", (width, 2 * width)
        for name in ("enorm", "hnorm"):
            yield f"{lead}.{name}.weight", (width,)


def _embeddings(given: Mapping[str, Any], width: int) -> Shapes:
    yield "token_embd.weight", (WORDS, width)
    if given.get("positions"):
        yield "position_embd.weight", (64, width)
    if given.get("types"):
        yield "token_types.weight", (2, width)
    if "also" in given:
        yield "token_embd_norm.weight", (width,)
        if not given.get("starts_bare"):
            yield "token_embd_norm.bias", (width,)


def _classifier(given: Mapping[str, Any], width: int) -> Shapes:
    for name in given.get("classifier", "").split():
        labels = len(given["more"].get("classifier.output_labels", "1"))
        shapes = {"cls": (width, width), "cls.norm": (width,), "cls.output": (labels, width)}
        yield f"{name}.weight", shapes[name]
        if name == "cls.output" and "classifier" in given.get("bias", ""):
            yield f"{name}.bias", (labels,)


def _norm(given: Mapping[str, Any], name: str, width: int) -> Shapes:
    if not given.get("bare"):
        yield f"{name}.weight", (width,)
        if "norm" in given.get("bias", ""):
            yield f"{name}.bias", (width,)


def _linear(given: Mapping[str, Any], name: str, rows: int, columns: int, kind: str) -> Shapes:
    yield f"{name}.weight", (rows, columns)
    if set(kind.split()) & set(given.get("bias", "").split()):
        yield f"{name}.bias", (rows,)


def _layer(given: Mapping[str, Any], i: int, width: int) -> Shapes:
    mixers = given["mixers"].split()[i] if "mixers" in given else "attention"
    yield from _layer_norms(given, i, mixers, width)
    for mixer in mixers.split("+"):
        if mixer != "none":
            yield from _MIXERS[mixer](given | {"at": i}, width)
    yield from _scales(given, width)
    if "fed" not in given or given["fed"] == mixers:
        yield from _feed_forward(given, i, width)


def _layer_norms(given: Mapping[str, Any], i: int, mixers: str, width: int) -> Shapes:
    for name in (given.get("first", "attn_norm"), given.get("second", "ffn_norm")):
        if name == "ffn_norm" and given.get("nameless"):
            yield name, (width,)
        elif name == "attn_norm" and given.get("bare_mixers") == mixers:
            continue
        elif name is not None and not (name == "attn_norm" and i == 0 and given.get("starts_bare")):
            yield from _norm(given, name, width)
    for name in given.get("after", "").split():
        if given.get("bare_after"):
            yield name, (width,)
        else:
            yield from _norm(given, name, width)


def _scales(given: Mapping[str, Any], width: int) -> Shapes:
    """What some architectures have between a layer's mixer and its feed-forward network."""
    if given.get("sub_norms"):
        yield "attn_sub_norm.weight", (width,)
        yield "ffn_sub_norm.weight", (HIDDEN,)
    for name in given.get("scaled", "").split():
        yield f"{name}.scale", (1,)
    if given.get("own_width"):
        yield "inp_gate.weight", (given["own_width"], width)
        yield "proj.weight", (width, given["own_width"])
        yield "post_norm.weight", (width,)
    if given.get("layer_scale"):
        yield "layer_output_scale.weight", (1,)
    if given.get("both"):
        for name in ("pre_ffw_norm_2", "post_ffw_norm_1", "post_ffw_norm_2"):
            yield f"{name}.weight", (width,)
        yield "ffn_gate_inp.scale", (width,)
        yield "ffn_down_exps.scale", (EXPERTS["expert_count"],)
        for one in ("gate", "up", "down"):
            yield f"ffn_{one}.weight", (width, HIDDEN) if one == "down" else (HIDDEN, width)


def _feed_forward(given: Mapping[str, Any], i: int, width: int) -> Shapes:
    has_experts = {"all": True, "later": i > 0, "odd": i % 2 == 1}.get(given.get("experts", ""))
    if has_experts:
        yield from _experts(given, width)
    if given.get("both_ways"):
        yield "ffn_norm_exps.weight", (width,)
        for one in ("gate", "up", "down"):
            yield f"ffn_{one}.weight", (width, width)
    if has_experts and not given.get("beside"):
        return
    if given.get("joined"):
        yield "ffn_up.weight", (2 * HIDDEN, width)
    else:
        for one in ("gate", "up") if given.get("gated", True) else ("up",):
            yield from _linear(given, f"ffn_{one}", HIDDEN, width, "ffn")
    yield from _linear(given, "ffn_down", width, HIDDEN, "ffn down")


def _attention(given: Mapping[str, Any], width: int) -> Shapes:
    heads, groups = given.get("heads", HEADS), given.get("heads_kv", GROUPS)
    if "each_heads" in given:
        heads, groups = given["each_heads"][given["at"]], given["each_groups"][given["at"]]
    pattern, size = given.get("more", {}).get("attention.sliding_window_pattern"), SIZE
    if pattern and not pattern[given["at"]]:
        size = given["more"].get("attention.key_length", SIZE)
    rows = {
        "q": heads * size * (2 if given.get("gate") else 1),
        "k": groups * size,
        "v": groups * size,
    }
    shares = given["at"] + given.get("shared_layers", 0) >= _layers(given) > given["at"]
    if shares or not given.get("values", True):
        rows = {one: rows[one] for one in ("q" if shares else "qk")}
    if given.get("latent"):
        yield from _latent(given, width)
    elif given.get("fused"):
        yield from _linear(given, "attn_qkv", sum(rows.values()), width, "qkv")
    else:
        for one, count in rows.items():
            yield from _linear(given, f"attn_{one}", count, width, "qkv")
    yield from _linear(given, "attn_output", width, heads * size, "output")
    if given.get("head_norms"):
        for one, count in (("q", heads), ("k", groups))[: 1 if shares else 2]:
            shapes = {"same": (size,), "each": (count, SIZE), "whole": (count * SIZE,)}
            yield f"attn_{one}_norm.weight", shapes[given["head_norms"]]
    if given.get("opened"):
        each = 1 if given["opened"] == "heads" else SIZE
        yield "attn_gate.weight", (heads * each, width)
    if given.get("sinks"):
        yield "attn_sinks.weight", (heads,)


def _short(given: Mapping[str, Any], width: int) -> Shapes:
    yield "shortconv.in_proj.weight", (3 * width, width)
    yield "shortconv.conv.weight", (width, given["more"]["shortconv.l_cache"])
    yield "shortconv.out_proj.weight", (width, width)


def _mamba(given: Mapping[str, Any], width: int) -> Shapes:
    rank = given["more"]["ssm.time_step_rank"]
    yield "ssm_in.weight", (2 * INNER, width)
    yield from _linear(given, "ssm_conv1d", INNER, 4, "conv")
    yield "ssm_x.weight", (rank + 2 * STATE, INNER)
    yield from _linear(given, "ssm_dt", INNER, rank, "dt")
    yield "ssm_a", (INNER, STATE)
    yield "ssm_d", (INNER,)
    yield "ssm_out.weight", (width, INNER)
    if given.get("mamba_norms"):
        for name, size in (("dt", rank), ("b", STATE), ("c", STATE)):
            yield f"ssm_{name}_norm.weight", (size,)


def _grouped(given: Mapping[str, Any], width: int) -> Shapes:
    heads, groups = given["more"]["ssm.time_step_rank"], given["more"]["ssm.group_count"]
    mixed = INNER + 2 * groups * STATE
    yield "ssm_in.weight", (INNER + mixed + heads, width)
    yield from _linear(given, "ssm_conv1d", mixed, 4, "conv")
    yield "ssm_dt.bias", (heads,)
    yield "ssm_a", (heads, 1)
    yield "ssm_d", (heads, 1)
    yield "ssm_norm.weight", (groups, INNER // groups)
    yield "ssm_out.weight", (width, INNER)


def _delta(given: Mapping[str, Any], width: int) -> Shapes:
    heads, groups = given["more"]["ssm.time_step_rank"], given["more"]["ssm.group_count"]
    mixed, paired = INNER + 2 * groups * STATE, given.get("paired", "").split()
    if "in" in paired:
        yield "ssm_in.weight", (mixed + INNER, width)
    else:
        yield "attn_qkv.weight", (mixed, width)
        yield "attn_gate.weight", (INNER, width)
    yield "ssm_conv1d.weight", (mixed, 4)
    if "ba" in paired:
        yield "ssm_ba.weight", (2 * heads, width)
    else:
        yield "ssm_beta.weight", (heads, width)
        yield "ssm_alpha.weight", (heads, width)
    yield "ssm_dt.bias", (heads,)
    yield "ssm_a", (heads,)
    yield "ssm_norm.weight", (STATE,)
    yield "ssm_out.weight", (width, INNER)


def _rwkv(given: Mapping[str, Any], width: int) -> Shapes:
    more, gate = given["more"], given["more"]["attention.gate_lora_rank"]
    ranks = {"w": "decay", "a": "iclr", "v": "value_residual_mix"}
    yield "time_mix_lerp_fused.weight", (6, 1, 1, width)
    for one, name in ranks.items():
        # The first layer has a matrix that it does not use, of another rank.
        name = "iclr" if one == "v" and given["at"] == 0 else name
        rank = more[f"attention.{name}_lora_rank"]
        yield f"time_mix_{one}0.weight", (width,)
        yield f"time_mix_{one}1.weight", (rank, width)
        yield f"time_mix_{one}2.weight", (width, rank)
    yield "time_mix_g1.weight", (gate, width)
    yield "time_mix_g2.weight", (width, gate)
    for one in ("k_k", "k_a", "r_k"):
        yield f"time_mix_{one}.weight", (width,)
    for one in ("key", "value", "receptance", "output"):
        yield f"time_mix_{one}.weight", (width, width)
    yield "time_mix_ln.weight", (width,)
    yield "time_mix_ln.bias", (width,)
    yield "channel_mix_lerp_k.weight", (1, 1, width)
    yield "channel_mix_key.weight", (HIDDEN, width)
    yield "channel_mix_value.weight", (width, HIDDEN)


def _latent(given: Mapping[str, Any], width: int) -> Shapes:
    latent, query, turned = given["latent"], given["query"], 4
    if query:
        yield "attn_q_a.weight", (query, width)
        yield "attn_q_a_norm.weight", (query,)
    name = "attn_q_b.weight" if query else "attn_q.weight"
    yield name, (HEADS * (SIZE + turned), query or width)
    yield "attn_kv_a_mqa.weight", (latent + turned, width)
    yield "attn_kv_a_norm.weight", (latent,)
    if given["split"]:
        yield "attn_k_b.weight", (HEADS, latent, SIZE)
        yield "attn_v_b.weight", (HEADS, SIZE, latent)
    else:
        yield "attn_kv_b.weight", (HEADS * 2 * SIZE, latent)


def _experts(given: Mapping[str, Any], width: int) -> Shapes:
    count, hidden = (
        given.get("count", EXPERTS["expert_count"]),
        EXPERTS["expert_feed_forward_length"],
    )
    yield from _linear(given, "ffn_gate_inp", count, width, "experts")
    own = given.get("latent_experts", width)
    if "latent_experts" in given:
        yield "ffn_latent_down.weight", (own, width)
        yield "ffn_latent_up.weight", (width, own)
    for one in ("gate", "up", "down") if given.get("gated", True) else ("up", "down"):
        rows, columns = (own, hidden) if one == "down" else (hidden, own)
        if not given.get("fused_experts") or one == "down":
            yield f"ffn_{one}_exps.weight", (count, rows, columns)
        elif one == "gate":
            yield "ffn_gate_up_exps.weight", (count, 2 * rows, columns)
        if "experts" in given.get("bias", ""):
            yield f"ffn_{one}_exps.bias", (count, rows)
        if given.get("shared"):
            shape = (width, hidden) if one == "down" else (hidden, width)
            yield f"ffn_{one}_shexp.weight", shape
    if given.get("probabilities"):
        bare = given["probabilities"] == "bare"
        yield "exp_probs_b" if bare else "exp_probs_b.bias", (count,)
    if given.get("share"):
        yield "ffn_gate_inp_shexp.weight", (width,)


_MIXERS = {
    "attention": _attention, "short": _short, "mamba": _mamba, "grouped": _grouped, "delta": _delta,
    "rwkv": _rwkv,
}  # fmt: skip


# -- the container ---------------------------------------------------------------------------------


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Any) -> bytes:
    """A number, text, or list of numbers of one kind, after its type."""
    if isinstance(value, list) and isinstance(value[0], str):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    if isinstance(value, list):
        kind, letter = {bool: (7, "?"), int: (5, "i"), float: (6, "f")}[type(value[0])]
        return struct.pack(f"<IIQ{len(value)}{letter}", 9, kind, len(value), *value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + text(value)
    if isinstance(value, bool):
        return struct.pack("<IB", 7, value)
    return struct.pack("<II", 4, value) if isinstance(value, int) else struct.pack("<If", 6, value)


def container(
    metadata: Mapping[str, Any],
    tensors: list[tuple[str, np.ndarray]],
    packed: Mapping[str, tuple[int, np.ndarray]] | None = None,
) -> bytes:
    """A file of f32 tensors; of those in `packed`, ggml's kind and the bytes are given."""
    found = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(metadata))
    for key, value in metadata.items():
        found += text(key) + _value(value)
    at, data = 0, b""
    for name, numbers in tensors:
        shape = numbers.shape[::-1]
        kind, kept = (packed or {}).get(name, (0, numbers))
        found += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, at)
        part = kept.tobytes()
        data += part + bytes(-len(part) % 32)
        at = len(data)
    return found + bytes(-len(found) % 32) + data
