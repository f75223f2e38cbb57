"""Ops on immutable tensors, as high-level as those of ONNX; one module for each kind of op.

An op's class is named as its mnemonic: `nn.reduce_sum` is `nn.ReduceSum`.
"""

from .activations import *
from .base import *
from .blocked import *
from .characters import *
from .conditions import *
from .control import *
from .creation import *
from .elementwise import *
from .host import *
from .host_types import *
from .images import *
from .indexing import *
from .maps import *
from .matrices import *
from .movement import *
from .normalization import *
from .ordering import *
from .padding import *
from .pooling import *
from .products import *
from .quantized import *
from .reductions import *
from .resize import *
from .sequences import *
from .strassen import *
from .strings import *
from .structure import *
from .texts import *
from .trees import *
from .unary import *
from .views import *
from .windows import *
from .winograd import *
