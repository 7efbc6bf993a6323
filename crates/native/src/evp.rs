//! What the `openssl` crate (0.10.82) does not wrap yet: key generation by algorithm name, key
//! encapsulation, and contexts that sign many messages. Everything else in keymark uses that crate's safe interface.

use std::ffi::{CString, c_int};
use std::ptr;

use foreign_types::ForeignType;
use openssl::error::ErrorStack;
use openssl::pkey::{HasPublic, PKey, PKeyRef, Private};
use openssl::pkey_ctx::PkeyCtx;

/// libcrypto's convention: positive is success.
fn check(status: c_int) -> Result<(), ErrorStack> {
    if status > 0 {
        Ok(())
    } else {
        Err(ErrorStack::get())
    }
}

/// Generates a key of the algorithm that libcrypto calls `name` (`ML-KEM-768`,
/// `SLH-DSA-SHA2-128s`, …; EVP_PKEY_CTX_new_from_name(3)).
pub fn generate(name: &str) -> Result<PKey<Private>, ErrorStack> {
    let name = CString::new(name).map_err(|_| ErrorStack::get())?;
    // SAFETY: a null library context and property query mean the defaults; `name` is a C string
    // that outlives the call, which copies what it needs.
    let ctx = unsafe {
        openssl_sys::EVP_PKEY_CTX_new_from_name(ptr::null_mut(), name.as_ptr(), ptr::null())
    };
    if ctx.is_null() {
        return Err(ErrorStack::get());
    }
    // SAFETY: `ctx` is a valid context that nobody else owns; PkeyCtx frees it when dropped.
    let ctx: PkeyCtx<Private> = unsafe { PkeyCtx::from_ptr(ctx) };
    let mut key = ptr::null_mut();
    // SAFETY: `ctx` is valid; `key` is null, so that a key is allocated and its only reference
    // handed to us.
    unsafe {
        check(openssl_sys::EVP_PKEY_keygen_init(ctx.as_ptr()))?;
        check(openssl_sys::EVP_PKEY_keygen(ctx.as_ptr(), &raw mut key))?;
        Ok(PKey::from_ptr(key))
    }
}

/// A fresh shared secret for the holder of `key`: (ciphertext, secret).
pub fn encapsulate<T: HasPublic>(key: &PKeyRef<T>) -> Result<(Vec<u8>, Vec<u8>), ErrorStack> {
    let ctx = PkeyCtx::new(key)?;
    let (mut wrapped_len, mut secret_len) = (0, 0);
    // SAFETY: `ctx` is valid; null outputs ask for the lengths only.
    unsafe {
        check(openssl_sys::EVP_PKEY_encapsulate_init(
            ctx.as_ptr(),
            ptr::null(),
        ))?;
        check(openssl_sys::EVP_PKEY_encapsulate(
            ctx.as_ptr(),
            ptr::null_mut(),
            &raw mut wrapped_len,
            ptr::null_mut(),
            &raw mut secret_len,
        ))?;
    }
    let (mut wrapped, mut secret) = (vec![0; wrapped_len], vec![0; secret_len]);
    // SAFETY: both buffers have the lengths just reported, which are passed along.
    unsafe {
        check(openssl_sys::EVP_PKEY_encapsulate(
            ctx.as_ptr(),
            wrapped.as_mut_ptr(),
            &raw mut wrapped_len,
            secret.as_mut_ptr(),
            &raw mut secret_len,
        ))?;
    }
    wrapped.truncate(wrapped_len);
    secret.truncate(secret_len);
    Ok((wrapped, secret))
}

/// A context set up once for many decapsulations.
#[derive(derive_more::Debug)]
#[debug("Decapsulator")]
pub struct Decapsulator {
    ctx: PkeyCtx<Private>,
}

