"""A service in this process, and a browser's visit to it as a user of its own."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from nnc.driver.checking.check import check
from nnc.service.catalogue import Catalogue, EngineEntry, TargetEntry
from nnc.service.jobs import Job
from nnc.service.limits import Quota
from nnc.service.service import Service
from nnc.targets.base import asked
from onnx import TensorProto, helper, numpy_helper

from ..remote_serving import served

CATALOGUE = Catalogue(
    (
        TargetEntry("host", "this machine: a processor of two cores", True),
        TargetEntry("wasm32-simd", "WebAssembly", True),
        TargetEntry("cortex-a76", "Arm Cortex-A76", False, "this machine is no Arm processor"),
        TargetEntry("cuda-sm90", "NVIDIA H100", False, "there is no driver of NVIDIA here"),
    ),
    (
        EngineEntry("nnc", "nnc", True),
        EngineEntry("nnc-tuned", "nnc, tuned", True),
        EngineEntry("onnxruntime", "ONNX Runtime", True),
        EngineEntry("openvino", "OpenVINO", False, "openvino is not installed", ("ONNX",)),
        EngineEntry("tensorflow", "TensorFlow", True, None, ("TensorFlow",)),
    ),
    ("f32", "f16"),
)
OWNER = "test:1"


class Served:
    """The service, its address, and what a dispatcher does, done by hand."""

    def __init__(self, service: Service, url: str) -> None:
        self.service = service
        self.url = url

    def claim(self, kind: str) -> Job:
        """The next job, which has to be of this kind."""
        job = self.service.queue.claim(OWNER, 600)
        assert job is not None
        assert job.kind == kind
        return job

    def finish_look(self, model: Path, folder: Path, look: Any = None) -> None:
        """What a look at a model finds: what `nnc check --json` says, and a page."""
        job = self.claim("look")
        page = folder / "explore.html"
        page.write_text("<!doctype html><html lang=en><title>inside</title><h1>inside</h1></html>")
        found = look or check(str(model), [asked("x86-64-v3")]).as_json()
        assert self.service.queue.finish(job, "done", found, {"explore": page})

    def finish_package(self, job: Job, found: Any, folder: Path) -> None:
        files = {}
        for name in ("package", "report", "log"):
            files[name] = folder / f"{name}-{job.id}"
            files[name].write_text(f"<p>{name}</p>")
        assert self.service.queue.finish(job, "done", found, files)


@contextmanager
def serving(folder: Path) -> Iterator[Served]:
    with served(folder, catalogue=CATALOGUE) as one:
        yield Served(one.service, f"http://127.0.0.1:{one.port}")


class Visit:
    """A user with a browser. `faults` are what its pages logged as errors."""

    def __init__(self, served: Served, chromium: Any, name: str, width: int, dark: bool) -> None:
        self.served = served
        self.user = served.service.accounts.add(name, Quota(50_000_000, 20, 600))
        _, self.token = served.service.accounts.add_token(self.user, "test")
        self.context = chromium.new_context(
            viewport={"width": width, "height": 800},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
        )
        self.context.set_default_timeout(60_000)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._log)

    def _log(self, message: Any) -> None:
        is_answer = message.text.startswith("Failed to load resource")  # the service said no
        if message.type == "error" and not is_answer:
            self.faults.append(message.text)

    def open(self, path: str) -> None:
        self.page.goto(f"{self.served.url}{path}")
        self.page.wait_for_selector("h1")

    def sign_in(self) -> None:
        """By the link that a first start prints."""
        self.open(f"/sign-in#{self.token}")
        self.page.wait_for_selector("nav >> text=Account")

    def upload(self, *files: Path) -> None:
        self.page.set_input_files(".zone input[type=file]", files)

    def models(self) -> list[dict[str, Any]]:
        return self.served.service.models.all(self.user.id)

    def text(self, selector: str = "main") -> str:
        return " ".join(self.page.inner_text(selector).split())

    def wait_for(self, text: str) -> None:
        self.page.get_by_text(text).first.wait_for()

    def serious(self) -> list[str]:
        return serious(self.page)

    def leave(self) -> None:
        """End the visit, and all that the user has left in the service."""
        self.context.close()
        self.served.service.accounts.remove(self.user)

    def is_too_wide(self) -> bool:
        return self.page.evaluate("document.documentElement.scrollWidth > innerWidth")


def serious(page: Any) -> list[str]:
    """What axe-core finds on a page that it calls serious or critical."""
    page.evaluate(axe())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']}: {node['html']}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


@cache
def axe() -> str:
    spec = find_spec("axe_playwright_python")
    assert spec is not None
    assert spec.submodule_search_locations
    return (Path(spec.submodule_search_locations[0]) / "axe.min.js").read_text()


def small_network(path: Path) -> Path:
    """A convolution, a ReLU, a mean and a product: two classes of images of 8 x 8."""
    rng = np.random.default_rng(0)
    weights = {"w": rng.normal(size=(8, 3, 3, 3)), "m": rng.normal(size=(8, 2))}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"], name="relu"),
        helper.make_node("GlobalAveragePool", ["b"], ["c"], name="pool"),
        helper.make_node("Flatten", ["c"], ["d"], name="flat"),
        helper.make_node("MatMul", ["d", "m"], ["y"], name="product"),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2])],
        [numpy_helper.from_array(a.astype(np.float32), name) for name, a in weights.items()],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), path)
    return path


def row(name: str, title: str, milliseconds: float, **others: Any) -> dict[str, Any]:
    """A row of a report: one engine on one thread."""
    return {
        "name": name, "title": title, "version": "1.0", "threads": 1, "tuned": name == "nnc-tuned",
        "median_ms": milliseconds, "spread_ms": 0.05, "throughput_per_s": 1000 / milliseconds,
        "load_ms": 20.0, "peak_bytes": 50_000_000, "size_bytes": 1_000_000, "energy_j": None,
        "error_max_abs": 1e-6, "error_max_rel": 2e-6, "accuracy_fault": None,
        "within_tolerance": True, "failed": None,
        "command": f"nnc package net.onnx --only-measure --engines {name} --threads 1",
        **others,
    }  # fmt: skip


def report(rows: Sequence[Mapping[str, Any]], recommended: str = "nnc-tuned", **others: Any) -> Any:
    """A report of `nnc package`, as far as pages read it."""
    found = {
        "engines": rows, "not_measured_because": None, "library": {"failed": None}, "notes": [],
        "reference": {"engine": "onnxruntime", "title": "ONNX Runtime"}, "why": ["3 kernels"],
        "recommendation": {
            "engine": recommended, "options": {"threads": 1}, "reason": "", "text": "Take this one.",
        },
        **others,
    }  # fmt: skip
    return json.loads(json.dumps(found))
