"""A client of `nnc serve`: uploads models, orders packages, downloads them.

    from nnc.service.remote import Remote
    with Remote("https://nnc.example.org", token) as remote:
        model = remote.look(remote.upload("model.onnx").id)
        order = remote.order(model.id, targets=["host"])
        for job in remote.watch(order.id):
            print(job.state, job.progress)
        remote.download(order.jobs[0].id, "package.zip")

It needs httpx and pydantic: `pip install 'nnc[remote]'`.
"""

from __future__ import annotations

from importlib.util import find_spec

from ...ir.diagnostics import NncError

_missing = [name for name in ("httpx", "pydantic") if find_spec(name) is None]
if _missing:
    raise NncError(
        f"a client of `nnc serve` needs {' and '.join(_missing)}: pip install 'nnc[remote]'"
    )

from .client import Remote  # noqa: E402  # what it imports is there now
from .failures import RemoteError  # noqa: E402
from .patience import Patience  # noqa: E402

__all__ = ["Patience", "Remote", "RemoteError"]
