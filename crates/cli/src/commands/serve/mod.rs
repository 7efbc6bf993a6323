//! `keymark serve`: the archive as a local page. It listens on the loopback interface only, and changes nothing
//! unless it was started to.
//!
//! axum runs on one thread, the archive behind a lock on the runtime's blocking threads. `guard` stands before
//! every answer: loopback, own name (DNS rebinding), GET. `connections` takes the place of `axum::serve`, which has
//! no time limits.

mod connections;
mod guard;
mod pages;
mod upload;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use axum::routing::{get, post};
use axum::{Router, middleware};
use keymark_report::archive::Archive;
use tokio::net::TcpListener;

use self::guard::Hosts;
use self::upload::Token;
use super::Outcome;
use crate::args::PageArguments;
use crate::exit::Exit;
use crate::{output, signals};

/// What answers share.
struct Served {
    /// SQLite's connections are used by one thread at a time.
    archive: Mutex<Archive>,
    hosts: Hosts,
    token: Option<Token>,
}

pub(super) fn run(arguments: &PageArguments, archive: Archive) -> Outcome {
    let token = arguments.allow_import.then(Token::fresh).transpose();
    let token =
        token.map_err(|error| format!("cannot make a token for --allow-import: {error}"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| format!("cannot start the local page: {error}"))?;
    runtime.block_on(serve(arguments.port, archive, token))
}

async fn serve(port: Option<u16>, archive: Archive, token: Option<Token>) -> Outcome {
    let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, port.unwrap_or(0)));
    let refused = |error| format!("cannot listen on {wanted}: {error}");
    let listener = TcpListener::bind(wanted).await.map_err(refused)?;
    let port = listener.local_addr().map_err(refused)?.port();
    // Before anybody is told where the page is: who ends it then ends it in good order.
    let ended = tokio::task::spawn_blocking(signals::until_told()?);
    let address = format!("http://127.0.0.1:{port}/");
    output::line(&match &token {
        Some(token) => format!("{address}#token={token}"),
        None => address,
    });
    output::note("only this computer can read it; Ctrl-C ends it");
    let served = Arc::new(Served {
        archive: Mutex::new(archive),
        hosts: Hosts::of(port),
        token,
    });
    let ended = async { ended.await.unwrap_or_default() };
    connections::serve(listener, router(served), ended).await;
    Ok(Exit::Fine)
}

fn router(served: Arc<Served>) -> Router {
    let mut router = Router::new()
        .route("/", get(pages::runs))
        .route("/report", get(pages::report))
        .route("/history", get(pages::history));
    if served.token.is_some() {
        router = router.route("/import", post(upload::take_in));
    }
    router
        .fallback(pages::nowhere)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&served),
            guard::guard,
        ))
        .with_state(served)
}
