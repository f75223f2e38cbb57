"""Parts of language models as `torch.nn` modules: masks, positions, caches and states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from .cases import Subject
from .pytorch_modules import Block, Part, part_subject


class Causal(nn.Module):
    """Causal attention with tied embeddings and a mask in a buffer."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.tokens, self.places = nn.Embedding(11, 8), nn.Embedding(16, 8)
        self.qkv, self.norm = nn.Linear(8, 24), nn.LayerNorm(8)
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.tokens.weight
        self.register_buffer("mask", torch.tril(torch.ones(16, 16)).view(1, 1, 16, 16))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        n, t = ids.size()
        x = self.tokens(ids) + self.places(torch.arange(t, device=ids.device))
        q, k, v = (y.view(n, t, 2, 4).transpose(1, 2) for y in self.qkv(self.norm(x)).split(8, 2))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / 4**0.5)
        mask = self.mask[:, :, :t, :t]
        if self.how == "first":
            scores = scores.masked_fill(mask == 0, float("-inf"))
        elif self.how == "second":
            scores = torch.where(mask.bool(), scores, torch.finfo(scores.dtype).min)
        else:
            scores = scores + (1 - mask) * -1e4
        y = (scores.softmax(-1) @ v).transpose(1, 2).contiguous().view(n, t, 8)
        return self.head(self.norm(x + y)[:, -1:])


class Rotated(nn.Module):
    """Grouped-query attention with rotary embeddings and a cache of keys and values."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.q, self.k, self.v = nn.Linear(8, 8, False), nn.Linear(8, 4, False), nn.Linear(8, 4)
        self.scale = nn.Parameter(torch.ones(8))
        self.register_buffer("rates", 1.0 / 100 ** (torch.arange(0, 4, 2).float() / 4))

    def turned(self, x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        angles = at[:, None].float() * self.rates[None].float()
        angles = torch.cat([angles, angles], -1)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        if self.how == "second":
            pairs = torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)
            return x * cos + pairs * sin
        one, two = x.chunk(2, -1)
        return x * cos + torch.cat((-two, one), -1) * sin

    def forward(self, x: torch.Tensor, old: torch.Tensor) -> tuple[torch.Tensor, ...]:
        n, t, _ = x.shape
        wide = x.float()
        y = (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * self.scale
        past = old.shape[2]
        at = torch.arange(past, past + t)
        q = self.turned(self.q(y).view(n, t, 2, 4).transpose(1, 2), at)
        k = self.turned(self.k(y).view(n, t, 1, 4).transpose(1, 2), at)
        k = torch.cat([old, k], 2)
        v = torch.cat([old * 2, self.v(y).view(n, t, 1, 4).transpose(1, 2)], 2)
        if self.how == "third":
            mask = torch.arange(past + t)[None] <= at[:, None]
            out = F.scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)
        else:
            every = [
                x[:, :, None].expand(n, 1, 2, past + t, 4).reshape(n, 2, -1, 4) for x in (k, v)
            ]
            mask = torch.full((t, past + t), float("-inf"), dtype=x.dtype).triu(past + 1)
            out = F.scaled_dot_product_attention(q, *every, attn_mask=mask, scale=0.4)
        return out.transpose(1, 2).flatten(2), k


class Relative(nn.Module):
    """Attention with a bias by relative position, in buckets of growing width (as T5)."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.table, self.q, self.wi, self.wo = (
            nn.Embedding(8, 2),
            nn.Linear(8, 8, bias=False),
            nn.Linear(8, 16, bias=False),
            nn.Linear(8, 8, bias=False),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, t, _ = x.shape
        at = torch.arange(t)
        away = at[None, :] - at[:, None]
        if self.how == "second":
            slopes = torch.tensor([2**-1.0, 2**-2.0], dtype=x.dtype)
            bias = -away.abs()[None] * slopes[:, None, None]
        else:
            buckets = (away > 0).long() * 4
            far = away.abs()
            large = 2 + (torch.log(far.float() / 2) / torch.log(torch.tensor(4.0)) * 2).long()
            buckets += torch.where(far < 2, far, torch.min(large, torch.full_like(large, 3)))
            bias = self.table(buckets).permute(2, 0, 1)
        q = self.q(x).view(n, t, 2, 4).transpose(1, 2)
        scores = torch.einsum("bhqd,bhkd->bhqk", q, q) + bias
        y = torch.matmul(scores.float().softmax(-1).type_as(scores), q)
        gate, up = self.wi(y.transpose(1, 2).reshape(n, t, 8)).chunk(2, -1)
        return x + self.wo(F.gelu(gate, approximate="tanh") * up)


