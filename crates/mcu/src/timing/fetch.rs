//! Fetching instructions from flash, and reading data there.
//!
//! Flash delivers `read_bytes` at a time, `wait_states + 1` cycles a read. While code runs straight on, the
//! next reads are begun ahead (the core's prefetch unit, DDI 0337 1.2; the flash's prefetch buffer, PM0075
//! 2.3.2), so that a wait is felt only where instructions are consumed faster than they come. After a
//! branch the first read of its target is waited for, unless a buffer or cache holds it.

use super::{CacheShape, CacheUse, FlashTiming, Ports};
use crate::machine::Layout;

/// Reads that are followed: the one that is executed from and those ahead, in a ring of a power of two.
const RING: usize = FlashTiming::MOST_AHEAD as usize + 1;
const _: () = assert!(RING.is_power_of_two());

/// No read begins there, and none next to it.
const NOWHERE: u32 = 1;

/// Source of executed code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FetchSource {
    Flash,
    /// Flash behind a cache.
    Cache,
    Ram,
}

/// The state of fetching. Times are cycles since the beginning.
#[derive(Debug, Clone)]
pub struct Fetch {
    /// Bytes of a read, also as a power of two, and cycles that one takes.
    bytes: u32,
    shift: u32,
    each: u64,
    reads_ahead: usize,
    ports: Ports,
    flash_mask: u32,
    ram_base: u32,
    /// The second RAM: its first address and its bytes.
    ccm: (u32, u32),
    source: FetchSource,
    /// The first address of the read that is executed from, or [`NOWHERE`] behind a branch, and of the one before that.
    current: u32,
    left: u32,
    /// Place in the ring, and the times when it and those after it are there.
    at: usize,
    ready: [u64; RING],
    /// End of the read under way.
    busy: u64,
    instructions: Option<Cache>,
    data: Option<Cache>,
}

impl Fetch {
    /// Nothing fetched yet. The size of flash is rounded up to a power of two; RAM lies above.
    pub fn new(timing: FlashTiming, layout: &Layout) -> Self {
        let shift = u32::from(timing.read_bytes).trailing_zeros();
        let flash = layout.flash_size.next_power_of_two();
        let cache = |shape| Cache::new(shape, flash >> shift);
        Self {
            bytes: u32::from(timing.read_bytes),
            shift,
            each: u64::from(timing.wait_states) + 1,
            reads_ahead: usize::from(timing.reads_ahead),
            ports: timing.ports,
            flash_mask: flash - 1,
            ram_base: layout.ram_base,
            ccm: (layout.ccm_base, layout.ccm_size),
            source: match timing.instruction_cache {
                None => FetchSource::Flash,
                Some(_) => FetchSource::Cache,
            },
            current: NOWHERE,
            left: NOWHERE,
            at: 0,
            ready: [0; RING],
            busy: 0,
            instructions: timing.instruction_cache.map(cache),
            data: timing.data_cache.map(cache),
        }
    }

    /// Use of the caches of instructions and data.
    pub fn cache_uses(&self) -> [CacheUse; 2] {
        [&self.instructions, &self.data].map(|cache| {
            cache
                .as_ref()
                .map_or_else(CacheUse::default, |cache| cache.used)
        })
    }

    /// The first address of the read that holds that one.
    #[inline(always)]
    pub(super) const fn read_of(&self, address: u32) -> u32 {
        address & self.bytes.wrapping_neg()
    }

    /// Returns true if an instruction that ends at `last` is in the read that is executed from.
    #[inline(always)]
    pub(super) const fn holds(&self, last: u32) -> bool {
        self.read_of(last) == self.current
    }

    /// The next instruction is a branch's target.
    #[inline(always)]
    pub(super) const fn branch(&mut self) {
        self.left = self.current;
        self.current = NOWHERE;
    }

    /// Returns true if the next instruction is a branch's target.
    #[inline(always)]
    pub(super) const fn has_branched(&self) -> bool {
        self.current == NOWHERE
    }

    /// Returns the time when the read that far ahead is there.
    #[inline(always)]
    const fn ready(&mut self, ahead: usize) -> &mut u64 {
        &mut self.ready[(self.at + ahead) % RING]
    }

    /// The first address of the following read.
    #[inline(always)]
    const fn following(&self, read: u32, ahead: u32) -> u32 {
        read.wrapping_add(ahead * self.bytes)
    }

