"""nnc as a backend for ONNX's own test runner and for tools that use `onnx.backend`.

import nnc.driver.onnx_backend as backend
backend.prepare(model, "CPU").run([x])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep, namedtupledict

from .compile import compile_model


class NncBackendRep(BackendRep):
    """A compiled model that takes inputs in order or by name and returns all outputs."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.executable = compile_model(model)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs as a named tuple; `inputs` is one array, a sequence, or a mapping."""
        names = self.executable.input_names
        if isinstance(inputs, Mapping):
            given = dict(inputs)
        else:
            values: Sequence[Any] = inputs if isinstance(inputs, list | tuple) else [inputs]
            given = dict(zip(names, values, strict=True))
        kinds = (list, Mapping, type(None))  # sequences, maps and optionals
        arrays = {n: v if isinstance(v, kinds) else np.asarray(v) for n, v in given.items()}
        outputs = self.executable.run(arrays)
        return namedtupledict("Outputs", list(outputs))(*outputs.values())


class NncBackend(Backend):
    """`onnx.backend.base.Backend` for the CPU."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> NncBackendRep:
        """Compile the model."""
        return NncBackendRep(model)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether the device, such as `CPU`, is one that nnc compiles for."""
        return device.partition(":")[0] == "CPU"


prepare = NncBackend.prepare
run_model = NncBackend.run_model
supports_device = NncBackend.supports_device
