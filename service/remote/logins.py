"""Which servers a user has signed in to, and with which tokens: a file for that user alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ...ir.cache_home import config_home
from ...ir.diagnostics import NncError
from ...ir.files import write_private

URL, TOKEN = "NNC_REMOTE", "NNC_REMOTE_TOKEN"
"""The variables that say server and token where there is no file, as in a pipeline of tests."""


class Login(BaseModel):
    """How a server is spoken to, see `Remote`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    token: str
    certificates: str | None = None
    plain: bool = False


class Logins(BaseModel):
    """All servers by address, and which one is meant where none is named."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    usual: str | None = None
    servers: dict[str, Login] = {}


def logins_file() -> Path:
    """Where it is. It may not exist yet."""
    return config_home() / "remote.json"


def read_logins() -> Logins:
    """What the file says. Raises NncError where it is damaged, or others can read it."""
    path = logins_file()
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        text = path.read_bytes()
    except FileNotFoundError:
        return Logins()
    except OSError as error:
        raise NncError(f"cannot read '{path}': {error.strerror or error}") from None
    if os.name == "posix" and mode & 0o077:
        raise NncError(f"'{path}' can be read by others (mode {mode:o}): chmod 600 '{path}'")
    try:
        return Logins.model_validate_json(text)
    except ValidationError:
        raise NncError(
            f"'{path}' is damaged; remove it, and `nnc remote login URL` makes it again"
        ) from None


def write_logins(logins: Logins) -> None:
    """Write the file, for the user alone. Raises NncError."""
    path = logins_file()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise NncError(f"cannot write '{path}': {error.strerror or error}") from None
    write_private(path, logins.model_dump_json(indent=2) + "\n")


def find_login(url: str | None) -> tuple[str, Login]:
    """A server and how it is spoken to: the one named, by NNC_REMOTE, or signed in to last.

    Raises NncError where there is none.
    """
    url = (url or os.environ.get(URL) or "").rstrip("/") or None
    token = os.environ.get(TOKEN)
    logins = read_logins()
    url = url or logins.usual
    if url is None:
        raise NncError("signed in to no server: `nnc remote login URL`")
    login = logins.servers.get(url)
    if token:
        return url, (login or Login(token=token)).model_copy(update={"token": token})
    if login is None:
        raise NncError(f"not signed in to {url}: `nnc remote login {url}`")
    return url, login


def forget(url: str | None) -> str:
    """Remove a server, or the one signed in to last; which one it was. Raises NncError."""
    logins = read_logins()
    gone = (url or logins.usual or "").rstrip("/")
    if gone not in logins.servers:
        raise NncError(f"not signed in to {gone or 'any server'}")
    servers = {name: one for name, one in logins.servers.items() if name != gone}
    usual = next(iter(servers), None) if logins.usual == gone else logins.usual
    write_logins(Logins(usual=usual, servers=servers))
    return gone


def remember(url: str, login: Login) -> None:
    """Store how to speak to a server, which is from now on the one that commands use."""
    servers = dict(read_logins().servers)
    servers[url] = login
    write_logins(Logins(usual=url, servers=servers))
