//! What holds for every report, picture and page, whatever was measured.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod agreement;
mod charts;
mod document;
mod formats;
mod golden_reports;
mod html;
mod libraries;
mod limits;
mod pictures;
mod pipeline;
mod queues;
mod scaling;
