"""Exports or compiles functions of tensors, and computes PyTorch's outputs."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .cases import Config, Made, Subject, UnmakableError
from .pytorch_runs import Compiled, Of, Outcome, Writing, array_of, equal, run, same

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
torch.set_num_threads(1)

WAYS = {"way": ["program", "file", "open", "compile", "compile open"]}
"""How nnc gets the function: by `torch.export` in memory, as a file, or with dynamic shapes
(`open`); by `torch.compile` with static or dynamic shapes.
"""
LAYOUTS = {"layout": ["plain", "transposed", "strided", "expanded"]}
FLOATS = "float32 float64 float16 bfloat16".split()  # noqa: SIM905
ALL = [*FLOATS, *"int64 int32 int8 uint8 bool complex64 int16".split()]  # noqa: SIM905
ODD = [float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.0, -1.0, 0.5, 2.5, -2.5]
TOLERANCES = {"float16": 2**-8, "bfloat16": 2**-5}
"""The tolerances for element types in which PyTorch rounds between the steps of an operator."""
ROUGH = 2e-7
"""The tolerance of Bessel functions in f64, which PyTorch computes to seven digits: at -4.6, its j1
is 1.4e-9 off.
"""


def laid_out(x: torch.Tensor, how: str) -> torch.Tensor:
    """The tensor in another memory layout; an expanded one repeats the first element of a
    dimension.
    """
    if not x.dim():
        return x
    match how:
        case "transposed":
            return x.transpose(0, -1).contiguous().transpose(0, -1)
        case "strided":
            wide = x.new_zeros([*x.shape[:-1], x.shape[-1] * 2 + 1])
            wide[..., 1::2] = x
            return wide[..., 1::2]
        case "expanded" if x.shape[0]:
            return x[:1].expand(x.shape)
    return x


def _eager(module: Of, given: Sequence[torch.Tensor]) -> Outcome:
    """PyTorch's outcome. Raises UnmakableError if it fails, or if two runs differ."""
    try:
        torch.manual_seed(0)
        found = run(module, module, given)
        torch.manual_seed(1)
        again = run(module, module, given)
    except Exception as error:
        raise UnmakableError(f"{type(error).__name__}: {str(error)[:150]}") from None
    if not found.results:
        raise UnmakableError("no results")
    if any(x.is_sparse or x.layout != torch.strided for x in found.results):
        raise UnmakableError("a sparse result")
    for one, other in zip(found.results, again.results, strict=True):
        if not equal(one, other):
            raise UnmakableError("another result each time")
    return found


def made(
    function: Callable[..., Any],
    runs: Sequence[Sequence[torch.Tensor]],
    config: Config,
    folder: Path,
    tolerance: float | None = None,
) -> Made:
    """The function as nnc gets it, and PyTorch's outputs for each run; the first run is traced."""
    module = Of(function).eval()
    way = config["way"]
    runs = runs if "open" in way else runs[:1]
    expected = [_eager(module, given) for given in runs]
    if tolerance is None:
        names = [str(x.dtype).removeprefix("torch.") for x in [*runs[0], *expected[0].results]]
        tolerance = max([TOLERANCES[name] for name in names if name in TOLERANCES], default=None)
    if way.startswith("compile"):
        rows = [
            (given, [*found.arrays, *found.layout])
            for given, found in zip(runs, expected, strict=True)
        ]
        return Made(Compiled(module, way != "compile"), rows, tolerance=tolerance)
    program = _exported(module, runs[0], way == "open")
    found = [
        (given, _own(program, module, given, one))
        for given, one in zip(runs, expected, strict=True)
    ]
    found = [(given, one) for given, one in found if one is not None]
    if not found:
        raise UnmakableError("the program takes no such inputs")
    model: Any = program
    if way == "file":
        model = folder / "model.pt2"
        torch.export.save(program, model)
    if _may_write(program) or any(
        _changes(module, given, one) for given, one in zip(runs, expected, strict=True)
    ):
        model = Writing(model, dict(module.named_buffers()), len(expected[0].results))
        rows = [([array_of(x) for x in given], one.arrays) for given, one in found]
    else:
        rows = [
            ([array_of(x) for x in given], [array_of(x) for x in one.results])
            for given, one in found
        ]
    return Made(model, rows, tolerance=tolerance)


