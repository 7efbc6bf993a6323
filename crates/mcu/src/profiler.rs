//! Profile of a program: by symbol, and by call stack for flame graphs.

use std::collections::BTreeMap;

use crate::image::{Image, Symbol};
use crate::instruction::Class;
use crate::predict::Banded;
use crate::timing::{Pipeline, Retired, Timing};

/// The cycles of deeper calls are counted to the function at that depth.
const DEEPEST: usize = 64;
/// Paths that are told apart; the cycles of further ones are counted to their callers.
const MOST_PATHS: usize = 100_000;
/// Calls that may be open: more are no calls but jumps.
const MOST_OPEN: usize = 1 << 20;

/// Cycles and instructions of a function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "what they say")]
pub struct Spent {
    pub cycles: u64,
    /// Cycles including callees.
    pub inclusive: u64,
    pub instructions: u64,
    /// Times it was called.
    pub calls: u64,
}

/// A call that has not returned.
#[derive(Debug, Clone, Copy)]
struct Frame {
    node: usize,
    returns_to: u32,
}

/// Own cycles and instructions in each phase.
type SpentByPhase = BTreeMap<u8, (u64, u64)>;

/// A function as called along one path.
#[derive(Debug, Clone, Default)]
struct Node {
    /// Index into the symbols; `None` where the image has no name for it.
    symbol: Option<usize>,
    children: BTreeMap<Option<usize>, usize>,
    spent: SpentByPhase,
}

/// Times a program and keeps a tree of its calls. A call is BL or BLX; a branch to the address behind a call returns
/// from it.
#[derive(Debug, Clone)]
pub struct Profiler {
    timing: Banded,
    symbols: Vec<Symbol>,
    /// Calls of each symbol, and of what has no name.
    calls: BTreeMap<Option<usize>, u64>,
    /// The first one is the root.
    nodes: Vec<Node>,
    phase: u8,
    stack: Vec<Frame>,
    /// The function executed in, and until which address.
    current: usize,
    range: std::ops::Range<u32>,
    /// Instructions so far, and what there was of cycles and of them when it was entered.
    executed: u64,
    entered: (u64, u64),
}

impl Profiler {
    /// Times with that model; names come from the image.
    pub fn new(timing: Banded, image: &Image) -> Self {
        Self {
            timing,
            symbols: image.code().to_vec(),
            calls: BTreeMap::new(),
            nodes: vec![Node::default()],
            phase: 0,
            stack: Vec::new(),
            current: 0,
            range: 0..0,
            executed: 0,
            entered: (0, 0),
        }
    }

    /// The timing so far: account and phases.
    pub const fn pipeline(&self) -> &Pipeline {
        self.timing.base()
    }

    /// Returns the timing with its variants.
    pub const fn timing(&self) -> &Banded {
        &self.timing
    }

    /// The function that holds an address, and the addresses it holds.
    fn symbol_at(&self, address: u32) -> (Option<usize>, std::ops::Range<u32>) {
        let after = self
            .symbols
            .partition_point(|symbol| symbol.address <= address);
        let end = self
            .symbols
            .get(after)
            .map_or(u32::MAX, |symbol| symbol.address);
        let Some(index) = after.checked_sub(1) else {
            return (None, 0..end);
        };
        let symbol = &self.symbols[index];
        let own_end = symbol.address.saturating_add(symbol.size);
        if address < own_end {
            (Some(index), symbol.address..own_end)
        } else {
            (None, own_end..end)
        }
    }

    /// Below `parent`, the function at `address`.
    fn enter(&mut self, parent: usize, address: u32) {
        let (symbol, range) = self.symbol_at(address);
        self.range = range;
        self.current = self.child(parent, symbol);
    }

    /// Itself where there are too many.
    fn child(&mut self, parent: usize, symbol: Option<usize>) -> usize {
        let next = self.nodes.len();
        if let Some(&node) = self.nodes[parent].children.get(&symbol) {
            return node;
        }
        if next >= MOST_PATHS {
            return parent;
        }
        self.nodes[parent].children.insert(symbol, next);
        self.nodes.push(Node {
            symbol,
            ..Node::default()
        });
        next
    }

    /// Counts what has been spent in the function since it was entered.
    fn leave(&mut self) {
        let spent = std::mem::take(&mut self.nodes[self.current].spent);
        self.nodes[self.current].spent = self.until_now(spent);
        self.entered = (self.pipeline().now(), self.executed);
    }

    /// Adds what has been spent in the current function since it was entered.
    fn until_now(&self, mut spent: SpentByPhase) -> SpentByPhase {
        let (cycles, instructions) = spent.entry(self.phase).or_default();
        *cycles += self.pipeline().now() - self.entered.0;
        *instructions += self.executed - self.entered.1;
        spent
    }

