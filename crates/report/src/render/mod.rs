//! How a document looks: text on a terminal, Markdown, JSON.

pub(crate) mod cell;
mod exported;
pub mod html;
pub mod json;
pub mod latex;
mod layout;
pub mod markdown;
pub mod text;

use crate::document::Align;
use comfy_table::{CellAlignment, ContentArrangement, TableStyle};

pub use exported::{Exported, Format, FormatError};

/// Room for a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// As much as it takes.
    Unlimited,
    /// So many columns of a terminal.
    Columns(u16),
}

/// Draws cells that are already words.
fn grid(
    style: TableStyle,
    padding: (u16, u16),
    header: &[String],
    align: &[Align],
    rows: Vec<Vec<String>>,
) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(style);
    table
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header)
        .add_rows(rows);
    for (column, align) in table.column_iter_mut().zip(align) {
        column.set_padding(padding);
        column.set_cell_alignment(match align {
            Align::Left => CellAlignment::Left,
            Align::Right => CellAlignment::Right,
        });
    }
    let text = table.to_string();
    text.lines()
        .map(str::trim_end)
        .fold(String::new(), |text, line| text + line + "\n")
}
