//! Calls that go to another PC/SC library.

use std::path::Path;
use std::process::Command;
use std::ptr;

use keymark_shim_protocol::trace::{Call, Reader};

use crate::library::*;
use crate::world::scenario;

/// Compiles the fake library, where the scenario's environment names it.
fn build_fake(folder: &Path) {
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(folder.join("fake.so"))
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pcsc/fake.c"))
        .status();
    assert!(
        compiled
            .expect("cc, which the openssl crate needs too")
            .success()
    );
}

scenario!(
    calls_reach_the_real_library_and_are_taken_down,
    [
        ("KEYMARK_PCSC_LIBRARY", "{}/fake.so"),
        ("KEYMARK_PCSC_TRACE", "{}/trace"),
    ],
    |folder| {
        build_fake(folder);
        let library = Library::load();
        let context = library.context();
        assert_eq!(context, 4713);
        assert_eq!(
            library.connect(context, c"other", SHARED, T0),
            Err(UNKNOWN_READER)
        );
        let (handle, active) = library.connect(context, c"fake", SHARED, T0 | T1).unwrap();
        assert_eq!((handle, active), (42, T0));
        assert_eq!(
            library.transmit(handle, &[0, 0xCA, 0, 0x6E], 9),
            Ok(vec![0xCA, 0x90, 0])
        );
        let (mut names, mut length) = ([0_u8; 6], 6);
        // SAFETY: `names` has six octets; contexts and handles are numbers.
        unsafe {
            let target = names.as_mut_ptr().cast();
            let code = (library.list_readers)(context, ptr::null(), target, &raw mut length);
            assert_eq!((code, &names), (SUCCESS, b"fake\0\0"));
            assert_eq!((library.set_timeout)(1, 1), INVALID_HANDLE);
            assert_eq!((library.set_timeout)(context, 1), SUCCESS);
        }
        let records = Reader::new(&folder.join("trace")).read().unwrap();
        let calls: Vec<_> = records.iter().map(|record| record.call).collect();
        assert_eq!(
            calls,
            [
                Call::EstablishContext,
                Call::Connect,
                Call::Connect,
                Call::Transmit,
                Call::ListReaders,
            ]
        );
        let apdu = records[3].apdu.unwrap();
        assert_eq!(
            (apdu.header, apdu.status, records[3].card),
            ([0, 0xCA, 0, 0x6E], 0x9000, None)
        );
        assert_eq!(records[1].result, UNKNOWN_READER);
    }
);

/// SCardEstablishContext where there is nothing to forward to.
fn nobody_serves() {
    let library = Library::load();
    let mut context = 0;
    // SAFETY: `context` is valid.
    let code =
        unsafe { (library.establish_context)(2, ptr::null(), ptr::null(), &raw mut context) };
    assert_eq!(code, NO_SERVICE);
    assert_eq!(library.connect(1, READER, SHARED, T1), Err(NO_SERVICE));
}

scenario!(
    a_library_that_is_missing_is_a_service_that_is,
    [("KEYMARK_PCSC_LIBRARY", "{}/missing.so")],
    |_folder| {
        nobody_serves();
    }
);

scenario!(
    the_library_does_not_forward_to_itself,
    [("KEYMARK_PCSC_LIBRARY", "{}/itself.so")],
    |folder| {
        // A link to it is the same library to the loader.
        let link = folder.join("itself.so");
        std::os::unix::fs::symlink(crate::world::library_path(), link).unwrap();
        nobody_serves();
    }
);
