//! TLS servers under load: those of [`servers`] with a key in a file or on a PKCS#11 token, driven by keymark's own client.
//!
//! A load is no crew of workers with handles, so that no [`Stack`](keymark_bench::workload::Stack) makes it ready: a
//! case is a server that is started, a load on it, and what came of it ([`Measuring`]).

mod cluster;
mod key_use;
mod keys;
mod measuring;
mod outcome;
mod remote;
mod saturating;
mod server;
pub mod servers;
mod trust;

use keymark_bench::case::tls::{Arrangement, Handshake};
use keymark_bench::case::{Case, KeyExchange, StackName, TlsVersion};
use keymark_bench::error::Error;
pub use servers::Tracing;

pub use cluster::{Cluster, Starting};
pub use keys::Keys;
pub use measuring::{Measuring, Watch};
pub use remote::{Address, Asking, CONNECT, Reached, Remote, Tried, Trust};
pub use server::Servers;

/// Apache with the MPM that distributions choose.
pub const APACHE: StackName = StackName::of("apache");
/// nginx.
pub const NGINX: StackName = StackName::of("nginx");

fn handshake_of(case: &Case) -> Result<(TlsVersion, KeyExchange), Error> {
    let tls = Handshake::of(&case.parameters)?.map(|tls| (tls.version, tls.key_exchange));
    tls.ok_or_else(|| {
        Error::call(
            "starting a server",
            format!("{case} is not a handshake"),
            "",
        )
    })
}

/// What stands behind the address that clients of a case ask.
pub fn arrangement_of(case: &Case) -> Arrangement {
    let handshake = Handshake::of(&case.parameters).ok().flatten();
    handshake.map_or(Arrangement::One, |tls| tls.arrangement)
}
