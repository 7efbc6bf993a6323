//! Stacks on one another as GnuPG's are, without GnuPG.

use keymark_bench::case::{Library, Parameters, Protection, StackName, StoreKind};
use keymark_bench::layers::{Bottleneck, End, Layers, OwnLibrary, Point, Step};

pub fn layers() -> [Layers; 1] {
    let kept = |stack, protection| Point::new(stack, Parameters::Gnupg { protection });
    let raw = Point::raw_with(Library::Libgcrypt);
    let agent = kept(StackName::AGENT, Protection::None);
    let cached = kept(StackName::AGENT, Protection::Cached);
    let gnupg = kept(StackName::GNUPG, Protection::None);
    let step = |heading, upper, lower| Step {
        heading,
        upper,
        lower,
    };
    [Layers {
        family: "GnuPG",
        base: End {
            heading: "raw",
            name: "raw",
            point: raw,
        },
        own_library: Some(OwnLibrary {
            point: raw,
            store: StoreKind::SOFTWARE,
            beside: End {
                heading: "OpenSSL",
                name: "OpenSSL",
                point: Point::RAW,
            },
            explanation: "raw is libgcrypt",
            stand_in: "raw is OpenSSL",
        }),
        steps: vec![
            step("+ agent", agent, raw),
            step("+ S2K", cached, agent),
            step("+ gpg process", gnupg, agent),
        ],
        whole: Some(End {
            heading: "= gpg",
            name: "gpg",
            point: gnupg,
        }),
        bottleneck: Some(Bottleneck {
            name: "agent",
            point: gnupg,
            server: agent,
            explanation: "the agent is one thread",
        }),
        opens_messages: Some(StackName::GNUPG),
    }]
}
