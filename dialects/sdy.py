"""The sdy dialect: how JAX distributes arrays over devices. Its attributes stay text."""

from __future__ import annotations

from ..ir.attributes import OpaqueAttr
from ..ir.syntax.directive import Directive, directive
from ..ir.traits import Symbol
from .vocabulary import *

_SDY = registry.dialect("sdy")
_SDY.doc = __doc__ or ""
_SDY.is_subset = _SDY.is_opaque = True


def _kind(name: str) -> AttrKind[Any]:
    """The opaque attribute `#sdy.name<..>`."""

    def allows(a: Attribute) -> bool:
        return isinstance(a, OpaqueAttr) and a.text.startswith(f".{name}<")

    return AttrKind(f"{name} attribute", allows, lambda a: a, lambda a: a)


MESH, SHARDING = _kind("mesh"), _kind("sharding")


@directive("SdyText")
class SdyText(Directive):
    """`<..>`, as an attribute of this dialect. Arguments: the attribute."""

    fragment = "ANGLES"

    def setup(self) -> None:
        (self.name,) = self.names

    def read(self, child: Any, state: Any) -> None:
        ((text, _),) = child
        state.properties[self.name] = OpaqueAttr("sdy", f".{self.name}{text}")

    def write(self, op: Any, printer: Any) -> None:
        text = getattr(op, self.name).text
        printer.out.append(" " + text.removeprefix(f".{self.name}"))


class Mesh(Op, name="sdy.mesh", traits=(Symbol,)):
    """The names and sizes of the axes along which devices are arranged.

    Source: Shardy's sdy.mesh.
    """

    sym_name = attribute(SYMBOL_NAME)
    mesh = attribute(MESH)

    format = "$sym_name `=` custom<SdyText>($mesh) attr-dict"
    example = 'sdy.mesh @mesh = <["x"=2, "y"=4]>'


class ShardingConstraint(Op, name="sdy.sharding_constraint", traits=(Pure,)):
    """x itself; the attribute says how it is divided among the devices of a mesh.

    Source: Shardy's sdy.sharding_constraint.
    """

    x: Operand = operand(AnyTensor)
    sharding = attribute(SHARDING)
    out: Result = result(Same("x"))

    format = "$x custom<SdyText>($sharding) attr-dict `:` type($out)"
    example = '%y = sdy.sharding_constraint %x <@mesh, [{"x"}, {}]> : tensor<4x6xf32>'
