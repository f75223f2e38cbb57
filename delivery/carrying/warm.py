"""Imported by fork servers before the first request: what looking at any model needs, once."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ...driver.checking.check import check
from ...frontends.formats import FORMATS
from ...targets.base import HOST, asked

_MODEL = """builtin.module {
  func.func @model(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32> {
    %0 = nn.conv %x, %w : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
    func.return %0 : tensor<1x8x6x6xf32>
  }
}
"""


def warm() -> None:
    """Check a small model, which loads all stages, and load the front ends of all formats."""
    for one in FORMATS:
        _ = one.front_end
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mlir"
        path.write_text(_MODEL)
        check(str(path), [asked(HOST)])


warm()
