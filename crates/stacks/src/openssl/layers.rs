//! How the program lies on the key.

use keymark_bench::case::StoreKind;
use keymark_bench::layers::{End, Layers, OwnLibrary, Point, Step};

use super::provider::OPENSSL;
use super::way::OpenSslWay;
use crate::raw;
use keymark_stores::access::Library;

/// The key alone, and what a process an operation adds, by each way to the key.
pub(super) fn layers() -> Layers {
    let raw = raw::by_library(Library::OpenSslSystem);
    let step = |heading, way: OpenSslWay| Step {
        heading,
        upper: Point::new(OPENSSL, way.parameters()),
        lower: raw.clone(),
    };
    Layers {
        family: "the program openssl",
        base: End::called("raw", raw.clone()),
        own_library: Some(OwnLibrary {
            point: raw.clone(),
            store: StoreKind::SOFTWARE,
            beside: End {
                heading: "built in",
                name: "the OpenSSL that is built in",
                point: Point::RAW,
            },
            explanation: "for keys in memory raw is the installed libcrypto, which the program loads",
            stand_in: "raw is the OpenSSL that is built in, but the program loads the installed one: the process \
                       includes the difference of the two; --library openssl,openssl-system separates them",
        }),
        steps: vec![
            step("+ process (file)", OpenSslWay::File),
            step("+ process (engine)", OpenSslWay::Engine),
            step("+ process (provider)", OpenSslWay::Provider),
        ],
        whole: None,
        bottleneck: None,
        opens_messages: None,
    }
}
