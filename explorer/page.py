"""The page: one self-contained HTML file, which makes no network requests."""

from __future__ import annotations

import re
import zlib
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .. import __version__
from ..targets.wasm.module import MATHEMATICS_SOURCE
from ..targets.webgpu.browser import DEVICE_SOURCE
from .content import Content

ASSETS = Path(__file__).parent / "assets"
SCRIPTS = (
    *("dom", "data", "diff", "layout", "graph", "outline", "code", "gpu", "in_run", "measure"),
    *("roofline", "reasons", "edit", "details", "tables", "main"),
)
"""The JavaScript modules in their order in the page; each imports only earlier ones."""

STYLES = ("palette.css", "explore.css")
"""The colours, which other pages use too, and the page's own style."""

SERVED = "connect-src 'self'; "
"""What the content security policy allows, additionally, for a page sent by a server."""

_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function|class|const|let)", re.MULTILINE)


def page(title: str, content: Content) -> str:
    """The text of the page. Text from models is only in places where HTML cannot interpret it:
    escaped in the title, and in chunks of base64.
    """
    return rendered(title, packed(content.table(title)), list(map(packed, content.chunks)))[0]


def rendered(title: str, table: str, chunks: Sequence[str], server: str = "") -> tuple[str, str]:
    """The text of a page with these packed texts, and its content security policy.

    With the path of the model at a `server`, the page queries that, and may connect to its origin.
    """
    script = joined_scripts()
    style = "".join((ASSETS / name).read_text(encoding="utf-8") for name in STYLES)
    policy = (
        f"default-src 'none'; script-src {_digest(script)} 'wasm-unsafe-eval'; "
        f"style-src {_digest(style)}; img-src data:; "
        f"{SERVED if server else ''}base-uri 'none'; form-action 'none'"
    )
    loader = FileSystemLoader(ASSETS)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    text = environment.get_template("page.html.jinja").render(
        title=title,
        script=script,
        style=style,
        policy=policy,
        server=server,
        version=__version__,
        table=table,
        chunks=chunks,
    )
    return text, policy


def joined_scripts() -> str:
    """All scripts as one module; their names are distinct, and top-level `import`s are removed."""
    texts = [one.read_text(encoding="utf-8") for one in (MATHEMATICS_SOURCE, DEVICE_SOURCE)]
    for name in SCRIPTS:
        text = (ASSETS / f"{name}.mjs").read_text(encoding="utf-8")
        texts.append(_EXPORT.sub("", _IMPORT.sub("", text)))
    return "\n" + "\n".join(texts)


def packed(data: bytes) -> str:
    """Raw-deflated data in base64."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return b64encode(packer.compress(data) + packer.flush()).decode("ascii")


def _digest(text: str) -> str:
    """The hash by which the page's policy allows a script or style."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode('ascii')}'"
