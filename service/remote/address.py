"""Checks of a client's settings: the address of a server, and a token."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from ...ir.diagnostics import NncError

_TOKEN = re.compile(r"[!-~]{1,1024}")
_IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{1,128}")


def checked_url(url: str, plain: bool) -> str:
    """The address of a server, without a trailing slash. Raises NncError.

    http:// exposes the token and the models on the network: it is allowed for servers on this
    machine, or with `plain`, by which the user declares the network safe.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise _no_address(url) from None
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise _no_address(url)
    if parts.username is not None or not url.isprintable() or " " in url:
        raise _no_address(url)
    if parts.scheme == "http" and not plain and not _is_loopback(host):
        raise NncError(
            f"{url} would show the token to anyone on the way: use https://, or say "
            "--plain-http (plain=True) where the network is your own"
        )
    return url.rstrip("/")


def _no_address(url: str) -> NncError:
    return NncError(f"a server is https://HOST or http://127.0.0.1:PORT, not {url[:200]!r}")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def checked_token(token: str) -> str:
    """A token that can go into a header. Raises NncError, which does not show it."""
    if not token:
        raise NncError("no token was given")
    if not _TOKEN.fullmatch(token):
        raise NncError("a token has letters, digits and signs alone, without spaces")
    return token


def checked_identifier(identifier: str) -> str:
    """A server's identifier that can go into an address. Raises NncError."""
    if not _IDENTIFIER.fullmatch(identifier):
        raise NncError(f"{identifier[:100]!r} is not an id: those have letters, digits, - and _")
    return identifier
