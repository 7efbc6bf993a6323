//! The time of a device over another module, with only the abilities of the device.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cryptoki_sys::{
    CK_MECHANISM_INFO, CK_MECHANISM_TYPE, CK_OBJECT_HANDLE, CK_RV, CK_SESSION_HANDLE,
    CKR_DEVICE_ERROR, CKR_FUNCTION_FAILED, CKR_FUNCTION_REJECTED, CKR_KEY_SIZE_RANGE,
    CKR_KEY_TYPE_INCONSISTENT, CKR_MECHANISM_INVALID, CKR_OK, CKR_SESSION_COUNT,
};
use keymark_bench::algorithm::{Algorithm, Family};
use keymark_bench::operation::Operation;
use keymark_bench::profile::{Profile, Quota, QuotaError, Sampler, ServiceTime};
use keymark_shim_protocol::pkcs11::settings::TwinSettings;
use keymark_shim_protocol::pkcs11::{Call, Traced, twin};

use crate::abilities::{self, Key, Range};
use crate::alone::{Alone, Gate, Stuck};
use crate::clock;
use crate::device::Device;
use crate::interfaces::Callee;
use crate::library::{tell, tell_once};
use crate::network::Trip;
use crate::trace::note_waiting;

/// Use of a key by a session, until it is done: one of each at a time (PKCS#11 3.1 §5.8 ff.).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Use {
    Sign,
    SignRecover,
    MessageSign,
    Decrypt,
}

impl Use {
    const fn operation(self) -> Operation {
        match self {
            Self::Sign | Self::SignRecover | Self::MessageSign => Operation::Sign,
            Self::Decrypt => Operation::Decrypt,
        }
    }
}

/// Sessions that a call closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    One,
    All,
}

/// The device.
#[derive(Debug)]
pub(crate) struct Twin {
    profile: Profile,
    seed: u64,
    device: Device,
    sessions: Sessions,
    pace: Pace,
}

/// Judgment whether the library below keeps up with the device. A single operation is late when other programs have the
/// processors for a while, as one is that wakes late from its wait: the device's time does not change by that. One that
/// calculates for longer than the device is late for good, and so is a library that waits for something itself.
#[derive(Debug, Default)]
struct Pace {
    operations: AtomicU64,
    late: AtomicU64,
}

impl Pace {
    const FEW: u64 = 4;

    fn is_too_slow(&self, is_late: bool, calculates_longer: bool) -> bool {
        let all = self.operations.fetch_add(1, Ordering::Relaxed) + 1;
        let late = u64::from(is_late);
        let late = self.late.fetch_add(late, Ordering::Relaxed) + late;
        is_late && (calculates_longer || (late >= Self::FEW && 4 * late > all))
    }
}

/// The work that the sessions of this process are about to do. After a fork the child has none, and the lock may be
/// one that nobody will release: it gets its own.
#[derive(Debug, Default)]
struct Sessions(AtomicPtr<OfProcess>);

#[derive(Debug)]
struct OfProcess {
    process: u32,
    uses: Mutex<HashMap<(CK_SESSION_HANDLE, Use), Option<ServiceTime>>>,
    /// Keys that were described: asking takes SoftHSM2 a quarter of a millisecond.
    keys: Mutex<HashMap<CK_OBJECT_HANDLE, Key>>,
    /// Number of open sessions.
    open: AtomicU32,
    gate: Gate,
}

impl Sessions {
    fn of_process(&self) -> &OfProcess {
        let process = std::process::id();
        loop {
            let there = self.0.load(Ordering::Acquire);
            // SAFETY: null, or made below and never freed.
            if let Some(sessions) = unsafe { there.as_ref() }
                && sessions.process == process
            {
                return sessions;
            }
            let fresh = Box::into_raw(Box::new(OfProcess {
                process,
                uses: Mutex::default(),
                keys: Mutex::default(),
                open: AtomicU32::default(),
                gate: Gate::default(),
            }));
            let put = self
                .0
                .compare_exchange(there, fresh, Ordering::AcqRel, Ordering::Acquire);
            if put.is_err() {
                // SAFETY: made above, and not given to anybody.
                drop(unsafe { Box::from_raw(fresh) });
            }
        }
    }
}

impl Twin {
    pub(crate) fn new(settings: &TwinSettings) -> Result<Self, String> {
        let profile = Profile::find(&settings.profile).map_err(|error| error.to_string())?;
        let device = Device::open(settings, &profile.name)?;
        Ok(Self {
            profile,
            seed: settings.seed,
            device,
            sessions: Sessions::default(),
            pace: Pace::default(),
        })
    }

