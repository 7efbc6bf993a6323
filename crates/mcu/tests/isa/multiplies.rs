//! Multiplications and divisions.

pub const TABLE: &str = "\
# Products of 32 bits
muls r0, r1 | 4348 | r0=0 r1=ffffffff CV | r0=0 ZCV
muls r0, r1 | 4348 | r0=ffffffff r1=ffffffff CV | r0=1 CV
muls r0, r1 | 4348 | r0=80000000 r1=ffffffff CV | r0=80000000 NCV
muls r0, r1 | 4348 | r0=80000000 r1=80000000 CV | r0=0 ZCV
muls r0, r1 | 4348 | r0=12345678 r1=9abcdef0 CV | r0=242d2080 CV
mul r8, r9, r10 | fb09 f80a | r9=0 r10=ffffffff ZV | r8=0
mul r8, r9, r10 | fb09 f80a | r9=ffffffff r10=ffffffff ZV | r8=1
mul r8, r9, r10 | fb09 f80a | r9=80000000 r10=ffffffff ZV | r8=80000000
mul r8, r9, r10 | fb09 f80a | r9=80000000 r10=80000000 ZV | r8=0
mul r8, r9, r10 | fb09 f80a | r9=12345678 r10=9abcdef0 ZV | r8=242d2080
mul r8, r9, r10 | fb09 f80a | r9=7fffffff r10=7fffffff ZV | r8=1
mla r0, r1, r2, r3 | fb01 3002 | r1=0 r2=ffffffff r3=1 C | r0=1
mls r0, r1, r2, r3 | fb01 3012 | r1=0 r2=ffffffff r3=1 N | r0=1
mla r0, r1, r2, r3 | fb01 3002 | r1=ffffffff r2=ffffffff r3=ffffffff C | r0=0
mls r0, r1, r2, r3 | fb01 3012 | r1=ffffffff r2=ffffffff r3=ffffffff N | r0=fffffffe
mla r0, r1, r2, r3 | fb01 3002 | r1=80000000 r2=ffffffff r3=80000000 C | r0=0
mls r0, r1, r2, r3 | fb01 3012 | r1=80000000 r2=ffffffff r3=80000000 N | r0=0
mla r0, r1, r2, r3 | fb01 3002 | r1=80000000 r2=80000000 r3=5 C | r0=5
mls r0, r1, r2, r3 | fb01 3012 | r1=80000000 r2=80000000 r3=5 N | r0=5
mla r0, r1, r2, r3 | fb01 3002 | r1=12345678 r2=9abcdef0 r3=deadbeef C | r0=2dadf6f
mls r0, r1, r2, r3 | fb01 3012 | r1=12345678 r2=9abcdef0 r3=deadbeef N | r0=ba809e6f
mla r0, r1, r2, r3 | fb01 3002 | r1=7fffffff r2=7fffffff r3=2 C | r0=3
mls r0, r1, r2, r3 | fb01 3012 | r1=7fffffff r2=7fffffff r3=2 N | r0=1

