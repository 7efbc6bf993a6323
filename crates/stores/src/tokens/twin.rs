//! A twin: the virtual card with the service times of a real device, and only the abilities of the
//! device.

use std::collections::BTreeSet;

use iso7816::Status;
use keymark_bench::{
    Algorithm, Clock, Curve, Family, MonotonicClock, Operation, Profile, Sampler, ServiceTime,
};
use openpgp_card::ocard::algorithm::AlgorithmAttributes;

use crate::openpgp_card::algorithm;
use crate::tokens::card::{Answer, Card, CardFault};
use crate::tokens::chaining::response;
use crate::tokens::firmware::AllowedAlgorithms;
use crate::tokens::identity_tag::IdentityTag;

const SELECT: u8 = 0xA4;
const GET_DATA: u8 = 0xCA;
const PUT_DATA: u8 = 0xDA;
const PUT_DATA_ODD: u8 = 0xDB;
const GENERATE: u8 = 0x47;
/// DOs with the algorithm attributes of SIG, DEC and AUT.
const ATTRIBUTES: [u8; 3] = [0xC1, 0xC2, 0xC3];
const VERIFY: u8 = 0x20;
const PSO: u8 = 0x2A;
const INTERNAL_AUTHENTICATE: u8 = 0x88;
/// Yubico's own: three BCD bytes (yubikit/openpgp.py, `_read_version`).
const GET_VERSION: u8 = 0xF1;
/// CLA bit of a command that is not the last of its chain (ISO 7816-4 §5.1.1.1).
const CHAINED: u8 = 0x10;

/// The algorithms that a device of the profile can hold keys of.
pub fn allowed(profile: &Profile) -> AllowedAlgorithms {
    let flags = profile
        .capabilities()
        .filter_map(|capability| flag(capability.algorithm));
    flags.fold(AllowedAlgorithms::empty(), |all, flag| all | flag)
}

/// The firmware's name of an algorithm.
#[allow(clippy::wildcard_enum_match_arm, reason = "others are alike in this")]
pub const fn flag(algorithm: Algorithm) -> Option<AllowedAlgorithms> {
    Some(match algorithm.family() {
        Family::Rsa(2048) => AllowedAlgorithms::RSA_2048,
        Family::Rsa(3072) => AllowedAlgorithms::RSA_3072,
        Family::Rsa(4096) => AllowedAlgorithms::RSA_4096,
        Family::Weierstrass(Curve::NistP256) => AllowedAlgorithms::P_256,
        Family::Weierstrass(Curve::NistP384) => AllowedAlgorithms::P_384,
        Family::Weierstrass(Curve::NistP521) => AllowedAlgorithms::P_521,
        Family::Cv25519 => AllowedAlgorithms::X_25519,
        Family::Ed25519 => AllowedAlgorithms::ED_25519,
        _ => return None,
    })
}

/// A card that takes a device's time.
#[derive(derive_more::Debug)]
#[debug("Twin({})", profile.name)]
pub struct Twin {
    card: Box<dyn Card>,
    tag: IdentityTag,
    profile: Profile,
    /// Algorithms of the slots SIG, DEC and AUT.
    slots: [Option<Algorithm>; 3],
    sampler: Sampler,
    clock: MonotonicClock,
    told: Listener,
}

type Listener = Box<dyn Fn(&str) + Send>;

enum Time {
    /// The firmware's own time will do.
    Own,
    /// The device's; more if this CPU needs more, since nobody measures this command.
    AtLeast(ServiceTime),
    /// The device's.
    Of(ServiceTime),
    /// The device has no such operation, or nobody knows its time.
    Refused(Operation, Option<Algorithm>),
}

impl Twin {
    /// A twin around `card`, which must accept no other algorithms than the profile's ([`allowed`]).
    pub fn new(card: Box<dyn Card>, profile: Profile, seed: u64) -> Self {
        Self {
            card,
            tag: IdentityTag::Twin(profile.name.clone()),
            profile,
            slots: [None; 3],
            sampler: Sampler::new(seed),
            clock: MonotonicClock::new(),
            told: Box::new(|_| {}),
        }
    }

    /// Sets a listener who is told of what it refuses: a status word does not say that the twin is why.
    pub fn telling(self, told: impl Fn(&str) + Send + 'static) -> Self {
        Self {
            told: Box::new(told),
            ..self
        }
    }

    /// Asks the firmware which algorithms its slots have.
    fn look_at_slots(&mut self) {
        for (slot, tag) in self.slots.iter_mut().zip(ATTRIBUTES) {
            let asked = self.card.transmit(&[0x00, GET_DATA, 0x00, tag, 0x00]);
            let answer = asked.map(|answer| answer.response).unwrap_or_default();
            let octets = answer.strip_suffix(&[0x90, 0x00]).unwrap_or_default();
            let attributes = AlgorithmAttributes::try_from(octets).ok();
            *slot = attributes.as_ref().and_then(algorithm);
        }
    }

