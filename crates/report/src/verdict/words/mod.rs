//! The wording of verdicts.

mod changes;
mod commits;
mod devices;
mod keys;
mod loads;

use itertools::Itertools;
use keymark_bench::{Algorithm, Case, DeviceName, Operation, Provenance, StackName, StoreKind};
use keymark_stats::{Estimate, PerSecond, Ratio, Seconds};

use super::{Certainty, Evidence, Finding, Verdict};
use crate::units::{self, Bare, Unit};

/// Most names in a list; others are counted.
const NAMED: usize = 4;
/// Typical half width in tenths of a per cent from which on figures are coarse.
const COARSE: u32 = 100;

/// The program that a case ran, as people call it.
pub(crate) fn program(case: &Case) -> String {
    let software = case.store == StoreKind::SOFTWARE;
    match (case.parameters.get("library"), case.stack) {
        (Some(library), _) => library.to_owned(),
        (None, StackName::GPG) => "gpg".to_owned(),
        (None, StackName::AGENT) => "gpg-agent".to_owned(),
        (None, StackName::RAW) if software => "OpenSSL".to_owned(),
        (None, StackName::RAW) => "the device's own interface".to_owned(),
        (None, stack) if stack.word() == "ssh" => match case.parameters.get("agent") {
            Some("openssh") | None => "ssh-agent".to_owned(),
            Some(agent) => format!("ssh and {agent}"),
        },
        (None, stack) if stack.word() == "sop" => {
            let named = case.parameters.get("program");
            named.unwrap_or(stack.word()).to_owned()
        }
        (None, stack) if stack.word() == "git" => match case.parameters.get("format") {
            Some("openpgp") if case.parameters.get("protection").is_some() => {
                "git and gpg with a cached passphrase".to_owned()
            }
            Some("openpgp") => "git and gpg".to_owned(),
            Some("ssh") => "git and ssh-keygen".to_owned(),
            Some("ssh-agent") => "git and ssh-agent".to_owned(),
            Some(_) | None => "git".to_owned(),
        },
        (None, stack) => stack.to_string(),
    }
}

/// One line of a verdict: a use or a case, its keys, their figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageLine {
    /// `GnuPG`
    pub name: String,
    /// `ed25519 + cv25519`
    pub keys: String,
    /// `sign 5.8 ms ±13 %, decrypt 7.6 ms ±11 %`
    pub figures: String,
}

impl UsageLine {
    /// A line for an operation with a key.
    fn of_key(
        operation: Operation,
        algorithm: Algorithm,
        mut figures: impl Iterator<Item = String>,
    ) -> Self {
        Self {
            name: format!("{operation} {algorithm}"),
            keys: String::new(),
            figures: figures.join(", "),
        }
    }
}

impl Verdict {
    /// The first sentence: what to do, or what is so.
    pub fn headline(&self) -> String {
        self.finding.sentence()
    }

    /// A line for each use of a key, each device or each side.
    pub fn lines(&self) -> Vec<UsageLine> {
        if let Finding::Keys { choices } = &self.finding {
            keys::lines(choices, self)
        } else if let Finding::Devices { rankings } = &self.finding {
            rankings.iter().map(devices::line).collect()
        } else if let Finding::Programs { rankings } = &self.finding {
            let others = rankings.iter().skip(1);
            others.map(devices::line_of_programs).collect()
        } else if let Finding::Rates { rates, .. } = &self.finding {
            loads::lines(rates)
        } else if let Finding::Predictions { keys, .. } = &self.finding {
            devices::predicted(keys)
        } else if let Finding::Commits {
            rebase,
            unsigned,
            signed,
            ..
        } = &self.finding
        {
            commits::lines(*rebase, unsigned.as_ref(), signed)
        } else {
            Vec::new()
        }
    }

