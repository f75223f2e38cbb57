"""Modules for devices whose kernels get schedules, with the same results before and after."""

from __future__ import annotations

import sys

import pytest
from nnc.dialects.marks import THREADS
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.codegen.shares.assign_layouts import AssignLayouts
from nnc.kernels.codegen.shares.distribute_tiles import DistributeTiles
from nnc.kernels.policy import groups
from nnc.lowering.pipelines import pipeline
from nnc.numerics.checking.subjects import Subject
from nnc.targets import base

from ..targets import devices
from .test_distribute_tiles import assert_alike, kernels_of, results

TO_SCHEDULES = "simplify-graph,make-kernels,bufferize,align-rows,mark-in-place,merge-dimensions,compute-rows-again,choose-schedules"
TO_LAUNCHES = "apply-schedules,canonicalize,cse,outline-launches,canonicalize,cse"


@pytest.fixture(autouse=True)
def _devices(monkeypatch):
    monkeypatch.setitem(sys.modules, "nnc.targets.devices", devices)
    monkeypatch.setattr(base, "FAMILIES", (*base.FAMILIES, "devices"))


def for_device(name, text):
    """A module with this text for a device, and how its function `main` is called."""
    module = parse_module(f'module attributes {{nnc.target = "{name}"}} {{ {text} }}')
    return module, Subject("main", module.body_block.first.function_type)


def schedule(module, threads=None):
    """Make kernels of threads of a module; `threads` are used instead of those of the schedules."""
    PassManager(pipeline(TO_SCHEDULES)).run(module)
    PassManager(pipeline(TO_LAUNCHES)).run(module)
    for kernel in kernels_of(module):
        if threads is not None:
            kernel.attributes.pop(THREADS, None)
    AssignLayouts(threads=threads or 256).run(module, PassContext())
    DistributeTiles().run(module, PassContext())
    module.verify()


def check(module, subject, inputs, threads=None):
    """The same results before and after."""
    before = results(module, subject, inputs)
    schedule(module, threads)
    for old, new in zip(before, results(module, subject, inputs), strict=True):
        assert_alike(new, old, rtol=3e-5, atol=2e-6)


def tiles_of(name, text):
    """What each kernel of a text gets on a device: groups, threads, elements of all threads."""
    module, _ = for_device(name, text)
    PassManager(pipeline(TO_SCHEDULES.replace(",choose-schedules", ""))).run(module)
    machine = base.target(name).machine
    kernels = [op for op in module.body_block if "nn.kernel" in op.attributes]
    return [
        groups.best(groups.candidates(op.sym_name, op.body.blocks[0], machine), machine).tiles
        for op in kernels
    ]


def product(m, n, k):
    return f"""
      func.func @main(%a: tensor<{m}x{k}xf32>, %b: tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
        %c = nn.matmul %a, %b : (tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>) -> tensor<{m}x{n}xf32>
        return %c : tensor<{m}x{n}xf32>
      }}"""
