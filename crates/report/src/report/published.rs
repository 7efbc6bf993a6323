use keymark_records::published::Cells;
use keymark_records::published::PublishedTable;

use crate::document::{Block, Column, RemarkKind, Section, TableOf};

/// Returns published loads or ratios as a section with their source; none for published times of operations, which reports show
/// next to a run's own.
pub fn published_section(shipped: PublishedTable) -> Option<Section> {
    let Cells { columns, rows } = shipped.cells()?;
    let mut table = TableOf::new(rows);
    for (place, name) in columns.iter().enumerate() {
        let heading = name.replace('_', " ");
        let column = match place {
            0..=3 => Column::label(heading),
            // From the right, where there is no room.
            _ => Column::name(heading).leave(u8::try_from(columns.len() - place).unwrap_or(0)),
        };
        table = table.column(column, |row| row[place].clone());
    }
    let source = format!("published: {}", shipped.source);
    Some(Section::headed(
        format!("published: {}", shipped.name),
        vec![
            Block::Table(table.table()),
            Block::remark(RemarkKind::MixedProvenance, source),
        ],
    ))
}
