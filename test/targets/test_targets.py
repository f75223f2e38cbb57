"""Targets: names, machines, what this machine is, what LLVM is told, the module attribute."""

import subprocess
import sys
from dataclasses import replace

import pytest
from nnc.driver.compile import mark_entry, run_stages
from nnc.driver.program import make_program
from nnc.ir.attributes import StringAttr
from nnc.ir.core import Operation
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.targets import base
from nnc.targets.attribute import TARGET, attach, target_of, to_attribute
from nnc.targets.base import all_targets, host, target, target_names
from nnc.targets.llvm.host import BANDWIDTH, memory_bandwidth
from nnc.targets.llvm.native import emit_object
from nnc.targets.llvm.target import LlvmTarget
from nnc.targets.x86.host import level_of
from nnc.targets.x86.names import X86_NAMES

NOTHING = "define void @f() { ret void }"


# -- names ---------------------------------------------------------------------------------------


def test_no_name_is_given_twice():
    names = target_names()
    assert len(names) == len(set(names))
    assert all(target(name).name in names for name in names)


@pytest.mark.parametrize(
    ("old", "new"), [("sse", "x86-64"), ("avx2", "x86-64-v3"), ("avx512", "x86-64-v4")]
)
def test_older_names(old, new):
    assert target(old) is target(new)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("avx515", "no target is named 'avx515'; near: avx512, avx2; `nnc targets` lists all"),
        ("?", "no target is named '?'; `nnc targets` lists all"),
    ],
)
def test_an_unknown_name(name, message):
    with pytest.raises(NncError) as found:
        target(name)
    assert found.value.message == message


def test_targets_need_no_llvm():
    code = "import nnc, sys; from nnc.targets.base import target, target_names; target_names();"
    code += "target('avx2'); import nnc.tools.nnc; assert 'llvmlite' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# -- machines ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "lanes"), [("avx512", 16), ("avx2", 8), ("sse", 4)])
def test_lanes(name, lanes):
    machine = target(name).machine
    assert machine.lanes(4) == lanes
    assert machine.lanes(8) == lanes // 2
    assert machine.lanes(1) == 4 * lanes


def test_narrow_vectors_of_a_split_unit_run_two_at_a_time():
    one = target("avx512").machine
    assert one.fma_cycles(64) == 1
    assert one.fma_cycles(32) == one.fma_cycles(16) == 0.5
    assert one.fma_cycles(128) == 2


def test_an_unaligned_load_of_a_whole_line_crosses_always():
    one = target("avx512").machine
    assert one.load_cycles(64, aligned=False) == 2 * one.load_cycles(64)
    assert one.load_cycles(16) == one.load_cycles(4) == 0.5


# -- this machine --------------------------------------------------------------------------------


def test_host_is_one_of_the_targets():
    found = host()
    assert found is target("host")
    assert found.name in target_names()
    assert found.machine.cores >= 1
    assert found.machine.l1_bytes < found.machine.l2_bytes
    assert found.processor
    assert found.obstacle() is None


V2 = ("sse4.2", "ssse3", "popcnt", "cx16", "sahf")
V3 = ("avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe")
V4 = ("avx512f", "avx512vl", "avx512bw", "avx512cd", "avx512dq")
TILES = ("amx-tile", "amx-int8", "amx-bf16", "avx512vnni", "avx512bf16")


@pytest.mark.parametrize(
    ("features", "level"),
    [
        ((), 1),
        (V2, 2),
        (V2 + V3, 3),
        (V2 + V3 + V4, 4),
        (V2 + V3 + V4[1:], 3),
        (V3 + V4, 1),
        (V2 + V3 + V4 + TILES, 5),
        (V2 + V3 + V4 + TILES[1:], 4),
        (V2 + V3 + TILES, 3),
    ],
)
def test_the_level_of_an_x86(features, level):
    assert level_of(dict.fromkeys(features, True)) == level


def test_a_processor_of_no_family(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "vax")
    base.find_host.cache_clear()
    try:
        with pytest.raises(NncError, match=r"no target describes this machine's processor .vax."):
            host()
        assert target("avx2").obstacle() == "this machine is vax on Linux"
    finally:
        base.find_host.cache_clear()


def lesser_host(monkeypatch):
    """This machine is an x86 of the lowest level."""
    monkeypatch.setattr("nnc.targets.llvm.target.find_host", lambda: target("x86-64"))


def test_code_for_a_higher_level_is_not_loaded(monkeypatch):
    lesser_host(monkeypatch)
    one = target("x86-64-v3")
    message = "code for 'x86-64-v3' does not run here: this machine is no more than x86-64"
    with pytest.raises(NncError, match=message):
        one.load(one.object_of(NOTHING), ("f",))


