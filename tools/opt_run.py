"""One run of nn-opt: reads, verifies, transforms and prints the parts of a file."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import TYPE_CHECKING

from ..ir.diagnostics import Diagnostic, NncError, SourceFile
from ..ir.files import write_whole
from ..ir.location import FileLineColLoc
from ..ir.passes import Instrumentation, PassContext, PassManager, Pipeline
from ..targets.attribute import target_of
from .command import Streams
from .ir_printing import PrintIR, ToTree, to_stream
from .opt_report import Statistics, Timing

if TYPE_CHECKING:
    from ..ir.core import Operation
    from ..ir.reproducer import CrashReproducer
    from ..ir.syntax.print_flags import PrintFlags
    from ..numerics.checking import CheckNumerics


class Run:
    """The shared state of the parts of one input: options, pipeline, streams, timing."""

    def __init__(self, args: SimpleNamespace, pipeline: Pipeline, streams: Streams) -> None:
        self.args = args
        self.pipeline = pipeline
        self.streams = streams
        self.timing = Timing()
        self._flags: PrintFlags | None = None
        self._watchers: list[Instrumentation] = []
        if args.mlir_timing:
            self._watchers.append(self.timing)
        folder = args.mlir_print_ir_tree_dir
        write = to_stream(streams.stderr) if folder is None else ToTree(streams.path(folder))
        printing = PrintIR(args, write, self.printed)
        if not printing.is_idle:
            self._watchers.append(printing)
        self._trace = self._make_trace()
        self._numerics = self._make_numerics()

    # -- one part ------------------------------------------------------------------------------

    def process(self, part: SourceFile, seen: list[Diagnostic]) -> Operation | None:
        """The transformed module; None after an error, which is then in `seen`."""
        pipeline, verify_each = self._pipeline_for(part)
        context = PassContext()
        try:
            with self.timing.scope("Parser"):
                module = self._parse(part)
            with self.timing.scope("Verifier"):
                module.verify()
            if self.args.verify_roundtrip:
                check_roundtrip(module)
            if name := self.args.target or self.args.machine:
                target_of(module, name)
        except NncError as error:
            seen.append(error.diagnostic)
            return None
        if self.args.mlir_generate_reproducer is not None:
            self.write_reproducer(module)
        statistics = Statistics(pipeline, context)
        reproducer = self._reproducer(pipeline, verify_each)
        watchers = [*self._watchers, *([reproducer] if reproducer else [])]
        if self.args.mlir_pass_statistics:
            watchers.append(statistics)
        if self._trace is not None:
            context.trace = self._trace
            watchers.append(self._trace)
        if self._numerics is not None:
            watchers.append(self._numerics)
        manager = PassManager(pipeline, context, watchers, verify_each)
        try:
            self._run(manager, module, reproducer, seen)
        except NncError as error:
            seen += [*context.diagnostics, error.diagnostic]
            if reproducer is not None:
                seen += reproducer.failed()
            return None
        finally:
            if self.args.mlir_pass_statistics:
                display = self.args.mlir_pass_statistics_display
                print(statistics.report(display), file=self.streams.stderr)
        seen += context.diagnostics
        return module

    def _run(
        self,
        manager: PassManager,
        module: Operation,
        reproducer: CrashReproducer | None,
        seen: list[Diagnostic],
    ) -> None:
        if reproducer is not None:
            reproducer.start(module)
        try:
            manager.run(module)
        except NncError:
            raise
        except Exception:
            # A defect of nnc, or too deep a recursion: the reproducer is what finds it again.
            if reproducer is not None:
                for diagnostic in reproducer.failed():
                    print(diagnostic, file=self.streams.stderr)
            raise

    def _parse(self, part: SourceFile) -> Operation:
        from ..ir.syntax.parser import parse_module, parse_ops

        args = self.args
        folder = self.streams.path(args.resource_dir or ("." if args.file == "-" else args.file))
        if not args.resource_dir and args.file != "-":
            folder = folder.parent
        unregistered = args.allow_unregistered_dialect
        if not args.no_implicit_module:
            return parse_module(
                part.text, part.name, allow_unregistered=unregistered, resources=folder
            )
        ops = parse_ops(part.text, part.name, allow_unregistered=unregistered, resources=folder)
        if len(ops) != 1:
            raise NncError(
                f"source must contain a single top-level operation, found: {len(ops)}",
                FileLineColLoc(part.name, 0, 0),
            )
        return ops[0]

    def _pipeline_for(self, part: SourceFile) -> tuple[Pipeline, bool]:
        """The pipeline to run on a part, and whether to verify after each pass."""
        if not self.args.run_reproducer:
            return self.pipeline, self.args.verify_each
        from ..ir.reproducer import stored_pipeline
        from .opt_options import read_pipeline

        stored = stored_pipeline(part)
        if stored is None:
            return self.pipeline, self.args.verify_each
        text, verify = stored
        pipeline = read_pipeline(text)
        if self.args.dump_pass_pipeline:
            dump_pipeline(pipeline, self.streams)
        return pipeline, self.args.verify_each if verify is None else verify

    def _reproducer(self, pipeline: Pipeline, verify_each: bool) -> CrashReproducer | None:
        name = self.args.mlir_pass_pipeline_crash_reproducer
        if name is None:
            return None
        from ..ir.reproducer import CrashReproducer

        local = self.args.mlir_pass_pipeline_local_reproducer
        return CrashReproducer(self.streams.path(name), name, pipeline, verify_each, local)

    def write_reproducer(self, module: Operation) -> None:
        """Write the reproducer for `--mlir-generate-reproducer`, with the untransformed module."""
        from ..ir.reproducer import write_reproducer

        path = self.streams.path(self.args.mlir_generate_reproducer)
        write_reproducer(path, module, self.pipeline.text(), self.args.verify_each)

    # -- output --------------------------------------------------------------------------------

    def printed(self, op: Operation) -> str:
        """The text of an operation by the options, with upstream's line ends."""
        from ..ir.syntax.print_flags import print_with

        text = print_with(op, self.flags)
        # Upstream ends what it numbered as a whole with a newline of its own.
        alone = op.parent is None and not self.flags.local_scope
        return f"{text}\n" if alone else text

    @property
    def flags(self) -> PrintFlags:
        """The options for printing operations."""
        if self._flags is None:
            from ..ir.syntax.print_flags import PrintFlags

            args = self.args
            self._flags = PrintFlags(
                generic=args.mlir_print_op_generic,
                debuginfo=args.mlir_print_debuginfo,
                pretty_debuginfo=args.mlir_pretty_debuginfo,
                local_scope=args.mlir_print_local_scope,
                skip_regions=args.mlir_print_skip_regions,
                value_users=args.mlir_print_value_users,
                unique_ids=args.mlir_print_unique_ssa_ids,
                name_locations=args.mlir_use_nameloc_as_prefix,
                elements_limit=args.mlir_elide_elementsattrs_if_larger,
                resource_limit=args.mlir_elide_resource_strings_if_larger,
                hex_limit=args.mlir_print_elementsattrs_with_hex_if_larger,
            )
        return self._flags

    def write(self, modules: list[Operation | None]) -> None:
        """Write the results to the output; a failed part is empty between its marks."""
        from ..ir.weights_file import write_module

        name = self.args.output
        with self.timing.scope("Output"):
            if name not in (None, "-") and len(modules) == 1 and modules[0] is not None:
                path = self.streams.path(name)
                write_module(modules[0], path, print=lambda m: f"{self.printed(m)}\n")
                return
            mark = self.args.output_split_marker
            texts = [f"{self.printed(m)}\n" if m is not None else "" for m in modules]
            joined = f"{mark}\n".join(texts)
            if name in (None, "-"):
                self.streams.stdout.write(joined)
                self.streams.stdout.flush()
            else:
                write_whole(self.streams.path(name), joined)

    # -- checks and traces -----------------------------------------------------------------------

    def _make_numerics(self) -> CheckNumerics | None:
        args = self.args
        given = (args.check_numerics, args.check_numerics_seed, args.check_numerics_reproducer)
        if given == (None, None, None):
            return None
        from ..numerics.options import options_of

        options = options_of(args)
        if options is None:
            return None
        from ..numerics.checking import CheckNumerics

        name = options.reproducer or self._beside_input("numerics")
        return CheckNumerics.writing(options, self.streams.path(name), name)

    def _beside_input(self, what: str) -> str:
        """A file name beside the input's: `in.what.mlir` for `in.mlir`."""
        name = "stdin" if self.args.file == "-" else self.args.file.removesuffix(".mlir")
        return f"{name}.{what}.mlir"

    def _make_trace(self):
        target = self.args.trace_rewrites
        if target is None:
            return None

        from .rewrite_trace import TraceRewrites

        return TraceRewrites(self.streams.stderr if target == "-" else io.StringIO())

    def finish(self) -> None:
        """Print and write the reports on the whole run."""
        if self._numerics is not None:
            self._numerics.print_notes(self.streams.stderr)
        if self._trace is not None and self.args.trace_rewrites != "-":
            path = self.streams.path(self.args.trace_rewrites)
            write_whole(path, self._trace.stream.getvalue())  # type: ignore[attr-defined]
        if self.args.mlir_timing:
            report = self.timing.report(self.args.mlir_timing_display)
            print(report, end="", file=self.streams.stderr)


