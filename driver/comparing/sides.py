"""The ways to run a model: compiled by nnc, or by ONNX Runtime."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from ...ir.diagnostics import NncError
from ...ir.location import FileLineColLoc

if TYPE_CHECKING:
    from ...ir.core import Operation
    from ...runtime.model import Model

Values = dict[str, np.ndarray]


class Side(ABC):
    """A way to run models. `name` is its name in messages."""

    name: str

    @abstractmethod
    def run(self, model: Any, inputs: Mapping[str, np.ndarray]) -> Values:
        """The outputs, by name, of a model: a path or a ModelProto. Raises NncError."""


@dataclass
class CompiledSide(Side):
    """nnc, for a target, perhaps with a custom pipeline from the graph to the llvm dialect."""

    name: str
    target: str | None = None
    fast_math: bool = True
    passes: str = ""
    threads: int = 1
    choices: dict[str, Any] = field(default_factory=dict)
    """The shapes and constants given for the model's inputs."""

    def compile(self, model: Any, accept: Callable[[Operation], None] | None = None) -> Model:
        """The compiled model; `accept` may raise NncError to refuse the module that was read."""
        from ...targets.attribute import attach, target_of
        from ..compile import compile_model, load_module
        from ..program import make_program

        choices: dict[str, Any] = self.choices
        if isinstance(model, onnx.ModelProto):  # a part, which has some of the inputs
            names = {value.name for value in model.graph.input}
            choices = {
                kind: {name: value for name, value in given.items() if name in names}
                for kind, given in choices.items()
                if kind != "signature"
            }
        if not self.passes:
            return compile_model(
                model,
                target=self.target,
                fast_math=self.fast_math,
                threads=self.threads,
                cache=False,
                accept=accept,
                **choices,
            )
        from ...ir.passes import PassContext, PassManager
        from ...lowering.pipelines import pipeline

        module = load_module(model, fast_math=self.fast_math, **choices)
        if accept is not None:
            accept(module)
        target = attach(module, target_of(module, self.target))
        target.check_runs()
        PassManager(pipeline(self.passes), PassContext(), (), False).run(module)
        return target.running(make_program(module), self.threads)

    def run(self, model: Any, inputs: Mapping[str, np.ndarray]) -> Values:
        return self.compile(model).run(inputs)


class OnnxRuntimeSide(Side):
    """ONNX Runtime on the processor, without graph optimizations."""

    def __init__(self, threads: int = 1) -> None:
        onnxruntime = import_onnxruntime()
        self.name = f"ONNX Runtime {onnxruntime.__version__}"
        self.threads = threads

    def run(self, model: Any, inputs: Mapping[str, np.ndarray]) -> Values:
        session = onnxruntime_session(model, self.threads, optimized=False)
        names = [output.name for output in session.get_outputs()]
        taken = (*session.get_inputs(), *session.get_overridable_initializers())
        wanted = {value.name for value in taken}
        feed = {name: value for name, value in inputs.items() if name in wanted}
        try:
            return dict(zip(names, session.run(names, feed), strict=True))
        except Exception as error:  # the binding raises many kinds
            raise _fault(error, "cannot run", model) from None


def import_onnxruntime() -> Any:
    """The onnxruntime package. Raises NncError if it is not installed."""
    try:
        import onnxruntime
    except ImportError:
        raise NncError(
            "ONNX Runtime is not installed: pip install onnxruntime, or compare with another "
            "compilation, see --against-target"
        ) from None
    return onnxruntime


def onnxruntime_session(model: Any, threads: int, optimized: bool = True) -> Any:
    """A session for a path or a ModelProto. Raises NncError."""
    onnxruntime = import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        source = model.SerializeToString() if isinstance(model, onnx.ModelProto) else str(model)
        return onnxruntime.InferenceSession(source, options, ["CPUExecutionProvider"])
    except Exception as error:  # the bindings raise many kinds, also for 2 GB
        raise _fault(error, "does not take", model) from None


def _fault(error: Exception, what: str, model: Any) -> NncError:
    place = None if isinstance(model, onnx.ModelProto) else FileLineColLoc(str(model), 0, 0)
    reason = str(error).strip().split("\n")[0]
    return NncError(f"ONNX Runtime {what} the model: {reason}", place)
