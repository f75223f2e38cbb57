"""Fields of nodes: what is read, what may stay unread, and what is refused."""

from __future__ import annotations

import onnx.parser
import pytest
from nnc import NncError
from nnc.frontends.common.fields import Fields, Ignored, IgnoredFields, RecordFields
from nnc.frontends.formats import import_model
from nnc.frontends.wire.protobuf import Schema
from nnc.test.frontends.protobuf_writer import written

SCHEMA = Schema("""
Layer
  1 name string
  2 window Window
  3 sizes int*
Window
  1 kernel int
  2 pad int
""")
LAYER = {"name": "pool", "window": {"kernel": 3, "pad": 1}, "sizes": [4, 5]}


def test_what_was_not_asked_for_is_unread():
    fields = Fields({"kernel": 3, "pad": 1, "stride": 2, "group": 4})
    assert fields["kernel"] == 3
    assert fields.get("pad") == 1
    assert "stride" in fields
    assert fields.get("dilation") is None
    assert dict(fields.unread()) == {"group": 4}
    assert dict(fields) == {"kernel": 3, "pad": 1, "stride": 2, "group": 4}
    assert dict(fields.unread()) == {}


def test_fields_of_messages_inside_count_by_themselves():
    record = RecordFields(SCHEMA.read("Layer", written(SCHEMA, "Layer", LAYER)))
    assert record.name == "pool"
    assert {name for name, _ in record.unread()} == {"window", "sizes"}
    assert record.part("window").kernel == 3
    assert record.has("sizes")
    assert dict(record.unread()) == {"window.pad": 1}
    assert record.window.pad == 1
    assert dict(record.unread()) == {}


def test_table_of_what_may_stay_unread():
    table = IgnoredFields(
        Ignored("engine cudnn_*", "of other runtimes"),
        Ignored("momentum", "of training", "BatchNorm"),
        Ignored("order axes", "as nnc has it", values=("NCHW", (0, 1), 0)),
    )

    def refused(kind: str, **fields: object) -> list[str]:
        return [name for name, _ in table.refused(kind, fields.items())]

    assert refused("Conv", engine="x", cudnn_algo=1, left_out=None) == []
    assert refused("Conv", momentum=0.9) == ["momentum"]
    assert refused("BatchNorm", momentum=0.9, order="NCHW", axes=[0, 1]) == []
    assert refused("BatchNorm", order="NHWC", axes=[1, 0]) == ["order", "axes"]
    assert refused("Conv", order=0) == []
    assert refused("Conv", order=False) == ["order"]


@pytest.mark.parametrize("locale", ["en_US", "C.UTF-8", "tr_TR"])
def test_texts_that_may_stay_unread_in_onnx(locale):
    model = onnx.parser.parse_model(
        f"""<ir_version: 9, opset_import: ["" : 19]> g (string[2] x) => (string[N] y)
        {{ y = StringNormalizer<case_change_action="LOWER", locale="{locale}"> (x) }}"""
    )
    if locale == "tr_TR":
        with pytest.raises(NncError, match="attribute 'locale' is 'tr_TR', which is not supported"):
            import_model(model)
    else:
        assert import_model(model)
