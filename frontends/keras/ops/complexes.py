"""Complex tensors, which `keras.ops.eig` gives: their parts, absolute values and angles."""

from __future__ import annotations

from ...common import formulas
from ...common.complexes import Pair, magnitude, pair, terms
from ...common.eigenvalues import eig as general_eigen
from ...common.vocabulary import *
from ..layer import KerasLayer, layer
from .functions import add, formula

Function = Callable[[KerasLayer], Any]

_PARTS: dict[str, Callable[[Term, Term], Any]] = {
    "Real": lambda re, im: re.value,
    "Imag": lambda re, im: im.value,
    "Conj Conjugate": lambda re, im: pair(re, -im),
    "Absolute Abs": lambda re, im: magnitude((re, im)).value,
    "Angle": lambda re, im: formulas.atan2(im, re).value,
}


_REAL: dict[str, Function] = {
    "Real": lambda n: n.tensor(),
    "Imag": lambda n: Term(n, n.tensor()).zeros().value,
    "Conj Conjugate": lambda n: n.tensor(),
    "Absolute Abs": lambda n: n(nn.Abs(n.tensor())),
    "Angle": formula(lambda x: (x < 0.0).choose(math.pi, x.zeros())),
}


def _either(names: str) -> Function:
    """A function of real and of complex tensors."""

    def converted(n: KerasLayer) -> Any:
        x = n.args[0] if n.args else None
        return _PARTS[names](*terms(n, x)) if isinstance(x, Pair) else _REAL[names](n)

    return converted


add({names: _either(names) for names in _PARTS})


@layer("ops.Eig")
def eig(n: KerasLayer) -> list[Pair]:
    found = general_eigen(Term(n, n.floating(n.tensor())))
    return [pair(v.re, v.im) for v in (found.values, found.right) if v is not None]
