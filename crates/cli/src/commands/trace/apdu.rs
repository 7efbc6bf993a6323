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

/// A status word that is no success, with what it says (§7.9, ISO 7816-4 §5.6).
pub(super) fn refusal(word: u16) -> String {
    let said = match word {
        0x6285 => "terminated",
        0x640E => "out of memory",
        0x6581 => "memory failure",
        0x63C0..=0x63CF => return format!("{word:04X} {} PIN tries left", word & 0xF),
        0x6700 => "wrong length",
        0x6883 => "chain not ended",
        0x6884 => "no chaining",
        0x6982 => "PIN missing",
        0x6983 => "PIN blocked",
        0x6985 => "conditions not satisfied",
        0x6A80 => "wrong data",
        0x6A82 => "no such application",
        0x6A84 => "no memory left",
        0x6A86 => "wrong P1 or P2",
        0x6A88 => "no such data",
        0x6B00 => "wrong parameters",
        0x6D00 => "unknown command",
        0x6E00 => "unknown class",
        _ => return format!("{word:04X}"),
    };
    format!("{word:04X} {said}")
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
