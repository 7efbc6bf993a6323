//! Saturation.

pub const TABLE: &str = "\
# QADD and its kin: Rm first, then Rn, which QDADD and QDSUB double
qadd r0, r1, r2 | fa82 f081 | r1=1 r2=2 ZC | r0=3 ZC
qsub r0, r1, r2 | fa82 f0a1 | r1=1 r2=2 ZC | r0=ffffffff ZC
qdadd r0, r1, r2 | fa82 f091 | r1=1 r2=2 ZC | r0=5 ZC
qdsub r0, r1, r2 | fa82 f0b1 | r1=1 r2=2 ZC | r0=fffffffd ZC
qadd r0, r1, r2 | fa82 f081 | r1=7fffffff r2=1 ZC | r0=7fffffff ZCQ
qsub r0, r1, r2 | fa82 f0a1 | r1=7fffffff r2=1 ZC | r0=7ffffffe ZC
qdadd r0, r1, r2 | fa82 f091 | r1=7fffffff r2=1 ZC | r0=7fffffff ZCQ
qdsub r0, r1, r2 | fa82 f0b1 | r1=7fffffff r2=1 ZC | r0=7ffffffd ZC
qadd r0, r1, r2 | fa82 f081 | r1=80000000 r2=ffffffff ZC | r0=80000000 ZCQ
qsub r0, r1, r2 | fa82 f0a1 | r1=80000000 r2=ffffffff ZC | r0=80000001 ZC
qdadd r0, r1, r2 | fa82 f091 | r1=80000000 r2=ffffffff ZC | r0=80000000 ZCQ
qdsub r0, r1, r2 | fa82 f0b1 | r1=80000000 r2=ffffffff ZC | r0=80000002 ZC
qadd r0, r1, r2 | fa82 f081 | r1=80000000 r2=7fffffff ZC | r0=ffffffff ZC
qsub r0, r1, r2 | fa82 f0a1 | r1=80000000 r2=7fffffff ZC | r0=80000000 ZCQ
qdadd r0, r1, r2 | fa82 f091 | r1=80000000 r2=7fffffff ZC | r0=ffffffff ZCQ
qdsub r0, r1, r2 | fa82 f0b1 | r1=80000000 r2=7fffffff ZC | r0=80000000 ZCQ
qadd r0, r1, r2 | fa82 f081 | r1=0 r2=40000000 ZC | r0=40000000 ZC
qsub r0, r1, r2 | fa82 f0a1 | r1=0 r2=40000000 ZC | r0=c0000000 ZC
qdadd r0, r1, r2 | fa82 f091 | r1=0 r2=40000000 ZC | r0=7fffffff ZCQ
qdsub r0, r1, r2 | fa82 f0b1 | r1=0 r2=40000000 ZC | r0=80000001 ZCQ
qadd r0, r1, r2 | fa82 f081 | r1=ffffffff r2=c0000000 ZC | r0=bfffffff ZC
qsub r0, r1, r2 | fa82 f0a1 | r1=ffffffff r2=c0000000 ZC | r0=3fffffff ZC
qdadd r0, r1, r2 | fa82 f091 | r1=ffffffff r2=c0000000 ZC | r0=80000000 ZCQ
qdsub r0, r1, r2 | fa82 f0b1 | r1=ffffffff r2=c0000000 ZC | r0=7fffffff ZC
qadd r0, r1, r2 | fa82 f081 | r1=7fffffff r2=80000000 ZC | r0=ffffffff ZC
qsub r0, r1, r2 | fa82 f0a1 | r1=7fffffff r2=80000000 ZC | r0=7fffffff ZCQ
qdadd r0, r1, r2 | fa82 f091 | r1=7fffffff r2=80000000 ZC | r0=ffffffff ZCQ
qdsub r0, r1, r2 | fa82 f0b1 | r1=7fffffff r2=80000000 ZC | r0=7fffffff ZCQ
qadd r0, r1, r2 | fa82 f081 | r1=c0000000 r2=bfffffff ZC | r0=80000000 ZCQ
qsub r0, r1, r2 | fa82 f0a1 | r1=c0000000 r2=bfffffff ZC | r0=1 ZC
qdadd r0, r1, r2 | fa82 f091 | r1=c0000000 r2=bfffffff ZC | r0=80000000 ZCQ
qdsub r0, r1, r2 | fa82 f0b1 | r1=c0000000 r2=bfffffff ZC | r0=40000000 ZCQ
qadd r0, r1, r2 | fa82 f081 | r1=1 r2=2 Q | r0=3

