"""The pipelines: which passes run, in which order, and why.

A stage is a table of pass names, each with the reason for its place if that is not obvious. These
stages lead from the graph to the schedule; from there on each target has its own. A stage's name is
a flag of nn-opt, and a file name of `nnc stages`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from ..ir.attributes import StringAttr
from ..ir.core import Operation
from ..ir.passes import Pass, Pipeline
from ..ir.pipeline_text import parse_pipeline
from ..ir.stages import Stage, stage
from ..targets.attribute import STAGE
from ..targets.base import Target, all_targets
from ..targets.base import target as find_target
from .catalog import find_pass

DEFAULT = "x86-64"
"""The target whose stages are meant if none is given; all processors have the same."""

GRAPH_STAGES: tuple[Stage, ...] = (
    stage(
        "simplify-graph",
        "nn: constants folded, algebra simplified, composite ops taken apart",
        ("canonicalize", "branches by known conditions go"),
        ("outline-regions", "later passes work on functions without branches"),
        ("merge-quantizations", "before the integers become real numbers for good"),
        ("keep-packed", "before packed integers are folded to floats"),
        ("use-integers", "before weights of integers are folded to floats"),
        ("fold-constants", "shape arithmetic becomes static here"),
        ("repeat-constants", "a weight's layout is chosen in the function that uses it"),
        ("infer-shapes", "what is static makes other types static"),
        ("simplify-shapes", "what is not static may still be equal"),
        ("canonicalize", "the static forms of what was dynamic"),
        ("recognize-composites", "later passes look for softmax, and fuse it"),
        ("sink-transposes", "channels first throughout, where batch norms fold and ops fuse"),
        ("canonicalize", "paddings are next to their convolutions now"),
        ("merge-products", "of the parts of one tensor, before layouts are chosen for each"),
        ("split-batch", "before algorithms and layouts that no longer have the batch first"),
        ("decompose{level=graph}", "what fuses better in parts, whose weights are then folded"),
        ("fold-batch-norm", "into the weights of the convolution before it"),
        ("merge-convolutions", "branches that have no batch norm of their own any more"),
        (
            "widen-products",
            "after fold-batch-norm: a cast would separate a batch norm from its convolution",
        ),
        ("fold-constants", "weights with the batch norm in them, whose layout is chosen next"),
        ("pad-channels", "before blocks are chosen, which then are whole vectors"),
        ("choose-layouts", "before fuse: a layout change between two ops prevents fusing them"),
        ("choose-algorithms", "on blocked layouts, whose blocks are the vectors of the transforms"),
        ("decompose{level=layout}", "repeated dimensions, which no layout has"),
        ("cse", "weights that several products share are rearranged once"),
        "fold-constants",
        "canonicalize",
        "cse",
    ),
    stage(
        "make-kernels",
        "nn: every op in a kernel function, equal kernels shared",
        ("sink-views", "a reshape between two ops prevents fusing them"),
        "canonicalize",
        ("cse", "equal views"),
        ("fuse", "composite ops whole; they are taken apart inside their kernels"),
        ("parametrize-kernels", "equal but for their numbers"),
        "outline-kernels",
        ("inline", "the parts of a batch, now that their kernels are shared"),
        ("cse", "weights of several parts"),
    ),
    stage(
        "bufferize",
        "linalg on memrefs, one function per kernel",
        ("lower-affine", "of models it has none, but a file of linalg or memrefs may"),
        "lower-to-linalg",
        ("fuse-into-tiles", "the ops after Winograd's last transform"),
        ("single-rows", "before schedules, which differ for one row and for many"),
    ),
    stage(
        "schedule",
        "the same, with a schedule beside each kernel",
        ("align-rows", "before mark-in-place: an operand of another layout cannot be overwritten"),
        ("mark-in-place", "before schedules are applied: a kernel's ops show what it reads"),
        ("merge-dimensions", "before schedules, whose loops and copies have fewer dimensions then"),
        ("compute-rows-again", "before schedules, which it compares for rows kept and made again"),
        "choose-schedules",
        ("overlap-loops", "loops whose steps no schedule divides among threads"),
    ),
)
"""From the graph to the schedule: the same stages for all targets, whose costs decide in them."""

CIRCUIT = stage(
    "circuit",
    "hardware-loops of integers as one function that CIRCT reads, for its Handshake dialect",
    ("inline{kernels=true}", "a circuit is one function, for its memories are no operands"),
    "canonicalize",
    ("forward-stores", "an access of memory takes several cycles"),
    "lower-to-circuit",
    "canonicalize",
    ("cse", "addresses"),
    ("convert-scf-to-cf", "circuits are made of blocks and branches"),
)
"""The way to CIRCT, which makes circuits of modules for `hls`."""

# What the stage-jumping flags run: everything from the graph to the named level.
_LEVELS = {"lower-to-loops": "loops", "lower-all": None}


def stages_of(target: Target) -> tuple[Stage, ...]:
    """All stages of a target, in order."""
    return (*GRAPH_STAGES, *target.stages)


def past_stages(module: Operation, target: Target) -> list[str]:
    """The names of the stages that a module has gone through; empty before the target's own."""
    last, names = module.attributes.get(STAGE), [one.name for one in stages_of(target)]
    if not isinstance(last, StringAttr) or last.value not in names:
        return []
    return names[: names.index(last.value) + 1]


