"""What calibration measured is kept for this machine, and `nnc calibrate` shows it."""

import io
import json
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from nnc.driver.cache import file_key
from nnc.driver.calibrating import calibrate as calibrating
from nnc.driver.calibrating.calibrate import described, judged, machine_name
from nnc.driver.calibrating.table import unmeasured, value_of
from nnc.ir.diagnostics import NncError
from nnc.ir.sealed_json import sealed
from nnc.targets import calibration
from nnc.targets.attribute import from_attribute, target_of, to_attribute
from nnc.targets.base import asked, described_host, find_host, target
from nnc.targets.calibration import Calibration, Number, file_of, forget, store, stored
from nnc.targets.processor import Processor
from nnc.tools.command import Streams
from nnc.tools.nnc import main

from .calibrating import AVX2, REAL, fitted, times_of


def some(**numbers: float) -> Calibration:
    given = {path.replace("__", "."): Number(n, n, n) for path, n in numbers.items()}
    return Calibration(machine_name(described("host")), given)


def test_host_has_the_stored_numbers_and_named_targets_do_not(home: Path):
    before = find_host()
    named = target("x86-64").machine
    store(some(l2_bandwidth=17.5, fma_latency=5, costs__operations__exp=27))
    find_host.cache_clear()
    found = find_host()
    assert found is not None and before is not None
    machine = found.machine
    assert isinstance(machine, Processor)
    assert (machine.l2_bandwidth, machine.fma_latency) == (17.5, 5)
    assert isinstance(machine.fma_latency, int)
    assert machine.costs.operations.exp == 27
    assert target("x86-64").machine == named
    assert described_host() == before
    model = home / "model"
    model.write_text("any")
    assert file_key([model], found) != file_key([model], before)
    assert from_attribute(to_attribute(found), _module()) == found


def _module():
    import nnc

    return nnc.parse("")


def test_it_can_be_switched_off(home: Path, monkeypatch):
    store(some(l2_bandwidth=17.5))
    monkeypatch.setenv("NNC_CALIBRATION", "off")
    find_host.cache_clear()
    assert find_host() == described_host()
    monkeypatch.setenv("NNC_CALIBRATION", "maybe")
    find_host.cache_clear()
    with pytest.raises(NncError, match="NNC_CALIBRATION is 'on', 'off' or 'all', not 'maybe'"):
        find_host()


def test_what_was_measured_in_cycles_of_another_clock_stays_in_seconds(home: Path, monkeypatch):
    base = described_host()
    assert base is not None
    store(some(gigahertz=2 * base.machine.gigahertz, memory_bandwidth=4.5))
    find_host.cache_clear()
    found = find_host()
    assert found is not None and found.machine.memory_bandwidth == 4.5
    assert found.machine.fresh_bandwidth == pytest.approx(base.machine.fresh_bandwidth / 2)
    monkeypatch.setenv("NNC_MEMORY_BANDWIDTH", "14")
    find_host.cache_clear()
    given = find_host()
    assert given is not None
    assert given.machine.memory_bandwidth * given.machine.gigahertz == pytest.approx(14)


def _edit(path: Path, change) -> None:
    about = json.loads(path.read_text())["about"]
    change(about)
    path.write_text(sealed(about))


DAMAGE = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-20]),
    "empty": lambda path: path.write_bytes(b""),
    "no text": lambda path: path.write_bytes(b"\xff\xfe\x00{"),
    "a list": lambda path: path.write_text("[1, 2]"),
    "deep": lambda path: path.write_text("[" * 100_000),
    "one digit": lambda path: path.write_text(path.read_text().replace("17.5", "71.5")),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "other version": lambda path: _edit(path, lambda about: about.update(version=99)),
    "other machine": lambda path: _edit(path, lambda about: about.update(machine="x")),
    "no numbers": lambda path: _edit(path, lambda about: about.pop("numbers")),
    "text": lambda path: _set(path, "fast"),
    "true": lambda path: _set(path, True),
    "nothing": lambda path: _set(path, None),
    "not a number": lambda path: _set(path, float("nan")),
    "infinite": lambda path: _set(path, float("inf")),
    "too large": lambda path: _set(path, 1e9),
    "negative": lambda path: _set(path, -3),
    "half a cycle": lambda path: _set(path, 4.5, "fma_latency"),
    "no such number": lambda path: _set(path, 3, "vector_bits"),
    "no such cost": lambda path: _set(path, 3, "costs.operations.gamma"),
    "caches upside down": lambda path: (_set(path, 1 << 20, "l1_bytes"), _set(path, 1 << 17, "l2_bytes")),
}  # fmt: skip


def _set(path: Path, value, name: str = "l2_bandwidth") -> None:
    row = {"value": value, "low": 1, "high": 1}
    _edit(path, lambda about: about["numbers"].update({name: row}))


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_are_one_warning_and_no_numbers(home: Path, damage: str):
    path = store(some(l2_bandwidth=17.5))
    DAMAGE[damage](path)
    find_host.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = find_host()
    assert found == described_host()
    (warning,) = caught
    assert "the built-in numbers are used" in str(warning.message)
    code, out, err = run("--show")
    assert code == 1 and not out and err.startswith("error: ") and "internal" not in err


@pytest.mark.parametrize("path", calibration.BOUNDS)
def test_whole_numbers_are_those_of_the_description(path: str):
    """Other numbers keep their parts, also where the description has a whole one."""
    whole = any(part in path for part in calibration.WHOLE)
    machine = AVX2 if hasattr_at(AVX2, path) else target("opencl").machine
    given = 5.0 if whole else 5.5
    changed = calibration.with_numbers(machine, {path: Number(given, given, given)})
    assert value_of(changed, path) == given
    assert isinstance(value_of(changed, path), int) == whole
    one = replace(target("x86-64-v3" if machine is AVX2 else "opencl"), machine=changed)
    assert from_attribute(to_attribute(one), _module()) == one


