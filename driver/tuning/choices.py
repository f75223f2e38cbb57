"""Choices on the graph that `nnc tune` has found: a file of text for each.

    module attributes {nnc.choice = {kind = "algorithm", taken = "winograd 2x2", default = "direct",
                                     operation = "nn.blocked_conv {..} : (..) -> (..)", ..}} {
    }

`operation` says what the choice is for, whatever the model: its name, attributes and types. `taken`
can be edited to any alternative that `nnc why` names; if that is not legal, a message says so, and
the default is taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ...dialects.builtin import ModuleOp
from ...ir.attributes import DictAttr, FloatAttr, StringAttr
from ...ir.decisions import Decisions, choice_key
from ...ir.diagnostics import NncError
from ...ir.files import read_text, write_whole
from ...ir.syntax.parser import parse_module
from ...ir.types import f64
from ...kernels.tuned import TunedFolder

CHOICE = "nnc.choice"
"""The attribute of a module that holds the choice for an operation, and its measurements."""

_TEXTS = ("kind", "taken", "default", "operation", "machine", "version")
_NUMBERS = ("gain", "spread")


@dataclass(frozen=True)
class TunedChoice:
    """What to choose for an operation of a graph instead of the default, and the gain.

    `gain` is the saved part of the model's time, `spread` its uncertainty; `machine` is the target
    that it was measured on.
    """

    kind: str
    operation: str
    taken: str
    default: str = ""
    gain: float = 0.0
    spread: float = 0.0
    machine: str = ""
    version: str = ""

    @property
    def key(self) -> str:
        """The key of the decisions that the choice applies to."""
        return choice_key(self.kind, self.operation)

    @property
    def file_name(self) -> str:
        """The name of its file, which is distinct for each choice and machine."""
        machine = sha256(self.machine.encode()).hexdigest()
        kind = "".join(c if c.isascii() and c.isalnum() else "_" for c in self.kind[:30])
        return f"{kind}-{self.key[:12]}-{machine[:6]}.choice.mlir"

    def content(self) -> str:
        """The text of its file."""
        texts = [(name, StringAttr(getattr(self, name))) for name in _TEXTS]
        numbers = [(name, FloatAttr(round(getattr(self, name), 5), f64)) for name in _NUMBERS]
        module = ModuleOp.of([])
        module.attributes[CHOICE] = DictAttr((*texts, *numbers))
        about = (
            f"// Written by nnc tune {self.version}: it saves {self.gain:.1%} of the model's time, "
            f"+- {self.spread:.1%}.\n// Used by --tuned; it may be edited.\n"
        )
        return f"{about}{module}\n"

    def write(self, folder: Path) -> Path:
        """Write its file, whole, and return its path. Raises NncError."""
        path = folder / self.file_name
        write_whole(path, self.content())
        return path

    @staticmethod
    def read(path: Path) -> TunedChoice:
        """The choice in a file. Raises NncError with file and location if the file is invalid."""
        return TunedChoice.parse(read_text(path), str(path))

    @staticmethod
    def parse(text: str, name: str) -> TunedChoice:
        """The choice in the text of a file. Raises NncError like `read`."""
        module = parse_module(text, name)
        module.verify()
        about = module.attributes.get(CHOICE)
        if not isinstance(about, DictAttr) or len(list(module.body_block)):
            raise module.error(
                f"is not a choice of nnc tune: an empty module with '{CHOICE}' is one"
            )
        given = dict(about.items())
        wrong = [n for n in _TEXTS if not isinstance(given.get(n), StringAttr)]
        wrong += [n for n in _NUMBERS if not isinstance(given.get(n), FloatAttr)]
        if wrong:
            raise module.error(f"'{CHOICE}' has no '{wrong[0]}', or not of its type")
        values = {name: given[name].value for name in (*_TEXTS, *_NUMBERS)}  # type: ignore[attr-defined]
        return TunedChoice(**values)

    def __str__(self) -> str:
        return f"{self.kind} '{self.taken}' for '{self.default}' of {self.operation}"


def read_choices(folder: TunedFolder) -> list[TunedChoice]:
    """All choices in a folder, for any machine. Raises NncError if one is damaged."""
    found: dict[tuple[str, str], TunedChoice] = {}
    for path in folder.choice_files():
        one = TunedChoice.read(path)
        if (one.key, one.machine) in found:
            raise NncError(f"{path}: the folder has another choice of its operation and machine")
        found[one.key, one.machine] = one
    return list(found.values())


def for_machine(
    choices: Iterable[TunedChoice], machine: str, anywhere: bool = False
) -> list[TunedChoice]:
    """The choices that apply to a machine: its own, and with `anywhere` those of other machines."""
    found = {one.key: one for one in choices if anywhere}
    found.update({one.key: one for one in choices if one.machine == machine})
    return list(found.values())


def tell(decisions: Decisions, folder: TunedFolder, machine: str) -> None:
    """Preset decisions from a folder; those already preset stay. Raises NncError."""
    found = for_machine(read_choices(folder), machine, folder.anywhere)
    if found:
        decisions.told = {**{one.key: one.taken for one in found}, **decisions.told}
        decisions.told_by = "tuned"
