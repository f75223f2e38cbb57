"""Predictions by resource: their sum is what is predicted, and the resource that is slow is named."""

from dataclasses import replace

import pytest
from nnc.ir.decisions import Decision, Terms
from nnc.ir.passes import PassContext
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.choose_schedules import ChooseSchedules, choose
from nnc.kernels.policy.candidates import best, candidates
from nnc.targets.base import target

from ..lowering.loop_kernels import KERNELS

AVX512 = target("x86-64-v4").machine


def decided(name: str, target_name: str) -> Decision:
    module = parse_module(KERNELS[name]().text)
    context = PassContext()
    context.decisions.every = True
    ChooseSchedules(target_name).run(module, context)
    (found,) = [one for one in context.decisions.made if one.kind == "schedule"]
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


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name, resource, numbers", SLOWED)
def test_the_resource_that_is_slow_bounds(name: str, resource: str, numbers: dict[str, float]):
    machine = replace(AVX512, **numbers)
    module = parse_module(KERNELS[name]().text)
    block = module.body_block.first.regions[0].blocks[0]
    chosen = best(candidates("k", block, machine), machine)
    assert chosen.terms is not None and chosen.terms.bound == resource
    usual = best(candidates("k", block, AVX512), AVX512)
    assert usual.cycles < chosen.cycles


# -- twenty kernels, each with one resource slowed ---------------------------------------------

SLOWER = {
    "memory": {"memory_bandwidth": 1 / 32},
    "arithmetic": {"full_width_units": 1 / 32},
    "latency": {"fma_latency": 32},
    "loads": {"load_bytes_per_cycle": 1 / 32},
    "issue": {"issue_width": 1 / 32},
    "l2": {"l1_bytes": 1 / 512, "l2_bandwidth": 1 / 32},
}
"""By how much numbers of a processor are changed, by the resource that is slow then: memory, fewer
units, additions that wait longer, narrower loads, fewer instructions, a smaller first cache."""
SLOWER_DEVICE = {
    "launches": {"launch_microseconds": 10_000},
    "latency": {"latency": 64},
}
"""The same of a device: a longer launch, memory that answers later."""
OTHERWISE = {
    "matmul": ("arithmetic", "latency", "launches"),
    "matmul_transposed_tall": ("latency", "memory", "latency"),
    "matmul_of_transpose": ("memory", "arithmetic", "launches"),
    "matvec_streamed": ("loads", "issue", "latency"),
    "conv": ("l2", "arithmetic", "launches"),
    "conv_padded": ("latency", "memory", "latency"),
    "conv_stride": ("issue", "latency", "launches"),
    "conv_dilation": ("latency", "arithmetic", "latency"),
    "conv_pointwise": ("l2", "memory", "launches"),
    "depthwise": ("loads", "latency", "latency"),
    "softmax": ("memory", "arithmetic", "launches"),
    "softmax_channels": ("l2", "latency", "latency"),
    "softmax_kept": ("arithmetic", "memory", "launches"),
    "attention": ("memory", "arithmetic", "latency"),
    "attention_one_query": ("l2", "issue", "launches"),
    "layer_norm": ("arithmetic", "arithmetic", "latency"),
    "scale_add": ("issue", "arithmetic", "launches"),
    "transpose": ("loads", "issue", "latency"),
    "reduce_rows": ("memory", "arithmetic", "launches"),
    "reduce_columns": ("arithmetic", "latency", "latency"),
    "argmax": ("memory", "latency", "launches"),
    "upsample": ("memory", "arithmetic", "latency"),
    "gather_rows": ("arithmetic", "issue", "launches"),
}
"""Kernels, and a resource for each machine that does not bound them as the machine is described."""
MACHINES = {
    "x86-64-v4": SLOWER,
    "cortex-a76": SLOWER,
    "cuda-sm80": SLOWER_DEVICE,
}


def slowed(machine, factors: dict[str, float]):
    """A machine with some numbers changed by factors; whole ones stay whole, but for rates."""
    found = {}
    for name, factor in factors.items():
        number = getattr(machine, name) * factor
        is_size = name.endswith(("bytes", "latency"))
        found[name] = max(1, round(number)) if is_size else number
    return replace(machine, **found)


@pytest.mark.sampled(7)  # no multiple of the machines, so that each has its turn
@pytest.mark.parametrize("at, target_name", list(enumerate(MACHINES)))
@pytest.mark.parametrize("kernel", OTHERWISE)
def test_the_one_resource_that_is_slowed_is_named(kernel: str, at: int, target_name: str):
    machine, policy = target(target_name).machine, target(target_name).policy
    resource = OTHERWISE[kernel][at]
    if resource == "launches":  # so small a kernel is bound by its launch as it is
        machine = replace(machine, launch_microseconds=machine.launch_microseconds / 1000)
    function = parse_module(KERNELS[kernel]().text).body_block.first
    _, usual = choose(function, policy, machine, True)
    _, slow = choose(function, policy, slowed(machine, MACHINES[target_name][resource]), True)
    assert usual.terms.bound != resource
    assert slow.terms.bound == resource
    assert slow.terms.cycles > usual.terms.cycles
