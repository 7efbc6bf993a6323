//! Durations of one case in time order, in the blocks in which they were measured.
//!
//! Samples of one block share the machine's state of that moment and are
//! correlated; blocks, with other cases in between, are nearly independent.
//! So blocks, not samples, are the units of every interval; one or two, which
//! give none, are cut into non-overlapping batches (Law & Kelton, "Simulation
//! Modeling and Analysis", 3rd ed. 2000, §9.5.3, batch means).

use std::ops::Range;

use crate::resample::Cluster;

/// Least number of blocks that are the units of every interval.
pub(crate) const UNIT_BLOCKS: usize = 3;
/// Least number of blocks for a stop rule or a trend test.
pub const MIN_BLOCKS: usize = 8;
/// Least number of batches into which fewer blocks are cut.
pub(crate) const MIN_BATCHES: usize = 20;
/// Beyond this number, neighboring blocks are joined: precision no longer
/// grows, resampling time does.
pub(crate) const MAX_BATCHES: usize = 1000;

/// Durations (ns) of the successful operations of one case, in time order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blocks {
    durations: Vec<u64>,
    ends: Vec<usize>,
    rounds: Vec<u32>,
}

impl Blocks {
    /// Collects blocks of (round, durations in ns), in time order; empty ones are dropped.
    pub fn from_blocks(blocks: impl IntoIterator<Item = (u32, Vec<u64>)>) -> Self {
        let mut all = Self::default();
        for (round, durations) in blocks {
            all.push(round, &durations);
        }
        all
    }

    /// Appends a block of durations (ns), measured in interleaving round `round`.
    pub fn push(&mut self, round: u32, durations: &[u64]) {
        if !durations.is_empty() {
            self.durations.extend_from_slice(durations);
            self.ends.push(self.durations.len());
            self.rounds.push(round);
        }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.durations.len()
    }

    /// Returns whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.durations.is_empty()
    }

    /// Number of blocks.
    pub fn block_count(&self) -> usize {
        self.ends.len()
    }

    /// Rounds from one block to the next, on average; `None` where blocks are cut into [pieces](Self::units).
    pub(crate) fn distance(&self) -> Option<f64> {
        let (first, last) = (self.rounds.first()?, self.rounds.last()?);
        let apart = f64::from(last.saturating_sub(*first));
        let enough = self.block_count() >= UNIT_BLOCKS && apart > 0.0;
        enough.then(|| apart / (self.block_count() - 1) as f64)
    }

    /// All durations (ns) in time order.
    pub fn durations(&self) -> &[u64] {
        &self.durations
    }

    /// The blocks in time order: round and durations (ns).
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u64])> {
        let ranges = self.block_ranges();
        self.rounds
            .iter()
            .copied()
            .zip(ranges.map(|range| &self.durations[range]))
    }

    /// The rounds of the blocks, with their durations (ns) over their numbers.
    pub(crate) fn visits(&self) -> Vec<(u32, Cluster)> {
        self.iter()
            .map(|(round, block)| (round, cluster(block, 0.0)))
            .collect()
    }

    /// Mean duration of each block (ns).
    pub(crate) fn means(&self) -> Vec<f64> {
        let visits = self.visits().into_iter();
        visits.map(|(_, block)| block.total / block.size).collect()
    }

    fn block_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(self.ends.iter().copied())
            .map(|(start, end)| start..end)
    }

    /// Contiguous index ranges, one a batch: the blocks, cut if fewer than
    /// `min` (as far as there are samples), joined if more than `max`.
    pub(crate) fn ranges(&self, min: usize, max: usize) -> Vec<Range<usize>> {
        let blocks: Vec<_> = self.block_ranges().collect();
        if blocks.len() > max {
            // Neighbors are joined.
            let groups = evenly(blocks.len(), max);
            let joined = groups.map(|group| blocks[group.start].start..blocks[group.end - 1].end);
            return joined.collect();
        }
        if blocks.len() >= min {
            return blocks;
        }
        let n = self.len();
        let cut = |block: Range<usize>| {
            // Rounding up makes the pieces of all blocks add up to `min` or more.
            let pieces = (block.len() * min).div_ceil(n).clamp(1, block.len());
            let pieces = evenly(block.len(), pieces);
            pieces.map(move |piece| block.start + piece.start..block.start + piece.end)
        };
        blocks.into_iter().flat_map(cut).collect()
    }

    /// The ranges of [`Self::units`].
    pub(crate) fn unit_ranges(&self) -> Vec<Range<usize>> {
        let enough = self.block_count() >= UNIT_BLOCKS;
        self.ranges(if enough { UNIT_BLOCKS } else { MIN_BATCHES }, MAX_BATCHES)
    }

    /// Returns an offset near the mean (ns): squares of units less it do not cancel.
    pub(crate) fn offset_ns(&self) -> f64 {
        let offset = self.durations.first().copied().unwrap_or(0);
        let total: f64 = self
            .durations
            .iter()
            .map(|&ns| ns as f64 - offset as f64)
            .sum();
        // Rounded, so that constant data give sums of exactly zero.
        offset as f64 + (total / self.len().max(1) as f64).round()
    }

    /// Returns the independent units of every interval in time order: sums of durations (ns), each less an offset, over
    /// their numbers.
    pub(crate) fn clusters(&self, offset_ns: f64) -> Vec<Cluster> {
        let ranges = self.unit_ranges().into_iter();
        ranges
            .map(|range| cluster(&self.durations[range], offset_ns))
            .collect()
    }
}

