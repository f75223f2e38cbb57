"""Device kernels in which each thread runs the same loop, in a program that launches them once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...targets.groups import GroupMachine


@dataclass(frozen=True)
class Text:
    """A program with one input of floats, as IR text."""

    ir: str
    floats: int

    @property
    def bytes(self) -> int:
        """The size of the input in bytes."""
        return 4 * self.floats

    @property
    def dtype(self) -> np.dtype:
        return np.dtype("f4")

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.floats,)

    def text(self) -> str:
        return self.ir


GLOBAL, WORKGROUP = "#gpu.address_space<global>", "#gpu.address_space<workgroup>"
LANES = 4
"""The floats that a thread moves at once."""

_KERNEL = """
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @f(%x: {held}, %y: {made}) {buffers} kernel attributes {{
        known_block_size = array<i32: {threads}, 1, 1>, nn.kernel, nn.threads = {threads} : i64}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %lanes = arith.constant {lanes} : index
      %often = arith.constant {often} : index
      %last = arith.constant {last} : index
      %whole = arith.constant {whole} : index
      %together = arith.constant {together} : index
      %apart = arith.constant {apart} : index
      %step = arith.constant {step} : index
      %thread = gpu.thread_id x
      %group = gpu.block_id x
      %size = gpu.block_dim x
      %before = arith.muli %group, %size : index
      %number = arith.addi %before, %thread : index
      %place = arith.muli %number, %lanes : index
      %begin = arith.muli %{who}, %apart : index
      %first = vector.load %x[%c0] : {held}, {vector}
{body}
      vector.store %sum, %y[%place] : {made}, {vector}
      gpu.return
    }}
  }}
  func.func @main(%a: {given}, %b: {result}) attributes {{
      nn.entry, nn.input_names = ["x"], nn.output_names = ["y"],
      nn.inputs = [tensor<{copied}xf32>], nn.outputs = [tensor<{lanes}xf32>]}} {{
    %c1 = arith.constant 1 : index
    %groups = arith.constant {groups} : index
    %threads = arith.constant {threads} : index
    %x = memref.alloc() : {held}
    %y = memref.alloc() : {made}
    %head = memref.reinterpret_cast %x to offset: [0], sizes: [{copied}], strides: [1]
        : {held} to {head}
    gpu.memcpy %head, %a : {head}, {given}
    gpu.launch_func @kernels::@f blocks in (%groups, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%x : {held}, %y : {made})
    %one = memref.reinterpret_cast %y to offset: [0], sizes: [{lanes}], strides: [1]
        : {made} to {tail}
    gpu.memcpy %b, %one : {result}, {tail}
    return
  }}
}}
"""


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A launch of groups whose threads each compute `%sum` and store it.

    `floats` are in the device's memory; the first `copied` of them come from the input.
    """

    body: str
    groups: int
    threads: int
    often: int = 1
    floats: int = 1024
    copied: int = 1024
    shared: int = 0
    """The floats of workgroup memory, `%shared`."""
    apart: int = LANES
    """The distance between the first reads of neighbouring threads. Units: floats."""
    step: int = LANES
    """The distance between a thread's reads in consecutive passes. Units: floats."""

    def text(self) -> Text:
        def memory(floats: int, space: str = GLOBAL) -> str:
            return f"memref<{floats}xf32{f', {space}' if space else ''}>"

        held, made = memory(self.floats), memory(self.groups * self.threads * LANES)
        staged = memory(self.shared, WORKGROUP)
        names = {"held": held, "vector": f"vector<{LANES}xf32>", "staged": staged}
        return Text(
            _KERNEL.format(
                **names,
                made=made,
                buffers=f"workgroup(%shared : {staged})" if self.shared else "",
                threads=self.threads,
                groups=self.groups,
                lanes=LANES,
                often=self.often,
                last=self.threads - 1,
                whole=self.shared,
                together=LANES * self.threads,
                apart=self.apart,
                step=self.step,
                who="thread" if self.shared else "number",
                copied=self.copied,
                given=memory(self.copied, ""),
                head=memory(self.copied),
                result=memory(LANES, ""),
                tail=memory(LANES),
                body=self.body.format(**names),
            ),
            self.copied,
        )


NOTHING = "      %sum = arith.addf %first, %first : {vector}"
"""The body of a thread that does nothing but start."""

_LOOP = """\
      %sum = scf.for %i = %c0 to %often step %c1 iter_args(%u = %first) -> ({vector}) {{
BODY
        scf.yield %z : {vector}
      }}"""

_MEETING = _LOOP.replace(
    "BODY",
    """\
        %own = arith.muli %thread, %lanes : index
        vector.store %u, %shared[%own] : {staged}, {vector}
        gpu.barrier
        %other = arith.subi %last, %thread : index
        %at = arith.muli %other, %lanes : index
        %v = vector.load %shared[%at] : {staged}, {vector}
        gpu.barrier
        %z = arith.addf %u, %v : {vector}""",
)
"""The body of threads that exchange vectors, with two barriers each time."""

