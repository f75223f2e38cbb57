"""What experiments take where nothing disturbs them, found among runs that were disturbed.

No machine is measured here: runs are made up, of experiments whose undisturbed times are known.
"""

import random
from statistics import median

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nnc.driver.calibrating.disturbance import disturbances
from nnc.driver.calibrating.fitting import fit
from nnc.driver.calibrating.loops import multiply_adds
from nnc.driver.calibrating.measuring import CLOCK, EMPTY, Experiment, Timing
from nnc.driver.calibrating.sampling import FEWEST_VISITS, TAKEN, Run, Sampler, Samples, measure
from nnc.driver.calibrating.tiles import STEPS, tile_experiments
from nnc.targets.base import target
from nnc.targets.calibration import Number
from nnc.targets.processor import Processor

AVX2 = target("x86-64-v3").machine
assert isinstance(AVX2, Processor)
LOOP = multiply_adds(AVX2, 8, 12, 1)
CYCLE = 1e-9 / 3.2
CALL = 2e-6

TRUTH = {"latency": 4.0, "loads": 0.5, "exp": 11.5, "log": 21.25}
"""Cycles of each experiment's unit."""

MEMORY = {"memory": 0.06e-9, "l3": 0.02e-9}
"""Seconds of those that do not follow the clock."""
UNITS = 1_000_000


def experiments():
    made = [Experiment(name=EMPTY, loop=LOOP, units=1, in_cycles=False, agree=0.1)]
    made.append(Experiment(name=CLOCK, loop=LOOP, units=UNITS))
    made += [Experiment(name=name, loop=LOOP, units=UNITS) for name in TRUTH]
    return made + [
        Experiment(name=name, loop=LOOP, units=UNITS, in_cycles=False, agree=0.08)
        for name in MEMORY
    ]


class Noisy:
    """A machine that others use, too: what runs on it is slower than by itself, never faster.

    For spells of some runs, a neighbour on the same core slows all throughput to a part and the
    clock's chain a little; the clock itself steps down; single runs are interrupted.
    """

    def __init__(self, seed: int, busy: float, interrupted: float, steps: bool) -> None:
        self.experiments = experiments()
        self.rng = random.Random(seed)
        self.busy, self.interrupted, self.steps = busy, interrupted, steps
        self.now = 0.0
        self.left, self.neighbour, self.slower_clock = 0, False, 1.0

    def times(self, names):
        return [self._run(name) for name in names]

    def _run(self, name: str) -> Timing:
        rng = self.rng
        if self.left == 0:
            self.left = rng.randrange(3, 60)
            self.neighbour = rng.random() < self.busy
            self.slower_clock = rng.choice([1.0, 1.0, 1.12, 1.3]) if self.steps else 1.0
        self.left -= 1
        if name == EMPTY:
            seconds = CALL
        elif name in MEMORY:
            seconds = CALL + UNITS * MEMORY[name] * (rng.uniform(1.2, 3) if self.neighbour else 1)
        else:
            cycles = 1.0 if name == CLOCK else TRUTH[name]
            shared = rng.uniform(1, 1.15) if name in (CLOCK, "latency") else rng.uniform(1.3, 2.1)
            cycles *= shared if self.neighbour else 1
            seconds = CALL + UNITS * cycles * CYCLE * self.slower_clock
        seconds *= rng.uniform(1, 1.01)
        waits = rng.random() < self.interrupted
        if waits:
            seconds += rng.expovariate(1000)
        self.now += seconds
        # a hypervisor takes time without a word
        return Timing(seconds, waits and rng.random() < 0.5)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.3, 0.7]),
    st.sampled_from([0.0, 0.2, 0.6]),
    st.booleans(),
)
def test_floors_are_found_among_disturbed_runs(seed, busy, interrupted, steps):
    machine = Noisy(seed, busy, interrupted, steps)
    rounds = measure(machine, 3.0, lambda text: None, lambda: machine.now)
    assert len(rounds) == TAKEN
    for one in rounds:
        assert one[CLOCK] == pytest.approx(CYCLE, rel=0.03)
    known = {**{name: cycles * CYCLE for name, cycles in TRUTH.items()}, **MEMORY}
    for name, seconds in known.items():
        values = [one[name] for one in rounds]
        if interrupted < 0.5 or busy < 0.5:
            assert values == [pytest.approx(seconds, rel=0.08)] * TAKEN, name
        else:  # hardly a run is undisturbed: what is not right must not be believed
            is_right = median(values) == pytest.approx(seconds, rel=0.08)
            assert is_right or max(values) > 1.2 * min(values), name


def test_a_quiet_machine_needs_a_part_of_the_time():
    machine = Noisy(1, 0.0, 0.0, False)
    measure(machine, 8.0, lambda text: None, lambda: machine.now)
    assert 2 <= machine.now < 2.2


def test_no_longer_than_the_time_where_nothing_agrees():
    """But for the fewest visits, which are made whatever they take."""
    machine = Noisy(1, 1.0, 1.0, True)
    measure(machine, 2.0, lambda text: None, lambda: machine.now)
    assert 2 <= machine.now < 2.5
    short = Noisy(1, 1.0, 1.0, True)
    sampled = []
    times = short.times
    short.times = lambda names: sampled.append(names[0]) or times(names)  # type: ignore[method-assign]
    measure(short, 1e-9, lambda text: None, lambda: short.now)
    assert sampled.count("exp") == FEWEST_VISITS