    /// Nobody else reads or writes the token's state while that is done. Callers that wait for a stuck one are refused.
    pub(crate) fn alone(&self, call: Call, real: impl FnOnce() -> CK_RV) -> CK_RV {
        match Alone::new(&self.sessions.of_process().gate, &self.device, call) {
            Ok(_alone) => real(),
            Err(Stuck) => CKR_FUNCTION_FAILED,
        }
    }

    /// Sends a call to the device and waits for its answer, where a network is between.
    pub(crate) fn sent(&self, what: Traced, run: impl FnOnce(&Trip) -> CK_RV) -> CK_RV {
        let network = &self.profile.network;
        let trip = Trip::begin(what, network, |time| {
            Sampler::nth(self.seed, self.device.draw()).draw(time)
        });
        let code = run(&trip);
        trip.end();
        code
    }

    /// Waits until the operation is at the device, which refuses it beyond its quota.
    fn admitted(&self, trip: &Trip) -> Result<(), CK_RV> {
        trip.arrive();
        let network = &self.profile.network;
        let burst = network.quota_burst.map_or(1, Into::into);
        let admits = |quota: Quota| self.device.admits(quota, burst, trip.arrival);
        if network.quota.is_none_or(admits) {
            return Ok(());
        }
        Err(match network.quota_error.unwrap_or_default() {
            QuotaError::DeviceError => CKR_DEVICE_ERROR,
            QuotaError::FunctionRejected => CKR_FUNCTION_REJECTED,
        })
    }

    pub(crate) fn most_sessions(&self) -> Option<u32> {
        self.profile.network.sessions.map(Into::into)
    }