    /// Moves to the following read; returns the cycles waited for it.
    #[inline(always)]
    pub(super) fn next(&mut self, now: u64) -> u64 {
        self.current = self.following(self.current, 1);
        self.at += 1;
        let wait = self.ready(0).saturating_sub(now);
        *self.ready(self.reads_ahead) = if self.source == FetchSource::Flash {
            self.read(now + wait)
        } else {
            let furthest = self.following(self.current, self.reads_ahead as u32);
            self.request(furthest, now + wait)
        };
        wait
    }

    /// Cycles waited for the first read of a branch's target.
    #[inline(always)]
    pub(super) fn target(&mut self, target: u32, now: u64) -> u64 {
        let read = self.read_of(target);
        self.current = self.left;
        if read == self.current {
            return self.ready(0).saturating_sub(now);
        }
        // A short way ahead: what the prefetch buffer holds already, or is reading.
        if read == self.following(self.current, 1) {
            return self.next(now);
        }
        self.current = read;
        if self.instructions.is_some() || target >= self.ram_base {
            return self.target_elsewhere(target, now);
        }
        self.source = FetchSource::Flash;
        self.forget_reads_ahead(now);
        // One behind the other.
        let (start, each) = (now.max(self.busy), self.each);
        self.at = 0;
        self.ready = std::array::from_fn(|ahead| start + each * (ahead as u64 + 1) - 1);
        self.busy = start + each * (self.reads_ahead as u64 + 1);
        start + each - 1 - now
    }

    /// Waits for a branch's target in RAM or behind a cache.
    #[inline(never)]
    fn target_elsewhere(&mut self, target: u32, now: u64) -> u64 {
        self.source = if target >= self.ram_base {
            FetchSource::Ram
        } else {
            FetchSource::Cache
        };
        self.forget_reads_ahead(now);
        self.at = 0;
        let mut at = now;
        for ahead in 0..=self.reads_ahead {
            at = self.request(self.following(self.current, ahead as u32), at);
            *self.ready(ahead) = at;
        }
        self.ready[0].saturating_sub(now)
    }

    /// The read that flash is at ends; those behind it were not begun.
    #[inline(always)]
    fn forget_reads_ahead(&mut self, now: u64) {
        // They are few.
        while self.busy > now + self.each {
            self.busy -= self.each;
        }
    }

    /// Returns the time when a read asked for now is there, in RAM or behind a cache.
    #[inline(always)]
    fn request(&mut self, read: u32, now: u64) -> u64 {
        let held = match (self.source, &mut self.instructions) {
            (FetchSource::Ram, _) => true,
            (FetchSource::Cache, Some(cache)) => {
                cache.access((read & self.flash_mask) >> self.shift)
            }
            _ => false,
        };
        if held { now } else { self.read(now) }
    }

    /// A read of the array: when its data is there.
    #[inline(always)]
    fn read(&mut self, now: u64) -> u64 {
        self.busy = now.max(self.busy) + self.each;
        self.busy - 1
    }

    /// Returns true if data there comes without a wait: from RAM, unless that is executed from.
    #[inline(always)]
    pub(super) fn is_free(&self, address: u32) -> bool {
        address >= self.ram_base && (self.source != FetchSource::Ram || self.ports == Ports::Single)
    }

    /// Cycles waited for that number of bytes of data from that address on; none outside flash.
    #[inline(never)]
    pub(super) fn data(&mut self, address: u32, bytes: u8, now: u64) -> u64 {
        let words = bytes.div_ceil(4).max(1);
        if address >= self.ram_base {
            // Code in RAM shares the system bus with data: one of the two waits (DDI 0337, 1.2).
            return u64::from(!self.is_free(address)) * u64::from(words);
        }
        if address.wrapping_sub(self.ccm.0) < self.ccm.1 {
            return 0;
        }
        // Each word is an access of its own on the DCode bus, a cycle after the one before.
        (0..u32::from(words)).fold(0, |waited, word| {
            let begun = now + waited + u64::from(word);
            waited + self.flash_data(address.wrapping_add(4 * word), begun)
        })
    }

    fn flash_data(&mut self, address: u32, now: u64) -> u64 {
        if let Some(cache) = &mut self.data
            && cache.access((address & self.flash_mask) >> self.shift)
        {
            return 0;
        }
        if self.ports == Ports::Apart {
            return self.each - 1;
        }
        // It comes before reads ahead that are not begun, and these after it.
        let planned = self.busy;
        self.forget_reads_ahead(now);
        let ready = self.read(now);
        if planned > self.busy {
            self.busy = planned + self.each;
            for ahead in 1..RING {
                let (more, there) = (self.each, self.ready(ahead));
                if *there > now {
                    *there += more;
                }
            }
        }
        match self.ports {
            Ports::Single => (ready - now).saturating_sub(1).max(self.each - 1),
            Ports::Shared | Ports::Apart => ready - now,
        }
    }
}

