"""Experiments of `nnc tune` on WebAssembly in Node, OpenCL and C: candidates beside a model."""

import itertools
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from nnc.dialects import llvm
from nnc.driver.tuning.default import scheduled_kernels, store_default
from nnc.driver.tuning.patching import _NEEDS, CANDIDATE, _global
from nnc.driver.tuning.patching_text import add_candidate
from nnc.driver.tuning.worker import Request, Worker
from nnc.ir.builder import Builder
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.ir.weights_file import write_module
from nnc.kernels.policy import variants_of
from nnc.kernels.tuned import TunedSchedule, fingerprint
from nnc.lowering.pipelines import pipeline
from nnc.targets.attribute import detailed, target_of
from nnc.targets.base import target as find_target
from nnc.targets.c.entry import c_text
from nnc.targets.wasm.replacing import memory_pages_of

from ..targets.emulated import require_emulator, require_opencl
from .test_experiments import CHAIN, bufferized, folder_of, inputs


def require_c_compiler():
    if find_target("c").obstacle():
        pytest.skip("no C compiler")


REQUIRED = {
    "wasm32-simd": lambda: require_emulator("wasm32-simd"),
    "opencl-cpu": require_opencl,
    "c": require_c_compiler,
}


@pytest.fixture(scope="module", params=["wasm32-simd", "opencl-cpu", "c"])
def prepared(request, tmp_path_factory):
    """A worker for a model on a target, and variants of its kernels by their fingerprints."""
    target = request.param
    REQUIRED[target]()
    folder = tmp_path_factory.mktemp("elsewhere")
    module = bufferized(CHAIN, target)
    if find_target(target).has_clock:
        steps = pipeline("builtin.module(instrument-kernels)")
        PassManager(steps, PassContext(), (), False).run(module)
    base = Request(folder, folder / "schedules", 1, 0.0, 1e-4, 0)
    write_module(module, base.model)
    marked = module.clone()
    made = {}
    for name, function in scheduled_kernels(marked).items():
        own, key = target_of(function), fingerprint(function)
        block = function.body.blocks[0]
        variants = variants_of(own.policy)(name, block, own.machine, ("parallel",))
        made[key] = [
            TunedSchedule(key, one.schedule, machine=detailed(own))
            for one in itertools.islice(variants.ranked(), 4)
        ]
    store_default(base, module)
    base.inputs.write_bytes(pickle.dumps(inputs()))
    return Worker(base), made


def run(worker, schedules, folder):
    folder.mkdir()
    return worker.run(replace(folder_of(worker.base, schedules, folder), threads=1))


@pytest.mark.emulated
def test_candidates_compute_what_numpy_does_and_each_kernel_is_timed(prepared, tmp_path):
    worker, made = prepared
    x, w, v = inputs().values()
    for number in range(2):
        chosen = [ones[number] for ones in made.values()]
        answer = run(worker, chosen, tmp_path / str(number))
        assert answer.wrong == "" and answer.faults == {}
        assert len(answer.whole) >= 5 and len(answer.kernels) == 2
        assert all(one > 0 for pairs in answer.kernels.values() for pair in pairs for one in pair)
    patched = worker._patched
    assert patched is not None and patched._checks
    program = patched._program
    names = {n: made[k.key][1].copy() for n, k in patched._kernels.items()}
    codes = patched._compiled(names, answer)
    default = program.run(inputs())["output0"]
    program.use(program.load_all(codes))
    np.testing.assert_allclose(program.run(inputs())["output0"], x @ w @ v, rtol=1e-4, atol=1e-4)
    program.use({})
    assert np.array_equal(program.run(inputs())["output0"], default)


@pytest.mark.emulated
def test_a_candidate_that_is_wrong_is_a_fault_of_its_kernel_alone(prepared, tmp_path, monkeypatch):
    """Its launches or its stores are left out, so that results stay as they were."""
    worker, made = prepared
    first, *_ = made
    run(worker, [], tmp_path / "none")
    patched = worker._patched
    real, said = type(patched)._compiled, []
    monkeypatch.setattr(worker, "say", said.append)

    def broken(self, schedules, answer):
        found = real(self, schedules, answer)
        wrong = next(n for n in found if self._kernels[n].key == first)
        return {**found, wrong: without_code(self, wrong)}

    monkeypatch.setattr(type(patched), "_compiled", broken)
    answer = run(worker, [ones[0] for ones in made.values()], tmp_path / "wrong")
    assert list(answer.faults) == [first]
    assert "its numbers are wrong, NaN" in answer.faults[first]
    assert answer.whole and answer.wrong == ""
    checked = {one.split()[-1] for one in said if one.startswith("at check")}
    assert checked == set(patched._kernels)


def without_code(patched, name):
    """Code of a candidate that does nothing."""
    from nnc.dialects.builtin import ModuleOp

    target = target_of(patched._module)
    if not target.ends_in_llvm:
        return target.built(f"void {CANDIDATE}(void) {{}}\n".encode())
    interface = patched._kernels[name].interface
    part = ModuleOp.of([_global(_NEEDS)])
    part.attributes.update(patched._module.attributes)
    count = interface.arguments + interface.extra
    made = llvm.Func.define(CANDIDATE, llvm.function_type([llvm.ptr] * count))
    Builder.at_end(made.body.blocks[0]).insert(llvm.Return())
    part.body_block.append(made)
    return patched._program.compiled(part)


@pytest.mark.parametrize(("given", "own"), [(64, False), (0, True)])
def test_a_candidate_of_c_has_memory_of_its_own_where_the_default_has_too_little(given, own):
    """And none is printed for it where what the default has is enough."""
    module = parse_module("""
        func.func @kernel(%x: memref<16xf32>, %scratch: memref<64xi8> {nn.scratch}) {
          %c0 = arith.constant 0 : index
          %view = memref.view %scratch[%c0][] : memref<64xi8> to memref<16xf32>
          %one = memref.load %x[%c0] : memref<16xf32>
          memref.store %one, %view[%c0] : memref<16xf32>
          return
        }""")
    add_candidate(module, "kernel", CANDIDATE, 1, given, False)
    text = c_text(module)
    assert ("candidate_scratch[64]" in text) == own
    assert re.search(rf"^void {CANDIDATE}\((const )?float \*\w+", text, re.M), text


def test_a_candidate_of_c_needs_no_threads_that_the_default_does_not_give():
    module = parse_module("""
        func.func @kernel(%x: memref<16xf32>, %pool: !llvm.ptr {nn.pool}) {
          return
        }""")
    with pytest.raises(
        NncError, match="needs the thread pool, which the default kernel is not passed"
    ):
        add_candidate(module, "kernel", CANDIDATE, 1, 0, False)


def test_the_memory_that_a_module_imports_is_read_behind_imports_of_all_kinds():
    """A function, a table with a bound and a global before it; 300 pages are two bytes."""
    name = b"\x01e\x01n"
    entries = [
        name + b"\x00\x05",
        name + b"\x01\x70\x01\x02\x80\x01",
        name + b"\x03\x7f\x00",
        name + b"\x02\x03\xac\x02\x80\x80\x04",
    ]
    body = bytes([len(entries)]) + b"".join(entries)
    head = b"\0asm\1\0\0\0" + b"\x01\x04\x01\x60\x00\x00"
    assert memory_pages_of(head + bytes([2, len(body)]) + body) == 300
    assert memory_pages_of(head) == 0
