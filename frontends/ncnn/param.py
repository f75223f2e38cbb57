"""ncnn's `.param`: layers with numbered parameters, as text or binary.

    7767517
    2 2
    Input        data   0 1 data 0=224 1=224 2=3
    Convolution  conv1  1 1 data conv1 0=64 1=7 -23310=1,0.1

Source: https://github.com/Tencent/ncnn/wiki/param-and-model-file-structure
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...ir.location import FileLineColLoc, Location
from ..common.source import Source

MAGIC = 7767517
MOST_PARAMETERS = 128

_KINDS = """
AbsVal ArgMax BatchNorm Bias BNLL Concat Convolution Crop Deconvolution Dropout Eltwise ELU Embed
Exp Flatten InnerProduct Input Log LRN MemoryData MVN Pooling Power PReLU Proposal Reduction ReLU
Reshape ROIPooling Scale Sigmoid Slice Softmax Split SPP TanH Threshold Tile RNN LSTM BinaryOp
UnaryOp ConvolutionDepthWise Padding Squeeze ExpandDims Normalize Permute PriorBox DetectionOutput
Interp DeconvolutionDepthWise ShuffleChannel InstanceNorm Clip Reorg YoloDetectionOutput Quantize
Dequantize Yolov3DetectionOutput PSROIPooling ROIAlign Packing Requantize Cast HardSigmoid SELU
HardSwish Noop PixelShuffle DeepCopy Mish StatisticsPooling Swish Gemm GroupNorm LayerNorm Softplus
GRU MultiHeadAttention GELU Convolution1D Pooling1D ConvolutionDepthWise1D Convolution3D
ConvolutionDepthWise3D Pooling3D MatMul Deconvolution1D DeconvolutionDepthWise1D Deconvolution3D
DeconvolutionDepthWise3D Einsum DeformableConv2D GLU Fold Unfold GridSample CumulativeSum CopyTo
Erf Diag CELU Shrink RMSNorm Spectrogram InverseSpectrogram Flip SDPA RotaryEmbed
"""
KINDS: Sequence[str] = tuple(_KINDS.split())
"""The kinds of layers in the order in which ncnn got them: the binary form has their numbers."""


class Bits(int):
    """A 32-bit number of the binary form, which does not tell integers from floats."""

    @property
    def as_float(self) -> float:
        return float(np.array([self & 0xFFFFFFFF], np.uint32).view(np.float32)[0])


@dataclass
class Parameters:
    """The parameters of a layer by number: an integer, a float, text or a list."""

    found: Mapping[int, Any] = field(default_factory=dict)

    def int(self, number: int, default: int = 0) -> int:
        value = self.found.get(number, default)
        if isinstance(value, list):
            value = value[0] if value else default
        return int(value) if isinstance(value, int | float) else default

    def float(self, number: int, default: float = 0.0) -> float:
        value = self.found.get(number, default)
        if isinstance(value, list):
            value = value[0] if value else default
        return _float(value) if isinstance(value, int | float) else default

    def ints(self, number: int) -> list[int]:
        value = self.found.get(number, [])
        value = value if isinstance(value, list) else [value]
        return [int(v) for v in value if isinstance(v, int | float)]

    def floats(self, number: int) -> list[float]:
        value = self.found.get(number, [])
        value = value if isinstance(value, list) else [value]
        return [_float(v) for v in value if isinstance(v, int | float)]

    def text(self, number: int) -> str:
        value = self.found.get(number, "")
        return value if isinstance(value, str) else ""


def _float(value: Any) -> float:
    return value.as_float if isinstance(value, Bits) else float(value)


@dataclass
class Entry:
    """One layer of the file."""

    kind: str
    name: str
    inputs: Sequence[str]
    outputs: Sequence[str]
    parameters: Parameters
    line: int = 0


def read_param(source: Source) -> list[Entry]:
    """The layers of a text or binary file. Raises NncError."""
    if source.data[:4].tobytes() == MAGIC.to_bytes(4, "little"):
        return _Binary(source).entries()
    return _read_text(source)


def _read_text(source: Source) -> list[Entry]:
    lines = source.text.splitlines()
    if not lines or lines[0].strip() != str(MAGIC):
        raise source.error(f"the first line is not {MAGIC}, as ncnn's are today; convert it anew")
    if any(line.startswith("pnnx.Input") for line in lines[2:]):
        raise source.error("pnnx's own form of the model; take the .ncnn.param written beside it")
    entries = []
    for number, line in enumerate(lines[2:], 3):
        words = line.split()
        if not words:
            continue
        try:
            entries.append(_entry(words, number))
        except (ValueError, IndexError) as error:
            raise _at(source, number, f"no layer of ncnn: {error}") from None
    counts = "".join(lines[1:2])
    if len(words := counts.split()) != 2 or words[0] != str(len(entries)):
        raise _at(source, 2, f"it says {counts.strip()!r}, but {len(entries)} layers follow")
    return entries


def _at(source: Source, line: int, message: str) -> Exception:
    found = source.error(message)
    loc: Location = FileLineColLoc(source.name, line, 1)
    return type(found)(message, loc)


def _entry(words: list[str], line: int) -> Entry:
    inputs, outputs = int(words[2]), int(words[3])
    if min(inputs, outputs) < 0 or 4 + inputs + outputs > len(words):
        raise ValueError(f"{inputs} inputs and {outputs} outputs, but fewer names")
    ends = 4 + inputs + outputs
    found: dict[int, Any] = {}
    for word in _rejoined(words[ends:]):
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"{word!r}, expected number=value")
        number = int(key)
        is_counted = number <= -23300
        number = -number - 23300 if is_counted else number
        if not 0 <= number < MOST_PARAMETERS:
            raise ValueError(f"parameter {key}")
        found[number] = _value(value, is_counted)
    names = words[4 : 4 + inputs], words[4 + inputs : ends]
    return Entry(words[0], words[1], names[0], names[1], Parameters(found), line)


def _rejoined(words: list[str]) -> list[str]:
    """The words, with text in quotes that contains spaces joined to one word."""
    found: list[str] = []
    for word in words:
        if found and found[-1].count('"') == 1:
            found[-1] += " " + word
        else:
            found.append(word)
    return found


def _value(text: str, is_counted: bool) -> Any:
    if text[:1] == '"' or text[:1].isalpha():
        return text.strip('"')
    parts = [p for p in text.split(",") if p]
    if parts and not _is_number(parts[0]):
        return text
    numbers = [float(p) if any(c in p for c in ".eEni") else int(p) for p in parts]
    if is_counted:
        return numbers[1 : 1 + int(numbers[0])]
    return numbers if "," in text else numbers[0]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class _Binary:
    """The binary form: 32-bit numbers; layers and blobs have no names."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.words = source.data[: source.data.size // 4 * 4].view("<i4")
        self.at = 1

    def next(self) -> int:
        if self.at >= self.words.size:
            raise self.source.error("the file ends inside of a layer")
        self.at += 1
        return int(self.words[self.at - 1])

    def run(self, count: int) -> list[int]:
        if not 0 <= count <= self.words.size - self.at:
            raise self.source.error("the file ends inside of a layer")
        self.at += count
        return self.words[self.at - count : self.at].tolist()

    def entries(self) -> list[Entry]:
        count, _ = self.next(), self.next()
        if not 0 < count <= self.words.size:
            raise self.source.error(f"{count} layers in {self.words.size} numbers")
        return [self.entry(i) for i in range(count)]

    def entry(self, i: int) -> Entry:
        kind, inputs, outputs = self.next(), self.next(), self.next()
        if not 0 <= kind < len(KINDS):
            raise self.source.error(f"layer {i} is of the unknown kind {kind}")
        names = [[f"blob{b}" for b in self.run(n)] for n in (inputs, outputs)]
        found: dict[int, Any] = {}
        while (key := self.next()) != -233:
            if key <= -23400:
                found[-key - 23400] = self.string(self.next())
            elif key <= -23300:
                found[-key - 23300] = [Bits(w) for w in self.run(self.next())]
            else:
                found[key] = Bits(self.next())
        return Entry(KINDS[kind], f"layer{i}", names[0], names[1], Parameters(found))

    def string(self, length: int) -> str:
        words = self.run(-(-length // 4))
        return np.array(words, "<i4").tobytes()[:length].decode("ascii", "replace")
