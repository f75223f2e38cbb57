"""OpenVINO: an XML file whose root is `net`."""

from __future__ import annotations

import re

from ..common.source import Source

_NET = re.compile(
    rb"\s*(?:\xef\xbb\xbf)?(?:<\?xml[^>]*>)?(?:\s|<!--.*?-->)*<net\s[^>]*version=", re.S
)


def is_it(source: Source) -> bool:
    """Whether it is a model of OpenVINO."""
    return _NET.match(source.head) is not None
