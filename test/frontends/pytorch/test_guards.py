"""What torch.export's programs require of their inputs: nnc refuses what PyTorch refuses."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path

import nnc
import numpy as np
import pytest
from nnc import NncError
from nnc.frontends.formats import examine_model
from nnc.frontends.pytorch.guards import places_of

FILES = Path(__file__).parent / "files"
NAMES = ("branches", "decimals", "decimals_too", "equal", "of_range", "of_hidden", "of_numbers")


def _inputs(name, numbers):
    """As `guarded.inputs_of`, without PyTorch."""
    rows, columns, last = (int(n) for n in numbers)
    rest = [np.array(last), _waves(2)] if name == "of_numbers" else [_waves(last)]
    return [_waves(rows, columns), *rest]


def _waves(*shape):
    return np.sin(np.arange(math.prod(shape), dtype=np.float32)).reshape(shape)


@pytest.mark.parametrize("name", NAMES)
def test_the_inputs_that_pytorch_takes_are_taken(name):
    model = nnc.compile(FILES / f"guards_{name}.pt2", cache=False)
    cases = np.load(FILES / "guards.npz")[name]
    assert 0 < cases[:, 3].sum() < len(cases)
    for *numbers, is_taken, total in cases:
        inputs = _inputs(name, numbers)
        if is_taken:
            assert float(np.sum(model(*inputs))) == pytest.approx(total, rel=1e-4, abs=1e-4)
        else:
            with pytest.raises(NncError):
                model(*inputs)


def test_fixed_extents_that_a_guard_refuses_are_an_error_of_the_compiler():
    path = FILES / "guards_branches.pt2"
    with pytest.raises(NncError, match=r"of which L\['x'\].size\(\)\[0\] >= 5"):
        nnc.compile(path, shapes={"x": [4, 10]}, cache=False)
    model = nnc.compile(path, shapes={"x": [6, 10], "y": [5]}, cache=False)
    assert model(*_inputs("branches", (6, 10, 5))).shape == (6, 10)


def _with_guards(path, guards):
    """`guards_equal.pt2` with other guards, as a file at `path`."""
    with zipfile.ZipFile(FILES / "guards_equal.pt2") as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("models/model.json"):
                content = json.dumps(json.loads(content) | {"guards_code": guards}).encode()
            new.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("guard", "taken"),
    [
        ("L['x'].size()[0] // (L['x'].size()[1] - 2) != 1", (3, 4)),
        ("L['x'].size()[0] % 2 == 1 and L['x'].size()[0] > 1 or L['y'].size()[0] == 4", (3, 4, 5)),
        ("1 < L['x'].size()[0] <= torch.sym_min(4, 2 * L['y'].size()[0] - 4)", (4,)),
        ("math.trunc((L['x'].size()[0] - 4) / 3) == 0", (2, 3, 4, 5)),
        ("math.floor((L['x'].size()[0] - 4) / 3) == 0", (4, 5)),
        ("math.ceil((L['x'].size()[0] - 4) / 3) == 1", (5,)),
        ("-0.5 * torch.sym_float(L['x'].size()[0]) + 1.2 <= (-4) / L['x'].size()[1]", (5,)),
        ("math.trunc(1.1 * L['x'].size()[0] - 4.4) == 0 and L['x'].size()[0] / 0.7 > 4.3", (4,)),
        ("(-7 + L['x'].size()[0]) // 2 == -2 and (-7 + L['x'].size()[0]) % 2 == 1", (4,)),
    ],
)
def test_conditions_are_those_of_python(tmp_path, guard, taken):
    model = nnc.compile(_with_guards(tmp_path / "m.pt2", [guard]), cache=False)
    for n in range(2, 6):
        inputs = _inputs("equal", (n, n, n))
        if n in taken:
            model(*inputs)
        else:
            with pytest.raises(NncError, match="was exported for inputs"):
                model(*inputs)


@pytest.mark.parametrize(
    "guard",
    [
        "L['z'].size()[0] > 9",
        "L['x'].size()[0] >",
        "open('/etc/passwd') > 3",
        "L['x'].size()[0] ** 2 > 100",
        "L['x'].size()[7] > 3",
        "(" * 500 + "L['x'].size()[0]" + ")" * 500 + " > 9",
    ],
)
def test_guards_that_cannot_be_read_are_a_warning(tmp_path, guard):
    path = _with_guards(tmp_path / "m.pt2", [guard])
    assert nnc.compile(path, cache=False)(*_inputs("equal", (3, 3, 3))).shape == (3, 3)
    assert [text for text in examine_model(path).warnings if "not checked" in text]


def test_guards_of_strides_are_left_out(tmp_path):
    guards = ["L['x'].stride()[0] == 77", "L['x'].storage_offset() == 5"]
    path = _with_guards(tmp_path / "m.pt2", guards)
    assert nnc.compile(path, cache=False)(*_inputs("equal", (3, 3, 3))).shape == (3, 3)
    assert not [text for text in examine_model(path).warnings if "not checked" in text]


def test_inputs_are_named_by_their_places():
    """As `torch.utils._pytree.treespec_dumps` writes them."""
    leaf = {"type": None, "context": None, "children_spec": []}

    def of(kind, context, *children):
        return {"type": kind, "context": context, "children_spec": list(children)}

    cache = of("transformers.cache_utils.DynamicCache", '[["key", "value"], [null]]', leaf, leaf)
    default = of("collections.defaultdict", {"dict_context": ["a b"]}, leaf)
    given = of("builtins.tuple", "null", of("builtins.list", "null", leaf, cache), leaf)
    named = of("builtins.dict", '["more"]', of("builtins.dict", "[1]", default))
    spec = json.dumps([1, of("builtins.tuple", "null", given, named)])
    assert places_of(spec, ["x", "args_0", "more"]) == [
        "L['x'][0]",
        "L['x'][1]['key']",
        "L['x'][1]['value']",
        "L['args_0']",
        "L['more'][1]['a b']",
    ]
