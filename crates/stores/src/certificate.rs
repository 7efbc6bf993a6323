//! X.509 certificates that are made for a measurement.

use openssl::asn1::Asn1Time;
use openssl::bn::{BigNum, MsbOption};
use openssl::error::ErrorStack;
use openssl::pkey::{PKeyRef, Public};
use openssl::x509::{X509, X509Builder, X509Name, X509NameBuilder, X509NameRef};

/// Days that they are valid for: a measurement is shorter.
const DAYS: u32 = 30;
/// X.509 v3 (RFC 5280 §4.1.2.1).
const VERSION_3: i32 = 2;

/// Returns the name with that common name.
pub fn name(common: &str) -> Result<X509Name, ErrorStack> {
    let mut name: X509NameBuilder = X509Name::builder()?;
    name.append_entry_by_text("CN", common)?;
    Ok(name.build())
}

/// Version, serial number, validity, subject and key.
pub fn begun(subject: &X509NameRef, public: &PKeyRef<Public>) -> Result<X509Builder, ErrorStack> {
    let mut builder = X509::builder()?;
    builder.set_version(VERSION_3)?;
    let mut serial = BigNum::new()?;
    // Positive, and of 20 octets at most (RFC 5280 §4.1.2.2).
    serial.rand(159, MsbOption::ONE, false)?;
    let serial = serial.to_asn1_integer()?;
    builder.set_serial_number(&serial)?;
    builder.set_subject_name(subject)?;
    builder.set_pubkey(public)?;
    let (begin, end) = (Asn1Time::days_from_now(0)?, Asn1Time::days_from_now(DAYS)?);
    builder.set_not_before(&begin)?;
    builder.set_not_after(&end)?;
    Ok(builder)
}
