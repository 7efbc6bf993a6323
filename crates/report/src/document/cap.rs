//! Documents that a browser can show: what is beyond a limit is left out, and that is said.

use super::{Block, Document, Remark, RemarkKind};

/// Rows of all tables of a page that a browser shows at once: a report over 200 cases has about a fifth of it.
pub const PAGE_ROWS: usize = 2_000;
/// Warnings of a page that a browser shows at once.
pub const PAGE_WARNINGS: usize = 1_000;

impl Document {
    /// Leaves out what a browser does not show at once. Tables that are too long share the rows.
    pub fn capped(mut self) -> Self {
        let rows = share(PAGE_ROWS, self.tables().map(|table| table.rows.len()));
        for section in &mut self.sections {
            let blocks = std::mem::take(&mut section.blocks).into_iter();
            section.blocks = blocks.flat_map(|block| capped(block, rows)).collect();
        }
        let cut = cut(&mut self.warnings, PAGE_WARNINGS, "warnings");
        self.warnings.extend(cut);
        self
    }
}

/// Rows of each table so that all tables together are within the limit.
fn share(limit: usize, sizes: impl Iterator<Item = usize>) -> usize {
    let mut sizes: Vec<usize> = sizes.collect();
    sizes.sort_unstable();
    let (mut left, mut waiting) = (limit, sizes.len());
    for size in sizes {
        if size * waiting > left {
            return (left / waiting).max(1);
        }
        left -= size;
        waiting -= 1;
    }
    limit
}

fn capped(mut block: Block, rows: usize) -> impl Iterator<Item = Block> {
    let cut = match &mut block {
        Block::Table(table) => cut(&mut table.rows, rows, "rows"),
        Block::Picture(_) | Block::Remark(_) => None,
    };
    std::iter::once(block).chain(cut.map(Block::Remark))
}

fn cut<T>(list: &mut Vec<T>, limit: usize, what: &str) -> Option<Remark> {
    let all = list.len();
    list.truncate(limit);
    (all > limit).then(|| {
        let text = format!(
            "showing the first {limit} of {all} {what}: 'keymark export RUN -o run.csv' has all rows"
        );
        Remark::new(RemarkKind::Capped, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_get_the_same_share_that_want_more() {
        let of = |sizes: &[usize]| share(100, sizes.iter().copied());
        assert_eq!(of(&[]), 100);
        assert_eq!(of(&[100]), 100);
        assert_eq!(of(&[101]), 100);
        assert_eq!(of(&[50, 50]), 100, "nothing is too long");
        assert_eq!(of(&[5000, 10, 5000]), 45);
        assert_eq!(of(&[30, 5000, 40]), 35);
        assert_eq!(of(&[1; 200]), 1, "one each in any case");
    }
}
