"""Writes the files of this folder with PyTorch: `python -m nnc.test.frontends.pytorch.make [NAME..]`.

A program, `NAME.pt2`, and `NAME.npz` with inputs `in0`, .. and PyTorch's outputs `out0`, .., of
a second run (`other_`) where extents are open.
"""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch._higher_order_ops import scan, while_loop
from torch.export import Dim
from torch.utils._pytree import tree_leaves

from .decomposed import Decomposed, decomposed_cases
from .extremes import extreme_cases
from .given import Trained, audio, into_parts
from .opened import chosen, opened
from .operators import INF, NAN, Leaves, operator_cases
from .quantizing import quantized_cases
from .swept import more_swept, swept
from .walked import walked_cases

FILES = Path(__file__).parent / "files"


class Of(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


class Recurrent(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(4, 5, 2, bidirectional=True, batch_first=True)
        self.gru = torch.nn.GRU(10, 3)
        self.small = torch.nn.LSTM(4, 6, proj_size=2)

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        return y, h, c, *self.gru(y), self.small(x)[0]


class Net(torch.nn.Module):
    """A convolution, a normalization with statistics, attention, and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.norm.running_mean.normal_()
        self.norm.running_var.uniform_(0.5, 2)
        self.layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.register_buffer("table", torch.randn(16, 8))

    def forward(self, x):
        y = F.relu(self.norm(self.conv(x)), inplace=True)
        return self.layer(F.max_pool2d(y, 2).flatten(2).transpose(1, 2) + self.table)


def writes(x):
    """In place, through views of views, and read through views that are older."""
    y = x.clone()
    old = y.view(-1)
    y[:, 0].mul_(2)
    y[1:, ::2] = 5
    y.t().add_(1)
    first, second = y.chunk(2, 1)
    first.zero_()
    second.unsqueeze(0)[0, 1].sub_(x[0, 3:])
    y.diagonal().fill_(9)
    y.relu_()
    y[y > 8] = 7
    return y, old, second


def promotion(i, f, flag):
    """The element types that PyTorch gives mixtures."""
    zero_d = torch.tensor(2.5)
    return (i + f, i * 2, i * 2.5, i + flag, flag + flag, i / 2, i // 2, i % 3, flag.sum(), i.mean(dtype=torch.float32), i + zero_d, i.to(torch.int8) + i, f.half() + i, torch.where(flag, i, 1.5))  # fmt: skip


def positions(x, i):
    """Reading and writing by tensors of positions."""
    y = x.clone()
    y[i] = 1.5
    y[:, i] += x[:, :2]
    return x[:, i], x[i, :, i], x[i, i], x[x[:, 0, 0] > 0], y, x.gather(1, i.view(1, 2, 1).expand(4, 2, 3))  # fmt: skip


def control(x, n):
    """Branches, loops and scans by what the run tells."""
    a = torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))
    _, b = while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * 1.5), (n, x))
    c, d = scan(lambda s, row: (s + row, s * row), x[0], x)
    return a, b, c, d


def shapes(x):
    """Shapes that are computed of open extents."""
    n, m = x.shape[0], x.shape[1]
    rows = torch.arange(n).view(n, 1) + torch.zeros(m)
    whole = x.reshape(n, m * 2, 2).transpose(0, 1).reshape(m * 2, -1)
    return rows, whole, x.expand(3, n, m, 4).sum(0), x[:, : m - 1], F.pad(x, (1, 1)).flatten(1)


def attention(q, k, v, mask):
    sdpa = F.scaled_dot_product_attention
    return sdpa(q, k, v, mask), sdpa(q, k, v, is_causal=True), sdpa(q, k[:, :1], v[:, :1], enable_gqa=True)  # fmt: skip


def open_attention(q, k):
    """Attention whose every extent is open, with PyTorch's scale, which needs the width, and another."""
    sdpa = F.scaled_dot_product_attention
    return sdpa(q, k, k), sdpa(q, k, k, is_causal=True, scale=0.3)


def open_scales(x):
    """Images of any size resized by scales that differ from the ratio of the sizes."""
    by = torch.ops.aten._upsample_bicubic2d_aa.default, torch.ops.aten.upsample_bilinear2d.default
    sizes = [int(d * 0.6) for d in x.shape[2:]]
    return [function(x, sizes, False, 0.6, 0.6) for function in by]


def windows(x):
    """Convolution's and pooling's padding, uneven pooling, interpolation."""
    w = torch.linspace(-1, 1, 54).view(6, 3, 3).view(2, 3, 3, 3)
    return (
        F.conv2d(x, w, padding="same"),
        F.conv_transpose2d(x, w.transpose(0, 1), stride=2, padding=1, output_padding=1),
        F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
        F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
        F.adaptive_avg_pool2d(x, (3, 5)),
        F.interpolate(x, (11, 5), mode="bilinear"),
        F.interpolate(x, scale_factor=1.7),
        F.interpolate(x, (5, 6), mode="bicubic", antialias=True),
    )


def quantized(x, w):
    """As PT2E writes it."""
    import torch.ao.quantization.fx._decomposed

    q = torch.ops.quantized_decomposed
    a = q.quantize_per_tensor(x, 0.05, 3, -128, 127, torch.int8)
    scales, zeros = torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0, 1, 2])
    b = q.quantize_per_channel(w, scales, zeros, 0, -127, 127, torch.int8)
    real = q.dequantize_per_tensor(a, 0.05, 3, -128, 127, torch.int8)
    weight = q.dequantize_per_channel(b, scales, zeros, 0, -127, 127, torch.int8)
    return F.linear(real, weight), a, b


