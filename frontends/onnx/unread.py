"""The attributes of ONNX nodes that a converter may leave unread, with reasons."""

from __future__ import annotations

from ..common.fields import Ignored, IgnoredFields

_OLD_BINARY = "Add And Div Equal Greater Less Mul Or Pow Sub Xor"

IGNORED = IgnoredFields(
    Ignored("consumed_inputs", "which operands' memory could be used again"),
    Ignored("output_sequence", "the outputs that are named tell it", "GRU LSTM RNN"),
    Ignored("ratio seed is_test", "of training, which another operand selects", "Dropout"),
    Ignored("momentum is_test", "of training, which further outputs select", "BatchNormalization"),
    Ignored("broadcast", "a matrix is added to by NumPy's rules in any case", "Gemm"),
    Ignored("axis", "there is one scale for all elements", "*DequantizeLinear *QuantizeLinear"),
    Ignored("axis", "without 'broadcast', both operands have one shape", _OLD_BINARY),
    Ignored("block_size", "scales are not for blocks", "DequantizeLinear QuantizeLinear"),
    Ignored("storage_order", "of indices, which are not asked for", "MaxPool"),
    Ignored("saturate", "of floats of 8 bits and less", "Cast CastLike QuantizeLinear"),
    Ignored("pads", "auto_pad tells them", "Conv *Pool ConvInteger QLinearConv"),
    Ignored("then_branch else_branch", "a constant condition selects the other branch", "If"),
    Ignored("dtype", "it follows from the inserted elements", "SequenceEmpty"),
    Ignored(
        "locale",
        "how letters change case there",
        "StringNormalizer",
        ("en_US", "en_US.UTF-8", "C.UTF-8"),
    ),
    Ignored("nodes_hitrates*", "how often rows pass a node", "ml.TreeEnsemble*"),
    Ignored("multi_class", "post_transform tells what scores become", "ml.LinearClassifier"),
    # com.microsoft
    Ignored("block_size bits", "shapes and element types tell them", "*.QMoE *.GatherBlock*"),
    Ignored("is_inner_broadcast", "the bias's shape tells it", "*.BiasSoftmax"),
    Ignored("normalize_routing_weights", "the router's own weights sum to 1", "*.QMoE"),
    Ignored(
        "mask_filter_value",
        "nothing is masked",
        "*.Attention *.QAttention *.MultiHead* *.DecoderMasked*",
    ),
    Ignored("mask_index_type", "the outputs that are named tell it", "*.EmbedLayerNorm*"),
    Ignored("*embedding_size conv_window_size", "shapes tell them", "*.WordConvEmbedding"),
    Ignored("num_heads rotary_embedding_dim", "the cosines' shape tells it", "*.MRotary*"),
    Ignored("output_qk", "the outputs that are named tell it", "*.DecoderMasked*"),
    Ignored("past_present_share_buffer", "a past length tells it", "*.DecoderMasked*", (1,)),
    Ignored("reset_on_eos", "there is no end of a sequence", "*.NGramHashMapping", (0,)),
    Ignored("top_k", "only scores are asked for", "*.MoEGroupRouter"),
    Ignored(
        "accuracy_level", "products are of f32, more than any level asks", "*.MatMulNBits *.QMoE"
    ),
    Ignored("chunk_size", "results do not depend on it", "*LinearAttention *.GatedDeltaNet"),
    Ignored("activation_beta swiglu*", "of SwiGLU alone", "*.MoE *.QMoE", (0,)),
    Ignored("activation_alpha", "of SwiGLU alone", "*.MoE *.QMoE", (1,)),
    # Defaults that exporters write explicitly.
    Ignored("is_packed_batching", "not asked for", "*RotaryEmbedding", (0,)),
    Ignored(
        "qk_output kv_cache_bit_width sliding_window_cache",
        "not asked for",
        "*.GroupQueryAttention",
        (0,),
    ),
    Ignored("rotary_interleaved", "nothing is rotated", "*.GroupQueryAttention *.SparseAttention"),
    Ignored("qk_norm_epsilon", "nothing is normalized", "*.GroupQueryAttention"),
    Ignored("scale", "of angles that kernels compute; these are given", "*.RotaryEmbedding"),
    Ignored("transA transB", "a vector is not transposed", "*.FusedMatMul"),
    Ignored("training_mode", "not asked for", "*.MatMulBnb4", (0,)),
    Ignored("beta_activation gate_activation", "not asked for", "*.GatedDeltaNet", ("none",)),
    Ignored("input_channel* state_length", "not asked for", "*.CausalConvWithState", (0,)),
    Ignored("state_channels_last", "not asked for", "*.CausalConvWithState", (-1, 0)),
    Ignored("delta_offset", "not asked for", "*.VarlenCausalConvWithState", (0,)),
)
