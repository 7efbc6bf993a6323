//! TLS sessions that a client resumes: setting one is unsafe in the `openssl` crate, since nothing there ties it to the
//! context of its connection.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use openssl::error::ErrorStack;
use openssl::ssl::{Ssl, SslContext, SslContextBuilder, SslSession, SslVersion};

/// Most sessions that a context keeps; the oldest are dropped.
const MOST: usize = 1024;

/// Context of a client that keeps the sessions of its own connections, if its cache mode is that of a client.
#[derive(derive_more::Debug)]
pub struct ClientContext {
    context: SslContext,
    #[debug(skip)]
    kept: Arc<Mutex<VecDeque<SslSession>>>,
}

impl ClientContext {
    /// Creates the context. Servers send their tickets in the handshake or, with TLS 1.3, with the first bytes after it.
    pub fn new(mut builder: SslContextBuilder) -> Self {
        let kept: Arc<Mutex<VecDeque<SslSession>>> = Arc::default();
        let sessions = Arc::clone(&kept);
        builder.set_new_session_callback(move |_, session| {
            let mut sessions = sessions.lock().unwrap_or_else(PoisonError::into_inner);
            sessions.truncate(MOST - 1);
            sessions.push_front(session);
        });
        Self {
            context: builder.build(),
            kept,
        }
    }

    /// Returns a connection without a session.
    pub fn fresh(&self) -> Result<Ssl, ErrorStack> {
        Ssl::new(&self.context)
    }

    /// Returns a connection that offers the newest session; none without a session. A session of TLS 1.3 is offered once
    /// (RFC 8446 §C.4), an older one until there is a newer one.
    pub fn resumed(&self) -> Result<Option<Ssl>, ErrorStack> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(session) = kept.pop_front() else {
            return Ok(None);
        };
        let mut ssl = self.fresh()?;
        // SAFETY: the session came from the callback of this context, in which `ssl` was created.
        unsafe { ssl.set_session(&session) }?;
        if session.protocol_version() != SslVersion::TLS1_3 {
            kept.push_front(session);
        }
        Ok(Some(ssl))
    }
}
