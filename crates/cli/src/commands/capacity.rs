//! `keymark capacity`

use std::collections::BTreeMap;
use std::path::PathBuf;

use keymark_advice::capacity::{
    CapacityQuestion, CapacityRow, NetworkQuestion, Plan, Service, Wanted,
};
use keymark_bench::{Network, Operation};
use keymark_report::charts::Theme;
use keymark_report::pictures;
use keymark_stats::{Demand, Distribution, PerSecond, Seconds};
use serde_json::{Value, json};

use crate::args::CapacityArguments;
use crate::exit::{Exit, Failure, Outcome};
use crate::{archive, documents, output};

pub(super) fn run(arguments: &CapacityArguments, archive: Option<&PathBuf>) -> Outcome {
    let question = CapacityQuestion {
        service: service(arguments, archive)?,
        demand: demand(arguments),
        p99: arguments.p99.map(|limit| Seconds(limit.as_secs_f64())),
        spare: arguments.spare,
        seed: arguments.seed,
    };
    let plan = question.plan();
    if arguments.form.is_json() {
        print(&question, &plan);
    } else {
        output::document(&question.document(&plan));
    }
    if let Some(file) = &arguments.output {
        let from = arguments.rate.and_then(|rates| rates.1);
        let chart = question.picture(from);
        let chart = chart.ok_or_else(|| Failure::nothing_usable(pictures::NOT_ENOUGH))?;
        documents::pictures::write(&[chart], file, Theme::Light)?;
    }
    Ok(Exit::Fine)
}

fn demand(arguments: &CapacityArguments) -> Demand {
    let rate = arguments.rate;
    let rate = rate.map(|rates| PerSecond(rates.0.0 * arguments.peak));
    let users = || Demand::Users {
        count: arguments.users.map_or(1, std::num::NonZeroU32::get),
        pause: Seconds(arguments.think.unwrap_or_default().as_secs_f64()),
    };
    rate.map_or_else(users, Demand::Arrivals)
}

fn service(arguments: &CapacityArguments, archive: Option<&PathBuf>) -> Result<Service, Failure> {
    let network = NetworkQuestion {
        round_trip: arguments.round_trip,
        calls: arguments.calls.get(),
        quota: arguments.quota,
    };
    if let Some(given) = &arguments.service_time {
        return Ok(given.clone().behind(&Network::default(), &network));
    }
    let (Some(device), Some(algorithm)) = (&arguments.device, arguments.algorithm) else {
        return Err(Failure::usage("name a device with an algorithm"));
    };
    let mut usual = [Operation::Sign, Operation::Decrypt].into_iter();
    let usual = usual.find(|operation| algorithm.has(*operation));
    let wanted = Wanted {
        device: device.clone(),
        algorithm,
        operation: arguments
            .operation
            .or(usual)
            .unwrap_or(Operation::Decapsulate),
        stack: arguments.stack,
        network,
    };
    let archive = archive::open_to_read(archive)?;
    let runs = archive.newest_of_each(1, |case| {
        (case.algorithm, case.operation, case.stack)
            == (wanted.algorithm, wanted.operation, wanted.stack)
            && case.device.as_str().eq_ignore_ascii_case(&wanted.device)
            && case.is_alone()
    })?;
    // Figures are those of the others; that some are missing is said.
    archive::report_unreadable(&archive, Exit::Fine);
    Service::find(&wanted, &runs).map_err(Failure::nothing_usable)
}

fn print(question: &CapacityQuestion, plan: &Plan) {
    plan.0.iter().for_each(|row| output::print_json(&line(row)));
    let fewest = |spare: u32| -> BTreeMap<Distribution, Option<u32>> {
        let fewest = |way| (way, plan.fewest(way).map(|fewest| fewest + spare));
        Distribution::ALL.map(fewest).into()
    };
    let service = &question.service;
    output::print_json(&json!({
        "fewest": fewest(0),
        "fewest_with_spare": fewest(question.spare),
        "service": {
            "mean_s": service.times.mean(),
            "network_s": service.network.as_ref().map(|network| network.wait),
            "quota_per_s": service.network.as_ref().and_then(|network| network.quota),
            "source": service.source,
        },
        "seed": question.seed,
    }));
}

fn line(row: &CapacityRow) -> Value {
    let found = row.response;
    json!({
        "distribution": row.distribution,
        "tokens": row.tokens,
        "utilisation": row.utilisation,
        "rate_per_s": found.map(|found| found.rate),
        "mean_s": found.map(|found| found.mean),
        "p95_s": found.map(|found| found.p95),
        "p99_s": found.map(|found| found.p99.value),
        "p99_low_s": found.and_then(|found| found.p99.low),
        "p99_high_s": found.and_then(|found| found.p99.high),
        "late": found.and_then(|found| found.late),
    })
}
