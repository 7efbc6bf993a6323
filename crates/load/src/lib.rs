//! Drives a TLS server, or a service of HTTP, on which keymark measures a private key.
//!
//! A [`Target`] says where the server is and what every handshake must be; [`LoadSettings`] say who asks
//! ([`Load`](keymark_bench::Load)), how long, and on how many threads. [`run`] drives it and yields a [`Measurement`]; [`search`] finds the best throughput
//! over users, and the highest rate under a limit of latency.
//!
//! A transaction is a TCP connection, a **full** TLS handshake, one `GET` with `Connection: close`, and its whole answer.
//! The client, the OpenSSL that is built in, offers the expected version and key exchange and nothing else, keeps no
//! session and ignores tickets; with a [`ResumedShare`] it keeps tickets and resumes that share, and counts what the server
//! resumed. It checks each handshake (not resumed, version, cipher suite, group, certificate) and the server's signature,
//! never the chain; keys below 2048 bits are refused unless they are asked for ([`Weak`]). Everything
//! unexpected is a [`Failure`] of its class. What is under way when the load ends is cut off and counts neither way.
//!
//! With a [`Service`] a transaction is a TCP connection, a request that is made for it, and an answer that is checked
//! later, when the thread has nothing else to do: all else is the same.
//!
//! Each core has one thread with an event loop over sockets that do not block; threads share nothing while they run. In a
//! **closed loop** a user asks, waits for the answer, pauses, and asks again; after a failure it
//! waits at least ten milliseconds. In an **open loop** transactions are due by a schedule, and latency
//! counts from when one was *due* (no coordinated omission). Who decides is pure and has its time from outside:
//! turns (`worker/source.rs`), the steady state, the search.
//!
//! A record keeps ([`keymark_bench::server_load`]) durations of each phase in HDR histograms of three digits and failures,
//! by seconds; the steady state, without the bias of start and end; the totals of siege's figures, which have that bias; a
//! seeded sample of whole transactions; and whether the client itself was the limit.

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may panic"))]

mod descriptors;
mod error;
mod failure;
mod http;
mod key_exchange;
mod latencies;
mod measurement;
mod probe;
mod protocol;
mod recorder;
mod resumption;
mod run;
mod sample;
mod saturate;
mod service;
mod settings;
mod several;
mod steady;
mod target;
mod tls;
mod worker;

pub use error::LoadError;
pub use failure::{Expectation, Failure, Phase};
pub use key_exchange::{KeyExchange, TlsVersion};
pub use measurement::Measurement;
pub use probe::{Probed, Shaken, ask, handshake, probe};
pub use protocol::{Alert, CipherSuite};
pub use recorder::ClientSecond;
pub use resumption::ResumedShare;
pub use run::{LoadProgress, Observer, run};
pub use saturate::search;
pub use service::{Exchange, Service};
pub use settings::{LoadSettings, Timeouts};
pub use several::{ClientEnd, ClientLine, Clients, clients, joined};
pub use steady::NoSteadyState;
pub use target::{Asked, Certificate, ClientIdentity, ClientOffer, Expected, Fingerprint, Target};
pub use tls::{Weak, key_of_certificate};
