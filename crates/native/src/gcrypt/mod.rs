//! libgcrypt as it is installed: the library that gpg-agent loads and calculates with.
//!
//! It is loaded when first asked for, so that keymark runs without it. Keys and data go in and results
//! come out as [S-expressions](sexp); a key is put into the library's secure memory, as gpg-agent does,
//! since libgcrypt takes other paths with a secret that is there (its mpi/ec.c).

pub mod sexp;

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::OnceLock;

use libloading::os::unix::{RTLD_LAZY, RTLD_LOCAL};

use crate::{NativeError, calls};

/// The name by which programs ask the loader for it; 20 is the number of its ABI since 1.6.
pub const FILE: &str = "libgcrypt.so.20";

/// Secure memory at the start and what is added when it is full, in bytes: gpg-agent's size.
const SECURE_MEMORY: c_uint = 65_536;

// The functions of libgcrypt that keymark calls, as gcrypt.h declares them (1.8 to 1.11).

/// `gcry_sexp_t`
type RawExpression = *mut c_void;

/// `gcry_error_t`: the source in the upper bits, the code in the lower.
type RawError = c_uint;

/// `gcry_pk_sign` and `gcry_pk_decrypt`: the result, data and key.
type Operate = unsafe extern "C" fn(*mut RawExpression, RawExpression, RawExpression) -> RawError;

/// `GPG_ERR_CODE_MASK`
const CODE_MASK: c_uint = 0xFFFF;

/// `GCRYSEXP_FMT_CANON`
const CANONICAL: c_int = 1;

// Commands of gcry_control and gcry_pk_algo_info (`enum gcry_ctl_cmds`).
const TEST_ALGO: c_int = 8;
const INIT_SECMEM: c_int = 24;
const DISABLE_SECMEM_WARN: c_int = 27;
const INITIALIZATION_FINISHED: c_int = 38;
const AUTO_EXPAND_SECMEM: c_int = 78;

calls! {
    RTLD_LAZY | RTLD_LOCAL;
    check_version = b"gcry_check_version\0": unsafe extern "C" fn(*const c_char) -> *const c_char,
    control = b"gcry_control\0": unsafe extern "C" fn(c_int, ...) -> RawError,
    strerror = b"gcry_strerror\0": unsafe extern "C" fn(RawError) -> *const c_char,
    malloc_secure = b"gcry_malloc_secure\0": unsafe extern "C" fn(usize) -> *mut c_void,
    free = b"gcry_free\0": unsafe extern "C" fn(*mut c_void),
    sexp_new = b"gcry_sexp_new\0":
        unsafe extern "C" fn(*mut RawExpression, *const c_void, usize, c_int) -> RawError,
    sexp_release = b"gcry_sexp_release\0": unsafe extern "C" fn(RawExpression),
    sexp_sprint = b"gcry_sexp_sprint\0":
        unsafe extern "C" fn(RawExpression, c_int, *mut c_void, usize) -> usize,
    pk_sign = b"gcry_pk_sign\0": Operate,
    pk_decrypt = b"gcry_pk_decrypt\0": Operate,
    pk_map_name = b"gcry_pk_map_name\0": unsafe extern "C" fn(*const c_char) -> c_int,
    pk_algo_info = b"gcry_pk_algo_info\0":
        unsafe extern "C" fn(c_int, c_int, *mut c_void, *mut usize) -> RawError,
    pk_get_curve = b"gcry_pk_get_curve\0":
        unsafe extern "C" fn(RawExpression, c_int, *mut c_uint) -> *const c_char,
}

/// The library, ready.
#[derive(derive_more::Debug)]
#[debug("Libgcrypt({version})")]
pub struct Libgcrypt {
    calls: Calls,
    version: String,
}

