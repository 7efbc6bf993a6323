//! Parallel additions and subtractions, and SEL.

pub const TABLE: &str = "\
# Wrapping, signed: GE says which results are not negative
sadd16 r0, r1, r2 | fa91 f002 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=ffff0000 ge=3
sadd16 r0, r1, r2 | fa91 f002 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=1000000 ge=f
sadd16 r0, r1, r2 | fa91 f002 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=acf03568 ge=3
sadd16 r0, r1, r2 | fa91 f002 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=1feffff ge=c
sasx r0, r1, r2 | faa1 f002 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=10000 ge=3
sasx r0, r1, r2 | faa1 f002 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=7f817d81 ge=3
sasx r0, r1, r2 | faa1 f002 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=f124bbbc ge=3
sasx r0, r1, r2 | faa1 f002 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=80fe7f01 ge=c
ssax r0, r1, r2 | fae1 f002 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=fffffffe ge=3
ssax r0, r1, r2 | fae1 f002 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=7e81817f ge=f
ssax r0, r1, r2 | fae1 f002 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=3344f134 ge=c
ssax r0, r1, r2 | fae1 f002 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=810080ff ge=0
ssub16 r0, r1, r2 | fad1 f002 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=1fffe ge=3
ssub16 r0, r1, r2 | fad1 f002 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=fd02ff00 ge=3
ssub16 r0, r1, r2 | fad1 f002 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=77787788 ge=f
ssub16 r0, r1, r2 | fad1 f002 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=1 ge=c
sadd8 r0, r1, r2 | fa81 f002 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=ffffff00 ge=1
sadd8 r0, r1, r2 | fa81 f002 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=ff00 ge=c
sadd8 r0, r1, r2 | fa81 f002 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=acf03468 ge=3
sadd8 r0, r1, r2 | fa81 f002 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=feffff ge=8
ssub8 r0, r1, r2 | fac1 f002 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=101fffe ge=6
ssub8 r0, r1, r2 | fac1 f002 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=fe02ff00 ge=7
ssub8 r0, r1, r2 | fac1 f002 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=78787888 ge=f
ssub8 r0, r1, r2 | fac1 f002 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=101 ge=d

# Wrapping, unsigned: GE is the carry
uadd16 r0, r1, r2 | fa91 f042 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=ffff0000 ge=3
uadd16 r0, r1, r2 | fa91 f042 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=1000000 ge=f
uadd16 r0, r1, r2 | fa91 f042 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=acf03568 ge=3
uadd16 r0, r1, r2 | fa91 f042 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=1feffff ge=0
uasx r0, r1, r2 | faa1 f042 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=10000 ge=f
uasx r0, r1, r2 | faa1 f042 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=7f817d81 ge=f
uasx r0, r1, r2 | faa1 f042 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=f124bbbc ge=0
uasx r0, r1, r2 | faa1 f042 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=80fe7f01 ge=3
usax r0, r1, r2 | fae1 f042 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=fffffffe ge=0
usax r0, r1, r2 | fae1 f042 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=7e81817f ge=c
usax r0, r1, r2 | fae1 f042 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=3344f134 ge=0
usax r0, r1, r2 | fae1 f042 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=810080ff ge=0
usub16 r0, r1, r2 | fad1 f042 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=1fffe ge=c
usub16 r0, r1, r2 | fad1 f042 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=fd02ff00 ge=c
usub16 r0, r1, r2 | fad1 f042 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=77787788 ge=0
usub16 r0, r1, r2 | fad1 f042 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=1 ge=f
uadd8 r0, r1, r2 | fa81 f042 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=ffffff00 ge=1
uadd8 r0, r1, r2 | fa81 f042 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=ff00 ge=d
uadd8 r0, r1, r2 | fa81 f042 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=acf03468 ge=3
uadd8 r0, r1, r2 | fa81 f042 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=feffff ge=4
usub8 r0, r1, r2 | fac1 f042 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=101fffe ge=9
usub8 r0, r1, r2 | fac1 f042 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=fe02ff00 ge=9
usub8 r0, r1, r2 | fac1 f042 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=78787888 ge=0
usub8 r0, r1, r2 | fac1 f042 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=101 ge=e

