//! Runs that are uploaded, by whom keymark has shown its token to.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use derive_more::Display;
use keymark_report::exchange;

use super::Served;
use super::connections::IDLE;
use super::pages::{Said, with_archive};
use crate::documents;

/// Bytes of a file that a browser hands over; 'keymark import' takes larger ones.
const BYTES: usize = 256 << 20;
/// The header that a page of another origin cannot send without asking first (Fetch §3.2.2).
const HEADER: &str = "x-keymark-token";

/// What nobody can guess.
#[derive(Display)]
#[display("{_0:032x}")]
pub(super) struct Token(u128);

impl Token {
    /// A secret, and so of the system's random numbers and of no seed.
    pub(super) fn fresh() -> std::io::Result<Self> {
        let mut token = [0; 16];
        File::open("/dev/urandom")?.read_exact(&mut token)?;
        Ok(Self(u128::from_be_bytes(token)))
    }

    /// Takes as long wherever the two differ.
    fn is(&self, said: &str) -> bool {
        let own = self.to_string();
        let different = own
            .bytes()
            .zip(said.bytes())
            .fold(0, |sum, (a, b)| sum | (a ^ b));
        own.len() == said.len() && different == 0
    }
}

/// Takes in what 'keymark import' takes.
pub(super) async fn take_in(
    State(served): State<Arc<Served>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Said, Said> {
    let said = headers.get(HEADER).and_then(|value| value.to_str().ok());
    let known = served.token.as_ref().zip(said);
    if !known.is_some_and(|(token, said)| token.is(said)) {
        let message = "this is not the token that keymark printed";
        return Err(Said(StatusCode::FORBIDDEN, message.to_owned()));
    }
    let content = read(body)
        .await
        .map_err(|reason| Said::bad(format!("the upload was not read: {reason}")))?;
    with_archive(served, move |archive, _| {
        let record = exchange::read(Path::new("the upload"), &content).map_err(Said::bad)?;
        documents::check(&record).map_err(Said::bad)?;
        archive.insert(&record).map_err(Said::bad)?;
        Ok(Said(StatusCode::OK, documents::imported(&record)))
    })
    .await
}

/// All of it, from who goes on sending.
async fn read(mut body: Body) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    loop {
        let part = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context));
        let part = tokio::time::timeout(IDLE, part)
            .await
            .map_err(|_| format!("nothing was received for {} s", IDLE.as_secs()))?;
        let Some(part) = part else {
            return Ok(content);
        };
        let part = part.map_err(|error| error.to_string())?;
        content.extend(part.data_ref().into_iter().flatten());
        if content.len() > BYTES {
            return Err(format!(
                "it has more than {} MiB; use 'keymark import'",
                BYTES >> 20
            ));
        }
    }
}
