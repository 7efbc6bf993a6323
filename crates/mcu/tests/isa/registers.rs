//! Arithmetic and logic of registers, plain and shifted.

pub const TABLE: &str = "\
# 32-bit forms with a register, flags kept
and.w r0, r8, r9 | ea08 0009 | r8=ff00ff00 r9=ff00ff0 NC | r0=f000f00
bic.w r0, r8, r9 | ea28 0009 | r8=80000001 r9=f0000000 ZV | r0=1
orr.w r0, r8, r9 | ea48 0009 | r8=aaaaaaaa r9=55555555 CVQ | r0=ffffffff
orn.w r0, r8, r9 | ea68 0009 | r8=ff00ff00 r9=ff00ff0 NZCV | r0=ff0fff0f
eor.w r0, r8, r9 | ea88 0009 | r8=80000001 r9=f0000000 NC | r0=70000001
add.w r0, r8, r9 | eb08 0009 | r8=80000000 r9=80000000 ZV | r0=0
adc.w r0, r8, r9 | eb48 0009 | r8=7fffffff r9=1 CVQ | r0=80000001
sub.w r0, r8, r9 | eba8 0009 | r8=ffffffff r9=1 NZCV | r0=fffffffe
sbc.w r0, r8, r9 | eb68 0009 | r8=80000000 r9=80000000 NC | r0=0
mov.w r0, r9 | ea4f 0009 | r9=f0000000 CVQ | r0=f0000000
mvn.w r0, r9 | ea6f 0009 | r9=55555555 NZCV | r0=aaaaaaaa

