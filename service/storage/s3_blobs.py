"""Blobs as objects of an S3 store."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ...ir.diagnostics import NncError
from ..errors import StoreFullError
from .blobs import CHUNK

_PART_BYTES = 8 << 20
"""The size of the parts of a multipart upload; S3 requires at least 5 MiB, except for the last."""

_SENT_AT_ONCE = 4
"""The most files sent at once: each holds some parts in memory."""


class S3Blobs:
    """An object per blob; see `Blobs`.

    The URL is `s3://BUCKET/PREFIX`, with `?endpoint=http://HOST:PORT` for a store other than
    Amazon's and `&region=NAME`. Credentials are found by boto3: in AWS_ACCESS_KEY_ID and
    AWS_SECRET_ACCESS_KEY, or in its files. The bucket must exist.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        asked = parse_qs(parts.query, keep_blank_values=True)
        if unknown := sorted(set(asked) - {"endpoint", "region"}):
            raise NncError(f"--blobs: s3 takes endpoint and region, not {unknown[0]}")
        if not parts.netloc:
            raise NncError(f"--blobs '{url}': expected s3://BUCKET")
        self.bucket = parts.netloc
        prefix = parts.path.strip("/")
        self.prefix = f"{prefix}/" if prefix else ""
        self._client = _client(asked)
        self._sending = threading.BoundedSemaphore(_SENT_AT_ONCE)
        with _translated("reach"):
            self._client.head_bucket(Bucket=self.bucket)

    def put(self, id: str, file: Path) -> None:
        from boto3.s3.transfer import TransferConfig

        plan = TransferConfig(
            multipart_threshold=_PART_BYTES, multipart_chunksize=_PART_BYTES, use_threads=False
        )
        with self._sending, _translated("write to"):
            self._client.upload_file(str(file), self.bucket, self.prefix + id, Config=plan)

    def read(self, id: str) -> Iterator[bytes]:
        with _translated("read from"):
            found = self._client.get_object(Bucket=self.bucket, Key=self.prefix + id)
        return _parts(found["Body"])

    def size(self, id: str) -> int | None:
        with _translated("read from"):
            try:
                found = self._client.head_object(Bucket=self.bucket, Key=self.prefix + id)
            except self._client.exceptions.ClientError as error:
                if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
                    return None
                raise
            return found["ContentLength"]

    def delete(self, id: str) -> None:
        with _translated("delete from"):
            self._client.delete_object(Bucket=self.bucket, Key=self.prefix + id)

    def identifiers(self) -> Iterator[tuple[str, float]]:
        pages = self._client.get_paginator("list_objects_v2")
        with _translated("list"):
            for page in pages.paginate(Bucket=self.bucket, Prefix=self.prefix):
                for found in page.get("Contents", []):
                    yield found["Key"].removeprefix(self.prefix), found["LastModified"].timestamp()


def _client(asked: dict[str, list[str]]) -> Any:
    try:
        import boto3
        from botocore.config import Config
    except ImportError:
        raise NncError("a store of S3 needs boto3: pip install 'nnc[serve-s3]'") from None
    endpoint = asked.get("endpoint", [None])[0]
    try:
        return boto3.client(
            "s3",
            endpoint_url=endpoint,
            region_name=asked.get("region", ["us-east-1"])[0],
            config=Config(
                retries={"mode": "standard", "total_max_attempts": 4},
                s3={"addressing_style": "path" if endpoint else "auto"},
                max_pool_connections=32,
            ),
        )
    except ValueError as error:
        raise NncError(f"--blobs: {error}") from None


def _parts(body: Any) -> Iterator[bytes]:
    with _translated("read from"):
        try:
            yield from body.iter_chunks(CHUNK)
        finally:
            body.close()


_FULL = ("XMinioStorageFull", "EntityTooLarge", "QuotaExceeded", "InsufficientStorage")


@contextmanager
def _translated(doing: str) -> Iterator[None]:
    """Turn the errors of boto3 into the service's."""
    from boto3.exceptions import S3UploadFailedError
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        code = error.response["Error"].get("Code", "")
        if code in _FULL or error.response["ResponseMetadata"]["HTTPStatusCode"] == 507:
            raise StoreFullError("the store of the service is full") from error
        if code == "NoSuchKey":
            raise NncError("the store has lost a file") from error
        raise NncError(f"cannot {doing} the store of files: {code or error}") from error
    except S3UploadFailedError as error:
        full = any(code in str(error) for code in _FULL)
        kind = StoreFullError if full else NncError
        raise kind(f"cannot {doing} the store of files: {error}") from error
    except (BotoCoreError, OSError) as error:
        raise NncError(f"cannot {doing} the store of files: {error}") from error
