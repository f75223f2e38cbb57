"""nnc calibrate: numbers from times, what is kept of them, and what `host` is by them."""

import io
import json
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nnc.driver.cache import file_key
from nnc.driver.calibrating import calibrate as calibrating
from nnc.driver.calibrating.calibrate import described, judged, machine_name
from nnc.driver.calibrating.disturbance import Load, disturbances
from nnc.driver.calibrating.fitting import fit
from nnc.driver.calibrating.loops import Loop
from nnc.driver.calibrating.measuring import Bench, Experiment
from nnc.driver.calibrating.memories import sizes
from nnc.driver.calibrating.sampling import measure
from nnc.driver.calibrating.table import unmeasured, value_of
from nnc.ir.diagnostics import NncError
from nnc.ir.sealed_json import sealed
from nnc.targets import calibration
from nnc.targets.attribute import from_attribute, target_of, to_attribute
from nnc.targets.base import asked, described_host, find_host, target
from nnc.targets.calibration import Calibration, Number, file_of, forget, store, stored
from nnc.targets.costs import Costs, LoopCosts, OperationCosts, ThreadCosts, TileCosts
from nnc.targets.processor import Processor
from nnc.tools.command import Streams
from nnc.tools.nnc import main

from .calibrating import WAKING, times_of

AVX2 = target("x86-64-v3").machine
REAL = replace(
    AVX2,
    gigahertz=2.9,
    full_width_units=1,
    unit_bits=128,
    fma_latency=5,
    loads_per_cycle=3,
    load_bytes_per_cycle=64,
    line_crossing=0.5,
    issue_width=8,
    l2_bandwidth=24.0,
    l3_bandwidth=8.5,
    memory_bandwidth=3.25,
    fresh_bandwidth=0.5,
    costs=Costs(
        operations=OperationCosts(
            absf=1, divf=9, sqrt=11, rsqrt=14, exp=25, log=30, tanh=28, erf=44, sin=31, cos=32,
            powf=350, other_math=33,
        ),
        tiles=TileCosts(
            gather_cycles=1.25, scattered_store_cycles=1.5, spill_cycles=3.5, combine_cycles=5.25,
            transpose_cycles=1.75,
        ),
        loops=LoopCosts(prefetch_bytes=2048, stream_blocks=2, asked_streams=4),
        threads=ThreadCosts(least_microseconds=5 * WAKING),
    ),
)  # fmt: skip
"""A machine that differs from what is described in each number that is measured."""


# -- numbers from times ----------------------------------------------------------------------------


def fitted(real: Processor, machine: Processor = AVX2) -> dict[str, Number]:
    return dict(fit([times_of(real, machine)] * 5, machine).numbers)


OF_DEVICES = {
    *("launch_microseconds", "copy_bandwidth", "workgroup_bandwidth", "cache_bandwidth"),
    *("costs.groups.group_cycles", "costs.groups.barrier_cycles"),
}


def test_all_numbers_are_found():
    found = fitted(REAL)
    assert {path: number.value for path, number in found.items()} == {
        path: pytest.approx(value_of(REAL, path), rel=0.01) for path in found
    }
    assert set(found) == set(calibration.BOUNDS) - OF_DEVICES - {"cores"}


@given(
    st.sampled_from([0.9, 2.4, 3.5, 5.7]),
    st.sampled_from([0.25, 0.5, 1, 2, 4]),
    st.integers(2, 9),
    st.sampled_from([(32, 256), (48, 1024), (32, 2048)]),
    st.lists(st.floats(0.97, 1.03), min_size=5, max_size=9),
)
def test_noise_of_a_few_percent_is_rounded_away(clock, units, latency, caches, noise):
    """Counts and sizes of caches are exact, whatever the clock does from round to round."""
    real = replace(REAL, gigahertz=clock, full_width_units=units, fma_latency=latency)
    near, middle = caches
    sized = {"l1_bytes": near << 10, "l2_bytes": middle << 10}
    machine, real = replace(AVX2, **sized), replace(real, **sized)
    once = times_of(real, machine)
    rounds = [{name: seconds * f for name, seconds in once.items()} for f in noise]
    found = fit(rounds, machine).numbers
    for path in ("full_width_units", "fma_latency", "loads_per_cycle", "load_bytes_per_cycle"):
        assert found[path].value == value_of(real, path), path
    for path in ("l1_bytes", "l2_bytes", "l3_bytes", "costs.operations.exp"):
        assert found[path].value == value_of(real, path), path
    assert found["gigahertz"].value == pytest.approx(clock, rel=0.05)


