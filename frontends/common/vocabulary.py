"""The names that most converters need; a file of operators begins by importing all of them:

    from ...common.vocabulary import *

A name that few files need is not here: they import it from its file in `frontends/common/`.
"""

from __future__ import annotations

from .activations import activation, affine, clipped, gated
from .attention import attend, grouped
from .boxes import suppressed
from .columns import folded, folded_to, unfolded
from .convolution import channels_first, channels_last, convolution, transposed_convolution
from .diagonals import diagonal, on_diagonal
from .direct import as_it_is, direct, named
from .einsum import einsum
from .formulas import atan2, bits_of, combined, divisor, floor_div, is_negative, polyval
from .gathering import (
    gathered,
    gathered_elements,
    gathered_nd,
    one_hot,
    reverse_sequence,
    true_places,
)
from .movement import (
    FAR,
    channels_shuffled,
    column,
    concat,
    padded_by,
    portion,
    reversed_axes,
    rolled,
    rolled_at_run_time,
    slice_axis,
    sliced,
    sliced_by,
    split_evenly,
    split_into,
    squeezed,
    stacked,
    swapped,
    tiled,
    transposed,
    unsqueezed,
)
from .normalization import (
    batch_norm,
    batch_norm_now,
    batch_norm_row,
    deviations,
    group_normed,
    instance_norm_row,
    instance_normed,
    layer_normed,
    local_response,
    local_response_in_space,
    local_response_row,
    of_groups,
    rms_normed,
)
from .pooling import (
    Windows,
    adaptive_pooled,
    average_pooled,
    length_pooled,
    max_pooled,
    max_pooled_from_lowest,
    max_pooled_with_indices,
    pooled,
    pooled_whole,
    sum_pooled,
    unpooled,
)
from .recurrent import Direction, Outcome, gru, lstm, masked_steps, rnn
from .reductions import extreme_at, largest, ordered, reduced, reduction_row, variance
from .reshaping import expand_by, reshape_by
from .resize import resized, resized_by_scales
from .windows import Padding, pad_by_vector
from .words import *