def quantized_blocks(x, w):
    """As torchao writes it: rows, groups, axes, the whole tensor, and all mappings."""
    import torchao  # noqa: F401 - it declares the operators

    q, i8 = torch.ops.torchao, torch.int8
    found = []
    for values, block, mapping, ends in (
        (x, [1, x.shape[1]], "SYMMETRIC", (-127, 127)),
        (x, list(x.shape), "ASYMMETRIC", (None, None)),
        (w, [1, 4], "SYMMETRIC_NO_CLIPPING_ERR", (-8, 7)),
        (w, [w.shape[0], 1], "ASYMMETRIC", (-3, 7)),
        (w, [3, 2], "ASYMMETRIC", (0, 255)),
    ):
        kind = torch.uint8 if ends[0] == 0 else i8
        whole = q.choose_qparams_affine(values, mapping, block, kind, *ends, keepdim=True)
        chosen = (values, mapping, block, kind, *ends, 1e-6, torch.float32, torch.int32)
        scale, zero = q.choose_qparams_affine(*chosen)
        steps = q.quantize_affine(values, block, scale, zero, kind, *ends)
        real = q.dequantize_affine(steps, block, scale, zero, kind, *ends)
        half = q.dequantize_affine(steps, block, scale, None, kind, output_dtype=torch.bfloat16)
        found += [scale, zero, steps, real, half.float(), *whole]
    scale, zero = torch.full((w.shape[0], 1), 0.0123).bfloat16(), torch.full((w.shape[0], 1), 2)
    found.append(q.quantize_affine(w, [1, 8], scale, zero, i8, -128, 127))  # 1 / scale is rounded
    return tuple(found)


def spectra(x, z):
    """Complex numbers: transforms, products, rotations, and as an input and an output."""
    frames = torch.stft(x, 8, 3, window=torch.hann_window(8), return_complex=True)
    half = torch.fft.rfft2(x.view(2, 4, 5), norm="ortho")
    turned = torch.view_as_complex(x.view(2, 10, 2)) * torch.polar(
        torch.ones(10), torch.arange(10.0)
    )
    return (
        torch.fft.fftn(torch.fft.fft(x, dim=-1), dim=(0,)).real,
        torch.fft.irfft2(half * 0.5, s=(4, 5)),
        torch.view_as_real(turned).flatten(1),
        frames.abs(),
        torch.fft.ifft(z, n=7, norm="forward")[1:],
        (z @ z.mT / (z[..., :3] + 2)).angle(),
        torch.fft.rfft(x).angle(),  # of 0, and of real numbers in the middle and at the start
    )  # fmt: skip


def images(x, grid, boxes, scores):
    """Images read between elements, and boxes of which the best are kept."""
    sampled = [
        F.grid_sample(x, grid, mode, padding, aligned)
        for mode, padding, aligned in (
            ("bilinear", "zeros", False),
            ("nearest", "border", True),
            ("bicubic", "reflection", False),
        )
    ]
    theta = x[:, :2, 0, :3]
    return *sampled, F.affine_grid(theta, [2, 3, 4, 5], False), nms(boxes, scores)


