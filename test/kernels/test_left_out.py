"""A barrier, a mask or a bound left out of a kernel: found, and by which threads it goes wrong.

The oracle runs all threads of all groups and notes each access: two of an element by different
threads, one of which writes, that no barrier separates; an access outside; a barrier that some do not
reach; a result that keeps the pattern which buffers have before they are written.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest
from nnc.dialects import func, gpu, memref
from nnc.driver.compile import load_module, run_stages
from nnc.ir.attributes import IntegerAttr
from nnc.ir.diagnostics import NncError
from nnc.ir.passes import PassContext, PassManager
from nnc.ir.syntax.parser import parse_module
from nnc.ir.types import i64
from nnc.kernels.proof.prove_kernels import ProveKernels
from nnc.kernels.proof.views import span_of, strides_of
from nnc.lowering.pipelines import GRAPH_STAGES, pipeline
from nnc.numerics import races
from nnc.numerics.checking.running import Runner
from nnc.numerics.checking.subjects import Subject
from nnc.numerics.interpreter import TooManyStepsError
from nnc.numerics.options import NumericsOptions
from nnc.numerics.threads import Access

from ..lowering.running import entry, inputs_of
from ..lowering.test_nn_to_linalg import OPS
from ..targets.test_c import NETWORKS
from .test_distribute_tiles import LARGE, distribute, kernels_of
from .test_prove_kernels import BY_VALUES, launched
from .test_prove_planted_faults import are_unset

pytest.importorskip("islpy")

STEPS = 20_000
"""As many operations of an example's kernels, or a network's, are interpreted."""

AT_MOST = 80_000
"""As many of a network's kernels are if those with fewer operations show no fault."""

OF_KERNELS = [cls for cls in OPS if cls.name not in BY_VALUES]


# -- what is left out ------------------------------------------------------------------------------


def without_barriers(text):
    """The text without one of its barriers, for each."""
    for found in re.finditer(r"gpu\.barrier\n", text):
        yield text[: found.start()] + "\n" + text[found.end() :]


def without_masks(text):
    """The text with one condition that is always true, for each mask and comparison."""
    for found in re.finditer(r"vector\.create_mask [^:]+ : vector<([\dx]+)xi1>", text):
        sizes = found[1].replace("x", ", ")
        full = f"vector.constant_mask [{sizes}] : vector<{found[1]}xi1>"
        yield text[: found.start()] + full + text[found.end() :]
    for found in re.finditer(r"arith\.cmpi \w+, %\w+, %\w+ : index", text):
        yield text[: found.start()] + "arith.constant true" + text[found.end() :]


def without_bounds(text):
    """The text with one of two numbers in place of the smaller, or one more turn of a loop."""
    for found in re.finditer(r"arith\.minsi (%\w+), (%\w+) : index", text):
        constants = [v for v in found.groups() if re.search(rf"{v} = arith\.constant ", text)]
        kept = (constants or [found[1]])[-1]
        yield f"{text[: found.start()]}arith.minsi {kept}, {kept} : index{text[found.end() :]}"
    for found in re.finditer(r"\n([^\n]*scf\.for %\w+ = %\w+ to )(%\w+)( step )(%\w+)", text):
        more = f"\n%more = arith.addi {found[2]}, {found[4]} : index"
        loop = f"\n{found[1]}%more{found[3]}{found[4]}"
        yield text[: found.start()] + more + loop + text[found.end() :]


KINDS = {"barrier": without_barriers, "mask": without_masks, "bound": without_bounds}


def planted(text, seed, most, first=0):
    """At most so many faults of each kind in the kernels of a module: the kind, and the text.

    In an order by chance, those behind the `first` ones of each kind.
    """
    start = text.index("gpu.module")
    end = text.index("func.func", start)
    for kind, without in KINDS.items():
        found = list(without(text[start:end]))
        random.Random(seed).shuffle(found)
        for changed in found[first : first + most]:
            yield kind, text[:start] + changed + text[end:]


# -- the oracle ------------------------------------------------------------------------------------


@dataclass
class Noted:
    """All accesses to what threads share, by memory and address."""

    accesses: dict = field(default_factory=dict)

    def touch(self, memory, thread, op, array, at, access):
        """Note an access, in place of the check that ends a run at the first race."""
        group = thread.group
        for address, _ in races._places(array, at):
            found = self.accesses.setdefault((memory, address), {})
            found[str(thread), str(group.place), group.interval, access] = None

    def written(self):
        """How many elements are written."""
        kinds = [{access for *_, access in found} for found in self.accesses.values()]
        return sum(Access.WRITE in found for found in kinds)

    def clashes(self):
        """Pairs of threads that touch an element in no order, one of them writing."""
        for found in self.accesses.values():
            if all(access is Access.READ for *_, access in found):
                continue
            for one, group, interval, access in found:
                for other, its_group, its_interval, its_access in found:
                    are_unordered = group != its_group or interval == its_interval
                    kinds = {access, its_access}
                    if one != other and are_unordered and Access.WRITE in kinds:
                        yield one, other


