"""The models that the onnx package holds: exports of PyTorch's modules, and nine real networks."""

from pathlib import Path

import nnc
import numpy as np
import onnx
import onnx.backend.test
import pytest
from nnc.frontends.onnx import import_model
from nnc.ir.diagnostics import NncError
from nnc.numerics.interpreter import Interpreter
from nnc.passes.nn.building import shape_of
from onnx import numpy_helper

DATA = Path(onnx.backend.test.__file__).parent / "data"


def folders(kind: str) -> list[str]:
    return sorted(f"{kind}/{path.name}" for path in (DATA / kind).iterdir() if path.is_dir())


def tensor(path: Path) -> np.ndarray:
    proto = onnx.TensorProto()
    proto.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(proto)


ALL = [*folders("pytorch-converted"), *folders("pytorch-operator"), *folders("simple")]


@pytest.mark.parametrize("name", ALL)
def test_small_models(name):
    path = DATA / name
    module = import_model(path / "model.onnx")
    module.verify()
    for data in sorted(path.glob("test_data_set_*")):
        inputs, outputs = (
            [tensor(data / f"{kind}_{i}.pb") for i in range(len(list(data.glob(f"{kind}_*.pb"))))]
            for kind in ("input", "output")
        )
        for found, expected in zip(Interpreter(module).call("main", inputs), outputs, strict=True):
            if expected.dtype == object:
                np.testing.assert_array_equal(found, expected)
            else:
                np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("path", sorted((DATA / "light").glob("*.onnx")), ids=lambda p: p.stem)
def test_real_networks_are_imported(path):
    module = import_model(path)
    module.verify()
    (main,) = module.body_block
    assert all(None not in r.type.shape for op in main.body_block for r in op.results)


def test_real_networks_have_names():
    """`onnx:NAME` is the file that the onnx package has; an unknown name lists them."""
    path = DATA / "light" / "light_squeezenet.onnx"
    (main,) = nnc.load("onnx:light_squeezenet").body_block
    graph = onnx.load(path).graph
    (image,) = main.args
    shape = next(v.type.tensor_type.shape for v in graph.input if v.name.startswith("data"))
    assert shape_of(image) == tuple(d.dim_value for d in shape.dim)
    with pytest.raises(NncError, match=r"no model 'onnx:nope'.*onnx:light_squeezenet"):
        nnc.load("onnx:nope")
