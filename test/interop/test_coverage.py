"""The documentation's table of covered operations says what is declared."""

import re
from pathlib import Path

from nnc.ir.dialect import registry

PAGE = Path(__file__).parents[2] / "docs" / "interop.md"


def test_the_table_counts_the_declared_operations() -> None:
    import nnc.dialects  # noqa: F401 - names the dialects

    registry.load_all()
    rows = re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    covered = {name: (int(here), int(upstream)) for name, here, upstream in rows if int(here)}
    assert len(covered) == 15
    for name, (here, upstream) in covered.items():
        assert here <= upstream
        assert len(registry.dialects[name].ops) >= here