def nms(boxes, scores):
    import torchvision

    return torchvision.ops.nms(boxes, scores, 0.3)


def odd(x, one, flag):
    """No elements, no dimensions, truth values, and writes through positions that overlap none."""
    y = x.clone()
    y.as_strided((2, 2), (6, 1), 1).fill_(3)
    y.unfold(0, 2, 2).mul_(2)
    y.squeeze_().t_().add_(one)
    none = x[:0]
    made = none.sum(), torch.cat([none, x]), none @ torch.ones(6, 3), torch.zeros(0, 4).mean(1)
    numbers = one.softmax(0), one.cumsum(0), one.argmax(), torch.stack([one, one]), one.unsqueeze(0)
    truth = flag.cumsum(0), flag.any(1), flag.max(), flag ^ flag[:1], flag * flag, torch.where(flag)
    return y, *made, *numbers, *truth


class Counting(torch.nn.Module):
    """Buffers that a run changes: a number, a window of the last rows, and one of the caller's."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("window", torch.full((3, 2), -1.0))

    def forward(self, x, total):
        self.count += 1
        self.window[:-1] = self.window[1:].clone()
        self.window[-1] = x
        total += x
        return self.window.sum(0) * self.count


def drawn(x):
    """Random numbers of several kinds."""
    made = torch.rand(1000), torch.randn_like(x), torch.randint(3, 9, (1000,)), torch.bernoulli(x)
    return (
        *made,
        torch.randperm(1000),
        torch.multinomial(x[:5], 1000, True),
        F.dropout(x, 0.5, False),
    )


def padded(x):
    """Images of any size, padded to whole windows, and heads whose width PyTorch knows."""
    batch, _, height, width = x.shape
    whole = F.pad(x, (0, -width % 4, 0, (4 - height % 4) % 4))
    edges = (
        F.pad(x, (width // 4, 1, 1, height // 3), "reflect"),
        F.pad(x, (width // 4, -1), value=2),
    )
    rows = whole.flatten(2).transpose(1, 2)
    q = rows.reshape(batch, rows.shape[1], 2, -1).transpose(1, 2)
    return whole, *edges, F.scaled_dot_product_attention(q, q, q)


def mapped(x, places):
    """Batches that `torch.vmap` maps, one within the other."""
    v, take = torch.vmap, torch.ops.aten.index
    rows, columns = torch.arange(3), torch.arange(4)
    mask = v(lambda q: v(lambda k: (q <= k) & (take(x, [q, k]) > 0))(columns))(rows)
    sums = v(lambda a: v(lambda b: (a * b).sum(-1), in_dims=1)(x.t() @ x))(x)
    both = v(lambda a, i: (take(a, [i]), a.sum(), a.softmax(0), torch.stack([a, x.mean(0)])))
    square = v(lambda a: a.reshape(2, 2).t().flatten().flip(0))
    table = v(F.linear, in_dims=(0, None))(x, x)
    outer = v(torch.outer)(x, x[:, 1:]), v(torch.outer, in_dims=(None, 0))(x[0], x)
    more = v(lambda a: rows + a)(columns), *outer
    return mask, sums, *both(x, places), square(x), table, *more


def checked(x, count):
    """Assertions of a number and of a tensor."""
    number = count.item()
    torch._check(number >= 2)
    torch._check(number < 5)
    torch._assert_async((x > -10).all(), "x is too small")
    return x * 2, x.narrow(0, 1, number)


def shares(x):
    """Windows of open extents, some of which share them out."""
    mean = F.adaptive_avg_pool2d(x, (7, 3)), F.adaptive_avg_pool2d(x, (None, 2))
    return (
        *mean,
        F.adaptive_max_pool2d(x, (2, 5)),
        F.adaptive_avg_pool1d(x[0], 4),
        F.unfold(x, 2, (1, 2), 1, 2),
    )


class Older(torch.nn.Module):
    """Weights of several types, some of them parts of others."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(4)
        self.turned = torch.nn.Parameter(torch.randn(3, 4).t())
        self.register_buffer("scale", torch.randn(6)[::2].half())
        self.register_buffer("shift", torch.tensor([0.5, 2.0, -1.5]).to(torch.float8_e4m3fn))
        self.register_buffer("count", torch.tensor(3), persistent=False)
        self.plain = torch.randn(3, dtype=torch.bfloat16)

    def forward(self, x):
        found = self.norm(x) @ self.turned * self.scale + self.shift.float() * self.count
        return found + self.plain


