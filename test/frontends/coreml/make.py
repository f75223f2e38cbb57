"""Writes the models of this folder's tests, most from nets of PyTorch, with their results there.

    python -m nnc.test.frontends.coreml.make [NAME ..]    (with coremltools 9, torch 2, numpy < 2.3)

CoreML predicts on macOS only: the oracle is the net that was converted.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import coremltools as ct
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

FILES = Path(__file__).parent / "files"


class Images(nn.Module):
    """Convolutions, poolings and resampling."""

    def __init__(self, **nearest: Any) -> None:
        super().__init__()
        self.nearest = nearest or {"size": (4, 4)}
        self.first = nn.Conv2d(3, 6, 3, 2, 1)
        self.norm = nn.BatchNorm2d(6)
        self.deep = nn.Conv2d(6, 6, 3, padding="same", groups=6)
        self.back = nn.ConvTranspose2d(6, 4, 3, 2, 1, 1)
        self.slopes = nn.PReLU(6)
        self.group = nn.InstanceNorm2d(6, affine=True)
        self.last = nn.Linear(4 * 4 * 4, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The net."""
        x = F.relu6(self.norm(self.first(x)))
        y = self.slopes(self.deep(x)) + F.max_pool2d(x, 3, 1, 1)
        y = self.group(y) * F.gelu(x) - F.hardswish(y)
        y = F.silu(self.back(y))
        small = F.avg_pool2d(y, 3, 2, 1, ceil_mode=True, count_include_pad=False)
        wide = F.interpolate(small, scale_factor=2, mode="bilinear", align_corners=True)
        near = F.interpolate(wide, mode="nearest", **self.nearest)
        shuffled = F.pixel_shuffle(near, 2)
        out = self.last(F.adaptive_avg_pool2d(near, 4).flatten(1))
        return F.softmax(out, -1), F.log_softmax(out, -1), F.pad(shuffled, (1, 2, 0, 1), "reflect")


class Tokens(nn.Module):
    """An encoder's layer."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(20, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 24, batch_first=True, activation="gelu")
        self.norm = nn.LayerNorm(16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The net."""
        return self.norm(self.layer(self.table(x))) @ self.table.weight.T


