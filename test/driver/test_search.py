"""The search of schedules: ratios, the order of trials, and races of the best."""

from random import Random

import pytest
from nnc.driver.tuning.experiments import ExperimentError
from nnc.driver.tuning.ratio import Ratio
from nnc.driver.tuning.search import (
    FIRST,
    PATIENCE,
    ROUNDS,
    KernelSearch,
    Search,
    confirm,
)
from nnc.ir.diagnostics import NncError


def test_a_ratio_is_a_median_with_bounds_of_ranks():
    ratio = Ratio.of([(100.0, 90.0 + i) for i in range(9)])
    # Of 9 samples, 95 % of medians lie between the second and the eighth.
    assert (ratio.low, ratio.median, ratio.high) == pytest.approx((0.91, 0.94, 0.97))
    assert ratio.is_faster and ratio.gain == pytest.approx(0.06)
    assert ratio.spread == pytest.approx(0.03)


def test_few_samples_are_bounded_by_all_of_them():
    assert not Ratio.of([(100.0, 50.0), (100.0, 60.0), (100.0, 101.0)]).is_faster


# -- the search ------------------------------------------------------------------------------------


def sure(median):
    return Ratio(median, median, median)


class Clock:
    """A clock on which an experiment takes ten seconds."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def searching(shares, ratio, count=40, seconds=1e9, fails=None, **options):
    """A search of kernels with so many candidates, numbers; `ratio(key, candidate)` is known."""
    clock, asked = Clock(), []

    def measure(chosen):
        clock.now += 10
        asked.append(dict(chosen))
        if fails is not None and (why := fails(chosen)):
            raise ExperimentError(why)
        return {key: sure(ratio(key, one)) for key, one in chosen.items()}

    def kernel(key, share):
        numbers = iter(range(count))
        return KernelSearch(key, key, share, lambda faster: next(numbers, None))

    kernels = [kernel(key, share) for key, share in shares.items()]
    return Search(kernels, measure, clock=clock, seconds=seconds, **options), asked


def test_one_experiment_has_a_candidate_of_each_kernel_that_is_open():
    search, asked = searching({"a": 0.9, "b": 0.09, "c": 0.01}, lambda key, one: 1.0, trials=2)
    assert search.run() == "2 experiments were made"
    assert asked == [{"a": 0, "b": 0}, {"a": 1, "b": 1}]
    assert search.kernels["c"].frozen == "1.0% of the time"
    assert search.gain == 0.0


def test_the_first_experiment_does_not_wait_until_all_kernels_are_looked_at():
    """Each takes 4 s when it is first asked: 3 of 10 within 10 s, of 500; the others come later."""
    clock, asked = Clock(), []

    def measure(chosen):
        clock.now += 1
        asked.append((clock.now, list(chosen)))
        return {key: sure(1.0) for key in chosen}

    def kernel(number):
        def propose(faster):
            clock.now += 0 if made else 4
            made.append(len(made))
            return made[-1]

        made = []
        return KernelSearch(f"{number}", f"{number}", 0.11 - number / 500, propose)

    kernels = [kernel(number) for number in range(10)]
    Search(kernels, measure, clock=clock, seconds=500, trials=12).run()
    assert asked[0] == (13.0, ["0", "1", "2"])
    assert {key for _, keys in asked for key in keys} == {f"{number}" for number in range(10)}


def test_the_best_is_kept_and_a_kernel_without_gains_is_left_alone():
    times = {3: 0.8, 12: 0.7}
    search, _asked = searching(
        {"a": 0.5, "b": 0.5}, lambda k, n: times.get(n, 1.1) if k == "a" else 1
    )
    search.run()
    assert search.kernels["a"].best.candidate == 12
    assert search.gain == pytest.approx(0.5 * 0.3)
    assert search.kernels["b"].frozen == f"no gain in {PATIENCE} candidates"
    assert len(search.kernels["b"].trials) == FIRST
    assert len(search.kernels["a"].trials) == 13 + PATIENCE


def test_a_kernel_that_waits_has_its_turn_before_the_search_is_over():
    """The large kernel gains nothing; the only gain is the tenth candidate of a small one."""
    shares = {"large": 0.9, **dict.fromkeys("bcdef", 0.02)}
    search, asked = searching(shares, lambda k, n: 0.5 if (k, n) == ("f", 9) else 1.0)
    search.run()
    assert asked[0] == {"large": 0}
    assert search.kernels["f"].best.candidate == 9


def test_what_is_faster_within_the_spread_only_is_not_kept():
    kernel = KernelSearch("a", "a", 1.0, lambda faster: None)
    kernel.add(1, Ratio(0.9, 0.7, 1.01))
    assert kernel.best is None and kernel.gain == 0.0


def test_of_an_experiment_that_fails_the_candidate_at_fault_is_found():
    said = []
    search, _asked = searching(
        dict.fromkeys("abcd", 0.25),
        lambda key, one: 0.9,
        count=2,
        fails=lambda chosen: "it crashed (SIGSEGV)" if chosen.get("c") == 1 else "",
        say=said.append,
    )
    assert search.run() == "all kernels are done"
    assert search.dropped == ["c, 1: it crashed (SIGSEGV)"]
    assert [len(kernel.trials) for kernel in search.kernels.values()] == [2, 2, 1, 2]
    assert any("dropped a candidate of c, 1" in line for line in said)


def test_where_the_default_fails_too_no_candidate_is_at_fault():
    search, asked = searching(
        dict.fromkeys("ab", 0.5), lambda key, one: 0.9, fails=lambda chosen: "it failed (no memory)"
    )
    with pytest.raises(NncError, match=r"no experiment can be made here: it failed \(no memory\)"):
        search.run()
    assert asked == [{"a": 0, "b": 0}, {"a": 0}, {}] and not search.dropped


def test_time_is_left_to_compare_what_was_found():
    search, asked = searching({"a": 1.0}, lambda key, one: 1.0, seconds=65)
    assert search.run() == "too little time is left for another experiment"
    assert len(asked) == 4


def test_what_comparing_takes_is_left_once_there_is_something_to_compare():
    for ratio, count in ((1.0, 9), (0.9, 4)):
        search, asked = searching(
            {"a": 1.0}, lambda key, one, ratio=ratio: ratio, seconds=115, comparison=75
        )
        assert search.run() == "too little time is left for another experiment"
        assert len(asked) == count


def test_an_interruption_keeps_what_was_found():
    def interrupted(chosen):
        if chosen["a"] == 3:
            raise KeyboardInterrupt
        return ""

    kept = []
    search, _ = searching(
        {"a": 1.0},
        lambda key, n: 0.9 - n / 100,
        fails=interrupted,
        found=lambda k: kept.append(k.best),
    )
    assert search.run() == "interrupted"
    assert [trial.candidate for trial in kept] == [0, 1, 2]
    assert search.kernels["a"].best.candidate == 2


# -- racing: the best of many noisy candidates is measured again ----------------------------------


class Noisy:
    """A machine whose times are disturbed: candidates' true ratios are known, measured ones are
    five pairs of these, each with its own disturbance, at times a large one.
    """

    def __init__(self, seed, truths):
        self.random, self.truths = Random(seed), truths

    def ratio(self, candidate, pairs=5):
        def disturbed():
            return self.random.lognormvariate(0, 0.06) * (1.5 if self.random.random() < 0.05 else 1)

        true = self.truths[candidate]
        return Ratio.of([(1e6 * disturbed(), 1e6 * true * disturbed()) for _ in range(pairs)])


def raced(seed, truths):
    """What a search keeps at the end, and the trial that looked best by its first measurement."""
    machine, clock = Noisy(seed, truths), Clock()

    def measure(chosen):
        clock.now += 1
        return {key: machine.ratio(one) for key, one in chosen.items()}

    numbers = iter(range(len(truths)))
    kernel = KernelSearch("a", "a", 1.0, lambda faster: next(numbers, None))
    Search([kernel], measure, clock=clock, seconds=1e9).run()

    def compare(chosen):
        ratio = machine.ratio(chosen["a"], pairs=30)
        return {"a": ratio}, ratio

    luckiest = min(kernel.trials, key=lambda trial: trial.first.median)
    kept, _ = confirm({"a": [t.candidate for t in kernel.finalists()]}, lambda key: 1.0, compare)
    return kept["a"][0] if kept else None, luckiest


@pytest.fixture
def patient(monkeypatch):
    monkeypatch.setattr("nnc.driver.tuning.search.PATIENCE", 10_000)


@pytest.mark.thorough
def test_the_luckiest_of_many_that_are_no_faster_is_not_kept(patient):
    found = [raced(seed, [1.0] * 100) for seed in range(60)]
    # By the first measurement alone something looked 3 % faster in each search.
    assert all(luckiest.first.median < 0.97 for _, luckiest in found)
    assert sum(kept is not None for kept, _ in found) <= 1


def test_of_noisy_candidates_the_faster_is_kept_and_never_a_slower_one(patient):
    truths = [1.0, 1.02, 0.99, 1.03] * 15 + [0.86] + [1.0, 1.02, 0.99, 1.03] * 9
    found = [raced(seed, truths) for seed in range(40)]
    kept = [truths[one] for one, _ in found if one is not None]
    lucky = [truths[luckiest.candidate] for _, luckiest in found]
    assert sum(one >= 1 for one in lucky) >= 10 and lucky.count(0.86) <= 26
    assert kept.count(0.86) >= 30 and all(one < 1 for one in kept)


def test_a_candidate_is_measured_again_before_it_is_the_best():
    kernel = KernelSearch("a", "a", 1.0, lambda faster: "new")
    kernel.add("x", sure(0.5))
    assert kernel.best is None and kernel.gain == 0.0
    assert kernel.next() == "x" and kernel.next() == "new"
    kernel.add("x", sure(0.8))
    assert kernel.best.candidate == "x" and kernel.gain == pytest.approx(0.2)
    assert kernel.best.ratio == sure(0.8)  # the lucky 0.5 does not count


def test_what_does_not_hold_again_makes_room_for_the_next():
    kernel = KernelSearch("a", "a", 1.0, lambda faster: None)
    for one, median in (("x", 0.7), ("y", 0.8)):
        kernel.add(one, sure(median))
    assert kernel.next() == "x"
    kernel.add("x", sure(1.1))
    assert kernel.next() == "y"
    kernel.add("y", sure(0.85))
    assert kernel.best.candidate == "y" and [t.candidate for t in kernel.finalists()] == ["y"]


def test_what_is_not_sure_again_has_three_rounds():
    kernel = KernelSearch("a", "a", 1.0, lambda faster: None)
    kernel.add("x", sure(0.9))
    for _ in range(ROUNDS):
        assert kernel.next() == "x"
        kernel.add("x", Ratio(0.95, 0.8, 1.1))
    assert kernel.next() is None and kernel.best is None and kernel.finalists() == []


def test_what_fails_when_measured_again_is_dropped():
    fails = iter(["", "it crashed", ""])
    search, asked = searching(
        {"a": 1.0}, lambda k, n: 0.9, count=2, fails=lambda chosen: next(fails, "")
    )
    search.run()
    assert [one["a"] for one in asked] == [0, 0, 1, 1]
    assert search.dropped == ["a, 0: it crashed"] and search.kernels["a"].best.candidate == 1


def test_the_curve_tells_when_what_was_saved():
    search, _ = searching({"a": 1.0}, lambda k, n: 0.9, count=1)
    search.run()
    assert search.curve == [(10.0, 0.0), (20.0, pytest.approx(0.1))]


# -- what is kept ----------------------------------------------------------------------------------


def confirming(found, answers):
    asked = []

    def measure(chosen):
        asked.append(set(chosen))
        answer = answers[len(asked) - 1]
        if isinstance(answer, str):
            raise ExperimentError(answer)
        ratios, whole = answer
        return {key: sure(ratios[key]) for key in chosen}, whole

    return confirm({key: [1] for key in found}, lambda key: ord(key[0]), measure), asked


def test_what_does_not_gain_again_is_dropped_and_the_rest_compared():
    answers = [({"a": 0.9, "b": 1.02}, sure(0.97)), ({"a": 0.9}, sure(0.95))]
    (kept, whole), asked = confirming("ab", answers)
    assert list(kept) == ["a"] and whole == sure(0.95) and asked == [{"a", "b"}, {"a"}]


def test_in_place_of_what_does_not_gain_the_next_candidate_is_compared():
    times, asked = {1: 0.9, 2: 1.1, 3: 0.95, 4: 1.2, 5: 1.01}, []

    def measure(chosen):
        asked.append(dict(chosen))
        return {key: sure(times[one]) for key, one in chosen.items()}, sure(0.97)

    found = {"a": [1], "b": [2, 3], "c": [4, 5]}
    kept, whole = confirm(found, lambda key: 1.0, measure)
    assert kept == {"a": (1, sure(0.9)), "b": (3, sure(0.95))} and whole == sure(0.97)
    assert asked == [{"a": 1, "b": 2, "c": 4}, {"a": 1, "b": 3, "c": 5}, {"a": 1, "b": 3}]


def test_nothing_is_kept_that_was_not_compared_as_it_is():
    """Something falls behind in each comparison: the last one's rest was never compared alone."""
    slow = iter([{"a"}, {"b"}, {"c"}])

    def measure(chosen):
        now = next(slow)
        return {key: sure(2.0 if key in now else 0.9) for key in chosen}, sure(0.9)

    found = {key: [key] for key in "abcd"}
    assert confirm(found, lambda key: 1.0, measure)[0] == {}


def test_nothing_is_kept_where_the_whole_is_not_faster():
    (kept, whole), _ = confirming("a", [({"a": 0.9}, Ratio(0.99, 0.9, 1.01))])
    assert kept == {} and whole == Ratio(0.99, 0.9, 1.01)


def test_of_what_fails_together_half_is_left_out():
    answers = ["its numbers are wrong", ({"c": 0.9, "d": 0.9}, sure(0.9))]
    (kept, _), asked = confirming("abcd", answers)
    assert set(kept) == {"c", "d"} and asked == [set("abcd"), set("cd")]


def test_nothing_found_is_nothing_to_compare():
    assert confirming("", []) == (({}, None), [])
