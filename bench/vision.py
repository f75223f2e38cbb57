"""Image classifiers in PyTorch, written from their papers, with random but realistic weights.

Sources: He et al. 2015 (ResNet; the stride is on the 3x3 convolution, as is usual since), Simonyan
and Zisserman 2014 (VGG), Sandler et al. 2018 (MobileNetV2), Iandola et al. 2016 (SqueezeNet, in the
later version 1.1), Tan and Le 2019 (EfficientNet-B0).
"""

import math

import torch
from torch import Tensor, nn


class ConvNorm(nn.Sequential):
    """A convolution with "same" padding, batch norm, and an optional activation."""

    def __init__(
        self,
        channels: int,
        filters: int,
        kernel: int,
        stride: int = 1,
        groups: int = 1,
        activation: nn.Module | None = None,
    ) -> None:
        convolution = nn.Conv2d(
            channels, filters, kernel, stride, kernel // 2, groups=groups, bias=False
        )
        layers = [convolution, nn.BatchNorm2d(filters), activation]
        super().__init__(*(layer for layer in layers if layer is not None))


class Residual(nn.Module):
    """relu(branch(x) + shortcut(x)); the shortcut projects if the shape changes."""

    def __init__(self, branch: nn.Module, channels: int, filters: int, stride: int) -> None:
        super().__init__()
        self.branch = branch
        same_shape = stride == 1 and channels == filters
        self.shortcut = nn.Identity() if same_shape else ConvNorm(channels, filters, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.branch(x) + self.shortcut(x))


def basic_block(channels: int, width: int, stride: int) -> tuple[nn.Module, int]:
    """Two 3x3 convolutions, and the number of their output channels."""
    branch = nn.Sequential(
        ConvNorm(channels, width, 3, stride, activation=nn.ReLU()), ConvNorm(width, width, 3)
    )
    return Residual(branch, channels, width, stride), width


def bottleneck_block(channels: int, width: int, stride: int) -> tuple[nn.Module, int]:
    """A 1x1, a 3x3 and a widening 1x1 convolution, and the number of output channels, 4 * width."""
    branch = nn.Sequential(
        ConvNorm(channels, width, 1, activation=nn.ReLU()),
        ConvNorm(width, width, 3, stride, activation=nn.ReLU()),
        ConvNorm(width, 4 * width, 1),
    )
    return Residual(branch, channels, 4 * width, stride), 4 * width


class Classifier(nn.Module):
    """Features, averaged over the image, and a linear layer."""

    def __init__(self, features: nn.Module, channels: int, classes: int) -> None:
        super().__init__()
        self.features = features
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.linear = nn.Linear(channels, classes)

    def forward(self, image: Tensor) -> Tensor:
        return self.linear(self.pool(self.features(image)).flatten(1))


def resnet(block, depths: tuple[int, ...], width: int, classes: int) -> nn.Module:
    """A ResNet whose stages have the given numbers of blocks; the width doubles at each stage."""
    layers: list[nn.Module] = [
        ConvNorm(3, width, 7, 2, activation=nn.ReLU()),
        nn.MaxPool2d(3, 2, 1),
    ]
    channels = width
    for stage, depth in enumerate(depths):
        for index in range(depth):
            stride = 2 if stage > 0 and index == 0 else 1
            layer, channels = block(channels, width * 2**stage, stride)
            layers.append(layer)
    return Classifier(nn.Sequential(*layers), channels, classes)


def resnet18(tiny: bool = False) -> nn.Module:
    """ResNet-18."""
    return resnet(basic_block, (2, 2, 2, 2), 16 if tiny else 64, 10 if tiny else 1000)


def resnet50(tiny: bool = False) -> nn.Module:
    """ResNet-50."""
    depths = (1, 2, 1, 1) if tiny else (3, 4, 6, 3)
    return resnet(bottleneck_block, depths, 16 if tiny else 64, 10 if tiny else 1000)