class Places(nn.Module):
    """What reads and writes by positions, and what changes shapes."""

    def forward(self, x: torch.Tensor, i: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The net."""
        values, order = torch.topk(x, 3, -1)
        return (
            x[:, 1:-1, ::2],
            torch.gather(x, 1, i),
            values,
            order,
            torch.cumsum(x, 1),
            F.one_hot(i[0, :, 0], 6).float(),
            torch.where(x > 0, x, x * -2),
            torch.scatter(x, 1, i, torch.ones_like(x[:, :3])),
            torch.einsum("bij,bkj->bik", x, x),
            torch.sort(x, -1)[0],
            x.argmax(1),
            torch.norm(x, dim=2),
            x.logsumexp(1),
            torch.stack([x, x.sin()], 1).flip(2),
            torch.tril(x),
            x // 0.3,
            x % 0.7,
            x[..., 0].unsqueeze(1).expand(2, 4, 5),
            x.reshape(2, -1, 3).permute(2, 0, 1).contiguous(),
            torch.cat(x.split([2, 3], 1), 2) if x.shape[1] == 4 else x.clamp(-0.5, 0.5),
            x.index_select(2, i[0, :, 0]),
        )


class Steps(nn.Module):
    """Recurrence in both directions."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.LSTM(4, 5, batch_first=True, bidirectional=True)
        self.second = nn.GRU(10, 3, batch_first=True)
        self.third = nn.RNN(3, 4, batch_first=True)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The net."""
        y, (h, c) = self.first(x)
        z, last = self.second(y)
        w, _ = self.third(z)
        return z, h, c, last, w


class Choices(nn.Module):
    """A branch and a loop that the run decides."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The net."""
        count = 0
        while bool(x.abs().max() > 1):
            x = x * 0.5
            count += 1
        if bool(x.sum() > 0):
            x = x + count
        else:
            x = x - count
        return x


class Caches(nn.Module):
    """A state that is read and written in part."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(2, 6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The net."""
        self.cache[:, 1:4] = x
        self.cache.mul_(2.0)
        return self.cache.sum(1)


class Decoder(nn.Module):
    """Attention to a cache, into which each call writes as many tokens as it gets."""

    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(6, 6) for _ in range(3))
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, 8, 6))

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The net."""
        q, k, v = (part(x) for part in self.parts)
        end = mask.shape[-1]
        self.keys[:, end - x.shape[1] : end] = k
        self.values[:, end - x.shape[1] : end] = v
        scores = q @ self.keys[:, :end].transpose(1, 2) + mask
        return torch.softmax(scores, -1) @ self.values[:, :end]


class Dense(nn.Module):
    """Weights to be compressed."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(32, 64)
        self.second = nn.Linear(64, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The net."""
        return self.second(torch.tanh(self.first(x)))


def _prepared(net: nn.Module) -> nn.Module:
    """With statistics and parameters of normalizations that differ by channel."""
    for part in net.modules():
        if isinstance(part, nn.BatchNorm2d):
            part.running_mean.normal_(0, 0.3)
            part.running_var.uniform_(0.5, 1.5)
        if isinstance(part, nn.BatchNorm2d | nn.InstanceNorm2d | nn.LayerNorm):
            part.weight.data.uniform_(0.7, 1.3)
            part.bias.data.normal_(0, 0.2)
    return net.eval()


def _inputs(values: tuple[torch.Tensor, ...]) -> list[Any]:
    return [
        ct.TensorType(f"x{i}", v.shape, np.float32 if v.is_floating_point() else np.int32)
        for i, v in enumerate(values)
    ]


def _save(name: str, model: Any, values: tuple[torch.Tensor, ...], results: Any, **extra) -> None:
    suffix = "mlmodel" if model.get_spec().WhichOneof("Type") != "mlProgram" else "mlpackage"
    path = FILES / f"{name}.{suffix}"
    shutil.rmtree(path, ignore_errors=True)
    path.unlink(missing_ok=True)
    model.save(str(path))
    results = results if isinstance(results, tuple) else (results,)
    names = [one.name for one in model.get_spec().description.output]
    arrays = {f"in:x{i}": v.numpy() for i, v in enumerate(values)}
    arrays |= {f"out:{k}": v.detach().numpy() for k, v in zip(names, results, strict=True)}
    np.savez_compressed(FILES / f"{name}.npz", **arrays, **extra)


def make(name: str, net: nn.Module, *values: torch.Tensor, scripted: bool = False, **how) -> Any:
    """Convert a net, write it and what it computes."""
    net = _prepared(net)
    with torch.no_grad():
        given = [v.long() if name == "places" and i else v for i, v in enumerate(values)]
        results = net(*given)
        traced = torch.jit.trace(net, tuple(given), check_trace=False)
        traced = torch.jit.script(net) if scripted else traced
    how.setdefault("inputs", _inputs(values))
    if how.get("convert_to") != "neuralnetwork":
        how.setdefault("compute_precision", ct.precision.FLOAT32)
        how.setdefault("minimum_deployment_target", ct.target.iOS18)
    model = ct.convert(traced, **how)
    _save(name, model, values, results)
    return model


def decoder() -> None:
    """What a decoder computes of two tokens, after three, with a program of open lengths."""
    net = _prepared(Decoder())
    traced = torch.jit.trace(net, (torch.randn(1, 4, 6), torch.zeros(4, 4)), check_trace=False)
    own, whole = (ct.RangeDim(1, 8, default=4, symbol=name) for name in ("own", "whole"))
    states = [
        ct.StateType(ct.TensorType(shape=(1, 8, 6), dtype=np.float16), name=name)
        for name in ("keys", "values")
    ]
    model = ct.convert(
        traced,
        inputs=[ct.TensorType("x0", (1, own, 6)), ct.TensorType("x1", (own, whole))],
        states=states,
        compute_precision=ct.precision.FLOAT32,
        minimum_deployment_target=ct.target.iOS18,
    )
    hidden = torch.full((3, 3), -1e4).triu(1), torch.full((2, 5), -1e4).triu(4)
    with torch.no_grad():
        for name in ("keys", "values"):
            getattr(net, name).zero_()
        net(torch.randn(1, 3, 6), hidden[0])
        # CoreML's states are of half precision.
        past = {name: getattr(net, name).half() for name in ("keys", "values")}
        for name, value in past.items():
            getattr(net, name).copy_(value.float())
        x = torch.randn(1, 2, 6)
        result = net(x, hidden[1])
    given = {f"in:{name}": value.numpy() for name, value in past.items()}
    _save("decoder", model, (x, hidden[1]), result, **given)


def compressed() -> None:
    """The same weights quantized, by a table, sparse; the oracle is coremltools' own unpacking."""
    from coremltools.optimize import coreml as cto

    net, x = _prepared(Dense()), torch.randn(3, 32)
    model = ct.convert(
        torch.jit.trace(net, x),
        inputs=_inputs((x,)),
        compute_precision=ct.precision.FLOAT32,
        minimum_deployment_target=ct.target.iOS18,
    )
    old = ct.convert(
        torch.jit.trace(net, x),
        inputs=_inputs((x,)),
        compute_precision=ct.precision.FLOAT32,
        minimum_deployment_target=ct.target.iOS16,
    )
    quantized = cto.OpLinearQuantizerConfig
    kinds = {
        "affine": (old, cto.linear_quantize_weights, quantized(mode="linear", weight_threshold=0)),
        "table": (
            old,
            cto.palettize_weights,
            cto.OpPalettizerConfig(mode="uniform", nbits=4, weight_threshold=0),
        ),
        "sparse": (
            old,
            cto.prune_weights,
            cto.OpMagnitudePrunerConfig(target_sparsity=0.5, weight_threshold=0),
        ),
        "blocks": (
            model,
            cto.linear_quantize_weights,
            quantized(
                mode="linear_symmetric",
                dtype="int4",
                granularity="per_block",
                block_size=8,
                weight_threshold=0,
            ),
        ),
        "tables": (
            model,
            cto.palettize_weights,
            cto.OpPalettizerConfig(
                mode="uniform",
                nbits=2,
                granularity="per_grouped_channel",
                group_size=16,
                weight_threshold=0,
            ),
        ),
    }
    for name, (given, apply, config) in kinds.items():
        small = apply(given, cto.OptimizationConfig(global_config=config))
        whole = cto.decompress_weights(small)
        weights = [
            op.val.val
            for op in whole._mil_program.functions["main"].find_ops(op_type="const")
            if op.val.val is not None and np.ndim(op.val.val) == 2
        ]
        first, second = (torch.tensor(np.asarray(w)) for w in weights[:2])
        with torch.no_grad():
            y = torch.tanh(x @ first.T + net.first.bias) @ second.T + net.second.bias
        _save(name, small, (x,), y)


def control() -> None:
    """A loop and a branch as layers of a network, and a loop that fills a list, against NumPy."""
    from coremltools.converters.mil import Builder

    def doubled_program(lists: bool) -> Any:
        specs = [Builder.TensorSpec(shape=(3,)), Builder.TensorSpec(shape=(1,))]
        version = ct.target.iOS15 if lists else ct.target.iOS13

        @Builder.program(input_specs=specs, opset_version=version)
        def program(x, start):
            def goes_on(i, a, *held):
                return Builder.less(x=Builder.reduce_max(x=a, keep_dims=False), y=50.0)

            def step(i, a, *held):
                at = Builder.squeeze(x=Builder.cast(x=i, dtype="int32"))
                rows = [Builder.list_write(ls=held[0], index=at, value=a)] if held else []
                return Builder.add(x=i, y=1.0), Builder.mul(x=a, y=2.0), *rows

            held = (Builder.make_list(dynamic_length=True, elem_shape=(3,)),) if lists else ()
            i, a, *held = Builder.while_loop(_cond=goes_on, _body=step, loop_vars=(start, x, *held))
            if held:
                return Builder.list_gather(ls=held[0], indices=np.array([3, 0, 1], np.int32)), a
            many = Builder.squeeze(x=Builder.greater(x=i, y=2.0), axes=[0])
            plus, minus = (lambda: Builder.add(x=a, y=1.0)), (lambda: Builder.sub(x=a, y=1.0))
            return Builder.cond(pred=many, _true_fn=plus, _false_fn=minus)

        return program

    x = np.array([1.5, 2, 4], np.float32)
    steps = x * 2.0 ** np.arange(5, dtype=np.float32)[:, None]
    wanted = {
        "loops": (steps[4] + 1,),
        "lists": (steps[[3, 0, 1]], steps[4]),
    }
    for name, outputs in wanted.items():
        lists = name == "lists"
        how: dict[str, Any] = {"convert_to": "neuralnetwork"}
        if lists:
            how = {"minimum_deployment_target": ct.target.iOS15}
            how["compute_precision"] = ct.precision.FLOAT32
        made = ct.convert(doubled_program(lists), **how)
        made.save(str(FILES / f"{name}.{'mlpackage' if lists else 'mlmodel'}"))
        names = [one.name for one in made.get_spec().description.output]
        arrays = {"in:x": x, "in:start": np.zeros(1, np.float32)}
        arrays |= {f"out:{key}": one for key, one in zip(names, outputs, strict=True)}
        np.savez_compressed(FILES / f"{name}.npz", **arrays)


def classical() -> None:
    """Models of scikit-learn (1.5), whose own predictions are the oracle."""
    from coremltools.converters.sklearn import _converter_internal
    from coremltools.models import datatypes
    from sklearn import ensemble, linear_model, neighbors, pipeline, preprocessing, svm

    random = np.random.default_rng(1)
    x = random.standard_normal((80, 4))
    value = x @ [1.0, -2.0, 0.5, 3.0] + np.sin(3 * x[:, 0])
    two = (value > 0).astype(np.int64)
    three = np.digitize(value, [-2, 2])
    words = np.array(["low", "middle", "high"])[three]
    cases = {
        "forest": (ensemble.RandomForestRegressor(7, max_depth=4, random_state=0), value),
        "boosted": (ensemble.GradientBoostingRegressor(n_estimators=9), value),
        "forest_of_classes": (ensemble.RandomForestClassifier(7, max_depth=4), words),
        "boosted_classes": (ensemble.GradientBoostingClassifier(n_estimators=5), two),
        "line": (linear_model.LinearRegression(), value),
        "logistic": (linear_model.LogisticRegression(multi_class="ovr"), two),
        "logistic_of_three": (linear_model.LogisticRegression(multi_class="ovr"), words),
        "vectors": (svm.SVR(gamma=0.3), value),
        "vectors_of_two": (svm.SVC(kernel="poly", degree=2, gamma=0.5, coef0=1), two),
        "vectors_of_three": (svm.SVC(gamma=0.4, probability=True, random_state=0), three),
        "neighbors": (neighbors.KNeighborsClassifier(5, algorithm="brute"), three),
        "scaled": (
            pipeline.Pipeline(
                [
                    ("scale", preprocessing.StandardScaler()),
                    ("line", linear_model.LinearRegression()),
                ]
            ),
            value,
        ),
    }
    for name, (model, target) in cases.items():
        model.fit(x, target)
        rows = random.standard_normal((6, 4))
        if name == "neighbors":
            rows = rows.astype(np.float32)
        arrays = {"in:x": rows, "out:label": model.predict(rows)}
        if name not in ("vectors_of_two", "neighbors") and hasattr(model, "predict_proba"):
            arrays["out:chances"] = model.predict_proba(rows)
        features = [("x", datatypes.Array(4))]
        made = _converter_internal._convert_sklearn_model(model, features, "label")
        made = made if isinstance(made, ct.models.MLModel) else ct.models.MLModel(made)
        made.save(str(FILES / "classical" / f"{name}.mlmodel"))
        np.savez_compressed(FILES / "classical" / f"{name}.npz", **arrays)


def main() -> None:
    """Write the files that are named, or all."""
    torch.manual_seed(5)
    torch.backends.mha.set_fastpath_enabled(False)
    FILES.mkdir(exist_ok=True)
    image = torch.randn(1, 3, 12, 12)
    all_of_them = {
        "images": lambda: make("images", Images(), image),
        "half": lambda: make("half", Images(), image, compute_precision=ct.precision.FLOAT16),
        "tokens": lambda: make("tokens", Tokens(), torch.randint(0, 20, (2, 5)).int()),
        "places": lambda: make(
            "places", Places(), torch.randn(2, 5, 6), torch.randint(0, 5, (2, 3, 6)).int()
        ),
        "steps": lambda: make("steps", Steps(), torch.randn(2, 7, 4)),
        "choices": lambda: make("choices", Choices(), torch.randn(3, 4) * 9, scripted=True),
        "caches": lambda: make(
            "caches",
            Caches(),
            torch.randn(2, 3),
            states=[ct.StateType(ct.TensorType(shape=(2, 6), dtype=np.float16), name="cache")],
        ),
        "open": lambda: make(
            "open",
            Dense(),
            torch.randn(3, 32),
            inputs=[ct.TensorType("x0", (ct.RangeDim(1, 9), 32))],
        ),
        # Networks have no resampling to the nearest by other factors.
        "network": lambda: make(
            "network", Images(scale_factor=2), image, convert_to="neuralnetwork"
        ),
        "decoder": decoder,
        "compressed": compressed,
        "control": control,
        "classical": classical,
    }
    for name in sys.argv[1:] or all_of_them:
        all_of_them[name]()


if __name__ == "__main__":
    main()
