//! A cache of flash reads with least-recently-used replacement (RM0090, 3.5.2: "the LRU policy is used
//! to determine the line to replace").

use super::parameters::CacheShape;

/// No line holds it.
const NOWHERE: u8 = u8::MAX;

/// Which reads of flash are held. Contents do not matter to timing.
#[derive(Debug, Clone)]
pub struct Cache {
    ways: usize,
    sets: usize,
    /// Reads in a line, as a power of two.
    shift: u32,
    /// For each line of flash the slot that holds it.
    slot_of: Vec<u8>,
    slots: Vec<Slot>,
    clock: u64,
    /// Reads asked for.
    pub lookups: u64,
    /// Reads that were there.
    pub hits: u64,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    line: u32,
    /// One bit a read.
    valid: u8,
    used: u64,
}

impl Cache {
    /// An empty cache before a flash of so many reads.
    pub fn new(shape: CacheShape, reads: u32) -> Self {
        let lines = reads.div_ceil(u32::from(shape.reads_per_line));
        Self {
            ways: usize::from(shape.ways),
            sets: usize::from(shape.lines / shape.ways),
            shift: u32::from(shape.reads_per_line).trailing_zeros(),
            slot_of: vec![NOWHERE; lines as usize],
            slots: vec![
                Slot {
                    line: u32::MAX,
                    valid: 0,
                    used: 0,
                };
                usize::from(shape.lines)
            ],
            clock: 0,
            lookups: 0,
            hits: 0,
        }
    }

    /// Whether that read is held; afterwards it is.
    #[inline]
    pub fn access(&mut self, read: u32) -> bool {
        let (line, bit) = (read >> self.shift, 1u8 << (read & ((1 << self.shift) - 1)));
        self.clock += 1;
        self.lookups += 1;
        let Some(&slot) = self.slot_of.get(line as usize) else {
            return false;
        };
        if let Some(held) = self.slots.get_mut(usize::from(slot)) {
            held.used = self.clock;
            let hit = held.valid & bit != 0;
            held.valid |= bit;
            self.hits += u64::from(hit);
            return hit;
        }
        self.replace(line, bit);
        false
    }

    fn replace(&mut self, line: u32, bit: u8) {
        let first = line as usize % self.sets * self.ways;
        let slots = self
            .slots
            .get_mut(first..first + self.ways)
            .unwrap_or(&mut []);
        let oldest = slots
            .iter_mut()
            .enumerate()
            .min_by_key(|(_, slot)| slot.used);
        let Some((way, slot)) = oldest else {
            return;
        };
        if let Some(place) = self.slot_of.get_mut(slot.line as usize) {
            *place = NOWHERE;
        }
        *slot = Slot {
            line,
            valid: bit,
            used: self.clock,
        };
        if let Some(place) = self.slot_of.get_mut(line as usize) {
            *place = (first + way) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(lines: u16, reads_per_line: u8, ways: u16) -> Cache {
        let shape = CacheShape {
            lines,
            reads_per_line,
            ways,
        };
        Cache::new(shape, 1024)
    }

    #[test]
    fn the_least_recently_used_line_goes() {
        let mut cache = cache(2, 1, 2);
        assert!(!cache.access(1));
        assert!(!cache.access(2));
        assert!(cache.access(1));
        assert!(!cache.access(3), "takes the place of 2");
        assert!(cache.access(1));
        assert!(!cache.access(2));
        assert_eq!((cache.lookups, cache.hits), (6, 2));
    }

    #[test]
    fn each_read_of_a_line_has_its_own_valid_bit() {
        let mut cache = cache(1, 4, 1);
        assert!(!cache.access(4));
        assert!(!cache.access(5));
        assert!(cache.access(4) && cache.access(5));
        assert!(!cache.access(0), "another line");
        assert!(!cache.access(5), "gone with its line");
    }

    #[test]
    fn a_direct_mapped_cache_has_one_place_for_a_line() {
        let mut cache = cache(4, 1, 1);
        assert!(!cache.access(1));
        assert!(!cache.access(5), "the same place as 1");
        assert!(!cache.access(1));
        assert!(!cache.access(2));
        assert!(cache.access(1));
    }
}
