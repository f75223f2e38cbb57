"""The nine `real` cases of the ONNX backend tests, compiled, with ONNX's own runner.

The models and expected outputs lie in the onnx package; the runner makes the inputs and
compares within each case's own tolerances.
"""

import unittest
from pathlib import Path

import onnx.backend.test
import pytest
from nnc.driver.onnx_backend import NncBackend
from onnx.backend.test import runner
from onnx.backend.test.loader import load_model_tests

CASES = [
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
    "zfnet512",
]
SMALL = ["squeezenet"]
THOROUGH = [pytest.param(name, marks=pytest.mark.thorough) for name in CASES if name not in SMALL]


@pytest.mark.parametrize("case", [*SMALL, *THOROUGH])
def test_real_case(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONNX_HOME", str(tmp_path))
    # The runner would make all other cases too, which takes longer than to compile a model.
    real = lambda kind: load_model_tests(kind=kind) if kind == "real" else []  # noqa: E731
    monkeypatch.setattr(runner, "load_model_tests", real)
    (tmp_path / "models" / "light").mkdir(parents=True)
    suite = onnx.backend.test.BackendTest(NncBackend, __name__).test_cases[
        "OnnxBackendRealModelTest"
    ]
    result = unittest.TestResult()
    suite(f"test_{case}_cpu").run(result)
    assert result.testsRun == 1
    faults = [text for _, text in (*result.errors, *result.failures)]
    assert not faults, faults[0]
    assert not result.skipped
