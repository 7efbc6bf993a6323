//! Time that the stack `raw` adds to a virtual card's own work, and how well a twin keeps its profile.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use keymark_bench::case::Case;
use keymark_bench::clock::{Clock, MonotonicClock};
use keymark_bench::default_input_bytes;
use keymark_bench::profile::{Profile, ProfileStore};
use keymark_bench::store::Capability;
use keymark_bench::workload::{KeyHandle, Stack};
use keymark_stacks::raw::RawStack;
use keymark_stores::card::Slot;
use keymark_stores::challenge::Challenge;
use keymark_stores::device::Run;
use keymark_stores::openpgp_card::{CardDevice, CardMaker, VirtualCards};
use keymark_stores::software::SoftwareStore;
use keymark_stores::store::KeyStore;
use keymark_stores::tokens::card::{Answer, Card, CardFault};
use keymark_stores::tokens::reader::CardReader;

use super::figure::{Failure, Figure, Limit, median};

const OPERATIONS: usize = 300;
/// Operations of a twin: the slowest takes eight seconds.
const TWINS: u32 = 3;

/// Adds up what the card's own work took.
struct Metered {
    card: Box<dyn Card>,
    work_ns: Arc<AtomicU64>,
}

impl Card for Metered {
    fn atr(&self) -> &[u8] {
        self.card.atr()
    }

    fn power_on(&mut self) {
        self.card.power_on();
    }

    fn transmit(&mut self, command: &[u8]) -> Result<Answer, CardFault> {
        let answer = self.card.transmit(command)?;
        let work = u64::try_from(answer.work.as_nanos()).unwrap_or(u64::MAX);
        self.work_ns.fetch_add(work, Ordering::Relaxed);
        Ok(answer)
    }
}

/// Median of the time of an operation less the card's own work.
pub(crate) fn measure(case: &Case) -> Result<Figure, Failure> {
    let maker = CardMaker::virtual_card();
    let work_ns = Arc::new(AtomicU64::new(0));
    let card = maker.make()?.remove().ok_or("no card")?;
    let reader = CardReader::new(Box::new(Metered {
        card,
        work_ns: Arc::clone(&work_ns),
    }));
    let keys = Arc::new(SoftwareStore::default());
    let capability = Capability::new(case.algorithm, case.operation);
    let test_key = keys.made_for(capability)?;
    let device = CardDevice::of_virtual(&maker, reader, keys);
    let slot = Slot::of(case.operation).ok_or("no slot")?;
    device.import(&test_key, slot)?;
    let key = device.key(capability)?;
    let public = device.public_key(&key)?;
    let challenge = Challenge::new(&public, case.operation, None, case.input_bytes, 0)?;
    let mut handle = device.open(&key, None)?;
    let clock = MonotonicClock::new();
    let mut output = vec![0; 1024];
    let mut added = Vec::with_capacity(OPERATIONS);
    for operation in 0..OPERATIONS {
        let input = &challenge.inputs[operation % challenge.inputs.len()];
        handle.arm(input)?;
        work_ns.store(0, Ordering::Relaxed);
        let begin = clock.now();
        handle.perform(input, &mut output)?;
        let took = clock.now().since(begin);
        let work = Duration::from_nanos(work_ns.load(Ordering::Relaxed));
        added.push(took.saturating_sub(work).as_secs_f64() * 1e6);
    }
    let name = format!(
        "raw over the virtual card's own work, {} {}, median of {OPERATIONS}",
        case.algorithm, case.operation
    );
    Ok(Figure::new(name, median(added), Limit::AtMost(50.0), " µs"))
}

/// Measures for every row of the shipped profiles how far the twin's card time is from it.
pub(crate) fn twins(case: &Case) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    let is_card = |profile: &Profile| profile.store == ProfileStore::OpenpgpCard;
    for profile in Profile::shipped()?.into_iter().filter(is_card) {
        // What is assumed would be the same time again.
        for (capability, service) in profile
            .services
            .iter()
            .filter(|(_, service)| service.assumed.is_none())
        {
            let wanted = service.time.mean();
            let took = twin(case, &profile, *capability)?;
            // 1 % or 0.2 ms, whichever is larger.
            let limit = (wanted / 100).max(Duration::from_micros(200));
            let name = format!(
                "card time of twin:{} off its profile, {} {}, mean of {TWINS}",
                profile.name, capability.algorithm, capability.operation
            );
            let [off, limit] = [took.abs_diff(wanted), limit].map(|time| time.as_secs_f64() * 1e3);
            figures.push(Figure::new(name, off, Limit::AtMost(limit), " ms"));
        }
    }
    Ok(figures)
}

fn twin(case: &Case, profile: &Profile, capability: Capability) -> Result<Duration, Failure> {
    let maker = CardMaker::twin(profile.clone());
    let case = Case {
        device: maker.device(),
        algorithm: capability.algorithm,
        operation: capability.operation,
        input_bytes: default_input_bytes(capability.operation),
        ..case.clone()
    };
    let stack = RawStack::new(Arc::new(VirtualCards::new(maker, Run::new(0))), 0);
    let mut workload = stack.prepare(&case)?;
    let handle: &mut dyn KeyHandle = workload.crew.handles()[0].as_mut();
    let clock = MonotonicClock::new();
    let mut output = vec![0; workload.output_capacity];
    let mut total = Duration::ZERO;
    for operation in 0..TWINS as usize {
        let input = &workload.inputs[operation];
        handle.arm(input)?;
        let begin = clock.now();
        handle.perform(input, &mut output)?;
        total += clock.now().since(begin);
    }
    Ok(total / TWINS)
}
