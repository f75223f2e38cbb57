"""Faults planted in proven kernels are found, and nothing that is right is called a fault."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from nnc.ir.syntax.parser import parse_module
from nnc.numerics.checking.running import Runner
from nnc.numerics.checking.subjects import Subject
from nnc.numerics.options import NumericsOptions

from ..lowering.test_nn_to_linalg import OPS
from ..numerics.test_launches import STAGED
from .test_prove_kernels import BY_VALUES, launched, prove, run, staged


def planted(text, rng):
    """The text with one change in a kernel: a constant, an axis, an operand; None if there is none."""
    start = text.index("gpu.module")
    end = text.index("func.func", start)
    head, kernels, tail = text[:start], text[start:end], text[end:]
    places = [
        *re.finditer(r"arith\.constant (\d+) : index", kernels),
        *re.finditer(r"gpu\.block_id  ([xyz])", kernels),
        *re.finditer(r"arith\.(addi|muli|subi) %\w+, (%\w+) : index", kernels),
    ]
    if not places:
        return None
    place = rng.choice(places)
    group = len(place.groups())
    old = place[group]
    if old.isdigit():
        new = str(
            rng.choice([n for n in (int(old) + 1, 2 * int(old), int(old) // 2) if n != int(old)])
        )
    elif old in "xyz":
        new = rng.choice([axis for axis in "xyz" if axis != old])
    else:
        new = rng.choice(
            re.findall(r"(%\w+) = (?:gpu\.block_id|arith\.constant \d+ : index)", kernels)
        )
    return head + kernels[: place.start(group)] + new + kernels[place.end(group) :] + tail


@pytest.mark.sampled(20)
@pytest.mark.parametrize("cls", [c for c in OPS if c.name not in BY_VALUES], ids=lambda c: c.name)
def test_planted_faults(cls):
    module, subject, inputs = launched(cls)
    rng = random.Random(cls.name)
    text = str(module)
    for _ in range(6 if "gpu.module" in text else 0):  # Views and sizes are the host's.
        faulty = planted(text, rng)
        if faulty is None or faulty == text:
            continue
        judge(faulty, subject, inputs)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(40))
def test_planted_faults_in_a_staged_product(seed):
    rng = random.Random(seed)
    module = staged(STAGED)
    subject = Subject("main", module.body_block.last.function_type)
    inputs = [
        np.ones((8, 12), np.float32),
        np.ones((12, 8), np.float32),
        np.zeros((8, 8), np.float32),
    ]
    text = str(module)
    barriers = [m.span() for m in re.finditer("gpu.barrier", text)]
    if seed % 4 == 0:
        start, end = rng.choice(barriers)
        text = text[:start] + text[end:]
    judge(planted(text, rng), subject, inputs)


def judge(text, subject, inputs):
    """What is proven goes well when it is run, and what is said to be wrong does not.

    Of checks of values a proof says nothing but that what follows runs only where they succeed.
    """
    try:
        changed = parse_module(text)
        changed.verify()
    except NncError:
        return
    wrong = run(changed, subject, inputs)
    try:
        fine = prove(changed)
    except NncError as error:
        if "is written by no launch" in error.message and wrong is None:
            assert has_unset(changed, subject, inputs), error
        else:
            assert wrong is not None, error
    else:
        is_checked = wrong is not None and wrong.message.startswith("assertion failed")
        assert not (fine and wrong) or is_checked, wrong


def has_unset(module, subject, inputs):
    """Whether results have elements of the pattern that buffers have before they are written."""
    runner = Runner(module, NumericsOptions(max_steps=10_000_000))
    return are_unset(runner.interpret(subject, [x.copy() for x in inputs]).values)


def are_unset(values):
    """Whether arrays have elements of the pattern that buffers have before they are written."""
    bits = [np.ascontiguousarray(v).reshape(-1).view(np.uint8) for v in values]
    return any(
        np.any(np.all(b.reshape(v.size, -1) == (1 if v.dtype == np.bool_ else 0xFF), axis=1))
        for b, v in zip(bits, values, strict=True)
        if v.size
    )
