//! The calls of a program to PC/SC, as the library takes them down: one record of 96 octets a call, a mark and the
//! call in postcard's form, filled with zeros. Commands and responses leave their header, lengths and status word,
//! never a PIN, a plaintext or anything else of their data.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{FileError, foreign, unread};

/// Length of a record.
pub const RECORD: usize = 96;
const MAGIC: [u8; 4] = *b"KMT2";

/// Gives the functions of PC/SC (part 5 of its specification, as pcsc-lite spells them) that scdaemon calls to a macro: what each is
/// called and takes, its name in a trace, which argument says whether the card is shared, who answers for the served
/// card and by what of it, and what the trace keeps.
#[rustfmt::skip]
#[macro_export]
macro_rules! pcsc_functions {
    ($apply:ident) => { $apply! {
        fn SCardEstablishContext = EstablishContext(scope: Dword, reserved1: *const c_void, reserved2: *const c_void, context: *mut Context), virtually establish_context(context), keeping nothing;
        fn SCardReleaseContext = ReleaseContext(context: Context), virtually release_context(context), keeping nothing;
        fn SCardListReaders = ListReaders(context: Context, groups: *const c_char, readers: *mut c_char, length: *mut Dword), virtually list_readers(context, readers, length), keeping nothing;
        fn SCardGetStatusChange = GetStatusChange(context: Context, timeout: Dword, states: *mut ReaderState, count: Dword), virtually get_status_change(context, timeout, states, count), keeping nothing;
        fn SCardCancel = Cancel(context: Context), virtually cancel(context), keeping nothing;
        fn SCardConnect = Connect(context: Context, reader: *const c_char, share: Dword, protocols: Dword, handle: *mut Handle, active: *mut Dword), sharing share, virtually connect(context, reader, share, protocols, handle, active), keeping nothing;
        fn SCardReconnect = Reconnect(handle: Handle, share: Dword, protocols: Dword, initialization: Dword, active: *mut Dword), sharing share, virtually reconnect(handle, share, protocols, initialization, active), keeping nothing;
        fn SCardDisconnect = Disconnect(handle: Handle, disposition: Dword), virtually disconnect(handle, disposition), keeping nothing;
        fn SCardStatus = Status(handle: Handle, reader: *mut c_char, reader_length: *mut Dword, state: *mut Dword, protocol: *mut Dword, atr: *mut u8, atr_length: *mut Dword), virtually status(handle, reader, reader_length, state, protocol, atr, atr_length), keeping nothing;
        fn SCardBeginTransaction = BeginTransaction(handle: Handle), virtually begin_transaction(handle), keeping nothing;
        fn SCardEndTransaction = EndTransaction(handle: Handle, disposition: Dword), virtually end_transaction(handle, disposition), keeping nothing;
        fn SCardTransmit = Transmit(handle: Handle, send_header: *const IoRequest, send: *const u8, send_length: Dword, receive_header: *mut IoRequest, receive: *mut u8, receive_length: *mut Dword), virtually transmit(handle, send, send_length, receive_header, receive, receive_length), keeping header;
        fn SCardControl = Control(handle: Handle, code: Dword, send: *const c_void, send_length: Dword, receive: *mut c_void, receive_length: Dword, returned: *mut Dword), virtually control(handle, code, returned), keeping nothing;
    } };
}

macro_rules! calls {
    ($(fn $name:ident = $call:ident($($arguments:tt)*), $(sharing $share:ident,)? virtually $virtually:ident($($passed:tt)*), keeping $keeping:ident;)*) => {
        /// A function of PC/SC.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "the names are the specification's")]
        pub enum Call {
            $($call,)*
        }

        impl Call {
            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$call => stringify!($name),)* }
            }
        }
    };
}

pcsc_functions!(calls);

/// Record of a command and its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Apdu {
    /// CLA, INS, P1, P2.
    pub header: [u8; 4],
    /// Octets of the command.
    pub command: u32,
    /// Octets of the response, with its status word.
    pub response: u32,
    /// Status word; 0 if there was no response.
    pub status: u16,
}

