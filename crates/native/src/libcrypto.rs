//! libcrypto as it is installed: the library that the distribution's servers, ssh and clients load.
//!
//! keymark has a libcrypto built in. This one is loaded when first asked for, with symbols of its own, and by
//! its own configuration; other builds of it can be loaded at the same time. Keys come in as DER; contexts are set up
//! once, as callers do.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, OsString, c_char, c_int, c_long, c_uchar, c_ulong, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use libloading::os::unix::{RTLD_LOCAL, RTLD_NOW};

use crate::{NativeError, calls};

/// The name by which programs ask the loader for it: OpenSSL 3 and its ABI.
pub const FILE: &str = "libcrypto.so.3";

// The functions of libcrypto that keymark calls, as OpenSSL 3.0's headers declare them.

/// `EVP_PKEY *`, `EVP_PKEY_CTX *`, `EVP_MD_CTX *`, `EC_GROUP *`, `EVP_KEYMGMT *`
type Pointer = *mut c_void;

/// `OPENSSL_VERSION`
const VERSION: c_int = 0;
/// `RSA_PKCS1_PADDING`
const PKCS1: c_int = 1;

/// glibc's: the library's own symbols come before those of the program, which has another libcrypto.
const RTLD_DEEPBIND: c_int = 8;

/// `EVP_PKEY_sign` and those of its form: context, output and its length, input and its length.
type Operate =
    unsafe extern "C" fn(Pointer, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int;
/// `EVP_PKEY_sign_init` and those of its form.
type Begin = unsafe extern "C" fn(Pointer) -> c_int;
/// `d2i_AutoPrivateKey` and `d2i_PUBKEY`.
type Read = unsafe extern "C" fn(*mut Pointer, *mut *const c_uchar, c_long) -> Pointer;

calls! {
    RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
    version = b"OpenSSL_version\0": unsafe extern "C" fn(c_int) -> *const c_char,
    get_error = b"ERR_get_error\0": unsafe extern "C" fn() -> c_ulong,
    clear_error = b"ERR_clear_error\0": unsafe extern "C" fn(),
    reason = b"ERR_reason_error_string\0": unsafe extern "C" fn(c_ulong) -> *const c_char,
    keymgmt_fetch = b"EVP_KEYMGMT_fetch\0":
        unsafe extern "C" fn(Pointer, *const c_char, *const c_char) -> Pointer,
    keymgmt_free = b"EVP_KEYMGMT_free\0": unsafe extern "C" fn(Pointer),
    group_of = b"EC_GROUP_new_by_curve_name\0": unsafe extern "C" fn(c_int) -> Pointer,
    group_free = b"EC_GROUP_free\0": unsafe extern "C" fn(Pointer),
    read_private = b"d2i_AutoPrivateKey\0": Read,
    read_public = b"d2i_PUBKEY\0": Read,
    key_free = b"EVP_PKEY_free\0": unsafe extern "C" fn(Pointer),
    context = b"EVP_PKEY_CTX_new\0": unsafe extern "C" fn(Pointer, Pointer) -> Pointer,
    context_free = b"EVP_PKEY_CTX_free\0": unsafe extern "C" fn(Pointer),
    sign_init = b"EVP_PKEY_sign_init\0": Begin,
    sign = b"EVP_PKEY_sign\0": Operate,
    decrypt_init = b"EVP_PKEY_decrypt_init\0": Begin,
    decrypt = b"EVP_PKEY_decrypt\0": Operate,
    derive_init = b"EVP_PKEY_derive_init\0": Begin,
    derive_peer = b"EVP_PKEY_derive_set_peer\0": unsafe extern "C" fn(Pointer, Pointer) -> c_int,
    derive = b"EVP_PKEY_derive\0": unsafe extern "C" fn(Pointer, *mut c_uchar, *mut usize) -> c_int,
    rsa_padding = b"EVP_PKEY_CTX_set_rsa_padding\0": unsafe extern "C" fn(Pointer, c_int) -> c_int,
    signature_md = b"EVP_PKEY_CTX_set_signature_md\0":
        unsafe extern "C" fn(Pointer, *const c_void) -> c_int,
    sha256 = b"EVP_sha256\0": unsafe extern "C" fn() -> *const c_void,
    digest_context = b"EVP_MD_CTX_new\0": unsafe extern "C" fn() -> Pointer,
    digest_context_free = b"EVP_MD_CTX_free\0": unsafe extern "C" fn(Pointer),
    digest_reset = b"EVP_MD_CTX_reset\0": Begin,
    digest_sign_init = b"EVP_DigestSignInit\0":
        unsafe extern "C" fn(Pointer, *mut Pointer, *const c_void, Pointer, Pointer) -> c_int,
    digest_sign = b"EVP_DigestSign\0": Operate,
}

/// The library, ready.
#[derive(derive_more::Debug)]
#[debug("Libcrypto({version})")]
pub struct Libcrypto {
    calls: Calls,
    version: String,
}

impl Libcrypto {
    /// Loads the library of that name or path at the first call. It stays until the process ends.
    ///
    /// # Errors
    /// The loader's message, or the first function that the library lacks: one of OpenSSL 1.1 lacks `EVP_KEYMGMT_fetch`.
    pub fn load(file: impl AsRef<OsStr>) -> Result<&'static Self, NativeError> {
        static LOADED: Mutex<BTreeMap<OsString, Result<&'static Libcrypto, NativeError>>> =
            Mutex::new(BTreeMap::new());
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let file = file.as_ref();
        let opened = || Self::open(file).map(|opened| &*Box::leak(Box::new(opened)));
        let found = loaded.entry(file.to_owned()).or_insert_with(opened);
        found.clone()
    }

    fn open(file: impl AsRef<OsStr>) -> Result<Self, NativeError> {
        let calls = Calls::load(file)?;
        // SAFETY: any number may be asked for, and has a constant C string.
        let version = unsafe { CStr::from_ptr((calls.version)(VERSION)) };
        let version = version.to_string_lossy().into_owned();
        Ok(Self { calls, version })
    }

    /// `3.0.19 27 Jan 2026`
    pub fn version(&self) -> &str {
        self.version.trim_start_matches("OpenSSL ")
    }

    /// Returns whether it has keys of that name: `RSA`, `EC`, `ED25519`.
    pub fn has_keys_of(&self, name: &CStr) -> bool {
        // SAFETY: null means the default context and no properties; `name` is a C string. What was found is
        // ours to free, which also takes null.
        let found = unsafe {
            let keys = (self.calls.keymgmt_fetch)(ptr::null_mut(), name.as_ptr(), ptr::null());
            (self.calls.keymgmt_free)(keys);
            !keys.is_null()
        };
        self.forget_errors();
        found
    }

    /// Returns whether it has the curve of that number (`OBJ_obj2nid`).
    pub fn has_curve(&self, number: c_int) -> bool {
        // SAFETY: any number may be asked for. The group is ours to free, which also takes
        // null.
        let found = unsafe {
            let group = (self.calls.group_of)(number);
            (self.calls.group_free)(group);
            !group.is_null()
        };
        self.forget_errors();
        found
    }

    /// A private key from its PrivateKeyInfo (RFC 5958).
    pub fn private_key(&'static self, der: &[u8]) -> Result<Key, NativeError> {
        self.read(self.calls.read_private, der)
    }

    /// A public key from its SubjectPublicKeyInfo (RFC 5280).
    pub fn public_key(&'static self, der: &[u8]) -> Result<Key, NativeError> {
        self.read(self.calls.read_public, der)
    }

    fn read(&'static self, read: Read, der: &[u8]) -> Result<Key, NativeError> {
        let mut next = der.as_ptr();
        // SAFETY: `next` points to as many octets as are said; null has a new key made.
        let raw = unsafe { read(ptr::null_mut(), &raw mut next, der.len() as c_long) };
        Owned::of(self, raw, self.calls.key_free).map(Key)
    }

    fn check(&self, status: c_int) -> Result<(), NativeError> {
        if status > 0 {
            Ok(())
        } else {
            Err(self.error())
        }
    }

    /// The first error of this thread; the others are forgotten.
    fn error(&self) -> NativeError {
        // SAFETY: the queue is the thread's own; a code's words are a constant C string, or null.
        unsafe {
            let code = (self.calls.get_error)();
            (self.calls.clear_error)();
            let words = (self.calls.reason)(code);
            let reason = if words.is_null() {
                "it gives no reason".to_owned()
            } else {
                CStr::from_ptr(words).to_string_lossy().into_owned()
            };
            NativeError(format!(
                "{reason} (the installed libcrypto's error {code:08X})"
            ))
        }
    }

    fn forget_errors(&self) {
        // SAFETY: the queue is the thread's own.
        unsafe { (self.calls.clear_error)() }
    }
}

