"""nnc as a backend of torch.compile.

    compiled = torch.compile(model, backend="nnc")
    with torch.inference_mode():
        y = compiled(x)

PyTorch finds it by the entry point that nnc's package declares. Graph breaks, guards and
recompilation are PyTorch's. Weights are taken into the compiled code as they are at the first
call; where they are changed or exchanged later, the graph is compiled again (PyTorch counts writes,
except those through `.data` or NumPy, for which some elements are compared). A graph with
an operator that nnc does not have is left to PyTorch, with a warning that names it. Training is
excluded: with gradients to be computed, compilation fails and says so. Importing this lets Dynamo
capture recurrent layers (`torch._dynamo.config.allow_rnn`).

`options` of torch.compile are `threads` (default: torch.get_num_threads()), `fast_math`, `cache`
and `fallback` (as those of nnc.compile), and `tune`: the seconds for which faster schedules are
searched as by `nnc tune`, once for each graph and machine; they are kept beside the cache.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Any

import torch  # pyright: ignore[reportMissingImports]
from torch._decomp import decomposition_table  # pyright: ignore[reportMissingImports]
from torch._dynamo.backends.common import aot_autograd  # pyright: ignore[reportMissingImports]
from torch._guards import TracingContext  # pyright: ignore[reportMissingImports]

from ..frontends.common.importer import Importer
from ..frontends.common.inputs import InputChoices
from ..frontends.pytorch.layer import AtenLayer
from ..frontends.pytorch.live import graph_of, is_read, without_tokens
from ..frontends.pytorch.rows import ROWS
from ..ir.core import Operation
from ..ir.diagnostics import NncError
from ..ir.location import FileLineColLoc
from ..kernels.tuned import TunedFolder
from .torch_call import Call, call_of, in_memory_order
from .torch_outside import MADE_OF_DRAWN, drawing, dropped, with_drawn
from .torch_recurrent import made_known, made_opaque
from .torch_shared import Shared
from .torch_states import States

_PROGRAMS = 64
"""The most states of its weights for which a compiled graph is kept."""

torch._dynamo.config.allow_rnn = True
"""A setting of Dynamo: recurrent layers do not break graphs."""

_MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
"""The values of torch.compile's `mode`, which only affect Inductor."""

_TRAINING = (
    "nnc compiles for inference, but gradients are to be computed: call the model inside "
    "torch.inference_mode() or torch.no_grad()"
)


@dataclass(frozen=True)
class Options:
    """The `options` of torch.compile."""

    threads: int = 0
    fast_math: bool = True
    cache: bool = True
    fallback: bool = True
    tune: float = 0.0

    @staticmethod
    def of(given: Mapping[str, Any] | None) -> Options:
        """The options from a mapping. Raises NncError for an unknown name."""
        for name in given or ():
            if name not in Options.__dataclass_fields__:
                known = ", ".join(Options.__dataclass_fields__)
                raise NncError(f"backend nnc has no option '{name}', only {known}")
        found = Options(**(given or {}))
        if type(found.threads) is not int or found.threads < 0:
            raise NncError(
                f"option 'threads' is {found.threads!r}, expected a number, or 0 for all"
            )
        if type(found.tune) not in (int, float) or not 0 <= found.tune < inf:
            raise NncError(f"option 'tune' is {found.tune!r}, expected seconds, or 0 for none")
        for name in ("fast_math", "cache", "fallback"):
            if type(getattr(found, name)) is not bool:
                raise NncError(f"option '{name}' is {getattr(found, name)!r}, expected a bool")
        return found


