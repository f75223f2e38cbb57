"""How near the inner loops of models come to a processor's multiply-add throughput.

    python -m bench.mca resnet18.onnx bert_base.onnx --targets cortex-a76 neoverse-n1 neoverse-v2

Models are compiled for each target; llvm-mca, LLVM's model of the processor's pipelines, tells
how many cycles an iteration of each kernel's main loop takes when all data is in the first cache.
"""

import argparse
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nnc.dialects import func
from nnc.driver.compile import load_module, run_stages
from nnc.frontends.common.packaged import PACKAGED, packaged_model
from nnc.ir.core import Operation
from nnc.kernels.kernel_costs import kernel_cost
from nnc.targets.attribute import target_of
from nnc.targets.llvm.ir import llvm_ir
from nnc.targets.llvm.target import LlvmTarget

from .command import run

ITERATIONS = 200
SHARE = 0.03
"""Kernels with less than this part of a model's operations are left out."""

LABEL = re.compile(r"^(\.?\w+):")


@dataclass(frozen=True)
class Assembly:
    """Patterns of a processor family's assembler text, by which instructions are recognized."""

    multiply_add: re.Pattern[str]
    scaled: str
    """A text in multiply-adds that use one number for all lanes."""
    branch: re.Pattern[str]
    """Branches within a function; the label is a group of the pattern."""
    peak: str
    """A multiply-add into register `{0}`; its other registers are always the same."""
    scalable_peak: str = ""
    """The same on scalable vectors."""
    setting: re.Pattern[str] | None = None
    """Instructions that set how many registers an instruction uses, `m2` for two: the width and the
    number are groups of the pattern.
    """


FAMILIES = {
    "aarch64": Assembly(
        re.compile(r"\tfm(?:l[as]|ad|sb)\t(?:v\d+\.(?:4s|2d)|z\d+\.[sd]), "),
        "[",
        re.compile(r"\t(?:b\.\w+|cbn?z\t\w+,|tbn?z\t\w+, #\d+,)\s*(\.\w+)$"),
        "\tfmla\tv{0}.4s, v30.4s, v31.s[0]",
        "\tfmla\tz{0}.s, p0/m, z30.s, z31.s",
    ),
    "riscv": Assembly(
        re.compile(r"\tvfn?m(acc|add)\.v[vf]\t"),
        ".vf",
        re.compile(r"\tb(?:ne|eq|lt|ge|ltu|geu|nez|eqz|lez|gez|ltz|gtz)\t(?:\w+, )+(\.\w+)$"),
        "\tvfmacc.vf\tv{0}, fa0, v31",
        setting=re.compile(r"\tvseti?vli\t.*, (e\d+), (mf?\d), "),
    ),
}


@dataclass(frozen=True)
class Loop:
    """A loop of one block: its instructions, and how many of them are multiply-adds."""

    function: str
    instructions: tuple[str, ...]
    text: Assembly
    setting: tuple[str, str] = ("e32", "m1")
    """The setting in force before the loop."""

    @property
    def multiply_adds(self) -> int:
        """The number of multiply-adds, each of one register."""
        return len(self._multiply_adds) * max(1, int(self.setting[1].strip("mf")))

    @property
    def context(self) -> tuple[str, ...]:
        """The instructions before the loop that llvm-mca needs."""
        if self.text.setting is None:
            return ()
        width, number = (name.upper() for name in self.setting)
        return f"# LLVM-MCA-RISCV-LMUL {number}", f"# LLVM-MCA-RISCV-SEW {width}"

    @property
    def products(self) -> tuple[int, int]:
        """How much the loop resembles a matrix product, to compare loops: the number of
        multiply-adds with one number for all lanes (or, without any, of loads that repeat a
        number), and of all multiply-adds. Transforms have none of the first two.
        """
        scaled = sum(self.text.scaled in line for line in self._multiply_adds)
        repeated = sum(line.startswith("\tld1r") for line in self.instructions)
        return scaled or repeated, self.multiply_adds

    @property
    def _multiply_adds(self) -> list[str]:
        return [line for line in self.instructions if self.text.multiply_add.match(line)]


