//! A trace of calls: counts and histograms in a file that every traced process maps, so that what was counted
//! outlives a process that crashes. A page of header, then one slot a thread; a slot has one [`Field`] record
//! and one histogram for everything that is [`Traced`]. Integers of this machine. Files are sparse: what was
//! not called takes no room. No argument of a call is in it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use super::Traced;
use crate::{FileError, foreign, unread};

/// First words of a file.
pub const MAGIC: u64 = u64::from_le_bytes(*b"KMP11T02");
/// Length of the header in bytes.
pub const HEADER: usize = 4096;
/// Position in the header of the number of slots that were given out.
pub const NEXT_SLOT: usize = 8;
/// Threads that have a slot of their own; all later ones share the last.
pub const SLOTS: u64 = 1 << 14;
const IDENTITY: usize = 128;
const FIELDS: usize = 64;
/// Length of the record and histogram of one thing traced.
const RECORD: usize = FIELDS + 4 * BUCKETS;
/// Length of a slot in bytes, whole pages.
pub const SLOT: usize = (IDENTITY + Traced::COUNT * RECORD).next_multiple_of(4096);

/// A number in a slot's head, by its offset in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "said by their names")]
pub enum Identity {
    Process = 0,
    Parent = 8,
    Thread = 16,
    /// Begin of the thread's first call: `CLOCK_MONOTONIC`, in nanoseconds.
    Begin = 24,
    /// 16 bytes of the name that the process had (`/proc/self/comm`).
    Name = 32,
    /// Calls that a client would send to a device behind a network.
    Remote = 48,
    /// Number of these up to the first work of a private key, that one included; 0 if there was none.
    RemoteFirst = 56,
    /// Number of these up to the last work of a private key, that one included.
    RemoteLast = 64,
}

/// A number in a record, by its offset in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Calls.
    Count = 0,
    /// Number of calls that did not return `CKR_OK`.
    Failed = 8,
    /// All their times together, in nanoseconds.
    Total = 16,
    /// Begin of the first call: `CLOCK_MONOTONIC`, in nanoseconds.
    FirstBegin = 24,
    /// Duration of the first call in nanoseconds.
    First = 32,
    /// Duration of the longest call in nanoseconds.
    Longest = 40,
    /// Time spent waiting for a twin that worked for others, in nanoseconds.
    Waited = 48,
    /// The last return code that was not `CKR_OK`.
    Code = 56,
}

/// Returns the position of a number in a slot, in bytes.
pub fn field(traced: Traced, field: Field) -> usize {
    IDENTITY + traced.place() * RECORD + field as usize
}

/// Returns the position of the counter of a bucket in a slot, in bytes: 32 bits wide.
pub fn counter(traced: Traced, bucket: usize) -> usize {
    IDENTITY + traced.place() * RECORD + FIELDS + 4 * bucket
}

/// Returns the position of a slot in the file, in bytes.
pub const fn offset(slot: u64) -> u64 {
    HEADER as u64 + slot * SLOT as u64
}

/// The calls of one kind, of one thread or of several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallTimes {
    /// Number of calls.
    pub count: u64,
    /// Number of calls that did not return `CKR_OK`.
    pub failed: u64,
    /// All together.
    pub total: Duration,
    /// Begin of the first call in nanoseconds of `CLOCK_MONOTONIC`.
    pub first_begin_ns: u64,
    /// Duration of the first call.
    pub first: Duration,
    /// Duration of the longest call.
    pub longest: Duration,
    /// Time spent waiting for a twin that worked for others.
    pub waited: Duration,
    /// The last return code that was not `CKR_OK`.
    pub code: Option<u64>,
    /// Number of calls in each bucket of the histogram.
    buckets: BTreeMap<usize, u64>,
}

impl CallTimes {
    /// Mean of all but the first.
    pub fn later(&self) -> Option<Duration> {
        let later = u32::try_from(self.count.checked_sub(1)?).ok()?;
        self.total.checked_sub(self.first)?.checked_div(later)
    }

