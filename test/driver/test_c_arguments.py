"""What a caller in C hands over that is NULL or of another shape is a status, before any work."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from nnc.tools import nnc as nnc_tool

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[n,3,m] x, float[n,2] z, float[4] w) => (float[n,3,m] y, float[4] v)
{ r = Relu(x) s = ReduceSum<keepdims=0>(z) y = Add(r, s) v = Exp(w) }"""

NO_ARGUMENT, OTHER_SHAPE = 1, 7


class Tensor(ctypes.Structure):
    """nnc_tensor"""

    _fields_ = (("data", ctypes.c_void_p), ("shape", ctypes.c_void_p))


class Caller:
    """A library, called with tensors that may be wrong."""

    def __init__(self, path: Path) -> None:
        self.code = ctypes.CDLL(str(path))
        self.code.nnc_message.restype = ctypes.c_char_p
        self.code.nnc_free.argtypes = [ctypes.c_void_p]
        self.context = ctypes.c_void_p()
        assert self.code.nnc_create(ctypes.byref(self.context), None, 1) == 0

    def status(self, shapes=((2, 3, 5), (2, 2)), null=()) -> int:
        """Of a call with these shapes; `null` names what is NULL."""
        x, z = np.ones((2, 3, 5), np.float32), np.ones((2, 2), np.float32)
        w, v = np.ones(4, np.float32), np.full(4, 7, np.float32)
        extents = [(ctypes.c_int64 * len(shape))(*shape) for shape in shapes]
        made = (ctypes.c_int64 * 3)()
        given = {
            name: None if name in null else array.ctypes.data
            for name, array in (("x", x), ("z", z), ("w", w), ("v", v))
        }
        x_shape, z_shape, y_shape = (
            None if name in null else ctypes.addressof(one)
            for name, one in zip(("x shape", "z shape", "y shape"), (*extents, made), strict=True)
        )
        inputs = (Tensor * 3)(
            Tensor(given["x"], x_shape), Tensor(given["z"], z_shape), Tensor(given["w"], None)
        )
        outputs = (Tensor * 2)(Tensor(None, y_shape), Tensor(given["v"], None))
        status = self.code.nnc_call(
            self.context,
            None if "inputs" in null else ctypes.byref(inputs),
            None if "outputs" in null else ctypes.byref(outputs),
        )
        if status:
            assert outputs[0].data is None and not any(made) and (v == 7).all()
        else:
            assert tuple(made) == shapes[0] and np.allclose(v, np.e)
            self.code.nnc_free(outputs[0].data)
        return status


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Caller:
    folder = tmp_path_factory.mktemp("c")
    onnx.save(onnx.parser.parse_model(TEXT), folder / "model.onnx")
    path = folder / "model.so"
    assert not nnc_tool.main(["compile", str(folder / "model.onnx"), "--quiet", "-o", str(path)])
    return Caller(path)


def test_right_arguments_are_accepted(caller: Caller) -> None:
    assert caller.status() == 0
    assert caller.status(((0, 3, 5), (0, 2)), null=("x", "z")) == 0  # no elements, no address
    assert caller.status(((2, 3, 0), (2, 2)), null=("x",)) == 0


@pytest.mark.parametrize(
    "shapes",
    [
        ((2, 4, 5), (2, 2)),  # the model says 3
        ((2, 3, 5), (2, 3)),
        ((2, 3, 5), (1, 2)),  # the model calls both n
        ((-2, 3, 5), (-2, 2)),
        ((2, 3, -1), (2, 2)),
        ((2, 3, 1 << 62), (2, 2)),
        ((2, 3, 1 << 60), (2, 2)),
    ],
)
def test_other_shapes(caller: Caller, shapes) -> None:
    assert caller.status(shapes) == OTHER_SHAPE
    message = caller.code.nnc_message(OTHER_SHAPE).decode()
    assert message == "an input has another shape than the model's"


@pytest.mark.parametrize(
    "null", ["inputs", "outputs", "x", "z", "w", "v", "x shape", "z shape", "y shape"]
)
def test_null(caller: Caller, null: str) -> None:
    assert caller.status(null=(null,)) == NO_ARGUMENT


def test_null_where_there_is_nothing_to_do(caller: Caller) -> None:
    code, some = caller.code, ctypes.c_void_p(ctypes.addressof((ctypes.c_char * 64)()))
    for function in (code.nnc_destroy, code.nnc_free, code.nnc_trim, code.nnc_release):
        function(None)
    for function in (code.nnc_give_back, code.nnc_reuse):
        for arguments in ((None, None), (None, some), (caller.context, None)):
            function(*arguments, ctypes.c_size_t(64))
    assert caller.status() == 0