@dataclass(frozen=True)
class Row:
    """A kernel's main loop: its share of the model's operations, and the cycles of
    one iteration.
    """

    kernel: str
    part: float
    multiply_adds: int
    cycles: float
    peak: float

    @property
    def share(self) -> float:
        """The reached part of the processor's multiply-add throughput."""
        return self.multiply_adds / self.cycles / self.peak


def loops(assembly: str, text: Assembly) -> Iterator[Loop]:
    """The innermost loops in assembler text that consist of one block."""
    function = label = ""
    setting = "e32", "m1"
    block: list[str] = []
    for line in assembly.splitlines():
        if match := LABEL.match(line):
            label, block = match[1], []
            function = function if label.startswith(".L") else label
        elif line.startswith("\t") and not line.startswith("\t."):
            block.append(line)
            if text.setting is not None and (found := text.setting.match(line)):
                setting = found[1], found[2]
            match = text.branch.match(line)
            if match and match[1] == label:
                yield Loop(function, tuple(block), text, setting)


def mca() -> str:
    """The path of llvm-mca, of LLVM 22 if that is installed."""
    found = shutil.which("llvm-mca-22") or shutil.which("llvm-mca")
    if found is None:
        raise SystemExit("llvm-mca is not installed: apt-get install llvm-22")
    return found


def cycles(loop: Loop, one: LlvmTarget) -> float:
    """The average cycles of one iteration."""
    command = [mca(), f"-mtriple={one.triple}", f"-mcpu={one.cpu}", f"-iterations={ITERATIONS}"]
    lines = (*loop.context, *loop.instructions, "")
    done = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=True
    )
    match = re.search(r"Total Cycles: +(\d+)", done.stdout)
    assert match, done.stdout
    return int(match[1]) / ITERATIONS


@cache
def peak(one: LlvmTarget) -> float:
    """The most multiply-adds per cycle."""
    count = 24
    text = FAMILIES[one.family]
    form = text.scalable_peak if one.scalable else text.peak
    lines = tuple(form.format(i) for i in range(count))
    return round(count / cycles(Loop("", lines, text), one), 1)


def costs(module: Operation) -> Counter[str]:
    """The operations of all calls of each kernel, in a module at the stage `bufferize`."""
    functions = func.functions_by_name(module)
    found: Counter[str] = Counter()
    for call in module.walk():
        if isinstance(call, func.Call) and call.callee in functions:
            found[call.callee] += kernel_cost(functions[call.callee]).operations or 0
    return found


def rows(model: Path, target: str) -> Iterator[Row]:
    """The kernels that do most of a model's work, in descending order."""
    module = load_module(model)
    work: Counter[str] = Counter()

    def after(stage: str, module: Operation) -> None:
        if stage == "bufferize":
            work.update(costs(module))

    run_stages(module, target=target, after_stage=after)
    one = target_of(module)
    assert isinstance(one, LlvmTarget)
    found: dict[str, Loop] = {}
    assembly = one.assembly_of(llvm_ir(module))
    for loop in loops(assembly, FAMILIES[one.family]):
        kernel = re.sub(r"_parallel_\d+$", "", loop.function)
        best = found.get(kernel)
        if best is None or loop.products > best.products:
            found[kernel] = loop
    total = sum(work.values())
    for kernel, operations in work.most_common():
        loop = found.get(kernel)
        if operations < SHARE * total:
            return
        if loop is None or not loop.multiply_adds:
            print(f"{model.stem}: {kernel} has no loop of one block with multiply-adds")
            continue
        taken = cycles(loop, one)
        yield Row(kernel, operations / total, loop.multiply_adds, taken, peak(one))


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("models", nargs="+", help="ONNX files, or onnx:NAME")
    parser.add_argument(
        "--targets", nargs="+", default=["cortex-a76", "neoverse-n1", "neoverse-v2"]
    )
    args = parser.parse_args()
    print("| model | target | kernel | of the model | multiply-adds | cycles | of the peak |")
    print("|---|---|---|---|---|---|---|")
    for name in args.models:
        path = packaged_model(name) if name.startswith(PACKAGED) else Path(name)
        for target in args.targets:
            for row in rows(path, target):
                print(
                    f"| {path.stem} | {target} | `{row.kernel}` | {row.part:.0%} "
                    f"| {row.multiply_adds} | {row.cycles:.1f} | {row.share:.0%} |",
                    flush=True,
                )


if __name__ == "__main__":
    run(main)
