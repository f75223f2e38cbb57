"""The requests of a client: methods and paths of the server's interface, below /api/v1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .address import checked_identifier

ROOT = "/api/v1"


@dataclass(frozen=True)
class Route:
    """A method and a path, in which `{}` stands for an id.

    A `safe` one may be repeated even if it may have been carried out: it only reads, or is
    idempotent.
    """

    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str
    safe: bool = False

    def address(self, *identifiers: str) -> str:
        """The path with ids filled in. Raises NncError for an invalid id."""
        return ROOT + self.path.format(*map(checked_identifier, identifiers))


def _get(path: str) -> Route:
    return Route("GET", path, safe=True)


def _delete(path: str) -> Route:
    return Route("DELETE", path, safe=True)


ME, DELETE_ME = _get("/me"), _delete("/me")
TOKENS, DELETE_TOKEN = _get("/tokens"), _delete("/tokens/{}")
NEW_TOKEN = Route("POST", "/tokens")
UPLOADS, NEW_UPLOAD = _get("/uploads"), Route("POST", "/uploads")
UPLOAD, DELETE_UPLOAD = _get("/uploads/{}"), _delete("/uploads/{}")
SEND = Route("PATCH", "/uploads/{}")  # sent again only from the offset that the server has
MODELS, MODEL, DELETE_MODEL = _get("/models"), _get("/models/{}"), _delete("/models/{}")
EXPLORE = _get("/models/{}/explore")
INPUTS, DELETE_INPUTS = _get("/inputs"), _delete("/inputs/{}")
TARGETS, ENGINES, PRECISIONS = _get("/targets"), _get("/engines"), _get("/precisions")
NEW_ORDER = Route("POST", "/models/{}/orders")
ORDERS, ORDER, DELETE_ORDER = _get("/orders"), _get("/orders/{}"), _delete("/orders/{}")
EVENTS = _get("/orders/{}/events")
JOB = _get("/jobs/{}")
CANCEL = Route("POST", "/jobs/{}/cancel", safe=True)
PACKAGE, REPORT, LOG = _get("/jobs/{}/package"), _get("/jobs/{}/report"), _get("/jobs/{}/log")
NEW_EXPERIMENT = Route("POST", "/models/{}/experiments")
