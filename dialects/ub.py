"""The ub dialect: poison values, and code that is never reached."""

from __future__ import annotations

from ..ir.undefined import note_where
from .vocabulary import *


@attribute_class
class PoisonAttr(Attribute):
    """`#ub.poison`: the value of an operation whose result is undefined."""

    name = "ub.poison"

    def parameters_text(self) -> str:
        return ""


POISON = PoisonAttr()


class Poison(Op, name="ub.poison", traits=(Pure, ConstantLike)):
    """An undefined value; anything computed from it is undefined too.

    Source: upstream ub.poison.
    """

    value = attribute(instance(PoisonAttr, "poison attribute"), default=POISON)
    out: Result = result()

    format = "attr-dict (`<` $value^ `>`)? `:` type($out)"
    example = "%0 = ub.poison : vector<4xf32>"

    def fold(self):
        return [self.value]

    def evaluate(self):
        """Zero: any value is as good as another."""
        note_where(lambda: True, "'ub.poison' op: any value")
        type = self.out.type
        return np.zeros(getattr(type, "shape", ()), type_to_numpy(element_type(type)))[()]


class Unreachable(Op, name="ub.unreachable", traits=(Terminator,)):
    """The end of a block that is never executed.

    Source: upstream ub.unreachable.
    """

    format = "attr-dict"
    example = """
        func.func @f() {
          ub.unreachable
        }
    """

    def interpret(self, operands, frame):
        raise NncError("reached 'ub.unreachable'", self.loc)


def materialize_constant(attribute: Attribute, type: Type, loc: Location) -> Operation | None:
    """`ub.poison` for a poison attribute."""
    return Poison(out=type, loc=loc) if isinstance(attribute, PoisonAttr) else None


registry.dialect("ub").materialize_constant = materialize_constant
registry.dialect("ub").doc = __doc__ or ""
