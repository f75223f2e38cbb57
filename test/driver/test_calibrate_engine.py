"""Experiments in an engine of WebAssembly: run there, timed there, refused where they fail."""

from dataclasses import replace

import pytest
from nnc.driver.calibrating.calibrate import with_cores_here
from nnc.driver.calibrating.engine import EngineBench
from nnc.driver.calibrating.measuring import CLOCK, EMPTY, Experiment
from nnc.driver.calibrating.processors import processor_experiments
from nnc.driver.calibrating.sampling import measure
from nnc.ir.diagnostics import NncError
from nnc.targets.base import target
from nnc.targets.processor import Processor
from nnc.targets.wasm.levels import Wasm

from ..targets.emulated import require_emulator

pytestmark = pytest.mark.emulated


def wasm() -> Wasm:
    found = target("wasm32-simd")
    require_emulator("wasm32-simd")
    assert isinstance(found, Wasm)
    return found


def chosen(*names: str) -> list[Experiment]:
    machine = with_cores_here(target("wasm32-simd"))
    assert isinstance(machine, Processor)
    return [one for one in processor_experiments(machine) if one.name in names]


def test_experiments_run_in_the_engine():
    """Nothing is asked of the times but that there are some; what takes turns has its instances."""
    (memory,) = chosen("read memory")
    small = [
        replace(one, loop=replace(one.loop, passes=1)) for one in chosen(EMPTY, CLOCK, "combine")
    ]
    bench = EngineBench([*small, replace(memory, cold=2 * memory.loop.bytes)], wasm())
    try:
        for one in measure(bench, 1e-6, lambda text: None):
            assert set(one) == {EMPTY, CLOCK, "combine", "read memory"}
            assert all(0 < seconds < 1 for seconds in one.values())
    finally:
        bench.close()


def test_an_engine_that_ends_is_one_error():
    bench = EngineBench(chosen(EMPTY), wasm())
    bench.close()
    with pytest.raises(NncError, match="the experiments do not run in the engine"):
        bench.times([EMPTY])
