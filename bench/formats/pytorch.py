"""Compares nnc with PyTorch on PyTorch's models, one process per model.

    python -m bench.formats.pytorch --out rows.jsonl [NAME..]

Models come from torchvision, timm, transformers and diffusers with initial weights, except that
weights of zero become random; BatchNorm gets the statistics of a batch, so that outputs depend on
inputs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
import warnings
from itertools import zip_longest
from pathlib import Path
from typing import Any

TOLERANCE = 1e-4
MOST_ELEMENTS = 1 << 22
"""The most elements of a batch that is used for statistics."""


def main() -> None:
    """Compare the named models, or all, and write a row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", type=Path, default=Path("pytorch.jsonl"))
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--read", action="store_true", help="read them only, do not compile")
    parser.add_argument("--again", action="store_true", help="also those that have a row")
    options = parser.parse_args()
    import nnc  # noqa: F401
    import timm  # noqa: F401
    import torch
    import torchvision  # noqa: F401
    import transformers  # noqa: F401

    torch.set_num_threads(1)
    done = set()
    if options.out.exists() and not options.again:
        done = {json.loads(line)["name"] for line in options.out.read_text().splitlines()}
    for name in options.names or all_names():
        if name in done:
            continue
        row = in_process(name, options.seconds, options.read)
        with options.out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)


def in_process(name: str, seconds: float, read_only: bool) -> dict[str, Any]:
    """The row of a model, computed in another process."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_child, args=(name, read_only, theirs))
    process.start()
    theirs.close()
    begin = time.perf_counter()
    row = {"name": name, "status": "timeout"}
    if ours.poll(seconds):
        try:
            row = ours.recv()
        except EOFError:
            row = {"name": name, "status": "crash"}
    process.kill()
    process.join()
    return row | {"wall": round(time.perf_counter() - begin, 1)}


def _child(name: str, read_only: bool, pipe: Any) -> None:
    warnings.filterwarnings("ignore")
    try:
        row = compare(name, read_only)
    except Exception as error:
        row = {"status": "error", "error": f"{type(error).__name__}: {error}"[:600]}
    pipe.send({"name": name} | row)


def compare(name: str, read_only: bool = False) -> dict[str, Any]:
    """The row of a model: the largest difference from PyTorch's outputs, relative to the largest
    value.
    """
    import io

    import nnc
    import numpy as np
    import torch
    from torch.utils._pytree import tree_leaves

    torch.manual_seed(0)
    model, inputs = make(name)
    model.eval()
    with torch.no_grad():
        if not read_only:
            without_zeros(model)
            real_statistics(model, inputs)
        try:
            program = torch.export.export(model, (), inputs, strict=False)
            want = None if read_only else model(**inputs)
        except Exception as error:
            return {"status": "no export", "error": f"{type(error).__name__}: {error}"[:300]}
        if read_only:
            nnc.load(program)
            return {"status": "ok"}
        other = {key: varied(value) for key, value in inputs.items()}
        want_other = model(**other)
    data = io.BytesIO()
    torch.export.save(program, data)
    begin = time.perf_counter()
    module = nnc.load(data.getvalue())
    read = time.perf_counter() - begin
    begin = time.perf_counter()
    run = nnc.compile(module, cache=False)
    compiled = time.perf_counter() - begin
    worst = varies = 0.0
    runs = []
    arrays = [
        [v for v in tree_leaves(w) if isinstance(v, torch.Tensor)] for w in (want, want_other)
    ]
    for given, expected in zip((inputs, other), arrays, strict=True):
        names = [
            spec.arg.name for spec in program.graph_signature.input_specs if spec.target is None
        ]
        leaves = tree_leaves(given)
        found = run(*[leaf.numpy() for leaf in leaves[: len(names)]])
        found = list(found) if isinstance(found, tuple) else [found]
        runs.append((given, found, expected))
        if len(found) != len(expected):
            return {"status": "wrong", "error": f"{len(found)} outputs, expected {len(expected)}"}
        for ours, theirs in zip(found, expected, strict=True):
            a, b = np.asarray(ours, np.float64), theirs.double().numpy()
            if a.shape != b.shape:
                return {"status": "wrong", "error": f"shape {a.shape}, expected {b.shape}"}
            if a.size:
                worst = max(worst, float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-30)))
    for a, b in zip(*arrays, strict=True):
        if a.numel() and a.is_floating_point():
            varies = max(varies, float((a - b).abs().max() / a.abs().max().clamp_min(1e-30)))
    numbers = {
        "error": worst,
        "varies": varies,
        "read": round(read, 2),
        "compile": round(compiled, 1),
    }
    if worst > TOLERANCE:
        rows = [in_double(model, *run) for run in runs]
        numbers |= {key: max(row[key] for row in rows) for key in rows[0]}
    return {"status": "ok" if worst <= TOLERANCE else "wrong", **numbers}


def in_double(model: Any, inputs: Any, ours: Any, theirs: Any) -> dict[str, float]:
    """The differences of both from PyTorch's own result in f64."""
    import copy

    import numpy as np
    import torch
    from torch.utils._pytree import tree_leaves

    wide = {k: v.double() if v.is_floating_point() else v for k, v in inputs.items()}
    with torch.no_grad():
        exact = copy.deepcopy(model).double()(**wide)
    worst = {"ours_from_f64": 0.0, "torch_from_f64": 0.0}
    leaves = [v.numpy() for v in tree_leaves(exact) if isinstance(v, torch.Tensor)]
    for a, b, truth in zip(ours, theirs, leaves, strict=True):
        for key, found in zip(worst, (np.asarray(a, np.float64), b.double().numpy()), strict=True):
            if truth.size:
                scale = max(np.abs(truth).max(), 1e-30)
                worst[key] = max(worst[key], float(np.abs(found - truth).max() / scale))
    return worst


