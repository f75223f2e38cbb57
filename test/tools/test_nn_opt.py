"""nn-opt as a process and as a library: what it loads, how it ends, what it leaves behind."""

import fcntl
import io
import os
import signal
import struct
import subprocess
import sys
import termios
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pytest
from nnc.ir.core import Operation
from nnc.ir.passes import PASSES, Pass, PassContext
from nnc.lowering.catalog import PASS_MODULES
from nnc.tools import nn_opt
from nnc.tools.command import Streams

ADD = """\
func.func @f(%a: i32) -> i32 {
  %c = arith.constant 0 : i32
  %0 = arith.addi %a, %c : i32
  return %0 : i32
}
"""
RUN = [sys.executable, "-m", "nnc.tools.nn_opt"]


def run(folder: Path, *arguments: str, stdin: str = ADD) -> tuple[int, str, str]:
    streams = Streams(io.StringIO(stdin), io.StringIO(), io.StringIO(), folder)
    code = nn_opt.main(arguments, streams)
    return code, streams.stdout.getvalue(), streams.stderr.getvalue()


# -- start-up --------------------------------------------------------------------------------------

HEAVY = ("numpy", "llvmlite", "onnx", "argparse", "difflib", "nnc.tools.completion")


@pytest.mark.parametrize(
    ("arguments", "unloaded"),
    [
        (["--version"], [*HEAVY, "lark", "nnc.ir.core", "nnc.lowering.pipelines"]),
        (
            ["--canonicalize", "in.mlir"],
            [*HEAVY, "nnc.tools.rewrite_trace", "nnc.ir.reproducer"],
        ),
    ],
)
def test_only_what_is_needed_is_loaded(
    arguments: list[str], unloaded: list[str], tmp_path: Path
) -> None:
    (tmp_path / "in.mlir").write_text(ADD)
    code = (
        "import sys; from nnc.tools.nn_opt import main; code = main(sys.argv[1:]);"
        "sys.stderr.write(' '.join(sys.modules)); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stderr.split())
    assert not loaded & set(unloaded)


# -- how it ends -----------------------------------------------------------------------------------


def waiting_bytes(pipe: IO[str]) -> int:
    """How much was written into a pipe that its reader has not taken yet."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def test_an_interruption_is_one_line_and_130(tmp_path: Path) -> None:
    (tmp_path / "out.mlir").write_text("precious")
    process = subprocess.Popen(
        [*RUN, "-", "-o", "out.mlir"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(ADD)
    process.stdin.flush()
    while waiting_bytes(process.stdin) and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)  # it waits for the rest of its input
    _, message = process.communicate(timeout=120)
    assert (process.returncode, message) == (130, "nn-opt: interrupted\n")
    assert (tmp_path / "out.mlir").read_text() == "precious"
    assert os.listdir(tmp_path) == ["out.mlir"]


@pytest.mark.parametrize("redirection", ["", "2>&1 >/dev/null"])
def test_a_reader_that_goes_away_is_no_error(redirection: str, tmp_path: Path) -> None:
    functions = "".join(f"func.func private @f{i}()\n" for i in range(5000))
    (tmp_path / "in.mlir").write_text(functions)
    command = " ".join([*RUN, "--cse --mlir-print-ir-after-all in.mlir", redirection])
    done = subprocess.run(
        ["bash", "-c", f"({command}) | head -n 1"], cwd=tmp_path, capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    assert done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full")
def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "in.mlir").write_text(ADD)
    done = subprocess.run(
        ["bash", "-c", f"{' '.join(RUN)} in.mlir > /dev/full"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == "nn-opt: error: No space left on device\n"


# -- what it leaves behind ---------------------------------------------------------------------------


def test_a_file_is_written_only_if_every_part_is_well(tmp_path: Path) -> None:
    (tmp_path / "out.mlir").write_text("precious")
    text = "module {}\n// -----\nmodule {\n"
    code, out, _ = run(tmp_path, "--split-input-file", "-o", "out.mlir", stdin=text)
    assert (code, out) == (1, "")
    assert (tmp_path / "out.mlir").read_text() == "precious"
    assert os.listdir(tmp_path) == ["out.mlir"]


def test_parts_are_written_with_marks_between(tmp_path: Path) -> None:
    text = "module {}\n// -----\nmodule {}\n"
    code, out, _ = run(tmp_path, "--split-input-file", stdin=text)
    assert code == 0
    assert run(tmp_path, "--split-input-file", "-o", "out.mlir", stdin=text) == (0, "", "")
    assert (tmp_path / "out.mlir").read_text() == out == "module {\n}\n\n// -----\nmodule {\n}\n\n"


@pytest.fixture
def failing_pass():
    """A pass with a defect: it raises what is no error of a user's."""

    @dataclass(frozen=True)
    class Defect(Pass, name="test-defect"):
        """Breaks down."""

        def run(self, op: Operation, context: PassContext) -> None:
            raise KeyError("a defect")

    PASS_MODULES["test-defect"] = "unused"
    yield Defect
    del PASS_MODULES["test-defect"], PASSES["test-defect"]


@pytest.mark.usefixtures("failing_pass")
@pytest.mark.parametrize("local", [False, True])
def test_a_defect_leaves_a_reproducer_too(local: bool, tmp_path: Path) -> None:
    flags = ["--mlir-pass-pipeline-crash-reproducer=r.mlir"]
    flags += ["--mlir-pass-pipeline-local-reproducer"] if local else []
    code, _, message = run(tmp_path, "--canonicalize", "--test-defect", *flags)
    assert code == 2
    assert "this is a defect of nnc" in message
    assert "reproducer generated at `r.mlir`" in message
    text = (tmp_path / "r.mlir").read_text()
    assert ("arith.addi" in text) is not local
    passes = "test-defect" if local else "canonicalize,test-defect"
    assert f'pipeline: "builtin.module({passes})"' in text
    again = run(tmp_path, "--run-reproducer", stdin=text)
    assert again[0] == 2


def test_a_reproducer_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    flags = ["--canonicalize=max-rewrites=1", "--mlir-pass-pipeline-crash-reproducer=no/r.mlir"]
    text = ADD.replace("return %0", "%1 = arith.addi %0, %c : i32\n  return %1")
    code, _, message = run(tmp_path, *flags, stdin=text)
    assert code == 1
    assert "no reproducer: cannot write" in message


def test_a_reproducer_without_a_pipeline(tmp_path: Path) -> None:
    text = "module {}\n{-# external_resources: { mlir_reproducer: { verify_each: true } } #-}\n"
    code, _, message = run(tmp_path, "--run-reproducer", stdin=text)
    assert code == 1
    assert "<stdin>:2:1: error: 'mlir_reproducer' has no pipeline, a string" in message


@pytest.mark.parametrize("flag", ["--trace-rewrites=t.txt", "--mlir-timing", "--cse"])
def test_what_is_said_of_a_run_does_not_change_its_result(flag: str, tmp_path: Path) -> None:
    plain = run(tmp_path, "--canonicalize")
    assert run(tmp_path, "--canonicalize", flag)[:2] == plain[:2]


def test_a_trace_is_written_though_the_run_fails(tmp_path: Path) -> None:
    text = ADD.replace("return %0", "%1 = arith.addi %0, %c : i32\n  return %1")
    code, _, _ = run(tmp_path, "--canonicalize=max-rewrites=1", "--trace-rewrites=t", stdin=text)
    assert code == 1
    assert (tmp_path / "t").read_text().count("canonicalize: fold at <stdin>:") == 2


def test_a_text_that_reads_back_as_another_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nnc.ir.syntax import printer

    assert run(tmp_path, "--verify-roundtrip")[0] == 0
    monkeypatch.setattr(printer, "print_op", lambda op, **options: "module {")
    code, _, message = run(tmp_path, "--verify-roundtrip")
    assert code == 1
    assert "error: the custom form cannot be read back" in message
    texts = iter(["module {}", "module @other {}"])
    monkeypatch.setattr(printer, "print_op", lambda op, **options: next(texts))
    code, _, message = run(tmp_path, "--verify-roundtrip")
    assert code == 1
    assert "error: the custom form reads back as something else" in message
    assert "note: printed: module {}" in message
    assert "note: read back: module @other {}" in message


def test_an_error_names_the_file_where_locations_were_removed(tmp_path: Path) -> None:
    passes = "builtin.module(strip-debuginfo,apply-schedules{target=nope})"
    code, _, message = run(tmp_path, f"--pass-pipeline={passes}")
    assert code == 1
    assert message.startswith("<stdin>: error: no target is named 'nope'")
