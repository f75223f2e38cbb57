"""Writes the files of `files/` with StableHLO in them, as JAX's functions are in TensorFlow.

python test/frontends/tensorflow/make_modules.py      # needs JAX and TensorFlow
"""

import jax
import jax.numpy as jnp
import make
import numpy as np
import tensorflow as tf
from jax import export
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

F32 = np.float32
WEIGHT = np.random.default_rng(0).normal(size=(4, 3)).astype(F32)


def scanned(x, y):
    """x [5, 4], y [5, 3]"""
    hidden = jnp.tanh(x @ WEIGHT) + y

    def step(carry, row):
        return carry * 0.5 + row, carry.sum()

    _, sums = jax.lax.scan(step, jnp.zeros(3, F32), hidden[:3])
    spectrum = jnp.fft.fft(hidden, axis=1)
    return jax.nn.softmax(hidden), spectrum.real, jnp.sort(hidden, 0), sums


def activated(x):
    """x [b, 4]"""
    return jax.nn.gelu(x @ WEIGHT).reshape(x.shape[0] * 3)


def called(exported, shapes):
    """The exported function as a call of TensorFlow's."""
    types = [tf.as_dtype(one.dtype) for one in exported.out_avals]

    def call(*inputs):
        return gen_xla_ops.xla_call_module(
            [x * 1 for x in inputs],
            version=9,
            module=exported.mlir_module_serialized,
            Tout=types,
            Sout=shapes,
            platforms=[name.upper() for name in exported.platforms],
        )

    return call


def main():
    shapes = [jax.ShapeDtypeStruct(shape, F32) for shape in ((5, 4), (5, 3))]
    static = export.export(jax.jit(scanned), platforms=["cpu"])(*shapes)
    call = called(static, [one.shape for one in static.out_avals])
    make.graph("module", call, make.normal(5, 4), make.normal(5, 3), shapes=[[None, 4], [None, 3]])
    (rows,) = export.symbolic_shape("b")
    shape = jax.ShapeDtypeStruct((rows, 4), F32)
    open_ = export.export(jax.jit(activated), platforms=["tpu", "cpu"])(shape)
    call = called(open_, [[None]])
    make.graph("module_open", call, make.normal(5, 4), shapes=[[None, 4]])


if __name__ == "__main__":
    main()
