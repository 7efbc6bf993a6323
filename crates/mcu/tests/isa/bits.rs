//! Packing, extension, reversal and bit fields.

pub const TABLE: &str = "\
# PKHBT and PKHTB
pkhbt r0, r1, r2 | eac1 0002 | r1=12345678 r2=89abcdef NC | r0=89ab5678
pkhbt r0, r1, r2, lsl #1 | eac1 0042 | r1=12345678 r2=89abcdef NC | r0=13575678
pkhbt r0, r1, r2, lsl #16 | eac1 4002 | r1=12345678 r2=89abcdef NC | r0=cdef5678
pkhbt r0, r1, r2, lsl #31 | eac1 70c2 | r1=12345678 r2=89abcdef NC | r0=80005678
pkhtb r0, r1, r2, asr #1 | eac1 0062 | r1=12345678 r2=89abcdef NC | r0=1234e6f7
pkhtb r0, r1, r2, asr #16 | eac1 4022 | r1=12345678 r2=89abcdef NC | r0=123489ab
pkhtb r0, r1, r2, asr #32 | eac1 0022 | r1=12345678 r2=89abcdef NC | r0=1234ffff

# Extension, 16 bits
sxtb r0, r1 | b248 | r1=12345680 NZ | r0=ffffff80
sxth r0, r1 | b208 | r1=12345680 NZ | r0=5680
uxtb r0, r1 | b2c8 | r1=12345680 NZ | r0=80
uxth r0, r1 | b288 | r1=12345680 NZ | r0=5680
sxtb r0, r1 | b248 | r1=1234807f NZ | r0=7f
sxth r0, r1 | b208 | r1=1234807f NZ | r0=ffff807f
uxtb r0, r1 | b2c8 | r1=1234807f NZ | r0=7f
uxth r0, r1 | b288 | r1=1234807f NZ | r0=807f
sxtb r0, r1 | b248 | r1=ffffffff NZ | r0=ffffffff
sxth r0, r1 | b208 | r1=ffffffff NZ | r0=ffffffff
uxtb r0, r1 | b2c8 | r1=ffffffff NZ | r0=ff
uxth r0, r1 | b288 | r1=ffffffff NZ | r0=ffff

