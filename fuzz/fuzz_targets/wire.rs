//! Frames between the PC/SC library and the server of a card, also from other writers.

#![no_main]

use keymark_shim_protocol::wire::{CardRequest, CardResponse, read, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut from = data;
    while let Ok(Some(request)) = read::<CardRequest>(&mut from) {
        let mut sent = Vec::new();
        write(&mut sent, &request).expect("what was read can be sent");
        let again = read(&mut sent.as_slice());
        assert_eq!(again.expect("and read again"), Some(request));
    }
    let mut from = data;
    while let Ok(Some(response)) = read::<CardResponse>(&mut from) {
        let mut sent = Vec::new();
        write(&mut sent, &response).expect("what was read can be sent");
        let again = read(&mut sent.as_slice());
        assert_eq!(again.expect("and read again"), Some(response));
    }
});
