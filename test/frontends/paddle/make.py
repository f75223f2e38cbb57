"""Writes `files/`: groups of operators as programs, and what PaddlePaddle gives.

PaddlePaddle 3 writes the form of PIR, PaddlePaddle 2.6 the old one, as 3 does where it is told by
`FLAGS_enable_pir_api=0`; run with a Python for each: `python test/frontends/paddle/make.py`, with the
names of groups where not all are wanted.
"""

import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_LZMA, ZipFile

import numpy as np
import paddle
import paddle.nn.functional as fn
from make_detectors import Detectors, Proposals
from maker import OLD, Group
from paddle import nn
from paddle.nn.quant.format import LinearDequanter, LinearQuanter

FILES = Path(__file__).parent / "files"


class Elementwise(Group):
    inputs = (("x", [2, 3, 4], "float32"), ("y", [2, 3, 4], "float32"))

    def forward(self, x, y):
        p = paddle.abs(x) + 0.1
        unary = [
            fn.relu(x), fn.sigmoid(x), paddle.tanh(x), paddle.exp(x), paddle.log(p), paddle.sqrt(p),
            paddle.rsqrt(p), paddle.floor(x), paddle.ceil(x), paddle.sin(x), paddle.cos(x),
            paddle.erf(x), paddle.sign(x), paddle.square(x), paddle.reciprocal(p), fn.relu6(x * 4),
            fn.leaky_relu(x, 0.1), fn.elu(x), fn.selu(x), fn.celu(x, 1.5), fn.hardsigmoid(x),
            fn.hardswish(x * 3), fn.gelu(x), fn.gelu(x, approximate=True), fn.softplus(x, 2.0, 3.0),
            fn.hardtanh(x), fn.hardshrink(x), fn.softshrink(x), fn.silu(x), fn.mish(x), fn.softsign(x),
            fn.log_sigmoid(x), fn.tanhshrink(x), fn.thresholded_relu(x), paddle.log1p(p),
            paddle.expm1(x), paddle.log2(p), paddle.log10(p), paddle.stanh(x),
        ]  # fmt: skip
        binary = [
            x + y, x - y, x * y, x / (paddle.abs(y) + 1), paddle.maximum(x, y),
            paddle.minimum(x, y), p**y, paddle.mod(x, p), paddle.clip(x, -0.5, 0.7), x**2.0,
            x * 2.0 + 1.0, paddle.floor_divide(x, p), paddle.where(x > y, x, y * 2),
            fn.dropout(x, 0.3, training=False), paddle.add_n([x, y, p]),
        ]  # fmt: skip
        flags = [x > y, x <= y, x == y, x != y, paddle.logical_and(x > 0, y > 0)]
        flags += [paddle.logical_not(x > 0), paddle.isnan(x), paddle.isfinite(x / y)]
        whole = paddle.cast(x * 5, "int64")
        whole = [whole, whole // 2, whole % 3, whole * 2, paddle.cast(whole, "float32")]
        return [*unary, *binary, *[paddle.cast(v, "int32") for v in flags], *whole]


class Images(Group):
    inputs = (("x", [2, 4, 9, 8], "float32"),)

    def build(self):
        self.convs = nn.LayerList(
            [
                nn.Conv2D(4, 6, 3, padding=1),
                nn.Conv2D(4, 6, 3, stride=2, padding=[1, 0], bias_attr=False),
                nn.Conv2D(4, 6, 3, padding="SAME", stride=2),
                nn.Conv2D(4, 4, 3, groups=4, dilation=2),
                nn.Conv2D(4, 4, 3, padding=[[0, 0], [0, 0], [1, 2], [0, 1]], groups=2),
                nn.Conv2DTranspose(4, 3, 3, stride=2, padding=1, output_padding=1),
                nn.Conv2DTranspose(4, 4, 3, stride=2, groups=4),
            ]
        )
        self.norms = nn.LayerList(
            [nn.BatchNorm2D(4), nn.GroupNorm(2, 4), nn.InstanceNorm2D(4), nn.LayerNorm([9, 8])]
        )
        self.prelu = nn.PReLU(4)
        self.line = nn.Conv1D(4, 5, 3, padding=1)

    def forward(self, x):
        found = [conv(x) for conv in self.convs] + [norm(x) for norm in self.norms]
        found += [self.prelu(x), self.line(x[:, :, :, 0])]
        found += [
            fn.max_pool2d(x, 3, 2, 1), fn.max_pool2d(x, 3, 2, ceil_mode=True),
            fn.avg_pool2d(x, 3, 2, 1), fn.avg_pool2d(x, 3, 2, 1, exclusive=False),
            fn.avg_pool2d(x, 2, 2, ceil_mode=True), fn.adaptive_avg_pool2d(x, 1),
            fn.adaptive_avg_pool2d(x, [4, 3]), fn.adaptive_max_pool2d(x, [3, 4]),
            fn.interpolate(x, scale_factor=2), fn.interpolate(x, [7, 11], mode="bilinear"),
            fn.interpolate(x, [7, 11], mode="bilinear", align_corners=True),
            fn.interpolate(x, [7, 11], mode="bilinear", align_mode=1),
            fn.interpolate(x, scale_factor=2, mode="bicubic"),
            fn.pixel_shuffle(x, 2), fn.channel_shuffle(x, 2), fn.pad(x, [1, 2, 0, 1]),
            fn.pad(x, [1, 2, 0, 1], mode="reflect"), fn.pad(x, [1, 2, 0, 1], mode="replicate"),
            fn.normalize(x), paddle.norm(x, 1, axis=2), fn.local_response_norm(x, 3),
        ]  # fmt: skip
        return found


class Movement(Group):
    inputs = (("x", [2, 3, 4], "float32"), ("open", [None, None, 4], "float32"))

    def forward(self, x, open):
        index = paddle.to_tensor([2, 0], dtype="int64")
        shape = paddle.shape(open)
        found = [
            paddle.reshape(x, [3, -1]), paddle.reshape(x, [0, 12]), paddle.flatten(x, 1),
            paddle.reshape(open, [shape[0], -1]), paddle.flatten(open), shape,
            paddle.transpose(x, [2, 0, 1]), paddle.unsqueeze(x, [0, -1]),
            paddle.squeeze(paddle.unsqueeze(x, 1), 1), paddle.concat([x, x * 2], axis=-1),
            paddle.stack([x, x * 2], axis=1), *paddle.split(x, [1, -1], axis=2),
            *paddle.split(x, 2, axis=2), *paddle.unbind(x, axis=0),
            x[:, 1:, ::2], x[0], x[..., -1], x[:, -2:], open[:, -1], open[:, 1:],
            paddle.expand(x[:, :1], [2, 5, 4]), paddle.expand(open[:, :, :1], [-1, -1, 5]),
            paddle.tile(x, [2, 1, 3]), paddle.flip(x, [0, 2]), paddle.roll(x, 1, 2),
            paddle.tril(x), paddle.triu(x, 1), paddle.gather(x, index, axis=1),
            paddle.index_select(x, index, axis=1), paddle.cumsum(x, axis=1),
            paddle.gather_nd(x, paddle.to_tensor([[0, 1], [1, 2]])),
            paddle.sum(x), paddle.mean(x, axis=[1, 2]), paddle.max(x, axis=1, keepdim=True),
            paddle.min(x, axis=-1), paddle.prod(x, axis=0), paddle.logsumexp(x, axis=1),
            paddle.argmax(x, axis=1), paddle.argmin(x, axis=-1, keepdim=True),
            *paddle.topk(x, 2, axis=-1), paddle.argsort(x, axis=1), paddle.any(x > 1, axis=1),
            paddle.full([2, 3], 1.5), paddle.zeros_like(open), paddle.arange(0, 7, 2),
            paddle.full([shape[0], 2], 3.0), fn.one_hot(index, 4), x.numel(),
            paddle.std(x, axis=1), paddle.take_along_axis(x, paddle.argsort(x, axis=1), 1),
        ]  # fmt: skip
        return [paddle.cast(v, "int32") if v.dtype == paddle.bool else v for v in found]


class Networks(Group):
    inputs = (("ids", [None, 5], "int64"), ("x", [2, 5, 8], "float32"))

    def build(self):
        self.table = nn.Embedding(10, 8, padding_idx=1)
        self.lstm = nn.LSTM(8, 6, num_layers=2, direction="bidirect")
        self.gru, self.rnn = nn.GRU(8, 6), nn.SimpleRNN(8, 6)
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
        self.linear = nn.Linear(8, 3)

    def forward(self, ids, x):
        found = [self.table(ids), self.linear(x), self.encoder(x)]
        for layer in (self.lstm, self.gru, self.rnn):
            y, state = layer(x)
            found += [y, *(state if isinstance(state, tuple) else [state])]
        found.append(fn.scaled_dot_product_attention(*[x.reshape([2, 5, 2, 4])] * 3))
        found += [fn.softmax(x), fn.log_softmax(x, 1), paddle.einsum("bij,bkj->bik", x, x)]
        found += [paddle.bmm(x, x.transpose([0, 2, 1])), paddle.matmul(x[0], x[1], False, True)]
        return [*found, *self.controlled(x)]

    def controlled(self, x):
        if x.mean() > 0:
            chosen = x * 2
        else:
            chosen = x - 1
        count, total = paddle.full([], 0, "int64"), x[0, 0]
        while count < 3:
            total = total * 1.5 + x[1, 1]
            count = count + 1
        return chosen, total, count


class Indices(Group):
    """Elements at positions, masks, diagonals, sequences of several lengths."""

    inputs = (
        ("x", [2, 5, 3], "float32"),
        ("y", [2, 5, 3], "float32"),
        ("m", [2, 4, 6, 6], "float32"),
    )

    def build(self):
        self.recurrent = nn.LayerList(
            [nn.LSTM(3, 4, num_layers=2, direction="bidirect"), nn.GRU(3, 4), nn.SimpleRNN(3, 4)]
        )

    def forward(self, x, y, m):
        lengths, first = paddle.assign(np.array([2, 5])), paddle.assign(np.array([[1, 0]]))
        a, b, row = x[0], y[0][:2], paddle.assign(np.array([3, 1]))
        z = x * 1
        z[:, 0] = 2.0
        w = x * 1
        w[0, 1:3] = y[0, :2]
        found = [layer(x, sequence_length=lengths)[0] for layer in self.recurrent]
        found += [
            paddle.put_along_axis(a, first, paddle.full([1, 1], 1.5), axis=1),
            paddle.put_along_axis(a, first, y[0][:, :2], axis=1, reduce="add"),
            paddle.scatter(a, row, b), paddle.scatter(a, row, b, overwrite=False),
            paddle.index_put(a, (row,), b), paddle.index_put(a, (row, row - 1), b[:, 0]),
            paddle.index_add(a, row, 0, b), paddle.masked_select(x, x > 0), z, w,
            paddle.repeat_interleave(x, 2, axis=1),
            paddle.repeat_interleave(a, paddle.assign(np.array([1, 2, 1, 3, 1])), axis=0),
            fn.sequence_mask(lengths, maxlen=6), paddle.linspace(0, 1, 5) + a[0, 0],
            paddle.eye(3, 4) + a[0, 0], paddle.tril_indices(3, 4, 0), paddle.triu_indices(3, 4, 1),
            paddle.diag(a[0]), paddle.diag(a[0], 1, -1.0), paddle.diag(a, -1),
            paddle.diagonal(x, 1, 1, 2), paddle.trace(x, 0, 1, 2), paddle.diag_embed(x),
            paddle.diag_embed(x, -1, 0, 2), paddle.kthvalue(x, 2)[0],
            paddle.searchsorted(paddle.sort(a[:, 0]), y[0]), paddle.crop(x, [1, 2, 2], [0, 1, 0]),
            fn.pixel_unshuffle(m, 2), *paddle.broadcast_tensors([x, y[:1]]),
        ]  # fmt: skip
        pooled, places = fn.max_pool2d(m, 2, 2, return_mask=True)
        found.append(fn.max_unpool2d(pooled, places, 2, 2))
        found += [
            paddle.trunc(x * 3), paddle.atan2(x, y), paddle.lerp(x, y, 0.3), paddle.isclose(x, x * 1.000001),
            paddle.cast(paddle.equal_all(x, y), "int32"), paddle.cast(paddle.allclose(x, x * 1.0000001), "int32"), paddle.cross(x, y, axis=2),
            paddle.heaviside(paddle.trunc(x), y), fn.label_smooth(x), paddle.logit(fn.sigmoid(x), 0.1),
            m if OLD else fn.swiglu(m),
        ]  # fmt: skip
        return [v if v.dtype != paddle.bool else paddle.cast(v, "int32") for v in found]


class Quantized(Group):
    """Numbers in steps, as models of PaddleSlim have them."""

    inputs = (("x", [2, 3, 4], "float32"),)

    def build(self):
        self.pairs = nn.LayerList(
            [
                make(np.ones(count, "f4"), np.zeros(count, "f4"), quant_axis=axis)
                for count, axis in ((1, None), (3, 1))
                for make in (LinearQuanter, LinearDequanter)
            ]
        )

    def forward(self, x):
        steps = [self.pairs[0](x), self.pairs[2](x)]
        return [*steps, self.pairs[1](steps[0]), self.pairs[3](steps[1])]


class Training(Group):
    """Layers that were not told to infer, and products of blocks of open extents."""

    inputs = (("x", [None, 4, 5, 3], "float32"), ("y", [2, 3], "float32"))

    def build(self):
        self.norms = nn.LayerList([nn.BatchNorm2D(4), nn.BatchNorm2D(3, data_format="NHWC")])
        self.norms.append(nn.BatchNorm2D(4, use_global_stats=True))

    def eval(self):
        """Stays in training."""

    def forward(self, x, y):
        return [*(norm(x) for norm in self.norms), paddle.kron(x, y), paddle.kron(y, y)]


class Corners(Group):
    """Infinities, NaN, powers of integers, and what other forms of arguments mean."""

    inputs = (
        ("x", [2, 3, 4], "float32"),
        ("i", [3, 3], "int64"),
        ("open", [None, None, 4], "float32"),
    )

    def forward(self, x, i, open):
        odd = [0.5, -0.5, np.inf, -np.inf, np.nan, 1e30, 0.0, 3.0]
        odd = paddle.to_tensor(np.array(odd, "f4")) + x[0, 0, 0] * 0
        y, wide, whole = odd.reshape([2, 4]), paddle.cast(x, "float64") * 50, i - 4
        functions = [
            fn.relu(odd), fn.softshrink(odd), fn.thresholded_relu(odd, 0.4, 7.0), fn.log_sigmoid(odd),
            fn.log_softmax(x * 60), paddle.heaviside(odd, odd * 0 + 3.0), paddle.copysign(x, -x * 2),
            paddle.floor_divide(odd.unsqueeze(0), odd.unsqueeze(1)), paddle.round(x, 2),
            paddle.logsumexp(y, 1), paddle.linalg.norm(wide, 3, 1), paddle.linalg.norm(y, 0, 1),
            fn.log_softmax(x, 1), paddle.nan_to_num(odd), fn.rrelu(x, 0.1, 0.4, False),
        ]  # fmt: skip
        integers = [
            (whole * 2 + 1) ** whole.T, paddle.scale(i, 2.5, 1.5), paddle.scale(i, 2.5, 1.5, False),
            paddle.logical_and(i, whole), paddle.exp(i), paddle.argmax(x, keepdim=True),
        ]  # fmt: skip
        moved = [
            paddle.masked_fill(x, x > 0, 4.0), paddle.roll(open, -5, 1), paddle.split(open, [1, -1], 1)[1],
            paddle.crop(open, [-1, 1, 2], [0, 1, 1]), paddle.gather(x, i[:, :1] % 2),
            fn.pad(x, [0, 1, 2, 0, 1, 1], value=3.0),
        ]  # fmt: skip
        return [*functions, *integers, *moved]


class Factors(Group):
    """Factors of matrices, order statistics, rows that are combined along a graph's edges."""

    inputs = (
        ("a", [2, 3, 3], "float32"),
        ("x", [5, 4], "float32"),
        ("i", [7], "int64"),
    )

    def forward(self, a, x, i):
        s, places = a @ a.transpose([0, 2, 1]) + paddle.eye(3), i % 4
        g, missing = paddle.geometric, paddle.where(x > 1, x * np.nan, x)
        ids = paddle.to_tensor([0, 0, 1, 3, 3]) + paddle.zeros([1], "int64")
        factors = [
            paddle.linalg.cholesky(s), paddle.linalg.cholesky(s, upper=True), paddle.inverse(s),
            paddle.linalg.solve(s, a), paddle.linalg.solve(s[0], x[0, :3]),
            *(paddle.linalg.matrix_power(s, n) for n in (3, 0, 1, -2)),
            paddle.linalg.triangular_solve(s, a), paddle.linalg.triangular_solve(s, a, False),
            paddle.linalg.triangular_solve(s, a, True, True),
            paddle.linalg.triangular_solve(s, a, False, False, True),
        ]  # fmt: skip
        middle = [
            paddle.median(x), paddle.median(x, 1), paddle.median(x, 0, keepdim=True),
            paddle.median(missing, 1),
        ]  # fmt: skip
        kinds = ("sum", "mean", "max", "min")
        sent = [g.send_u_recv(x, places, i[::-1] % 3, kind) for kind in kinds]
        sent += [g.send_u_recv(x, places, i % 3, "max", 3)]
        pools = (g.segment_sum, g.segment_mean, g.segment_max, g.segment_min)
        return [*factors, *middle, *sent, *(pool(x, ids) for pool in pools)]


class Shapes(Group):
    """Shapes that tensors hold, and numbers of 32 bits among those of 64."""

    inputs = (("x", [None, 3, 4], "float64"), ("y", [2, 3, 4], "float64"))

    def forward(self, x, y):
        return [
            paddle.expand(x[:1], paddle.shape(x)), paddle.reshape(x * 2, paddle.shape(y)),
            paddle.full(paddle.shape(x), 2.5), fn.label_smooth(y), fn.label_smooth(x, epsilon=0.3),
            fn.label_smooth(x, y[:1, 0], 0.7),
        ]  # fmt: skip


class Names(Group):
    """What has one definition for all formats: of integers, of open extents, of odd numbers."""

    inputs = (
        ("x", [None, 3], "float32"), ("a", [4], "int64"), ("b", [4], "int64"), ("end", [1], "float32"),
    )  # fmt: skip

    def forward(self, x, a, b, end):
        least = paddle.log(end * 0)
        odd = paddle.concat([x[0], end * 0, least, -least, least - least])
        line = paddle.to_tensor([-1.0, 0.0, 0.5])
        return [
            paddle.flip(x, [0, 1]), paddle.fmax(a, b), paddle.fmin(a, b), paddle.isfinite(odd),
            paddle.searchsorted(line, odd), paddle.searchsorted(line, odd, right=True),
            paddle.heaviside(odd, odd), paddle.copysign(odd, -odd), paddle.round(x * 100, -1),
            *paddle.meshgrid(x[:, 0], x[0]), paddle.repeat_interleave(x, 2, 0),
            paddle.tile(x, [2, 1, 3]), paddle.log10(x.abs()), paddle.log2(x.abs()),
        ]  # fmt: skip


class Norms(Group):
    """Norms, and operators whose old form has names in small letters."""

    inputs = (("x", [3, 4], "float32"), ("y", [3, 4], "float32"), ("i", [3, 1], "int64"))

    def build(self):
        self.spectral = nn.SpectralNorm([3, 4], dim=1, power_iters=2)

    def forward(self, x, y, i):
        image = paddle.reshape(x * x, [1, 1, 3, 4])
        return [
            paddle.linalg.norm(x, "fro", [0, 1]), paddle.dist(x, y), paddle.dist(x, y, 3.0),
            paddle.renorm(x, 2.0, 0, 1.0), self.spectral(x), paddle.logcumsumexp(x, 1),
            paddle.multiplex([x, y], paddle.cast(i % 2, "int32")),
            paddle.masked_fill(x, y > 0, 2.5), fn.lp_pool2d(image, 3.0, 2, 1, ceil_mode=True),
        ]  # fmt: skip


def spread(layer: nn.Layer, random) -> None:
    """Gives weights and statistics of which results depend."""
    for name, value in layer.state_dict().items():
        low, high = (0.5, 1.5) if "variance" in name or "scale" in name else (-0.5, 0.5)
        if value.dtype == paddle.float32 and "zero" not in name:
            value.set_value(random.uniform(low, high, value.shape).astype("f4"))


def stay_training(path: Path) -> None:
    """Take back that `paddle.jit.save` makes all layers infer."""
    data = path.read_bytes()
    data = data.replace(b"is_test\x10\x06P\x01", b"is_test\x10\x06P\x00")
    if path.suffix == ".json":
        text = re.sub(rb'("0.a_bool","D":)true(},"N":"is_test")', rb"\1false\2", data)
        assert text != data
        data = text
    path.write_bytes(data)


def write(kind: type) -> None:
    random = np.random.default_rng(len(kind.__name__))
    layer = kind()
    layer.eval()
    spread(layer, random)
    given = {}
    for name, shape, dtype in kind.inputs:
        shape = [d or 2 for d in shape]
        whole = random.integers(0, 9, shape) if dtype == "int64" else random.normal(size=shape)
        given[name] = whole.astype(dtype)
    specs = [paddle.static.InputSpec(shape, dtype, name) for name, shape, dtype in kind.inputs]
    program = paddle.jit.to_static(layer, full_graph=True, input_spec=specs)
    name = f"{kind.__name__.lower()}{'_old' if OLD else ''}"
    results = (layer if kind is Training else program)(*map(paddle.to_tensor, given.values()))
    results = {f"result{i}": np.asarray(v.numpy()) for i, v in enumerate(results)}
    with TemporaryDirectory() as folder:
        paddle.jit.save(program, f"{folder}/{name}")
        if kind is Training:
            stay_training(Path(f"{folder}/{name}{'.pdmodel' if OLD else '.json'}"))
        np.savez(f"{folder}/{name}.npz", **given, **results)
        with ZipFile(FILES / f"{name}.zip", "w", ZIP_LZMA) as archive:
            for path in sorted(Path(folder).iterdir()):
                if path.suffix != ".info":
                    archive.write(path, path.name)
    print(name, len(results))


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    groups = (Elementwise, Images, Movement, Networks, Detectors, Indices, Proposals)
    groups = (*groups, *(() if OLD else (Factors,)))
    for kind in (*groups, Quantized, Training, Corners, Shapes, Names, Norms):
        if kind.__name__ in (sys.argv[1:] or [kind.__name__]):
            write(kind)
