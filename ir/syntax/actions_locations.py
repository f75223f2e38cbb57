"""Parser actions for locations, which may use aliases that are defined later in the text."""

from __future__ import annotations

from typing import Any

from .. import attributes as a
from .. import location as l
from .reductions import action, actions


class LocationAlias(l.Location):
    """A use of the alias `#loc4`, which may be defined only at the end of the text."""

    __slots__ = ("name", "pos")

    def __init__(self, name: str, pos: int) -> None:
        self.name = name
        self.pos = pos


def resolve_location(s: Any, location: Any) -> Any:
    """The location with its aliases replaced."""
    match location:
        case LocationAlias(name=name, pos=pos):
            found = s.attribute_aliases.get(name)
            if found is None:
                raise s.error(f"operation location alias was never defined: '#{name}'", pos)
            if not isinstance(found, a.LocationAttr):
                raise s.error(f"expected '#{name}' to be a location, but it is '{found}'", pos)
            return found.location
        case l.NameLoc(name, child):
            return l.NameLoc(name, resolve_location(s, child))
        case l.CallSiteLoc(callee, caller):
            return l.CallSiteLoc(resolve_location(s, callee), resolve_location(s, caller))
        case l.FusedLoc(locations, metadata):
            return l.fuse_locations([resolve_location(s, x) for x in locations], metadata)
    return location


@action
def _file_range(s, c):
    numbers = [int(text, 0) for text, _ in c[1:]]
    if len(numbers) == 3:
        numbers.insert(2, numbers[0])
    return l.FileLineColRange(c[0][0], *numbers)


actions(
    location_attribute=lambda s, c: a.LocationAttr(resolve_location(s, c[0])),
    unknown_location=lambda s, c: l.UNKNOWN,
    location_alias=lambda s, c: LocationAlias(*c[0]),
    name_location=lambda s, c: l.NameLoc(c[0][0], c[1] if len(c) > 1 else l.UNKNOWN),
    file_location=lambda s, c: l.FileLineColLoc(c[0][0], int(c[1][0], 0), int(c[2][0], 0)),
    call_site=lambda s, c: l.CallSiteLoc(c[0], c[1]),
    fused=lambda s, c: l.fuse_locations(c[0]),
    fused_with=lambda s, c: l.fuse_locations(c[1], c[0]),
)
