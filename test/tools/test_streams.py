"""What happens to a tool when its surroundings fail: pipes, disks, folders, caches, Ctrl-C."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from nnc.ir.diagnostics import NncError
from nnc.targets.base import host
from nnc.targets.llvm.native import emit_object
from nnc.tools.command import Streams
from nnc.tools.progress import Progress

TEXT = "func.func @f(%a: i32) -> i32 {\n  return %a : i32\n}\n"
NN_OPT = [sys.executable, "-m", "nnc.tools.nn_opt"]
NN_RUN = [sys.executable, "-m", "nnc.tools.nn_run"]
NNC = [sys.executable, "-m", "nnc.tools.nnc"]


def run(
    command: list[str], cache: Path, *, stdin: str = TEXT, **options
) -> subprocess.CompletedProcess:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    return subprocess.run(
        command, input=stdin, env=environment, text=True, check=False, timeout=120, **options
    )


def check_success(done: subprocess.CompletedProcess) -> None:
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "func.func @f" in done.stdout


@pytest.fixture(scope="session")
def warm_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that holds the grammar's tables."""
    cache = tmp_path_factory.mktemp("cache")
    check_success(run(NN_OPT, cache, capture_output=True))
    assert list((cache / "nnc").glob("grammar-*.bin"))
    return cache


