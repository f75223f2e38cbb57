"""`nnc compare`: whether two ways to run a model agree, and the first node at which they differ."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..driver.comparing.bisect import Bisection, Culprit, first_common
from ..driver.comparing.difference import Difference, Tolerance, differences, flattened
from ..driver.comparing.sides import CompiledSide, OnnxRuntimeSide, Side
from ..frontends.formats import examine_model
from ..frontends.onnx import constant_values
from ..ir.diagnostics import NncError
from .inputs import check_inputs, gather_inputs
from .run_printing import number_text

if TYPE_CHECKING:
    from .session import Session


def compare_model(args: argparse.Namespace, session: Session) -> int:
    """Print how the outputs compare and where they begin to differ; returns 1 if they do."""
    if args.rtol < 0 or args.atol < 0:
        raise NncError("nnc: --rtol and --atol are at least 0")
    ours = CompiledSide(
        "nnc", args.target, session.fast_math, args.pass_pipeline or "", args.threads,
        session.choices,
    )  # fmt: skip
    other = session.path(args.against) if args.against else session.model
    reference = _reference(args, session, ours)
    session.progress(f"compile {session.model}")
    executable = ours.compile(
        session.model, lambda module: check_inputs(module, args, session.streams)
    )
    inputs = gather_inputs(executable, args, session.streams)
    feed = inputs
    if session.model.endswith(".onnx"):
        feed = inputs | constant_values(session.model, session.choices["constants"])
    session.progress(f"run {reference.name}")
    theirs = reference.run(other, feed if isinstance(reference, OnnxRuntimeSide) else inputs)
    tolerance = Tolerance(args.rtol, args.atol)
    found = differences(session.run(executable, inputs), theirs, tolerance)
    for one in found:
        session.say(f"{one.name}: {_says(one, reference)}")
    wrong = {one.name for one in found if one.differs}
    if not wrong:
        return 0
    for warning in _known_differences(session, inputs):
        session.say(f"known difference: {warning}")
    if args.outputs_only or not all(path.endswith(".onnx") for path in (session.model, other)):
        return 1
    if other != session.model:
        culprit = first_common(session.model, other, ours, reference, (inputs, inputs), tolerance)
    else:
        # Of a sequence, the parts are named.
        known = {
            name: value for name, value in theirs.items() if wrong & set(flattened({name: value}))
        }
        culprit = _bisect(session, ours, reference, known, inputs, tolerance)
    for line in _named(culprit, reference):
        session.say(line)
    return 1


def _known_differences(session: Session, inputs: dict[str, np.ndarray]) -> tuple[str, ...]:
    """Where other runtimes are known to compute something else for inputs of these shapes."""
    if session.model.endswith(".mlir"):
        return ()
    choices: dict[str, Any] = dict(session.choices)
    choices["shapes"] = {name: np.shape(array) for name, array in inputs.items()}
    return examine_model(session.model, **choices).warnings


def _reference(args: argparse.Namespace, session: Session, ours: CompiledSide) -> Side:
    """The side to compare with: ONNX Runtime, or nnc with changed options."""
    changes = (
        args.against,
        args.against_target,
        args.against_fast_math,
        args.against_pass_pipeline,
    )
    if not any(changes):
        if not session.model.endswith(".onnx"):
            raise NncError(
                "nnc: ONNX Runtime takes ONNX models only; --against-target and the like compare "
                "with another compilation"
            )
        return OnnxRuntimeSide(args.threads)
    fast_math = ours.fast_math
    if args.against_fast_math:
        fast_math = args.against_fast_math == "on"
    return CompiledSide(
        "the other", args.against_target or args.target, fast_math,
        args.against_pass_pipeline or ours.passes, args.threads, session.choices,
    )  # fmt: skip


def _bisect(
    session: Session,
    ours: Side,
    reference: Side,
    known: dict[str, np.ndarray],
    inputs: dict[str, np.ndarray],
    tolerance: Tolerance,
) -> Culprit | None:
    from ..frontends.onnx.cutting import CutGraph

    given = constant_values(session.model, session.choices["constants"])
    graph = CutGraph(session.model, known, given)
    return Bisection(graph, ours, reference, inputs, tolerance, session.progress).culprit(known)


def _says(one: Difference, reference: Side) -> str:
    """The comparison of an output in words."""
    if one.fault:
        return f"differs: {one.fault} of {reference.name}"
    if not one.wrong:
        return f"agrees (largest difference {one.largest:.3g}, {one.allowed:.3g} allowed)"
    place = f" at [{', '.join(map(str, one.index))}]" if one.index else ""
    return (
        f"differs: {one.wrong} of {one.size} elements by more than {one.allowed:.3g}; "
        f"worst{place}: {number_text(one.ours)}, {reference.name} has {number_text(one.theirs)}"
    )


def _named(culprit: Culprit | None, reference: Side) -> Iterator[str]:
    if culprit is None:  # an output that is an input, say
        yield "no node is at fault"
        return
    if len(culprit.nodes) == 1:
        yield f"first difference, from operands that agree: {culprit.nodes[0]}"
    else:
        yield f"first difference, though each half agrees: {len(culprit.nodes)} nodes together"
        yield from (f"  {node}" for node in culprit.nodes)
    for one in culprit.differences:
        if one.differs:
            yield f"  '{one.name}' {_says(one, reference)}"
