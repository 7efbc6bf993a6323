//! Tags of git that a timestamping service signs (gitprotocol-common(5), git-mktag(1)): what is asked, and its check.

use keymark_load::{Exchange, Expectation};
use openssl::sha::sha1;

use crate::gnupg::signatures::Signer;

const BEGIN: &[u8] = b"-----BEGIN PGP SIGNATURE-----";

/// A tag over a commit that nobody else has asked for.
pub(crate) struct Tags {
    pub(crate) signer: Signer,
}

impl Exchange for Tags {
    fn body(&self, number: u64) -> Vec<u8> {
        let commit = commit(number);
        format!(
            "request=stamp-tag-v1&commit={commit}&tagname={}",
            name(number)
        )
        .into_bytes()
    }

    fn check(&self, number: u64, answer: &[u8]) -> Result<(), Expectation> {
        let at = answer
            .windows(BEGIN.len())
            .position(|window| window == BEGIN);
        let (tag, signature) = answer.split_at(at.ok_or(Expectation::Form)?);
        let (commit, name) = (commit(number), name(number));
        let wanted = format!("object {commit}\ntype commit\ntag {name}\n");
        if !tag.starts_with(wanted.as_bytes()) {
            return Err(Expectation::Subject);
        }
        self.signer.check_detached(tag, signature)
    }
}

fn commit(number: u64) -> String {
    hex::encode(sha1(&number.to_be_bytes()))
}

fn name(number: u64) -> String {
    format!("keymark-{number:016x}")
}
