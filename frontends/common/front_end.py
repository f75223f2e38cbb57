"""What a format provides: models imported as modules, and reports on their contents."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ...ir.core import Operation
from ...ir.diagnostics import NncError
from .graph import Graph, Node
from .importer import Importer, NodeLayer
from .inputs import InputChoices
from .rows import Rows
from .source import Source
from .words import *

Progress = Callable[[str], None]
Shapes = Mapping[str, Sequence[int | None]]


@dataclass(frozen=True)
class OperatorUse:
    """An operator of a model: how many nodes use it, and how many of these cannot be imported."""

    domain: str
    name: str
    count: int
    unsupported: int


@dataclass(frozen=True)
class Examination:
    """A model's operators, the most used first, and what keeps the model from being imported.

    `unexamined` is the number of nodes that depend on something unsupported. `module` is None if
    anything is wrong. `producer` is the tool that wrote the model; `notes` is what the model says
    of itself. `warnings` say where other runtimes are known to compute something else.
    """

    operators: tuple[OperatorUse, ...]
    faults: tuple[str, ...]
    unexamined: int
    module: Operation | None
    producer: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class FrontEnd:
    """A format whose models are graphs of nodes: `read` parses one, `rows` has its operators."""

    def __init__(
        self,
        name: str,
        read: Callable[[Source], Graph],
        rows: Rows,
        layer: Callable[[Any, Node], NodeLayer] = NodeLayer,
        files: Callable[[Path], Sequence[Path]] | None = None,
    ) -> None:
        self.name = name
        self.read = read
        self.rows = rows
        self.layer = layer
        self.files = files or (lambda path: [path])
        """A function from a model's path to the paths of all its files, for the cache."""

    def import_model(
        self,
        source: Source,
        *,
        shapes: Shapes | None = None,
        dims: Mapping[str, int] | None = None,
        constants: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> Operation:
        """The module of a model, on the `nn` level; not verified. Raises NncError."""
        graph = self._read(source)
        if progress is not None:
            progress(f"import {source.name}: {self.name}, {len(graph.nodes)} layers")
        importer = Importer(graph, self.rows, source.loc, self.layer)
        return importer.run(InputChoices.of(shapes, dims, constants))

    def examine_model(
        self,
        source: Source,
        *,
        shapes: Shapes | None = None,
        constants: Mapping[str, Any] | None = None,
    ) -> Examination:
        """The operators of a model, and what keeps it from being imported.

        Raises:
            NncError: it is no valid model, or the given shapes or values do not fit its inputs.
        """
        graph = self._read(source)
        importer = Importer(graph, self.rows, source.loc, self.layer)
        faults, module = importer.faults(), None
        lacking = {kind for kind in importer.operators() if self.rows.find(kind) is None}
        if not faults:
            try:
                module = importer.run(InputChoices.of(shapes, None, constants))
                module.verify()
            except NncError as error:
                if not error.message.startswith("layer "):
                    raise
                faults, module = [error.message], None
        uses = [
            OperatorUse("", kind, count, count if kind in lacking else 0)
            for kind, count in importer.operators().most_common()
        ]
        producer = ", ".join(word for word in (self.name, graph.producer) if word)
        return Examination(
            tuple(uses), tuple(faults), 0, module, producer, graph.notes, tuple(importer.warnings)
        )

    def needs_other_files(self, path: Path) -> bool:
        """Whether a model needs more files than those that `files` finds."""
        return False

    def _read(self, source: Source) -> Graph:
        try:
            return self.read(source)
        except RecursionError:
            raise source.error("it is nested too deeply") from None
        except MemoryError:
            raise source.error("it needs more memory than there is") from None
