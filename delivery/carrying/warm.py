"""Imported by fork servers before the first request: loads once what most jobs need."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import onnx

from ...driver.checking.check import check
from ...driver.compile import load_module
from ...explorer.explore import Source, explore
from ...frontends.formats import FORMATS
from ...targets.base import HOST, asked
from ..page import environment

_MODEL = """
<ir_version: 8, opset_import: ["" : 18]>
small (float[1,3,8,8] x, float[8,3,3,3] w, float[6,4] m) => (float[1,8,6,4] y) {
  c = Conv(x, w)
  r = Relu(c)
  y = MatMul(r, m)
}
"""
_MODULES = ("delivery.package", "delivery.writing", "driver.tuning.tune", "tools.package")
"""Modules that `nnc package` imports, by their names within nnc.

They are imported by name because `delivery` may not import `tools`.
"""


def warm() -> None:
    """Check a small model and make its page, which loads all stages, and load all front ends. A
    failure is ignored here, as the command that needs the module then reports it.
    """
    root = __name__.partition(".delivery.")[0]
    for one in FORMATS:
        _ = one.front_end
    for name in _MODULES:
        import_module(f"{root}.{name}")
    for escaped, template in ((True, "report.html.jinja"), (False, "readme.md.jinja")):
        environment(escaped).get_template(template)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        onnx.save(onnx.parser.parse_model(_MODEL), path)
        check(str(path), [asked(HOST)])
        explore([Source("model", lambda: load_module(str(path)))], [None])


with suppress(Exception):
    warm()
