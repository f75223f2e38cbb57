"""Several experiments of nnc tune at once: what runs together, what an interruption keeps, losses.

How many run together is counted by barriers, which break where fewer come: no test looks at a clock.
"""

import os
import signal
import sys
import threading

import pytest
from nnc.driver.tuning.crew import TRIES, LocalCrew, tried
from nnc.driver.tuning.experiments import ExperimentError, LostError, OverError
from nnc.driver.tuning.flights import uninterrupted
from nnc.driver.tuning.ratio import Ratio
from nnc.driver.tuning.search import KernelSearch, Search
from nnc.driver.tuning.worker import Answer, Request

WAIT = 60.0
"""Seconds after which a test that hangs fails."""


def sure(median):
    return Ratio(median, median, median)


def searching(measure, slots, keys="a", count=12, seconds=1e9, clock=lambda: 0.0, **options):
    def kernel(key):
        numbers = iter(range(count))
        return KernelSearch(key, key, 1 / len(keys), lambda faster: next(numbers, None))

    if isinstance(slots, int):
        options["slots"] = lambda: slots
    elif slots is not None:
        options["slots"] = slots
    kernels = [kernel(key) for key in keys]
    return Search(kernels, measure, clock=clock, seconds=seconds, **options)


def candidates(search, key="a"):
    return sorted(trial.candidate for trial in search.kernels[key].trials)


# -- the search ------------------------------------------------------------------------------------


@pytest.mark.parametrize("slots", [2, 4])
def test_as_many_experiments_run_at_once_as_there_are_slots(slots):
    together = threading.Barrier(slots, timeout=WAIT)

    def measure(chosen):
        together.wait()
        return {key: sure(1.0) for key in chosen}

    search = searching(measure, slots, trials=12)
    assert search.run() == "12 experiments were made"
    assert candidates(search) == list(range(12))


def test_no_more_run_at_once_than_there_are_slots():
    running, most, lock = set(), [], threading.Lock()

    def measure(chosen):
        with lock:
            running.add(chosen["a"])
            most.append(len(running))
        threading.Event().wait(0.01)
        with lock:
            running.remove(chosen["a"])
        return {"a": sure(1.0)}

    searching(measure, 3, trials=12).run()
    assert len(most) == 12 and max(most) <= 3


def test_a_result_is_taken_in_while_others_are_still_measured():
    found = threading.Event()

    def measure(chosen):
        if chosen["a"] == 0:
            assert found.wait(WAIT)
        return {"a": sure(0.9 if chosen["a"] == 1 else 1.1)}

    search = searching(measure, 2, count=3, found=lambda kernel: found.set())
    assert search.run() == "all kernels are done"
    assert candidates(search) == [0, 1, 2] and search.kernels["a"].best.candidate == 1


def test_slots_that_come_later_are_used():
    slots, joined = [1], threading.Barrier(3, timeout=WAIT)

    def measure(chosen):
        if chosen["a"] == 0:
            slots[0] = 3
        else:
            joined.wait()
        return {"a": sure(1.0)}

    search = searching(measure, lambda: slots[0], count=7)
    search.run()
    assert candidates(search) == list(range(7))


@pytest.mark.parametrize("slots", [None, 3])
@pytest.mark.parametrize("number", [0, 1, 5, 11])
def test_an_interruption_keeps_all_that_was_measured(slots, number):
    """SIGINT as a terminal sends it, while other experiments run; what they gave by then counts."""
    measured, kept, abandoned = [], [], []

    def measure(chosen):
        if chosen["a"] == number:
            os.kill(os.getpid(), signal.SIGINT)
        measured.append(chosen["a"])
        return {"a": sure(0.9 - chosen["a"] / 100)}

    search = searching(
        measure,
        slots,
        count=13,
        found=lambda kernel: kept.append(kernel.best.candidate),
        abandon=lambda: abandoned.append(True),
    )
    assert search.run() == "interrupted"
    known = candidates(search)
    # With slots, those before it are in flight still, or were taken in.
    least = number if slots is None else number - slots + 1
    assert set(range(least)) <= set(known) and (slots or known == list(range(number)))
    assert search.kernels["a"].best is None or kept[-1] == search.kernels["a"].best.candidate
    assert set(kept) <= set(known) <= set(measured) and abandoned == [True]


