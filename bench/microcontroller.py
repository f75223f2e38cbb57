r"""What small networks take of a Cortex-M7 as nnc's C, and beside it with other tools.

    python -m bench.microcontroller [--emx PROGRAM] [--tflite-micro CHECKOUT] [--optimize -Os]

Both networks are MLPerf Tiny's: the keyword spotter (DS-CNN) and the image network (ResNet-8), as
floats and in 8 bits. Flash is the code, the constants and the weights of a linked program that does
nothing but run the network; RAM is its data, with input and output, and with the stack of
emx-onnx-cgen, which keeps activations there. Needs arm-none-eabi-gcc.

- `emx-onnx-cgen` (pip, in any environment) reads the same ONNX file.
- TensorFlow Lite Micro reads a .tflite file that TensorFlow makes of the same layers, which nnc
  reads as well. Its library is built before, in a checkout, and qemu-system-arm runs it for the
  size of its arena:

    make -f tensorflow/lite/micro/tools/make/Makefile TARGET=cortex_m_generic \
        TARGET_ARCH=cortex-m7+fp BUILD_TYPE=release microlite
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx
from nnc.artifacts.options import ArtifactOptions
from nnc.driver.artifacts import write_artifact
from nnc.driver.compile import load_module, run_stages
from nnc.ir.diagnostics import NncError
from nnc.test.targets.test_c_microcontroller import COMPILERS, HERE, NETWORKS, sizes

from .command import run

FLAGS = ["-ffunction-sections", "-fdata-sections", "-T", str(HERE / "link.ld"), "-w"]
LIBRARY = "gen/cortex_m_generic_cortex-m7+fp_release_gcc/lib/libtensorflow-microlite.a"
DOWNLOADS = "tensorflow/lite/micro/tools/make/downloads"
MAIN = """
extern char __stack;
static __attribute__((aligned(4))) char input[{inputs}], output[{outputs}];
void {call}(const void *, void *);
void reset(void) {{ {call}(input, output); for (;;) {{ }} }}
__attribute__((section(".vectors"), used)) static const void *const
    vectors[] = {{ &__stack, reset }};
"""

Size = tuple[int, int]
"""The bytes of flash and of RAM."""


class Tools:
    """The installed compilers and peers, and programs made with them."""

    def __init__(self, given: argparse.Namespace, folder: Path) -> None:
        self.given, self.folder = given, folder

    def linked(self, program: str, sources: list[Path], *flags: str) -> Path:
        """Link a program for the Cortex-M7; returns its path. Raises NncError with the compiler's
        message.
        """
        image = self.folder / "image.elf"
        command = [program, *COMPILERS["gcc"][1:], self.given.optimize, *FLAGS, *flags]
        command += [*map(str, sources), "-o", str(image)]
        done = subprocess.run([*command, "-lm"], capture_output=True, text=True)
        if done.returncode:
            raise NncError(f"'{program}' fails: {done.stderr.strip()[-300:]}")
        return image

    def c_program(self, source: Path, call: str, inputs: int) -> Size:
        """The memory use of a program that calls a function of a C file."""
        main = self.folder / "main.c"
        main.write_text(MAIN.format(call=call, inputs=inputs, outputs=4 * 12))
        flags = ("-fstack-usage", "-dumpdir", f"{self.folder}/", "--specs=nosys.specs")
        return sizes(self.linked("arm-none-eabi-gcc", [main, source], "-std=gnu11", *flags))

    def nnc(self, model: Path, inputs: int) -> Size:
        """The memory use of nnc's C for an ONNX or TensorFlow Lite file."""
        source = self.folder / "model.c"
        module = run_stages(load_module(model), target="c-cortex-m7")
        write_artifact(module, source, ArtifactOptions())
        return self.c_program(source, "nnc_call", inputs)

    def emx(self, model: Path, inputs: int) -> Size:
        """The memory use of emx-onnx-cgen's C; its largest stack frame counts as RAM."""
        source = self.folder / "emx.c"
        options = ["--large-weight-threshold", "0", "--large-temp-threshold", "0"]
        options += ["--model-name", "emx_model"]
        command = [self.given.emx, "compile", str(model), str(source), *options]
        subprocess.run(command, check=True, capture_output=True)
        flash, ram = self.c_program(source, "emx_model", inputs)
        (usage,) = self.folder.glob("*emx.su")
        return flash, ram + max(int(line.split("\t")[1]) for line in usage.read_text().splitlines())

    def tflite_micro(self, model: Path, inputs: int) -> Size:
        """The memory use of TensorFlow Lite Micro, which reports how much of its arena it used."""
        checkout, numbers = Path(self.given.tflite_micro), ",".join(map(str, model.read_bytes()))
        array = f"alignas(16) static const unsigned char model_data[] = {{{numbers}}};\n"
        (self.folder / "model_data.h").write_text(array)
        downloads = [DOWNLOADS + name for name in ("/flatbuffers/include", "/gemmlowp", "/ruy")]
        includes = [f"-I{checkout / name}" for name in ("", *downloads)]
        options = ["-std=c++17", "-fno-rtti", "-fno-exceptions", "-DTF_LITE_STATIC_MEMORY"]
        options += ["-DNDEBUG", "-DTF_LITE_STRIP_ERROR_STRINGS", "--specs=nano.specs"]
        options += ["--specs=nosys.specs", f"-I{self.folder}", *includes]
        if "keywords" in model.name:
            options.append("-DDEPTHWISE")
        sources = [Path(__file__).with_name("tflite_micro.cc"), checkout / LIBRARY]
        image = self.linked("arm-none-eabi-g++", sources, *options)
        command = ["qemu-system-arm", "-M", "mps2-an500", "-nographic", "-semihosting"]
        done = subprocess.run([*command, "-kernel", image], capture_output=True, text=True)
        flash, ram = sizes(image)
        arena = int((done.stdout + done.stderr).split()[-1])
        return flash, ram - (1 << 20) + arena

    def missing(self) -> Iterator[str]:
        """What cannot be compared here, and what to install."""
        if not self.has_emx:
            yield "emx-onnx-cgen is not installed: pip install it, and give --emx PROGRAM"
        if not self.has_tflite_micro:
            yield "TensorFlow Lite Micro is not built: give --tflite-micro CHECKOUT, see --help"

    @property
    def has_emx(self) -> bool:
        return shutil.which(self.given.emx) is not None

    @property
    def has_tflite_micro(self) -> bool:
        return (Path(self.given.tflite_micro or "/nowhere") / LIBRARY).exists()


