"""`nnc why`: why a model is compiled as it is, as text or as JSON."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from ..driver.explaining.explain import explain
from ..driver.explaining.text import details, overview

if TYPE_CHECKING:
    from .session import Session


def why_model(args: argparse.Namespace, session: Session) -> int:
    """Print the explanation."""
    found = explain(
        Path(session.model).name,
        session.load(),
        target=args.target,
        node=args.node,
        changes=args.node is not None or args.all,
        progress=session.progress,
    )
    if args.json:
        session.say(json.dumps(found.as_json(), indent=2))
        return 0
    detailed = args.node is not None or args.all
    for line in details(found) if detailed else overview(found):
        session.say(line)
    return 0
