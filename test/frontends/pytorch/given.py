"""Operators that write to tensors they are given, whose names do not say so."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812


class Trained(torch.nn.Module):
    """Norms that update running statistics, which do not start alike; it gives these, too."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.5, -1.25, 3.0]))
        self.register_buffer("var", torch.tensor([1.0, 0.1, 2.5]))
        self.register_buffer("table", torch.arange(6).view(2, 3))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = F.batch_norm(x, self.mean, self.var, training=True, momentum=0.3)
        y = F.batch_norm(y, self.mean, self.var, training=False)
        z = F.instance_norm(x, self.mean, self.var, use_input_stats=True, momentum=0.2)
        self.table += 1
        return y, z, self.mean.clone(), self.var.clone(), self.table.clone()


def into_parts(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Results that go to parts of tensors, of which nobody asks the operator itself for one."""
    whole, places = torch.zeros(4, 3), torch.zeros(2, 3, dtype=torch.int64)
    torch.mul(x, y, out=whole[0])
    torch.sum(torch.stack([x, y]), 0, out=whole[2])
    torch.sort(x, out=(whole[1], places[0]))
    torch.max(torch.stack([x, y]), 0, out=(whole[3], places[1]))
    wide = torch.zeros(3, dtype=torch.float64)
    turned = wide.view(3, 1)
    torch.add(x, y, alpha=2, out=wide)
    return whole, places, turned


_LOOPS = torch.library.Library("torchaudio", "FRAGMENT")
_LOOPS.define("_lfilter_core_loop(Tensor x, Tensor a, Tensor(a!) padded) -> Tensor(a!)")
_LOOPS.define(
    "_overdrive_core_loop(Tensor x, Tensor temp, Tensor(a!) last_in, Tensor(b!) last_out, "
    "Tensor(c!) out) -> (Tensor(a!), Tensor(b!), Tensor(c!))"
)


@torch.library.impl(_LOOPS, "_lfilter_core_loop", "CompositeExplicitAutograd")
def filtered(x: torch.Tensor, a: torch.Tensor, padded: torch.Tensor) -> torch.Tensor:
    """As torchaudio computes it where it has no library."""
    order = a.size(1)
    for i in range(x.size(2)):
        window = padded[:, :, i : i + order]
        padded[:, :, i + order - 1] = x[:, :, i] - (window * a).sum(-1)
    return padded


@torch.library.impl(_LOOPS, "_overdrive_core_loop", "CompositeExplicitAutograd")
def overdriven(x: torch.Tensor, temp: torch.Tensor, *written: torch.Tensor) -> tuple:
    last_in, last_out, out = written
    for i in range(x.size(1)):
        last_out.copy_(temp[:, i] - last_in + 0.995 * last_out)
        last_in.copy_(temp[:, i])
        out[:, i] = x[:, i] * 0.5 + last_out * 0.75
    return written


torch.library.register_fake("torchaudio::_lfilter_core_loop", lambda x, a, padded: padded)
torch.library.register_fake("torchaudio::_overdrive_core_loop", lambda x, temp, *out: out)


def audio(x: torch.Tensor, a: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Loops over samples, which write to their operands."""
    padded = torch.zeros(x.size(0), x.size(1), x.size(2) + 3)
    padded[..., 1] = 0.5
    found = torch.ops.torchaudio._lfilter_core_loop(x, a, padded)
    last = [torch.full(x.shape[:1], value) for value in (0.25, -1.0)]
    made = torch.ops.torchaudio._overdrive_core_loop(x[:, 0], x[:, 1], *last, torch.zeros(2, 20))
    return found[..., 3:], padded.clone(), made[2], *last
