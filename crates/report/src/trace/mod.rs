//! What a trace of PC/SC calls says: which commands a program sent to the card, what the first of
//! each kind took and what the later ones did, and where the time between them went.

mod apdu;

use std::time::Duration;

use keymark_shim_protocol::trace::{Call, Record};
use keymark_stats::Seconds;

use crate::table::{self, Style};
use crate::units;

pub use apdu::name;

/// The commands of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// The specification's name, with the data object or PIN it is about.
    pub name: String,
    /// How many.
    pub count: u32,
    /// What the first took: it often does more (selection, reading keys).
    pub first: Duration,
    /// Mean of the later ones.
    pub later: Option<Duration>,
    /// All together.
    pub total: Duration,
    /// The last status word that was not 9000 or 61xx.
    pub complaint: Option<u16>,
}

/// A traced program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// From start to end.
    pub whole: Duration,
    /// Until the first PC/SC call: the program, its agent, the start of scdaemon.
    pub before: Duration,
    /// Within PC/SC calls, less the card's own work where it is known.
    pub transport: Duration,
    /// The card's own work; `None` over a real reader, where it is part of the transport.
    pub card: Option<Duration>,
    /// Between the calls: scdaemon, and those who ask it.
    pub between: Duration,
    /// After the last call.
    pub after: Duration,
    /// By kind, in order of their first use.
    pub kinds: Vec<Kind>,
}

impl Trace {
    /// Sums up the calls of a program that ran from `begin_ns` to `end_ns` on the clock of the
    /// records.
    #[must_use]
    pub fn of(records: &[Record], begin_ns: u64, end_ns: u64) -> Self {
        let time = |from: u64, to: u64| Duration::from_nanos(to.saturating_sub(from));
        let first = records.iter().map(|record| record.begin_ns).min();
        let last = records.iter().map(|record| record.end_ns).max();
        let (first, last) = (first.unwrap_or(end_ns), last.unwrap_or(end_ns));
        let called: Duration = records.iter().map(Record::duration).sum();
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
            kinds: kinds(records),
        }
    }

    /// The breakdown, a line each.
    #[must_use]
    pub fn breakdown(&self) -> String {
        let share = |time: Duration| units::percent(time.as_secs_f64() / self.whole.as_secs_f64());
        let mut lines = vec![
            (
                "program, agent and start of scdaemon, before the first call",
                self.before,
            ),
            ("scdaemon and those who ask it, between calls", self.between),
        ];
        match self.card {
            Some(card) => lines.extend([("transport", self.transport), ("card", card)]),
            None => lines.push(("PC/SC calls: transport and card", self.transport)),
        }
        lines.push(("after the last call", self.after));
        lines.push(("whole", self.whole));
        let cells = |(name, time): (&str, Duration)| vec![name.to_owned(), show(time), share(time)];
        let lines = lines.into_iter().map(cells).collect();
        table::plain(Style::Text, &["part", "time", "share"], 1, lines)
    }

    /// First use against later uses, by kind of command.
    #[must_use]
    pub fn commands(&self) -> String {
        let cells = |kind: &Kind| {
            vec![
                kind.name.clone(),
                kind.count.to_string(),
                show(kind.first),
                kind.later.map_or_else(|| "-".to_owned(), show),
                show(kind.total),
                kind.complaint
                    .map_or_else(String::new, |status| format!("{status:04X}")),
            ]
        };
        let names = [
            "command",
            "n",
            "first",
            "later, mean",
            "together",
            "refused with",
        ];
        table::plain(
            Style::Text,
            &names,
            1,
            self.kinds.iter().map(cells).collect(),
        )
    }
}

/// Every command, one a line: time since the start, what it took, lengths and status word.
#[must_use]
pub fn list(records: &[Record], begin_ns: u64) -> String {
    let lines = records.iter().filter_map(|record| {
        let apdu = record.apdu?;
        Some(vec![
            show(Duration::from_nanos(
                record.begin_ns.saturating_sub(begin_ns),
            )),
            name(&apdu),
            apdu.command.to_string(),
            apdu.response.to_string(),
            format!("{:04X}", apdu.status),
            show(record.duration()),
            record.card.map_or_else(|| "-".to_owned(), show),
        ])
    });
    let names = [
        "at", "command", "sent", "received", "status", "took", "card",
    ];
    table::plain(Style::Text, &names, 2, lines.collect())
}

fn kinds(records: &[Record]) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    let transmitted = records
        .iter()
        .filter(|record| record.call == Call::Transmit);
    for (record, apdu) in transmitted.filter_map(|record| Some((record, record.apdu?))) {
        let name = name(&apdu);
        let took = record.duration();
        let complaint = (apdu.status != 0x9000 && apdu.status >> 8 != 0x61).then_some(apdu.status);
        match kinds.iter_mut().find(|kind| kind.name == name) {
            Some(kind) => {
                kind.count += 1;
                kind.total += took;
                kind.later = Some((kind.total - kind.first) / (kind.count - 1));
                kind.complaint = complaint.or(kind.complaint);
            }
            None => kinds.push(Kind {
                name,
                count: 1,
                first: took,
                later: None,
                total: took,
                complaint,
            }),
        }
    }
    kinds
}

fn show(time: Duration) -> String {
    units::duration(Seconds(time.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use keymark_shim_protocol::trace::Apdu;

    use super::*;

    fn transmit(begin_ms: u64, end_ms: u64, header: [u8; 4], status: u16) -> Record {
        Record {
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
        assert!(
            trace.breakdown().contains("26.0 %"),
            "{}",
            trace.breakdown()
        );
        assert!(list(&records, 0).lines().count() > 4);
    }

    #[test]
    fn a_program_that_asks_no_card_is_all_before() {
        let trace = Trace::of(&[], 0, 5);
        assert_eq!((trace.before, trace.after), (trace.whole, Duration::ZERO));
        assert_eq!(trace.card, None);
    }
}
