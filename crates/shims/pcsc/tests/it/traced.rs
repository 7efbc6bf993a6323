//! Records of calls in the trace.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use keymark_shim_protocol::trace::{Call, TraceReader, TracedCall};

use crate::library::*;
use crate::server::{Server, WORK};
use crate::world::scenario;

const TRACED: [(&str, &str); 2] = [
    ("KEYMARK_PCSC_CARD", "{}/card"),
    ("KEYMARK_PCSC_TRACE", "{}/trace"),
];

fn records(folder: &Path) -> Vec<TracedCall> {
    TraceReader::new(&folder.join("trace")).read().unwrap()
}

scenario!(calls_are_taken_down_without_their_data, TRACED, |folder| {
    const PIN: &[u8] = b"correct horse battery staple";
    let server = Server::start(folder);
    let library = Library::load();
    let context = library.context();
    let (handle, _) = library
        .connect(context, READER, EXCLUSIVE, T0 | T1)
        .unwrap();
    let verify = [&[0x00, 0x20, 0x00, 0x82][..], PIN].concat();
    let echo = [&[0x0C, 0xB0, 0x01, 0x02][..], PIN].concat();
    assert_eq!(library.transmit(handle, &verify, 99), Ok(vec![0x6D, 0]));
    assert_eq!(
        library.transmit(handle, &echo, 99).unwrap()[..PIN.len()],
        *PIN
    );
    assert!(library.transmit(handle, &echo, 9).is_err());
    server.state().removed = true;
    assert!(library.transmit(handle, &[1], 99).is_err());
    // SAFETY: handles and contexts are numbers.
    unsafe {
        (library.disconnect)(handle, LEAVE);
        (library.release_context)(context);
    }

    let records = records(folder);
    let calls: Vec<_> = records
        .iter()
        .map(|record| (record.call, record.result))
        .collect();
    assert_eq!(
        calls,
        [
            (Call::EstablishContext, SUCCESS),
            (Call::Connect, SUCCESS),
            (Call::Transmit, SUCCESS),
            (Call::Transmit, SUCCESS),
            (Call::Transmit, INSUFFICIENT_BUFFER),
            (Call::Transmit, REMOVED),
            (Call::Disconnect, SUCCESS),
            (Call::ReleaseContext, SUCCESS),
        ]
    );
    let apdus: Vec<_> = records
        .iter()
        .filter_map(|record| record.apdu)
        .map(|apdu| (apdu.header, apdu.command, apdu.response, apdu.status))
        .collect();
    let echoed = [0x0C, 0xB0, 0x01, 0x02];
    assert_eq!(
        apdus,
        [
            ([0x00, 0x20, 0x00, 0x82], 32, 2, 0x6D00),
            (echoed, 32, 30, 0x9000),
            (echoed, 32, 0, 0),
            ([0; 4], 1, 0, 0),
        ]
    );
    assert_eq!(records[2].card, Some(WORK));
    assert_eq!(records[5].card, None);
    assert_eq!(records[0].card, None);
    assert!(
        records
            .iter()
            .all(|record| record.process == std::process::id())
    );
    assert!(
        records
            .iter()
            .all(|record| record.begin_ns <= record.end_ns)
    );
    assert!(records.is_sorted_by_key(|record| record.begin_ns));

    let trace = folder.join("trace");
    let bytes = std::fs::read(&trace).unwrap();
    for part in PIN.windows(4) {
        assert!(!bytes.windows(4).any(|window| window == part));
    }
    assert_eq!(
        std::fs::metadata(&trace).unwrap().permissions().mode() & 0o777,
        0o600
    );
});

scenario!(threads_share_a_trace, TRACED, |folder| {
    let _server = Server::start(folder);
    let library = Library::load();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let handle = library.handle();
                for length in 0..250 {
                    let command = [&[0, 0xB0, 0, 0][..], &vec![0; length]].concat();
                    library.transmit(handle, &command, 300).unwrap();
                }
            });
        }
    });
    let records = records(folder);
    assert_eq!(records.len(), 4 * 252);
    for record in records
        .iter()
        .filter(|record| record.call == Call::Transmit)
    {
        let apdu = record.apdu.unwrap();
        assert_eq!(apdu.response, apdu.command - 2);
    }
});

scenario!(
    a_trace_that_cannot_be_written_disturbs_nobody,
    [TRACED[0], ("KEYMARK_PCSC_TRACE", "{}/missing/trace")],
    |folder| {
        let _server = Server::start(folder);
        let library = Library::load();
        assert!(
            library
                .transmit(library.handle(), &[0, 0xB0, 0, 0], 9)
                .is_ok()
        );
    }
);