impl Libgcrypt {
    /// The installed library, loaded at the first call. It stays until the process ends: what it has
    /// set up cannot be undone.
    pub fn load() -> Result<&'static Self, NativeError> {
        static LOADED: OnceLock<Result<Libgcrypt, NativeError>> = OnceLock::new();
        let loaded = LOADED.get_or_init(|| Self::open(FILE));
        loaded.as_ref().map_err(Clone::clone)
    }

    fn open(file: &str) -> Result<Self, NativeError> {
        let calls = Calls::load(file)?;
        // SAFETY: null asks for the version, whatever it is; this call comes before any other, as
        // libgcrypt demands, and `OnceLock` lets one thread only get here.
        let version = unsafe { (calls.check_version)(ptr::null()) };
        if version.is_null() {
            let reason = format!("{file} does not report its version");
            return Err(NativeError(reason));
        }
        // SAFETY: a version is a constant C string of the library, which is never unloaded.
        let version = unsafe { CStr::from_ptr(version) };
        let version = version.to_string_lossy().into_owned();
        let control = calls.control;
        // SAFETY: the commands take the arguments that gcrypt.h documents for them: none; an unsigned
        // int of bytes, and in the second case an unused flag. A refusal (no memory may be locked, an
        // older library) leaves a library that works all the same.
        unsafe {
            control(DISABLE_SECMEM_WARN);
            control(AUTO_EXPAND_SECMEM, SECURE_MEMORY);
            control(INIT_SECMEM, SECURE_MEMORY, 0 as c_int);
            control(INITIALIZATION_FINISHED, 0 as c_int);
        }
        Ok(Self { calls, version })
    }

    /// `1.10.1`
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns whether it has a public-key algorithm of that name: `rsa`, `dsa`, `elg`, `ecc`.
    pub fn has_algorithm(&self, name: &str) -> bool {
        let Ok(name) = CString::new(name) else {
            return false;
        };
        // SAFETY: `name` is a C string that outlives the call; testing an algorithm takes neither
        // buffer nor length.
        unsafe {
            let number = (self.calls.pk_map_name)(name.as_ptr());
            let test = TEST_ALGO;
            number != 0
                && (self.calls.pk_algo_info)(number, test, ptr::null_mut(), ptr::null_mut()) == 0
        }
    }

    /// The curves it has, by its own names.
    pub fn curves(&self) -> Vec<String> {
        let curve = |index| {
            let mut bits = 0;
            // SAFETY: without a key the call enumerates; `bits` is a valid place for a number. The name
            // is a constant C string of the library, or null behind the last.
            unsafe {
                let name = (self.calls.pk_get_curve)(ptr::null_mut(), index, &raw mut bits);
                (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
            }
        };
        (0..).map_while(curve).collect()
    }

    /// A private key, in canonical form, put into secure memory.
    pub fn key(&'static self, canonical: &[u8]) -> Result<Expression, NativeError> {
        // SAFETY: any length may be asked for; the answer is null or a buffer of that length.
        let buffer = unsafe { (self.calls.malloc_secure)(canonical.len().max(1)) };
        if buffer.is_null() {
            return Err(refused("its secure memory is exhausted", 0));
        }
        // SAFETY: `buffer` has been allocated with that length, and overlaps with nothing.
        unsafe {
            ptr::copy_nonoverlapping(canonical.as_ptr(), buffer.cast::<u8>(), canonical.len());
        }
        let read = self.read(buffer, canonical.len());
        // SAFETY: `buffer` comes from the library's allocator, which wipes secure memory; the
        // expression made from it has a copy.
        unsafe { (self.calls.free)(buffer) };
        read
    }

    /// Data to be signed or decrypted, in canonical or advanced form.
    pub fn data(&'static self, form: &[u8]) -> Result<Expression, NativeError> {
        self.read(form.as_ptr().cast(), form.len())
    }

    /// `buffer` is readable for `length` octets: both callers have just made sure of it.
    fn read(
        &'static self,
        buffer: *const c_void,
        length: usize,
    ) -> Result<Expression, NativeError> {
        // Without a length the call would go by what the buffer says of itself.
        if length == 0 {
            return Err(refused("an empty expression", 0));
        }
        let mut raw = ptr::null_mut();
        // SAFETY: the buffer is readable for its length, which is not zero, and is not kept. `raw` is a
        // valid place for the result.
        let error = unsafe { (self.calls.sexp_new)(&raw mut raw, buffer, length, 0) };
        self.made(error, raw)
    }

    /// The signature that a key makes of data, `(sig-val …)`; or what it makes of what was encrypted or of another's
    /// point, `(value …)`.
    pub fn operate(
        &'static self,
        call: KeyCall,
        data: &Expression,
        key: &Expression,
    ) -> Result<Expression, NativeError> {
        let operation = match call {
            KeyCall::Sign => self.calls.pk_sign,
            KeyCall::Decrypt => self.calls.pk_decrypt,
        };
        let mut raw = ptr::null_mut();
        // SAFETY: both expressions are valid and only read; `raw` is a valid place for a new one.
        let error = unsafe { operation(&raw mut raw, data.raw, key.raw) };
        self.made(error, raw)
    }

    fn made(&'static self, error: c_uint, raw: RawExpression) -> Result<Expression, NativeError> {
        if error == 0 && !raw.is_null() {
            return Ok(Expression { library: self, raw });
        }
        // SAFETY: any number has a text, which is a constant C string.
        let text = unsafe { CStr::from_ptr((self.calls.strerror)(error)) };
        Err(refused(&text.to_string_lossy(), error & CODE_MASK))
    }
}

