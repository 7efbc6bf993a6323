//! Stacks on one another as GnuPG's are, without GnuPG.

use keymark_bench::case::{Parameters, Protection, StackName};
use keymark_bench::layers::{Bottleneck, End, Layers, Point, Step};

pub fn layers() -> [Layers; 1] {
    let kept = |stack, protection| Point::new(stack, Parameters::Gnupg { protection });
    let (raw, agent) = (Point::RAW, kept(StackName::AGENT, Protection::None));
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
