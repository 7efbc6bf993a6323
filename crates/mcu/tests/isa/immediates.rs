//! Arithmetic and logic with immediates.

pub const TABLE: &str = "\
# 16-bit forms
movs r7, #0 | 2700 | NCV | r7=0 ZCV
movs r7, #255 | 27ff | ZV | r7=ff V
movs r7, #1 | 2701 | NZC | r7=1 C
cmp r7, #255 | 2fff | r7=ff C | ZC
cmp r7, #1 | 2f01 | r7=0 C | N
cmp r7, #1 | 2f01 | r7=80000000 C | CV
cmp r7, #255 | 2fff | r7=100 C | C
adds r7, r7, #1 | 3701 | r7=ffffffff C | r7=0 ZC
subs r7, #1 | 3f01 | r7=ffffffff - | r7=fffffffe NC
adds r7, #255 | 37ff | r7=7fffffff C | r7=800000fe NV
subs r7, #255 | 3fff | r7=7fffffff - | r7=7fffff00 C
adds r7, r7, #0 | 3700 | r7=1 C | r7=1 -
subs r7, #200 | 3fc8 | r7=1 - | r7=ffffff39 N
adds r1, r2, #7 | 1dd1 | r2=fffffff9 NZV | r1=0 ZC
subs r1, r2, #7 | 1fd1 | r2=fffffff9 NZV | r1=fffffff2 NC
adds r1, r2, #3 | 1cd1 | r2=7fffffff NZV | r1=80000002 NV
subs r1, r2, #3 | 1ed1 | r2=7fffffff NZV | r1=7ffffffc C
adds r1, r2, #0 | 1c11 | r2=0 NZV | r1=0 Z
subs r1, r2, #0 | 1e11 | r2=0 NZV | r1=0 ZC
adds r1, r2, #5 | 1d51 | r2=5 NZV | r1=a -
subs r1, r2, #5 | 1f51 | r2=5 NZV | r1=0 ZC
add r4, sp, #1020 | acff | sp=20000100 NZCV | r4=200004fc
add sp, #508 | b07f | sp=20000100 NZCV | sp=200002fc
sub sp, #508 | b0ff | sp=20000300 NZCV | sp=20000104

# ADR, and the arithmetic of 12 bits that keeps the flags
add r0, pc, #1020 | a0ff | NC | r0=8000600
add r0, pc, #4 | a001 | pc=8000202 NC | r0=8000208
addw r0, pc, #4095 | f60f 70ff | NC | r0=8001203
addw r9, pc, #1 | f20f 0901 | pc=8000202 NC | r9=8000205
subw r0, pc, #8 | f2af 0008 | NC | r0=80001fc
subw r0, pc, #4095 | f6af 70ff | pc=8000202 | r0=7fff205
addw r0, r1, #4095 | f601 70ff | r1=fffff001 NCV | r0=0
subw r0, r1, #4095 | f6a1 70ff | r1=5 NCV | r0=fffff006
addw r0, sp, #4095 | f60d 70ff | sp=20000000 | r0=20000fff
subw sp, sp, #256 | f2ad 1d00 | sp=20000400 | sp=20000300

# MOVW and MOVT
movw r9, #0x0 | f240 0900 | r9=ffffffff NZCVQ | r9=0
movw r9, #0xffff | f64f 79ff | r9=ffffffff NZCVQ | r9=ffff
movw r9, #0x8001 | f248 0901 | r9=ffffffff NZCVQ | r9=8001
movw r9, #0x800 | f640 0900 | r9=ffffffff NZCVQ | r9=800
movw r9, #0x5a5a | f645 295a | r9=ffffffff NZCVQ | r9=5a5a
movt r9, #0xabcd | f6ca 39cd | r9=12345678 NZCVQ | r9=abcd5678
movt r0, #0 | f2c0 0000 | r0=ffffffff C | r0=ffff

