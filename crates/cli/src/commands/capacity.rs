//! `keymark capacity`

use keymark_advice::capacity::{Plan, Question, Row, Service, Wanted};
use keymark_bench::operation::Operation;
use keymark_report::exchange::Shipped;
use keymark_report::{charts, pictures};
use keymark_stats::{Demand, PerSecond, Seconds};
use serde_json::{Map, Value, json};

use super::Outcome;
use crate::archive;
use crate::args::CapacityArguments;
use crate::documents;
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::output;

pub(super) fn run(arguments: &CapacityArguments, path: Option<&std::path::PathBuf>) -> Outcome {
    let question = Question {
        service: service(arguments, path)?,
        demand: demand(arguments),
        from: arguments.rate.and_then(|rates| rates.from),
        p99: arguments.p99,
        spare: arguments.spare,
        tokens: arguments.tokens.map(std::num::NonZeroU32::get),
        seed: arguments.seed,
    };
    let plan = question.plan();
    if arguments.json {
        print(&question, &plan);
    } else {
        output::document(&question.document(&plan), &arguments.tables);
    }
    if let Some(file) = &arguments.plot {
        let chart = pictures::chart(&question.figure());
        let chart = chart.ok_or_else(|| Failure::nothing_usable(pictures::NOT_ENOUGH))?;
        documents::pictures::write(&[chart], file, charts::Theme::Light)?;
    }
    Ok(Exit::Fine)
}

fn demand(arguments: &CapacityArguments) -> Demand {
    if let Some(count) = arguments.users {
        let pause = arguments.delay.unwrap_or_default();
        return Demand::Users {
            count: count.get(),
            pause: Seconds(pause.as_secs_f64()),
        };
    }
    let operations = arguments.operations.map(|rate| rate.0 * arguments.peak);
    let rate = arguments.rate.map(|rates| rates.to.0).or(operations);
    Demand::Arrivals(PerSecond(rate.unwrap_or_default()))
}

fn service(
    arguments: &CapacityArguments,
    path: Option<&std::path::PathBuf>,
) -> Result<Service, Failure> {
    if let Some(given) = &arguments.service_time {
        return Ok(Service::given(
            given.times.clone(),
            format!("as given: {}", given.words),
        ));
    }
    let (Some(device), Some(algorithm)) = (&arguments.device, arguments.algorithm) else {
        return Err(Failure::usage(
            "name a device with an algorithm, or a service time",
        ));
    };
    let usual = if algorithm.has(Operation::Sign) {
        Operation::Sign
    } else {
        Operation::Decrypt
    };
    let wanted = Wanted {
        device: device.clone(),
        algorithm,
        operation: arguments.operation.unwrap_or(usual),
        stack: arguments.stack,
    };
    let archive = archive::open_to_read(path).map_err(Failure::failed)?;
    let runs = archive::newest(&archive)?;
    let published = Shipped::of_times().map(|shipped| shipped.record().map_err(Failure::failed));
    let published = published.collect::<Result<Vec<_>, _>>()?;
    Service::find(&wanted, &runs, &published).map_err(Failure::nothing_usable)
}

fn print(question: &Question, plan: &Plan) {
    for row in &plan.rows {
        print_json(&line(row));
    }
    let fewest = |spare: u32| {
        let each = plan.fewest.iter().map(|(way, fewest)| {
            let way = json!(way).as_str().unwrap_or_default().to_owned();
            (way, json!(fewest.map(|fewest| fewest + spare)))
        });
        Value::Object(each.collect::<Map<_, _>>())
    };
    let service = &question.service;
    print_json(&json!({
        "fewest": fewest(0),
        "spare": question.spare,
        "fewest_with_spare": fewest(question.spare),
        "p99_limit_s": question.p99.map(|limit| limit.as_secs_f64()),
        "service": {
            "mean_s": service.times.mean(),
            "source": service.source,
        },
        "seed": question.seed,
    }));
}

fn line(row: &Row) -> Value {
    let response = row.response;
    let p99 = response.map(|found| found.p99);
    json!({
        "distribution": row.distribution,
        "tokens": row.tokens,
        "utilisation": row.utilisation,
        "rate_per_s": response.map(|found| found.rate),
        "mean_s": response.map(|found| found.mean),
        "p95_s": response.map(|found| found.p95),
        "p99_s": p99.map(|p99| p99.value),
        "p99_low_s": p99.and_then(|p99| p99.low),
        "p99_high_s": p99.and_then(|p99| p99.high),
        "late": response.and_then(|found| found.late),
    })
}