# Products of 64 bits
umull r0, r1, r2, r3 | fba2 0103 | r2=0 r3=ffffffff NZCV | r0=0 r1=0
umull r0, r1, r2, r3 | fba2 0103 | r2=ffffffff r3=ffffffff NZCV | r0=1 r1=fffffffe
umull r0, r1, r2, r3 | fba2 0103 | r2=80000000 r3=ffffffff NZCV | r0=80000000 r1=7fffffff
umull r0, r1, r2, r3 | fba2 0103 | r2=80000000 r3=80000000 NZCV | r0=0 r1=40000000
umull r0, r1, r2, r3 | fba2 0103 | r2=12345678 r3=9abcdef0 NZCV | r0=242d2080 r1=b00ea4e
umull r0, r1, r2, r3 | fba2 0103 | r2=7fffffff r3=7fffffff NZCV | r0=1 r1=3fffffff
smull r0, r1, r2, r3 | fb82 0103 | r2=0 r3=ffffffff NZCV | r0=0 r1=0
smull r0, r1, r2, r3 | fb82 0103 | r2=ffffffff r3=ffffffff NZCV | r0=1 r1=0
smull r0, r1, r2, r3 | fb82 0103 | r2=80000000 r3=ffffffff NZCV | r0=80000000 r1=0
smull r0, r1, r2, r3 | fb82 0103 | r2=80000000 r3=80000000 NZCV | r0=0 r1=40000000
smull r0, r1, r2, r3 | fb82 0103 | r2=12345678 r3=9abcdef0 NZCV | r0=242d2080 r1=f8cc93d6
smull r0, r1, r2, r3 | fb82 0103 | r2=7fffffff r3=7fffffff NZCV | r0=1 r1=3fffffff
umlal r0, r1, r2, r3 | fbe2 0103 | r0=ffffffff r1=ffffffff r2=0 r3=ffffffff NZCV | r0=ffffffff r1=ffffffff
umlal r0, r1, r2, r3 | fbe2 0103 | r0=1 r1=0 r2=ffffffff r3=ffffffff NZCV | r0=2 r1=fffffffe
umlal r0, r1, r2, r3 | fbe2 0103 | r0=0 r1=80000000 r2=80000000 r3=ffffffff NZCV | r0=80000000 r1=ffffffff
umlal r0, r1, r2, r3 | fbe2 0103 | r0=ffffffff r1=7fffffff r2=80000000 r3=80000000 NZCV | r0=ffffffff r1=bfffffff
umlal r0, r1, r2, r3 | fbe2 0103 | r0=89abcdef r1=1234567 r2=12345678 r3=9abcdef0 NZCV | r0=add8ee6f r1=c242fb5
umlal r0, r1, r2, r3 | fbe2 0103 | r0=ffffffff r1=0 r2=7fffffff r3=7fffffff NZCV | r0=0 r1=40000000
smlal r0, r1, r2, r3 | fbc2 0103 | r0=ffffffff r1=ffffffff r2=0 r3=ffffffff NZCV | r0=ffffffff r1=ffffffff
smlal r0, r1, r2, r3 | fbc2 0103 | r0=1 r1=0 r2=ffffffff r3=ffffffff NZCV | r0=2 r1=0
smlal r0, r1, r2, r3 | fbc2 0103 | r0=0 r1=80000000 r2=80000000 r3=ffffffff NZCV | r0=80000000 r1=80000000
smlal r0, r1, r2, r3 | fbc2 0103 | r0=ffffffff r1=7fffffff r2=80000000 r3=80000000 NZCV | r0=ffffffff r1=bfffffff
smlal r0, r1, r2, r3 | fbc2 0103 | r0=89abcdef r1=1234567 r2=12345678 r3=9abcdef0 NZCV | r0=add8ee6f r1=f9efd93d
smlal r0, r1, r2, r3 | fbc2 0103 | r0=ffffffff r1=0 r2=7fffffff r3=7fffffff NZCV | r0=0 r1=40000000
umaal r0, r1, r2, r3 | fbe2 0163 | r0=ffffffff r1=ffffffff r2=ffffffff r3=ffffffff NZCV | r0=ffffffff r1=ffffffff
umaal r0, r1, r2, r3 | fbe2 0163 | r0=ffffffff r1=ffffffff r2=0 r3=0 NZCV | r0=fffffffe r1=1
umaal r0, r1, r2, r3 | fbe2 0163 | r0=fffffff0 r1=1 r2=12345678 r3=9abcdef0 NZCV | r0=242d2071 r1=b00ea4f
umaal r0, r1, r2, r3 | fbe2 0163 | r0=0 r1=1 r2=ffffffff r3=1 NZCV | r0=0 r1=1
umaal r0, r1, r2, r3 | fbe2 0163 | r0=1 r1=ffffffff r2=80000000 r3=2 NZCV | r0=0 r1=2
umull r2, r3, r2, r3 | fba2 2303 | r2=ffffffff r3=ffffffff | r2=1 r3=fffffffe
umaal r8, r12, r10, lr | fbea 8c6e | r8=5 r10=7 r12=6 lr=8 | r8=43 r12=0

