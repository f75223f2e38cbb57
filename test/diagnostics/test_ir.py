"""Messages of the language core that no text of a module provokes: calls, classes, files."""

import errno
import json

import numpy as np
import pytest
from nnc.dialects.llvm.debug_info import _expression
from nnc.dialects.memref import CollapseShape, ExpandShape, SubView
from nnc.dialects.nn.unary import UnaryOp
from nnc.ir import weights_file
from nnc.ir.attributes import DenseResource
from nnc.ir.comprehension_bind import bind
from nnc.ir.comprehension_numpy import evaluate
from nnc.ir.core import Block
from nnc.ir.declare import Op
from nnc.ir.diagnostics import DeclarationError, NncError
from nnc.ir.dialect import registry
from nnc.ir.numpy_types import numpy_to_type, type_to_numpy
from nnc.ir.passes import Pass, PassManager, Pipeline
from nnc.ir.resources import SafetensorsFile
from nnc.ir.syntax.directive import Directive, directive, find_directive
from nnc.ir.syntax.parser import parse_module, parse_type
from nnc.ir.types import IntegerType, TensorType, f32


def comprehend(text: str, *shapes, extents=None, **scope):
    types = [TensorType(shape, f32) for shape in shapes]
    return bind(text, ["x", "y"][: len(types)], types, scope, extents)


COMPREHENSIONS = [
    (lambda: comprehend("out[i] x[i]", (3,)), "expected one of '=', .* after the result"),
    (lambda: comprehend("out[i = x[i]", (3,)), "expected '\\]', found '='"),
    (lambda: comprehend("out[i] = x[=]", (3,)), "expected an index, found '='"),
    (
        lambda: comprehend("out[i] = x[i]", (3,), extents={"i": 5}),
        "dimension 'i': 5 is given but x has 3",
    ),
    (
        lambda: comprehend("out[i..] max= x[i..*s + k..]", (9, 9), extents={"k": (3, 3)}, s=(1,)),
        "s has 1 elements, expected 2",
    ),
    (
        lambda: comprehend("out[i] = x[i*s]", (3,), s=None),
        "'s' is not known, but an index needs it",
    ),
    (
        lambda: comprehend("out[i..] += x[i.. + k..] * y[i..]", (4,), (4, 4)),
        "the groups i, k have different ranks",
    ),
    (
        lambda: evaluate(
            comprehend("out[i] = x[i // 2]", (3,), extents={"i": 20}),
            [np.zeros(3, np.float32)],
            np.dtype(np.float32),
        ),
        "indices leave an axis of 3 elements",
    ),
    (
        lambda: evaluate(
            comprehend("out[i] = x[i]", (None,)),
            [np.zeros(3, np.float32)],
            np.dtype(np.float32),
        ),
        "`out\\[i\\] = x\\[i\\]`: extents must be known",
    ),
]


@pytest.mark.parametrize(("call", "message"), COMPREHENSIONS, ids=[m for _, m in COMPREHENSIONS])
def test_comprehension(call, message: str) -> None:
    with pytest.raises(NncError, match=message):
        call()


def memref(type: str):
    return Block([parse_type(type)]).args[0]


MADE = [
    (
        lambda: CollapseShape.of(memref("memref<2x3xf32, strided<[9, 1]>>"), [[0, 1]]),
        "is not contiguous in \\[\\[0, 1\\]\\]",
    ),
    (
        lambda: ExpandShape.of(
            memref("memref<8xf32, affine_map<(d0) -> (d0 mod 3)>>"), [[0, 1]], [2, 4]
        ),
        "has no strided layout",
    ),
    (
        lambda: SubView.of(memref("memref<8xf32>"), [0], [4], [1], [5]),
        "memref.subview: \\[5\\] is not a reduction of",
    ),
    (lambda: type_to_numpy(IntegerType(128)), "NumPy has no element type for i128"),
    (lambda: numpy_to_type(np.dtype("U4")), "nnc has no element type for NumPy's <U4"),
    (lambda: _expression(odd=1), "#llvm.di_expression has no parameter 'odd'"),
]


@pytest.mark.parametrize(("call", "message"), MADE, ids=[m for _, m in MADE])
def test_what_cannot_be_made(call, message: str) -> None:
    with pytest.raises(NncError, match=message):
        call()


def test_a_name_without_a_dialect() -> None:
    namespace = {"__doc__": "Never made.", "__module__": __name__, "example": ""}
    with pytest.raises(DeclarationError, match=r"the name must be 'dialect\.op'"):
        type(Op)("Nameless", (Op,), namespace, name="nameless")


def test_a_body_of_another_result() -> None:
    with pytest.raises(DeclarationError, match="'z' is not a result of the op"):

        class Bad(UnaryOp, name="nn.bad_result"):
            """Gives what it has not."""

            body = "z[i..] = x[i..]"
            example = "%y = nn.bad_result %x : (tensor<4xf32>) -> tensor<4xf32>"


def test_what_is_declared_twice() -> None:
    find_directive("ParallelLoop", registry.ops["scf.parallel"].definition)
    with pytest.raises(DeclarationError, match=r"op 'nn\.relu' is declared twice"):
        registry.defer_ops(["nn.relu"], lambda _: Op)
    known = type(parse_type("!llvm.ptr"))
    with pytest.raises(DeclarationError, match=r"'llvm\.ptr' is declared twice"):
        registry.register_attribute(known)
    with pytest.raises(DeclarationError, match="directive custom<ParallelLoop> is defined twice"):

        @directive("ParallelLoop")
        class Other(Directive):
            """Has a name that is taken."""


def test_a_branch_out_of_its_region() -> None:
    """The parser finds no such block; a pass may make one."""
    module = parse_module(
        "func.func @f() { cf.br ^a ^a: return } func.func @g() { cf.br ^a ^a: return }"
    )
    first, second = (op for op in module.walk() if op.name == "cf.br")
    first.successors[:] = second.successors
    with pytest.raises(NncError, match="branches to a block of another region"):
        module.verify()


def test_a_pass_without_end() -> None:
    class Endless(Pass):
        """Calls itself."""

        name = "endless"

        def run(self, op, context) -> None:
            self.run(op, context)

    with pytest.raises(NncError, match="the IR is nested too deeply for pass 'endless'") as caught:
        PassManager(Pipeline((Endless(),))).run(parse_module("module {}", "f.mlir"))
    assert caught.value.location is not None


def test_tensors_that_a_file_lacks(tmp_path) -> None:
    path = tmp_path / "w.safetensors"
    header = json.dumps({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    file = SafetensorsFile(path)
    with pytest.raises(NncError, match="no tensor named 'b'"):
        file.bytes("b")
    with pytest.raises(NncError, match="tensor 'a' lies outside the file"):
        file.bytes("a")


def test_a_disk_that_is_full(tmp_path, monkeypatch) -> None:
    def full(*_) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    module = parse_module(
        '"t.u"() {a = dense_resource<w> : tensor<1xf32>} : () -> () '
        '{-# dialect_resources: { builtin: { w: "0x040000000000803F" } } #-}',
        allow_unregistered=True,
    )
    assert any(isinstance(a, DenseResource) for op in module.walk() for a in op.attributes.values())
    monkeypatch.setattr(weights_file, "publish", full)
    with pytest.raises(NncError, match="No space left on device"):
        weights_file.write_module(module, tmp_path / "m.mlir")
    assert not list(tmp_path.iterdir())
