"""LLVM's names for 64-bit Arm processors and their features."""

from __future__ import annotations

from ..llvm.processor import ProcessorNames

_PROCESSORS = """
    a64fx ampere1 ampere1a ampere1b ampere1c apple-a10 apple-a11 apple-a12 apple-a13 apple-a14
    apple-a15 apple-a16 apple-a17 apple-a18 apple-a19 apple-a7 apple-a8 apple-a9 apple-m1
    apple-m2 apple-m3 apple-m4 apple-m5 apple-s10 apple-s4 apple-s5 apple-s6 apple-s7 apple-s8
    apple-s9 c1-nano c1-premium c1-pro c1-ultra carmel cobalt-100 cortex-a320 cortex-a34
    cortex-a35 cortex-a510 cortex-a520 cortex-a520ae cortex-a53 cortex-a55 cortex-a57 cortex-a65
    cortex-a65ae cortex-a710 cortex-a715 cortex-a72 cortex-a720 cortex-a720ae cortex-a725
    cortex-a73 cortex-a75 cortex-a76 cortex-a76ae cortex-a77 cortex-a78 cortex-a78ae cortex-a78c
    cortex-r82 cortex-r82ae cortex-x1 cortex-x1c cortex-x2 cortex-x3 cortex-x4 cortex-x925
    cyclone exynos-m3 exynos-m4 exynos-m5 falkor fujitsu-monaka gb10 generic grace kryo
    neoverse-512tvb neoverse-e1 neoverse-n1 neoverse-n2 neoverse-n3 neoverse-v1 neoverse-v2
    neoverse-v3 neoverse-v3ae olympus oryon-1 saphira thunderx thunderx2t99 thunderx3t110
    thunderxt81 thunderxt83 thunderxt88 tsv110
"""

_FEATURES = """
    CONTEXTIDREL2 a320 a35 a510 a520 a520ae a53 a55 a57 a64fx a65 a710 a715 a72 a720 a720ae a73
    a75 a76 a77 a78 a78ae a78c addr-lsl-slow-14 aes aggressive-fma aggressive-interleaving all
    alternate-sextload-cvt-f32-pattern altnzcv alu-lsl-fast am ampere1 ampere1a ampere1b
    ampere1c amvs apple-a10 apple-a11 apple-a12 apple-a13 apple-a14 apple-a15 apple-a16
    apple-a17 apple-a7 apple-m4 apple-m5 arith-bcc-fusion arith-cbz-fusion ascend-store-address
    avoid-ldapur balance-fp-ops bf16 brbe bti btie c1-nano c1-premium c1-pro c1-ultra
    call-saved-x10 call-saved-x11 call-saved-x12 call-saved-x13 call-saved-x14 call-saved-x15
    call-saved-x18 call-saved-x8 call-saved-x9 carmel ccdp ccidx ccpp chk clrbhb cmh
    cmp-bcc-fusion cmpbr complxnum cortex-a725 cortex-r82 cortex-r82ae cortex-x1 cortex-x2
    cortex-x3 cortex-x4 cortex-x925 cpa crc crypto cssc d128 disable-fast-inc-vl
    disable-latency-sched-heuristic disable-ldp disable-maximize-scalable-bandwidth disable-stp
    disable-unpredicated-ld-st-lower dit dotprod ecv el2vmsa el3 enable-select-opt ete
    execute-only exynos-cheap-as-move exynosm3 exynosm4 f16f32dot f16f32mm f16mm f32mm f64mm
    f8f16mm f8f32mm falkor faminmax fgt fix-cortex-a53-835769 flagm fmv force-32bit-jump-tables
    fp-armv8 fp16fml fp8 fp8dot2 fp8dot4 fp8fma fpac fprcvt fptoint fujitsu-monaka fullfp16
    fuse-address fuse-addsub-2reg-const1 fuse-adrp-add fuse-aes fuse-arith-logic fuse-crypto-eor
    fuse-csel fuse-cset fuse-literals gcie gcs harden-sls-blr harden-sls-nocomdat
    harden-sls-retbr hbc hcx i8mm ite jsconv kryo ldp-aligned-only lor ls64 lscp lse lse128 lse2
    lsfe lsui lut max-interleave-factor-4 mec mops mops-go mpam mpamv2 mte mtetc neon
    neoverse512tvb neoversee1 neoversen1 neoversen2 neoversen3 neoversev1 neoversev2 neoversev3
    neoversev3AE nmi no-bti-at-return-twice no-neg-immediates no-sve-fp-ld1r no-zcz-fpr64 nv
    occmo olympus oryon-1 outline-atomics pan pan-rwv pauth pauth-lr pcdphint perfmon poe2 pops
    predictable-select-expensive predres prfm-slc-target rand ras rasv2 rcpc rcpc-immo rcpc3 rdm
    reserve-lr-for-ra reserve-x1 reserve-x10 reserve-x11 reserve-x12 reserve-x13 reserve-x14
    reserve-x15 reserve-x18 reserve-x2 reserve-x20 reserve-x21 reserve-x22 reserve-x23
    reserve-x24 reserve-x25 reserve-x26 reserve-x27 reserve-x28 reserve-x3 reserve-x4 reserve-x5
    reserve-x6 reserve-x7 reserve-x9 rme saphira sb sel2 sha2 sha3 slow-misaligned-128store
    slow-paired-128 slow-strqro-store sm4 sme sme-b16b16 sme-f16f16 sme-f64f64 sme-f8f16
    sme-f8f32 sme-fa64 sme-i16i64 sme-lutv2 sme-mop4 sme-tmop sme2 sme2p1 sme2p2 sme2p3 spe
    spe-eef specres2 specrestrict ssbs ssve-aes ssve-bitperm ssve-fexpa ssve-fp8dot2
    ssve-fp8dot4 ssve-fp8fma store-pair-suppress stp-aligned-only strict-align sve sve-aes
    sve-aes2 sve-b16b16 sve-b16mm sve-bfscale sve-bitperm sve-f16f32mm sve-sha3 sve-sm4 sve2
    sve2-aes sve2-bitperm sve2-sha3 sve2-sm4 sve2p1 sve2p2 sve2p3 tagged-globals tev the
    thunderx thunderx2t99 thunderx3t110 thunderxt81 thunderxt83 thunderxt88 tlb-rmi tlbid tlbiw
    tpidr-el1 tpidr-el2 tpidr-el3 tpidrro-el0 tracev8.4 trbe tsv110 uaops
    use-experimental-zeroing-pseudos use-fixed-over-scalable-if-equal-cost use-postra-scheduler
    use-reciprocal-square-root use-wzr-to-vec-move v8.1a v8.2a v8.3a v8.4a v8.5a v8.6a v8.7a
    v8.8a v8.9a v8a v8r v9.1a v9.2a v9.3a v9.4a v9.5a v9.6a v9.7a v9a vh wfxt xs zcm-fpr128
    zcm-fpr32 zcm-fpr64 zcm-gpr32 zcm-gpr64 zcz-fp-workaround zcz-fpr128 zcz-gpr32 zcz-gpr64
"""

AARCH64_NAMES = ProcessorNames(
    frozenset(_PROCESSORS.split()), frozenset(_FEATURES.split()), "aarch64"
)