_FILLING = """\
      %inside = arith.muli %thread, %lanes : index
      scf.for %w = %inside to %whole step %together {{
        vector.store %first, %shared[%w] : {staged}, {vector}
      }}
      gpu.barrier
"""
"""Code that writes all of the workgroup memory."""

AT_ONCE = 8
"""The vectors that a thread reads in one pass of its loop, each added to its own sum."""


def _reading(buffer: str, type: str, floats: int) -> str:
    """A thread's sum of vectors, read cyclically from a buffer of a power of two of floats."""
    each = range(AT_ONCE)
    given = ", ".join(f"%u{i} = %first" for i in each)
    types = ", ".join(["{vector}"] * AT_ONCE)
    lines = [
        f"      %mask = arith.constant {floats - 1} : index",
        f"      %stride = arith.constant {AT_ONCE} : index",
        f"      %z:{AT_ONCE} = scf.for %i = %c0 to %often step %c1",
        f"          iter_args({given}) -> ({types}) {{{{",
        "        %pass = arith.muli %i, %stride : index",
    ]
    for i in each:
        lines += [
            f"        %o{i} = arith.constant {i} : index",
            f"        %n{i} = arith.addi %pass, %o{i} : index",
            f"        %f{i} = arith.muli %n{i}, %step : index",
            f"        %g{i} = arith.addi %begin, %f{i} : index",
            f"        %h{i} = arith.andi %g{i}, %mask : index",
            f"        %v{i} = vector.load {buffer}[%h{i}] : {type}, {{vector}}",
            f"        %w{i} = arith.addf %u{i}, %v{i} : {{vector}}",
        ]
    lines += [f"        scf.yield {', '.join(f'%w{i}' for i in each)} : {types}", "      }}"]
    for i in each[1:]:
        known, made = f"%s{i - 1}" if i > 1 else "%z#0", f"%s{i}" if i + 1 < AT_ONCE else "%sum"
        lines.append(f"      {made} = arith.addf {known}, %z#{i} : {{vector}}")
    return "\n".join(lines)


FEW, MANY = 16, 1024
"""The groups of a launch for each core."""
MEETINGS = 16, 64
"""How many times the threads of a group meet at a barrier."""
THREADS = 16
"""The threads of a group."""
STAGED = 2048
"""The floats of workgroup memory that are read repeatedly."""
PASSES = 32, 128
"""The passes of a loop that reads nearby memory."""
FAR_FLOATS = 8 << 20
"""The floats in the device's memory: more than its caches hold."""


@dataclass(frozen=True)
class Pair:
    """Two kernels that differ in the amount of work by a known count."""

    less: Kernel
    more: Kernel
    difference: float


def pairs(machine: GroupMachine) -> dict[str, Pair]:
    """Pairs of kernels by the number they measure: groups and barriers of a core, and bytes that
    all cores read from each memory.
    """
    threads, cores = min(THREADS, machine.group_threads), machine.cores
    groups = 4 * cores
    beside = threads * LANES
    side_by_side = machine.together > 1  # else each thread reads what lies behind one another

    def reader(floats: int, passes: tuple[int, int], bytes: float) -> Pair:
        own = AT_ONCE * LANES * passes[1]
        one = Kernel(
            body=_reading("%x", "{held}", floats),
            groups=groups,
            threads=threads,
            floats=floats,
            copied=floats,
            apart=LANES if side_by_side else own,
            step=beside * groups if side_by_side else LANES,
        )
        return _pair(one, passes, bytes)

    empty = Kernel(body=NOTHING, groups=FEW * cores, threads=1)
    meeting = Kernel(body=_MEETING, groups=groups, threads=threads, shared=beside)
    staged = Kernel(
        body=_FILLING + _reading("%shared", "{staged}", STAGED),
        groups=groups,
        threads=threads,
        shared=STAGED,
        apart=LANES if side_by_side else STAGED // threads,
        step=beside if side_by_side else LANES,
    )
    bytes = 4 * AT_ONCE * beside * groups * (PASSES[1] - PASSES[0])
    whole = FAR_FLOATS // (AT_ONCE * beside * groups)
    return {
        "groups": Pair(empty, replace(empty, groups=MANY * cores), MANY - FEW),
        "barriers": _pair(meeting, MEETINGS, 2 * groups / cores * (MEETINGS[1] - MEETINGS[0])),
        "workgroup": _pair(staged, PASSES, bytes),
        "cache": reader(_floats(machine.cache_bytes / 2), PASSES, bytes),
        "l2": reader(_floats(machine.l2_bytes / 2), PASSES, bytes),
        "memory": reader(FAR_FLOATS, (whole // 4, whole), 3 * FAR_FLOATS),
    }


def _pair(kernel: Kernel, often: tuple[int, int], difference: float) -> Pair:
    less, more = (replace(kernel, often=one) for one in often)
    return Pair(less, more, difference)


def _floats(bytes: float) -> int:
    """The largest power of two of floats that fits in `bytes` bytes."""
    return 1 << max(10, (int(bytes) // 4).bit_length() - 1)
