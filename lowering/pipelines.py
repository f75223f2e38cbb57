"""The pipelines: which passes, in which order, and why.

A stage is a table of pass names, each with a reason where the place is not obvious. The
stages in a row take a model from the graph to the `llvm` dialect; their names are flags of
nn-opt and the file names of `nnc stages`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..ir.passes import Pass, Pipeline
from ..ir.pipeline_text import parse_pipeline
from .catalog import find_pass


@dataclass(frozen=True)
class Stage:
    """A named row of passes and what holds after it."""

    name: str
    summary: str
    passes: tuple[str, ...]

    def pipeline(self) -> Pipeline:
        """The stage's passes; the module says what target they are for."""
        return pipeline(f"builtin.module({','.join(self.passes)})")


def stage(name: str, summary: str, *rows: str | tuple[str, str]) -> Stage:
    """A stage from rows, each a pass or (pass, why it stands here)."""
    return Stage(name, summary, tuple(row if isinstance(row, str) else row[0] for row in rows))


STAGES: tuple[Stage, ...] = (
    stage(
        "simplify-graph",
        "nn: constants folded, algebra simplified, composite ops taken apart",
        ("canonicalize", "branches by known conditions go"),
        ("outline-regions", "every later pass works on straight lines"),
        ("keep-packed", "before packed integers are folded to floats"),
        ("use-integers", "before weights of integers are folded to floats"),
        ("fold-constants", "shape arithmetic becomes static here"),
        ("infer-shapes", "what is static makes other types static"),
        ("simplify-shapes", "what is not static may still be equal"),
        ("canonicalize", "the static forms of what was dynamic"),
        ("recognize-composites", "before what is found by its softmax, and fuses with it"),
        ("sink-transposes", "channels first throughout, where batch norms fold and ops fuse"),
        ("canonicalize", "paddings that met their convolutions"),
        ("merge-products", "of the parts of one tensor, before layouts are chosen for each"),
        ("split-batch", "before algorithms and layouts that no longer have the batch first"),
        ("decompose{level=graph}", "what fuses better in parts, whose weights are then folded"),
        ("fold-batch-norm", "into the weights of the convolution before it"),
        (
            "widen-convolutions",
            "behind batch norms, which a cast would part from their convolution",
        ),
        ("fold-constants", "weights with the batch norm in them, whose layout is chosen next"),
        ("choose-layouts", "before fuse: a layout change between two ops prevents fusing them"),
        ("choose-algorithms", "on blocked layouts, whose blocks are the vectors of the transforms"),
        ("decompose{level=layout}", "repeated dimensions, which no layout has"),
        ("cse", "weights that several products have are arranged once"),
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
        "outline-kernels",
        ("inline", "the parts of a batch, now that their kernels are shared"),
        ("cse", "weights of several parts"),
    ),
    stage(
        "bufferize",
        "linalg on memrefs, one function per kernel",
        "lower-to-linalg",
        ("fuse-into-tiles", "what stands behind Winograd's last transform"),
        "canonicalize",
    ),
    stage(
        "schedule",
        "the same, with a schedule beside each kernel",
        "choose-schedules",
    ),
    stage(
        "loops",
        "loops over tiles: scf, memref, n-dimensional vectors and arith, all buffers planned",
        ("mark-in-place", "before schedules are applied: what a kernel reads is in its stages"),
        "apply-schedules",
        ("plan-memory", "after schedules, which remove temporaries"),
        "canonicalize",
        "cse",
    ),
    stage(
        "vectors",
        "the same with vectors that registers hold, and flat addresses",
        ("lower-tiles", "after plan-memory: temporaries are parts of the arena now"),
        ("flatten-addresses", "after vectors, which know neighbours by their subscripts"),
    ),
    stage(
        "llvm",
        "the llvm dialect",
        ("outline-parallel", "the functions that a pool of threads calls"),
        "expand-math",
        ("canonicalize", "constants of the expansions"),
        "cse",
        "lower-to-llvm",
    ),
)

# What the stage-jumping flags run: everything from the graph to the named level.
_LEVELS = {"lower-to-loops": "loops", "lower-all": "llvm"}


def stage_names() -> list[str]:
    """The stages' names, in order."""
    return [one.name for one in STAGES]


def passes_between(after: str | None, last: str) -> list[str]:
    """The passes from the end of stage `after` (None: the start) to the end of stage `last`."""
    names = stage_names()
    first = 0 if after is None else names.index(after) + 1
    return [p for one in STAGES[first : names.index(last) + 1] for p in one.passes]


def named_pipelines() -> dict[str, tuple[str, list[str]]]:
    """Each named pipeline's summary and passes."""
    table = {one.name: (one.summary, list(one.passes)) for one in STAGES}
    for flag, last in _LEVELS.items():
        table[flag] = (f"from any stage before it to: {last}", passes_between(None, last))
    return table


def lookup(name: str) -> type[Pass] | Sequence[Pass | Pipeline] | None:
    """A pass class or the passes of a named pipeline."""
    found = find_pass(name)
    if found is not None:
        return found
    pipelines = named_pipelines()
    if name in pipelines:
        return [step for p in pipelines[name][1] for step in pipeline(p).steps]
    return None


def pipeline(text: str) -> Pipeline:
    """A pipeline from upstream's text. Raises NncError."""
    return parse_pipeline(text, lookup)