def varied(value: Any) -> Any:
    """A value of the same type and shape with other elements."""
    import torch

    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return torch.randn_like(value)
    if isinstance(value, torch.Tensor) and value.dtype == torch.int64 and int(value.max()) > 1:
        return value.flip(-1)
    return value


def without_zeros(model: Any) -> None:
    """Give weights and scales that are initialized with zeros, or nearly, the size of trained ones.

    Heads of zeros, and branches scaled by 1e-5, would hide errors of the layers before them.
    """
    import torch

    for parameter in model.parameters():
        first = float(parameter.flatten()[0]) if parameter.numel() else 0.0
        if abs(first) >= 0.1 or not bool((parameter == first).all()):
            continue
        if parameter.dim() > 1 and not first:
            torch.nn.init.normal_(parameter, 0, parameter[0].numel() ** -0.5)
        elif first:
            torch.nn.init.uniform_(parameter, 0.3, 0.7)


def real_statistics(model: Any, inputs: dict[str, Any]) -> None:
    """Give every BatchNorm the statistics of a batch, and its parameters some variety.

    Shifts are about a half: a rectifier after an unshifted normalization makes a difference 1.2
    times larger, so that after fifty of them PyTorch's own f32 and f64 agree in three digits only.
    Source: Yang et al., "A Mean Field Theory of Batch Normalization" (2019).
    """
    import torch

    norms = [m for m in model.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    for norm in norms:
        if norm.weight is not None:
            torch.nn.init.uniform_(norm.weight, 0.7, 1.3)
            torch.nn.init.normal_(norm.bias, 0.5, 0.2)
        norm.momentum = 1.0
        norm.train()
    if norms:
        batch = {
            key: torch.randn(_images(v), *v.shape[1:]) if v.is_floating_point() else v
            for key, v in inputs.items()
        }
        model(**batch)
    model.eval()


def _images(example: Any) -> int:
    """The number of images in a batch for statistics.

    A last layer has one position of each image: the variance of four numbers is mostly luck, and
    dividing by it multiplies rounding errors by a thousand in a deep network.
    """
    return min(max(MOST_ELEMENTS // example[0].numel(), 4), 32)


# -- models ----------------------------------------------------------------------------------------


def all_names() -> list[str]:
    """The names of about 300 models, the libraries alternating; `tiny/CLASS` is any class of
    transformers.
    """
    from .pytorch_diffusion import diffusers_names
    from .pytorch_models import timm_names, torchvision_names, transformers_names

    rows = zip_longest(transformers_names(), timm_names(), torchvision_names(), diffusers_names())
    return [name for row in rows for name in row if name]


def make(name: str) -> tuple[Any, dict[str, Any]]:
    """A model and its example inputs by name."""
    from .pytorch_models import MAKERS

    where, _, own = name.partition("/")
    return MAKERS[where](own)


if __name__ == "__main__":
    main()
