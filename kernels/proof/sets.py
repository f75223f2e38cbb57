"""Questions about a kernel's accesses by integer sets: out of bounds, or in a race?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice, product
from math import prod
from typing import Any

from ...ir.core import Value
from ...ir.diagnostics import NncError
from .accesses import CHANGE, READ, WRITE, Access
from .conditions import concerning, in_order, is_empty, parts_of, ranges_of
from .elements import touched
from .expressions import Form, number
from .forms import Forms
from .ids import Ids
from .merging import Merged
from .views import Place, Shape

_VARIABLE = re.compile(r"\bv\d")
_DIGIT = re.compile(r"t\d_\d+")
OPERATIONS = 600_000
"""The limit on isl's operations for a question that may stay unanswered: about two seconds."""

EQUALITIES = 32
"""How many ways of unknown extents being equal are tried."""

SIZES = (3, 1, 2, 5, 17, 65, 130, 700, 0)
"""The values of unknown extents with which a counterexample is searched for."""


class TooLargeError(Exception):
    """A question that takes too long."""


@dataclass(frozen=True)
class Found:
    """An instance of a fault: its groups and threads, and the element.

    It only `may` happen if no extents are found whose products are as the fault needs them, or if
    numbers occur that the host reads or computes in a way that polynomials do not describe.
    """

    groups: tuple[tuple[int, ...], ...]
    threads: tuple[tuple[int, ...], ...]
    element: tuple[int, ...]
    may: bool = False


