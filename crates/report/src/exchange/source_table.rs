//! Tables of figures from many sources, each row with its own unit, conditions and kind of evidence
//! (`data/published/tokens-tpm-javacard.csv`).
//!
//! A row becomes a case only where it says without doubt which one: the curve is named, or no other has its length; the
//! padding is; the value is a number, not "about" or "less than". The others stay in the table, for people to read.

use csv::StringRecord;
use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{Case, Parameters};
use keymark_bench::operation::Operation;
use keymark_bench::record::{CaseRecord, PublishedMean};
use keymark_bench::store::Capability;
use keymark_stats::Seconds;
use serde::Deserialize;

use super::published::reported;

/// The columns, in this order.
pub(super) const COLUMNS: [&str; 12] = [
    "device",
    "device_class",
    "algorithm",
    "operation",
    "value",
    "unit",
    "min",
    "max",
    "n",
    "conditions",
    "source_url",
    "evidence",
];

/// Whether the table is one of these.
pub(super) fn has_columns(header: &StringRecord) -> bool {
    header.iter().eq(COLUMNS)
}

/// What is asked of the key, and how.
fn uses(operation: &str) -> Vec<(Operation, Parameters)> {
    const NONE: Parameters = Parameters::NONE;
    match operation {
        "sign RSASSA" | "sign ECDSA" | "sign, hash off-card" | "ecdsa-sign, hash off-card" => {
            vec![(Operation::Sign, NONE)]
        }
        "sign RSAPSS" => vec![(Operation::Sign, Parameters::from([("scheme", "pss")]))],
        "decrypt RSAES (PKCS1v1.5)" | "decrypt-pkcs1v15 (CRT)" | "ecdh" => {
            vec![(Operation::Decrypt, NONE)]
        }
        "sign/decrypt" => vec![(Operation::Sign, NONE), (Operation::Decrypt, NONE)],
        _ => Vec::new(),
    }
}

/// An algorithm without doubt.
fn algorithm(name: &str) -> Option<Algorithm> {
    let word = match name {
        "EC P-256" => "nistp256".to_owned(),
        "EC P-384" => "nistp384".to_owned(),
        // Brainpool's longest has 512 bits.
        "EC-521" => "nistp521".to_owned(),
        rsa => format!("rsa{}", rsa.strip_prefix("RSA-")?),
    };
    word.parse().ok()
}

fn seconds(value: &str, unit: &str) -> Option<Seconds> {
    let value: f64 = value.parse().ok()?;
    let factor = match unit {
        "s" => 1.0,
        "ms" => 1e-3,
        "µs" | "us" => 1e-6,
        _ => return None,
    };
    (value.is_finite() && value > 0.0).then_some(Seconds(value * factor))
}

#[derive(Deserialize)]
pub(super) struct Line<'r> {
    device: &'r str,
    algorithm: &'r str,
    operation: &'r str,
    value: &'r str,
    unit: &'r str,
    n: &'r str,
    conditions: &'r str,
    source_url: &'r str,
    evidence: &'r str,
}

/// The cases of a row, if it says which ones it is of.
pub(super) fn of_row(line: &Line<'_>) -> Result<Vec<CaseRecord>, String> {
    let device = reported(line.device)?;
    let mean = seconds(line.value, line.unit);
    let Some((algorithm, mean)) = algorithm(line.algorithm).zip(mean) else {
        return Ok(Vec::new());
    };
    let number = line.n.parse::<u32>().ok().filter(|n| *n > 0);
    let published = PublishedMean {
        mean,
        band: None,
        n: number.map(u64::from),
        note: format!(
            "{}; {}: {}",
            line.conditions, line.evidence, line.source_url
        ),
    };
    let offered = uses(line.operation)
        .into_iter()
        .filter(|(operation, _)| algorithm.operations().contains(operation));
    let case = |(operation, parameters)| CaseRecord {
        published: Some(published.clone()),
        ..CaseRecord::new(Case {
            parameters,
            ..device.case(Capability {
                algorithm,
                operation,
            })
        })
    };
    Ok(offered.map(case).collect())
}

#[cfg(test)]
mod tests {
    use super::super::Shipped;

    #[test]
    fn rows_become_cases_where_they_say_which_one() {
        let record = Shipped::named("tokens").unwrap().record().unwrap();
        let found = |device: &str, case: &str| {
            let mut cases = record.cases.iter();
            let found = cases.find(|each| {
                let words = format!(
                    "{} {} {}",
                    each.case.algorithm,
                    each.case.operation,
                    each.case.way()
                );
                each.case.device.as_str() == device && words == case
            })?;
            Some(found.published.as_ref().unwrap().mean.0)
        };
        let tpm = "TPM 2.0 STM  fw 73.4.17568.4452";
        let signs = found(tpm, "rsa2048 sign raw").unwrap();
        assert!((0.01..1.0).contains(&signs), "{signs}");
        assert!(found(tpm, "rsa2048 sign raw pss").is_some());
        assert!(found(tpm, "nistp256 sign raw").is_some());
        // Sixty thousand milliseconds over a hundred a minute.
        assert_eq!(
            found("Nitrokey HSM (SmartCard-HSM)", "rsa2048 sign raw"),
            Some(0.6)
        );
        // Which curve of 256 bits is not said there.
        assert_eq!(
            found("Nitrokey HSM (SmartCard-HSM)", "nistp256 sign raw"),
            None
        );
        assert_eq!(
            found(
                "Pico OpenPGP (Raspberry Pi Pico RP2040)",
                "rsa4096 decrypt raw"
            ),
            Some(15.0)
        );
        // "~1.5" is no number.
        assert_eq!(found("Gnuk 1.2.19 on STM32F103", "rsa2048 sign raw"), None);
        let notes = record
            .cases
            .iter()
            .map(|case| &case.published.as_ref().unwrap().note);
        assert!(
            notes.clone().all(|note| note.contains("http")),
            "every row has its source"
        );
        assert_eq!(record.cases.len(), 122);
    }
}
