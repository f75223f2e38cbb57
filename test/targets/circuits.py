"""Circuits of a module by CIRCT's Handshake dialect, and their simulation by Verilator."""

from __future__ import annotations

import io
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

PIPELINE = """
canonicalize, lower-cf-to-handshake, handshake-lower-extmem-to-hw,
handshake.func(canonicalize, handshake-materialize-forks-sinks, canonicalize,
    handshake-insert-buffers{strategy=cycles buffer-size=2}, canonicalize),
lower-handshake-to-hw, lower-esi-types, lower-esi-ports, lower-esi-to-hw,
hw.module(lower-seq-hlmem), hw-memory-sim, lower-seq-to-sv, hw.module(hw-cleanup, prettify-verilog)
"""
"""CIRCT's passes from blocks of cf to SystemVerilog, in the order of its `hlstool`."""

_PORT = re.compile(r"\b(\w+)_(ld\d+_addr|st\d+)_valid\b")
"""The valid signal of the channel by which a circuit asks for a memory's element or writes one."""

_DRIVER = """\
#include "Vmain.h"
#include <cstdio>
#include <cstdint>
#include <vector>
static uint64_t bits_of(uint64_t v, int width) { return width < 64 ? v & ((1ull << width) - 1) : v; }
int main() {
    Vmain top;
    for (int run = 0; run < RUNS; run++) {
        MEMORIES
        if (run == 0) {
            top.reset = 1; top.clock = 0; top.eval(); top.clock = 1; top.eval(); top.reset = 0;
        }
        bool started = false, ended = false;
        STATES
        long cycle = 0;
        for (; !ended && cycle < 1000000; cycle++) {
            top.clock = 0; top.done_ready = 1; top.start_valid = !started;
            DRIVEN
            top.eval();
            const bool starts = top.start_valid && top.start_ready;
            ended = top.done_valid;
            NEXT
            top.clock = 1; top.eval();
            started |= starts;
        }
        if (!ended) { printf("no end\\n"); return 1; }
        printf("%ld", cycle);
        PRINTED
        printf("\\n");
    }
}
"""


def verilog(text: str) -> str:
    """SystemVerilog for a module of cf, memref and arith, with the top module `main`."""
    from pycde import circt  # type: ignore[import-not-found]
    from pycde.circt import ir, passmanager  # type: ignore[import-not-found]

    with ir.Context() as context:
        circt.register_dialects(context)
        # Passes load the dialects of what they make; the parser knows memref and cf only then.
        empty = ir.Module.parse("module {}")
        loading = "builtin.module(flatten-memref, lower-cf-to-handshake)"
        passmanager.PassManager.parse(loading).run(empty.operation)
        module = ir.Module.parse(text)
        passmanager.PassManager.parse(f"builtin.module({PIPELINE})").run(module.operation)
        out = io.StringIO()
        circt.export_verilog(module, out)
    return out.getvalue()


def simulated(
    text: str, runs: Sequence[Mapping[str, np.ndarray]], output: str, folder: Path
) -> list[tuple[int, np.ndarray]]:
    """(cycles, elements of the memory `output`) of each run of a circuit, one after the other.

    A run gives the elements of each memory at its start. Memories answer one cycle later.
    """
    source, made = folder / "main.sv", folder / "made"
    source.write_text(text)
    (folder / "driver.cpp").write_text(_driver(text, runs, output))
    command = ["verilator", "--cc", "--exe", "--build", "--top-module", "main", "-Wno-fatal"]
    command += ["-MAKEFLAGS", "OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0", "-Mdir", made]
    command += [source, folder / "driver.cpp"]
    built = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert built.returncode == 0, built.stderr[-2000:]
    done = subprocess.run([made / "Vmain"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    rows = [list(map(int, line.split())) for line in done.stdout.splitlines()]
    kind = runs[0][output].dtype
    return [(cycles, np.array(numbers).astype(kind)) for cycles, *numbers in rows]


def _driver(text: str, runs: Sequence[Mapping[str, np.ndarray]], output: str) -> str:
    """A program that answers the circuit's memory channels, and prints the results."""
    head = text[text.index("module main(") :].partition(");")[0]
    states, driven, following, memories = [], [], [], []
    for name, first in runs[0].items():
        listed = ["{" + ", ".join(map(str, run[name].reshape(-1).tolist())) + "}" for run in runs]
        memories.append(f"std::vector<long long> all_{name}[] = {{{', '.join(listed)}}};")
        memories.append(f"auto &{name} = all_{name}[run];")
        width = 8 * first.dtype.itemsize
        for memory, channel in dict.fromkeys(_PORT.findall(head)):
            if memory != name:
                continue
            is_load = channel.startswith("ld")
            asked = f"{name}_{channel}"
            given = asked.removesuffix("addr") + "data" if is_load else f"{asked}_done"
            states.append(f"bool {asked}_held = false; uint64_t {asked}_value = 0;")
            driven.append(f"top.{asked}_ready = !{asked}_held; top.{given}_valid = {asked}_held;")
            if is_load:
                driven.append(f"top.{given} = {asked}_value;")
                # A memory of one element has no address.
                at = f"top.{asked}" if first.size > 1 else "0"
                act = f"{asked}_value = bits_of({name}.at({at}), {width});"
            else:
                at = f"top.{asked} >> {width}" if first.size > 1 else "0"
                act = f"{name}.at({at}) = bits_of(top.{asked}, {width});"
            following.append(
                f"if ({asked}_held) {{ if (top.{given}_ready) {asked}_held = false; }} "
                f"else if (top.{asked}_valid) {{ {act} {asked}_held = true; }}"
            )
    printed = f'for (long long v : {output}) printf(" %lld", v);'
    parts = {"MEMORIES": memories, "STATES": states, "DRIVEN": driven, "NEXT": following}
    found = _DRIVER.replace("RUNS", str(len(runs))).replace("PRINTED", printed)
    for word, lines in parts.items():
        found = found.replace(word, "\n            ".join(lines))
    return found
