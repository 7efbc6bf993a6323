//! Shifts and rotations.

pub const TABLE: &str = "\
# By an immediate, 16 bits
lsls r2, r3, #1 | 005a | r3=80000001 V | r2=2 CV
lsls r2, r3, #1 | 005a | r3=7ffffffe NZC | r2=fffffffc N
lsls r2, r3, #2 | 009a | r3=80000001 V | r2=4 V
lsls r2, r3, #2 | 009a | r3=7ffffffe NZC | r2=fffffff8 NC
lsls r2, r3, #31 | 07da | r3=80000001 V | r2=80000000 NV
lsls r2, r3, #31 | 07da | r3=7ffffffe NZC | r2=0 ZC
lsrs r2, r3, #1 | 085a | r3=80000001 V | r2=40000000 CV
lsrs r2, r3, #1 | 085a | r3=7ffffffe NZC | r2=3fffffff -
lsrs r2, r3, #31 | 0fda | r3=80000001 V | r2=1 V
lsrs r2, r3, #31 | 0fda | r3=7ffffffe NZC | r2=0 ZC
lsrs r2, r3, #32 | 081a | r3=80000001 V | r2=0 ZCV
lsrs r2, r3, #32 | 081a | r3=7ffffffe NZC | r2=0 Z
asrs r2, r3, #1 | 105a | r3=80000001 V | r2=c0000000 NCV
asrs r2, r3, #1 | 105a | r3=7ffffffe NZC | r2=3fffffff -
asrs r2, r3, #31 | 17da | r3=80000001 V | r2=ffffffff NV
asrs r2, r3, #31 | 17da | r3=7ffffffe NZC | r2=0 ZC
asrs r2, r3, #32 | 101a | r3=80000001 V | r2=ffffffff NCV
asrs r2, r3, #32 | 101a | r3=7ffffffe NZC | r2=0 Z

