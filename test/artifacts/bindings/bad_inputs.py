"""In each language a program that gives `two_inputs` what does not fit, and what it has to print.

The program goes where the example is: a wrong length, a wrong shape, too few elements for a shape,
a missing input where the language has such a thing, no threads, and a call after the end.
"""

PYTHON = """
import numpy as np
from network import Model, ModelError

x, tokens = np.zeros((4, 8), np.float32), np.zeros((2, 3), np.int32)
model = Model()
for call in (
    lambda: model(x[:3], tokens),
    lambda: model(x, tokens.ravel()),
    lambda: model(x.astype(float), tokens),
    lambda: model.run({"input.1": x}),
    lambda: model.run({"input.1": x, "tokens": tokens, "other": x}),
    lambda: Model(threads=0),
    lambda: model.close() or model(x, tokens),
):
    try:
        call()
    except (TypeError, ValueError, ModelError) as error:
        print(f"{type(error).__name__}: {error}")
"""

CPP = """
#include <functional>
#include <iostream>

#include "network.hpp"

int main() {
    std::vector<float> x(32);
    std::vector<std::int32_t> tokens(6);
    network::Model model;
    const std::function<void()> calls[] = {
        [&] { model.run({.input_1 = std::span(x).first(3), .tokens = {tokens, {2, 3}}}); },
        [&] { model.run({.input_1 = x, .tokens = {tokens, {-2, 3}}}); },
        [&] { model.run({.input_1 = x, .tokens = {tokens, {2, 4}}}); },
        [&] { model.run({}); },
        [&] { network::Model(0); },
    };
    for (const auto &call : calls) {
        try {
            call();
        } catch (const std::invalid_argument &error) {
            std::cout << "invalid_argument: " << error.what() << '\\n';
        } catch (const network::Error &error) {
            std::cout << "Error " << error.status << ": " << error.what() << '\\n';
        }
    }
}
"""

NODE = """
import { load } from "./index.mjs";

const x = new Float32Array(32), data = new Int32Array(6);
const model = await load();
for (const call of [
  () => model.run({ "input.1": x.subarray(0, 3), tokens: { data, dims: [2, 3] } }),
  () => model.run({ "input.1": x, tokens: { data, dims: [6] } }),
  () => model.run({ "input.1": x, tokens: { data, dims: [2, 4] } }),
  () => model.run({ "input.1": x, tokens: data }),
  () => model.runSync({ "input.1": data, tokens: { data, dims: [2, 3] } }),
  () => model.runSync({ "input.1": x }),
  () => model.run({ "input.1": x, tokens: { data, dims: [2, 3] }, other: x }),
  () => load({ threads: 0 }),
  () => load({ threads: "two" }),
  () => model.dispose() ?? model.run({ "input.1": x, tokens: { data, dims: [2, 3] } }),
]) {
  try {
    await call();
  } catch (error) {
    console.log(String(error));
  }
}
"""

JAVA = """
import java.nio.file.Path;
import network.Network;

public final class Example {
    public static void main(String[] arguments) {
        float[] x = new float[32];
        int[] tokens = new int[6];
        Path file = Path.of("LIBRARY");
        Network model = new Network(file, 1);
        report(() -> model.run(new Network.Inputs(new float[3], new Network.IntTensor(tokens, 2, 3))));
        report(() -> model.run(new Network.Inputs(x, new Network.IntTensor(tokens, 6))));
        report(() -> model.run(new Network.Inputs(x, new Network.IntTensor(tokens, 2, 4))));
        report(() -> model.run(new Network.Inputs(x, null)));
        report(() -> model.run(new Network.Inputs(null, new Network.IntTensor(tokens, 2, 3))));
        report(() -> new Network(file, 0));
        report(() -> {
            model.close();
            model.run(new Network.Inputs(x, new Network.IntTensor(tokens, 2, 3)));
        });
    }

    private static void report(Runnable call) {
        try {
            call.run();
        } catch (IllegalArgumentException | IllegalStateException | Network.LibraryException error) {
            System.out.println(error.getClass().getSimpleName() + ": " + error.getMessage());
        }
    }
}
"""

OBJECTIVE_C = """
#include <stdio.h>

#import "NetworkModel.h"

static NSError *error;

static void report(id result) {
    if (result) return;
    NSString *name = [[error userInfo] objectForKey:@"input"];
    printf("%s %ld: %s\\n", name ? [name UTF8String] : "-", (long)[error code],
           [[error localizedDescription] UTF8String]);
}

static NetworkInputs *inputs(NSUInteger bytes, NSUInteger elements, int rows, int columns) {
    NetworkInputs *made = [[NetworkInputs alloc] init];
    NSArray *shape = [NSArray arrayWithObjects:[NSNumber numberWithInt:rows], [NSNumber numberWithInt:columns], nil];
    made.input1 = [NSMutableData dataWithLength:bytes];
    made.tokens = [NetworkTensor tensorWithData:[NSMutableData dataWithLength:4 * elements] shape:shape];
    return made;
}

int main(void) {
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    NetworkModel *model = [[NetworkModel alloc] initWithThreads:1 error:&error];
    report([model run:inputs(12, 6, 2, 3) error:&error]);
    report([model run:inputs(128, 6, -2, 3) error:&error]);
    report([model run:inputs(128, 6, 2, 4) error:&error]);
    report([model run:[[NetworkInputs alloc] init] error:&error]);
    report([[NetworkModel alloc] initWithThreads:0 error:&error]);
    [model release];
    [pool drain];
    return 0;
}
"""