    /// The time that this share of the calls took at most, by nearest rank, from the histogram: within 1.6 %.
    pub fn quantile(&self, share: f64) -> Duration {
        let wanted = (share * self.count as f64).ceil().max(1.0) as u64;
        if wanted >= self.count {
            return self.longest;
        }
        let mut seen = 0;
        let reached = |(_, count): &(&usize, &u64)| {
            seen += **count;
            seen >= wanted
        };
        let found = self.buckets.iter().find(reached);
        found.map_or(self.longest, |(bucket, _)| {
            middle(*bucket).min(self.longest)
        })
    }

    /// Returns the calls since an earlier reading of the same calls; none if nothing did. Of the first call and the
    /// longest one nobody knows whether they did.
    pub fn since(&self, earlier: &Self) -> Option<CallsSince> {
        let count = self.count.saturating_sub(earlier.count);
        let buckets = self.buckets.iter().filter_map(|(bucket, count)| {
            let before = earlier.buckets.get(bucket).copied().unwrap_or_default();
            let more = count.saturating_sub(before);
            (more > 0).then(|| (middle(*bucket), more))
        });
        (count > 0).then(|| CallsSince {
            count,
            failed: self.failed.saturating_sub(earlier.failed),
            total: self.total.saturating_sub(earlier.total),
            waited: self.waited.saturating_sub(earlier.waited),
            durations: buckets.collect(),
        })
    }

    /// Both together.
    pub fn add(&mut self, other: &Self) {
        if other.first_begin_ns < self.first_begin_ns {
            (self.first_begin_ns, self.first) = (other.first_begin_ns, other.first);
        }
        self.count += other.count;
        self.failed += other.failed;
        self.total += other.total;
        self.waited += other.waited;
        self.longest = self.longest.max(other.longest);
        self.code = other.code.or(self.code);
        for (bucket, count) in &other.buckets {
            *self.buckets.entry(*bucket).or_default() += count;
        }
    }
}

/// Calls by what they are.
pub type Calls = BTreeMap<Traced, CallTimes>;

/// Both together.
pub fn together(mut all: Calls, more: &Calls) -> Calls {
    for (traced, times) in more {
        let there = all.entry(*traced);
        there
            .and_modify(|there| there.add(times))
            .or_insert_with(|| times.clone());
    }
    all
}

/// The calls of one kind between two readings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallsSince {
    /// Number of calls.
    pub count: u64,
    /// Number of calls that did not return `CKR_OK`.
    pub failed: u64,
    /// All together.
    pub total: Duration,
    /// Time spent waiting for a twin that worked for others.
    pub waited: Duration,
    /// Durations with the number of calls, rising, each within 1.6 %.
    pub durations: Vec<(Duration, u64)>,
}

/// Calls of one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedThread {
    /// Its process.
    pub process: u32,
    /// Parent of that process.
    pub parent: u32,
    /// The thread.
    pub thread: u32,
    /// Begin of its first call in nanoseconds of `CLOCK_MONOTONIC`.
    pub begin_ns: u64,
    /// Name of the process.
    pub name: String,
    /// Its calls.
    pub calls: Calls,
    /// Numbers of its calls to a device behind a network.
    pub remote: RemoteCalls,
}

/// Numbers of calls that a client sends to a device behind a network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RemoteCalls {
    /// Number of all.
    pub all: u64,
    /// Number up to the first work of a private key, that one included; 0 if there was none.
    pub first: u64,
    /// Number up to the last work of a private key, that one included.
    pub last: u64,
}

/// Makes an empty trace, for nobody but the user.
pub fn create(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.mode(0o600).open(path)?;
    if file.metadata()?.len() < HEADER as u64 {
        // Several may do this at once: they write the same, and none of it touches what is counted.
        file.write_all_at(&MAGIC.to_ne_bytes(), 0)?;
        file.write_all_at(&[0], HEADER as u64 - 1)?;
    }
    Ok(file)
}

