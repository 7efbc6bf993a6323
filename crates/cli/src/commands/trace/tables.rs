//! The tables of a trace of PC/SC calls: the commands that a program sent to the card, the times of the first of each kind and of
//! the later ones, and where the time between them went.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use keymark_bench::shipped::shipped;
use keymark_report::{Block, Cell, Remark, RemarkKind, TableOf, grouped, units};
use keymark_shim_protocol::trace::{Apdu, Call, TracedCall};
use keymark_stats::Ratio;
use serde::Deserialize;

use super::Origin;

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

/// The commands of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kind {
    /// The specification's name, with the data object or PIN it is about.
    pub(super) name: String,
    pub(super) count: u32,
    /// Duration of the first: it often does more (selection, reading keys).
    pub(super) first: Duration,
    /// Mean of the later ones.
    pub(super) later: Option<Duration>,
    /// All together.
    pub(super) total: Duration,
    /// The last status word that was not 9000 or 61xx.
    pub(super) complaint: Option<u16>,
}

/// A traced program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trace {
    /// Duration from start to end.
    pub(super) whole: Duration,
    /// Duration until the first PC/SC call: the program, its agent, the start of scdaemon.
    pub(super) before: Duration,
    /// Within PC/SC calls, less the card's own work where it is known.
    pub(super) transport: Duration,
    /// The card's own work; `None` over a real reader, where it is part of the transport.
    pub(super) card: Option<Duration>,
    /// Between the calls: scdaemon, and those who ask it.
    pub(super) between: Duration,
    /// Duration after the last call.
    pub(super) after: Duration,
    /// True if a PIN was verified, or tried.
    pub(super) verified: bool,
    /// Kinds of commands in the order of their first use.
    pub(super) kinds: Vec<Kind>,
}

impl Trace {
    /// Sums up the calls of a program that ran from `begin_ns` to `end_ns` on the clock of the
    /// records.
    pub(super) fn of(records: &[TracedCall], begin_ns: u64, end_ns: u64) -> Self {
        let time = |from: u64, to: u64| Duration::from_nanos(to.saturating_sub(from));
        let first = records.iter().map(|record| record.begin_ns).min();
        let last = records.iter().map(|record| record.end_ns).max();
        let (first, last) = (first.unwrap_or(end_ns), last.unwrap_or(end_ns));
        let called: Duration = records.iter().map(TracedCall::duration).sum();
        let known = records.iter().filter_map(|record| record.card);
        let card = records
            .iter()
            .any(|record| record.card.is_some())
            .then(|| known.sum::<Duration>());
        Self {
            whole: time(begin_ns, end_ns),
            before: time(begin_ns, first),
            transport: called.saturating_sub(card.unwrap_or_default()),
            card,
            between: time(first, last).saturating_sub(called),
            after: time(last, end_ns),
            verified: records
                .iter()
                .filter_map(|record| record.apdu)
                .any(verifies),
            kinds: kinds(records),
        }
    }
}

/// VERIFY without data asks for the tries that are left (OpenPGP card 3.4.1 §7.2.2).
const fn verifies(apdu: Apdu) -> bool {
    matches!(apdu.header, [_, 0x20, ..]) && apdu.command > 5
}

fn kinds(records: &[TracedCall]) -> Vec<Kind> {
    let transmitted = records
        .iter()
        .filter(|record| record.call == Call::Transmit);
    let transmitted = transmitted.filter_map(|record| Some((record.duration(), record.apdu?)));
    let kind = |(name, of): (String, Vec<(Duration, Apdu)>)| {
        let (first, count) = (of[0].0, of.len() as u32);
        let total: Duration = of.iter().map(|(took, _)| took).sum();
        let statuses = of.iter().rev().map(|(_, apdu)| apdu.status);
        Kind {
            name,
            count,
            first,
            later: (total - first).checked_div(count - 1),
            total,
            complaint: { statuses }.find(|status| *status != 0x9000 && status >> 8 != 0x61),
        }
    };
    let kinds = grouped(transmitted, |(_, apdu)| name(apdu));
    kinds.into_iter().map(kind).collect()
}

/// Placeholders of digits, by the first of them. A dot matches any digit.
type Names = BTreeMap<String, String>;

#[derive(Deserialize)]
struct File {
    commands: Names,
    refusals: Names,
    objects: Names,
}

static FILE: LazyLock<File> =
    LazyLock::new(|| shipped(include_str!("../../../../../data/openpgp-card.toml")));

/// The longest that fits.
fn longest<'n>(names: &'n Names, digits: &str) -> Option<&'n str> {
    let fits = |pattern: &str| {
        let mut pairs = pattern.chars().zip(digits.chars());
        pairs.all(|(wanted, digit)| wanted == '.' || wanted == digit)
    };
    let fitting = names.iter().filter(|(pattern, _)| fits(pattern));
    let found = fitting.max_by_key(|(pattern, _)| pattern.len());
    found.map(|(_, name)| name.as_str())
}

