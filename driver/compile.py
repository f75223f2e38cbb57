"""From a model in any form to a module at a stage, or to an executable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from os.path import exists
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..dialects.marks import ENTRY, INPUT_NAMES, OUTPUT_NAMES
from ..dialects.strict_math import STRICT_MATH
from ..ir.attributes import ArrayAttr, StringAttr, UnitAttr
from ..ir.collection import paused_collection
from ..ir.core import Operation
from ..ir.decisions import Decisions
from ..ir.diagnostics import NncError
from ..ir.timing import Timed, untimed

if TYPE_CHECKING:
    import numpy as np

    from ..ir.passes import Instrumentation, Pipeline
    from ..kernels.tuned import TunedFolder
    from ..runtime.model import Model
    from ..runtime.program import Program
    from ..targets.base import Target

    NewWeights = Callable[[int], np.ndarray]

Progress = Callable[[str], None]


@paused_collection()
def load_module(
    model: Any,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    constants: Mapping[str, Any] | None = None,
    signature: str | None = None,
    fast_math: bool = True,
    progress: Progress | None = None,
) -> Operation:
    """A verified module from a model's file in any format, IR text in a file, bytes, an object of a
    framework, or a module.

    `shapes` fixes input shapes by name, `constants` fixes the values of inputs, `signature` selects
    one of several functions; an existing module is copied. Without `fast_math`, the module is
    marked to compute floating-point math exactly as written. Raises NncError that names the file
    and the place.
    """
    choices = {"shapes": shapes or {}, "constants": constants or {}, "signature": signature}
    module = _load(model, choices, progress)
    if not fast_math:
        module.attributes[STRICT_MATH] = UnitAttr()
    return module


def _load(model: Any, choices: Mapping[str, Any], progress: Progress | None) -> Operation:
    if isinstance(model, Operation):
        _reject(choices)
        module = model.clone()
        mark_entry(module)
        return module
    if isinstance(model, str) and "\n" in model and not exists(model):
        raise NncError("expected the path of a model, not its text: nnc.parse makes IR of text")
    if isinstance(model, str | Path):
        path = Path(model)
        if path.suffix == ".mlir" and not _is_model(path):
            _reject(choices)
            return _read_ir(path)
        if not exists(path):
            raise NncError(f"cannot read '{path}': no such file")
    from ..frontends.formats import import_model

    module = import_model(model, progress=progress, **choices)
    module.verify()
    return module


def _is_text(model: Any) -> bool:
    """Whether the model is a file of MLIR text."""
    return isinstance(model, str | Path) and Path(model).suffix == ".mlir"


def _is_model(path: Path) -> bool:
    """Whether MLIR text is a model to be imported, rather than IR of a stage."""
    from ..frontends.common.source import Source
    from ..frontends.detection.stablehlo import is_it

    return exists(path) and is_it(Source(path))


def _reject(choices: Mapping[str, Any]) -> None:
    """Raise NncError for choices about inputs, which IR does not support."""
    for what, given in choices.items():
        if given:
            raise NncError(f"{what} can be given for models of other formats than IR only")


def _read_ir(path: Path) -> Operation:
    from ..ir.files import read_text
    from ..ir.syntax.parser import parse_module

    text = read_text(path)
    if not text.strip():
        raise NncError(f"{path}: the file is empty, expected a model")
    module = parse_module(text, str(path), resources=path.parent)
    module.verify()
    mark_entry(module)
    return module


def mark_entry(module: Operation) -> None:
    """Mark the entry function if none is marked: @main, or the only public one with a body.

    Hand-written IR then needs no `nn.entry`. A module with an ambiguous choice is left unchanged.
    """
    from ..dialects import func

    functions = [op for op in module.body_block if isinstance(op, func.FuncOp)]
    if any(ENTRY in f.attributes for f in functions):
        return
    public = [f for f in functions if f.sym_visibility != "private" and not f.is_declaration]
    chosen = [f for f in public if f.sym_name == "main"] or public
    if len(chosen) != 1:
        return
    entry = chosen[0]
    type = entry.function_type
    entry.attributes[ENTRY] = UnitAttr()
    for key, kind, count in (
        (INPUT_NAMES, "input", len(type.inputs)),
        (OUTPUT_NAMES, "output", len(type.results)),
    ):
        names = tuple(StringAttr(f"{kind}{i}") for i in range(count))
        entry.attributes.setdefault(key, ArrayAttr(names))


def _scheduled(one: Pipeline, tuned: TunedFolder | None) -> Pipeline:
    """The pipeline with schedules from a folder, if there is one."""
    from ..kernels.choose_schedules import ChooseSchedules

    if tuned is None:
        return one
    options = {"tuned": str(tuned.path), "tuned_anywhere": tuned.anywhere}
    steps = (replace(s, **options) if isinstance(s, ChooseSchedules) else s for s in one.steps)
    return replace(one, steps=tuple(steps))


@paused_collection()
def run_stages(
    module: Operation,
    *,
    last: str | None = None,
    target: str | None = None,
    progress: Progress | None = None,
    prepare_milliseconds: int | None = None,
    tuned: TunedFolder | None = None,
    after_stage: Callable[[str, Operation], None] | None = None,
    instrumentations: Sequence[Instrumentation] = (),
    verify_each: bool = False,
    timed: Timed = untimed,
    decisions: Decisions | None = None,
) -> Operation:
    """Take a module of any stage down to stage `last` (default: its target's last one), in place.

    `target` is the name of its target; by default the module's own, else this machine. It is
    recorded in the module. With `prepare_milliseconds`, weights that take at most that long are
    computed when the model is loaded. With `tuned`, kernels get their schedules and the graph its
    choices from that folder. Passes record their choices in `decisions`. Raises NncError if the
    module is for another target, or has steps that only a host can run.

    Stages that the module is past change nothing, so that each stage's file is a place to resume
    from. The target's own stages are recorded in the module, and those before them are not run
    again: `after_stage` is called for them all the same.
    """
    from ..ir.passes import PassContext, PassManager
    from ..lowering.pipelines import past_stages, pipeline, pipeline_of, stages_of
    from ..targets.attribute import STAGE, attach, target_of
    from .endless import check_ends
    from .hosting import check_compiled_whole

    check_compiled_whole(module)
    check_ends(module)
    chosen = attach(module, target_of(module, target))
    decisions = _told(decisions, tuned, chosen)
    passed = past_stages(module, chosen)
    for stage in stages_of(chosen):
        if stage.name not in passed:
            if progress is not None:
                progress(f"{stage.name}: {stage.summary}")
            context = PassContext(progress=progress, decisions=decisions)
            with timed(f"'{stage.name}' Stage"):
                pipelines = [_scheduled(pipeline_of(stage), tuned)]
                if stage.name == "simplify-graph" and prepare_milliseconds is not None:
                    options = f"milliseconds={prepare_milliseconds}"
                    pipelines.append(pipeline(f"builtin.module(prepare-weights{{{options}}})"))
                for one in pipelines:
                    PassManager(one, context, instrumentations, verify_each).run(module)
            if stage in chosen.stages:
                module.attributes[STAGE] = StringAttr(stage.name)
        if after_stage is not None:
            after_stage(stage.name, module)
        if stage.name == last:
            break
    if progress is not None:
        if tuned is not None and decisions.followed:
            progress(f"{tuned.path}: {decisions.followed} choices on the graph are tuned")
        for note in decisions.notes:
            progress(f"{note}; the default is taken")
    return module


def _told(decisions: Decisions | None, tuned: TunedFolder | None, target: Target) -> Decisions:
    """`decisions`, or a new record of decisions, preset by a folder's choices. Raises NncError."""
    found = Decisions() if decisions is None else decisions
    if tuned is not None:
        from ..targets.attribute import machine_name
        from .tuning.choices import tell

        tell(found, tuned, machine_name(target))
    return found


def compile_model(
    model: Any,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    constants: Mapping[str, Any] | None = None,
    signature: str | None = None,
    threads: int = 1,
    target: str | None = None,
    fast_math: bool = True,
    cache: bool = True,
    emulate: bool = True,
    fallback: bool = True,
    tuned: TunedFolder | None = None,
    progress: Progress | None = None,
    accept: Callable[[Operation], None] | None = None,
) -> Model:
    """A callable from a model in any form that `load_module` takes: an executable in this process
    if the target's code runs here, else in an engine, or in an emulator unless `emulate` is
    false.

    Without `fast_math`, floating-point operations are those of the model, in its order. With
    `cache`, a model that was compiled before is read from disk, see `driver/cache.py`. If the
    shapes of a call's inputs need other code, it is compiled in this call. With `tuned`, kernels
    get their schedules from that folder. Without `fallback`, a model is refused if a device leaves
    steps to the host. `accept` gets the module before it is compiled, and may raise.
    """
    from .specializing import specializing

    compiled = partial(
        _compiled,
        _Compiler(threads, cache, fallback, progress, tuned),
        model,
        target,
        emulate,
        accept,
        constants=constants,
        signature=signature,
        fast_math=fast_math,
    )
    found = compiled(shapes=shapes)
    if isinstance(model, Operation) or _is_text(model):
        return found  # what shapes cannot be given for
    return specializing(found, compiled, shapes or {})


def _compiled(
    compiler: _Compiler,
    model: Any,
    target: str | None,
    emulate: bool,
    accept: Callable[[Operation], None] | None,
    *,
    shapes: Mapping[str, Sequence[int]] | None,
    constants: Mapping[str, Any] | None,
    signature: str | None,
    fast_math: bool,
) -> Model:
    """The compiled model for these shapes; see `compile_model`."""
    from ..frontends.declared import own_operators_digest
    from ..frontends.formats import model_files, needs_other_files
    from ..targets.attribute import attach, target_of
    from ..targets.base import HOST, asked
    from .cache import choices_text, file_key
    from .hosting import is_hosted

    key = None
    if compiler.cache is not None and isinstance(model, str | Path) and not _is_text(model):
        given = choices_text(shapes=shapes or {}, constants=constants or {})
        options = f"{given} {signature} {fast_math} {own_operators_digest()} {compiler.schedules}"
        chosen = asked(target or HOST)
        chosen.check_runs(emulate)
        key = file_key(model_files(model), chosen, options)
        if key and (found := compiler.found(key, chosen)) is not None:
            return found
    module = load_module(
        model,
        shapes=shapes,
        constants=constants,
        signature=signature,
        fast_math=fast_math,
        progress=compiler.progress,
    )
    attach(module, target_of(module, target)).check_runs(emulate)
    if accept is not None:
        accept(module)
    if key is not None and needs_other_files(model):
        key = None
    return (compiler.hosted if is_hosted(module) else compiler.model)(module, key)


class _Compiler:
    """Compiles modules to models, through the cache if there is one."""

    def __init__(
        self,
        threads: int,
        cached: bool,
        fallback: bool,
        progress: Progress | None,
        tuned: TunedFolder | None = None,
    ) -> None:
        from .cache import ModelCache

        self.threads, self.fallback, self.progress = threads, fallback, progress
        self.tuned = tuned
        self.schedules = tuned.digest() if tuned is not None else ""
        """The digest of the tuned schedules, for keys of the cache; empty without any."""
        cache = ModelCache() if cached else None
        self.cache = cache if cache is not None and cache.limit else None

    def found(self, key: str, target: Target) -> Model | None:
        """The model cached under a key; None if it or a part of it is missing."""
        assert self.cache is not None
        hosted = self.cache.find_hosted(key)
        keys = [key] if hosted is None else hosted[1]
        programs = [program for one in keys if (program := self.cache.find(one, target))]
        if len(programs) < len(keys):
            return None
        self._say("found in the cache")
        models = list(map(self._running, programs))
        if hosted is None:
            return models[0]
        from .hosting import HostedModel

        return HostedModel(hosted[0], models)

    def model(self, module: Operation, key: str | None) -> Model:
        """The model of a module without host steps, cached under `key`, or under a digest of the
        module if that is None.
        """
        return self._running(self._program(module, key or self._key(module)))

    def hosted(self, module: Operation, key: str | None) -> Model:
        """The model of a module with host steps: the host's part is cached under `key`, each
        compiled part under a digest of its own.
        """
        from .hosting import HostedModel, cut_parts

        parts = cut_parts(module)
        keys = list(map(self._key, parts))
        models = [self._running(self._program(*one)) for one in zip(parts, keys, strict=True)]
        kept = [one for one in keys if one is not None]
        if self.cache is not None and key is not None and len(kept) == len(keys):
            with self.cache.new_entry(key) as entry:
                if entry is not None:
                    entry.store_hosted(module, kept)
        return HostedModel(module, models)

    def _key(self, module: Operation) -> str | None:
        from ..frontends.declared import own_operators_digest
        from ..targets.attribute import target_of
        from .cache import model_key

        if self.cache is None:
            return None
        return model_key(module, target_of(module), own_operators_digest(), self.schedules)

    def _program(self, module: Operation, key: str | None) -> Program:
        """The program of a module, cached under its key if it has one."""
        from ..targets.attribute import target_of

        if self.cache is None or key is None:
            return _compile(module, self.progress, tuned=self.tuned)
        if (program := self.cache.find(key, target_of(module))) is not None:
            self._say("found in the cache")
            return program
        with self.cache.new_entry(key) as entry:
            if entry is None:
                return _compile(module, self.progress, tuned=self.tuned)
            program = _compile(module, self.progress, entry.weights, self.tuned)
            entry.store(program)
        return program

    def _running(self, program: Program) -> Model:
        from ..targets.base import Target
        from .program import check_fallback

        target = program.target
        assert isinstance(target, Target)
        for note in program.notes:
            self._say(note)
        if not self.fallback:
            check_fallback(program.elsewhere, target)
        return target.running(program, self.threads, self.progress)

    def _say(self, message: str) -> None:
        if self.progress is not None:
            self.progress(message)


def _compile(
    module: Operation,
    progress: Progress | None,
    new_weights: NewWeights | None = None,
    tuned: TunedFolder | None = None,
) -> Program:
    """The program of a module of any stage, which is consumed."""
    from .program import make_program

    run_stages(module, progress=progress, tuned=tuned)
    return make_program(module, new_weights, timed=told(progress))


_STEPS = {
    "LLVM IR": "LLVM's text: LLVM IR",
    "Passes": "LLVM's passes: simpler and vectorized",
    "Code generation": "machine code: instructions and registers",
    "Link": "link the library",
}


def told(progress: Progress | None, timed: Timed = untimed) -> Timed:
    """A clock as `timed` that also reports LLVM's steps as they begin."""

    def step(name: str) -> AbstractContextManager[None]:
        if progress is not None and name in _STEPS:
            progress(_STEPS[name])
        return timed(name)

    return step


def write_stages(
    model: Any,
    folder: Path,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    constants: Mapping[str, Any] | None = None,
    signature: str | None = None,
    target: str | None = None,
    fast_math: bool = True,
    progress: Progress | None = None,
) -> list[Path]:
    """Write one file per stage to `folder`, numbered in order; returns their paths.

    The files share weights where they can, and `nn-opt` or `nnc run` can resume from each.
    """
    from ..ir.files import check_spared
    from ..ir.weights_file import write_module
    from ..lowering.pipelines import stages_of
    from ..targets.attribute import target_of
    from ..targets.base import asked
    from .hosting import check_compiled_whole

    module = load_module(
        model,
        shapes=shapes,
        constants=constants,
        signature=signature,
        fast_math=fast_math,
        progress=progress,
    )
    check_compiled_whole(module)
    chosen = asked(target) if target else target_of(module)

    def place(number: int, stage: str) -> Path:
        return folder / f"{number}-{stage}.mlir"

    for number, stage in enumerate(["import", *(one.name for one in stages_of(chosen))]):
        check_spared(place(number, stage))
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise NncError(f"cannot make folder '{folder}': {error.strerror or error}") from None
    paths = [place(0, "import")]
    write_module(module, paths[0])

    def write(stage: str, module: Operation) -> None:
        paths.append(place(len(paths), stage))
        write_module(module, paths[-1])

    run_stages(module, target=target, progress=progress, after_stage=write)
    return paths
