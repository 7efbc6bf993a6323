//! Who is connected, and for how long. What axum brings for this has no limits.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};

/// A connection on which nothing is asked for so long is closed; a browser makes another one.
pub(super) const IDLE: Duration = Duration::from_secs(15);
/// How long answers under way may take once keymark is told to end.
const AT_THE_END: Duration = Duration::from_secs(2);
/// Until it is tried again to take a connection: all descriptors are in use.
const AGAIN: Duration = Duration::from_millis(100);

/// Answers until it is told to end.
pub(super) async fn serve(listener: TcpListener, router: Router, ended: impl Future<Output = ()>) {
    let answering = Arc::new(GracefulShutdown::new());
    let accepting = tokio::spawn(accept(listener, router, Arc::clone(&answering)));
    ended.await;
    accepting.abort();
    // It has its share of the connections until it has ended.
    let _ = accepting.await;
    if let Some(answering) = Arc::into_inner(answering) {
        // Who is still in the middle of something has had the time.
        let _ = timeout(AT_THE_END, answering.shutdown()).await;
    }
}

async fn accept(listener: TcpListener, router: Router, answering: Arc<GracefulShutdown>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(AGAIN).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        // Begins with the connection, and anew after each answer.
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(IDLE)
            .serve_connection(TokioIo::new(stream), service);
        let watched = answering.watch(connection);
        tokio::spawn(async move {
            // One that breaks off is its client's affair.
            let _ = watched.await;
        });
    }
}
