//! The reader with a served card.

use std::ffi::c_char;
use std::ptr;

use nix::sys::signal::{SigHandler, Signal, signal};

use crate::library::*;
use crate::server::{ATR, Server};
use crate::world::scenario;

const CARD: [(&str, &str); 1] = [("KEYMARK_PCSC_CARD", "{}/card")];
const NAMES: &[u8] = b"keymark virtual reader 00 00\0\0";

scenario!(readers_are_listed_as_the_caller_has_room, CARD, |_folder| {
    let library = Library::load();
    let context = library.context();
    let list = |target: *mut c_char, length: &mut Dword| {
        // SAFETY: `target` is null or good for `length` octets, or for a pointer.
        unsafe { (library.list_readers)(context, ptr::null(), target, length) }
    };
    let mut length = 0;
    assert_eq!(list(ptr::null_mut(), &mut length), SUCCESS);
    assert_eq!(length, NAMES.len() as Dword);
    let mut names = vec![1_u8; NAMES.len()];
    length = 10;
    assert_eq!(
        list(names.as_mut_ptr().cast(), &mut length),
        INSUFFICIENT_BUFFER
    );
    assert_eq!((length, names[0]), (NAMES.len() as Dword, 1));
    assert_eq!(list(names.as_mut_ptr().cast(), &mut length), SUCCESS);
    assert_eq!(names, NAMES);

    // SAFETY: null pointers are allowed.
    let nowhere =
        unsafe { (library.list_readers)(context, ptr::null(), ptr::null_mut(), ptr::null_mut()) };
    assert_eq!(nowhere, INVALID_PARAMETER);
});

scenario!(
    commands_reach_the_card_and_responses_the_caller,
    CARD,
    |folder| {
        let _server = Server::start(folder);
        let library = Library::load();
        let context = library.context();
        let (handle, protocol) = library
            .connect(context, READER, EXCLUSIVE, T0 | T1)
            .unwrap();
        assert_eq!(protocol, T1);
        let long = [&[0, 0xB0, 0, 0][..], &[7; 60_000]].concat();
        let echo = [&[7; 60_000][..], &[0x90, 0]].concat();
        assert_eq!(library.transmit(handle, &long, 65_538), Ok(echo));
        let short = [0, 0xB0, 0, 0, 1, 2, 3];
        assert_eq!(
            library.transmit(handle, &short, 4),
            Err((INSUFFICIENT_BUFFER, 5))
        );
        assert_eq!(
            library.transmit(handle, &short, 5),
            Ok(vec![1, 2, 3, 0x90, 0])
        );
        assert_eq!(
            library.transmit(handle, &[0, 0xA4, 4, 0], 2),
            Ok(vec![0x6D, 0])
        );
        let endless = vec![0; 80_000];
        assert_eq!(
            library.transmit(handle, &endless, 9).unwrap_err().0,
            INSUFFICIENT_BUFFER
        );
        // It was refused before it was sent: the connection is still open.
        assert!(library.transmit(handle, &short, 5).is_ok());
        // SAFETY: a handle is a number.
        unsafe {
            assert_eq!((library.disconnect)(handle, LEAVE), SUCCESS);
            assert_eq!((library.disconnect)(handle, LEAVE), INVALID_HANDLE);
        }
        assert_eq!(
            library.transmit(handle, &short, 5).unwrap_err().0,
            INVALID_HANDLE
        );
    }
);

scenario!(status_tells_what_is_asked_for, CARD, |folder| {
    let server = Server::start(folder);
    let library = Library::load();
    let handle = library.handle();
    assert_eq!(library.state(handle), (SUCCESS, 0x74, ATR.to_vec()));
    server.state().resets += 1;
    assert_eq!(library.state(handle).0, RESET);
    assert_eq!(library.state(handle).0, SUCCESS);
    server.state().removed = true;
    assert_eq!(
        (library.state(handle).0, library.state(handle).1),
        (REMOVED, 0x02)
    );
});

scenario!(removal_reset_and_silence_are_told, CARD, |folder| {
    let server = Server::start(folder);
    let library = Library::load();
    let (one, other) = (library.handle(), library.handle());
    let command = [0, 0xB0, 0, 0];
    assert_eq!(library.reconnect(one, SHARED, RESET_CARD), SUCCESS);
    assert!(library.transmit(one, &command, 9).is_ok());
    assert_eq!(library.transmit(other, &command, 9).unwrap_err().0, RESET);
    assert!(library.transmit(other, &command, 9).is_ok());
    server.state().mute = true;
    assert_eq!(
        library.transmit(one, &command, 9).unwrap_err().0,
        NOT_TRANSACTED
    );
    server.state().mute = false;
    server.state().removed = true;
    assert_eq!(library.transmit(one, &command, 9).unwrap_err().0, REMOVED);
    let context = library.context();
    assert_eq!(
        library.connect(context, READER, SHARED, T1),
        Err(NO_SMARTCARD)
    );
    // The reader itself is there without a card.
    assert_eq!(library.connect(context, READER, DIRECT, 0).unwrap().1, 0);
    server.state().removed = false;
    assert!(library.transmit(one, &command, 9).is_ok());
    // SAFETY: a handle is a number.
    assert_eq!(unsafe { (library.disconnect)(one, RESET_CARD) }, SUCCESS);
    assert_eq!(server.state().resets, 2);
});

