//! One case's durations in time order, in the blocks in which they were measured.
//!
//! Samples of one block share the machine's state of that moment and are
//! correlated; blocks, with other cases in between, are nearly independent.
//! So blocks, not samples, are the units of every interval; one or two, which
//! give none, are cut into non-overlapping batches (Law & Kelton, "Simulation
//! Modeling and Analysis", 3rd ed. 2000, §9.5.3, batch means).

use std::ops::Range;

use crate::resample::Cluster;

/// With at least so many blocks, blocks are the units of every interval.
pub const UNIT_BLOCKS: usize = 3;
/// With fewer blocks a stop rule has nothing to go by, and a trend test neither.
pub const MIN_BLOCKS: usize = 8;
/// With fewer blocks, they are cut into at least so many batches.
pub const MIN_BATCHES: usize = 20;
/// Beyond this many, neighbouring blocks are joined: precision no longer
/// grows, resampling time does.
pub const MAX_BATCHES: usize = 1000;

/// Durations (ns) of the successful operations of one case, in time order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blocks {
    durations: Vec<u64>,
    ends: Vec<usize>,
    rounds: Vec<u32>,
}

/// Count and sums of one batch, durations taken relative to a common offset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Batch {
    /// Number of samples.
    pub count: u64,
    /// Sum of (duration − offset), ns.
    pub sum: f64,
    /// Sum of (duration − offset)², ns².
    pub sum_squares: f64,
}

/// Batches in time order with the offset of their sums.
#[derive(Debug, Clone, PartialEq)]
pub struct Batches {
    /// Subtracted from every duration (ns), so that squares do not cancel.
    pub offset_ns: f64,
    /// The batches, none empty.
    pub batches: Vec<Batch>,
}

impl Batches {
    /// The batches as sums over sizes, for ratio-of-sums estimates.
    pub(crate) fn clusters(&self) -> Vec<Cluster> {
        let cluster = |b: &Batch| Cluster {
            total: b.sum,
            size: b.count as f64,
        };
        self.batches.iter().map(cluster).collect()
    }
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

    /// Whether there is no sample.
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

    /// Mean duration of each block (ns).
    pub(crate) fn means(&self) -> Vec<f64> {
        let mean = |block: &[u64]| {
            let sum: f64 = block.iter().map(|&ns| ns as f64).sum();
            sum / block.len() as f64
        };
        self.iter().map(|(_, block)| mean(block)).collect()
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
            return merge_evenly(&blocks, max);
        }
        if blocks.len() >= min {
            return blocks;
        }
        let n = self.len();
        let cut = |block: Range<usize>| {
            // Rounding up makes the pieces of all blocks add up to `min` or more.
            let pieces = (block.len() * min).div_ceil(n).clamp(1, block.len());
            let at = move |i: usize| block.start + block.len() * i / pieces;
            (0..pieces).map(move |i| at(i)..at(i + 1))
        };
        blocks.into_iter().flat_map(cut).collect()
    }

    /// The ranges that serve as independent units in every interval.
    pub(crate) fn unit_ranges(&self) -> Vec<Range<usize>> {
        let enough = self.block_count() >= UNIT_BLOCKS;
        self.ranges(if enough { UNIT_BLOCKS } else { MIN_BATCHES }, MAX_BATCHES)
    }

    /// Batches in time order: the blocks, or, if fewer than `min`, pieces of
    /// them, at least `min` as far as there are samples. Never more than
    /// [`MAX_BATCHES`], unless `min` is.
    pub fn batches(&self, min: usize) -> Batches {
        self.sums(&self.ranges(min, MAX_BATCHES.max(min)))
    }

    /// Batches that serve as independent units in an interval.
    pub(crate) fn units(&self) -> Batches {
        self.sums(&self.unit_ranges())
    }

    fn sums(&self, ranges: &[Range<usize>]) -> Batches {
        let offset = self.durations.first().copied().unwrap_or(0);
        let total: f64 = self
            .durations
            .iter()
            .map(|&ns| ns as f64 - offset as f64)
            .sum();
        // Rounded, so that constant data give sums of exactly zero.
        let offset_ns = offset as f64 + (total / self.len().max(1) as f64).round();
        let batch = |range: &Range<usize>| sum_batch(&self.durations[range.clone()], offset_ns);
        Batches {
            offset_ns,
            batches: ranges.iter().map(batch).collect(),
        }
    }
}

/// Joins neighbours into `groups` groups of nearly equal numbers of blocks.
fn merge_evenly(blocks: &[Range<usize>], groups: usize) -> Vec<Range<usize>> {
    let at = |i: usize| blocks.len() * i / groups;
    (0..groups)
        .map(|i| blocks[at(i)].start..blocks[at(i + 1) - 1].end)
        .collect()
}

fn sum_batch(durations: &[u64], offset: f64) -> Batch {
    let mut batch = Batch {
        count: 0,
        sum: 0.0,
        sum_squares: 0.0,
    };
    for &ns in durations {
        let x = ns as f64 - offset;
        batch.count += 1;
        batch.sum += x;
        batch.sum_squares += x * x;
    }
    batch
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
        assert_eq!(blocks.batches(20).batches.len(), 3);
        assert!(Blocks::default().batches(20).batches.is_empty());
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
        let b = blocks.batches(1);
        assert!((b.offset_ns - (big + 2) as f64).abs() < 1e-9);
        assert_eq!(
            b.batches,
            [Batch {
                count: 3,
                sum: 0.0,
                sum_squares: 8.0
            }]
        );
    }
}
