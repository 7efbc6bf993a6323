//! A device compared with its published figures.

use keymark_testkit::record::{measured, of, store};

use super::*;

/// What is found of a card that takes these milliseconds.
fn about(
    product: &str,
    asked: (Operation, StackName),
    milliseconds: f64,
) -> Option<PublishedComparison> {
    let (operation, stack) = asked;
    let case = Case {
        operation,
        device: DeviceName::new("openpgp-card-1"),
        store: StoreKind::OPENPGP_CARD,
        ..case("rsa2048", stack)
    };
    let mut record = of(vec![measured(case.clone(), milliseconds * 1000.0)]);
    record.stores = vec![store(&case, product)];
    let verdict = Verdict::of(&Analysis::of(&record, &[]), &record);
    let first = verdict.because().into_iter().next()?;
    let mut found = verdict.because.into_iter().filter_map(|finding| {
        if let Finding::Published { comparison } = finding {
            Some(comparison)
        } else {
            None
        }
    });
    let found = found.next()?;
    // A screen has the first two reasons.
    assert_says(&first, ["published"]);
    Some(found)
}

#[test]
fn a_device_is_held_against_figures_of_its_own_kind() {
    let yubikey = |milliseconds| {
        let product = "YubiKey 5 (firmware 5.4.3)";
        about(product, (Operation::Sign, RAW), milliseconds).unwrap()
    };
    let same = yubikey(141.0);
    assert_eq!((&*same.firmware, same.is_slower()), ("5.1.2", false));
    assert!((same.published.0 - 0.138).abs() < 0.001);
    assert!(yubikey(414.0).is_slower());
    // Its figure through gpg is another one; nobody published that of a YubiKey 5.
    let through_gpg = (Operation::Decrypt, GNUPG);
    let nitrokey = about("Nitrokey Pro (1)", through_gpg, 1200.0).unwrap();
    assert!(nitrokey.is_slower() && (nitrokey.published.0 - 0.61).abs() < 0.01);
    assert!(about("YubiKey 5 (firmware 5.4.3)", through_gpg, 141.0).is_none());
}
