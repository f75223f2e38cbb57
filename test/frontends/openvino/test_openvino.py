"""Models of OpenVINO against OpenVINO's own results, which `make.py` has stored."""

from pathlib import Path

import nnc
import numpy as np
import pytest
from nnc.frontends.common.source import Source
from nnc.frontends.formats import examine_model, find_format, import_model
from nnc.ir.diagnostics import NncError

FILES = Path(__file__).parent / "files"
GROUPS = sorted(path.stem for path in FILES.glob("*.xml"))


@pytest.mark.parametrize("name", GROUPS)
def test_operations(name):
    """Each operation of a group gives what OpenVINO gives."""
    model = nnc.compile(FILES / f"{name}.xml")
    stored = np.load(FILES / f"{name}.npz")
    found = list(model.run({key: stored[key] for key in stored if key[0] == "x"}).values())
    wanted = [stored[f"out{i}"] for i in range(len(stored.files) - len(model.input_names))]
    assert len(found) == len(wanted)
    for i, (value, one) in enumerate(zip(found, wanted, strict=True)):
        assert value.dtype == one.dtype, i
        assert value.shape == one.shape, i
        wide, other = value.astype(np.float64), one.astype(np.float64)
        assert np.abs(wide - other).max() <= 1e-4 * np.abs(other).max(), i


NET = """<?xml version="1.0"?>
<net name="t" version="11"><layers>
<layer id="0" name="in" type="Parameter" version="opset1">
<data shape="?,2" element_type="f32"/>
<output><port id="0" precision="FP32" names="a\\,b,c"><dim>-1</dim><dim>2</dim></port></output>
</layer>
<layer id="1" name="k" type="Const" version="opset1">
<data element_type="f32" shape="2" offset="0" size="8"/>
<output><port id="0" precision="FP32"><dim>2</dim></port></output>
</layer>
<layer id="2" name="sum" type="Add" version="opset1"><data auto_broadcast="numpy"/>
<input><port id="0"/><port id="1"/></input>
<output><port id="2" precision="FP32"><dim>-1</dim><dim>2</dim></port></output>
</layer>
<layer id="3" name="out" type="Result" version="opset1" output_names="total">
<input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
</edges></net>
"""


def written(folder: Path, text: str = NET, weights: bytes | None = None) -> Path:
    path = folder / "net.xml"
    path.write_text(text)
    data = np.array([1, 2], "f4").tobytes() if weights is None else weights
    path.with_suffix(".bin").write_bytes(data)
    return path


def test_names_and_open_extents(tmp_path):
    """Callers use the first names of tensors, in which commas are escaped."""
    model = nnc.compile(written(tmp_path))
    found = model.run({"a,b": np.ones((3, 2), np.float32)})
    np.testing.assert_array_equal(found["total"], np.tile(np.array([2, 3], "f4"), (3, 1)))


def test_it_is_found_and_described(tmp_path):
    path = written(tmp_path)
    assert find_format(Source(path)).name == "OpenVINO"
    about = examine_model(path)
    assert not about.faults
    assert [one.name for one in about.operators] == ["Add"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('version="11"', 'version="6"', "net of version 6, expected OpenVINO's net"),
        ("</net>", "", "no XML"),
        ("<layers>", "<!DOCTYPE a><layers>", "a document type"),
        ('type="Add"', 'type="Mystery"', "layer 'sum' (Mystery): not supported"),
        ('size="8"', 'size="9"', "lies outside of the weights"),
        ('size="8"', 'size="4"', "4 bytes, expected 2 numbers of type 'f32'"),
        ('offset="0"', 'offset="-4"', "lies outside of the weights"),
        ('offset="0"', 'offset="x"', "no model of OpenVINO: ValueError"),
        ('element_type="f32" shape="2"', 'element_type="i2" shape="2"', "type 'i2'"),
        ('element_type="f32" shape="2"', 'element_type="nf4" shape="2"', "8 bytes, expected 2"),
        ('shape="?,2" element_type="f32"', 'shape="?,2" element_type="dynamic"', "types of its"),
        ('<edge from-layer="1"', '<edge from-layer="9"', "nothing is connected to its input 1"),
        ('auto_broadcast="numpy"', 'auto_broadcast="pdpd"', "'auto_broadcast' is 'pdpd'"),
        ('name="sum" type="Add" version="opset1"', 'type="Add"', "no model of OpenVINO: KeyError"),
        (
            'precision="FP32"><dim>-1</dim><dim>2</dim></port></output>\n</layer>\n<layer id="3"',
            'precision="I64"><dim>-1</dim><dim>2</dim></port></output>\n</layer>\n<layer id="3"',
            "gives elements of type f32 where the model has i64",
        ),
    ],
)
def test_what_is_wrong_is_said(tmp_path, old, new, message):
    assert old in NET
    with pytest.raises(NncError) as found:
        import_model(written(tmp_path, NET.replace(old, new, 1)))
    assert message in found.value.message


