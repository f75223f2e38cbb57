"""Variants: legal, different from each other, equal in numbers; the first is the default."""

from itertools import islice
from random import Random

import pytest
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.apply_schedules import ApplySchedules
from nnc.kernels.choose_schedules import ChooseSchedules
from nnc.kernels.policy.choices import Choices
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
