"""nnc tune: what is learned from made-up times, when it is believed, and which candidates follow."""

from dataclasses import replace
from itertools import chain, combinations
from random import Random

import nnc.driver.tuning.learned as learning
import numpy as np
import pytest
from nnc.driver.compile import run_stages
from nnc.driver.tuning.learned import LEAST_KERNELS, Learned, boosted, rank_correlation, verified
from nnc.driver.tuning.measurements import Measurement
from nnc.driver.tuning.proposals import LEAST_FIRST, POOL, Proposals
from nnc.driver.tuning.search import FIRST
from nnc.driver.tuning.worth import FIRST_GAIN, OVERHEAD, expected_gain, worthwhile
from nnc.kernels.policy.variants import Variants, crossed, told_of
from nnc.kernels.tuned import kernel_functions
from nnc.targets.attribute import target_of

from .test_tuning import product


def measurements(kernels, each, truth, seed=0, repeated=1):
    """Made-up measurements; `truth(kernel, features, random)` is how far the model is off."""
    random, found = Random(seed), []
    for number in range(kernels):
        kernel = {"kernel.points": random.uniform(8, 30), "kernel.weight": random.uniform(1, 9)}
        for _ in range(each):
            told = {
                "predicted": random.gauss(0, 0.3),
                "tile.pressure": random.random(),
                "tile.padded": random.random(),
            }
            off = truth(number, told, random)
            ratio = 2 ** (told["predicted"] + off)
            one = Measurement(
                f"k{number}", "k", "m", "1", 1, "", ratio, ratio, ratio, 0.0, kernel | told
            )
            found += [one] * repeated
    return found


def spills(kernel, told, random):
    """A fault of the model that all kernels share."""
    return 0.5 if told["tile.pressure"] > 0.6 else random.gauss(0, 0.02)


# -- what is believed ------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_fault_that_kernels_share_is_learned_and_transfers():
    said = []
    learned = Learned(measurements(16, 12, spills), said.append)
    assert learned.is_used
    assert "the learned model is used: rank correlation 0." in said[-1]
    unseen = measurements(6, 12, spills, seed=7)
    by_truth = [one.ratio for one in unseen]
    from scipy.stats import spearmanr

    ours = spearmanr(learned.rank([one.features for one in unseen]), by_truth).statistic
    before = spearmanr([one.features["predicted"] for one in unseen], by_truth).statistic
    assert ours > 0.9 > 0.85 > before


@pytest.mark.parametrize("seed", range(3))
def test_chance_is_not_believed(seed):
    said = []
    noise = measurements(12, 10, lambda kernel, told, random: random.gauss(0, 0.5), seed)
    assert not Learned(noise, said.append).is_used
    assert "is not used" in said[-1]


def test_what_is_true_of_one_kernel_only_is_not_believed():
    """Repeated measurements of a kernel would be known by heart if it were not held out whole."""

    def own(kernel, told, random):
        return Random(f"{kernel} {told['tile.pressure']:.1f}").gauss(0, 0.6)

    assert not verified(measurements(12, 12, own, repeated=4), boosted).is_better


def test_what_is_learned_is_the_same_each_time():
    known, asked = measurements(10, 10, spills), measurements(2, 10, spills, seed=3)
    ranks = [Learned(known).rank([one.features for one in asked]) for _ in range(2)]
    assert ranks[0] == ranks[1]


def test_without_the_library_the_analytical_model_ranks_and_that_is_said(monkeypatch):
    monkeypatch.setattr(learning, "is_installed", lambda: False)
    said = []
    learned = Learned(measurements(16, 12, spills), said.append)
    assert not learned.is_used and "pip install 'nnc[tune]'" in said[0]
    assert learned.rank([{"predicted": 2.0}, {}]) == [2.0, 0.0]


def test_too_few_kernels_and_other_features_teach_nothing():
    fits = []
    few = measurements(LEAST_KERNELS - 1, 12, spills)
    Learned(few, fit=lambda *data: fits.append(data))
    Learned(
        [replace(one, version=99) for one in measurements(20, 12, spills)],
        fit=lambda *data: fits.append(data),
    )
    assert fits == []


def test_it_learns_anew_once_there_is_a_quarter_more():
    fits = []

    def fit(rows, targets, weights):
        fits.append(len(rows))
        return lambda asked: np.zeros(len(asked))

    learned = Learned(measurements(10, 10, spills), fit=fit)
    at_first = len(fits)
    more = measurements(3, 10, spills, seed=5)
    for one in more[:25]:
        learned.add([one])
    assert len(fits) == at_first
    learned.add([more[25]])
    assert len(fits) == 2 * at_first
    # It predicts what the analytical model does, which is no better: it is not used.
    assert not learned.is_used


def test_what_was_measured_with_a_wide_spread_counts_less():
    weights = []

    def fit(rows, targets, given):
        weights.append(given)
        return lambda asked: np.zeros(len(asked))

    known = measurements(10, 10, spills)
    known[0] = replace(known[0], low=known[0].ratio - 0.3, high=known[0].ratio + 0.3)
    learning.predictor(known, fit)
    assert weights[0][0] < 0.2 and weights[0][1] == 1


@pytest.mark.parametrize("seed", range(4))
def test_rank_correlations_are_spearmans(seed):
    from scipy.stats import spearmanr

    values = np.random.default_rng(seed).integers(0, 6, (2, 20)).astype(float)
    assert rank_correlation(*values) == pytest.approx(spearmanr(*values).statistic)
    assert rank_correlation(values[0], np.ones(20)) == 0