/// Record of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedCall {
    /// Function that was called.
    pub call: Call,
    /// Begin of the call: `CLOCK_MONOTONIC`, in nanoseconds.
    pub begin_ns: u64,
    /// End of the call in nanoseconds of `CLOCK_MONOTONIC`.
    pub end_ns: u64,
    /// The card's own work, where the other side said so.
    pub card: Option<Duration>,
    /// Process that called.
    pub process: u32,
    /// Return code: 0 for success (`SCARD_S_SUCCESS`).
    pub result: i64,
    /// Command and response of SCardTransmit.
    pub apdu: Option<Apdu>,
}

impl TracedCall {
    /// Returns the duration of the call.
    pub const fn duration(&self) -> Duration {
        Duration::from_nanos(self.end_ns.saturating_sub(self.begin_ns))
    }

    /// Encodes it as it is in the file.
    pub fn encode(&self) -> [u8; RECORD] {
        let mut record = [0; RECORD];
        let (mark, content) = record.split_at_mut(MAGIC.len());
        // All of its numbers together are shorter, however large: one that failed would have no mark.
        if postcard::to_slice(self, content).is_ok() {
            mark.copy_from_slice(&MAGIC);
        }
        record
    }

    /// Decodes a record of the file; `None` for other octets.
    pub fn decode(record: &[u8; RECORD]) -> Option<Self> {
        let content = record.strip_prefix(&MAGIC)?;
        postcard::from_bytes(content).ok()
    }
}

/// Reads a trace that is still being written.
#[derive(Debug)]
pub struct TraceReader {
    path: PathBuf,
    at: u64,
}

impl TraceReader {
    /// Begins at the first record. The file need not be there yet.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.into(),
            at: 0,
        }
    }

    /// The records that were added since the last time.
    pub fn read(&mut self) -> Result<Vec<TracedCall>, FileError> {
        let failed = unread(&self.path);
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened.map_err(&failed)?,
        };
        file.seek(SeekFrom::Start(self.at)).map_err(&failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let (records, torn) = bytes.as_chunks::<RECORD>();
        let records: Option<Vec<_>> = records.iter().map(TracedCall::decode).collect();
        match records {
            Some(records) if torn.is_empty() => {
                self.at += bytes.len() as u64;
                Ok(records)
            }
            _ => {
                let expected = "a trace of PC/SC calls, or is incomplete";
                Err(foreign(&self.path, expected))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn records()(
            call in proptest::sample::select(&[Call::EstablishContext, Call::Transmit, Call::Control]),
            (begin_ns, end_ns, process, result) in any::<(u64, u64, u32, i64)>(),
            card in proptest::option::of(any::<u64>()),
            apdu in proptest::option::of((any::<[u8; 4]>(), any::<u32>(), any::<u32>(), any::<u16>())),
        ) -> TracedCall {
            TracedCall {
                call, begin_ns, end_ns, process, result,
                card: card.map(Duration::from_nanos),
                apdu: apdu.map(|(header, command, response, status)| Apdu { header, command, response, status }),
            }
        }
    }

    proptest! {
        #[test]
        fn records_survive(record in records()) {
            prop_assert_eq!(TracedCall::decode(&record.encode()), Some(record));
        }

        #[test]
        fn garbage_is_no_record(mut bytes in any::<[[u8; 32]; 3]>()) {
            bytes[0][0] = b'X';
            prop_assert_eq!(TracedCall::decode(bytes.as_flattened().as_array().unwrap()), None);
        }
    }

    #[test]
    fn a_growing_trace_is_read_as_it_grows() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace");
        let mut reader = TraceReader::new(&path);
        assert_eq!(reader.read().unwrap(), []);
        let record = TracedCall {
            call: Call::Connect,
            begin_ns: 1,
            end_ns: 3,
            card: None,
            process: 7,
            result: 0,
            apdu: None,
        };
        let mut file = File::create(&path).unwrap();
        for _ in 0..2 {
            file.write_all(&record.encode()).unwrap();
            assert_eq!(reader.read().unwrap(), [record]);
        }
        file.write_all(b"torn").unwrap();
        let error = reader.read().unwrap_err().to_string();
        assert!(error.contains("is not a trace of PC/SC calls"), "{error}");
        assert_eq!(record.call.name(), "SCardConnect");
        assert_eq!(record.duration(), Duration::from_nanos(2));
    }
}
