"""Outputs in an .npz, whatever they are called."""

import numpy as np
import pytest
from nnc.tools.inputs import save_outputs


@pytest.mark.parametrize("name", ["file", "allow_pickle", "args", "", "a/b", "../c", "ü\n"])
def test_names(tmp_path, name):
    path = tmp_path / "outputs.npz"
    save_outputs(path, {name: np.arange(3), "other": np.array(2.5)})
    with np.load(path) as found:
        assert sorted(found) == sorted([name, "other"])
        np.testing.assert_array_equal(found[name], np.arange(3))
        assert found["other"] == 2.5
    assert list(tmp_path.iterdir()) == [path]
