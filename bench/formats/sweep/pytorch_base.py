"""How a function of tensors becomes a program or a compiled function, and what PyTorch computes."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from nnc.dialects.marks import INPUT_NAMES, OUTPUT_NAMES
from nnc.driver import compile as driver
from nnc.driver.torch_backend import backend
from nnc.frontends.pytorch.live import as_array
from nnc.numerics.interpreter import Interpreter
from torch.utils._pytree import tree_leaves

from .cases import Config, Made, Subject, UnmakableError

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
torch.set_num_threads(1)

WAYS = {"way": ["program", "file", "open", "compile", "compile open"]}
"""How nnc gets the function: `torch.export` in memory, as a file, with open extents;
`torch.compile` for the extents at hand, or for open ones.
"""
LAYOUTS = {"layout": ["plain", "transposed", "strided", "expanded"]}
FLOATS = "float32 float64 float16 bfloat16".split()  # noqa: SIM905
ALL = [*FLOATS, *"int64 int32 int8 uint8 bool complex64 int16".split()]  # noqa: SIM905
ODD = [float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.0, -1.0, 0.5, 2.5, -2.5]
TOLERANCES = {"float16": 2**-8, "bfloat16": 2**-5}
"""Of element types in which PyTorch rounds between the steps of an operator."""


class Of(torch.nn.Module):
    """A function, or what holds weights, as a module that gives a list of tensors."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *given: Any) -> list[Any]:
        return [x for x in tree_leaves(self.function(*given)) if isinstance(x, torch.Tensor)]


class Compiled:
    """A function that torch.compile hands to nnc. Its results are arrays, and then the strides of
    each tensor, of which those of extents of 1 or 0 do not count.
    """

    def __init__(self, module: Of, is_open: bool) -> None:
        self.module, self.is_open = module, is_open

    def callable(self, interpreted: bool) -> Callable[..., Any]:
        torch.compiler.reset()
        options = {"fallback": False, "cache": False}
        run = torch.compile(
            self.module, backend=backend, dynamic=self.is_open or None, options=options
        )

        def call(*given: torch.Tensor) -> list[np.ndarray]:
            with torch.no_grad(), _interpreting() if interpreted else nullcontext():
                found = run(*map(_same, given))
            return [*map(array_of, found), *self.strides(found, given)]

        return call

    def strides(
        self, found: Sequence[torch.Tensor], given: Sequence[torch.Tensor]
    ) -> list[np.ndarray]:
        """Those of the results; eager ones where these are as PyTorch's own trace has them."""
        own = _strides(found)
        eager = _strides(_eager(self.module, given))
        if list(map(list, own)) == list(map(list, eager)):
            return eager
        torch.compiler.reset()
        with torch.no_grad():
            traced = torch.compile(self.module, backend="aot_eager")(*map(_same, given))
        return eager if list(map(list, own)) == list(map(list, _strides(traced))) else own


def _strides(tensors: Sequence[torch.Tensor]) -> list[np.ndarray]:
    """Where elements lie, in dimensions that have several."""
    return [
        np.array([s for s, d in zip(x.stride(), x.shape, strict=True) if d > 1 and x.numel()], int)
        for x in tensors
    ]


def array_of(x: torch.Tensor) -> np.ndarray:
    """The elements of a tensor."""
    return as_array(x.detach().resolve_conj().resolve_neg())