/// No line holds it.
const NO_SLOT: u8 = u8::MAX;

/// Cache with least-recently-used replacement (RM0090, 3.5.2: "the LRU policy is used to determine the line to
/// replace"). Contents do not matter to timing.
#[derive(Debug, Clone)]
pub struct Cache {
    sets: usize,
    /// Reads in a line, as a power of two.
    shift: u32,
    /// Slot of each line of flash.
    slot_of: Vec<u8>,
    /// Slots: as many as an octet distinguishes, so that none is looked for outside.
    slots: Box<[CacheSlot; 256]>,
    /// The slot of each set that was used last; from it they follow one another, the oldest first.
    newest: Box<[u8; 256]>,
    /// Lookups and hits.
    pub used: CacheUse,
}

#[derive(Debug, Clone, Copy)]
struct CacheSlot {
    line: u32,
    /// Valid bits, one per read.
    valid: u8,
    /// The slots of its set that were used before and after it, in a ring.
    older: u8,
    newer: u8,
    set: u8,
}

impl Cache {
    /// An empty cache before a flash of that number of reads.
    pub fn new(shape: CacheShape, reads: u32) -> Self {
        let lines = reads.div_ceil(u32::from(shape.reads_per_line));
        let (ways, sets) = (shape.ways as u8, (shape.lines / shape.ways) as u8);
        // All at first in the order of their places, the first the oldest.
        let slot = |index: u8| {
            let (first, way) = (index / ways * ways, index % ways);
            CacheSlot {
                line: u32::MAX,
                valid: 0,
                older: first.wrapping_add(way.checked_sub(1).unwrap_or(ways - 1)),
                newer: first.wrapping_add((way + 1) % ways),
                set: index / ways,
            }
        };
        Self {
            sets: usize::from(sets),
            shift: u32::from(shape.reads_per_line).trailing_zeros(),
            slot_of: vec![NO_SLOT; lines as usize],
            slots: Box::new(std::array::from_fn(|index| slot(index as u8))),
            newest: Box::new(std::array::from_fn(|set| {
                (set as u8)
                    .wrapping_add(1)
                    .wrapping_mul(ways)
                    .wrapping_sub(1)
            })),
            used: CacheUse::default(),
        }
    }

    /// Returns true if that read is held; afterwards it is.
    #[inline]
    pub fn access(&mut self, read: u32) -> bool {
        let (line, bit) = (read >> self.shift, 1u8 << (read & ((1 << self.shift) - 1)));
        self.used.lookups += 1;
        let Some(&slot) = self.slot_of.get(line as usize) else {
            return false;
        };
        if slot == NO_SLOT {
            self.replace(line, bit);
            return false;
        }
        self.touch(slot);
        let held = &mut self.slots[usize::from(slot)];
        let hit = held.valid & bit != 0;
        held.valid |= bit;
        self.used.hits += u64::from(hit);
        hit
    }

    /// Makes a slot the newest of its set.
    #[inline(always)]
    fn touch(&mut self, slot: u8) {
        let CacheSlot {
            older, newer, set, ..
        } = self.slots[usize::from(slot)];
        let set = usize::from(set);
        let newest = self.newest[set];
        if newest == slot {
            return;
        }
        self.slots[usize::from(older)].newer = newer;
        self.slots[usize::from(newer)].older = older;
        let oldest = self.slots[usize::from(newest)].newer;
        self.slots[usize::from(newest)].newer = slot;
        self.slots[usize::from(oldest)].older = slot;
        let moved = &mut self.slots[usize::from(slot)];
        (moved.older, moved.newer) = (newest, oldest);
        self.newest[set] = slot;
    }

    #[inline(never)]
    fn replace(&mut self, line: u32, bit: u8) {
        // The ring goes on by one: the oldest is the newest now.
        let set = line as usize % self.sets;
        let place = self.slots[usize::from(self.newest[set])].newer;
        self.newest[set] = place;
        let slot = &mut self.slots[usize::from(place)];
        let gone = std::mem::replace(&mut slot.line, line);
        slot.valid = bit;
        if let Some(gone) = self.slot_of.get_mut(gone as usize) {
            *gone = NO_SLOT;
        }
        self.slot_of[line as usize] = place;
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
        assert_eq!((cache.used.lookups, cache.used.hits), (6, 2));
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