# Extension of each rotation, alone and with addition
sxtb.w r8, r9 | fa4f f889 | r9=807ff1a5 NZCV | r8=ffffffa5
sxtab r0, r1, r2 | fa41 f082 | r1=fff0ffc0 r2=807ff1a5 V | r0=fff0ff65
sxtb.w r8, r9, ror #8 | fa4f f899 | r9=807ff1a5 NZCV | r8=fffffff1
sxtab r0, r1, r2, ror #8 | fa41 f092 | r1=fff0ffc0 r2=807ff1a5 V | r0=fff0ffb1
sxtb.w r8, r9, ror #16 | fa4f f8a9 | r9=807ff1a5 NZCV | r8=7f
sxtab r0, r1, r2, ror #16 | fa41 f0a2 | r1=fff0ffc0 r2=807ff1a5 V | r0=fff1003f
sxtb.w r8, r9, ror #24 | fa4f f8b9 | r9=807ff1a5 NZCV | r8=ffffff80
sxtab r0, r1, r2, ror #24 | fa41 f0b2 | r1=fff0ffc0 r2=807ff1a5 V | r0=fff0ff40
sxth.w r8, r9 | fa0f f889 | r9=807ff1a5 NZCV | r8=fffff1a5
sxtah r0, r1, r2 | fa01 f082 | r1=fff0ffc0 r2=807ff1a5 V | r0=fff0f165
sxth.w r8, r9, ror #8 | fa0f f899 | r9=807ff1a5 NZCV | r8=7ff1
sxtah r0, r1, r2, ror #8 | fa01 f092 | r1=fff0ffc0 r2=807ff1a5 V | r0=fff17fb1
sxth.w r8, r9, ror #16 | fa0f f8a9 | r9=807ff1a5 NZCV | r8=ffff807f
sxtah r0, r1, r2, ror #16 | fa01 f0a2 | r1=fff0ffc0 r2=807ff1a5 V | r0=fff0803f
sxth.w r8, r9, ror #24 | fa0f f8b9 | r9=807ff1a5 NZCV | r8=ffffa580
sxtah r0, r1, r2, ror #24 | fa01 f0b2 | r1=fff0ffc0 r2=807ff1a5 V | r0=fff0a540
sxtb16 r8, r9 | fa2f f889 | r9=807ff1a5 NZCV | r8=7fffa5
sxtab16 r0, r1, r2 | fa21 f082 | r1=fff0ffc0 r2=807ff1a5 V | r0=6fff65
sxtb16 r8, r9, ror #8 | fa2f f899 | r9=807ff1a5 NZCV | r8=ff80fff1
sxtab16 r0, r1, r2, ror #8 | fa21 f092 | r1=fff0ffc0 r2=807ff1a5 V | r0=ff70ffb1
sxtb16 r8, r9, ror #16 | fa2f f8a9 | r9=807ff1a5 NZCV | r8=ffa5007f
sxtab16 r0, r1, r2, ror #16 | fa21 f0a2 | r1=fff0ffc0 r2=807ff1a5 V | r0=ff95003f
sxtb16 r8, r9, ror #24 | fa2f f8b9 | r9=807ff1a5 NZCV | r8=fff1ff80
sxtab16 r0, r1, r2, ror #24 | fa21 f0b2 | r1=fff0ffc0 r2=807ff1a5 V | r0=ffe1ff40
uxtb.w r8, r9 | fa5f f889 | r9=807ff1a5 NZCV | r8=a5
uxtab r0, r1, r2 | fa51 f082 | r1=fff0ffc0 r2=807ff1a5 V | r0=fff10065
uxtb.w r8, r9, ror #8 | fa5f f899 | r9=807ff1a5 NZCV | r8=f1
uxtab r0, r1, r2, ror #8 | fa51 f092 | r1=fff0ffc0 r2=807ff1a5 V | r0=fff100b1
uxtb.w r8, r9, ror #16 | fa5f f8a9 | r9=807ff1a5 NZCV | r8=7f
uxtab r0, r1, r2, ror #16 | fa51 f0a2 | r1=fff0ffc0 r2=807ff1a5 V | r0=fff1003f
uxtb.w r8, r9, ror #24 | fa5f f8b9 | r9=807ff1a5 NZCV | r8=80
uxtab r0, r1, r2, ror #24 | fa51 f0b2 | r1=fff0ffc0 r2=807ff1a5 V | r0=fff10040
uxth.w r8, r9 | fa1f f889 | r9=807ff1a5 NZCV | r8=f1a5
uxtah r0, r1, r2 | fa11 f082 | r1=fff0ffc0 r2=807ff1a5 V | r0=fff1f165
uxth.w r8, r9, ror #8 | fa1f f899 | r9=807ff1a5 NZCV | r8=7ff1
uxtah r0, r1, r2, ror #8 | fa11 f092 | r1=fff0ffc0 r2=807ff1a5 V | r0=fff17fb1
uxth.w r8, r9, ror #16 | fa1f f8a9 | r9=807ff1a5 NZCV | r8=807f
uxtah r0, r1, r2, ror #16 | fa11 f0a2 | r1=fff0ffc0 r2=807ff1a5 V | r0=fff1803f
uxth.w r8, r9, ror #24 | fa1f f8b9 | r9=807ff1a5 NZCV | r8=a580
uxtah r0, r1, r2, ror #24 | fa11 f0b2 | r1=fff0ffc0 r2=807ff1a5 V | r0=fff1a540
uxtb16 r8, r9 | fa3f f889 | r9=807ff1a5 NZCV | r8=7f00a5
uxtab16 r0, r1, r2 | fa31 f082 | r1=fff0ffc0 r2=807ff1a5 V | r0=6f0065
uxtb16 r8, r9, ror #8 | fa3f f899 | r9=807ff1a5 NZCV | r8=8000f1
uxtab16 r0, r1, r2, ror #8 | fa31 f092 | r1=fff0ffc0 r2=807ff1a5 V | r0=7000b1
uxtb16 r8, r9, ror #16 | fa3f f8a9 | r9=807ff1a5 NZCV | r8=a5007f
uxtab16 r0, r1, r2, ror #16 | fa31 f0a2 | r1=fff0ffc0 r2=807ff1a5 V | r0=95003f
uxtb16 r8, r9, ror #24 | fa3f f8b9 | r9=807ff1a5 NZCV | r8=f10080
uxtab16 r0, r1, r2, ror #24 | fa31 f0b2 | r1=fff0ffc0 r2=807ff1a5 V | r0=e10040