# Products of halves
smulbb r0, r1, r2 | fb11 f002 | r1=80008000 r2=80008000 | r0=40000000
smulbb r0, r1, r2 | fb11 f002 | r1=7fff8000 r2=80007fff | r0=c0008000
smulbb r0, r1, r2 | fb11 f002 | r1=20003 r2=fffc0005 | r0=f
smulbb r0, r1, r2 | fb11 f002 | r1=ffff0001 r2=1234ffff | r0=ffffffff
smulbt r0, r1, r2 | fb11 f012 | r1=80008000 r2=80008000 | r0=40000000
smulbt r0, r1, r2 | fb11 f012 | r1=7fff8000 r2=80007fff | r0=40000000
smulbt r0, r1, r2 | fb11 f012 | r1=20003 r2=fffc0005 | r0=fffffff4
smulbt r0, r1, r2 | fb11 f012 | r1=ffff0001 r2=1234ffff | r0=1234
smultb r0, r1, r2 | fb11 f022 | r1=80008000 r2=80008000 | r0=40000000
smultb r0, r1, r2 | fb11 f022 | r1=7fff8000 r2=80007fff | r0=3fff0001
smultb r0, r1, r2 | fb11 f022 | r1=20003 r2=fffc0005 | r0=a
smultb r0, r1, r2 | fb11 f022 | r1=ffff0001 r2=1234ffff | r0=1
smultt r0, r1, r2 | fb11 f032 | r1=80008000 r2=80008000 | r0=40000000
smultt r0, r1, r2 | fb11 f032 | r1=7fff8000 r2=80007fff | r0=c0008000
smultt r0, r1, r2 | fb11 f032 | r1=20003 r2=fffc0005 | r0=fffffff8
smultt r0, r1, r2 | fb11 f032 | r1=ffff0001 r2=1234ffff | r0=ffffedcc
smlabb r0, r1, r2, r3 | fb11 3002 | r1=80008000 r2=80008000 r3=40000000 NV | r0=80000000 NVQ
smlabb r0, r1, r2, r3 | fb11 3002 | r1=7fff8000 r2=80007fff r3=7fffffff NV | r0=40007fff NV
smlabb r0, r1, r2, r3 | fb11 3002 | r1=20003 r2=fffc0005 r3=80000000 NV | r0=8000000f NV
smlabb r0, r1, r2, r3 | fb11 3002 | r1=ffff0001 r2=1234ffff r3=ffffffff NV | r0=fffffffe NV
smlabt r0, r1, r2, r3 | fb11 3012 | r1=80008000 r2=80008000 r3=40000000 NV | r0=80000000 NVQ
smlabt r0, r1, r2, r3 | fb11 3012 | r1=7fff8000 r2=80007fff r3=7fffffff NV | r0=bfffffff NVQ
smlabt r0, r1, r2, r3 | fb11 3012 | r1=20003 r2=fffc0005 r3=80000000 NV | r0=7ffffff4 NVQ
smlabt r0, r1, r2, r3 | fb11 3012 | r1=ffff0001 r2=1234ffff r3=ffffffff NV | r0=1233 NV
smlatb r0, r1, r2, r3 | fb11 3022 | r1=80008000 r2=80008000 r3=40000000 NV | r0=80000000 NVQ
smlatb r0, r1, r2, r3 | fb11 3022 | r1=7fff8000 r2=80007fff r3=7fffffff NV | r0=bfff0000 NVQ
smlatb r0, r1, r2, r3 | fb11 3022 | r1=20003 r2=fffc0005 r3=80000000 NV | r0=8000000a NV
smlatb r0, r1, r2, r3 | fb11 3022 | r1=ffff0001 r2=1234ffff r3=ffffffff NV | r0=0 NV
smlatt r0, r1, r2, r3 | fb11 3032 | r1=80008000 r2=80008000 r3=40000000 NV | r0=80000000 NVQ
smlatt r0, r1, r2, r3 | fb11 3032 | r1=7fff8000 r2=80007fff r3=7fffffff NV | r0=40007fff NV
smlatt r0, r1, r2, r3 | fb11 3032 | r1=20003 r2=fffc0005 r3=80000000 NV | r0=7ffffff8 NVQ
smlatt r0, r1, r2, r3 | fb11 3032 | r1=ffff0001 r2=1234ffff r3=ffffffff NV | r0=ffffedcb NV
smulwb r0, r1, r2 | fb31 f002 | r1=80000000 r2=80008000 | r0=40000000
smulwb r0, r1, r2 | fb31 f002 | r1=7fffffff r2=7fff8000 | r0=c0000000
smulwb r0, r1, r2 | fb31 f002 | r1=10000 r2=3ffff | r0=ffffffff
smulwb r0, r1, r2 | fb31 f002 | r1=ffffffff r2=10001 | r0=ffffffff
smlawb r0, r1, r2, r3 | fb31 3002 | r1=80000000 r2=80008000 r3=7fffffff C | r0=bfffffff CQ
smlawb r0, r1, r2, r3 | fb31 3002 | r1=7fffffff r2=7fff8000 r3=c0000000 C | r0=80000000 C
smlawb r0, r1, r2, r3 | fb31 3002 | r1=7fffffff r2=80007fff r3=80000000 C | r0=bfff7fff C
smlawb r0, r1, r2, r3 | fb31 3002 | r1=18000 r2=3ffff r3=1 C | r0=ffffffff C
smulwt r0, r1, r2 | fb31 f012 | r1=80000000 r2=80008000 | r0=40000000
smulwt r0, r1, r2 | fb31 f012 | r1=7fffffff r2=7fff8000 | r0=3fff7fff
smulwt r0, r1, r2 | fb31 f012 | r1=10000 r2=3ffff | r0=3
smulwt r0, r1, r2 | fb31 f012 | r1=ffffffff r2=10001 | r0=ffffffff
smlawt r0, r1, r2, r3 | fb31 3012 | r1=80000000 r2=80008000 r3=7fffffff C | r0=bfffffff CQ
smlawt r0, r1, r2, r3 | fb31 3012 | r1=7fffffff r2=7fff8000 r3=c0000000 C | r0=ffff7fff C
smlawt r0, r1, r2, r3 | fb31 3012 | r1=7fffffff r2=80007fff r3=80000000 C | r0=40000000 CQ
smlawt r0, r1, r2, r3 | fb31 3012 | r1=18000 r2=3ffff r3=1 C | r0=5 C

