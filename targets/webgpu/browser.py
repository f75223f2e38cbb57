"""A module of JavaScript that runs a model on the GPU of a browser.

model.mjs       the loader; packed, kernels (WGSL) and the program around them (WebAssembly)
model.weights   the weights, and the digest of the program
"""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ...artifacts.bindings.language import ModelView, language, rendered
from ...artifacts.interface import Interface
from ...dialects import gpu
from ...ir.core import Operation
from ...ir.files import Part, write_together
from ...ir.timing import Timed, untimed
from ...runtime.abi import DEVICE_CONSTANT, DEVICE_COPY, DEVICE_TAKE, RUN
from ...runtime.program import Program
from ..base import TrialCode
from ..device.target import DeviceTarget
from ..source.kernels import Kernels
from ..wasm.linker import find_wasm_toolchain
from ..wasm.module import about_program, kernels_module, linked, loader_text, memory_pages

ROOM = Path(__file__).parent
LOADER_SOURCE, DEVICE_SOURCE = ROOM / "webgpu.mjs", ROOM / "device.mjs"
_FEATURES = {"f16": "shader-f16", "subgroups": "subgroups"}
"""WebGPU's names of the features that a shader enables."""


def packed(kernels: Kernels, around: str, code: bytes) -> bytes:
    """The code of a program: a line of JSON about its kernels, then an object file for wasm32.

    `around` is that object file's LLVM IR. The copies to the host that a run has to wait for, and
    the size of the largest buffer of static size, are found in it.
    """
    asked = re.findall(
        rf"@(?:{DEVICE_TAKE}|{DEVICE_CONSTANT})\((?:[^()]*, )?i32 (?:\w+ )?(\d+)\)", around
    )
    about = {
        "kernels": kernels.text,
        "rows": kernels.rows,
        "checks": kernels.checks,
        "waits": len(re.findall(rf"call void @{DEVICE_COPY}\(.*, i32 1\)", around)),
        "largest": max(map(int, asked), default=0),
    }
    return json.dumps(about).encode() + b"\n" + code


def write_module(
    target: DeviceTarget, program: Program, path: Path, timed: Timed = untimed
) -> list[Path]:
    """Write a `.mjs` file, its types and its weights; returns the files, `path` first.

    Raises NncError.
    """
    spoken = language("webgpu")
    found = Interface.of(program.signature, path.stem, target.name, inside=False)
    view = ModelView(found, spoken, path.name)
    pages = memory_pages(program, path, view)
    head, _, code = program.code.partition(b"\n")
    stamp = blake2b(program.code, digest_size=8).digest()
    with timed("Link"):
        made = linked(find_wasm_toolchain(), code, [RUN], pages, shared=False)
    kernels = json.loads(head)
    about = about_program(program, path, view) | {
        "pages": pages,
        "stamp": stamp.hex(),
        "parallel": False,
        "code": _deflated(made),
        **_device(kernels, target),
        "kernels": _deflated("\0".join(_apart(kernels["kernels"], kernels["rows"])).encode()),
    }
    types = rendered("model.d.ts", view, spoken)
    files: dict[Path, Sequence[Part]] = {
        path: (loader_text(LOADER_SOURCE, about, DEVICE_SOURCE),),
        path.with_suffix(".weights"): (program.weights.data, stamp),
        **dict.fromkeys(map(path.with_suffix, (".d.ts", ".d.mts")), (types,)),
    }
    with timed("Output"):
        write_together(files)
    return list(files)


def kernels_trial(target: DeviceTarget, module: Operation, names: Sequence[str]) -> TrialCode:
    """The functions that launch these kernels, and the kernels' texts; the module, after the last
    stage, is changed. Raises NncError.
    """
    found = target.kernels_of(module)
    for op in list(module.body_block):
        if isinstance(op, gpu.GPUModuleOp):
            op.erase()
    kernels = {"kernels": found.text, "rows": found.rows, "checks": found.checks}
    about = _device({**kernels, "waits": 0, "largest": 0}, target)
    texts = _apart(found.text, found.rows)
    return TrialCode(kernels_module(target.caller, module, names), {**about, "texts": texts})


def _device(kernels: dict[str, Any], target: DeviceTarget) -> dict[str, Any]:
    """The facts about kernels by which a loader opens a device."""
    return {
        "rows": kernels["rows"],
        "checks": kernels["checks"],
        "waits": kernels["waits"],
        "features": [v for k, v in _FEATURES.items() if f"enable {k};" in kernels["kernels"]],
        "limits": _limits(kernels, target.machine.workgroup_bytes),
    }


def _limits(kernels: dict[str, Any], workgroup_bytes: int) -> dict[str, int]:
    """The limits that an adapter must support, by WebGPU's names."""
    rows = [row.split(" ") for row in kernels["rows"]]
    threads = max((int(row[1]) for row in rows), default=1)
    buffers = max((sum(kind in "ars" for kind in row[2]) for row in rows), default=1)
    largest = -(-kernels["largest"] // 16) * 16
    return {
        "maxComputeInvocationsPerWorkgroup": threads,
        "maxComputeWorkgroupSizeX": threads,
        "maxComputeWorkgroupStorageSize": workgroup_bytes,
        "maxStorageBuffersPerShaderStage": buffers,
        "maxStorageBufferBindingSize": largest,
        "maxBufferSize": largest,
    }


def _apart(text: str, rows: Sequence[str]) -> list[str]:
    """The text of each kernel alone, as a browser parses a whole module for each entry point."""
    text = re.sub(r"(@compute [^\n]*)\n", r"\1 ", _plain(text))
    declared: dict[str, str] = {}
    head = ""
    for part in re.split(r"\n(?=@|fn |var<|enable )", text):
        name = re.search(r"(?:\bfn |\bvar<[^>]*> )(\w+)", part)
        if name is None:
            head += part
        else:
            declared[name[1]] = part
    found = []
    for row in rows:
        needed, waiting = dict.fromkeys([row.partition(" ")[0]]), [row.partition(" ")[0]]
        while waiting:
            named = [n for n in re.findall(r"\w+", declared[waiting.pop()]) if n in declared]
            waiting += [n for n in dict.fromkeys(named) if n not in needed]
            needed |= dict.fromkeys(named)
        found.append("\n".join([head, *(declared[n] for n in declared if n in needed)]))
    return found


def _plain(text: str) -> str:
    """WGSL without comments, empty lines and indentation."""
    lines = (line.strip() for line in re.sub(r"/\*.*?\*/", "", text, flags=re.S).splitlines())
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))


def _deflated(data: bytes) -> str:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return b64encode(packer.compress(data) + packer.flush()).decode()
