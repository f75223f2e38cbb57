"""LLVM's names for 64-bit x86 processors and their features."""

from __future__ import annotations

from ..llvm.processor import ProcessorNames

_PROCESSORS = """
    x86-64 x86-64-v2 x86-64-v3 x86-64-v4 nocona core2 penryn nehalem westmere sandybridge
    ivybridge haswell broadwell skylake skylake-avx512 cascadelake cooperlake cannonlake
    icelake-client icelake-server rocketlake tigerlake alderlake raptorlake meteorlake
    arrowlake arrowlake-s lunarlake pantherlake gracemont sierraforest grandridge
    clearwaterforest sapphirerapids emeraldrapids graniterapids graniterapids-d diamondrapids
    bonnell silvermont goldmont goldmont-plus tremont knl knm k8 k8-sse3 opteron opteron-sse3
    athlon64 athlon64-sse3 athlon-fx amdfam10 barcelona btver1 btver2 bdver1 bdver2 bdver3
    bdver4 znver1 znver2 znver3 znver4 znver5
"""

_FEATURES = """
    16bit-mode 32bit-mode 64bit 64bit-mode adx aes allow-light-256-bit amx-avx512 amx-bf16
    amx-complex amx-fp16 amx-fp8 amx-int8 amx-movrs amx-tf32 amx-tile avx avx10.1 avx10.1-512
    avx10.2 avx10.2-512 avx2 avx512bf16 avx512bitalg avx512bw avx512cd avx512dq avx512f
    avx512fp16 avx512ifma avx512vbmi avx512vbmi2 avx512vl avx512vnni avx512vp2intersect
    avx512vpopcntdq avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 bmi bmi2 branch-hint
    branchfusion ccmp cf cldemote clflushopt clwb clzero cmov cmpccxadd crc32 cx16 cx8 egpr
    enqcmd ermsb evex512 f16c false-deps-getmant false-deps-lzcnt-tzcnt false-deps-mulc
    false-deps-mullq false-deps-perm false-deps-popcnt false-deps-range fast-11bytenop
    fast-15bytenop fast-7bytenop fast-bextr fast-dpwssd fast-gather fast-hops fast-imm16
    fast-lzcnt fast-movbe fast-scalar-fsqrt fast-scalar-shift-masks fast-shld-rotate
    fast-variable-crosslane-shuffle fast-variable-perlane-shuffle fast-vector-fsqrt
    fast-vector-shift-masks faster-shift-than-shuffle fma fma4 fsgsbase fsrm fxsr gfni
    harden-sls-ijmp harden-sls-ret hreset idivl-to-divb idivq-to-divl inline-asm-use-gpr32
    invpcid kl lea-sp lea-uses-ag lvi-cfi lvi-load-hardening lwp lzcnt macrofusion mmx movbe
    movdir64b movdiri movrs mwaitx ndd nf no-bypass-delay no-bypass-delay-blend
    no-bypass-delay-mov no-bypass-delay-shuffle nopl pad-short-functions pclmul pconfig pku
    popcnt ppx prefer-128-bit prefer-256-bit prefer-legacy-setcc prefer-mask-registers
    prefer-movmsk-over-vtest prefer-no-gather prefer-no-scatter prefetchi prfchw ptwrite
    push2pop2 raoint rdpid rdpru rdrnd rdseed retpoline retpoline-external-thunk
    retpoline-indirect-branches retpoline-indirect-calls rtm sahf sbb-dep-breaking serialize
    seses sgx sha sha512 shstk slow-3ops-lea slow-incdec slow-lea slow-pmaddwd slow-pmulld
    slow-pmullq slow-shld slow-two-mem-ops slow-unaligned-mem-16 slow-unaligned-mem-32 sm3 sm4
    soft-float sse sse-unaligned-mem sse2 sse3 sse4.1 sse4.2 sse4a ssse3 tagged-globals tbm
    tsxldtrk tuning-fast-imm-vector-shift uintr use-glm-div-sqrt-costs use-slm-arith-costs
    usermsr vaes vpclmulqdq vzeroupper waitpkg wbnoinvd widekl x32 x87 xop xsave xsavec xsaveopt
    xsaves zu
"""

X86_NAMES = ProcessorNames(frozenset(_PROCESSORS.split()), frozenset(_FEATURES.split()), "x86")