def passes_to(target: Target, last: str | None = None) -> list[str]:
    """The names of the passes from the graph to the end of a target's stage, by
    default its last.
    """
    stages = stages_of(target)
    names = [one.name for one in stages]
    end = len(stages) if last is None else names.index(last) + 1
    return [one for stage in stages[:end] for one in stage.passes]


def named_pipelines(target: str = DEFAULT) -> dict[str, tuple[str, list[str]]]:
    """{name: (summary, passes)} of the pipelines of nn-opt.

    These are the stages of all targets, this target's first, and two that run from the graph down
    to a level: `lower-to-loops` and `lower-all`, with this target's passes.
    """
    chosen = find_target(target)
    table = {one.name: (one.summary, list(one.passes)) for one in _all_stages(chosen)}
    names = [one.name for one in stages_of(chosen)]
    for flag, last in _LEVELS.items():
        if last is None or last in names:
            summary = f"from any stage before it to: {last or names[-1]}"
            table[flag] = (summary, passes_to(chosen, last))
    return table


def passes_of(name: str, target: str = DEFAULT) -> list[str] | None:
    """The passes of a named pipeline; None if there is none of this name.

    Other targets are loaded only if this target has no pipeline of the name.
    """
    chosen = find_target(target)
    if name in _LEVELS:
        last = _LEVELS[name]
        known = last is None or last in [one.name for one in stages_of(chosen)]
        return passes_to(chosen, last) if known else None
    return next((list(one.passes) for one in _all_stages(chosen) if one.name == name), None)


def _all_stages(first: Target) -> Iterator[Stage]:
    """The stages of a target, then those of the other targets that it does not have."""
    found = dict.fromkeys(stages_of(first))
    yield from found
    for target in all_targets():
        further = [one for one in target.stages if one not in found]
        yield from further
        found |= dict.fromkeys(further)
    yield CIRCUIT


def lookup(name: str, target: str = DEFAULT) -> type[Pass] | Sequence[Pass | Pipeline] | None:
    """A pass class, or the passes of a named pipeline of a target; None if the name is neither."""
    found = find_pass(name)
    if found is not None:
        return found
    passes = passes_of(name, target)
    if passes is None:
        return None
    return [step for one in passes for step in pipeline(one).steps]


def pipeline(text: str) -> Pipeline:
    """The pipeline for a text in upstream's syntax. Raises NncError."""
    return parse_pipeline(text, lookup)


@lru_cache(64)
def pipeline_of(stage: Stage) -> Pipeline:
    """The passes of a stage; cached, as each compilation runs them."""
    return pipeline(stage.text())
