"""Shows a model's kernels' registers, spills and occupancy on a device, without the device.

    python -m bench.kernels model.onnx --target cuda-sm80

For NVIDIA's devices they are from `ptxas -v` (in `pip install nvidia-cuda-nvcc`), for AMD's from
the metadata that LLVM writes. Occupancy is the part of a core's threads that can be resident there
at once.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nnc.driver.compile import load_module, run_stages
from nnc.ir.diagnostics import NncError
from nnc.targets.base import target
from nnc.targets.groups import GroupMachine
from nnc.targets.llvm.kernels import KernelTarget

from .command import model_file, run

_ALLOCATED = 8
"""The granularity in which registers are allocated to a thread, on NVIDIA's and AMD's devices."""


@dataclass(frozen=True)
class Usage:
    """The resources of a kernel: registers and spilled bytes per thread, workgroup memory per
    group.
    """

    name: str
    threads: int
    registers: int
    spilled: int
    workgroup: int

    def occupancy(self, machine: GroupMachine) -> float:
        """The part of a core's threads that can be resident at once."""
        registers = -(-max(1, self.registers) // _ALLOCATED) * _ALLOCATED
        threads = -(-self.threads // machine.subgroup) * machine.subgroup
        groups = min(
            machine.core_threads // threads,
            machine.core_groups,
            machine.core_registers // (registers * threads),
        )
        if self.workgroup:
            groups = min(groups, machine.core_workgroup_bytes // self.workgroup)
        return groups * threads / machine.core_threads


def usages(text: str, one: KernelTarget) -> list[Usage]:
    """The resources of the kernels in a device's text. Raises NncError if they are unknown."""
    return list(_of_ptx(text, one.cpu) if one.code_suffix == ".ptx" else _of_metadata(text))


def assembled(text: str, architecture: str) -> str:
    """The output of `ptxas -v` for PTX. Raises NncError if ptxas is missing or rejects the text."""
    if shutil.which("ptxas") is None:
        raise NncError("ptxas is not here: `pip install nvidia-cuda-nvcc`, and its folder in PATH")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernels.ptx"
        source.write_text(text)
        command = ["ptxas", "-v", "-arch", architecture, source, "-o", Path(folder) / "kernels"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NncError(f"ptxas refuses the kernels: {(done.stdout + done.stderr).strip()}")
    return done.stderr


def _of_ptx(text: str, architecture: str) -> Iterator[Usage]:
    threads = dict(re.findall(r"^\.visible \.entry (\w+)\([^{]*\.reqntid (\d+)", text, re.M))
    for part in assembled(text, architecture).split("Compiling entry function '")[1:]:
        name = part.partition("'")[0]
        spills = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", part)
        shared = re.search(r"(\d+) bytes smem", part)
        yield Usage(
            name,
            int(threads[name]),
            int(_first(r"Used (\d+) registers", part)),
            int(spills[1]) + int(spills[2]) if spills else 0,
            int(shared[1]) if shared else 0,
        )


def _of_metadata(text: str) -> Iterator[Usage]:
    kernels = text.partition("amdhsa.kernels:")[2].partition("amdhsa.target:")[0]
    for part in re.split(r"^  - ", kernels, flags=re.M)[1:]:
        number = lambda key, part=part: int(_first(rf"\.{key}: +(\d+)", part))  # noqa: E731
        yield Usage(
            _first(r"\.name: +(\S+)", part),
            number("max_flat_workgroup_size"),
            number("vgpr_count"),
            4 * (number("vgpr_spill_count") + number("sgpr_spill_count")),
            number("group_segment_fixed_size"),
        )


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found is not None, pattern
    return found[1]


def main() -> None:
    """Print a row for each kernel, and the largest numbers."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("--target", default="cuda-sm80")
    given = parser.parse_args()
    one = target(given.target)
    if not isinstance(one, KernelTarget):
        raise NncError(f"'{one.name}' is no device whose kernels LLVM makes")
    module = run_stages(load_module(model_file(given.model)), target=one.name)
    found = usages(one.text(module, one.code_suffix), one)
    print("| kernel | threads | registers | spilled | workgroup memory | occupancy |")
    print("|---|---|---|---|---|---|")
    for usage in found:
        print(
            f"| {usage.name} | {usage.threads} | {usage.registers} | {usage.spilled} | "
            f"{usage.workgroup} | {usage.occupancy(one.machine):.0%} |"
        )
    spilled = sum(usage.spilled > 0 for usage in found)
    least = min((usage.occupancy(one.machine) for usage in found), default=1.0)
    print(f"\n{len(found)} kernels, {spilled} that spill, occupancy at least {least:.0%}")


if __name__ == "__main__":
    run(main)
