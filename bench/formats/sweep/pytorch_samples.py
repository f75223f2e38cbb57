"""PyTorch's operators with the arguments of its own tests, from `torch.testing`'s
operator table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_unflatten

from .cases import Config, Made, Subject, UnmakableError
from .pytorch_base import ALL, FLOATS, LAYOUTS, ODD, ROUGH, WAYS, laid_out, made
from .pytorch_places import COMPARED
from .sampled import SampledSubject

SAMPLES = [0, 1, 2, 3, 4, 5, 6, 8, 11, 14, 18, 23, 30]
SKIPPED: Mapping[str, str] = {
    "empty": "elements that nothing defines",
    "sparse": "no tensor with strides",
    "to_sparse": "no tensor with strides",
    "_segment_reduce": "no operator of a model",
    "hash_tensor": "no operator of a model",
    "data_ptr": "no operator of a model",
    "backward": "training",
    "bernoulli": "random", "cauchy": "random", "exponential": "random", "geometric": "random",
    "log_normal": "random", "normal": "random", "uniform": "random", "rand": "random",
    "multinomial": "random", "dropout": "random", "rrelu": "random", "fractional": "random",
    "_flash_attention": "of a GPU",
    "_efficient_attention": "of a GPU",
    "allclose": "gives no tensor",
    "jiterator": "of a GPU",
    "nested": "no tensor with strides",
    "svd": "vectors whose signs are free",
    "eig": "vectors whose signs are free",
    "pca_lowrank": "random",
    "as_strided": "reads where memory is",
    "resize": "reads where memory is",
}  # fmt: skip
"""Parts of names of operators that are left out, and why."""
POLES = "PyTorch has what its sine of pi rounds to, not infinity"
BLOCKS = "NaN spreads as the blocks of LAPACK have it"
AS_THE_LIBRARY: Mapping[str, str] = {
    "linalg": BLOCKS, "lu_solve": BLOCKS, "lu_unpack": BLOCKS, "cholesky": BLOCKS,
    "triangular_solve": BLOCKS,
    # Of 16 complex numbers of which one is infinite, the first sum is inf+nanj by PyTorch (MKL) and
    # inf+0j by NumPy (pocketfft).
    "fft": "NaN and infinities spread as the factors of the library's transform have it",
    "polygamma": POLES,
}  # fmt: skip
"""Parts of names of operators whose samples keep their own values, and why."""
KEPT = "linalg.eigvals linalg.eigvalsh linalg.svdvals nn.functional.normalize".split()  # noqa: SIM905


def subjects() -> Iterator[Subject]:
    """Yield a subject for each operator and variant."""
    for op in op_db:
        name = f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name
        if any(part in name for part in SKIPPED) and name not in KEPT:
            continue
        elements = [e for e in ALL if getattr(torch, e) in op.dtypes]
        if not elements:
            continue
        if "polygamma" in name:  # integers are poles, see POLES
            elements = [e for e in elements if e in FLOATS]
        if "matrix_exp" in name:  # PyTorch's powers of the matrix overflow in 16 bits
            elements = [e for e in elements if e not in ("float16", "bfloat16")]
        by_library = any(part in name for part in AS_THE_LIBRARY)
        choices = {
            "elements": elements, "sample": SAMPLES, **LAYOUTS, **WAYS,
            "values": ["own"] if by_library else ["own", "odd", "ties"],
        }  # fmt: skip
        yield SampledSubject(name, choices, partial(_make, op), single=4, pairs=2)


def _make(op: Any, config: Config, rng: np.random.Generator, folder: Path) -> Made:
    torch.manual_seed(int(rng.integers(2**31)))
    samples = op.sample_inputs("cpu", getattr(torch, config["elements"]), requires_grad=False)
    found = list(islice(samples, config["sample"] + 1))
    if not found:
        raise UnmakableError("no samples")
    sample = found[config["sample"] % len(found)]
    leaves, spec = tree_flatten((sample.input, list(sample.args), dict(sample.kwargs)))
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    if not places:
        raise UnmakableError("no tensor is given")

    def function(*tensors: torch.Tensor) -> Any:
        own = list(leaves)
        for i, x in zip(places, tensors, strict=True):
            own[i] = x
        first, others, named = tree_unflatten(own, spec)
        found = op.op(first, *others, **named)
        compared = COMPARED.get(op.name)
        return compared(found, first, *others, **named) if compared else found

    given = [_changed(leaves[i].detach(), config, rng) for i in places]
    if "_norm" in op.name:  # infinite weights: PyTorch may scale the mean by them
        plain = config | {"values": "own"}
        given[1:] = [_changed(leaves[i].detach(), plain, rng) for i in places[1:]]
    is_rough = "bessel_j" in op.name and config["elements"] == "float64"
    return made(function, [given], config, folder, ROUGH if is_rough else None)


def _changed(x: torch.Tensor, config: Config, rng: np.random.Generator) -> torch.Tensor:
    """The sample's tensor with other elements and another memory layout, as the
    configuration says.
    """
    if x.layout != torch.strided:
        raise UnmakableError("a sparse tensor")
    if x.is_floating_point() and x.numel() and config["values"] != "own":
        x = x.clone(memory_format=torch.contiguous_format)
        if config["values"] == "ties":
            x = x.round()
        else:
            places = torch.from_numpy(rng.choice(x.numel(), min(len(ODD), x.numel() // 2 + 1)))
            x.view(-1)[places] = torch.tensor(rng.choice(ODD, len(places))).to(x.dtype)
    if config["layout"] == "expanded" and not x.is_floating_point():
        return x
    return laid_out(x, config["layout"]) if config["layout"] != "plain" else x
