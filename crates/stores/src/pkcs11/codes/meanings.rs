//! What codes mean to somebody at a terminal.

/// What a code means, and what to do.
pub(super) fn meaning(name: &str) -> (&'static str, &'static str) {
    let known = MEANINGS.iter().find(|(names, ..)| names.contains(&name));
    known.map_or(
        (
            "a code defined by its maker",
            "see the module's manual or its own log",
        ),
        |(_, meaning, advice)| (meaning, advice),
    )
}

/// Codes that mean the same, what that is, and what to do.
pub(super) const MEANINGS: &[(&[&str], &str, &str)] = &[
    (
        &["CKR_HOST_MEMORY"],
        "this machine has too little memory",
        "use fewer workers: --concurrency",
    ),
    (
        &[
            "CKR_SLOT_ID_INVALID",
            "CKR_TOKEN_NOT_PRESENT",
            "CKR_DEVICE_REMOVED",
        ],
        "the token is gone",
        "is it plugged in? 'keymark devices' lists the tokens that are there",
    ),
    (
        &["CKR_GENERAL_ERROR"],
        "the module gives no reason",
        "can it read its configuration? does its service run? see its own log",
    ),
    (
        &["CKR_FUNCTION_FAILED", "CKR_DEVICE_ERROR"],
        "the token failed",
        "see the module's own log",
    ),
    (
        &["CKR_ARGUMENTS_BAD"],
        "the module expects other arguments",
        "some need a parameter that keymark does not give",
    ),
    (
        &["CKR_DEVICE_MEMORY", "CKR_TOKEN_RESOURCE_EXCEEDED"],
        "the token is full",
        "use fewer keys or sessions at a time: --concurrency, --algorithm",
    ),
    (
        &["CKR_SESSION_COUNT"],
        "the token allows no more sessions",
        "use a smaller --concurrency, or close other programs that use it",
    ),
    (
        &["CKR_SESSION_CLOSED", "CKR_SESSION_HANDLE_INVALID"],
        "the session was closed: by another program, or because the token was pulled out",
        "start the run again",
    ),
    (
        &["CKR_OBJECT_HANDLE_INVALID", "CKR_KEY_HANDLE_INVALID"],
        "the key is gone",
        "was it deleted by another program, or the token removed?",
    ),
    (
        &["CKR_PIN_INCORRECT"],
        "the PIN is wrong, and was sent once",
        "the right PIN, entered in any program, resets the tries",
    ),
    (
        &["CKR_PIN_INVALID", "CKR_PIN_LEN_RANGE"],
        "this cannot be the token's PIN: wrong characters or length",
        "check the value from --pin-env or --pin-fd",
    ),
    (
        &["CKR_PIN_LOCKED"],
        "the PIN is locked after too many wrong tries",
        "its security officer can set a new one: pkcs11-tool --init-pin --login-type so",
    ),
    (
        &["CKR_PIN_EXPIRED"],
        "the PIN has expired",
        "set a new one: pkcs11-tool --change-pin",
    ),
    (
        &["CKR_USER_PIN_NOT_INITIALIZED"],
        "the token has no user PIN yet",
        "its security officer sets one: pkcs11-tool --init-pin --login-type so",
    ),
    (
        &["CKR_USER_NOT_LOGGED_IN"],
        "the token needs its PIN first",
        "give it with --pin-env VARIABLE or --pin-fd N",
    ),
    (
        &[
            "CKR_USER_ANOTHER_ALREADY_LOGGED_IN",
            "CKR_USER_TOO_MANY_TYPES",
        ],
        "somebody else is logged in to the token",
        "close the other program",
    ),
    (
        &["CKR_TOKEN_NOT_RECOGNIZED", "CKR_TOKEN_NOT_INITIALIZED"],
        "it contains no token that the module recognises",
        "has it been initialised? pkcs11-tool --init-token does",
    ),
    (
        &["CKR_KEY_FUNCTION_NOT_PERMITTED"],
        "the key may not be used for that",
        "its CKA_SIGN, CKA_DECRYPT or CKA_DERIVE is false: choose another --operation",
    ),
    (
        &["CKR_MECHANISM_INVALID"],
        "the token lacks the mechanism",
        "choose another --algorithm",
    ),
    (
        &["CKR_KEY_SIZE_RANGE"],
        "the token does not support keys of that length",
        "choose another --algorithm",
    ),
    (
        &["CKR_CURVE_NOT_SUPPORTED", "CKR_DOMAIN_PARAMS_INVALID"],
        "the token lacks the curve",
        "choose another --algorithm",
    ),
    (
        &[
            "CKR_TEMPLATE_INCONSISTENT",
            "CKR_TEMPLATE_INCOMPLETE",
            "CKR_ATTRIBUTE_VALUE_INVALID",
            "CKR_ATTRIBUTE_TYPE_INVALID",
            "CKR_ATTRIBUTE_READ_ONLY",
            "CKR_SESSION_READ_ONLY",
            "CKR_TOKEN_WRITE_PROTECTED",
            "CKR_FUNCTION_NOT_SUPPORTED",
            "CKR_ACTION_PROHIBITED",
        ],
        "the token does not accept the key",
        "name a key that is on it: --device 'pkcs11:token=LABEL;object=KEY'",
    ),
    (
        &["CKR_CANT_LOCK", "CKR_NEED_TO_CREATE_THREADS"],
        "the module cannot be used by several threads",
        "use --processes",
    ),
    (
        &["CKR_FIPS_SELF_TEST_FAILED", "CKR_LIBRARY_LOAD_FAILED"],
        "the module's own check of itself failed",
        "install it again",
    ),
    (
        &[
            "CKR_CANCEL",
            "CKR_FUNCTION_CANCELED",
            "CKR_FUNCTION_REJECTED",
            "CKR_OPERATION_CANCEL_FAILED",
        ],
        "the operation was cancelled at the token",
        "start the run again, and confirm at the token if it asks",
    ),
    (
        &[
            "CKR_PENDING",
            "CKR_SESSION_ASYNC_NOT_SUPPORTED",
            "CKR_NO_EVENT",
        ],
        "it answers asynchronously, which keymark does not support",
        "switch asynchronous calls off in the module's configuration",
    ),
    (
        &[
            "CKR_KEY_TYPE_INCONSISTENT",
            "CKR_MECHANISM_PARAM_INVALID",
            "CKR_PARAMETER_SET_NOT_SUPPORTED",
            "CKR_PUBLIC_KEY_INVALID",
            "CKR_KEY_NOT_NEEDED",
            "CKR_KEY_CHANGED",
            "CKR_KEY_NEEDED",
            "CKR_KEY_INDIGESTIBLE",
        ],
        "the mechanism does not accept this key or its parameters",
        "choose another --algorithm",
    ),
    (
        &[
            "CKR_ATTRIBUTE_SENSITIVE",
            "CKR_KEY_UNEXTRACTABLE",
            "CKR_KEY_NOT_WRAPPABLE",
            "CKR_INFORMATION_SENSITIVE",
            "CKR_STATE_UNSAVEABLE",
        ],
        "the token does not reveal that",
        "choose another --operation",
    ),
    (
        &[
            "CKR_DATA_INVALID",
            "CKR_DATA_LEN_RANGE",
            "CKR_ENCRYPTED_DATA_INVALID",
            "CKR_ENCRYPTED_DATA_LEN_RANGE",
            "CKR_AEAD_DECRYPT_FAILED",
            "CKR_BUFFER_TOO_SMALL",
            "CKR_SIGNATURE_INVALID",
            "CKR_SIGNATURE_LEN_RANGE",
            "CKR_WRAPPED_KEY_INVALID",
            "CKR_WRAPPED_KEY_LEN_RANGE",
            "CKR_UNWRAPPING_KEY_HANDLE_INVALID",
            "CKR_UNWRAPPING_KEY_SIZE_RANGE",
            "CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT",
            "CKR_WRAPPING_KEY_HANDLE_INVALID",
            "CKR_WRAPPING_KEY_SIZE_RANGE",
            "CKR_WRAPPING_KEY_TYPE_INCONSISTENT",
            "CKR_SAVED_STATE_INVALID",
        ],
        "the module refuses data that follow the standard",
        "is there a newer module? 'pkcs11-tool --test --login' shows what else fails",
    ),
    (
        &[
            "CKR_OPERATION_ACTIVE",
            "CKR_OPERATION_NOT_INITIALIZED",
            "CKR_OPERATION_NOT_VALIDATED",
            "CKR_CRYPTOKI_NOT_INITIALIZED",
            "CKR_CRYPTOKI_ALREADY_INITIALIZED",
            "CKR_MUTEX_BAD",
            "CKR_MUTEX_NOT_LOCKED",
            "CKR_FUNCTION_NOT_PARALLEL",
            "CKR_SESSION_PARALLEL_NOT_SUPPORTED",
            "CKR_SESSION_EXISTS",
            "CKR_SESSION_READ_ONLY_EXISTS",
            "CKR_SESSION_READ_WRITE_SO_EXISTS",
        ],
        "the module's internal state is inconsistent",
        "is it safe in several threads? --processes gives each worker its own module",
    ),
    (
        &["CKR_USER_ALREADY_LOGGED_IN", "CKR_USER_TYPE_INVALID"],
        "the module does not accept the login",
        "close other programs that use the token, and start the run again",
    ),
    (
        &["CKR_NEW_PIN_MODE", "CKR_NEXT_OTP", "CKR_PIN_TOO_WEAK"],
        "the token requires a new PIN",
        "set a new one with its maker's program",
    ),
    (
        &[
            "CKR_RANDOM_SEED_NOT_SUPPORTED",
            "CKR_RANDOM_NO_RNG",
            "CKR_SEED_RANDOM_REQUIRED",
            "CKR_EXCEEDED_MAX_ITERATIONS",
        ],
        "the token has too few random numbers",
        "its maker's program shows what is wrong with its generator",
    ),
    (
        &["CKR_KEY_EXHAUSTED"],
        "the key may no longer be used",
        "name another key",
    ),
];
