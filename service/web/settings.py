"""The addresses of the service, which decide which requests are trusted."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""The host names of this machine in browsers."""


@dataclass(frozen=True)
class WebSettings:
    """The origins that browsers use, such as `https://nnc.example.org`.

    A request for another host (a name pointed here by someone else) is refused, and so is a change
    requested by a page of another origin.
    """

    origins: tuple[str, ...]
    proxied: bool = False
    """Whether a proxy is in front of the server, so that all requests seem to come from this
    machine."""

    @property
    def secure(self) -> bool:
        """Whether browsers reach it by TLS only."""
        return all(origin.startswith("https:") for origin in self.origins)

    @property
    def hosts(self) -> frozenset[str]:
        """The allowed values of the header `Host`."""
        return frozenset(urlsplit(origin).netloc for origin in self.origins)

    @property
    def cookie(self) -> str:
        """The name of the session's cookie; browsers accept `__Host-` only from this very host."""
        return "__Host-nnc" if self.secure else "nnc"


def loopback_settings(port: int) -> WebSettings:
    """The settings of a service that only this machine reaches."""
    return WebSettings(tuple(f"http://{host}:{port}" for host in LOOPBACK))
