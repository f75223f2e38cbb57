"""A device that ends in no object file, made of this file alone: what it has to touch of nnc.

It registers itself in three tables: families of targets, policies of schedules, modules of passes.
Everything else (compile, run, stages, check, nn-opt, targets) takes it as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nnc
import numpy as np
import onnx
import pytest
from nnc.artifacts.options import ArtifactOptions, FileKind
from nnc.dialects import func, schedule
from nnc.dialects.marks import ENTRY
from nnc.ir.attributes import UnitAttr
from nnc.ir.core import Block, Operation
from nnc.ir.diagnostics import NncError
from nnc.ir.files import write_whole
from nnc.ir.passes import Pass, PassContext
from nnc.ir.stages import Stage, stage
from nnc.ir.syntax.parser import parse_module
from nnc.ir.timing import Timed, untimed
from nnc.numerics.interpreter import Interpreter
from nnc.runtime.model import Model
from nnc.runtime.program import Program
from nnc.targets.base import Symbols, Target
from nnc.targets.machine import Machine, Memory
from nnc.tools import nn_opt
from nnc.tools import nnc as nnc_tool

NAME = "pretended"
GROUPED = "test.grouped"


@dataclass(frozen=True, kw_only=True)
class Device(Machine):
    """Groups of threads with memory of their own, and no vectors."""

    groups: int = 8
    workgroup_bytes: int = 48 << 10

    def lanes(self, element_bytes: int) -> int:
        return 1

    @property
    def multiply_adds(self) -> float:
        return 64.0

    @property
    def nearest_memory(self) -> Memory:
        return Memory(self.workgroup_bytes, 64.0)

    @property
    def private_memory(self) -> Memory:
        return self.nearest_memory

    @property
    def shared_memory(self) -> Memory:
        return Memory(4 << 20, 32.0)


@dataclass(frozen=True)
class BindGroups(Pass, name="test-bind-groups", anchor="builtin.module"):
    """Mark each kernel as one that groups of threads run: where a device's own passes begin."""

    def run(self, op: Operation, context: PassContext) -> None:
        for one in list(op.body_block):
            if isinstance(one, schedule.For):
                one.erase()
            elif isinstance(one, func.FuncOp) and ENTRY not in one.attributes:
                one.attributes[GROUPED] = UnitAttr()


@dataclass(frozen=True, kw_only=True)
class PretendedTarget(Target):
    """Writes its kernels as text, and runs them by the interpreter."""

    @property
    def stages(self) -> tuple[Stage, ...]:
        return (
            stage(
                "groups", "kernels that groups of threads run", "test-bind-groups", "describe-entry"
            ),
        )

    def emit(self, module: Operation, symbols: Symbols, timed: Timed = untimed) -> bytes:
        return str(module).encode()

    @property
    def files(self) -> Mapping[str, FileKind]:
        return {".groups": FileKind(holds_weights=True)}

    def write(
        self, program: Program, path: Path, options: ArtifactOptions, timed: Timed = untimed
    ) -> list[Path]:
        write_whole(path, program.code.decode())
        return [path]

    def obstacle(self) -> str | None:
        return "it is not a processor"

    def check_runs(self, emulate: bool = True) -> None:
        if not emulate:
            self.check_runs_here()

    def load(self, code: bytes, exports: tuple[str, ...]) -> Any:
        raise NncError("its code is not of this process")

    def running(self, program: Program, threads: int, progress: Any = None) -> Model:
        return Interpreted(program)

    def where_it_runs(self) -> str:
        return "interpreted"


