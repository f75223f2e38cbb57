"""The ids of threads: in the group, in the grid of groups, in the subgroup.

A launch runs a grid of groups (upstream: blocks) of threads, both of up to three dimensions; the
threads of a group are numbered along x first. A subgroup (a warp) consists of consecutive threads
of a group that run together.
"""

from __future__ import annotations

from ...ir.declare import INDEX
from ..vocabulary import *
from .attributes import AXES, DIMENSION


class _AlongAxis(Op):
    """A number of threads or groups along an axis."""

    dimension: str = attribute(DIMENSION)  # type: ignore[assignment]
    upper_bound: Any = attribute(INDEX, optional=True)
    out: Result = result(Index)

    format = "` ` $dimension (`upper_bound` $upper_bound^)? attr-dict"

    def result_names(self) -> list[str]:
        """Upstream's name of the result: `thread_id_x`."""
        return [f"{self.name.removeprefix('gpu.')}_{self.dimension}"]

    @property
    def axis(self) -> int:
        """0 for x, 1 for y, 2 for z."""
        return AXES.index(self.dimension)


class ThreadId(_AlongAxis, name="gpu.thread_id", traits=(Pure,)):
    """The thread's index in its group along an axis."""

    example = "%i = gpu.thread_id  x"

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        return [frame.thread.place[self.axis]]


class BlockId(_AlongAxis, name="gpu.block_id", traits=(Pure,)):
    """The group's index in the grid along an axis."""

    example = "%i = gpu.block_id  y"

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        return [frame.thread.group.place[self.axis]]


class BlockDim(_AlongAxis, name="gpu.block_dim", traits=(Pure,)):
    """How many threads a group has along an axis."""

    example = "%n = gpu.block_dim  x"

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        return [frame.thread.group.threads[self.axis]]


class GridDim(_AlongAxis, name="gpu.grid_dim", traits=(Pure,)):
    """How many groups the grid has along an axis."""

    example = "%n = gpu.grid_dim  x"

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        return [frame.thread.group.groups[self.axis]]


class GlobalId(_AlongAxis, name="gpu.global_id", traits=(Pure,)):
    """The thread's index among all threads of the launch along an axis."""

    example = "%i = gpu.global_id  x"

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        thread, axis = frame.thread, self.axis
        return [thread.group.place[axis] * thread.group.threads[axis] + thread.place[axis]]


class LaneId(Op, name="gpu.lane_id", traits=(Pure,)):
    """The thread's index in its subgroup."""

    upper_bound: Any = attribute(INDEX, optional=True)
    out: Result = result(Index)

    format = "(`upper_bound` $upper_bound^)? attr-dict"
    example = "%i = gpu.lane_id upper_bound 32"

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        return [frame.thread.lane]


class _OfSubgroups(Op):
    """Base of the ops that give the index of the thread's subgroup or the number of subgroups."""

    upper_bound: Any = attribute(INDEX, optional=True)
    out: Result = result(Index)

    format = "(`upper_bound` $upper_bound^)? attr-dict `:` type($out)"


class SubgroupId(_OfSubgroups, name="gpu.subgroup_id", traits=(Pure,)):
    """Which subgroup of its group the thread belongs to."""

    example = "%i = gpu.subgroup_id : index"

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        return [frame.thread.subgroup]


class NumSubgroups(_OfSubgroups, name="gpu.num_subgroups", traits=(Pure,)):
    """How many subgroups the group has."""

    example = "%n = gpu.num_subgroups : index"

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        group = frame.thread.group
        return [-(-group.size // group.subgroup_size)]


class SubgroupSize(_OfSubgroups, name="gpu.subgroup_size", traits=(Pure,)):
    """How many threads a subgroup has."""

    example = "%n = gpu.subgroup_size : index"

    def interpret(self, operands: list[Any], frame: Any) -> list[Any]:
        return [frame.thread.group.subgroup_size]