fn refused(reason: &str, code: u32) -> NativeError {
    NativeError(format!("{reason} (libgcrypt's error {code})"))
}

/// Use of a private key.
#[derive(Debug, Clone, Copy)]
pub enum KeyCall {
    /// `gcry_pk_sign`
    Sign,
    /// `gcry_pk_decrypt`
    Decrypt,
}

impl KeyCall {
    /// The function's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sign => "gcry_pk_sign",
            Self::Decrypt => "gcry_pk_decrypt",
        }
    }
}

/// An S-expression in libgcrypt's memory.
#[derive(derive_more::Debug)]
#[debug("Expression")]
pub struct Expression {
    library: &'static Libgcrypt,
    raw: RawExpression,
}

// SAFETY: an expression is a block of memory that no thread has a part in; libgcrypt's allocators are
// guarded by locks of their own.
unsafe impl Send for Expression {}

impl Expression {
    /// Its canonical form.
    pub fn canonical(&self) -> Vec<u8> {
        let print = self.library.calls.sexp_sprint;
        // SAFETY: the expression is valid; without a buffer the call says what length it would need.
        let length = unsafe { print(self.raw, CANONICAL, ptr::null_mut(), 0) };
        let mut form = vec![0; length];
        // SAFETY: as above, now with a buffer and its length.
        let written = unsafe {
            let buffer = form.as_mut_ptr().cast();
            print(self.raw, CANONICAL, buffer, form.len())
        };
        form.truncate(written);
        form
    }
}

impl Drop for Expression {
    fn drop(&mut self) {
        // SAFETY: the expression is valid and owned here alone.
        unsafe { (self.library.calls.sexp_release)(self.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_an_error() {
        let error = Libgcrypt::open("libgcrypt.so.0").unwrap_err().to_string();
        assert!(error.contains("libgcrypt.so.0"), "{error}");
    }

    #[test]
    fn the_installed_library_knows_its_algorithms() {
        let library = Libgcrypt::load().unwrap();
        assert!(library.version().starts_with("1."), "{}", library.version());
        assert!(library.has_algorithm("rsa") && library.has_algorithm("ecc"));
        assert!(!library.has_algorithm("caesar") && !library.has_algorithm("a\0b"));
        let curves = library.curves();
        assert!(curves.iter().any(|curve| curve == "Ed25519"), "{curves:?}");
    }

    #[test]
    fn expressions_come_out_as_they_went_in() {
        let library = Libgcrypt::load().unwrap();
        let form = b"(4:data(5:flags5:pkcs1)(4:hash6:sha2564:\0\x01\x02\x03))";
        for read in [library.data(form), library.key(form)] {
            assert_eq!(read.unwrap().canonical(), form);
        }
        for broken in [&b"(4:data"[..], b"", b"(9:data)"] {
            assert!(library.data(broken).is_err() && library.key(broken).is_err());
        }
    }

    #[test]
    fn a_refusal_has_libgcrypts_words() {
        let library = Libgcrypt::load().unwrap();
        let key = library.key(b"(11:private-key(3:rsa(1:n1:\x0f)))").unwrap();
        let data = library.data(b"(4:data(5:value1:\x02))").unwrap();
        let error = library
            .operate(KeyCall::Sign, &data, &key)
            .unwrap_err()
            .to_string();
        let (reason, code) = error.split_once(" (libgcrypt's error ").unwrap();
        assert!(!reason.is_empty() && code != "0)", "{error}");
        assert!(library.operate(KeyCall::Decrypt, &data, &key).is_err());
    }
}
