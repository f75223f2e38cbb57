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
from nnc.ir.core import Operation
from nnc.lowering.kernel_costs import kernel_cost
from nnc.targets.attribute import target_of
from nnc.targets.llvm.ir import has_scalar_loops, llvm_ir
from nnc.targets.llvm.target import LlvmTarget
from nnc.tools.nnc import packaged_model

ITERATIONS = 200
SHARE = 0.03
"""Of a model's operations: kernels with less are left out."""

MULTIPLY_ADD = re.compile(r"\tfml[as]\tv\d+\.(4s|2d), ")
LABEL = re.compile(r"^(\.?\w+):")
BRANCH = re.compile(r"\t(?:b\.\w+|cbn?z\t\w+,|tbn?z\t\w+, #\d+,)\s*(\.\w+)$")


@dataclass(frozen=True)
class Loop:
    """A loop of one block: its instructions, and how many of them are multiply-adds."""

    function: str
    instructions: tuple[str, ...]

    @property
    def multiply_adds(self) -> int:
        return sum(bool(MULTIPLY_ADD.match(line)) for line in self.instructions)

    @property
    def products(self) -> tuple[int, int]:
        """How much of a product it is: multiply-adds by a lane, which transforms have not."""
        return sum("[" in line for line in self.instructions if MULTIPLY_ADD.match(line)), (
            self.multiply_adds
        )


@dataclass(frozen=True)
class Row:
    """A kernel's main loop: its share of the model's operations, cycles of one iteration."""

    kernel: str
    part: float
    multiply_adds: int
    cycles: float
    peak: float

    @property
    def share(self) -> float:
        """Of the processor's multiply-add throughput."""
        return self.multiply_adds / self.cycles / self.peak


def loops(assembly: str) -> Iterator[Loop]:
    """The innermost loops of assembler text that are one block."""
    function = label = ""
    block: list[str] = []
    for line in assembly.splitlines():
        if match := LABEL.match(line):
            label, block = match[1], []
            function = function if label.startswith(".L") else label
        elif line.startswith("\t") and not line.startswith("\t."):
            block.append(line)
            match = BRANCH.match(line)
            if match and match[1] == label:
                yield Loop(function, tuple(block))


def mca() -> str:
    """The path of llvm-mca, of LLVM 22 where it is there."""
    found = shutil.which("llvm-mca-22") or shutil.which("llvm-mca")
    if found is None:
        raise SystemExit("llvm-mca is not installed: apt-get install llvm-22")
    return found


def cycles(instructions: tuple[str, ...], one: LlvmTarget) -> float:
    """Cycles of one iteration, of many."""
    command = [mca(), f"-mtriple={one.triple}", f"-mcpu={one.cpu}", f"-iterations={ITERATIONS}"]
    done = subprocess.run(
        command, input="\n".join(instructions) + "\n", capture_output=True, text=True, check=True
    )
    match = re.search(r"Total Cycles: +(\d+)", done.stdout)
    assert match, done.stdout
    return int(match[1]) / ITERATIONS


@cache
def peak(one: LlvmTarget) -> float:
    """Multiply-adds per cycle where nothing else is done."""
    count = 24
    lines = tuple(f"\tfmla\tv{i}.4s, v30.4s, v31.s[0]" for i in range(count))
    return round(count / cycles(lines, one), 1)


def costs(module: Operation) -> Counter[str]:
    """Kernel -> operations of all its calls, in a module at the stage `bufferize`."""
    functions = {op.sym_name: op for op in module.body_block if isinstance(op, func.FuncOp)}
    found: Counter[str] = Counter()
    for call in module.walk():
        if isinstance(call, func.Call) and call.callee in functions:
            found[call.callee] += kernel_cost(functions[call.callee]).operations or 0
    return found


def rows(model: Path, target: str) -> Iterator[Row]:
    """The kernels that do most of a model's work, the one with the most first."""
    module = load_module(model)
    work: Counter[str] = Counter()

    def after(stage: str, module: Operation) -> None:
        if stage == "bufferize":
            work.update(costs(module))

    run_stages(module, target=target, after_stage=after)
    one = target_of(module)
    assert isinstance(one, LlvmTarget)
    found: dict[str, Loop] = {}
    for loop in loops(one.emit_assembly(llvm_ir(module), has_scalar_loops(module))):
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
        taken = cycles(loop.instructions, one)
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
        path = packaged_model(name) if name.startswith("onnx:") else Path(name)
        for target in args.targets:
            for row in rows(path, target):
                print(
                    f"| {path.stem} | {target} | `{row.kernel}` | {row.part:.0%} "
                    f"| {row.multiply_adds} | {row.cycles:.1f} | {row.share:.0%} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
