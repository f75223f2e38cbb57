"""An op, type or attribute is found in its dialect's module under the name of its class."""

from importlib import import_module

import pytest
from nnc import dialects
from nnc.ir.dialect import registry


def stands_in_its_file(declared):
    """Whether a module has the class by its name: those of tables have none of their own."""
    name = getattr(declared, "__name__", "")
    return getattr(import_module(declared.__module__), name, None) is declared


@pytest.mark.parametrize("name", dialects.MODULES)
def test_a_dialect_has_what_its_modules_declare(name):
    module, dialect = import_module(f"nnc.dialects.{name}"), registry.dialect(name)
    declared = [*dialect.ops.values(), *dialect.types.values(), *dialect.attributes.values()]
    found = [c for c in declared if isinstance(c, type) and stands_in_its_file(c)]
    assert found or dialect.is_opaque
    assert [c.name for c in found if getattr(module, c.__name__, None) is not c] == []
