//! Tables of figures from many sources, each row with its own unit, conditions and kind of evidence
//! (`data/published/tokens-tpm-javacard.csv`).
//!
//! A row becomes a case only where it says without doubt which one: the curve is named, or no other has its length; the
//! padding is; the value is a number, not "about" or "less than". The others stay in the table, for people to read.

use std::collections::HashSet;
use std::path::Path;

use csv::StringRecord;
use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{Case, DeviceName, Load, Parameters, Provenance, StackName, StoreKind};
use keymark_bench::operation::Operation;
use keymark_bench::plan::default_input_bytes;
use keymark_bench::record::{CaseRecord, PublishedMean};
use keymark_stats::Seconds;

use super::{ImportError, limits};

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

/// The cases of the rows that say which one they are of.
pub(super) fn cases(
    path: &Path,
    rows: impl Iterator<Item = Result<StringRecord, ImportError>>,
) -> Result<Vec<CaseRecord>, ImportError> {
    let (mut cases, mut known) = (Vec::new(), HashSet::new());
    for row in rows {
        let row = row?;
        let longest = row.iter().map(str::len).max().unwrap_or(0);
        let device = limits::name("a device", row.get(0).unwrap_or_default());
        if let Some(reason) = device.or_else(|| limits::text(longest)) {
            let line = row.position().map_or(0, csv::Position::line);
            let path = path.into();
            return Err(ImportError::Line { path, line, reason });
        }
        for case in of_row(&row) {
            if known.insert(case.case.key()) {
                cases.push(case);
            }
        }
        limits::cases(cases.len()).map_or(Ok(()), |reason| Err(super::too_large(path, reason)))?;
    }
    Ok(cases)
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

fn of_row(row: &StringRecord) -> Vec<CaseRecord> {
    let field = |name: &str| {
        let place = COLUMNS.iter().position(|column| *column == name);
        place.and_then(|place| row.get(place)).unwrap_or_default()
    };
    let (Some(algorithm), Some(mean)) = (
        algorithm(field("algorithm")),
        seconds(field("value"), field("unit")),
    ) else {
        return Vec::new();
    };
    let published = PublishedMean {
        mean,
        band: None,
        n: field("n")
            .parse::<u32>()
            .ok()
            .filter(|n| *n > 0)
            .map(u64::from),
        note: format!(
            "{}; {}: {}",
            field("conditions"),
            field("evidence"),
            field("source_url")
        ),
    };
    let offered = uses(field("operation"))
        .into_iter()
        .filter(|(operation, _)| algorithm.operations().contains(operation));
    offered
        .map(|(operation, parameters)| CaseRecord {
            published: Some(published.clone()),
            ..CaseRecord::new(Case {
                device: DeviceName::new(field("device")),
                store: StoreKind::REPORTED,
                provenance: Provenance::Published,
                algorithm,
                operation,
                stack: StackName::RAW,
                parameters,
                load: Load::single(),
                input_bytes: default_input_bytes(operation),
                replica: 0,
                strength: None,
            })
        })
        .collect()
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
