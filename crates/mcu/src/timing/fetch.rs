//! Fetching instructions from flash, and reading data there.
//!
//! Flash delivers `read_bytes` at a time, `wait_states + 1` cycles a read. While code runs straight on, the
//! next reads are begun ahead (the core's prefetch unit, DDI 0337 1.2; the flash's prefetch buffer, PM0075
//! 2.3.2), so that a wait is felt only where instructions are consumed faster than they come. After a
//! branch the first read of its target is waited for, unless a buffer or cache holds it.

use super::cache::Cache;
use super::parameters::FlashTiming;

const QUEUE: usize = FlashTiming::MOST_AHEAD as usize + 1;

/// No read has this number: there are too few addresses.
const NOWHERE: u32 = u32::MAX;

/// Where code is executed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Flash,
    Ram,
}

/// The state of fetching. Times are cycles since the beginning.
#[derive(Debug, Clone)]
pub struct Fetch {
    timing: FlashTiming,
    shift: u32,
    flash_mask: u32,
    ram_base: u32,
    source: Source,
    /// The read that is executed from, or [`NOWHERE`] behind a branch, and the one before that.
    current: u32,
    left: u32,
    /// When it and those after it are there.
    ready: [u64; QUEUE],
    /// Until then flash is reading.
    busy: u64,
    instructions: Option<Cache>,
    data: Option<Cache>,
}

impl Fetch {
    /// Nothing fetched yet. `flash_size` is rounded up to a power of two, `ram_base` lies above flash.
    pub fn new(timing: FlashTiming, flash_size: u32, ram_base: u32) -> Self {
        let shift = u32::from(timing.read_bytes).trailing_zeros();
        let flash = flash_size.next_power_of_two();
        let cache = |shape| Cache::new(shape, flash >> shift);
        Self {
            shift,
            flash_mask: flash - 1,
            ram_base,
            source: Source::Flash,
            current: NOWHERE,
            left: NOWHERE,
            ready: [0; QUEUE],
            busy: 0,
            instructions: timing.instruction_cache.map(cache),
            data: timing.data_cache.map(cache),
            timing,
        }
    }

    /// The caches of instructions and data, for their hit rates.
    pub const fn caches(&self) -> (Option<&Cache>, Option<&Cache>) {
        (self.instructions.as_ref(), self.data.as_ref())
    }

    /// Whether an instruction that ends at `last` is in the read that is executed from.
    #[inline(always)]
    pub(super) const fn holds(&self, last: u32) -> bool {
        last >> self.shift == self.current
    }

    /// The next instruction is a branch's target.
    #[inline(always)]
    pub(super) const fn branch(&mut self) {
        self.left = self.current;
        self.current = NOWHERE;
    }

    /// Whether the next instruction is a branch's target.
    #[inline(always)]
    pub(super) const fn has_branched(&self) -> bool {
        self.current == NOWHERE
    }

    /// On to the following read: cycles waited for it.
    #[inline]
    pub(super) fn next(&mut self, now: u64) -> u64 {
        self.current = self.current.wrapping_add(1);
        let [_, first, second, third] = self.ready;
        self.ready = [first, second, third, third];
        let wait = self.ready[0].saturating_sub(now);
        let ahead = u32::from(self.timing.reads_ahead);
        let ready = self.request(self.current.wrapping_add(ahead), now + wait);
        self.ready[ahead as usize] = ready;
        wait
    }

    /// Cycles waited for the first read of a branch's target.
    #[inline]
    pub(super) fn target(&mut self, target: u32, now: u64) -> u64 {
        let read = target >> self.shift;
        self.current = self.left;
        if read == self.current {
            return self.ready[0].saturating_sub(now);
        }
        // A short way ahead: what the prefetch buffer holds already, or is reading.
        if read == self.current.wrapping_add(1) {
            return self.next(now);
        }
        self.source = if target >= self.ram_base {
            Source::Ram
        } else {
            Source::Flash
        };
        self.forget_reads_ahead(now);
        self.current = read;
        let mut at = now;
        for ahead in 0..=self.timing.reads_ahead {
            let ready = self.request(read + u32::from(ahead), at);
            self.ready[usize::from(ahead)] = ready;
            at = ready;
        }
        self.ready[0].saturating_sub(now)
    }

    /// The read that flash is at ends; those behind it were not begun.
    #[inline]
    fn forget_reads_ahead(&mut self, now: u64) {
        let read = u64::from(self.timing.wait_states) + 1;
        if self.busy > now + read {
            self.busy = now + 1 + (self.busy - now - 1) % read;
        }
    }

    /// When a read asked for now is there.
    #[inline]
    fn request(&mut self, read: u32, now: u64) -> u64 {
        if self.source == Source::Ram {
            return now;
        }
        if let Some(cache) = &mut self.instructions
            && cache.access(read & (self.flash_mask >> self.shift))
        {
            return now;
        }
        self.read(now)
    }

    /// A read of the array: when its data is there.
    #[inline]
    fn read(&mut self, now: u64) -> u64 {
        let start = now.max(self.busy);
        let wait = u64::from(self.timing.wait_states);
        self.busy = start + wait + 1;
        start + wait
    }

    /// Cycles waited for so many words of data from that address on (1 for anything shorter); none
    /// outside flash.
    #[inline(always)]
    pub(super) fn data(&mut self, address: u32, words: u8, now: u64) -> u64 {
        if address >= self.ram_base {
            // Code in RAM shares the system bus with data: one of the two waits (DDI 0337, 1.2).
            return u64::from(self.source == Source::Ram) * u64::from(words);
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
        // It comes before reads ahead that are not begun, and these after it.
        let planned = self.busy;
        self.forget_reads_ahead(now);
        let ready = self.read(now);
        if planned > self.busy {
            let more = u64::from(self.timing.wait_states) + 1;
            self.busy = planned + more;
            for there in self.ready.iter_mut().skip(1).filter(|there| **there > now) {
                *there += more;
            }
        }
        ready - now
    }
}
