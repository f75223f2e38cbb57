"""What files, operations, regions and dictionaries become: light tuples, lists and dicts.

An action gets the session and the list of the production's children; `_name` is the function
for the productions named `name` in `grammar.lark`.
"""

from __future__ import annotations

from typing import Any

from .. import attributes as a
from .reductions import action

# -- lists and words -----------------------------------------------------------------------------


@action
def _none(s, c):
    return None


@action
def _items(s, c):
    return c


@action
def _no_values(s, c):
    return []


@action
def _extend(s, c):
    c[0].extend(c[1])
    return c[0]


@action
def _names_of(s, c):
    return [name for name, _ in c[0]]


@action
def _no_names(s, c):
    return []


@action
def _pair(s, c):
    return c[0], c[1]


@action
def _token_text(s, c):
    return c[0][0]


@action
def _true(s, c):
    return True


@action
def _false(s, c):
    return False


@action
def _true_token(s, c):
    return "true", s.at


@action
def _false_token(s, c):
    return "false", s.at


@action
def _integer_value(s, c):
    return int(c[0][0], 0)


# -- files and operations ------------------------------------------------------------------------


@action
def _start_file(s, c):
    return []


@action
def _file(s, c):
    c[0].append(c[1])
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
def _op(s, c):
    return None, c[0], c[1]


@action
def _op_with_results(s, c):
    return tuple(c)


@action
def _generic_op(s, c):
    return c


@action
def _custom_op(s, c):
    return tuple(c)


@action
def _region(s, c):
    return c


@action
def _block(s, c):
    return c[0], (), c[1]


@action
def _block_with_args(s, c):
    return tuple(c)


# -- dictionaries --------------------------------------------------------------------------------


@action
def _unit_entry(s, c):
    return c[0], a.UnitAttr()


@action
def _no_entries(s, c):
    return {}


@action
def _entries(s, c):
    found: dict[str, Any] = {}
    for (name, pos), value in c[0]:
        if name in found:
            raise s.error(f"duplicate key '{name}' in dictionary attribute", pos)
        found[name] = value
    return found
