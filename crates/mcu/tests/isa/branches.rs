//! Branches, IT blocks, special registers and hints.

pub const TABLE: &str = "\
# B, in its four encodings
b.n .+4 | e000 | | pc=8000204
b.n .+100 | e030 | | pc=8000264
b.n .-252 | e780 | | pc=8000104
b.n .+2046 | e3fd | | pc=80009fe
b.n .-2044 | e400 | | pc=7fffa04
beq.n .+2 | d0ff | Z | pc=8000202
beq.n .+258 | d07f | Z | pc=8000302
beq.n .-252 | d080 | Z | pc=8000104
bne.w .+4 | f040 8000 | C | pc=8000204
bne.w .+1048578 | f07f afff | C | pc=8100202
bne.w .-1048572 | f440 8000 | C | pc=7f00204
bne.w .+524288 | f07f a7fe | C | pc=8080200
bne.w .-8192 | f47d affe | C | pc=7ffe200
bne.w .+4660 | f041 8118 | C | pc=8001434
b.w .+4 | f000 b800 | | pc=8000204
b.w .+16777218 | f3ff 97ff | | pc=9000202
b.w .-16777212 | f400 9000 | | pc=7000204
b.w .+8388608 | f3ff b7fe | | pc=8800200
b.w .+4194304 | f3ff bffe | | pc=8400200
b.w .-4194304 | f7ff b7fe | | pc=7c00200
b.w .-1193046 | f6dc bdd3 | | pc=7edcdaa

# Every condition, of both lengths, where it holds and where not
beq.n .+16 | d006 | Z | pc=8000210
beq.n .+16 | d006 | NCV |
beq.w .+32 | f000 800e | Z | pc=8000220
beq.w .+32 | f000 800e | NCV |
bne.n .+16 | d106 | NCV | pc=8000210
bne.n .+16 | d106 | Z |
bne.w .+32 | f040 800e | NCV | pc=8000220
bne.w .+32 | f040 800e | Z |
bcs.n .+16 | d206 | C | pc=8000210
bcs.n .+16 | d206 | NZV |
bcs.w .+32 | f080 800e | C | pc=8000220
bcs.w .+32 | f080 800e | NZV |
bcc.n .+16 | d306 | NZV | pc=8000210
bcc.n .+16 | d306 | C |
bcc.w .+32 | f0c0 800e | NZV | pc=8000220
bcc.w .+32 | f0c0 800e | C |
bmi.n .+16 | d406 | N | pc=8000210
bmi.n .+16 | d406 | ZCV |
bmi.w .+32 | f100 800e | N | pc=8000220
bmi.w .+32 | f100 800e | ZCV |
bpl.n .+16 | d506 | ZCV | pc=8000210
bpl.n .+16 | d506 | N |
bpl.w .+32 | f140 800e | ZCV | pc=8000220
bpl.w .+32 | f140 800e | N |
bvs.n .+16 | d606 | V | pc=8000210
bvs.n .+16 | d606 | NZC |
bvs.w .+32 | f180 800e | V | pc=8000220
bvs.w .+32 | f180 800e | NZC |
bvc.n .+16 | d706 | NZC | pc=8000210
bvc.n .+16 | d706 | V |
bvc.w .+32 | f1c0 800e | NZC | pc=8000220
bvc.w .+32 | f1c0 800e | V |
bhi.n .+16 | d806 | C | pc=8000210
bhi.n .+16 | d806 | ZC |
bhi.w .+32 | f200 800e | C | pc=8000220
bhi.w .+32 | f200 800e | ZC |
bls.n .+16 | d906 | ZC | pc=8000210
bls.n .+16 | d906 | C |
bls.w .+32 | f240 800e | ZC | pc=8000220
bls.w .+32 | f240 800e | C |
bge.n .+16 | da06 | NV | pc=8000210
bge.n .+16 | da06 | N |
bge.w .+32 | f280 800e | NV | pc=8000220
bge.w .+32 | f280 800e | N |
blt.n .+16 | db06 | V | pc=8000210
blt.n .+16 | db06 | NV |
blt.w .+32 | f2c0 800e | V | pc=8000220
blt.w .+32 | f2c0 800e | NV |
bgt.n .+16 | dc06 | NCV | pc=8000210
bgt.n .+16 | dc06 | NZV |
bgt.w .+32 | f300 800e | NCV | pc=8000220
bgt.w .+32 | f300 800e | NZV |
ble.n .+16 | dd06 | NZV | pc=8000210
ble.n .+16 | dd06 | NV |
ble.w .+32 | f340 800e | NZV | pc=8000220
ble.w .+32 | f340 800e | NV |
bhi.n .+16 | d806 | - |
bls.n .+16 | d906 | - | pc=8000210
blt.n .+16 | db06 | N | pc=8000210
ble.n .+16 | dd06 | N | pc=8000210
bgt.n .+16 | dc06 | - | pc=8000210
bge.n .+16 | da06 | - | pc=8000210
bgt.n .+16 | dc06 | V |

