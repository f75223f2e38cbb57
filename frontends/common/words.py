"""The names that families of operators share; a file of one begins by importing all of them:

    from .words import *

`vocabulary.py` has these and what the families make of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...dialects import nn
from ...ir.core import Value
from ...ir.numpy_types import numpy_to_type, type_to_numpy
from ...ir.types import (
    ComplexType,
    Dim,
    FloatType,
    IntegerType,
    TensorType,
    Type,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from .layer import Layer
from .shapes import (
    Extent,
    aligned_by_axis,
    as_i64,
    as_scalar,
    broadcast,
    broadcast_by,
    concatenated,
    dims,
    flatten,
    limits_of,
    merge,
    normalize_axes,
    normalize_axis,
    of_length,
    part_of_vector,
    ranged,
    reshape,
    resolve,
    shape_of,
    shape_text,
    shape_vector,
)
from .terms import (
    Operand,
    Term,
    arange,
    constant,
    counting,
    extent,
    is_finer,
    joined,
    rounded_once,
)
