//! The wording of shares, workers and servers.

use itertools::Itertools;
use keymark_bench::{Algorithm, CaseId};
use keymark_stats::Ratio;

use super::{capital, listed, on, percent, rate, times};
use crate::analysis::Limit;
use crate::units;
use crate::verdict::layers::HIDDEN;
use crate::verdict::{
    KeyShare, Knee, RateEvidence, RelativeGain, ResumptionLimit, UsageLine, WorkerGain,
};

/// Gains that are named.
const NAMED: usize = 2;

/// `With 256-bit keys gpg takes 93 % of the time or more; with rsa4096 the key takes 81 %.`
pub(super) fn key_shares(program: &str, [hidden, dominant, between]: [&[KeyShare]; 3]) -> String {
    let largest = |shares: &[KeyShare]| {
        let shares = shares.iter().map(|one| one.share.value.0);
        shares.fold(0.0, f64::max)
    };
    let hides = (!hidden.is_empty()).then(|| {
        let (keys, own) = (names(hidden), percent(1.0 - largest(hidden)));
        format!("with {keys} {program} itself takes {own} of the time or more")
    });
    let slowest = |a: &&KeyShare, b: &&KeyShare| a.key.value.0.total_cmp(&b.key.value.0);
    let most = dominant.iter().max_by(slowest).map(|most| {
        let share = percent(most.share.value.0);
        format!("with {} the key takes {share}", most.algorithm)
    });
    let rest = (!between.is_empty()).then(|| {
        let (keys, share) = (names(between), percent(largest(between)));
        format!("the key takes {share} of {program}'s time or less with {keys}")
    });
    let parts = hides.into_iter().chain(most).chain(rest).join("; ");
    capital(&parts) + "."
}

/// Algorithms; three and more of 256 bits together.
fn names(shares: &[KeyShare]) -> String {
    let names: Vec<Algorithm> = shares.iter().map(|one| one.algorithm).unique().collect();
    let is_short = |name: &Algorithm| matches!(name.length().1, 255 | 256);
    match names.len() {
        3.. if names.iter().all(is_short) => "256-bit keys".to_owned(),
        _ => listed(names),
    }
}

/// `10 workers sign 2.1× as fast as one with ed25519 (cores are full), no faster with rsa4096 (agent is full).`
pub(super) fn workers(gains: &[WorkerGain]) -> String {
    let most = gains.iter().map(|gain| gain.workers).max();
    let groups = crate::grouped(gains, |gain| {
        (gain.limit, gain.enough, gain.nothing, &gain.device)
    });
    let mut told = groups.iter().map(|((limit, enough, nothing, device), of)| {
        let gain = match nothing {
            true => "no faster".to_owned(),
            false => {
                let ends = of.iter().map(|gain| gain.gain.value.0);
                let ends = ends.minmax_by(f64::total_cmp).into_option();
                let ends = ends.map(|(least, most)| [least, most].map(|end| times(Ratio(end))));
                match ends {
                    Some([least, most]) if least != most => format!("{least} to {most} as fast"),
                    Some([one, _]) => format!("{one} as fast"),
                    None => String::new(),
                }
            }
        };
        let keys = listed(of.iter().map(|gain| gain.algorithm).unique());
        let enough = enough.filter(|_| !nothing);
        let enough = enough.map(|workers| format!(", {workers} are enough"));
        let why = format!("{}{}", full(*limit), enough.unwrap_or_default());
        format!("{gain} with {keys}{} ({why})", on(device))
    });
    let told = told.join(", ");
    let operations = gains.iter().map(|gain| gain.operation.to_string()).unique();
    let programs = gains.iter().map(|gain| gain.program.as_str()).unique();
    let (operations, programs) = (operations.format(" and ").to_string(), listed(programs));
    let rates = match gains {
        [only] => {
            let [one, most] = only.rates.map(|of| rate(&of));
            format!(": {one} → {most}")
        }
        _ => String::new(),
    };
    let most = most.unwrap_or_default();
    format!("{most} workers {operations} through {programs} {told}{rates}.")
}

/// What is full, and what would help.
fn full(limit: Limit) -> String {
    match limit {
        Limit::Server(name) => format!("the {name} is full: more cores do not help"),
        Limit::Cores => "the cores are full".to_owned(),
        Limit::Library => "threads wait in the library: use processes".to_owned(),
        Limit::Device => "the device is full".to_owned(),
        Limit::Memory => "gpg-agent's secure memory is full".to_owned(),
        Limit::Sessions => "the device has no more sessions".to_owned(),
        Limit::Undecided => "the device or its library does one thing at a time".to_owned(),
        Limit::NoneSeen => "more may do still more".to_owned(),
    }
}