@pytest.mark.parametrize("part", [2, 4, 8])
def test_a_cache_that_is_smaller_than_described_is_seen(part):
    """As a hypervisor's guest has a part of the last cache that it is told of."""
    real = replace(REAL, l3_bytes=AVX2.l3_bytes // part)
    assert fitted(real)["l3_bytes"].value == AVX2.l3_bytes // part
    assert fitted(real)["l2_bytes"].value == AVX2.l2_bytes


def test_where_no_cache_shows_its_size_is_as_described():
    flat = replace(REAL, l3_bandwidth=3.3, memory_bandwidth=3.25)
    assert "l3_bytes" not in fitted(flat)


def test_a_single_core_has_no_parallel_regions():
    alone = replace(AVX2, cores=1)
    found = fit([times_of(replace(REAL, cores=1), alone)] * 5, alone)
    assert "costs.threads.least_microseconds" not in found.numbers


def test_numbers_of_a_device():
    """Of a device of two cores at 3 GHz: a group takes 150 cycles, a byte of memory 1/12 ns."""
    machine = replace(target("opencl-cpu").machine, cores=2, gigahertz=3.0)
    once = {"few launches": 1e-6, "many launches": 4e-6, "no copy": 1e-6, "copy": 1e-6 + 1e-3}
    more = {"groups": 50e-9, "barriers": 20e-9, "workgroup": 2.5e-12, "cache": 5e-12, "l2": 1e-11}
    for name, seconds in {**more, "memory": 1e-9 / 12}.items():
        once |= {f"{name}: less": 7e-6, f"{name}: more": 7e-6 + seconds}
    found = judged("m", [once] * 5, machine, [])
    values = {path: number.value for path, number in found.calibration.numbers.items()}
    assert values == {
        "cores": 2, "launch_microseconds": 3.0, "copy_bandwidth": 8.39,
        "costs.groups.group_cycles": 150, "costs.groups.barrier_cycles": 60,
        "workgroup_bandwidth": 66.7, "cache_bandwidth": 33.3, "l2_bandwidth": 16.7,
        "memory_bandwidth": 2.0,
    }  # fmt: skip
    assert set(values) == {"cores", "l2_bandwidth", "memory_bandwidth"} | OF_DEVICES
    assert not found.refused


def test_what_no_device_has_is_refused():
    """Where the larger kernel took no longer, as others had the device during the smaller one."""
    machine = target("opencl-cpu").machine
    names = ("few launches", "many launches", "no copy", "copy")
    once = {**dict.fromkeys(names, 1e-6), "many launches": 4e-6, "copy": 1e-3}
    for name in ("groups", "barriers", "workgroup", "cache", "l2", "memory"):
        once |= {f"{name}: less": 7e-6, f"{name}: more": 6e-6}
    found = judged("m", [once] * 5, machine, [])
    assert (
        "costs.groups.group_cycles is 0; expected 1 to"
        in found.refused["costs.groups.group_cycles"]
    )
    assert "memory_bandwidth" in found.refused
    for force in (False, True):
        kept = found.kept(force)
        assert kept is not None
        assert set(kept.numbers) == {"cores", "launch_microseconds", "copy_bandwidth"}


def test_narrow_vectors_have_no_narrower_ones():
    machine = target("x86-64").machine
    found = fit([times_of(machine, machine)] * 5, machine).numbers
    assert "unit_bits" not in found and "loads_per_cycle" not in found
    assert found["full_width_units"].value == machine.full_width_units


# -- what disturbs ---------------------------------------------------------------------------------


def steady() -> list[dict[str, float]]:
    return [times_of(REAL, AVX2)] * 10


def test_a_steady_machine_has_no_complaints():
    assert judged("m", steady(), AVX2, []).refused == {}


def test_a_disturbed_number_is_named():
    rounds = [dict(one) for one in steady()]
    for i, one in enumerate(rounds):
        one["latency 8"] *= 1 + 0.2 * (i % 3)
    found = judged("m", rounds, AVX2, ["others took 90%"])
    assert {*found.refused} == {"fma_latency"}
    said = found.refused["fma_latency"]
    assert said.startswith("fma_latency: the fastest runs lie between 5 and 7, which differ by 33%")
    kept = found.kept(force=False)
    assert kept is not None and kept.about["refused"].splitlines() == [*found.refused.values()]
    assert not set(found.refused) & set(kept.numbers) and "l2_bandwidth" in kept.numbers
    forced = found.kept(force=True)
    assert forced is not None and set(found.refused) <= set(forced.numbers)


def test_what_else_went_on_refuses_nothing_by_itself():
    found = judged("m", steady(), AVX2, ["the hypervisor took 30% of the processors' time"])
    assert not found.refused
    kept = found.kept(force=False)
    assert kept is not None and "hypervisor took 30%" in kept.about["beside"]


def test_nothing_is_kept_without_a_clock():
    rounds = [dict(one) for one in steady()]
    for i, one in enumerate(rounds):
        one["clock"] *= 1 + 0.2 * (i % 3)
    assert judged("m", rounds, AVX2, []).kept(force=False) is None


def test_without_memory_nothing_is_said_of_its_bandwidth():
    """`costs.runs.memory` is 1 as the measured bandwidth is that of a run."""
    rounds = [dict(one) for one in steady()]
    for i, one in enumerate(rounds):
        one["read memory"] *= 1 + i % 3
    kept = judged("m", rounds, AVX2, []).kept(force=False)
    assert kept is not None and "costs.runs.memory" not in kept.numbers


def test_small_whole_numbers_may_differ_by_one():
    assert not disturbances({"costs.operations.absf": Number(1, 0.0, 0.9)})
    assert disturbances({"costs.operations.exp": Number(20, 10, 30)})


def test_others_on_the_machine_are_noticed():
    before = Load(100.0, 50.0, 1.0, 10.0)
    quiet = Load(160.0, 80.0, 1.0, 39.0)
    assert list(Load(160.0, 79.0, 1.0, 39.0).since(before)) == []
    assert list(quiet.since(before)) == ["other processes took 2% of the processors' time"]
    stolen = Load(160.0, 82.0, 4.0, 39.0)
    assert list(stolen.since(before)) == ["the hypervisor took 5% of the processors' time"]
    others = Load(160.0, 110.0, 1.0, 40.0)
    assert list(others.since(before)) == ["other processes took 50% of the processors' time"]


# -- what is kept ----------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch):
    """A user who calibrates; nothing of it is seen by other tests."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("NNC_CALIBRATION", "on")
    find_host.cache_clear()
    yield tmp_path
    monkeypatch.undo()
    find_host.cache_clear()


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


# -- measuring -------------------------------------------------------------------------------------


def test_small_experiments_run(home: Path):
    """Nothing is asked of the times but that there are some."""
    from nnc.driver.calibrating.processors import processor_experiments

    machine = described("host").machine
    assert isinstance(machine, Processor)
    made = list(processor_experiments(machine))
    full = machine.lanes(4)
    names = ("clock", f"latency {full}", "store", "fresh", "gather", "scatter", "function exp")
    names += ("spills", "start", "combine", "transpose", "all L2", f"read {sizes(machine)[0]}")
    chosen = [one for one in made if one.name in names]
    assert len(chosen) >= len(names) - 5  # without vectors, without a second core
    found = measure(Bench(map(_small, chosen), "host"), 1e-6, lambda text: None)
    for one in found:
        assert set(one) == {e.name for e in chosen}
        assert all(0 < seconds < 1 for seconds in one.values())


def _small(one: Experiment) -> Experiment:
    loop: Loop = replace(one.loop, passes=1, total=min(one.loop.total, one.loop.end))
    return replace(one, loop=loop)
