"""Routes for sessions, the signed-in user, and tokens."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from ..errors import ForbiddenError
from .asking import Asker, Serving, check_origin, settings_of
from .shapes import MadeToken, Me, NewToken, SignIn, Token

router = APIRouter(tags=["account"])

_DAY = 24 * 3600


@router.post("/session", response_model=Me)
def sign_in(asked: SignIn, request: Request, response: Response, service: Serving) -> Any:
    """Sign in with a token: the answer sets the cookie of a new browser session."""
    check_origin(request)
    user, secret = service.accounts.sign_in(asked.token)
    settings = settings_of(request)
    response.set_cookie(
        settings.cookie,
        secret,
        max_age=int(service.limits.session_seconds),
        path="/",
        secure=settings.secure,
        httponly=True,
        samesite="strict",
    )
    return service.accounts.shown(user)


@router.delete("/session", status_code=204)
def sign_out(request: Request, response: Response, service: Serving, user: Asker) -> None:
    """End the browser's session."""
    settings = settings_of(request)
    service.accounts.sign_out(request.cookies.get(settings.cookie, ""))
    response.delete_cookie(
        settings.cookie, secure=settings.secure, httponly=True, samesite="strict"
    )


@router.get("/me", response_model=Me)
def me(service: Serving, user: Asker) -> Any:
    """The signed-in user, with quota and use."""
    return service.accounts.shown(user)


@router.delete("/me", status_code=204)
def delete_me(service: Serving, user: Asker) -> None:
    """Delete the signed-in user with all data."""
    if user.operator:
        raise ForbiddenError("an operator is deleted by `nnc serve user remove` alone")
    service.accounts.remove(user)


@router.get("/tokens", response_model=list[Token])
def tokens(service: Serving, user: Asker) -> Any:
    """The user's tokens, without their texts."""
    return service.accounts.tokens(user)


@router.post("/tokens", response_model=MadeToken, status_code=201)
def add_token(asked: NewToken, service: Serving, user: Asker) -> Any:
    """Make a token. Its text is only in this answer."""
    seconds = None if asked.days is None else asked.days * _DAY
    row, text = service.accounts.add_token(user, asked.name, seconds)
    return {**row, "token": text}


@router.delete("/tokens/{id}", status_code=204)
def delete_token(id: str, service: Serving, user: Asker) -> None:
    """Delete a token; it is refused from now on, and the sessions that it began are over."""
    service.accounts.remove_token(user, id)