# Saturating, signed; neither Q nor GE change
qadd16 r0, r1, r2 | fa91 f012 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=ffff0000
qadd16 r0, r1, r2 | fa91 f012 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=1000000
qadd16 r0, r1, r2 | fa91 f012 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=acf03568
qadd16 r0, r1, r2 | fa91 f012 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=1feffff
qasx r0, r1, r2 | faa1 f012 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=80000000
qasx r0, r1, r2 | faa1 f012 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=80007d81
qasx r0, r1, r2 | faa1 f012 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=f1247fff
qasx r0, r1, r2 | faa1 f012 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=7fff8000
qsax r0, r1, r2 | fae1 f012 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=ffff7fff
qsax r0, r1, r2 | fae1 f012 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=7e817fff
qsax r0, r1, r2 | fae1 f012 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=3344f134
qsax r0, r1, r2 | fae1 f012 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=810080ff
qsub16 r0, r1, r2 | fad1 f012 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=80007fff
qsub16 r0, r1, r2 | fad1 f012 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=fd027fff
qsub16 r0, r1, r2 | fad1 f012 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=77787788
qsub16 r0, r1, r2 | fad1 f012 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=8000
qadd8 r0, r1, r2 | fa81 f012 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=ffffff00
qadd8 r0, r1, r2 | fa81 f012 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=ff80
qadd8 r0, r1, r2 | fa81 f012 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=acf03468
qadd8 r0, r1, r2 | fa81 f012 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=feffff
qsub8 r0, r1, r2 | fac1 f012 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=80017ffe
qsub8 r0, r1, r2 | fac1 f012 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=fe027f00
qsub8 r0, r1, r2 | fac1 f012 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=7878787f
qsub8 r0, r1, r2 | fac1 f012 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=8001

# Saturating, unsigned
uqadd16 r0, r1, r2 | fa91 f052 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=ffffffff
uqadd16 r0, r1, r2 | fa91 f052 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=ffffffff
uqadd16 r0, r1, r2 | fa91 f052 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=acf0ffff
uqadd16 r0, r1, r2 | fa91 f052 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=1feffff
uqasx r0, r1, r2 | faa1 f052 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=ffff0000
uqasx r0, r1, r2 | faa1 f052 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=ffff7d81
uqasx r0, r1, r2 | faa1 f052 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=f1240000
uqasx r0, r1, r2 | faa1 f052 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=80fe7f01
uqsax r0, r1, r2 | fae1 f052 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=fffe
uqsax r0, r1, r2 | fae1 f052 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=7e81817f
uqsax r0, r1, r2 | fae1 f052 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=f134
uqsax r0, r1, r2 | fae1 f052 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=80ff
uqsub16 r0, r1, r2 | fad1 f052 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=10000
uqsub16 r0, r1, r2 | fad1 f052 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=fd020000
uqsub16 r0, r1, r2 | fad1 f052 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=0
uqsub16 r0, r1, r2 | fad1 f052 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=1
uqadd8 r0, r1, r2 | fa81 f052 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=ffffffff
uqadd8 r0, r1, r2 | fa81 f052 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=ffffffff
uqadd8 r0, r1, r2 | fa81 f052 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=acf0ffff
uqadd8 r0, r1, r2 | fa81 f052 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=ffffff
uqsub8 r0, r1, r2 | fac1 f052 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=10000fe
uqsub8 r0, r1, r2 | fac1 f052 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=fe000000
uqsub8 r0, r1, r2 | fac1 f052 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=0
uqsub8 r0, r1, r2 | fac1 f052 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=100

# Halving, signed
shadd16 r0, r1, r2 | fa91 f022 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=ffff0000
shadd16 r0, r1, r2 | fa91 f022 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=800000
shadd16 r0, r1, r2 | fa91 f022 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=d6781ab4
shadd16 r0, r1, r2 | fa91 f022 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=ffffff
shasx r0, r1, r2 | faa1 f022 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=80000000
shasx r0, r1, r2 | faa1 f022 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=bfc03ec0
shasx r0, r1, r2 | faa1 f022 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=f8925dde
shasx r0, r1, r2 | faa1 f022 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=407fbf80
shsax r0, r1, r2 | fae1 f022 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=ffff7fff
shsax r0, r1, r2 | fae1 f022 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=3f4040bf
shsax r0, r1, r2 | fae1 f022 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=19a2f89a
shsax r0, r1, r2 | fae1 f022 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=c080c07f
shsub16 r0, r1, r2 | fad1 f022 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=80007fff
shsub16 r0, r1, r2 | fad1 f022 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=fe817f80
shsub16 r0, r1, r2 | fad1 f022 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=3bbc3bc4
shsub16 r0, r1, r2 | fad1 f022 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=8000
shadd8 r0, r1, r2 | fa81 f022 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=ffffff00
shadd8 r0, r1, r2 | fa81 f022 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=ff80
shadd8 r0, r1, r2 | fa81 f022 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=d6f81a34
shadd8 r0, r1, r2 | fa81 f022 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=ffffff
shsub8 r0, r1, r2 | fac1 f022 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=80007fff
shsub8 r0, r1, r2 | fac1 f022 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=ff017f00
shsub8 r0, r1, r2 | fac1 f022 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=3c3c3c44
shsub8 r0, r1, r2 | fac1 f022 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=8000

