
V
x0Placeholder*6
shape-:+ÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿÿ*
dtype0

Dilation2D/filterConst*e
value\BZ"Hš™™¾ˆ‡‡¾ëêj¾ÇÆF¾£¢"¾ıüü½µ´´½ÙØX½‘¼‘<ÙØX=µ´´=ıüü=£¢">ÇÆF>ëêj>ˆ‡‡>š™™>*
dtype0

Dilation2D_1/filterConst*
dtype0*e
value\BZ"Hš™™¾ˆ‡‡¾ëêj¾ÇÆF¾£¢"¾ıüü½µ´´½ÙØX½‘¼‘<ÙØX=µ´´=ıüü=£¢">ÇÆF>ëêj>ˆ‡‡>š™™>
t

Dilation2D
Dilation2Dx0Dilation2D/filter*
paddingVALID*
strides
*
T0*
rates

)
IdentityIdentity
Dilation2D*
T0
w
Dilation2D_1
Dilation2Dx0Dilation2D_1/filter*
paddingSAME*
strides
*
T0*
rates

-

Identity_1IdentityDilation2D_1*
T0
‡
ExtractImagePatchesExtractImagePatchesx0*
paddingVALID*
strides
*
ksizes
*
T0*
rates

4

Identity_2IdentityExtractImagePatches*
T0"ª