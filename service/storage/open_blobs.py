"""Opens the store of blobs that a URL names."""

from __future__ import annotations

from pathlib import Path

from ...ir.diagnostics import NncError
from .blobs import Blobs
from .folder_blobs import FolderBlobs


def open_blobs(url: str | None, folder: Path) -> Blobs:
    """The store of a URL (`s3://BUCKET/PREFIX?endpoint=http://HOST:PORT`), else a folder.

    Raises NncError if it cannot be used.
    """
    if url is None:
        return FolderBlobs(folder)
    if url.startswith("file://"):
        return FolderBlobs(Path(url.removeprefix("file://")))
    if not url.startswith("s3://"):
        raise NncError(f"--blobs '{url}': expected s3://BUCKET or file:///FOLDER")
    from .s3_blobs import S3Blobs

    return S3Blobs(url)
