"""Maps from integers or strings to values, which a host handles."""

from __future__ import annotations

from ...ir.declare import TYPE
from ..vocabulary import *
from .base import tensor
from .creation import ELEMENTS
from .host import HostOp
from .host_types import AnyMap, AnySequence, MapType, SequenceType, string
from .strings import integer_of, number_text


class ZipMap(HostOp, name="nn.zip_map"):
    """A map for each row of x, from the i-th key to the row's i-th element.

    Shapes: x [N, C], or [C] for one row; keys [C] -> a sequence of N maps.
    Source: ONNX ZipMap-1 of ai.onnx.ml.
    """

    x: Operand = operand(AnyRankedTensor)
    keys: DenseElements | DenseResource = attribute(ELEMENTS)
    out: Result = result(AnySequence)

    example = """
        %m = nn.zip_map %x {keys = dense<["a", "b"]> : tensor<2x!nn.string>} :
            (tensor<?x2xf32>) -> !nn.sequence<!nn.map<!nn.string, f32>>
    """

    @classmethod
    def infer(cls, types, attrs):
        (x,), keys = types, attrs.keys.type
        if x.rank not in (1, 2) or x.shape[-1] not in (None, keys.shape[0]):
            raise NncError(f"x must have rows of {keys.shape[0]} elements, but got '{x}'")
        return [SequenceType(MapType(keys.element_type, x.element_type))]

    def evaluate(self, x):
        keys = self.keys.to_numpy().tolist()
        return [dict(zip(keys, row, strict=True)) for row in np.atleast_2d(x).tolist()]


class VectorizeMap(HostOp, name="nn.vectorize_map"):
    """A row of the map's values at the given keys; 0 or "" for a key that the map does not have.

    Shapes: keys [C] -> out [1, C]. Source: ONNX DictVectorizer-1 of ai.onnx.ml.
    """

    map: Operand = operand(AnyMap)
    keys: DenseElements | DenseResource = attribute(ELEMENTS)
    out: Result = result(AnyRankedTensor)

    example = """
        %x = nn.vectorize_map %m {keys = dense<["a", "b"]> : tensor<2x!nn.string>} :
            (!nn.map<!nn.string, f32>) -> tensor<1x2xf32>
    """

    @classmethod
    def infer(cls, types, attrs):
        (map,), keys = types, attrs.keys.type
        if map.key is not keys.element_type:
            raise NncError(f"keys are '{keys}', but those of the map '{map.key}'")
        return [tensor((1, keys.shape[0]), map.value)]

    def evaluate(self, map):
        value = self.map.type.value
        lacking = "" if value is string else 0
        keys = self.keys.to_numpy().tolist()
        return np.array([[map.get(key, lacking) for key in keys]], type_to_numpy(value))


class CastMap(HostOp, name="nn.cast_map"):
    """A row of the values of a map, converted to type `element`, in the order of the integer keys.

    With `sparse`, the row has `width` elements, and the value of key k is element k; the others are
    0 or "". Shapes: out [1, number of keys], or [1, width]. Source: ONNX CastMap-1 of ai.onnx.ml.
    """

    map: Operand = operand(AnyMap)
    element: Any = attribute(TYPE)
    sparse: bool = attribute(BOOL, default=False)
    width: int = attribute(I64, default=1)
    out: Result = result(AnyRankedTensor)

    example = "%x = nn.cast_map %m {element = f32} : (!nn.map<i64, f32>) -> tensor<1x?xf32>"

    @classmethod
    def infer(cls, types, attrs):
        if types[0].key is not i64:
            raise NncError(f"a map by i64 is expected, but got '{types[0]}'")
        return [tensor((1, attrs.width if attrs.sparse else None), attrs.element)]

    def evaluate(self, map):
        lacking = "" if self.element is string else 0
        row = [map[key] for key in sorted(map)]
        if self.sparse:
            if any(not 0 <= key < self.width for key in map):
                raise NncError(f"a key of the map is not in 0..{self.width - 1}")
            row = [map.get(i, lacking) for i in range(self.width)]
        if self.element is string:
            row = [one if isinstance(one, str) else number_text(np.float32(one)) for one in row]
        elif self.element is i64:
            row = [integer_of(one) if isinstance(one, str) else int(one) for one in row]
        else:
            row = [float(one) for one in row]
        return np.array([row], type_to_numpy(self.element)).reshape(1, len(row))
