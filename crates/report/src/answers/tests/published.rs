//! A device against its published figures.

use keymark_testkit::record::{measured, of, store};

use super::*;

/// What is said of a card that takes these milliseconds.
fn about(product: &str, asked: (Operation, StackName), milliseconds: f64) -> Option<Statement> {
    let (operation, stack) = asked;
    let case = Case {
        operation,
        device: DeviceName::new("openpgp-card-1"),
        store: StoreKind::OPENPGP_CARD,
        ..case("rsa2048", stack)
    };
    let mut record = of(vec![measured(case.clone(), milliseconds * 1000.0)]);
    record.stores = vec![store(&case, product)];
    let all = answers(&Analysis::of(&record, &[]), &record);
    all.into_iter().find(|one| one.text.contains("published"))
}

#[test]
fn a_device_is_held_against_figures_of_its_own_kind() {
    let yubikey = |milliseconds| {
        let product = "YubiKey 5 (firmware 5.4.3)";
        about(product, (Operation::Sign, RAW), milliseconds).unwrap()
    };
    let same = yubikey(141.0);
    assert_says(&same.text, ["published for firmware 5.1.2: 138 ms"]);
    assert_eq!(same.topic, Topic::Devices);
    assert_silent(&same.text, ["as long"]);
    let slower = yubikey(414.0);
    assert_eq!(slower.topic, Topic::Striking);
    assert_says(&slower.text, ["as long"]);
    // Its figure through gpg is another one; nobody published that of a YubiKey 5.
    let through_gpg = (Operation::Decrypt, GNUPG);
    let nitrokey = about("Nitrokey Pro (1)", through_gpg, 1200.0).unwrap();
    assert_says(&nitrokey.text, ["610 ms", "as long"]);
    assert!(about("YubiKey 5 (firmware 5.4.3)", through_gpg, 141.0).is_none());
}
