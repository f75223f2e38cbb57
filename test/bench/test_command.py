"""Commands of `bench` on files that are missing or no models."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    "name", ["compare", "disturbed", "instructions", "mca", "predicted", "targets", "web"]
)
def test_a_missing_file(name: str, tmp_path: Path):
    missing = tmp_path / "missing.onnx"
    command = [sys.executable, "-m", f"bench.{name}", str(missing)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"error: cannot read '{missing}': no such file\n"


def test_a_file_that_is_no_model(tmp_path: Path):
    faulty = tmp_path / "faulty.onnx"
    faulty.write_bytes(b"\xff" * 100)
    command = [sys.executable, "-m", "bench.compare", str(faulty)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"error: cannot read '{faulty}': no ONNX model\n"