# SSAT and USAT
ssat r0, #8, r1 | f301 0007 | r1=0 N | r0=0 N
usat r0, #7, r1 | f381 0007 | r1=0 N | r0=0 N
ssat r0, #8, r1 | f301 0007 | r1=7f N | r0=7f N
usat r0, #7, r1 | f381 0007 | r1=7f N | r0=7f N
ssat r0, #8, r1 | f301 0007 | r1=80 N | r0=7f NQ
usat r0, #7, r1 | f381 0007 | r1=80 N | r0=7f NQ
ssat r0, #8, r1 | f301 0007 | r1=ffffff80 N | r0=ffffff80 N
usat r0, #7, r1 | f381 0007 | r1=ffffff80 N | r0=0 NQ
ssat r0, #8, r1 | f301 0007 | r1=ffffff7f N | r0=ffffff80 NQ
usat r0, #7, r1 | f381 0007 | r1=ffffff7f N | r0=0 NQ
ssat r0, #8, r1 | f301 0007 | r1=7fffffff N | r0=7f NQ
usat r0, #7, r1 | f381 0007 | r1=7fffffff N | r0=7f NQ
ssat r0, #8, r1 | f301 0007 | r1=80000000 N | r0=ffffff80 NQ
usat r0, #7, r1 | f381 0007 | r1=80000000 N | r0=0 NQ
ssat r0, #32, r1, lsl #1 | f301 005f | r1=60000000 - | r0=c0000000 -
ssat r0, #32, r1, asr #1 | f321 005f | r1=80000000 - | r0=c0000000 -
ssat r0, #1, r1 | f301 0000 | r1=1 - | r0=0 Q
ssat r0, #1, r1 | f301 0000 | r1=ffffffff - | r0=ffffffff -
usat r0, #31, r1 | f381 001f | r1=ffffffff - | r0=0 Q
usat r0, #31, r1 | f381 001f | r1=7fffffff - | r0=7fffffff -
usat r0, #0, r1 | f381 0000 | r1=5 - | r0=0 Q
usat r0, #16, r1, asr #15 | f3a1 30d0 | r1=7fffffff - | r0=ffff -
usat r0, #16, r1, asr #31 | f3a1 70d0 | r1=80000000 - | r0=0 Q
ssat r0, #16, r1, lsl #31 | f301 70cf | r1=1 - | r0=ffff8000 Q
ssat r0, #5, r1, asr #4 | f321 1004 | r1=1ff - | r0=f Q
usat r0, #4, r1, lsl #2 | f381 0084 | r1=3 - | r0=c -

# SSAT16 and USAT16
ssat16 r0, #7, r1 | f321 0006 | r1=10002 C | r0=10002 C
usat16 r0, #6, r1 | f3a1 0006 | r1=10002 C | r0=10002 C
ssat16 r0, #16, r1 | f321 000f | r1=10002 C | r0=10002 C
usat16 r0, #15, r1 | f3a1 000f | r1=10002 C | r0=10002 C
ssat16 r0, #1, r1 | f321 0000 | r1=10002 C | r0=0 CQ
usat16 r0, #0, r1 | f3a1 0000 | r1=10002 C | r0=0 CQ
ssat16 r0, #7, r1 | f321 0006 | r1=7fff8000 C | r0=3fffc0 CQ
usat16 r0, #6, r1 | f3a1 0006 | r1=7fff8000 C | r0=3f0000 CQ
ssat16 r0, #16, r1 | f321 000f | r1=7fff8000 C | r0=7fff8000 C
usat16 r0, #15, r1 | f3a1 000f | r1=7fff8000 C | r0=7fff0000 CQ
ssat16 r0, #1, r1 | f321 0000 | r1=7fff8000 C | r0=ffff CQ
usat16 r0, #0, r1 | f3a1 0000 | r1=7fff8000 C | r0=0 CQ
ssat16 r0, #7, r1 | f321 0006 | r1=80007fff C | r0=ffc0003f CQ
usat16 r0, #6, r1 | f3a1 0006 | r1=80007fff C | r0=3f CQ
ssat16 r0, #16, r1 | f321 000f | r1=80007fff C | r0=80007fff C
usat16 r0, #15, r1 | f3a1 000f | r1=80007fff C | r0=7fff CQ
ssat16 r0, #1, r1 | f321 0000 | r1=80007fff C | r0=ffff0000 CQ
usat16 r0, #0, r1 | f3a1 0000 | r1=80007fff C | r0=0 CQ
ssat16 r0, #7, r1 | f321 0006 | r1=ffff0040 C | r0=ffff003f CQ
usat16 r0, #6, r1 | f3a1 0006 | r1=ffff0040 C | r0=3f CQ
ssat16 r0, #16, r1 | f321 000f | r1=ffff0040 C | r0=ffff0040 C
usat16 r0, #15, r1 | f3a1 000f | r1=ffff0040 C | r0=40 CQ
ssat16 r0, #1, r1 | f321 0000 | r1=ffff0040 C | r0=ffff0000 CQ
usat16 r0, #0, r1 | f3a1 0000 | r1=ffff0040 C | r0=0 CQ
ssat16 r0, #7, r1 | f321 0006 | r1=3fffc0 C | r0=3fffc0 C
usat16 r0, #6, r1 | f3a1 0006 | r1=3fffc0 C | r0=3f0000 CQ
ssat16 r0, #16, r1 | f321 000f | r1=3fffc0 C | r0=3fffc0 C
usat16 r0, #15, r1 | f3a1 000f | r1=3fffc0 C | r0=3f0000 CQ
ssat16 r0, #1, r1 | f321 0000 | r1=3fffc0 C | r0=ffff CQ
usat16 r0, #0, r1 | f3a1 0000 | r1=3fffc0 C | r0=0 CQ
ssat16 r0, #7, r1 | f321 0006 | r1=ffbf0000 C | r0=ffc00000 CQ
usat16 r0, #6, r1 | f3a1 0006 | r1=ffbf0000 C | r0=0 CQ
ssat16 r0, #16, r1 | f321 000f | r1=ffbf0000 C | r0=ffbf0000 C
usat16 r0, #15, r1 | f3a1 000f | r1=ffbf0000 C | r0=0 CQ
ssat16 r0, #1, r1 | f321 0000 | r1=ffbf0000 C | r0=ffff0000 CQ
usat16 r0, #0, r1 | f3a1 0000 | r1=ffbf0000 C | r0=0 CQ
";