/// The specification's name, with what tells commands of one instruction apart.
fn name(apdu: &Apdu) -> String {
    let [class, ins, p1, p2] = apdu.header;
    let tag = u16::from_be_bytes([p1, p2]);
    let object = longest(&FILE.objects, &format!("{tag:04X}"));
    let object = object.map(|object| format!(" ({object})"));
    let tag = format!("{tag:02X}{}", object.unwrap_or_default());
    let name = match longest(&FILE.commands, &format!("{ins:02X}{p1:02X}{p2:02X}")) {
        Some(name) => name.replace("{tag}", &tag),
        None => format!("INS {ins:02X} {p1:02X}{p2:02X}"),
    };
    let chained = if class & 0x10 == 0 { "" } else { ", chained" };
    name + chained
}

/// A status word that is no success, with what it says.
fn refusal(word: u16) -> String {
    let digits = format!("{word:04X}");
    let said = longest(&FILE.refusals, &digits).unwrap_or_default();
    let said = said.replace("{tries}", &(word & 0xF).to_string());
    format!("{digits} {said}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::{DeviceName, Provenance};
    use keymark_report::document::Block;
    use keymark_report::render::{Width, text};

    use super::*;

    fn lines(block: &Block) -> Vec<String> {
        let Block::Table(table) = block else {
            panic!("{block:?}")
        };
        let text = text::table(table, Width::Unlimited);
        text.lines().map(str::to_owned).collect()
    }

    fn origin() -> Origin {
        Origin {
            device: DeviceName::new("a card"),
            provenance: Provenance::Virtual,
        }
    }

    fn transmit(begin_ms: u64, end_ms: u64, header: [u8; 4], status: u16) -> TracedCall {
        TracedCall {
            call: Call::Transmit,
            begin_ns: begin_ms * 1_000_000,
            end_ns: end_ms * 1_000_000,
            card: Some(Duration::from_millis(end_ms - begin_ms - 1)),
            process: 1,
            result: 0,
            apdu: Some(Apdu {
                header,
                command: 10,
                response: 2,
                status,
            }),
        }
    }

    #[test]
    fn the_parts_add_up_and_first_uses_stand_apart() {
        let decipher = [0, 0x2A, 0x80, 0x86];
        let records = [
            transmit(20, 30, [0, 0xA4, 4, 0], 0x9000),
            transmit(40, 50, decipher, 0x6982),
            transmit(60, 64, decipher, 0x9000),
            transmit(70, 76, decipher, 0x9000),
        ];
        let trace = Trace::of(&records, 0, 100_000_000);
        let parts =
            trace.before + trace.transport + trace.card.unwrap() + trace.between + trace.after;
        assert_eq!(parts, trace.whole);
        assert_eq!(trace.card, Some(Duration::from_millis(26)));
        let kind = &trace.kinds[1];
        assert_eq!((kind.name.as_str(), kind.count), ("PSO:DECIPHER", 3));
        assert_eq!(kind.first, Duration::from_millis(10));
        assert_eq!(kind.later, Some(Duration::from_millis(5)));
        assert_eq!(kind.complaint, Some(0x6982));
        let breakdown = lines(&breakdown(&trace, &origin()));
        let card = breakdown.iter().find(|line| line.starts_with("card"));
        assert!(card.unwrap().contains("26.0 %"), "{breakdown:#?}");
        let list = lines(&list(&records, 0, &origin()));
        assert_eq!(list.len(), 1 + records.len());
        for line in breakdown[1..].iter().chain(&list[1..]) {
            assert!(line.ends_with("a card     virtual"), "{line}");
        }
    }

    #[test]
    fn a_program_that_asks_no_card_is_all_before() {
        let trace = Trace::of(&[], 0, 5);
        assert_eq!((trace.before, trace.after), (trace.whole, Duration::ZERO));
        assert_eq!(trace.card, None);
        assert!(!trace.verified);
    }

    #[test]
    fn a_question_for_the_tries_left_is_no_pin() {
        let asked = |command| {
            let mut verify = transmit(0, 2, [0, 0x20, 0, 0x82], 0x63C3);
            verify.apdu = verify.apdu.map(|apdu| Apdu { command, ..apdu });
            Trace::of(&[verify], 0, 5_000_000)
        };
        assert!(!asked(4).verified && !asked(5).verified && asked(11).verified);
        let shown = lines(&commands(&asked(4), &origin()));
        assert!(shown[1].contains("63C3 3 PIN tries left"), "{shown:#?}");
    }
}
