//! Check whether a server's certificate is from an authority that the user trusts, and for that server's name.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use keymark_bench::{During as _, Error};
use openssl::error::ErrorStack;
use openssl::stack::Stack;
use openssl::x509::store::{X509Store, X509StoreBuilder};
use openssl::x509::verify::{X509CheckFlags, X509VerifyParam};
use openssl::x509::{X509, X509StoreContext};

/// Checks what a server sent, its own certificate first.
pub(super) fn check(chain: &[Vec<u8>], authority: &Path, name: &str) -> Result<(), Error> {
    let call = format!("checking the certificate of {name}");
    let verdict = verified(chain, authorities(authority)?, name).during(&call)?;
    verdict.map_err(|why| {
        Error::call(
            call,
            why,
            "give its authority with --authority and its name with --server-name, or omit --authority",
        )
    })
}

/// Whom a certificate has to be from, for the record.
pub(crate) fn told(authority: Option<&Path>) -> String {
    authority.map_or_else(
        || "the certificate as presented, pinned for the run".to_owned(),
        |file| format!("certified by an authority in {}", file.display()),
    )
}

/// The authorities in a file, in PEM: one at least.
pub(crate) fn authorities(file: &Path) -> Result<Vec<X509>, Error> {
    let call = format!("reading {}", file.display());
    let pem = fs::read(file).during(&call)?;
    let found = X509::stack_from_pem(&pem).ok();
    let found = found.filter(|found| !found.is_empty());
    let advice = "give the authority's certificate";
    found.ok_or_else(|| Error::call(call, "it has no certificate in PEM", advice))
}

fn verified(
    chain: &[Vec<u8>],
    trusted: Vec<X509>,
    name: &str,
) -> Result<Result<(), String>, ErrorStack> {
    let store = store(trusted, name)?;
    let mut sent = Stack::new()?;
    let Some((own, others)) = chain.split_first() else {
        return Ok(Err("it sent none".to_owned()));
    };
    let own = X509::from_der(own)?;
    for other in others {
        sent.push(X509::from_der(other)?)?;
    }
    let mut context = X509StoreContext::new()?;
    context.init(&store, &own, &sent, |context| {
        Ok(if context.verify_cert()? {
            Ok(())
        } else {
            Err(context.error().error_string().to_owned())
        })
    })
}

fn store(trusted: Vec<X509>, name: &str) -> Result<X509Store, ErrorStack> {
    let mut store = X509StoreBuilder::new()?;
    for certificate in trusted {
        store.add_cert(certificate)?;
    }
    let mut wanted = X509VerifyParam::new()?;
    match name.parse::<IpAddr>() {
        Ok(address) => wanted.set_ip(address)?,
        Err(_) => {
            wanted.set_hostflags(X509CheckFlags::NO_PARTIAL_WILDCARDS);
            wanted.set_host(name)?;
        }
    }
    store.set_param(&wanted)?;
    Ok(store.build())
}
