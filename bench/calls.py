"""Times a call from each language, in microseconds, for a model that does next to nothing.

    python -m bench.calls [LANGUAGE..] [--calls 20000]

A program in each language calls the same library, a product of 4x8 by 8x16 on one thread, and times
each call. What it takes more than the program in C is the cost of the binding: its checks, the
copies that the language needs, and the memory of outputs. Each language is built and run as its
README says.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from nnc.artifacts.bindings import LANGUAGES
from nnc.tools.nnc import main as nnc

from .built_bindings import build, run

MODEL = """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x16xf32>
    attributes {nn.entry, nn.input_names = ["x"], nn.output_names = ["y"]} {
  %w = nn.constant dense<0.5> : tensor<8x16xf32>
  %y = nn.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
"""

C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "calls.h"

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

int main(void) {
    static float x[32], y[64];
    nnc_tensor inputs[] = {{x, NULL}}, outputs[] = {{y, NULL}};
    calls_context *context;
    if (calls_create(&context, NULL, 1)) return 1;
    for (int i = 0; i < COUNT; i++) {
        const double start = now();
        if (calls_call(context, inputs, outputs)) return 1;
        printf("%.3f\n", now() - start);
    }
    return 0;
}
"""

CPP = r"""
#include <chrono>
#include <cstdio>

#include "calls.hpp"

int main() {
    using clock = std::chrono::steady_clock;
    std::vector<float> x(32);
    calls::Model model;
    for (int i = 0; i < COUNT; i++) {
        const auto start = clock::now();
        const calls::Outputs outputs = model.run({.x = x});
        const std::chrono::duration<double, std::micro> spent = clock::now() - start;
        std::printf("%.3f\n", spent.count());
    }
}
"""

PYTHON = """
import time

import numpy as np
from calls import Model

x = np.zeros((4, 8), np.float32)
with Model() as model:
    for _ in range(COUNT):
        start = time.perf_counter_ns()
        model(x)
        print((time.perf_counter_ns() - start) / 1e3)
"""

NODE = """
import { load } from "./index.mjs";

const x = new Float32Array(32);
const model = await load();
const times = [];
for (let i = 0; i < COUNT; i++) {
  const start = process.hrtime.bigint();
  model.runSync({ x });
  times.push(Number(process.hrtime.bigint() - start) / 1e3);
}
console.log(times.join("\\n"));
"""

JAVA = """
import calls.Calls;
import java.nio.file.Path;

public final class Example {
    public static void main(String[] arguments) {
        float[] x = new float[32];
        double[] times = new double[COUNT];
        try (Calls model = new Calls(Path.of("LIBRARY"), 1)) {
            for (int i = 0; i < times.length; i++) {
                long start = System.nanoTime();
                model.run(new Calls.Inputs(x));
                times[i] = (System.nanoTime() - start) / 1e3;
            }
        }
        for (double time : times) System.out.println(time);
    }
}
"""

OBJECTIVE_C = r"""
#include <stdio.h>
#include <time.h>

#import "CallsModel.h"

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

int main(void) {
    NSAutoreleasePool *all = [[NSAutoreleasePool alloc] init];
    NSError *error = nil;
    CallsModel *model = [[CallsModel alloc] initWithThreads:1 error:&error];
    CallsInputs *inputs = [[CallsInputs alloc] init];
    inputs.x = [NSMutableData dataWithLength:128];
    for (int i = 0; i < COUNT; i++) {
        NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
        const double start = now();
        if (![model run:inputs error:&error]) return 1;
        printf("%.3f\n", now() - start);
        [pool drain];
    }
    [all drain];
    return 0;
}
"""

RUST = """
use calls::{Inputs, Model};
use std::time::Instant;

fn main() -> Result<(), calls::Error> {
    let x = [0.0f32; 32];
    let mut model = Model::new(1)?;
    for _ in 0..COUNT {
        let start = Instant::now();
        model.run(&Inputs { x: &x })?; // a call of C, which is not left out
        println!("{}", start.elapsed().as_nanos() as f64 / 1e3);
    }
    Ok(())
}
"""

GO = """
package main

import (
	"fmt"
	"time"

	"calls"
)

func main() {
	x := make([]float32, 32)
	model, err := calls.New(1)
	if err != nil {
		panic(err)
	}
	times := make([]time.Duration, COUNT)
	for i := range times {
		start := time.Now()
		if _, err := model.Run(calls.Inputs{X: x}); err != nil {
			panic(err)
		}
		times[i] = time.Since(start)
	}
	for _, spent := range times {
		fmt.Println(float64(spent.Nanoseconds()) / 1e3)
	}
}
"""

PROGRAMS = {
    "c": ("example.c", C),
    "cpp": ("example.cpp", CPP),
    "python": ("example.py", PYTHON),
    "node": ("example.mjs", NODE),
    "java": ("src/Example.java", JAVA.replace("LIBRARY", "../libcalls.so")),
    "java-jni": ("src/Example.java", JAVA.replace("LIBRARY", "libcalls_jni.so")),
    "objc": ("example.m", OBJECTIVE_C),
    "rust": ("examples/example.rs", RUST),
    "go": ("example/main.go", GO),
}
"""For each language: the file of the example that the program replaces, and the program's text."""


def times(folder: Path, language: str, count: int) -> list[float]:
    """Microseconds of each call, from the folder of all bindings."""
    place, text = PROGRAMS[language]
    (folder / language / place).write_text(text.replace("COUNT", str(count)))
    with tempfile.TemporaryDirectory() as tools:
        for step in (build, run):
            done = step(folder / language, Path(tools))
            if done.status:
                raise SystemExit(f"{language}: {done.output}{done.errors}")
    found = [float(line) for line in done.output.split()]
    assert len(found) == count
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("languages", nargs="*", default=[*PROGRAMS], metavar="LANGUAGE")
    parser.add_argument("--calls", type=int, default=20_000, help="timed calls (default: 20,000)")
    options = parser.parse_args()
    if unknown := {*options.languages} - {*PROGRAMS}:
        parser.error(f"no program for {', '.join(sorted(unknown))}; there is {', '.join(PROGRAMS)}")
    with tempfile.TemporaryDirectory() as name:
        model, folder = Path(name) / "calls.mlir", Path(name) / "made"
        model.write_text(MODEL)
        arguments = ["compile", str(model), "--bindings", "all", "-o", str(folder), "--quiet"]
        if nnc(arguments):
            raise SystemExit(1)
        print("| language | minimum, us | median, us |\n|---|---|---|")
        for language in (one for one in LANGUAGES if one in options.languages):
            found = sorted(times(folder, language, options.calls))
            print(f"| {language} | {found[0]:.2f} | {found[len(found) // 2]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
