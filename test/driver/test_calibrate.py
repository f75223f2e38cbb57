"""nnc calibrate: numbers from times, what is kept of them, and what `host` is by them."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nnc.driver.calibrating.calibrate import described, judged
from nnc.driver.calibrating.disturbance import Load, disturbances
from nnc.driver.calibrating.fitting import fit
from nnc.driver.calibrating.loops import Loop
from nnc.driver.calibrating.measuring import Bench, Experiment
from nnc.driver.calibrating.memories import sizes
from nnc.driver.calibrating.sampling import measure
from nnc.driver.calibrating.table import value_of
from nnc.targets import calibration
from nnc.targets.base import target
from nnc.targets.calibration import Number
from nnc.targets.processor import Processor

from .calibrating import AVX2, REAL, fitted, times_of

# -- numbers from times ----------------------------------------------------------------------------


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
