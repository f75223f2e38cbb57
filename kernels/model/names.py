"""Conventional names for a stage's dimensions, from which its loops are named.

products        b (both factors), m (the left one), n (the right one), k (summed)
convolutions    n (images), g (groups), o and i (channels), d h w (places), kd kh kw (windows)
other stages    i, j, .. along the results, r for what is reduced
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .stages import Access, Stage

_PLACES = ("d", "h", "w")


def dimension_names(stage: Stage) -> list[str]:
    """One name for each dimension, none twice."""
    inputs = [a for a in stage.inputs if not a.is_scalar]
    if stage.has_reduction and len(inputs) == 2:
        windows = _windows(stage, inputs)
        wanted = _product(stage, inputs, windows)
    else:
        plain = iter("ijlmnopq" + "x" * stage.rank)
        wanted = ["r" if kind == "reduction" else next(plain) for kind in stage.kinds]
    return _distinct(wanted)


def _windows(stage: Stage, inputs: Sequence[Access]) -> dict[int, int]:
    """{spatial dimension: window dimension} for subscripts that add up two dimensions."""
    found: dict[int, int] = {}
    for access in inputs:
        for expr in access.exprs:
            used = sorted(expr.dims_used())
            places = [d for d in used if stage.kinds[d] == "parallel"]
            steps = [d for d in used if stage.kinds[d] == "reduction"]
            if len(places) == 1 and len(steps) == 1:
                found[places[0]] = steps[0]
    return found


def _product(stage: Stage, inputs: Sequence[Access], windows: dict[int, int]) -> list[str]:
    left, right = (access.used for access in inputs)
    both, only_left, only_right, summed = "gnoi" if windows else "bmnk"
    names = []
    for dim, kind in enumerate(stage.kinds):
        if kind == "reduction":
            names.append(summed)
        elif dim in left and dim in right:
            names.append(both)
        else:
            names.append(only_left if dim in left else only_right)
    places = _PLACES[max(0, len(_PLACES) - len(windows)) :]
    for (place, step), name in zip(sorted(windows.items()), places, strict=False):
        names[place], names[step] = name, f"k{name}"
    return names


def _distinct(wanted: Sequence[str]) -> list[str]:
    """The names, numbered from the second on where several are equal."""

    def numbered() -> Iterator[str]:
        seen: dict[str, int] = {}
        for name in wanted:
            seen[name] = seen.get(name, 0) + 1
            yield name if seen[name] == 1 else f"{name}{seen[name]}"

    return list(numbered())
