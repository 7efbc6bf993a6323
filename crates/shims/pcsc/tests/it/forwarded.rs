//! Calls that go to another PC/SC library.

use std::ffi::c_void;
use std::path::Path;
use std::process::Command;
use std::ptr;

use keymark_shim_protocol::trace::{Call, TraceReader};

use crate::library::*;
use crate::world::scenario;

/// Compiles the fake library, where the scenario's environment names it.
fn build_fake(folder: &Path) {
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(folder.join("fake.so"))
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fake.c"))
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
        }
        let records = TraceReader::new(&folder.join("trace")).read().unwrap();
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

/// Pointers that nobody follows: only their way is looked at.
fn nowhere<T>(address: usize) -> *mut T {
    ptr::without_provenance_mut(address)
}

scenario!(
    arguments_and_results_pass_unchanged,
    [("KEYMARK_PCSC_LIBRARY", "{}/fake.so")],
    |folder| {
        build_fake(folder);
        let library = Library::load();
        // The context loads the fake; then this is the same one to the loader.
        library.context();
        // SAFETY: the fake has no initializers, and seven numbers of that name.
        let seen = || unsafe {
            let fake = libloading::Library::new(folder.join("fake.so")).unwrap();
            **fake.get::<*const [Long; 7]>(b"seen").unwrap()
        };
        // SAFETY: the fake follows none of these pointers.
        let called = unsafe {
            [
                ((library.release_context)(1), seen()),
                (
                    (library.get_status_change)(1, INFINITE, nowhere(3), Dword::MAX),
                    seen(),
                ),
                ((library.cancel)(-1), seen()),
                ((library.reconnect)(1, 2, 3, 4, nowhere(5)), seen()),
                ((library.disconnect)(1, 2), seen()),
                (
                    (library.status)(
                        1,
                        nowhere(2),
                        nowhere(3),
                        nowhere(4),
                        nowhere(5),
                        nowhere(6),
                        nowhere(7),
                    ),
                    seen(),
                ),
                ((library.begin_transaction)(1 << 40), seen()),
                ((library.end_transaction)(1, 2), seen()),
                (
                    (library.control)(
                        1,
                        2,
                        nowhere::<c_void>(3),
                        4,
                        nowhere(5),
                        Dword::MAX,
                        nowhere(7),
                    ),
                    seen(),
                ),
            ]
        };
        let all = [1, 2, 3, 4, 5, 6, 7];
        assert_eq!(
            called,
            [
                (1001, [1, 0, 0, 0, 0, 0, 0]),
                (1004, [1, 0xFFFF_FFFF, 3, -1, 0, 0, 0]),
                (1005, [-1, 0, 0, 0, 0, 0, 0]),
                (1006, [1, 2, 3, 4, 5, 0, 0]),
                (1007, [1, 2, 0, 0, 0, 0, 0]),
                (-1008, all),
                (1009, [1 << 40, 0, 0, 0, 0, 0, 0]),
                (1010, [1, 2, 0, 0, 0, 0, 0]),
                (1011, [1, 2, 3, 4, 5, -1, 7]),
            ]
        );
    }
);

scenario!(
    who_asks_for_a_card_alone_gets_it_shared_if_told_so,
    [
        ("KEYMARK_PCSC_LIBRARY", "{}/fake.so"),
        ("KEYMARK_PCSC_SHARED", "1"),
    ],
    |folder| {
        build_fake(folder);
        let library = Library::load();
        let context = library.context();
        // The fake's active protocol says how it was asked.
        let asked = |share| library.connect(context, c"how", share, T0 | T1);
        assert_eq!(asked(EXCLUSIVE), Ok((42, SHARED)));
        assert_eq!(asked(SHARED), Ok((42, SHARED)));
        assert_eq!(asked(DIRECT), Ok((42, DIRECT)));
        // SAFETY: the fake follows no pointer here, and has seven numbers of that name.
        unsafe {
            let fake = libloading::Library::new(folder.join("fake.so")).unwrap();
            let seen = *fake.get::<*const [Long; 7]>(b"seen").unwrap();
            assert_eq!((library.reconnect)(1, EXCLUSIVE, 3, 4, nowhere(5)), 1006);
            assert_eq!((*seen)[1], 2, "shared");
        }
    }
);

scenario!(
    lengths_that_are_none_are_left_to_the_real_library,
    [
        ("KEYMARK_PCSC_LIBRARY", "{}/fake.so"),
        ("KEYMARK_PCSC_TRACE", "{}/trace"),
    ],
    |folder| {
        build_fake(folder);
        let library = Library::load();
        let (command, mut response, mut length) = ([0, 0xCA, 0, 0x6E], [0; 9], 9);
        // SAFETY: the fake refuses the length before it reads.
        let code = unsafe {
            (library.transmit)(
                42,
                ptr::null(),
                command.as_ptr(),
                Dword::MAX,
                ptr::null_mut(),
                response.as_mut_ptr(),
                &raw mut length,
            )
        };
        assert_eq!(code, INVALID_PARAMETER);
        let records = TraceReader::new(&folder.join("trace")).read().unwrap();
        let apdu = records[0].apdu.unwrap();
        assert_eq!((apdu.header, apdu.command), (command, u32::MAX));
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