/// Returns groups of nearly equal numbers.
pub(crate) fn evenly(count: usize, groups: usize) -> impl Iterator<Item = Range<usize>> {
    let at = move |i: usize| count * i / groups;
    (0..groups).map(move |i| at(i)..at(i + 1))
}

fn cluster(durations: &[u64], offset: f64) -> Cluster {
    Cluster {
        total: durations.iter().map(|&ns| ns as f64 - offset).sum(),
        size: durations.len() as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_blocks_are_dropped() {
        let blocks = Blocks::from_blocks([(0, vec![1, 2]), (1, vec![]), (2, vec![3])]);
        assert_eq!((blocks.len(), blocks.block_count()), (3, 2));
        let all: Vec<_> = blocks.iter().collect();
        assert_eq!(all, [(0, &[1, 2][..]), (2, &[3][..])]);
    }

    #[test]
    fn few_blocks_are_cut_within_their_borders() {
        let blocks = Blocks::from_blocks([(0, (0..70).collect()), (1, (70..100).collect())]);
        let ranges = blocks.ranges(20, 1000);
        assert_eq!(ranges.len(), 20);
        assert!(ranges.iter().any(|r| r.end == 70));
        assert!(
            ranges
                .windows(2)
                .all(|w| w[0].end == w[1].start && !w[0].is_empty())
        );
        assert_eq!(ranges.last().unwrap().end, 100);
    }

    #[test]
    fn fewer_samples_than_batches() {
        let blocks = Blocks::from_blocks([(0, vec![5, 7]), (1, vec![9])]);
        assert_eq!(blocks.ranges(20, MAX_BATCHES).len(), 3);
        assert!(Blocks::default().ranges(20, MAX_BATCHES).is_empty());
    }

    #[test]
    fn many_blocks_are_joined() {
        let blocks = Blocks::from_blocks((0..2500).map(|i| (i, vec![u64::from(i)])));
        let ranges = blocks.ranges(8, 1000);
        assert_eq!(ranges.len(), 1000);
        assert_eq!(
            ranges.iter().map(ExactSizeIterator::len).sum::<usize>(),
            2500
        );
    }

    #[test]
    fn sums_do_not_cancel() {
        let big = 1 << 50;
        let blocks = Blocks::from_blocks([(0, vec![big, big + 2, big + 4])]);
        let offset_ns = blocks.offset_ns();
        assert!((offset_ns - (big + 2) as f64).abs() < 1e-9);
        let units = blocks.clusters(offset_ns);
        let totals: Vec<f64> = units.iter().map(|unit| unit.total).collect();
        assert_eq!(totals, [-2.0, 0.0, 2.0]);
    }
}