    /// Returns the cost of a node until now.
    fn spent(&self, node: usize) -> SpentByPhase {
        let spent = self.nodes[node].spent.clone();
        if node == self.current {
            return self.until_now(spent);
        }
        spent
    }

    #[cold]
    fn call(&mut self, returns_to: u32, target: u32) {
        self.leave();
        *self.calls.entry(self.symbol_at(target).0).or_default() += 1;
        if self.stack.len() >= MOST_OPEN {
            return;
        }
        self.stack.push(Frame {
            node: self.current,
            returns_to,
        });
        if self.stack.len() <= DEEPEST {
            self.enter(self.current, target);
        } else {
            // Until it returns nothing is elsewhere.
            self.range = 0..u32::MAX;
        }
    }

    /// A branch out of the function: a return, or a call in tail position.
    #[cold]
    fn elsewhere(&mut self, address: u32) {
        self.leave();
        let returned = self
            .stack
            .iter()
            .rposition(|frame| frame.returns_to == address);
        if let Some(depth) = returned {
            self.current = self.stack[depth].node;
            self.stack.truncate(depth);
            self.range = if depth > DEEPEST {
                0..u32::MAX
            } else {
                self.symbol_at(address).1
            };
            return;
        }
        let parent = self.stack.last().map_or(0, |frame| frame.node);
        self.enter(parent, address);
    }

    fn name(&self, symbol: Option<usize>) -> &str {
        symbol.map_or("[unknown]", |index| self.symbols[index].name.as_str())
    }

    /// Returns the functions with their cycles over all paths.
    pub fn flat(&self) -> Vec<(String, Spent)> {
        let mut spent: BTreeMap<&str, Spent> = BTreeMap::new();
        for &child in self.nodes[0].children.values() {
            self.inclusive(child, &mut Vec::new(), &mut spent);
        }
        for (&symbol, &calls) in &self.calls {
            spent.entry(self.name(symbol)).or_default().calls += calls;
        }
        let mut flat: Vec<_> = spent
            .into_iter()
            .map(|(name, spent)| (name.to_owned(), spent))
            .collect();
        flat.sort_by_key(|(_, spent)| std::cmp::Reverse(spent.cycles));
        flat
    }

    /// Adds a node and those below it to what their functions have spent; gives the cycles of all of them.
    fn inclusive<'s>(
        &'s self,
        index: usize,
        open: &mut Vec<&'s str>,
        spent: &mut BTreeMap<&'s str, Spent>,
    ) -> u64 {
        let node = &self.nodes[index];
        let name = self.name(node.symbol);
        let recursive = open.contains(&name);
        open.push(name);
        let below = node.children.values();
        let below: u64 = below.map(|&child| self.inclusive(child, open, spent)).sum();
        open.pop();
        let own = self.spent(index);
        let cycles = own.values().map(|(cycles, _)| cycles).sum::<u64>();
        let all = cycles + below;
        let sum = spent.entry(name).or_default();
        sum.cycles += cycles;
        sum.instructions += own
            .values()
            .map(|(_, instructions)| instructions)
            .sum::<u64>();
        sum.inclusive += if recursive { 0 } else { all };
        all
    }

    /// Returns a line per phase and call stack, `keygen;main;sign;multiply 1234`, in cycles, as flame graph programs
    /// read it.
    pub fn folded(&self, phase: impl Fn(u8) -> String) -> Vec<String> {
        let mut lines = Vec::new();
        let mut open = vec![(0, String::new())];
        while let Some((index, path)) = open.pop() {
            for &child in self.nodes[index].children.values() {
                let name = self.name(self.nodes[child].symbol).replace(';', ":");
                open.push((child, format!("{path};{name}")));
            }
            for (number, (cycles, _)) in self.spent(index) {
                if cycles > 0 {
                    lines.push(format!("{}{path} {cycles}", phase(number)));
                }
            }
        }
        lines.sort();
        lines
    }
}

impl Timing for Profiler {
    fn retire(&mut self, retired: &Retired<'_>) {
        let address = retired.block.address(0);
        if !self.range.contains(&address) {
            self.elsewhere(address);
        }
        self.timing.retire(retired);
        self.executed += retired.len() as u64;
        if let Some((address, facts)) = retired.last().filter(|_| retired.taken) {
            if facts.class == Class::Call {
                let behind = address.wrapping_add(u32::from(facts.size));
                self.call(behind, retired.next);
            } else if self
                .stack
                .last()
                .is_some_and(|frame| frame.returns_to == retired.next)
            {
                self.elsewhere(retired.next);
            }
        }
    }

    fn marker(&mut self, number: u8) {
        self.leave();
        self.timing.marker(number);
        self.phase = number;
    }

    fn exception(&mut self) {
        self.timing.exception();
    }

    fn forget(&mut self) {
        self.timing.forget();
    }

    fn now(&self) -> Option<u64> {
        self.timing.now()
    }
}
