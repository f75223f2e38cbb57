"""Makes the IR text of experiments: a loop that carries some values, run for several passes.

The text is compiled as it stands, without a choice of schedules. It is a function of one input and
one output. `%x` is the input, `%y` the output, `%i` the index in the input, `%a0 ..` are the
carried values, `%n0 ..` their next values, `%init` is the beginning of the input.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...targets.processor import Processor

CYCLES = 300_000
"""The approximate cycles of a run: a tenth of a millisecond, so short that many runs are
undisturbed, and so long that the call, which is subtracted, is a percent or two."""

_ENTRY = """
func.func @main(%x: memref<{extent_of_x}x{element}>, %y: memref<{results}x{element}>) attributes {{
    nn.entry, nn.input_names = ["x"], nn.output_names = ["y"],
    nn.inputs = [tensor<{extent_of_x}x{element}>], nn.outputs = [tensor<{results}x{element}>]}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %step = arith.constant {step} : index
{extent}
  %zero = arith.constant {zero} : {element}
  %init = {first}
{before}
  {found} = scf.for %p = %c0 to %passes step %c1 iter_args({outer}) -> ({types}) {{
    {inner_found} = scf.for %i = %c0 to %end step %step iter_args({inner}) -> ({types}) {{
{body}
      scf.yield {yielded} : {types}
    }}
    scf.yield {inner_values} : {types}
  }}
{total}
  {last}
  return
}}
"""


_FIXED = """\
  %passes = arith.constant {passes} : index
  %end = arith.constant {end} : index"""

_OPEN = """\
  %total = arith.constant {total} : index
  %end = memref.dim %x, %c0 : memref<?x{element}>
  %whole = arith.divui %total, %end : index
  %passes = arith.maxui %whole, %c1 : index"""


@dataclass(frozen=True, kw_only=True)
class Loop:
    """Passes over the steps of a loop, each of which computes its rows.

    The input has `size` elements, of which the first `end` are traversed in steps; the output has
    `results` elements. Vectors have `lanes` elements; 0 means scalars. With `total`, the text takes
    inputs of any size and traverses them repeatedly until `total` elements are read.
    """

    rows: list[str]
    lanes: int
    size: int
    end: int
    step: int = 1
    passes: int = 1
    element: str = "f32"
    results: int = 0
    before: str = ""
    total: int = 0

    @property
    def carried(self) -> str:
        """The type of the carried values."""
        return vector_type(self.lanes, self.element)

    @property
    def outputs(self) -> int:
        return self.results or max(1, self.lanes)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype({"f32": "f4", "i32": "i4", "i64": "i8"}[self.element])

    @property
    def bytes(self) -> int:
        """The size of the input in bytes."""
        return self.size * self.dtype.itemsize

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.size,)

    @property
    def steps(self) -> int:
        """The number of loop iterations of one call."""
        passes = max(1, self.total // self.end) if self.total else self.passes
        return passes * -(-self.end // self.step)

    def text(self) -> str:
        """The function as IR text."""
        count, type = len(self.rows), self.carried
        add = "arith.addf" if self.element.startswith("f") else "arith.xori"
        many = f":{count}" if count > 1 else ""
        each = [f"#{i}" if many else "" for i in range(count)]
        before = [f"%r{each[0]}", *(f"%sum{i}" for i in range(1, count))]
        sums = [f"  %sum{i} = {add} {before[i - 1]}, %r{each[i]} : {type}" for i in range(1, count)]
        found = before[-1]
        extent = "?" if self.total else f"{self.size}"
        x, y = f"memref<{extent}x{self.element}>", f"memref<{self.outputs}x{self.element}>"
        if self.lanes:
            first = f"vector.transfer_read %x[%c0], %zero {{in_bounds = [true]}} : {x}, {type}"
            last = f"vector.transfer_write {found}, %y[%c0] {{in_bounds = [true]}} : {type}, {y}"
        else:
            first = f"memref.load %x[%c0] : {x}"
            last = f"memref.store {found}, %y[%c0] : {y}"
        return _ENTRY.format(
            extent_of_x=extent,
            element=self.element,
            results=self.outputs,
            step=self.step,
            extent=(_OPEN if self.total else _FIXED).format(**vars(self)),
            zero="0.0" if self.element.startswith("f") else "0",
            first=first,
            before=self.before,
            found=f"%r{many}",
            inner_found=f"%q{many}",
            inner_values=", ".join(f"%q{one}" for one in each),
            outer=", ".join(f"%o{i} = %init" for i in range(count)),
            inner=", ".join(f"%a{i} = %o{i}" for i in range(count)),
            types=", ".join([type] * count),
            body="\n".join(self.rows),
            yielded=", ".join(f"%n{i}" for i in range(count)),
            total="\n".join(sums),
            last=last,
        )


def vector_type(lanes: int, element: str) -> str:
    """A vector type of `lanes` elements, or the element type for 0 lanes."""
    return f"vector<{lanes}x{element}>" if lanes else element


def accumulators(machine: Processor) -> int:
    """The vectors that an arithmetic loop carries: enough to hide the latency of each."""
    return 12 if machine.vector_registers >= 16 else 6


def multiply_adds(machine: Processor, lanes: int, chains: int, steps: int) -> Loop:
    """Multiply-adds on registers only, in `chains` independent chains."""
    vector = vector_type(lanes, "f32")
    rows = []
    for i in range(chains):
        if machine.has_fma:
            rows.append(f"    %n{i} = vector.fma %a{i}, %init, %init : {vector}")
        else:
            rows.append(
                f"    %p{i} = arith.mulf %a{i}, %init : {vector}\n"
                f"    %n{i} = arith.addf %p{i}, %init : {vector}"
            )
    return Loop(rows=rows, lanes=lanes, size=lanes, end=steps)


READERS = 8
"""The vectors that one iteration of the reading loop loads."""


def reading(
    lanes: int, elements: int, passes: int, *, element: str = "f32", shift: int = 0
) -> Loop:
    """Sums (or xors) of a buffer's elements, in `passes` passes over it.

    Vectors start `shift` elements after their aligned positions.
    """
    vector, combine = vector_type(lanes, element), "addf" if element == "f32" else "xori"
    size = elements + (lanes if shift else 0)
    rows = [
        f"    %k{i} = arith.constant {i * lanes + shift} : index\n"
        f"    %j{i} = arith.addi %i, %k{i} : index\n"
        f"    %v{i} = vector.transfer_read %x[%j{i}], %zero {{in_bounds = [true]}}\n"
        f"        : memref<{size}x{element}>, {vector}\n"
        f"    %n{i} = arith.{combine} %a{i}, %v{i} : {vector}"
        for i in range(READERS)
    ]
    step = READERS * lanes
    return Loop(
        rows=rows, lanes=lanes, size=size, end=elements, step=step, passes=passes, element=element
    )


def reading_open(lanes: int, elements: int, total: int, ahead: int = 0) -> Loop:
    """Sums of a buffer of any size, over `total` elements in all.

    Cache lines are prefetched `ahead` elements before they are read; 0 prefetches none.
    """
    loop = reading(lanes, elements, 1)
    rows = [row.replace(f"memref<{elements}xf32>", "memref<?xf32>") for row in loop.rows]
    lines = range(ahead, ahead + loop.step, LINE) if ahead else ()
    asked = (
        f"    %f{at} = arith.constant {at} : index\n"
        f"    %g{at} = arith.addi %i, %f{at} : index\n"
        f"    memref.prefetch %x[%g{at}], read, locality<3>, data : memref<?xf32>"
        for at in lines
    )
    rows[0] = "\n".join((*asked, rows[0]))
    return replace(loop, rows=rows, total=total)


def reading_streams(lanes: int, elements: int, streams: int, ahead: int = 0) -> Loop:
    """A loop that sums up a buffer, which it reads in `streams` parts at once.

    Units: `ahead`, in elements, is how far before its use a line is prefetched; 0 prefetches none.
    `streams` divides READERS.
    """
    loop, each, part = reading(lanes, elements, 1), READERS // streams, elements // streams
    for i in range(READERS):
        place = i % each * lanes + i // each * part
        loop.rows[i] = loop.rows[i].replace(f"constant {i * lanes} :", f"constant {place} :")
    asked = [
        f"    %f{s}_{at} = arith.constant {s * part + ahead + at} : index\n"
        f"    %g{s}_{at} = arith.addi %i, %f{s}_{at} : index\n"
        f"    memref.prefetch %x[%g{s}_{at}], read, locality<3>, data : memref<{elements}xf32>"
        for s in range(streams)
        for at in range(0, each * lanes, LINE)
    ]
    rows = [*loop.rows[:-1], "\n".join((*asked, loop.rows[-1]))] if ahead else loop.rows
    return replace(loop, rows=rows, end=part, step=each * lanes)


LINE = 16
"""The floats of a cache line of 64 bytes."""


def reading_by_all(lanes: int, share: int, passes: int, cores: int) -> Loop:
    """Sums of parts of a buffer, `share` elements each, by each core in one parallel region."""
    vector, size = vector_type(lanes, "f32"), share * cores
    buffer = f"memref<{size}xf32>"
    each = range(READERS)
    held = ", ".join([vector] * READERS)
    reads = "\n".join(
        f"""          %k{i} = arith.constant {i * lanes} : index
          %j{i} = arith.addi %at, %k{i} : index
          %v{i} = vector.transfer_read %x[%j{i}], %zero {{in_bounds = [true]}} : {buffer}, {vector}
          %s{i} = arith.addf %t{i}, %v{i} : {vector}"""
        for i in each
    )
    sums = "\n".join(
        f"      %e{i} = arith.addf {'%d#0' if i == 1 else f'%e{i - 1}'}, %d#{i} : {vector}"
        for i in each[1:]
    )
    row = f"""    scf.parallel (%core) = (%c0) to (%cores) step (%c1) {{
      %begin = arith.muli %core, %share : index
      %finish = arith.addi %begin, %share : index
      %d:{READERS} = scf.for %again = %c0 to %often step %c1
          iter_args({", ".join(f"%u{i} = %init" for i in each)}) -> ({held}) {{
        %f:{READERS} = scf.for %at = %begin to %finish step %stride
            iter_args({", ".join(f"%t{i} = %u{i}" for i in each)}) -> ({held}) {{
{reads}
          scf.yield {", ".join(f"%s{i}" for i in each)} : {held}
        }}
        scf.yield {", ".join(f"%f#{i}" for i in each)} : {held}
      }}
{sums}
      %place = arith.muli %core, %apart : index
      vector.transfer_write %e{READERS - 1}, %y[%place] {{in_bounds = [true]}}
          : {vector}, memref<{cores * FAR * lanes}xf32>
      scf.reduce
    }}
    %n0 = arith.addf %a0, %init : {vector}"""
    constants = {
        "cores": cores, "share": share, "often": passes, "stride": READERS * lanes,
        "apart": FAR * lanes,
    }  # fmt: skip
    before = "\n".join(f"  %{name} = arith.constant {n} : index" for name, n in constants.items())
    return Loop(
        rows=[row], lanes=lanes, size=size, end=1, before=before, results=cores * FAR * lanes
    )


FAR = 16
"""The distance between the results of two cores, in vectors, so that they share no cache line."""