# Reversal and counting
rev r0, r1 | ba08 | r1=12345680 NC | r0=80563412
rev.w r8, r9 | fa99 f889 | r9=12345680 NC | r8=80563412
rev16 r0, r1 | ba48 | r1=12345680 NC | r0=34128056
rev16.w r8, r9 | fa99 f899 | r9=12345680 NC | r8=34128056
revsh r0, r1 | bac8 | r1=12345680 NC | r0=ffff8056
revsh.w r8, r9 | fa99 f8b9 | r9=12345680 NC | r8=ffff8056
rbit r0, r1 | fa91 f0a1 | r1=12345680 ZV | r0=16a2c48
clz r0, r1 | fab1 f081 | r1=12345680 ZV | r0=3
rev r0, r1 | ba08 | r1=8001 NC | r0=1800000
rev.w r8, r9 | fa99 f889 | r9=8001 NC | r8=1800000
rev16 r0, r1 | ba48 | r1=8001 NC | r0=180
rev16.w r8, r9 | fa99 f899 | r9=8001 NC | r8=180
revsh r0, r1 | bac8 | r1=8001 NC | r0=180
revsh.w r8, r9 | fa99 f8b9 | r9=8001 NC | r8=180
rbit r0, r1 | fa91 f0a1 | r1=8001 ZV | r0=80010000
clz r0, r1 | fab1 f081 | r1=8001 ZV | r0=10
rev r0, r1 | ba08 | r1=ffffffff NC | r0=ffffffff
rev.w r8, r9 | fa99 f889 | r9=ffffffff NC | r8=ffffffff
rev16 r0, r1 | ba48 | r1=ffffffff NC | r0=ffffffff
rev16.w r8, r9 | fa99 f899 | r9=ffffffff NC | r8=ffffffff
revsh r0, r1 | bac8 | r1=ffffffff NC | r0=ffffffff
revsh.w r8, r9 | fa99 f8b9 | r9=ffffffff NC | r8=ffffffff
rbit r0, r1 | fa91 f0a1 | r1=ffffffff ZV | r0=ffffffff
clz r0, r1 | fab1 f081 | r1=ffffffff ZV | r0=0
rev r0, r1 | ba08 | r1=0 NC | r0=0
rev.w r8, r9 | fa99 f889 | r9=0 NC | r8=0
rev16 r0, r1 | ba48 | r1=0 NC | r0=0
rev16.w r8, r9 | fa99 f899 | r9=0 NC | r8=0
revsh r0, r1 | bac8 | r1=0 NC | r0=0
revsh.w r8, r9 | fa99 f8b9 | r9=0 NC | r8=0
rbit r0, r1 | fa91 f0a1 | r1=0 ZV | r0=0
clz r0, r1 | fab1 f081 | r1=0 ZV | r0=20
rev r0, r1 | ba08 | r1=1 NC | r0=1000000
rev.w r8, r9 | fa99 f889 | r9=1 NC | r8=1000000
rev16 r0, r1 | ba48 | r1=1 NC | r0=100
rev16.w r8, r9 | fa99 f899 | r9=1 NC | r8=100
revsh r0, r1 | bac8 | r1=1 NC | r0=100
revsh.w r8, r9 | fa99 f8b9 | r9=1 NC | r8=100
rbit r0, r1 | fa91 f0a1 | r1=1 ZV | r0=80000000
clz r0, r1 | fab1 f081 | r1=1 ZV | r0=1f

# Bit fields
bfi r0, r1, #0, #1 | f361 0000 | r0=5a5aa5a5 r1=89abcdef C | r0=5a5aa5a5
bfc r0, #0, #1 | f36f 0000 | r0=5a5aa5a5 C | r0=5a5aa5a4
ubfx r0, r1, #0, #1 | f3c1 0000 | r1=89abcdef Z | r0=1
sbfx r0, r1, #0, #1 | f341 0000 | r1=89abcdef Z | r0=ffffffff
bfi r0, r1, #0, #32 | f361 001f | r0=5a5aa5a5 r1=89abcdef C | r0=89abcdef
bfc r0, #0, #32 | f36f 001f | r0=5a5aa5a5 C | r0=0
ubfx r0, r1, #0, #32 | f3c1 001f | r1=89abcdef Z | r0=89abcdef
sbfx r0, r1, #0, #32 | f341 001f | r1=89abcdef Z | r0=89abcdef
bfi r0, r1, #31, #1 | f361 70df | r0=5a5aa5a5 r1=89abcdef C | r0=da5aa5a5
bfc r0, #31, #1 | f36f 70df | r0=5a5aa5a5 C | r0=5a5aa5a5
ubfx r0, r1, #31, #1 | f3c1 70c0 | r1=89abcdef Z | r0=1
sbfx r0, r1, #31, #1 | f341 70c0 | r1=89abcdef Z | r0=ffffffff
bfi r0, r1, #4, #8 | f361 100b | r0=5a5aa5a5 r1=89abcdef C | r0=5a5aaef5
bfc r0, #4, #8 | f36f 100b | r0=5a5aa5a5 C | r0=5a5aa005
ubfx r0, r1, #4, #8 | f3c1 1007 | r1=89abcdef Z | r0=de
sbfx r0, r1, #4, #8 | f341 1007 | r1=89abcdef Z | r0=ffffffde
bfi r0, r1, #16, #16 | f361 401f | r0=5a5aa5a5 r1=89abcdef C | r0=cdefa5a5
bfc r0, #16, #16 | f36f 401f | r0=5a5aa5a5 C | r0=a5a5
ubfx r0, r1, #16, #16 | f3c1 400f | r1=89abcdef Z | r0=89ab
sbfx r0, r1, #16, #16 | f341 400f | r1=89abcdef Z | r0=ffff89ab
bfi r0, r1, #1, #31 | f361 005f | r0=5a5aa5a5 r1=89abcdef C | r0=13579bdf
bfc r0, #1, #31 | f36f 005f | r0=5a5aa5a5 C | r0=1
ubfx r0, r1, #1, #31 | f3c1 005e | r1=89abcdef Z | r0=44d5e6f7
sbfx r0, r1, #1, #31 | f341 005e | r1=89abcdef Z | r0=c4d5e6f7
";
