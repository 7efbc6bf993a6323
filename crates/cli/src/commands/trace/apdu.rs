//! Names of commands (OpenPGP card 3.4.1 §7.2), from their headers alone.

use keymark_shim_protocol::trace::Apdu;

/// The specification's name, with what tells commands of one instruction apart.
pub(super) fn name(apdu: &Apdu) -> String {
    let [class, ins, p1, p2] = apdu.header;
    let tag = u16::from_be_bytes([p1, p2]);
    let name = match (ins, p1, p2) {
        (0xA4, ..) => "SELECT".to_owned(),
        (0xA5, ..) => "SELECT DATA".to_owned(),
        (0xCA | 0xCB, ..) => format!("GET DATA {tag:02X}{}", object(tag)),
        (0xDA | 0xDB, ..) => format!("PUT DATA {tag:02X}{}", object(tag)),
        (0xCC, ..) => "GET NEXT DATA".to_owned(),
        (0x20, _, 0x81) => "VERIFY PW1 (81, signing)".to_owned(),
        (0x20, _, 0x82) => "VERIFY PW1 (82)".to_owned(),
        (0x20, _, 0x83) => "VERIFY PW3 (83, admin)".to_owned(),
        (0x20, ..) => "VERIFY".to_owned(),
        (0x24, ..) => "CHANGE REFERENCE DATA".to_owned(),
        (0x2C, ..) => "RESET RETRY COUNTER".to_owned(),
        (0x2A, 0x9E, 0x9A) => "PSO:COMPUTE DIGITAL SIGNATURE".to_owned(),
        (0x2A, 0x80, 0x86) => "PSO:DECIPHER".to_owned(),
        (0x2A, 0x86, 0x80) => "PSO:ENCIPHER".to_owned(),
        (0x88, ..) => "INTERNAL AUTHENTICATE".to_owned(),
        (0x47, 0x81, _) => "GENERATE ASYMMETRIC KEY PAIR (read)".to_owned(),
        (0x47, ..) => "GENERATE ASYMMETRIC KEY PAIR".to_owned(),
        (0x22, ..) => "MANAGE SECURITY ENVIRONMENT".to_owned(),
        (0x84, ..) => "GET CHALLENGE".to_owned(),
        (0xC0, ..) => "GET RESPONSE".to_owned(),
        (0xE6, ..) => "TERMINATE DF".to_owned(),
        (0x44, ..) => "ACTIVATE FILE".to_owned(),
        _ => format!("INS {ins:02X} {p1:02X}{p2:02X}"),
    };
    if class & 0x10 == 0 {
        name
    } else {
        format!("{name}, chained")
    }
}

/// What the data objects that GnuPG reads hold (§4.4.1).
const fn object(tag: u16) -> &'static str {
    match tag {
        0x4F => " (AID)",
        0x5E => " (login)",
        0x65 => " (cardholder)",
        0x6E => " (application data)",
        0x7A => " (signature counter)",
        0xC1..=0xC3 => " (attributes)",
        0xC4 => " (PW status)",
        0xF9 => " (KDF)",
        0xFA => " (algorithms)",
        0x5F50 => " (URL)",
        0x5F52 => " (historical bytes)",
        0x7F21 => " (certificate)",
        _ => "",
    }
}
