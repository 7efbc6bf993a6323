//! The tables of a trace.

use std::time::Duration;

use keymark_report::units;
use keymark_report::{Block, Cell, Remark, RemarkKind, TableOf};
use keymark_shim_protocol::trace::TracedCall;
use keymark_stats::Ratio;

use super::Origin;
use super::summary::{Trace, name, refusal};

/// Says whose most of the time is: `86 % of the time is the card's (1.20 of 1.40 s).`
pub(super) fn verdict(trace: &Trace) -> String {
    let program = trace.before + trace.between + trace.after;
    let whose = match trace.card {
        Some(card) => vec![("the card's", card), ("the transport's", trace.transport)],
        None => vec![("the reader's and the card's", trace.transport)],
    };
    let parts = whose
        .into_iter()
        .chain([("the program's and scdaemon's", program)]);
    let (whose, time) = parts.max_by_key(|(_, time)| *time).unwrap_or_default();
    let share = 100.0 * time.as_secs_f64() / trace.whole.as_secs_f64();
    format!(
        "{share:.0} % of the time is {whose} ({} of {}).",
        units::time(time),
        units::time(trace.whole)
    )
}

pub(super) fn breakdown(trace: &Trace, origin: &Origin) -> Block {
    let mut lines = vec![
        (
            "program, agent and start of scdaemon, before the first call",
            trace.before,
        ),
        ("scdaemon and its callers, between calls", trace.between),
    ];
    match trace.card {
        Some(card) => lines.extend([("transport", trace.transport), ("card", card)]),
        None => lines.push(("PC/SC calls: transport and card", trace.transport)),
    }
    lines.push(("after the last call", trace.after));
    lines.push(("whole", trace.whole));
    let whole = trace.whole.as_secs_f64();
    let table = TableOf::new(lines)
        .name("part", |(name, _)| *name)
        .value("time", |(_, time)| *time)
        .value("share", |(_, time)| {
            Cell::share(Ratio(time.as_secs_f64() / whole))
        });
    of_one_card(table, origin)
}

/// First use against later uses, by kind of command.
pub(super) fn commands(trace: &Trace, origin: &Origin) -> Block {
    let table = TableOf::new(&trace.kinds)
        .name("command", |kind| kind.name.as_str())
        .value("n", |kind| kind.count)
        .value("first", |kind| kind.first)
        .optional(0, "later, mean", |kind| kind.later)
        .optional(1, "together", |kind| kind.total)
        .name("refused with", |kind| kind.complaint.map(refusal));
    of_one_card(table, origin)
}

pub(super) fn together(trace: &Trace) -> Block {
    let text = format!(
        "together {}, {} of it between the calls",
        units::time(trace.whole),
        units::time(trace.between)
    );
    Block::Remark(Remark::new(RemarkKind::Elsewhere, text))
}

pub(super) fn nothing_asked(trace: &Trace) -> String {
    let whole = units::time(trace.whole);
    format!("The card was not used: the program ran for {whole} and sent it no command.")
}

/// Every command, one a line: time since the start, what it took, lengths and status word.
pub(super) fn list(records: &[TracedCall], begin_ns: u64, origin: &Origin) -> Block {
    let lines = records
        .iter()
        .filter_map(|record| Some((record, record.apdu?)));
    let table = TableOf::new(lines)
        .value("at", |(record, _)| {
            Duration::from_nanos(record.begin_ns.saturating_sub(begin_ns))
        })
        .name("command", |(_, apdu)| name(apdu))
        .optional(0, "sent", |(_, apdu)| u64::from(apdu.command))
        .optional(1, "received", |(_, apdu)| u64::from(apdu.response))
        .value("status", |(_, apdu)| format!("{:04X}", apdu.status))
        .value("took", |(record, _)| record.duration())
        .optional(2, "card", |(record, _)| record.card);
    of_one_card(table, origin)
}

/// Adds the card that all rows are of.
pub(super) fn of_one_card<T>(table: TableOf<T>, origin: &Origin) -> Block {
    let table = table
        .name("device", |_| Cell::text(&origin.device))
        .provenance(|_| origin.provenance);
    Block::Table(table.table())
}
