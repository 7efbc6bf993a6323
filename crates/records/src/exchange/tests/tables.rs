use std::path::PathBuf;

use keymark_bench::case::{StackName, StoreKind};
use keymark_bench::operation::Operation;
use keymark_bench::record::RunState;
use keymark_testkit::assert_says;

use super::super::*;
use super::{HEADER, ROOT, VALIDATOR, exported};

fn published(name: &str) -> Record {
    import(&PathBuf::from(ROOT).join("data/published").join(name)).unwrap()
}

/// Mean and number of the one line.
fn figure(record: &Record, device: &str, algorithm: &str) -> (f64, Option<u64>) {
    let fits = |case: &&keymark_bench::record::CaseRecord| {
        case.case.device.as_str() == device && case.case.algorithm.name() == algorithm
    };
    let published = record
        .cases
        .iter()
        .find(fits)
        .unwrap()
        .published
        .as_ref()
        .unwrap();
    (published.mean.0, published.n)
}

#[test]
fn every_published_table_imports() {
    let lwn = published("lwn-2017-keycards.csv");
    assert_eq!(
        (lwn.cases.len(), lwn.stores.len(), lwn.state),
        (11, 5, RunState::Published)
    );
    assert_eq!(figure(&lwn, "YubiKey-NEO", "rsa2048"), (0.736, Some(1000)));
    assert_eq!(lwn.id.0, "published-lwn-2017-keycards");
    assert_eq!(lwn.started, "2017-01-01T00:00:00Z".parse().unwrap());
    assert_eq!(lwn, published("lwn-2017-keycards.csv"));

    let zeitgitter = published("zeitgitter-2019-sign.csv");
    assert_eq!(zeitgitter.cases.len(), 36);
    assert_eq!(
        figure(&zeitgitter, "Odroid XU3", "dsa3072"),
        (0.072, Some(10))
    );

    let gnuk = published("gnuk-f103-2017.csv");
    assert_eq!(gnuk.cases.len(), 2);
    assert_eq!(figure(&gnuk, "FST-01", "rsa4096"), (8.22, None));

    let nitrokey = published("nitrokey-hsm-2016-single.csv");
    assert_eq!(nitrokey.cases.len(), 2);
    assert_eq!(
        figure(&nitrokey, "Nitrokey-HSM", "rsa1024"),
        (0.23, Some(1))
    );
    let case = &nitrokey.cases[0].case;
    assert_eq!(
        (case.operation, case.stack, case.store),
        (Operation::Handshake, StackName::APACHE, StoreKind::REPORTED)
    );

    for record in [lwn, zeitgitter, gnuk, nitrokey] {
        let content = exported(&record);
        assert_eq!(json::parse(Path::new("x"), &content).unwrap(), record);
        assert!(VALIDATOR.is_valid(&serde_json::from_slice(&content).unwrap()));
    }
}

fn table(lines: &str) -> Result<Record, ImportError> {
    published::parse(
        Path::new("figures.csv"),
        format!("{HEADER}{lines}").as_bytes(),
    )
}

#[test]
fn a_line_that_makes_no_sense_is_named() {
    let good = "CPU,rsa2048,decrypt,gnupg,0.016,,\n";
    for (bad, reason) in [
        (
            "CPU,rsa2049,decrypt,gnupg,1,,",
            "unknown algorithm 'rsa2049'; did you mean 'rsa2048'?",
        ),
        (
            "CPU,rsa2048,encrypt,gnupg,1,,",
            "unknown operation 'encrypt'",
        ),
        (
            "CPU,rsa2048,decrypt,lighttpd,1,,",
            "unknown stack 'lighttpd'",
        ),
        (
            "CPU,rsa2048,sign,gnupg,~5,,",
            "mean_s '~5' must be a number of seconds above 0",
        ),
        ("CPU,rsa2048,sign,gnupg,NaN,,", "mean_s 'NaN'"),
        (
            "CPU,rsa2048,sign,gnupg,1,0,",
            "n '0' must be a number of operations",
        ),
        (",rsa2048,sign,gnupg,1,,", "the device has no name"),
        ("CPU,rsa2048", "it has 2 fields, not 7"),
        (
            "CPU,rsa2048,decrypt,gnupg,0.02,,",
            "is also in an earlier line",
        ),
    ] {
        let error = table(&format!("{good}{bad}\n")).unwrap_err().to_string();
        assert!(error.starts_with("figures.csv, line 3: "), "{error}");
        assert_says(&error, [reason]);
    }
    assert!(matches!(
        table(""),
        Err(ImportError {
            fault: ImportFault::Empty,
            ..
        })
    ));
}

#[test]
fn a_table_with_other_columns_is_refused() {
    let tokens = "device,device_class,algorithm,operation,value,unit,n\n\
                  JavaCard Athena IDProtect,smartcard,EC-256,ecdh,187.10,ms,50\n";
    let error = published::parse(Path::new("tokens.csv"), tokens.as_bytes()).unwrap_err();
    assert!(
        matches!(error.fault, ImportFault::Columns { .. }),
        "{error:?}"
    );
    let error = error.to_string();
    assert!(
        error.starts_with("tokens.csv has the columns device, device_class, algorithm"),
        "{error}"
    );
    assert_says(
        &error,
        ["needs device, algorithm, operation, stack, mean_s, n, note"],
    );
}

#[test]
fn a_cached_passphrase_has_to_be_said() {
    let lines = "CPU,rsa2048,decrypt,gnupg,1,,passphrase cached\n\
                 CPU,rsa4096,decrypt,gnupg,1,,PIN cached\nCPU,ed25519,sign,gnupg,1,,\n";
    let record = table(lines).unwrap();
    let kept: Vec<_> = record
        .cases
        .iter()
        .map(|case| case.case.parameters.get("protection"))
        .collect();
    assert_eq!(kept, [Some("cached"), None, None]);
}