# Dual products
smuad r0, r1, r2 | fb21 f002 | r1=80008000 r2=80008000 Z | r0=80000000 ZQ
smusd r0, r1, r2 | fb41 f002 | r1=80008000 r2=80008000 Z | r0=0
smuad r0, r1, r2 | fb21 f002 | r1=7fff8000 r2=80007fff Z | r0=80010000 Z
smusd r0, r1, r2 | fb41 f002 | r1=7fff8000 r2=80007fff Z | r0=0
smuad r0, r1, r2 | fb21 f002 | r1=20003 r2=fffc0005 Z | r0=7 Z
smusd r0, r1, r2 | fb41 f002 | r1=20003 r2=fffc0005 Z | r0=17
smuad r0, r1, r2 | fb21 f002 | r1=ffff0001 r2=1234ffff Z | r0=ffffedcb Z
smusd r0, r1, r2 | fb41 f002 | r1=ffff0001 r2=1234ffff Z | r0=1233
smlad r0, r1, r2, r3 | fb21 3002 | r1=80008000 r2=80008000 r3=0 - | r0=80000000 Q
smlsd r0, r1, r2, r3 | fb41 3002 | r1=80008000 r2=80008000 r3=0 - | r0=0 -
smlad r0, r1, r2, r3 | fb21 3002 | r1=7fff8000 r2=80007fff r3=7fffffff - | r0=ffff -
smlsd r0, r1, r2, r3 | fb41 3002 | r1=7fff8000 r2=80007fff r3=7fffffff - | r0=7fffffff -
smlad r0, r1, r2, r3 | fb21 3002 | r1=20003 r2=fffc0005 r3=80000000 - | r0=80000007 -
smlsd r0, r1, r2, r3 | fb41 3002 | r1=20003 r2=fffc0005 r3=80000000 - | r0=80000017 -
smlad r0, r1, r2, r3 | fb21 3002 | r1=ffff0001 r2=1234ffff r3=ffffffff - | r0=ffffedca -
smlsd r0, r1, r2, r3 | fb41 3002 | r1=ffff0001 r2=1234ffff r3=ffffffff - | r0=1232 -
smlald r0, r1, r2, r3 | fbc2 01c3 | r0=ffffffff r1=0 r2=80008000 r3=80008000 NZCV | r0=7fffffff r1=1
smlsld r0, r1, r2, r3 | fbd2 01c3 | r0=ffffffff r1=0 r2=80008000 r3=80008000 NZCV | r0=ffffffff r1=0
smlald r0, r1, r2, r3 | fbc2 01c3 | r0=ffffffff r1=7fffffff r2=7fff8000 r3=80007fff NZCV | r0=8000ffff r1=7fffffff
smlsld r0, r1, r2, r3 | fbd2 01c3 | r0=ffffffff r1=7fffffff r2=7fff8000 r3=80007fff NZCV | r0=ffffffff r1=7fffffff
smlald r0, r1, r2, r3 | fbc2 01c3 | r0=0 r1=80000000 r2=20003 r3=fffc0005 NZCV | r0=7 r1=80000000
smlsld r0, r1, r2, r3 | fbd2 01c3 | r0=0 r1=80000000 r2=20003 r3=fffc0005 NZCV | r0=17 r1=80000000
smlald r0, r1, r2, r3 | fbc2 01c3 | r0=0 r1=0 r2=ffff0001 r3=1234ffff NZCV | r0=ffffedcb r1=ffffffff
smlsld r0, r1, r2, r3 | fbd2 01c3 | r0=0 r1=0 r2=ffff0001 r3=1234ffff NZCV | r0=1233 r1=0
smuadx r0, r1, r2 | fb21 f012 | r1=80008000 r2=80008000 Z | r0=80000000 ZQ
smusdx r0, r1, r2 | fb41 f012 | r1=80008000 r2=80008000 Z | r0=0
smuadx r0, r1, r2 | fb21 f012 | r1=7fff8000 r2=80007fff Z | r0=7fff0001 Z
smusdx r0, r1, r2 | fb41 f012 | r1=7fff8000 r2=80007fff Z | r0=ffff
smuadx r0, r1, r2 | fb21 f012 | r1=20003 r2=fffc0005 Z | r0=fffffffe Z
smusdx r0, r1, r2 | fb41 f012 | r1=20003 r2=fffc0005 Z | r0=ffffffea
smuadx r0, r1, r2 | fb21 f012 | r1=ffff0001 r2=1234ffff Z | r0=1235 Z
smusdx r0, r1, r2 | fb41 f012 | r1=ffff0001 r2=1234ffff Z | r0=1233
smladx r0, r1, r2, r3 | fb21 3012 | r1=80008000 r2=80008000 r3=0 - | r0=80000000 Q
smlsdx r0, r1, r2, r3 | fb41 3012 | r1=80008000 r2=80008000 r3=0 - | r0=0 -
smladx r0, r1, r2, r3 | fb21 3012 | r1=7fff8000 r2=80007fff r3=7fffffff - | r0=ffff0000 Q
smlsdx r0, r1, r2, r3 | fb41 3012 | r1=7fff8000 r2=80007fff r3=7fffffff - | r0=8000fffe Q
smladx r0, r1, r2, r3 | fb21 3012 | r1=20003 r2=fffc0005 r3=80000000 - | r0=7ffffffe Q
smlsdx r0, r1, r2, r3 | fb41 3012 | r1=20003 r2=fffc0005 r3=80000000 - | r0=7fffffea Q
smladx r0, r1, r2, r3 | fb21 3012 | r1=ffff0001 r2=1234ffff r3=ffffffff - | r0=1234 -
smlsdx r0, r1, r2, r3 | fb41 3012 | r1=ffff0001 r2=1234ffff r3=ffffffff - | r0=1232 -
smlaldx r0, r1, r2, r3 | fbc2 01d3 | r0=ffffffff r1=0 r2=80008000 r3=80008000 NZCV | r0=7fffffff r1=1
smlsldx r0, r1, r2, r3 | fbd2 01d3 | r0=ffffffff r1=0 r2=80008000 r3=80008000 NZCV | r0=ffffffff r1=0
smlaldx r0, r1, r2, r3 | fbc2 01d3 | r0=ffffffff r1=7fffffff r2=7fff8000 r3=80007fff NZCV | r0=7fff0000 r1=80000000
smlsldx r0, r1, r2, r3 | fbd2 01d3 | r0=ffffffff r1=7fffffff r2=7fff8000 r3=80007fff NZCV | r0=fffe r1=80000000
smlaldx r0, r1, r2, r3 | fbc2 01d3 | r0=0 r1=80000000 r2=20003 r3=fffc0005 NZCV | r0=fffffffe r1=7fffffff
smlsldx r0, r1, r2, r3 | fbd2 01d3 | r0=0 r1=80000000 r2=20003 r3=fffc0005 NZCV | r0=ffffffea r1=7fffffff
smlaldx r0, r1, r2, r3 | fbc2 01d3 | r0=0 r1=0 r2=ffff0001 r3=1234ffff NZCV | r0=1235 r1=0
smlsldx r0, r1, r2, r3 | fbd2 01d3 | r0=0 r1=0 r2=ffff0001 r3=1234ffff NZCV | r0=1233 r1=0
smlalbb r0, r1, r2, r3 | fbc2 0183 | r0=c0000000 r1=ffffffff r2=80008000 r3=80008000 | r0=0 r1=0
smlalbb r0, r1, r2, r3 | fbc2 0183 | r0=ffffffff r1=7fffffff r2=7fff8000 r3=80007fff | r0=c0007fff r1=7fffffff
smlalbb r0, r1, r2, r3 | fbc2 0183 | r0=0 r1=80000000 r2=20003 r3=fffc0005 | r0=f r1=80000000
smlalbt r0, r1, r2, r3 | fbc2 0193 | r0=c0000000 r1=ffffffff r2=80008000 r3=80008000 | r0=0 r1=0
smlalbt r0, r1, r2, r3 | fbc2 0193 | r0=ffffffff r1=7fffffff r2=7fff8000 r3=80007fff | r0=3fffffff r1=80000000
smlalbt r0, r1, r2, r3 | fbc2 0193 | r0=0 r1=80000000 r2=20003 r3=fffc0005 | r0=fffffff4 r1=7fffffff
smlaltb r0, r1, r2, r3 | fbc2 01a3 | r0=c0000000 r1=ffffffff r2=80008000 r3=80008000 | r0=0 r1=0
smlaltb r0, r1, r2, r3 | fbc2 01a3 | r0=ffffffff r1=7fffffff r2=7fff8000 r3=80007fff | r0=3fff0000 r1=80000000
smlaltb r0, r1, r2, r3 | fbc2 01a3 | r0=0 r1=80000000 r2=20003 r3=fffc0005 | r0=a r1=80000000
smlaltt r0, r1, r2, r3 | fbc2 01b3 | r0=c0000000 r1=ffffffff r2=80008000 r3=80008000 | r0=0 r1=0
smlaltt r0, r1, r2, r3 | fbc2 01b3 | r0=ffffffff r1=7fffffff r2=7fff8000 r3=80007fff | r0=c0007fff r1=7fffffff
smlaltt r0, r1, r2, r3 | fbc2 01b3 | r0=0 r1=80000000 r2=20003 r3=fffc0005 | r0=fffffff8 r1=7fffffff

