//! The calls of a program to PC/SC, as the library takes them down: one record of 96 octets a call, a mark and the call in
//! postcard's form, filled with zeros. Commands and responses leave their header, lengths and status word, never a PIN, a
//! plaintext or anything else of their data.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{FileError, foreign, unread};

/// Length of a record.
pub const RECORD: usize = 96;
const MAGIC: [u8; 4] = *b"KMT2";

/// Declares the calls with their names.
macro_rules! calls {
    ($($name:ident = $code:literal,)+) => {
        /// A function of PC/SC (part 5 of its specification, as pcsc-lite spells them).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "the names are the specification's")]
        pub enum Call {
            $($name = $code,)+
        }

        impl Call {
            /// Every call.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => concat!("SCard", stringify!($name)),)+ }
            }
        }
    };
}

calls! {
    EstablishContext = 1,
    ReleaseContext = 2,
    IsValidContext = 3,
    ListReaders = 4,
    ListReaderGroups = 5,
    FreeMemory = 6,
    GetStatusChange = 7,
    Cancel = 8,
    Connect = 9,
    Reconnect = 10,
    Disconnect = 11,
    Status = 12,
    BeginTransaction = 13,
    EndTransaction = 14,
    Transmit = 15,
    Control = 16,
    GetAttrib = 17,
    SetAttrib = 18,
}

/// What is kept of a command and its response.
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

/// One call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedCall {
    /// Which function.
    pub call: Call,
    /// When it was called: `CLOCK_MONOTONIC`, in nanoseconds.
    pub begin_ns: u64,
    /// When it returned.
    pub end_ns: u64,
    /// The card's own work, where the other side said so.
    pub card: Option<Duration>,
    /// Process that called.
    pub process: u32,
    /// What it returned: 0 for success (`SCARD_S_SUCCESS`).
    pub result: i64,
    /// For SCardTransmit.
    pub apdu: Option<Apdu>,
}

impl TracedCall {
    /// How long the call took.
    pub const fn duration(&self) -> Duration {
        Duration::from_nanos(self.end_ns.saturating_sub(self.begin_ns))
    }

    /// As it stands in the file.
    pub fn encode(&self) -> [u8; RECORD] {
        let mut record = [0; RECORD];
        let (mark, content) = record.split_at_mut(MAGIC.len());
        // All of its numbers together are shorter, however large: one that failed would have no mark.
        if postcard::to_slice(self, content).is_ok() {
            mark.copy_from_slice(&MAGIC);
        }
        record
    }

    /// From the file; `None` for what is no record.
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
            call in proptest::sample::select(Call::ALL),
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
