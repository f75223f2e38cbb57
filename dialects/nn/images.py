"""Images in files, which a host decodes."""

from __future__ import annotations

import io

from ..vocabulary import *
from .base import one_of, tensor
from .host import HostOp


class DecodeImage(HostOp, name="nn.decode_image"):
    """The pixels of an image file: BMP, JPEG, JPEG 2000, TIFF, PNG, WebP or PNM.

    Pillow decodes it. Shapes: x [N] -> out [H, W, 3], or [H, W, 1] for gray pixels.
    Source: ONNX ImageDecoder-20.
    """

    x: Operand = operand(AnyRankedTensor)
    pixels: str = attribute(one_of("rgb", "bgr", "gray"))
    out: Result = result(AnyRankedTensor)

    example = '%i = nn.decode_image %x {pixels = "rgb"} : (tensor<?xui8>) -> tensor<?x?x3xui8>'

    @classmethod
    def infer(cls, types, attrs):
        byte = IntegerType(8, "u")
        if types[0].rank != 1 or types[0].element_type is not byte:
            raise NncError(f"x must be the bytes of a file, but got '{types[0]}'")
        return [tensor((None, None, 1 if attrs.pixels == "gray" else 3), byte)]

    def evaluate(self, x):
        try:
            from PIL import Image
        except ImportError:
            raise NncError("images are read by Pillow: pip install 'nnc[images]'") from None
        try:
            with Image.open(io.BytesIO(x.tobytes())) as image:
                found = np.asarray(image.convert("L" if self.pixels == "gray" else "RGB"))
        except Exception as error:  # Pillow raises several kinds
            raise NncError(f"the bytes are not an image that can be read: {error}") from None
        if self.pixels == "gray":
            return found[..., None]
        return found[..., ::-1] if self.pixels == "bgr" else found