def test_time_goes_where_floors_are_missing():
    machine = Noisy(1, 0.0, 0.0, False)
    steady = machine.times
    sampled = []

    def times(names):
        sampled.append(names[0])
        return [Timing(t.seconds * (1 + machine.rng.random() * 9)) if n == "exp" else t
                for n, t in zip(names, steady(names), strict=True)]  # fmt: skip

    machine.times = times  # type: ignore[method-assign]
    measure(machine, 1.5, lambda text: None, lambda: machine.now)
    assert sampled.count("exp") > 5 * sampled.count("latency")


# -- what agrees -----------------------------------------------------------------------------------


def samples(values, *, clocks=None, in_cycles=True, agree=0.02) -> Samples:
    one = Experiment(name="exp", loop=LOOP, units=1, in_cycles=in_cycles, agree=agree)
    clock = Samples(Experiment(name=CLOCK, loop=LOOP, units=1))
    clock.runs = [Run(1.0, 0)]
    clocks = clocks or [1.0] * len(values)
    runs = [Run(v, i, c) for i, (v, c) in enumerate(zip(values, clocks, strict=True))]
    return Samples(one, clock if in_cycles else None, runs)


def test_runs_that_do_not_agree_are_no_floor():
    found = samples([10 * 1.1**i for i in range(20)])
    assert not found.is_found()
    assert found.floor() == pytest.approx([10 * 1.1**i for i in range(TAKEN)])


def test_a_floor_of_one_moment_is_none():
    """All of it in one visit: what goes on for a moment looks like the machine."""
    found = samples([10.0] * 30)
    assert found.is_found()
    found.runs = [run._replace(visit=7) for run in found.runs]
    assert not found.is_found()


def test_a_floor_that_was_just_reached_is_waited_for():
    assert not samples([20.0] * 20 + [10.0] * 5).is_found()
    assert samples([10.0] * 5 + [20.0] * 20).is_found()


def test_a_clock_that_was_slowed_makes_no_faster_runs():
    """Divided by a clock of half the speed, runs seem to take half."""
    values, clocks = [10.0] * 20 + [5.0] * 20, [1.0] * 20 + [2.0] * 20
    assert samples(values, clocks=clocks).floor() == [10.0] * TAKEN


def test_one_run_that_is_falsely_fast_is_left_out():
    assert samples([7.0, *[10.0] * 40]).floor() == [10.0] * TAKEN
    # of memory, nothing is divided by a clock, and a fast run is one
    assert samples([7.0, *[10.0] * 40], in_cycles=False).floor()[0] == 7.0


def test_runs_that_all_waited_are_no_floor():
    """Longer than what a busy machine gives at a time, each waits as long as the others."""
    one = Experiment(name="memory", loop=LOOP, units=1, in_cycles=False)

    class Bench:
        experiments = (one,)
        waits = True

        def times(self, names):
            return [Timing(5.0, waited=self.waits) for _ in names]

    bench = Bench()
    sampler = Sampler(bench)
    for sampler.visits in range(10):
        sampler.visit(one)
    assert sampler.missing() == [one]
    values = [once["memory"] for once in sampler.rounds()]
    number = Number(5.0, min(values), max(values))
    assert disturbances({"fresh_bandwidth": number, "costs.threads.least_microseconds": number})
    bench.waits = False
    for sampler.visits in range(10, 20):
        sampler.visit(one)
    assert sampler.missing() == [] and sampler.rounds()[-1]["memory"] == 5.0


def test_threads_that_had_no_cores_are_no_floor():
    """A parallel region that one thread did alone takes its time again and again."""
    alone = Experiment(name="region 1", loop=LOOP, units=1, in_cycles=False)
    both = Experiment(name="region 2", loop=LOOP, units=1, in_cycles=False, below=("region 1", 0.8))

    class Bench:
        experiments = (alone, both)

        def times(self, names):
            return [Timing(1.0 if name == "region 1" else self.second) for name in names]

        second = 1.0

    bench = Bench()
    sampler = Sampler(bench)
    for sampler.visits in range(10):
        for one in bench.experiments:
            sampler.visit(one)
    assert both in sampler.missing()
    bench.second = 0.6
    for sampler.visits in range(10, 40):
        sampler.visit(both)
    assert both not in sampler.missing()


# -- whole numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("slowed", [1.0, 1.2, 1.5, 1.8])
def test_units_are_as_many_as_were_seen_at_least(slowed):
    """1.3 to 1.7 loads in a cycle come from two units: a neighbour slows, and nothing adds."""
    from .calibrating import times_of

    once = times_of(AVX2, AVX2)
    for name in ("load 8", "load 4", "multiply-add 8", "start"):
        once[name] *= slowed
    found = fit([once] * TAKEN, AVX2).numbers
    assert found["loads_per_cycle"].value == 2
    assert found["load_bytes_per_cycle"].value == 64
    assert found["full_width_units"].value == 2
    assert not disturbances({"loads_per_cycle": found["loads_per_cycle"]})


@pytest.mark.parametrize(("seen", "taken"), [(4.4, 6), (5.6, 6), (6.1, 6), (3.0, 3), (7.6, 8)])
def test_instructions_that_start_at_once_are_as_described_where_most_were_seen(seen, taken):
    from .calibrating import times_of

    once = times_of(AVX2, AVX2)
    once["start"] *= AVX2.issue_width / seen
    assert fit([once] * TAKEN, AVX2).numbers["issue_width"].value == taken


def test_one_vector_unit_does_not_hide_how_many_instructions_start():
    """Of the mixed instructions, no more are vector sums than a single unit takes meanwhile."""
    (start,) = [one for one in tile_experiments(AVX2) if one.name == "start"]
    sums = start.loop.rows[0].count("arith.addf %g")
    instructions = start.units / (start.loop.steps * STEPS)
    assert 0 < sums <= instructions / AVX2.issue_width
