"""Functions and states of CoreML's programs, against the same in Python."""

from __future__ import annotations

import nnc
import numpy as np
import pytest
from nnc.ir.diagnostics import NncError
from nnc.test.frontends.coreml.programs import function, model, operation, program
from nnc.test.frontends.coreml.test_coreml import layer, network

X = np.array([0.5, -1, 2], np.float32)


def test_the_signature_chooses_a_function():
    kinds = {"first": "relu", "second": "square"}
    functions = {
        name: function({"x": X}, ["y"], operation(kind, ["y"], {"x": "x"}))
        for name, kind in kinds.items()
    }
    given = model(functions, default="second")
    assert nnc.compile(given)(X).tolist() == [0.25, 1, 4]
    assert nnc.compile(given, signature="first")(X).tolist() == [0.5, 0, 2]
    with pytest.raises(NncError, match=r"no function 'third'; it has \['first', 'second'\]"):
        nnc.load(given, signature="third")


def test_networks_have_no_functions():
    with pytest.raises(NncError, match="only CoreML's programs have functions"):
        nnc.load(network(layer("copy", "x", "y")), signature="main")


def test_states_start_with_zeros():
    before = operation("read_state", ["before"], {"input": "sum"})
    added = operation("add", ["after"], {"x": "before", "y": "x"})
    write = operation("write_state", [], {"input": "sum", "data": "after"})
    result = operation("square", ["y"], {"x": "after"})
    compiled = nnc.compile(
        program({"x": X}, ["y"], before, added, write, result, states={"sum": X})
    )
    found = compiled.run({"x": X})
    assert found["sum_out"].tolist() == X.tolist()
    found = compiled.run({"x": X, "sum": found["sum_out"]})
    assert found["y"].tolist() == np.square(2 * X).tolist()
