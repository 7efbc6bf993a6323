//! What an operation takes on a token: by the archive's own samples, by the profile of the device, or as somebody published
//! it. The first of these that there is.

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{DeviceName, Provenance, StackName};
use keymark_bench::operation::Operation;
use keymark_bench::profile::{Profile, ProfileError, ServiceTime};
use keymark_bench::record::Record;
use keymark_report::units;
use keymark_stats::{Blocks, Seconds, ServiceTimes};

use crate::cost::Figures;

/// Levels between two quantiles of a profile.
const LEVELS: u32 = 100;
const TWIN: &str = "twin:";

/// Of which operation.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// As `keymark bench` names the device.
    pub device: String,
    /// Of the key.
    pub algorithm: Algorithm,
    /// What is asked of it.
    pub operation: Operation,
    /// Through which program.
    pub stack: StackName,
}

/// What an operation takes.
#[derive(Debug, Clone)]
pub struct Service {
    /// Of what.
    pub device: DeviceName,
    /// Times, all as likely.
    pub times: ServiceTimes,
    /// The measurement that they are; nothing of what has none.
    pub measured: Blocks,
    /// The run, the profile, the article, with the kind of their figures.
    pub source: String,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum NoService {
    /// Nobody measured it.
    #[error(
        "no figure of {key} {operation} on {device}; 'keymark bench --device {device} --algorithm {key} --operation \
         {operation} --stack {stack}' measures it, or say what an operation takes: --service-time 740ms",
        key = .0.algorithm, operation = .0.operation, device = .0.device, stack = .0.stack
    )]
    NotMeasured(Wanted),
    /// A twin does not do it.
    #[error("{device} does not {operation} with {algorithm}; its profile has {known}")]
    NotOfTwin {
        /// The twin.
        device: String,
        /// What it was asked for.
        operation: Operation,
        /// With which key.
        algorithm: Algorithm,
        /// What it does.
        known: String,
    },
    /// No such twin.
    #[error(transparent)]
    Profile(#[from] ProfileError),
}

impl Service {
    /// That somebody names.
    pub fn given(times: ServiceTimes, source: String) -> Self {
        Self {
            device: DeviceName::new("token"),
            times,
            measured: Blocks::default(),
            source,
        }
    }

    /// That of a device: by runs, the newest first, its profile, or published records.
    ///
    /// # Errors
    /// When nobody knows it.
    pub fn find(wanted: &Wanted, runs: &[Record], published: &[Record]) -> Result<Self, NoService> {
        if let Some(measured) = runs.iter().find_map(|run| wanted.in_run(run)) {
            return Ok(measured);
        }
        let name = wanted.device.strip_prefix(TWIN).unwrap_or(&wanted.device);
        match (Profile::find(name), wanted.device.starts_with(TWIN)) {
            (Ok(profile), twin) => match wanted.in_profile(&profile) {
                Some(service) => return Ok(service),
                None if twin => return Err(wanted.not_of(&profile)),
                None => {}
            },
            (Err(unknown), true) => return Err(unknown.into()),
            (Err(_), false) => {}
        }
        let found = wanted.published(name, &Figures::of(published));
        found.ok_or_else(|| NoService::NotMeasured(wanted.clone()))
    }

    /// `740 ms, constant`, `151 ms on average, 99 % within 302 ms`
    pub fn words(&self) -> String {
        let mean = units::duration(self.times.mean());
        if self.times.is_constant() {
            return format!("{mean}, constant");
        }
        let high = units::duration(self.times.level(0.99));
        format!("{mean} on average, 99 % within {high}")
    }
}

impl Wanted {
    fn service(&self, times: ServiceTimes, source: String, provenance: Provenance) -> Service {
        Service {
            device: DeviceName::new(&self.device),
            times,
            measured: Blocks::default(),
            source: format!("{source}, {provenance}"),
        }
    }

    fn in_run(&self, run: &Record) -> Option<Service> {
        let mut cases = run.cases.iter();
        let found = cases.find(|record| {
            let case = &record.case;
            let key = (case.algorithm, case.operation, case.stack);
            case.device.as_str().eq_ignore_ascii_case(&self.device)
                && key == (self.algorithm, self.operation, self.stack)
                && case.is_alone()
                && record.published.is_none()
                && !record.latencies().is_empty()
        })?;
        let measured = found.latencies();
        let source = format!(
            "run {}, {}",
            run.id,
            units::counted(measured.len(), "operation")
        );
        let times = ServiceTimes::measured(&measured)?;
        Some(Service {
            measured,
            ..self.service(times, source, found.case.provenance)
        })
    }

    fn in_profile(&self, profile: &Profile) -> Option<Service> {
        let service = profile.service(self.algorithm, self.operation)?;
        let times = ServiceTimes::of(atoms(&service.time))?;
        let assumed = service
            .assumed
            .map(|assumed| format!(", taken from {}", assumed.operation()));
        let source = format!("profile {}{}", profile.name, assumed.unwrap_or_default());
        Some(self.service(times, source, Provenance::Twin))
    }

    fn not_of(&self, profile: &Profile) -> NoService {
        let known = profile.capabilities();
        let known: Vec<_> = known
            .map(|one| format!("{} {}", one.algorithm, one.operation))
            .collect();
        NoService::NotOfTwin {
            device: self.device.clone(),
            operation: self.operation,
            algorithm: self.algorithm,
            known: known.join(", "),
        }
    }

    fn published(&self, owner: &str, figures: &Figures) -> Option<Service> {
        let figure = figures.best(owner, self.algorithm, self.operation)?;
        let times = ServiceTimes::of([figure.time.value])?;
        let source = format!("mean of {}", figure.source);
        Some(self.service(times, source, figure.provenance))
    }
}

/// A constant, or the middles of equal parts of what lies between two quantiles.
fn atoms(time: &ServiceTime) -> Vec<Seconds> {
    match time {
        ServiceTime::Constant(time) => vec![Seconds(time.as_secs_f64())],
        ServiceTime::Quantiles(quantiles) => {
            let between = quantiles.windows(2).flat_map(|pair| {
                let (low, high) = (pair[0].as_secs_f64(), pair[1].as_secs_f64());
                let level = |part: u32| (f64::from(part) + 0.5) / f64::from(LEVELS);
                (0..LEVELS).map(move |part| Seconds(low + (high - low) * level(part)))
            });
            between.collect()
        }
    }
}