@torch.library.custom_op("com_example::squareplus", mutates_args=())
def squareplus(x: torch.Tensor, b: float) -> torch.Tensor:
    return (x + (x * x + b).sqrt()) / 2


squareplus.register_fake(lambda x, b: torch.empty_like(x))


def numpy_names(x: torch.Tensor, power: torch.Tensor) -> list[torch.Tensor]:
    """What has one definition for all formats, where the copies were not all right."""
    number, other = x.sum(), x.amax()
    return [
        torch.ldexp(x * 2.0**-130, power), torch.round(x * 1000, decimals=-2), torch.trunc(x),
        torch.hstack([number, other]), torch.vstack([number, other]), torch.dstack([number, other]),
        torch.column_stack([number, other]), torch.column_stack([x[0], x]), torch.rot90(x, 3),
        torch.hann_window(1), torch.hamming_window(1, periodic=False), torch.blackman_window(6),
        torch.cross(x, x.flip(0), dim=0), torch.kron(x, x[:2]), torch.inner(x, x[0]),
    ]  # fmt: skip


def cases() -> dict[str, tuple[Any, Sequence[Any], Any, Sequence[Any]]]:
    torch.manual_seed(0)
    r = torch.randn
    open_ = ({0: Dim("rows", min=3), 1: Dim("columns", min=3)},)
    named = operator_cases() | walked_cases() | extreme_cases()
    single = {name: (Leaves(f), given, None, []) for name, (f, given) in named.items()}
    whole: dict[str, tuple[Any, Sequence[Any], Any, Sequence[Any]]] = {
        "net": (Net(), [r(2, 3, 8, 8)], None, []),
        "recurrent": (Recurrent(), [r(3, 7, 4)], None, []),
        "writes": (Of(writes), [r(4, 6)], None, []),
        "promotion": (Of(promotion), [torch.arange(5) - 2, r(5), r(5) > 0], None, []),
        "positions": (Of(positions), [r(4, 3, 3), torch.tensor([2, 0])], None, []),
        "control": (Of(control), [r(5, 3), torch.tensor(0)], None, []),
        "shapes": (Of(shapes), [r(4, 5, 4)], (open_,), [r(6, 3, 4)]),
        "attention": (Of(attention), [r(2, 4, 5, 8), r(2, 4, 7, 8), r(2, 4, 7, 8), r(5, 7) > 0], None, []),
        "windows": (Of(windows), [r(2, 3, 8, 8)], None, []),
        "own": (Of(lambda x: squareplus(x, 2.0) + 1), [r(3, 4)], None, []),
        "spectra": (Of(spectra), [r(2, 20), r(2, 3, 5, dtype=torch.complex64)], None, []),
        "images": (Of(images), [r(2, 3, 5, 6), torch.rand(2, 3, 4, 2) * 2.6 - 1.3, _boxes(), torch.rand(30)], None, []),
        "odd": (Of(odd), [r(4, 6), torch.tensor(2.5), r(3, 4) > 0], None, []),
        "swept": (Of(swept), [r(3, 3), r(3, 3).round(), torch.tensor([0.5, INF, NAN])], None, []),
        "more_swept": (Of(more_swept), [r(3, 3), torch.tensor([0, 3, 7]), torch.tensor([1, 255, 0], dtype=torch.uint8)], None, []),
        "trained": (Trained(), [r(4, 3, 5)], None, []),
        "given": (Of(into_parts), [r(3), r(3)], None, []),
        "states": (Counting(), [r(2), torch.zeros(2)], None, []),
        "padded": (Of(padded), [r(2, 4, 5, 6)], ((dict.fromkeys((0, 2, 3), Dim.AUTO),),), [r(3, 4, 8, 7)]),
        "shares": (Of(shares), [r(2, 3, 9, 11)], ((dict.fromkeys((0, 2, 3), Dim.AUTO),),), [r(3, 3, 6, 4)]),
        "opened": (Of(opened), [r(6, 8)], ((dict.fromkeys((0, 1), Dim.AUTO),),), [r(9, 8)]),
        "chosen": (Of(chosen), [r(4, 3), torch.tensor(7)], (({0: Dim.AUTO}, None),), [r(6, 3), torch.tensor(2)]),
        "mapped": (Of(mapped), [r(3, 4), torch.tensor([[0, 2], [1, 1], [3, 0]])], None, []),
        "audio": (Of(audio), [r(2, 3, 20), r(3, 4) * 0.3], None, []),
        "checked": (Of(checked), [r(6), torch.tensor(3)], None, []),
        "drawn": (Of(drawn), [torch.rand(1000)], None, []),
        "older": (Older(), [r(2, 4)], None, []),
        "numpy_names": (Of(numpy_names), [r(3, 3), torch.tensor([140, -3, 250])], None, []),
        "quantized": (Of(quantized), [r(4, 5), r(3, 5)], None, []),
        "quantized_blocks": (Of(quantized_blocks), [r(4, 6), r(6, 8)], (({0: Dim("rows", min=2)}, None),), [r(7, 6), r(6, 8)]),
        "open_scales": (
            Of(open_scales), [r(2, 3, 8, 11)], ((dict.fromkeys((2, 3), Dim.AUTO),),), [r(2, 3, 7, 10)],
        ),
        "open_attention": (
            Of(open_attention), [r(2, 3, 4, 8), r(2, 3, 6, 8)],
            ((dict.fromkeys(range(4), Dim.AUTO),) * 2,), [r(3, 2, 5, 7), r(3, 2, 3, 7)],
        ),
    }  # fmt: skip
    return {**single, **whole, **decomposed_cases(r), **quantized_cases(Of, r)}