# 32-bit forms with a register, flags set
ands.w r10, r8, r9 | ea18 0a09 | r8=ff00ff00 r9=ff00ff0 NZCVQ | r10=f000f00 CVQ
ands.w r10, r8, r9 | ea18 0a09 | r8=80000001 r9=f0000000 - | r10=80000000 N
ands.w r10, r8, r9 | ea18 0a09 | r8=aaaaaaaa r9=55555555 ZV | r10=0 ZV
bics.w r10, r8, r9 | ea38 0a09 | r8=ff00ff00 r9=ff00ff0 NZCVQ | r10=f000f000 NCVQ
bics.w r10, r8, r9 | ea38 0a09 | r8=80000001 r9=f0000000 - | r10=1 -
bics.w r10, r8, r9 | ea38 0a09 | r8=aaaaaaaa r9=55555555 ZV | r10=aaaaaaaa NV
orrs.w r10, r8, r9 | ea58 0a09 | r8=ff00ff00 r9=ff00ff0 NZCVQ | r10=fff0fff0 NCVQ
orrs.w r10, r8, r9 | ea58 0a09 | r8=80000001 r9=f0000000 - | r10=f0000001 N
orrs.w r10, r8, r9 | ea58 0a09 | r8=aaaaaaaa r9=55555555 ZV | r10=ffffffff NV
orns.w r10, r8, r9 | ea78 0a09 | r8=ff00ff00 r9=ff00ff0 NZCVQ | r10=ff0fff0f NCVQ
orns.w r10, r8, r9 | ea78 0a09 | r8=80000001 r9=f0000000 - | r10=8fffffff N
orns.w r10, r8, r9 | ea78 0a09 | r8=aaaaaaaa r9=55555555 ZV | r10=aaaaaaaa NV
eors.w r10, r8, r9 | ea98 0a09 | r8=ff00ff00 r9=ff00ff0 NZCVQ | r10=f0f0f0f0 NCVQ
eors.w r10, r8, r9 | ea98 0a09 | r8=80000001 r9=f0000000 - | r10=70000001 -
eors.w r10, r8, r9 | ea98 0a09 | r8=aaaaaaaa r9=55555555 ZV | r10=ffffffff NV
adds.w r10, r8, r9 | eb18 0a09 | r8=7fffffff r9=1 NZCVQ | r10=80000000 NVQ
adds.w r10, r8, r9 | eb18 0a09 | r8=ffffffff r9=1 - | r10=0 ZC
adds.w r10, r8, r9 | eb18 0a09 | r8=80000000 r9=80000000 ZV | r10=0 ZCV
adds.w r10, r8, r9 | eb18 0a09 | r8=5 r9=5 NZCVQ | r10=a Q
adds.w r10, r8, r9 | eb18 0a09 | r8=0 r9=1 - | r10=1 -
adds.w r10, r8, r9 | eb18 0a09 | r8=12345678 r9=9abcdef0 ZV | r10=acf13568 N
adcs.w r10, r8, r9 | eb58 0a09 | r8=7fffffff r9=1 - | r10=80000000 NV
adcs.w r10, r8, r9 | eb58 0a09 | r8=7fffffff r9=1 C | r10=80000001 NV
adcs.w r10, r8, r9 | eb58 0a09 | r8=ffffffff r9=1 - | r10=0 ZC
adcs.w r10, r8, r9 | eb58 0a09 | r8=ffffffff r9=1 C | r10=1 C
adcs.w r10, r8, r9 | eb58 0a09 | r8=80000000 r9=80000000 - | r10=0 ZCV
adcs.w r10, r8, r9 | eb58 0a09 | r8=80000000 r9=80000000 C | r10=1 CV
adcs.w r10, r8, r9 | eb58 0a09 | r8=5 r9=5 - | r10=a -
adcs.w r10, r8, r9 | eb58 0a09 | r8=5 r9=5 C | r10=b -
adcs.w r10, r8, r9 | eb58 0a09 | r8=0 r9=1 - | r10=1 -
adcs.w r10, r8, r9 | eb58 0a09 | r8=0 r9=1 C | r10=2 -
adcs.w r10, r8, r9 | eb58 0a09 | r8=12345678 r9=9abcdef0 - | r10=acf13568 N
adcs.w r10, r8, r9 | eb58 0a09 | r8=12345678 r9=9abcdef0 C | r10=acf13569 N
subs.w r10, r8, r9 | ebb8 0a09 | r8=7fffffff r9=1 NZCVQ | r10=7ffffffe CQ
subs.w r10, r8, r9 | ebb8 0a09 | r8=ffffffff r9=1 - | r10=fffffffe NC
subs.w r10, r8, r9 | ebb8 0a09 | r8=80000000 r9=80000000 ZV | r10=0 ZC
subs.w r10, r8, r9 | ebb8 0a09 | r8=5 r9=5 NZCVQ | r10=0 ZCQ
subs.w r10, r8, r9 | ebb8 0a09 | r8=0 r9=1 - | r10=ffffffff N
subs.w r10, r8, r9 | ebb8 0a09 | r8=12345678 r9=9abcdef0 ZV | r10=77777788 -
sbcs.w r10, r8, r9 | eb78 0a09 | r8=7fffffff r9=1 - | r10=7ffffffd C
sbcs.w r10, r8, r9 | eb78 0a09 | r8=7fffffff r9=1 C | r10=7ffffffe C
sbcs.w r10, r8, r9 | eb78 0a09 | r8=ffffffff r9=1 - | r10=fffffffd NC
sbcs.w r10, r8, r9 | eb78 0a09 | r8=ffffffff r9=1 C | r10=fffffffe NC
sbcs.w r10, r8, r9 | eb78 0a09 | r8=80000000 r9=80000000 - | r10=ffffffff N
sbcs.w r10, r8, r9 | eb78 0a09 | r8=80000000 r9=80000000 C | r10=0 ZC
sbcs.w r10, r8, r9 | eb78 0a09 | r8=5 r9=5 - | r10=ffffffff N
sbcs.w r10, r8, r9 | eb78 0a09 | r8=5 r9=5 C | r10=0 ZC
sbcs.w r10, r8, r9 | eb78 0a09 | r8=0 r9=1 - | r10=fffffffe N
sbcs.w r10, r8, r9 | eb78 0a09 | r8=0 r9=1 C | r10=ffffffff N
sbcs.w r10, r8, r9 | eb78 0a09 | r8=12345678 r9=9abcdef0 - | r10=77777787 -
sbcs.w r10, r8, r9 | eb78 0a09 | r8=12345678 r9=9abcdef0 C | r10=77777788 -
movs.w r10, r9 | ea5f 0a09 | r9=ff00ff0 NZCVQ | r10=ff00ff0 CVQ
movs.w r10, r9 | ea5f 0a09 | r9=f0000000 - | r10=f0000000 N
movs.w r10, r9 | ea5f 0a09 | r9=55555555 ZV | r10=55555555 V
mvns.w r10, r9 | ea7f 0a09 | r9=ff00ff0 NZCVQ | r10=f00ff00f NCVQ
mvns.w r10, r9 | ea7f 0a09 | r9=f0000000 - | r10=fffffff -
mvns.w r10, r9 | ea7f 0a09 | r9=55555555 ZV | r10=aaaaaaaa NV
tst.w r8, r9 | ea18 0f09 | r8=ff00ff00 r9=ff00ff0 NZCVQ | CVQ
tst.w r8, r9 | ea18 0f09 | r8=80000001 r9=f0000000 - | N
tst.w r8, r9 | ea18 0f09 | r8=aaaaaaaa r9=55555555 ZV | ZV
teq.w r8, r9 | ea98 0f09 | r8=ff00ff00 r9=ff00ff0 NZCVQ | NCVQ
teq.w r8, r9 | ea98 0f09 | r8=80000001 r9=f0000000 - | -
teq.w r8, r9 | ea98 0f09 | r8=aaaaaaaa r9=55555555 ZV | NV
cmp.w r8, r9 | ebb8 0f09 | r8=7fffffff r9=1 NZCVQ | CQ
cmp.w r8, r9 | ebb8 0f09 | r8=ffffffff r9=1 - | NC
cmp.w r8, r9 | ebb8 0f09 | r8=80000000 r9=80000000 ZV | ZC
cmp.w r8, r9 | ebb8 0f09 | r8=5 r9=5 NZCVQ | ZCQ
cmp.w r8, r9 | ebb8 0f09 | r8=0 r9=1 - | N
cmp.w r8, r9 | ebb8 0f09 | r8=12345678 r9=9abcdef0 ZV | -
cmn.w r8, r9 | eb18 0f09 | r8=7fffffff r9=1 NZCVQ | NVQ
cmn.w r8, r9 | eb18 0f09 | r8=ffffffff r9=1 - | ZC
cmn.w r8, r9 | eb18 0f09 | r8=80000000 r9=80000000 ZV | ZCV
cmn.w r8, r9 | eb18 0f09 | r8=5 r9=5 NZCVQ | Q
cmn.w r8, r9 | eb18 0f09 | r8=0 r9=1 - | -
cmn.w r8, r9 | eb18 0f09 | r8=12345678 r9=9abcdef0 ZV | N
movs.w r10, r9 | ea5f 0a09 | r9=0 NCV | r10=0 ZCV

