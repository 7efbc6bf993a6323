//! The functions of libgcrypt that keymark calls, as gcrypt.h declares them (1.8 to 1.11).

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::loader::{RTLD_LAZY, RTLD_LOCAL, calls};

/// `gcry_sexp_t`
pub type RawExpression = *mut c_void;

/// `gcry_error_t`: the source in the upper bits, the code in the lower.
type RawError = c_uint;

/// `GPG_ERR_CODE_MASK`
pub const CODE_MASK: c_uint = 0xFFFF;

/// `GCRYSEXP_FMT_CANON`
pub const CANONICAL: c_int = 1;

// Commands of gcry_control and gcry_pk_algo_info (`enum gcry_ctl_cmds`).
pub const TEST_ALGO: c_int = 8;
pub const INIT_SECMEM: c_int = 24;
pub const DISABLE_SECMEM_WARN: c_int = 27;
pub const INITIALIZATION_FINISHED: c_int = 38;
pub const AUTO_EXPAND_SECMEM: c_int = 78;

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
    pk_sign = b"gcry_pk_sign\0":
        unsafe extern "C" fn(*mut RawExpression, RawExpression, RawExpression) -> RawError,
    pk_decrypt = b"gcry_pk_decrypt\0":
        unsafe extern "C" fn(*mut RawExpression, RawExpression, RawExpression) -> RawError,
    pk_map_name = b"gcry_pk_map_name\0": unsafe extern "C" fn(*const c_char) -> c_int,
    pk_algo_info = b"gcry_pk_algo_info\0":
        unsafe extern "C" fn(c_int, c_int, *mut c_void, *mut usize) -> RawError,
    pk_get_curve = b"gcry_pk_get_curve\0":
        unsafe extern "C" fn(RawExpression, c_int, *mut c_uint) -> *const c_char,
}
