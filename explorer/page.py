"""The page: one file of HTML that needs nothing else, and asks no network for anything."""

from __future__ import annotations

import re
import zlib
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..targets.wasm.module import MATHEMATICS_SOURCE
from .content import Content

ASSETS = Path(__file__).parent / "assets"
SCRIPTS = (
    *("dom", "data", "diff", "layout", "graph", "outline", "code", "measure", "roofline"),
    *("reasons", "details", "tables", "main"),
)
"""Modules in the order in which they stand in the page: each imports from those before alone."""

STYLES = ("palette.css", "explore.css")
"""The colours, which other pages may have too, and the page's own style."""

_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function|class|const|let)", re.MULTILINE)


def page(title: str, content: Content) -> str:
    """The text of the page. What models say is in it only where HTML cannot read it as more:
    escaped in the title, and in chunks of base64.
    """
    script = joined_scripts()
    style = "".join((ASSETS / name).read_text(encoding="utf-8") for name in STYLES)
    loader = FileSystemLoader(ASSETS)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    return environment.get_template("page.html.jinja").render(
        title=title,
        script=script,
        style=style,
        script_digest=_digest(script),
        style_digest=_digest(style),
        table=packed(content.table(title)),
        chunks=list(map(packed, content.chunks)),
    )


def joined_scripts() -> str:
    """All scripts as one module; their names differ, and none has a top-level `import` left."""
    texts = [MATHEMATICS_SOURCE.read_text(encoding="utf-8")]
    for name in SCRIPTS:
        text = (ASSETS / f"{name}.mjs").read_text(encoding="utf-8")
        texts.append(_EXPORT.sub("", _IMPORT.sub("", text)))
    return "\n" + "\n".join(texts)


def packed(data: bytes) -> str:
    """Deflated without a head, as base64."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return b64encode(packer.compress(data) + packer.flush()).decode("ascii")


def _digest(text: str) -> str:
    """What the page's policy calls a script or style that may be in it."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode('ascii')}'"