def dump_pipeline(pipeline: Pipeline, streams: Streams) -> None:
    """Print the pipeline that is going to run, as `--dump-pass-pipeline` asks."""
    from ..ir.pipeline_text import pipeline_lines

    named = Pipeline(
        pipeline.steps, pipeline.anchor or ("any" if pipeline.steps else "builtin.module")
    )
    text = "\n".join(pipeline_lines(named))
    count = len(pipeline.steps)
    print(f"Pass Manager with {count} passes:\n{text}\n", file=streams.stderr)


def check_roundtrip(module: Operation) -> None:
    """Raise NncError if a module's text, custom or generic, parses as another module."""
    from ..ir.syntax.parser import parse_ops
    from ..ir.syntax.printer import print_op

    for generic in (False, True):
        text = print_op(module, generic=generic, debuginfo=True)
        form = "generic" if generic else "custom"
        try:
            again = parse_ops(text, "<printed text>", allow_unregistered=True)
        except NncError as error:
            note = error.diagnostic
            raise NncError(f"the {form} form cannot be read back", module.loc, [note]) from None
        printed = "\n".join(print_op(op, generic=generic, debuginfo=True) for op in again)
        if printed != text:
            lines = zip(text.split("\n"), printed.split("\n"), strict=False)
            first = next(((a, b) for a, b in lines if a != b), ("", ""))
            notes = [
                Diagnostic("note", f"{what}: {line.strip()}")
                for what, line in zip(("printed", "read back"), first, strict=True)
            ]
            raise NncError(f"the {form} form reads back as something else", module.loc, notes)