STATE = """<?xml version="1.0"?>
<net name="t" version="11"><layers>
<layer id="0" name="in" type="Parameter" version="opset1">
<data shape="2" element_type="f32"/>
<output><port id="0" precision="FP32" names="x"><dim>2</dim></port></output>
</layer>
<layer id="1" name="k" type="Const" version="opset1">
<data element_type="f32" shape="2" offset="0" size="8"/>
<output><port id="0" precision="FP32"><dim>2</dim></port></output>
</layer>
<layer id="2" name="read" type="ReadValue" version="opset6">
<data variable_id="total" variable_type="f32" variable_shape="2"/>
<input><port id="0"/></input>
<output><port id="1" precision="FP32"><dim>2</dim></port></output>
</layer>
<layer id="3" name="sum" type="Add" version="opset1"><data auto_broadcast="numpy"/>
<input><port id="0"/><port id="1"/></input>
<output><port id="2" precision="FP32"><dim>2</dim></port></output>
</layer>
<layer id="4" name="set" type="Assign" version="opset6">
<data variable_id="total" variable_type="f32" variable_shape="2"/>
<input><port id="0"/></input>
<output><port id="1" precision="FP32"><dim>2</dim></port></output>
</layer>
<layer id="5" name="out" type="Result" version="opset1" output_names="y">
<input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="1" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="2" from-port="1" to-layer="3" to-port="0"/>
<edge from-layer="0" from-port="0" to-layer="3" to-port="1"/>
<edge from-layer="3" from-port="2" to-layer="4" to-port="0"/>
<edge from-layer="3" from-port="2" to-layer="5" to-port="0"/>
</edges></net>
"""


def test_states_are_inputs_and_outputs(tmp_path):
    """A state begins with its stored value; each call gives what the next one gets."""
    model = nnc.compile(written(tmp_path, STATE))
    found = model.run({"x": np.float32([10, 20])})
    np.testing.assert_array_equal(found["y"], [11, 22])
    again = model.run({"x": np.float32([10, 20]), "total": found["total_out"]})
    np.testing.assert_array_equal(again["y"], [21, 42])


def test_a_state_that_is_not_read_is_no_input(tmp_path):
    """What is set and never read has no type of its own, but a value for the caller."""
    text = STATE.replace('type="ReadValue"', 'type="ReLU"').replace(
        '<data variable_id="total" variable_type="f32" variable_shape="2"/>\n<input><port id="0"/>'
        '</input>\n<output><port id="1" precision="FP32"><dim>2</dim></port></output>\n</layer>\n'
        '<layer id="3"',
        '<input><port id="0"/></input>\n<output><port id="1" precision="FP32"><dim>2</dim></port>'
        '</output>\n</layer>\n<layer id="3"',
    )
    model = nnc.compile(written(tmp_path, text))
    assert list(model.input_names) == ["x"]
    assert list(model.output_names) == ["y", "total_out"]


def test_missing_weights(tmp_path):
    path = written(tmp_path)
    path.with_suffix(".bin").unlink()
    with pytest.raises(NncError, match=r"net\.bin' is missing beside the model"):
        import_model(path)
    with pytest.raises(NncError, match="give a path"):
        import_model(NET.encode())


@pytest.mark.parametrize("seed", range(60))
def test_broken_files_give_errors(tmp_path, seed):
    """Whatever bytes are changed, the result is a module or an error of nnc."""
    random = np.random.default_rng(seed)
    data = bytearray((FILES / "movement.xml").read_bytes())
    for at in random.integers(0, len(data), 4):
        data[at] = random.integers(32, 127)
    path = tmp_path / "net.xml"
    path.write_bytes(bytes(data))
    path.with_suffix(".bin").write_bytes((FILES / "movement.bin").read_bytes())
    try:
        import_model(path)
    except NncError as error:
        assert error.message
