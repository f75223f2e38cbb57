"""Tiles of products on devices whose groups compute their inputs themselves."""

from nnc.dialects.marks import DEVICE
from nnc.driver.compile import load_module, run_stages

from ..models.small_models import GraphMaker


def test_tiles_that_producers_share_come_first():
    """A tile with parts of rows, which wastes fewer lines, would leave the border to launches of
    its own: five for a padded depthwise convolution.
    """
    g = GraphMaker()
    x = g.op("Conv", "x", g.weight(72, 1, 3, 3), pads=[1] * 4, strides=[2, 2], group=72)
    module = run_stages(
        load_module(g.model({"x": (1, 72, 10, 11)}, g.op("Relu", x))), target="cuda"
    )
    note = module.attributes[DEVICE]
    assert note.get("launches").value == 1  # type: ignore[attr-defined]