    fn time(&self, command: &[u8]) -> Time {
        let &[class, ins, p1, p2, ref body @ ..] = command else {
            return Time::Own;
        };
        if class & CHAINED != 0 {
            return Time::Own;
        }
        let [signature, decryption, authentication] = self.slots;
        let (operation, algorithm) = match (ins, p1, p2) {
            (PSO, 0x80, 0x86) => (Operation::Decrypt, decryption),
            (PSO, 0x9E, 0x9A) => (Operation::Sign, signature),
            (INTERNAL_AUTHENTICATE, ..) => (Operation::Authenticate, authentication),
            // Without data it asks how many tries are left.
            (VERIFY, 0, _) if !body.is_empty() => {
                let verify = self.profile.verify.clone();
                return verify.map_or(Time::Own, Time::AtLeast);
            }
            _ => return Time::Own,
        };
        algorithm
            .and_then(|algorithm| self.profile.service(algorithm, operation))
            .map_or(Time::Refused(operation, algorithm), |service| {
                Time::Of(service.time.clone())
            })
    }

    fn answer_of_its_own(&self, command: &[u8]) -> Option<Vec<u8>> {
        let version = match command {
            [0, GET_VERSION, 0, 0, ..] => self.profile.yubikey_version?,
            _ => return None,
        };
        let bcd = version.map(|number| ((number / 10) << 4) | (number % 10));
        Some([&bcd[..], &response(Status::Success)].concat())
    }

    fn tell_of_refused(&self, operation: Operation, algorithm: Option<Algorithm>) {
        let key = algorithm.map_or("its key".to_owned(), |algorithm| algorithm.to_string());
        (self.told)(&format!(
            "twin:{} cannot {operation} with {key} ({:04X}): its profile has no time for it",
            self.profile.name,
            u16::from(Status::ConditionsOfUseNotSatisfied)
        ));
    }

    /// Tells of a key that the firmware has refused, made or imported, because the profile has no such
    /// algorithm.
    fn tell_of_key(&self, command: &[u8], answer: &Answer) {
        let status = answer.response.last_chunk().copied();
        let refused = status
            .map(u16::from_be_bytes)
            .filter(|word| *word != 0x9000);
        let (true, Some(status)) = (brings_key(command), refused) else {
            return;
        };
        let algorithms = self.slots.iter().flatten();
        let unknown: BTreeSet<&str> = algorithms
            .filter(|algorithm| {
                let mut known = self.profile.capabilities();
                !known.any(|capability| capability.algorithm == **algorithm)
            })
            .map(|algorithm| algorithm.name())
            .collect();
        if !unknown.is_empty() {
            let unknown: Vec<_> = unknown.into_iter().collect();
            (self.told)(&format!(
                "twin:{} rejects a key ({status:04X}): its profile has no time for {}",
                self.profile.name,
                unknown.join(", ")
            ));
        }
    }
}

impl Card for Twin {
    fn atr(&self) -> &[u8] {
        self.card.atr()
    }

    fn power_on(&mut self) {
        self.card.power_on();
    }

    fn transmit(&mut self, command: &[u8]) -> Result<Answer, CardFault> {
        if let Some(answer) = self.tag.asked_by(command) {
            return Ok(answer);
        }
        let begin = self.clock.now();
        if let Some(response) = self.answer_of_its_own(command) {
            return Ok(Answer::immediate(response));
        }
        let kind = self.time(command);
        let exactly = matches!(kind, Time::Of(_));
        let time = match kind {
            Time::Own => {
                let answer = self.card.transmit(command)?;
                if changes_slots(command) {
                    self.look_at_slots();
                }
                self.tell_of_key(command, &answer);
                return Ok(answer);
            }
            Time::Refused(operation, algorithm) => {
                self.tell_of_refused(operation, algorithm);
                let refused = response(Status::ConditionsOfUseNotSatisfied);
                return Ok(Answer::immediate(refused));
            }
            Time::Of(time) | Time::AtLeast(time) => self.sampler.draw(&time),
        };
        let answer = self.card.transmit(command)?;
        let needed = self.clock.now().since(begin);
        if needed > time && exactly {
            return Err(CardFault::TooSlow {
                needed,
                profile: time,
            });
        }
        self.clock.wait_until(begin.after(time));
        Ok(Answer {
            response: answer.response,
            work: self.clock.now().since(begin),
        })
    }
}

fn changes_slots(command: &[u8]) -> bool {
    match command {
        [_, SELECT, ..] => true,
        [_, PUT_DATA, 0x00, tag, ..] => ATTRIBUTES.contains(tag),
        _ => false,
    }
}

