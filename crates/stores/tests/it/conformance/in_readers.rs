//! Cards in readers: the virtual one through pcscd and vpcd, and a real one for those who dare.

use keymark_stores::openpgp_card::{Port, pcsc};
use keymark_stores::user::{Consent, Pin, PinSource, Pins, Unattended, User};
use keymark_testkit::pcscd::CardInReader;
use keymark_testkit::place::said;
use keymark_testkit::process::this_test_program;
use keymark_testkit::waiting::found;

use super::*;
use crate::scripted::device;

/// Set in the child that runs the suite: libpcsclite finds pcscd by its environment.
const CHILD: &str = "KEYMARK_TEST_CHILD";

/// The card of that serial number.
fn inserted(serial: Option<u32>, pin: &str) -> CardDevice {
    let with_pin = |port: Arc<dyn Port>| {
        let pins = Pins {
            user: PinSource::Known(Pin::new(pin)),
            admin: PinSource::Prompt,
        };
        let user = User {
            pins,
            consent: Consent::default(),
            notice: Arc::new(Unattended),
        };
        device(port, user)
    };
    found("pcscd sees the card", || {
        let ports = pcsc::in_readers().unwrap_or_default().ports;
        ports.into_iter().map(with_pin).find(|device| {
            let facts = device.facts();
            facts.is_ok_and(|facts| serial.is_none_or(|serial| facts.aid.serial == serial))
        })
    })
}

#[test]
fn the_virtual_card_conforms_through_pcscd_and_vpcd() {
    if std::env::var_os(CHILD).is_some() {
        return suite::conforms(&inserted(None, "123456"), None);
    }
    let place = CardInReader::new(loaded().0);
    let child = this_test_program(path_of(the_virtual_card_conforms_through_pcscd_and_vpcd))
        .env(CHILD, "1")
        .env("PCSCLITE_CSOCK_NAME", place.socket())
        .output()
        .unwrap();
    let said = said(&child);
    assert!(
        child.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

/// Uses the keys on the card, writes nothing, and tries the PIN of `$KEYMARK_DANGEROUS_PIN` once.
#[cfg(feature = "dangerous-real-card")]
#[test]
fn a_real_card_conforms() {
    let serial = std::env::var("KEYMARK_DANGEROUS_SERIAL")
        .expect("KEYMARK_DANGEROUS_SERIAL names the card, in hexadecimal");
    let pin = std::env::var("KEYMARK_DANGEROUS_PIN").expect("its user PIN");
    let serial = u32::from_str_radix(&serial, 16).unwrap();
    suite::conforms(&inserted(Some(serial), &pin), None);
}
