"""What all tests share: finding the real mlir-opt, exported models, and the rule on skips."""

import fcntl
import gc
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Generator
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import cache
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from nnc.ir.collection import collect_rarely

from .diagnostics.recorder import Recorder
from .leftovers import Scratch
from .processor import pretend, typical
from .sampling import MANY_CASES, Case, left_out
from .selection import is_selectable
from .skips import is_allowed

IN_CI = os.environ.get("CI", "").lower() in ("1", "true")

# The first example of a test pays for imports and parse tables; time says nothing here. CI tries
# the same examples each time: what new ones find has nothing to do with the change it judges.
settings.register_profile("nnc", deadline=None, max_examples=50, derandomize=IN_CI)
settings.load_profile("nnc")

# Hypothesis reads all modules of a project for constants to try, and sorts out for each range of
# numbers which of them lie in it: of 1,400 modules that takes ten times as long as the tests. What
# is of interest here, strategies name. It has no option for this.
vars(providers)["is_local_module_file"] = lambda path: False

# What is imported and collected, half a million objects, lives until the end: the garbage collector
# need not look at it again and again.
gc.disable()

# A shell that starts the tests in the background makes them, and what they start, deaf to Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests start Python by the hundred: each process would compile the modules of nnc anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Tests compile anew; those of the cache set a limit of their own.
os.environ["NNC_CACHE_LIMIT"] = "0"

# Nor do they depend on what the user has measured of this machine, or of schedules, or add to it.
os.environ["NNC_CALIBRATION"] = "off"
os.environ["NNC_MEASUREMENTS"] = "off"

if (processor := os.environ.get("NNC_TEST_PROCESSOR") or typical()) != "native":
    pretend(processor)

if os.environ.get("NNC_GUARDED"):
    from .guarded import install

    install()


@cache
def find_mlir_opt() -> str | None:
    """The real mlir-opt of LLVM 22: what MLIR_OPT names, else `mlir-opt-22`, else `mlir-opt`."""
    if named := os.environ.get("MLIR_OPT"):
        if found := shutil.which(named):
            return found
        raise pytest.UsageError(f"MLIR_OPT={named}: no such executable")
    if found := shutil.which("mlir-opt-22"):
        return found
    found = shutil.which("mlir-opt")
    return found if found and _is_llvm_22(found) else None


def _is_llvm_22(tool: str) -> bool:
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False)
    return "LLVM version 22." in version.stdout


def skip_unless_ci(reason: str) -> None:
    """Skip the running test; in CI, where everything has to be installed, fail it."""
    if IN_CI:
        pytest.fail(f"{reason}, and CI=true, so this is not a reason to skip", pytrace=False)
    pytest.skip(reason)


def require_mlir_opt() -> str:
    """The path of the real mlir-opt; where it is missing the running test is skipped."""
    found = find_mlir_opt()
    if found is None:
        skip_unless_ci("mlir-opt 22 is not installed")
    return str(found)


@pytest.fixture
def mlir_opt() -> str:
    """The path of the real mlir-opt."""
    return require_mlir_opt()


@pytest.fixture(scope="session")
def exporting_process() -> Generator[Executor]:
    """A process that imports PyTorch once for all exports of this process of tests."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        yield process


@pytest.fixture(scope="session")
def export_model(
    tmp_path_factory: pytest.TempPathFactory, exporting_process: Executor
) -> Callable[..., Path]:
    """`export_model("resnet18", "--tiny")`: the ONNX file that bench/models.py writes.

    Exports run in a process of their own, so that PyTorch's copy of LLVM and its threads stay out of
    the tests' process. Each command line is exported once for all processes of a session.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent

    def export(*arguments: str) -> Path:
        if find_spec("torch") is None or find_spec("transformers") is None:
            skip_unless_ci("the `models` extra is not installed")
        path = folder / f"{''.join(arguments)}.onnx"
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                made = path.with_suffix(".made.onnx")
                command = f"from bench.models import main; main({[*arguments, '-o', str(made)]})"
                exporting_process.submit(exec, command).result()
                made.rename(path)
        return path

    return export


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files and folders of which `-m` selects no test, unless the command names files."""
    if any(".py" in one for one in config.args):
        return None
    is_folder = collection_path.is_dir()
    if not is_folder and not collection_path.match("test_*.py"):
        return None
    files = collection_path.rglob("test_*.py") if is_folder else [collection_path]
    return None if any(is_selectable(one, config.option.markexpr) for one in files) else True


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a test marked `sampled(n)`, all cases but one in n are thorough."""
    seen: Counter[str] = Counter()
    for item in items:
        if mark := item.get_closest_marker("sampled"):
            name = item.nodeid.partition("[")[0]
            if seen[name] % mark.args[0]:
                item.add_marker(pytest.mark.thorough)
            seen[name] += 1
    if "exhaustive" in config.option.markexpr:
        _leave_to_combinations(items)