def test_full_disk(warm_cache: Path) -> None:
    with open("/dev/full", "w") as full:
        done = run(NN_OPT, warm_cache, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr
    with open("/dev/full", "w") as full:
        done = run([*NNC, "compile", "--help"], warm_cache, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1 and done.stderr == "nnc: error: No space left on device\n"
    with open("/dev/full", "w") as full:
        done = run([*NNC, "cache"], warm_cache, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1 and done.stderr == "nnc: error: No space left on device\n"
    done = run([*NN_OPT, "-o", "/dev/full"], warm_cache, capture_output=True)
    assert done.returncode == 1
    assert "/dev/full" in done.stderr
    assert "Traceback" not in done.stderr


def test_closed_standard_output(warm_cache: Path) -> None:
    """`>&-`: there is no standard output at all."""
    for command in (NN_OPT, [*NNC, "--help"]):
        script = f"{' '.join(command)} >&-"
        done = run(["sh", "-c", script], warm_cache, capture_output=True)
        assert done.returncode == 1
        assert done.stderr == "error: standard output is closed\n"


def test_closed_standard_input(warm_cache: Path) -> None:
    done = run(["sh", "-c", f"{' '.join(NN_OPT)} <&-"], warm_cache, capture_output=True)
    assert done.returncode == 1
    assert done.stderr == "error: standard input is closed\n"


def test_working_directory_that_is_gone(tmp_path: Path, warm_cache: Path) -> None:
    (tmp_path / "in.mlir").write_text(TEXT)
    script = f"mkdir gone; cd gone; rmdir ../gone; {' '.join(NN_OPT)} {tmp_path / 'in.mlir'}"
    check_success(run(["sh", "-c", script], warm_cache, cwd=tmp_path, capture_output=True))


def test_reader_that_stops(warm_cache: Path) -> None:
    text = "".join(f"func.func private @f{i}()\n" for i in range(20_000))
    done = run(
        ["sh", "-c", f"{' '.join(NN_OPT)} | head -n 1"], warm_cache, stdin=text, capture_output=True
    )
    assert (done.stdout, done.stderr) == ("module {\n", "")


def unread(command: list[str], cache: Path, **options) -> subprocess.CompletedProcess:
    """A run whose standard output is a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        return run(command, cache, stdout=writing, stderr=subprocess.PIPE, **options)
    finally:
        os.close(writing)


@pytest.mark.parametrize("command", [NN_OPT, [*NNC, "--version"], [*NNC, "cache"]])
def test_output_that_nobody_reads(command: list[str], warm_cache: Path) -> None:
    """Also of so few lines that Python writes them at its end."""
    done = unread(command, warm_cache)
    assert (done.returncode, done.stderr) == (141, "")


def test_files_are_written_though_nobody_reads(tmp_path: Path, warm_cache: Path) -> None:
    done = unread([*NN_RUN, "--args", "i32:7", "--output", "y.json"], warm_cache, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (141, "")
    assert "7" in (tmp_path / "y.json").read_text()


def test_interruption(tmp_path: Path, warm_cache: Path) -> None:
    """Ctrl-C while the input is read; opening a FIFO waits until its reader is there."""
    fifo = tmp_path / "in.mlir"
    os.mkfifo(fifo)
    environment = {**os.environ, "XDG_CACHE_HOME": str(warm_cache)}
    with (
        subprocess.Popen(
            [*NN_OPT, str(fifo)], stderr=subprocess.PIPE, env=environment, text=True
        ) as process,
        open(fifo, "w"),
    ):
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "nn-opt: interrupted\n")


_INTERRUPTED_IMPORT = """
import os, runpy, signal, sys

class Finder:
    def find_spec(self, name, *_):
        if name == "{imported}":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
sys.argv[1:] = ["--version"]
{before}
{start}
"""

_STARTS = {
    "script": "from nnc.tools.start import nn_opt; nn_opt()",
    "module": "runpy.run_module('nnc.tools.nn_opt', run_name='__main__', alter_sys=True)",
}


@pytest.mark.parametrize("imported", ["nnc.ir.collection", "nnc.tools.nn_opt", "nnc.ir.location"])
@pytest.mark.parametrize("start", _STARTS)
def test_interruption_of_imports(start: str, imported: str) -> None:
    """Ctrl-C while a command is loaded; `find_spec` is where an import begins."""
    if (start, imported) == ("module", "nnc.tools.nn_opt"):
        imported = "nnc.tools.opt_options"  # Python itself looks for the module that it is to run
    code = _INTERRUPTED_IMPORT.format(imported=imported, before="", start=_STARTS[start])
    done = run([sys.executable, "-c", code], Path(), capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "nn-opt: interrupted\n")


def test_ignored_interruption_of_imports() -> None:
    """As by `nohup`, or behind `&` in a script."""
    code = _INTERRUPTED_IMPORT.format(
        imported="nnc.tools.nn_opt",
        before="signal.signal(signal.SIGINT, signal.SIG_IGN)",
        start=_STARTS["script"],
    )
    done = run([sys.executable, "-c", code], Path(), capture_output=True)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("nn-opt ")


_IN_A_CALLBACK = """
import sys, time, types, weakref
from nnc.tools import start
from nnc.tools.command import Streams, run_command

class Lock:
    pass

def interrupted(_):
    raise KeyboardInterrupt

def work(*_):
    lock = Lock()
    seen = weakref.ref(lock, interrupted)
    del lock
    time.sleep(60)

module = sys.modules["nnc.tools.nnc"] = types.ModuleType("nnc.tools.nnc")
module.main = lambda: run_command("nnc", work, [], Streams.standard())
start.nnc()
"""


def test_interruption_of_a_callback() -> None:
    """Python drops what a callback raises, as of the locks of imports."""
    done = run([sys.executable, "-c", _IN_A_CALLBACK], Path(), capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "nnc: interrupted\n")


def test_interruption_at_the_end() -> None:
    """Ctrl-C while Python ends the process, after the command is done."""
    code = (
        "import atexit, os, signal, sys, time\n"
        "atexit.register(lambda: (os.kill(os.getpid(), signal.SIGINT), time.sleep(60)))\n"
        "sys.argv[1:] = ['--version']\n" + _STARTS["script"]
    )
    done = run([sys.executable, "-c", code], Path(), capture_output=True)
    assert (done.returncode, done.stderr) == (130, "nn-opt: interrupted\n")


_BUSY = """
import tempfile, threading, time
import numpy as np
from nnc.driver import weights
from nnc.targets.llvm.apart import interruptible
from nnc.tools.command import Streams, run_command
from nnc.tools.session import Session
from nnc.tools.start import leave

def wait(*arguments):
    threading.Event().wait(600)

def work(argv, streams):
    with tempfile.TemporaryDirectory(dir=".") as folder:
        print("begun", flush=True)
        {work}

leave(run_command("nnc", work, [], Streams.standard()))
"""

_WEIGHTS = """
        weights._copy, weights._places = wait, lambda *_: [("w", np.zeros(8, np.uint8), None)]
        with weights.filling(None, None):
            time.sleep(600)
"""

_RUN = """
        model = type("Model", (), {"run": wait})()
        Session.run(None, model, {})
"""


@pytest.mark.parametrize("work", ["interruptible(wait)()", _WEIGHTS, _RUN])
def test_interruption_of_what_takes_long(work: str, tmp_path: Path) -> None:
    """Ctrl-C does not wait for what cannot be stopped, and folders in use go."""
    with subprocess.Popen(
        [sys.executable, "-c", _BUSY.replace("{work}", work.strip())],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "nnc: interrupted\n")
    assert not list(tmp_path.iterdir())


def test_errors_of_llvm_come_through() -> None:
    with pytest.raises(NncError, match="not valid"):
        emit_object("define void @f() { what }", host())


@pytest.mark.parametrize("target", ["no/such/folder/out.mlir", "folder", "file/out.mlir"])
def test_output_that_cannot_be_written(target: str, tmp_path: Path, warm_cache: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    done = run([*NN_OPT, "-o", target], warm_cache, cwd=tmp_path, capture_output=True)
    assert done.returncode == 1
    assert done.stderr.startswith("error: cannot write '")
    assert target in done.stderr
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert left == ["file", "folder"]


# -- the cache of the grammar's tables ---------------------------------------------------------


def _tables(cache: Path) -> Path:
    (path,) = (cache / "nnc").glob("grammar-*.bin")
    return path


@pytest.mark.thorough
@pytest.mark.parametrize("damage", ["empty", "changed", "other data"])
def test_damaged_tables_are_made_again(damage: str, tmp_path: Path, warm_cache: Path) -> None:
    good = _tables(warm_cache).read_bytes()
    cache = tmp_path / "cache"
    broken = cache / "nnc" / _tables(warm_cache).name
    broken.parent.mkdir(parents=True)
    middle = len(good) // 2
    broken.write_bytes(
        {
            "empty": b"",
            "changed": good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :],
            "other data": _signed(b"N"),
        }[damage]
    )
    check_success(run(NN_OPT, cache, capture_output=True))
    made = broken.read_bytes()
    assert len(made) > middle
    check_success(run(NN_OPT, cache, capture_output=True))
    assert broken.read_bytes() == made, "the tables made anew are read, not made once more"


def _signed(data: bytes) -> bytes:
    from hashlib import blake2s

    return blake2s(data).digest() + data


@pytest.mark.thorough
def test_cache_where_nothing_can_be_written(tmp_path: Path) -> None:
    """A file in the place of the folder keeps even root from writing."""
    cache = tmp_path / "cache"
    cache.write_text("no folder")
    check_success(run(NN_OPT, cache, capture_output=True))
    assert cache.read_text() == "no folder"


@pytest.mark.thorough
def test_read_only_cache(tmp_path: Path) -> None:
    """Root, who writes everywhere, finds the tables there afterwards; others do not."""
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o500)
    check_success(run(NN_OPT, cache, capture_output=True))


@pytest.mark.thorough
def test_processes_that_make_the_cache_at_once(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    running = [
        subprocess.Popen(
            NN_OPT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
        )
        for _ in range(2)
    ]
    for process in running:
        out, said = process.communicate(TEXT, timeout=300)
        assert (process.returncode, said) == (0, "")
        assert "func.func @f" in out
    kinds = [path.name.partition("-")[0] for path in (cache / "nnc").iterdir()]
    assert sorted(kinds) == ["grammar", "language"]
    check_success(run(NN_OPT, cache, capture_output=True))


@pytest.mark.parametrize("tells_left", [True, False])
def test_the_time_left_is_of_a_compilation(tells_left: bool) -> None:
    streams = Streams(io.StringIO(), io.StringIO(), io.StringIO(), Path())
    now = [0.0]
    progress = Progress(streams, lambda: now[0], tells_left)
    progress("import m.onnx")
    now[0] = 5.0
    progress("simplify-graph: m")
    first, second = streams.stderr.getvalue().splitlines()
    assert "left" not in first and second.endswith("s left)") == tells_left
