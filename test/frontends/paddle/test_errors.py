"""What is wrong with files of PaddlePaddle is said in one error."""

import json
import random
from contextlib import suppress

import pytest
from nnc.frontends.common.source import Source
from nnc.frontends.formats import examine_model, find_format, import_model
from nnc.ir.diagnostics import NncError

from .test_paddle import unpacked


def program(path):
    return json.loads(path.read_text())


def test_missing_operators(tmp_path):
    """All operators that are missing are in one error."""
    path = unpacked("networks", tmp_path)
    text = path.read_text().replace('"1.softmax"', '"1.mystery"').replace('"1.bmm"', '"1.riddle"')
    path.write_text(text)
    with pytest.raises(NncError) as found:
        import_model(path)
    assert "(mystery): not supported" in str(found.value)
    assert "(riddle): not supported" in str(found.value)


@pytest.mark.parametrize("name", ["networks", "networks_old"])
def test_parameters(tmp_path, name):
    """Parameters that are missing, cut off or too many."""
    path = unpacked(name, tmp_path)
    beside = path.with_suffix(".pdiparams")
    whole = beside.read_bytes()
    beside.write_bytes(whole[:-5])
    with pytest.raises(NncError, match="the file ends inside of parameter '"):
        import_model(path)
    beside.write_bytes(whole + bytes(9))
    with pytest.raises(NncError, match="9 bytes are left behind"):
        import_model(path)
    beside.unlink()
    with pytest.raises(NncError, match="is missing beside the model"):
        import_model(path)


def test_what_it_says_of_itself(tmp_path):
    """Both forms are found by content, and tell what wrote them."""
    new, old = unpacked("movement", tmp_path), unpacked("movement_old", tmp_path)
    assert find_format(Source(new)).name == find_format(Source(old)).name == "PaddlePaddle"
    assert examine_model(new).producer.startswith("PaddlePaddle, PIR version")
    assert examine_model(old).producer == "PaddlePaddle, 2.6.2"


def test_broken_programs(tmp_path):
    """A program with a block too many, and one whose operator has lost its operands."""
    path = unpacked("movement", tmp_path)
    document = program(path)
    document["program"]["regions"] *= 2
    path.write_text(json.dumps(document))
    with pytest.raises(NncError, match=r"movement\.json: error: no program of PaddlePaddle's PIR"):
        import_model(path)


@pytest.mark.parametrize("name", ["movement", "movement_old"])
def test_damaged_files(tmp_path, name):
    """Files with changed bytes are models or give an error of ours."""
    path = unpacked(name, tmp_path)
    pick = random.Random(1)
    whole = path.read_bytes()
    for _ in range(25):
        data = bytearray(whole)
        for _ in range(pick.randrange(1, 4)):
            data[pick.randrange(len(data))] = pick.randrange(256)
        path.write_bytes(data[: pick.choice([len(data), len(data), len(data) // 2])])
        with suppress(NncError):
            import_model(path).verify()
