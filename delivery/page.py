"""The report as a self-contained page, and the README of a package."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from .pictures import bars_of

ASSETS = Path(__file__).parent / "assets"


def html_page(report: Mapping[str, Any]) -> str:
    """The page. It has no script, and its policy allows only its own style; names from models are
    escaped text everywhere.
    """
    style = (ASSETS / "report.css").read_text(encoding="utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode("ascii")
    return (
        environment(escaped=True)
        .get_template("report.html.jinja")
        .render(
            report=report, style=Markup(style), digest=Markup(digest), pictures=_pictures(report)
        )
    )


def readme(report: Mapping[str, Any], languages: list[tuple[str, str, str]]) -> str:
    """The README: the package's contents, and the command for each figure."""
    template = environment(escaped=False).get_template("readme.md.jinja")
    return template.render(report=report, languages=languages)


_FIGURES = (
    (
        "Latency",
        "Median of a run; the whisker is half the distance between the quartiles. Shorter is "
        "better.",
        ("median_ms", "spread_ms"),
    ),
    ("Peak memory", "The most memory that the process of an engine had.", ("peak_bytes", None)),
    (
        "Size shipped",
        "The model with the engine's native libraries; of nnc the compiled model alone, which "
        "needs none.",
        ("size_bytes", None),
    ),
)
"""For each picture: its title, its explanation, and the report's names of the value and its
whisker."""


def _pictures(report: Mapping[str, Any]) -> list[tuple[str, str, Markup]]:
    """Title, explanation and picture of each figure that some engine has."""
    found = []
    for title, about, (value, whisker) in _FIGURES:
        form = milliseconds if whisker else size
        picture = bars_of(report, title, value, form, whisker)
        if picture is not None:
            found.append((title, about, picture))
    return found


@cache
def environment(escaped: bool) -> Environment:
    """The templates, compiled once per process; `escaped` for HTML."""
    made = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "milliseconds": _or_dash(milliseconds),
        "size": _or_dash(size),
        "error": _or_dash(lambda value: f"{value:.1e}"),
        "share": _or_dash(lambda value: f"{value:.2%}"),
        "rate": _or_dash(lambda value: f"{value:,.1f}"),
        "joules": _or_dash(lambda value: f"{value:.3g} J"),
        "cosine": _or_dash(lambda value: f"{value:.7f}"),
        "cell": cell,
    }
    return made


def _or_dash(form: Any) -> Any:
    return lambda value: "–" if value is None else form(value)


def milliseconds(value: float) -> str:
    """`12.3 ms`, with three digits or more."""
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.3g} ms"


def size(count: float) -> str:
    """A byte count as text: `12.3 MB`."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:.0f} bytes"


def cell(text: str) -> str:
    """A text escaped for a Markdown table or line: nothing in it is Markdown or HTML."""
    plain = " ".join(str(text).split())
    for character in "\\`*_[]<>|&":
        plain = plain.replace(character, f"\\{character}")
    return plain
