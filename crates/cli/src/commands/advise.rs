//! `keymark advise`

use std::process::Command;

use itertools::Itertools;
use jiff::Zoned;
use keymark_advice::advise::{AdviceQuestion, Purpose};
use keymark_advice::catalogue::Catalogue;
use keymark_advice::cost::{Figures, SOFTWARE};
use keymark_advice::hsm::HsmQuestion;
use keymark_advice::policy::Policy;
use keymark_bench::{Environment, Operation, Record};
use keymark_records::published::PublishedTable;
use keymark_report::compare::machine_name;
use keymark_stats::Seconds;
use keymark_stores::device::Wish;
use keymark_stores::registry;
use serde_json::json;

use crate::args::{AdviceTopic, AdviseArguments};
use crate::exit::{Exit, Failure, Outcome};
use crate::{archive, output, user};

/// The newest runs of a case that make its figure.
const RUNS: usize = 5;

pub(super) fn run(arguments: &AdviseArguments, path: Option<&std::path::PathBuf>) -> Outcome {
    let AdviceTopic::Key(purpose) = arguments.purpose else {
        return hsm(arguments);
    };
    if arguments.hsm.is_of_hsms() {
        return Err(Failure::usage(
            "--latency, --class and --certification are for 'advise hsm'; keys have --tolerance",
        ));
    }
    if arguments.measure {
        measure(arguments, purpose, path)?;
    }
    let archive = archive::open_to_read(path)?;
    let records = archive.newest_of_each(RUNS, |case| {
        case.operation == Operation::Handshake || case.is_alone()
    })?;
    let this = machine_name(&Environment::capture(env!("KEYMARK_VERSION")));
    let is_here = |record: &Record| machine_name(&record.environment) == this;
    let figures = Figures::of(&records, is_here).with_published(PublishedTable::collection());
    let question = question(arguments, purpose)?;
    if arguments.form.is_json() {
        print(&question, &figures);
    } else {
        output::document(&question.document(&figures));
    }
    Ok(archive::report_unreadable(&archive, Exit::Fine))
}

/// Counts HSMs for a rate.
fn hsm(arguments: &AdviseArguments) -> Outcome {
    let (Some(rate), [algorithm]) = (
        arguments.hsm.rate,
        arguments.candidates.algorithm.as_slice(),
    ) else {
        return Err(Failure::usage(
            "'advise hsm' needs a rate and one algorithm: --rate 50/s --algorithm rsa2048",
        ));
    };
    if arguments.has_limits_of_keys() {
        return Err(Failure::usage(
            "'advise hsm' takes --rate, --algorithm, --latency, --class and --certification; the other limits are for keys",
        ));
    }
    let latency = arguments.hsm.latency;
    let question = HsmQuestion {
        rate,
        algorithm: *algorithm,
        latency: latency.map(|time| Seconds(time.as_secs_f64())),
        classes: arguments.hsm.class.clone(),
        certifications: arguments.hsm.certification.clone(),
    };
    let figures = PublishedTable::collection();
    if arguments.form.is_json() {
        for one in question.options(figures) {
            output::print_json(&json!({
                "device": one.device.id,
                "kind": one.device.kind,
                "number": one.number,
                "grade": one.row.grade,
                "unit": one.unit(),
                "mean_s": one.row.mean(),
                "ops_per_s": one.row.rate(),
                "sale": one.device.sale,
                "certification": one.device.certification,
                "source": one.row.source,
            }));
        }
    } else {
        output::document(&question.document(figures));
    }
    Ok(Exit::Fine)
}

fn question(arguments: &AdviseArguments, purpose: Purpose) -> Result<AdviceQuestion, Failure> {
    let (today, required) = (Zoned::now().date(), &arguments.requirements);
    let policies = if required.policy.is_empty() {
        Vec::new()
    } else {
        Policy::chosen(&required.policy).map_err(Failure::usage)?
    };
    Ok(AdviceQuestion {
        purpose,
        today,
        until: required.until.unwrap_or(today),
        policies,
        open_firmware: required.open_firmware,
        tolerance: required.tolerance,
        compatible: required.compatible.clone(),
        rate: arguments.hsm.rate.map(|rate| rate.0),
        post_quantum: required.post_quantum,
        old_clients: required.old_clients.unwrap_or(0.0),
        devices: devices(&arguments.candidates.device)?,
        algorithms: arguments.candidates.algorithm.clone(),
    })
}

