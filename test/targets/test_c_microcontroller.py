"""Small networks as C on a Cortex-M7, under QEMU: what this machine gives, and what they take."""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import nnc
import numpy as np
import onnx
import pytest
from nnc.artifacts.options import ArtifactOptions
from nnc.driver.artifacts import write_artifact
from nnc.driver.compile import load_module, run_stages

from ..conftest import skip_unless_ci
from ..models.small_models import GraphMaker

HERE = Path(__file__).parent / "cortex_m7"
CPU = ["-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16"]
STRICT = [
    "-std=c99",
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Os",
    "-ffunction-sections",
    "-fdata-sections",
]
COMPILERS = {
    "gcc": ["arm-none-eabi-gcc", *CPU, "-nostartfiles", "-Wl,--gc-sections"],
    "zig": [sys.executable, "-m", "ziglang", "cc", "-target", "thumb-freestanding-eabihf",
            "-mcpu=cortex_m7", "-Wl,--gc-sections"],
}  # fmt: skip
"""Zig has no C library for it."""


class Network(GraphMaker):
    """Convolutions of floats, or of 8-bit integers between steps of quantization."""

    def __init__(self, quantized: bool) -> None:
        super().__init__(5)
        self.quantized = quantized

    def stepped(self, x: str, scale: float = 0.04, zero: int = 0) -> str:
        """A tensor in steps of 8 bits."""
        if not self.quantized:
            return x
        s, z = self.constant(np.float32(scale)), self.constant(np.int8(zero))
        return self.op("DequantizeLinear", self.op("QuantizeLinear", x, s, z), s, z)

    def filters(self, *shape: int) -> str:
        if not self.quantized:
            return self.weight(*shape)
        scale = 0.02 * np.prod(shape[1:]) ** -0.5
        steps = self.random.integers(-127, 128, shape).astype(np.int8)
        zeros = self.constant(np.zeros(shape[0], np.int8))
        scales = self.constant(np.full(shape[0], scale, np.float32))
        return self.op("DequantizeLinear", self.constant(steps), scales, zeros, axis=0)

    def conv(self, x: str, cin: int, cout: int, kernel, relu: bool = True, **attributes) -> str:
        group = attributes.get("group", 1)
        weight, bias = self.filters(cout, cin // group, *kernel), self.weight(cout, scale=0.1)
        y = self.op("Conv", x, weight, bias, auto_pad="SAME_UPPER", **attributes)
        return self.stepped(self.op("Relu", y) if relu else y)

    def classified(self, x: str, channels: int, classes: int, shape) -> onnx.ModelProto:
        x = self.stepped(self.op("Flatten", self.op("GlobalAveragePool", x)))
        weight, bias = self.filters(classes, channels), self.weight(classes, scale=0.1)
        x = self.op("Softmax", self.op("Gemm", x, weight, bias, transB=1), axis=-1)
        made = self.model({"x": shape}, x)
        made.opset_import[0].version = 19
        return made


def keyword_spotter(quantized: bool) -> onnx.ModelProto:
    """DS-CNN of "Hello Edge" (2017) as MLPerf Tiny has it: 49 x 10 features, 12 words."""
    g = Network(quantized)
    x = g.conv(g.stepped("x"), 1, 64, (10, 4), strides=[2, 2])
    for _ in range(4):
        x = g.conv(g.conv(x, 64, 64, (3, 3), group=64), 64, 64, (1, 1))
    return g.classified(x, 64, 12, (1, 1, 49, 10))


def image_net(quantized: bool) -> onnx.ModelProto:
    """ResNet-8 as MLPerf Tiny has it: 32 x 32 pixels, 10 classes."""
    g = Network(quantized)
    x, channels = g.conv(g.stepped("x"), 3, 16, (3, 3)), 16
    for cout in (16, 32, 64):
        strides = [1 + (cout != 16)] * 2
        y = g.conv(x, channels, cout, (3, 3), strides=strides)
        y = g.conv(y, cout, cout, (3, 3), relu=False)
        if cout != channels:
            x = g.conv(x, channels, cout, (1, 1), relu=False, strides=strides)
        x, channels = g.stepped(g.op("Relu", g.op("Add", x, y))), cout
    return g.classified(x, 64, 10, (1, 3, 32, 32))


NETWORKS = {"keywords": (keyword_spotter, (1, 1, 49, 10)), "images": (image_net, (1, 3, 32, 32))}


MOST_RAM = {
    ("keywords", False): 81_000,
    ("keywords", True): 21_000,
    ("images", False): 224_000,
    ("images", True): 60_000,
}
"""Units: bytes. Two or three activations, with zeros around those that a convolution reads."""


def written(model: onnx.ModelProto, x: np.ndarray, results: int, folder: Path) -> list[Path]:
    """The files of a program that runs a model once."""
    module = run_stages(load_module(model), target="c-cortex-m7")
    write_artifact(module, folder / "model.c", ArtifactOptions())
    numbers = ", ".join(f"{n!r}f" for n in x.ravel().tolist())
    text = f"#define RESULTS {results}\nstatic const float input[] = {{ {numbers} }};\n"
    (folder / "inputs.h").write_text(text)
    return [folder / "model.c", HERE / "start.c"]


def sizes(image: Path) -> tuple[int, int]:
    """The bytes that a program takes in flash and in RAM, the stack left out."""
    import lief  # its library takes half a second to load

    found = lief.parse(str(image))
    assert isinstance(found, lief.ELF.Binary)
    sections = [one for one in found.sections if lief.ELF.Section.FLAGS.ALLOC in one.flags_list]
    flash = sum(one.size for one in sections if one.type != lief.ELF.Section.TYPE.NOBITS)
    ram = sum(one.size for one in sections if one.virtual_address >= 0x20000000)
    return flash, ram


@pytest.mark.emulated
@pytest.mark.sampled(3)
@pytest.mark.parametrize("quantized", [False, True], ids=["f32", "int8"])
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_networks(name, quantized, compiler, tmp_path):
    command = COMPILERS[compiler]
    there = shutil.which(command[0]) if compiler == "gcc" else find_spec("ziglang")
    if not there or not shutil.which("qemu-system-arm"):
        skip_unless_ci("no compiler or qemu-system-arm for a Cortex-M7")
    make, shape = NETWORKS[name]
    model = make(quantized)
    x = np.float32(np.random.default_rng(2).standard_normal(shape).astype(np.float16))
    want = nnc.compile(model)(x).ravel()
    sources = written(model, x, want.size, tmp_path)
    image = tmp_path / "model.elf"
    linked = ["-T", HERE / "link.ld", "-o", image]
    subprocess.run([*command, *STRICT, "-I", tmp_path, *sources, *linked], check=True)
    machine = ["qemu-system-arm", "-M", "mps2-an500", "-nographic", "-semihosting", "-kernel"]
    done = subprocess.run([*machine, image], capture_output=True, text=True, timeout=300)
    bits = re.findall(r"^[0-9a-f]{8}$", done.stdout + done.stderr, re.MULTILINE)
    assert len(bits) == want.size, done.stdout + done.stderr
    found = np.array([int(b, 16) for b in bits], np.uint32).view(np.float32)
    kind = "int8" if quantized else "f32"
    flash, ram = sizes(image)
    print(f"{name}, {kind}, {compiler}: {flash} bytes of flash, {ram} of RAM")
    assert ram <= MOST_RAM[name, quantized]
    np.testing.assert_allclose(found, want, rtol=2e-5, atol=2e-6)
