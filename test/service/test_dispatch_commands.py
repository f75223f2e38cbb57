"""Jobs carried out by commands of nnc, confined, from the upload to what is downloaded."""

import io
import json
import shlex
import subprocess
import sys
import time
import zipfile

import numpy as np
import onnx
import pytest
from nnc.delivery.carrying.carry import PRELOAD
from nnc.delivery.confined.limits import Limits
from nnc.delivery.confined.start import Confinement
from nnc.ir.diagnostics import NncError
from nnc.service.catalogue import Catalogue, EngineEntry, TargetEntry
from nnc.service.dispatch.dispatcher import Dispatcher
from nnc.service.dispatch.hands import Here
from nnc.service.jobs import Wanted
from nnc.service.limits import Limits as ServiceLimits
from nnc.service.service import Service
from nnc.service.storage.schema import jobs

pytestmark = pytest.mark.service

NAME = "Mein Modell (v2) 'x';.onnx"
CALLED = "Mein Modell (v2) _x__.onnx"


@pytest.fixture(scope="module")
def confinement():
    try:
        with Confinement(preload=PRELOAD) as made:
            yield made
    except NncError as error:
        pytest.skip(error.message)


def small(operator="Relu"):
    text = f"""
        <ir_version: 8, opset_import: ["" : 18]>
        g (float[1,16] x, float[16,16] w) => (float[1,16] y) {{
          m = MatMul(x, w)
          y = {operator}(m)
        }}
    """
    model = onnx.parser.parse_model(text)
    model.graph.input.pop()
    weights = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    return model.SerializeToString()


@pytest.fixture
def service(tmp_path, stores):
    catalogue = Catalogue(
        [TargetEntry("cuda-sm80", "a GPU", False, "none is here")],
        [EngineEntry("nnc", "this compiler", True)],
    )
    limits = ServiceLimits(free_bytes=0)
    made = Service(tmp_path / "service", catalogue=catalogue, limits=limits, **stores)
    yield made
    made.close()


def carried(service, confinement, person):
    """The jobs of a user, once they were carried out."""
    deadline = time.monotonic() + 120
    hands = Here("here", Wanted(), confinement, Limits(), service.kept)
    with Dispatcher(service, [hands]):
        while any(service.queue.counts().get(state) for state in ("queued", "running")):
            assert time.monotonic() < deadline
            time.sleep(0.1)
    return service.queue.shown(person.user.id, jobs.c.id.is_not(None))


def test_commands_and_reports_have_the_name_that_the_user_gave(
    person, service, confinement, tmp_path
):
    ann = person()
    model = ann.upload(small(), NAME)
    ann.order(model, targets=["cuda-sm80"], precisions=["f32"], engines=["nnc"])
    look, package = carried(service, confinement, ann)
    assert (look["state"], package["state"]) == ("done", "done"), (look, package)
    assert ann.ask("GET", f"/models/{model}").json()["look"]["model"] == CALLED
    assert CALLED in ann.ask("GET", f"/models/{model}/explore").text
    assert package["report"]["model"]["name"] == CALLED
    log = ann.ask("GET", f"/jobs/{package['id']}/log").text
    assert shlex.quote(CALLED) in log and "model/" not in log
    content = ann.ask("GET", f"/jobs/{package['id']}/package").content
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        opened.extractall(tmp_path)
    home = tmp_path / "package"
    made = json.loads((home / "report.json").read_text())["library"]
    before = (home / made["file"]).read_bytes()
    (home / CALLED).write_bytes(small())
    (home / made["file"]).unlink()
    words = shlex.split(made["command"])
    assert (
        words[:3] == ["nnc", "compile", CALLED]
        and made["command"] in (home / "README.md").read_text()
    )
    subprocess.run([sys.executable, "-m", "nnc.tools.nnc", *words[1:]], cwd=home, check=True)
    assert (home / made["file"]).read_bytes() == before


def test_a_model_of_which_some_is_not_supported_has_no_page(person, service, confinement):
    ann = person()
    model = ann.upload(small("Nonesuch"), "odd.onnx")
    (job,) = carried(service, confinement, ann)
    assert job["state"] == "done"
    shown = ann.ask("GET", f"/models/{model}").json()
    assert shown["look"]["unsupported"] and shown["look"]["no_page"]
    assert not shown["pages"]["explore"]
    assert "explore" not in ann.ask("GET", f"/jobs/{job['id']}/log").text
