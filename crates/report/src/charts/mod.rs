//! One description of a chart, and what draws it. A [`Chart`] knows axes and marks and nothing of what is measured; how
//! a figure was had shows in every mark without colour ([`Fill`]). Nothing is computed here but places on paper.
//!
//! | module | what is in it |
//! |---|---|
//! | `chart.rs` | the description |
//! | `metrics.rs` | how wide text is |
//! | `scale.rs` | how values are written, and where they are on an axis |
//! | `svg/` | SVG: colours resolved, no styles, the same bytes each time |
//! | `terminal/` | text, in Unicode or ASCII |
//!
//! The writer is our own: kuva 0.6 began an axis at 10⁻⁷ s for times from 16 ms, and had neither a text alternative
//! nor a way to show provenance but colour; plotters 0.3.7 lost labels of categories and laid its legend over data.

mod chart;
mod metrics;
mod scale;
pub mod svg;
pub mod terminal;

pub use chart::{
    About, Along, Axis, Bar, Bounds, Chart, Column, Dot, Fill, Group, Line, Mark, Panel, Path,
    Reach, Row, Rule, Scale, Size, Spacing,
};
pub use metrics::{Weight, width as text_width};
pub use scale::Unit;
pub use svg::{Theme, light_and_dark};
