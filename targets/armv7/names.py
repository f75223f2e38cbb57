"""LLVM's names for 32-bit Arm processors and their features."""

from __future__ import annotations

from ..llvm.processor import ProcessorNames

_PROCESSORS = """
    arm1020e arm1020t arm1022e arm10e arm10tdmi arm1136j-s arm1136jf-s arm1156t2-s
    arm1156t2f-s arm1176jz-s arm1176jzf-s arm710t arm720t arm7tdmi arm7tdmi-s arm8 arm810 arm9
    arm920 arm920t arm922t arm926ej-s arm940t arm946e-s arm966e-s arm968e-s arm9e arm9tdmi
    cortex-a12 cortex-a15 cortex-a17 cortex-a32 cortex-a35 cortex-a5 cortex-a510 cortex-a53
    cortex-a55 cortex-a57 cortex-a7 cortex-a710 cortex-a72 cortex-a73 cortex-a75 cortex-a76
    cortex-a76ae cortex-a77 cortex-a78 cortex-a78ae cortex-a78c cortex-a8 cortex-a9 cortex-m0
    cortex-m0plus cortex-m1 cortex-m23 cortex-m3 cortex-m33 cortex-m35p cortex-m4 cortex-m52
    cortex-m55 cortex-m7 cortex-m85 cortex-r4 cortex-r4f cortex-r5 cortex-r52 cortex-r52plus
    cortex-r7 cortex-r8 cortex-x1 cortex-x1c cyclone ep9312 exynos-m3 exynos-m4 exynos-m5
    generic iwmmxt krait kryo mpcore mpcorenovfp neoverse-n1 neoverse-n2 neoverse-v1 sc000
    sc300 star-mc1 star-mc3 strongarm strongarm110 strongarm1100 strongarm1110 swift xscale
"""

_FEATURES = """
    32bit 8msecext a12 a15 a17 a32 a35 a5 a53 a55 a57 a7 a72 a73 a75 a76 a77 a78c a8 a9
    aapcs-frame-chain aclass acquire-release aes armv4 armv4t armv5t armv5te armv5tej armv6
    armv6-m armv6j armv6k armv6kz armv6s-m armv6t2 armv7-a armv7-m armv7-r armv7e-m armv7k
    armv7s armv7ve armv8-a armv8-m.base armv8-m.main armv8-r armv8.1-a armv8.1-m.main
    armv8.2-a armv8.3-a armv8.4-a armv8.5-a armv8.6-a armv8.7-a armv8.8-a armv8.9-a armv9-a
    armv9.1-a armv9.2-a armv9.3-a armv9.4-a armv9.5-a armv9.6-a armv9.7-a atomics-32
    avoid-movs-shop avoid-muls avoid-partial-cpsr bf16 big-endian-instructions branch-align-64
    cde cdecp0 cdecp1 cdecp2 cdecp3 cdecp4 cdecp5 cdecp6 cdecp7 cheap-predicable-cpsr clrbhb
    cortex-a510 cortex-a710 cortex-a78 cortex-a78ae cortex-x1 cortex-x1c crc crypto d32 db dfb
    disable-postra-scheduler dont-widen-vmovs dotprod dsp execute-only expand-fp-mlx exynos
    fix-cmse-cve-2021-35465 fix-cortex-a57-aes-1742098 fp-armv8 fp-armv8d16 fp-armv8d16sp
    fp-armv8sp fp16 fp16fml fp64 fpao fpregs fpregs16 fpregs64 fullfp16 fuse-aes fuse-literals
    harden-sls-blr harden-sls-nocomdat harden-sls-retbr hwdiv hwdiv-arm i8mm iwmmxt iwmmxt2
    krait kryo lob long-calls loop-align m3 m55 m7 m85 mclass mp muxed-units mve mve.fp
    mve1beat mve2beat mve4beat neon neon-fpmovs neonfp neoverse-v1 no-branch-predictor
    no-bti-at-return-twice no-movt no-neg-immediates noarm nonpipelined-vfp pacbti perfmon
    prefer-ishst prefer-vmovsr prof-unpr r4 r5 r52 r52plus r7 ras rclass read-tp-tpidrprw
    read-tp-tpidruro read-tp-tpidrurw reserve-r9 ret-addr-stack sb sha2 slow-fp-brcc
    slow-load-D-subreg slow-odd-reg slow-vdup32 slow-vgetlni32 slowfpvfmx slowfpvmlx
    soft-float splat-vfp-neon strict-align swift thumb-mode thumb2 trustzone use-mipipeliner
    use-misched v4t v5t v5te v6 v6k v6m v6t2 v7 v7clrex v8 v8.1a v8.1m.main v8.2a v8.3a v8.4a
    v8.5a v8.6a v8.7a v8.8a v8.9a v8m v8m.main v9.1a v9.2a v9.3a v9.4a v9.5a v9.6a v9.7a v9a
    vfp2 vfp2sp vfp3 vfp3d16 vfp3d16sp vfp3sp vfp4 vfp4d16 vfp4d16sp vfp4sp virtualization
    vldn-align vmlx-forwarding vmlx-hazards wide-stride-vfp xscale zcz
"""

ARM_NAMES = ProcessorNames(frozenset(_PROCESSORS.split()), frozenset(_FEATURES.split()), "arm")