# Most significant words of products
smmul r0, r1, r2 | fb51 f002 | r1=ffffffff r2=ffffffff | r0=0
smmulr r0, r1, r2 | fb51 f012 | r1=ffffffff r2=ffffffff | r0=0
smmul r0, r1, r2 | fb51 f002 | r1=80000000 r2=ffffffff | r0=0
smmulr r0, r1, r2 | fb51 f012 | r1=80000000 r2=ffffffff | r0=1
smmul r0, r1, r2 | fb51 f002 | r1=80000000 r2=80000000 | r0=40000000
smmulr r0, r1, r2 | fb51 f012 | r1=80000000 r2=80000000 | r0=40000000
smmul r0, r1, r2 | fb51 f002 | r1=12345678 r2=9abcdef0 | r0=f8cc93d6
smmulr r0, r1, r2 | fb51 f012 | r1=12345678 r2=9abcdef0 | r0=f8cc93d6
smmul r0, r1, r2 | fb51 f002 | r1=7fffffff r2=7fffffff | r0=3fffffff
smmulr r0, r1, r2 | fb51 f012 | r1=7fffffff r2=7fffffff | r0=3fffffff
smmul r0, r1, r2 | fb51 f002 | r1=10000 r2=8000 | r0=0
smmulr r0, r1, r2 | fb51 f012 | r1=10000 r2=8000 | r0=1
smmul r0, r1, r2 | fb51 f002 | r1=ffff0000 r2=8000 | r0=ffffffff
smmulr r0, r1, r2 | fb51 f012 | r1=ffff0000 r2=8000 | r0=0
smmla r0, r1, r2, r3 | fb51 3002 | r1=ffffffff r2=ffffffff r3=1 | r0=1
smmls r0, r1, r2, r3 | fb61 3002 | r1=ffffffff r2=ffffffff r3=1 | r0=0
smmlar r0, r1, r2, r3 | fb51 3012 | r1=ffffffff r2=ffffffff r3=1 | r0=1
smmlsr r0, r1, r2, r3 | fb61 3012 | r1=ffffffff r2=ffffffff r3=1 | r0=1
smmla r0, r1, r2, r3 | fb51 3002 | r1=80000000 r2=ffffffff r3=ffffffff | r0=ffffffff
smmls r0, r1, r2, r3 | fb61 3002 | r1=80000000 r2=ffffffff r3=ffffffff | r0=fffffffe
smmlar r0, r1, r2, r3 | fb51 3012 | r1=80000000 r2=ffffffff r3=ffffffff | r0=0
smmlsr r0, r1, r2, r3 | fb61 3012 | r1=80000000 r2=ffffffff r3=ffffffff | r0=ffffffff
smmla r0, r1, r2, r3 | fb51 3002 | r1=80000000 r2=80000000 r3=7fffffff | r0=bfffffff
smmls r0, r1, r2, r3 | fb61 3002 | r1=80000000 r2=80000000 r3=7fffffff | r0=3fffffff
smmlar r0, r1, r2, r3 | fb51 3012 | r1=80000000 r2=80000000 r3=7fffffff | r0=bfffffff
smmlsr r0, r1, r2, r3 | fb61 3012 | r1=80000000 r2=80000000 r3=7fffffff | r0=3fffffff
smmla r0, r1, r2, r3 | fb51 3002 | r1=12345678 r2=9abcdef0 r3=80000000 | r0=78cc93d6
smmls r0, r1, r2, r3 | fb61 3002 | r1=12345678 r2=9abcdef0 r3=80000000 | r0=87336c29
smmlar r0, r1, r2, r3 | fb51 3012 | r1=12345678 r2=9abcdef0 r3=80000000 | r0=78cc93d6
smmlsr r0, r1, r2, r3 | fb61 3012 | r1=12345678 r2=9abcdef0 r3=80000000 | r0=87336c2a
smmla r0, r1, r2, r3 | fb51 3002 | r1=7fffffff r2=7fffffff r3=0 | r0=3fffffff
smmls r0, r1, r2, r3 | fb61 3002 | r1=7fffffff r2=7fffffff r3=0 | r0=c0000000
smmlar r0, r1, r2, r3 | fb51 3012 | r1=7fffffff r2=7fffffff r3=0 | r0=3fffffff
smmlsr r0, r1, r2, r3 | fb61 3012 | r1=7fffffff r2=7fffffff r3=0 | r0=c0000001
smmla r0, r1, r2, r3 | fb51 3002 | r1=10000 r2=8000 r3=9 | r0=9
smmls r0, r1, r2, r3 | fb61 3002 | r1=10000 r2=8000 r3=9 | r0=8
smmlar r0, r1, r2, r3 | fb51 3012 | r1=10000 r2=8000 r3=9 | r0=a
smmlsr r0, r1, r2, r3 | fb61 3012 | r1=10000 r2=8000 r3=9 | r0=9
smmla r0, r1, r2, r3 | fb51 3002 | r1=ffff0000 r2=8000 r3=0 | r0=ffffffff
smmls r0, r1, r2, r3 | fb61 3002 | r1=ffff0000 r2=8000 r3=0 | r0=0
smmlar r0, r1, r2, r3 | fb51 3012 | r1=ffff0000 r2=8000 r3=0 | r0=0
smmlsr r0, r1, r2, r3 | fb61 3012 | r1=ffff0000 r2=8000 r3=0 | r0=1

