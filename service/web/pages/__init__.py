"""The pages of the service: one HTML shell, with scripts and styles that draw everything.

Pages load their contents by the REST interface; the shell never contains anything about a model, a
user or a file, so it is the same for everyone. The service's guard sets the pages' permissions.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .... import explorer
from ....frontends.formats import FORMATS

ASSETS = Path(__file__).parent / "assets"
SHARED = ("dom.mjs", "palette.css")
"""The files that these pages share with those of `nnc explore`."""

SHELLS = ("/", "/sign-in", "/models", "/models/{id}", "/orders/{id}", "/account")
"""The routes of pages; the script finds out from the address which page to show."""


def router() -> APIRouter:
    """The routes of all pages and assets."""
    routes = APIRouter(include_in_schema=False)
    shell = _shell()
    for path in SHELLS:
        routes.add_api_route(path, lambda: HTMLResponse(shell), methods=["GET"])
    files = {path.name: _Asset(path) for path in sorted(_asset_files())}

    @routes.get("/assets/{name}")
    def asset(name: str, request: Request) -> Response:
        found = files.get(name)
        if found is None:
            return PlainTextResponse("no such file", status_code=404)
        return found.answer(request.headers.get("if-none-match"))

    return routes


class _Asset:
    """A script or style, kept in memory; browsers revalidate it."""

    def __init__(self, path: Path) -> None:
        self.content = path.read_bytes()
        self.tag = f'"{sha256(self.content).hexdigest()[:32]}"'
        self.type = "text/css" if path.suffix == ".css" else "text/javascript"

    def answer(self, known: str | None) -> Response:
        headers = {"ETag": self.tag, "Cache-Control": "no-cache"}
        if known == self.tag:
            return Response(status_code=304, headers=headers)
        return Response(self.content, media_type=self.type, headers=headers)


def _asset_files() -> list[Path]:
    own = [path for path in ASSETS.iterdir() if path.suffix in (".mjs", ".css")]
    shared = Path(explorer.__path__[0]) / "assets"
    return [*own, *(shared / name for name in SHARED)]


def _shell() -> str:
    loader = FileSystemLoader(ASSETS)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    names = ", ".join(sorted((one.name for one in FORMATS), key=str.lower))
    return environment.get_template("page.html.jinja").render(formats=names)
