"""nnc as a backend of torch.compile.

    compiled = torch.compile(model, backend="nnc")
    with torch.inference_mode():
        y = compiled(x)

PyTorch finds it by the entry point that nnc's package declares. Graph breaks, guards and
recompilation are PyTorch's. Weights are taken into the compiled code as they are at the first
call; where they are changed or exchanged later, the graph is compiled again. A graph with an
operator that nnc does not have is left to PyTorch, with a warning that names it. Training is
excluded: with gradients to be computed, compilation fails and says so.

`options` of torch.compile are `threads` (default: torch.get_num_threads()), `fast_math`, `cache`
as those of nnc.compile, and `fallback`, which False turns off.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch  # pyright: ignore[reportMissingImports]
from torch._dynamo.backends.common import aot_autograd  # pyright: ignore[reportMissingImports]

from ..frontends.common.importer import Importer
from ..frontends.common.inputs import InputChoices
from ..frontends.pytorch.layer import AtenLayer
from ..frontends.pytorch.live import as_array, graph_of
from ..frontends.pytorch.rows import ROWS
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.location import FileLineColLoc
from ..runtime.model import Model

_TRAINING = (
    "nnc compiles for inference, but gradients are to be computed: call the model inside "
    "torch.inference_mode() or torch.no_grad()"
)


@dataclass(frozen=True)
class Options:
    """What torch.compile's `options` may say."""

    threads: int = 0
    fast_math: bool = True
    cache: bool = True
    fallback: bool = True

    @staticmethod
    def of(given: Mapping[str, Any] | None) -> Options:
        """Raises NncError for a name that there is not."""
        for name in given or ():
            if name not in Options.__dataclass_fields__:
                known = ", ".join(Options.__dataclass_fields__)
                raise NncError(f"backend nnc has no option '{name}', only {known}")
        return Options(**(given or {}))


def backend(
    graph: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """What torch.compile calls for each graph that it captures. `mode` has no effect."""
    chosen = Options.of(options)
    constant = [
        i
        for i, value in enumerate(example_inputs)
        if isinstance(value, torch.nn.Parameter) or hasattr(value, "_dynamo_static_input_type")
    ]

    def inference(functional: torch.fx.GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
        return CompiledGraph(functional, constant, chosen)

    def training(*_: Any) -> Any:
        raise NncError(_TRAINING)

    compiler = aot_autograd(
        fw_compiler=training, bw_compiler=training, inference_compiler=inference
    )
    return compiler(graph, list(example_inputs))


class CompiledGraph:
    """A functional graph of ATen operators; `constant` are the places of its weights."""

    _boxed_call = True
    """For AOTAutograd: the arguments come as a list, which is emptied."""

    def __init__(
        self, graph: torch.fx.GraphModule, constant: Sequence[int], options: Options
    ) -> None:
        self.graph = graph
        self.constant = tuple(constant)
        self.options = options
        held = set(constant)
        names = [node.name for node in graph.graph.nodes if node.op == "placeholder"]
        self.names = names
        self.fed = [(i, name) for i, name in enumerate(names) if i not in held]
        (output,) = (node for node in graph.graph.nodes if node.op == "output")
        self.results = list(output.args[0])
        self._programs: dict[tuple[int, ...], Model | None] = {}

    def __call__(self, given: list[Any]) -> list[Any]:
        arguments = tuple(given)
        given.clear()
        key = tuple(_state(arguments[i]) for i in self.constant)
        if key not in self._programs:
            self._programs[key] = self._compile(arguments)
        program = self._programs[key]
        if program is None:
            return self.graph.forward(*arguments)
        outputs = iter(program.run({name: _fed(arguments[i]) for i, name in self.fed}).values())
        return [_result(node, outputs) for node in self.results]

    def _compile(self, arguments: Sequence[Any]) -> Model | None:
        """The program for these weights; None where it is left to PyTorch."""
        from .compile import compile_model

        weights = {self.names[i]: arguments[i] for i in self.constant}
        try:
            self._check_devices(arguments)
            return compile_model(
                _module(self.graph, weights),
                threads=self.options.threads or torch.get_num_threads(),
                fast_math=self.options.fast_math,
                cache=self.options.cache,
            )
        except NncError as error:
            if not self.options.fallback:
                raise
            count = sum(node.op == "call_function" for node in self.graph.graph.nodes)
            text = f"nnc leaves a graph of {count} operators to PyTorch: {error.message}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)
            return None

    def _check_devices(self, arguments: Sequence[Any]) -> None:
        for name, value in zip(self.names, arguments, strict=True):
            if isinstance(value, torch.Tensor) and value.device.type != "cpu":
                raise NncError(f"'{name}' is on device {value.device}, and nnc runs on the CPU")


def _module(graph: torch.fx.GraphModule, weights: Mapping[str, torch.Tensor]) -> Operation:
    """The graph as a verified module, its weights as constants. Raises NncError."""
    loc = FileLineColLoc("<torch.compile>", 0, 0)
    importer = Importer(graph_of(graph, weights), ROWS, loc, AtenLayer)
    module = importer.run(InputChoices.of())
    module.verify()
    return module


def _result(node: Any, outputs: Iterator[np.ndarray]) -> Any:
    """An output as the caller of the graph expects it; what is no value of the graph is itself."""
    if not isinstance(node, torch.fx.Node):
        return node
    array, expected = next(outputs), node.meta["val"]
    if not isinstance(expected, torch.Tensor):
        return array.item()
    if array.dtype.kind == "V" or array.dtype.name not in np.sctypeDict:
        bits = torch.from_numpy(array.view(np.dtype(f"i{array.itemsize}")))
        return _strided(bits.view(expected.dtype), expected)
    return _strided(torch.from_numpy(array), expected)


def _strided(tensor: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """The tensor with its dimensions in memory in the order that PyTorch would have given them."""
    steps = [_hint(stride) for stride in expected.stride()]
    order = sorted(range(len(steps)), key=lambda axis: -steps[axis])
    if order == sorted(order):
        return tensor
    back = sorted(range(len(order)), key=order.__getitem__)
    return tensor.permute(order).contiguous().permute(back)


def _hint(size: Any) -> int:
    """An extent or stride, of which a symbolic one has an example."""
    return size if isinstance(size, int) else size.node.hint


def _state(weight: torch.Tensor) -> int:
    """What changes when a weight does: its place, and how often it was written to."""
    version = 0 if weight.is_inference() else weight._version
    return hash((weight.data_ptr(), version))


def _fed(value: Any) -> np.ndarray:
    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    return as_array(value.resolve_conj().resolve_neg())
