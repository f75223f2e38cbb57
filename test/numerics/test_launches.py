"""Kernels of the gpu dialect, interpreted: every thread, where they meet, and what goes wrong."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.interpreter import Interpreter

SHARED = "#gpu.address_space<workgroup>"


def module_of(body, arguments, groups, threads, buffers=""):
    """A module whose @main launches a kernel of this body on its own arguments."""
    types = ", ".join(f"%a{i}: {t}" for i, t in enumerate(arguments))
    given = ", ".join(f"%a{i} : {t}" for i, t in enumerate(arguments))
    sizes = [*groups, *threads]
    constants = "\n".join(f"%n{i} = arith.constant {n} : index" for i, n in enumerate(sizes))
    return parse_module(f"""
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @f({types}) {buffers} kernel {{
      {body}
      gpu.return
    }}
  }}
  func.func @main({types}) {{
    {constants}
    gpu.launch_func @kernels::@f blocks in (%n0, %n1, %n2) threads in (%n3, %n4, %n5) args({given})
    return
  }}
}}""")


def run(module, *arrays):
    module.verify()
    Interpreter(module).call("main", list(arrays))


IDS = "\n".join(
    f"%{short}{axis} = gpu.{name} {axis}"
    for short, name in (("t", "thread_id"), ("b", "block_id"), ("n", "block_dim"))
    for axis in "xyz"
)


def test_places_of_threads_along_all_axes():
    groups, threads = (2, 3, 2), (3, 2, 2)
    out = np.full((*groups, *threads), -1, np.int64)
    body = f"""{IDS}
    %g = gpu.global_id y
    %s = arith.index_cast %g : index to i64
    memref.store %s, %a0[%bx, %by, %bz, %tx, %ty, %tz] : memref<2x3x2x3x2x2xi64>"""
    run(module_of(body, ["memref<2x3x2x3x2x2xi64>"], groups, threads), out)
    for bx, by, bz, tx, ty, tz in product(*map(range, (*groups, *threads))):
        assert out[bx, by, bz, tx, ty, tz] == by * threads[1] + ty


def test_lanes_and_subgroups_count_along_x_first():
    out = np.zeros((2, 40), np.int64)
    body = """%x = gpu.thread_id x
    %y = gpu.thread_id y
    %lane = gpu.lane_id
    %sub = gpu.subgroup_id : index
    %c100 = arith.constant 100 : index
    %s = arith.muli %sub, %c100 : index
    %r = arith.addi %s, %lane : index
    %w = arith.index_cast %r : index to i64
    memref.store %w, %a0[%y, %x] : memref<2x40xi64>"""
    run(module_of(body, ["memref<2x40xi64>"], (1, 1, 1), (40, 2, 1)), out)
    numbers = np.arange(80)
    np.testing.assert_array_equal(out.reshape(-1), numbers // 32 * 100 + numbers % 32)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("width", [8, 32])
@pytest.mark.parametrize(
    ("mode", "source"),
    [
        ("xor", lambda lane, by: lane ^ by),
        ("up", lambda lane, by: lane - by),
        ("down", lambda lane, by: lane + by),
        ("idx", lambda lane, by: by),
    ],
)
@pytest.mark.parametrize("by", [0, 1, 5])
def test_shuffles(mode, source, by, width):
    x = np.random.default_rng(by).standard_normal(64).astype(np.float32)
    out, valid = np.zeros(64, np.float32), np.zeros(64, np.bool_)
    body = f"""%i = gpu.thread_id x
    %x = memref.load %a0[%i] : memref<64xf32>
    %by = arith.constant {by} : i32
    %width = arith.constant {width} : i32
    %r, %ok = gpu.shuffle {mode} %x, %by, %width : f32
    memref.store %r, %a1[%i] : memref<64xf32>
    memref.store %ok, %a2[%i] : memref<64xi1>"""
    types = ["memref<64xf32>", "memref<64xf32>", "memref<64xi1>"]
    run(module_of(body, types, (1, 1, 1), (64, 1, 1)), x, out, valid)
    for i in range(64):
        at = source(i % 32, by)
        assert valid[i] == (0 <= at < width)
        assert out[i] == (x[i // 32 * 32 + at] if valid[i] else x[i])


@pytest.mark.parametrize(("size", "stride"), [(None, 1), (4, 1), (4, 8), (2, 16), (32, 1)])
@pytest.mark.parametrize(("kind", "combined"), [("add", np.sum), ("maximumf", np.max)])
def test_reductions_of_subgroups(size, stride, kind, combined):
    x = np.arange(64, dtype=np.float32)[::-1].copy()
    out = np.zeros(64, np.float32)
    cluster = f"cluster(size = {size}, stride = {stride})" if size else ""
    body = f"""%i = gpu.thread_id x
    %x = memref.load %a0[%i] : memref<64xf32>
    %r = gpu.subgroup_reduce {kind} %x {cluster} : (f32) -> f32
    memref.store %r, %a1[%i] : memref<64xf32>"""
    run(module_of(body, ["memref<64xf32>"] * 2, (1, 1, 1), (64, 1, 1)), x, out)
    for i in range(64):
        lane, base = i % 32, i // 32 * 32
        mates = [
            k for k in range(32)
            if k % stride == lane % stride and k // (stride * (size or 32)) == lane // (stride * (size or 32))
        ]  # fmt: skip
        assert out[i] == combined(x[base + np.array(mates)])


# -- a product whose operands are staged in the memory of a group ----------------------------------

STAGED = f"""
%tx = gpu.thread_id x
%ty = gpu.thread_id y
%bx = gpu.block_id x
%by = gpu.block_id y
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c4 = arith.constant 4 : index
%c12 = arith.constant 12 : index
%zero = arith.constant 0.0 : f32
%m0 = arith.muli %by, %c4 : index
%n0 = arith.muli %bx, %c4 : index
%m = arith.addi %m0, %ty : index
%n = arith.addi %n0, %tx : index
%sum = scf.for %k = %c0 to %c12 step %c4 iter_args(%outer = %zero) -> (f32) {{
  %kx = arith.addi %k, %tx : index
  %ky = arith.addi %k, %ty : index
  %x = memref.load %a0[%m, %kx] : memref<8x12xf32>
  %y = memref.load %a1[%ky, %n] : memref<12x8xf32>
  gpu.barrier
  memref.store %x, %s[%ty, %tx] : memref<4x4xf32, {SHARED}>
  memref.store %y, %r[%ty, %tx] : memref<4x4xf32, {SHARED}>
  gpu.barrier
  %part = scf.for %i = %c0 to %c4 step %c1 iter_args(%inner = %outer) -> (f32) {{
    %p = memref.load %s[%ty, %i] : memref<4x4xf32, {SHARED}>
    %q = memref.load %r[%i, %tx] : memref<4x4xf32, {SHARED}>
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %inner, %pq : f32
    scf.yield %next : f32
  }}
  scf.yield %part : f32
}}
memref.store %sum, %a2[%m, %n] : memref<8x8xf32>
"""
STAGED_TYPES = ["memref<8x12xf32>", "memref<12x8xf32>", "memref<8x8xf32>"]
STAGED_BUFFERS = f"workgroup(%s : memref<4x4xf32, {SHARED}>, %r : memref<4x4xf32, {SHARED}>)"


def staged(text):
    rng = np.random.default_rng(0)
    x = rng.integers(-4, 5, (8, 12)).astype(np.float32)
    y = rng.integers(-4, 5, (12, 8)).astype(np.float32)
    out = np.zeros((8, 8), np.float32)
    run(module_of(text, STAGED_TYPES, (2, 2, 1), (4, 4, 1), STAGED_BUFFERS), x, y, out)
    return out, x @ y


def test_a_product_by_way_of_workgroup_memory():
    out, expected = staged(STAGED)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: re.sub(r"gpu\.barrier", "", t, count=1), "reads element .*writes between the same barriers"),
        (lambda t: t[::-1].replace("reirrab.upg", "", 1)[::-1], "between the same barriers"),
        (lambda t: t.replace("%s[%ty, %tx]", "%s[%c0, %tx]"), "writes element .*writes between the same"),
        (lambda t: t.replace("%a2[%m, %n]", "%a2[%ty, %tx]"), "writes between the same|in one launch"),
        (lambda t: t.replace("%a1[%ky, %n]", "%a1[%n, %ky]"), "is out of bounds"),
        (lambda t: t.replace("step %c4 iter", "step %ty iter", 1), "a step of 0"),
    ],
    ids=["first barrier", "second barrier", "a shared place", "groups", "outside", "step"],
)  # fmt: skip
def test_what_is_wrong_with_it_is_found(change, said):
    with pytest.raises(NncError, match=said) as caught:
        staged(change(STAGED))
    notes = " ".join(note.message for note in caught.value.diagnostic.notes)
    assert re.search(r"thread \(\d, \d, 0\) of group \(\d, \d, 0\)", notes)


def test_a_race_names_both_threads_and_both_places():
    text = STAGED.replace("gpu.barrier", "", 1)
    with pytest.raises(NncError) as caught:
        staged(text)
    error = caught.value
    found = re.search(r"in thread \((\d), (\d), 0\).*which thread \((\d), (\d), 0\)", error.message)
    assert found is not None
    one, other = found.groups()[:2], found.groups()[2:]
    assert one != other
    note = next(n for n in error.diagnostic.notes if "other access" in n.message)
    assert note.location != error.location


# -- threads that part -----------------------------------------------------------------------------

PARTING = """%i = gpu.thread_id x
%seven = arith.constant 7 : index
%first = arith.cmpi ult, %i, %seven : index
"""


def test_a_barrier_that_some_threads_pass_by():
    body = PARTING + "scf.if %first {\n gpu.barrier\n}"
    with pytest.raises(NncError, match=r"thread \(0, 0, 0\).*waits.*thread \(7, 0, 0\).*has ended"):
        run(module_of(body, ["memref<1xf32>"], (1, 1, 1), (16, 1, 1)), np.zeros(1, np.float32))


def test_threads_at_two_barriers():
    body = PARTING + "scf.if %first {\n gpu.barrier\n} else {\n gpu.barrier\n}"
    with pytest.raises(NncError, match=r"waits at another 'gpu.barrier'"):
        run(module_of(body, ["memref<1xf32>"], (1, 1, 1), (16, 1, 1)), np.zeros(1, np.float32))


def test_a_barrier_in_a_condition_that_all_share():
    body = """%b = gpu.block_id x
    %i = gpu.thread_id x
    %zero = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %first = arith.cmpi eq, %b, %zero : index
    scf.if %first {
      gpu.barrier
      memref.store %one, %a0[%i] : memref<16xf32>
    }"""
    out = np.zeros(16, np.float32)
    run(module_of(body, ["memref<16xf32>"], (2, 1, 1), (16, 1, 1)), out)
    np.testing.assert_array_equal(out, 1)


def test_a_shuffle_within_part_of_a_subgroup():
    body = (
        PARTING
        + """scf.if %first {
      %x = arith.constant 1 : i32
      %r, %ok = gpu.shuffle xor %x, %x, %x : i32
    }"""
    )
    with pytest.raises(NncError, match=r"waits at 'gpu.shuffle' for thread"):
        run(module_of(body, ["memref<1xf32>"], (1, 1, 1), (16, 1, 1)), np.zeros(1, np.float32))


def test_subgroups_that_exchange_apart_and_meet_then():
    """One subgroup shuffles while the other is at the barrier already."""
    body = """%i = gpu.thread_id x
    %sub = gpu.subgroup_id : index
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %width = arith.constant 32 : i32
    %first = arith.cmpi eq, %sub, %zero : index
    %n = arith.index_cast %i : index to i32
    %got = scf.if %first -> (i32) {
      %r, %ok = gpu.shuffle xor %n, %one, %width : i32
      scf.yield %r : i32
    } else {
      scf.yield %n : i32
    }
    gpu.barrier
    memref.store %got, %a0[%i] : memref<64xi32>"""
    out = np.zeros(64, np.int32)
    run(module_of(body, ["memref<64xi32>"], (1, 1, 1), (64, 1, 1)), out)
    numbers = np.arange(64)
    np.testing.assert_array_equal(out, np.where(numbers < 32, numbers ^ 1, numbers))


# -- memory ----------------------------------------------------------------------------------------


def test_changes_in_one_step_are_in_order():
    body = """%c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    %n = arith.index_cast %i : index to i64
    %old = memref.atomic_rmw addi %n, %a0[%c0] : (i64, memref<1xi64>) -> i64"""
    out = np.zeros(1, np.int64)
    run(module_of(body, ["memref<1xi64>"], (3, 1, 1), (8, 1, 1)), out)
    assert out[0] == 3 * sum(range(8))


def test_a_change_in_one_step_and_a_plain_read_are_not():
    body = """%c0 = arith.constant 0 : index
    %i = gpu.thread_id x
    %n = arith.index_cast %i : index to i64
    %old = memref.atomic_rmw addi %n, %a0[%c0] : (i64, memref<1xi64>) -> i64
    %x = memref.load %a0[%c0] : memref<1xi64>"""
    with pytest.raises(NncError, match=r"changes element .*reads between the same barriers"):
        run(module_of(body, ["memref<1xi64>"], (1, 1, 1), (8, 1, 1)), np.zeros(1, np.int64))


def test_one_buffer_through_two_arguments():
    """An element that one group writes and another reads, under different names."""
    body = """%i = gpu.thread_id x
    %b = gpu.block_id x
    %x = memref.load %a0[%b] : memref<4xf32>
    memref.store %x, %a1[%b] : memref<4xf32>"""
    base = np.arange(5, dtype=np.float32)
    with pytest.raises(NncError, match="in one launch"):
        run(module_of(body, ["memref<4xf32>"] * 2, (4, 1, 1), (1, 1, 1)), base[:4], base[1:])


def test_lanes_that_a_mask_leaves_out_touch_nothing():
    """Vectors that overlap in lanes that are masked off."""
    body = """%i = gpu.thread_id x
    %c2 = arith.constant 2 : index
    %at = arith.muli %i, %c2 : index
    %mask = vector.constant_mask [2] : vector<4xi1>
    %zero = arith.constant 0.0 : f32
    %v = vector.transfer_read %a0[%at], %zero, %mask : memref<10xf32>, vector<4xf32>
    %w = arith.addf %v, %v : vector<4xf32>
    vector.transfer_write %w, %a0[%at], %mask : vector<4xf32>, memref<10xf32>"""
    x = np.arange(10, dtype=np.float32)
    run(module_of(body, ["memref<10xf32>"], (1, 1, 1), (4, 1, 1)), x)
    np.testing.assert_array_equal(x, [0, 2, 4, 6, 8, 10, 12, 14, 8, 9])


def test_private_buffers_belong_to_threads():
    body = """%i = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %n = arith.index_cast %i : index to i64
    memref.store %n, %p[%c0] : memref<1xi64, #gpu.address_space<private>>
    gpu.barrier
    %x = memref.load %p[%c0] : memref<1xi64, #gpu.address_space<private>>
    memref.store %x, %a0[%i] : memref<8xi64>"""
    out = np.zeros(8, np.int64)
    buffers = "private(%p : memref<1xi64, #gpu.address_space<private>>)"
    run(module_of(body, ["memref<8xi64>"], (1, 1, 1), (8, 1, 1), buffers), out)
    np.testing.assert_array_equal(out, np.arange(8))


@pytest.mark.parametrize("groups", [(0, 1, 1), (2, 1, 1)])
def test_a_program_of_a_whole_group_runs_once_for_each(groups):
    """A kernel that asks for no thread adds 1 to a row, for however many threads."""
    body = """%b = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    %one = arith.constant dense<1.0> : vector<4xf32>
    %c0 = arith.constant 0 : index
    %v = vector.transfer_read %a0[%b, %c0], %zero : memref<2x4xf32>, vector<4xf32>
    gpu.barrier
    %w = arith.addf %v, %one : vector<4xf32>
    vector.transfer_write %w, %a0[%b, %c0] : vector<4xf32>, memref<2x4xf32>"""
    x = np.zeros((2, 4), np.float32)
    run(module_of(body, ["memref<2x4xf32>"], groups, (64, 1, 1)), x)
    np.testing.assert_array_equal(x, [[groups[0] > 0] * 4, [groups[0] > 1] * 4])


def test_a_launch_that_does_not_fit_the_kernel():
    module = module_of("", ["memref<1xf32>"], (1, 1, 1), (8, 1, 1))
    text = str(module).replace(
        "kernel {", "kernel attributes {known_block_size = array<i32: 4, 1, 1>} {"
    )
    with pytest.raises(
        NncError, match=r"made for \(4, 1, 1\) threads, but is launched with \(8, 1, 1\)"
    ):
        run(parse_module(text), np.zeros(1, np.float32))


def test_a_thread_is_asked_for_outside_of_a_launch():
    module = parse_module("""func.func @main() -> index {
      %i = gpu.thread_id x
      return %i : index
    }""")
    with pytest.raises(NncError, match="only a kernel that is launched has threads"):
        Interpreter(module).call("main", [])