class Sets:
    """The accesses of a launch as relations from groups and threads to elements.

    With `is_plain`, conditions on parameters that are alternatives are left out: what holds without
    them is proven in less time, but a fault may be none.
    """

    def __init__(self, forms: Forms, is_plain: bool = False) -> None:
        try:
            import islpy
        except ImportError:
            raise NncError("proofs need islpy: pip install 'nnc[prove]'") from None
        self._isl: Any = islpy
        self._forms, self._is_plain = forms, is_plain
        self._ids = Ids(forms)
        self._always: dict[str, bool] = {}
        self._maps: dict[tuple[int, bool, bool], tuple[Access, Any]] = {}
        self._touched: dict[tuple[int, bool], tuple[Access, Any]] = {}

    def outside(self, access: Access) -> Found | None:
        """A thread in which an access is out of bounds; None if there is none."""
        if access.limits is None:  # It is masked at the edges of its view.
            return self._outside_buffer(access)
        beyond = [
            f"({at.text}) < 0 or ({at.text}) >= ({limit.text})"
            for at, limit in zip(access.at, access.limits, strict=True)
        ]
        if not beyond:
            return self._outside_buffer(access)
        condition = "(" + " or ".join(beyond) + ")"
        if not self._are_below(access, access.at, access.limits):
            found = self._sample(self._relation(access, access.at, condition, access.limits))
            if found is not None:
                return found
        return self._outside_buffer(access)

    def outside_exactly(self, access: Access) -> Found | None:
        """A thread in which an access is outside along an index that is known exactly; else None.

        Others of its indices may be values of which nothing is known.
        """
        along = zip(access.at, access.limits or (), strict=False)
        known = [(at, limit) for at, limit in along if at.is_exact and limit.is_exact]
        if not (known and access.holds.is_exact):
            return None
        at, limits = zip(*known, strict=True)
        return self.outside(
            replace(access, at=at, limits=limits, place=Place(access.place.buffer, None, None))
        )

    def _outside_buffer(self, access: Access) -> Found | None:
        """A thread in which an access is inside its view but outside the buffer; else None."""
        flat, size = access.place.flat, access.place.size
        if flat is None or size is None:
            return None
        condition = f"(({flat.text}) < 0 or ({flat.text}) >= ({size.text}))"
        return self._sample(self._relation(access, [flat], condition, [size]))

    def is_within(self, access: Access, extents: Sequence[Form]) -> bool:
        """Whether an access by indices is certainly inside of `extents`."""
        assert access.place.indices is not None
        if self._are_below(access, access.place.indices, extents):
            return True
        beyond = [
            f"({at.text}) < 0 or ({at.text}) >= ({extent.text})"
            for at, extent in zip(access.place.indices, extents, strict=True)
        ]
        condition = f"({' or '.join(beyond)})"
        used = (*access.place.indices, *extents)
        return self._relation(access, (), condition, used).is_empty()

    def _are_below(self, access: Access, at: Sequence[Form], limits: Sequence[Form]) -> bool:
        """Whether indices are certainly in 0..limit, each by the conditions that concern it.

        Sets with few conditions take much less time; False may be unknown.
        """
        return all(
            self._is_never(access.holds + one + limit, f"(({text}) < 0 or ({text}) >= ({end}))")
            for one, limit in zip(at, limits, strict=True)
            for text, end in ((one.text, limit.text),)
        )

    def _is_never(self, holds: Form, condition: str) -> bool:
        """Whether a condition is false wherever a form holds; False may be unknown."""
        grid = dict.fromkeys(c for form in self._forms.grid for c in form.holds)
        others = [self._ids.plain(one) for one in (*holds.holds, *self._ids.ranges, *grid)]
        together = concerning(self._ids.plain(condition), others)
        for is_plain in (True, False):
            _, known = self._forms.parameters.of(together, is_plain)
            if is_empty(self._isl, in_order([*known, *together])):
                return True
        return False

    def is_inside_if_equal(self, access: Access) -> bool:
        """Whether an access is inside its buffer if unknown extents of two arguments are equal."""
        for at, limit in zip(access.at, access.limits or (), strict=False):
            condition = f"(({at.text}) < 0 or ({at.text}) >= ({limit.text}))"
            beyond = self._relation(access, access.at, condition, [limit])
            if not beyond.is_empty() and not any(
                beyond.intersect_params(equal).is_empty() for equal in self._equalities([limit])
            ):
                return False
        return self._outside_buffer(access) is None

    def is_empty_if_equal(self, part: Any, buffer: Value) -> bool:
        """Whether a part of a buffer is empty if extents of other arguments equal the buffer's."""
        extents = [self._forms.extent(buffer, d) for d in range(buffer.type.rank)]  # type: ignore[attr-defined]
        return any(part.intersect_params(e).is_empty() for e in self._equalities(extents))

    def _equalities(self, extents: Sequence[Form]) -> Iterator[Any]:
        """Sets that equate unknown extents with those of other buffers, likely ones first."""
        buffers = self._forms.parameters.extents
        ours = dict.fromkeys(extent.text for extent in extents if extent.text in buffers)
        others = [
            [other for other in buffers if buffers[one].keys().isdisjoint(buffers[other])]
            for one in ours
        ]
        # Extents along the same dimension are the likely ones.
        alike = [
            [other for other in found if set(buffers[one].values()) & set(buffers[other].values())]
            for one, found in zip(ours, others, strict=True)
        ]
        ways = [
            product(*([f"{one} = {other}" for other in found] + ["true"] for one, found in pairs))
            for pairs in (zip(ours, alike, strict=True), zip(ours, others, strict=True))
        ]
        parameters = ", ".join(self._forms.parameters.names.values())
        for equal in islice(chain(*ways), EQUALITIES):
            if set(equal) - {"true"}:
                yield self._isl.Set(f"[{parameters}] -> {{ : {' and '.join(equal)} }}")

    def is_as_wanted(self, access: Access) -> bool:
        """Whether the `wanted` conditions of an access's forms hold wherever it happens."""
        forms = (access.holds, access.barriers, *access.at)
        wanted = dict.fromkeys(w for form in forms for w in form.wanted)
        return all(
            self._is_always(one)
            or self._relation(access, access.at, f"not ({one})", [access.barriers]).is_empty()
            for one in wanted
        )

    def _is_always(self, condition: str) -> bool:
        """Whether a condition holds in all threads, without an access's own conditions."""
        if _VARIABLE.search(condition):
            return False
        if condition not in self._always:
            holds = number(0).given(f"not ({condition})")
            self._always[condition] = self._among(holds, ()).is_empty()
        return self._always[condition]

    def clash(self, one: Access, other: Access, within: bool) -> Found | None:
        """Two groups, or two threads `within` a group, that race for an element; else None."""
        if one.place.buffer is not other.place.buffer or one.kind == other.kind == CHANGE:
            return None
        by_indices = None not in (one.place.indices, other.place.indices)
        first, second = (self._places(access, within, by_indices) for access in (one, other))
        both = first.apply_range(second.reverse())
        meeting = both.intersect(self._ids.apart(self._isl, within).align_params(both.get_space()))
        if meeting.is_empty():
            return None
        return self._pair(meeting, first, second)

    def are_apart(self, accesses: Sequence[Access], within: bool) -> bool:
        """Whether no two of the accesses to a buffer clash, in one query for all."""
        by_indices = all(access.place.indices is not None for access in accesses)
        if not by_indices and any(access.place.flat is None for access in accesses):
            return False
        kinds = {access.kind for access in accesses}
        for one, other in ((WRITE, WRITE), (WRITE, READ), (WRITE, CHANGE), (CHANGE, READ)):
            if not kinds >= {one, other}:
                continue
            first, second = (
                self._union(accesses, kind, within, by_indices) for kind in (one, other)
            )
            both = first.apply_range(second.reverse())
            if not both.intersect(
                self._ids.apart(self._isl, within).align_params(both.get_space())
            ).is_empty():
                return False
        return True

    def _union(self, accesses: Sequence[Access], kind: str, within: bool, by_indices: bool) -> Any:
        maps = [self._places(a, within, by_indices) for a in accesses if a.kind == kind]
        union = maps[0]
        for other in maps[1:]:
            union = union.union(other)
        return union.coalesce()

    @contextmanager
    def limited(self) -> Iterator[None]:
        """A context that limits the time of questions. Raises TooLargeError."""
        context = self._isl.DEFAULT_CONTEXT
        context.reset_operations()
        context.set_max_operations(OPERATIONS)
        try:
            yield
        except self._isl.Error:  # Its text names what was under way, not the limit.
            raise TooLargeError from None
        finally:
            context.set_max_operations(0)
            context.reset_operations()

    # -- what is written -----------------------------------------------------------------------

    def places(self, access: Access, by_indices: bool) -> Any:
        """The set of elements that an access touches, in all groups and threads."""
        key = (id(access), by_indices)
        if key not in self._touched:
            place = access.place
            to = (place.indices if by_indices else (place.flat,)) or ()
            forms = [number(0), *(form for form in to if form is not None)]
            found = touched(self._isl, self._forms, access.holds, forms, self._ids, self._is_plain)
            self._touched[key] = access, found
        return self._touched[key][1]

    def whole(self, extents: Sequence[Form]) -> Any:
        """The set of all elements of a buffer of these extents."""
        names = [f"x{i}" for i in range(1, len(extents) + 1)]
        ranges = ranges_of(names, extents)
        parameters, body = self._body(["x0 = 0", *ranges], extents)
        return self._isl.Set(f"[{parameters}] -> {{ [{', '.join(['x0', *names])}] : {body} }}")

    def rows(self, shape: Sequence[int], strides: Sequence[int]) -> Any:
        """The set of all elements of a strided buffer, as linear indices."""
        names = [f"y{i}" for i in range(len(shape))]
        ranges = [f"0 <= {name} < {n}" for name, n in zip(names, shape, strict=True)]
        total = " + ".join(f"{s}*{name}" for name, s in zip(names, strides, strict=True))
        conditions = " and ".join([f"x1 = {total}", *ranges])
        return self._isl.Set(
            f"{{ [x0, x1] : x0 = 0 and exists ({', '.join(names)} : {conditions}) }}"
        )

    def refined(self, part: Any, coarse: Shape, fine: Shape, extents: Sequence[Form]) -> Any:
        """The elements of `part`, by indices in shape `coarse`, as a set in the shape `fine`.

        `extents` are those of `fine`; an index of `coarse` becomes several of `fine`, any of them
        where their relation is not linear.
        """
        names = [f"y{i}" for i in range(1, len(fine) + 1)]
        kept = [found for found in parts_of(coarse, fine, extents) if found is not None]
        olds = ", ".join(f"x{j}" for j in range(len(coarse) + 1))
        holds = ["y0 = x0", *kept, *ranges_of(names, extents)]
        news = ", ".join(["y0", *names])
        parameters, body = self._body(holds, extents)
        text = f"[{parameters}] -> {{ [{olds}] -> [{news}] : {body} }}"
        return part.apply(self._isl.Map(text))

    def refines_exactly(self, coarse: Shape, fine: Shape, extents: Sequence[Form]) -> bool:
        """Whether `refined` gives those elements only, and no others."""
        return None not in parts_of(coarse, fine, extents)

    def _body(self, holds: Sequence[str], extents: Sequence[Form]) -> tuple[str, str]:
        """(parameters, conditions) as text: `holds` with the conditions of the extents."""
        conditions = [*(c for extent in extents for c in extent.holds), *holds]
        parameters, known = self._forms.parameters.of(conditions, self._is_plain, True)
        body = " and ".join([*known, *conditions])
        variables = dict.fromkeys(v for extent in extents for v in extent.variables)
        body = f"exists ({', '.join(variables)} : {body})" if variables else body
        return ", ".join(parameters), body

    def element(self, part: Any) -> list[int]:
        """The coordinates of one element of a set."""
        return list(self._numbers(part)[1:])

    def write_once(self, writes: Sequence[Access], by_indices: bool) -> bool:
        """Whether a launch's accesses write no element twice, not in two iterations either."""
        before = None
        for access in writes:
            place = access.place
            to = place.indices if by_indices else (place.flat,)
            each = self._relation(access, (number(0), *to), each_time=True)  # type: ignore[misc]
            here = each.range()
            if not each.is_injective() or (before is not None and not before.is_disjoint(here)):
                return False
            before = here if before is None else before.union(here)
        return True

    def _pair(self, meeting: Any, first: Any, second: Any) -> Found:
        """One pair of threads that meet, and an element that both access."""
        certain = self._with_extents(meeting)
        point = self._isl.Map.from_basic_map((certain or meeting).sample())
        here, there = point.domain(), point.range()
        element = self._numbers(here.apply(first).intersect(there.apply(second)))
        left, right = self._numbers(here), self._numbers(there)
        (group, thread), (other, its) = (self._who(n, point) for n in (left, right))
        return Found((group, other), (thread, its), element[1:], certain is None)

    def _who(self, numbers: tuple[int, ...], point: Any) -> tuple[tuple[int, ...], ...]:
        """(group id, thread id), each along x, y and z."""
        (*group, quotient), thread = self._ids.numbered(numbers)
        if self._forms.parted is not None:
            axis, times = self._forms.parted
            values = self._parameters(point)
            group[axis] += quotient * int(eval(times.text, {"__builtins__": {}}, values))
        return tuple(group), thread

    def is_possible(self, part: Any) -> bool:
        """Whether a part of a buffer is not empty for some values of unknown extents."""
        return self._with_extents(part) is not None

    def _with_extents(self, relation: Any) -> Any:
        """A relation for some concrete extents and their products; None if none are found.

        In integer sets, a product of extents is a parameter unrelated to its factors.
        """
        parameters = self._forms.parameters
        if not parameters.values_of_host.isdisjoint(self._names(relation)):
            return None
        if not parameters.factors:
            return relation
        for size in (None, *SIZES):
            part = relation
            if size is not None:
                for name in parameters.extents:
                    part = self._fixed(part, name, size)
            if part.is_empty():
                continue
            values = self._parameters(part)
            for name, factors in parameters.factors.items():
                if name in values:
                    product = prod(values.get(factor, 0) for factor in factors)
                    for factor in factors:
                        part = self._fixed(part, factor, values.get(factor, 0))
                    part = self._fixed(part, name, product)
            if not part.is_empty():
                return part
        return None

    def _names(self, part: Any) -> list[str]:
        """The names of the parameters of a set or relation."""
        kind = self._isl.dim_type.param
        return [part.get_dim_name(kind, i) for i in range(part.dim(kind))]

    def _fixed(self, part: Any, name: str, value: int) -> Any:
        """A set or relation for one value of a parameter."""
        kind = self._isl.dim_type.param
        at = part.find_dim_by_name(kind, name)
        return part if at < 0 else part.fix_val(kind, at, self._isl.Val(value))

    def _parameters(self, part: Any) -> dict[str, int]:
        """The parameters of a set or relation at one of its points."""
        point, kind = part.params().sample_point(), self._isl.dim_type.param
        return {
            name: int(point.get_coordinate_val(kind, i).to_python())
            for i, name in enumerate(self._names(part))
        }

    def _numbers(self, part: Any) -> tuple[int, ...]:
        """The coordinates of a point of a set."""
        point, kind = part.sample_point(), self._isl.dim_type.set
        return tuple(
            int(point.get_coordinate_val(kind, i).to_python()) for i in range(part.dim(kind))
        )

    def _sample(self, relation: Any) -> Found | None:
        if relation.is_empty():
            return None
        certain = self._with_extents(relation)
        point = self._isl.Map.from_basic_map((certain or relation).sample())
        here = point.domain()
        place, element = self._numbers(here), self._numbers(here.apply(point))
        group, thread = self._who(place, point)
        return Found((group,), (thread,), element, certain is None)

    def _places(self, access: Access, within: bool, by_indices: bool) -> Any:
        key = (id(access), within, by_indices)
        if key not in self._maps:
            place = access.place
            to = place.indices if by_indices else (place.flat,)
            count = access.barriers if within else number(0)
            found = self._relation(access, (count, *to))  # type: ignore[misc]
            self._maps[key] = access, found  # So that no other one gets its identity.
        return self._maps[key][1]

    def _relation(
        self,
        access: Access,
        to: Sequence[Form],
        condition: str = "",
        used: Sequence[Form] = (),
        each_time: bool = False,
    ) -> Any:
        """The relation from the groups and threads in which an access happens to the forms `to`.

        With `each_time`, its domain also has the loop iterations and the elements of vectors.
        """
        holds = access.holds.given(*([condition] if condition else []))
        return self._among(holds, to, used, each_time)

    def _among(
        self, holds: Form, to: Sequence[Form], used: Sequence[Form] = (), each_time: bool = False
    ) -> Any:
        """The relation from the groups and threads for which a form holds to the forms `to`."""
        forms = [holds, *to, *used, *self._forms.grid]
        variables = dict.fromkeys(v for form in forms for v in form.variables)
        conditions = dict.fromkeys(c for form in forms for c in form.holds)
        names = [f"x{i}" for i in range(len(to))]
        equal = [f"{n} = {form.text}" for n, form in zip(names, to, strict=True)]
        sums, ranges, texts = self._ids.digits((*conditions, *equal))
        digits = _DIGIT.findall(" ".join(sums.values()))
        texts = [*self._ids.of_groups, *ranges, *(f"{n} = {s}" for n, s in sums.items()), *texts]
        parameters, known = self._forms.parameters.of(texts, self._is_plain)
        body = " and ".join([*known, *texts])
        inner = digits if each_time else [*variables, *digits]
        if inner:
            body = f"exists ({', '.join(inner)} : {body})"
        ids = ", ".join((*self._ids.names, *(variables if each_time else ())))
        text = f"[{', '.join(parameters)}] -> {{ [{ids}] -> [{', '.join(names)}] : {body} }}"
        return _map(self._isl, text)


@lru_cache(maxsize=1 << 12)
def _map(isl: Any, text: str) -> Any:
    """The relation of a text; several cases of a launch have many in common."""
    return isl.Map(text)


def pairs(found: Sequence[Merged]) -> Iterator[tuple[Merged, Merged]]:
    """All pairs of merged accesses, each with itself too, of which at least one writes."""
    for i, one in enumerate(found):
        for other in found[i:]:
            if one.access.kind != READ or other.access.kind != READ:
                yield one, other
