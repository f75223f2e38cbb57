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
