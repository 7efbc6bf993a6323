//! Elgamal decryption, which OpenSSL lacks, on its big numbers.

use std::sync::Arc;

use keymark_bench::workload::copy_answer;
use openssl::bn::{BigNum, BigNumContext};
use openssl::error::ErrorStack;

/// A private key.
pub struct Elgamal {
    public: Arc<ElgamalPublic>,
    x: BigNum,
}

/// Its public half: prime, generator, y = g^x mod p.
pub(crate) struct ElgamalPublic {
    p: BigNum,
    g: BigNum,
    y: BigNum,
}

impl Elgamal {
    /// A key in the MODP group of RFC 3526 with a prime of `bits` bits; the exponent is short, as
    /// GnuPG makes it (twice the strength, NIST SP 800-57 Table 2, with a margin).
    pub(crate) fn generate(bits: u32) -> Result<Self, ErrorStack> {
        let (p, exponent_bits) = match bits {
            2048 => (BigNum::get_rfc3526_prime_2048()?, 340),
            3072 => (BigNum::get_rfc3526_prime_3072()?, 400),
            _ => (BigNum::get_rfc3526_prime_4096()?, 460),
        };
        let g = BigNum::from_u32(2)?;
        let mut x = BigNum::new()?;
        x.rand(exponent_bits, openssl::bn::MsbOption::ONE, false)?;
        x.set_const_time();
        let mut y = BigNum::new()?;
        y.mod_exp(&g, &x, &p, &mut *BigNumContext::new()?)?;
        let public = Arc::new(ElgamalPublic { p, g, y });
        Ok(Self { public, x })
    }

    /// The key of [`Self::numbers`].
    pub(crate) fn of_numbers(numbers: [&[u8]; 4]) -> Result<Self, ErrorStack> {
        let [p, g, y, x] = numbers.map(BigNum::from_slice);
        let mut x = x?;
        x.set_const_time();
        let public = ElgamalPublic {
            p: p?,
            g: g?,
            y: y?,
        };
        Ok(Self {
            public: Arc::new(public),
            x,
        })
    }

    /// Length of the prime in bytes.
    pub(crate) fn size(&self) -> usize {
        usize::try_from(self.public.p.num_bytes()).unwrap_or(0)
    }

    /// The public half.
    pub(crate) fn public(&self) -> Arc<ElgamalPublic> {
        Arc::clone(&self.public)
    }

    /// p, g, y and x, big-endian.
    pub(crate) fn numbers(&self) -> [Vec<u8>; 4] {
        let ElgamalPublic { p, g, y } = self.public.as_ref();
        [p, g, y, &self.x].map(|number| number.to_vec())
    }

    /// Decryption, with everything allocated.
    pub(super) fn decryptor(&self) -> Result<Decryptor, ErrorStack> {
        // b·a^(p-1-x): one exponentiation, no inversion (Menezes et al., Handbook of Applied
        // Cryptography, 1996, algorithm 8.18).
        let (public, mut exponent) = (self.public(), BigNum::new()?);
        exponent.checked_sub(&public.p, &self.x)?;
        exponent.sub_word(1)?;
        exponent.set_const_time();
        Ok(Decryptor {
            public,
            exponent,
            shared: BigNum::new()?,
            message: BigNum::new()?,
            ctx: BigNumContext::new()?,
        })
    }
}

pub(super) struct Decryptor {
    public: Arc<ElgamalPublic>,
    exponent: BigNum,
    shared: BigNum,
    message: BigNum,
    ctx: BigNumContext,
}

impl Decryptor {
    pub(super) fn decrypt(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, String> {
        let (a, b) = input.split_at(input.len() / 2);
        let p = &self.public.p;
        let decrypted = BigNum::from_slice(a)
            .and_then(|a| self.shared.mod_exp(&a, &self.exponent, p, &mut self.ctx))
            .and_then(|()| BigNum::from_slice(b))
            .and_then(|b| self.message.mod_mul(&b, &self.shared, p, &mut self.ctx));
        decrypted.map_err(|error| error.to_string())?;
        let copied = copy_answer("BN_bn2bin", &self.message.to_vec(), output);
        copied.map_err(|error| error.to_string())
    }
}

impl ElgamalPublic {
    /// (g^k, m·y^k) for a fresh k, each padded to the length of the prime, one after the other.
    pub(crate) fn encrypt(&self, message: &[u8]) -> Result<Vec<u8>, ErrorStack> {
        let mut ctx = BigNumContext::new()?;
        let (mut k, mut a, mut b) = (BigNum::new()?, BigNum::new()?, BigNum::new()?);
        self.p.rand_range(&mut k)?;
        a.mod_exp(&self.g, &k, &self.p, &mut ctx)?;
        let mut shared = BigNum::new()?;
        shared.mod_exp(&self.y, &k, &self.p, &mut ctx)?;
        let message = BigNum::from_slice(message)?;
        b.mod_mul(&shared, &message, &self.p, &mut ctx)?;
        let width = self.p.num_bytes();
        Ok([a.to_vec_padded(width)?, b.to_vec_padded(width)?].concat())
    }
}