def _boxes() -> torch.Tensor:
    corners = torch.rand(30, 2) * 50
    return torch.cat([corners, corners + torch.rand(30, 2) * 30], 1)


def _real(x: torch.Tensor) -> np.ndarray:
    """The array; of complex numbers two reals."""
    return (torch.view_as_real(x.resolve_conj()) if x.is_complex() else x).detach().numpy()


def main(names: Sequence[str]) -> None:
    """Write the files of these names, or all."""
    for name, (model, inputs, dynamic, other) in cases().items():
        if names and name not in names:
            continue
        torch.manual_seed(len(name))
        model.eval()
        program = torch.export.export(model, tuple(inputs), dynamic_shapes=dynamic)
        if isinstance(model, Decomposed):
            program = program.run_decompositions()
        if name == "opened":
            program._guards_code = []  # the function takes sizes that a trace of it refuses
        data = older(program) if name == "older" else stripped(program)
        (FILES / f"{name}.pt2").write_bytes(data)
        arrays = {}
        for prefix, given in (("", inputs), ("other_", other)):
            if given:
                found = tree_leaves(model(*(x.clone() for x in given)))
                arrays |= {f"{prefix}in{i}": _real(x) for i, x in enumerate(given)}
                arrays |= {f"{prefix}out{i}": _real(x) for i, x in enumerate(found)}
        np.savez_compressed(FILES / f"{name}.npz", **arrays)


def older(program: Any) -> bytes:
    """The archive as PyTorch wrote it up to 2.7."""
    from torch._export.serde.serialize import serialize

    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
    found, out = serialize(program), io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr(zipfile.ZipInfo("version"), "8.8")
        for name in ("exported_program.json", "state_dict.pt", "constants.pt"):
            content = getattr(found, name.partition(".")[0])
            made.writestr(zipfile.ZipInfo(f"serialized_{name}"), content)
    return out.getvalue()


def stripped(program: Any) -> bytes:
    """The archive, compressed but for its weights, without traces of this machine."""
    import re

    data, out = io.BytesIO(), io.BytesIO()
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)
    torch.export.save(program, data)
    with zipfile.ZipFile(data) as whole, zipfile.ZipFile(out, "w") as made:
        for name in whole.namelist():
            content = whole.read(name)
            if name.endswith(("sample_inputs/model.pt", "serialization_id")):
                continue
            if name.endswith("model.json"):
                content = re.sub(
                    rb'"stack_trace": "(?:[^"\\]|\\.)*"', b'"stack_trace": ""', content
                )
            kind = zipfile.ZIP_STORED if "/weights/w" in name else zipfile.ZIP_DEFLATED
            made.writestr(zipfile.ZipInfo(name), content, kind)
    return out.getvalue()


if __name__ == "__main__":
    with torch.no_grad():
        main(sys.argv[1:])