def hasattr_at(machine, path: str) -> bool:
    return hasattr(machine, path.partition(".")[0])


def test_implausible_numbers_are_not_stored(home: Path):
    with pytest.raises(NncError, match=r"gigahertz is 300; expected 0.05 to 10"):
        store(some(gigahertz=300))
    assert not (home / "nnc" / "calibration").exists()


def test_other_machines_have_files_of_their_own():
    one = described("host")
    names = {
        machine_name(one),
        machine_name(replace(one, processor="other")),
        machine_name(replace(one, machine=replace(one.machine, cores=77))),
        machine_name(target("x86-64")),
    }
    assert len({file_of(name) for name in names}) == 4


# -- the command -----------------------------------------------------------------------------------


def run(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(["calibrate", *arguments], Streams(io.StringIO(), out, err, Path.cwd()))
    return code, out.getvalue(), err.getvalue()


@pytest.fixture
def pretended(monkeypatch):
    """What is measured, without measuring: to be set by the test."""
    beside: list[str] = []
    disturbed: list[str] = []

    def measured(name, seconds, progress):
        one = described(name)
        once = times_of(REAL, one.machine)
        slower = {experiment: 1.5 * once[experiment] for experiment in disturbed}
        rounds = [once, {**once, **slower}] * 3
        return judged(machine_name(one), rounds, one.machine, beside)

    monkeypatch.setattr(calibrating, "calibrate", measured)
    return beside, disturbed


def test_measured_shown_and_forgotten(home: Path, pretended):
    code, out, err = run("-q")
    assert code == 0 and not err
    assert "`host` takes it from now on" in out
    found = find_host()
    assert found is not None and found.machine.gigahertz == 2.9
    code, shown, _ = run("--show")
    assert code == 0
    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if line.strip()}
    base = described_host()
    assert base is not None
    assert rows["number"] == ["built", "in", "measured", "spread"]
    assert rows["gigahertz"] == [f"{base.machine.gigahertz:g}", "2.9", "2.9", "..", "2.9"]
    exp = base.machine.costs.operations.exp
    assert rows["costs.operations.exp"][:2] == [str(exp), "25"]
    assert "issue_width" in shown and "(stores per cycle)" in shown
    assert run("--forget")[:2] == (0, "removed\n")
    assert run("--forget")[:2] == (0, "nothing was kept\n")
    assert run("--show")[0] == 1


def test_disturbed_numbers_are_left_out_unless_forced(home: Path, pretended):
    beside, disturbed = pretended
    beside.append("the hypervisor took 30% of the processors' time")
    machine = described("host").machine
    assert isinstance(machine, Processor)
    disturbed.append(f"latency {machine.lanes(4)}")
    code, out, err = run("-q")
    assert code == 0, err
    assert "without fma_latency; `host`" in out
    assert "nnc: disturbed: fma_latency: the fastest runs lie between" in err
    assert "nnc: disturbed: the hypervisor took 30% of the processors' time" in err
    kept = stored(machine_name(described("host")))
    assert kept is not None and "fma_latency" not in kept.numbers
    assert "not kept: fma_latency: the fastest" in run("--show")[1]
    assert run("-q", "--force")[0] == 0
    kept = stored(machine_name(described("host")))
    assert kept is not None and "fma_latency" in kept.numbers
    assert forget(kept.machine)
    disturbed.append("clock")
    code, out, err = run("-q")
    assert code == 1 and "nothing is stored: too few" in err and stored(kept.machine) is None


def test_named_targets_take_what_was_measured_where_all_shall(home: Path, monkeypatch):
    one = described("wasm32-simd")
    store(Calibration(machine_name(one), {"l2_bandwidth": Number(9.75, 9, 10)}))
    assert asked("wasm32-simd") == one
    monkeypatch.setenv("NNC_CALIBRATION", "all")
    measured = asked("wasm32-simd")
    assert isinstance(measured.machine, Processor) and measured.machine.l2_bandwidth == 9.75
    assert target("wasm32-simd") == one
    # A module says so, and goes on with it where nothing was measured.
    module = _module()
    assert target_of(module, "wasm32-simd") == measured
    monkeypatch.setenv("NNC_CALIBRATION", "off")
    assert target_of(module) == measured and asked("wasm32-simd") == one


def test_the_cache_may_be_emptied(home: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kept = store(some(l2_bandwidth=17.5))
    assert kept.is_relative_to(tmp_path / "nnc") and not (tmp_path / "cache").exists()


def test_it_says_where_nothing_is_taken(home: Path, pretended, monkeypatch):
    monkeypatch.setenv("NNC_CALIBRATION", "off")
    assert "it is not used: NNC_CALIBRATION is off" in run("-q")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seconds", "0"], "--seconds is above 0"),
        (["--seconds", "nan"], "--seconds is above 0"),
        (["--seconds", "soon"], "--seconds"),
        (["--show", "--forget"], "exclude each other"),
        (["--target", "nothing"], "no target is named"),
        (["--target", "hls"], "there are no experiments for 'hls'"),
        (["--target", "power8"], "does not run here"),
    ],
)
def test_bad_arguments_are_one_error(home: Path, arguments, message):
    code, out, err = run(*arguments)
    assert code == 1 and not out and message in err and err.count("\n") == 1


def test_all_fields_are_measured_or_said_to_be_described():
    found = Calibration("m", fitted(REAL))
    left = set(unmeasured(found, AVX2))
    assert {"vector_bits", "line_bytes", "all other costs"} <= left
    assert not left & set(found.numbers)
