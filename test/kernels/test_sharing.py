"""What comes from memory where groups that run at the same time share a cache, by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from nnc.dialects import gpu, vector
from nnc.ir.values import Value
from nnc.targets import base
from nnc.targets.groups import GroupMachine

from bench.quality import quality_of
from bench.sharing import Sharing, running_groups

from ..numerics.test_launches import SHARED, module_of

CUDA = base.target("cuda").machine
assert isinstance(CUDA, GroupMachine)
MACHINE = replace(CUDA, cores=4)
GROUPS, THREADS = (8, 4, 1), (64, 1, 1)
IN_LOOP = """%c9 = arith.constant 9 : index
scf.for %i = %x to %c9 step %c1 {
  %read = vector.load %a0[%i] : memref<4096xf32>, vector<4xf32>
}"""
AT = {
    "b": "%i = arith.muli %x, %c64 : index",
    "rows": "%i = arith.muli %y, %c64 : index",
    "pairs": "%i = arith.divui %x, %c2 : index",
    "subgroups": "%i = gpu.thread_id x",
    "one": "%i = arith.constant 5 : index",
    "data": "%d = memref.load %a1[%x] : memref<32xi64>\n%i = arith.index_cast %d : i64 to index",
}


def launched(body, machine, buffers=""):
    """(the read of a kernel's body, how its groups share it)."""
    body = f"""%x = gpu.block_id x
    %y = gpu.block_id y
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    {body}"""
    types = ["memref<4096xf32>", "memref<32xi64>"]
    module = module_of(body, types, GROUPS, THREADS, buffers)
    (launch,) = (op for op in module.walk() if isinstance(op, gpu.LaunchFunc))
    kernel = gpu.find_kernel(module, launch.kernel)
    assert kernel is not None
    (read,) = (op for op in kernel.walk() if isinstance(op, vector.Load))
    arguments: dict[Value, Value] = dict(zip(kernel.args, launch.kernelOperands, strict=True))
    return read, Sharing(kernel, arguments, THREADS, GROUPS, machine), kernel


def in_waves(groups, machine):
    """The machine with so many groups at once: its threads have more registers or fewer."""
    registers = machine.core_registers * machine.cores // (groups * THREADS[0])
    return replace(machine, thread_registers=registers)


@pytest.mark.parametrize(
    ("at", "running", "part"),
    [
        ("b", 32, 8 / 32 / 2),  # Each of 8 columns is read by 4 groups of 2 subgroups.
        ("b", 8, 1 / 2),  # A row of groups at a time: only the subgroups of each share.
        ("rows", 32, 4 / 32 / 2),
        ("rows", 8, 4 / 32 / 2),  # All of a row of groups read the same.
        ("rows", 4, 8 / 32 / 2),  # Half a row at a time: each is read twice.
        ("pairs", 8, 1 / 4),
        ("subgroups", 8, 2 / 16),
        ("one", 16, 2 / 64),
        ("data", 8, 1),
    ],
)
def test_parts_that_come_from_memory(at, running, part):
    body = f"{AT[at]}\n%read = vector.load %a0[%i] : memref<4096xf32>, vector<4xf32>"
    read, sharing, _ = launched(body, in_waves(running, MACHINE))
    assert sharing.part(read) == pytest.approx(part, abs=1e-12)


def test_loops_are_in_their_first_iteration():
    read, sharing, _ = launched(IN_LOOP, in_waves(8, MACHINE))
    assert sharing.part(read) == pytest.approx(1 / 2, abs=1e-12)


def test_groups_that_run_at_once():
    """On four cores: by registers, by threads, and by workgroup memory."""
    read = f"{AT['one']}\n%read = vector.load %a0[%i] : memref<4096xf32>, vector<4xf32>"
    shared = f"workgroup(%s : memref<{MACHINE.core_workgroup_bytes // 8}xf32, {SHARED}>)"
    for machine, buffers, groups in (
        (in_waves(12, MACHINE), "", 12),
        (replace(MACHINE, thread_registers=16, core_threads=5 * 64), "", 20),
        (replace(MACHINE, thread_registers=16), shared, 8),
        (replace(MACHINE, thread_registers=1 << 20), "", 4),
    ):
        kernel = launched(read, machine, buffers)[2]
        assert running_groups(kernel, THREADS, machine) == groups


@pytest.mark.parametrize("rows", [64, 128])
def test_operands_that_groups_share_come_from_memory_once(rows, tmp_path: Path):
    """A matrix of 9.4 MB does not fit the second cache; the groups of all rows run together."""
    path = tmp_path / "model.mlir"
    x, w, y = f"tensor<{rows}x3072xf32>", "tensor<3072x768xf32>", f"tensor<{rows}x768xf32>"
    path.write_text(f"""
      func.func @main(%x: {x}, %w: {w}) -> {y} {{
        %z = nn.matmul %x, %w : ({x}, {w}) -> {y}
        %y = nn.mul %z, %z : ({y}, {y}) -> {y}
        func.return %y : {y}
      }}""")
    found = quality_of(path, "cuda")
    product, *others = found.launches.values()
    result = 4 * rows * 768
    parts = (product.bytes - found.least) / result + 1  # Each group's sums are written.
    assert parts == int(parts) >= 1 and product.asked > 2 * product.bytes
    assert product.groups and others
    for one in others:  # They are added up: read, and the result written. That is no product.
        assert one.bytes == (parts + 1) * result and one.groups == 0
