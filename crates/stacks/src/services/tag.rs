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

#[cfg(test)]
mod tests {
    use openssl::base64::decode_block;

    use super::*;

    /// Answer of zeitgitterd 1.2.0 with gpg 2.2 to request 7.
    const ANSWER: &str = "object aebf740096fea5f738202d5d299fc84e932155d5
type commit
tag keymark-0000000000000007
tagger one <one@localhost> 1795630621 +0000

:watch: http://localhost tag timestamp
-----BEGIN PGP SIGNATURE-----

iHUEABYIAB0WIQTUPMO8Nbcqf9xrYk2m/T82K5/gPgUCawcmHQAKCRCm/T82K5/g
Pnm0AP9L4abruee96FBouvWBj78V2Chd0TqYKAK8MxSYVQGAwgEA5JwbUs4jSA0v
gzg1+lvmXC6Vogp7DYEkiNP3TUF0cQM=
=uQ3A
-----END PGP SIGNATURE-----
";
    /// Fingerprints and certificates of the key that has signed, and of another.
    const OWN: (&str, &str) = (
        "D43CC3BC35B72A7FDC6B624DA6FD3F362B9FE03E",
        "mDMEawcmGRYJKwYBBAHaRw8BAQdAihfIkSBHPxHGHlzn/Cj00qnUGyRiKx338lS6etMcrI60E29uZSA8b25lQGxvY2FsaG9zdD6IkAQTFggAOBYhBNQ8w7w1typ/3GtiTab9PzYrn+A+BQJrByYZAhsDBQsJCAcCBhUKCQgLAgQWAgMBAh4BAheAAAoJEKb9PzYrn+A+HvwBAP6elhk/I4rsuBUKBObFrWG7JVOkm3LND/gW+uhea6YZAQCL/7KlKa48taK/rGpbUfBtsW+oFjxYege7FW9SUT0XDw==",
    );
    const OTHER: (&str, &str) = (
        "B467AD0ACE6F8058ED0CD1832AF79F549B0C197A",
        "mDMEawcmGhYJKwYBBAHaRw8BAQdAoDeIxocPKm+tRvLbWBYMleLDSUZU+E5WDJA46rhwFzO0E3R3byA8dHdvQGxvY2FsaG9zdD6IkAQTFggAOBYhBLRnrQrOb4BY7QzRgyr3n1SbDBl6BQJrByYaAhsDBQsJCAcCBhUKCQgLAgQWAgMBAh4BAheAAAoJECr3n1SbDBl6hJwA/2u0tvTSL5j/OvJiQjSpPMXH4RQgLs6vC0r+WjHaiix5AP97qvJ6CCTNty4m1OjvjpkwAVETviNbUasTtEiNKjcWCg==",
    );

    fn tags((fingerprint, certificate): (&str, &str)) -> Tags {
        let certificate = decode_block(certificate).unwrap();
        Tags {
            signer: Signer::find(&certificate, fingerprint).unwrap(),
        }
    }

    #[test]
    fn a_tag_counts_that_is_the_key_s_signature_over_the_commit_that_was_sent() {
        let own = tags(OWN);
        let body = String::from_utf8(own.body(7)).unwrap();
        let asked = "request=stamp-tag-v1&commit=aebf740096fea5f738202d5d299fc84e932155d5&tagname=";
        assert!(body.starts_with(asked), "{body}");
        let wrong = |tags: &Tags, number, answer: &str| tags.check(number, answer.as_bytes()).err();
        assert_eq!(wrong(&own, 7, ANSWER), None);
        assert_eq!(wrong(&own, 8, ANSWER), Some(Expectation::Subject));
        let later = ANSWER.replace("1795630621", "1795630622");
        assert_eq!(wrong(&own, 7, &later), Some(Expectation::Signature));
        assert_eq!(wrong(&tags(OTHER), 7, ANSWER), Some(Expectation::Signer));
        let (half, page) = (&ANSWER[..300], "<html>busy</html>");
        assert_eq!(wrong(&own, 7, half), Some(Expectation::Form));
        assert_eq!(wrong(&own, 7, page), Some(Expectation::Form));
    }
}