# Sums of absolute differences
usad8 r0, r1, r2 | fb71 f002 | r1=ff00ff00 r2=ff00ff | r0=3fc
usada8 r0, r1, r2, r3 | fb71 3002 | r1=ff00ff00 r2=ff00ff r3=fffffff0 | r0=3ec
usad8 r0, r1, r2 | fb71 f002 | r1=1020304 r2=4030201 | r0=8
usada8 r0, r1, r2, r3 | fb71 3002 | r1=1020304 r2=4030201 r3=7 | r0=f
usad8 r0, r1, r2 | fb71 f002 | r1=0 r2=0 | r0=0
usada8 r0, r1, r2, r3 | fb71 3002 | r1=0 r2=0 r3=1 | r0=1

# Divisions round towards zero; by zero they give zero
sdiv r0, r1, r2 | fb91 f0f2 | r1=7 r2=2 NC | r0=3
udiv r0, r1, r2 | fbb1 f0f2 | r1=7 r2=2 NC | r0=3
sdiv r0, r1, r2 | fb91 f0f2 | r1=fffffff9 r2=2 NC | r0=fffffffd
udiv r0, r1, r2 | fbb1 f0f2 | r1=fffffff9 r2=2 NC | r0=7ffffffc
sdiv r0, r1, r2 | fb91 f0f2 | r1=7 r2=fffffffe NC | r0=fffffffd
udiv r0, r1, r2 | fbb1 f0f2 | r1=7 r2=fffffffe NC | r0=0
sdiv r0, r1, r2 | fb91 f0f2 | r1=fffffff9 r2=fffffffe NC | r0=3
udiv r0, r1, r2 | fbb1 f0f2 | r1=fffffff9 r2=fffffffe NC | r0=0
sdiv r0, r1, r2 | fb91 f0f2 | r1=80000000 r2=ffffffff NC | r0=80000000
udiv r0, r1, r2 | fbb1 f0f2 | r1=80000000 r2=ffffffff NC | r0=0
sdiv r0, r1, r2 | fb91 f0f2 | r1=5 r2=0 NC | r0=0
udiv r0, r1, r2 | fbb1 f0f2 | r1=5 r2=0 NC | r0=0
sdiv r0, r1, r2 | fb91 f0f2 | r1=0 r2=5 NC | r0=0
udiv r0, r1, r2 | fbb1 f0f2 | r1=0 r2=5 NC | r0=0
sdiv r0, r1, r2 | fb91 f0f2 | r1=80000000 r2=1 NC | r0=80000000
udiv r0, r1, r2 | fbb1 f0f2 | r1=80000000 r2=1 NC | r0=80000000
sdiv r0, r1, r2 | fb91 f0f2 | r1=ffffffff r2=80000000 NC | r0=0
udiv r0, r1, r2 | fbb1 f0f2 | r1=ffffffff r2=80000000 NC | r0=1
";
