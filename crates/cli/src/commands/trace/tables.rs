//! The tables of a trace.

use std::time::Duration;

use keymark_report::document::{Block, Cell, Column, Remark, RemarkKind, Table, TableRow};
use keymark_report::units;
use keymark_shim_protocol::trace::TracedCall;
use keymark_stats::{Ratio, Seconds};

use super::Origin;
use super::apdu::{self, name};
use super::summary::{Kind, Trace};

/// Where the time went, a line each.
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
    let cells = |(name, time): (&str, Duration)| {
        vec![
            Cell::text(name),
            duration(time),
            Cell::Share(Ratio(time.as_secs_f64() / whole)),
        ]
    };
    let columns = [
        Column::name("part"),
        Column::value("time"),
        Column::value("share"),
    ];
    table(columns, lines.into_iter().map(cells), origin)
}

/// First use against later uses, by kind of command.
pub(super) fn commands(trace: &Trace, origin: &Origin) -> Block {
    let cells = |kind: &Kind| {
        vec![
            Cell::text(&kind.name),
            Cell::Count(kind.count.into()),
            duration(kind.first),
            Cell::or_missing(kind.later, duration),
            duration(kind.total),
            Cell::or_missing(kind.complaint, |word| Cell::Text(apdu::refusal(word))),
        ]
    };
    let columns = [
        Column::name("command"),
        Column::value("n"),
        Column::value("first"),
        Column::value("later, mean").leave(0),
        Column::value("together").leave(1),
        Column::name("refused with"),
    ];
    table(columns, trace.kinds.iter().map(cells), origin)
}

/// What the first use took.
pub(super) fn together(trace: &Trace) -> Block {
    let time = |time: Duration| units::duration(Seconds(time.as_secs_f64()));
    let text = format!(
        "together {}, {} of it between the calls",
        time(trace.whole),
        time(trace.between)
    );
    Block::Remark(Remark::new(RemarkKind::Elsewhere, text))
}

/// What stands in the place of its commands.
pub(super) fn nothing_asked(trace: &Trace) -> Block {
    let whole = units::duration(Seconds(trace.whole.as_secs_f64()));
    let text = format!("the card was not used: the program ran for {whole} and sent it no command");
    Block::Remark(Remark::new(RemarkKind::Elsewhere, text))
}

/// Every command, one a line: time since the start, what it took, lengths and status word.
pub(super) fn list(records: &[TracedCall], begin_ns: u64, origin: &Origin) -> Block {
    let lines = records.iter().filter_map(|record| {
        let apdu = record.apdu?;
        let since = Duration::from_nanos(record.begin_ns.saturating_sub(begin_ns));
        Some(vec![
            duration(since),
            Cell::Text(name(&apdu)),
            Cell::Count(u64::from(apdu.command)),
            Cell::Count(u64::from(apdu.response)),
            status(apdu.status),
            duration(record.duration()),
            Cell::or_missing(record.card, duration),
        ])
    });
    let columns = [
        Column::value("at"),
        Column::name("command"),
        Column::value("sent").leave(0),
        Column::value("received").leave(1),
        Column::value("status"),
        Column::value("took"),
        Column::value("card").leave(2),
    ];
    table(columns, lines, origin)
}

/// All of one card.
pub(super) fn table(
    columns: impl Into<Vec<Column>>,
    lines: impl Iterator<Item = Vec<Cell>>,
    origin: &Origin,
) -> Block {
    let mut columns = columns.into();
    columns.extend([Column::device(), Column::provenance()]);
    let mut table = Table::new(columns);
    table.rows = lines
        .map(|cells| TableRow {
            device: origin.device.clone(),
            provenance: origin.provenance,
            cells,
        })
        .collect();
    Block::Table(table)
}

pub(super) fn duration(time: Duration) -> Cell {
    Cell::Duration(Seconds(time.as_secs_f64()))
}

fn status(word: u16) -> Cell {
    Cell::Text(format!("{word:04X}"))
}