    /// Reasons, the most important first, each with figures. A screen has the first two.
    pub fn because(&self) -> Vec<String> {
        let is_cause = |finding: &&Finding| {
            matches!(
                finding,
                Finding::Published { .. }
                    | Finding::TooSlow { .. }
                    | Finding::KeyShares { .. }
                    | Finding::Workers { .. }
            )
        };
        let (causes, others): (Vec<&Finding>, Vec<&Finding>) =
            self.because.iter().partition(is_cause);
        let own: Vec<String> = if let Finding::Keys { choices } = &self.finding {
            choices.iter().filter_map(keys::reason).collect()
        } else if let Finding::Devices { rankings } = &self.finding {
            rankings.iter().filter_map(devices::gap).collect()
        } else {
            Vec::new()
        };
        let causes = causes.into_iter().map(Finding::sentence);
        let others = others.into_iter().map(Finding::sentence);
        causes.chain(own).chain(others).collect()
    }

    /// How certain the figures are, in one sentence.
    pub fn certainty(&self) -> Option<String> {
        self.certainty.as_ref().map(Certainty::sentence)
    }
}

impl Finding {
    /// The finding in one sentence with figures.
    pub fn sentence(&self) -> String {
        match self {
            Self::Keys { choices } => keys::sentence(choices),
            Self::Devices { rankings } => devices::fastest(rankings),
            Self::Commits {
                rebase,
                chosen,
                unsigned,
                signed,
            } => commits::sentence(*rebase, chosen.as_ref(), unsigned.as_ref(), signed),
            Self::Single { evidence } => devices::single(evidence),
            Self::Programs { rankings } => devices::programs(rankings),
            Self::Cases {
                cases,
                fastest,
                slowest,
            } => devices::cases(*cases, [fastest, slowest]),
            Self::Nothing { cases, failed } => nothing(*cases, failed.len()),
            Self::KeyShares {
                program,
                hidden,
                dominant,
                between,
            } => loads::key_shares(program, [hidden, dominant, between]),
            Self::Workers { gains } => loads::workers(gains),
            Self::Rates {
                program,
                settings,
                makes,
                asked,
                rates,
            } => loads::rates(program, settings, makes, *asked, rates),
            Self::Relative { gains } => loads::relative(gains),
            Self::Resumption { limits } => loads::resumption(limits),
            Self::Saturation { knees } => loads::saturation(knees),
            Self::ProcessorShares { shares } => loads::processor_shares(shares),
            Self::Predictions { tolerated, keys } => devices::predictions(*tolerated, keys),
            Self::TooSlow { tolerated, cases } => devices::too_slow(*tolerated, cases),
            Self::Overloaded { utilization, cases } => format!(
                "More arrives than can be served ({} of capacity), so the queue grows: {}.",
                percent(utilization.0),
                listed(cases.iter().map(|(case, _)| case))
            ),
            Self::Passphrase { pairs, keycard } => keys::passphrase(pairs, *keycard),
            Self::Libraries { slow, fast } => devices::libraries(slow, fast),
            Self::AgainstBaseline { baseline, ratios } => changes::of_baseline(baseline, ratios),
            Self::Published { comparison } => devices::published(comparison),
            Self::Changes { sides } => sides.iter().map(changes::of_side).join(" "),
            Self::SlowestMachines { machines } => machines.iter().map(changes::slowest).join(" "),
        }
    }
}

fn nothing(cases: usize, failed: usize) -> String {
    let all = units::counted(cases, "case");
    match (cases, failed) {
        (0, _) => "This run has no case.".to_owned(),
        (_, 0) => format!("This run has no figure: nothing measured in {all}."),
        (_, failed) => format!("This run has no figure: {failed} of {all} failed."),
    }
}

