"""Parts of vision models as `torch.nn` modules: sequential and shared layers, views, slices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from .cases import Subject
from .pytorch_modules import Block, Part, part_subject


class Residual(nn.Module):
    """A residual block with shared convolution weights, in-place activations and a projected
    shortcut.
    """

    def __init__(self, how: str) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.down = nn.Sequential(nn.Conv2d(4, 6, 1, 2), nn.BatchNorm2d(6))
        self.out, self.act = nn.Linear(6, 3), nn.ReLU(inplace=how != "second")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.act(self.norm(self.conv(x)))
        y = self.norm(self.conv(y))
        y += x
        y = self.down(self.act(y))
        return self.out(F.adaptive_avg_pool2d(y, 1).flatten(1))


class Mobile(nn.Module):
    """An inverted bottleneck with squeeze and excitation."""

    def __init__(self, how: str) -> None:
        super().__init__()
        act = {"first": nn.Hardswish, "second": nn.SiLU}.get(how, nn.ReLU6)
        self.wide = nn.Sequential(nn.Conv2d(4, 12, 1), nn.BatchNorm2d(12, eps=1e-3), act())
        self.deep = nn.Sequential(nn.Conv2d(12, 12, 3, 2, 1, groups=12), nn.GroupNorm(3, 12), act())
        self.less, self.more, self.last = (
            nn.Conv2d(12, 3, 1),
            nn.Conv2d(3, 12, 1),
            nn.Conv2d(12, 5, 1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.deep(self.wide(x))
        weight = self.more(F.relu(self.less(y.mean((2, 3), keepdim=True))))
        return self.last(y.mul_(F.hardsigmoid(weight)))


class UNet(nn.Module):
    """A U-Net with skip connections, padded to matching extents."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.one, self.two = nn.Conv2d(4, 6, 3, padding=1), nn.Conv2d(6, 8, 3, padding=1)
        self.up = nn.ConvTranspose2d(8, 6, 2, 2)
        self.last = nn.Conv2d(12, 2, 3, padding=1, padding_mode="reflect")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = F.leaky_relu(self.one(x), 0.1)
        b = F.elu(self.two(F.max_pool2d(a, 2)))
        if self.how == "first":
            y = self.up(b)
            high, wide = a.shape[2] - y.shape[2], a.shape[3] - y.shape[3]
            y = F.pad(y, [wide // 2, wide - wide // 2, high // 2, high - high // 2])
        else:
            mode = "bilinear" if self.how == "second" else "nearest"
            y = F.interpolate(b[:, :6], size=a.shape[2:], mode=mode)
        return self.last(torch.cat([y, a], 1))


class Windows(nn.Module):
    """Shifted-window attention with a table of relative positions (as Swin)."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.shift = {"first": 0, "second": 1}.get(how, 2)
        self.qkv, self.proj, self.norm = nn.Linear(4, 12), nn.Linear(4, 4), nn.LayerNorm(4)
        self.table = nn.Parameter(torch.randn(49, 2) * 0.2)
        at = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(4), indexing="ij")).flatten(1)
        away = (at[:, :, None] - at[:, None]).permute(1, 2, 0) + 3
        self.register_buffer("places", away[..., 0] * 7 + away[..., 1])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, h, w, c = (y := x.permute(0, 2, 3, 1)).shape
        y = torch.roll(self.norm(y), (-self.shift, -self.shift), (1, 2))
        y = y.view(n, h // 4, 4, w // 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
        q, k, v = self.qkv(y).reshape(-1, 16, 3, 2, c // 2).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q * (c // 2) ** -0.5 @ k.transpose(-2, -1)
        scores = scores + self.table[self.places.view(-1)].view(16, 16, 2).permute(2, 0, 1)[None]
        y = self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(-1, 16, c))
        y = y.view(n, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)
        return x + y.roll((self.shift, self.shift), (1, 2)).permute(0, 3, 1, 2)


class Patches(nn.Module):
    """A vision transformer with a class token; positional embeddings are resized to the image."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.mode = {"first": "bicubic", "second": "bilinear"}.get(how, "nearest")
        self.patch = nn.Conv2d(4, 8, 2, 2)
        self.token = nn.Parameter(torch.randn(1, 1, 8))
        self.position = nn.Parameter(torch.randn(1, 1 + 9, 8))
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True, norm_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.patch(x)
        grid = self.position[:, 1:].reshape(1, 3, 3, 8).permute(0, 3, 1, 2)
        grid = F.interpolate(grid, size=y.shape[-2:], mode=self.mode).flatten(2).mT
        y = torch.cat([self.token.expand(x.shape[0], -1, -1), y.flatten(2).transpose(1, 2)], 1)
        return self.layer(y + torch.cat([self.position[:, :1], grid], 1))[:, 0]


class Next(nn.Module):
    """Layer normalization of a channels-last image, and a learned scale (as ConvNeXt)."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.last = how == "second"
        self.deep, self.norm = nn.Conv2d(4, 4, 7, padding=3, groups=4), nn.LayerNorm(4, eps=1e-6)
        self.more, self.less = nn.Linear(4, 16), nn.Linear(16, 4)
        self.scale = nn.Parameter(torch.full([4], 0.3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.last:
            x = x.to(memory_format=torch.channels_last)
        y = self.norm(self.deep(x).permute(0, 2, 3, 1))
        y = self.scale * self.less(F.gelu(self.more(y)))
        return x + y.permute(0, 3, 1, 2)


class Pyramid(nn.Module):
    """A feature pyramid: coarser features are upsampled and added to finer ones."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.mode = {"first": "nearest", "second": "bilinear"}.get(how, "nearest-exact")
        self.steps = nn.ModuleList(nn.Conv2d(4, 4, 3, 2, 1) for _ in range(3))
        self.sides, self.out = nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        found = []
        for step in self.steps:
            found.append(x := F.silu(step(x)))
        found = [self.sides(one) for one in found]
        for i in (1, 0):
            found[i] = found[i] + F.interpolate(found[i + 1], found[i].shape[-2:], mode=self.mode)
        return {f"p{i}": self.out(one) for i, one in enumerate(found)}


class Warped(nn.Module):
    """Images sampled at positions that the network computes (grid sampling)."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.padding = {"first": "zeros", "second": "border"}.get(how, "reflection")
        self.where, self.affine = nn.Conv2d(4, 2, 3, padding=1), nn.Linear(4, 6)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        theta = self.affine(x.mean((2, 3))).view(-1, 2, 3)
        grid = F.affine_grid(theta, list(x.shape), align_corners=False)
        moved = grid + self.where(x).tanh().permute(0, 2, 3, 1) * 0.3
        how = {"padding_mode": self.padding, "align_corners": False}
        return F.grid_sample(x, grid, **how), F.grid_sample(x, moved, "nearest", **how)


class Larger(nn.Module):
    """Super-resolution by two: a pixel shuffle added to an interpolated image, with normalized
    weights.
    """

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.conv = nn.utils.parametrizations.weight_norm(nn.Conv2d(4, 16, 3, padding=1))
        self.last = nn.utils.parametrizations.spectral_norm(nn.Conv2d(4, 4, 3, padding=1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.last(F.pixel_shuffle(F.prelu(self.conv(x), x.new_tensor([0.2])), 2))
        how = {"first": "bicubic", "second": "bilinear"}.get(self.how, "nearest")
        return y.clamp_(-1, 1) + F.interpolate(x, scale_factor=2, mode=how)


class Boxes(nn.Module):
    """Detection: the boxes with the best scores, as corners, with their classes."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.count = {"first": 5, "second": 1}.get(how, 9)
        self.scores, self.offsets = nn.Conv2d(4, 3, 1), nn.Conv2d(4, 4, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        high, wide = x.shape[2:]
        row, column = torch.meshgrid(torch.arange(high), torch.arange(wide), indexing="ij")
        centers = torch.stack([column, row], -1).reshape(1, -1, 2) + 0.5
        scores = self.scores(x).flatten(2).mT.sigmoid()
        place, size = self.offsets(x).flatten(2).mT.split(2, -1)
        middle, size = centers + place.tanh(), size.clamp(max=3).exp()
        corners = torch.cat([middle - size / 2, middle + size / 2], -1)
        corners[..., 0::2] = corners[..., 0::2].clamp(0, wide)
        corners[..., 1::2].clamp_(0, high)
        best, classes = scores.max(-1)
        best, at = best.topk(self.count, 1)
        return best, classes.gather(1, at), corners.gather(1, at[..., None].expand(-1, -1, 4))


class Shuffled(nn.Module):
    """Half of the channels are computed with, then all are shuffled (as ShuffleNet)."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how, self.conv = how, nn.Conv2d(2, 2, 3, padding=1, groups=2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        left, right = x.chunk(2, 1) if self.how != "second" else x.split([2, 2], 1)
        y = torch.cat((left, self.conv(right).relu_()), dim=1)
        if self.how == "third":
            return F.channel_shuffle(y, 2)
        n, c, h, w = y.size()
        return y.view(n, 2, c // 2, h, w).transpose(1, 2).contiguous().view(n, -1, h, w)


class Atrous(nn.Module):
    """Parallel dilated convolutions, with one of the pooled image (as DeepLab's ASPP)."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.align = how == "second"
        self.each = nn.ModuleList(nn.Conv2d(4, 3, 3, padding=d, dilation=d) for d in (1, 2, 3))
        self.whole = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(4, 3, 1), nn.ReLU())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found = [conv(x) for conv in self.each]
        size = x.shape[-2:]
        whole = F.interpolate(self.whole(x), size, mode="bilinear", align_corners=self.align)
        return torch.cat([*found, whole], 1).log_softmax(1)


class Looked(nn.Module):
    """Channel and spatial attention from means and maxima (as CBAM)."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.dense, self.conv = nn.Linear(4, 4), nn.Conv2d(2, 1, 7, padding=3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pooled = F.adaptive_max_pool2d(x, 1).flatten(1), F.adaptive_avg_pool2d(x, 1).flatten(1)
        x = x * sum(map(self.dense, pooled)).sigmoid()[:, :, None, None]
        largest = x.amax(1, keepdim=True) if self.how == "first" else x.max(1, keepdim=True)[0]
        return x * self.conv(torch.cat([x.mean(1, keepdim=True), largest], 1)).sigmoid()


class Unpooled(nn.Module):
    """Pooling with indices and unpooling; patches extracted and recombined."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how, self.conv = how, nn.Conv2d(4, 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.how == "first":
            y, at = F.max_pool2d(x, 2, return_indices=True)
            return F.max_unpool2d(self.conv(y), at, 2, output_size=x.shape[-2:])
        step = 2 if self.how == "second" else 1
        patches = F.unfold(x, 3, padding=1, stride=step)
        weights = patches.softmax(1)
        return F.fold(patches * weights, x.shape[-2:], 3, padding=1, stride=step)


class Raw(nn.Module):
    """Camera bytes, normalized by buffers."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how, self.conv = how, nn.Conv2d(3, 4, 3, 2)
        self.register_buffer("mean", torch.tensor([0.4, 0.5, 0.6]))
        self.register_buffer("std", torch.tensor([0.2, 0.3, 0.25]), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.permute(0, 3, 1, 2) if self.how != "second" else x.movedim(-1, 1).contiguous()
        y = y.float() / 255 if self.how != "third" else y.to(self.mean.dtype).div_(255)
        y = (y - self.mean[None, :, None, None]) / self.std.view(-1, 1, 1)
        return self.conv(y.to(self.conv.weight.dtype))


def _image(make: Callable[..., torch.Tensor], larger: int) -> list[torch.Tensor]:
    return [make(2 + larger, 4, 8 + 4 * larger, 8)]


def _bytes(make: Callable[..., torch.Tensor], larger: int) -> list[torch.Tensor]:
    return [torch.randint(0, 256, [2 + larger, 9, 8 + larger, 3], dtype=torch.uint8)]


BLOCKS: Mapping[str, tuple[Callable[[str], nn.Module], Part]] = {
    "residual": (Residual, _image), "mobile": (Mobile, _image), "u-net": (UNet, _image),
    "windows": (Windows, _image), "patches": (Patches, _image), "next": (Next, _image),
    "pyramid": (Pyramid, _image), "warped": (Warped, _image), "larger": (Larger, _image),
    "boxes": (Boxes, _image), "shuffled": (Shuffled, _image), "atrous": (Atrous, _image),
    "looked": (Looked, _image), "unpooled": (Unpooled, _image), "raw": (Raw, _bytes),
}  # fmt: skip


def subjects() -> Iterator[Subject]:
    """A subject for each part."""
    for name, (block, part) in BLOCKS.items():
        made: Block = partial(lambda block, config: block(config["variant"]), block)
        yield part_subject(f"image: {name}", made, part)
