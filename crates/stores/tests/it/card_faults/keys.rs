//! Slots and their keys: what is not there, what the card does not say, and what may not be used.

use super::*;

#[test]
fn a_slot_without_a_key_is_named() {
    let card = card();
    let error = open(&card.device, Operation::Decrypt)
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.contains("slot DEC") && error.contains("no key"),
        "{error}"
    );
}

#[test]
fn a_slot_of_which_the_card_says_nothing_is_not_taken_for_empty() {
    let card = card();
    let write = || {
        let consent = may_write(card.device.facts().unwrap());
        let user = user("123456", consent, Unattended);
        let device = scripted::device(Arc::clone(&card.port) as _, user);
        let slot = device.facts().unwrap().slot(Slot::Decryption).clone();
        let refused = device.write_test_key(Slot::Decryption, "cv25519".parse().unwrap());
        (slot.key, refused.unwrap_err().to_string())
    };
    let (key, refused) = write();
    assert_eq!(key, KeyPresence::Empty);
    assert!(
        refused.contains("no journal"),
        "no consent is needed: {refused}"
    );
    card.answers(GET_DATA, Answer::Silent);
    let (key, refused) = write();
    assert_eq!(key, KeyPresence::Unknown);
    assert!(refused.contains("did not agree"), "{refused}");
    let facts = device(&card.port, "123456").facts().unwrap().clone();
    assert_eq!(facts.slot(Slot::Signature).key, KeyPresence::Present);
}

#[test]
fn a_key_that_its_owner_has_put_back_is_left_alone_where_the_card_says_nothing() {
    let reader = CardMaker::virtual_card().make().unwrap();
    let keys = Arc::new(SoftwareStore::default());
    let algorithm = "ed25519".parse().unwrap();
    let own = keys.made_for(Capability::new(algorithm, Operation::Sign));
    let own = own.unwrap();
    let owner = CardDevice::of_virtual(&CardMaker::virtual_card(), reader.clone(), keys);
    owner.import(&own, Slot::Signature).unwrap();
    let fault = Some((GET_DATA, Answer::Silent));
    let port = Scripted::new(
        reader,
        Faulty {
            fault,
            ..Faulty::default()
        },
    );
    let willing = || {
        let consent = may_write(owner.facts().unwrap());
        scripted::device(Arc::clone(&port) as _, user("123456", consent, Willing))
    };
    let directory = tempfile::tempdir().unwrap();
    let journals = Journals::within(directory.path().to_owned());
    let killed = willing();
    killed.journal_to(journals.clone(), "run");
    killed
        .write_test_key(Slot::Signature, "nistp256".parse().unwrap())
        .unwrap();
    drop(killed);
    owner.import(&own, Slot::Signature).unwrap();
    let next = willing();
    next.undo(journals.left().journals.remove(0)).unwrap();
    let there = next.slot_public_key(Slot::Signature, algorithm);
    assert!(there.is_ok(), "{there:?}");
    assert!(journals.left().journals.is_empty());
}

#[test]
fn pins_are_tried_under_the_rules() {
    let card = card();
    let arm = |device: &CardDevice| {
        let mut handle = open(device, Operation::Sign)?;
        handle.arm(&card.challenge.inputs[0])
    };
    let tries = || device(&card.port, "123456").facts().unwrap().tries.user;
    for left in [2, 1] {
        let wrong = device(&card.port, "000000");
        let error = arm(&wrong).unwrap_err().to_string();
        assert!(error.contains(&format!("{left} tries are left")), "{error}");
        let again = arm(&wrong).unwrap_err().to_string();
        assert_eq!(again, error, "one error for the device");
        assert_eq!(tries(), left);
    }
    let right = arm(&device(&card.port, "123456")).unwrap_err().to_string();
    assert!(right.contains("1 try left"), "{right}");
    // Another program uses the last one up.
    let wrong = [0, VERIFY, 0, 0x82, 6, 0, 0, 0, 0, 0, 0];
    card.port.reader.connect().transmit(&wrong).unwrap();
    assert_eq!(tries(), 0);
    let blocked = arm(&device(&card.port, "123456")).unwrap_err().to_string();
    assert!(blocked.contains("blocked"), "{blocked}");
}

#[test]
fn a_key_that_wants_a_touch_is_not_used_unasked() {
    let card = card();
    let mut channel = card.port.reader.connect();
    let admin = [&[0, VERIFY, 0, 0x83, 8][..], b"12345678"].concat();
    // D6: touch for signatures, by a button (§4.4.3.6).
    for command in [&admin[..], &[0, 0xDA, 0x00, 0xD6, 2, 0x01, 0x20]] {
        let answer = channel.transmit(command).unwrap();
        assert_eq!(answer.response, [0x90, 0x00], "{command:x?}");
    }
    let careful = device(&card.port, "123456");
    let error = open(&careful, Operation::Sign).err().unwrap().to_string();
    assert!(error.contains("--allow-touch"), "{error}");

    struct Told(Arc<Mutex<Vec<String>>>);
    impl Notice for Told {
        fn tell(&self, text: &str) {
            self.0.lock().unwrap().push(text.to_owned());
        }
        fn agrees(&self, _: &str) -> bool {
            false
        }
    }
    let told = Arc::default();
    let consent = Consent {
        touch: Touch::Allowed,
        write: None,
    };
    let user = user("123456", consent, Told(Arc::clone(&told)));
    let device = scripted::device(Arc::clone(&card.port) as _, user);
    let mut handle = open(&device, Operation::Sign).unwrap();
    let mut output = vec![0; 1024];
    for input in card.challenge.inputs.iter().take(2) {
        handle.arm(input).unwrap();
        handle.perform(input, &mut output).unwrap();
    }
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 2, "once for each use: {told:?}");
    assert!(told[0].contains("touch the button"), "{told:?}");
}
