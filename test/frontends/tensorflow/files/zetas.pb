
0
x0Placeholder*
shape:–*
dtype0
0
x1Placeholder*
shape:–*
dtype0
0
x2Placeholder*
shape:–*
dtype0

ZetaZetax0x1*
T0
#
IdentityIdentityZeta*
T0
'
	Polygamma	Polygammax2x1*
T0
*

Identity_1Identity	Polygamma*
T0"ª