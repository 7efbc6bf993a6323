//! `keymark show`, and the tables at the end of `keymark bench`.

use keymark_bench::case::Provenance;
use keymark_bench::environment::Environment;
use keymark_bench::plan::Order;
use keymark_bench::record::{Record, RunState};
use keymark_bench::stop::StopRule;
use keymark_report::analysis::{Analysis, Scaling, provenances};
use keymark_report::archive::Archive;
use keymark_report::table::{self, FlatRow, Style};
use keymark_report::units;
use keymark_stats::Seconds;

use super::{Outcome, published};
use crate::args::ShowArguments;
use crate::exit::{Exit, Failure};
use crate::observers::print_json;
use crate::output;

pub(super) fn run(arguments: &ShowArguments, archive: &Archive) -> Outcome {
    let record = archive.load(&arguments.run).map_err(Failure::failed)?;
    if arguments.json {
        for row in &Analysis::of(&record).rows {
            print_json(&FlatRow::from(row));
        }
    } else {
        print(&record);
    }
    Ok(Exit::Fine)
}

/// All that there is to say about a record.
pub(super) fn print(record: &Record) {
    let analysis = Analysis::of(record);
    output::heading(&format!("run {}", record.id));
    for line in head(record) {
        output::line(&line);
    }
    output::line("");
    output::print(&table::rows(
        &analysis.rows,
        record.plan.settings.tolerance,
        Style::Text,
    ));
    for case in &record.cases {
        if let (Provenance::Predicted, Some(figure)) = (case.case.provenance, &case.published) {
            output::line(&format!("{}: {}", case.case, figure.note));
        }
    }
    let kinds = provenances(&analysis.rows);
    if kinds.len() > 1 {
        let words: Vec<_> = kinds.iter().map(ToString::to_string).collect();
        output::line(&format!(
            "figures of different kinds stand in one table: {}",
            words.join(", ")
        ));
    }
    if !analysis.breakdowns.is_empty() {
        output::line("");
        output::heading(
            "where the time goes (one at a time; mean of each layer less the one below)",
        );
        output::print(&table::breakdowns(&analysis.breakdowns, Style::Text));
        if let Some(remark) = analysis.lost_in_overhead() {
            output::line(&remark);
        }
    }
    if analysis.rows.iter().any(|row| row.parts.is_some()) {
        output::line("");
        output::heading(
            "where the time goes, as measured on the way (processor time of the programs, time of the PC/SC calls)",
        );
        output::print(&table::parts(&analysis.rows, Style::Text));
    }
    let twins = published::rows(&analysis);
    if !twins.is_empty() {
        output::line("");
        output::heading(
            "twins beside the published figures (the difference is this host against the article's)",
        );
        output::print(&table::plain(Style::Text, &published::NAMES, 3, twins));
    }
    if !analysis.scaling.is_empty() {
        output::line("");
        output::heading("in parallel (throughput over that of one worker)");
        output::print(&table::scaling(&analysis.scaling, Style::Text));
        print_limits(&analysis.scaling);
    }
    let threads = analysis.threads();
    if !threads.is_empty() {
        output::line("");
        threads.iter().for_each(|line| output::line(line));
    }
    for line in analysis.warnings(&record.plan) {
        output::warning(&line);
    }
}

/// What the columns of the scaling table mean, in a sentence or two.
fn print_limits(scaling: &[Scaling]) {
    if scaling.iter().any(|group| group.bounds.is_some()) {
        output::line(
            "gpg-agent is one thread and holds every secret key, yet only its part of an operation queues for it: \
             its bound is the time alone over the agent's part, the cores' bound is cores times the time alone \
             over the processor time; the lower of the two is the limit",
        );
    }
    if scaling.iter().any(|group| group.law.is_ok()) {
        output::line(
            "σ and κ of the Universal Scalability Law; σ counts waiting for processors too",
        );
    }
    for group in scaling {
        if let Some(best) = group.best_concurrency() {
            output::line(&format!(
                "{}: throughput is highest at c = {best:.0}, and falls beyond",
                group.case
            ));
        }
    }
}

/// Processor, cores, system.
fn machine(environment: &Environment) -> Vec<String> {
    let processor = environment.cpu_model.clone();
    let mut machine = vec![processor.unwrap_or_else(|| "unknown processor".to_owned())];
    machine.push(format!("{} cores", environment.cores));
    let virtualization = environment.virtualization.as_ref();
    machine.extend(virtualization.map(|name| format!("virtual machine ({name})")));
    machine.extend(environment.os.clone());
    let kernel = environment.kernel.as_ref();
    machine.extend(kernel.map(|kernel| format!("Linux {kernel}")));
    machine
}

/// Programs and libraries, keymark last.
fn versions(environment: &Environment) -> Vec<String> {
    let versions = environment.versions.iter().map(|(name, version)| {
        if version.to_lowercase().starts_with(name.as_str()) {
            version.clone()
        } else {
            format!("{name} {version}")
        }
    });
    let own = format!("keymark {}", environment.keymark);
    versions.chain([own]).collect()
}

/// How and on what it was measured.
fn head(record: &Record) -> Vec<String> {
    if record.state == RunState::Published {
        return vec!["published figures, as their source states them".to_owned()];
    }
    let environment = &record.environment;
    let mut stores = record.stores.iter();
    if stores.clone().next().is_some()
        && stores.all(|store| store.provenance == Provenance::Predicted)
    {
        let own = format!("predicted by keymark {}", environment.keymark);
        return vec![
            own,
            "no device was measured; this computer's speed does not matter".to_owned(),
        ];
    }
    let versions = versions(environment);
    let settings = &record.plan.settings;
    let stop = match settings.stop {
        StopRule::Runs(runs) => format!("{runs} operations a case"),
        StopRule::Precision { target, .. } => format!(
            "until the mean is known to ±{} %",
            target.fraction() * 100.0
        ),
    };
    let order = match settings.order {
        Order::Interleaved => "interleaved",
        Order::Sequential => "sequential",
    };
    let twins = record
        .stores
        .iter()
        .filter(|store| store.provenance == Provenance::Twin)
        .map(|twin| format!("  {}: {}", twin.device, twin.product));
    let mut lines = vec![
        format!("  {}", machine(environment).join(", ")),
        format!("  {}", versions.join(", ")),
        format!("  {stop}, {order}, seed {}", settings.seed),
    ];
    lines.extend(twins);
    if let Some(harness) = record.harness {
        let ns = |nanoseconds: u64| units::duration(Seconds(nanoseconds as f64 * 1e-9));
        lines.push(format!(
            "  each sample holds {} of the clock's own time (resolution {}), and {} lie between two samples",
            ns(harness.clock_reading_ns),
            ns(harness.clock_resolution_ns),
            ns(harness.loop_ns)
        ));
    }
    match record.state {
        RunState::Interrupted => lines.push("  ended early, before all was measured".to_owned()),
        RunState::Unfinished => lines.push(
            "  unfinished: keymark was killed; what was measured until then is here".to_owned(),
        ),
        RunState::Finished | RunState::Published => {}
    }
    lines
}
