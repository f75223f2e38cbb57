"""The completion scripts work in real shells."""

import shutil
import subprocess
from pathlib import Path

import pytest
from nnc.tools.completion import SHELLS, completion_script

from ..conftest import skip_unless_ci

COMPLETE = """\
source "$1"
shift
complete_with=$1
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
$complete_with
printf '%s\\n' "${COMPREPLY[@]}"
"""


def shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        if name == "bash":
            skip_unless_ci("bash is not installed")
        pytest.skip(f"{name} is not installed")
    return found


def in_bash(tool: str, words: list[str], folder: Path) -> list[str]:
    """What bash offers for the last of the words."""
    script = folder / "completion.bash"
    script.write_text(completion_script(tool, "bash"))
    arguments = [str(script), f"_{tool.replace('-', '_')}", tool, *words]
    done = subprocess.run(
        [shell("bash"), "-c", COMPLETE, "bash", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


# Bash gives `=` as a word of its own.
@pytest.mark.parametrize(
    ("tool", "words", "offered"),
    [
        ("nn-opt", ["--canoni"], ["--canonicalize"]),
        ("nn-opt", ["--lower-to-lo"], ["--lower-to-loops"]),
        ("nn-opt", ["-o", "x.mlir", "--pass-pipe"], ["--pass-pipeline="]),
        ("nn-opt", ["--mlir-timing-display", "=", "t"], ["tree"]),
        ("nn-opt", ["--mlir-timing-display", "="], ["list", "tree"]),
        ("nn-opt", ["--mlir-print-ir-after", "=", "cs"], ["cse"]),
        ("nn-opt", ["--mlir-print-ir-after", "=", "cse,symb"], ["cse,symbol-dce"]),
        ("nn-opt", ["--canonicalize", "=", "max-r"], ["max-rewrites="]),
        ("nn-opt", ["in"], ["in.mlir", "inner"]),
        ("nn-opt", ["-o", "in.m"], ["in.mlir"]),
        ("nn-opt", ["--resource-dir", "=", "in"], ["inner"]),
        ("nn-opt", ["--completion", "=", ""], list(SHELLS)),
        ("nn-opt", ["--xyz"], []),
        ("nn-run", ["--int"], ["--interpret"]),
        ("nn-run", ["--print", "=", "s"], ["summary"]),
        ("nnc", ["comp"], ["compare", "compile"]),
        ("nnc", ["--vers"], ["--version"]),
        ("nnc", ["run", "--rand"], ["--random"]),
        ("nnc", ["run", "--machine", "avx5"], ["avx512", "avx512-macos", "avx512-windows"]),
        ("nnc", ["run", "--target", "x86-64-v3-w"], ["x86-64-v3-windows"]),
        (
            "nn-opt",
            ["--target", "=", "avx2"],
            ["avx2", "avx2-macos", "avx2-windows"],
        ),
        ("nnc", ["compile", "in.m"], ["in.mlir"]),
        (
            "nnc",
            ["compare", "--against-target", "cortex-a7"],
            ["cortex-a7", "cortex-a72", "cortex-a76"],
        ),
        ("nnc", ["import", "--runs"], []),
        ("nnc", ["package", "--bindings", "py"], ["python"]),
        ("nnc", ["compile", "--bindings", "c,py"], ["c,python"]),
        ("nnc", ["remote", "log"], ["log", "login", "logout"]),
        ("nnc", ["remote", "order", "--wa"], ["--wait"]),
        ("nnc", ["run", "--target", "avx2", "remote", "lo"], []),
    ],
)
def test_bash_offers(tool: str, words: list[str], offered: list[str], tmp_path: Path) -> None:
    (tmp_path / "in.mlir").touch()
    (tmp_path / "inner").mkdir()
    assert sorted(in_bash(tool, words, tmp_path)) == sorted(offered)


@pytest.mark.parametrize("tool", ["nn-opt", "nn-run", "nnc"])
@pytest.mark.parametrize("name", SHELLS)
def test_scripts_are_valid(tool: str, name: str, tmp_path: Path) -> None:
    script = tmp_path / f"completion.{name}"
    script.write_text(completion_script(tool, name))
    subprocess.run([shell(name), "-n", str(script)], check=True)


def in_fish(tool: str, line: str, folder: Path) -> list[str]:
    script = folder / "completion.fish"
    script.write_text(completion_script(tool, "fish"))
    done = subprocess.run(
        [shell("fish"), "-c", f"source {script}; complete -C'{line}'"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return [offer.split("\t")[0] for offer in done.stdout.splitlines()]


def test_fish_offers(tmp_path: Path) -> None:
    assert "--canonicalize" in in_fish("nn-opt", "nn-opt --canon", tmp_path)
    assert in_fish("nn-opt", "nn-opt --mlir-timing-display=l", tmp_path) == [
        "--mlir-timing-display=list"
    ]
    assert in_fish("nnc", "nnc comp", tmp_path) == ["compile"]
    assert "avx512" in in_fish("nnc", "nnc run --target ", tmp_path)


def test_every_option_and_pass_is_offered() -> None:
    from nnc.lowering.catalog import PASS_MODULES
    from nnc.tools.opt_options import GROUPS

    names = [f.name for group in GROUPS for f in group.flags] + list(PASS_MODULES)
    for name in SHELLS:
        script = completion_script("nn-opt", name)
        spelled = "-l {}" if name == "fish" else "--{}"
        missing = [n for n in names if spelled.format(n) not in script]
        assert not missing
