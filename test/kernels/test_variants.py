"""Variants: legal, different from each other, equal in numbers; the first is the default."""

from itertools import islice
from math import log2
from random import Random

import pytest
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.apply_schedules import ApplySchedules
from nnc.kernels.choose_schedules import ChooseSchedules, choose
from nnc.kernels.policy.choices import Choices
from nnc.kernels.policy.features import describe, features, kernel_features
from nnc.kernels.policy.score import prediction
from nnc.kernels.policy.variants import Variants
from nnc.kernels.tuned import check_schedule
from nnc.targets.base import target

from ..lowering.loop_kernels import KERNELS
from ..lowering.test_schedules import check

MACHINE = target("x86-64-v3").machine


def variants_of(name, left=()):
    module = parse_module(KERNELS[name]().text)
    function = module.body_block.first
    return module, Variants(function.sym_name, function.regions[0].blocks[0], MACHINE, left)


def test_choices_answer_with_the_model_unless_told():
    choices = Choices({"a": 1, "b": 7})
    assert choices.choose("a", "model", lambda: ["first", "second"]) == "first"
    assert choices.choose("b", "model", lambda: ["first"]) == "model"
    assert choices.choose("c", "model", lambda: pytest.fail("looked at")) == "model"
    assert choices.either("c", True) and not Choices({"c": 1}).either("c", True)
    assert choices.asked == {"a": 16, "b": 16, "c": 1}


@pytest.mark.parametrize("name", ["matmul", "softmax", "attention", "matmul_transposed_tall"])
def test_the_first_variant_is_the_default(name):
    module, variants = variants_of(name)
    ChooseSchedules("x86-64-v3").run(module, PassContext())
    (chosen,) = [op for op in module.body_block if op.name == "schedule.for"]
    assert variants.default.text == str(chosen)
    assert variants.default.told == {} and str(variants.default) == "default"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["matmul", "conv", "softmax", "attention"])
def test_what_models_found_for_one_schedule_is_right_for_the_next(name):
    """Variants of one kernel share what models have found; alone, each finds it by itself."""
    _, together = variants_of(name)
    made = [one for i in range(6) if (one := together.mutation([together.default], Random(i)))]
    assert made
    for one in made:
        alone = variants_of(name)[1].variant(one.told)
        assert alone is not None and (alone.text, alone.cycles) == (one.text, one.cycles)


@pytest.mark.parametrize("name", ["matmul", "conv", "softmax"])
def test_variants_are_legal_and_compute_the_same(name):
    kernel = KERNELS[name]()
    module, variants = variants_of(name)
    ranked = list(islice(variants.ranked(), 4))
    mutated = [variants.mutation(ranked, Random(i)) for i in range(3)]
    found = [variants.default, *ranked, *filter(None, mutated)]
    assert len({one.text for one in found}) == len(found) > 4
    assert not any(set(one.told) - set(one.asked) for one in found)
    block = module.body_block.first.regions[0].blocks[0]
    for one in found:
        check_schedule(one.schedule.clone(), block)
        run = module.clone()
        run.body_block.append(one.schedule.clone())
        ApplySchedules("x86-64-v3").run(run, PassContext())
        run.verify()
        check(run, kernel)


def test_decisions_that_are_left_to_the_model_are_not_varied():
    _, variants = variants_of("matmul", left=("parallel", "tile"))
    assert not any(key.startswith(("parallel", "tile")) for key in variants.default.asked)
    assert all(not str(one).startswith("tile") for one in islice(variants.ranked(), 4))


@pytest.mark.parametrize("name", ["matmul", "conv", "softmax"])
def test_what_a_model_is_told_of_schedules(name):
    """Sizes that are known by hand, and terms that add up to what is expected."""
    module, variants = variants_of(name)
    block = module.body_block.first.regions[0].blocks[0]
    for one in islice(variants.ranked(), 5):
        told = variants.features(one)
        assert 2 ** told.get("predicted", 0) == pytest.approx(
            one.cycles / variants.default.cycles, rel=1e-3
        )
        parts = [value for key, value in told.items() if key.startswith("part.")]
        assert sum(parts) == pytest.approx(1, abs=0.01)
        changes = sum(
            value
            for key, value in told.items()
            if key.startswith("change.") and key.count(".") == 1
        )
        assert changes == pytest.approx(one.cycles / variants.default.cycles - 1, abs=0.01)
        kind, number = next(iter(one.told)).split()[0], next(iter(one.told.values()))
        assert told[f"told.{kind}"] == number
        assert told["machine.l1_bytes"] == pytest.approx(log2(1 + MACHINE.l1_bytes), abs=1e-3)
        # Replayed from its text, the schedule says the same.
        again = describe(one.schedule, block, MACHINE, lambda p: prediction(p, MACHINE).terms)
        assert again.terms.cycles == pytest.approx(one.cycles)


def test_a_schedule_of_a_device_is_told_too():
    module = parse_module(KERNELS["matmul"]().text)
    function = module.body_block.first
    device = target("opencl").machine
    block = function.regions[0].blocks[0]
    _, chosen = choose(function, "groups", device, False)
    one = describe(chosen.schedule, block, device, lambda _: chosen.terms)
    told = features({}, one, one, kernel_features(block, device))
    assert one.terms.cycles == chosen.cycles > 0 and "predicted" not in told
    assert told["machine.cores"] == pytest.approx(log2(1 + device.cores), abs=1e-3)