class _StandIn:
    """The interpreter of a module where torch.compile expects a compiled model."""

    def __init__(self, module: Any, **_: Any) -> None:
        (main,) = (op for op in module.body_block if INPUT_NAMES in op.attributes)
        self.input_names = [name.value for name in main.attributes[INPUT_NAMES]]
        self.output_names = [name.value for name in main.attributes[OUTPUT_NAMES]]
        self.input_types = [value.type for value in main.body_block.args]
        self.output_types = list(main.function_type.results)
        self.interpreter = Interpreter(module)

    def run(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs by name."""
        found = self.interpreter.call("main", [given[name] for name in self.input_names])
        return dict(zip(self.output_names, map(np.asarray, found), strict=True))


@contextmanager
def _interpreting() -> Iterator[None]:
    own = driver.compile_model
    driver.compile_model = _StandIn  # type: ignore[assignment]
    try:
        yield
    finally:
        driver.compile_model = own


def laid_out(x: torch.Tensor, how: str) -> torch.Tensor:
    """The same elements with other strides; those that are expanded are all those of the first."""
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


def _same(x: torch.Tensor) -> torch.Tensor:
    """A copy that lies as the tensor does, so that a function may write to it."""
    if any(not s and d > 1 for s, d in zip(x.stride(), x.shape, strict=True)):
        return x
    copy = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype)
    return copy.copy_(x)


def _eager(module: Of, given: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """What PyTorch computes. Raises UnmakableError where it does not, or not the same twice."""
    try:
        with torch.no_grad():
            torch.manual_seed(0)
            found = module(*map(_same, given))
            torch.manual_seed(1)
            again = module(*map(_same, given))
    except Exception as error:
        raise UnmakableError(f"{type(error).__name__}: {str(error)[:150]}") from None
    if not found:
        raise UnmakableError("no results")
    if any(x.is_sparse or x.layout != torch.strided for x in found):
        raise UnmakableError("a sparse result")
    for one, other in zip(found, again, strict=True):
        if not _equal(one, other):
            raise UnmakableError("another result each time")
    return found


def _equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    a, b = (np.ascontiguousarray(array_of(x)) for x in (one, other))
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def made(
    function: Callable[..., Any],
    runs: Sequence[Sequence[torch.Tensor]],
    config: Config,
    folder: Path,
    tolerance: float | None = None,
) -> Made:
    """The function for nnc, and what PyTorch gives in each run, of which the first is traced."""
    module = Of(function).eval()
    way = config["way"]
    runs = runs if "open" in way else runs[:1]
    expected = [_eager(module, given) for given in runs]
    if tolerance is None:
        names = [str(x.dtype).removeprefix("torch.") for x in [*runs[0], *expected[0]]]
        tolerance = max([TOLERANCES[name] for name in names if name in TOLERANCES], default=None)
    if way.startswith("compile"):
        rows = [
            (given, [*map(array_of, found), *_strides(found)])
            for given, found in zip(runs, expected, strict=True)
        ]
        return Made(Compiled(module, way != "compile"), rows, tolerance=tolerance)
    module = _kept(module, runs[0])
    dims = [dict.fromkeys(range(x.dim()), torch.export.Dim.AUTO) for x in runs[0]]
    shapes = {"given": tuple(dims)} if way == "open" else None
    try:
        with torch.no_grad():
            program = torch.export.export(
                module, tuple(map(_same, runs[0])), dynamic_shapes=shapes, strict=False
            )
    except Exception as error:
        raise UnmakableError(f"export: {type(error).__name__}: {str(error)[:150]}") from None
    rows = [([array_of(x) for x in g], [array_of(x) for x in e])
            for g, e in zip(runs, expected, strict=True)
            if _accepts(program, g, len(e))]  # fmt: skip
    model: Any = program
    if way == "file":
        model = folder / "model.pt2"
        torch.export.save(program, model)
    return Made(model, rows, tolerance=tolerance)


def _kept(module: Of, given: Sequence[torch.Tensor]) -> Of:
    """The module; of one that writes to its inputs, which a program would give, what it gives."""
    copies = [*map(_same, given)]
    before = [x._version for x in copies]
    with torch.no_grad():
        module(*copies)
    if [x._version for x in copies] == before:
        return module
    return Of(lambda *inputs: module(*(x.clone() for x in inputs))).eval()


def _accepts(program: Any, given: Sequence[torch.Tensor], count: int) -> bool:
    """Whether the program takes these extents, and has results for them; some may be fixed."""
    try:
        if len(program.module(check_guards=False)(*given)) != count:
            return False
    except Exception:
        return False
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
    **choices: Sequence[Any],
) -> Subject:
    """A subject of which `give(config, rng)` makes the function, and the tensors of each run."""

    def make(config: Config, rng: np.random.Generator, folder: Path) -> Made:
        torch.manual_seed(int(rng.integers(2**31)))
        function, runs = give(config, rng)
        runs = [[laid_out(x, config.get("layout", "plain")) for x in given] for given in runs]
        return made(function, runs, config, folder)

    return Subject(name, {**choices, **WAYS}, make, allowed)
