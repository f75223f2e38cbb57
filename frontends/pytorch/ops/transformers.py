"""PyTorch's fused transformer layers for inference, one operator each."""

from __future__ import annotations

from ...common.vocabulary import *
from ..layer import AtenLayer
from ..rows import ROWS
from .activations import gelu
from .normalization import layer_norm
from .products import attention, linear
from .views import unsqueeze


@ROWS("aten._transformer_encoder_layer_fwd")
def encoder_layer(
    n: AtenLayer,
    src: Value,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Value,
    qkv_bias: Value,
    proj_weight: Value,
    proj_bias: Value,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Value,
    norm_bias_1: Value,
    norm_weight_2: Value,
    norm_bias_2: Value,
    ffn_weight_1: Value,
    ffn_bias_1: Value,
    ffn_weight_2: Value,
    ffn_bias_2: Value,
    mask: Value | None = None,
    mask_type: int | None = None,
) -> Value:
    """An encoder layer on [batch, tokens, embed_dim], like `nn.TransformerEncoderLayer`."""

    def mixed(x: Value) -> Value:
        return self_attention(
            n, x, num_heads, (qkv_weight, qkv_bias), (proj_weight, proj_bias), mask, mask_type
        )

    def fed_forward(x: Value) -> Value:
        inner = linear(n, x, ffn_weight_1, ffn_bias_1)
        inner = gelu(n, inner) if use_gelu else n(nn.Relu(inner))
        return linear(n, inner, ffn_weight_2, ffn_bias_2)

    width = n.int(n.size(ffn_weight_2, 0))
    x = n.reshape(src, [n.size(src, 0), n.size(src, 1), width])
    for part, scale, shift in (
        (mixed, norm_weight_1, norm_bias_1),
        (fed_forward, norm_weight_2, norm_bias_2),
    ):
        if norm_first:
            x = n(nn.Add(x, part(layer_norm(n, x, [width], scale, shift, eps)[0])))
        else:
            x = layer_norm(n, n(nn.Add(x, part(x))), [width], scale, shift, eps)[0]
    return x


@ROWS("aten._native_multi_head_attention")
def multi_head_attention(
    n: AtenLayer,
    query: Value,
    key: Value,
    value: Value,
    embed_dim: int,
    num_head: int,
    qkv_weight: Value,
    qkv_bias: Value,
    proj_weight: Value,
    proj_bias: Value,
    mask: Value | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> list:
    """Self-attention on [batch, tokens, embed_dim], without returning attention weights."""
    if query is not key or key is not value:
        raise n.error("query, key and value that are not the same tensor are not supported")
    if need_weights:
        raise n.error("weights of attention as an output are not supported")
    qkv, projection = (qkv_weight, qkv_bias), (proj_weight, proj_bias)
    return [self_attention(n, query, num_head, qkv, projection, mask, mask_type), None]


def self_attention(
    n: AtenLayer,
    x: Value,
    heads: int,
    qkv: tuple[Value, Value],
    projection: tuple[Value, Value],
    mask: Value | None,
    mask_type: int | None,
) -> Value:
    """Self-attention on [batch, tokens, width]; positions where the mask is true are hidden.

    `mask_type` is 0 for [tokens, tokens], 1 for [batch, tokens], 2 for all four dimensions.
    """
    batch, tokens, width = n.size(x, 0), n.size(x, 1), n.int(n.size(projection[0], 0))
    split = n.reshape(linear(n, x, *qkv), [batch, tokens, 3, heads, width // heads])
    split = n(nn.Transpose(split, permutation=(2, 0, 3, 1, 4)))
    q, k, v = (gathered(n, split, n.constant(i), 0) for i in range(3))
    seen = None if mask is None else _seen(n, mask, mask_type)
    out = n(nn.Transpose(attention(n, q, k, v, seen), permutation=(0, 2, 1, 3)))
    return linear(n, n.reshape(out, [batch, tokens, width]), *projection)


def _seen(n: AtenLayer, mask: Value, mask_type: Any) -> Value:
    """A mask that is true where keys are visible, from one that is true where they are hidden."""
    seen = (
        Term(n, mask).equals(0).value
        if mask.type.element_type is not i1
        else (~Term(n, mask)).value
    )
    return unsqueeze(n, unsqueeze(n, seen, 1), 1) if mask_type == 1 else seen