# 32-bit forms with a shifted register, flags kept
and.w r0, r1, r2, lsl #4 | ea01 1002 | r1=80000001 r2=f0000000 NC | r0=0
bic.w r0, r1, r2, lsr #32 | ea21 0012 | r1=aaaaaaaa r2=55555555 ZV | r0=aaaaaaaa
orr.w r0, r1, r2, asr #7 | ea41 10e2 | r1=ff00ff00 r2=ff00ff0 NC | r0=ff1fff1f
orn.w r0, r1, r2, ror #31 | ea61 70f2 | r1=80000001 r2=f0000000 ZV | r0=9fffffff
eor.w r0, r1, r2, asr #32 | ea81 0022 | r1=aaaaaaaa r2=55555555 NC | r0=aaaaaaaa
add.w r0, r1, r2, lsl #31 | eb01 70c2 | r1=7fffffff r2=1 ZV | r0=ffffffff
adc.w r0, r1, r2, lsl #4 | eb41 1002 | r1=ffffffff r2=1 NC | r0=10
sub.w r0, r1, r2, lsr #32 | eba1 0012 | r1=80000000 r2=80000000 ZV | r0=80000000
sbc.w r0, r1, r2, asr #7 | eb61 10e2 | r1=7fffffff r2=1 NC | r0=7fffffff
rsb.w r0, r1, r2, ror #31 | ebc1 70f2 | r1=ffffffff r2=1 ZV | r0=3
add.w r0, r1, r2, rrx | eb01 0032 | r1=10 r2=80000003 C | r0=c0000011
mvn.w r0, r2, lsl #3 | ea6f 00c2 | r2=80000003 NZ | r0=ffffffe7

