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
    use Described::{LibraryVersion, Manufacturer, Serial, SlotId, Token};
    assert_eq!(uri("pkcs11:"), Pkcs11Uri::default());
    let object = uri("pkcs11:object=my-pubkey;type=public").object;
    assert_eq!(object.label.as_deref(), Some("my-pubkey"));
    assert_eq!(object.kind, Some(ObjectKind::Public));
    let software = uri(
        "pkcs11:token=The%20Software%20PKCS%2311%20Softtoken;manufacturer=Snake%20Oil,%20Inc.;\
         model=1.0;object=my-certificate;type=cert;id=%69%95%3E%5C%F4%BD%EC%91;serial=?pin-source=file:/etc/token_pin",
    );
    let library = uri(
        "pkcs11:library-manufacturer=Snake%20Oil,%20Inc.;library-description=Soft%20Token%20Library;\
         library-version=1.23",
    );
    let slot = uri("pkcs11:slot-description=Sun%20Metaslot;slot-id=327");
    for (uri, attribute, said) in [
        (&software, Token, "The Software PKCS#11 Softtoken"),
        (&software, Manufacturer, "Snake Oil, Inc."),
        (&software, Serial, ""),
        (&library, LibraryVersion, "1.23"),
        (&slot, SlotId, "327"),
    ] {
        assert_eq!(uri.described[&attribute], said);
    }
    assert_eq!(
        software.object.id.as_deref(),
        Some(&[0x69, 0x95, 0x3E, 0x5C, 0xF4, 0xBD, 0xEC, 0x91][..])
    );
    assert_eq!(software.pin_file, Some(PathBuf::from("/etc/token_pin")));
    let module = uri("pkcs11:object=my-sign-key;type=private?module-path=/mnt/libmypkcs11.so.1");
    assert_eq!(
        module.module_path,
        Some(PathBuf::from("/mnt/libmypkcs11.so.1"))
    );
    let nss = uri("pkcs11:?module-name=nss&x-init-reserved=configdir='sql:/my%20keys'");
    assert_eq!(nss.reserved.as_deref(), Some("configdir='sql:/my keys'"));
    assert_eq!(nss.module_name.as_deref(), Some("nss"));
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
    for between in ['?', ';'] {
        let text = format!("pkcs11:token=a{between}pin-value=271828");
        let error = text.parse::<Pkcs11Uri>().unwrap_err().to_string();
        assert!(error.contains("pin-source=file:"), "{error}");
        assert!(!error.contains("271828"), "{error}");
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_the_same(
        texts in prop::collection::vec(of(any::<String>()), 8),
        id in of(any::<Vec<u8>>()),
        path in of("/[^\0]*"),
    ) {
        use Described::{Manufacturer, Model, Serial, SlotDescription, Token};
        let described = [Manufacturer, Model, Serial, SlotDescription, Token].into_iter().zip(&texts);
        let uri = Pkcs11Uri {
            described: described.filter_map(|(name, text)| Some((name, text.clone()?))).collect(),
            object: ObjectPart { label: texts[5].clone(), id, kind: Some(ObjectKind::SecretKey) },
            module_path: path.clone().map(PathBuf::from),
            module_name: texts[6].clone(),
            pin_file: path.map(PathBuf::from),
            reserved: texts[7].clone(),
        };
        prop_assert_eq!(uri.to_string().parse::<Pkcs11Uri>(), Ok(uri));
    }

    #[test]
    fn whatever_is_read_is_written_and_read_as_the_same(text in "pkcs11:[ -~]{0,40}") {
        if let Ok(uri) = text.parse::<Pkcs11Uri>() {
            prop_assert_eq!(uri.to_string().parse::<Pkcs11Uri>(), Ok(uri));
        }
    }
}