def _leave_to_combinations(items: list[pytest.Item]) -> None:
    """Of a test with many thorough cases, those are exhaustive that `sampling.py` leaves out."""
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("slow"):
            tests[item.nodeid.partition("[")[0]].append(item)
    for cases in tests.values():
        thorough = [one for one in cases if one.get_closest_marker("thorough")]
        if len(thorough) >= MANY_CASES:
            others = [one for one in cases if not one.get_closest_marker("thorough")]
            dropped = left_out(_parameters(thorough), _parameters(others))
            for one in thorough:
                if one.nodeid in dropped:
                    one.add_marker(pytest.mark.exhaustive)


def _parameters(cases: list[pytest.Item]) -> list[Case]:
    return [(one.nodeid, getattr(one, "callspec").params) for one in cases]  # noqa: B009 - no type


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """From here on there is garbage to collect; what is there counts as old, see `nnc.ir.collection`."""
    gc.freeze()
    gc.unfreeze()
    collect_rarely()
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test marked `mlir_opt` runs only where the real mlir-opt is."""
    if item.get_closest_marker("mlir_opt"):
        require_mlir_opt()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that was skipped for a reason that skips.py does not list."""
    report = yield
    _forbid_unlisted_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fail a module that was skipped as a whole for a reason that skips.py does not list."""
    report = yield
    _forbid_unlisted_skip(report)
    return report


def _forbid_unlisted_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.outcome != "skipped":
        return
    reason = _skip_reason(report)
    if is_allowed(reason):
        return
    report.outcome = "failed"
    report.longrepr = (
        f"skipped: {reason!r}, but test/skips.py allows only the reasons that it lists"
    )
    # Without this, pytest would go on counting an expected failure as one.
    vars(report).pop("wasxfail", None)


def _skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """What the test gave as its reason, for `skip` and `xfail` alike."""
    reason = getattr(report, "wasxfail", None)
    if reason is None:
        assert isinstance(report.longrepr, tuple)  # where, line, what: so pytest reports a skip
        _, _, reason = report.longrepr
    return reason.removeprefix("Skipped: ").removeprefix("reason: ")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--lit-shell` runs the golden tests' RUN lines under a real shell."""
    parser.addoption("--lit-shell", action="store_true", help="run RUN lines under a shell")
    parser.addoption(
        "--record-diagnostics", metavar="DIR", help="note there which errors the tests provoke"
    )


_recorder = pytest.StashKey[Recorder]()
_scratch = pytest.StashKey[Scratch]()


def pytest_configure(config: pytest.Config) -> None:
    """Have a folder for what is left over, and watch errors where that is asked for."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.stash[_scratch] = Scratch()
    if config.getoption("--record-diagnostics"):
        config.stash[_recorder] = recorder = Recorder()
        recorder.install()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Write what was noted; every process of xdist has its own file.

    One search for garbage finds the errors of finalizers that pytest looks for from here on. It
    makes five, each among all that was imported and collected, which is out of their sight then.
    """
    if _recorder in config.stash:
        config.stash[_recorder].write(Path(config.getoption("--record-diagnostics")))
    gc.collect()
    gc.freeze()
    if _scratch in config.stash:
        config.stash[_scratch].remove()
