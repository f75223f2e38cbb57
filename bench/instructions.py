"""Counts the instructions of a call of a model on other processors, beside IREE's.

    python -m bench.instructions mobilenet_v2.onnx --target cortex-a72
    python -m bench.instructions mobilenet_v2.onnx --iree PYTHON_FOLDER RUN_MODULE

QEMU runs a library in a program that calls it once, and one that calls it twice; a plugin counts
instructions, and the difference is a call's. For IREE, PYTHON_FOLDER has `iree-compile` and
`iree-import-onnx`, and RUN_MODULE is its `iree-run-module`, built for the target: there the
difference is between a function of the model and one that calls it twice, with or without data
tiling, whichever takes fewer.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from nnc.artifacts.interface import TensorInterface
from nnc.driver.artifacts import write_artifact
from nnc.driver.compile import load_module, run_stages
from nnc.targets.base import target as find_target
from nnc.targets.emulator import Emulator
from nnc.targets.llvm.target import LlvmTarget

from .command import run

# As in qemu-plugin.h, which few distributions have a package with.
PLUGIN = r"""
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t id;
struct tb;
void qemu_plugin_register_vcpu_tb_trans_cb(id plugin, void (*call)(id, struct tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(
    struct tb *block, void (*call)(unsigned, void *), int flags, void *data);
void qemu_plugin_register_atexit_cb(id plugin, void (*call)(id, void *), void *data);
size_t qemu_plugin_tb_n_insns(const struct tb *block);

__attribute__((visibility("default"))) int qemu_plugin_version = VERSION;
static uint64_t total;

static void executed(unsigned cpu, void *count) { total += (uintptr_t)count; }

static void translated(id plugin, struct tb *block) {
    void *count = (void *)(uintptr_t)qemu_plugin_tb_n_insns(block);
    qemu_plugin_register_vcpu_tb_exec_cb(block, executed, 0, count);
}

static void ended(id plugin, void *data) { fprintf(stderr, "instructions %" PRIu64 "\n", total); }

__attribute__((visibility("default")))
int qemu_plugin_install(id plugin, const void *about, int count, char **arguments) {
    qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated);
    qemu_plugin_register_atexit_cb(plugin, ended, NULL);
    return 0;
}
"""

PROGRAM = r"""
#include <stdint.h>
#include <stdlib.h>

#include "model.h"

static void *filled(size_t bytes) {
    float *made = aligned_alloc(64, (bytes + 63) / 64 * 64);
    for (size_t i = 0; i < bytes / 4; i++) made[i] = FLOATS ? 0.5f : 0;
    return made;
}

int main(int count, char **arguments) {
    nnc_tensor inputs[] = {INPUTS}, outputs[] = {OUTPUTS};
    nnc_context *context;
    if (nnc_create(&context, NULL, 1)) return 1;
    for (int call = 0; call < count; call++)
        if (nnc_call(context, inputs, outputs)) return 2;
    return 0;
}
"""


def counted(command: list[str], one: LlvmTarget, folder: Path, cwd: Path) -> int:
    """The number of instructions that a program runs under the target's emulator."""
    emulator = one.emulator
    assert isinstance(emulator, Emulator)
    said = subprocess.run([emulator.program, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"version (\d+)", said)
    plugin = folder / "count.so"
    if not plugin.exists():
        (folder / "count.c").write_text(PLUGIN)
        version = 1 if found and int(found[1]) < 8 else 2
        flags = ["-O2", "-shared", "-fPIC", f"-DVERSION={version}"]
        subprocess.run(["cc", *flags, str(folder / "count.c"), "-o", str(plugin)], check=True)
    start, *rest = emulator.command()
    done = subprocess.run(
        [start, "-plugin", str(plugin), *rest, *command], cwd=cwd, capture_output=True, text=True
    )
    counts = re.findall(r"instructions (\d+)", done.stderr)
    if done.returncode or not counts:
        raise SystemExit(f"{command[0]} ended with {done.returncode}: {done.stderr}")
    return int(counts[-1])


def ours(model: Path, one: LlvmTarget, folder: Path) -> int:
    """The instructions of a call of nnc's library of the model."""
    module = load_module(model)
    run_stages(module, target=one.name)
    write_artifact(module, folder / "model.so")
    from nnc.artifacts.interface import Interface
    from nnc.driver.program import signature

    about = Interface.of(signature(module), "nnc", one.name, inside=True)

    def tensors(given: tuple[TensorInterface, ...]) -> str:
        return ", ".join(f"{{filled({8 * tensor.count}), NULL}}" for tensor in given)

    floats = int(all(tensor.type == "f32" for tensor in about.inputs))
    text = PROGRAM.replace("INPUTS", tensors(about.inputs)).replace("FLOATS", str(floats))
    (folder / "main.c").write_text(text.replace("OUTPUTS", tensors(about.outputs)))
    driver = one.toolchain().driver
    command = [*driver, "-Os", "main.c", "./model.so", "-o", "main"]
    subprocess.run(command, cwd=folder, check=True)
    once, twice = (counted(["./main", *["again"] * n], one, folder, folder) for n in (0, 1))
    return twice - once


def of_iree(model: Path, one: LlvmTarget, folder: Path, tools: Path, program: Path) -> int:
    """The instructions of a call of IREE's module of the model."""
    text = folder / "model.mlir"
    subprocess.run([tools / "iree-import-onnx", model, "-o", text], check=True)
    before, name, arguments, result, rest = re.split(
        r"func\.func @(\w+)\((.*?)\) -> (\(.*?\)|!\S+?>) attributes", text.read_text(), maxsplit=1
    )
    about = rest.partition(" {\n")[0]
    types = re.findall(r"(?:^|, )%\w+: (!.*?>)(?=, %|$)", arguments)
    several = [", ".join(f"%{letter}{i}" for i in range(len(types))) for letter in "ab"]
    listed = ", ".join(types)
    declared = ", ".join(f"%{letter}{i}: {type}" for letter in "ab" for i, type in enumerate(types))
    plain = result.removeprefix("(").removesuffix(")")
    count = len(re.findall(r"!torch", plain))
    made = [", ".join(f"%{letter}#{i}" for i in range(count)) for letter in "rs"]
    calls = "".join(
        f"    %{letter}:{count} = call @{name}({given}) : ({listed}) -> ({plain})\n"
        for letter, given in zip("rs", several, strict=True)
    )
    twice = (
        f"  func.func @twice({declared}) -> ({plain}, {plain}) attributes{about} {{\n{calls}"
        f"    return {', '.join(made)} : {plain}, {plain}\n  }}\n"
    )
    head = before.rstrip()
    text.write_text(f"{head}\n{twice}  func.func @{name}({arguments}) -> {result} attributes{rest}")
    features = [f"--iree-llvmcpu-target-cpu-features={one.features}"] if one.features else []
    flags = [
        "--iree-input-type=onnx",
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        f"--iree-llvmcpu-target-triple={one.triple}",
        f"--iree-llvmcpu-target-cpu={one.cpu}",
        *features,
        *([f"--iree-llvmcpu-target-abi={one.abi}"] if one.abi else []),
        "--iree-opt-level=O3",
    ]
    module = folder / "model.vmfb"

    def calling(function: str, copies: int) -> int:
        given = []
        for position in range(len(types) * copies):
            found = re.search(r"<\[([\d,]*)\],(\w+)>", types[position % len(types)])
            assert found, types
            shape, element = found[1].replace(",", "x"), found[2].removeprefix("s")
            value = 0.5 + 0.25 * (position // len(types)) if element == "f32" else 0
            given.append(f"--input={shape}x{element}={value}")
        command = [str(program), f"--module={module}", "--device=local-sync"]
        command += [f"--function={function}", "--print_statistics=false", *given]
        # What is printed counts too, so as little as can be.
        command += [f"--output=@{folder / f'{function}{i}.bin'}" for i in range(count * copies)]
        return counted(command, one, folder, folder)

    found = []
    for tiling in ("true", "false"):
        options = [*flags, f"--iree-opt-data-tiling={tiling}", "-o", str(module)]
        subprocess.run([tools / "iree-compile", text, *options], check=True)
        found.append(calling("twice", 2) - calling(name, 1))
        print(
            f"IREE, data tiling {tiling}: {found[-1]:,} instructions", file=sys.stderr, flush=True
        )
    return min(found)


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("models", nargs="+", type=Path, help="ONNX files")
    parser.add_argument("--target", default="cortex-a72")
    parser.add_argument("--iree", nargs=2, type=Path, metavar=("PYTHON_FOLDER", "RUN_MODULE"))
    args = parser.parse_args()
    one = find_target(args.target)
    assert isinstance(one, LlvmTarget)
    print("| model | target | nnc | IREE |\n|---|---|---|---|")
    for model in args.models:
        with tempfile.TemporaryDirectory() as name:
            found = ours(model, one, Path(name))
            row = f"| {model.stem} | {one.name} | {found / 1e6:,.1f} M |"
            if args.iree:
                other = of_iree(model.resolve(), one, Path(name), *args.iree)
                row += f" {other / 1e6:,.1f} M ({other / found:.2f}x)"
            print(f"{row} |", flush=True)


if __name__ == "__main__":
    run(main)