pub(super) fn rates(
    program: &str,
    settings: &str,
    makes: &str,
    asked: Option<f64>,
    rates: &[RateEvidence],
) -> String {
    let Some(best) = rates.first() else {
        return String::new();
    };
    let settings = match settings {
        "" => String::new(),
        some => format!(" ({some})"),
    };
    let done = written(best);
    let key = best.algorithm;
    match (asked, rates.len()) {
        // It did what was asked of it, not what it can do.
        (Some(asked), _) => format!(
            "{program}{settings} was asked for {asked} {makes} per second and did {done} with {key}."
        ),
        (None, 1) => {
            let each = best.response.map(units::duration);
            let each = each.map(|time| format!(", {time} each"));
            let each = each.unwrap_or_default();
            format!("{program}{settings} with {key}: {done} {makes}{each}.")
        }
        (None, _) => format!("{program}{settings} does the most {makes} with {key}: {done}."),
    }
}

fn written(of: &RateEvidence) -> String {
    let least = if of.at_least { "at least " } else { "" };
    let saturated = if of.saturated { " (saturated)" } else { "" };
    format!("{least}{}{saturated}", rate(&of.rate))
}

/// A line for each key: rate, difference from the best, response time.
pub(super) fn lines(rates: &[RateEvidence]) -> Vec<UsageLine> {
    let Some(best) = rates.first().filter(|_| rates.len() > 1) else {
        return Vec::new();
    };
    let lines = rates.iter().map(|of| {
        let strength = of.strength.map(|bits| bits.to_string());
        let beside = if of.row == best.row || best.at_least {
            String::new()
        } else if of.rate.is_below(&best.rate) {
            let fewer = percent(1.0 - of.rate.value.0 / best.rate.value.0);
            format!(", {fewer} fewer")
        } else {
            ", no difference shown".to_owned()
        };
        let time = of.response.map(units::duration);
        let time = time.map(|time| format!("; response {time}"));
        UsageLine {
            name: of.algorithm.to_string(),
            keys: strength.unwrap_or_default(),
            figures: format!("{}{beside}{}", written(of), time.unwrap_or_default()),
        }
    });
    lines.collect()
}

pub(super) fn relative(gains: &[RelativeGain]) -> String {
    let mut told = gains.iter().take(NAMED).map(|one| {
        let RelativeGain {
            algorithm,
            own,
            other,
            gain,
            ..
        } = one;
        if gain.low.is_some_and(|low| low.0 > 1.0) {
            let more = percent(gain.value.0 - 1.0);
            format!("with {algorithm}, {own} gives {more} more handshakes than {other}")
        } else if gain.high.is_some_and(|high| high.0 < 1.0) {
            let fewer = percent(1.0 - gain.value.0);
            format!("with {algorithm}, {own} gives {fewer} fewer handshakes than {other}")
        } else {
            format!("with {algorithm}, {own} and {other} show no difference")
        }
    });
    capital(&told.join("; ")) + "."
}

/// `The key takes less than 10 % of the server's processor time from 87 % resumed sessions on with rsa2048.`
pub(super) fn resumption(limits: &[ResumptionLimit]) -> String {
    let told = limits.iter().map(|limit| {
        let from = match limit.from.0 {
            0.0 => "at any share of resumed sessions".to_owned(),
            from => format!("from {} resumed sessions on", percent(from)),
        };
        format!("{from} with {}", limit.algorithm)
    });
    let (little, told) = (percent(HIDDEN), listed(told));
    format!("The key takes less than {little} of the server's processor time {told}.")
}

/// `More than 8 users with rsa2048 (2.50/s within the limit) gain less than 5 %.`
pub(super) fn saturation(knees: &[Knee]) -> String {
    let told = knees.iter().map(|knee| {
        let users = units::counted(knee.users, "user");
        let within = knee.within_limit.map(units::rate);
        let within = within.map(|rate| format!(" ({rate} within the limit)"));
        format!(
            "{users} with {}{}",
            knee.algorithm,
            within.unwrap_or_default()
        )
    });
    format!("More than {} gain less than 5 %.", listed(told))
}

pub(super) fn processor_shares(shares: &[(Algorithm, Ratio, CaseId)]) -> String {
    let told = shares.iter().map(|(algorithm, share, _)| {
        // It was measured at another time than the load.
        let share = match share.0 {
            ..1.0 => percent(share.0),
            _ => "nearly all".to_owned(),
        };
        format!("{share} with {algorithm}")
    });
    let told = listed(told);
    format!("Of the server's processor time the key takes {told}.")
}