# By an immediate, 32 bits
lsls.w r9, r10, #1 | ea5f 094a | r10=80000001 CV | r9=2 CV
lsls.w r9, r10, #1 | ea5f 094a | r10=7ffffffe - | r9=fffffffc N
lsls.w r9, r10, #1 | ea5f 094a | r10=0 NC | r9=0 Z
lsls.w r9, r10, #16 | ea5f 490a | r10=80000001 CV | r9=10000 V
lsls.w r9, r10, #16 | ea5f 490a | r10=7ffffffe - | r9=fffe0000 NC
lsls.w r9, r10, #16 | ea5f 490a | r10=0 NC | r9=0 Z
lsls.w r9, r10, #31 | ea5f 79ca | r10=80000001 CV | r9=80000000 NV
lsls.w r9, r10, #31 | ea5f 79ca | r10=7ffffffe - | r9=0 ZC
lsls.w r9, r10, #31 | ea5f 79ca | r10=0 NC | r9=0 Z
lsrs.w r9, r10, #1 | ea5f 095a | r10=80000001 CV | r9=40000000 CV
lsrs.w r9, r10, #1 | ea5f 095a | r10=7ffffffe - | r9=3fffffff -
lsrs.w r9, r10, #1 | ea5f 095a | r10=0 NC | r9=0 Z
lsrs.w r9, r10, #16 | ea5f 491a | r10=80000001 CV | r9=8000 V
lsrs.w r9, r10, #16 | ea5f 491a | r10=7ffffffe - | r9=7fff C
lsrs.w r9, r10, #16 | ea5f 491a | r10=0 NC | r9=0 Z
lsrs.w r9, r10, #32 | ea5f 091a | r10=80000001 CV | r9=0 ZCV
lsrs.w r9, r10, #32 | ea5f 091a | r10=7ffffffe - | r9=0 Z
lsrs.w r9, r10, #32 | ea5f 091a | r10=0 NC | r9=0 Z
asrs.w r9, r10, #1 | ea5f 096a | r10=80000001 CV | r9=c0000000 NCV
asrs.w r9, r10, #1 | ea5f 096a | r10=7ffffffe - | r9=3fffffff -
asrs.w r9, r10, #1 | ea5f 096a | r10=0 NC | r9=0 Z
asrs.w r9, r10, #16 | ea5f 492a | r10=80000001 CV | r9=ffff8000 NV
asrs.w r9, r10, #16 | ea5f 492a | r10=7ffffffe - | r9=7fff C
asrs.w r9, r10, #16 | ea5f 492a | r10=0 NC | r9=0 Z
asrs.w r9, r10, #32 | ea5f 092a | r10=80000001 CV | r9=ffffffff NCV
asrs.w r9, r10, #32 | ea5f 092a | r10=7ffffffe - | r9=0 Z
asrs.w r9, r10, #32 | ea5f 092a | r10=0 NC | r9=0 Z
rors.w r9, r10, #1 | ea5f 097a | r10=80000001 CV | r9=c0000000 NCV
rors.w r9, r10, #1 | ea5f 097a | r10=7ffffffe - | r9=3fffffff -
rors.w r9, r10, #1 | ea5f 097a | r10=0 NC | r9=0 Z
rors.w r9, r10, #16 | ea5f 493a | r10=80000001 CV | r9=18000 V
rors.w r9, r10, #16 | ea5f 493a | r10=7ffffffe - | r9=fffe7fff NC
rors.w r9, r10, #16 | ea5f 493a | r10=0 NC | r9=0 Z
rors.w r9, r10, #31 | ea5f 79fa | r10=80000001 CV | r9=3 V
rors.w r9, r10, #31 | ea5f 79fa | r10=7ffffffe - | r9=fffffffc NC
rors.w r9, r10, #31 | ea5f 79fa | r10=0 NC | r9=0 Z
rrxs.w r9, r10 | ea5f 093a | r10=80000001 CV | r9=c0000000 NCV
rrxs.w r9, r10 | ea5f 093a | r10=7ffffffe - | r9=3fffffff -
rrxs.w r9, r10 | ea5f 093a | r10=0 NC | r9=80000000 N
lsl.w r0, r1, #7 | ea4f 10c1 | r1=89abcdef ZC | r0=d5e6f780
lsr.w r0, r1, #9 | ea4f 2051 | r1=89abcdef ZC | r0=44d5e6
asr.w r0, r1, #12 | ea4f 3021 | r1=89abcdef ZC | r0=fff89abc
ror.w r0, r1, #20 | ea4f 5031 | r1=89abcdef ZC | r0=bcdef89a
rrx.w r0, r1 | ea4f 0031 | r1=89abcdef ZC | r0=c4d5e6f7