def _exported(module: Of, given: Sequence[torch.Tensor], is_open: bool) -> Any:
    """The exported program of a module, with all shapes dynamic or none. Raises UnmakableError."""
    dims = [dict.fromkeys(range(x.dim()), torch.export.Dim.AUTO) for x in given]
    shapes = {"given": tuple(dims)} if is_open else None
    try:
        with torch.no_grad():
            return torch.export.export(
                module, tuple(map(same, given)), dynamic_shapes=shapes, strict=False
            )
    except Exception as error:
        raise UnmakableError(f"export: {type(error).__name__}: {str(error)[:150]}") from None


def _may_write(program: Any) -> bool:
    """Whether an operator of the program may write to its arguments, even if it leaves them
    unchanged.
    """
    targets = [node.target for node in program.graph.nodes if node.op == "call_function"]
    return any(
        "_norm" in str(target) or (schema and schema.is_mutable)
        for target in targets
        for schema in [getattr(target, "_schema", None)]
    )


def _changes(module: Of, given: Sequence[torch.Tensor], found: Outcome) -> bool:
    """Whether a run changed its inputs or the module's buffers."""
    before = [*given, *module.buffers()]
    return not all(map(equal, before, [*found.inputs, *found.buffers]))


def _own(program: Any, module: Of, given: Sequence[torch.Tensor], eager: Outcome) -> Outcome | None:
    """The eager outcome, or the program's own if its types differ; None if it rejects the inputs.

    Tracing may promote types of numbers and 0-d tensors differently from PyTorch. The file contains
    only the trace, so nnc has to agree with PyTorch's run of that.
    """
    try:
        own = run(program.module(check_guards=False), module, given)
    except Exception:
        return None
    if len(own.results) != len(eager.results) or not _takes(program, given):
        return None
    if [x.dtype for x in own.results] == [x.dtype for x in eager.results]:
        return eager
    return Outcome(own.results, own.inputs, eager.buffers)


def _takes(program: Any, given: Sequence[torch.Tensor]) -> bool:
    """Whether the program accepts the shapes of these tensors, some dimensions of which may be
    static.
    """
    vals = [n.meta["val"] for n in program.graph.nodes if n.op == "placeholder"]
    inputs = [v for v, spec in zip(vals, program.graph_signature.input_specs, strict=True)
              if spec.kind.name == "USER_INPUT"]  # fmt: skip
    return all(type(d) is not int or d == own
               for v, x in zip(inputs, given, strict=True)
               for d, own in zip(v.shape, x.shape, strict=True))  # fmt: skip


def numbers(shape: Sequence[int], dtype: str, how: str, rng: np.random.Generator) -> torch.Tensor:
    """A tensor of "plain" numbers, "odd" ones with NaN, "ties", or "positive" ones."""
    element = getattr(torch, dtype)
    x = rng.standard_normal(shape) * 2
    if how == "positive":
        x = np.abs(x) + 0.1
    if how == "ties":
        x = np.round(x)
    if element is torch.bool:
        return torch.tensor(x > 0)
    if element.is_complex:
        return torch.tensor(x + 1j * rng.standard_normal(shape)).to(element)
    if not element.is_floating_point:
        x = np.abs(x) if dtype == "uint8" else x
        found = torch.tensor(np.trunc(x * (1 if how == "ties" else 3))).to(element)
        if how == "odd" and found.numel():
            info = torch.iinfo(element)
            found.view(-1)[0], found.view(-1)[-1] = info.max, info.min
        return found
    x = np.asarray(x)
    if how == "odd" and x.size:
        flat = x.reshape(-1)
        flat[: len(ODD)] = ODD[: flat.size]
        x = rng.permutation(flat).reshape(shape)
    return torch.tensor(x).to(element)


def subject(
    name: str,
    give: Callable[..., tuple[Callable[..., Any], Sequence[Sequence[torch.Tensor]]]],
    allowed: Callable[[Config], bool] = lambda config: True,
    tolerances: Mapping[str, float] = {},
    **choices: Sequence[Any],
) -> Subject:
    """A subject for which `give(config, rng)` makes the function, and the tensors of each run.

    `tolerances` are those for some element types, see `judge`.
    """

    def make(config: Config, rng: np.random.Generator, folder: Path) -> Made:
        torch.manual_seed(int(rng.integers(2**31)))
        function, runs = give(config, rng)
        runs = [[laid_out(x, config.get("layout", "plain")) for x in given] for given in runs]
        tolerance = tolerances.get(config.get("elements", ""))
        return made(function, runs, config, folder, tolerance)

    return Subject(name, {**choices, **WAYS}, make, allowed)
