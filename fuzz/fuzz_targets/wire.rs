//! Frames between the PC/SC library and the server of a card, from whoever else writes there.

#![no_main]

use keymark_shim_protocol::wire::{Request, Response};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut from = data;
    while let Ok(Some(request)) = Request::read(&mut from) {
        let mut sent = Vec::new();
        request.write(&mut sent).expect("what was read can be sent");
        let again = Request::read(&mut sent.as_slice());
        assert_eq!(again.expect("and read again"), Some(request));
    }
    let mut from = data;
    while let Ok(response) = Response::read(&mut from) {
        let mut sent = Vec::new();
        response
            .write(&mut sent)
            .expect("what was read can be sent");
        let again = Response::read(&mut sent.as_slice());
        assert_eq!(again.expect("and read again"), response);
    }
});
