//! Calls that the `openssl` crate (0.10.82) does not wrap yet: key generation by algorithm name, key
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
    let mut ctx: PkeyCtx<()> = unsafe { PkeyCtx::from_ptr(ctx) };
    ctx.keygen_init()?;
    ctx.keygen()
}

/// A fresh shared secret for the holder of `key`: (ciphertext, secret).
pub fn encapsulate<T: HasPublic>(key: &PKeyRef<T>) -> Result<(Vec<u8>, Vec<u8>), ErrorStack> {
    let ctx = PkeyCtx::new(key)?;
    // What a key has for its size is a ciphertext's, and no secret is longer than a hash.
    let (mut wrapped, mut secret) = (vec![0; key.size()], vec![0; 64]);
    let (mut wrapped_len, mut secret_len) = (wrapped.len(), secret.len());
    // SAFETY: `ctx` is valid, and null parameters mean the defaults; both buffers are passed with their lengths, and
    // libcrypto refuses those that are too short.
    unsafe {
        check(openssl_sys::EVP_PKEY_encapsulate_init(
            ctx.as_ptr(),
            ptr::null(),
        ))?;
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

/// Sets a context of a key up for many decapsulations.
pub fn decapsulate_init(ctx: &mut PkeyCtx<Private>) -> Result<(), ErrorStack> {
    // SAFETY: `ctx` is valid, and null parameters mean the defaults.
    check(unsafe { openssl_sys::EVP_PKEY_decapsulate_init(ctx.as_ptr(), ptr::null()) })
}

/// The shared secret in `wrapped`, written to `secret`; returns its length in bytes.
pub fn decapsulate(
    ctx: &mut PkeyCtx<Private>,
    wrapped: &[u8],
    secret: &mut [u8],
) -> Result<usize, ErrorStack> {
    let mut length = secret.len();
    // SAFETY: `ctx` is valid; one that was not set up for it is refused. Both buffers are passed with their lengths, and
    // libcrypto refuses a `secret` that is too short.
    check(unsafe {
        openssl_sys::EVP_PKEY_decapsulate(
            ctx.as_ptr(),
            secret.as_mut_ptr(),
            &raw mut length,
            wrapped.as_ptr(),
            wrapped.len(),
        )
    })?;
    Ok(length)
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
mod tests {
    use super::*;

    fn decapsulator(key: &PKey<Private>) -> Result<PkeyCtx<Private>, ErrorStack> {
        let mut ctx = PkeyCtx::new(key)?;
        decapsulate_init(&mut ctx).map(|()| ctx)
    }

    #[test]
    fn what_is_encapsulated_is_decapsulated() {
        for (name, length) in [
            ("ML-KEM-512", 768),
            ("ML-KEM-768", 1088),
            ("ML-KEM-1024", 1568),
        ] {
            let key = generate(name).unwrap();
            let (wrapped, secret) = encapsulate(&key).unwrap();
            // FIPS 203 table 3.
            assert_eq!((wrapped.len(), secret.len()), (length, 32));
            let mut ctx = decapsulator(&key).unwrap();
            for _ in 0..3 {
                let mut out = [0; 64];
                let length = decapsulate(&mut ctx, &wrapped, &mut out).unwrap();
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
        let mut ctx = decapsulator(&key).unwrap();
        assert!(decapsulate(&mut ctx, &wrapped[1..], &mut [0; 64]).is_err());
        assert!(decapsulate(&mut ctx, &wrapped, &mut [0; 31]).is_err());
        let mut unset = PkeyCtx::new(&key).unwrap();
        assert!(decapsulate(&mut unset, &wrapped, &mut [0; 64]).is_err());
    }

    #[test]
    fn a_foreign_name_or_key_is_an_error() {
        assert!(generate("ML-KEM-7").is_err());
        assert!(encapsulate(&PKey::generate_ed25519().unwrap()).is_err());
        assert!(decapsulator(&PKey::generate_ed25519().unwrap()).is_err());
    }
}
