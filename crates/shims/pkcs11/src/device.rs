//! The one device that all processes and threads share: a file of numbers that they map.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use keymark_bench::profile::Quota;
use keymark_shim_protocol::pkcs11::Call;
use keymark_shim_protocol::pkcs11::settings::{MOST_LANES, TwinSettings};

use crate::alone::Holder;
use crate::clock;
use crate::trace::Mapping;

const MAGIC: u64 = u64::from_le_bytes(*b"KMP11D01");

/// Positions of the numbers in words.
const BOOT: usize = 1;
const LANE_COUNT: usize = 2;
const DRAWS: usize = 3;
const QUOTA: usize = 4;
/// Process and call that have the token to itself; zero while none has.
const HOLDER: usize = 6;
const SINCE: usize = 7;
const FREE: usize = 8;
/// Bits of a call's number, which begins with 1, behind the process.
const CALL: u32 = 16;
const LENGTH: usize = 8 * (FREE + MOST_LANES as usize);

/// The device, mapped.
#[derive(Debug)]
pub(crate) struct Device {
    file: File,
    /// Device and inode of the file.
    identity: (u64, u64),
    numbers: Mapping,
    lanes: u16,
}

impl Device {
    /// The device of those settings, made if there is none, and made anew if it is of another start of the
    /// machine, whose clock has begun again.
    pub(crate) fn open(settings: &TwinSettings, name: &str) -> Result<Self, String> {
        if !(1..=MOST_LANES).contains(&settings.lanes) {
            return Err(format!("twin.lanes is not between 1 and {MOST_LANES}"));
        }
        let path = settings.device.clone().unwrap_or_else(|| usual_place(name));
        let failed = |error: io::Error| format!("the twin's device {}: {error}", path.display());
        let (boot, lanes) = (boot(), u64::from(settings.lanes));
        for _ in 0..2 {
            let file = open(&path).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => make(&path, boot, lanes).and_then(|()| open(&path)),
                _ => Err(error),
            });
            let file = file.map_err(failed)?;
            let mapped = Mapping::of(&file, 0, LENGTH).map_err(failed)?;
            let word = |at: usize| mapped.word(8 * at).load(Relaxed);
            if word(0) != MAGIC {
                return Err(failed(io::Error::other("it is none of a twin")));
            }
            if word(BOOT) != boot {
                fs::remove_file(&path).map_err(failed)?;
                continue;
            }
            if word(LANE_COUNT) != lanes {
                let reason = format!("others use it with {} lanes", word(LANE_COUNT));
                return Err(failed(io::Error::other(reason)));
            }
            let metadata = file.metadata().map_err(failed)?;
            return Ok(Self {
                file,
                identity: identity(&metadata),
                numbers: mapped,
                lanes: settings.lanes,
            });
        }
        Err(failed(io::Error::other("it changes all the time")))
    }

    /// Its file, open for as long as the device is, since closing it gives back locks. None if the program has closed
    /// all that was open, as one does that becomes a daemon: another file may have the number since.
    pub(crate) fn file(&self) -> Option<&File> {
        let there = self.file.metadata().ok()?;
        (identity(&there) == self.identity).then_some(&self.file)
    }

    fn word(&self, at: usize) -> &'static AtomicU64 {
        self.numbers.word(8 * at)
    }

    /// A number that nobody else has drawn.
    pub(crate) fn draw(&self) -> u64 {
        self.word(DRAWS).fetch_add(1, Relaxed)
    }

    /// Returns whether a quota admits an operation that arrives then, by the generic cell rate algorithm (ITU-T I.371,
    /// annex A): the number is the time at which the next one is due.
    pub(crate) fn admits(&self, quota: Quota, burst: u32, arrival: u64) -> bool {
        let interval = clock::nanoseconds(quota.0);
        let early = interval.saturating_mul(u64::from(burst.saturating_sub(1)));
        let next = |due: u64| {
            let due = due.max(arrival);
            (due - arrival <= early).then(|| due.saturating_add(interval))
        };
        let due = self.word(QUOTA);
        due.fetch_update(AcqRel, Relaxed, next).is_ok()
    }

    /// Returns the process that has the token to itself.
    pub(crate) fn holder_of_token(&self) -> Option<Holder> {
        let holder = self.word(HOLDER).load(Acquire);
        let call = (holder & ((1 << CALL) - 1)).checked_sub(1)?;
        Some(Holder {
            process: u32::try_from(holder >> CALL).ok()?,
            call: *Call::ALL.get(usize::try_from(call).ok()?)?,
            since: self.word(SINCE).load(Relaxed),
        })
    }

    /// Notes that this process has the token to itself for that call.
    pub(crate) fn note_holder(&self, call: Call) {
        self.word(SINCE).store(clock::now(), Relaxed);
        let holder = u64::from(std::process::id()) << CALL | (call as u64 + 1);
        self.word(HOLDER).store(holder, Release);
    }

    /// Nobody has it.
    pub(crate) fn forget_holder(&self) {
        self.word(HOLDER).store(0, Release);
    }

    /// Reserves the lane that is free first. Returns start and end of the service in nanoseconds of `CLOCK_MONOTONIC`.
    ///
    /// Callers are served in the order of their reservations. A reservation is one exchange of a number, so a caller
    /// that is stopped or killed holds no lock; the device still spends the time that it has reserved.
    pub(crate) fn reserve(&self, arrival: u64, service: u64) -> (u64, u64) {
        loop {
            let lane = self.first_free();
            let free = lane.load(Acquire);
            let start = free.max(arrival);
            let end = start + service;
            if lane.compare_exchange(free, end, AcqRel, Relaxed).is_ok() {
                return (start, end);
            }
        }
    }

    /// Gives a reservation back, unless another caller has reserved after it.
    pub(crate) fn give_back(&self, start: u64, end: u64) {
        let _ = self
            .lanes()
            .find(|lane| lane.compare_exchange(end, start, AcqRel, Relaxed).is_ok());
    }

    /// The lane that is free first: until when it works, in nanoseconds of `CLOCK_MONOTONIC`.
    fn first_free(&self) -> &'static AtomicU64 {
        self.lanes()
            .min_by_key(|lane| lane.load(Relaxed))
            .unwrap_or_else(|| self.word(FREE))
    }

    fn lanes(&self) -> impl Iterator<Item = &'static AtomicU64> {
        (0..usize::from(self.lanes)).map(|lane| self.word(FREE + lane))
    }
}

fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

fn usual_place(name: &str) -> PathBuf {
    let user = nix::unistd::getuid();
    match std::env::var_os("XDG_RUNTIME_DIR").filter(|place| Path::new(place).is_dir()) {
        Some(place) => Path::new(&place).join(format!("keymark-twin-{name}")),
        None => PathBuf::from(format!("/dev/shm/keymark-{user}-twin-{name}")),
    }
}

/// No link, and the user's own: in `/dev/shm` anybody can leave files.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true);
    let file = options.custom_flags(libc::O_NOFOLLOW).open(path)?;
    if file.metadata()?.uid() != nix::unistd::geteuid().as_raw() {
        return Err(io::Error::other("it is another user's"));
    }
    Ok(file)
}

/// Made whole under another name, so that nobody finds half of it; who comes second leaves the first's.
fn make(path: &Path, boot: u64, lanes: u64) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    let name = PathBuf::from(name);
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600);
    let file = options.open(&name)?;
    let linked = [(0, MAGIC), (BOOT, boot), (LANE_COUNT, lanes)]
        .iter()
        .try_for_each(|(at, number)| file.write_all_at(&number.to_ne_bytes(), 8 * *at as u64))
        .and_then(|()| file.set_len(LENGTH as u64))
        .and_then(|()| fs::hard_link(&name, path));
    fs::remove_file(&name)?;
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    }
}

/// Returns a number of this start of the machine: the hash FNV-1a of the kernel's word for it.
fn boot() -> u64 {
    let id = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let hash = |hash: u64, octet: &u8| (hash ^ u64::from(*octet)).wrapping_mul(0x0100_0000_01B3);
    id.iter().fold(0xCBF2_9CE4_8422_2325, hash)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn settings(path: &Path) -> TwinSettings {
        TwinSettings {
            profile: "x".to_owned(),
            device: Some(path.into()),
            ..TwinSettings::default()
        }
    }

    #[test]
    fn all_who_open_it_share_it() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("device");
        let first = Device::open(&settings(&path), "x").unwrap();
        let second = Device::open(&settings(&path), "x").unwrap();
        assert_eq!((first.draw(), second.draw(), first.draw()), (0, 1, 2));
        assert_eq!(first.reserve(10, 5), (10, 15));
        assert_eq!(second.reserve(11, 5), (15, 20), "waits its turn");
        assert_eq!(first.reserve(30, 5), (30, 35), "the device was idle");
        first.give_back(30, 35);
        assert_eq!(second.reserve(31, 5), (31, 36), "nothing was done");
        for call in [Call::C_Initialize, Call::C_AsyncJoin] {
            first.note_holder(call);
            let holder = second.holder_of_token().unwrap();
            assert_eq!((holder.process, holder.call), (std::process::id(), call));
        }
        for none in [19_834 << CALL, u64::MAX] {
            first.word(HOLDER).store(none, Release);
            assert_eq!(second.holder_of_token(), None, "no such call");
        }
        first.forget_holder();
        assert_eq!(second.holder_of_token(), None);
        let wider = TwinSettings {
            lanes: 2,
            ..settings(&path)
        };
        let said = Device::open(&wider, "x").unwrap_err();
        assert!(said.contains("1 lanes"), "{said}");
    }

    #[test]
    fn a_quota_admits_a_burst_and_then_its_rate_to_all_together() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("device");
        let devices = [(); 2].map(|()| Device::open(&settings(&path), "x").unwrap());
        let quota = Quota(Duration::from_nanos(10));
        let admitted = |arrivals: &mut dyn Iterator<Item = u64>, burst| {
            let admits = |arrival: &u64| {
                let device = &devices[(arrival % 2) as usize];
                device.admits(quota, burst, *arrival)
            };
            arrivals.filter(admits).collect::<Vec<u64>>()
        };
        // Three at once, and one each ten nanoseconds.
        let expected = [1000, 1001, 1002, 1010, 1020, 1030, 1040];
        assert_eq!(admitted(&mut (1000..1050), 3), expected);
        // One that waited has a burst again, and not a larger one.
        assert_eq!(admitted(&mut (5000..5011), 3), [5000, 5001, 5002, 5010]);
        assert_eq!(admitted(&mut (9000..9100), 1).len(), 10);
        // At nine tenths of the rate nothing is refused.
        assert_eq!(admitted(&mut (20_000..21_100).step_by(11), 1).len(), 100);
    }

    #[test]
    fn what_is_of_another_start_of_the_machine_is_made_anew() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("device");
        make(&path, 1, 1).unwrap();
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .write_all_at(&u64::MAX.to_ne_bytes(), 8 * FREE as u64)
            .unwrap();
        let device = Device::open(&settings(&path), "x").unwrap();
        assert_eq!(device.reserve(1, 1), (1, 2));
        std::fs::write(&path, "x".repeat(LENGTH)).unwrap();
        let said = Device::open(&settings(&path), "x").unwrap_err();
        assert!(said.contains("none of a twin"), "{said}");
    }
}
