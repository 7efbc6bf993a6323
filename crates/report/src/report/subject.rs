//! What runs are of, in words for their report's head: `GnuPG keys on AMD EPYC, 2 cores`.

use itertools::Itertools;
use keymark_bench::case::{Case, Provenance, StackName};
use keymark_bench::environment::Environment;
use keymark_bench::operation::Operation;
use keymark_bench::record::{Record, RunState};

use crate::units::counted;

/// More devices than these are counted.
const NAMED: usize = 3;

/// Of one run, or of several that are of the same.
pub(super) fn title(records: &[&Record]) -> String {
    let mut subjects: Vec<String> = records.iter().map(|record| subject(record)).collect();
    subjects.dedup();
    match (subjects.as_slice(), records.len()) {
        ([], _) => "no run".to_owned(),
        ([only], 1) => only.clone(),
        ([only], runs) => format!("{only}: {runs} runs compared"),
        (several, _) => several.join(" against "),
    }
}

fn subject(record: &Record) -> String {
    let cases = || record.cases.iter().map(|case| &case.case);
    if record.state == RunState::Published {
        let name = record.id.0.trim_start_matches("published-");
        return format!("Published figures: {name}");
    }
    let of = |has: &dyn Fn(&Case) -> bool| cases().any(has);
    let what = if cases().all(|case| case.provenance == Provenance::Predicted) {
        "Predicted times of keys"
    } else if of(&|case| case.operation == Operation::Handshake) {
        "TLS servers"
    } else if of(&|case| [StackName::GNUPG, StackName::AGENT].contains(&case.stack)) {
        "GnuPG keys"
    } else {
        "Private keys"
    };
    let mut devices: Vec<&str> = Vec::new();
    for case in cases() {
        let device = case.device.as_str();
        // A token's software on this CPU is no other place.
        let elsewhere = device != "software" && case.provenance != Provenance::Virtual;
        if elsewhere && !devices.contains(&device) {
            devices.push(device);
        }
    }
    let here =
        |case: &Case| case.device.as_str() == "software" || case.provenance == Provenance::Virtual;
    let own = cases().any(here);
    let machine = own.then(|| machine(&record.environment)).flatten();
    let mut on: Vec<String> = if devices.len() > NAMED {
        vec![counted(devices.len(), "device")]
    } else {
        devices.iter().map(ToString::to_string).collect()
    };
    on.splice(0..0, machine);
    match on.split_last() {
        None => what.to_owned(),
        Some((last, [])) => format!("{what} on {last}"),
        Some((last, others)) => format!("{what} on {} and {last}", others.join(", ")),
    }
}

/// `AMD EPYC, 2 cores`, without what every processor is called.
fn machine(environment: &Environment) -> Option<String> {
    let model = environment.cpu_model.as_deref()?;
    let mut words = String::new();
    let mut depth = 0;
    for letter in model.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            '@' => break,
            _ if depth == 0 => words.push(letter),
            _ => {}
        }
    }
    let common = |word: &&str| !["Processor", "CPU"].contains(word);
    let words = words.split_whitespace().filter(common).format(" ");
    let cores = counted(environment.cores, "core");
    Some(format!("{words}, {cores}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use keymark_testkit::record::{measured, of, signing};

    #[test]
    fn a_title_names_keys_and_machine() {
        let mut run = of(vec![measured(
            signing("rsa2048", StackName::GNUPG, 1),
            500.0,
        )]);
        run.environment.cores = 2;
        run.environment.cpu_model = Some("AMD EPYC Processor (with IBPB)".to_owned());
        assert_eq!(title(&[&run]), "GnuPG keys on AMD EPYC, 2 cores");
        run.environment.cpu_model = Some("Intel(R) Core(TM) i5-6200U CPU @ 2.30GHz".to_owned());
        assert_eq!(title(&[&run]), "GnuPG keys on Intel Core i5-6200U, 2 cores");
        assert_eq!(
            title(&[&run, &run]),
            "GnuPG keys on Intel Core i5-6200U, 2 cores: 2 runs compared"
        );
    }
}
