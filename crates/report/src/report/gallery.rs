//! Which pictures stand in a report, and where: a few of those that a run has.

use std::collections::BTreeSet;

use keymark_bench::Record;
use keymark_stats::Seconds;

use crate::analysis::{Analysis, Row};
use crate::answers::{answers, title_of};
use crate::pictures::{self, Kind};
use crate::{Block, Figure, Plot, Statement};

/// More pictures than these are leafed through, and not looked at.
pub(super) const PICTURES: usize = 6;

impl Analysis {
    /// What stands below the answer where there is room for one: what the answer is about, of many means those of the
    /// first table's main column.
    pub fn picture(&self, record: &Record) -> Option<Figure> {
        let all = self.figures(record);
        let answer = pictures::of_the_answer(&answers(self, record), &all);
        self.small(record, answer?, &all)
    }

    fn small(&self, record: &Record, kind: Kind, all: &[Figure]) -> Option<Figure> {
        let tolerance = Seconds(record.plan.settings.tolerance.as_secs_f64());
        let few = |figure: &Figure| matches!(&figure.plot, Plot::Means { means, .. } if means.len() <= FEW);
        let column = if kind == Kind::Means && !all.iter().any(few) {
            self.main_column().map(|(heading, rows)| {
                let means = rows.into_iter().filter_map(crate::analysis::figures::mean);
                let means = means.collect();
                let title = format!("mean time of an operation: {heading}");
                Plot::Means { tolerance, means }.titled(title)
            })
        } else {
            None
        };
        let fits = |figure: &&Figure| figure.kind() == kind && pictures::chart(figure).is_some();
        let figure = column.or_else(|| all.iter().find(fits).cloned())?;
        Some(self.titled(record, figure))
    }
}

/// More means than these are no small picture.
const FEW: usize = 12;

/// Pictures that have no place yet.
pub(super) struct Gallery {
    /// What stands below the answer where there is room for one.
    small: Option<Figure>,
    /// Each with what it shows in plain words.
    all: Vec<(String, Figure)>,
}

impl Analysis {
    /// One of them under a title that says what is seen, where the intervals carry that.
    pub fn titled(&self, record: &Record, figure: Figure) -> Figure {
        let title = title_of(self, record, &figure).unwrap_or(figure.title);
        figure.plot.titled(title)
    }
}

impl Gallery {
    /// The one that the answer is about first, then what each section would show; what says nothing of this run is not
    /// among them.
    pub(super) fn of(analysis: &Analysis, record: &Record, answers: &[Statement]) -> Self {
        let all = analysis.figures(record);
        let answer = pictures::of_the_answer(answers, &all);
        let small = answer.and_then(|kind| analysis.small(record, kind, &all));
        let all = all
            .into_iter()
            .filter_map(|figure| drifted(&analysis.rows, figure));
        let mut ranked: Vec<(u8, Figure)> = all
            .filter(|figure| pictures::chart(figure).is_some())
            .filter_map(|figure| Some((rank(figure.kind(), answer)?, figure)))
            .collect();
        ranked.sort_by_key(|(rank, figure)| (*rank, fewest_first(figure)));
        let mut strength = 0;
        ranked.retain(|(_, figure)| {
            strength += usize::from(figure.kind() == Kind::Security);
            figure.kind() != Kind::Security || strength == 1
        });
        ranked.truncate(PICTURES);
        let figures = ranked.into_iter();
        let figures =
            figures.map(|(_, figure)| (figure.title.clone(), analysis.titled(record, figure)));
        let all = figures.collect();
        Self { small, all }
    }

    /// What the answer is about: of more means than a screen holds a few, and all of them are left.
    pub(super) fn first(&mut self) -> Option<Block> {
        match (self.small.take(), self.all.first()) {
            (Some(small), Some((_, whole)))
                if [small.kind(), whole.kind()] == [Kind::Means; 2] && small != *whole =>
            {
                Some(Block::Figure(small))
            }
            _ => self.take(|_, _| true),
        }
    }

    /// The one that shows this.
    pub(super) fn showing(&mut self, what: &str) -> Option<Block> {
        self.take(|plain, _| plain == what)
    }

    /// All of a kind.
    pub(super) fn all(&mut self, kind: Kind) -> Vec<Block> {
        std::iter::from_fn(|| self.take(|_, figure| figure.kind() == kind)).collect()
    }

    fn take(&mut self, wanted: impl Fn(&str, &Figure) -> bool) -> Option<Block> {
        let mut figures = self.all.iter();
        let place = figures.position(|(plain, figure)| wanted(plain, figure))?;
        Some(Block::Figure(self.all.remove(place).1))
    }
}

/// Of pictures of strength the one with the most keys.
fn fewest_first(figure: &Figure) -> usize {
    if let Plot::Security { means, .. } = &figure.plot {
        usize::MAX - means.len()
    } else {
        0
    }
}

/// What comes first; none of what a report does without.
fn rank(kind: Kind, answer: Option<Kind>) -> Option<u8> {
    if Some(kind) == answer {
        return Some(0);
    }
    match kind {
        Kind::Predictions | Kind::ResponseTimes => Some(1),
        Kind::Layers | Kind::Throughput => Some(2),
        Kind::Histograms | Kind::Samples => Some(3),
        Kind::Security => Some(4),
        Kind::Means => Some(5),
        Kind::Distributions | Kind::Rates => None,
    }
}

/// Of durations in the order of time only those that changed over the run.
fn drifted(rows: &[Row], mut figure: Figure) -> Option<Figure> {
    if let Plot::Samples { timelines, .. } = &mut figure.plot {
        let changed = rows.iter().filter(|row| row.has_drifted());
        let changed: BTreeSet<String> = changed.map(|row| row.case.to_string()).collect();
        timelines.retain(|one| changed.contains(&one.of.label));
        if timelines.is_empty() {
            return None;
        }
    }
    Some(figure)
}