/// Something of the library's, which is freed with this.
struct Owned {
    library: &'static Libcrypto,
    raw: Pointer,
    free: unsafe extern "C" fn(Pointer),
}

impl Owned {
    fn of(
        library: &'static Libcrypto,
        raw: Pointer,
        free: unsafe extern "C" fn(Pointer),
    ) -> Result<Self, NativeError> {
        if raw.is_null() {
            return Err(library.error());
        }
        Ok(Self { library, raw, free })
    }
}

// SAFETY: keys may be used by several threads one after the other, as their references are counted atomically; a context
// belongs to who has it, and may go from one thread to another.
unsafe impl Send for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: it is ours, and of the kind that the function frees.
        unsafe { (self.free)(self.raw) }
    }
}

/// A key.
pub struct Key(Owned);

impl Key {
    /// A context that is set up for that.
    pub fn context(&self, used: Use<'_>) -> Result<Context, NativeError> {
        let library = self.0.library;
        let calls = &library.calls;
        let (begin, operation) = match used {
            Use::Sign | Use::SignPkcs1 => (calls.sign_init, Operation::Of(calls.sign)),
            Use::DecryptPkcs1 => (calls.decrypt_init, Operation::Of(calls.decrypt)),
            Use::Derive(_) => (calls.derive_init, Operation::Derive),
        };
        // SAFETY: the key is valid, and the context takes a reference of its own to it.
        let raw = unsafe { (calls.context)(self.0.raw, ptr::null_mut()) };
        let own = Owned::of(library, raw, calls.context_free)?;
        // SAFETY: the context is valid and owned here.
        library.check(unsafe { begin(own.raw) })?;
        if let Use::SignPkcs1 | Use::DecryptPkcs1 = used {
            // SAFETY: as above.
            library.check(unsafe { (calls.rsa_padding)(own.raw, PKCS1) })?;
        }
        if let Use::SignPkcs1 = used {
            // SAFETY: as above; the digest is a constant.
            library.check(unsafe { (calls.signature_md)(own.raw, (calls.sha256)()) })?;
        }
        if let Use::Derive(peer) = used {
            // SAFETY: as above; it takes a reference of its own to the peer.
            library.check(unsafe { (calls.derive_peer)(own.raw, peer.0.raw) })?;
        }
        Ok(Context { own, operation })
    }

