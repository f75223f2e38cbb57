"""Authenticates requests: by a token in a header, or by a browser's session."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import APIKeyCookie, HTTPBearer

from ..accounts import User
from ..errors import ForbiddenError, UnauthorizedError
from ..service import Service
from .settings import WebSettings

_READING = ("GET", "HEAD")

_BEARER = HTTPBearer(auto_error=False, description="A token of `nnc serve token` or POST /tokens.")
_COOKIE = APIKeyCookie(name="nnc", auto_error=False, description="The session of a browser.")


def service_of(request: Request) -> Service:
    """The service that the application serves."""
    return request.app.state.service


def settings_of(request: Request) -> WebSettings:
    """The addresses at which the application is reached."""
    return request.app.state.settings


def check_origin(request: Request) -> None:
    """Raise ForbiddenError if a page of another origin may have made this browser's request.

    Such pages cannot set a custom header, and browsers send the origin that makes the request.
    """
    origin = request.headers.get("origin")
    if request.headers.get("x-nnc") != "1":
        raise ForbiddenError("a browser's request has to have the header X-NNC: 1")
    if origin not in settings_of(request).origins:
        raise ForbiddenError("this request comes from a page of another origin")


def current_user(request: Request) -> User:
    """The user of a request. Raises UnauthorizedError, or ForbiddenError for a forged request."""
    accounts = service_of(request).accounts
    header = request.headers.get("authorization")
    if header is not None:
        scheme, _, token = header.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise UnauthorizedError("the header Authorization is `Bearer` and a token")
        return accounts.by_token(token.strip())
    secret = request.cookies.get(settings_of(request).cookie)
    if secret is None:
        raise UnauthorizedError("sign in, or send a token in the header Authorization")
    if request.method not in _READING:
        check_origin(request)
    return accounts.by_session(secret)


def _documented(
    request: Request, _bearer: object = Depends(_BEARER), _cookie: object = Depends(_COOKIE)
) -> User:
    return current_user(request)


Asker = Annotated[User, Depends(_documented)]
"""The type of a route's parameter that is the signed-in user; other requests are refused."""

Serving = Annotated[Service, Depends(service_of)]
"""The type of a route's parameter that is the service."""
