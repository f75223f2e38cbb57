"""Parser actions for files, operations, regions and dictionaries: they make tuples and dicts.

An action gets the session and the list of the production's children. The function `_name`, or
the entry `name` of the table at the end, is for the productions named `name` in `grammar.lark`.
"""

from __future__ import annotations

from typing import Any

from .. import attributes as a
from .reductions import action, actions


@action
def _extend(s, c):
    c[0].extend(c[1])
    return c[0]


@action
def _attribute_alias(s, c):
    ops, (name, pos), value = c
    if name in s.attribute_aliases:
        raise s.error(f"redefinition of attribute alias id '{name}'", pos)
    s.attribute_aliases[name] = value
    return ops


@action
def _type_alias(s, c):
    ops, (name, pos), value = c
    if name in s.type_aliases:
        raise s.error(f"redefinition of type alias id '{name}'", pos)
    s.type_aliases[name] = value
    return ops


@action
def _metadata(s, c):
    ops, _start, entries, _end = c
    for (section, _), groups in entries or ():
        if section not in ("dialect_resources", "external_resources"):
            continue
        for (group, _), resources in groups if isinstance(groups, list) else ():
            given = resources if isinstance(resources, list) else []
            if section == "external_resources":
                s.resources.external[group] = {key: value for (key, _), value in given}
                continue
            for (key, pos), text in given:
                if not isinstance(text, str):
                    raise s.error("expected a string with the resource's data", pos)
                s.resources.of_dialects.setdefault(group, {})[key] = text
    return ops


@action
def _entries(s, c):
    found: dict[str, Any] = {}
    for (name, pos), value in c[0]:
        if name in found:
            raise s.error(f"duplicate key '{name}' in dictionary attribute", pos)
        found[name] = value
    return found


actions(
    # lists and words
    none=lambda s, c: None,
    items=lambda s, c: c,
    no_values=lambda s, c: [],
    names_of=lambda s, c: [name for name, _ in c[0]],
    pair=lambda s, c: (c[0], c[1]),
    token_text=lambda s, c: c[0][0],
    true=lambda s, c: True,
    false=lambda s, c: False,
    true_token=lambda s, c: ("true", s.at),
    false_token=lambda s, c: ("false", s.at),
    integer_value=lambda s, c: int(c[0][0], 0),
    # files and operations
    op=lambda s, c: (None, c[0], c[1]),
    op_with_results=lambda s, c: tuple(c),
    generic_op=lambda s, c: c,
    custom_op=lambda s, c: tuple(c),
    region=lambda s, c: c,
    block=lambda s, c: (c[0], (), c[1]),
    block_with_args=lambda s, c: tuple(c),
    # dictionaries
    unit_entry=lambda s, c: (c[0], a.UnitAttr()),
    no_entries=lambda s, c: {},
)