scenario!(a_server_that_is_gone_is_a_card_that_is, CARD, |folder| {
    // As in C, where nobody ignores SIGPIPE: the library must not raise it.
    // SAFETY: the default action needs no handler.
    unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) }.unwrap();
    let server = Server::start(folder);
    let library = Library::load();
    let handle = library.handle();
    server.end(folder);
    for _ in 0..3 {
        assert_eq!(
            library.transmit(handle, &[0, 0xB0, 0, 0], 9).unwrap_err().0,
            REMOVED
        );
    }
    assert_eq!(library.state(handle).0, REMOVED);
    assert_eq!(library.reconnect(handle, SHARED, RESET_CARD), REMOVED);
    let context = library.context();
    assert_eq!(
        library.connect(context, READER, SHARED, T1),
        Err(NO_SMARTCARD)
    );
    // SAFETY: a handle is a number.
    assert_eq!(unsafe { (library.disconnect)(handle, RESET_CARD) }, SUCCESS);
});

scenario!(handles_share_a_card_on_terms, CARD, |folder| {
    let _server = Server::start(folder);
    let library = Library::load();
    let context = library.context();
    let connect = |share, protocols| library.connect(context, READER, share, protocols);
    assert_eq!(connect(SHARED, T0), Err(PROTO_MISMATCH));
    assert_eq!(connect(9, T1), Err(INVALID_VALUE));
    let (one, _) = connect(SHARED, T1).unwrap();
    assert_eq!(connect(EXCLUSIVE, T1), Err(SHARING_VIOLATION));
    let (other, _) = connect(SHARED, T1).unwrap();
    assert_eq!(library.reconnect(one, EXCLUSIVE, LEAVE), SHARING_VIOLATION);
    // SAFETY: handles and contexts are numbers.
    unsafe {
        assert_eq!((library.disconnect)(other, LEAVE), SUCCESS);
        assert_eq!(library.reconnect(one, EXCLUSIVE, LEAVE), SUCCESS);
        assert_eq!(connect(SHARED, T1), Err(SHARING_VIOLATION));
        assert_eq!((library.begin_transaction)(one), SUCCESS);
        assert_eq!((library.end_transaction)(one, 7), INVALID_VALUE);
        assert_eq!((library.end_transaction)(one, LEAVE), SUCCESS);
        assert_eq!((library.end_transaction)(one, LEAVE), NOT_TRANSACTED);
        // The context takes its handles along.
        assert_eq!((library.release_context)(context), SUCCESS);
        assert_eq!((library.begin_transaction)(one), INVALID_HANDLE);
    }
});

scenario!(what_is_no_handle_is_refused, CARD, |_folder| {
    let library = Library::load();
    let mut length = 0;
    let length = &raw mut length;
    let none = ptr::null_mut();
    // SAFETY: the pointers are null or valid; nothing is written for handles that are none.
    unsafe {
        assert_eq!((library.release_context)(9), INVALID_HANDLE);
        assert_eq!((library.cancel)(9), INVALID_HANDLE);
        assert_eq!(
            (library.list_readers)(9, ptr::null(), ptr::null_mut(), length),
            INVALID_HANDLE
        );
        assert_eq!(
            (library.get_status_change)(9, 0, ptr::null_mut(), 0),
            INVALID_HANDLE
        );
        assert_eq!(library.connect(9, READER, SHARED, T1), Err(INVALID_HANDLE));
        assert_eq!(library.reconnect(9, SHARED, LEAVE), INVALID_HANDLE);
        assert_eq!((library.begin_transaction)(9), INVALID_HANDLE);
        assert_eq!((library.end_transaction)(9, LEAVE), INVALID_HANDLE);
        assert_eq!(library.state(9).0, INVALID_HANDLE);
        let code = (library.control)(9, 1, ptr::null(), 0, none, 0, length);
        assert_eq!(code, INVALID_HANDLE);
        let nowhere = (library.establish_context)(2, ptr::null(), ptr::null(), ptr::null_mut());
        assert_eq!(nowhere, INVALID_PARAMETER);
    }
});

scenario!(there_are_no_features, CARD, |folder| {
    let _server = Server::start(folder);
    let library = Library::load();
    let handle = library.handle();
    let (mut features, mut length) = ([0_u8; 64], 9);
    // SAFETY: `features` has 64 octets.
    unsafe {
        let target = features.as_mut_ptr().cast();
        let code = (library.control)(
            handle,
            0x4200_0D48,
            ptr::null(),
            0,
            target,
            64,
            &raw mut length,
        );
        assert_eq!((code, length), (SUCCESS, 0));
        let code = (library.control)(handle, 1, ptr::null(), 0, target, 64, ptr::null_mut());
        assert_eq!(code, UNSUPPORTED_FEATURE);
    }
});

scenario!(threads_do_not_mix_up_their_responses, CARD, |folder| {
    let _server = Server::start(folder);
    let library = Library::load();
    let shared = library.handle();
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let library = &library;
            scope.spawn(move || {
                let own = library.handle();
                for number in 0..200 {
                    let expected = vec![thread, number, 0x90, 0];
                    let command = [0, 0xB0, 0, 0, thread, number];
                    for handle in [own, shared] {
                        assert_eq!(
                            library.transmit(handle, &command, 9).as_ref(),
                            Ok(&expected)
                        );
                    }
                }
            });
        }
    });
});