# -- what LLVM is told -----------------------------------------------------------------------------


def is_refused(text, message):
    with pytest.raises(NncError) as found:
        target("x86-64").object_of(text)
    assert found.value.message == message


def test_names_are_checked_before_llvm_sees_them():
    """LLVM ends the process for an unknown processor and ignores an unknown feature."""
    attributes = "define void @f() #0 { ret void } attributes #0 = { %s }"
    is_refused(attributes % '"target-cpu"="z80"', "LLVM knows no processor 'z80'")
    is_refused(
        attributes % '"tune-cpu"="znver9"',
        "LLVM knows no processor 'znver9'; near: znver5, znver4, znver3",
    )
    is_refused(
        attributes % '"target-features"="+avx2,+avx3"',
        "LLVM knows no feature 'avx3'; near: avx, avx2",
    )
    is_refused(
        attributes % '"target-features"="avx2"',
        "a feature is given as +NAME or -NAME, not 'avx2'",
    )


def test_all_names_are_known_to_llvm(capfd):
    one = target("x86-64")
    for name in sorted(X86_NAMES.processors):
        emit_object(NOTHING, replace(one, cpu=name), opt_level=0)
    modes = {"16bit-mode", "32bit-mode", "64bit-mode", "soft-float"}
    for name in sorted(X86_NAMES.features - modes):
        emit_object(NOTHING, replace(one, features=f"+{name}"), opt_level=0)
    said = capfd.readouterr().err
    assert "not a recognized" not in said


EVERY = [
    one for row in all_targets() for one in (row, *row.variants) if isinstance(one, LlvmTarget)
]


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.name)
def test_every_target_emits_its_object_format(one):
    starts = {
        "elf": (b"\x7fELF",),
        "wasm": (b"\0asm",),
        "macho": (b"\xcf\xfa\xed\xfe",),
        "coff": (b"\x64\x86", b"\x64\xaa"),
    }
    assert one.object_of(NOTHING).startswith(starts[one.object_format])


def test_code_for_another_architecture():
    """The code generators of all that LLVM has are there, not this machine's alone."""
    other = replace(target("x86-64"), triple="s390x-unknown-linux-gnu", cpu="x86-64")
    object_file = emit_object(NOTHING, replace(other, cpu="z13", names=NAMES_OF_Z))
    assert object_file[:6] == b"\x7fELF\x02\x02", "64 bits, the highest byte first"


NAMES_OF_Z = replace(X86_NAMES, processors=frozenset(["z13"]))


# -- the module attribute --------------------------------------------------------------------------


def module_for(text):
    return parse_module(f"module attributes {{nnc.target = {text}}} {{\n}}", "m.mlir")


def test_without_the_attribute_a_module_is_for_this_machine():
    module = parse_module("module {\n}")
    assert target_of(module) is host()
    assert TARGET not in module.attributes


def test_a_named_target_is_written_by_its_name():
    module = parse_module("module {\n}")
    assert target_of(module, "avx2") is target("x86-64-v3")
    assert module.attributes[TARGET] == StringAttr("x86-64-v3")


def test_this_machine_is_written_with_what_it_has_beside():
    module = parse_module("module {\n}")
    attach(module, host())
    again = parse_module(str(module))
    assert target_of(again) == host()
    assert target_of(again, "host") == host()


def test_this_machine_is_found_without_a_copy():
    """Each pass asks for it."""
    assert target_of(module_for(str(to_attribute(host())))) is host()


def test_another_machine_goes_on_with_the_same_numbers(monkeypatch):
    """Code is then made for the named target, which all of its kind can run."""
    text = str(to_attribute(host()))
    lesser = replace(target("x86-64"), processor="k8")
    monkeypatch.setattr("nnc.targets.attribute.find_host", lambda: lesser)
    found = target_of(module_for(text))
    assert found.machine == host().machine
    assert found.name == host().name
    assert found.cpu == target(found.name).cpu
    assert found.features == ""
    assert str(to_attribute(found)) == text


def test_whole_numbers_are_written_as_they_are_read():
    """A package for another machine compares the machine of its stages with the one it asked for."""
    named = target("x86-64-v4")
    given = replace(named, machine=replace(named.machine, full_width_units=2))
    text = str(to_attribute(given))
    assert "full_width_units = 2.000000e+00 : f64" in text
    assert str(to_attribute(target_of(module_for(text)))) == text


