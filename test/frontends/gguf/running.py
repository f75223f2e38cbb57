"""Decoders that are run part by part."""

from pathlib import Path

import nnc
import numpy as np
from nnc.frontends.formats import import_model
from nnc.numerics.interpreter import Interpreter

from ..models import main_of


class Model:
    """A decoder with its cache, interpreted or compiled: logits of tokens, after those before."""

    def __init__(self, source: Path | bytes, compiled: bool = False) -> None:
        module = import_model(source)
        module.verify()
        main = main_of(module)
        self.names = [name.value for name in main.attributes["nn.input_names"]]
        self.results = [name.value for name in main.attributes["nn.output_names"]]
        shapes = [a.type.shape for a in main.body_block.args[1:]]
        self.past = {
            name: np.zeros([d or 0 for d in shape], "f")
            for name, shape in zip(self.names[1:], shapes, strict=True)
        }
        if compiled:
            model = nnc.compile(source)
            self.call = lambda given: list(model.run(given).values())
        else:
            run = Interpreter(module)
            self.call = lambda given: run.call("main", [given[name] for name in self.names])

    def __call__(self, tokens: np.ndarray) -> np.ndarray:
        logits, *present = self.call({"tokens": tokens} | self.past)
        self.past = dict(zip(self.names[1:], present, strict=True))
        return logits
