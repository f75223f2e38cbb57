"""Predictions by resource: their sum is what is predicted, and the resource that is slow is named."""

from dataclasses import replace

import pytest
from nnc.ir.decisions import Decision, Terms
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.choose_schedules import ChooseSchedules
from nnc.kernels.policy.candidates import best, candidates
from nnc.targets.base import target

from ..lowering.loop_kernels import KERNELS

AVX512 = target("x86-64-v4").machine


def decided(name: str, target_name: str) -> Decision:
    module = parse_module(KERNELS[name]().text)
    context = PassContext()
    context.decisions.every = True
    ChooseSchedules(target_name).run(module, context)
    (found,) = context.decisions.made
    return found


@pytest.mark.parametrize("target_name", ["x86-64-v4", "opencl-cpu", "hls"])
def test_a_decision_has_all_candidates_with_their_terms(target_name: str):
    found = decided("attention", target_name)
    assert {"grouped", "apart"} <= {one.name for one in found.alternatives}
    for one in found.alternatives:
        if not one.fault:
            assert one.terms is not None
            assert one.cycles == pytest.approx(sum(one.terms.by_resource.values()))
            assert all(cycles >= 0 for cycles in one.terms.by_resource.values())
    assert found.chosen.cycles <= min(one.cycles for one in found.others) / found.margin


def test_what_is_between_two_estimates_has_parts_of_both():
    one, other = Terms({"memory": 30.0, "loads": 10.0}), Terms({"memory": 1.0, "latency": 3.0})
    found = Terms.between(one, other, 16.0)
    assert found.cycles == pytest.approx(16.0)
    assert found.by_resource == pytest.approx({"memory": 8.0, "loads": 2.0, "latency": 6.0})
    assert Terms.between(one, Terms(), 20.0).by_resource == pytest.approx(
        {"memory": 15.0, "loads": 5.0}
    )
    assert Terms().bound == ""


SLOWED = [
    ("matmul", "arithmetic", {"full_width_units": 0.05}),
    ("conv", "arithmetic", {"full_width_units": 0.05}),
    ("attention", "arithmetic", {"full_width_units": 0.05}),
    ("layer_norm", "arithmetic", {"full_width_units": 0.05}),
    ("softmax", "arithmetic", {"full_width_units": 0.05}),
    ("matmul_transposed_tall", "memory", {"memory_bandwidth": 0.05}),
    ("conv", "memory", {"memory_bandwidth": 0.05}),
    ("attention", "memory", {"memory_bandwidth": 0.05}),
    ("layer_norm", "memory", {"memory_bandwidth": 0.05}),
    ("softmax", "memory", {"memory_bandwidth": 0.05}),
    ("matmul", "latency", {"fma_latency": 400}),
    ("conv", "latency", {"fma_latency": 400}),
    ("attention", "latency", {"fma_latency": 400}),
    ("layer_norm", "latency", {"fma_latency": 400}),
    ("softmax", "latency", {"fma_latency": 400}),
    ("matmul", "loads", {"load_bytes_per_cycle": 1}),
    ("conv", "loads", {"load_bytes_per_cycle": 1}),
    ("layer_norm", "loads", {"load_bytes_per_cycle": 1}),
    ("matmul", "issue", {"issue_width": 0.05}),
    ("conv", "issue", {"issue_width": 0.05}),
    ("matmul", "l2", {"l1_bytes": 64, "l2_bandwidth": 0.05}),
]
"""A kernel, the resource that is slow, and which numbers of the machine say so."""


@pytest.mark.parametrize("name, resource, numbers", SLOWED)
def test_the_resource_that_is_slow_bounds(name: str, resource: str, numbers: dict[str, float]):
    machine = replace(AVX512, **numbers)
    module = parse_module(KERNELS[name]().text)
    block = module.body_block.first.regions[0].blocks[0]
    chosen = best(candidates("k", block, machine), machine)
    assert chosen.terms is not None and chosen.terms.bound == resource
    usual = best(candidates("k", block, AVX512), AVX512)
    assert usual.cycles < chosen.cycles
