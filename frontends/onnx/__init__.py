"""ONNX models in, a module of `nn` ops out: `import_model("model.onnx")`.

`model` reads the file, `tensors` its weights, `survey` finds what cannot be imported,
`importer` walks the graph, and `ops/` has one small function for every ONNX operator.
"""

from .front_end import OnnxFrontEnd
from .importer import constant_values, import_model

FRONT_END = OnnxFrontEnd()

__all__ = ["FRONT_END", "constant_values", "import_model"]