/// Reads the calls of every thread until now. A file that is not there is a program that called nothing.
pub fn read(path: &Path) -> Result<Vec<TracedThread>, FileError> {
    let failed = unread(path);
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened.map_err(&failed)?,
    };
    let length = file.metadata().map_err(&failed)?.len();
    if length == 0 {
        return Ok(Vec::new());
    }
    let mut header = [0; HEADER];
    if file.read_exact_at(&mut header, 0).is_err() || word(&header, 0) != MAGIC {
        let expected = "a trace of PKCS#11 calls, or belongs to another version of keymark";
        return Err(foreign(path, expected));
    }
    let slots = word(&header, NEXT_SLOT).min(SLOTS);
    let mut threads = Vec::new();
    for slot in 0..slots {
        // A process may have died before it made room for its slot.
        if offset(slot + 1) > length {
            break;
        }
        threads.extend(thread(&file, offset(slot)).map_err(&failed)?);
    }
    Ok(threads)
}

fn thread(file: &File, at: u64) -> io::Result<Option<TracedThread>> {
    let mut head = [0; IDENTITY];
    file.read_exact_at(&mut head, at)?;
    let number = |which: Identity| word(&head, which as usize);
    let small = |which| u32::try_from(number(which)).unwrap_or(0);
    let name = &head[Identity::Name as usize..][..16];
    let end = name.iter().position(|byte| *byte == 0);
    let mut calls = BTreeMap::new();
    for traced in Traced::all() {
        let mut fields = [0; FIELDS];
        file.read_exact_at(&mut fields, at + field(traced, Field::Count) as u64)?;
        if word(&fields, Field::Count as usize) > 0 {
            let mut counters = [0; 4 * BUCKETS];
            file.read_exact_at(&mut counters, at + counter(traced, 0) as u64)?;
            calls.insert(traced, times(&fields, &counters));
        }
    }
    Ok((!calls.is_empty()).then(|| TracedThread {
        process: small(Identity::Process),
        parent: small(Identity::Parent),
        thread: small(Identity::Thread),
        begin_ns: number(Identity::Begin),
        name: String::from_utf8_lossy(&name[..end.unwrap_or(name.len())]).into_owned(),
        calls,
        remote: RemoteCalls {
            all: number(Identity::Remote),
            first: number(Identity::RemoteFirst),
            last: number(Identity::RemoteLast),
        },
    }))
}

