"""From the layers of a neural network to a graph: each stands for operations of MIL.

Networks of the older kind work on [sequence, batch, channels, height, width]. Their sequences are
one step long here, and blobs are [batch, channels, height, width]: inputs of fewer dimensions get
those that they lack, and outputs have as many as the model says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.numpy_types import numpy_to_type
from ...ir.types import Dim, TensorType, f32
from ..common.graph import Graph, Node
from ..common.inputs import Input
from ..common.shapes import product
from ..wire.protobuf import Record
from .network_tables import ACTIVATIONS, BINARY, DIRECT, REDUCTIONS, SAMPLING, UNARY
from .types import unpacked

if TYPE_CHECKING:
    from .model import Files

_KINDS = {"FLOAT32": "f4", "FLOAT16": "f2", "DOUBLE": "f8", "INT32": "i4", "INT8": "i1"}


def network_graph(files: Files, model: Record, network: Record, notes: dict[str, str]) -> Graph:
    """The graph of a network and of what it does to images before."""
    return _Reader(files, model, network, notes).graph()


class _Reader:
    def __init__(self, files: Files, model: Record, network: Record, notes: dict[str, str]) -> None:
        self.files = files
        self.about = model.part("description")
        self.network = network
        self.notes = notes
        self.version = model.specificationVersion
        self.exact = network.arrayInputShapeMapping == "EXACT"
        self.nodes: list[Node] = []
        self.constants: dict[str, np.ndarray] = {}
        self.names: dict[str, str] = {}
        self.count = 0
        self.place = ""

    def graph(self) -> Graph:
        inputs = [self.input(feature) for feature in self.about.input]
        for layer in self.network.layers:
            self.layer(layer)
        labels = (
            self.network.part("stringClassLabels").values
            or self.network.part("int64ClassLabels").values
        )
        if labels:
            self.notes["classes"] = ", ".join(map(str, labels))
        outputs = [(one.name, self.output(one)) for one in self.outputs()]
        return Graph(
            inputs,
            self.nodes,
            outputs,
            self.constants,
            producer=f"CoreML specification {self.version}",
            notes=self.notes,
        )

    def outputs(self) -> list[Record]:
        """The outputs that the network computes; labels and tables by label are not tensors."""
        found = [one for one in self.about.output if one.name in self.names]
        if not found:
            made = self.network.labelProbabilityLayerName or next(reversed(self.names), "")
            for one in self.about.output:
                if one.part("type").dictionaryType is not None and made in self.names:
                    self.names[one.name] = self.names[made]
                    found.append(one)
        if not found:
            raise self.files.error("the network computes none of the model's outputs")
        return found

    def input(self, feature: Record) -> Input:
        """An input with its preprocessing, which images have."""
        name, type = feature.name, feature.part("type")
        self.place = name
        self.names[name] = name
        if (image := type.imageType) is not None:
            channels = 1 if image.colorSpace.startswith("GRAY") else 3
            shape: tuple[Dim, ...] = (1, channels, image.height or None, image.width or None)
            if image.imageSizeRange is not None:
                shape = (1, channels, None, None)
            self.preprocess(name, image.colorSpace)
            return Input(name, TensorType(shape, f32))
        array = type.part("multiArrayType")
        shape = tuple(d if d > 0 else None for d in array.shape)
        ranges = array.part("shapeRange").sizeRanges
        if len(ranges) == len(shape):
            fixed = [r.lowerBound if r.lowerBound == r.upperBound else None for r in ranges]
            shape = tuple(fixed)
        if array.enumeratedShapes is not None:
            shape = (None,) * len(shape)
        element = numpy_to_type(np.dtype(_KINDS.get(array.dataType, "f4")))
        if not self.exact and len(shape) in (1, 3):
            wide = [1, *shape] if len(shape) == 3 else [1, *shape, 1, 1]
            self.reshaped(name, name, [-1 if d is None else d for d in wide])
        return Input(name, TensorType(shape, element))

    def preprocess(self, name: str, colors: str) -> None:
        """Scale and bias of an image; those of colors lie in the order of its channels."""
        for one in self.network.preprocessing:
            if one.featureName not in ("", name):
                continue
            if (scaler := one.scaler) is not None:
                order = {"RGB": "red green blue", "BGR": "blue green red"}.get(colors, "gray")
                bias = [getattr(scaler, f"{color}Bias") for color in order.split()]
                scale = scaler.channelScale if scaler.has("channelScale") else 1.0
                self.notes[f"{name} (scale, bias)"] = f"{scale} {bias}"
                column = np.array(bias, np.float32).reshape(1, -1, 1, 1)
                self.add("mul", name, {"x": name, "y": np.float32(scale)})
                self.add("add", name, {"x": name, "y": column})
            elif one.meanImage is not None:
                raise self.files.error(f"input '{name}': mean images are not supported")

    def output(self, feature: Record) -> str:
        shape = feature.part("type").part("multiArrayType").shape
        value = self.names[feature.name]
        if self.exact or not shape or feature.part("type").multiArrayType is None:
            return value
        self.place = feature.name
        self.reshaped(feature.name, feature.name, [d if d > 0 else -1 for d in shape])
        return self.names[feature.name]

    # -- nodes ------------------------------------------------------------------------------------

    def add(self, kind: str, output: str | Sequence[str], inputs: dict[str, Any], **given) -> None:
        """An operation; inputs are blobs' names, lists of them, or arrays."""
        from .rows import inputs_of

        bound: dict[str, list[str]] = {}
        for name, value in inputs.items():
            several = value if isinstance(value, list) else [value]
            bound[name] = [self.operand(one) for one in several]
            if not isinstance(value, str | list):
                given[name] = np.asarray(value)
        names = []
        for name, is_list in inputs_of(kind):
            if name not in bound and name in given:
                bound[name] = [self.operand(np.asarray(given[name], np.int32))]
            names += bound.get(name, [] if is_list else [""])
        while names and not names[-1]:
            names.pop()
        outputs = [output] if isinstance(output, str) else list(output)
        values = []
        for one in outputs:
            self.count += 1
            values.append(one if one not in self.names else f"{one}#{self.count}")
        self.nodes.append(Node(kind, self.place, names, values, given))
        self.names |= dict(zip(outputs, values, strict=True))

    def operand(self, value: Any) -> str:
        if isinstance(value, str):
            if value not in self.names:
                raise self.files.error(f"layer '{self.place}' uses '{value}', which nothing makes")
            return self.names[value]
        self.count += 1
        name = f"{self.place}.{self.count}"
        self.constants[name] = np.asarray(value)
        return name

    def reshaped(self, output: str, x: str, shape: Sequence[int]) -> None:
        self.add("reshape", output, {"x": x, "shape": np.array(shape, np.int32)})

    def weight(self, params: Record, shape: Sequence[int]) -> np.ndarray:
        """Weights in a shape, as floats; views of the file where they are stored so."""
        count = product(shape) or 0
        array = params.floatValue
        if params.has("float16Value"):
            data = params.float16Value
            array = data[: data.size // 2 * 2].view("<f2").astype(np.float32)
        elif params.has("rawValue") and params.quantization is not None:
            array = self.quantized(params, count, shape)
        if array.size != count:
            raise self.files.error(
                f"layer '{self.place}': {array.size} weights, expected {count} for {list(shape)}"
            )
        return array.reshape(tuple(shape))

    def quantized(self, params: Record, count: int, shape: Sequence[int]) -> np.ndarray:
        """Weights of few bits, with scales and biases for each row, or by a table."""
        how = params.quantization
        bits = how.numberOfBits
        if not 1 <= bits <= 8 or params.rawValue.size * 8 < count * bits:
            raise self.files.error(f"layer '{self.place}': weights of {bits} bits misfit")
        # The highest bits of a byte come first.
        rows = np.unpackbits(params.rawValue, count=count * bits)
        places = unpacked(
            np.packbits(rows.reshape(-1, bits)[:, ::-1].reshape(-1), bitorder="little"),
            bits,
            count,
            False,
        )
        if (table := how.lookupTableQuantization) is not None:
            if places.size and int(places.max()) >= table.floatValue.size:
                raise self.files.error(f"layer '{self.place}': an index outside of the table")
            return table.floatValue[places]
        linear = how.part("linearQuantization")
        column = places.astype(np.float32).reshape(max(shape[0], 1), -1)
        for part in (linear.scale, linear.bias):
            if part.size not in (0, 1, column.shape[0]):
                raise self.files.error(f"layer '{self.place}': {part.size} scales or biases")
        scale = linear.scale if linear.scale.size else np.ones(1, np.float32)
        bias = linear.bias if linear.bias.size else np.zeros(1, np.float32)
        return column * scale.reshape(-1, 1) + bias.reshape(-1, 1)

    # -- layers -----------------------------------------------------------------------------------

    def layer(self, layer: Record) -> None:
        """The operations of a layer. One without a converter is a node of its own, an error."""
        kinds = [name for name, _ in layer.fields() if name not in ("name", "input", "output")]
        kind = kinds[0] if kinds else "unknown layer"
        self.place = layer.name
        p = layer.part(kind) if kinds else layer
        inputs, outputs = list(layer.input), list(layer.output)
        first = inputs[0] if inputs else ""
        out = outputs[0] if outputs else layer.name
        if (method := getattr(self, f"_{kind}", None)) is not None:
            method(p, first, out, inputs)
        elif kind in DIRECT:
            op, names, fields = DIRECT[kind]
            if names.startswith("*"):
                bound: dict[str, Any] = {names[1:]: inputs}
            else:
                bound = dict(zip(names.split(), inputs, strict=False))
            given = {}
            for attribute, field in fields.items():
                if not p.has(field):
                    continue
                found = getattr(p, field)
                given[attribute] = found if isinstance(found, str) else np.asarray(found)
            self.add(op, outputs or [out], bound, **given)
        elif kind in REDUCTIONS:
            given = {} if p.reduceAll or not p.axes else {"axes": np.array(p.axes)}
            self.add(REDUCTIONS[kind], out, {"x": first}, keep_dims=p.keepDims, **given)
        elif kind in BINARY:
            self.folded(BINARY[kind], out, inputs, p)
        else:
            for one in inputs:
                self.operand(one)
            values = [self.names[one] for one in inputs]
            self.nodes.append(Node(f"{kind} of a network", layer.name, values, outputs, {}))
            self.names |= dict(zip(outputs, outputs, strict=True))

    def folded(self, op: str, out: str, inputs: list[str], p: Record) -> None:
        """Two or more blobs, or one and a number."""
        if len(inputs) == 1:
            self.add(op, out, {"x": inputs[0], "y": np.float32(p.alpha)})
            return
        total = inputs[0]
        for i, one in enumerate(inputs[1:]):
            following = out if i == len(inputs) - 2 else f"{out} {i}"
            self.add(op, following, {"x": total, "y": one})
            total = following

    def _average(self, p: Record, x: str, out: str, inputs: list[str]) -> None:
        self.folded("add", f"{out} sum", inputs, p)
        self.add("mul", out, {"x": f"{out} sum", "y": np.float32(1 / len(inputs))})

    def padding(self, p: Record, count: int) -> dict[str, Any]:
        if p.same is not None:
            upper = p.same.asymmetryMode == "BOTTOM_RIGHT_HEAVY"
            return {"pad_type": "same" if upper else "same_lower"}
        edges = p.part("valid").part("paddingAmounts").borderAmounts
        pairs = [v for one in edges for v in (one.startEdgeSize, one.endEdgeSize)]
        return {"pad_type": "custom", "pad": pairs or [0] * 2 * count}

    def _convolution(self, p: Record, x: str, out: str, inputs: list[str]) -> None:
        kernel, groups = list(p.kernelSize) or [3, 3], p.nGroups or 1
        given = {
            "strides": list(p.stride) or [1, 1],
            "dilations": list(p.dilationFactor) or [1, 1],
            "groups": groups,
            **self.padding(p, 2),
        }
        # Transposed ones have their inputs first.
        sides = [p.outputChannels, p.kernelChannels]
        if p.isDeconvolution:
            sides = [p.kernelChannels, p.outputChannels // groups]
            if p.outputShape:
                given["output_shape"] = list(p.outputShape)
        bound: dict[str, Any] = {"x": x}
        if len(inputs) > 1:
            bound["weight"] = inputs[1]
        else:
            bound["weight"] = self.weight(p.part("weights"), [*sides, *kernel])
        if p.hasBias:
            bound["bias"] = self.weight(p.part("bias"), [p.outputChannels])
        self.add("conv_transpose" if p.isDeconvolution else "conv", out, bound, **given)

    def _pooling(self, p: Record, x: str, out: str, inputs: list[str]) -> None:
        name = {"MAX": "max", "AVERAGE": "avg", "L2": "l2"}[p.type]
        if p.globalPooling:
            op = {"MAX": "reduce_max", "AVERAGE": "reduce_mean", "L2": "reduce_l2_norm"}[p.type]
            self.add(op, out, {"x": x}, axes=np.array([-2, -1]), keep_dims=True)
            return
        given = self.padding(p, 2)
        if p.includeLastPixel is not None:
            rows, columns = (list(p.includeLastPixel.paddingAmounts) or [0, 0])[:2]
            given = {"pad_type": "custom", "pad": [rows, rows, columns, columns], "ceil_mode": True}
        if name == "avg":
            given["exclude_padding_from_average"] = p.avgPoolExcludePadding
        kernel, strides = list(p.kernelSize) or [3, 3], list(p.stride) or [1, 1]
        self.add(f"{name}_pool", out, {"x": x}, kernel_sizes=kernel, strides=strides, **given)

    def _activation(self, p: Record, x: str, out: str, inputs: list[str]) -> None:
        kind = next((name for name, _ in p.fields()), "linear")
        own = p.part(kind)
        if kind == "PReLU":
            slopes = own.part("alpha").floatValue
            self.add("prelu", out, {"x": x, "alpha": slopes})
            return
        if kind not in ACTIVATIONS:
            raise self.files.error(f"layer '{self.place}': activation {kind} is not supported")
        op, parameters = ACTIVATIONS[kind]
        self.add(op, out, {"x": x}, **{name: np.float32(getattr(own, name)) for name in parameters})

    def _innerProduct(self, p: Record, x: str, out: str, inputs: list[str]) -> None:  # noqa: N802
        bound = {"weight": self.weight(p.part("weights"), [p.outputChannels, p.inputChannels])}
        if p.hasBias:
            bound["bias"] = self.weight(p.part("bias"), [p.outputChannels])
        if self.exact:
            self.add("linear", out, {"x": x, **bound})
            return
        self.reshaped(f"{out} flat", x, [-1, p.inputChannels])
        self.add("linear", f"{out} row", {"x": f"{out} flat", **bound})
        self.reshaped(out, f"{out} row", [-1, p.outputChannels, 1, 1])

    def _embeddingND(self, p: Record, x: str, out: str, inputs: list[str]) -> None:  # noqa: N802
        table = self.weight(p.part("weights"), [p.embeddingSize, p.vocabSize]).T
        self.add("cast", f"{out} ids", {"x": x}, dtype="int32")
        self.add("squeeze", f"{out} flat", {"x": f"{out} ids"}, axes=np.array([-1]))
        final = f"{out} row" if p.hasBias else out
        self.add("gather", final, {"x": table, "indices": f"{out} flat"}, axis=0)
        if p.hasBias:
            self.add("add", out, {"x": final, "y": self.weight(p.bias, [p.embeddingSize])})

    def _batchnorm(self, p: Record, x: str, out: str, inputs: list[str]) -> None:
        epsilon = np.float32(p.epsilon if p.has("epsilon") else 1e-5)
        parts = {name: self.weight(p.part(name), [p.channels]) for name in ("gamma", "beta")}
        if p.instanceNormalization:
            self.add("instance_norm", out, {"x": x, **parts}, epsilon=epsilon)
            return
        parts |= {name: self.weight(p.part(name), [p.channels]) for name in ("mean", "variance")}
        self.add("batch_norm", out, {"x": x, **parts}, epsilon=epsilon)

    def _softmax(self, p: Record, x: str, out: str, inputs: list[str]) -> None:
        self.add("softmax", out, {"x": x}, axis=-3)

    def _scale(self, p: Record, x: str, out: str, inputs: list[str]) -> None:
        final = f"{out} scaled" if p.hasBias else out
        self.add("mul", final, {"x": x, "y": self.weight(p.part("scale"), p.shapeScale)})
        if p.hasBias:
            self.add("add", out, {"x": final, "y": self.weight(p.part("bias"), p.shapeBias)})

    def _bias(self, p: Record, x: str, out: str, inputs: list[str]) -> None:
        self.add("add", out, {"x": x, "y": self.weight(p.part("bias"), p.shape)})

    def _unary(self, p: Record, x: str, out: str, inputs: list[str]) -> None:
        scale = np.float32(p.scale if p.has("scale") else 1)
        self.add("linear_activation", f"{out} in", {"x": x}, alpha=scale, beta=np.float32(p.shift))
        if p.type == "POWER":
            self.add("pow", out, {"x": f"{out} in", "y": np.float32(p.alpha)})
            return
        given = {"epsilon": np.float32(p.epsilon)} if p.type in ("INVERSE", "RSQRT", "LOG") else {}
        if p.type == "THRESHOLD":
            given = {"alpha": np.float32(p.alpha)}
        self.add(UNARY[p.type], out, {"x": f"{out} in"}, **given)

    def _padding(self, p: Record, x: str, out: str, inputs: list[str]) -> None:
        edges = p.part("paddingAmounts").borderAmounts
        pairs = [v for one in edges for v in (one.startEdgeSize, one.endEdgeSize)] or [0] * 4
        mode = {"reflection": "reflect", "replication": "replicate"}.get(
            p.which("constant", "reflection", "replication"), "constant"
        )
        value = np.float32(p.part("constant").value)
        self.add("pad", out, {"x": x}, pad=np.array(pairs), mode=mode, constant_val=value)

    def _crop(self, p: Record, x: str, out: str, inputs: list[str]) -> None:
        edges = [
            [one.startEdgeSize, one.endEdgeSize] for one in p.part("cropAmounts").borderAmounts
        ]
        if len(inputs) > 1 or len(edges) != 2:
            raise self.files.error(
                f"layer '{self.place}': a crop like another blob is not supported"
            )
        rows, columns = (np.array(one) for one in edges)
        self.add("crop", out, {"x": x}, crop_height=rows, crop_width=columns)

    def _constantPad(self, p: Record, x: str, out: str, inputs: list[str]) -> None:  # noqa: N802
        pairs, value = np.array(p.padAmounts), np.float32(p.value)
        self.add("pad", out, {"x": x}, pad=pairs, mode="constant", constant_val=value)

    def _upsample(self, p: Record, x: str, out: str, inputs: list[str]) -> None:
        given = list(p.fractionalScalingFactor) or list(p.scalingFactor) or [1, 1]
        scales = {"scale_factor_height": given[0], "scale_factor_width": given[1]}
        if p.mode == "NN":
            self.add("upsample_nearest_neighbor", out, {"x": x}, **scales)
            return
        corners = p.linearUpsampleMode == "ALIGN_CORNERS_TRUE"
        half = p.linearUpsampleMode == "ALIGN_CORNERS_FALSE"
        scales |= {"align_corners": corners, "half_pixel_centers": half}
        self.add("upsample_bilinear", out, {"x": x}, **scales)

    def _resizeBilinear(self, p: Record, x: str, out: str, inputs: list[str]) -> None:  # noqa: N802
        rows, columns = list(p.targetSize) or [1, 1]
        how = SAMPLING.get(p.part("mode").samplingMethod, "")
        given = {"target_size_height": rows, "target_size_width": columns, "sampling_mode": how}
        self.add("resize_bilinear", out, {"x": x}, **given)

    def _reorganizeData(self, p: Record, x: str, out: str, inputs: list[str]) -> None:  # noqa: N802
        op = str(p.mode).lower()
        size = "upscale_factor" if op == "pixel_shuffle" else "block_size"
        self.add(op, out, {"x": x}, **{size: p.blockSize})

    def _concat(self, p: Record, x: str, out: str, inputs: list[str]) -> None:
        self.add("concat", out, {"values": inputs}, axis=-3)

    def _flatten(self, p: Record, x: str, out: str, inputs: list[str]) -> None:
        if p.mode == "CHANNEL_LAST":
            self.add("transpose", f"{out} last", {"x": x}, perm=np.array([0, 2, 3, 1]))
            x = f"{out} last"
        self.reshaped(f"{out} row", x, [0, -1])
        self.add("expand_dims", out, {"x": f"{out} row"}, axes=np.array([2, 3]))

    def _loadConstantND(self, p: Record, x: str, out: str, inputs: list[str]) -> None:  # noqa: N802
        self.add("identity", out, {"x": self.weight(p.part("data"), p.shape)})

    def _loadConstant(self, p: Record, x: str, out: str, inputs: list[str]) -> None:  # noqa: N802
        self.add("identity", out, {"x": self.weight(p.part("data"), p.shape)})

    def _squeeze(self, p: Record, x: str, out: str, inputs: list[str]) -> None:
        given = {} if p.squeezeAll or not p.axes else {"axes": np.array(p.axes)}
        self.add("squeeze", out, {"x": x}, **given)

    def _batchedMatmul(self, p: Record, x: str, out: str, inputs: list[str]) -> None:  # noqa: N802
        turned = {"transpose_x": p.transposeA, "transpose_y": p.transposeB}
        if len(inputs) > 1:
            self.add("matmul", out, {"x": x, "y": inputs[1]}, **turned)
            return
        shape = [p.weightMatrixFirstDimension, p.weightMatrixSecondDimension]
        final = f"{out} product" if p.hasBias else out
        self.add("matmul", final, {"x": x, "y": self.weight(p.part("weights"), shape)}, **turned)
        if p.hasBias:
            self.add("add", out, {"x": final, "y": self.weight(p.part("bias"), shape[1:])})

    def _layerNormalization(self, p: Record, x: str, out: str, inputs: list[str]) -> None:  # noqa: N802
        shape = list(p.normalizedShape)
        parts = {name: self.weight(p.part(name), shape) for name in ("gamma", "beta")}
        axes = np.arange(-len(shape), 0)
        self.add("layer_norm", out, {"x": x, **parts}, axes=axes, epsilon=np.float32(p.eps))

    def _argMax(self, p: Record, x: str, out: str, inputs: list[str]) -> None:  # noqa: N802
        self.add("reduce_argmax", out, {"x": x}, axis=p.axis, keep_dims=not p.removeDim)

    def _reverse(self, p: Record, x: str, out: str, inputs: list[str]) -> None:
        axes = np.flatnonzero(np.array(p.reverseDim))
        self.add("reverse", out, {"x": x}, axes=axes)