impl Decapsulator {
    /// Sets up for `key`.
    pub fn new(key: &PKeyRef<Private>) -> Result<Self, ErrorStack> {
        let ctx = PkeyCtx::new(key)?;
        // SAFETY: `ctx` is valid, and null parameters mean the defaults.
        unsafe {
            check(openssl_sys::EVP_PKEY_decapsulate_init(
                ctx.as_ptr(),
                ptr::null(),
            ))?;
        }
        Ok(Self { ctx })
    }

    /// The shared secret in `wrapped`, written to `secret`; returns its length in bytes.
    pub fn decapsulate(&mut self, wrapped: &[u8], secret: &mut [u8]) -> Result<usize, ErrorStack> {
        let mut length = secret.len();
        // SAFETY: `ctx` is valid and initialised for decapsulation; both buffers are passed with
        // their lengths, and libcrypto refuses a `secret` that is too short.
        unsafe {
            check(openssl_sys::EVP_PKEY_decapsulate(
                self.ctx.as_ptr(),
                secret.as_mut_ptr(),
                &raw mut length,
                wrapped.as_ptr(),
                wrapped.len(),
            ))?;
        }
        Ok(length)
    }
}

/// Sets a context of a key up for many signatures of whole messages: EdDSA, ML-DSA, SLH-DSA.
///
/// `EVP_DigestSign`, which the openssl crate offers for these, ends its context with every
/// signature; `EVP_PKEY_sign` (EVP_PKEY_sign_message_init(3), since OpenSSL 3.4) does not.
pub fn sign_message_init(ctx: &mut PkeyCtx<Private>) -> Result<(), ErrorStack> {
    // SAFETY: `ctx` is valid; the null algorithm means the key's own, null parameters the
    // defaults.
    check(unsafe {
        openssl_sys::EVP_PKEY_sign_message_init(ctx.as_ptr(), ptr::null_mut(), ptr::null())
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn what_is_encapsulated_is_decapsulated() {
        for name in ["ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"] {
            let key = generate(name).unwrap();
            let (wrapped, secret) = encapsulate(&key).unwrap();
            let mut decapsulator = Decapsulator::new(&key).unwrap();
            for _ in 0..3 {
                let mut out = [0; 64];
                let length = decapsulator.decapsulate(&wrapped, &mut out).unwrap();
                assert_eq!(out[..length], secret);
            }
        }
    }

    #[test]
    fn one_context_signs_many_messages() {
        let keys = [
            PKey::generate_ed25519().unwrap(),
            PKey::generate_ed448().unwrap(),
            generate("ML-DSA-44").unwrap(),
            generate("SLH-DSA-SHA2-128f").unwrap(),
        ];
        for key in keys {
            let mut signer = PkeyCtx::new(&key).unwrap();
            sign_message_init(&mut signer).unwrap();
            for message in [b"one".as_slice(), b"two", b""] {
                let mut signature = vec![0; key.size()];
                let length = signer.sign(message, Some(&mut signature)).unwrap();
                let mut verifier = openssl::sign::Verifier::new_without_digest(&key).unwrap();
                assert!(
                    verifier
                        .verify_oneshot(&signature[..length], message)
                        .unwrap()
                );
            }
        }
    }

    #[test]
    fn wrong_lengths_are_errors() {
        let key = generate("ML-KEM-768").unwrap();
        let (wrapped, _) = encapsulate(&key).unwrap();
        let mut decapsulator = Decapsulator::new(&key).unwrap();
        assert!(
            decapsulator
                .decapsulate(&wrapped[1..], &mut [0; 64])
                .is_err()
        );
        assert!(decapsulator.decapsulate(&wrapped, &mut [0; 31]).is_err());
    }

    #[test]
    fn a_foreign_name_or_key_is_an_error() {
        assert!(generate("ML-KEM-7").is_err());
        assert!(encapsulate(&PKey::generate_ed25519().unwrap()).is_err());
        assert!(Decapsulator::new(&PKey::generate_ed25519().unwrap()).is_err());
    }
}
