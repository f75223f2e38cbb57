"""Operators of detectors: boxes, priors, anchors and proposals."""

import numpy as np
import paddle
import paddle.nn.functional as fn
from maker import OLD, Group
from paddle import nn
from paddle.vision import ops


class Detectors(Group):
    inputs = (
        ("x", [2, 8, 7, 9], "float32"),
        ("boxes", [2, 20, 4], "float32"),
        ("scores", [2, 3, 20], "float32"),
        ("rois", [3, 4], "float32"),
    )

    def build(self):
        self.heads = nn.Conv2D(8, 2 * (5 + 3), 1)
        self.offsets = nn.Conv2D(8, 3 * 9, 3, padding=1)
        self.kernel = self.create_parameter([4, 8, 3, 3])

    def forward(self, x, boxes, scores, rois):
        size, counts = paddle.full([2, 2], 50, "int32"), paddle.to_tensor([2, 1], "int32")
        boxes, rois = (self.corners(v, 4.0) for v in (boxes, rois))
        found = [
            *ops.yolo_box(self.heads(x), size, [10, 13, 16, 30], 3, 0.4, 8, scale_x_y=1.1),
            ops.nms(boxes[0], 0.4), *self.best(boxes, scores), *self.coded(x),
            ops.roi_align(x, rois, counts, (3, 2), 0.5, 2),
            ops.roi_align(x, rois, counts, 2, 0.5, aligned=False),
            ops.roi_pool(x, rois, counts, (3, 2), 0.5), ops.psroi_pool(x, rois, counts, 2, 0.5),
        ]  # fmt: skip
        moves = self.offsets(x)
        mask = fn.sigmoid(moves[:, 18:])
        found.append(ops.deform_conv2d(x, moves[:, :18], self.kernel, None, 1, 1, mask=mask))
        theta = paddle.stack([rois[:2, :3], rois[1:, 1:]], 1) * 0.2
        for corners in (False, True):
            grid = fn.affine_grid(theta, [2, 8, 5, 6], align_corners=corners)
            for padding in ("zeros", "border", "reflection"):
                how = {"padding_mode": padding, "align_corners": corners}
                found += [fn.grid_sample(x, grid, **how)]
        columns = fn.unfold(x, [3, 2], 2, [1, 0], 1)
        found += [fn.unfold(x, 2, 1, [1, 0, 0, 1], [2, 1]), columns]
        found.append(fn.fold(columns, [7, 9], [3, 2], 2, [1, 0], 1))
        return [*found, fn.maxout(x, 4), fn.temporal_shift(x, 2, 0.3)]

    def corners(self, given, size):
        """Boxes that are some elements wide."""
        low = paddle.abs(given[..., :2]) * size
        return paddle.concat([low, low + paddle.abs(given[..., 2:]) * size + 1], -1)

    def best(self, boxes, scores):
        ranked = (boxes, fn.sigmoid(scores), None, 0.2, 15, 10, 0.4)
        fading = [
            v
            for smooth in (False, True)
            for v in ops.matrix_nms(
                boxes, ranked[1], 0.3, 0.2, 15, 12, smooth, return_index=True, background_label=1
            )
        ]
        return fading + [
            v
            for more in ((True, 1.0, -1), (False, 1.0, 1))
            for v in paddle._C_ops.multiclass_nms3(*ranked, *more)
            if not OLD
        ]

    def coded(self, x):
        image = paddle.zeros([1, 3, 28, 36])
        found = []
        for turned in (False, True):
            priors, variances = ops.prior_box(
                x, image, [4.0, 6.0], [8.0, 9.0], [1.0, 2.0], flip=True, clip=turned,
                min_max_aspect_ratios_order=turned,
            )  # fmt: skip
            priors, variances = (v.reshape([-1, 4]) for v in (priors, variances))
            moves = paddle.stack([priors * 0.5 - 0.1, priors])
            found += [
                priors,
                variances,
                ops.box_coder(priors, variances, moves, "decode_center_size"),
            ]
            found.append(
                ops.box_coder(
                    priors, [0.1, 0.1, 0.2, 0.2], moves, "decode_center_size", box_normalized=False
                )
            )
        return found


class Proposals(Group):
    """What Faster R-CNN takes from its region network."""

    inputs = (
        ("scores", [2, 3, 4, 5], "float32"),
        ("moves", [2, 12, 4, 5], "float32"),
        ("anchors", [4, 5, 3, 4], "float32"),
    )

    def forward(self, scores, moves, anchors):
        low = paddle.abs(anchors[..., :2]) * 20
        anchors = paddle.concat([low, low + paddle.abs(anchors[..., 2:]) * 30 + 4], -1)
        image, variances = (
            paddle.assign(np.array([[60, 70], [50, 40]], "f4")),
            paddle.full([4, 5, 3, 4], 0.5),
        )
        found = []
        for offset, least in ((False, 4.0), (True, 0.5)):
            rois, chances, counts = ops.generate_proposals(
                scores, moves, image, anchors, variances, 40, 15, 0.5, least,
                pixel_offset=offset, return_rois_num=True,
            )  # fmt: skip
            levels, back, numbers = ops.distribute_fpn_proposals(
                rois, 2, 4, 3, 30, pixel_offset=offset, rois_num=counts
            )
            found += [rois, chances, counts, *levels, back, *numbers]
        return found