# With a link
bl .+4 | f000 f800 | | lr=8000205 pc=8000204
bl .+16777218 | f3ff d7ff | | lr=8000205 pc=9000202
bl .-16777212 | f400 d000 | | lr=8000205 pc=7000204
bl .+4096 | f000 fffe | | lr=8000205 pc=8001200
bl .-4096 | f7fe fffe | | lr=8000205 pc=7fff200
bl .+100 | f000 f830 | pc=8000202 | lr=8000207 pc=8000266
blx r3 | 4798 | r3=8000401 | lr=8000203 pc=8000400
blx lr | 47f0 | lr=8000401 | lr=8000203 pc=8000400

# To a register
bx r3 | 4718 | r3=8000401 NZ | pc=8000400
bx lr | 4770 | lr=20000001 | pc=20000000
mov pc, r3 | 469f | r3=8000400 | pc=8000400
mov pc, r3 | 469f | r3=8000401 | pc=8000400
add pc, r3 | 449f | r3=20 | pc=8000224
add pc, r3 | 449f | r3=21 | pc=8000224
add pc, r3 | 449f | pc=8000202 r3=fffffff0 | pc=80001f6

# CBZ and CBNZ
cbz r5, .+4 | b105 | r5=0 | pc=8000204
cbnz r5, .+4 | b905 | r5=80000000 Z | pc=8000204
cbz r5, .+66 | b1fd | r5=0 | pc=8000242
cbnz r5, .+66 | b9fd | r5=80000000 Z | pc=8000242
cbz r5, .+64 | b1f5 | r5=0 | pc=8000240
cbnz r5, .+64 | b9f5 | r5=80000000 Z | pc=8000240
cbz r5, .+130 | b3fd | r5=0 | pc=8000282
cbnz r5, .+130 | bbfd | r5=80000000 Z | pc=8000282
cbz r5, .+64 | b1f5 | r5=1 Z |
cbnz r5, .+64 | b9f5 | r5=0 |

