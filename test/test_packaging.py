"""The package that pip builds holds every module and data file of the checkout."""

import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOT_PACKAGED = {"bench", "build", "dist", "docs", "examples", "fuzz", "test"}
SOURCES = {".py", ".c", ".h", ".lark", ".m", ".mlir"}


def source_folders() -> set[Path]:
    """Folders of the checkout that hold sources and have to be packages, from ROOT."""
    folders = {path for path in ROOT.iterdir() if path.is_dir() and is_packaged(path)}
    return {
        file.parent.relative_to(ROOT)
        for folder in folders
        for file in folder.rglob("*")
        if file.suffix in SOURCES and "__pycache__" not in file.parts
    }


def is_packaged(folder: Path) -> bool:
    """Whether this folder at the root belongs to the package; a virtual environment does not."""
    hidden = folder.name.startswith((".", "_"))
    environment = (folder / "pyvenv.cfg").exists()
    return not hidden and not environment and folder.name not in NOT_PACKAGED


def test_every_source_folder_is_a_package() -> None:
    # A folder without __init__.py would work in the checkout and be missing when installed.
    missing = sorted(str(f) for f in source_folders() if not (ROOT / f / "__init__.py").exists())
    assert not missing, f"no __init__.py in {', '.join(missing)}"


def test_setup_lists_every_package() -> None:
    listed = subprocess.run(
        [sys.executable, "-c", LIST_PACKAGES], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    expected = {".".join(("nnc", *folder.parts)) for folder in source_folders()}
    assert set(listed) == expected | {"nnc"}


LIST_PACKAGES = """
import setuptools
setuptools.setup = lambda packages: print(*packages)
exec(open("setup.py").read())
"""


def test_every_data_file_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["*"]
    forgotten = [
        str(file.relative_to(ROOT))
        for top in {folder.parts[0] for folder in source_folders()}
        for file in (ROOT / top).rglob("*")
        if file.is_file()
        and "__pycache__" not in file.parts
        and file.suffix not in {".py", ".pyi", ".md"}
        and not any(covers(pattern, from_package(file)) for pattern in patterns)
    ]
    assert not forgotten, f"package-data in pyproject.toml does not cover {', '.join(forgotten)}"


def covers(pattern: str, path: str) -> bool:
    """Whether a pattern of setuptools means a path; a star is no folder."""
    return pattern.count("/") == path.count("/") and fnmatchcase(path, pattern)


def from_package(file: Path) -> str:
    """A file's path from the package that it lies in or below, as setuptools looks for it."""
    package = next(one for one in file.parents if (one / "__init__.py").exists())
    return file.relative_to(package).as_posix()


@pytest.mark.slow
def test_plain_install(tmp_path: Path) -> None:
    # What an editable install hides: modules and data files that never reach the wheel.
    # From a copy: setuptools leaves a build folder behind, and picks up what an old one holds.
    copy, target = tmp_path / "checkout", tmp_path / "site"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", *NOT_PACKAGED, "*.egg-info"))
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", str(target), str(copy)]
    subprocess.run(pip, check=True)
    wanted = {
        file.relative_to(ROOT)
        for folder in source_folders()
        for file in (ROOT / folder).iterdir()
        if file.suffix in SOURCES
    }
    missing = sorted(str(file) for file in wanted if not (target / "nnc" / file).exists())
    assert not missing


@pytest.mark.thorough
def test_it_starts_without_docstrings():
    """`python -OO` takes them away, which declarations ask for otherwise."""
    code = "from nnc.tools.nn_opt import main; main(['--lower-all', 'examples/in.mlir'])"
    command = [sys.executable, "-OO", "-B", "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "llvm.func" in done.stdout
    assert not done.stderr
