//! What an SSH agent answers, where another program may listen.

#![no_main]

use keymark_stacks::ssh::protocol::{self, Signature};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(keys) = protocol::identities(data) {
        assert!(keys.iter().map(Vec::len).sum::<usize>() <= data.len());
    }
    if let Ok(signature) = Signature::parse(data) {
        assert!(signature.octets.len() <= data.len());
        if let Ok([r, s]) = signature.ecdsa() {
            assert!(r.len() + s.len() <= signature.octets.len());
        }
    }
});
