"""A sample of the configurations of `bench/formats/sweep`, stored with what the frameworks gave."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.formats.sweep.judge import judge
from bench.formats.sweep.stored import load, names

COMPILED = 3
"""One case of so many is compiled; the others are about reading files, and are interpreted."""
SAMPLES = sorted(Path(__file__).parent.glob("*.zip"))
CASES = [(sample, name) for sample in SAMPLES for name in names(sample)]


@pytest.mark.formats
@pytest.mark.parametrize(("sample", "name"), CASES, ids=[f"{s.stem}-{n}" for s, n in CASES])
def test_configuration_is_as_the_framework_has_it(sample, name, tmp_path):
    made, about = load(sample, name, tmp_path)
    verdict = judge(made, interpreted=int(name) % COMPILED != 0)
    expected = ("right", "refused") if about["verdict"] == "refused" else ("right",)
    assert verdict.kind in expected, f"{about['id']}: {verdict.detail}"
