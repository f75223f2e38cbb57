"""Faults planted in kernels of open extents, as threads run them, are found.

The oracle is the interpreter: it stops at accesses outside of buffers, at races and at barriers
where threads part; elements that were not written have a pattern that no result has.
"""

import random
import re

import numpy as np
import pytest
from nnc.driver.compile import run_stages
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.kernels.proof.prove_kernels import ProveKernels
from nnc.lowering.pipelines import GRAPH_STAGES, pipeline
from nnc.numerics.checking.running import Runner
from nnc.numerics.checking.subjects import Subject
from nnc.numerics.options import NumericsOptions

from .test_prove_planted_faults import are_unset

pytest.importorskip("islpy")

F, IMAGE, BOXES = "tensor<?x?xf32>", "tensor<1x2x?x?xf32>", "tensor<2x?x4xf32>"
KERNELS = {
    "gather": (
        f"(%x: {F}, %i: tensor<?xi64>) -> {F}",
        f"%y = nn.gather %x, %i {{axis = 1 : i64}} : ({F}, tensor<?xi64>) -> {F}",
    ),
    "add": (f"(%x: {F}, %z: {F}) -> {F}", f"%y = nn.add %x, %z : ({F}, {F}) -> {F}"),
    "softmax": (f"(%x: {F}) -> {F}", f"%y = nn.softmax %x {{axis = 1 : i64}} : ({F}) -> {F}"),
    "transpose": (
        f"(%x: {F}) -> {F}",
        f"%y = nn.transpose %x {{permutation = array<i64: 1, 0>}} : ({F}) -> {F}",
    ),
    "matmul": (f"(%x: {F}, %z: {F}) -> {F}", f"%y = nn.matmul %x, %z : ({F}, {F}) -> {F}"),
    "relative": (
        "(%a: tensor<?x1xf32>, %b: tensor<1x?xf32>) -> tensor<?x?x?xf32>",
        f"""%d = nn.sub %a, %b : (tensor<?x1xf32>, tensor<1x?xf32>) -> {F}
        %i = nn.cast %d : ({F}) -> tensor<?x?xi64>
        %y = nn.gather %d, %i {{axis = 0 : i64}} : ({F}, tensor<?x?xi64>) -> tensor<?x?x?xf32>""",
    ),
    "resize": (
        f"(%x: {IMAGE}) -> {IMAGE}",
        f"""%y = nn.resize %x {{scales = array<f32: 1.0, 1.0, 2.0, 2.0>, mode = "linear"}}
          : ({IMAGE}) -> {IMAGE}""",
    ),
}
IN_BLOCKS = {
    "suppress": (
        f"(%b: {BOXES}, %e: tensor<2x?xi1>, %n: tensor<i64>, %t: tensor<f32>) -> tensor<2x?xi1>",
        f"""%y = nn.suppress %b, %e, %n, %t
          : ({BOXES}, tensor<2x?xi1>, tensor<i64>, tensor<f32>) -> tensor<2x?xi1>""",
    ),
}
"""What the host launches in a loop over blocks."""
SEEDS = {"matmul": 3}
"""How many faults are planted in a kernel, where it is not twelve: proofs of products take long."""

INPUTS = {
    "gather": lambda rng: [rng.normal(size=(3, 7)), np.array([6, 0, 3, 3, 1])],
    "add": lambda rng: [rng.normal(size=(3, 7)), rng.normal(size=(3, 1))],
    "softmax": lambda rng: [rng.normal(size=(3, 7))],
    "transpose": lambda rng: [rng.normal(size=(3, 7))],
    "matmul": lambda rng: [rng.normal(size=(3, 7)), rng.normal(size=(7, 5))],
    "relative": lambda _: [np.arange(3.0)[:, None], np.arange(4.0)[None, :]],
    "resize": lambda rng: [rng.normal(size=(1, 2, 5, 4))],
}


def threads(name):
    """The kernels of a model as threads run them, as text."""
    found = []
    passes = "apply-schedules,canonicalize,outline-launches,assign-layouts,distribute-tiles"

    def deal_out(stage, module):
        if stage == GRAPH_STAGES[-1].name:
            found.append(module.clone())
            PassManager(pipeline(passes)).run(found[0])

    signature, body = {**KERNELS, **IN_BLOCKS}[name]
    result = signature.partition("-> ")[2]
    text = f"func.func @main{signature} {{\n{body}\nreturn %y : {result}\n}}"
    run_stages(parse_module(text), target="opencl", after_stage=deal_out)
    return str(found[0])


@pytest.fixture(scope="module")
def texts():
    return {name: threads(name) for name in KERNELS}


def inputs(name):
    made = INPUTS[name](np.random.default_rng(0))
    return [x.astype(np.float32) if x.dtype == np.float64 else x for x in made]


def results(module, name):
    """The results of a run; None if it goes wrong."""
    (main,) = (op for op in module.body_block if getattr(op, "sym_name", "") == "main")
    runner = Runner(module, NumericsOptions(max_steps=10_000_000))
    outcome = runner.interpret(Subject("main", main.function_type), inputs(name))
    return None if outcome.error is not None else outcome.values


def is_proven(module):
    context = PassContext()
    try:
        ProveKernels().run(module, context)
    except NncError:
        return False
    return not context.statistics[""].get("open")


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_proven_as_threads(name, texts):
    assert is_proven(parse_module(texts[name]))


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in KERNELS if name != "matmul"])
def test_kernels_without_faults_write_all_results(name, texts):
    """A product takes the interpreter too long."""
    found = results(parse_module(texts[name]), name)
    assert found is not None and not are_unset(found)


@pytest.mark.parametrize("name", IN_BLOCKS)
def test_launches_in_loops_of_the_host_are_proven(name):
    assert is_proven(parse_module(threads(name)))


def planted(text, rng):
    """The text with one fault: another bound of a mask, another index, or a barrier less."""
    start = text.index("gpu.module")
    end = text.index("func.func", start)
    kernels = text[start:end]
    places = [
        *re.finditer(r"vector\.create_mask (?:%\w+, )*(%\w+) :", kernels),
        *re.finditer(r"arith\.(?:addi|subi|minsi) (%\w+), %\w+ : index", kernels),
        *re.finditer(r"arith\.(?:addi|subi|minsi) %\w+, (%\w+) : index", kernels),
        *re.finditer(r"(gpu\.barrier)", kernels),
    ]
    place = rng.choice(places)
    body = kernels[kernels.rindex("gpu.func", 0, place.start()) : place.start()]
    others = re.findall(
        r"(%\w+) = (?:arith\.constant \d+ : index|gpu\.thread_id|gpu\.block_id)", body
    )
    new = "" if place[1] == "gpu.barrier" else rng.choice(others or [place[1]])
    return text[:start] + kernels[: place.start(1)] + new + kernels[place.end(1) :] + text[end:]


@pytest.mark.sampled(26)
@pytest.mark.parametrize("name, seed", [(n, s) for n in KERNELS for s in range(SEEDS.get(n, 12))])
def test_planted_faults_are_found(name, seed, texts):
    module = parse_module(planted(texts[name], random.Random(f"{name}{seed}")))
    try:
        module.verify()
    except NncError:
        return
    if not is_proven(module):
        return
    found = results(module, name)  # A proof says what is written, and not its values.
    assert found is not None and not are_unset(found)