class Encoded(nn.Module):
    """An encoder with token types, a padding mask, and a pooled first token (as BERT)."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.words = nn.Embedding(11, 8, padding_idx=0)
        self.kinds, self.norm = nn.Embedding(2, 8), nn.LayerNorm(8, 1e-12)
        layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", batch_first=how != "second")
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.pool = nn.Linear(8, 8)

    def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, ...]:
        pad = ids == 0
        kinds = torch.zeros_like(ids)
        kinds[:, 2:] = 1
        x = self.norm(self.words(ids) + self.kinds(kinds))
        if self.how == "third":
            pad = pad.to(x.dtype) * -1e4
        x = x.transpose(0, 1) if self.how == "second" else x
        y = self.layers(x, src_key_padding_mask=pad)
        y = y.transpose(0, 1) if self.how == "second" else y
        kept = (ids != 0).unsqueeze(-1).to(y.dtype)
        return torch.tanh(self.pool(y[:, 0])), (y * kept).sum(1) / kept.sum(1).clamp(min=1e-9)


class Decoded(nn.Module):
    """A decoder with cross-attention to another sequence, and masks."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        layer = nn.TransformerDecoderLayer(
            8, 2, 16, 0.0, batch_first=True, norm_first=how != "second"
        )
        self.layers = nn.TransformerDecoder(layer, 2, nn.LayerNorm(8))

    def forward(self, x: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        t = x.shape[1]
        if self.how == "third":
            mask = nn.Transformer.generate_square_subsequent_mask(t, dtype=x.dtype)
            return self.layers(x, memory, tgt_mask=mask, tgt_is_causal=True)
        mask = torch.ones(t, t, dtype=torch.bool).triu(1)
        pad = torch.arange(memory.shape[1])[None] >= memory.shape[1] - 1
        pad = pad.expand(memory.shape[0], -1)
        return self.layers(
            x, memory, tgt_mask=mask, memory_key_padding_mask=pad, tgt_is_causal=False
        )


class Attended(nn.Module):
    """`nn.MultiheadAttention` with masks of each kind, and its weights as outputs."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        more = {"second": {"kdim": 6, "vdim": 5}, "third": {"add_bias_kv": True}}.get(how, {})
        self.layer = nn.MultiheadAttention(8, 2, batch_first=how != "fourth", **more)
        self.more = nn.Linear(8, 11)

    def forward(self, x: torch.Tensor) -> Any:
        if self.how == "second":
            k, v = self.more(x).split([6, 5], -1)
            return self.layer(x, k, v, average_attn_weights=False)
        if self.how == "third":
            rows = x.shape[1]
            mask = torch.randn(rows, rows, generator=None).to(x.dtype) * 0 + 0.5
            return self.layer(x, x, x, attn_mask=mask.tril(), need_weights=True)
        if self.how == "fourth":
            return self.layer(x, x, x, need_weights=False)[0]
        mask = torch.zeros(x.shape[:2], dtype=torch.bool)
        mask[:, -1] = True
        return self.layer(x, x, x, key_padding_mask=mask)


class Remembered(nn.Module):
    """Stacked recurrent layers with given initial states."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.gru = nn.GRU(8, 5, bidirectional=True, batch_first=True)
        self.lstm = nn.LSTM(10, 4, 2, proj_size=3 if how == "second" else 0)
        self.cell = nn.GRUCell(8, 8) if how != "third" else nn.LSTMCell(8, 8)

    def forward(self, x: torch.Tensor) -> Any:
        n = x.shape[0]
        y, last = self.gru(x, x.new_full((2, n, 5), 0.3))
        z, (h, c) = self.lstm(y.transpose(0, 1))
        z, _ = self.lstm(y.transpose(0, 1).flip(0), (h, c))
        state: Any = torch.zeros_like(x[:, 0])
        other = state + 0.1
        steps = []
        for i in range(3):
            if self.how == "third":
                state, other = self.cell(x[:, i], (state, other))
            else:
                state = self.cell(x[:, i], state)
            steps.append(state)
        return torch.stack(steps, 1), z[-1], last[-1]


class Waves(nn.Module):
    """Gated dilated causal convolutions (as WaveNet)."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.gates = nn.ModuleList(
            nn.Conv1d(8, 16, 2, dilation=d, padding=d if how == "second" else 0) for d in (1, 2)
        )
        self.side, self.norm = nn.Conv1d(8, 8, 1), nn.InstanceNorm1d(8, affine=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, total = x.mT, 0
        for conv in self.gates:
            d = conv.dilation[0]
            z = conv(y)[..., :-d] if self.how == "second" else conv(F.pad(y, (d, 0)))
            z = F.glu(z, 1) if self.how == "third" else z[:, :8].tanh() * z[:, 8:].sigmoid()
            total = total + self.side(z)
            y = y + z
        return self.norm(total).transpose(1, 2)


class Scanned(nn.Module):
    """A state-space recurrence, step by step or by cumulative sums."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.rate, self.b, self.c = nn.Linear(8, 8), nn.Linear(8, 3), nn.Linear(8, 3)
        self.a = nn.Parameter(torch.arange(1.0, 4.0).log().repeat(8, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rate, b, c = F.softplus(self.rate(x)), self.b(x), self.c(x)
        decay = rate[..., None] * -torch.exp(self.a.float()).to(x.dtype)
        new = rate[..., None] * b[:, :, None] * x[..., None]
        if self.how == "first":
            total = decay.cumsum(1)
            away = (total[:, :, None] - total[:, None]).exp()
            keep = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
            away = away.masked_fill(~keep[None, :, :, None, None], 0)
            return torch.einsum("btsdn,bsdn,btn->btd", away, new, c)
        state, found = x.new_zeros(x.shape[0], 8, 3), torch.zeros_like(x)
        for i in range(3):
            state = state * decay[:, i].exp() + new[:, i]
            if self.how == "second":
                found[:, i] = torch.einsum("bdn,bn->bd", state, c[:, i])
            else:
                found[:, i, :] += (state @ c[:, i].unsqueeze(-1)).squeeze(-1)
        return found


class Routed(nn.Module):
    """A mixture of experts: each token is computed by the best of several networks."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.gate, self.nets = nn.Linear(8, 3), nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        flat = x.reshape(-1, 8)
        weights, which = self.gate(flat).float().softmax(-1).topk(2)
        weights = (weights / weights.sum(-1, keepdim=True)).to(x.dtype)
        if self.how == "first":
            shares = torch.zeros(flat.shape[0], 3, dtype=x.dtype).scatter_(1, which, weights)
        else:
            shares = (F.one_hot(which, 3).to(x.dtype) * weights[..., None]).sum(1)
        found = torch.zeros_like(flat)
        for i, net in enumerate(self.nets):
            if self.how == "third":
                found.addcmul_(net(flat), shares[:, i : i + 1])
            else:
                found += net(flat) * shares[:, i, None]
        load = torch.bincount(which.flatten(), minlength=3)
        return found.view_as(x), load


class Bags(nn.Module):
    """Embedding bags, and products of all pairs of features."""

    def __init__(self, how: str) -> None:
        super().__init__()
        mode = {"first": "sum", "second": "mean"}.get(how, "max")
        self.bags = nn.EmbeddingBag(11, 4, mode=mode, padding_idx=2 if how != "third" else None)
        self.dense = nn.Linear(12, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        y = self.bags(ids)
        rows = torch.stack([y, y * 2, self.dense(y.repeat(1, 3))], 1)
        products = torch.bmm(rows, rows.transpose(1, 2))
        i, j = torch.tril_indices(3, 3, -1)
        return torch.cat([y, products[:, i, j]], 1)


def _ids(make: Callable[..., torch.Tensor], larger: int) -> list[torch.Tensor]:
    return [torch.randint(0, 11, [2 + larger, 5 + 2 * larger])]


def _rows(make: Callable[..., torch.Tensor], larger: int) -> list[torch.Tensor]:
    return [make(2 + larger, 5 + larger, 8)]


def _cached(make: Callable[..., torch.Tensor], larger: int) -> list[torch.Tensor]:
    return [make(2 + larger, 3 + larger, 8), make(2 + larger, 1, 4 + 2 * larger, 4)]


def _two(make: Callable[..., torch.Tensor], larger: int) -> list[torch.Tensor]:
    return [make(2 + larger, 3 + larger, 8), make(2 + larger, 4 + 2 * larger, 8)]


BLOCKS: Mapping[str, tuple[Callable[[str], nn.Module], Part]] = {
    "causal": (Causal, _ids), "rotated": (Rotated, _cached), "relative": (Relative, _rows),
    "encoded": (Encoded, _ids), "decoded": (Decoded, _two), "attended": (Attended, _rows),
    "remembered": (Remembered, _rows), "waves": (Waves, _rows), "scanned": (Scanned, _rows),
    "routed": (Routed, _rows), "bags": (Bags, _ids),
}  # fmt: skip
VARIANTS: Sequence[str] = ("first", "second", "third", "fourth")


def subjects() -> Iterator[Subject]:
    """A subject for each part."""
    for name, (block, part) in BLOCKS.items():
        made: Block = partial(lambda block, config: block(config["variant"]), block)
        count = 4 if name == "attended" else 3
        yield part_subject(f"sequence: {name}", made, part, variants=VARIANTS[:count])