# 32-bit forms with a shifted register, flags set: carry of the shifter for logic, of the sum for the rest
ands.w r0, r1, r2, lsl #1 | ea11 0042 | r1=f0f0f0f r2=7ffffffe C | r0=f0f0f0c -
ands.w r0, r1, r2, lsl #31 | ea11 70c2 | r1=1 r2=c0000000 ZCV | r0=0 ZV
ands.w r0, r1, r2, lsr #1 | ea11 0052 | r1=80000000 r2=80000001 NVQ | r0=0 ZCVQ
ands.w r0, r1, r2, lsr #32 | ea11 0012 | r1=ffffffff r2=1 - | r0=0 Z
ands.w r0, r1, r2, asr #1 | ea11 0062 | r1=7fffffff r2=ffffffff C | r0=7fffffff C
bics.w r0, r1, r2, asr #32 | ea31 0022 | r1=f0f0f0f r2=7ffffffe ZCV | r0=f0f0f0f V
bics.w r0, r1, r2, ror #1 | ea31 0072 | r1=1 r2=c0000000 NVQ | r0=1 VQ
bics.w r0, r1, r2, ror #31 | ea31 70f2 | r1=80000000 r2=80000001 - | r0=80000000 N
bics.w r0, r1, r2, rrx | ea31 0032 | r1=ffffffff r2=1 C | r0=7fffffff C
bics.w r0, r1, r2, lsl #1 | ea31 0042 | r1=7fffffff r2=ffffffff ZCV | r0=1 CV
orrs.w r0, r1, r2, lsl #31 | ea51 70c2 | r1=f0f0f0f r2=7ffffffe NVQ | r0=f0f0f0f CVQ
orrs.w r0, r1, r2, lsr #1 | ea51 0052 | r1=1 r2=c0000000 - | r0=60000001 -
orrs.w r0, r1, r2, lsr #32 | ea51 0012 | r1=80000000 r2=80000001 C | r0=80000000 NC
orrs.w r0, r1, r2, asr #1 | ea51 0062 | r1=ffffffff r2=1 ZCV | r0=ffffffff NCV
orrs.w r0, r1, r2, asr #32 | ea51 0022 | r1=7fffffff r2=ffffffff NVQ | r0=ffffffff NCVQ
orns.w r0, r1, r2, ror #1 | ea71 0072 | r1=f0f0f0f r2=7ffffffe - | r0=cf0f0f0f N
orns.w r0, r1, r2, ror #31 | ea71 70f2 | r1=1 r2=c0000000 C | r0=7fffffff C
orns.w r0, r1, r2, rrx | ea71 0032 | r1=80000000 r2=80000001 ZCV | r0=bfffffff NCV
orns.w r0, r1, r2, lsl #1 | ea71 0042 | r1=ffffffff r2=1 NVQ | r0=ffffffff NVQ
orns.w r0, r1, r2, lsl #31 | ea71 70c2 | r1=7fffffff r2=ffffffff - | r0=7fffffff C
eors.w r0, r1, r2, lsr #1 | ea91 0052 | r1=f0f0f0f r2=7ffffffe C | r0=30f0f0f0 -
eors.w r0, r1, r2, lsr #32 | ea91 0012 | r1=1 r2=c0000000 ZCV | r0=1 CV
eors.w r0, r1, r2, asr #1 | ea91 0062 | r1=80000000 r2=80000001 NVQ | r0=40000000 CVQ
eors.w r0, r1, r2, asr #32 | ea91 0022 | r1=ffffffff r2=1 - | r0=ffffffff N
eors.w r0, r1, r2, ror #1 | ea91 0072 | r1=7fffffff r2=ffffffff C | r0=80000000 NC
adds.w r0, r1, r2, ror #31 | eb11 70f2 | r1=f0f0f0f r2=7ffffffe ZCV | r0=f0f0f0b C
adds.w r0, r1, r2, rrx | eb11 0032 | r1=1 r2=c0000000 NVQ | r0=60000001 Q
adds.w r0, r1, r2, lsl #1 | eb11 0042 | r1=80000000 r2=80000001 - | r0=80000002 N
adds.w r0, r1, r2, lsl #31 | eb11 70c2 | r1=ffffffff r2=1 C | r0=7fffffff CV
adds.w r0, r1, r2, lsr #1 | eb11 0052 | r1=7fffffff r2=ffffffff ZCV | r0=fffffffe NV
adcs.w r0, r1, r2, lsr #32 | eb51 0012 | r1=f0f0f0f r2=7ffffffe NVQ | r0=f0f0f0f Q
adcs.w r0, r1, r2, asr #1 | eb51 0062 | r1=1 r2=c0000000 - | r0=e0000001 N
adcs.w r0, r1, r2, asr #32 | eb51 0022 | r1=80000000 r2=80000001 C | r0=80000000 NC
adcs.w r0, r1, r2, ror #1 | eb51 0072 | r1=ffffffff r2=1 ZCV | r0=80000000 NC
adcs.w r0, r1, r2, ror #31 | eb51 70f2 | r1=7fffffff r2=ffffffff NVQ | r0=7ffffffe CQ
subs.w r0, r1, r2, rrx | ebb1 0032 | r1=f0f0f0f r2=7ffffffe - | r0=cf0f0f10 N
subs.w r0, r1, r2, lsl #1 | ebb1 0042 | r1=1 r2=c0000000 C | r0=80000001 NV
subs.w r0, r1, r2, lsl #31 | ebb1 70c2 | r1=80000000 r2=80000001 ZCV | r0=0 ZC
subs.w r0, r1, r2, lsr #1 | ebb1 0052 | r1=ffffffff r2=1 NVQ | r0=ffffffff NCQ
subs.w r0, r1, r2, lsr #32 | ebb1 0012 | r1=7fffffff r2=ffffffff - | r0=7fffffff C
sbcs.w r0, r1, r2, asr #1 | eb71 0062 | r1=f0f0f0f r2=7ffffffe C | r0=cf0f0f10 N
sbcs.w r0, r1, r2, asr #32 | eb71 0022 | r1=1 r2=c0000000 ZCV | r0=2 -
sbcs.w r0, r1, r2, ror #1 | eb71 0072 | r1=80000000 r2=80000001 NVQ | r0=bfffffff NQ
sbcs.w r0, r1, r2, ror #31 | eb71 70f2 | r1=ffffffff r2=1 - | r0=fffffffc NC
sbcs.w r0, r1, r2, rrx | eb71 0032 | r1=7fffffff r2=ffffffff C | r0=80000000 NV
rsbs.w r0, r1, r2, lsl #1 | ebd1 0042 | r1=f0f0f0f r2=7ffffffe ZCV | r0=f0f0f0ed NC
rsbs.w r0, r1, r2, lsl #31 | ebd1 70c2 | r1=1 r2=c0000000 NVQ | r0=ffffffff NQ
rsbs.w r0, r1, r2, lsr #1 | ebd1 0052 | r1=80000000 r2=80000001 - | r0=c0000000 NV
rsbs.w r0, r1, r2, lsr #32 | ebd1 0012 | r1=ffffffff r2=1 C | r0=1 -
rsbs.w r0, r1, r2, asr #1 | ebd1 0062 | r1=7fffffff r2=ffffffff ZCV | r0=80000000 NC
mvns.w r0, r2, asr #32 | ea7f 0022 | r2=7ffffffe NVQ | r0=ffffffff NVQ
mvns.w r0, r2, ror #1 | ea7f 0072 | r2=c0000000 - | r0=9fffffff N
mvns.w r0, r2, ror #31 | ea7f 70f2 | r2=80000001 C | r0=fffffffc N
mvns.w r0, r2, rrx | ea7f 0032 | r2=1 ZCV | r0=7fffffff CV
mvns.w r0, r2, lsl #1 | ea7f 0042 | r2=ffffffff NVQ | r0=1 CVQ
tst.w r1, r2, lsl #31 | ea11 7fc2 | r1=f0f0f0f r2=7ffffffe - | ZC
tst.w r1, r2, lsr #1 | ea11 0f52 | r1=1 r2=c0000000 C | Z
tst.w r1, r2, lsr #32 | ea11 0f12 | r1=80000000 r2=80000001 ZCV | ZCV
tst.w r1, r2, asr #1 | ea11 0f62 | r1=ffffffff r2=1 NVQ | ZCVQ
tst.w r1, r2, asr #32 | ea11 0f22 | r1=7fffffff r2=ffffffff - | C
teq.w r1, r2, ror #1 | ea91 0f72 | r1=f0f0f0f r2=7ffffffe C | -
teq.w r1, r2, ror #31 | ea91 7ff2 | r1=1 r2=c0000000 ZCV | NCV
teq.w r1, r2, rrx | ea91 0f32 | r1=80000000 r2=80000001 NVQ | NCVQ
teq.w r1, r2, lsl #1 | ea91 0f42 | r1=ffffffff r2=1 - | N
teq.w r1, r2, lsl #31 | ea91 7fc2 | r1=7fffffff r2=ffffffff C | NC
cmp.w r1, r2, lsr #1 | ebb1 0f52 | r1=f0f0f0f r2=7ffffffe ZCV | N
cmp.w r1, r2, lsr #32 | ebb1 0f12 | r1=1 r2=c0000000 NVQ | CQ
cmp.w r1, r2, asr #1 | ebb1 0f62 | r1=80000000 r2=80000001 - | N
cmp.w r1, r2, asr #32 | ebb1 0f22 | r1=ffffffff r2=1 C | NC
cmp.w r1, r2, ror #1 | ebb1 0f72 | r1=7fffffff r2=ffffffff ZCV | NV
cmn.w r1, r2, ror #31 | eb11 7ff2 | r1=f0f0f0f r2=7ffffffe NVQ | CQ
cmn.w r1, r2, rrx | eb11 0f32 | r1=1 r2=c0000000 - | -
cmn.w r1, r2, lsl #1 | eb11 0f42 | r1=80000000 r2=80000001 C | N
cmn.w r1, r2, lsl #31 | eb11 7fc2 | r1=ffffffff r2=1 ZCV | CV
cmn.w r1, r2, lsr #1 | eb11 0f52 | r1=7fffffff r2=ffffffff NVQ | NVQ