# Modified immediate constants: each kind of expansion, and what it does to carry (A5.3.2)
movs.w r0, #0x0 | f05f 0000 | - | r0=0 Z
movs.w r0, #0x0 | f05f 0000 | C | r0=0 ZC
movs.w r0, #0xff | f05f 00ff | - | r0=ff -
movs.w r0, #0xff | f05f 00ff | C | r0=ff C
movs.w r0, #0xab00ab | f05f 10ab | - | r0=ab00ab -
movs.w r0, #0xab00ab | f05f 10ab | C | r0=ab00ab C
movs.w r0, #0xab00ab00 | f05f 20ab | - | r0=ab00ab00 N
movs.w r0, #0xab00ab00 | f05f 20ab | C | r0=ab00ab00 NC
movs.w r0, #0xabababab | f05f 30ab | - | r0=abababab N
movs.w r0, #0xabababab | f05f 30ab | C | r0=abababab NC
movs.w r0, #0x80000000 | f05f 4000 | - | r0=80000000 NC
movs.w r0, #0x80000000 | f05f 4000 | C | r0=80000000 NC
movs.w r0, #0xff000000 | f05f 407f | - | r0=ff000000 NC
movs.w r0, #0xff000000 | f05f 407f | C | r0=ff000000 NC
movs.w r0, #0x7f800000 | f05f 40ff | - | r0=7f800000 -
movs.w r0, #0x7f800000 | f05f 40ff | C | r0=7f800000 -
movs.w r0, #0x100 | f45f 7080 | - | r0=100 -
movs.w r0, #0x100 | f45f 7080 | C | r0=100 -
movs.w r0, #0x1fe | f45f 70ff | - | r0=1fe -
movs.w r0, #0x1fe | f45f 70ff | C | r0=1fe -
movs.w r0, #0x3fc00 | f45f 307f | - | r0=3fc00 -
movs.w r0, #0x3fc00 | f45f 307f | C | r0=3fc00 -
movs.w r0, #0x88 | f05f 0088 | - | r0=88 -
movs.w r0, #0x88 | f05f 0088 | C | r0=88 C
movs.w r0, #0x550 | f45f 60aa | - | r0=550 -
movs.w r0, #0x550 | f45f 60aa | C | r0=550 -
movs.w r0, #0x1000000 | f05f 7080 | - | r0=1000000 -
movs.w r0, #0x1000000 | f05f 7080 | C | r0=1000000 -
movs.w r0, #0xc0000000 | f05f 4040 | - | r0=c0000000 NC
movs.w r0, #0xc0000000 | f05f 4040 | C | r0=c0000000 NC
ands.w r0, r1, #0xf0000000 | f011 4070 | r1=8fffffff - | r0=80000000 NC
bics.w r0, r1, #0x80000000 | f031 4000 | r1=ffffffff V | r0=7fffffff CV
orrs.w r0, r1, #0xff00ff | f051 10ff | r1=f000f00 C | r0=fff0fff C
orns.w r0, r1, #0xff00ff00 | f071 20ff | r1=0 CV | r0=ff00ff CV
eors.w r0, r1, #0x55555555 | f091 3055 | r1=55555555 N | r0=0 Z
tst.w r1, #0x80000000 | f011 4f00 | r1=7fffffff - | ZC
tst.w r1, #0x400 | f411 6f80 | r1=400 C | -
tst.w r1, #0x11111111 | f011 3f11 | r1=eeeeeeee C | ZC
teq.w r1, #0xc0000000 | f091 4f40 | r1=c0000001 - | C
teq.w r1, #0x3f0 | f491 7f7c | r1=3f0 CV | ZV
mvns.w r0, #0xff000000 | f07f 407f | - | r0=ffffff C
mvns.w r0, #0xff | f07f 00ff | C | r0=ffffff00 NC
mvns.w r0, #0x3fc | f47f 707f | C | r0=fffffc03 N
ands.w r0, r1, #0x3fc | f411 707f | r1=ffffffff C | r0=3fc -