def keras_model(name: str):
    """One of the networks in Keras."""
    from tensorflow import keras

    one, two = keras.layers, {"padding": "same"}
    if name == "keywords":
        x = start = one.Input((49, 10, 1), 1)
        x = one.Conv2D(64, (10, 4), 2, activation="relu", **two)(x)
        for _ in range(4):
            x = one.DepthwiseConv2D(3, activation="relu", **two)(x)
            x = one.Conv2D(64, 1, activation="relu")(x)
    else:
        x = start = one.Input((32, 32, 3), 1)
        x = one.Conv2D(16, 3, activation="relu", **two)(x)
        for channels in (16, 32, 64):
            strides = 1 + (channels != 16)
            y = one.Conv2D(channels, 3, strides, activation="relu", **two)(x)
            y = one.Conv2D(channels, 3, **two)(y)
            x = x if strides == 1 else one.Conv2D(channels, 1, strides, **two)(x)
            x = one.ReLU()(one.Add()([x, y]))
    classes = 12 if name == "keywords" else 10
    x = one.Dense(classes, activation="softmax")(one.GlobalAveragePooling2D()(x))
    return keras.Model(start, x)


def tflite_file(name: str, quantized: bool, folder: Path) -> Path:
    """The network as TensorFlow's converter writes it, in 8-bit integers or floats."""
    import numpy as np
    import tensorflow as tf

    tf.keras.utils.set_random_seed(5)
    model = keras_model(name)
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    if quantized:
        rng = np.random.default_rng(0)
        data = [[np.float32(rng.standard_normal(model.input_shape))] for _ in range(20)]
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: iter(data)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
    path = folder / f"{name}.tflite"
    with redirect_stdout(sys.stderr):
        path.write_bytes(converter.convert())
    return path


def onnx_file(name: str, quantized: bool, folder: Path) -> Path:
    """The network as an ONNX file, made as in the tests."""
    path = folder / f"{name}.onnx"
    onnx.save(NETWORKS[name][0](quantized), path)
    return path


def rows(tools: Tools) -> Iterator[str]:
    """The lines of the table."""
    peers: list[tuple[str, Callable, Callable]] = []
    if tools.has_emx:
        peers.append(("emx-onnx-cgen", onnx_file, tools.emx))
    if tools.has_tflite_micro:
        peers.append(("TensorFlow Lite Micro", tflite_file, tools.tflite_micro))
    yield "| network | beside | nnc: flash, RAM | the other: flash, RAM |"
    yield "|---|---|---|---|"
    for peer, make, measure in peers or [("", onnx_file, None)]:
        for name, (_, shape) in NETWORKS.items():
            for quantized in (False, True):
                path = make(name, quantized, tools.folder)
                width = 1 if quantized and path.suffix == ".tflite" else 4
                inputs = width * shape[1] * shape[2] * shape[3]
                both = [tools.nnc(path, inputs)] + ([measure(path, inputs)] if measure else [])
                cells = [", ".join(f"{n / 1e3:.1f} kB" for n in size) for size in both]
                kind = "int8" if quantized else "f32"
                yield f"| {name}, {kind} | {peer} | {' | '.join(cells)} |"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--emx", default="emx-onnx-cgen", help="the program, where not in PATH")
    parser.add_argument("--tflite-micro", help="a checkout with its library")
    parser.add_argument("--optimize", default="-Os", help="of the C compiler")
    with TemporaryDirectory(prefix="nnc-bench-") as folder:
        tools = Tools(parser.parse_args(), Path(folder))
        if not shutil.which("arm-none-eabi-gcc"):
            raise NncError("arm-none-eabi-gcc is not installed: apt-get install gcc-arm-none-eabi")
        for line in tools.missing():
            print(line, file=sys.stderr)
        for line in rows(tools):
            print(line, flush=True)


if __name__ == "__main__":
    run(main)
