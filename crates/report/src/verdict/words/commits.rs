//! The wording of signed commits.

use itertools::Itertools;
use keymark_stats::{Estimate, Seconds, difference};

use super::{duration, figure, on};
use crate::verdict::{Evidence, UsageLine};

/// `Sign commits with ed25519 through git and ssh-keygen. Signing a rebase of 50 commits takes 1.3 s.`
pub(super) fn sentence(
    rebase: u32,
    chosen: Option<&Evidence>,
    unsigned: Option<&Evidence>,
    signed: &[Evidence],
) -> String {
    let Some(of) = chosen.or(signed.first()) else {
        return String::new();
    };
    let with = format!("{} through {}{}", of.algorithm, of.program, on(&of.device));
    let cost = duration(&cost(rebase, unsigned, of));
    let what = match unsigned {
        Some(_) => format!("Signing a rebase of {rebase} commits takes {cost}"),
        None => format!("{rebase} signed commits take {cost}"),
    };
    match chosen {
        Some(_) => format!("Sign commits with {with}. {what}."),
        None => format!("{what} with {with}."),
    }
}

/// A line for each key with its programs.
pub(super) fn lines(
    rebase: u32,
    unsigned: Option<&Evidence>,
    signed: &[Evidence],
) -> Vec<UsageLine> {
    let keys = crate::grouped(signed, |of| (of.algorithm, &of.device)).into_iter();
    let lines = keys.map(|((algorithm, device), signed)| UsageLine {
        name: format!("{rebase} commits"),
        keys: format!("{algorithm}{}", on(device)),
        figures: { signed.iter() }
            .map(|of| {
                let program = of.program.trim_start_matches("git and ");
                format!("{program} {}", figure(&cost(rebase, unsigned, of)))
            })
            .join(", "),
    });
    lines.collect()
}

/// Returns the time that a rebase takes longer with signatures, which does not depend on how it commits; the time of its
/// commits where none was unsigned.
fn cost(rebase: u32, unsigned: Option<&Evidence>, of: &Evidence) -> Estimate<Seconds> {
    let each = unsigned.map_or(of.mean, |plain| difference(&of.mean, &plain.mean));
    each.map(|time| Seconds(time.0.max(0.0) * f64::from(rebase)))
}
