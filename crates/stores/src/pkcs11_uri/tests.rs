use proptest::option::of;
use proptest::prelude::*;

use super::*;

fn uri(text: &str) -> Pkcs11Uri {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// RFC 7512 §3, and what each says.
#[test]
fn the_examples_of_the_rfc_are_understood() {
    assert_eq!(uri("pkcs11:"), Pkcs11Uri::default());
    let object = uri("pkcs11:object=my-pubkey;type=public");
    assert_eq!(object.object.label.as_deref(), Some("my-pubkey"));
    assert_eq!(object.object.kind, Some(ObjectKind::Public));
    let with_pin = uri("pkcs11:object=my-key;type=private?pin-source=file:/etc/token");
    assert_eq!(with_pin.pin_file, Some(PathBuf::from("/etc/token")));
    let software = uri(
        "pkcs11:token=The%20Software%20PKCS%2311%20Softtoken;manufacturer=Snake%20Oil,%20Inc.;\
         model=1.0;object=my-certificate;type=cert;id=%69%95%3E%5C%F4%BD%EC%91;serial=?pin-source=file:/etc/token_pin",
    );
    assert_eq!(
        software.token.label.as_deref(),
        Some("The Software PKCS#11 Softtoken")
    );
    assert_eq!(
        software.token.manufacturer.as_deref(),
        Some("Snake Oil, Inc.")
    );
    assert_eq!(software.token.serial.as_deref(), Some(""));
    assert_eq!(
        software.object.id.as_deref(),
        Some(&[0x69, 0x95, 0x3E, 0x5C, 0xF4, 0xBD, 0xEC, 0x91][..])
    );
    let library = uri(
        "pkcs11:library-manufacturer=Snake%20Oil,%20Inc.;library-description=Soft%20Token%20Library;\
         library-version=1.23",
    );
    assert_eq!(library.library.version, Some((1, 23)));
    let slot = uri("pkcs11:slot-description=Sun%20Metaslot;slot-id=327");
    assert_eq!(slot.slot.id, Some(327));
    let module = uri("pkcs11:object=my-sign-key;type=private?module-path=/mnt/libmypkcs11.so.1");
    assert_eq!(
        module.module_path,
        Some(PathBuf::from("/mnt/libmypkcs11.so.1"))
    );
    let nss = uri("pkcs11:?module-name=nss&x-init-reserved=configdir='sql:/my%20keys'");
    assert_eq!(nss.reserved.as_deref(), Some("configdir='sql:/my keys'"));
    let named = uri("pkcs11:token=Software%20PKCS%2311%20softtoken?module-name=mypkcs11");
    assert_eq!(named.module_name.as_deref(), Some("mypkcs11"));
    // A vendor's: one in the query is passed over, one in the path could mean another token.
    assert_eq!(uri("pkcs11:token=a?vendor-query=1"), uri("pkcs11:token=a"));
}

#[test]
fn what_is_wrong_is_said() {
    for (text, said) in [
        ("token=a", "begin with 'pkcs11:'"),
        ("pkcs11:token", "name=value"),
        ("pkcs11:token=a;token=b", "'token' is given twice"),
        ("pkcs11:tokn=a", "'tokn'"),
        ("pkcs11:vendor-attribute=a", "'vendor-attribute'"),
        ("pkcs11:token=a%2", "'%2' is not a byte"),
        ("pkcs11:token=a%zz", "'%zz'"),
        ("pkcs11:token=%FF", "not UTF-8 text"),
        ("pkcs11:slot-id=x", "'x' is not a value for 'slot-id'"),
        ("pkcs11:library-version=1.256", "library-version"),
        ("pkcs11:type=key", "'key'"),
        ("pkcs11:token=a?pin-source=|/bin/pin", "program to run"),
    ] {
        let error = text.parse::<Pkcs11Uri>().unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
}

#[test]
fn a_pin_in_the_uri_is_refused_and_not_repeated() {
    for text in [
        "pkcs11:token=a?pin-value=271828",
        "pkcs11:token=a;pin-value=271828",
    ] {
        let error = text.parse::<Pkcs11Uri>().unwrap_err().to_string();
        assert!(error.contains("pin-source=file:"), "{error}");
        assert!(!error.contains("271828"), "{error}");
    }
}

fn word() -> impl Strategy<Value = Option<String>> {
    of(any::<String>())
}

prop_compose! {
    fn any_uri()(
        library in (word(), word(), of(any::<(u8, u8)>())),
        slot in (of(any::<u64>()), word(), word()),
        token in (word(), word(), word(), word()),
        object in (word(), of(any::<Vec<u8>>()), of(0..KINDS.len())),
        module in (of("/[^\0]*"), word()),
        pin in of("/[^\0]*"),
        reserved in word(),
    ) -> Pkcs11Uri {
        Pkcs11Uri {
            library: LibraryPart { manufacturer: library.0, description: library.1, version: library.2 },
            slot: SlotPart { id: slot.0, description: slot.1, manufacturer: slot.2 },
            token: TokenPart { label: token.0, manufacturer: token.1, model: token.2, serial: token.3 },
            object: ObjectPart {
                label: object.0,
                id: object.1,
                kind: object.2.map(|number| KINDS[number]),
            },
            module_path: module.0.map(PathBuf::from),
            module_name: module.1,
            pin_file: pin.map(PathBuf::from),
            reserved,
        }
    }
}

const KINDS: [ObjectKind; 5] = [
    ObjectKind::Public,
    ObjectKind::Private,
    ObjectKind::Certificate,
    ObjectKind::SecretKey,
    ObjectKind::Data,
];

proptest! {
    #[test]
    fn what_is_written_is_read_as_the_same(uri in any_uri()) {
        prop_assert_eq!(uri.to_string().parse::<Pkcs11Uri>(), Ok(uri));
    }

    #[test]
    fn whatever_is_read_is_written_and_read_as_the_same(text in "pkcs11:[ -~]{0,40}") {
        if let Ok(uri) = text.parse::<Pkcs11Uri>() {
            prop_assert_eq!(uri.to_string().parse::<Pkcs11Uri>(), Ok(uri));
        }
    }
}
