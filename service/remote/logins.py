"""The servers that a user has signed in to, with their tokens: a file private to that user."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ...ir.cache_home import config_home
from ...ir.diagnostics import NncError
from ...ir.files import write_private

URL, TOKEN = "NNC_REMOTE", "NNC_REMOTE_TOKEN"
"""The environment variables of the server and the token, for use without a login file."""


class Login(BaseModel):
    """The settings for a server, see `Remote`."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    token: str
    certificates: str | None = None
    plain: bool = False


class Logins(BaseModel):
    """All servers by address, and the default one."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    usual: str | None = None
    servers: dict[str, Login] = {}


def logins_file() -> Path:
    """The path of the file, which may not exist yet."""
    return config_home() / "remote.json"


def read_logins() -> Logins:
    """The contents of the file. Raises NncError if it is damaged, or readable by others."""
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
    """A server and its settings: the named one, that of NNC_REMOTE, or the one last signed in to.

    Raises NncError if there is none.
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
    """Remove a server, or the one last signed in to; returns its address. Raises NncError."""
    logins = read_logins()
    gone = (url or logins.usual or "").rstrip("/")
    if gone not in logins.servers:
        raise NncError(f"not signed in to {gone or 'any server'}")
    servers = {name: one for name, one in logins.servers.items() if name != gone}
    usual = next(iter(servers), None) if logins.usual == gone else logins.usual
    write_logins(Logins(usual=usual, servers=servers))
    return gone


def remember(url: str, login: Login) -> None:
    """Store the settings for a server, which becomes the default one."""
    servers = dict(read_logins().servers)
    servers[url] = login
    write_logins(Logins(usual=url, servers=servers))