    /// Opens a session, unless the program has as many as the device allows.
    pub(crate) fn open(&self, real: impl FnOnce() -> CK_RV) -> CK_RV {
        let most = self.most_sessions().unwrap_or(u32::MAX);
        let open = &self.sessions.of_process().open;
        let more = |open: u32| (open < most).then_some(open + 1);
        if open
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, more)
            .is_err()
        {
            static IS_TOLD: AtomicBool = AtomicBool::new(false);
            let text = format!(
                "twin:{} allows a program {most} sessions: close one before you open another",
                self.profile.name
            );
            tell_once(&IS_TOLD, &text);
            return CKR_SESSION_COUNT;
        }
        let code = real();
        if code != CKR_OK {
            open.fetch_sub(1, Ordering::AcqRel);
        }
        code
    }

    /// Closes sessions, after which another key may have a handle that is known.
    pub(crate) fn close(&self, closed: Closed, real: impl FnOnce() -> CK_RV) -> CK_RV {
        self.forget_keys();
        let code = real();
        let fewer = |open: u32| match closed {
            Closed::One => open.checked_sub(1),
            Closed::All => Some(0),
        };
        if code == CKR_OK {
            let open = &self.sessions.of_process().open;
            // None was open.
            let _ = open.fetch_update(Ordering::AcqRel, Ordering::Relaxed, fewer);
        }
        code
    }

    pub(crate) fn description(&self) -> [u8; twin::DESCRIPTION] {
        twin::description(&self.profile.name)
    }

    /// The time that the device takes for that with the key; none for what is no private key.
    fn service(
        &self,
        callee: &Callee,
        session: CK_SESSION_HANDLE,
        key: CK_OBJECT_HANDLE,
        operation: Operation,
    ) -> Result<Option<ServiceTime>, CK_RV> {
        let algorithm = match self.key(callee, session, key) {
            Key::NotPrivate => return Ok(None),
            Key::Private(algorithm) => Some(algorithm),
            Key::Unknown => None,
        };
        let service = algorithm.and_then(|algorithm| self.profile.service(algorithm, operation));
        if let Some(service) = service {
            return Ok(Some(service.time.clone()));
        }
        let name = algorithm.map_or("this key".to_owned(), |algorithm| algorithm.to_string());
        tell(&format!(
            "twin:{} cannot {operation} with {name}: its profile has no time for it",
            self.profile.name
        ));
        let same_kind = |other: Family| {
            matches!(
                (algorithm.map(Algorithm::family), other),
                (Some(Family::Rsa(_)), Family::Rsa(_))
                    | (Some(Family::Weierstrass(_)), Family::Weierstrass(_))
            )
        };
        let mut known = self.profile.capabilities();
        if known.any(|capability| same_kind(capability.algorithm.family())) {
            Err(CKR_KEY_SIZE_RANGE)
        } else {
            Err(CKR_KEY_TYPE_INCONSISTENT)
        }
    }

    fn key(&self, callee: &Callee, session: CK_SESSION_HANDLE, key: CK_OBJECT_HANDLE) -> Key {
        let sessions = self.sessions.of_process();
        let known = || sessions.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(described) = known().get(&key) {
            return *described;
        }
        let described = abilities::describe(callee, session, key);
        known().insert(key, described);
        described
    }

    /// Handles may be others' from now on.
    pub(crate) fn forget_keys(&self) {
        let sessions = self.sessions.of_process();
        let mut keys = sessions.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.clear();
    }

    /// Begins what a key is used for, unless the device cannot do it.
    pub(crate) fn begin(
        &self,
        callee: &Callee,
        (session, key): (CK_SESSION_HANDLE, CK_OBJECT_HANDLE),
        used: Use,
        real: impl FnOnce() -> CK_RV,
    ) -> CK_RV {
        let service = match self.service(callee, session, key, used.operation()) {
            Err(refused) => return refused,
            Ok(service) => service,
        };
        let code = real();
        if code == CKR_OK {
            let sessions = self.sessions.of_process();
            let mut uses = sessions.uses.lock().unwrap_or_else(PoisonError::into_inner);
            uses.insert((session, used), service);
        }
        code
    }

    /// Ends what the session has begun: this is where the device works. What was begun stays: a call with too little
    /// room is made again, and one without a beginning is the module's to refuse.
    pub(crate) fn end(
        &self,
        begun: (CK_SESSION_HANDLE, Use),
        trip: &Trip,
        real: impl FnOnce() -> CK_RV,
    ) -> CK_RV {
        let sessions = self.sessions.of_process();
        let uses = sessions.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let service = uses.get(&begun).cloned().flatten();
        drop(uses);
        let Some(service) = service else {
            return real();
        };
        match self.admitted(trip) {
            Ok(()) => self.work(&service, trip, real),
            Err(refused) => {
                // Done all the same: the use of the key is ended with it, as by a refusal.
                real();
                refused
            }
        }
    }

    pub(crate) fn at_once(
        &self,
        callee: &Callee,
        (session, key, operation): (CK_SESSION_HANDLE, CK_OBJECT_HANDLE, Operation),
        trip: &Trip,
        real: impl FnOnce() -> CK_RV,
    ) -> CK_RV {
        let service = self.service(callee, session, key, operation);
        match service.and_then(|service| self.admitted(trip).map(|()| service)) {
            Err(refused) => refused,
            Ok(Some(service)) => self.work(&service, trip, real),
            Ok(None) => real(),
        }
    }

    /// Has the module do it, in the device's turn and time.
    fn work(&self, service: &ServiceTime, trip: &Trip, real: impl FnOnce() -> CK_RV) -> CK_RV {
        let arrival = trip.arrival;
        let time = Sampler::nth(self.seed, self.device.draw()).draw(service);
        let service_time = clock::nanoseconds(time);
        let (start, end) = self.device.reserve(arrival, service_time);
        let calculated = clock::processor();
        let code = real();
        if code != CKR_OK {
            self.device.give_back(start, end);
            return code;
        }
        let done = clock::now();
        let calculated = clock::processor().saturating_sub(calculated);
        let is_late = done > end + trip.back;
        if self
            .pace
            .is_too_slow(is_late, calculated > service_time + trip.back)
        {
            let needed = Duration::from_nanos(done - arrival);
            static IS_TOLD: AtomicBool = AtomicBool::new(false);
            let text = format!(
                "this machine needed {needed:?} for what twin:{} does in {time:?}: the device is too fast to be imitated",
                self.profile.name
            );
            tell_once(&IS_TOLD, &text);
            return twin::CKR_TWIN_TOO_FAST.into();
        }
        trip.done_at(end);
        note_waiting(start - arrival);
        CKR_OK
    }

    /// Returns whether the device has that mechanism, as far as private keys go.
    pub(crate) fn has(&self, mechanism: CK_MECHANISM_TYPE) -> bool {
        abilities::range(mechanism, &self.profile).is_some()
    }

    pub(crate) fn limit(
        &self,
        mechanism: CK_MECHANISM_TYPE,
        info: &mut CK_MECHANISM_INFO,
    ) -> CK_RV {
        match abilities::range(mechanism, &self.profile) {
            None => CKR_MECHANISM_INVALID,
            Some(Range::Any) => CKR_OK,
            Some(Range::Bits(smallest, largest)) => {
                info.ulMinKeySize = smallest.into();
                info.ulMaxKeySize = largest.into();
                CKR_OK
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_late_once_is_no_slower_than_the_device_and_who_always_is_so() {
        let (stalled, slow, waiting) = (Pace::default(), Pace::default(), Pace::default());
        assert!((0..100).all(|nth| !stalled.is_too_slow(nth % 10 == 0, false)));
        assert!(slow.is_too_slow(true, true));
        assert!(!slow.is_too_slow(false, true));
        let refused = (0..8).filter(|_| waiting.is_too_slow(true, false)).count();
        assert_eq!(refused, 5, "all from the fourth on");
    }
}