class Interpreted(Model):
    """The text of a program as a callable."""

    def __init__(self, program: Program) -> None:
        super().__init__(program.signature)
        self._interpreter = Interpreter(parse_module(program.code.decode()))

    @property
    def threads(self) -> int:
        return 1

    def _call(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        results = [np.zeros(t.shape, np.float32) for t in self.output_types]
        self._interpreter.call("main", [*inputs, *results])
        return results


def candidates(kernel: str, block: Block, machine: Machine, every: bool) -> Sequence[Any]:
    """A schedule that says nothing: the loops as they are."""
    from nnc.kernels.model.stages import stages_of
    from nnc.kernels.policy.writer import ScheduleWriter

    assert isinstance(machine, Device)
    return [SimpleNamespace(schedule=ScheduleWriter(kernel, stages_of(block)).op)]


def best(found: Sequence[Any], machine: Machine) -> Any:
    """The only one."""
    return found[0]


MACHINE = Device(
    cores=8, gigahertz=1.0, line_bytes=64, memory_bandwidth=64.0, has_fma=True,
)  # fmt: skip
TARGET = PretendedTarget(
    name=NAME, summary="a device of the tests", family=NAME, machine=MACHINE, policy=NAME
)


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device, in the three tables."""
    from nnc.kernels import policy
    from nnc.lowering import catalog
    from nnc.targets import base

    room = SimpleNamespace(TARGETS=(TARGET,), host=lambda: None)
    monkeypatch.setitem(sys.modules, "nnc.targets.pretended", room)
    monkeypatch.setattr(base, "FAMILIES", (*base.FAMILIES, NAME))
    monkeypatch.setitem(sys.modules, "nnc.kernels.policy.pretended", sys.modules[__name__])
    monkeypatch.setitem(policy.POLICIES, NAME, ".pretended")
    monkeypatch.setitem(catalog.PASS_MODULES, "test-bind-groups", __name__)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    text = """<ir_version: 10, opset_import: ["": 21]>
    m (float[2, 8] x) => (float[2, 4] y)
    <float[8, 4] w = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                      0, 1, 0, 1, 0, 1, 0, 1, 2, 2, 2, 2, 3, 3, 3, 3}>
    { z = MatMul(x, w)  y = Relu(z) }"""
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    return path


@pytest.mark.usefixtures("device")
def test_it_compiles_and_runs(model: Path) -> None:
    x = np.linspace(-1, 1, 16, dtype=np.float32).reshape(2, 8)
    w = onnx.numpy_helper.to_array(onnx.load(model).graph.initializer[0])
    compiled = nnc.compile(model, target=NAME, cache=False)
    np.testing.assert_allclose(compiled(x), np.maximum(x @ w, 0), rtol=1e-6)


@pytest.mark.usefixtures("device")
def test_the_command_line_takes_it(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = model.with_suffix(".groups")
    assert nnc_tool.main(["compile", str(model), "--target", NAME, "-o", str(out), "--quiet"]) == 0
    assert GROUPED in out.read_text()
    folder = model.parent / "stages"
    assert nnc_tool.main(["stages", str(model), "--target", NAME, "-o", str(folder)]) == 0
    assert [path.name for path in sorted(folder.glob("*.mlir"))][-1] == "5-groups.mlir"
    capsys.readouterr()
    assert nn_opt.main(["--lower-all", "--target", NAME, str(folder / "3-bufferize.mlir")]) == 0
    assert GROUPED in capsys.readouterr().out
    assert nnc_tool.main(["targets"]) == 0
    assert "interpreted    a device of the tests" in capsys.readouterr().out
    assert nnc_tool.main(["check", str(model), "--target", NAME]) == 0


@pytest.mark.usefixtures("device")
def test_what_it_cannot_do_is_said(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert nnc_tool.main(["compile", str(model), "--target", NAME, "-o", str(model) + ".so"]) == 1
    said = capsys.readouterr().err
    assert f"'{NAME}' is written as .groups or .mlir, not as 'm.onnx.so'" in said
    folder = str(model.parent / "made")
    command = ["compile", str(model), "--target", NAME, "--bindings", "c", "-o", folder]
    assert nnc_tool.main(command) == 1
    assert f"bindings call libraries; '{NAME}' has none" in capsys.readouterr().err
    assert nn_opt.main(["--apply-schedules", "--target", NAME, "examples/in.mlir"]) == 1
    assert f"the module is for '{NAME}', which is not a processor" in capsys.readouterr().err
