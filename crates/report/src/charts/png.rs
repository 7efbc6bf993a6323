//! PNG of a chart, from its SVG. The font is here: resvg leaves out text silently whose font it does not find, and no
//! two machines have the same ones.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use thiserror::Error;

use crate::charts::chart::Chart;
use crate::charts::svg;
use crate::charts::theme::Theme;

const FONTS: [&[u8]; 2] = [
    include_bytes!("../../font/dejavu-sans.ttf"),
    include_bytes!("../../font/dejavu-sans-bold.ttf"),
];
const FAMILY: &str = "DejaVu Sans";
/// Pixels of the file for each of the drawing.
const SCALE: f32 = 2.0;

/// A picture that cannot be made.
#[derive(Debug, Error)]
pub enum PngError {
    /// The SVG is refused.
    #[error("cannot read the chart's SVG: {0}")]
    Svg(#[from] resvg::usvg::Error),
    /// There is no room for its pixels.
    #[error("a picture of {width} × {height} pixels is too large")]
    TooLarge {
        /// Pixels from left to right.
        width: u32,
        /// Pixels from top to bottom.
        height: u32,
    },
    /// The pixels cannot be written.
    #[error("cannot write the picture as PNG: {0}")]
    Encoding(String),
}

/// The chart as a PNG file, of twice the size of its SVG.
pub fn draw(chart: &Chart, theme: Theme) -> Result<Vec<u8>, PngError> {
    let mut fonts = fontdb::Database::new();
    for font in FONTS {
        fonts.load_font_data(font.to_vec());
    }
    fonts.set_sans_serif_family(FAMILY);
    let options = Options {
        font_family: FAMILY.to_owned(),
        fontdb: Arc::new(fonts),
        ..Options::default()
    };
    let tree = Tree::from_str(&svg::draw(chart, theme), &options)?;
    let size = tree.size();
    let [width, height] = [size.width(), size.height()].map(|side| (side * SCALE).ceil() as u32);
    let mut pixels = Pixmap::new(width, height).ok_or(PngError::TooLarge { width, height })?;
    resvg::render(
        &tree,
        Transform::from_scale(SCALE, SCALE),
        &mut pixels.as_mut(),
    );
    let encoded = pixels.encode_png();
    encoded.map_err(|error| PngError::Encoding(error.to_string()))
}
