//! A description of charts, and its renderers. A [`Chart`] knows axes and marks and nothing of measurements. The
//! kind of a figure shows in every mark without color ([`Fill`]). Nothing is computed here but places on paper.
//!
//! The writer is our own: kuva 0.6 began an axis at 10⁻⁷ s for times from 16 ms, and had neither a text alternative
//! nor a way to show provenance but color; plotters 0.3.7 lost labels of categories and laid its legend over data.

mod chart;
mod metrics;
mod scale;
pub mod svg;
pub mod terminal;

pub use chart::{
    About, Along, Axis, Bar, Chart, Dot, Fill, Group, Interval, Mark, Panel, Path, Polyline,
    RowText, Rule, Scale, Spacing,
};
pub use metrics::{Weight, width as text_width};
pub use svg::{Theme, light_and_dark};
