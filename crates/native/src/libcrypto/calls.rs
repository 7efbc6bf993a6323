//! The functions of libcrypto that keymark calls, as OpenSSL 3.0's headers declare them.

use std::ffi::{c_char, c_int, c_long, c_uchar, c_ulong, c_void};

use crate::loader::{RTLD_LOCAL, RTLD_NOW, calls};

/// `EVP_PKEY *`, `EVP_PKEY_CTX *`, `EVP_MD_CTX *`, `EC_GROUP *`, `EVP_KEYMGMT *`
pub type Pointer = *mut c_void;

/// `OPENSSL_VERSION`
pub const VERSION: c_int = 0;
/// `RSA_PKCS1_PADDING`
pub const PKCS1: c_int = 1;

/// glibc's: the library's own symbols come before those of the program, which has another libcrypto.
const RTLD_DEEPBIND: c_int = 8;

/// `EVP_PKEY_sign` and those of its form: context, output and its length, input and its length.
pub type Operate =
    unsafe extern "C" fn(Pointer, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int;
/// `EVP_PKEY_sign_init` and those of its form.
pub type Begin = unsafe extern "C" fn(Pointer) -> c_int;
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
