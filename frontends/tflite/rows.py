"""TensorFlow Lite's table of operators, and of the options that their rows need not read."""

from ..common.fields import Ignored, IgnoredFields
from ..common.rows import Rows

IGNORED = IgnoredFields(
    Ignored(
        "then otherwise condition body graph update decomposition branches comparator",
        "graphs inside of operators, which are read with the file",
    ),
    Ignored("asymmetric_inputs", "how kernels round the floats that weights of 8 bits meet"),
    Ignored("diagonal", "weights that are vectors say so"),
    Ignored("multiplier", "the weights have as many channels", "DEPTHWISE_CONV_2D"),
    Ignored("count", "the operator has as many results or operands", "SPLIT SPLIT_V PACK"),
    Ignored("type from to key value", "the tensors have their types"),
    Ignored("bias_type", "the bias has its type, or sums are exact"),
    Ignored("shape", "given as an operand", "RESHAPE"),
    Ignored("new_height new_width", "of old versions, which had no operand"),
    Ignored("is_stable unique_indices indices_are_sorted", "what nnc does whether or not it must"),
    Ignored("powers_of_two", "of scales of 16 bits", "ADD SUB"),
    Ignored("kernel", "the operands tell basic cells from full ones", "LSTM"),
    Ignored("precision validate_indices", "what kernels may round, or have to check"),
    Ignored("compare_type", "the operands have their types", "STABLEHLO_COMPARE"),
    Ignored("name version attributes*", "what an operator was made of", "STABLEHLO_COMPOSITE"),
    Ignored("_*", "of converters"),
    Ignored(
        "detections_per_class max_classes_per_detection",
        "of the other kind of suppression",
        "TFLite_Detection_PostProcess",
    ),
)
ROWS = Rows(__name__.rpartition(".")[0], IGNORED)
