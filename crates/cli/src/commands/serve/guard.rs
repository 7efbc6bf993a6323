//! Who is answered, and what a browser is told with every answer.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{ALLOW, CONTENT_SECURITY_POLICY, HOST, HeaderValue, ORIGIN};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Served;

/// The names by which this page is asked for.
pub(super) struct Hosts([String; 2]);

impl Hosts {
    pub(super) fn of(port: u16) -> Self {
        Self([format!("127.0.0.1:{port}"), format!("localhost:{port}")])
    }

    /// Another name that leads here is somebody else's page, whose scripts may ask as if they were of this one (DNS
    /// rebinding: Jackson et al., CCS 2007).
    fn admit(&self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(HOST).into_iter();
        match (hosts.next(), hosts.next()) {
            (Some(host), None) => self.0.iter().any(|own| host.as_bytes() == own.as_bytes()),
            _ => false,
        }
    }

    /// A browser says which page a form or a script is of.
    fn is_own_page(&self, headers: &HeaderMap) -> bool {
        headers.get(ORIGIN).is_none_or(|origin| {
            let host = origin.as_bytes().strip_prefix(b"http://");
            self.0.iter().any(|own| host == Some(own.as_bytes()))
        })
    }
}

/// Lets through what reads, or what may be uploaded, from this computer's own page.
pub(super) async fn guard(
    State(served): State<Arc<Served>>,
    request: Request,
    next: Next,
) -> Response {
    let answer = match refusal(&served, &request) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    };
    with_headers(answer)
}

fn refusal(served: &Served, request: &Request) -> Option<Response> {
    let headers = request.headers();
    if !served.hosts.admit(headers) {
        let text = "this page's address is 127.0.0.1 or localhost, with its port";
        return Some((StatusCode::MISDIRECTED_REQUEST, text).into_response());
    }
    let uploads = served.token.is_some() && request.uri().path() == "/import";
    let method = request.method();
    if *method == Method::GET
        || *method == Method::POST && uploads && served.hosts.is_own_page(headers)
    {
        return None;
    }
    let allowed = [(ALLOW, "GET")];
    let text = "this page is read-only";
    Some((StatusCode::METHOD_NOT_ALLOWED, allowed, text).into_response())
}

/// No other page may show this one or read it, nobody guesses what an answer is, and nothing is kept.
fn with_headers(mut answer: Response) -> Response {
    let headers = answer.headers_mut();
    let fixed = [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // What is no page may do nothing.
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(
            "default-src 'none'; frame-ancestors 'none'",
        ));
    answer
}