    /// Returns a signer of whole messages: EdDSA.
    pub fn signing_messages(self) -> Result<MessageSigner, NativeError> {
        let library = self.0.library;
        // SAFETY: makes an empty context, which is ours to free.
        let raw = unsafe { (library.calls.digest_context)() };
        let context = Owned::of(library, raw, library.calls.digest_context_free)?;
        Ok(MessageSigner { key: self, context })
    }
}

/// Use of a context.
#[derive(Clone, Copy)]
pub enum Use<'p> {
    /// Signatures of digests.
    Sign,
    /// RSA's (PKCS #1 v1.5) of digests of SHA-256.
    SignPkcs1,
    /// RSA's decryption (PKCS #1 v1.5).
    DecryptPkcs1,
    /// The secret shared with a peer, whose point is validated when the context is made.
    Derive(&'p Key),
}

#[derive(Clone, Copy)]
enum Operation {
    Of(Operate),
    Derive,
}

/// A context that was set up for one operation, to be done many times.
pub struct Context {
    own: Owned,
    operation: Operation,
}

impl Context {
    /// Does it; what derives takes no input. Returns the output's length in bytes.
    pub fn perform(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, NativeError> {
        let mut length = output.len();
        let (library, raw) = (self.own.library, self.own.raw);
        let (from, to) = (input.as_ptr(), output.as_mut_ptr());
        // SAFETY: the context is valid and was initialized for this operation. Both buffers are passed with
        // their lengths; libcrypto refuses an output that is too short.
        let status = unsafe {
            match self.operation {
                Operation::Of(operate) => operate(raw, to, &raw mut length, from, input.len()),
                Operation::Derive => (library.calls.derive)(raw, to, &raw mut length),
            }
        };
        library.check(status).map(|()| length)
    }
}

/// Signs whole messages.
pub struct MessageSigner {
    key: Key,
    context: Owned,
}

impl MessageSigner {
    /// Begins an operation: resets the context.
    pub fn begin(&mut self) -> Result<(), NativeError> {
        let (Owned { library, raw, .. }, key) = (&self.context, self.key.0.raw);
        let none: Pointer = ptr::null_mut();
        // SAFETY: context and key are valid; without a digest the algorithm takes its own, and null has no
        // inner context handed out.
        let status = unsafe {
            (library.calls.digest_reset)(*raw);
            (library.calls.digest_sign_init)(*raw, none.cast(), ptr::null(), none, key)
        };
        library.check(status)
    }

