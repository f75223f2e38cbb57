"""A skip is accepted only for a reason listed in skips.py, and never hides a missing mlir-opt in CI."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def run_pytest(tmp_path: Path, *sources: str, **environment: str) -> str:
    """Pytest's output for test files beside copies of conftest.py and what it imports."""
    (tmp_path / "test" / "diagnostics").mkdir(parents=True)
    for file in ("recorder.py", "sites.py"):
        shutil.copy(HERE / "diagnostics" / file, tmp_path / "test" / "diagnostics")
    for name in ("conftest", "leftovers", "processor", "sampling", "selection", "skips"):
        shutil.copy(HERE / f"{name}.py", tmp_path / "test")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = mlir_opt: needs mlir-opt\n")
    for number, source in enumerate(sources):
        (tmp_path / "test" / f"test_{number}.py").write_text(f"import pytest\n{source}\n")
    command = [sys.executable, "-m", "pytest", "--import-mode=importlib", "-q", "-rA"]
    command.append("--continue-on-collection-errors")
    unset = {"CI", "MLIR_OPT", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"}
    inherited = {name: value for name, value in os.environ.items() if name not in unset}
    quick = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        command, cwd=tmp_path, env=inherited | quick | environment, capture_output=True, text=True
    ).stdout


def test_unlisted_reasons_fail(tmp_path: Path) -> None:
    output = run_pytest(
        tmp_path,
        "@pytest.mark.skip(reason='later')\ndef test_a(): pass",
        "def test_a(): pytest.skip('later')",
        "@pytest.mark.xfail(reason='later')\ndef test_a(): assert False",
        "pytest.skip('later', allow_module_level=True)",
    )
    assert output.count("skipped: 'later', but test/skips.py allows only") >= 4
    assert "2 failed, 2 errors" in output


def test_listed_reason_skips(tmp_path: Path) -> None:
    source = "def test_a(): pytest.skip('mlir-opt 22 is not installed')"
    assert "1 skipped" in run_pytest(tmp_path, source)


NEEDS_MLIR_OPT = "@pytest.mark.mlir_opt\ndef test_a(): pass"


def test_missing_mlir_opt_skips(tmp_path: Path) -> None:
    assert "1 skipped" in run_pytest(tmp_path, NEEDS_MLIR_OPT, PATH="")


def test_missing_mlir_opt_fails_in_ci(tmp_path: Path) -> None:
    output = run_pytest(tmp_path, NEEDS_MLIR_OPT, PATH="", CI="true")
    assert "mlir-opt 22 is not installed, and CI=true" in output
    assert "1 error" in output


def test_what_a_test_leaves_in_the_temporary_folder_is_removed(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    source = "import tempfile\ndef test_a(): print('made', tempfile.mkdtemp(prefix='left-'))"
    output = run_pytest(
        tmp_path, source, TMPDIR=str(temporary), PYTEST_DEBUG_TEMPROOT=str(tmp_path)
    )
    assert f"made {temporary}/nnc-tests-" in output and "/left-" in output
    assert [*temporary.iterdir()] == []
