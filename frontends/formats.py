"""The formats that models are read from: how each is found by what is in it, and its room.

A room is a folder with a `FRONT_END`; it is loaded when a model of its format is met.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .common.source import Source
from .protobuf_files import is_caffe, is_caffe2, is_coreml

if TYPE_CHECKING:
    from ..ir.core import Operation
    from .common.front_end import Examination, FrontEnd


@dataclass(frozen=True)
class Format:
    """A format: what messages call it, its room, and whether a source looks like one."""

    name: str
    room: str
    is_it: Callable[[Source], bool]

    @property
    def front_end(self) -> FrontEnd:
        """Loaded where it is not yet."""
        return import_module(f".{self.room}", __package__).FRONT_END


def _is_ncnn(source: Source) -> bool:
    """A `.param` begins with a number, as text or as four bytes."""
    return source.head.startswith((b"7767517", b"\xdd\x85\x76\x00"))


def _is_darknet(source: Source) -> bool:
    """Sections as text, of which the first one is of the net."""
    lines = source.head.decode("latin1").splitlines()
    words = (line.strip() for line in lines)
    first = next((word for word in words if word and word[0] not in "#;"), "")
    return first in ("[net]", "[network]")


def _is_paddle(source: Source) -> bool:
    """A program as JSON, or one that begins with its main block, which has no parent."""
    head = source.head
    if head[:1] == b"{":
        return b'"magic":"pir"' in head.replace(b" ", b"")
    return head[:1] == b"\n" and b"\x08\x00\x10\xff\xff\xff\xff" in head[1:16]


FORMATS: Sequence[Format] = (
    Format("ncnn", "ncnn", _is_ncnn),
    Format("Darknet", "darknet", _is_darknet),
    Format("PaddlePaddle", "paddle", _is_paddle),
    Format("CoreML", "coreml", is_coreml),
    Format("Caffe", "caffe", is_caffe),
    Format("Caffe2", "caffe2", is_caffe2),
    Format("ONNX", "onnx", lambda source: True),  # the last one: it says what a file is instead
)


def find_format(source: Source) -> Format:
    """The format that a model is in."""
    return next(one for one in FORMATS if one.is_it(source))


def import_model(given: Any, **choices: Any) -> Operation:
    """The module of a model in any format; the choices are those of `FrontEnd.import_model`.

    `given` is a path, the bytes of a file, or an object of a framework. Raises NncError.
    """
    source = Source(given)
    return find_format(source).front_end.import_model(source, **choices)


def examine_model(given: Any, **choices: Mapping[str, Any]) -> Examination:
    """What is in a model of any format. Raises NncError where it is no valid one."""
    source = Source(given)
    return find_format(source).front_end.examine_model(source, **choices)


def model_files(path: str | Path) -> Sequence[Path]:
    """The files that a model is read from, as far as its path tells them."""
    return find_format(Source(path)).front_end.files(Path(path))


def needs_other_files(path: str | Path) -> bool:
    """Whether only the import tells all the files of a model."""
    return find_format(Source(path)).front_end.needs_other_files(Path(path))
