//! Multiplications and divisions, DSP forms included (A7.7.x by mnemonic).

use super::registers::Registers;
use crate::instruction::{Flags, Half, Halves, Long, LongDsp, Multiply, Register, Sign};

const fn half(value: u32, half: Half) -> i64 {
    match half {
        Half::Bottom => value as i16 as i64,
        Half::Top => (value >> 16) as i16 as i64,
    }
}

/// Products of the like halves (or, exchanged, the unlike ones): bottom and top.
const fn dual(n: u32, m: u32, exchange: Half) -> (i64, i64) {
    let m = match exchange {
        Half::Bottom => m,
        Half::Top => m.rotate_left(16),
    };
    (
        half(n, Half::Bottom) * half(m, Half::Bottom),
        half(n, Half::Top) * half(m, Half::Top),
    )
}

const fn product(n: u32, m: u32, halves: Halves) -> i64 {
    half(n, halves.n) * half(m, halves.m)
}

const fn pair(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// RdHi:RdLo of the long products, given what they held.
#[inline(always)]
pub(super) const fn long(long: Long, n: u32, m: u32, high: u32, low: u32) -> u64 {
    match long {
        Long::Umull => n as u64 * m as u64,
        Long::Smull => (n as i32 as i64 * m as i32 as i64) as u64,
        Long::Umlal => (n as u64 * m as u64).wrapping_add(pair(high, low)),
        Long::Smlal => ((n as i32 as i64 * m as i32 as i64) as u64).wrapping_add(pair(high, low)),
        // Cannot overflow: (2³²−1)² + 2 (2³²−1) = 2⁶⁴−1.
        Long::Umaal => n as u64 * m as u64 + high as u64 + low as u64,
    }
}

/// RdHi:RdLo of the DSP products.
pub(super) const fn long_dsp(long: LongDsp, n: u32, m: u32, high: u32, low: u32) -> u64 {
    let sum = match long {
        LongDsp::Smlal(halves) => product(n, m, halves),
        LongDsp::Smlald(exchange) => {
            let (bottom, top) = dual(n, m, exchange);
            bottom + top
        }
        LongDsp::Smlsld(exchange) => {
            let (bottom, top) = dual(n, m, exchange);
            bottom - top
        }
    };
    pair(high, low).wrapping_add(sum as u64)
}

/// SDIV and UDIV; by zero gives zero, since DIV_0_TRP is clear after reset (A7.7.127).
#[inline(always)]
pub(super) const fn divide(sign: Sign, n: u32, m: u32) -> u32 {
    match (sign, m) {
        (_, 0) => 0,
        (Sign::Signed, _) => (n as i32).wrapping_div(m as i32) as u32,
        (Sign::Unsigned, _) => n / m,
    }
}

impl Registers {
    /// MUL to USADA8.
    #[inline(always)]
    pub(super) fn multiply(
        &mut self,
        multiply: Multiply,
        flags: Flags,
        rd: Register,
        (n, m): (u32, u32),
        ra: Register,
    ) {
        let result = match multiply {
            Multiply::Mul => n.wrapping_mul(m),
            Multiply::Mla => n.wrapping_mul(m).wrapping_add(self.get(ra)),
            Multiply::Mls => self.get(ra).wrapping_sub(n.wrapping_mul(m)),
            _ => self.multiply_dsp(multiply, n, m, ra),
        };
        if flags == Flags::Set {
            self.set_nz(result);
        }
        self.set(rd, result);
    }

    fn multiply_dsp(&mut self, multiply: Multiply, n: u32, m: u32, ra: Register) -> u32 {
        let addend = if ra == Register::PC { 0 } else { self.get(ra) };
        let (signed, whole) = (
            i64::from(addend as i32),
            i64::from(n as i32) * i64::from(m as i32),
        );
        let sum = match multiply {
            Multiply::Smla(halves) => product(n, m, halves) + signed,
            Multiply::Smlaw(top) => ((i64::from(n as i32) * half(m, top)) >> 16) + signed,
            Multiply::Smlad(exchange) => {
                let (bottom, top) = dual(n, m, exchange);
                bottom + top + signed
            }
            Multiply::Smlsd(exchange) => {
                let (bottom, top) = dual(n, m, exchange);
                bottom - top + signed
            }
            Multiply::Smmla(round) => return most_significant(signed, whole, round),
            Multiply::Smmls(round) => return most_significant(signed, -whole, round),
            _ => return addend.wrapping_add(absolute_differences(n, m)),
        };
        // Q is set when the sum does not fit 32 bits (A7.7.141 and others).
        if i64::from(sum as i32) != sum {
            self.saturated = true;
        }
        sum as u32
    }
}

/// The high word of a:0 + product, rounded by adding half where asked.
const fn most_significant(addend: i64, product: i64, round: Half) -> u32 {
    let rounding = match round {
        Half::Bottom => 0,
        Half::Top => 0x8000_0000,
    };
    ((addend << 32).wrapping_add(product).wrapping_add(rounding) >> 32) as u32
}

/// USAD8: the sum of the absolute differences of the bytes.
fn absolute_differences(n: u32, m: u32) -> u32 {
    n.to_le_bytes()
        .iter()
        .zip(m.to_le_bytes())
        .map(|(n, m)| u32::from(n.abs_diff(m)))
        .sum()
}