# By a table
tbb [r0, r1] | e8d0 f001 | r0=20000400 r1=3 [20000400]=80010203 | pc=8000304
tbb [r0, r1] | e8d0 f001 | r0=20000400 r1=0 [20000400]=800102ff | pc=8000402
tbb [pc, r1] | e8df f001 | r1=1 [8000204]=0702 | pc=8000212
tbb [pc, r1] | e8df f001 | pc=8000202 r1=1 [8000206]=0702 | pc=8000214
tbh [r0, r1, lsl #1] | e8d0 f011 | r0=20000400 r1=1 [20000400]=1234ffff | pc=800266c
tbh [pc, r1, lsl #1] | e8df f011 | r1=1 [8000204]=ffff0002 | pc=8020202

# By loading the program counter
ldr pc, [r0] | f8d0 f000 | r0=20000400 [20000400]=08000401 | pc=8000400
ldr pc, [r0], #4 | f850 fb04 | r0=20000400 [20000400]=08000401 | r0=20000404 pc=8000400
ldr.w pc, [r0, r1, lsl #2] | f850 f021 | r0=20000400 r1=2 [20000408]=08000401 | pc=8000400
ldr.w pc, [pc, #4] | f8df f004 | [8000208]=08000401 | pc=8000400
pop {r4, pc} | bd10 | sp=20000400 [20000400]=00000001 [20000404]=08000401 | r4=1 sp=20000408 pc=8000400
pop.w {r8, pc} | e8bd 8100 | sp=20000400 [20000400]=00000001 [20000404]=08000401 | r8=1 sp=20000408 pc=8000400
pop.w {pc} | f85d fb04 | sp=20000400 [20000400]=08000401 | sp=20000404 pc=8000400
ldmdb r0!, {r1, pc} | e930 8002 | r0=20000408 [20000400]=00000001 [20000404]=08000401 | r0=20000400 r1=1 pc=8000400
ldm.w r0, {r1, pc} | e890 8002 | r0=20000400 [20000400]=00000001 [20000404]=08000401 | r1=1 pc=8000400

# IT: every pattern of then and else
it eq; moveq r0, #1 | bf08 2001 | Z | r0=1
it eq; moveq r0, #1 | bf08 2001 | - |
itt eq; moveq r0, #1; moveq r1, #2 | bf04 2001 2102 | Z | r0=1 r1=2
itt eq; moveq r0, #1; moveq r1, #2 | bf04 2001 2102 | - |
ite eq; moveq r0, #1; movne r1, #2 | bf0c 2001 2102 | Z | r0=1
ite eq; moveq r0, #1; movne r1, #2 | bf0c 2001 2102 | - | r1=2
ittt eq; moveq r0, #1; moveq r1, #2; moveq r2, #3 | bf02 2001 2102 2203 | Z | r0=1 r1=2 r2=3
ittt eq; moveq r0, #1; moveq r1, #2; moveq r2, #3 | bf02 2001 2102 2203 | - |
itte eq; moveq r0, #1; moveq r1, #2; movne r2, #3 | bf06 2001 2102 2203 | Z | r0=1 r1=2
itte eq; moveq r0, #1; moveq r1, #2; movne r2, #3 | bf06 2001 2102 2203 | - | r2=3
itet eq; moveq r0, #1; movne r1, #2; moveq r2, #3 | bf0a 2001 2102 2203 | Z | r0=1 r2=3
itet eq; moveq r0, #1; movne r1, #2; moveq r2, #3 | bf0a 2001 2102 2203 | - | r1=2
itee eq; moveq r0, #1; movne r1, #2; movne r2, #3 | bf0e 2001 2102 2203 | Z | r0=1
itee eq; moveq r0, #1; movne r1, #2; movne r2, #3 | bf0e 2001 2102 2203 | - | r1=2 r2=3
itttt eq; moveq r0, #1; moveq r1, #2; moveq r2, #3; moveq r3, #4 | bf01 2001 2102 2203 2304 | Z | r0=1 r1=2 r2=3 r3=4
itttt eq; moveq r0, #1; moveq r1, #2; moveq r2, #3; moveq r3, #4 | bf01 2001 2102 2203 2304 | - |
ittte eq; moveq r0, #1; moveq r1, #2; moveq r2, #3; movne r3, #4 | bf03 2001 2102 2203 2304 | Z | r0=1 r1=2 r2=3
ittte eq; moveq r0, #1; moveq r1, #2; moveq r2, #3; movne r3, #4 | bf03 2001 2102 2203 2304 | - | r3=4
ittet eq; moveq r0, #1; moveq r1, #2; movne r2, #3; moveq r3, #4 | bf05 2001 2102 2203 2304 | Z | r0=1 r1=2 r3=4
ittet eq; moveq r0, #1; moveq r1, #2; movne r2, #3; moveq r3, #4 | bf05 2001 2102 2203 2304 | - | r2=3
ittee eq; moveq r0, #1; moveq r1, #2; movne r2, #3; movne r3, #4 | bf07 2001 2102 2203 2304 | Z | r0=1 r1=2
ittee eq; moveq r0, #1; moveq r1, #2; movne r2, #3; movne r3, #4 | bf07 2001 2102 2203 2304 | - | r2=3 r3=4
itett eq; moveq r0, #1; movne r1, #2; moveq r2, #3; moveq r3, #4 | bf09 2001 2102 2203 2304 | Z | r0=1 r2=3 r3=4
itett eq; moveq r0, #1; movne r1, #2; moveq r2, #3; moveq r3, #4 | bf09 2001 2102 2203 2304 | - | r1=2
itete eq; moveq r0, #1; movne r1, #2; moveq r2, #3; movne r3, #4 | bf0b 2001 2102 2203 2304 | Z | r0=1 r2=3
itete eq; moveq r0, #1; movne r1, #2; moveq r2, #3; movne r3, #4 | bf0b 2001 2102 2203 2304 | - | r1=2 r3=4
iteet eq; moveq r0, #1; movne r1, #2; movne r2, #3; moveq r3, #4 | bf0d 2001 2102 2203 2304 | Z | r0=1 r3=4
iteet eq; moveq r0, #1; movne r1, #2; movne r2, #3; moveq r3, #4 | bf0d 2001 2102 2203 2304 | - | r1=2 r2=3
iteee eq; moveq r0, #1; movne r1, #2; movne r2, #3; movne r3, #4 | bf0f 2001 2102 2203 2304 | Z | r0=1
iteee eq; moveq r0, #1; movne r1, #2; movne r2, #3; movne r3, #4 | bf0f 2001 2102 2203 2304 | - | r1=2 r2=3 r3=4

# IT: each condition
ite eq; moveq r0, #1; movne r0, #2 | bf0c 2001 2002 | Z | r0=1
ite eq; moveq r0, #1; movne r0, #2 | bf0c 2001 2002 | NCV | r0=2
ite ne; movne r0, #1; moveq r0, #2 | bf14 2001 2002 | NCV | r0=1
ite ne; movne r0, #1; moveq r0, #2 | bf14 2001 2002 | Z | r0=2
ite cs; movcs r0, #1; movcc r0, #2 | bf2c 2001 2002 | C | r0=1
ite cs; movcs r0, #1; movcc r0, #2 | bf2c 2001 2002 | NZV | r0=2
ite cc; movcc r0, #1; movcs r0, #2 | bf34 2001 2002 | NZV | r0=1
ite cc; movcc r0, #1; movcs r0, #2 | bf34 2001 2002 | C | r0=2
ite mi; movmi r0, #1; movpl r0, #2 | bf4c 2001 2002 | N | r0=1
ite mi; movmi r0, #1; movpl r0, #2 | bf4c 2001 2002 | ZCV | r0=2
ite pl; movpl r0, #1; movmi r0, #2 | bf54 2001 2002 | ZCV | r0=1
ite pl; movpl r0, #1; movmi r0, #2 | bf54 2001 2002 | N | r0=2
ite vs; movvs r0, #1; movvc r0, #2 | bf6c 2001 2002 | V | r0=1
ite vs; movvs r0, #1; movvc r0, #2 | bf6c 2001 2002 | NZC | r0=2
ite vc; movvc r0, #1; movvs r0, #2 | bf74 2001 2002 | NZC | r0=1
ite vc; movvc r0, #1; movvs r0, #2 | bf74 2001 2002 | V | r0=2
ite hi; movhi r0, #1; movls r0, #2 | bf8c 2001 2002 | C | r0=1
ite hi; movhi r0, #1; movls r0, #2 | bf8c 2001 2002 | ZC | r0=2
ite ls; movls r0, #1; movhi r0, #2 | bf94 2001 2002 | ZC | r0=1
ite ls; movls r0, #1; movhi r0, #2 | bf94 2001 2002 | C | r0=2
ite ge; movge r0, #1; movlt r0, #2 | bfac 2001 2002 | NV | r0=1
ite ge; movge r0, #1; movlt r0, #2 | bfac 2001 2002 | N | r0=2
ite lt; movlt r0, #1; movge r0, #2 | bfb4 2001 2002 | V | r0=1
ite lt; movlt r0, #1; movge r0, #2 | bfb4 2001 2002 | NV | r0=2
ite gt; movgt r0, #1; movle r0, #2 | bfcc 2001 2002 | NCV | r0=1
ite gt; movgt r0, #1; movle r0, #2 | bfcc 2001 2002 | NZV | r0=2
ite le; movle r0, #1; movgt r0, #2 | bfd4 2001 2002 | NZV | r0=1
ite le; movle r0, #1; movgt r0, #2 | bfd4 2001 2002 | NV | r0=2

# IT: 16-bit instructions keep the flags, but for comparisons; 32-bit ones do as they say
itt ne; addne r0, r1, r2; subne r3, r3, r3 | bf1c 1888 1adb | r1=ffffffff r2=1 r3=5 N | r0=0 r3=0
ittt ne; lslne r0, r0, r1; mulne r2, r3, r2; mvnne r4, r5 | bf1e 4088 435a 43ec | r0=1 r1=1f r2=0 r3=3 r5=ffffffff CV | r0=80000000 r2=0 r4=0
ittt cs; adcscs.w r0, r1, r2; andcs r3, r3, r4; movcs r5, #0 | bf22 eb51 0002 4023 2500 | r1=ffffffff r2=0 r3=1 r4=2 C | r0=0 r3=0 r5=0 ZC
itt eq; cmpeq r0, r1; moveq r2, #1 | bf04 4288 2201 | r0=1 r1=1 ZN | r2=1 ZC
itt eq; cmpeq r0, r1; moveq r2, #1 | bf04 4288 2201 | r0=1 r1=2 Z | N
ite eq; tsteq r0, r1; movne r2, #1 | bf0c 4208 2201 | r0=1 r1=2 ZC | ZC
ite eq; tsteq r0, r1; movne r2, #1 | bf0c 4208 2201 | r0=1 r1=3 ZC | r2=1 C
itt cc; ldrcc.w r0, [r1, #4]; strcc r2, [r1] | bf3c f8d1 0004 600a | r1=20000400 r2=f1e2d3c4 C |
itt cs; ldrcs.w r0, [r1, #4]; strcs r2, [r1] | bf24 f8d1 0004 600a | r1=20000400 r2=f1e2d3c4 C [20000404]=00000005 | r0=5 [20000400]=f1e2d3c4
it eq; beq.n .+20 | bf08 e008 | Z | pc=8000216
it eq; beq.n .+20 | bf08 e008 | - |
it ne; bxne lr | bf18 4770 | lr=8000401 - | pc=8000400
it ne; popne {r4, pc} | bf18 bd10 | sp=20000400 Z |

# IT: a breakpoint is unconditional (A7.7.17)

# Special registers
mrs r0, apsr | f3ef 8000 | NZCVQ ge=a | r0=f80a0000
mrs r0, apsr | f3ef 8000 | - | r0=0
mrs r0, xpsr | f3ef 8003 | NC | r0=a0000000
mrs r0, ipsr | f3ef 8005 | NC | r0=0
msr apsr_nzcvq, r0 | f380 8800 | r0=ffffffff - ge=5 | NZCVQ
msr apsr_nzcvq, r0 | f380 8800 | r0=7ffffff NZCVQ ge=5 | -
msr apsr_g, r0 | f380 8400 | r0=f00a0000 - ge=5 | ge=a
msr apsr_nzcvqg, r0 | f380 8c00 | r0=500c0000 N ge=3 | ZV ge=c
mrs r0, msp | f3ef 8008 | sp=20000300 | r0=20000300
msr msp, r0 | f380 8808 | r0=20000300 | sp=20000300
msr msp, r0 | f380 8808 | r0=20000303 | sp=20000300
msr psp, r0; mrs r1, psp | f380 8809 f3ef 8109 | r0=20000200 | r1=20000200
msr primask, r0; mrs r1, primask | f380 8810 f3ef 8110 | r0=1 | r1=1
mrs r0, primask | f3ef 8010 | | r0=0

# Hints and barriers
nop | bf00 | NZCV |
nop.w | f3af 8000 | NZCV |
yield | bf10 | NZCV |
wfe | bf20 | NZCV |
wfi | bf30 | NZCV |
sev | bf40 | NZCV |
dsb | f3bf 8f4f | NZCV |
dmb | f3bf 8f5f | NZCV |
isb | f3bf 8f6f | NZCV |
clrex | f3bf 8f2f | NZCV |
cpsid i | b672 | NZCV |
cpsie i | b662 | NZCV |
cpsid f | b671 | NZCV |
bkpt 0x0000 | be00 | NZCV |
bkpt 0x0004 | be04 | NZCV |
";
