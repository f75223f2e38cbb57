"""On its way down a model goes from room to room, and not to and fro."""

from itertools import groupby

import pytest
from nnc.lowering.catalog import find_pass
from nnc.lowering.pipelines import passes_to
from nnc.targets.base import target

MOST_CHANGES = 8


def rooms(name: str) -> list[str]:
    """The top folders whose passes a model for a target goes through, in order."""
    classes = [find_pass(step.partition("{")[0]) for step in passes_to(target(name))]
    folders = [one.__module__.split(".")[1] for one in classes if one is not None]
    assert len(folders) == len(classes)
    return [folder for folder, _ in groupby(folders)]


@pytest.mark.parametrize("name", ["x86-64-v3", "c", "wasm32", "riscv64-v"])
def test_how_often_a_model_changes_rooms(name):
    found = rooms(name)
    assert len(found) - 1 <= MOST_CHANGES, " > ".join(found)
    assert found[0] == "passes"
