"""Models exported by PyTorch against ONNX Runtime: 1e-4 of the output's largest value.

The small variants run by default where the `models` extra is there; the full ones are slow.
"""

from collections.abc import Callable
from pathlib import Path

import nnc
import numpy as np
import onnxruntime
import pytest

TINY = ["resnet18", "resnet50", "vgg16", "mobilenet_v2", "bert_base", "gpt2", "gpt2_step"]
FULL = [
    pytest.param("resnet18", marks=pytest.mark.exhaustive),
    "mobilenet_v2",
    "bert_base",
    "gpt2",
]
EXPORTERS = ["dynamo", "torchscript"]


def check_against_onnxruntime(path: Path, seed: int = 0) -> None:
    """Compile and run a model on random inputs; assert agreement."""
    from nnc.tools.inputs import random_array

    executable = nnc.compile(path)
    generator = np.random.default_rng(seed)
    inputs = {
        name: random_array(type, generator, name)
        for name, type in zip(executable.input_names, executable.input_types, strict=True)
    }
    outputs = executable.run(inputs)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    for name, want in zip(names, session.run(names, inputs), strict=True):
        scale = np.max(np.abs(want))
        error = np.max(np.abs(outputs[name] - want)) / scale
        assert error <= 1e-4, f"{name}: relative error {error:.2e}"


@pytest.mark.slow
@pytest.mark.parametrize("exporter", EXPORTERS)
@pytest.mark.parametrize("model", TINY)
def test_small_variants(model: str, exporter: str, export_model: Callable[..., Path]) -> None:
    check_against_onnxruntime(export_model(model, "--tiny", "--exporter", exporter))


@pytest.mark.slow
@pytest.mark.parametrize("model", FULL)
def test_full_models(model: str, export_model: Callable[..., Path]) -> None:
    check_against_onnxruntime(export_model(model))
