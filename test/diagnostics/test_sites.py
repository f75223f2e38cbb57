"""The checker of diagnostics finds what it should, and its tables name what exists."""

import ast
from contextlib import suppress

import pytest
from nnc.ir.diagnostics import NncError

from .recorder import Recorder
from .sites import _Finder, sites
from .unreachable import UNREACHABLE, waiting

CODE = """
class A:
    def f(self, x):
        if x:
            raise self.error(f"expected {x}, "
                             "found nothing")
        try:
            g()
        except NncError as error:
            raise error
        raise ValueError("not for users")
"""


def test_sites_of_a_text() -> None:
    found = list(_Finder("f.py").find(ast.parse(CODE)))
    assert [site.key for site in found] == ["f.py:A.f: expected _, found nothing"]
    assert (found[0].first, found[0].last) == (5, 6)


@pytest.mark.thorough
def test_tables_name_what_exists() -> None:
    known = {site.key for site in sites()}
    assert len(known) > 500
    assert not set(UNREACHABLE) - known, "unreachable.py names diagnostics that are gone"
    assert not set(UNREACHABLE) & waiting()


def test_recorder_notes_where_an_error_is_made(monkeypatch) -> None:
    from nnc.ir.syntax.parser import parse_type

    monkeypatch.setattr(NncError, "__init__", NncError.__init__)
    recorder = Recorder()
    recorder.install()
    with suppress(NncError):
        parse_type("odd")
    assert "ir/syntax/session.py" in {file for file, _ in recorder.lines}
