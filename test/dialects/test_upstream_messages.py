"""mlir-opt rejects the same invalid IR at the same lines with the same words."""

import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "lit" / "dialects"
DIALECTS = ("builtin", "func", "cf", "arith", "math", "scf")


@pytest.mark.mlir_opt
@pytest.mark.parametrize("dialect", DIALECTS)
def test_invalid(dialect, mlir_opt):
    command = [mlir_opt, "--allow-unregistered-dialect", "--split-input-file"]
    command += ["--verify-diagnostics=only-expected", str(FOLDER / dialect / "invalid.mlir")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