# 16-bit forms
ands r3, r4 | 4023 | r3=ff00ff00 r4=ff00ff0 C | r3=f000f00 C
ands r3, r4 | 4023 | r3=80000001 r4=f0000000 - | r3=80000000 N
ands r3, r4 | 4023 | r3=aaaaaaaa r4=55555555 NZV | r3=0 ZV
eors r3, r4 | 4063 | r3=ff00ff00 r4=ff00ff0 C | r3=f0f0f0f0 NC
eors r3, r4 | 4063 | r3=80000001 r4=f0000000 - | r3=70000001 -
eors r3, r4 | 4063 | r3=aaaaaaaa r4=55555555 NZV | r3=ffffffff NV
adcs r3, r4 | 4163 | r3=7fffffff r4=1 C | r3=80000001 NV
adcs r3, r4 | 4163 | r3=ffffffff r4=1 - | r3=0 ZC
adcs r3, r4 | 4163 | r3=80000000 r4=80000000 NZV | r3=0 ZCV
sbcs r3, r4 | 41a3 | r3=7fffffff r4=1 C | r3=7ffffffe C
sbcs r3, r4 | 41a3 | r3=ffffffff r4=1 - | r3=fffffffd NC
sbcs r3, r4 | 41a3 | r3=80000000 r4=80000000 NZV | r3=ffffffff N
tst r3, r4 | 4223 | r3=ff00ff00 r4=ff00ff0 C | C
tst r3, r4 | 4223 | r3=80000001 r4=f0000000 - | N
tst r3, r4 | 4223 | r3=aaaaaaaa r4=55555555 NZV | ZV
cmp r3, r4 | 42a3 | r3=7fffffff r4=1 C | C
cmp r3, r4 | 42a3 | r3=ffffffff r4=1 - | NC
cmp r3, r4 | 42a3 | r3=80000000 r4=80000000 NZV | ZC
cmn r3, r4 | 42e3 | r3=7fffffff r4=1 C | NV
cmn r3, r4 | 42e3 | r3=ffffffff r4=1 - | ZC
cmn r3, r4 | 42e3 | r3=80000000 r4=80000000 NZV | ZCV
orrs r3, r4 | 4323 | r3=ff00ff00 r4=ff00ff0 C | r3=fff0fff0 NC
orrs r3, r4 | 4323 | r3=80000001 r4=f0000000 - | r3=f0000001 N
orrs r3, r4 | 4323 | r3=aaaaaaaa r4=55555555 NZV | r3=ffffffff NV
bics r3, r4 | 43a3 | r3=ff00ff00 r4=ff00ff0 C | r3=f000f000 NC
bics r3, r4 | 43a3 | r3=80000001 r4=f0000000 - | r3=1 -
bics r3, r4 | 43a3 | r3=aaaaaaaa r4=55555555 NZV | r3=aaaaaaaa NV
mvns r3, r4 | 43e3 | r4=ff00ff0 C | r3=f00ff00f NC
mvns r3, r4 | 43e3 | r4=f0000000 - | r3=fffffff -
mvns r3, r4 | 43e3 | r4=55555555 NZV | r3=aaaaaaaa NV
adds r0, r1, r2 | 1888 | r1=7fffffff r2=1 C | r0=80000000 NV
subs r0, r1, r2 | 1a88 | r1=7fffffff r2=1 - | r0=7ffffffe C
adds r0, r1, r2 | 1888 | r1=ffffffff r2=1 C | r0=0 ZC
subs r0, r1, r2 | 1a88 | r1=ffffffff r2=1 - | r0=fffffffe NC
adds r0, r1, r2 | 1888 | r1=80000000 r2=80000000 C | r0=0 ZCV
subs r0, r1, r2 | 1a88 | r1=80000000 r2=80000000 - | r0=0 ZC
adds r0, r1, r2 | 1888 | r1=5 r2=5 C | r0=a -
subs r0, r1, r2 | 1a88 | r1=5 r2=5 - | r0=0 ZC
adds r0, r1, r2 | 1888 | r1=0 r2=1 C | r0=1 -
subs r0, r1, r2 | 1a88 | r1=0 r2=1 - | r0=ffffffff N
adds r0, r1, r2 | 1888 | r1=12345678 r2=9abcdef0 C | r0=acf13568 N
subs r0, r1, r2 | 1a88 | r1=12345678 r2=9abcdef0 - | r0=77777788 -
rsbs r5, r6, #0 | 4275 | r6=0 N | r5=0 ZC
rsbs r5, r6, #0 | 4275 | r6=1 C | r5=ffffffff N
rsbs r5, r6, #0 | 4275 | r6=80000000 - | r5=80000000 NV
movs r0, r1 | 0008 | r1=80000000 CV | r0=80000000 NCV
movs r0, r1 | 0008 | r1=0 NV | r0=0 ZV

# 16-bit forms with high registers
add r8, r9 | 44c8 | r8=ffffffff r9=2 NZ | r8=1
add r0, r12 | 4460 | r0=7fffffff r12=1 C | r0=80000000
add r0, sp | 4468 | r0=4 sp=20000100 | r0=20000104
add sp, r0 | 4485 | r0=8 sp=20000100 | sp=20000108
mov r10, r11 | 46da | r11=80000000 ZC | r10=80000000
mov r0, sp | 4668 | sp=20000300 V | r0=20000300
mov sp, r0 | 4685 | r0=20000300 V | sp=20000300
mov r0, pc | 4678 | | r0=8000204
mov r0, pc | 4678 | pc=8000202 | r0=8000206
add r3, pc | 447b | pc=8000202 r3=10 | r3=8000216
cmp r8, r1 | 4588 | r1=2 r8=1 ZV | N
cmp r9, r10 | 45d1 | r9=80000000 r10=1 - | CV
cmp r9, r9 | 45c9 | r9=80000000 V | ZC
cmp r0, sp | 4568 | r0=20000300 sp=20000300 N | ZC
";
