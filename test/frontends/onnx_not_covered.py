"""ONNX's node cases that nnc does not import, and why. `*` stands for anything.

A case that is listed must give an error, not a wrong result; one that works must not be
listed (`test_onnx_node_cases.py` checks both).
"""

from fnmatch import fnmatchcase

_SMALL = "elements below 8 bits and floats of 8 bits: no nn op takes them"
_STRINGS = "strings"
_SEQUENCES = "sequences and optionals as inputs or outputs of the model"
_LEARNING = "operators for training"
_CLASSICAL = "ai.onnx.ml: classical machine learning"
_SIGNALS = "Fourier transforms: complex numbers"
_DETECTION = "region operators of detectors: results of unknown extent, or no nn op to build on"

NOT_COVERED: dict[str, str] = {
    "*FLOAT8*": _SMALL,
    "*FLOAT4*": _SMALL,
    "*INT4*": _SMALL,
    "*INT2*": _SMALL,
    "test_*quantizelinear_e4m3fn*": _SMALL,
    "test_*quantizelinear_e5m2": _SMALL,
    "test_*quantizelinear_*int4": _SMALL,
    "test_*quantizelinear_*int2": _SMALL,
    "test_*quantizelinear_float4e2m1": _SMALL,
    "test_equal_string*": _STRINGS,
    "test_regex_*": _STRINGS,
    "test_string*": _STRINGS,
    "test_strnorm*": _STRINGS,
    "test_tfidf*": _STRINGS,
    "test_identity_sequence": _SEQUENCES,
    "test_identity_opt": _SEQUENCES,
    "test_if_seq": _SEQUENCES,
    "test_if_opt": _SEQUENCES,
    "test_loop13_seq": _SEQUENCES,
    "test_loop16_seq_none": _SEQUENCES,
    "test_optional_*": _SEQUENCES,
    "test_sequence_*": _SEQUENCES,
    "test_split_to_sequence_*": _SEQUENCES,
    "test_adagrad*": _LEARNING,
    "test_adam*": _LEARNING,
    "test_momentum*": _LEARNING,
    "test_nesterov_momentum": _LEARNING,
    "test_training_dropout_default*": _LEARNING,
    "test_training_dropout": _LEARNING,
    "test_training_dropout_mask": _LEARNING,
    "test_bernoulli*": "random numbers",
    "test_ai_onnx_ml_*": _CLASSICAL,
    "test_dft*": _SIGNALS,
    "test_stft*": _SIGNALS,
    "test_melweightmatrix": _SIGNALS,
    "test_nonmaxsuppression_*": _DETECTION,
    "test_roialign_*": _DETECTION,
    "test_*deform_conv*": _DETECTION,
    "test_unique_*": "results of unknown extent that need sorting",
    "test_col2im*": "Col2Im",
    "test_det_*": "determinants",
    "test_image_decoder_*": "image files",
    "test_bitcast_*": "bits of values computed at run time, taken for another type",
    "test_scan_sum": "Scan before opset 9, which has a batch of sequences",
    "test_not_?d": "opset 1",
    "test_resize_downsample_scales_*_align_corners": (
        "ONNX's reference divides by the unrounded output extent; the text says length_resized, "
        "as onnxruntime computes it, and so do we"
    ),
}


def reason_not_covered(name: str) -> str | None:
    """Why a case is not covered, or None if it is."""
    return next((why for pattern, why in NOT_COVERED.items() if fnmatchcase(name, pattern)), None)
