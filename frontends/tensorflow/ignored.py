"""The attributes of TensorFlow's nodes that converters may leave unread, with reasons."""

from __future__ import annotations

from typing import Any

from ..common.fields import Ignored, IgnoredFields
from ..wire.protobuf import Record

CALLERS = "*PartitionedCall If StatelessIf Case StatelessCase While StatelessWhile"

IGNORED = IgnoredFields(
    Ignored("*", "StableHLO's rows have a table of their own", "stablehlo.* chlo.* func.* custom*"),
    Ignored("_*", "notes of TensorFlow's tools, of no operator"),
    Ignored("variable table", "not of the file"),
    Ignored("T T? U N Index Tcond Tidx Taxis Tdim Tindices Tindex Tblock_shape Tcrops Tpaddings "
            "Tperm Tparams Tmultiples Tshape Tshift Tlen Tlabels Tnumsegments Tsegmentids Tseed "
            "TInput Tin Tkeys Tvalues T_threshold TArgs SrcT Tdense PARAMS_RAGGED_RANK RAGGED_RANK "
            "num_host_args num_row_partition_tensors num_side_inputs shape_type",
            "as the operands have it"),
    Ignored("Tcomplex Treal Tout", "the operand's type in its other form",
            "*FFT* Angle ComplexAbs Eig Imag Real Complex"),
    Ignored("dtype", "as the operands have it", "Assign* ResourceScatter* ReadVariableOp "
            "ResourceGather* ImageProjectiveTransform* PlaceholderWithDefault VarHandleOp "
            "Variable* StatelessRandomUniformInt* Dequantize"),
    Ignored("Tout", "as the operands have it", "LookupTableFind* RandomUniformInt"),
    Ignored("key_dtype value_dtype value_shape", "as the table's values have it",
            "*HashTable* LookupTable*"),
    Ignored("element_dtype", "as the list has it", "TensorList*"),
    Ignored("dtype element_shape", "as the array has it", "TensorArray?*V3"),
    Ignored("index_type", "as the operand has it", "Fill"),
    Ignored("Tin Tout output_shapes config config_proto executor_type parallel_iterations",
            "how functions are called", CALLERS),
    Ignored("f then_branch else_branch cond body branches", "a graph of the node", CALLERS),
    Ignored("container shared_name use_node_name_sharing initial_num_buckets max_load_factor "
            "debug_name allowed_devices", "where TensorFlow keeps a resource"),
    Ignored("name tensor_name debug_ops_spec message", "what is told to a reader",
            "Copy* CheckNumerics PreventGradient"),
    Ignored("grad_a grad_b grad_x grad_y sparse_gradient", "of training"),
    Ignored("use_cudnn_on_gpu", "of other processors"),
    Ignored("validate_indices validate_shape", "what is checked, not what is computed"),
    Ignored("incompatible_shape_error", "shapes that do not fit are an error"),
    Ignored("exponential_avg_factor", "of statistics that are not taken", "*FusedBatchNorm*"),
    Ignored("init", "what is left to chance is 0", "Empty"),
    Ignored("sorted", "a sorted result is one of those allowed", "TopK*"),
    Ignored("identical_element_shapes clear_after_read tensor_array_name dynamic_size",
            "checked where the array is used", "TensorArrayV3"),
    Ignored("element_shape num_elements", "checked where the list is used", "TensorList*"),
    Ignored("shape", "as the operands have it",
            "AccumulateNV2 VarHandleOp Variable* PlaceholderWithDefault"),
    Ignored("Tsplits OUTPUT_RAGGED_RANK", "as the operands have it",
            "RaggedGather RaggedTensorToSparse StringNGrams UnicodeEncode"),
    Ignored("Truncate", "floats are rounded to the nearest", "Cast", (False,)),
    Ignored("bad_indices_policy", "one out of range is an error", values=("", "DEFAULT", "ERROR")),
    Ignored("align", "of several diagonals, which are refused", "MatrixDiag*V3 MatrixSetDiagV3"),
    Ignored("compute_uv compute_v", "an output that is not used", "Svd SelfAdjointEigV2"),
    Ignored("epsilon leakyrelu_alpha", "of a function that is not fused", "_Fused*"),
    Ignored("partial_pivoting", "rows are exchanged, which is no less precise", "TridiagonalSolve"),
    Ignored("perturb_singular", "not asked for", "TridiagonalSolve", (False,)),
    Ignored("filter_format", "as filters are", "_Fused*", ("HWIO",)),
    Ignored("fill width precision scientific shortest", "of numbers that are not text", "AsString",
            ("", -1, False)),
    Ignored("Sout Tin Tout dim_args_spec function_list has_token_input_output disabled_checks "
            "version module platforms use_shardy_partitioner",
            "said in the module, which has been read", "XlaCallModule"),
    Ignored("explicit_paddings", "not asked for", values=([],)),
    Ignored("num_args", "as many as there are operands", "_Fused*"),
)  # fmt: skip


def plain(value: Any) -> Any:
    """The value of an attribute: a number, a text, a list, or a message."""
    if not isinstance(value, Record):
        return value
    for name, held in value.fields():
        if name == "list":
            return [plain(one) for _, ones in held.fields() for one in ones]
        if name == "s":
            return bytes(held).decode("utf-8", "replace")
        return bool(held) if name == "b" else held
    return None
