"""mlir-opt rejects the same invalid IR at the same lines with the same words."""

import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "lit" / "dialects"
DIALECTS = (
    *("builtin", "func", "cf", "arith", "math", "scf"),
    *("linalg", "affine", "memref", "tensor", "gpu", "amx"),
)
FILES = [path for d in DIALECTS for path in sorted((FOLDER / d).glob("invalid*.mlir"))]


@pytest.mark.mlir_opt
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_invalid(path, mlir_opt):
    command = [mlir_opt, "--allow-unregistered-dialect", "--split-input-file"]
    command += ["--verify-diagnostics=only-expected", str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