/// The last command that makes a key, or brings one (OpenPGP card 3.4.1 §4.4.3.12, §7.2.14).
const fn brings_key(command: &[u8]) -> bool {
    matches!(
        command,
        [_, GENERATE, 0x80, ..] | [0x00, PUT_DATA_ODD, 0x3F, 0xFF, ..]
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::tokens::firmware::{Firmware, FirmwareOptions};

    /// Answers everything at once, or after `takes`.
    struct Stub {
        takes: Duration,
    }

    impl Card for Stub {
        fn atr(&self) -> &[u8] {
            &[0x3B, 0x00]
        }

        fn power_on(&mut self) {}

        fn transmit(&mut self, command: &[u8]) -> Result<Answer, CardFault> {
            let rsa2048 = vec![0x01, 0x08, 0x00, 0x00, 0x20, 0x00, 0x90, 0x00];
            Ok(Answer::immediate(match command {
                [_, GET_DATA, ..] => rsa2048,
                _ => {
                    std::thread::sleep(self.takes);
                    response(Status::Success)
                }
            }))
        }
    }

    fn twin(takes: Duration) -> Twin {
        let profile = Profile::parse(
            "schema=1\nname='x'\nproduct='X'\nsource='here'\n[verify]\nconstant_s=0.02\n\
             [[service]]\nalgorithm='rsa2048'\noperation='decrypt'\nconstant_s=0.05\n",
            "x",
        )
        .unwrap();
        let mut twin = Twin::new(Box::new(Stub { takes }), profile, 1);
        twin.transmit(&[0, SELECT, 4, 0]).unwrap();
        twin
    }

    const DECIPHER: [u8; 6] = [0, PSO, 0x80, 0x86, 1, 0];

    #[test]
    fn the_time_of_the_profile_is_taken_and_no_less() {
        let mut twin = twin(Duration::ZERO);
        assert!(twin.transmit(&DECIPHER).unwrap().work >= Duration::from_millis(50));
        let verify = twin.transmit(&[0, VERIFY, 0, 0x82, 1, 0x31]).unwrap();
        assert!(verify.work >= Duration::from_millis(20));
        // Parts of a chain, and the question for tries left, are no private-key operations.
        for command in [&[0x10, PSO, 0x80, 0x86, 1, 0][..], &[0, VERIFY, 0, 0x82]] {
            assert_eq!(twin.transmit(command).unwrap().work, Duration::ZERO);
        }
    }

    #[test]
    fn what_the_device_does_not_do_is_refused_and_told_with_the_reason() {
        let profile = Profile::find("yubikey-neo").unwrap();
        assert_eq!(allowed(&profile).bits(), AllowedAlgorithms::RSA_2048.bits());
        let (tell, told) = std::sync::mpsc::channel();
        let telling = |twin: Twin| {
            let tell = tell.clone();
            twin.telling(move |text| tell.send(text.to_owned()).unwrap())
        };
        let says = |part: &str| {
            let said = told.try_recv().unwrap();
            assert!(said.contains(part) && told.try_recv().is_err(), "{said}");
        };
        let mut stub = telling(twin(Duration::ZERO));
        stub.transmit(&DECIPHER).unwrap();
        let signed = stub.transmit(&[0, PSO, 0x9E, 0x9A, 1, 0]).unwrap();
        assert_eq!(signed.response, [0x69, 0x85]);
        says("twin:x cannot sign with rsa2048 (6985)");

        let profile = Profile::find("fst-01").unwrap();
        let options = FirmwareOptions {
            algorithms: allowed(&profile),
            ..FirmwareOptions::default()
        };
        let card = Box::new(Firmware::new(options).unwrap());
        let mut twin = telling(Twin::new(card, profile, 1));
        twin.transmit(&[0, SELECT, 4, 0, 6, 0xD2, 0x76, 0, 1, 0x24, 1])
            .unwrap();
        twin.transmit(b"\x00\x20\x00\x83\x0812345678").unwrap();
        let ed25519 = b"\x16\x2B\x06\x01\x04\x01\xDA\x47\x0F\x01";
        let put = [&[0, PUT_DATA, 0, 0xC1, 10], &ed25519[..]].concat();
        assert_eq!(twin.transmit(&put).unwrap().response, [0x90, 0]);
        assert!(told.try_recv().is_err());
        twin.transmit(&[0, GENERATE, 0x80, 0, 2, 0xB6, 0, 0])
            .unwrap();
        says("its profile has no time for ed25519");
    }

    #[test]
    fn a_yubikeys_twin_answers_its_version_and_others_do_not() {
        for (name, answer) in [
            ("yubikey-neo", &[0x01, 0x00, 0x10, 0x90, 0x00][..]),
            ("yubikey-4", &[0x04, 0x03, 0x05, 0x90, 0x00]),
            ("fst-01", &[0x6D, 0x00]),
        ] {
            let card = Firmware::new(FirmwareOptions::default()).unwrap();
            let mut twin = Twin::new(Box::new(card), Profile::find(name).unwrap(), 1);
            let asked = twin.transmit(&[0, GET_VERSION, 0, 0]).unwrap();
            assert_eq!(asked.response, answer, "{name}");
        }
    }

    #[test]
    fn a_twin_that_cannot_keep_up_says_so() {
        let mut twin = twin(Duration::from_millis(60));
        let fault = twin.transmit(&DECIPHER).unwrap_err();
        assert!(matches!(fault, CardFault::TooSlow { .. }), "{fault}");
    }
}
