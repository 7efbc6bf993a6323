//! What the local page shows: the archive's runs, and the report of those that are chosen.

use std::sync::{Arc, PoisonError};

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, RawQuery, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{Html, IntoResponse, Response};
use keymark_bench::Record;
use keymark_report::archive::{Archive, ArchiveError, CaseWords, RunSearch, RunSelector, Window};
use keymark_report::render::html::{self, Import, ReadIn};
use keymark_report::visible::excerpt;
use serde::Deserialize;

use super::Served;
use crate::documents::report;
use crate::exit::{Exit, Failure};

/// Runs of a page of the list.
const RUNS: u64 = 50;
/// Cases and machines of a history, and points of each.
const TRENDS: usize = 12;
const POINTS: usize = 200;
/// More runs than this are no comparison that anybody reads, and take their time.
const COMPARED: usize = 8;

/// The form above the list; a browser sends what is empty, too.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    device: String,
    algorithm: String,
    from: String,
    to: String,
    skip: u64,
}

/// A message, in which text from outside may be: every answer that is no page.
pub(super) struct Said(pub StatusCode, pub String);

impl IntoResponse for Said {
    fn into_response(self) -> Response {
        (self.0, keymark_report::visible::message(&self.1)).into_response()
    }
}

impl From<ArchiveError> for Said {
    fn from(error: ArchiveError) -> Self {
        use ArchiveError::{Ambiguous, NoSuchRun, NotOneRun, NotSoMany};
        let status = if matches!(error, NoSuchRun { .. } | NotSoMany { .. }) {
            StatusCode::NOT_FOUND
        } else if matches!(error, Ambiguous { .. } | NotOneRun { .. }) {
            StatusCode::BAD_REQUEST
        } else {
            // All else is no mistake of who asks.
            StatusCode::INTERNAL_SERVER_ERROR
        };
        Self(status, error.to_string())
    }
}

impl From<Failure> for Said {
    fn from(failure: Failure) -> Self {
        let status = match failure.exit {
            Exit::Usage => StatusCode::BAD_REQUEST,
            Exit::NothingUsable => StatusCode::NOT_FOUND,
            Exit::Fine
            | Exit::Failed
            | Exit::Incomplete
            | Exit::FailedAndIncomplete
            | Exit::Interrupted
            | Exit::Child(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self(status, failure.message)
    }
}

impl Said {
    fn lost(error: impl ToString) -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    }

    pub(super) fn bad(message: impl ToString) -> Self {
        Self(StatusCode::BAD_REQUEST, message.to_string())
    }
}

/// Works with the archive where nobody else has to wait for it.
pub(super) async fn with_archive<T: Send + 'static>(
    served: Arc<Served>,
    work: impl FnOnce(&mut Archive, &Served) -> Result<T, Said> + Send + 'static,
) -> Result<T, Said> {
    let worked = tokio::task::spawn_blocking(move || {
        // An answer that panicked has changed nothing in it.
        let mut archive = served
            .archive
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        work(&mut archive, &served)
    });
    worked.await.unwrap_or_else(|error| Err(Said::lost(error)))
}

/// A page that may do so much.
fn under(policy: String, page: String) -> Response {
    ([(CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response()
}

/// The list.
pub(super) async fn runs(
    State(served): State<Arc<Served>>,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Response, Said> {
    let Query(wanted) = wanted.map_err(Said::bad)?;
    let search = search(&wanted)?;
    let window = Window {
        skip: wanted.skip,
        take: RUNS,
    };
    let page = with_archive(served, move |archive, served| {
        let found = archive.search(&search, window)?;
        let import = match served.token {
            Some(_) => Import::Allowed,
            None => Import::Refused,
        };
        let name = archive.path().display().to_string();
        html::runs(&name, &search, window, &found, import).map_err(Said::lost)
    });
    Ok(under(html::policy_of_runs(), page.await?))
}

fn search(wanted: &Wanted) -> Result<RunSearch, Said> {
    let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let day = |name: &str, value: &str| match value.trim() {
        "" => Ok(None),
        value => value.parse().map(Some).map_err(|error| {
            let (value, reason) = (excerpt(value), excerpt(&format!("{error}")));
            Said::bad(format!(
                "{name}: '{value}' is not a date; write it like 2026-01-31: {reason}"
            ))
        }),
    };
    Ok(RunSearch {
        device: text(&wanted.device),
        algorithm: text(&wanted.algorithm),
        from: day("from", &wanted.from)?,
        to: day("to", &wanted.to)?,
    })
}

/// The report of one run, or of several, of which the oldest is what the others are compared with.
pub(super) async fn report(
    State(served): State<Arc<Served>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Said> {
    let uri = format!("/?{}", query.unwrap_or_default())
        .parse()
        .map_err(Said::bad)?;
    // The same name several times, as forms send it.
    let Query(pairs): Query<Vec<(String, String)>> =
        Query::try_from_uri(&uri).map_err(Said::bad)?;
    let ids = pairs.into_iter().filter(|(name, _)| name == "run");
    let wanted: Vec<RunSelector> = ids.map(|(_, id)| RunSelector::Id(id)).collect();
    if wanted.is_empty() || wanted.len() > COMPARED {
        return Err(Said::bad(format!("choose from one to {COMPARED} runs")));
    }
    let page = with_archive(served, move |archive, _| {
        let mut records: Vec<Record> = Vec::new();
        for run in &wanted {
            let record = archive.load(run)?;
            if records.iter().all(|known| known.id != record.id) {
                records.push(record);
            }
        }
        records.sort_by_key(|record| record.started);
        let document = report::document(&records, &[], archive)?;
        html::render(document, ReadIn::Archive).map_err(Said::lost)
    });
    Ok(under(html::policy_of_answer(), page.await?))
}

/// The form for a case.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Words {
    words: String,
}

/// What a case has taken over time.
pub(super) async fn history(
    State(served): State<Arc<Served>>,
    wanted: Result<Query<Words>, QueryRejection>,
) -> Result<Response, Said> {
    let Query(Words { words }) = wanted.map_err(Said::bad)?;
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    if words.is_empty() {
        return Err(Said::bad("give words of a case, such as rsa4096 sign"));
    }
    let page = with_archive(served, move |archive, _| {
        let past = archive.history(&CaseWords::new(words.iter().map(String::as_str)))?;
        let mut trends = keymark_report::history::trends(&past);
        if trends.is_empty() {
            let message = format!(
                "no finished run has a case that matches '{}'",
                excerpt(&words.join(" "))
            );
            return Err(Said(StatusCode::NOT_FOUND, message));
        }
        let all = trends.len();
        trends.truncate(TRENDS);
        archive.bound(&mut trends, POINTS)?;
        let mut document = keymark_report::report::history(&trends, POINTS);
        let more = match all.saturating_sub(TRENDS) {
            0 => String::new(),
            more => format!(" ({more} more cases or machines: add words)"),
        };
        document.title = Some(format!("history of {}{more}", words.join(" ")));
        html::render(document, ReadIn::Archive).map_err(Said::lost)
    });
    Ok(under(html::policy_of_answer(), page.await?))
}

/// Anything else.
pub(super) async fn nowhere() -> Said {
    Said(
        StatusCode::NOT_FOUND,
        "page not found; / has the runs".to_owned(),
    )
}