    /// Signs the message; returns the signature's length in bytes.
    pub fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize, NativeError> {
        let Owned { library, raw, .. } = &self.context;
        let mut length = signature.len();
        // SAFETY: the context is valid; one that was not begun is refused. Both buffers are passed with their
        // lengths; libcrypto refuses an output that is too short.
        let status = unsafe {
            let (to, from) = (signature.as_mut_ptr(), message.as_ptr());
            (library.calls.digest_sign)(*raw, to, &raw mut length, from, message.len())
        };
        library.check(status).map(|()| length)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::c_char;

    use openssl::nid::Nid;
    use openssl::pkey::{PKey, Private};
    use openssl::rsa::Rsa;

    use super::*;

    fn installed(key: &PKey<Private>) -> Key {
        let library = Libcrypto::load(FILE).unwrap();
        let der = key.private_key_to_pkcs8().unwrap();
        library.private_key(&der).unwrap()
    }

    #[test]
    fn a_library_that_is_not_there_is_an_error() {
        let error = Libcrypto::open("libcrypto.so.0").unwrap_err();
        assert!(error.to_string().contains("libcrypto.so.0"), "{error}");
    }

    #[test]
    fn it_is_another_than_the_one_that_is_built_in() {
        let library = Libcrypto::load(FILE).unwrap();
        assert!(library.version().starts_with("3."), "{}", library.version());
        let built_in: unsafe extern "C" fn(c_int) -> *const c_char = openssl_sys::OpenSSL_version;
        assert_ne!(library.calls.version as usize, built_in as usize);
        assert!(library.has_keys_of(c"RSA") && library.has_curve(Nid::X9_62_PRIME256V1.as_raw()));
        assert!(!library.has_keys_of(c"CAESAR") && !library.has_curve(Nid::UNDEF.as_raw()));
    }

    #[test]
    fn what_one_signs_the_other_verifies() {
        let key = PKey::from_rsa(Rsa::generate(2048).unwrap()).unwrap();
        let mut context = installed(&key).context(Use::SignPkcs1).unwrap();
        let digest = openssl::sha::sha256(b"message");
        for _ in 0..3 {
            let mut signature = [0; 256];
            assert_eq!(context.perform(&digest, &mut signature), Ok(256));
            let mut verifier =
                openssl::sign::Verifier::new(openssl::hash::MessageDigest::sha256(), &key).unwrap();
            assert!(verifier.verify_oneshot(&signature, b"message").unwrap());
        }
        assert!(context.perform(&digest, &mut [0; 255]).is_err());
        assert!(context.perform(&digest[1..], &mut [0; 256]).is_err());
    }

    #[test]
    fn one_signer_signs_many_messages() {
        let key = PKey::generate_ed25519().unwrap();
        let mut signer = installed(&key).signing_messages().unwrap();
        for message in [b"one".as_slice(), b"two", b""] {
            let mut signature = [0; 64];
            signer.begin().unwrap();
            assert_eq!(signer.sign(message, &mut signature), Ok(64));
            let mut verifier = openssl::sign::Verifier::new_without_digest(&key).unwrap();
            assert!(verifier.verify_oneshot(&signature, message).unwrap());
        }
    }

    #[test]
    fn a_refusal_has_libcryptos_words() {
        let library = Libcrypto::load(FILE).unwrap();
        for garbage in [&b""[..], b"no key", &[0x30, 0x80]] {
            assert!(library.private_key(garbage).is_err() && library.public_key(garbage).is_err());
        }
        let key = installed(&PKey::generate_ed25519().unwrap());
        let error = key.context(Use::DecryptPkcs1).err().unwrap().to_string();
        let (reason, code) = error
            .split_once(" (the installed libcrypto's error ")
            .unwrap();
        assert!(!reason.is_empty() && code != "00000000)", "{error}");
        assert!(
            key.context(Use::Sign).is_err(),
            "it signs messages, no digests"
        );
    }
}
