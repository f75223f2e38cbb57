"""Graphs under autocast: casts operands to the type that autocast gives each operator.

The lists are those of PyTorch's page "Automatic Mixed Precision package", "CPU Op-Specific
Behavior", with composite operators replaced by their parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...ir.types import Type, f32
from ..common.graph import Graph, Node
from .arguments import Ref, refs_in, with_refs, words

_LOWER = frozenset(
    words(
        """
        conv1d conv2d conv3d convolution _convolution conv_tbc conv_transpose1d conv_transpose2d
        conv_transpose3d bmm mm baddbmm addmm addbmm linear matmul linalg_matmul einsum
        scaled_dot_product_attention multi_head_attention_forward
        """
    )
)
"""Operators that autocast runs in the requested type."""

_FLOAT32 = frozenset(
    words(
        """
        avg_pool3d binary_cross_entropy grid_sampler polar prod quantile nanquantile stft cdist
        trace view_as_complex cholesky cholesky_inverse cholesky_solve inverse lu_solve
        orgqr ormqr pinverse max_pool3d max_unpool2d max_unpool3d adaptive_avg_pool3d
        reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d replication_pad3d
        mse_loss cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss poisson_nll_loss
        smooth_l1_loss cross_entropy_loss l1_loss huber_loss margin_ranking_loss soft_margin_loss
        triplet_margin_loss multi_margin_loss ctc_loss kl_div multilabel_margin_loss
        binary_cross_entropy_with_logits fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn fft_ifftn
        fft_rfft fft_irfft fft_rfft2 fft_irfft2 fft_rfftn fft_irfftn fft_hfft fft_ihfft
        linalg_cond linalg_matrix_rank linalg_solve linalg_cholesky linalg_svdvals linalg_eigvals
        linalg_eigvalsh linalg_inv linalg_householder_product linalg_tensorinv linalg_tensorsolve
        fake_quantize_per_tensor_affine geqrf lu_with_info qr svd triangular_solve
        fractional_max_pool2d fractional_max_pool3d adaptive_max_pool3d linalg_qr
        multilabel_margin_loss_forward linalg_cholesky_ex linalg_svd linalg_eig linalg_eigh
        linalg_lstsq linalg_inv_ex
        """
    )
)
"""Operators that autocast runs in f32."""

CAST = "nnc.autocast"
"""The operator that casts floats, except f64."""


def with_autocast(graph: Graph, element: Type) -> Graph:
    """The graph with casts to the element type, or to f32, before operators that need them."""
    made: dict[tuple[str, Type], str] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        inner = node.graphs
        if node.kind != "higher_order.wrap_with_autocast":  # it names its own type
            inner = {name: with_autocast(one, element) for name, one in inner.items()}
        wanted = _wanted(node, element)
        if wanted is not None:
            node = _cast_operands(node, wanted, made, nodes)
        nodes.append(replace(node, graphs=inner))
    return replace(graph, nodes=nodes)


def _wanted(node: Node, element: Type) -> Type | None:
    name = node.kind.split(".")[1] if node.kind.startswith("aten.") else ""
    return element if name in _LOWER else f32 if name in _FLOAT32 else None


def _cast_operands(
    node: Node, element: Type, made: dict[tuple[str, Type], str], nodes: list[Node]
) -> Node:
    """The node with casts of its operands; a value is cast once."""
    names: Mapping[str, str] = {}
    for ref in refs_in(node.attributes):
        key = ref.name, element
        if key not in made:
            made[key] = cast = f"{ref.name}.{element}"
            given = {"self": ref, "dtype": element}
            nodes.append(Node(CAST, cast, [ref.name], [cast], given))
        names = {**names, ref.name: made[key]}
    arguments = with_refs(node.attributes, lambda ref: Ref(names[ref.name]))
    return replace(
        node, inputs=[names.get(name, name) for name in node.inputs], attributes=arguments
    )
