//! A service that is asked by HTTP: its requests and answers as data.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::failure::Expectation;

/// A service, and what is asked of it. Each transaction is a TCP connection, one `POST` with `Connection: close`, and its
/// whole answer, which is checked when the client has nothing else to do: no transaction waits for that.
#[derive(Clone, derive_more::Debug)]
#[debug("Service(POST {address}{path})")]
pub struct Service {
    /// Address at which it listens.
    pub address: SocketAddr,
    /// The request's `Host`.
    pub host: String,
    /// The request's path, with its leading slash.
    pub path: String,
    /// Content type of a request (RFC 9110 §8.3).
    pub content_type: &'static str,
    /// Further headers of a request.
    pub headers: Vec<(&'static str, String)>,
    /// Makes the bodies, and checks the answers.
    pub exchange: Arc<dyn Exchange>,
}

impl Service {
    /// Service on this machine whose port is not yet known, requested without other headers.
    pub fn post(path: &str, content_type: &'static str, exchange: Arc<dyn Exchange>) -> Self {
        Self {
            address: ([127, 0, 0, 1], 0).into(),
            host: "localhost".to_owned(),
            path: path.to_owned(),
            content_type,
            headers: Vec::new(),
            exchange,
        }
    }
}

/// Requests to a service, and the check of its answers.
pub trait Exchange: Send + Sync {
    /// The body of the request with that number, drawn anew for each: it asks for what no other one asks for.
    fn body(&self, number: u64) -> Vec<u8>;

    /// Checks an answer to the request with that number.
    ///
    /// # Errors
    /// What is not as expected.
    fn check(&self, number: u64, answer: &[u8]) -> Result<(), Expectation>;
}
