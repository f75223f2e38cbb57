"""LLVM's names for RISC-V processors and their features."""

from __future__ import annotations

from ..llvm.processor import ProcessorNames

_PROCESSORS = """
    andes-45-series andes-a25 andes-a45 andes-ax25 andes-ax45 andes-ax45mpv andes-n45
    andes-nx45 generic generic-ooo generic-rv32 generic-rv64 mips-p8700 rocket rocket-rv32
    rocket-rv64 rp2350-hazard3 sifive-7-series sifive-e20 sifive-e21 sifive-e24 sifive-e31
    sifive-e34 sifive-e76 sifive-p450 sifive-p470 sifive-p550 sifive-p670 sifive-p870
    sifive-s21 sifive-s51 sifive-s54 sifive-s76 sifive-u54 sifive-u74 sifive-x280 sifive-x390
    spacemit-x60 syntacore-scr1-base syntacore-scr1-max syntacore-scr3-rv32
    syntacore-scr3-rv64 syntacore-scr4-rv32 syntacore-scr4-rv64 syntacore-scr5-rv32
    syntacore-scr5-rv64 syntacore-scr7 tt-ascalon-d8 veyron-v1 xiangshan-kunminghu
    xiangshan-nanhu
"""

_FEATURES = """
    32bit 64bit a add-load-fusion addi-load-fusion andes45 auipc-addi-fusion auipc-load-fusion
    b bfext-fusion c conditional-cmv-fusion d disable-latency-sched-heuristic
    disable-misched-load-clustering disable-misched-store-clustering
    disable-postmisched-load-clustering disable-postmisched-store-clustering dlen-factor-2 e
    enable-vsetvli-sched-heuristic exact-asm experimental experimental-p experimental-rvm23u32
    experimental-smpmpmt experimental-svukte experimental-xrivosvisni experimental-xrivosvizip
    experimental-xsfmclic experimental-xsfsclic experimental-zibi experimental-zicfilp
    experimental-zicfiss experimental-zvbc32e experimental-zvfbfa experimental-zvfofp8min
    experimental-zvkgs experimental-zvqdotq f forced-atomics h i ld-add-fusion log-vrgather
    lui-addi-fusion lui-load-fusion m mips-p8700 no-default-unroll no-sink-splat-operands
    no-trailing-seq-cst-fence optimized-nf2-segment-load-store
    optimized-nf3-segment-load-store optimized-nf4-segment-load-store
    optimized-nf5-segment-load-store optimized-nf6-segment-load-store
    optimized-nf7-segment-load-store optimized-nf8-segment-load-store
    optimized-zero-stride-load permissive-zalrsc predictable-select-expensive
    prefer-vsetvli-over-read-vlenb prefer-w-inst q relax reserve-x1 reserve-x10 reserve-x11
    reserve-x12 reserve-x13 reserve-x14 reserve-x15 reserve-x16 reserve-x17 reserve-x18
    reserve-x19 reserve-x2 reserve-x20 reserve-x21 reserve-x22 reserve-x23 reserve-x24
    reserve-x25 reserve-x26 reserve-x27 reserve-x28 reserve-x29 reserve-x3 reserve-x30
    reserve-x31 reserve-x4 reserve-x5 reserve-x6 reserve-x7 reserve-x8 reserve-x9 rva20s64
    rva20u64 rva22s64 rva22u64 rva23s64 rva23u64 rvb23s64 rvb23u64 rvi20u32 rvi20u64
    save-restore sdext sdtrig sha shcounterenw shgatpa shifted-zextw-fusion shlcofideleg
    short-forward-branch-ialu short-forward-branch-iload short-forward-branch-iminmax
    short-forward-branch-imul shtvala shvsatpa shvstvala shvstvecd shxadd-load-fusion sifive7
    single-element-vec-fp64 smaia smcdeleg smcntrpmf smcsrind smctr smdbltrp smepmp smmpm
    smnpm smrnmi smstateen ssaia ssccfg ssccptr sscofpmf sscounterenw sscsrind ssctr ssdbltrp
    ssnpm sspm ssqosid ssstateen ssstrict sstc sstvala sstvecd ssu64xl supm svade svadu svbare
    svinval svnapot svpbmt svvptc tagged-globals unaligned-scalar-mem unaligned-vector-mem
    use-postra-scheduler v ventana-veyron vl-dependent-latency vxrm-pipeline-flush
    xandesbfhcvt xandesperf xandesvbfhcvt xandesvdot xandesvpackfph xandesvsinth
    xandesvsintload xcvalu xcvbi xcvbitmanip xcvelw xcvmac xcvmem xcvsimd xmipscbop xmipscmov
    xmipsexectl xmipslsp xqccmp xqci xqcia xqciac xqcibi xqcibm xqcicli xqcicm xqcics xqcicsr
    xqciint xqciio xqcilb xqcili xqcilia xqcilo xqcilsm xqcisim xqcisls xqcisync xsfcease
    xsfmm128t xsfmm16t xsfmm32a16f xsfmm32a32f xsfmm32a8f xsfmm32a8i xsfmm32t xsfmm64a64f
    xsfmm64t xsfmmbase xsfvcp xsfvfbfexp16e xsfvfexp16e xsfvfexp32e xsfvfexpa xsfvfexpa64e
    xsfvfnrclipxfqf xsfvfwmaccqqq xsfvqmaccdod xsfvqmaccqoq xsifivecdiscarddlone
    xsifivecflushdlone xsmtvdot xtheadba xtheadbb xtheadbs xtheadcmo xtheadcondmov
    xtheadfmemidx xtheadmac xtheadmemidx xtheadmempair xtheadsync xtheadvdot xventanacondops
    xwchc za128rs za64rs zaamo zabha zacas zalasr zalrsc zama16b zawrs zba zbb zbc zbkb zbkc
    zbkx zbs zca zcb zcd zce zcf zclsd zcmop zcmp zcmt zdinx zexth-fusion zextw-fusion zfa
    zfbfmin zfh zfhmin zfinx zhinx zhinxmin zic64b zicbom zicbop zicboz ziccamoa ziccamoc
    ziccif zicclsm ziccrse zicntr zicond zicsr zifencei zihintntl zihintpause zihpm zilsd
    zilsd-4byte-align zimop zk zkn zknd zkne zknh zkr zks zksed zksh zkt zmmul ztso zvbb zvbc
    zve32f zve32x zve64d zve64f zve64x zvfbfmin zvfbfwma zvfh zvfhmin zvkb zvkg zvkn zvknc
    zvkned zvkng zvknha zvknhb zvks zvksc zvksed zvksg zvksh zvkt zvl1024b zvl128b zvl16384b
    zvl2048b zvl256b zvl32768b zvl32b zvl4096b zvl512b zvl64b zvl65536b zvl8192b
"""

RISCV_NAMES = ProcessorNames(frozenset(_PROCESSORS.split()), frozenset(_FEATURES.split()), "riscv")