# -- which kernels ---------------------------------------------------------------------------------


def test_gains_are_expected_by_share_and_by_what_came_lately():
    assert expected_gain(0.5, []) == 0.5 * FIRST_GAIN
    assert expected_gain(0.5, [1.0] * 9) < expected_gain(0.5, [1.0] * 3) < expected_gain(0.5, [])
    assert expected_gain(0.5, [1.0, 0.8]) > expected_gain(0.5, [1.0, 1.0])
    # Of two that saved as much, the one that did lately promises more.
    assert expected_gain(0.5, [0.8] + [1.0] * 11) < expected_gain(0.5, [1.0] * 11 + [0.8])


def test_kernels_that_promise_little_wait_for_their_turn():
    gains = {"a": 0.6, "b": 0.01, "c": 0.36, "d": 0.03}
    assert worthwhile(gains) == ["a", "c"]
    assert worthwhile(gains | {"a": 0.1}) == ["c", "a"]
    assert worthwhile({}) == [] and worthwhile({"a": 0.0}) == ["a"]


@pytest.mark.parametrize("seed", range(8))
def test_no_other_kernels_promise_more_for_the_time(seed):
    gains = dict(zip("abcdefg", np.random.default_rng(seed).exponential(1, 7) ** 3, strict=True))

    def rate(keys):
        return sum(gains[key] for key in keys) / (OVERHEAD + len(keys))

    subsets = chain.from_iterable(combinations(gains, n) for n in range(1, len(gains) + 1))
    assert rate(worthwhile(gains)) == pytest.approx(max(map(rate, subsets)))


# -- candidates ------------------------------------------------------------------------------------


class Oracle:
    """Ranks by one feature, as a learned model that is right would."""

    def __init__(self, name, is_used=True):
        self.name, self.is_used, self.asked = name, is_used, []

    def rank(self, schedules):
        self.asked.append(len(schedules))
        return [one.get(self.name, 0.0) for one in schedules]


def function():
    module = product()
    run_stages(module, last="bufferize")
    (found,) = [f for f in kernel_functions(module) if "nn.kernel" in f.attributes]
    return module, found


def proposed(learned, count, seed="0", time=lambda variant: 1.0):
    """Candidates in their order, given the faster ones by made-up times."""
    module, kernel = function()
    proposals, found = Proposals(kernel, ("parallel",), None, seed, learned), []
    for _ in range(count):
        faster = sorted((one for one in found if time(one) < 1), key=time)
        if (made := proposals(faster[:4])) is None:
            break
        found.append(made)
        proposals.hear(made, time(made))
    return module, kernel, proposals, found


def test_the_analytical_model_comes_first_then_what_was_learned():
    oracle = Oracle("tile.vectors")
    module, kernel, proposals, found = proposed(oracle, LEAST_FIRST + 8)
    variants = Variants("k", kernel.body.blocks[0], target_of(module).machine, ("parallel",))
    ranked = [str(one) for one, _ in zip(variants.ranked(), range(LEAST_FIRST), strict=False)]
    assert [str(one) for one in found[:LEAST_FIRST]] == ranked
    vectors = [proposals.variants.features(one).get("tile.vectors", 0) for one in found]
    assert np.mean(vectors[LEAST_FIRST:]) < np.mean(vectors[:LEAST_FIRST])
    assert len({one.text for one in found}) == len(found)
    assert max(oracle.asked) <= POOL + LEAST_FIRST + 8 + FIRST


def test_where_nothing_was_learned_the_first_are_all_of_the_models():
    oracle = Oracle("predicted", is_used=False)
    _, _, _, found = proposed(oracle, FIRST + 2)
    assert len(oracle.asked) == 2
    assert len({one.text for one in found}) == len(found) == FIRST + 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", ["1", "2"])
def test_two_decisions_that_are_good_together_are_found(seed):
    """Made-up times: two decisions save a tenth each; none of the first candidates has both."""

    def time(variant):
        saved = 0.1 * (variant.told.get("tile 1") == 2) + 0.1 * (variant.told.get("steps 1") == 2)
        return 1.0 - saved

    *_, found = proposed(Oracle("predicted"), LEAST_FIRST + 20, seed, time)
    times = [time(one) for one in found]
    assert sum(t < 0.95 for t in times[:LEAST_FIRST]) == 2
    assert min(times[:LEAST_FIRST]) == pytest.approx(0.9)
    assert min(times) == pytest.approx(0.8)


def test_candidates_follow_from_the_seed():
    runs = [proposed(Oracle("tile.loads"), LEAST_FIRST + 4, seed)[3] for seed in ("a", "a", "b")]
    texts = [[one.text for one in run] for run in runs]
    assert texts[0] == texts[1] != texts[2]


def test_decisions_of_two_parents_cross():
    one, other = {"tile 1": 3, "order 1": 2}, {"tile 1": 5}
    found = [crossed(one, other, Random(i)) for i in range(40)]
    assert {child["tile 1"] for child in found} == {3, 5}
    assert {child.get("order 1", 0) for child in found} == {0, 2}


def test_decisions_are_read_as_they_are_written():
    _, kernel, proposals, found = proposed(Oracle("predicted"), 12)
    assert all(told_of(str(one)) == dict(one.told) for one in found)
    assert told_of("default") == told_of("") == told_of("by hand") == {}
    for one in found[:3]:
        known = Variants("k", kernel.body.blocks[0], proposals.variants.machine).known(
            one.schedule, told_of(str(one))
        )
        assert known.told == one.told and known.cycles == pytest.approx(one.cycles)
