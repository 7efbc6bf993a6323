//! How GnuPG's stacks lie on one another.

use keymark_bench::case::{StackName, StoreKind};
use keymark_bench::layers::{Bottleneck, End, Layers, OwnLibrary, Point, Step};

use super::protection::Protection;
use crate::raw;
use keymark_stores::access::Library;

/// gpg-agent calculates with libgcrypt, whatever else is faster.
pub(crate) fn libgcrypt() -> OwnLibrary {
    OwnLibrary {
        point: raw::by_library(Library::Libgcrypt),
        store: StoreKind::SOFTWARE,
        beside: End::called("OpenSSL", Point::RAW),
        explanation: "for keys in memory raw is libgcrypt, which gpg-agent calculates with; the column OpenSSL is the \
                      same operation with that library",
        stand_in: "raw is OpenSSL, but gpg-agent calculates with libgcrypt: '+ agent' includes the difference of the \
                   two libraries; --library openssl,libgcrypt separates them",
    }
}

/// The key alone, its agent, a passphrase, a process an operation.
pub(super) fn layers() -> Layers {
    let kept = |stack, protection: Protection| Point::new(stack, protection.parameters());
    let agent = kept(StackName::AGENT, Protection::None);
    let unprotected = kept(StackName::AGENT, Protection::Cached);
    let gnupg = kept(StackName::GNUPG, Protection::None);
    let raw = raw::by_library(Library::Libgcrypt);
    let step = |heading, upper: &Point, lower: &Point| Step {
        heading,
        upper: upper.clone(),
        lower: lower.clone(),
    };
    Layers {
        family: "GnuPG",
        base: End::called("raw", raw.clone()),
        own_library: Some(libgcrypt()),
        steps: vec![
            step("+ agent", &agent, &raw),
            step("+ S2K", &unprotected, &agent),
            step("+ gpg process", &gnupg, &agent),
        ],
        whole: Some(End {
            heading: "= gpg",
            name: "gpg",
            point: gnupg.clone(),
        }),
        bottleneck: Some(Bottleneck {
            name: "agent",
            point: gnupg,
            server: agent,
            explanation: "gpg-agent is one thread and holds every secret key, but only its part of an operation \
                          queues for it: agent's bound = single-worker time ÷ agent time; cores' bound = cores × \
                          single-worker time ÷ processor time; the lower one is the limit",
        }),
        opens_messages: Some(StackName::GNUPG),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_starts_where_an_earlier_one_ended_and_one_reaches_the_whole() {
        let layers = layers();
        let mut reached = vec![layers.base.point.clone()];
        for step in &layers.steps {
            assert!(reached.contains(&step.lower), "{}", step.heading);
            reached.push(step.upper.clone());
        }
        assert!(reached.contains(&layers.whole.unwrap().point));
        assert_eq!(layers.own_library.unwrap().point, layers.base.point);
        let bottleneck = layers.bottleneck.unwrap();
        assert!(reached.contains(&bottleneck.server) && reached.contains(&bottleneck.point));
    }
}
