//! What failed under load, by class, and what the servers had to say.

use std::collections::BTreeMap;

use keymark_bench::record::{CaseRecord, Record};
use keymark_bench::server_load::ServerLoad;

use crate::document::{Block, Remark, RemarkKind, Section};

/// Lines of a log; the record has more.
const LINES: usize = 8;

/// Of the loads in which anything failed.
pub(crate) fn section(record: &Record) -> Option<Section> {
    let each = record.cases.iter();
    let loads = each.filter_map(|case| Some((case, case.server_load.as_deref()?)));
    let failed = loads.filter(|(case, load)| case.failure().is_some() || load.totals.failed > 0);
    let blocks: Vec<Block> = failed.flat_map(|(case, load)| about(case, load)).collect();
    (!blocks.is_empty()).then(|| Section::headed("what failed under load", blocks))
}

fn about(case: &CaseRecord, load: &ServerLoad) -> Vec<Block> {
    let line = |text| Block::Remark(Remark::new(RemarkKind::Elsewhere, text));
    let mut classes: BTreeMap<std::cmp::Reverse<u64>, Vec<&str>> = BTreeMap::new();
    for (class, count) in load.failures() {
        classes
            .entry(std::cmp::Reverse(count))
            .or_default()
            .push(class);
    }
    let words = classes.iter().flat_map(|(count, names)| {
        let each = names.iter();
        each.map(|name| format!("{} {name}", count.0))
    });
    let words: Vec<String> = words.collect();
    let mut blocks = Vec::new();
    if !words.is_empty() {
        let all = load.totals.failed + load.totals.transactions;
        blocks.push(line(format!(
            "{}: {} of {all} failed: {}",
            case.case,
            load.totals.failed,
            words.join(", ")
        )));
    }
    let end = &load.log[load.log.len().saturating_sub(LINES)..];
    if !end.is_empty() {
        blocks.push(line(format!("{}: the server's log ends:", case.case)));
        blocks.extend(end.iter().map(|text| line(format!("  {text}"))));
    }
    blocks
}

#[cfg(test)]
mod tests {
    use keymark_bench::case::StackName;
    use keymark_testkit::{assert_says, assert_silent};

    use keymark_testkit::record::{case, server_load};

    use super::*;

    #[test]
    fn failures_are_told_by_class_and_the_end_of_the_log_behind_them() {
        let mut load = server_load();
        load.log = (0..20).map(|number| format!("line {number}")).collect();
        let mut record = CaseRecord::new(case("rsa2048", StackName::of("nginx")));
        record.server_load = Some(Box::new(load.clone()));
        let said = format!("{:?}", about(&record, &load));
        assert_says(
            &said,
            ["3 of 12 failed: 3 handshake timeout", "line 12", "line 19"],
        );
        assert_silent(&said, ["line 11"]);
    }
}