# Halving, unsigned
uhadd16 r0, r1, r2 | fa91 f062 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=7fff8000
uhadd16 r0, r1, r2 | fa91 f062 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=80808000
uhadd16 r0, r1, r2 | fa91 f062 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=56789ab4
uhadd16 r0, r1, r2 | fa91 f062 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=ff7fff
uhasx r0, r1, r2 | faa1 f062 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=80000000
uhasx r0, r1, r2 | faa1 f062 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=bfc03ec0
uhasx r0, r1, r2 | faa1 f062 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=7892ddde
uhasx r0, r1, r2 | faa1 f062 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=407f3f80
uhsax r0, r1, r2 | fae1 f062 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=ffff7fff
uhsax r0, r1, r2 | fae1 f062 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=3f4040bf
uhsax r0, r1, r2 | fae1 f062 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=99a2789a
uhsax r0, r1, r2 | fae1 f062 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=c080407f
uhsub16 r0, r1, r2 | fad1 f062 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=ffff
uhsub16 r0, r1, r2 | fad1 f062 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=7e81ff80
uhsub16 r0, r1, r2 | fad1 f062 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=bbbcbbc4
uhsub16 r0, r1, r2 | fad1 f062 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=0
uhadd8 r0, r1, r2 | fa81 f062 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=7f7f7f80
uhadd8 r0, r1, r2 | fa81 f062 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=80807f80
uhadd8 r0, r1, r2 | fa81 f062 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=56789ab4
uhadd8 r0, r1, r2 | fa81 f062 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=ff7f7f
uhsub8 r0, r1, r2 | fac1 f062 | r1=80007fff r2=7fff8001 NZCV ge=9 | r0=80ff7f
uhsub8 r0, r1, r2 | fac1 f062 | r1=ff017f80 r2=1ff8080 NZCV ge=9 | r0=7f81ff00
uhsub8 r0, r1, r2 | fac1 f062 | r1=12345678 r2=9abcdef0 NZCV ge=9 | r0=bcbcbcc4
uhsub8 r0, r1, r2 | fac1 f062 | r1=ff8000 r2=ff7fff NZCV ge=9 | r0=80

# SEL
sel r0, r1, r2 | faa1 f082 | r1=11223344 r2=aabbccdd ge=0 | r0=aabbccdd
sel r0, r1, r2 | faa1 f082 | r1=11223344 r2=aabbccdd ge=1 | r0=aabbcc44
sel r0, r1, r2 | faa1 f082 | r1=11223344 r2=aabbccdd ge=2 | r0=aabb33dd
sel r0, r1, r2 | faa1 f082 | r1=11223344 r2=aabbccdd ge=3 | r0=aabb3344
sel r0, r1, r2 | faa1 f082 | r1=11223344 r2=aabbccdd ge=4 | r0=aa22ccdd
sel r0, r1, r2 | faa1 f082 | r1=11223344 r2=aabbccdd ge=5 | r0=aa22cc44
sel r0, r1, r2 | faa1 f082 | r1=11223344 r2=aabbccdd ge=6 | r0=aa2233dd
sel r0, r1, r2 | faa1 f082 | r1=11223344 r2=aabbccdd ge=7 | r0=aa223344
sel r0, r1, r2 | faa1 f082 | r1=11223344 r2=aabbccdd ge=8 | r0=11bbccdd
sel r0, r1, r2 | faa1 f082 | r1=11223344 r2=aabbccdd ge=9 | r0=11bbcc44
sel r0, r1, r2 | faa1 f082 | r1=11223344 r2=aabbccdd ge=a | r0=11bb33dd
sel r0, r1, r2 | faa1 f082 | r1=11223344 r2=aabbccdd ge=b | r0=11bb3344
sel r0, r1, r2 | faa1 f082 | r1=11223344 r2=aabbccdd ge=c | r0=1122ccdd
sel r0, r1, r2 | faa1 f082 | r1=11223344 r2=aabbccdd ge=d | r0=1122cc44
sel r0, r1, r2 | faa1 f082 | r1=11223344 r2=aabbccdd ge=e | r0=112233dd
sel r0, r1, r2 | faa1 f082 | r1=11223344 r2=aabbccdd ge=f | r0=11223344
";
