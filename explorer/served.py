"""A page as a server sends it: its data, in this nnc's own page, which may query that server.

The process that made the page has read a model, and is not trusted: its texts are extracted, and
put into the template anew. Nothing else of it is sent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .. import __version__
from ..ir.diagnostics import NncError
from .page import rendered

_VERSION = re.compile(r'<meta name="generator" content="nnc ([\w.+-]{1,40})">', re.ASCII)
_TEXT = re.compile(r'<script type="text/plain" id="(table|chunk-\d+)">([A-Za-z0-9+/=]*)</script>')
_ADDRESS = re.compile(r"/[\w./~-]*", re.ASCII)


@dataclass(frozen=True)
class ServedPage:
    """A page, and the `Content-Security-Policy` to send with it."""

    text: str
    policy: str


def served_page(text: str, server: str, title: str) -> ServedPage:
    """A page written by `nnc explore`, for a server that has its model at the path `server`, such
    as `/api/v1/models/ID`.

    Raises NncError if it is not a page of this version.
    """
    if not _ADDRESS.fullmatch(server):
        raise ValueError(f"not a path on a server: {server!r}")
    version = _VERSION.search(text)
    if version is None or version[1] != __version__:
        of = f"of nnc {version[1]}, this is {__version__}" if version else "damaged"
        raise NncError(f"the explorer's page is {of}")
    found = dict(_TEXT.findall(text))
    chunks = [found.get(f"chunk-{i}") for i in range(len(found) - 1)]
    if "table" not in found or None in chunks:
        raise NncError("the explorer's page is damaged: a part of its data is missing")
    whole = [one for one in chunks if one is not None]
    return ServedPage(*rendered(title, found["table"], whole, server))
