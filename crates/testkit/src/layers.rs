//! Stacks on one another as GnuPG's are, without GnuPG.

use keymark_bench::case::{Parameters, StackName, StoreKind};
use keymark_bench::layers::{Bottleneck, End, LayerStep, Layers, OwnLibrary, Point};

/// Returns a family of three stacks.
pub fn layers() -> [Layers; 1] {
    let with = |stack, name, word| Point::new(stack, Parameters::from([(name, word)]));
    let raw = with(StackName::RAW, "library", "libgcrypt");
    let agent = Point::new(StackName::AGENT, Parameters::NONE);
    let cached = with(StackName::AGENT, "protection", "cached");
    let gnupg = Point::new(StackName::GPG, Parameters::NONE);
    [Layers {
        family: "GnuPG",
        base: End::called("key", raw.clone()),
        own_library: Some(OwnLibrary {
            point: raw.clone(),
            store: StoreKind::SOFTWARE,
            beside: End::called("OpenSSL", Point::RAW),
            explanation: "raw is libgcrypt",
            stand_in: "raw is OpenSSL",
        }),
        steps: vec![
            LayerStep::new("+ agent", &agent, &raw),
            LayerStep::new("+ S2K", &cached, &agent),
            LayerStep::new("+ gpg process", &gnupg, &agent),
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
            explanation: "the agent is one thread",
        }),
    }]
}
