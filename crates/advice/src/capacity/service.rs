//! Service times of a token: the archive's own samples, else the device's profile, else published figures.

use keymark_bench::{
    Algorithm, CaseRecord, DeviceName, Network, Operation, Parameters, Profile, Provenance, Record,
    Sampler, ServiceTime, StackName,
};
use keymark_records::published::PublishedTable;
use keymark_report::units::{self, counted};
use keymark_stats::{Seconds, ServiceTimes};

use super::{NetworkPart, NetworkQuestion};
use crate::cost::{Figures, Way};

/// Source of a profile's distribution.
const DRAWS: u32 = 20_000;
const TWIN: &str = "twin:";

#[derive(Debug, Clone, derive_more::Display)]
#[display("no figure of {algorithm} {operation} on {device}")]
pub struct Wanted {
    /// Name of the device as `keymark bench` has it.
    pub device: String,
    pub algorithm: Algorithm,
    pub operation: Operation,
    /// Through which program.
    pub stack: StackName,
    /// Way to it.
    pub network: NetworkQuestion,
}

/// Service times of an operation.
#[derive(Debug, Clone)]
pub struct Service {
    pub device: DeviceName,
    /// Times, all as likely.
    pub times: ServiceTimes,
    /// The run, the profile, the article, with the kind of their figures.
    pub source: String,
    /// Part of a network in the times.
    pub network: Option<NetworkPart>,
}

/// Why there is no service time.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoService(String);

impl Service {
    /// Returns a device's times: by runs, the newest first, its profile, or published figures.
    ///
    /// # Errors
    /// When nobody knows it, or the profile that is named cannot be read.
    pub fn find(wanted: &Wanted, runs: &[Record]) -> Result<Self, NoService> {
        let named = wanted.device.strip_prefix(TWIN);
        let profile = Profile::find(named.unwrap_or(&wanted.device));
        let way = match (&profile, named) {
            (Ok(profile), Some(_)) => profile.network.clone(),
            (Ok(_) | Err(_), _) => Network::default(),
        };
        // Times in a run of a twin have its network in them.
        let runs = if way == Network::default() { runs } else { &[] };
        if let Some(found) = runs.iter().find_map(|run| wanted.in_run(run)) {
            return Ok(found.behind(&way, &wanted.network));
        }
        let found = match (profile, named) {
            (Ok(profile), _) => wanted.in_profile(&profile),
            (Err(reason), Some(_)) => {
                return Err(NoService(format!("{wanted}: {reason}")));
            }
            // Another device than a twin need not have one.
            (Err(_), None) => None,
        };
        let published = || Figures::default().with_published(PublishedTable::collection());
        let found = found.or_else(|| wanted.published(&published()));
        let found = found.ok_or_else(|| wanted.unmeasured())?;
        Ok(found.behind(&way, &wanted.network))
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
    fn unmeasured(&self) -> NoService {
        let Self {
            device,
            algorithm,
            operation,
            stack,
            ..
        } = self;
        NoService(format!(
            "{self}; 'keymark bench --device {device} --algorithm {algorithm} --operation {operation} --stack {stack}' \
             measures it, or say what an operation takes: --service-time 740ms"
        ))
    }

    fn service(&self, times: ServiceTimes, source: &str, provenance: Provenance) -> Service {
        Service {
            device: DeviceName::new(&self.device),
            times,
            source: format!("{source}, {provenance}"),
            network: None,
        }
    }

    fn in_run(&self, run: &Record) -> Option<Service> {
        let is_wanted = |record: &&CaseRecord| {
            let case = &record.case;
            let key = (case.algorithm, case.operation, case.stack);
            key == (self.algorithm, self.operation, self.stack)
                && case.device.as_str().eq_ignore_ascii_case(&self.device)
                && case.is_alone()
                && record.failure().is_none()
        };
        let found = run.cases.iter().find(is_wanted)?;
        let times = ServiceTimes::measured(found.latencies())?;
        let number = counted(found.latencies().len(), "operation");
        let source = format!("run {}, {number}", run.id);
        Some(self.service(times, &source, found.case.provenance))
    }

    fn in_profile(&self, profile: &Profile) -> Option<Service> {
        let service = profile.service(self.algorithm, self.operation)?;
        let mut source = format!("profile {}", profile.name);
        if let Some(assumed) = service.assumed {
            source += &format!(", taken from {}", assumed.operation());
        }
        let mut sampler = Sampler::new(0);
        let times = match &service.time {
            ServiceTime::Constant(time) => vec![*time],
            quantiles => (0..DRAWS).map(|_| sampler.draw(quantiles)).collect(),
        };
        let times = ServiceTimes::of(times.iter().map(|time| Seconds(time.as_secs_f64())))?;
        Some(self.service(times, &source, Provenance::Twin))
    }

    fn published(&self, figures: &Figures) -> Option<Service> {
        let way = Way {
            stack: self.stack,
            parameters: Parameters::NONE,
            words: String::new(),
        };
        let figure = figures.through(&way, &self.device, self.algorithm, self.operation)?;
        let times = ServiceTimes::of([figure.time.value])?;
        Some(self.service(
            times,
            &format!("mean of {}", figure.source),
            figure.provenance,
        ))
    }
}