# By a register, of which the low byte counts: 0, 1, 31, 32, 33, 64, 255, 256
lsls r0, r1 | 4088 | r0=80000001 r1=0 C | r0=80000001 NC
lsls r0, r1 | 4088 | r0=80000001 r1=1 C | r0=2 C
lsls r0, r1 | 4088 | r0=c0000002 r1=1f C | r0=0 ZC
lsls r0, r1 | 4088 | r0=80000001 r1=20 V | r0=0 ZCV
lsls r0, r1 | 4088 | r0=80000001 r1=21 C | r0=0 Z
lsls r0, r1 | 4088 | r0=80000001 r1=40 C | r0=0 Z
lsls r0, r1 | 4088 | r0=80000001 r1=ff C | r0=0 Z
lsls r0, r1 | 4088 | r0=80000001 r1=100 C | r0=80000001 NC
lsls r0, r1 | 4088 | r0=80000001 r1=ffffff20 V | r0=0 ZCV
lsrs r0, r1 | 40c8 | r0=80000001 r1=0 C | r0=80000001 NC
lsrs r0, r1 | 40c8 | r0=80000001 r1=1 C | r0=40000000 C
lsrs r0, r1 | 40c8 | r0=c0000002 r1=1f C | r0=1 C
lsrs r0, r1 | 40c8 | r0=80000001 r1=20 V | r0=0 ZCV
lsrs r0, r1 | 40c8 | r0=80000001 r1=21 C | r0=0 Z
lsrs r0, r1 | 40c8 | r0=80000001 r1=40 C | r0=0 Z
lsrs r0, r1 | 40c8 | r0=80000001 r1=ff C | r0=0 Z
lsrs r0, r1 | 40c8 | r0=80000001 r1=100 C | r0=80000001 NC
lsrs r0, r1 | 40c8 | r0=80000001 r1=ffffff20 V | r0=0 ZCV
asrs r0, r1 | 4108 | r0=80000001 r1=0 C | r0=80000001 NC
asrs r0, r1 | 4108 | r0=80000001 r1=1 C | r0=c0000000 NC
asrs r0, r1 | 4108 | r0=c0000002 r1=1f C | r0=ffffffff NC
asrs r0, r1 | 4108 | r0=80000001 r1=20 V | r0=ffffffff NCV
asrs r0, r1 | 4108 | r0=80000001 r1=21 C | r0=ffffffff NC
asrs r0, r1 | 4108 | r0=80000001 r1=40 C | r0=ffffffff NC
asrs r0, r1 | 4108 | r0=80000001 r1=ff C | r0=ffffffff NC
asrs r0, r1 | 4108 | r0=80000001 r1=100 C | r0=80000001 NC
asrs r0, r1 | 4108 | r0=80000001 r1=ffffff20 V | r0=ffffffff NCV
rors r0, r1 | 41c8 | r0=80000001 r1=0 C | r0=80000001 NC
rors r0, r1 | 41c8 | r0=80000001 r1=1 C | r0=c0000000 NC
rors r0, r1 | 41c8 | r0=c0000002 r1=1f C | r0=80000005 NC
rors r0, r1 | 41c8 | r0=80000001 r1=20 V | r0=80000001 NCV
rors r0, r1 | 41c8 | r0=80000001 r1=21 C | r0=c0000000 NC
rors r0, r1 | 41c8 | r0=80000001 r1=40 C | r0=80000001 NC
rors r0, r1 | 41c8 | r0=80000001 r1=ff C | r0=3 -
rors r0, r1 | 41c8 | r0=80000001 r1=100 C | r0=80000001 NC
rors r0, r1 | 41c8 | r0=80000001 r1=ffffff20 V | r0=80000001 NCV
lsls.w r8, r9, r10 | fa19 f80a | r9=7000000f r10=0 - | r8=7000000f -
lsls.w r8, r9, r10 | fa19 f80a | r9=7000000f r10=4 - | r8=f0 C
lsls.w r8, r9, r10 | fa19 f80a | r9=7000000f r10=20 - | r8=0 ZC
lsls.w r8, r9, r10 | fa19 f80a | r9=7000000f r10=28 - | r8=0 Z
lsl.w r8, r9, r10 | fa09 f80a | r9=89abcdef r10=c NZCV | r8=bcdef000
lsrs.w r8, r9, r10 | fa39 f80a | r9=7000000f r10=0 - | r8=7000000f -
lsrs.w r8, r9, r10 | fa39 f80a | r9=7000000f r10=4 - | r8=7000000 C
lsrs.w r8, r9, r10 | fa39 f80a | r9=7000000f r10=20 - | r8=0 Z
lsrs.w r8, r9, r10 | fa39 f80a | r9=7000000f r10=28 - | r8=0 Z
lsr.w r8, r9, r10 | fa29 f80a | r9=89abcdef r10=c NZCV | r8=89abc
asrs.w r8, r9, r10 | fa59 f80a | r9=7000000f r10=0 - | r8=7000000f -
asrs.w r8, r9, r10 | fa59 f80a | r9=7000000f r10=4 - | r8=7000000 C
asrs.w r8, r9, r10 | fa59 f80a | r9=7000000f r10=20 - | r8=0 Z
asrs.w r8, r9, r10 | fa59 f80a | r9=7000000f r10=28 - | r8=0 Z
asr.w r8, r9, r10 | fa49 f80a | r9=89abcdef r10=c NZCV | r8=fff89abc
rors.w r8, r9, r10 | fa79 f80a | r9=7000000f r10=0 - | r8=7000000f -
rors.w r8, r9, r10 | fa79 f80a | r9=7000000f r10=4 - | r8=f7000000 NC
rors.w r8, r9, r10 | fa79 f80a | r9=7000000f r10=20 - | r8=7000000f -
rors.w r8, r9, r10 | fa79 f80a | r9=7000000f r10=28 - | r8=f700000 -
ror.w r8, r9, r10 | fa69 f80a | r9=89abcdef r10=c NZCV | r8=def89abc
";
