"""Parameters: numbers that are constant while a function of the host runs, and facts on them."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from functools import lru_cache

from ...ir.core import Value
from .expressions import Form, choice_of, is_fixed, is_number, number, parts_of, sum_of
from .polynomials import Monomial, Polynomial

_PARAMETER = re.compile(r"\bp\d+\b")
_NAME = re.compile(r"\b[vp]\d+\b")
_ALTERNATIVES = re.compile(r"\b(?:or|not)\b|!=")
_MOST = 1 << 63
"""More than any product of extents, since indices have 64 bits."""
_POLYNOMIAL = re.compile(r"(?:p\d+|\d+|[\s()+*-])+")
"""Matches text that consists of sums and products of parameters."""


@dataclass
class Parameters:
    """The parameters of a function of the host, and the conditions that hold for them."""

    names: dict[str, str] = field(default_factory=dict)
    """The names of parameters, by the key of what each stands for."""
    known: dict[str, None] = field(default_factory=dict)
    """The conditions known to hold for parameters; a dictionary keeps their order."""
    factors: dict[str, Monomial] = field(default_factory=dict)
    """For each parameter that stands for a product: its factors."""
    definitions: dict[str, str] = field(default_factory=dict)
    """For each known condition that only defines a parameter: the parameter's name."""
    quotients: dict[str, str] = field(default_factory=dict)
    """The same of conditions that define a parameter as a quotient."""
    of_products: dict[str, None] = field(default_factory=dict)
    """The known conditions that relate products to their factors, which few questions need."""
    switches: dict[str, Form] = field(default_factory=dict)
    """For each parameter that is 0 where a condition on parameters holds, else 1: the condition."""
    counts: dict[str, None] = field(default_factory=dict)
    """The parameters that are known to be >= 0."""
    naturals: list[Polynomial] = field(default_factory=list)
    """Further polynomials of parameters that are known to be >= 0."""
    extents: dict[str, dict[Value, int]] = field(default_factory=dict)
    """For each unknown extent, by name: the buffers that have it, with the dimension."""
    values_of_host: set[str] = field(default_factory=set)
    """The numbers that the host reads from memory, or computes in a way that polynomials do not
    describe, as from floats: not all values of them may occur."""
    related: dict[tuple[Value, int], tuple[tuple[Value, int], int]] = field(default_factory=dict)
    """Maps an argument's (buffer, dimension) to (an earlier one, how much larger it is)."""

    chosen: dict[Value, bool] = field(default_factory=dict)
    """The conditions whose outcome is supposed, see `cases.py`."""
    values: dict[str, int] = field(default_factory=dict)
    """The values of parameters that are numbers in the supposed case."""
    polynomials: dict[str, Polynomial | None] = field(default_factory=dict, repr=False)
    """The polynomial of each text asked for, None if it is none. Factors never change."""
    _asked: dict[Polynomial, int | None] = field(default_factory=dict, repr=False)
    """For each polynomial asked for: None if it is not negative, else how much was known then."""

    def copy(self) -> Parameters:
        """A copy, which knows nothing of what is added to this one."""
        own = {one.name: copy(getattr(self, one.name)) for one in fields(self)}
        own["extents"] = {name: dict(buffers) for name, buffers in self.extents.items()}
        return Parameters(**own)

    def named(self, what: str) -> str:
        """The name of the parameter with this key; a new key gets a new name."""
        return self.names.setdefault(what, f"p{len(self.names)}")

    def suppose(self, *conditions: str) -> None:
        """Add conditions that hold for parameters."""
        self.known.update(dict.fromkeys(conditions))

    def of(
        self, texts: Iterable[str], is_plain: bool = False, with_quotients: bool = False
    ) -> tuple[list[str], list[str]]:
        """(parameters in texts and those that they depend on, the known conditions on these).

        Integer sets with few parameters are much faster. With `is_plain`, there are no conditions
        that are alternatives, each of which may double the time that a set takes, none that relate
        products to factors, and no quotients of parameters that are not in the texts themselves,
        unless `with_quotients`: a set from which one is subtracted needs what is known of the
        other's parameters.
        """
        found = {name for text in texts for name in _parameters_in(text)}
        is_less = is_plain and not with_quotients
        defined = self.definitions | self.quotients if is_less else self.definitions
        known = {
            one: (names, {defined[one]} if one in defined else names)
            for one in self.known
            if not (is_plain and (one in self.of_products or _ALTERNATIVES.search(one)))
            for names in (_parameters_in(one),)
        }
        while True:
            about = [one for one, (_, by) in known.items() if not found.isdisjoint(by)]
            more = {name for one in about for name in known[one][0]}
            more |= {factor for name in found for factor in self.factors.get(name, ())}
            if more <= found:
                return [name for name in self.names.values() if name in found], about
            found |= more

    def count(self, name: str) -> None:
        """Record that a parameter is not negative."""
        self.counts[name] = None
        self.suppose(f"{name} >= 0")

    def defined(self, value: str, condition: str) -> str:
        """The parameter for an expression `value`; `condition`, with `@` for it, defines it."""
        name = self.named(value)
        defines = condition.replace("@", name)
        self.definitions[defines] = name
        self.suppose(defines)
        return name

    def chosen_of(
        self, value: str, condition: str, relation: str, among: Sequence[Polynomial]
    ) -> str:
        """The parameter for a minimum ("<="), a maximum (">=") or another choice ("") `among` two
        polynomials; `value` and `condition` define it, see `defined`.
        """
        name = self.defined(value, condition)
        itself = Polynomial({(name,): 1})
        for each in among if relation else ():
            above = each - itself if relation == "<=" else itself - each
            if not self.is_natural(above):
                self.naturals.append(above)
        enough = any if relation == ">=" else all
        if enough(map(self.is_natural, among)):
            self.count(name)
        return name

    def total_of(self, text: str, is_natural: Callable[[str], bool]) -> Polynomial:
        """The polynomial of a sum, in which a term that is none, such as a quotient of a maximum,
        is a parameter; one that `is_natural` is known not to be negative.
        """
        total = Polynomial({})
        for times, term in parts_of(text):
            found = self.polynomial(Form(term))
            if found is None:
                name = self.defined(term, f"@ = {term}")
                if is_natural(term):
                    self.count(name)
                found = Polynomial({(name,): 1})
            total = total + found * times
        return total

    def switch(self, where: Form) -> Polynomial:
        """The parameter that is 0 where a condition on parameters holds, else 1."""
        name = self.defined(*choice_of(where, number(0), number(1)))
        self.switches[name] = where
        self.count(name)
        return Polynomial({(name,): 1})

    def are_counts(self, text: str, others: Container[str]) -> bool:
        """Whether an expression is a sum of ids and numbers none of which is negative: parameters
        that are not, and variables among `others`.
        """
        names = _NAME.findall(text)
        return "-" not in text and all(name in self.counts or name in others for name in names)

    def factors_of(self, form: Form) -> Monomial:
        """The parameters one of which is 0 where a form is, if it is a product; else none."""
        polynomial = self.polynomial(form)
        terms = list(polynomial.terms) if polynomial is not None else []
        return terms[0] if len(terms) == 1 and len(terms[0]) > 1 else ()

    def is_natural(self, polynomial: Polynomial) -> bool:
        """Whether a polynomial is known not to be negative."""
        known = len(self.naturals) + len(self.counts)  # Neither is ever forgotten.
        if polynomial not in self._asked or self._asked[polynomial] not in (None, known):
            self._asked[polynomial] = None if self._is_natural(polynomial) else known
        return self._asked[polynomial] is None

    def _is_natural(self, polynomial: Polynomial) -> bool:
        return any(
            all(
                factor >= 0 and all(name in self.counts for name in names)
                for names, factor in left.terms.items()
            )
            for left in (polynomial, *(polynomial - natural for natural in self.naturals))
        )

    def suppose_natural(self, polynomial: Polynomial) -> None:
        """Record that a polynomial is not negative."""
        if not self.is_natural(polynomial):
            self.naturals.append(polynomial)
            self.suppose(f"{self.form(polynomial).text} >= 0")

    def floor(self, polynomial: Polynomial, by: int) -> Polynomial:
        """floor(polynomial / by): the exact part, plus a new parameter for the rest if any."""
        whole = {names: factor // by for names, factor in polynomial.terms.items()}
        rest = {names: factor % by for names, factor in polynomial.terms.items()}
        left = Polynomial.of(rest)
        if left.constant is not None:
            return Polynomial.of(whole)
        top = self.form(left).text
        name = self.named(f"floor({top}/{by})")
        defines = f"{by}*{name} <= {top}", f"{top} < {by}*{name} + {by}"
        self.quotients.update(dict.fromkeys(defines, name))
        self.suppose(*defines)
        if self.is_natural(left):
            self.count(name)
        return Polynomial.of(whole) + Polynomial({(name,): 1})

    def polynomial(self, form: Form) -> Polynomial | None:
        """The polynomial in parameters that a form is; None if it is not one."""
        if form.variables:
            return None
        if form.text not in self.polynomials:
            self.polynomials[form.text] = self._polynomial(form)
        return self.polynomials[form.text]

    def _polynomial(self, form: Form) -> Polynomial | None:
        if not is_fixed(form) or not _POLYNOMIAL.fullmatch(form.text):
            return None
        if is_number(form):
            return Polynomial.number(int(form.text))
        names = {
            name: Polynomial({self.factors.get(name, (name,)): 1})
            for name in _parameters_in(form.text)
        }
        found = eval(form.text, {"__builtins__": {}}, names)
        return found if isinstance(found, Polynomial) else Polynomial.number(found)

    def form(self, polynomial: Polynomial) -> Form:
        """A polynomial as a sum, of parameters and of products of them."""
        terms = [
            f"{factor}*{self._product(names)}"
            for names, factor in sorted(polynomial.terms.items())
            if names
        ]
        return Form(sum_of(" + ".join(terms), polynomial.terms.get((), 0)))

    def _product(self, names: Monomial) -> str:
        if len(names) == 1:
            return names[0]
        product = self.named(" * ".join(names))
        if product not in self.factors:
            self.factors[product] = names
            if all(name in self.counts for name in names):
                self.count(product)
                for name in dict.fromkeys(names):  # It is 0 where a factor is.
                    above = f"{product} <= {_MOST}*{name}"
                    self.definitions[above] = product
                    self.of_products[above] = None
                    self.suppose(above)
        return product


@lru_cache(maxsize=1 << 16)
def _parameters_in(text: str) -> frozenset[str]:
    """The parameters that an expression or a condition names."""
    return frozenset(_PARAMETER.findall(text))
