"""What commands call a user's file."""

import pytest
from nnc.delivery.carrying.names import file_name


@pytest.mark.parametrize(
    ("given", "called"),
    [
        ("resnet50.onnx", "resnet50.onnx"),
        ("Mein Modell (v2.1).onnx", "Mein Modell (v2.1).onnx"),
        ("モデル.tflite", "モデル.tflite"),
        ("--output=x.onnx", "output_x.onnx"),
        ("..", "model"),
        (".hidden", "hidden"),
        (" - ", "model"),
        ("a/../b\\c.onnx", "a_.._b_c.onnx"),
        ("$(id);`id`|x>y.zip", "_(id)__id__x_y.zip"),
        ("x\0\n\u202e.onnx", "x___.onnx"),
        ("onnx:resnet.onnx", "onnx_resnet.onnx"),
    ],
)
def test_names(given, called):
    assert file_name(given) == called


@pytest.mark.parametrize("given", ["x" * 200 + ".onnx", "é" * 200 + ".onnx", "x." + "y" * 200])
def test_long_names(given):
    called = file_name(given)
    assert len(called.encode()) <= 120
    assert called.endswith(".onnx") == given.endswith(".onnx")


@pytest.mark.parametrize(
    "given", ["a b.onnx", "-" * 200, "é" * 59 + "  .onnx", "x" * 119 + " .onnx"]
)
def test_a_name_that_it_gives_stays(given):
    assert file_name(file_name(given)) == file_name(given)