RUST = """
use network::{Inputs, Model, View};

fn main() {
    let (x, data) = ([0.0; 32], [0; 6]);
    let mut model = Model::new(1).unwrap();
    let mut run = |input_1: &[f32], shape| match model.run(&Inputs {
        input_1,
        tokens: View { data: &data, shape },
    }) {
        Ok(outputs) => println!("{:?}", outputs.type_.shape),
        Err(error) => println!("{error:?}: {error}"),
    };
    run(&x[..3], [2, 3]);
    run(&x, [usize::MAX, 3]);
    run(&x, [2, 4]);
    run(&x, [3, 2]);
    println!("{:?}", Model::new(0).map(|_| ()));
}
"""

GO = """
package main

import (
	"errors"
	"fmt"

	"network"
)

func main() {
	x, data := make([]float32, 32), make([]int32, 6)
	model, err := network.New(1)
	if err != nil {
		panic(err)
	}
	report := func(inputs network.Inputs) {
		_, err := model.Run(inputs)
		var input *network.InputError
		if errors.As(err, &input) {
			fmt.Println("InputError:", err)
		} else {
			fmt.Println(err)
		}
	}
	report(network.Inputs{Input1: x[:3], Tokens: network.Tensor[int32]{data, []int64{2, 3}}})
	report(network.Inputs{Input1: x, Tokens: network.Tensor[int32]{data, []int64{6}}})
	report(network.Inputs{Input1: x, Tokens: network.Tensor[int32]{data, []int64{2, 4}}})
	report(network.Inputs{Tokens: network.Tensor[int32]{data, []int64{2, 3}}})
	report(network.Inputs{Input1: x})
	_, err = network.New(0)
	var library *network.LibraryError
	fmt.Println(errors.As(err, &library), err)
	model.Close()
	report(network.Inputs{Input1: x, Tokens: network.Tensor[int32]{data, []int64{2, 3}}})
}
"""

PROGRAMS = {
    "cpp": ("example.cpp", CPP),
    "python": ("example.py", PYTHON),
    "node": ("example.mjs", NODE),
    "java": ("src/Example.java", JAVA.replace("LIBRARY", "../libnetwork.so")),
    "java-jni": ("src/Example.java", JAVA.replace("LIBRARY", "libnetwork_jni.so")),
    "objc": ("example.m", OBJECTIVE_C),
    "rust": ("examples/example.rs", RUST),
    "go": ("example/main.go", GO),
}
"""Where the program goes, and its text."""

_JAVA = [
    "IllegalArgumentException: input 'input.1': expected 32 elements, got 3",
    "IllegalArgumentException: input 'tokens': expected shape [?, ?], got [6]",
    "IllegalArgumentException: input 'tokens': expected 8 elements, got 6",
    "IllegalArgumentException: input 'tokens' is missing",
    "IllegalArgumentException: input 'input.1' is missing",
    "LibraryException: an argument is NULL or out of range",
    "IllegalStateException: the model is closed",
]

EXPECTED = {
    "python": [
        "ValueError: input 'input.1': expected float32 of shape [4, 8], got shape [3, 8]",
        "ValueError: input 'tokens': expected int32 of shape [?, ?], got shape [6]",
        "TypeError: input 'input.1': expected float32 of shape [4, 8], got float64",
        "TypeError: input 'tokens' is missing",
        "TypeError: there is no input 'other'; the inputs are ['input.1', 'tokens']",
        "ModelError: an argument is NULL or out of range",
        "ValueError: the model is closed",
    ],
    "cpp": [
        "invalid_argument: input 'input.1': expected 32 elements, got 3",
        "invalid_argument: input 'tokens': expected no negative extent in dimension 0, got -2",
        "invalid_argument: input 'tokens': expected 8 elements, got 6",
        "invalid_argument: input 'input.1': expected 32 elements, got 0",
        "Error 1: an argument is NULL or out of range",
    ],
    "node": [
        "RangeError: input 'input.1': expected 32 elements, got 3",
        "RangeError: input 'tokens': expected dims [?, ?], got [6]",
        "RangeError: input 'tokens': expected 8 elements, got 6",
        "RangeError: input 'tokens': expected { data, dims } with dims [?, ?], got 6 elements",
        "TypeError: input 'input.1': expected Float32Array, got Int32Array",
        "TypeError: input 'tokens' is missing",
        "TypeError: there is no input 'other'",
        "Error: an argument is NULL or out of range",
        "TypeError: threads: expected an integer, got two",
        "Error: the model is disposed of",
    ],
    "java": _JAVA,
    "java-jni": _JAVA,
    "objc": [
        "input.1 -1: input 'input.1': expected 128 bytes, got 12",
        "tokens -1: input 'tokens': expected shape [?, ?], got [-2, 3]",
        "tokens -1: input 'tokens': expected 32 bytes, got 24",
        "input.1 -1: input 'input.1': is missing",
        "- 1: an argument is NULL or out of range",
    ],
    "rust": [
        'Input { name: "input.1", message: "expected 32 elements, got 3" }: '
        "input 'input.1': expected 32 elements, got 3",
        'Input { name: "tokens", message: "expected shape [?, ?], got [18446744073709551615, 3]" }: '
        "input 'tokens': expected shape [?, ?], got [18446744073709551615, 3]",
        'Input { name: "tokens", message: "expected 8 elements, got 6" }: '
        "input 'tokens': expected 8 elements, got 6",
        "[3, 2]",
        'Err(Library { status: 1, message: "an argument is NULL or out of range" })',
    ],
    "go": [
        "InputError: input 'input.1': expected 32 elements, got 3",
        "InputError: input 'tokens': expected shape [-1 -1] (-1: any), got [6]",
        "InputError: input 'tokens': expected 8 elements, got 6",
        "InputError: input 'input.1': expected 32 elements, got 0",
        "InputError: input 'tokens': expected shape [-1 -1] (-1: any), got []",
        "true an argument is NULL or out of range",
        "network: the model is closed",
    ],
}
"""The lines of each."""
