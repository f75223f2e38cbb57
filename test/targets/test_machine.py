"""Machine descriptions: named levels, and what is found out about this processor."""

import pytest
from nnc.ir.diagnostics import NncError
from nnc.targets.machine import MACHINES, host, machine


@pytest.mark.parametrize(("name", "lanes"), [("avx512", 16), ("avx2", 8), ("sse", 4)])
def test_lanes(name, lanes):
    assert machine(name).lanes(4) == lanes
    assert machine(name).lanes(8) == lanes // 2
    assert machine(name).lanes(1) == 4 * lanes


def test_narrow_vectors_of_a_split_unit_run_two_at_a_time():
    one = MACHINES["avx512"]
    assert one.fma_cycles(64) == 1
    assert one.fma_cycles(32) == one.fma_cycles(16) == 0.5
    assert one.fma_cycles(128) == 2


def test_an_unaligned_load_of_a_whole_line_crosses_always():
    one = MACHINES["avx512"]
    assert one.load_cycles(64, aligned=False) == 2 * one.load_cycles(64)
    assert one.load_cycles(16) == one.load_cycles(4) == 0.5


def test_only_the_oldest_level_lacks_fused_multiply_add():
    assert [name for name, one in MACHINES.items() if not one.has_fma] == ["sse"]


def test_host_is_one_of_the_levels():
    found = host()
    assert found is machine("host")
    assert found.vector_bits in (128, 256, 512)
    assert found.cores >= 1
    assert found.l1_bytes < found.l2_bytes
    assert found.cpu


def test_unknown_machine():
    with pytest.raises(NncError, match="no machine is named 'pdp11'; known: host, avx512"):
        machine("pdp11")