def backend(
    graph: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """The compiled form of a graph that torch.compile has captured. Modes have no effect."""
    if mode is not None and mode not in _MODES:
        raise NncError(f"there is no mode {mode!r}, only {', '.join(_MODES)}")
    chosen = Options.of(options)
    constant = [
        i
        for i, value in enumerate(example_inputs)
        if isinstance(value, torch.nn.Parameter) or hasattr(value, "_dynamo_static_input_type")
    ]

    def inference(functional: torch.fx.GraphModule, given: Sequence[Any]) -> Callable[..., Any]:
        made_known(functional)
        kept = [i for i in constant if i not in _written()]
        if len(given) != len(example_inputs):  # some share memory, and are one input now
            kept = []
        return CompiledGraph(without_tokens(functional), kept, chosen)

    def training(*_: Any) -> Any:
        raise NncError(_TRAINING)

    made_opaque(graph)
    compiler = aot_autograd(
        fw_compiler=training,
        bw_compiler=training,
        inference_compiler=inference,
        decompositions=_decompositions(),
    )
    return compiler(graph, list(example_inputs))


def _written() -> set[int]:
    """The indices of the inputs that the currently traced graph writes to."""
    context = TracingContext.try_get()
    metadata = context.fw_metadata if context else None
    infos = metadata.input_info if metadata else ()
    return {i for i, info in enumerate(infos) if info.mutates_data}


@cache
def _decompositions() -> dict[Any, Callable[..., Any]]:
    """PyTorch's decompositions of ATen operators that nnc lacks, or that draw random numbers.

    Recurrent layers of packed sequences are excluded, as a trace does not know their lengths.
    """
    found = {
        op: taken_apart
        for op, taken_apart in decomposition_table.items()
        if taken_apart.__module__ == "torch._decomp.decompositions"
        and not str(op).endswith(".data")
        and (not is_read(str(op)) or str(op) in MADE_OF_DRAWN)
    }
    return found | {torch.ops.aten.native_dropout.default: dropped}


class CompiledGraph:
    """A functional graph of ATen operators; `constant` are the indices of its weights."""

    _boxed_call = True
    """Tells AOTAutograd to pass the arguments as a list, which is emptied."""

    def __init__(
        self, graph: torch.fx.GraphModule, constant: Sequence[int], options: Options
    ) -> None:
        self.graph = graph
        self.options = options
        self.names = [node.name for node in graph.graph.nodes if node.op == "placeholder"]
        self._programs: dict[Any, Call | None] = {}
        self._states = States()
        self._hold(constant)

    def _hold(self, constant: Sequence[int]) -> None:
        """Make the arguments at these indices constants of the code."""
        self.constant = tuple(constant)
        given = [node for node in self.graph.graph.nodes if node.op == "placeholder"]
        self.fed = [
            i
            for i, node in enumerate(given)
            if i not in self.constant and node.meta.get("val") is not None
        ]
        self._programs.clear()

    def __call__(self, given: list[Any]) -> list[Any]:
        arguments = tuple(given)
        given.clear()
        state = self._states.of([arguments[i] for i in self.constant])
        if state not in self._programs:
            state = self._prepare(arguments, state)
        call = self._programs[state]
        if call is None:
            return self.graph.forward(*arguments)
        return call(list(arguments))

    def _prepare(self, arguments: Sequence[Any], state: Any) -> Any:
        """Compile for these weights; those that change repeatedly become inputs."""
        often = self._states.change_often([arguments[i] for i in self.constant])
        if any(often):
            self._hold([i for i, changes in zip(self.constant, often, strict=True) if not changes])
            state = self._states.of([arguments[i] for i in self.constant])
        if len(self._programs) == _PROGRAMS:
            del self._programs[next(iter(self._programs))]
        self._programs[state] = self._compile(arguments)
        return state

    def _compile(self, arguments: Sequence[Any]) -> Call | None:
        """The program for these weights; None if the graph is left to PyTorch."""
        from .compile import compile_model

        weights = {self.names[i]: arguments[i] for i in self.constant}
        try:
            self._check(arguments)
            shared = Shared(self.graph)
            if not shared.count:
                return shared.placing(None, self.fed)
            graph, draws = with_drawn(shared.graph)
            stored = in_memory_order(graph, weights)
            module = _module(stored, weights)
            threads = self.options.threads or torch.get_num_threads()
            model = compile_model(
                module,
                threads=threads,
                fast_math=self.options.fast_math,
                cache=self.options.cache,
                tuned=self._tuned(module, threads),
            )
            call = call_of(model, graph, [*(self.names[i] for i in self.fed), *draws])
            return shared.placing(drawing(call, [*draws.values()]), self.fed)
        except NncError as error:
            if not self.options.fallback:
                raise
            count = sum(node.op == "call_function" for node in self.graph.graph.nodes)
            text = f"nnc leaves a graph of {count} operators to PyTorch: {error.message}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)
            return None

    def _tuned(self, module: Operation, threads: int) -> TunedFolder | None:
        """The schedules found for a graph; None if tuning is not requested or not possible."""
        if not self.options.tune:
            return None
        from .tuning.kept import kept_schedules

        try:
            return kept_schedules(module, self.options.tune, threads)
        except NncError as error:
            text = f"nnc does not tune a graph: {error.message}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)
            return None

    def _check(self, arguments: Sequence[Any]) -> None:
        for name, value in zip(self.names, arguments, strict=True):
            if isinstance(value, torch.SymInt):
                raise NncError(
                    f"'{name}' is an extent of nested tensors, of which each has its own"
                )
            if isinstance(value, torch.Tensor) and value.device.type != "cpu":
                raise NncError(f"'{name}' is on device {value.device}, and nnc runs on the CPU")


def _module(graph: torch.fx.GraphModule, weights: Mapping[str, torch.Tensor]) -> Operation:
    """The graph as a verified module, its weights as constants. Raises NncError."""
    loc = FileLineColLoc("<torch.compile>", 0, 0)
    importer = Importer(graph_of(graph, weights), ROWS, loc, AtenLayer)
    module = importer.run(InputChoices.of())
    module.verify()
    return module