def vgg16(tiny: bool = False) -> nn.Module:
    """VGG-16, configuration D, without batch norm."""
    width, image_size, hidden, classes = (16, 64, 64, 10) if tiny else (64, 224, 4096, 1000)
    layers: list[nn.Module] = []
    channels = 3
    for factor, depth in ((1, 2), (2, 2), (4, 3), (8, 3), (8, 3)):
        for _ in range(depth):
            layers += [nn.Conv2d(channels, width * factor, 3, padding=1), nn.ReLU()]
            channels = width * factor
        layers.append(nn.MaxPool2d(2, 2))
    return nn.Sequential(
        *layers,
        nn.Flatten(),
        nn.Linear(channels * (image_size // 32) ** 2, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, classes),
    )


class InvertedResidual(nn.Module):
    """A widening 1x1, a depthwise 3x3 and a narrowing 1x1 convolution; a residual
    if shapes allow.
    """

    def __init__(self, channels: int, filters: int, stride: int, expansion: int) -> None:
        super().__init__()
        hidden = channels * expansion
        layers: list[nn.Module] = []
        if expansion != 1:
            layers.append(ConvNorm(channels, hidden, 1, activation=nn.ReLU6()))
        layers += [
            ConvNorm(hidden, hidden, 3, stride, groups=hidden, activation=nn.ReLU6()),
            ConvNorm(hidden, filters, 1),
        ]
        self.branch = nn.Sequential(*layers)
        self.adds_input = stride == 1 and channels == filters

    def forward(self, x: Tensor) -> Tensor:
        return x + self.branch(x) if self.adds_input else self.branch(x)


# Expansion, filters, repeats, stride of the first: table 2 of the paper.
MOBILENET_V2_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def mobilenet_v2(tiny: bool = False) -> nn.Module:
    """MobileNetV2 of width 1; if tiny, of width 1/4, with at most two blocks per stage."""
    divisor, classes = (4, 10) if tiny else (1, 1000)
    channels = 32 // divisor
    layers: list[nn.Module] = [ConvNorm(3, channels, 3, 2, activation=nn.ReLU6())]
    for expansion, filters, repeats, first_stride in MOBILENET_V2_STAGES:
        for index in range(min(repeats, 2) if tiny else repeats):
            stride = first_stride if index == 0 else 1
            layers.append(InvertedResidual(channels, filters // divisor, stride, expansion))
            channels = filters // divisor
    last = 1280 // divisor
    layers.append(ConvNorm(channels, last, 1, activation=nn.ReLU6()))
    return Classifier(nn.Sequential(*layers), last, classes)


class Fire(nn.Module):
    """A 1x1 convolution that narrows, then a 1x1 and a 3x3 in parallel."""

    def __init__(self, channels: int, squeezed: int, expanded: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(channels, squeezed, 1)
        self.one = nn.Conv2d(squeezed, expanded, 1)
        self.three = nn.Conv2d(squeezed, expanded, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.squeeze(x))
        return torch.relu(torch.cat([self.one(x), self.three(x)], 1))


class SqueezeNet(nn.Sequential):
    """Features, a convolution to the classes, averaged over the image."""


def squeezenet(tiny: bool = False) -> nn.Module:
    """SqueezeNet 1.1; if tiny, with a quarter of the channels."""
    divisor, classes = (4, 10) if tiny else (1, 1000)
    channels = 64 // divisor
    layers: list[nn.Module] = [nn.Conv2d(3, channels, 3, 2), nn.ReLU(), nn.MaxPool2d(3, 2)]
    for squeezed, expanded, pooled in (
        (16, 64, False), (16, 64, True), (32, 128, False), (32, 128, True),
        (48, 192, False), (48, 192, False), (64, 256, False), (64, 256, False),
    ):  # fmt: skip
        layers.append(Fire(channels, squeezed // divisor, expanded // divisor))
        channels = 2 * expanded // divisor
        if pooled:
            layers.append(nn.MaxPool2d(3, 2))
    last = (nn.Conv2d(channels, classes, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return SqueezeNet(*layers, *last)


class Excitation(nn.Module):
    """Squeeze and excitation: scales each channel by a number that two dense layers compute."""

    def __init__(self, channels: int, squeezed: int) -> None:
        super().__init__()
        self.narrow = nn.Conv2d(channels, squeezed, 1)
        self.widen = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        means = x.mean((2, 3), keepdim=True)
        return x * torch.sigmoid(self.widen(nn.functional.silu(self.narrow(means))))


class MobileBlock(nn.Module):
    """A widening 1x1 convolution, a depthwise one, excitation, a narrowing 1x1; a residual if
    shapes allow.
    """

    def __init__(
        self, channels: int, filters: int, kernel: int, stride: int, expansion: int
    ) -> None:
        super().__init__()
        hidden = channels * expansion
        layers: list[nn.Module] = []
        if expansion != 1:
            layers.append(ConvNorm(channels, hidden, 1, activation=nn.SiLU()))
        layers += [
            ConvNorm(hidden, hidden, kernel, stride, groups=hidden, activation=nn.SiLU()),
            Excitation(hidden, max(1, channels // 4)),
            ConvNorm(hidden, filters, 1),
        ]
        self.branch = nn.Sequential(*layers)
        self.adds_input = stride == 1 and channels == filters

    def forward(self, x: Tensor) -> Tensor:
        return x + self.branch(x) if self.adds_input else self.branch(x)


# Expansion, filters, kernel, repeats, stride of the first: table 1 of the paper.
EFFICIENTNET_B0_STAGES = (
    (1, 16, 3, 1, 1),
    (6, 24, 3, 2, 2),
    (6, 40, 5, 2, 2),
    (6, 80, 3, 3, 2),
    (6, 112, 5, 3, 1),
    (6, 192, 5, 4, 2),
    (6, 320, 3, 1, 1),
)


def efficientnet_b0(tiny: bool = False) -> nn.Module:
    """EfficientNet-B0; if tiny, with a quarter of the channels."""
    divisor, classes = (4, 10) if tiny else (1, 1000)
    channels = 32 // divisor
    layers: list[nn.Module] = [ConvNorm(3, channels, 3, 2, activation=nn.SiLU())]
    for expansion, filters, kernel, repeats, first_stride in EFFICIENTNET_B0_STAGES:
        for index in range(min(repeats, 2) if tiny else repeats):
            stride = first_stride if index == 0 else 1
            layers.append(MobileBlock(channels, filters // divisor, kernel, stride, expansion))
            channels = filters // divisor
    last = 1280 // divisor
    layers.append(ConvNorm(channels, last, 1, activation=nn.SiLU()))
    return Classifier(nn.Sequential(*layers), last, classes)


def random_images(batch: int, size: int) -> Tensor:
    """Images with coarse and fine structure and differing contrast, of about zero mean and unit
    variance.
    """
    coarse = nn.functional.interpolate(
        torch.randn(batch, 3, 4, 4), size=(size, size), mode="bilinear", align_corners=False
    )
    contrast = torch.empty(batch, 1, 1, 1).uniform_(0.5, 1.5)
    return contrast * coarse + 0.4 * torch.randn(batch, 3, size, size)


@torch.no_grad()
def settle(model: nn.Module, image_size: int, batches: int = 4, batch: int = 8) -> None:
    """Give the model weights and batch-norm statistics like those of a trained one; then evaluation
    mode.

    Weights are random with activations that neither vanish nor explode (He et al. 2015), scales and
    shifts differ per channel, and the running means and variances are those of random images.
    """
    linears = [module for module in model.modules() if isinstance(module, nn.Linear)]
    for module in model.modules():
        match module:
            case nn.Conv2d() | nn.Linear():
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
                if module.bias is not None:
                    nn.init.normal_(module.bias, std=0.05)
            case nn.BatchNorm2d():
                nn.init.uniform_(module.weight, 0.5, 1.5)
                nn.init.normal_(module.bias, std=0.2)
                module.momentum = None  # the plain mean over all batches
    for module in model.modules():
        if isinstance(module, Residual | InvertedResidual | MobileBlock):
            # The sums of many blocks would grow otherwise.
            norms = [part for part in module.branch.modules() if isinstance(part, nn.BatchNorm2d)]
            norms[-1].weight.mul_(0.5)

    model.train()
    for _ in range(batches):
        logits = model(random_images(batch, image_size))
    classifier = linears[-1] if linears else model[-4]  # type: ignore[index]
    classifier.weight.mul_(2.0 / logits.std())  # type: ignore[operator, union-attr]
    assert math.isfinite(logits.std().item())
    model.eval()
