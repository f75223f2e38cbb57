"""The sliding window of convolutions and poolings: kernel, strides, dilations, padding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...ir.types import Dim
from ..vocabulary import *
from .base import check_length, numbers


@dataclass(frozen=True)
class Window:
    """The sliding window of an op; each field has a number for each spatial dimension.

    `begin` and `end` are the padding before and after.
    """

    kernel: tuple[Dim, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begin: tuple[int, ...]
    end: tuple[int, ...]

    @staticmethod
    def of(attrs: Any, x: TensorType, kernel: Sequence[Dim]) -> Window:
        """The window of an op's attributes, with defaults filled in. Raises NncError if invalid."""
        spatial = x.rank - 2
        check_length(kernel, spatial, "kernel")
        strides = numbers(attrs.strides, spatial, 1, "strides")
        dilations = numbers(attrs.dilations, spatial, 1, "dilations")
        pads = numbers(attrs.pads, 2 * spatial, 0, "pads")
        if min((*strides, *dilations), default=1) < 1:
            raise NncError("strides and dilations must be positive")
        return Window(tuple(kernel), strides, dilations, pads[:spatial], pads[spatial:])

    @property
    def has_padding(self) -> bool:
        return any(self.begin) or any(self.end)

    def padded_shape(self, spatial: Sequence[Dim]) -> tuple[Any, ...]:
        """The spatial extents after padding."""
        return tuple(
            None if d is None else d + b + e
            for d, b, e in zip(spatial, self.begin, self.end, strict=True)
        )

    def counts(self, padded: Sequence[Dim]) -> tuple[Any, ...]:
        """The number of windows along each dimension of the padded extents.

        It is 0 where an extent is too short by less than a stride. Raises NncError if it is
        shorter.
        """
        found = tuple(
            None if d is None else (d - self.reach(i)) // self.strides[i] + 1
            for i, d in enumerate(padded)
        )
        if any(count is not None and count < 0 for count in found):
            raise NncError("the window does not fit into the padded input")
        return found

    def reach(self, axis: int) -> int:
        """How many elements the dilated kernel extends over: (kernel - 1) * dilation + 1."""
        extent = self.kernel[axis]
        assert extent is not None
        return (extent - 1) * self.dilations[axis] + 1

    def rounds_up_alike(self, axis: int) -> bool:
        """Whether a last window, added by rounding up, never starts in the padding at the end."""
        return self.end[axis] + self.strides[axis] <= self.reach(axis)

    def ceil_padding(self, spatial: Sequence[Dim]) -> tuple[int, ...]:
        """How much to add to `end` so that rounding down gives as many windows as `ceil_mode`.

        A last window that would start in the padding at the end is left out. For an unknown extent
        it is the most that may be needed, which is right if it `rounds_up_alike`. Source: ONNX
        MaxPool-22, `ceil_mode`.
        """
        more = []
        for i, extent in enumerate(spatial):
            if extent is None:
                more.append(self.strides[i] - 1)
                continue
            span = extent + self.begin[i] + self.end[i] - self.reach(i)
            count = -(-span // self.strides[i]) + 1
            if (count - 1) * self.strides[i] >= extent + self.begin[i]:
                count -= 1
            more.append(max(0, (count - 1) * self.strides[i] - span))
        return tuple(more)


@dataclass(frozen=True)
class Run:
    """Consecutive results along one dimension to which the same taps (kernel elements) contribute.

    These are `count` results from `start` on, and `taps` taps from `tap` on. For the first result,
    the first of these taps meets element `first` of the operand.
    """

    start: int
    count: int
    tap: int
    taps: int
    first: int


def runs(
    extent: int, kernel: int, stride: int, dilation: int, begin: int, out: int
) -> Iterator[Run]:
    """Divide the results along a dimension into runs with the same taps inside of the operand.

    The other taps fall on the padding. All numbers are those of one dimension; `out` is the number
    of results. The time depends on the number of runs, not of results.
    """
    start, last = 0, (0, 0)
    at = 0

    def run() -> Run:
        tap, taps = last
        return Run(start, at - start, tap, taps, start * stride - begin + tap * dilation)

    while at < out:
        origin = at * stride - begin
        tap = max(0, -(origin // dilation))
        end = min(kernel, (extent - 1 - origin) // dilation + 1)
        found = (tap, end - tap) if tap < end else (0, 0)
        if found != last:
            if at > start:
                yield run()
            start, last = at, found
        # How far it is until a tap leaves the padding at the begin, or comes to that at the end.
        entering = min(tap, kernel) - 1
        steps = [-origin - entering * dilation] if entering >= 0 else []
        steps += [extent - origin - (end - 1) * dilation] if tap < end else []
        at = min(out, at + -(-min(steps) // stride)) if steps else out
    if at > start:
        yield run()
