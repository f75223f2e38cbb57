"""Schedules that keep a device's cores busy: tiles of products, sums that all groups share."""

from __future__ import annotations

import numpy as np
import pytest
from nnc.dialects import schedule as schedule_of
from nnc.ir.decisions import Terms
from nnc.ir.passes import PassManager
from nnc.kernels.policy import groups
from nnc.kernels.policy.tile_batches import GroupTile
from nnc.lowering.pipelines import pipeline
from nnc.targets import base
from nnc.targets.groups import GroupMachine

from .device_schedules import TO_SCHEDULES, for_device, product, results, schedule
from .test_prove_kernels import prove

CORES = 68


def chosen(text):
    """The schedule of each kernel of a text on `cuda`."""
    module, _ = for_device("cuda", text)
    PassManager(pipeline(TO_SCHEDULES.replace(",choose-schedules", ""))).run(module)
    machine = base.target("cuda").machine
    assert isinstance(machine, GroupMachine)
    kernels = [op for op in module.body_block if "nn.kernel" in op.attributes]
    return [
        groups.best(groups.candidates(op.sym_name, op.body.blocks[0], machine), machine)
        for op in kernels
    ]


def instance_norm(size):
    x, one = f"tensor<1x2x{size}xf32>", "tensor<2xf32>"
    return f"""
      func.func @main(%x: {x}, %a: {one}, %b: {one}) -> {x} {{
        %y = nn.instance_norm %x, %a, %b : ({x}, {one}, {one}) -> {x}
        return %y : {x}
      }}"""


def test_tiles_that_fill_the_last_wave_come_first():
    """A tile of 1.02 times the cycles has 190 groups instead of 95, and 68 cores take 2 or 3."""
    (found,) = chosen(product(32, 3025, 128))
    (tile,) = found.tiles
    assert tile.groups >= 0.8 * CORES * -(-tile.groups // CORES)


@pytest.mark.parametrize("steps", [1280, 2048])
def test_threads_have_registers_for_the_sums_of_other_subgroups(steps):
    """`ptxas` spilled for 1024 threads that each read 16 vectors: they have 64 registers each."""
    (found,) = chosen(product(1, 1000, steps))
    tile = found.tiles[0]
    parallel = tile.sizes[1]
    rows = max(1, parallel // 4)
    subgroups = tile.threads // rows // max(1, 32 // rows)
    assert 4 * subgroups * tile.threads <= 0.6 * 65536


@pytest.mark.parametrize(
    ("cycles", "counts", "has_products", "taken"),
    [
        (104, [136], True, 1),
        (106, [136], True, 0),  # That takes longer.
        (104, [96], True, 0),  # It has no more work for the last cores.
        (104, [136, 1], True, 0),  # It has a launch more.
        (104, [136], False, 0),
        (99, [96], True, 1),
    ],
)
def test_schedules_that_keep_cores_busy_come_first(cycles, counts, has_products, taken):
    """Beside one of 96 groups on 68 cores, which takes 100 cycles."""
    machine = base.target("cuda").machine
    assert isinstance(machine, GroupMachine) and machine.cores == CORES

    def candidate(cycles, counts):
        share = Terms({"memory": cycles / len(counts)})
        tiles = tuple(GroupTile(None, terms=share, groups=count) for count in counts)
        own = "", schedule_of.For, cycles, "", None
        return groups.GroupCandidate(*own, tiles, CORES, has_products)  # type: ignore[arg-type]

    found = [candidate(100, [96]), candidate(cycles, counts)]
    assert groups.best(found, machine) is found[taken]


def test_few_long_rows_are_reduced_by_all_groups():
    """Two rows of 200,704 elements: no group reduces one alone, and passes over them are few."""
    (found,) = chosen(instance_norm(200704))
    assert found.policy == "spread"
    parts = [tile for tile in found.tiles if tile.parts > 1]
    assert len(parts) == 2 and all(tile.groups * 2 > CORES for tile in parts)
    assert sum(tile.elements > 64 for tile in found.tiles) <= 4
    (found,) = chosen(instance_norm(512))
    assert found.policy != "spread", "a launch takes longer than a short row"


@pytest.mark.thorough
def test_numbers_of_spread_rows(monkeypatch):
    """Against NumPy, and proven; sizes that no number of parts divides."""
    best = lambda found, machine: next(one for one in found if one.policy == "spread")  # noqa: E731
    monkeypatch.setattr(groups, "best", best)
    module, subject = for_device("cuda", instance_norm(1506))
    rng = np.random.default_rng(3)
    shapes = (1, 2, 1506), (2,), (2,)
    x, scale, bias = inputs = [rng.standard_normal(s).astype(np.float32) for s in shapes]
    mean, variance = (f(x, axis=2, keepdims=True) for f in (np.mean, np.var))
    wanted = (x - mean) / np.sqrt(variance + 1e-5) * scale[:, None] + bias[:, None]
    schedule(module)
    got = results(module, subject, inputs)
    assert got is not None
    np.testing.assert_allclose(got[0], wanted, rtol=1e-4, atol=1e-5)
    prove(module)