def test_ctrl_c_waits_for_the_end_of_a_block_that_must_not_be_cut():
    done = []
    with pytest.raises(KeyboardInterrupt):
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            done.append(1)
        done.append(2)
    assert done == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_experiment_that_never_ends_does_not_hold_the_search_up():
    now, release = [0.0], threading.Event()

    def measure(chosen):
        if chosen["a"] == 1:
            release.wait(WAIT)
            raise LostError("it was abandoned")
        now[0] += 0.1
        return {"a": sure(0.9)}

    search = searching(measure, 2, seconds=0.55, clock=lambda: now[0], abandon=release.set)
    assert search.run() == "too little time is left for another experiment"
    assert release.is_set() and 1 not in candidates(search) and len(candidates(search)) >= 2


def test_of_experiments_that_fail_together_the_candidates_at_fault_are_found():
    def measure(chosen):
        if chosen.get("c") in (1, 2):
            raise ExperimentError("it crashed (SIGSEGV)")
        return {key: sure(0.9) for key in chosen}

    search = searching(measure, 4, keys="abcd", count=4)
    assert search.run() == "all kernels are done"
    assert sorted(search.dropped) == ["c, 1: it crashed (SIGSEGV)", "c, 2: it crashed (SIGSEGV)"]
    assert [candidates(search, key) for key in "abcd"] == [[0, 1, 2, 3]] * 2 + [
        [0, 3],
        [0, 1, 2, 3],
    ]


def test_where_no_experiment_can_be_made_any_more_what_was_found_stays():
    def measure(chosen):
        if chosen["a"] >= 4:
            raise OverError("the scheduler is gone")
        return {"a": sure(0.9 - chosen["a"] / 100)}

    search = searching(measure, 2)
    with pytest.raises(OverError, match="the scheduler is gone"):
        search.run()
    assert set(candidates(search)) <= {0, 1, 2, 3} and search.kernels["a"].best is not None


def test_one_after_the_other_the_same_measurements_give_the_same_search():
    def asked():
        found = []

        def measure(chosen):
            found.append(dict(chosen))
            return {key: sure(0.8 + (7 * one) % 5 / 10) for key, one in chosen.items()}

        searching(measure, None, keys="abc", count=30).run()
        return found

    first = asked()
    assert first == asked() and len(first) >= 16


# -- processes of this machine ---------------------------------------------------------------------

ANSWER = """
import os, pathlib, pickle, signal, sys
from nnc.driver.tuning.worker import Answer
folder = pathlib.Path(sys.argv[1])
tries = folder.parent / "tries"
with tries.open("a") as file:
    file.write("x")
if len(tries.read_text()) <= %d:
    os.kill(os.getpid(), signal.SIGKILL)
(folder / "answer.pickle").write_bytes(pickle.dumps(Answer({}, [(2.0, 1.0)])))
"""


def crew(tmp_path, code, count=1):
    request = Request(tmp_path, tmp_path, 1, 0.0, 1e-4, 1 << 40)
    return LocalCrew(request, 600.0, count, [sys.executable, "-c", code])


def test_an_experiment_that_is_killed_from_outside_is_made_again(tmp_path):
    assert crew(tmp_path, ANSWER % 1).run({}).whole == [(2.0, 1.0)]
    assert len((tmp_path / "tries").read_text()) == 2


def test_an_experiment_that_is_lost_again_and_again_has_failed():
    tries = []

    def run():
        tries.append(1)
        raise LostError("it crashed (SIGKILL)")

    with pytest.raises(LostError):
        tried(run, lambda: True)
    assert len(tries) == TRIES
    tries.clear()
    with pytest.raises(LostError):
        tried(run, lambda: False)
    assert len(tries) == 1


def test_workers_of_this_machine_run_at_once_and_end_when_they_are_abandoned(tmp_path):
    code = (
        "import pathlib, sys, time; (pathlib.Path(sys.argv[1]) / 'here').touch(); time.sleep(600)"
    )
    made = crew(tmp_path, code, 3)
    assert made.slots() == 3 and crew(tmp_path, code).slots is None
    lost = []

    def run():
        try:
            made.run({})
        except LostError as error:
            lost.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    pause = threading.Event()
    for _ in range(int(WAIT / 0.05)):
        if len(list(tmp_path.glob("*/here"))) == 3:
            break
        pause.wait(0.05)
    assert len(list(tmp_path.glob("*/here"))) == 3
    made.close()
    for thread in threads:
        thread.join(WAIT)
    assert len(lost) == 3 and not list(tmp_path.glob("*/here"))


def test_answers_hold_what_they_were_measured_on():
    from nnc.targets.base import processor_name

    assert Answer(processor=processor_name()).processor.count(", ") >= 1
