"""bench/models.py exports each model; the export itself compares ONNX Runtime with PyTorch."""

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

pytestmark = pytest.mark.slow

IMAGE_MODELS = ["resnet18", "resnet50", "vgg16", "mobilenet_v2"]
LANGUAGE_MODELS = ["bert_base", "gpt2", "gpt2_step"]
ExportModel = Callable[..., Path]


@pytest.mark.parametrize("name", IMAGE_MODELS + LANGUAGE_MODELS)
def test_export(export_model: ExportModel, name: str) -> None:
    model = onnx.load(export_model(name, "--tiny"))
    assert {opset.domain for opset in model.opset_import} == {""}
    # A path in the file would differ from machine to machine.
    assert str(Path(__file__).parents[2]).encode() not in model.SerializeToString()


@pytest.mark.parametrize("name", ["resnet18", "gpt2"])
def test_export_torchscript(export_model: ExportModel, name: str) -> None:
    export_model(name, "--tiny", "--exporter", "torchscript")


@pytest.mark.parametrize("exporter", ["torchscript", "dynamo"])
def test_no_optimize_keeps_batch_norms(export_model: ExportModel, exporter: str) -> None:
    model = onnx.load(export_model("resnet18", "--tiny", "--no-optimize", "--exporter", exporter))
    assert "BatchNormalization" in {node.op_type for node in model.graph.node}


def test_batch(export_model: ExportModel) -> None:
    model = onnx.load(export_model("resnet18", "--tiny", "--batch", "3"))
    (image,) = model.graph.input
    assert [dim.dim_value for dim in image.type.tensor_type.shape.dim] == [3, 3, 64, 64]
