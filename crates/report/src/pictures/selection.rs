//! Which cases of which runs a picture shows.

use std::collections::BTreeSet;

use keymark_bench::case::{CaseKey, DeviceName};
use keymark_bench::record::Record;

use crate::archive::CaseWords;

/// Leaves of a record the cases in whose name all the words stand.
pub fn keep_cases(record: &mut Record, words: &CaseWords) {
    record.cases.retain(|case| words.name(&case.case));
    record.plan.cases = record.cases.iter().map(|case| case.case.clone()).collect();
}

/// Where the same case stands in several runs, their devices are named with the run.
pub fn tell_apart(records: &mut [Record]) {
    let mut known: BTreeSet<CaseKey> = BTreeSet::new();
    let mut same = false;
    for record in records.iter() {
        let keys = record.cases.iter().map(|case| case.case.key());
        let own: BTreeSet<CaseKey> = keys.collect();
        same |= own.iter().any(|key| known.contains(key));
        known.extend(own);
    }
    if !same {
        return;
    }
    for record in records {
        let id = record.id.to_string();
        let named = |device: &mut DeviceName| *device = DeviceName::new(format!("{device} ({id})"));
        for case in &mut record.cases {
            named(&mut case.case.device);
        }
        for case in &mut record.plan.cases {
            named(&mut case.device);
        }
        for store in &mut record.stores {
            named(&mut store.device);
        }
    }
}