fn times(fields: &[u8], counters: &[u8]) -> CallTimes {
    let number = |which: Field| word(fields, which as usize);
    let time = |which| Duration::from_nanos(number(which));
    let (counters, _) = counters.as_chunks::<4>();
    let counters = counters.iter().map(|bytes| u32::from_ne_bytes(*bytes));
    let counted = counters.enumerate().filter(|(_, count)| *count > 0);
    let code = number(Field::Code);
    CallTimes {
        count: number(Field::Count),
        failed: number(Field::Failed),
        total: time(Field::Total),
        first_begin_ns: number(Field::FirstBegin),
        first: time(Field::First),
        longest: time(Field::Longest),
        waited: time(Field::Waited),
        code: (code != 0).then_some(code),
        buckets: counted
            .map(|(bucket, count)| (bucket, u64::from(count)))
            .collect(),
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    u64::from_ne_bytes(*found.unwrap_or(&[0; 8]))
}

// Durations in buckets of one width relative to their value, as HDR histograms have them (Tene, 2013): 32 to
// the octave, so that a bucket's middle is within 1.6 % of what is in it. Written here, because the counts
// are in shared memory at places that never move, which a crate that owns its counts cannot do.

/// Buckets to an octave, as a power of two.
const PRECISION: u32 = 5;
/// Values of 2⁴¹ ns, 37 minutes, and more share the last bucket.
const OCTAVES: u32 = 41;
/// Number of buckets of a histogram.
pub const BUCKETS: usize = ((OCTAVES - PRECISION + 1) << PRECISION) as usize;

/// The bucket of a duration in nanoseconds.
pub const fn bucket(nanoseconds: u64) -> usize {
    if nanoseconds < 1 << PRECISION {
        return nanoseconds as usize;
    }
    let octave = u64::BITS - 1 - nanoseconds.leading_zeros();
    if octave >= OCTAVES {
        return BUCKETS - 1;
    }
    let shift = octave - PRECISION;
    let within = (nanoseconds >> shift) as usize & ((1 << PRECISION) - 1);
    (((shift + 1) as usize) << PRECISION) + within
}

/// The middle of a bucket.
pub const fn middle(bucket: usize) -> Duration {
    let (octave, within) = (bucket >> PRECISION, bucket & ((1 << PRECISION) - 1));
    if octave == 0 {
        return Duration::from_nanos(within as u64);
    }
    let shift = octave - 1;
    let low = (((1 << PRECISION) + within) as u64) << shift;
    Duration::from_nanos(low + (1 << shift) / 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pkcs11::Call;

    fn put(file: &File, at: usize, number: u64) {
        file.write_all_at(&number.to_ne_bytes(), offset(0) + at as u64)
            .unwrap();
    }

    #[test]
    fn what_is_counted_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace");
        assert_eq!(read(&path).unwrap(), []);
        let file = create(&path).unwrap();
        assert_eq!(read(&path).unwrap(), []);
        file.write_all_at(&1_u64.to_ne_bytes(), NEXT_SLOT as u64)
            .unwrap();
        // Given out, and the process died.
        assert_eq!(read(&path).unwrap(), []);
        file.write_all_at(&[0], offset(1) - 1).unwrap();
        assert_eq!(read(&path).unwrap(), []);
        put(&file, Identity::Process as usize, 17);
        put(
            &file,
            Identity::Name as usize,
            u64::from_ne_bytes(*b"ssh\0\0\0\0\0"),
        );
        let sign = Traced::Whole(Call::C_Sign);
        for (which, number) in [
            (Field::Count, 3),
            (Field::Failed, 1),
            (Field::Total, 9_000),
            (Field::First, 5_000),
            (Field::Longest, 5_000),
            (Field::Code, 0x101),
        ] {
            put(&file, field(sign, which), number);
        }
        for (nanoseconds, count) in [(2_000, 2_u32), (5_000, 1)] {
            let at = offset(0) + counter(sign, bucket(nanoseconds)) as u64;
            file.write_all_at(&count.to_ne_bytes(), at).unwrap();
        }
        let read = read(&path).unwrap();
        assert_eq!((read[0].process, read[0].name.as_str()), (17, "ssh"));
        let signed = &read[0].calls[&sign];
        assert_eq!(
            (signed.count, signed.failed, signed.code),
            (3, 1, Some(0x101))
        );
        assert_eq!(signed.later(), Some(Duration::from_micros(2)));
        assert_eq!(signed.quantile(0.99), Duration::from_micros(5));
        let median = signed.quantile(0.5).as_nanos();
        assert!((1_968..=2_032).contains(&median), "{median}");
        assert_eq!(signed.since(signed), None);
        let mut twice = signed.clone();
        twice.add(signed);
        let since = twice.since(signed).unwrap();
        assert_eq!((since.count, since.failed), (3, 1));
        assert_eq!(since.total, Duration::from_micros(9));
        let counts: Vec<u64> = since.durations.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [2, 1]);
        assert_eq!((twice.count, twice.total), (6, Duration::from_micros(18)));
        assert_eq!(twice.quantile(0.5), signed.quantile(0.5));
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace");
        for text in ["short".to_owned(), "long".repeat(5_000)] {
            std::fs::write(&path, text).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains("is not a trace of PKCS#11 calls"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn a_buckets_middle_is_near_what_is_in_it(nanoseconds in 0_u64..1 << OCTAVES) {
            let middle = middle(bucket(nanoseconds)).as_nanos() as f64;
            prop_assert!((middle - nanoseconds as f64).abs() <= nanoseconds as f64 / 63.0);
        }

        #[test]
        fn longer_durations_have_no_earlier_bucket(one: u64, other: u64) {
            let (short, long) = (one.min(other), one.max(other));
            prop_assert!(bucket(short) <= bucket(long) && bucket(long) < BUCKETS);
        }
    }

    #[test]
    fn the_buckets_follow_each_other() {
        for at in 1..BUCKETS {
            let nanoseconds = u64::try_from(middle(at).as_nanos()).unwrap();
            assert_eq!(bucket(nanoseconds), at);
        }
    }
}