# Arithmetic with modified immediates
adds.w r9, r8, #0x1 | f118 0901 | r8=7fffffff CV | r9=80000000 NV
adds.w r9, r8, #0x80000000 | f118 4900 | r8=80000000 CV | r9=0 ZCV
adds.w r9, r8, #0xff00ff | f118 19ff | r8=ff00ff00 CV | r9=ffffffff N
adds.w r9, r8, #0x12121212 | f118 3912 | r8=12 CV | r9=12121224 -
adds.w r9, r8, #0x0 | f118 0900 | r8=0 CV | r9=0 Z
adcs.w r9, r8, #0x1 | f158 0901 | r8=7fffffff - | r9=80000000 NV
adcs.w r9, r8, #0x1 | f158 0901 | r8=7fffffff C | r9=80000001 NV
adcs.w r9, r8, #0x80000000 | f158 4900 | r8=80000000 - | r9=0 ZCV
adcs.w r9, r8, #0x80000000 | f158 4900 | r8=80000000 C | r9=1 CV
adcs.w r9, r8, #0xff00ff | f158 19ff | r8=ff00ff00 - | r9=ffffffff N
adcs.w r9, r8, #0xff00ff | f158 19ff | r8=ff00ff00 C | r9=0 ZC
adcs.w r9, r8, #0x12121212 | f158 3912 | r8=12 - | r9=12121224 -
adcs.w r9, r8, #0x12121212 | f158 3912 | r8=12 C | r9=12121225 -
adcs.w r9, r8, #0x0 | f158 0900 | r8=0 - | r9=0 Z
adcs.w r9, r8, #0x0 | f158 0900 | r8=0 C | r9=1 -
subs.w r9, r8, #0x1 | f1b8 0901 | r8=7fffffff CV | r9=7ffffffe C
subs.w r9, r8, #0x80000000 | f1b8 4900 | r8=80000000 CV | r9=0 ZC
subs.w r9, r8, #0xff00ff | f1b8 19ff | r8=ff00ff00 CV | r9=fe01fe01 NC
subs.w r9, r8, #0x12121212 | f1b8 3912 | r8=12 CV | r9=ededee00 N
subs.w r9, r8, #0x0 | f1b8 0900 | r8=0 CV | r9=0 ZC
sbcs.w r9, r8, #0x1 | f178 0901 | r8=7fffffff - | r9=7ffffffd C
sbcs.w r9, r8, #0x1 | f178 0901 | r8=7fffffff C | r9=7ffffffe C
sbcs.w r9, r8, #0x80000000 | f178 4900 | r8=80000000 - | r9=ffffffff N
sbcs.w r9, r8, #0x80000000 | f178 4900 | r8=80000000 C | r9=0 ZC
sbcs.w r9, r8, #0xff00ff | f178 19ff | r8=ff00ff00 - | r9=fe01fe00 NC
sbcs.w r9, r8, #0xff00ff | f178 19ff | r8=ff00ff00 C | r9=fe01fe01 NC
sbcs.w r9, r8, #0x12121212 | f178 3912 | r8=12 - | r9=edededff N
sbcs.w r9, r8, #0x12121212 | f178 3912 | r8=12 C | r9=ededee00 N
sbcs.w r9, r8, #0x0 | f178 0900 | r8=0 - | r9=ffffffff N
sbcs.w r9, r8, #0x0 | f178 0900 | r8=0 C | r9=0 ZC
rsbs.w r9, r8, #0x1 | f1d8 0901 | r8=7fffffff CV | r9=80000002 N
rsbs.w r9, r8, #0x80000000 | f1d8 4900 | r8=80000000 CV | r9=0 ZC
rsbs.w r9, r8, #0xff00ff | f1d8 19ff | r8=ff00ff00 CV | r9=1fe01ff -
rsbs.w r9, r8, #0x12121212 | f1d8 3912 | r8=12 CV | r9=12121200 C
rsbs.w r9, r8, #0x0 | f1d8 0900 | r8=0 CV | r9=0 ZC
cmp.w r8, #0x1 | f1b8 0f01 | r8=7fffffff CV | C
cmp.w r8, #0x80000000 | f1b8 4f00 | r8=80000000 CV | ZC
cmp.w r8, #0xff00ff | f1b8 1fff | r8=ff00ff00 CV | NC
cmp.w r8, #0x12121212 | f1b8 3f12 | r8=12 CV | N
cmp.w r8, #0x0 | f1b8 0f00 | r8=0 CV | ZC
cmn.w r8, #0x1 | f118 0f01 | r8=7fffffff CV | NV
cmn.w r8, #0x80000000 | f118 4f00 | r8=80000000 CV | ZCV
cmn.w r8, #0xff00ff | f118 1fff | r8=ff00ff00 CV | N
cmn.w r8, #0x12121212 | f118 3f12 | r8=12 CV | -
cmn.w r8, #0x0 | f118 0f00 | r8=0 CV | Z

# Flags kept
and.w r0, r1, #0xf0000000 | f001 4070 | r1=8fffffff NZV | r0=80000000
bic.w r0, r1, #0x80000000 | f021 4000 | r1=ffffffff CQ | r0=7fffffff
orr.w r0, r1, #0xff00ff | f041 10ff | r1=f000f00 NZV | r0=fff0fff
orn.w r0, r1, #0xff00ff00 | f061 20ff | r1=0 CQ | r0=ff00ff
eor.w r0, r1, #0x55555555 | f081 3055 | r1=55555555 NZV | r0=0
add.w r0, r1, #0xff000000 | f101 407f | r1=1000000 CQ | r0=0
adc.w r0, r1, #0x80000000 | f141 4000 | r1=7fffffff NZV | r0=ffffffff
sub.w r0, r1, #0x400 | f5a1 6080 | r1=0 CQ | r0=fffffc00
sbc.w r0, r1, #0x12121212 | f161 3012 | r1=1 NZV | r0=edededee
rsb.w r0, r1, #0x0 | f1c1 0000 | r1=1 CQ | r0=ffffffff
rsb.w r0, r1, #0xff | f1c1 00ff | r1=100 NZV | r0=ffffffff
mov.w r0, #0xff000000 | f04f 407f | CQ | r0=ff000000
mvn.w r0, #0xab00ab00 | f06f 20ab | NZV | r0=54ff54ff
";
