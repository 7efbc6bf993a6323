//! Drives a TLS server on which keymark measures a private key, and says what it saw.
//!
//! A [`Target`] says where the server is and what every handshake must be; [`Settings`] say who asks ([`Demand`]), how
//! long, and on how many threads. [`run`] drives it and yields a [`Measurement`].
//!
//! ```no_run
//! use std::{num::NonZeroU32, sync::atomic::AtomicBool, time::Duration};
//! use keymark_bench::case::{KeyExchange, TlsVersion};
//! use keymark_bench::clock::MonotonicClock;
//! use keymark_load::{
//!     Certificate, Context, Expected, Settings, Target, Unwatched, run,
//! };
//!
//! let target = Target {
//!     address: "127.0.0.1:8443".parse()?,
//!     server_name: "localhost".to_owned(),
//!     path: "/".to_owned(),
//!     expected: Expected {
//!         version: TlsVersion::V1_3,
//!         key_exchange: KeyExchange::X25519MlKem768,
//!         cipher: None,
//!         certificate: Certificate::Key("rsa2048".parse()?),
//!         body: None,
//!     },
//! };
//! let eight = NonZeroU32::new(8).ok_or("none")?;
//! let settings = Settings::users(eight, Duration::from_secs(10));
//! let mut context = Context {
//!     clock: &MonotonicClock::new(),
//!     stop: &AtomicBool::new(false),
//!     observer: &mut Unwatched,
//! };
//! let measured = run(&target, &settings, &mut context)?;
//! println!("{:?}", measured.steady()?.rate());
//! println!("{}", measured.totals.transactions);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What counts
//!
//! A transaction is a TCP connection, a **full** TLS handshake, one `GET` with `Connection: close`, and its whole answer.
//! The client offers the version and key exchange that are expected and nothing else, keeps no session and ignores tickets.
//! Each handshake is checked (not resumed, version, cipher suite, group, certificate); the server's signature is always
//! verified, the chain never. What is not as expected is a [`Failure`] of a class of its own, and so is each
//! other way to fail: refused, reset, timeouts by phase, alerts by their names in the RFCs, wrong status, short body.
//! What is under way when the load ends is cut off and counts neither way.
//!
//! # How it asks
//!
//! One thread a core, each an event loop over sockets that do not block; nothing is shared between threads while they run.
//! OpenSSL does TLS, as it is built in; keys below 2048 bits are refused unless they are asked for ([`Weak`]).
//!
//! * **Closed loop** ([`Users`]): a user asks, waits for the answer, thinks ([`Think`]), and asks again. One whose
//!   transaction failed waits ten milliseconds at least, so that a refusing server is not asked without end.
//! * **Open loop** ([`Arrivals`]): transactions are due by a schedule. Latency counts from when one was *due*: a stalled
//!   server cannot put off the arrivals that would have seen it (no coordinated omission).
//!
//! # What it says
//!
//! What a record keeps ([`keymark_bench::server_load`]): durations of each phase in HDR histograms of three digits and failures,
//! by seconds; the steady state, without the bias of start and end; the totals of which siege makes figures, which have that
//! bias; a seeded sample of whole transactions; and whether the client itself was the limit.
//!
//! [`search`] looks for the best throughput over users, and the highest rate under a limit of latency.
//!
//! # Where to look
//!
//! | file | has |
//! |---|---|
//! | `target.rs`, `protocol.rs` | what is asked and expected |
//! | `tls/` | a connection, the check of a handshake |
//! | `demand.rs`, `worker/source.rs` | whose turn it is: pure |
//! | `worker/` | the event loop, a transaction's stages |
//! | `recorder.rs`, `latencies.rs`, `sample.rs` | what a thread keeps |
//! | `steady.rs` | when the load was steady: pure |
//! | `run.rs`, `measurement.rs` | the threads, and their sum |
//! | `probe.rs` | one transaction, to see what a server is |
//! | `saturate.rs` | which load to try next: pure |

#![warn(missing_docs)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::cast_precision_loss,
        reason = "a test may panic"
    )
)]

mod demand;
mod descriptors;
mod error;
mod failure;
mod http;
mod latencies;
mod measurement;
mod probe;
mod protocol;
mod recorder;
mod run;
mod sample;
mod saturate;
mod settings;
mod steady;
mod target;
mod tls;
mod worker;

pub use demand::{Arrivals, Demand, FirstThink, Spacing, Think, Users};
pub use error::Error;
pub use failure::{Expectation, Failure, Phase};
pub use measurement::{Measurement, nanoseconds};
pub use probe::{Probed, probe};
pub use protocol::{Alert, CipherSuite};
pub use recorder::ClientTime;
pub use run::{Context, Observer, Progress, Unwatched, run};
pub use saturate::search;
pub use settings::{Settings, Timeouts, WarmUp};
pub use steady::NoSteadyState;
pub use target::{Certificate, Expected, Fingerprint, Target};
pub use tls::{Negotiated, Weak};