/// Ids of the catalogue by themselves, or by what several begin with: `yubikey-5`.
fn devices(named: &[String]) -> Result<Vec<String>, Failure> {
    let tokens = Catalogue::shipped().tokens.iter();
    let ids: Vec<&str> = [SOFTWARE]
        .into_iter()
        .chain(tokens.map(|token| &*token.id))
        .collect();
    let mut devices = Vec::new();
    for name in named {
        let exactly = |id: &&&str| **id == name;
        let begins = |id: &&&str| id.starts_with(&**name);
        match ids.iter().find(exactly) {
            Some(id) => devices.push((*id).to_owned()),
            None if ids.iter().any(|id| begins(&id)) => {
                devices.extend(ids.iter().filter(begins).map(|id| (*id).to_owned()));
            }
            None => {
                return Err(Failure::usage(format!(
                    "no token is called '{name}'; choose from {}",
                    ids.join(", ")
                )));
            }
        }
    }
    Ok(devices)
}

/// Every answer, and everything that is left out with what refuses it.
fn print(question: &AdviceQuestion, figures: &Figures) {
    let candidates = question.candidates(figures);
    for (rank, one) in question.answers(&candidates).iter().enumerate() {
        output::print_json(&json!({
            "rank": rank + 1,
            "device": one.id,
            "algorithm": one.algorithm,
            "operation": one.operation,
            "time_s": one.cost.map(|figure| figure.time.value),
            "provenance": one.cost.map(|figure| figure.provenance),
            "through": one.cost.map(|_| one.through),
            "source": one.cost.map(|figure| &figure.source),
            "estimated": one.cost.and_then(|figure| figure.parts).map(|parts| json!({
                "card_s": parts.card,
                "command": parts.command,
                "program_s": parts.program,
            })),
            "sale": one.sale,
            "strength": one.strength.map(|bits| bits.0),
            "weaknesses": one.weaknesses.iter().map(|known| &known.id).collect::<Vec<_>>(),
        }));
    }
    for one in &candidates {
        let refusals = question.refusals(one);
        if !refusals.is_empty() {
            let because: Vec<String> = refusals.iter().map(ToString::to_string).collect();
            output::print_json(
                &json!({ "device": one.id, "algorithm": one.algorithm, "left_out": because }),
            );
        }
    }
}

/// Measures on this machine what the purpose asks of keys, as a user would.
fn measure(
    arguments: &AdviseArguments,
    purpose: Purpose,
    path: Option<&std::path::PathBuf>,
) -> Result<(), Failure> {
    let (what, usual) = purpose.measure();
    let named = arguments.candidates.algorithm.iter().join(",");
    let algorithms = if named.is_empty() { usual } else { &named };
    let mut command = Command::new(std::env::current_exe()?);
    if let Some(path) = path {
        command.arg("--archive").arg(path);
    }
    command
        .args(what.split(' '))
        .args(["--algorithm", algorithms]);
    if purpose == Purpose::Card {
        command.arg("--device").arg(inserted()?);
    }
    if arguments.form.is_json() {
        command.stdout(std::io::stderr());
    }
    let status = command.status()?;
    // What did not fail was measured, and the run has said what did.
    if matches!(status.code(), Some(0 | 1)) {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "'keymark {what}' ended with {status}, so nothing new was measured"
    )))
}

/// The cards in readers that have keys, which are the ones that can be measured.
fn inserted() -> Result<String, Failure> {
    let looked = registry::look(&Wish::Inserted, &user::of_pinentry());
    let devices = looked.map_err(Failure::nothing_usable)?.devices;
    let named = devices.iter().map(|one| {
        let name = one.identity().device.to_string();
        if one.capabilities().is_empty() {
            Err(name)
        } else {
            Ok(name)
        }
    });
    let (with_keys, empty): (Vec<_>, Vec<_>) = named.partition_result();
    if !with_keys.is_empty() {
        return Ok(with_keys.join(","));
    }
    Err(Failure::nothing_usable(if empty.is_empty() {
        "no card is inserted that could be measured; 'keymark devices' shows all".to_owned()
    } else {
        let empty = empty.join(", ");
        format!(
            "the card has no keys yet ({empty}): 'gpg --card-edit' makes some on it, by 'admin' and 'generate'"
        )
    }))
}
