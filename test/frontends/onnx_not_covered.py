"""ONNX's node cases that nnc does not import, and why. `*` stands for anything.

A case that is listed must give an error, not a wrong result; one that works must not be
listed (`test_onnx_node_cases.py` checks both).
"""

from fnmatch import fnmatchcase

_STRINGS = "strings"
_SEQUENCES = "sequences and optionals as inputs or outputs of the model"
_RANDOM = "random numbers: NumPy's generator is expected, ours is another"

NOT_COVERED: dict[str, str] = {
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
    "test_training_dropout_default*": _RANDOM,
    "test_training_dropout": _RANDOM,
    "test_training_dropout_mask": _RANDOM,
    "test_bernoulli*": _RANDOM,
    "test_ai_onnx_ml_label_encoder_*": _STRINGS,
    "test_image_decoder_*": "image files",
    "test_scan_sum": "Scan before opset 9, which has a batch of sequences",
    "test_resize_downsample_scales_*_align_corners": (
        "ONNX's reference divides by the unrounded output extent; the text says length_resized, "
        "as onnxruntime computes it, and so do we"
    ),
}


def reason_not_covered(name: str) -> str | None:
    """Why a case is not covered, or None if it is."""
    return next((why for pattern, why in NOT_COVERED.items() if fnmatchcase(name, pattern)), None)