def what_happens(module, subject, inputs, monkeypatch, steps=10_000_000):
    """The error that ends a run, pairs of threads that clash, and how many elements are written.

    None are where a result has elements that are not.
    """
    noted = Noted()
    with monkeypatch.context() as patch:
        touch = lambda memory, *rest: noted.touch(memory, *rest)  # noqa: E731
        patch.setattr(races.Memory, "touch", touch)
        runner = Runner(module, NumericsOptions(max_steps=steps))
        outcome = runner.interpret(subject, [x.copy() for x in inputs])
    is_unset = outcome.error is None and are_unset(outcome.values)
    return outcome.error, set(noted.clashes()), 0 if is_unset else noted.written()


# -- what is found ---------------------------------------------------------------------------------

WHO = r"(thread \(.*?\) of group \(.*?\)|group \(.*?\))"
PAIR = re.compile(rf"element \[.*?\] in {WHO}, which {WHO} (?:reads|writes|changes)")


def judge(text, subject, inputs, least, monkeypatch):
    """Whether a text is at fault: then that is said, and the threads of a clash do clash.

    It is also at fault where less than `least` elements are written.
    """
    try:
        module = parse_module(text)
        module.verify()
    except NncError:
        return None
    error, clashes, written = what_happens(module, subject, inputs, monkeypatch)
    context = PassContext()
    said = None
    try:
        ProveKernels().run(module, context)
    except NncError as caught:
        said = caught.message
    is_at_fault = error is not None or bool(clashes) or written < least
    if not is_at_fault:
        assert said is None or "?" in text, said
        return False
    assert said is not None, (str(error), sorted(clashes)[:2], written, context.diagnostics)
    if (pair := PAIR.search(said)) and error is None:
        assert pair.groups() in clashes, (said, sorted(clashes)[:4])
    return True


def dealt(cls, threads=None, subgroup=None):
    """An op's example, dealt out over few threads, with subject and inputs."""
    module, subject, inputs = launched(cls)
    for kernel in kernels_of(module) if subgroup else ():
        kernel.attributes[gpu.SUBGROUP] = IntegerAttr(subgroup, i64)
    few = 2 if cls.name in LARGE else (4, 8, 16)[OPS.index(cls) % 3]
    distribute(module, threads or few)
    return str(module), subject, inputs


def found_in(name, text, subject, inputs, most, monkeypatch, least=1, first=0):
    """How many faults of each kind there are among those planted in kernels."""
    counts = Counter()
    if "gpu.module" not in text:  # Views and sizes are the host's.
        return counts
    for kind, changed in planted(text, name, most, first):
        counts[kind] += bool(judge(changed, subject, inputs, least, monkeypatch))
    return counts


@pytest.mark.parametrize("cls", OF_KERNELS[::9], ids=lambda cls: cls.name)
def test_a_fault_of_each_kind(cls, monkeypatch):
    found_in(cls.name, *dealt(cls), 1, monkeypatch)


def soon_through(kernels, monkeypatch):
    """Those of the dealt out examples that the interpreter is soon through with."""
    for name, text, subject, inputs in kernels:
        module = parse_module(text)
        error, _, _ = what_happens(module, subject, inputs, monkeypatch, STEPS)
        if not isinstance(error, TooManyStepsError):
            yield name, text, subject, inputs


FAULTS, TOGETHER = 200, 3
"""How many faults are wanted, and how many of each kind are planted in a kernel at a time."""


@pytest.mark.emulated  # Interprets threads one by one, for long: CI leaves it out.
@pytest.mark.thorough
def test_two_hundred_faults(monkeypatch):
    """In all kinds of kernel, in turns until there are enough that change what happens.

    Subgroups are small, so that threads of a group wait for one another.
    """
    dealt_out = (
        (f"{cls.name} {threads}", *dealt(cls, threads, subgroup=2))
        for threads in (4, 16)
        for cls in OF_KERNELS
    )
    kernels = list(soon_through(dealt_out, monkeypatch))
    counts = Counter()
    for first in range(0, 10 * TOGETHER, TOGETHER):
        for name, *kernel in kernels:
            counts += found_in(name, *kernel, TOGETHER, monkeypatch, first=first)
        if counts.total() >= FAULTS:
            break
    print(counts)
    assert counts.total() >= FAULTS, counts
    assert set(counts) == set(KINDS), counts