def test_numbers_may_be_edited():
    found = target_of(
        module_for('{name = "avx2", machine = {cores = 64 : i64, gigahertz = 2 : i64}}')
    )
    assert found.machine == replace(target("avx2").machine, cores=64, gigahertz=2.0)
    assert str(to_attribute(found)) == (
        '{machine = {cores = 64 : i64, gigahertz = 2.000000e+00 : f64}, name = "x86-64-v3"}'
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"vax"', "no target is named 'vax'; `nnc targets` lists all"),
        ("3 : i64", "expected the name of a target, or a dictionary with 'name'"),
        ("{}", "expected the name of a target, or a dictionary with 'name'"),
        (
            '{name = "avx2", cores = 2 : i64}',
            "expected 'name', 'processor' (a string) and 'machine' (a dictionary)",
        ),
        (
            '{name = "avx2", machine = {wheels = 4 : i64}}',
            "'machine.wheels' is not a field of the target's description",
        ),
        (
            '{name = "avx2", machine = {cores = "two"}}',
            "'machine.cores' takes int; found \"two\"",
        ),
        (
            '{name = "avx2", machine = {cores = -1 : i64}}',
            "'machine.cores' is above 0; found -1 : i64",
        ),
    ],
)
def test_a_wrong_attribute(text, message):
    with pytest.raises(NncError) as found:
        target_of(module_for(text))
    assert found.value.message == f"attribute 'nnc.target': {message}"
    assert found.value.location is not None


def test_a_module_of_another_target():
    with pytest.raises(NncError) as found:
        target_of(module_for('{name = "avx2", machine = {cores = 64 : i64}}'), "sse")
    assert found.value.message == (
        "the module is for target 'x86-64-v3' (cores 64), but 'x86-64' is asked for: "
        "leave the target out, or start from the model"
    )
    with pytest.raises(NncError, match="is for target 'x86-64-v3', but 'x86-64' is asked for"):
        attach(module_for('"avx2"'), target("sse"))


# -- memory --------------------------------------------------------------------------------------


def test_the_bandwidth_of_this_machine_can_be_given(monkeypatch):
    """In gigabytes per second, on top of what the processor's family says."""
    machine = target("x86-64-v4").machine
    monkeypatch.delenv(BANDWIDTH, raising=False)
    assert memory_bandwidth(machine, None) == machine.memory_bandwidth
    assert memory_bandwidth(machine, 7.0) == pytest.approx(7.0 / machine.gigahertz)
    monkeypatch.setenv(BANDWIDTH, "14")
    assert memory_bandwidth(machine, 7.0) == pytest.approx(14.0 / machine.gigahertz)


@pytest.mark.parametrize("given", ["fast", "0", "-3", "inf", "nan"])
def test_a_bandwidth_that_is_none(monkeypatch, given):
    monkeypatch.setenv(BANDWIDTH, given)
    with pytest.raises(NncError, match=f"{BANDWIDTH} is '{given}'; expected gigabytes per second"):
        memory_bandwidth(target("x86-64-v4").machine, None)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["x86-64", "x86-64-v3", "x86-64-v4", "aarch64"])
@pytest.mark.parametrize(("rows", "columns"), [(6, 5), (2, 3), (8, 8)])
def test_moving_bf16_calls_no_function_of_a_compiler(name: str, rows: int, columns: int) -> None:
    """LLVM moves vectors of bf16 by way of f32 where it may, and rounds by a function."""
    before, after = (f"tensor<?x{a}x{b}x" for a, b in ((rows, columns), (columns, rows)))
    module = parse_module(f"""
    func.func @main(%x: {before}bf16>) -> {after}bf16> attributes {{nn.entry}} {{
      %a = nn.cast %x : ({before}bf16>) -> {before}f32>
      %b = nn.transpose %a {{permutation = array<i64: 0, 2, 1>}} : ({before}f32>) -> {after}f32>
      %y = nn.cast %b : ({after}f32>) -> {after}bf16>
      return %y : {after}bf16>
    }}""")
    assert not calls_a_rounding(module, name)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["x86-64", "x86-64-v3", "x86-64-v4", "aarch64"])
@pytest.mark.parametrize("depth", ["?", "12"])
@pytest.mark.parametrize("rows", ["2", "?"])
def test_choosing_bf16_calls_no_function_of_a_compiler(name: str, rows: str, depth: str) -> None:
    x, y = f"tensor<{rows}xi64>", f"tensor<{rows}x{depth}xbf16>"
    module = parse_module(f"""
    func.func @main(%x: {x}, %n: tensor<i64>, %v: tensor<2xbf16>) -> {y} attributes {{nn.entry}} {{
      %y = nn.one_hot %x, %n, %v {{axis = 1 : i64}} : ({x}, tensor<i64>, tensor<2xbf16>) -> {y}
      return %y : {y}
    }}""")
    assert not calls_a_rounding(module, name)


def calls_a_rounding(module: Operation, target: str) -> bool:
    """Whether code of the module calls compilers' function that rounds f32 to bf16."""
    mark_entry(module)
    return b"__truncsfbf2" in make_program(run_stages(module, target=target)).code