impl Certainty {
    fn sentence(&self) -> String {
        let percent = |permille: u32| units::width(f64::from(permille) / 1000.0);
        let widths = self.typical_permille.zip(self.worst_permille);
        let widths = widths.map(|(typical, worst)| {
            if typical == worst {
                format!("Error ±{}", percent(worst))
            } else {
                let [typical, worst] = [typical, worst].map(percent);
                format!("Typical error ±{typical}, worst ±{worst}")
            }
        });
        let is_coarse = self.typical_permille.is_some_and(|width| width >= COARSE);
        let widths = widths.map(|widths| match is_coarse {
            true => format!("{widths}: machine busy or run too short. "),
            false => format!("{widths}. "),
        });
        let others = [
            (self.simulated, "simulated"),
            (self.published, "published"),
            (self.failed, "failed"),
            (self.without_interval, "without an interval"),
        ];
        // That all was measured goes without saying.
        let plain = widths.is_some() && others.iter().all(|(number, _)| *number == 0);
        let measured = if plain { 0 } else { self.measured };
        let counts = [(measured, "measured")].into_iter().chain(others);
        let counts = counts.filter(|(number, _)| *number > 0);
        let counts = counts.map(|(number, what)| format!("{number} {what}"));
        let early = self.early.then(|| "the run ended early".to_owned());
        let counts = counts.chain(early).join(", ");
        let point = if counts.is_empty() { "" } else { "." };
        let cautions = self
            .cautions
            .iter()
            .map(|caution| format!(" {}.", capital(&caution.to_string())));
        let (widths, cautions) = (widths.unwrap_or_default(), cautions.format(""));
        let text = format!("{widths}{counts}{point}{cautions}");
        text.trim().to_owned()
    }
}

/// `Signing`
const fn doing(operation: Operation) -> &'static str {
    match operation {
        Operation::Sign => "Signing",
        Operation::Decrypt => "Decrypting",
        Operation::Authenticate => "Authenticating",
        Operation::Decapsulate => "Decapsulating",
        Operation::Handshake => "A handshake",
    }
}

/// `signing with ed25519 through gpg on twin:yubikey-4`
fn of(evidence: &Evidence) -> String {
    format!(
        "{} with {} through {}{}",
        doing(evidence.operation).to_lowercase(),
        evidence.algorithm,
        evidence.program,
        on(&evidence.device)
    )
}

/// ` on twin:yubikey-4`, and nothing for this CPU.
fn on(device: &DeviceName) -> String {
    match device.as_str() {
        "software" => String::new(),
        device => format!(" on {device}"),
    }
}

/// A device, marked where its figures were not measured and its name does not say so.
fn marked(evidence: &Evidence) -> String {
    let (device, provenance) = (&evidence.device, evidence.provenance);
    if evidence.is_of_this_cpu() {
        return "this CPU".to_owned();
    }
    let says_so = device.as_str().starts_with(&provenance.to_string());
    match provenance == Provenance::Measured || says_so {
        true => device.to_string(),
        false => format!("{device} ({provenance})"),
    }
}

/// `a, b and c`, or `a, b, c and 4 more`
pub(crate) fn listed<T: ToString>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [few @ .., last] if names.len() <= NAMED => format!("{} and {last}", few.join(", ")),
        many => {
            let (named, more) = many.split_at(NAMED - 1);
            format!("{} and {} more", named.join(", "), more.len())
        }
    }
}

/// Begins with a capital letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// `2.7×`, `35×`
fn times(ratio: Ratio) -> String {
    let digits = usize::from(ratio.0 < 9.95);
    format!("{:.digits$}×", ratio.0)
}

/// `31 %`
fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// `5.8 ms ±13 %`: as in the table.
fn figure(mean: &Estimate<Seconds>) -> String {
    Unit::Seconds.brief(&mean.map(|time| time.0), Bare::Uncertain)
}

/// `5.8 ms`
fn duration(mean: &Estimate<Seconds>) -> String {
    Unit::Seconds.known(&mean.map(|time| time.0))
}

/// `1570/s ±11 %`
fn rate(rate: &Estimate<PerSecond>) -> String {
    Unit::PerSecond.brief(&rate.map(|rate| rate.0), Bare::Uncertain)
}