# -- kernels of networks ---------------------------------------------------------------------------

ALONE = """
module attributes {{gpu.container_module}} {{
{constants}
  gpu.module @kernels {{
{kernels}
  }}
  func.func @main({arguments}){results} {{
{views}
    {found}call @{name}({given}) : {type}
    return {returned}
  }}
{function}
}}"""


def alone(function, module):
    """The text of a module with one function that launches kernels, and `main`, which calls it.

    Arguments whose rows have gaps between them are views of buffers that have the gaps too.
    """
    launches = [op for op in function.walk() if isinstance(op, gpu.LaunchFunc)]
    kernels = dict.fromkeys(gpu.find_kernel(module, launch.kernel) for launch in launches)
    arguments, views, given = [], [], []
    for i, type in enumerate(function.function_type.inputs):
        given.append(f"%a{i}" if type.is_row_major else f"%v{i}")
        if type.is_row_major:
            arguments.append(f"%a{i}: {type}")
            continue
        buffer, strides = f"memref<{span_of(type)}x{type.element_type}>", strides_of(type)
        arguments.append(f"%a{i}: {buffer}")
        sizes = f"sizes: {list(type.shape)}, strides: {list(strides)}"
        views.append(f"%v{i} = memref.reinterpret_cast %a{i} to offset: [0], {sizes}")
        views[-1] += f" : {buffer} to {type}"
    results = ", ".join(map(str, function.function_type.results))
    count = len(function.function_type.results)
    constants = [
        f"memref.global constant @{op.sym_name} : {op.type} = "
        f'dense<"0x{op.initial_value.to_numpy().tobytes().hex()}">'
        for op in module.walk()
        if isinstance(op, memref.Global) and f"@{op.sym_name} " in str(function)
    ]
    return ALONE.format(
        constants="\n".join(constants),
        kernels="\n".join(map(str, kernels)),
        arguments=", ".join(arguments),
        results=f" -> ({results})" if count else "",
        views="\n".join(views),
        found=f"%r:{count} = " if count else "",
        name=function.sym_name,
        given=", ".join(given),
        type=function.function_type,
        returned=f"{', '.join(f'%r#{i}' for i in range(count))} : {results}" if count else "",
        function=function,
    )


def kernels_of_network(name, target):
    """The text of each function of a small network that launches kernels, as a module."""
    found = []

    def deal(stage, module):
        if stage == GRAPH_STAGES[-1].name:
            passes = "apply-schedules,canonicalize,outline-launches,assign-layouts,distribute-tiles"
            own = module.clone()
            PassManager(pipeline(passes)).run(own)
            launches = [op for op in own.walk() if isinstance(op, gpu.LaunchFunc)]
            functions = dict.fromkeys(launch.parent_of(func.FuncOp) for launch in launches)
            found.extend(alone(function, own) for function in functions)

    run_stages(load_module(NETWORKS[name]()), target=target, after_stage=deal)
    return found


@pytest.mark.emulated
@pytest.mark.thorough
@pytest.mark.parametrize("target", ["opencl", "metal"])
@pytest.mark.parametrize("name", NETWORKS)
def test_faults_in_networks(name, target, monkeypatch):
    """In those functions that the interpreter is soon through with."""
    texts = kernels_of_network(name, target)
    tried = (1, STEPS), (1, AT_MOST), (9, STEPS)
    assert any(faults_in(name, texts, most, steps, monkeypatch) for most, steps in tried)


def faults_in(name, texts, most, steps, monkeypatch):
    """How many faults are found in those functions that take at most so many operations.

    At most `most` of each kind are planted in each function.
    """
    counts = Counter()
    for number, text in enumerate(texts):
        module = parse_module(text)
        subject = Subject("main", entry(module, "main").function_type)
        sizes = [3] * sum(type.shape.count(None) for type in subject.type.inputs)
        inputs = inputs_of(subject.type.inputs, None, sizes, seed=number)
        inputs = [np.abs(x) for x in inputs]  # An integer -1 is as what is not written.
        error, clashes, written = what_happens(module, subject, inputs, monkeypatch, steps)
        if isinstance(error, TooManyStepsError):
            continue
        assert error is None and not clashes
        counts += found_in(f"{name} {number}", text, subject, inputs, most, monkeypatch, written)
    return counts.total()
